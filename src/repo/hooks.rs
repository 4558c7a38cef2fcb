//! Owns the hooks: where git looks for them, what stands there, putting Seedgate's in and taking them out again.

mod ask;
pub mod baseline;
mod file;
mod here;
mod install;
mod manager;
mod place;
mod policy;
mod pushed;
mod shim;
mod state;
mod uninstall;

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use crate::finding::Exit;
use crate::repo::RepoError;
use crate::tree::RepoPath;

pub use install::{Act, Chain, Installed, Planned, Request, Was, Wish, install};
pub use manager::Advice;
pub use place::{Folder, Place};
pub use policy::Wrote;
pub use pushed::pushed;
pub use state::{Dead, HookState, Standing, state};
pub use uninstall::{Removed, Undone, uninstall};

/// The hooks that Seedgate stands in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum HookName {
    /// Before a commit.
    PreCommit,
    /// Before the commit of an automatic merge.
    PreMergeCommit,
    /// Before a push.
    PrePush,
}

impl HookName {
    /// All of them.
    pub const ALL: [HookName; 3] = [HookName::PreCommit, HookName::PreMergeCommit, HookName::PrePush];

    /// Git's name for it, which is the file's name.
    pub fn name(self) -> &'static str {
        match self {
            HookName::PreCommit => "pre-commit",
            HookName::PreMergeCommit => "pre-merge-commit",
            HookName::PrePush => "pre-push",
        }
    }
}

impl fmt::Display for HookName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Why the hooks could not be read, put in or taken out.
#[derive(Debug, thiserror::Error)]
pub enum HookError {
    /// The repository cannot be opened or read.
    #[error(transparent)]
    Repo(#[from] RepoError),
    /// Git answered with an error.
    #[error("git {command}: {says}")]
    Git {
        /// What was asked.
        command: String,
        /// The first line of its answer.
        says: String,
    },
    /// There is no work tree here.
    #[error("{} has no work tree here: run this in one", shown(.0))]
    NoWorkTree(PathBuf),
    /// A file or folder could not be read or written.
    #[error("cannot {doing} {}: {source}", shown(.path))]
    Io {
        /// "read", "write", ...
        doing: &'static str,
        /// What.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// Something that would have to be written through leads elsewhere.
    #[error("{} is a symbolic link, and nothing is written through it: remove it first", shown(.0))]
    Link(PathBuf),
    /// Git looks for hooks where this repository must not write.
    #[error("the hooks folder {}{named} {says}", shown(.folder))]
    Folder {
        /// The hooks folder.
        folder: PathBuf,
        /// Which setting names it.
        named: String,
        /// Why nothing was installed, and what can be done.
        says: &'static str,
    },
    /// Something is not what it must be.
    #[error("{} {says}", shown(.path))]
    Unfit {
        /// What.
        path: PathBuf,
        /// What is wrong with it.
        says: String,
    },
}

impl HookError {
    /// The exit this error asks for.
    pub fn exit(&self) -> Exit {
        match self {
            HookError::Repo(RepoError::NoGit) | HookError::Folder { .. } => Exit::Unavailable,
            HookError::Repo(_) | HookError::Git { .. } | HookError::NoWorkTree(_) | HookError::Link(_) | HookError::Unfit { .. } => {
                Exit::Unreadable
            }
            HookError::Io { .. } => Exit::Fault,
        }
    }

    /// Names the path that an operating system error is about.
    fn io(doing: &'static str, path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> HookError {
        let path = path.into();
        move |source| HookError::Io { doing, path, source }
    }
}

/// A path of this machine as a person may see it: escaped like every other path.
pub fn shown(path: &Path) -> RepoPath {
    RepoPath::new(path.as_os_str().as_encoded_bytes())
}
