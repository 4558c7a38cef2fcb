//! Owns the scan of production code: constructs that tell whether a test runs, and which of them a change adds.

use std::collections::BTreeMap;

use crate::strength::languages::{Language, Sense};
use crate::tree::RepoPath;

/// A file of these words is worth reading.
const NEEDLES: [&str; 10] =
    ["PYTEST_", "pytest", "unittest", "_getframe", "inspect", "traceback", "__eq__", "TEST", "_called_from_test", "hypothesis"];
/// Words that alone tell it in a file that cannot be read.
const TELLING: [&str; 2] = ["PYTEST_CURRENT_TEST", "_called_from_test"];

/// One changed production file.
pub struct Changed<'a> {
    /// Its path.
    pub path: &'a RepoPath,
    /// Its bytes on the base; empty when it is new.
    pub was: Vec<u8>,
    /// Its bytes in the candidate.
    pub is: Vec<u8>,
}

/// A construct that a change adds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Added {
    /// The file.
    pub path: RepoPath,
    /// 1-based line.
    pub line: u32,
    /// What it does.
    pub says: String,
}

/// Whether a path is read by the scan.
pub fn is_read(path: &RepoPath) -> bool {
    Language::of(path).is_some()
}

/// Whether bytes can hold such a construct at all.
pub fn may_sense(bytes: &[u8]) -> bool {
    NEEDLES.iter().any(|needle| holds(bytes, needle))
}

fn holds(bytes: &[u8], needle: &str) -> bool {
    let needle = needle.as_bytes();
    let Some(first) = needle.first() else { return false };
    let mut rest = bytes;
    while let Some(at) = rest.iter().position(|byte| byte == first) {
        if rest[at..].starts_with(needle) {
            return true;
        }
        rest = &rest[at + 1..];
    }
    false
}

/// The constructs that the candidate's files have more often than the base's; one that moved from file to file is no addition.
pub fn added(files: &[Changed<'_>]) -> Vec<Added> {
    let mut known: BTreeMap<String, usize> = BTreeMap::new();
    for file in files.iter().filter(|file| may_sense(&file.was)) {
        for sense in senses(file.path, &file.was) {
            *known.entry(sense.says).or_default() += 1;
        }
    }
    let mut added = Vec::new();
    for file in files {
        for sense in senses(file.path, &file.is) {
            match known.get_mut(&sense.says).filter(|left| **left > 0) {
                Some(left) => *left -= 1,
                None => added.push(Added { path: file.path.clone(), line: sense.line, says: sense.says }),
            }
        }
    }
    added
}

fn senses(path: &RepoPath, bytes: &[u8]) -> Vec<Sense> {
    let Some(language) = Language::of(path) else { return Vec::new() };
    language.senses(bytes).unwrap_or_else(|_| by_lines(bytes))
}

/// Of a file that cannot be read: its lines that name what only tests set.
fn by_lines(bytes: &[u8]) -> Vec<Sense> {
    let lines = (1..).zip(bytes.split(|byte| *byte == b'\n'));
    let telling = lines.filter_map(|(number, line)| TELLING.iter().find(|word| holds(line, word)).map(|word| (number, word)));
    telling.map(|(line, word)| Sense { line, says: format!("names {word} in a file that cannot be read") }).collect()
}
