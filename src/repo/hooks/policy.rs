//! Owns putting a first configuration into a work tree that has none.

use std::ffi::OsStr;
use std::path::PathBuf;

use super::file::{self, Mode};
use super::{HookError, Place};
use crate::settings::Settings;

/// Whether a file of ours was there already.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Wrote {
    /// It was not there and now is.
    New(PathBuf),
    /// It was there and is as it was.
    Kept(PathBuf),
}

/// Where the configuration lies in this work tree. One that is tracked is there, even where a sparse work tree does not show it.
///
/// # Errors
/// When its folder or the file is a link, or the folder is none: nothing is written outside the work tree.
pub(super) fn find(place: &Place) -> Result<Wrote, HookError> {
    let path = place.top.join(Settings::PATH);
    let folder = path.parent().unwrap_or(&place.top);
    for place in [folder, &path] {
        if place.is_symlink() {
            return Err(HookError::Link(place.to_owned()));
        }
    }
    if folder.symlink_metadata().is_ok_and(|found| !found.is_dir()) {
        return Err(HookError::Unfit { path: folder.to_owned(), says: "is not a folder".to_owned() });
    }
    Ok(if file::stands(&path) || is_tracked(place)? { Wrote::Kept(path) } else { Wrote::New(path) })
}

fn is_tracked(place: &Place) -> Result<bool, HookError> {
    let files = place.git()?.output(&["--literal-pathspecs", "ls-files", "-z", "--", Settings::PATH].map(OsStr::new))?;
    Ok(!files.is_empty())
}

/// Writes the configuration if there is none.
pub(super) fn write(found: &Wrote, text: &str) -> Result<(), HookError> {
    match found {
        Wrote::New(path) => file::write(path, text.as_bytes(), Mode::First),
        Wrote::Kept(_) => Ok(()),
    }
}
