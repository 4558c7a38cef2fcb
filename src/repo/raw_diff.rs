//! Owns reading `--raw -z` output: one change of two modes, two ids and a path.

use super::id::Id;
use crate::tree::{Change, Entry, Mode, RepoPath};

/// What one record says.
pub(super) enum Record {
    /// A path differs.
    Change(Change),
    /// A path is in conflict.
    Unmerged(RepoPath),
}

/// Reads every record; `None` when the text is not what git prints.
pub(super) fn records(text: &[u8]) -> Option<Vec<Record>> {
    let mut fields = text.strip_suffix(&[0]).into_iter().flat_map(|text| text.split(|b| *b == 0));
    let mut all = Vec::new();
    while let Some(head) = fields.next() {
        all.push(record(head, fields.next()?)?);
    }
    (all.is_empty() == text.is_empty()).then_some(all)
}

/// `:old_mode new_mode old_id new_id status`, then the path.
fn record(head: &[u8], path: &[u8]) -> Option<Record> {
    let mut words = head.strip_prefix(b":")?.split(|b| *b == b' ');
    let modes = (words.next()?, words.next()?);
    let ids = (words.next()?, words.next()?);
    let path = RepoPath::new(path);
    if words.next()?.first() == Some(&b'U') {
        return Some(Record::Unmerged(path));
    }
    Some(Record::Change(Change { path, old: entry(modes.0, ids.0).ok()?, new: entry(modes.1, ids.1).ok()? }))
}

/// An entry, or (mode zero) that there is none; an error when it is neither.
fn entry(mode: &[u8], id: &[u8]) -> Result<Option<Entry>, ()> {
    if mode == b"000000" {
        return Ok(None);
    }
    let octal = std::str::from_utf8(mode).ok().and_then(|digits| u32::from_str_radix(digits, 8).ok()).ok_or(())?;
    Ok(Some(Entry { mode: Mode::from_octal(octal).ok_or(())?, oid: Id::from_hex(id).ok_or(())?.into() }))
}
