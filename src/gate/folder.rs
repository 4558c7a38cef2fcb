//! Owns the user's private folders: where they are, and the check that nobody else can put anything into them.

use std::path::{Path, PathBuf};

use directories::ProjectDirs;

use crate::tree::RepoPath;

#[cfg(unix)]
mod unix;
#[cfg(unix)]
use unix as system;
#[cfg(windows)]
mod windows;
#[cfg(windows)]
use windows as system;

/// Why a folder is not used.
#[derive(Debug, thiserror::Error)]
pub enum FolderError {
    /// It is there, but it is not a private folder of this user. It is left as it is.
    #[error("{path} is not a private folder of this user: {why}")]
    Unsafe {
        /// The folder, escaped.
        path: String,
        /// What is wrong with it.
        why: &'static str,
    },
    /// It is not there and could not be made, or could not be looked at.
    #[error("{path}: {source}")]
    Io {
        /// The folder, escaped.
        path: String,
        /// What the system said.
        source: std::io::Error,
    },
}

impl FolderError {
    fn not_private(path: &Path, why: &'static str) -> Self {
        FolderError::Unsafe { path: shown(path), why }
    }

    fn io(path: &Path, source: std::io::Error) -> Self {
        FolderError::Io { path: shown(path), source }
    }

    /// Whether the folder is simply not there.
    pub fn is_absent(&self) -> bool {
        matches!(self, FolderError::Io { source, .. } if source.kind() == std::io::ErrorKind::NotFound)
    }
}

/// Checks that a folder is a real one (no link), this user's own, and closed to everybody else.
///
/// # Errors
/// [`FolderError`]: nothing is changed to make it fit.
pub fn check(path: &Path) -> Result<(), FolderError> {
    system::check(path)
}

/// Makes a folder (and missing parents) for this user alone, then checks it. A folder that is already there is only checked.
///
/// # Errors
/// [`FolderError`].
pub fn make(path: &Path) -> Result<(), FolderError> {
    system::make(path)
}

/// Whether a folder is this user's own and no other may write to it: good enough to make a private one inside.
pub fn is_own(path: &Path) -> bool {
    system::is_own(path)
}

/// The user's cache folder for Seedgate; `None` where the system has none.
pub fn cache() -> Option<PathBuf> {
    ProjectDirs::from("", "", "seedgate").map(|dirs| dirs.cache_dir().to_path_buf())
}

/// Where the daemon's socket and lock may lie, best first: `SEEDGATE_RUNTIME_DIR` alone when it is set, else the system's runtime
/// folder and the cache. Whether one of them fits is for the daemon to find out.
pub fn runs() -> Vec<PathBuf> {
    if let Some(named) = std::env::var_os("SEEDGATE_RUNTIME_DIR").filter(|named| !named.is_empty()) {
        return vec![named.into()];
    }
    let user = ProjectDirs::from("", "", "seedgate");
    // After `sudo` the variable still names somebody else's folder.
    let runtime = user.as_ref().and_then(ProjectDirs::runtime_dir).filter(|runtime| runtime.parent().is_some_and(is_own));
    let runtime = runtime.map(Path::to_path_buf);
    runtime.into_iter().chain(cache().map(|cache| cache.join("run"))).collect()
}

/// A path for people, escaped as paths of a repository are.
pub fn shown(path: &Path) -> String {
    RepoPath::new(path.as_os_str().as_encoded_bytes()).to_string()
}
