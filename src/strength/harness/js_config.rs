//! Owns configuration of JavaScript runners, as keys and literals of its text: files left out, failures repeated, runs that pass empty.

use std::collections::{BTreeMap, BTreeSet};

use crate::strength::harness::Loss;
use crate::tree::RepoPath;

const NAMES: [&str; 7] =
    ["jest.config.", "jest.preset.", "vitest.config.", "vitest.workspace.", "vite.config.", "playwright.config.", ".mocharc."];
/// Lists of what is left out.
const LEAVING: [&str; 6] = ["exclude", "testPathIgnorePatterns", "testIgnore", "grepInvert", "ignore", "modulePathIgnorePatterns"];
/// Lists of what is taken.
const TAKING: [&str; 7] = ["include", "testMatch", "testRegex", "roots", "spec", "testDir", "projects"];
const SELECTING: [&str; 3] = ["testNamePattern", "grep", "fgrep"];
const PASSING: [&str; 4] = ["passWithNoTests", "dangerouslyIgnoreUnhandledErrors", "allowOnly", "ignoreTestFailures"];
/// Folders without tests of one's own.
const FOREIGN: [&str; 6] = ["node_modules", "dist", "build", "coverage", ".git", "cypress"];

/// Keys whose insides say nothing of tests.
const APART: [&str; 5] = ["coverage", "optimizeDeps", "build", "server", "resolve"];

/// Whether a path is such a configuration.
pub(super) fn is_config(path: &RepoPath) -> bool {
    let name = String::from_utf8_lossy(path.name());
    NAMES.iter().any(|start| name.starts_with(start))
}

/// What is stated under each key: literals, and the first line.
#[derive(Default)]
struct Stated {
    literals: BTreeSet<String>,
    line: u32,
}

/// Compares a file before and after.
pub(super) fn losses(path: &RepoPath, was: &str, is: &str) -> Vec<Loss> {
    let (before, after) = (keys(was), keys(is));
    let none = Stated::default();
    let mut losses = Vec::new();
    for (key, now) in &after {
        let then = before.get(key).unwrap_or(&none);
        let fresh: Vec<&String> = now.literals.difference(&then.literals).collect();
        let number = |stated: &Stated| stated.literals.iter().filter_map(|text| text.parse::<u32>().ok()).max().unwrap_or(0);
        let says = match key.as_str() {
            key if LEAVING.contains(&key) => {
                fresh.iter().find(|text| !FOREIGN.iter().any(|word| text.contains(word))).map(|text| format!("{key} leaves out {text:?}"))
            }
            key if SELECTING.contains(&key) => fresh.first().map(|text| format!("{key} {text:?} drops tests")),
            key if PASSING.contains(&key) => {
                (now.literals.contains("true") && !then.literals.contains("true")).then(|| format!("{key}: true"))
            }
            "retry" | "retries" => (number(now) > number(then))
                .then(|| format!("{key}: {} -> {}: a failure is repeated until it passes", number(then), number(now))),
            _ => None,
        };
        losses.extend(says.map(|says| Loss::at(path, Some(now.line), says)));
    }
    for (key, then) in before.iter().filter(|(key, _)| TAKING.contains(&key.as_str())) {
        let Some(now) = after.get(key) else { continue };
        let gone = then.literals.difference(&now.literals).next();
        losses.extend(
            gone.filter(|_| now.literals.len() <= then.literals.len())
                .map(|text| Loss::at(path, Some(now.line), format!("{key} does not take {text:?} any more"))),
        );
    }
    losses
}

/// A place in the brackets: the bracket, and the key it is the value of.
struct Place {
    key: Option<String>,
    braces: bool,
}

/// The literals under each key, outside of what is said of coverage.
fn keys(text: &str) -> BTreeMap<String, Stated> {
    let mut found: BTreeMap<String, Stated> = BTreeMap::new();
    let mut open: Vec<Place> = vec![Place { key: None, braces: true }];
    let (mut key, mut word, mut line) = (None::<String>, String::new(), 1_u32);
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let mut taken = c.len_utf8();
        match c {
            '\n' => line += 1,
            '/' if rest.starts_with("//") => taken = rest.find('\n').unwrap_or(rest.len()),
            '/' if rest.starts_with("/*") => {
                taken = rest.find("*/").map_or(rest.len(), |end| end + 2);
                line += u32::try_from(rest[..taken].matches('\n').count()).unwrap_or(0);
            }
            '\'' | '"' | '`' => {
                let literal = quoted(rest, c);
                taken = (literal.len() + 2).min(rest.len());
                literal.clone_into(&mut word);
                state(&mut found, &open, key.as_ref(), &word, line);
            }
            ':' if open.last().is_some_and(|place| place.braces) && key.is_none() => key = Some(std::mem::take(&mut word)),
            '{' | '[' | '(' => open.push(Place { key: key.take(), braces: c == '{' }),
            '}' | ']' | ')' => {
                state(&mut found, &open, key.as_ref(), &word, line);
                word.clear();
                key = None;
                if open.len() > 1 {
                    open.pop();
                }
            }
            ',' => {
                state(&mut found, &open, key.as_ref(), &word, line);
                word.clear();
                key = None;
            }
            c if c.is_alphanumeric() || matches!(c, '_' | '$') => {
                taken = rest.find(|c: char| !c.is_alphanumeric() && !matches!(c, '_' | '$')).unwrap_or(rest.len());
                rest[..taken].clone_into(&mut word);
            }
            _ => {}
        }
        rest = &rest[taken.min(rest.len())..];
    }
    found
}

fn quoted(rest: &str, quote: char) -> &str {
    let body = &rest[1..];
    let mut escaped = false;
    for (at, c) in body.char_indices() {
        if c == quote && !escaped {
            return &body[..at];
        }
        escaped = c == '\\' && !escaped;
    }
    body
}

fn state(found: &mut BTreeMap<String, Stated>, open: &[Place], key: Option<&String>, word: &str, line: u32) {
    let mut around = key.into_iter().chain(open.iter().rev().filter_map(|place| place.key.as_ref()));
    let Some(nearest) = around.next() else { return };
    if word.is_empty() || nearest == word || APART.contains(&nearest.as_str()) || around.any(|key| APART.contains(&key.as_str())) {
        return;
    }
    let stated = found.entry(nearest.clone()).or_insert(Stated { literals: BTreeSet::new(), line });
    stated.literals.insert(word.to_owned());
}
