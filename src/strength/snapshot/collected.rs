//! Owns what a runner collects: which classes and functions.

use std::sync::Arc;

use crate::strength::languages::facts::{Class, Function, Role};
use crate::strength::languages::{Language, Module};
use crate::strength::snapshot::SnapshotError;
use crate::strength::snapshot::resolve::Resolver;
use crate::tree::RepoPath;

/// How many bases are followed.
const BASES: usize = 12;

/// A class with the file that defines it.
#[derive(Clone)]
pub(super) struct Place {
    pub(super) path: RepoPath,
    pub(super) module: Arc<Module>,
    pub(super) at: usize,
}

impl Place {
    pub(super) fn class(&self) -> &Class {
        &self.module.classes[self.at]
    }

    /// The functions of its own body.
    pub(super) fn functions(&self) -> impl Iterator<Item = &Function> {
        self.class().functions.iter().filter_map(|at| self.module.functions.get(*at))
    }
}

/// The class and its bases as far as files of the tree define them, nearest first.
pub(super) fn lineage(place: &Place, resolver: &Resolver<'_>) -> Result<Vec<Place>, SnapshotError> {
    let mut line: Vec<Place> = vec![place.clone()];
    let mut next = 0;
    while next < line.len() && line.len() < BASES {
        let current = line[next].clone();
        for base in &current.class().bases {
            let found = find(base, &current, resolver)?;
            line.extend(found.filter(|f| !line.iter().any(|known| known.path == f.path && known.at == f.at)));
        }
        next += 1;
    }
    line.truncate(BASES);
    Ok(line)
}

fn find(base: &str, from: &Place, resolver: &Resolver<'_>) -> Result<Option<Place>, SnapshotError> {
    if !base.contains('.') {
        return Ok(resolver.class(&from.path, &from.module, base).map(|at| Place { at, ..from.clone() }));
    }
    let Some((path, module, name)) = resolver.home(base, &from.path)? else { return Ok(None) };
    Ok(resolver.class(&path, &module, &name).map(|at| Place { path, module, at }))
}

/// Whether the runner looks into a class: `Test*` without a constructor, or a test case of unittest.
pub(super) fn is_class(line: &[Place]) -> bool {
    let flag = line.iter().find_map(|p| p.class().collect);
    if flag == Some(false) {
        return false;
    }
    let case = line.iter().flat_map(|p| &p.class().bases).any(|base| is_case(base));
    let named = line.first().is_some_and(|p| p.class().name.starts_with("Test")) || flag == Some(true);
    case || (named && !line.iter().any(|p| p.class().has_init))
}

fn is_case(base: &str) -> bool {
    base.rsplit('.').next().is_some_and(|name| name.ends_with("TestCase"))
}

/// Whether a function could be a test by what it is.
pub(super) fn is_runnable(function: &Function, language: Language) -> bool {
    match function.role {
        Role::Plain => language.is_test_name(&function.name),
        Role::Assigned | Role::Test | Role::Example => true,
        Role::Machine => function.name.to_ascii_lowercase().starts_with("test"),
        Role::Fixture | Role::Rules => false,
    }
}
