//! Owns how earlier daemons ended: crashes make the next start wait, and a blob one died of is not read ahead again.

use std::fs;
use std::io::{Read as _, Seek as _, SeekFrom, Write as _};
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::daemon::log::seconds;
use crate::daemon::place::Place;
use crate::daemon::system;
use crate::gate::facts::Key;

/// So many crashes in so many seconds, and nobody starts a daemon by himself for so many.
const CRASHES: usize = 3;
const WITHIN: u64 = 300;
const PAUSE: u64 = 60;
/// Most blobs that are remembered as shunned.
const SHUNNED: usize = 1000;

/// What is written down.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct History {
    schema: String,
    running: bool,
    crashes: Vec<u64>,
    shunned: Vec<Key>,
}

impl Default for History {
    fn default() -> Self {
        History { schema: "seedgate.daemon/1".into(), running: false, crashes: Vec::new(), shunned: Vec::new() }
    }
}

impl History {
    /// What is written down; nothing when it cannot be read.
    pub(super) fn read(place: &Place) -> Self {
        let text = read_small(&place.history());
        serde_json::from_slice(&text).ok().filter(|known: &History| known.schema == History::default().schema).unwrap_or_default()
    }

    /// Whether daemons have crashed so often that the next one should wait. Times in the future count for nothing.
    pub(super) fn says_wait(&self) -> bool {
        let now = seconds();
        let recent = self.crashes.iter().filter(|at| **at <= now && now - **at < WITHIN);
        recent.clone().count() >= CRASHES && recent.max().is_some_and(|last| now - last < PAUSE)
    }

    /// Notes a start, under the lock: an earlier daemon that did not say goodbye has crashed, perhaps of the blob it was reading.
    pub(super) fn begin(place: &Place) -> Self {
        let mut history = History::read(place);
        if history.running {
            history.crashes.push(seconds());
            history.crashes = history.crashes.split_off(history.crashes.len().saturating_sub(CRASHES));
            if let Ok(key) = serde_json::from_slice(&read_small(&place.in_flight())) {
                history.shunned.retain(|known| *known != key);
                history.shunned.push(key);
                history.shunned = history.shunned.split_off(history.shunned.len().saturating_sub(SHUNNED));
            }
        }
        history.running = true;
        history.write(place);
        history
    }

    /// Notes an orderly end.
    pub(super) fn end(mut self, place: &Place) {
        self.running = false;
        self.write(place);
    }

    /// The blobs that are not read ahead.
    pub(super) fn shunned(&self) -> &[Key] {
        &self.shunned
    }

    /// A history that cannot be written is a shorter one.
    fn write(&self, place: &Place) {
        let path = place.history();
        let fresh = path.with_extension("history.new");
        let written = system::open_private(&fresh).and_then(|mut file| {
            file.set_len(0)?;
            file.write_all(&serde_json::to_vec(self)?)
        });
        if written.is_ok() {
            let _ = fs::rename(fresh, path);
        }
    }
}

/// The note of the blob that is being read: written before, blanked after.
pub(super) struct InFlight {
    file: Option<fs::File>,
}

impl InFlight {
    pub(super) fn open(place: &Place) -> Self {
        let note = InFlight { file: system::open_private(&place.in_flight()).ok() };
        note.write(b"");
        note
    }

    /// Notes that a blob will be read now.
    pub(super) fn note(&self, key: &Key) {
        self.write(&serde_json::to_vec(key).unwrap_or_default());
    }

    /// Notes that nothing is being read.
    pub(super) fn clear(&self) {
        self.write(b"");
    }

    /// Always the same length, so that one write replaces the note.
    fn write(&self, text: &[u8]) {
        let Some(mut file) = self.file.as_ref() else { return };
        let mut note = [b' '; 160];
        let len = text.len().min(note.len());
        note[..len].copy_from_slice(&text[..len]);
        let _ = file.seek(SeekFrom::Start(0)).and_then(|_| file.write_all(&note));
    }
}

fn read_small(path: &Path) -> Vec<u8> {
    let mut bytes = Vec::new();
    if let Ok(file) = fs::File::open(path) {
        let _ = file.take(1 << 20).read_to_end(&mut bytes);
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::{History, seconds};

    #[test]
    fn three_recent_crashes_make_the_next_start_wait_a_minute() {
        let now = seconds();
        for (ago, waits) in [
            (vec![], false),
            (vec![5, 4], false),
            (vec![200, 100, 5], true),
            (vec![200, 100, 70], false),
            (vec![400, 100, 5], false),
            (vec![5, 4, 3], true),
        ] {
            let history = History { crashes: ago.iter().map(|ago| now - ago).collect(), ..History::default() };
            assert_eq!(history.says_wait(), waits, "{ago:?}");
        }
        let future = History { crashes: vec![now + 86_400; 3], ..History::default() };
        assert!(!future.says_wait(), "a clock that was set back");
    }
}
