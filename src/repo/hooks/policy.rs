//! Owns putting a first configuration into a work tree that has none.

use std::path::{Path, PathBuf};

use super::HookError;
use super::file::{self, Mode};
use crate::settings::Settings;

/// Whether a file of ours was there already.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Wrote {
    /// It was not there and now is.
    New(PathBuf),
    /// It was there and is as it was.
    Kept(PathBuf),
}

/// Where the configuration lies in this work tree.
///
/// # Errors
/// When its folder or the file is a link, or the folder is none: nothing is written outside the work tree.
pub(super) fn find(top: &Path) -> Result<Wrote, HookError> {
    let path = top.join(Settings::PATH);
    let folder = path.parent().unwrap_or(top);
    for place in [folder, &path] {
        if place.is_symlink() {
            return Err(HookError::Link(place.to_owned()));
        }
    }
    if folder.symlink_metadata().is_ok_and(|found| !found.is_dir()) {
        return Err(HookError::Unfit { path: folder.to_owned(), says: "is not a folder".to_owned() });
    }
    Ok(if file::stands(&path) { Wrote::Kept(path) } else { Wrote::New(path) })
}

/// Writes the configuration if there is none.
pub(super) fn write(found: &Wrote, text: &str) -> Result<(), HookError> {
    match found {
        Wrote::New(path) => file::write(path, text.as_bytes(), Mode::First),
        Wrote::Kept(_) => Ok(()),
    }
}
