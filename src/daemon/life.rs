//! Owns the daemon's claim to be the only one: a lock held for life, and the signs that the claim is lost.

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::PathBuf;
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::daemon::DaemonError;
use crate::daemon::place::Place;
use crate::daemon::system::{self, Door, Identity};
use crate::gate::folder;

/// How long a starter waits for one that is just leaving.
const WAIT: Duration = Duration::from_millis(250);

/// The claim.
pub(super) struct Life {
    place: Place,
    _lock: File,
    lock: Option<Identity>,
    socket: Option<Identity>,
    program: Option<(PathBuf, Identity)>,
}

impl Life {
    /// Takes the lock, or finds that another daemon holds it.
    pub(super) fn claim(place: &Place) -> Result<Self, DaemonError> {
        let file = system::open_private(&place.held()).map_err(|error| DaemonError::Lock(folder::shown(&place.held()), error))?;
        let end = Instant::now() + WAIT;
        loop {
            match file.try_lock() {
                Ok(()) => break,
                Err(TryLockError::WouldBlock) if Instant::now() < end => sleep(Duration::from_millis(2)),
                Err(TryLockError::WouldBlock) => return Err(DaemonError::Running),
                Err(TryLockError::Error(error)) => return Err(DaemonError::Lock(folder::shown(&place.held()), error)),
            }
        }
        let program = std::env::current_exe().ok().and_then(|path| Some((path.clone(), system::identity(&path)?)));
        Ok(Life { lock: system::identity(&place.held()), place: place.clone(), _lock: file, socket: None, program })
    }

    /// Binds the socket. A socket that is still there belongs to a dead daemon, because the lock is ours; anything else stays.
    pub(super) fn open(&mut self) -> Result<Door, DaemonError> {
        let path = self.place.socket();
        let bad = |error: io::Error| DaemonError::Socket(folder::shown(&path), error);
        match fs::symlink_metadata(&path) {
            Ok(found) if is_socket(&found) => fs::remove_file(&path).map_err(bad)?,
            Ok(_) => return Err(DaemonError::InTheWay(folder::shown(&path))),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(bad(error)),
        }
        let door = Door::bind(&path).map_err(bad)?;
        self.socket = system::identity(&path);
        Ok(door)
    }

    /// Why this daemon should leave, if it should: its lock, socket, folder or program is no longer what it was.
    pub(super) fn lost(&self) -> Option<&'static str> {
        if folder::check(self.place.folder()).is_err() {
            return Some("the runtime folder is gone or no longer private");
        }
        if system::identity(&self.place.held()) != self.lock {
            return Some("the lock file was replaced");
        }
        if system::identity(&self.place.socket()) != self.socket {
            return Some("the socket was replaced");
        }
        let program = self.program.as_ref().is_none_or(|(path, identity)| system::identity(path).as_ref() == Some(identity));
        (!program).then_some("the program was replaced")
    }

    /// Takes the address away, if it is still ours.
    pub(super) fn close(&self) {
        let path = self.place.socket();
        if self.socket.is_some() && system::identity(&path) == self.socket {
            let _ = fs::remove_file(path);
        }
    }
}

fn is_socket(found: &fs::Metadata) -> bool {
    #[cfg(unix)]
    return std::os::unix::fs::FileTypeExt::is_socket(&found.file_type());
    #[cfg(not(unix))]
    return !found.is_dir() && !found.is_file() && !found.is_symlink();
}
