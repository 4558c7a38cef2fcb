//! Owns which fixture files a function loads: texts that name one, and the policy's map.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashMap;

use crate::settings::glob::IdGlob;
use crate::strength::languages::facts::HERE;
use crate::strength::snapshot::{SnapshotError, Source};
use crate::tree::RepoPath;

/// Finds fixture files by texts; where a text leads to is found once a file that says it.
pub(super) struct Loads<'s> {
    source: &'s dyn Source,
    homes: RefCell<BTreeMap<RepoPath, Home>>,
}

/// What is known of the texts of one file.
struct Home {
    places: Places,
    led: FxHashMap<String, Option<(String, String)>>,
}

impl<'s> Loads<'s> {
    pub(super) fn new(source: &'s dyn Source) -> Self {
        Loads { source, homes: RefCell::default() }
    }

    /// Fixture files that these texts of a file at `path` name, with their SHA-256.
    pub(super) fn named(&self, literals: &BTreeSet<String>, path: &RepoPath) -> Result<BTreeMap<String, String>, SnapshotError> {
        let mut files = BTreeMap::new();
        if literals.is_empty() {
            return Ok(files);
        }
        let mut homes = self.homes.borrow_mut();
        if !homes.contains_key(path) {
            homes.insert(path.clone(), Home { places: Places::around(path), led: FxHashMap::default() });
        }
        let Some(home) = homes.get_mut(path) else { return Ok(files) };
        for text in literals {
            if !home.led.contains_key(text) {
                let found = self.first(&home.places.candidates(text))?;
                home.led.insert(text.clone(), found);
            }
            files.extend(home.led.get(text).cloned().flatten());
        }
        Ok(files)
    }

    fn first(&self, candidates: &[RepoPath]) -> Result<Option<(String, String)>, SnapshotError> {
        for candidate in candidates.iter().filter(|candidate| self.source.is_fixture(candidate)) {
            if let Some(sha256) = self.source.sha256(candidate)? {
                return Ok(Some((candidate.to_string(), sha256)));
            }
        }
        Ok(None)
    }
}

/// Fixture files that the policy binds to an id.
pub(super) fn bound(id: &str, source: &dyn Source) -> Result<BTreeMap<String, String>, SnapshotError> {
    let mut files = BTreeMap::new();
    for (pattern, paths) in &source.settings().bind {
        if !IdGlob::new(pattern).is_ok_and(|glob| glob.matches(id)) {
            continue;
        }
        for path in paths {
            if let Some(sha256) = source.sha256(&RepoPath::new(path.as_str()))? {
                files.insert(path.clone(), sha256);
            }
        }
    }
    Ok(files)
}

/// Folders that a text of one file could be told from: the root, the folders around the file, their fixture folders.
struct Places {
    own: Option<String>,
    plain: Vec<String>,
    homes: Vec<String>,
}

impl Places {
    fn around(path: &RepoPath) -> Self {
        let mut plain = vec![String::new()];
        let mut folder = path.parent();
        while let Ok(name) = std::str::from_utf8(folder) {
            if name.is_empty() {
                break;
            }
            plain.push(format!("{name}/"));
            folder = folder.iter().rposition(|b| *b == b'/').map_or(&[], |at| &folder[..at]);
        }
        let around = plain[1..].iter().chain(&plain[..1]);
        let homes = around.flat_map(|place| ["fixtures", "testdata", "__snapshots__"].map(|f| format!("{place}{f}/"))).collect();
        Places { own: path.as_str().map(str::to_owned), plain, homes }
    }

    /// Where a text could lead; a text with `__file__` in it is told from the file's own place.
    fn candidates(&self, text: &str) -> Vec<RepoPath> {
        let Some(own) = &self.own else { return Vec::new() };
        if let Some(rest) = text.strip_prefix(HERE) {
            return normal(&format!("{own}{rest}")).into_iter().map(RepoPath::new).collect();
        }
        // A text that climbs is told from a folder that is there, not from one that a loader might add.
        let homes = if text.starts_with("..") { &[][..] } else { &self.homes };
        let mut seen = BTreeSet::new();
        let all = self.plain.iter().chain(homes).filter_map(|place| normal(&format!("{place}{text}")));
        all.filter(|p| seen.insert(p.clone())).map(RepoPath::new).collect()
    }
}

/// The path without `.` and `..`; `None` when it leaves the tree.
fn normal(path: &str) -> Option<String> {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()?),
            part => parts.push(part),
        }
    }
    (!parts.is_empty() && !path.starts_with('/')).then(|| parts.join("/"))
}
