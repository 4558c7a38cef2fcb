//! Owns the laws of the house: each is a reading of `src`, and each has a snippet that breaks it.

#![expect(clippy::unwrap_used, reason = "a test that cannot read the sources has failed")]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// A source file: its path below `src` and its text.
struct Source {
    path: String,
    text: String,
}

impl Source {
    fn new(path: &str, text: &str) -> Self {
        Source { path: path.to_owned(), text: text.to_owned() }
    }

    /// The first part of the path, without `.rs`.
    fn room(&self) -> &str {
        self.path.split('/').next().unwrap_or(&self.path).trim_end_matches(".rs")
    }

    /// Modules from the crate's root down to this file.
    fn depth(&self) -> usize {
        let parts = self.path.split('/').count();
        if self.path.ends_with("/mod.rs") { parts - 1 } else { parts }
    }

    /// Whether the whole file is a test module.
    fn is_test(&self) -> bool {
        self.path.split('/').any(|part| matches!(part, "tests" | "tests.rs"))
    }

    /// The lines before the inline test module.
    fn body(&self) -> String {
        let lines: Vec<&str> = self.text.lines().collect();
        let test = lines.windows(2).position(|pair| pair[0].trim() == "#[cfg(test)]" && pair[1].trim_start().starts_with("mod "));
        lines[..test.unwrap_or(lines.len())].join("\n")
    }

    /// The body without comments and without what strings and characters say.
    fn code(&self) -> String {
        bare(&self.body())
    }

    fn is_in(&self, places: &[&str]) -> bool {
        places.iter().any(|place| self.path == format!("{place}.rs") || self.path.starts_with(&format!("{place}/")))
    }
}

fn sources() -> Vec<Source> {
    let top = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut found = Vec::new();
    let mut waiting = vec![top.clone()];
    while let Some(folder) = waiting.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let path: PathBuf = entry.unwrap().path();
            if path.is_dir() {
                waiting.push(path);
            } else if path.extension().is_some_and(|ext| ext == "rs") {
                let name = path.strip_prefix(&top).unwrap().to_str().unwrap().replace('\\', "/");
                found.push(Source { path: name, text: fs::read_to_string(&path).unwrap() });
            }
        }
    }
    found.sort_by(|a, b| a.path.cmp(&b.path));
    found
}

/// Blanks comments and the contents of string and character literals; line ends stay.
fn bare(text: &str) -> String {
    let chars: Vec<char> = text.chars().collect();
    let mut out = String::new();
    let mut at = 0;
    while at < chars.len() {
        let end = literal_end(&chars, at);
        if end > at {
            out.push(' ');
            out.extend(chars[at..end].iter().filter(|c| **c == '\n'));
            at = end;
        } else {
            out.push(chars[at]);
            at += 1;
        }
    }
    out
}

/// Where the comment or literal that begins at `at` ends; `at` itself when none begins there.
fn literal_end(chars: &[char], at: usize) -> usize {
    let next = |n: usize| chars.get(at + n).copied().unwrap_or(' ');
    let begins_word = at == 0 || !(chars[at - 1].is_alphanumeric() || chars[at - 1] == '_') || chars[at - 1] == 'b';
    match (chars[at], next(1)) {
        ('/', '/') => find(chars, at, "\n").unwrap_or(chars.len()),
        ('/', '*') => block_end(chars, at),
        ('r', '"' | '#') if begins_word => raw_end(chars, at),
        ('"', _) => quoted_end(chars, at, '"'),
        ('\'', '\\') => quoted_end(chars, at, '\''),
        ('\'', _) if next(2) == '\'' => at + 3,
        _ => at,
    }
}

fn raw_end(chars: &[char], at: usize) -> usize {
    let hashes = chars[at + 1..].iter().take_while(|c| **c == '#').count();
    let stop = format!("\"{}", "#".repeat(hashes));
    match chars.get(at + 1 + hashes) {
        Some('"') => find(chars, at + 2 + hashes, &stop).map_or(chars.len(), |found| found + stop.len()),
        _ => at,
    }
}

fn quoted_end(chars: &[char], at: usize, quote: char) -> usize {
    let mut end = at + 1;
    while end < chars.len() && chars[end] != quote {
        end += if chars[end] == '\\' { 2 } else { 1 };
    }
    (end + 1).min(chars.len())
}

