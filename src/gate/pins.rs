//! Owns measuring a tree for the pin: the hash of every property module and of every fixture.

use std::collections::{BTreeMap, BTreeSet};

use crate::digest;
use crate::gate::GateError;
use crate::gate::cards::View;
use crate::gate::facts::Facts;
use crate::gate::inventory;
use crate::gate::policy::Policy;
use crate::repo::Repo;
use crate::settings::Settings;
use crate::strength::card::Kind;
use crate::strength::snapshot::Source as _;
use crate::tree::{Oid, RepoPath, Tree as _};
use crate::witness::pin::{Moved, Pin};
use crate::witness::promote;

/// The pin of a commit.
///
/// # Errors
/// When something that must be read cannot be.
pub fn of_commit(repo: &Repo, facts: &Facts, commit: &Oid) -> Result<Pin, GateError> {
    let tree = repo.tree(Some(commit))?;
    let policy = Policy::of(&tree, tree.entry(&RepoPath::new(Settings::PATH))?.as_ref())?;
    let view = View { tree: &tree, facts, policy: &policy };
    let inventory = inventory::of_tree(&tree, facts)?;
    let leaned_on = |kind: Kind| matches!(kind, Kind::Property | Kind::Support);
    let modules: BTreeSet<&str> = inventory.cards.cards().filter(|card| leaned_on(card.kind)).map(|card| card.path()).collect();
    let modules = hashed(&view, modules.into_iter().map(RepoPath::from_shown))?;
    let fixtures = tree.list(b"")?.into_iter().map(|(path, _)| path).filter(|path| view.is_fixture(path) && !promote::is_witness(path));
    let fixtures = hashed(&view, fixtures)?;
    let fixture_sha256 = digest::over(fixtures.iter().map(|(path, sha256)| (path.as_bytes(), sha256.as_str())));
    let shown = |files: BTreeMap<RepoPath, String>| files.into_iter().map(|(path, sha256)| (path.to_string(), sha256)).collect();
    Ok(Pin { base: commit.clone(), fixture_sha256, fixtures: shown(fixtures), modules: shown(modules) })
}

/// What of a pin has moved in a commit.
///
/// # Errors
/// When something that must be read cannot be.
pub fn moved(repo: &Repo, facts: &Facts, pin: &Pin, commit: &Oid) -> Result<Vec<Moved>, GateError> {
    Ok(pin.moved(&of_commit(repo, facts, commit)?))
}

fn hashed(view: &View<'_>, paths: impl Iterator<Item = RepoPath>) -> Result<BTreeMap<RepoPath, String>, GateError> {
    let mut hashes = BTreeMap::new();
    for path in paths {
        if let Some(sha256) = view.sha256(&path)? {
            hashes.insert(path, sha256);
        }
    }
    Ok(hashes)
}
