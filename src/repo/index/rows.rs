//! Owns an index's entries one by one, for what its cache of trees does not answer.

use std::cmp::Ordering;
use std::ops::Range;

use super::{Fault, HEADER, INTENT_TO_ADD, Index, STAGES, STAT, Spot, prefix, word, zero};
use crate::repo::id::Id;
use crate::tree::RepoPath;

/// Entries of version 4 share prefixes, so a small file can hold huge names.
const NAMES_CAP: usize = 512 * 1024 * 1024;
/// Where in an entry its mode is.
const MODE: usize = 24;
const LINK: u32 = 0o120_000;

/// One entry.
#[derive(Clone, Copy, Debug)]
pub(in crate::repo) struct Row<'i> {
    /// Path from the root.
    pub(in crate::repo) path: &'i [u8],
    /// Octal mode.
    pub(in crate::repo) mode: u32,
    /// Its object.
    pub(in crate::repo) id: &'i [u8],
    /// Whether it is part of a conflict.
    pub(in crate::repo) conflict: bool,
    /// Whether it was only announced (`git add -N`).
    pub(in crate::repo) announced: bool,
}

impl Index {
    /// Every entry, in strict order of paths. Version 4 packs paths, so they are laid out in `names`.
    pub(in crate::repo) fn rows<'i>(&'i self, names: &'i mut Vec<u8>) -> Result<Vec<Row<'i>>, Fault> {
        let mut spans: Vec<(usize, Spot, Range<usize>)> = Vec::with_capacity(self.count);
        let mut at = HEADER;
        for _ in 0..self.count {
            let spot = self.spot(at)?;
            let path = if self.version == 4 { self.unpack(&spot, spans.last().map(|span| &span.2), names)? } else { self.path(&spot)? };
            let next = self.after(at, &spot)?;
            spans.push((at, spot, path));
            at = next;
        }
        let text: &'i [u8] = if self.version == 4 { names } else { &self.bytes };
        let mut rows = Vec::with_capacity(self.count);
        for (at, spot, path) in spans {
            let row = Row {
                path: text.get(path).ok_or("an entry is cut short")?,
                mode: word(&self.bytes, at + MODE)?,
                id: self.bytes.get(at + STAT..at + STAT + self.width).ok_or("an entry is cut short")?,
                conflict: spot.flags & STAGES != 0,
                announced: spot.more & INTENT_TO_ADD != 0,
            };
            check_order(rows.last(), &row)?;
            rows.push(row);
        }
        Ok(rows)
    }

    /// Path and blob of every symlink that a commit would hold.
    pub(in crate::repo) fn symlinks(&self) -> Result<Vec<(RepoPath, Id)>, Fault> {
        let link = |path: &[u8], id: &[u8]| Some((RepoPath::new(path), Id::from_bytes(id)?));
        if self.version == 4 || !self.plain {
            let mut names = Vec::new();
            let rows = self.rows(&mut names)?;
            let links = rows.iter().filter(|row| row.mode == LINK && !row.announced && !row.conflict);
            return Ok(links.filter_map(|row| link(row.path, row.id)).collect());
        }
        let (mut at, mut links) = (HEADER, Vec::new());
        for _ in 0..self.count {
            let spot = self.spot(at)?;
            if word(&self.bytes, at + MODE)? == LINK {
                let parts = self.bytes.get(self.path(&spot)?).zip(self.bytes.get(at + STAT..at + STAT + self.width));
                links.push(parts.and_then(|(path, id)| link(path, id)).ok_or("an entry is cut short")?);
            }
            at = self.after(at, &spot)?;
        }
        Ok(links)
    }

    /// Writes a path of version 4 behind the others: the last path less some bytes, plus some.
    fn unpack(&self, spot: &Spot, last: Option<&Range<usize>>, names: &mut Vec<u8>) -> Result<Range<usize>, Fault> {
        let (strip, suffix) = prefix(&self.bytes, spot.path)?;
        let last = last.cloned().unwrap_or(0..0);
        let kept = last.len().checked_sub(strip).ok_or("an entry strips more than there is")?;
        let start = names.len();
        names.extend_from_within(last.start..last.start + kept);
        names.extend_from_slice(&self.bytes[suffix..suffix + zero(&self.bytes, suffix)?]);
        if names.len() > NAMES_CAP {
            return Err("its paths are too long to be read");
        }
        Ok(start..names.len())
    }
}

/// Entries of one path follow each other only as the stages of a conflict.
fn check_order(last: Option<&Row<'_>>, row: &Row<'_>) -> Result<(), Fault> {
    match last.map(|last| (last.path.cmp(row.path), last.conflict && row.conflict)) {
        None | Some((Ordering::Less, _) | (Ordering::Equal, true)) => Ok(()),
        Some(_) => Err("its entries are out of order"),
    }
}
