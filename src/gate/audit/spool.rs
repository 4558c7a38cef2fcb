//! Owns the rows of an audit while it runs: written away as they come, so that memory does not grow with the history.

use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::sync::{Mutex, PoisonError};

use crate::gate::audit::row::Row;

/// Rows on disk, in a file without a name.
pub(super) struct Spool {
    inner: Mutex<Inner>,
}

struct Inner {
    file: File,
    end: u64,
    places: Vec<(u64, usize)>,
}

impl Spool {
    /// For so many rows.
    pub(super) fn new(rows: usize) -> io::Result<Self> {
        let inner = Inner { file: tempfile::tempfile()?, end: 0, places: vec![(0, 0); rows] };
        Ok(Spool { inner: Mutex::new(inner) })
    }

    /// Keeps the row of a place.
    pub(super) fn put(&self, at: usize, row: &Row) -> io::Result<()> {
        let bytes = serde_json::to_vec(row)?;
        let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        let start = inner.end;
        inner.file.seek(SeekFrom::Start(start))?;
        inner.file.write_all(&bytes)?;
        inner.end += bytes.len() as u64;
        if let Some(place) = inner.places.get_mut(at) {
            *place = (start, bytes.len());
        }
        Ok(())
    }

    /// The row of a place, as JSON.
    pub(super) fn get(&self, at: usize) -> io::Result<Vec<u8>> {
        let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        let (start, length) = inner.places.get(at).copied().unwrap_or_default();
        let mut bytes = vec![0; length];
        inner.file.seek(SeekFrom::Start(start))?;
        inner.file.read_exact(&mut bytes)?;
        Ok(bytes)
    }
}
