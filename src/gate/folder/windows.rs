//! Owns the folder check where a profile's folders are closed to other users by inheritance.

use std::fs;
use std::path::Path;

use crate::gate::folder::FolderError;

pub(super) fn check(path: &Path) -> Result<(), FolderError> {
    let found = fs::symlink_metadata(path).map_err(|source| FolderError::io(path, source))?;
    if found.is_symlink() {
        return Err(FolderError::not_private(path, "it is a symbolic link"));
    }
    if found.is_dir() { Ok(()) } else { Err(FolderError::not_private(path, "it is no folder")) }
}

pub(super) fn make(path: &Path) -> Result<(), FolderError> {
    fs::create_dir_all(path).map_err(|source| FolderError::io(path, source))?;
    check(path)
}

pub(super) fn is_own(path: &Path) -> bool {
    check(path).is_ok()
}
