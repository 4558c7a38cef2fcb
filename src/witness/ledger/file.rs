//! Owns the ledger on disk: read whole, changed under a lock, put in place in one step.

use std::collections::BTreeSet;
use std::fs::{File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use serde::Deserialize;

use crate::strength::record::{self, RecordError, Unread};
use crate::witness::ledger::{Ledger, SCHEMA};

/// Largest ledger that is read, in bytes.
pub(super) const CAP: u64 = 64 << 20;
/// How long another process is waited for.
const PATIENCE: Duration = Duration::from_secs(20);
const NAP: Duration = Duration::from_millis(5);

/// Why there is no ledger.
#[derive(Debug, thiserror::Error)]
pub enum LedgerError {
    /// Its bytes.
    #[error("{}: {says}", .path.display())]
    Unfit {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        says: String,
    },
    /// The disk.
    #[error("{}: {source}", .path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// Somebody else has it.
    #[error("{}: another seedgate has been writing it for {} seconds; try again when it is done", .0.display(), PATIENCE.as_secs())]
    Busy(PathBuf),
    /// It could not be put in place.
    #[error(transparent)]
    Record(#[from] RecordError),
}

impl LedgerError {
    /// Whether what was read is to blame, and not the machine.
    pub fn is_input(&self) -> bool {
        matches!(self, LedgerError::Unfit { .. })
    }
}

/// The ledger at a path; `None` when there is none. No link is followed.
///
/// # Errors
/// [`LedgerError`].
pub fn read(path: &Path) -> Result<Option<Ledger>, LedgerError> {
    let unfit = |says: String| LedgerError::Unfit { path: path.to_path_buf(), says };
    let bytes = record::read_known(path, CAP).map_err(|why| match why {
        Unread::Io(source) => LedgerError::Io { path: path.to_path_buf(), source },
        Unread::Unfit(says) => unfit(says),
    })?;
    bytes.map(|bytes| parse(&bytes)).transpose().map_err(unfit)
}

/// Changes the ledger at a path (a new one where there is none): read, changed and put in place while no other process may. When `change`
/// fails, nothing is written.
///
/// # Errors
/// [`LedgerError`], or what `change` says.
pub fn update<T, E: From<LedgerError>>(path: &Path, change: impl FnOnce(&mut Ledger) -> Result<T, E>) -> Result<T, E> {
    let lock = lock(path)?;
    let known = read(path)?;
    let mut ledger = known.clone().unwrap_or_default();
    let answer = change(&mut ledger)?;
    if known.as_ref() != Some(&ledger) {
        record::replace(path, ledger.to_text().as_bytes()).map_err(LedgerError::from)?;
    }
    drop(lock);
    Ok(answer)
}

/// The lock of a record: the folder it lies in, which leaves nothing behind; elsewhere than on Unix a file beside it.
///
/// # Errors
/// [`LedgerError`] when it cannot be had.
pub fn lock(path: &Path) -> Result<File, LedgerError> {
    let failed = |source| LedgerError::Io { path: path.to_path_buf(), source };
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let file = open(folder).map_err(failed)?;
    let end = Instant::now() + PATIENCE;
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(file),
            Err(TryLockError::WouldBlock) if Instant::now() >= end => return Err(LedgerError::Busy(path.to_path_buf())),
            Err(TryLockError::WouldBlock) => thread::sleep(NAP),
            Err(TryLockError::Error(error)) => return Err(failed(error)),
        }
    }
}

#[cfg(unix)]
fn open(folder: &Path) -> io::Result<File> {
    File::open(folder)
}

#[cfg(not(unix))]
fn open(folder: &Path) -> io::Result<File> {
    File::options().write(true).create(true).truncate(false).open(folder.join(".ledger.lock"))
}

/// What is read before the rest, so that a newer schema is named as such.
#[derive(Deserialize)]
struct Head {
    schema: String,
}

pub(super) fn parse(bytes: &[u8]) -> Result<Ledger, String> {
    let unfit = |error: serde_json::Error| format!("it is no ledger: {error}");
    let head: Head = serde_json::from_slice(bytes).map_err(unfit)?;
    if head.schema != SCHEMA {
        return Err(format!("it has the schema {:?}, and this version reads {SCHEMA}", head.schema));
    }
    let ledger: Ledger = serde_json::from_slice(bytes).map_err(unfit)?;
    let mut seen = BTreeSet::new();
    for row in &ledger.rows {
        if row.raw.input_sha256() != row.input_sha256 {
            return Err(format!("the row {} of {} is not about the input it holds", short(&row.input_sha256), row.prop_id));
        }
        if !seen.insert(row.key()) {
            return Err(format!("the row {} of {} is there twice", short(&row.input_sha256), row.prop_id));
        }
    }
    Ok(ledger)
}

fn short(sha256: &str) -> String {
    sha256.chars().filter(char::is_ascii_alphanumeric).take(12).collect()
}
