//! Owns a change sorted onto its sides, by its base's policy and without a verdict.

use crate::gate::GateError;
use crate::gate::policy;
use crate::partition::Partition;
use crate::repo::Repo;
use crate::settings::Settings;
use crate::tree::{Change, Oid, RepoPath, Tree as _};

/// The sides of changes to a base (`None` is the empty tree).
///
/// # Errors
/// When the base or its policy cannot be read.
pub fn partition(repo: &Repo, base: Option<&Oid>, own: &[Change]) -> Result<Partition, GateError> {
    let base = repo.tree(base)?;
    let entry = base.entry(&RepoPath::new(Settings::PATH))?;
    Ok(Partition::of(own, &policy::for_candidate(&base, entry.as_ref(), own)?.sides))
}
