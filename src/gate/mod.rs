//! Owns judging: facts from wherever they are warm, and the verdict made of them.

mod advice;
pub mod ahead;
pub mod audit;
pub mod candidate;
mod cards;
pub mod digests;
pub mod evidence;
pub mod facts;
mod fixtures;
pub mod folder;
pub mod frozen;
mod harness;
pub mod inside;
pub mod inventory;
pub mod judge;
mod levels;
mod losses;
pub mod overview;
pub mod pins;
mod policy;
pub mod records;
pub mod run;
pub mod sides;
pub mod split;

use crate::finding::Exit;
use crate::repo::RepoError;
use crate::settings::SettingsError;
use crate::strength::snapshot::SnapshotError;
use crate::tree::TreeError;

/// Why no verdict was reached.
#[derive(Debug, thiserror::Error)]
pub enum GateError {
    /// Git.
    #[error(transparent)]
    Repo(#[from] RepoError),
    /// A tree or blob.
    #[error(transparent)]
    Tree(#[from] TreeError),
    /// The policy.
    #[error(transparent)]
    Settings(#[from] SettingsError),
    /// The cards of a file.
    #[error(transparent)]
    Snapshot(#[from] SnapshotError),
}

impl GateError {
    /// The exit this error asks for: bad input is 65, what is missing outside 69, the rest 70.
    pub fn exit(&self) -> Exit {
        match self {
            GateError::Repo(RepoError::NoGit) => Exit::Unavailable,
            GateError::Repo(RepoError::Git(_) | RepoError::Scratch(_)) => Exit::Fault,
            GateError::Repo(_) | GateError::Tree(_) | GateError::Settings(_) | GateError::Snapshot(_) => Exit::Unreadable,
        }
    }
}
