//! Owns everything that runs a project's code: trees on disk, workers, runs, shrinking by a worker, replays on the base.

pub mod evidence;
pub mod candidates;
pub mod interrupt;
pub mod outside;
pub mod probe;
pub mod record;
pub mod reducer;
pub mod replay;
pub mod run;
pub mod runner;
pub mod session;
pub mod shrink;
pub mod suite;
mod system;
pub mod trees;
pub mod worker;
pub mod wrapped;

use std::path::PathBuf;

use crate::finding::Exit;
use crate::gate::GateError;
use crate::gate::folder::FolderError;
use crate::repo::RepoError;
use crate::strength::record::RecordError;
use crate::tree::{RepoPath, TreeError};

/// Why project code was not run to its end.
#[derive(Debug, thiserror::Error)]
pub enum TrialError {
    /// Git.
    #[error(transparent)]
    Repo(#[from] RepoError),
    /// Cards, policy or trees.
    #[error(transparent)]
    Gate(#[from] GateError),
    /// A tree or blob.
    #[error(transparent)]
    Tree(#[from] TreeError),
    /// The cache folder.
    #[error(transparent)]
    Folder(#[from] FolderError),
    /// A record was not written.
    #[error(transparent)]
    Record(#[from] RecordError),
    /// A tree cannot stand on a disk.
    #[error("the tree cannot be written out: {path}: {says}")]
    Unfit {
        /// The path.
        path: RepoPath,
        /// Why.
        says: String,
    },
    /// The disk.
    #[error("{path}: {error}")]
    Disk {
        /// Where.
        path: PathBuf,
        /// What the system said.
        error: std::io::Error,
    },
    /// A file that was named cannot be taken.
    #[error("{path}: {says}")]
    Input {
        /// The file.
        path: PathBuf,
        /// Why.
        says: String,
    },
    /// A name that means no property, or several.
    #[error("{0}")]
    Name(String),
    /// The interpreter cannot be started, or what answers is no worker.
    #[error("no worker: {0}")]
    NoWorker(String),
    /// The worker broke the protocol.
    #[error("the worker broke its protocol: {0}")]
    Protocol(String),
    /// The tests do not pass on unmutated code.
    #[error("the {side} tests do not pass on unmutated code, so nothing they say of a mutant counts: {says}")]
    Twin {
        /// Whose tests.
        side: &'static str,
        /// What they came to.
        says: String,
    },
    /// The folder to write into is taken, or no place for a tree.
    #[error("{path}: {says}; name a folder that is not there yet, or an empty one outside every .git")]
    Taken {
        /// The folder.
        path: PathBuf,
        /// Why.
        says: String,
    },
    /// Somebody wants it to end.
    #[error("interrupted")]
    Interrupted,
}

impl TrialError {
    fn disk(path: impl Into<PathBuf>) -> impl FnOnce(std::io::Error) -> TrialError {
        let path = path.into();
        move |error| TrialError::Disk { path, error }
    }

    fn input(path: impl Into<PathBuf>, says: impl Into<String>) -> TrialError {
        TrialError::Input { path: path.into(), says: says.into() }
    }

    /// The exit it asks for.
    pub fn exit(&self) -> Exit {
        match self {
            TrialError::Gate(error) => error.exit(),
            TrialError::Name(_) | TrialError::Taken { .. } => Exit::Usage,
            TrialError::Repo(RepoError::NoGit) | TrialError::NoWorker(_) => Exit::Unavailable,
            TrialError::Repo(RepoError::Git(_) | RepoError::Scratch(_))
            | TrialError::Folder(_)
            | TrialError::Record(_)
            | TrialError::Disk { .. }
            | TrialError::Protocol(_)
            | TrialError::Interrupted => Exit::Fault,
            TrialError::Repo(_) | TrialError::Tree(_) | TrialError::Unfit { .. } | TrialError::Input { .. } | TrialError::Twin { .. } => {
                Exit::Unreadable
            }
        }
    }
}
