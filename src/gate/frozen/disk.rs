//! Owns whether freeze entries hold for a run of what lies on disk: the fixtures that a loader reads, and the tests.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use crate::digest;
use crate::freeze::day::Day;
use crate::freeze::file::{Fault, Freeze};
use crate::gate::GateError;
use crate::gate::cards::View;
use crate::gate::facts::Facts;
use crate::gate::policy::Policy;
use crate::gate::{frozen, pins};
use crate::repo::Repo;
use crate::settings::Settings;
use crate::strength::card;
use crate::strength::snapshot::Source as _;
use crate::tree::{Mode, Overlay, RepoPath, Tree, TreeError};
use crate::witness::ledger::Ledger;
use crate::witness::promote;

/// What is wrong with a freeze file, held against the work tree, a ledger and a day: a frozen test that differs on disk from the index, or a
/// fixture that does or that git does not know, is not what the token is of.
///
/// # Errors
/// When something that must be read cannot be.
pub fn faults_on_disk(repo: &Repo, facts: &Facts, freeze: &Freeze, ledger: &Ledger, today: Day) -> Result<Vec<Fault>, GateError> {
    let mut found = frozen::faults(repo, facts, freeze, ledger, today)?;
    let Some(top) = repo.top().filter(|_| !freeze.entries.is_empty()) else { return Ok(found) };
    found.extend(of_index(repo, facts, &|view| differing(repo, view, top, freeze))?);
    Ok(found)
}

fn differing(repo: &Repo, view: &View<'_>, top: &Path, freeze: &Freeze) -> Result<Vec<Fault>, GateError> {
    let (moved, mut found) = (moved(repo, view, top)?, Vec::new());
    for entry in &freeze.entries {
        let path = RepoPath::from_shown(card::path_of(&entry.test));
        found.extend(moved.clone().map(|says| Fault { test: entry.test.clone(), says }));
        if view.sha256(&path)? != sha256(top, &path) {
            found.push(Fault { test: entry.test.clone(), says: format!("void: {path} differs on disk from the index") });
        }
    }
    Ok(found)
}

fn of_index<T>(repo: &Repo, facts: &Facts, then: &dyn Fn(&View<'_>) -> Result<T, GateError>) -> Result<T, GateError> {
    let head = repo.head()?;
    let (tree, staged) = (repo.tree(head.as_ref())?, repo.staged(head.as_ref())?);
    let index = Overlay::new(&tree, &staged);
    let policy = Policy::of(&index, index.entry(&RepoPath::new(Settings::PATH))?.as_ref())?;
    then(&View { tree: &index, facts, policy: &policy })
}

/// The digest over the fixtures as a run of the work tree finds them: known ones as they are on disk, and unknown ones too.
///
/// # Errors
/// When something that must be read cannot be.
pub fn digest_on_disk(repo: &Repo, facts: &Facts) -> Result<Option<String>, GateError> {
    let Some(top) = repo.top() else { return Ok(None) };
    of_index(repo, facts, &|view| {
        let known = pins::fixtures(view)?;
        let mut now = BTreeMap::new();
        for (path, staged) in &known {
            let found = if is_file(view.tree, path)? { sha256(top, path) } else { Some(staged.clone()) };
            now.extend(found.map(|sha256| (path.clone(), sha256)));
        }
        for path in strange(repo, view, top, &known)? {
            let found = sha256(top, &path).unwrap_or_default();
            now.insert(path, found);
        }
        Ok(Some(pins::over(&now)))
    })
}

/// The first fixture on disk that is not the index's.
fn moved(repo: &Repo, view: &View<'_>, top: &Path) -> Result<Option<String>, GateError> {
    let known = pins::fixtures(view)?;
    for (path, staged) in &known {
        if is_file(view.tree, path)? && sha256(top, path).as_ref() != Some(staged) {
            return Ok(Some(format!("void: {path} differs on disk from the index")));
        }
    }
    let strange = strange(repo, view, top, &known)?;
    Ok(strange.first().map(|path| format!("void: the fixture {path} is on disk and not in the index")))
}

/// Fixtures on disk that the index does not have. What git ignores is one too where it lies among fixtures that git knows: a loader does not
/// ask git. What Python compiles is none.
fn strange(repo: &Repo, view: &View<'_>, top: &Path, known: &BTreeMap<RepoPath, String>) -> Result<BTreeSet<RepoPath>, GateError> {
    let mut found: BTreeSet<RepoPath> = BTreeSet::new();
    for path in repo.unknown()? {
        if path.as_bytes().ends_with(b"/") {
            // A repository within: git tells nothing of what it holds.
            found.extend(listed(top, path.as_bytes().strip_suffix(b"/").unwrap_or_default(), true)?);
        } else {
            found.insert(path);
        }
    }
    let parent = |path: &RepoPath| path.as_bytes().iter().rposition(|b| *b == b'/').map(|at| path.as_bytes()[..at].to_vec());
    let folders: BTreeSet<Vec<u8>> = known.keys().filter_map(parent).collect();
    for folder in folders {
        // A folder that is one of fixtures by its own name is read to its depths; beside a lone snapshot only the folder itself.
        let is_whole = view.is_fixture(&RepoPath::new([&folder[..], b"/x"].concat()));
        found.extend(listed(top, &folder, is_whole)?);
    }
    let compiled = |path: &RepoPath| path.as_bytes().split(|b| *b == b'/').any(|part| part == b"__pycache__");
    let mut strange = BTreeSet::new();
    for path in found {
        if view.is_fixture(&path) && !promote::is_witness(&path) && !compiled(&path) && view.tree.entry(&path)?.is_none() {
            strange.insert(path);
        }
    }
    Ok(strange)
}

/// The files of a folder on disk.
fn listed(top: &Path, folder: &[u8], is_deep: bool) -> Result<Vec<RepoPath>, GateError> {
    digest::listed(top, folder, is_deep).map_err(|error| TreeError::Store(error.to_string()).into())
}

fn is_file(tree: &dyn Tree, path: &RepoPath) -> Result<bool, GateError> {
    Ok(tree.entry(path)?.is_some_and(|entry| matches!(entry.mode, Mode::File | Mode::Executable)))
}

fn sha256(top: &Path, path: &RepoPath) -> Option<String> {
    digest::worktree(top, path.as_bytes()).ok().flatten()?.files.get(path).cloned()
}
