//! Owns git: opening a repository, reading objects, listing changes, ranges, hooks. Only this room names git2 or starts git.

mod batch;
mod cached_tree;
mod caller;
mod changes;
mod commits;
mod config;
mod environment;
mod folder;
mod git_tree;
pub mod hooks;
mod id;
mod index;
mod native;
mod open;
mod parents;
mod plumbing;
mod range;
mod raw_diff;
mod refs;
pub mod scratch;
mod staged;
mod store;
mod symlinks;
mod unknown;
mod write;

use std::path::{Path, PathBuf};

use crate::tree::{Change, Entry, Oid, RepoPath, TreeError};

pub use environment::{Environment, LOCAL_VARIABLES};
pub use git_tree::GitTree;
pub use refs::Branch;
pub use write::Identity;

use commits::Shallow;
use id::Id;
use open::Place;
use store::Store;
use symlinks::Links;

/// Why git could not be asked.
#[derive(Debug, thiserror::Error)]
pub enum RepoError {
    /// No repository here.
    #[error("no git repository at {} or above it", .0.display())]
    NotFound(PathBuf),
    /// It belongs to somebody else.
    #[error("the git repository at {} belongs to another user, so git does not trust it; if you do: git config --global --add safe.directory '{}'", .0.display(), .0.display())]
    Owner(PathBuf),
    /// libgit2 cannot read this repository, and git is not there.
    #[error("no git on PATH (only absolute folders outside the repository are searched)")]
    NoGit,
    /// The index file cannot be read.
    #[error("the index {} cannot be read: {says}", .file.display())]
    Index {
        /// The file.
        file: PathBuf,
        /// What is wrong with it.
        says: String,
    },
    /// A bare repository without an index.
    #[error("{} is bare, so nothing is staged here: name a commit, with --base or --rev", .0.display())]
    Bare(PathBuf),
    /// The index holds a conflict.
    #[error("{0} is not merged: resolve the conflict and add it")]
    Unmerged(RepoPath),
    /// A revision that leads to no commit.
    #[error("{0} names no commit here")]
    NoCommit(String),
    /// A scratch repository could not be made or used.
    #[error("{0}")]
    Scratch(String),
    /// Anything git or libgit2 said.
    #[error("git: {0}")]
    Git(String),
    /// A tree or blob.
    #[error(transparent)]
    Tree(#[from] TreeError),
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
    /// Its author's name, as text whatever the bytes are.
    pub author: String,
    /// When it was committed, in seconds since 1970; 0 when the commit does not say.
    pub time: i64,
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

/// An open repository. Not shared between threads: each opens its own.
pub struct Repo {
    environment: Environment,
    place: Place,
    store: Store,
    shallow: Shallow,
    links: Links,
}

impl RepoError {
    /// Whether what was to be judged cannot be read (exit 65), rather than that the program could not work.
    pub fn is_unreadable(&self) -> bool {
        matches!(self, RepoError::Index { .. } | RepoError::Bare(_) | RepoError::Unmerged(_) | RepoError::Tree(_))
    }
}

impl From<git2::Error> for RepoError {
    fn from(error: git2::Error) -> Self {
        RepoError::Git(error.message().to_owned())
    }
}

impl Repo {
    /// Opens the repository that git means in this environment.
    ///
    /// # Errors
    /// When there is none, it belongs to another user, or neither libgit2 nor git can read it.
    pub fn open(environment: &Environment) -> Result<Self, RepoError> {
        let found = open::find(environment)?;
        let place = found.place.clone();
        let shallow = environment.path("GIT_SHALLOW_FILE").unwrap_or_else(|| place.common_dir.join("shallow"));
        let store = Store::new(found, environment.clone());
        Ok(Repo { environment: environment.clone(), place, store, shallow: Shallow::new(shallow), links: Links::default() })
    }

    /// What it was opened by; a handle is not shared between threads, so another thread opens its own from this.
    pub fn environment(&self) -> &Environment {
        &self.environment
    }

    /// Root of the work tree; `None` when bare.
    pub fn top(&self) -> Option<&Path> {
        self.place.top.as_deref()
    }

    /// The per-worktree git directory, absolute.
    pub fn git_dir(&self) -> &Path {
        &self.place.git_dir
    }

    /// The common git directory, absolute.
    pub fn common_dir(&self) -> &Path {
        &self.place.common_dir
    }

    /// The index that git named, absolute; it may not exist.
    pub fn index_file(&self) -> &Path {
        &self.place.index
    }

    /// The commit HEAD names; `None` when unborn.
    ///
    /// # Errors
    /// When HEAD leads nowhere.
    pub fn head(&self) -> Result<Option<Oid>, RepoError> {
        refs::head(self)
    }

    /// The commit that a revision names (peeled).
    ///
    /// # Errors
    /// [`RepoError::NoCommit`].
    pub fn resolve(&self, revision: &str) -> Result<Oid, RepoError> {
        refs::resolve(self, revision)
    }

    /// The commits that any ref or HEAD leads to, each once.
    ///
    /// # Errors
    /// When refs cannot be listed.
    pub fn tips(&self) -> Result<Vec<Oid>, RepoError> {
        refs::tips(self)
    }

    /// Every local branch and what it follows.
    ///
    /// # Errors
    /// When refs cannot be listed.
    pub fn branches(&self) -> Result<Vec<Branch>, RepoError> {
        refs::branches(self)
    }

    /// Whether an object is here. Nothing is fetched to find out.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn has(&self, oid: &Oid) -> Result<bool, RepoError> {
        self.store.id(oid).map_or(Ok(false), |id| self.store.has(&id))
    }

    /// The id that bytes would have here as a blob; nothing is written.
    pub fn blob_id(&self, bytes: &[u8]) -> Option<Oid> {
        self.store.format.blob(bytes).map(Oid::from)
    }

    /// Reads a commit.
    ///
    /// # Errors
    /// When it is missing, malformed or no commit.
    pub fn commit(&self, oid: &Oid) -> Result<Commit, RepoError> {
        commits::commit(&self.store, &self.shallow, &self.store.id(oid)?)
    }

    /// The tree of a commit; `None` is the empty tree.
    ///
    /// # Errors
    /// When the commit cannot be read.
    pub fn tree(&self, commit: Option<&Oid>) -> Result<GitTree<'_>, RepoError> {
        Ok(GitTree::new(self, self.root(commit)?))
    }

