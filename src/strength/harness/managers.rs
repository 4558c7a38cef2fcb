//! Owns what keeps Seedgate's hooks in place: hook managers' files, `core.hooksPath`, and prose that tells agents to pass by hooks.

use std::collections::BTreeMap;

use crate::strength::harness::Loss;
use crate::strength::harness::words::numbered;
use crate::strength::harness::yaml::Document;
use crate::tree::RepoPath;

const MANAGERS: [&str; 13] = [
    "lefthook.yml",
    "lefthook.yaml",
    ".lefthook.yml",
    ".lefthook.yaml",
    "lefthook.toml",
    "lefthook.json",
    "lefthook-local.yml",
    "lefthook-local.yaml",
    ".lefthook-local.yml",
    ".pre-commit-config.yaml",
    "prek.toml",
    ".overcommit.yml",
    ".huskyrc",
];
const FOLDERS: [&str; 4] = [".husky/", ".githooks/", ".hooks/", "git-hooks/"];
const PROSE: [&str; 9] = [
    "AGENTS.md",
    "AGENT.md",
    "CLAUDE.md",
    "GEMINI.md",
    ".cursorrules",
    ".windsurfrules",
    ".clinerules",
    "copilot-instructions.md",
    "CONVENTIONS.md",
];
const PROSE_FOLDERS: [&str; 5] = [".cursor/", ".claude/", ".clinerules/", ".github/instructions/", ".windsurf/"];
const SETTINGS: [&str; 4] = [".gitconfig", ".envrc", ".env", "devcontainer.json"];
/// Ways past the hooks.
const BYPASSES: [&str; 7] =
    ["--no-verify", "commit -n", "HUSKY=0", "HUSKY_SKIP_HOOKS=", "LEFTHOOK=0", "SKIP=seedgate", "LEFTHOOK_EXCLUDE="];
/// Expressions that mean every path; the first means none where paths are left out.
const EVERYTHING: [&str; 10] = ["", ".*", ".+", ".", "^", "^.*$", "^.+$", "(?s).*", "*", "**"];
/// Mappings of a local file that are looked through.
const MOST_MAPS: usize = 1_000;
const NEGATIONS: [&str; 9] = ["never", "not", "n't", "avoid", "forbid", "no ", "without", "refuse", "instead of"];

fn name(path: &RepoPath) -> &str {
    std::str::from_utf8(path.name()).unwrap_or_default()
}

/// Whether hooks are managed by this file.
pub(super) fn is_manager(path: &RepoPath) -> bool {
    MANAGERS.contains(&name(path)) || path.as_str().is_some_and(|text| FOLDERS.iter().any(|folder| text.starts_with(folder)))
}

/// Whether agents and shells obey this file.
pub(super) fn is_prose(path: &RepoPath) -> bool {
    PROSE.contains(&name(path))
        || SETTINGS.contains(&name(path))
        || path.as_str().is_some_and(|text| PROSE_FOLDERS.iter().any(|f| text.starts_with(f)))
}

/// Entries of Seedgate that a hook manager's file does not run any more.
pub(super) fn dropped(path: &RepoPath, was: &str, is: &str) -> Vec<Loss> {
    let mut losses = hooks_moved(path, was, is);
    if name(path).contains("-local.") {
        losses.extend(overridden(path, was, is));
    }
    let (before, after) = (entries(path, was), entries(path, is));
    for (hook, (count, _)) in before {
        let (left, line) = after.get(&hook).copied().unwrap_or((0, 0));
        if left < count {
            losses.push(Loss::at(path, (line > 0).then_some(line), format!("seedgate is not run any more ({hook})")));
        }
    }
    losses
}

/// How often each hook runs Seedgate, and where.
fn entries(path: &RepoPath, text: &str) -> BTreeMap<String, (usize, u32)> {
    let lines: Vec<(u32, String)> =
        if [".yml", ".yaml"].iter().any(|end| name(path).ends_with(end)) { of_yaml(path, text) } else { of_lines(text) };
    let mut found: BTreeMap<String, (usize, u32)> = BTreeMap::new();
    for (number, line) in lines {
        let hook = ["pre-commit", "pre-push", "pre-merge-commit"].into_iter().find(|hook| line.contains(&format!("hook {hook}")));
        let entry = found.entry(hook.unwrap_or(&line).to_owned()).or_insert((0, number));
        entry.0 += 1;
    }
    found
}

fn of_lines(text: &str) -> Vec<(u32, String)> {
    let own = numbered(text).filter(|(_, line)| runs_seedgate(line.trim()));
    own.map(|(number, line)| (number, line.trim().to_owned())).collect()
}

