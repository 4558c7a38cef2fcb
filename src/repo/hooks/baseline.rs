//! Owns the tips recorded at `init`: what they reach was there before Seedgate and is not judged at push.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::file::{self, Links, Mode};
use super::{HookError, Place, Wrote};
use crate::settings::Layout;
use crate::tree::Oid;

const SCHEMA: &str = "seedgate.baseline/1";
/// Room for about a million tips.
const CAP: u64 = 64 << 20;

/// What lies in `baseline.json`.
#[derive(Serialize, Deserialize)]
struct Baseline {
    schema: String,
    tips: Vec<Oid>,
}

/// Where the baseline of a repository lies.
pub fn path(common_dir: &Path) -> PathBuf {
    Layout::new(common_dir).baseline()
}

/// The recorded tips; `None` when `init` never ran here.
///
/// # Errors
/// When the file is there and cannot be read or understood: a baseline is never guessed.
pub fn read(common_dir: &Path) -> Result<Option<Vec<Oid>>, HookError> {
    let path = path(common_dir);
    if path.is_symlink() {
        return Err(HookError::Link(path));
    }
    let Some(bytes) = file::read_up_to(&path, Links::Refuse, CAP)? else { return Ok(None) };
    let unfit = |says: String| HookError::Unfit { path: path.clone(), says };
    let found: Baseline = serde_json::from_slice(&bytes).map_err(|e| unfit(format!("is not a baseline: {e}")))?;
    if found.schema != SCHEMA {
        return Err(unfit(format!("has the schema {:?}, and this version reads {SCHEMA}", found.schema)));
    }
    match found.tips.iter().find(|tip| Oid::from_hex(tip.as_str()).is_none()) {
        Some(tip) => Err(unfit(format!("holds {:?}, which is no object id", tip.as_str()))),
        None => Ok(Some(found.tips)),
    }
}

/// Whether a baseline would be recorded, and where.
pub(super) fn find(place: &Place, again: bool) -> Result<Wrote, HookError> {
    let folder = place.records_dir();
    if folder.is_symlink() {
        return Err(HookError::Link(folder));
    }
    let path = path(&place.common_dir);
    Ok(if !again && read(&place.common_dir)?.is_some() { Wrote::Kept(path) } else { Wrote::New(path) })
}

/// Records tips; with [`Mode::First`] never over a baseline that came meanwhile.
pub(super) fn write(path: &Path, tips: Vec<Oid>, mode: Mode) -> Result<(), HookError> {
    let baseline = Baseline { schema: SCHEMA.to_owned(), tips };
    let unfit = |e: serde_json::Error| HookError::Unfit { path: path.to_owned(), says: e.to_string() };
    let mut bytes = serde_json::to_vec_pretty(&baseline).map_err(unfit)?;
    bytes.push(b'\n');
    file::write(path, &bytes, mode)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_back(text: &str) -> Result<Option<Vec<Oid>>, HookError> {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("seedgate")).unwrap();
        std::fs::write(path(folder.path()), text).unwrap();
        read(folder.path())
    }

    #[test]
    fn what_is_written_is_read_back_and_no_file_is_no_baseline() {
        let folder = tempfile::tempdir().unwrap();
        assert!(read(folder.path()).unwrap().is_none());
        let tips = vec![Oid::from_hex(&"a".repeat(40)).unwrap(), Oid::from_hex(&"b".repeat(64)).unwrap()];
        write(&path(folder.path()), tips.clone(), Mode::First).unwrap();
        assert_eq!(read(folder.path()).unwrap(), Some(tips));
        assert!(write(&path(folder.path()), Vec::new(), Mode::First).is_err());
    }

    #[test]
    fn a_field_of_a_later_writer_is_passed_over_and_another_schema_is_not() {
        assert_eq!(read_back(r#"{"schema":"seedgate.baseline/1","tips":[],"later":1}"#).unwrap(), Some(Vec::new()));
        for text in ["", "{}", r#"{"schema":"seedgate.baseline/2","tips":[]}"#, r#"{"schema":"seedgate.baseline/1","tips":["x"]}"#] {
            assert!(read_back(text).is_err(), "{text}");
        }
    }
}
