//! Owns which fixture files a function loads: texts that name one, and the policy's map.

use std::collections::{BTreeMap, BTreeSet};

use crate::settings::glob::IdGlob;
use crate::strength::languages::facts::HERE;
use crate::strength::snapshot::{SnapshotError, Source};
use crate::tree::RepoPath;

/// Fixture files that these texts of a file at `path` name, with their SHA-256.
pub(super) fn named(literals: &BTreeSet<String>, path: &RepoPath, source: &dyn Source) -> Result<BTreeMap<String, String>, SnapshotError> {
    let mut files = BTreeMap::new();
    for text in literals {
        for candidate in candidates(text, path) {
            if !source.is_fixture(&candidate) {
                continue;
            }
            if let Some(sha256) = source.sha256(&candidate)? {
                files.insert(candidate.to_string(), sha256);
                break;
            }
        }
    }
    Ok(files)
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

/// Where a text could lead: told from the file's own place, from the root, from the folders around it, from their fixture folders.
fn candidates(text: &str, path: &RepoPath) -> Vec<RepoPath> {
    let Some(own) = path.as_str() else { return Vec::new() };
    if let Some(rest) = text.strip_prefix(HERE) {
        return normal(&format!("{own}{rest}")).into_iter().map(RepoPath::new).collect();
    }
    let mut places = vec![String::new()];
    let mut folder = path.parent();
    let mut around = Vec::new();
    while let Ok(name) = std::str::from_utf8(folder) {
        if name.is_empty() {
            break;
        }
        around.push(format!("{name}/"));
        folder = folder.iter().rposition(|b| *b == b'/').map_or(&[], |at| &folder[..at]);
    }
    places.extend(around.iter().cloned());
    // A text that climbs is told from a folder that is there, not from one that a loader might add.
    if !text.starts_with("..") {
        let homes = |p: &String| ["fixtures", "testdata", "__snapshots__"].map(|f| format!("{p}{f}/"));
        places.extend(around.iter().chain([&String::new()]).flat_map(homes));
    }
    let mut seen = BTreeSet::new();
    let all = places.iter().filter_map(|place| normal(&format!("{place}{text}")));
    all.filter(|p| seen.insert(p.clone())).map(RepoPath::new).collect()
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