/// What a local file of lefthook sets of Seedgate's entries: it outranks the shared one.
fn overridden(path: &RepoPath, was: &str, is: &str) -> Vec<Loss> {
    let off = |text: &str| -> Vec<(u32, String)> {
        let document = Document::read(text);
        let of_gate = |map: usize| document.around(map).filter_map(|map| document.maps.get(map)).any(|map| map.label.contains("seedgate"));
        let hook = |map: usize| document.maps.get(map).is_some_and(|map| matches!(map.label.as_str(), "pre-commit" | "pre-push"));
        let maps = (0..document.maps.len()).take(MOST_MAPS);
        let turned = maps.filter(|map| of_gate(*map) || hook(*map)).flat_map(|map| {
            let own = document.own(map).filter(|(key, value, _)| is_off(key, value) || (*key == "run" && !runs_seedgate(value)));
            own.map(|(key, value, line)| (line, format!("{key}: {value}"))).collect::<Vec<_>>()
        });
        turned.collect()
    };
    let before: Vec<String> = off(was).into_iter().map(|(_, says)| says).collect();
    let fresh = off(is).into_iter().filter(|(_, says)| !before.contains(says));
    fresh.map(|(line, says)| Loss::at(path, Some(line), format!("turns seedgate off here ({says})"))).collect()
}

fn is_off(key: &str, value: &str) -> bool {
    matches!((key, value), ("skip", "true") | ("enabled", "false") | ("stages" | "default_stages", "[manual]"))
}

/// Whether a filter of files leaves some out, by its key and value; `files` of lefthook is a command.
fn narrows(key: &str, value: &str, lefthook: bool) -> bool {
    match key {
        "files" if lefthook => false,
        "files" | "glob" => !EVERYTHING.contains(&value),
        "types" | "types_or" => !value.contains("file"),
        "exclude" => EVERYTHING[1..].contains(&value) || value.ends_with("py$"),
        _ => false,
    }
}

fn of_yaml(path: &RepoPath, text: &str) -> Vec<(u32, String)> {
    let document = Document::read(text);
    let narrows = |key: &str, value: &str| narrows(key, value, name(path).contains("lefthook"));
    let whole = document.own(0).any(|(key, value, _)| narrows(key, value) || is_off(key, value));
    let off = |map: usize| {
        let always = document.own(map).any(|(key, value, _)| key == "always_run" && value == "true");
        let narrowed = whole || document.own(map).any(|(key, value, _)| narrows(key, value));
        (narrowed && !always) || document.around(map).flat_map(|map| document.own(map)).any(|(key, value, _)| is_off(key, value))
    };
    let lines = document
        .scalars
        .iter()
        .filter(|scalar| matches!(scalar.key.as_str(), "run" | "entry" | "id" | "script") && !off(scalar.map))
        .flat_map(|scalar| &scalar.lines);
    lines.filter(|(_, line)| runs_seedgate(line)).cloned().collect()
}

fn runs_seedgate(line: &str) -> bool {
    let passed_over = ["|| true", "||true", "|| :", "; true", "; exit 0", "|| exit 0"].iter().any(|end| line.contains(end));
    line.contains("seedgate") && !line.starts_with('#') && !passed_over
}

/// New lines that move git's hooks elsewhere.
pub(super) fn hooks_moved(path: &RepoPath, was: &str, is: &str) -> Vec<Loss> {
    let moves = |line: &str| {
        let low = line.to_ascii_lowercase();
        low.contains("hookspath") && !low.contains("--unset") && !low.contains("--get")
    };
    fresh(was, is, moves).map(|(number, line)| Loss::at(path, Some(number), format!("moves git's hooks: {line}"))).collect()
}

/// New lines that pass by hooks; a sentence that forbids it is none.
pub(super) fn bypasses(path: &RepoPath, was: &str, is: &str) -> Vec<Loss> {
    let mut losses = if is_prose(path) { hooks_moved(path, was, is) } else { Vec::new() };
    losses
        .extend(fresh(was, is, tells_to_bypass).map(|(number, line)| Loss::at(path, Some(number), format!("passes by the hooks: {line}"))));
    losses
}

fn tells_to_bypass(line: &str) -> bool {
    BYPASSES.iter().any(|way| {
        line.match_indices(way).any(|(at, _)| {
            let sentence = line[..at].rsplit(['.', ';', '!']).next().unwrap_or_default().to_ascii_lowercase();
            let whole = line[at + way.len()..].chars().next().is_none_or(|c| !c.is_alphanumeric() || way.ends_with('='))
                || *way == "commit -n" && !line[at + way.len()..].starts_with('o');
            whole && !NEGATIONS.iter().any(|word| sentence.contains(word))
        })
    })
}

fn fresh<'t>(was: &'t str, is: &'t str, tells: impl Fn(&str) -> bool + 't) -> impl Iterator<Item = (u32, &'t str)> {
    numbered(is)
        .map(|(number, line)| (number, line.trim()))
        .filter(move |(_, line)| !line.starts_with("# ") && tells(line) && !was.lines().any(|old| old.trim() == *line))
}
