//! Owns the tests of the Rust reader: changes of one file, and what going from its old text to the new one breaks.

mod doctests;
mod honest;
mod reading;
mod steps;
mod weaker;
mod words;

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::finding::{Exit, Finding};
use crate::settings::Settings;
use crate::strength::card::Card;
use crate::strength::delta;
use crate::strength::languages::{Language, Module};
use crate::strength::snapshot::{SnapshotError, Source, cards};
use crate::tree::RepoPath;

/// Files in memory.
struct World {
    files: BTreeMap<RepoPath, Vec<u8>>,
    settings: Settings,
}

impl World {
    fn new(files: &[(&str, &str)]) -> Self {
        World { files: files.iter().map(|(p, t)| (RepoPath::new(*p), t.as_bytes().to_vec())).collect(), settings: Settings::default() }
    }

    fn cards(&self) -> Vec<Card> {
        self.files.keys().flat_map(|path| cards(path, self).unwrap()).collect()
    }
}

impl Source for World {
    fn module(&self, path: &RepoPath) -> Result<Option<Arc<Module>>, SnapshotError> {
        let (Some(bytes), Some(language)) = (self.files.get(path), Language::of(path)) else { return Ok(None) };
        let read = language.module(bytes);
        read.map(|m| Some(Arc::new(m))).map_err(|why| SnapshotError::Unreadable { path: path.clone(), why })
    }

    fn sha256(&self, path: &RepoPath) -> Result<Option<String>, SnapshotError> {
        Ok(self.files.get(path).map(|bytes| crate::digest::sha256_hex(bytes)))
    }

    fn is_fixture(&self, _: &RepoPath) -> bool {
        false
    }

    fn is_test(&self, path: &RepoPath) -> bool {
        path.to_string().starts_with("tests/")
    }

    fn is_property_path(&self, _: &RepoPath) -> bool {
        false
    }

    fn settings(&self) -> &Settings {
        &self.settings
    }
}

/// What going from one tree to another breaks.
fn between(base: &[(&str, &str)], patch: &[(&str, &str)]) -> Vec<Finding> {
    let found = delta::compare(&World::new(base).cards(), &World::new(patch).cards()).findings();
    found.into_iter().filter(|finding| finding.rule.exit() == Exit::Refused).collect()
}

/// The rules that a change of one file of tests breaks, and what is said of them.
fn broken(base: &str, patch: &str) -> Vec<(String, String)> {
    let found = between(&[("tests/t.rs", base)], &[("tests/t.rs", patch)]);
    found.into_iter().map(|finding| (finding.rule.id().to_owned(), finding.says.join("; "))).collect()
}
