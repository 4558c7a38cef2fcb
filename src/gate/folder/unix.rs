//! Owns the folder check where files have owners and modes.

use std::fs::{self, DirBuilder, Metadata};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _};
use std::path::Path;

use crate::gate::folder::FolderError;

pub(super) fn check(path: &Path) -> Result<(), FolderError> {
    let found = fs::symlink_metadata(path).map_err(|source| FolderError::io(path, source))?;
    match flaw(&found, 0o077) {
        None => Ok(()),
        Some(why) => Err(FolderError::not_private(path, why)),
    }
}

pub(super) fn make(path: &Path) -> Result<(), FolderError> {
    if let Some(error) = DirBuilder::new().recursive(true).mode(0o700).create(path).err()
        && error.kind() != std::io::ErrorKind::AlreadyExists
    {
        return Err(FolderError::io(path, error));
    }
    check(path)
}

pub(super) fn is_own(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|found| flaw(&found, 0o022).is_none())
}

fn flaw(found: &Metadata, closed: u32) -> Option<&'static str> {
    if found.is_symlink() {
        return Some("it is a symbolic link");
    }
    if !found.is_dir() {
        return Some("it is no folder");
    }
    if found.uid() != rustix::process::geteuid().as_raw() {
        return Some("another user owns it");
    }
    (found.mode() & closed != 0).then_some("others may enter it (mode is not 0700)")
}
