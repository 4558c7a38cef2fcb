//! Owns git: opening a repository, reading objects, listing changes, ranges, hooks. Only this room names git2 or starts git.

use std::path::{Path, PathBuf};

use crate::tree::{Change, Entry, Oid, RepoPath, Tree, TreeError};

/// Why git could not be asked.
#[derive(Debug, thiserror::Error)]
pub enum RepoError {
    /// No repository here.
    #[error("no git repository at {0} or above it")]
    NotFound(PathBuf),
    /// Anything git or libgit2 said.
    #[error("git: {0}")]
    Git(String),
    /// A tree or blob.
    #[error(transparent)]
    Tree(#[from] TreeError),
}

impl RepoError {
    /// The exit this error asks for.
    pub fn exit(&self) -> crate::finding::Exit {
        crate::finding::Exit::Fault
    }
}

/// What git told this process: the working directory and the `GIT_*` variables that name a repository.
#[derive(Clone, Debug)]
pub struct Environment {
    /// Absolute working directory.
    pub cwd: PathBuf,
    /// `GIT_*` variables as found.
    pub git: Vec<(String, std::ffi::OsString)>,
}

impl Environment {
    /// Of this process.
    pub fn of_process() -> Result<Self, RepoError> {
        Err(RepoError::Git("not built".into()))
    }
}

/// A commit.
#[derive(Clone, Debug)]
pub struct Commit {
    /// Its id.
    pub oid: Oid,
    /// Its tree.
    pub tree: Oid,
    /// Its visible parents (none at a shallow boundary: see `boundary`).
    pub parents: Vec<Oid>,
    /// True when the clone is shallow here: the parents exist but cannot be seen.
    pub boundary: bool,
    /// First line of its message.
    pub subject: String,
}

/// One line of pre-push's standard input.
#[derive(Clone, Debug)]
pub struct RefUpdate {
    /// Local ref or expression.
    pub local_ref: Vec<u8>,
    /// New value; zero when the ref is deleted.
    pub local: Oid,
    /// Remote ref.
    pub remote_ref: Vec<u8>,
    /// Old value there; zero when new.
    pub remote: Oid,
}

/// The candidate of a commit in the making.
#[derive(Clone, Debug)]
pub struct Pending {
    /// The parents the commit will have: none (first commit), one, or several (merge). An amend has `HEAD`'s parents.
    pub parents: Vec<Oid>,
    /// Whether this is an amend.
    pub amend: bool,
}

/// An open repository. Not shared between threads: `reopen` makes another handle.
pub struct Repo {}

impl Repo {
    /// Opens the repository that git means in this environment.
    pub fn open(_environment: &Environment) -> Result<Self, RepoError> {
        Err(RepoError::Git("not built".into()))
    }
    /// Another handle on the same repository, for another thread.
    pub fn reopen(&self) -> Result<Self, RepoError> {
        Err(RepoError::Git("not built".into()))
    }
    /// Root of the work tree; `None` when bare.
    pub fn top(&self) -> Option<&Path> {
        None
    }
    /// The per-worktree git directory, absolute.
    pub fn git_dir(&self) -> &Path {
        Path::new("")
    }
    /// The common git directory, absolute.
    pub fn common_dir(&self) -> &Path {
        Path::new("")
    }
    /// The commit HEAD names; `None` when unborn.
    pub fn head(&self) -> Result<Option<Oid>, RepoError> {
        Err(RepoError::Git("not built".into()))
    }
    /// The commit that a revision names (peeled).
    pub fn resolve(&self, _revision: &str) -> Result<Oid, RepoError> {
        Err(RepoError::Git("not built".into()))
    }
    /// Reads a commit.
    pub fn commit(&self, _oid: &Oid) -> Result<Commit, RepoError> {
        Err(RepoError::Git("not built".into()))
    }
    /// The tree of a commit; `None` is the empty tree.
    pub fn tree(&self, _commit: Option<&Oid>) -> Result<GitTree<'_>, RepoError> {
        Err(RepoError::Git("not built".into()))
    }
    /// What differs between two commits' trees (`None` is the empty tree), in byte order of the paths.
    pub fn changes(&self, _old: Option<&Oid>, _new: Option<&Oid>) -> Result<Vec<Change>, RepoError> {
        Err(RepoError::Git("not built".into()))
    }
    /// What the index that git named differs in from a commit's tree; intent-to-add entries do not count.
    pub fn staged(&self, _against: Option<&Oid>) -> Result<Vec<Change>, RepoError> {
        Err(RepoError::Git("not built".into()))
    }
    /// The parents that the commit in the making will have.
    pub fn pending(&self) -> Result<Pending, RepoError> {
        Err(RepoError::Git("not built".into()))
    }
    /// Every commit that a push would bring and `known` does not reach, oldest first.
    pub fn outgoing(&self, _updates: &[RefUpdate], _known: &[Oid]) -> Result<Vec<Oid>, RepoError> {
        Err(RepoError::Git("not built".into()))
    }
    /// Commits of `base..head`, oldest first.
    pub fn range(&self, _base: &Oid, _head: &Oid) -> Result<Vec<Oid>, RepoError> {
        Err(RepoError::Git("not built".into()))
    }
    /// A merge base; `None` when there is none.
    pub fn merge_base(&self, _one: &Oid, _two: &Oid) -> Result<Option<Oid>, RepoError> {
        Err(RepoError::Git("not built".into()))
    }
    /// The symlinks of the index that git named.
    pub fn staged_symlinks(&self, _against: Option<&Oid>) -> Result<Vec<(RepoPath, Entry)>, RepoError> {
        Err(RepoError::Git("not built".into()))
    }
    /// A boolean of git's configuration.
    pub fn config_bool(&self, _key: &str) -> Result<Option<bool>, RepoError> {
        Err(RepoError::Git("not built".into()))
    }
    /// Every symlink of a commit's tree (target text not read).
    pub fn symlinks(&self, _commit: Option<&Oid>) -> Result<Vec<(RepoPath, Entry)>, RepoError> {
        Err(RepoError::Git("not built".into()))
    }
}

/// A commit's tree.
pub struct GitTree<'r> {
    _repo: &'r Repo,
}

impl GitTree<'_> {
    /// Existing paths that a file system without case would take `path` for.
    pub fn entry_folded(&self, _path: &RepoPath) -> Result<Vec<RepoPath>, TreeError> {
        Ok(Vec::new())
    }
}

impl Tree for GitTree<'_> {
    fn entry(&self, _path: &RepoPath) -> Result<Option<Entry>, TreeError> {
        Ok(None)
    }
    fn list(&self, _under: &[u8]) -> Result<Vec<(RepoPath, Entry)>, TreeError> {
        Ok(Vec::new())
    }
    fn blob(&self, _oid: &Oid, _cap: u64) -> Result<Vec<u8>, TreeError> {
        Ok(Vec::new())
    }
}
