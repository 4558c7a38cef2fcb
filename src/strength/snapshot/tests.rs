//! Owns the tests of cards: ids, domains, traps of real code, fixtures.

mod domains;
mod effort;
mod files;
mod ends;
mod guards;
mod honest;
mod ids;
mod traps;

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::finding::Rule;
use crate::settings::Settings;
use crate::strength::card::Card;
use crate::strength::languages::{Language, Module};
use crate::strength::snapshot::{SnapshotError, Source, cards};
use crate::tree::RepoPath;

/// Files in memory, with the usual folders.
struct World {
    files: BTreeMap<RepoPath, Vec<u8>>,
    settings: Settings,
}

impl World {
    fn new(files: &[(&str, &str)]) -> Self {
        World { files: files.iter().map(|(p, t)| (RepoPath::new(*p), t.as_bytes().to_vec())).collect(), settings: Settings::default() }
    }

    fn cards(&self, path: &str) -> Vec<Card> {
        cards(&RepoPath::new(path), self).unwrap()
    }

    fn card(&self, id: &str) -> Card {
        let path = id.split("::").next().unwrap();
        let all = self.cards(path);
        let ids: Vec<&str> = all.iter().map(|c| c.prop_id.0.as_str()).collect();
        all.iter().find(|c| c.prop_id.0 == id).unwrap_or_else(|| panic!("no {id} among {ids:?}")).clone()
    }
}

impl Source for World {
    fn module(&self, path: &RepoPath) -> Result<Option<Arc<Module>>, SnapshotError> {
        let Some(bytes) = self.files.get(path) else { return Ok(None) };
        let read = Language::Python.module(bytes);
        read.map(|m| Some(Arc::new(m))).map_err(|why| SnapshotError::Unreadable { path: path.clone(), why })
    }

    fn sha256(&self, path: &RepoPath) -> Result<Option<String>, SnapshotError> {
        Ok(self.files.get(path).map(|bytes| crate::digest::sha256_hex(bytes)))
    }

    fn is_fixture(&self, path: &RepoPath) -> bool {
        let text = path.to_string();
        text.contains("fixtures/") || text.contains("__snapshots__/")
    }

    fn is_test(&self, path: &RepoPath) -> bool {
        path.to_string().starts_with("tests/") && !self.is_fixture(path)
    }

    fn is_property_path(&self, path: &RepoPath) -> bool {
        path.to_string().starts_with("tests/properties/")
    }

    fn settings(&self) -> &Settings {
        &self.settings
    }
}

const HEAD: &str = "import pytest\nfrom hypothesis import given, strategies as st\n\n";

/// The ids of a file's cards, without the path.
fn ids(path: &str, text: &str) -> Vec<String> {
    let world = World::new(&[(path, text)]);
    world.cards(path).into_iter().map(|c| c.prop_id.0[path.len() + 2..].to_owned()).collect()
}

/// The one test `test_f` of a file.
fn test_f(text: &str) -> Card {
    World::new(&[("tests/test_a.py", &format!("{HEAD}{text}"))]).card("tests/test_a.py::test_f")
}

/// The rules that going from one text of `test_f` to another breaks, as far as its domain tells.
fn rules(base: &str, patch: &str) -> Vec<Rule> {
    test_f(base).domain.losses(&test_f(patch).domain).into_iter().map(|l| l.rule).collect()
}

/// `parametrize` of a plain test.
fn table(arguments: &str) -> String {
    format!("@pytest.mark.parametrize({arguments})\ndef test_f(a, b=0, c=0):\n    assert a\n")
}

/// `given` of a plain property.
fn drawn(arguments: &str) -> String {
    format!("@given({arguments})\ndef test_f(a, b):\n    assert a\n")
}
