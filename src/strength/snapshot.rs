//! Owns the way from modules to cards: ids get their path, names their definition, cards their fixture bytes.

mod acting;
mod collected;
mod conditions;
mod files;
mod link;
mod resolve;
mod steps;

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::finding::PropId;
use crate::settings::Settings;
use crate::strength::card::Card;
use crate::strength::languages::{Language, Module, Unreadable};
use crate::strength::signature::Signature;
use crate::strength::snapshot::link::Linker;
use crate::strength::snapshot::resolve::Resolver;
use crate::tree::{RepoPath, TreeError};

/// Why a file has no cards.
#[derive(Debug, thiserror::Error)]
pub enum SnapshotError {
    /// The file itself.
    #[error("{path}: {why}")]
    Unreadable {
        /// The file.
        path: RepoPath,
        /// Why.
        why: Unreadable,
    },
    /// The store.
    #[error(transparent)]
    Tree(#[from] TreeError),
}

/// Where linking looks things up: one tree, its modules and its fixture bytes, from whatever layer has them.
pub trait Source {
    /// The module at a path; `None` when there is no regular file of a known language.
    ///
    /// # Errors
    /// When the file or the store cannot be read.
    fn module(&self, path: &RepoPath) -> Result<Option<Arc<Module>>, SnapshotError>;

    /// SHA-256 (hex) of the file at a path, symlinks inside the tree followed; `None` when there is none.
    ///
    /// # Errors
    /// When the store cannot be read.
    fn sha256(&self, path: &RepoPath) -> Result<Option<String>, SnapshotError>;

    /// Whether the path is on the fixture side.
    fn is_fixture(&self, path: &RepoPath) -> bool;

    /// Whether the path is on the test side (test or harness).
    fn is_test(&self, path: &RepoPath) -> bool;

    /// Whether every test function of the file counts as a property.
    fn is_property_path(&self, path: &RepoPath) -> bool;

    /// The policy.
    fn settings(&self) -> &Settings;
}

/// The cards of one file, in line order; none when there is no such file.
///
/// # Errors
/// [`SnapshotError::Unreadable`] when the file does not parse.
pub fn cards(path: &RepoPath, source: &dyn Source) -> Result<Vec<Card>, SnapshotError> {
    let Some(module) = source.module(path)? else { return Ok(Vec::new()) };
    let resolver = Resolver::new(source);
    let mut by_id: BTreeMap<PropId, Card> = BTreeMap::new();
    for card in Linker::new(path, &module, &resolver)?.cards()? {
        let card = match by_id.remove(&card.prop_id) {
            Some(twin) => twin.weaker_of(card),
            None => card,
        };
        by_id.insert(card.prop_id.clone(), card);
    }
    let mut cards: Vec<Card> = by_id.into_values().collect();
    cards.sort_by(|a, b| (a.line, &a.prop_id).cmp(&(b.line, &b.prop_id)));
    Ok(cards)
}

/// What a function must be given that a file calls by this dotted name; `None` where it is no function of production code that is read.
pub fn signature(dotted: &str, from: &RepoPath, source: &dyn Source) -> Option<Signature> {
    let (path, module, name) = Resolver::new(source).origin(dotted, from).ok()??;
    module.signatures.get(&name).filter(|_| !source.is_test(&path)).cloned()
}

/// Whether production code defines what a file calls by this dotted name; `None` where there is no such module of production code.
pub fn defines(dotted: &str, from: &RepoPath, source: &dyn Source) -> Option<bool> {
    let (path, module, name) = Resolver::new(source).home(dotted, from).ok()??;
    let is_defined = module.names.contains_key(&name)
        || module.signatures.contains_key(&name)
        || module.functions.iter().any(|f| f.class.is_none() && f.name == name)
        || module.classes.iter().any(|c| c.outer.is_none() && c.name == name);
    (!source.is_test(&path)).then_some(is_defined)
}

/// What a dotted name of a file stands for, told so that each name of it is told alike: imports of imports followed, to the file that
/// defines it or out of the tree. `None` where there is nothing to follow.
pub fn stands_for(dotted: &str, from: &RepoPath, source: &dyn Source) -> Option<String> {
    Resolver::new(source).stands_for(dotted, from).ok()?
}

/// Whether a file of this path must be readable, whether or not it had cards before.
pub fn must_read(path: &RepoPath) -> bool {
    Language::of(path).is_some_and(|language| language.must_read(path))
}

/// The files that a changed one declared as its modules on the base and does not declare any more, as far as they are still there.
pub fn unlinked(path: &RepoPath, base: &dyn Source, patch: &dyn Source) -> Vec<RepoPath> {
    let links = |source: &dyn Source| source.module(path).ok().flatten().map(|module| module.links.clone()).unwrap_or_default();
    let Some(language) = Language::of(path).filter(|language| language.is_beside_code()) else { return Vec::new() };
    let (was, is) = (links(base), links(patch));
    let gone = was.iter().filter(|(name, _)| !is.contains_key(*name));
    let files = gone.flat_map(|(name, at)| language.linked(path, name, at.as_deref()));
    files.filter(|file| patch.sha256(file).is_ok_and(|found| found.is_some())).collect()
}

#[cfg(test)]
mod tests;