    /// What differs between two commits' trees (`None` is the empty tree), in byte order of the paths.
    ///
    /// # Errors
    /// When a commit or tree cannot be read.
    pub fn changes(&self, old: Option<&Oid>, new: Option<&Oid>) -> Result<Vec<Change>, RepoError> {
        Ok(changes::between(&self.store, self.root(old)?, self.root(new)?)?)
    }

    /// What the index that git named differs in from a commit's tree; intent-to-add entries do not count.
    ///
    /// # Errors
    /// When the index is corrupt or holds a conflict, or a tree cannot be read.
    pub fn staged(&self, against: Option<&Oid>) -> Result<Vec<Change>, RepoError> {
        staged::staged(&self.store, &self.place.index, self.root(against)?)
    }

    /// The parents that the commit in the making will have.
    ///
    /// # Errors
    /// When HEAD or a merge in progress cannot be read.
    pub fn pending(&self) -> Result<Pending, RepoError> {
        parents::pending(self)
    }

    /// Every commit that a push would bring and `known` does not reach, oldest first.
    ///
    /// # Errors
    /// When any of it cannot be listed: then nothing is known of the push.
    pub fn outgoing(&self, updates: &[RefUpdate], known: &[Oid]) -> Result<Vec<Oid>, RepoError> {
        range::outgoing(self, updates, known)
    }

    /// Commits of `base..head`, oldest first.
    ///
    /// # Errors
    /// When the history between them cannot be read.
    pub fn range(&self, base: &Oid, head: &Oid) -> Result<Vec<Oid>, RepoError> {
        range::between(self, &[self.store.id(head)?], &[self.store.id(base)?])
    }

    /// The newest `most` commits that `head` reaches, oldest first, parents before children.
    ///
    /// # Errors
    /// When the history cannot be read.
    pub fn recent(&self, head: &Oid, most: usize) -> Result<Vec<Oid>, RepoError> {
        range::recent(self, &self.store.id(head)?, most)
    }

    /// A merge base; `None` when there is none.
    ///
    /// # Errors
    /// When the history cannot be read.
    pub fn merge_base(&self, one: &Oid, two: &Oid) -> Result<Option<Oid>, RepoError> {
        range::merge_base(self, &self.store.id(one)?, &self.store.id(two)?)
    }

    /// A boolean of git's configuration; `None` when unset.
    ///
    /// # Errors
    /// When the configuration cannot be read, or the value is no boolean.
    pub fn config_bool(&self, key: &str) -> Result<Option<bool>, RepoError> {
        config::boolean(self, key)
    }

    /// git's own version.
    ///
    /// # Errors
    /// When there is no git.
    pub fn git_version(&self) -> Result<String, RepoError> {
        config::version(self)
    }

    /// Every symlink of a commit's tree (target text not read), in byte order of the paths.
    ///
    /// # Errors
    /// When a tree cannot be read.
    pub fn symlinks(&self, commit: Option<&Oid>) -> Result<Vec<(RepoPath, Entry)>, RepoError> {
        Ok(self.links.under(&self.store, self.root(commit)?)?)
    }

    /// Every symlink that the index holds, in byte order of the paths.
    ///
    /// # Errors
    /// When the index is corrupt.
    pub fn staged_symlinks(&self) -> Result<Vec<(RepoPath, Entry)>, RepoError> {
        staged::symlinks(&self.store, &self.place.index)
    }

    /// Every file of the work tree that is neither in the index nor ignored. A foreign repository within is one path that ends in a slash.
    ///
    /// # Errors
    /// When git cannot list them.
    pub fn unknown(&self) -> Result<Vec<RepoPath>, RepoError> {
        unknown::unknown(self)
    }

    /// The root tree of a commit.
    fn root(&self, commit: Option<&Oid>) -> Result<Option<Id>, RepoError> {
        let Some(oid) = commit else { return Ok(None) };
        Ok(Some(commits::parse(&self.store, &self.store.id(oid)?)?.tree))
    }

    /// Whether a file of this clone changes what parents commits seem to have.
    fn history_is_altered(&self) -> bool {
        let files = [self.place.common_dir.join("shallow"), self.place.git_dir.join("shallow"), self.place.common_dir.join("info/grafts")];
        self.environment.get("GIT_SHALLOW_FILE").is_some() || files.iter().any(|file| file.exists())
    }
}