fn block_end(chars: &[char], at: usize) -> usize {
    let (mut depth, mut end) = (0_usize, at);
    while end < chars.len() {
        match (chars[end], chars.get(end + 1)) {
            ('/', Some('*')) => (depth, end) = (depth + 1, end + 1),
            ('*', Some('/')) => (depth, end) = (depth - 1, end + 1),
            _ => {}
        }
        end += 1;
        if depth == 0 {
            break;
        }
    }
    end
}

fn find(chars: &[char], from: usize, stop: &str) -> Option<usize> {
    let stop: Vec<char> = stop.chars().collect();
    (from..=chars.len().saturating_sub(stop.len())).find(|at| chars[*at..].starts_with(&stop))
}

/// Whether a path such as `git2` or `process::Command` stands somewhere as whole words.
fn has_word(code: &str, word: &str) -> bool {
    let is_name = |c: char| c.is_alphanumeric() || c == '_';
    code.match_indices(word).any(|(at, _)| {
        let before = code[..at].chars().next_back();
        let after = code[at + word.len()..].chars().next();
        !before.is_some_and(is_name) && !after.is_some_and(is_name)
    })
}

/// The first names of what follows `crate::`: one, or those of a group.
fn heads(rest: &str) -> Vec<String> {
    let name = |text: &str| text.trim_start().chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect::<String>();
    let Some(group) = rest.trim_start().strip_prefix('{') else { return vec![name(rest)] };
    let (mut depth, mut parts) = (0_usize, vec![String::new()]);
    for c in group.chars() {
        match c {
            '}' if depth == 0 => break,
            ',' if depth == 0 => parts.push(String::new()),
            _ => {
                depth = depth + usize::from(c == '{') - usize::from(c == '}');
                parts.last_mut().unwrap().push(c);
            }
        }
    }
    parts.iter().map(|part| name(part)).filter(|part| !part.is_empty()).collect()
}

/// The rooms that a file names, by `crate::` or by enough `super::`.
fn rooms_named(source: &Source) -> Vec<String> {
    let code = source.code();
    let climb = "super::".repeat(source.depth());
    let after = ["crate::", &climb].map(|path| code.match_indices(path).map(|(at, _)| at + path.len()).collect::<Vec<_>>());
    after.concat().into_iter().flat_map(|at| heads(&code[at..])).collect()
}

/// The rooms in the order of `lib.rs`.
fn order(lib: &str) -> Vec<String> {
    let mods = lib.lines().filter_map(|line| line.trim().trim_start_matches("pub ").strip_prefix("mod "));
    mods.map(|name| name.trim_end_matches(';').to_owned()).collect()
}

fn upward_arrows(rooms: &[String], sources: &[Source]) -> Vec<String> {
    let place: BTreeMap<&str, usize> = rooms.iter().enumerate().map(|(at, room)| (room.as_str(), at)).collect();
    let mut broken = Vec::new();
    for source in sources.iter().filter(|source| !source.is_test() && !matches!(source.path.as_str(), "lib.rs" | "main.rs")) {
        let Some(own) = place.get(source.room()) else {
            broken.push(format!("{}: its room is not in lib.rs", source.path));
            continue;
        };
        for named in rooms_named(source) {
            match place.get(named.as_str()) {
                _ if named == "trial" && matches!(source.room(), "gate" | "daemon") => {
                    broken.push(format!("{}: reaches trial, which runs project code", source.path));
                }
                None => broken.push(format!("{}: names crate::{named}, which is no room", source.path)),
                Some(other) if other > own => broken.push(format!("{}: uses {named}, a room after its own", source.path)),
                Some(_) => {}
            }
        }
    }
    broken
}

/// What one file keeps or breaks by itself.
type Breaks = fn(&Source) -> bool;

const LAWS: [(&str, Breaks); 9] = [
    ("imports `super::*`", |source| source.code().contains("super::*")),
    ("has a name that owns nothing", is_named_for_nothing),
    ("names git2 outside repo", |source| !source.is_in(&["repo"]) && has_word(&source.code(), "git2")),
    ("starts a process outside repo, trial and daemon/client", starts_processes),
    ("takes signals outside trial and daemon", |source| !source.is_in(&["trial", "daemon"]) && has_word(&source.code(), "ctrlc")),
    ("prints outside report", prints),
    ("does not open with what it owns", |source| !source.text.starts_with("//! ")),
    ("has more than 450 lines without its tests", |source| source.body().lines().count() > 450),
    ("allows a lint instead of expecting it", |source| {
        let code: String = bare(&source.text).split_whitespace().collect();
        code.contains("#[allow(") || code.contains("#![allow(")
    }),
];

