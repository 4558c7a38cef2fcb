//! Owns how Rust's files are linked: which file a module is in, and which file declares it.

use crate::tree::RepoPath;

/// Most bytes of the head of a snapshot file that are read.
const HEAD: usize = 4 << 10;

/// A file's folder and its name without ending.
fn parts(path: &RepoPath) -> Option<(String, String)> {
    let text = path.as_str()?;
    let (folder, name) = text.rsplit_once('/').unwrap_or(("", text));
    Some((folder.to_owned(), name.strip_suffix(".rs")?.to_owned()))
}

fn joined(folder: &str, rest: &str) -> RepoPath {
    RepoPath::new(if folder.is_empty() { rest.to_owned() } else { format!("{folder}/{rest}") })
}

fn last(folder: &str) -> &str {
    folder.rsplit('/').next().unwrap_or(folder)
}

/// Whether Cargo builds a file by itself: a crate's root.
fn is_root(folder: &str, name: &str) -> bool {
    let by_folder = matches!(last(folder), "tests" | "benches" | "examples" | "bin") && name != "mod";
    by_folder || matches!(name, "lib" | "main" | "build")
}

/// Whether a file is a target of tests, so that it must be readable.
pub(super) fn is_target(path: &RepoPath) -> bool {
    parts(path).is_some_and(|(folder, _)| {
        folder == "tests" || folder.ends_with("/tests") && !folder.contains("/src/") && !folder.contains("tests/")
    })
}

/// Whether a file may be part of a library, the documentation of which is tested.
pub(super) fn is_documented(path: &RepoPath) -> bool {
    let Some((folder, name)) = parts(path) else { return false };
    let of_targets = |folder: &str| matches!(folder, "tests" | "benches" | "examples" | "bin");
    let in_source = folder.rsplit_once("src/").map_or(folder.as_str(), |(_, inside)| inside);
    !in_source.split('/').any(of_targets) && !matches!(name.as_str(), "main" | "build")
}

/// The test that a snapshot file of insta belongs to: the file that its head names, and what its own name ends in.
pub(super) fn snapshot_of(path: &RepoPath, bytes: &[u8]) -> Option<String> {
    let name = path.as_str()?.rsplit_once("snapshots/")?.1.strip_suffix(".snap")?;
    let test = name.rsplit("__").next().unwrap_or(name);
    let head = bytes.strip_prefix(b"---").map(|rest| &rest[..rest.len().min(HEAD)])?;
    let head = String::from_utf8_lossy(head);
    let source = head.lines().skip(1).take_while(|line| *line != "---").find_map(|line| line.strip_prefix("source:"))?;
    let source = source.trim().trim_matches('"').replace("\\\\", "/");
    (!source.is_empty()).then(|| format!("{source}::{test}"))
}

/// The folder in which the modules that a file declares lie.
fn inside(folder: &str, name: &str) -> String {
    if is_root(folder, name) || name == "mod" {
        return folder.to_owned();
    }
    if folder.is_empty() { name.to_owned() } else { format!("{folder}/{name}") }
}

/// The files in which a module lies that another file declares: `a` or, in a module of that file, `b.a`.
pub(super) fn linked(from: &RepoPath, name: &str, at: Option<&str>) -> Vec<RepoPath> {
    let Some((folder, own)) = parts(from) else { return Vec::new() };
    let home = inside(&folder, &own);
    if let Some(at) = at {
        let at = at.trim_start_matches("./");
        return vec![joined(&folder, at), joined(&home, at)];
    }
    let path = name.replace('.', "/");
    vec![joined(&home, &format!("{path}.rs")), joined(&home, &format!("{path}/mod.rs"))]
}

/// The files that could declare this one, each with the name that it would have there; none for a crate's root.
pub(super) fn parents(path: &RepoPath) -> Vec<(RepoPath, String)> {
    let Some((folder, name)) = parts(path) else { return Vec::new() };
    if is_root(&folder, &name) {
        return Vec::new();
    }
    let (folder, name) = if name == "mod" {
        match folder.rsplit_once('/') {
            Some((outer, own)) => (outer.to_owned(), own.to_owned()),
            None => (String::new(), folder),
        }
    } else {
        (folder, name)
    };
    let mut all = vec![joined(&folder, "mod.rs"), joined(&folder, "lib.rs"), joined(&folder, "main.rs")];
    if !folder.is_empty() {
        all.push(RepoPath::new(format!("{folder}.rs")));
    }
    all.into_iter().map(|parent| (parent, name.clone())).collect()
}

/// Where a module of a dotted name could lie, told from a file.
pub(super) fn homes(module: &str, from: &RepoPath) -> Vec<RepoPath> {
    let Some((folder, name)) = parts(from) else { return Vec::new() };
    let mut words: Vec<&str> = module.split('.').filter(|word| !word.is_empty()).collect();
    let mut base = inside(&folder, &name);
    match words.first().copied() {
        Some("crate") => {
            words.remove(0);
            base = root(&folder);
        }
        Some("self") => drop(words.remove(0)),
        _ => {
            while words.first() == Some(&"super") {
                words.remove(0);
                base = base.rsplit_once('/').map_or_else(String::new, |(outer, _)| outer.to_owned());
            }
        }
    }
    let at = |base: &str| {
        let path = words.join("/");
        if path.is_empty() {
            let mut all = vec![joined(base, "mod.rs"), joined(base, "lib.rs"), joined(base, "main.rs")];
            if !base.is_empty() {
                all.push(RepoPath::new(format!("{base}.rs")));
            }
            return all;
        }
        vec![joined(base, &format!("{path}.rs")), joined(base, &format!("{path}/mod.rs"))]
    };
    let mut all = at(&base);
    // A name without a head may be one of the crate's root, or of the module around.
    if !folder.is_empty() && base != folder {
        all.extend(at(&folder));
    }
    all
}

/// The folder of the crate's root.
fn root(folder: &str) -> String {
    let mut at = folder;
    loop {
        if matches!(last(at), "src" | "tests" | "benches" | "examples") {
            return at.to_owned();
        }
        match at.rsplit_once('/') {
            Some((outer, _)) => at = outer,
            None => return folder.to_owned(),
        }
    }
}

/// The roots of the crate beside whose folder of tests a file lies.
pub(super) fn subjects(path: &RepoPath) -> Vec<RepoPath> {
    let Some(text) = path.as_str() else { return Vec::new() };
    let before = if text.starts_with("tests/") { Some("") } else { text.find("/tests/").map(|at| &text[..at]) };
    let folder = before.map(|crate_| if crate_.is_empty() { "src".to_owned() } else { format!("{crate_}/src") });
    folder.into_iter().flat_map(|folder| [joined(&folder, "lib.rs"), joined(&folder, "main.rs")]).collect()
}
