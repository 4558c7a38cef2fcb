//! Owns a change sorted onto its sides, by its base's policy and without a verdict.

use crate::gate::GateError;
use crate::gate::candidate::Candidate;
use crate::gate::inside::Look;
use crate::gate::policy;
use crate::partition::Partition;
use crate::repo::Repo;
use crate::settings::Settings;
use crate::tree::{Change, Overlay, RepoPath, Tree};

/// The sides of what a candidate itself does.
///
/// # Errors
/// When an object or the policy cannot be read.
pub fn of_candidate(repo: &Repo, candidate: &Candidate) -> Result<Partition, GateError> {
    let (base, own) = (repo.tree(candidate.base())?, candidate.own());
    let others = candidate.parents.iter().skip(1).map(|parent| repo.tree(Some(parent))).collect::<Result<Vec<_>, _>>()?;
    let bases: Vec<&dyn Tree> = std::iter::once(&base as &dyn Tree).chain(others.iter().map(|tree| tree as &dyn Tree)).collect();
    let patch = Overlay::new(&base, candidate.changes());
    let policy = policy::for_candidate(&base, base.entry(&RepoPath::new(Settings::PATH))?.as_ref(), &own)?;
    Look { bases: &bases, patch: &patch, sides: &policy.sides }.partition(&own)
}

/// The sides of paths, whether or not they exist, by the policy of HEAD.
///
/// # Errors
/// When HEAD or its policy cannot be read.
pub fn of_paths(repo: &Repo, paths: Vec<RepoPath>) -> Result<Partition, GateError> {
    let base = repo.tree(repo.head()?.as_ref())?;
    let own: Vec<Change> = paths.into_iter().map(|path| Change { path, old: None, new: None }).collect();
    let entry = base.entry(&RepoPath::new(Settings::PATH))?;
    Ok(Partition::of(&own, &policy::for_candidate(&base, entry.as_ref(), &own)?.sides))
}