fn is_named_for_nothing(source: &Source) -> bool {
    let empty = ["util", "utils", "helper", "helpers", "common", "error", "errors", "prelude", "misc"];
    source.path.trim_end_matches(".rs").split('/').any(|part| empty.contains(&part))
}

fn starts_processes(source: &Source) -> bool {
    let code = source.code();
    let imported = code.match_indices("process::{").any(|(at, _)| heads(&code[at + 9..]).contains(&"Command".to_owned()));
    let named = has_word(&code, "process::Command") || has_word(&code, "Command::new") || imported;
    named && !source.is_in(&["repo", "trial", "daemon/client"])
}

fn prints(source: &Source) -> bool {
    let code = source.code();
    let words = ["print!", "println!", "eprint!", "eprintln!", "dbg!", "stdout()", "stderr()"];
    let printed =
        words.iter().any(|word| code.match_indices(word).any(|(at, _)| !code[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_')));
    printed && !source.is_in(&["report"])
}

fn broken_by(source: &Source) -> Vec<&'static str> {
    LAWS.iter().filter(|(_, breaks)| !source.is_test() && breaks(source)).map(|(says, _)| *says).collect()
}

#[test]
fn a_room_uses_only_rooms_above_it() {
    let sources = sources();
    let lib = sources.iter().find(|source| source.path == "lib.rs").unwrap();
    let broken = upward_arrows(&order(&lib.text), &sources);
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

#[test]
fn an_arrow_that_runs_back_up_is_caught() {
    let rooms = ["ground", "gate", "daemon", "trial", "cli"].map(str::to_owned);
    let says = |path: &str, text: &str| upward_arrows(&rooms, &[Source::new(path, text)]);
    for (path, text) in [
        ("ground.rs", "use crate::gate::Judge;"),
        ("ground.rs", "use crate::{\n    ground::{a, b},\n    cli::Run,\n};"),
        ("ground/deep.rs", "fn f() { crate::cli::run() }"),
        ("ground.rs", "use super::gate::Judge;"),
        ("ground/deep.rs", "use super::super::gate::Judge;"),
        ("gate/mod.rs", "pub use crate::trial::Run;"),
        ("daemon/serve.rs", "use crate::trial::Run;"),
        ("ground.rs", "use crate::nowhere::X;"),
        ("nowhere.rs", ""),
    ] {
        assert_eq!(says(path, text).len(), 1, "{path}: {text}: {:?}", says(path, text));
    }
    for (path, text) in [
        ("gate/judge.rs", "use crate::ground::X;\nuse crate::gate::facts;\nuse super::facts;"),
        ("ground.rs", "// use crate::gate::X;\nconst A: &str = \"crate::gate::X\";"),
        ("ground.rs", "fn a() {}\n#[cfg(test)]\nmod tests {\n    use crate::gate::X;\n}"),
        ("ground/tests.rs", "use crate::gate::X;"),
        ("main.rs", "fn main() { seedgate::cli::run() }"),
    ] {
        assert_eq!(says(path, text), Vec::<String>::new(), "{path}: {text}");
    }
}

#[test]
fn trial_is_out_of_the_gates_reach_wherever_it_stands() {
    let rooms = ["trial", "gate", "daemon"].map(str::to_owned);
    let broken = upward_arrows(&rooms, &[Source::new("gate/judge.rs", "use crate::trial::Run;")]);
    assert_eq!(broken, ["gate/judge.rs: reaches trial, which runs project code"]);
}

/// Every room that a room reaches, by way of others too.
fn reach(start: &str, sources: &[Source]) -> Vec<String> {
    let mut reached = vec![start.to_owned()];
    let mut at = 0;
    while at < reached.len() {
        let named = sources.iter().filter(|source| !source.is_test() && source.room() == reached[at]).flat_map(rooms_named);
        let fresh: Vec<String> = named.filter(|room| !reached.contains(room)).collect();
        for room in fresh {
            if !reached.contains(&room) {
                reached.push(room);
            }
        }
        at += 1;
    }
    reached
}

#[test]
fn gate_and_daemon_reach_no_code_that_runs_a_project_by_any_way() {
    let sources = sources();
    assert!(reach("cli", &sources).contains(&"trial".to_owned()));
    for room in ["gate", "daemon", "witness", "strength"] {
        assert!(!reach(room, &sources).contains(&"trial".to_owned()), "{room}");
    }
    let by_way =
        [Source::new("gate/a.rs", "use crate::side::X;"), Source::new("side.rs", "use crate::trial::Y;"), Source::new("trial.rs", "")];
    assert_eq!(reach("gate", &by_way), ["gate", "side", "trial"]);
}

#[test]
fn lib_lists_every_room_once_and_ground_first() {
    assert_eq!(order("//! The house.\n\npub mod finding;\nmod tree;\n"), ["finding", "tree"]);
    let sources = sources();
    let rooms = order(&sources.iter().find(|source| source.path == "lib.rs").unwrap().text);
    assert_eq!(rooms.first().map(String::as_str), Some("finding"));
    assert_eq!(rooms.last().map(String::as_str), Some("cli"));
    let mut unique = rooms.clone();
    unique.sort();
    unique.dedup();
    assert_eq!(unique.len(), rooms.len());
}

#[test]
fn every_file_keeps_the_laws() {
    let sources = sources();
    let broken: Vec<String> =
        sources.iter().flat_map(|source| broken_by(source).into_iter().map(|says| format!("{}: {says}", source.path))).collect();
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

#[test]
fn a_file_that_breaks_a_law_is_caught() {
    let long = "fn a() {}\n".repeat(451);
    let process = "starts a process outside repo, trial and daemon/client";
    for (path, body, says) in [
        ("gate/judge.rs", "use super::*;", "imports `super::*`"),
        ("gate/util.rs", "", "has a name that owns nothing"),
        ("common/mod.rs", "", "has a name that owns nothing"),
        ("errors.rs", "", "has a name that owns nothing"),
        ("gate/judge.rs", "use git2::Oid;", "names git2 outside repo"),
        ("gate/judge.rs", "use std::process::Command;", process),
        ("cli/mod.rs", "use std::process::{Command, Stdio};", process),
        ("daemon/serve.rs", "fn f() { Command::new(\"git\"); }", process),
        ("gate/run.rs", "fn f() { ctrlc::set_handler(|| ()); }", "takes signals outside trial and daemon"),
        ("witness/shrink.rs", "fn f() { std::process::Command::new(\"python3\"); }", process),
        ("cli/check.rs", "fn f() { println!(\"x\") }", "prints outside report"),
        ("gate/judge.rs", "fn f() { std::io::stderr().lock(); }", "prints outside report"),
        ("tree.rs", &long, "has more than 450 lines without its tests"),
        ("tree.rs", "#[allow(dead_code)]\nfn f() {}", "allows a lint instead of expecting it"),
        ("tree.rs", "#![allow(\n    clippy::all,\n)]", "allows a lint instead of expecting it"),
    ] {
        let source = Source::new(path, &format!("//! Owns this.\n{body}"));
        assert_eq!(broken_by(&source), [says], "{path}: {body:.60}");
    }
    assert_eq!(broken_by(&Source::new("tree.rs", "// Owns this.\n")), ["does not open with what it owns"]);
}

#[test]
fn a_file_that_keeps_the_laws_is_left_alone() {
    let with_tests = format!("fn a() {{}}\n#[cfg(test)]\nmod tests {{\n{}}}", "fn a() {}\n".repeat(451));
    let quoting = "// git2 and println!\n/* a /* #[allow(x)] */ */\nconst S: &[u8] = br#\"println!(\"git2\")\"#;\nconst C: char = '\\'';\nfn f<'a>() {}";
    for (path, body) in [
        ("repo/plumbing.rs", "use git2::Oid;\nuse std::process::Command;"),
        ("daemon/client.rs", "fn f() { Command::new(exe).stdout(Stdio::null()); }"),
        ("report/mod.rs", "fn f() { std::io::stdout().lock(); }"),
        ("cli/mod.rs", "use std::process::ExitCode;\nenum Command { Check }\nfn f() { Command::Check; e.use_stderr(); }"),
        ("gate/judge.rs", quoting),
        ("gate/tests.rs", "use super::*;"),
        ("tree.rs", &with_tests),
    ] {
        assert_eq!(broken_by(&Source::new(path, &format!("//! Owns this.\n{body}"))), Vec::<&str>::new(), "{path}");
    }
}
