//! Owns where the daemon's socket, lock and notes lie, and whether that place is safe.

use std::path::{Path, PathBuf};

use crate::daemon::wire::PROTOCOL;
use crate::gate::facts::engine;
use crate::gate::folder::{self, FolderError};

/// Longest path of a socket that every system takes, in bytes.
const LONGEST: usize = 103;

/// Why there is no place for a daemon.
#[derive(Debug, thiserror::Error)]
pub enum PlaceError {
    /// The folder is there and is not private; or it cannot be made.
    #[error(transparent)]
    Folder(#[from] FolderError),
    /// The socket's path would be too long.
    #[error("the socket's path would have {0} bytes, more than the {LONGEST} a socket may have")]
    TooLong(usize),
    /// The user has no folder for it.
    #[error("this user has neither a runtime folder nor a cache folder")]
    None,
}

/// A safe folder and the names in it that belong to this engine.
#[derive(Clone, Debug)]
pub struct Place {
    folder: PathBuf,
    stem: String,
}

impl Place {
    /// The first folder that fits. A folder that is there but not private ends the search: no daemon is better than a guess.
    ///
    /// # Errors
    /// [`PlaceError`].
    pub fn find(make: bool) -> Result<Self, PlaceError> {
        let mut last = PlaceError::None;
        for candidate in folder::runs().into_iter().filter(|run| run.is_absolute()) {
            match if make { folder::make(&candidate) } else { folder::check(&candidate) } {
                Ok(()) => return Place::in_folder(&candidate),
                Err(unsafe_folder @ FolderError::Unsafe { .. }) => return Err(unsafe_folder.into()),
                Err(other) => last = other.into(),
            }
        }
        Err(last)
    }

    /// The names in a folder that was found to be safe.
    pub(in crate::daemon) fn in_folder(folder: &Path) -> Result<Self, PlaceError> {
        let place = Place { folder: folder.to_path_buf(), stem: format!("d{PROTOCOL}-{}", engine::short()) };
        let length = place.socket().as_os_str().len();
        if length > LONGEST { Err(PlaceError::TooLong(length)) } else { Ok(place) }
    }

    /// The folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The socket: an address, no authority.
    pub fn socket(&self) -> PathBuf {
        self.file("sock")
    }

    /// The file whose lock is held for life: the only authority. It is never deleted.
    pub fn held(&self) -> PathBuf {
        self.file("held")
    }

    /// What the daemon says.
    pub fn log(&self) -> PathBuf {
        self.file("log")
    }

    /// How earlier daemons ended.
    pub fn history(&self) -> PathBuf {
        self.file("history")
    }

    /// The blob that is being read ahead.
    pub fn in_flight(&self) -> PathBuf {
        self.file("inflight")
    }

    /// The sockets of every engine's daemon here.
    pub fn sockets(&self) -> Vec<PathBuf> {
        let entries = std::fs::read_dir(&self.folder).into_iter().flatten().flatten().take(1000);
        let ours = |path: &PathBuf| {
            path.extension().is_some_and(|end| end == "sock")
                && path.file_stem().is_some_and(|stem| stem.as_encoded_bytes().starts_with(b"d"))
        };
        entries.map(|entry| entry.path()).filter(ours).collect()
    }

    fn file(&self, end: &str) -> PathBuf {
        self.folder.join(format!("{}.{end}", self.stem))
    }
}
