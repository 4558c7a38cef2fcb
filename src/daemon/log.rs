//! Owns the daemon's log: one line an event, in a private file that never grows without bound.

use std::fs::File;
use std::io::{Seek as _, SeekFrom, Write as _};
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use crate::daemon::system;

/// Most bytes of the log; when it is full it begins anew.
const CAP: u64 = 256 << 10;

/// The log.
pub(super) struct Log {
    file: Mutex<Option<File>>,
}

impl Log {
    /// Opens the log; where it cannot be opened, nothing is logged.
    pub(super) fn open(path: &Path) -> Self {
        Log { file: Mutex::new(system::open_private(path).ok()) }
    }

    /// Adds a line.
    pub(super) fn say(&self, line: &str) {
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(file) = file.as_mut() else { return };
        if file.seek(SeekFrom::End(0)).is_ok_and(|size| size > CAP) && file.set_len(0).is_ok() {
            let _ = file.seek(SeekFrom::Start(0));
        }
        let _ = writeln!(file, "{} [{}] {}", seconds(), std::process::id(), line.escape_debug());
    }
}

/// Seconds since 1970.
pub(super) fn seconds() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}
