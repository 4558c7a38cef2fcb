//! Owns a change sorted onto its sides, by its base's policy and without a verdict.

use crate::gate::GateError;
use crate::gate::candidate::Candidate;
use crate::gate::policy;
use crate::partition::Partition;
use crate::repo::Repo;
use crate::settings::Settings;
use crate::tree::{RepoPath, Tree as _};

/// The sides of what a candidate itself changes.
///
/// # Errors
/// When the base or its policy cannot be read.
pub fn partition(repo: &Repo, candidate: &Candidate) -> Result<Partition, GateError> {
    let base = repo.tree(candidate.base())?;
    let own = candidate.own();
    let entry = base.entry(&RepoPath::new(Settings::PATH))?;
    Ok(Partition::of(&own, &policy::for_candidate(&base, entry.as_ref(), &own)?.sides))
}
