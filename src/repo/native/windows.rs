//! Owns the system's side where paths are UTF-16 and every file may be run.

use std::ffi::OsString;
use std::fs::{Metadata, Permissions};
use std::io;
use std::os::windows::fs::{MetadataExt as _, symlink_file};
use std::path::Path;

use super::State;

/// A path or variable from the UTF-8 that git prints.
pub(in crate::repo) fn text(bytes: Vec<u8>) -> OsString {
    String::from_utf8_lossy(&bytes).into_owned().into()
}

/// Git for Windows runs a hook whatever its mode.
pub(in crate::repo) fn is_program(found: &Metadata) -> bool {
    found.is_file()
}

/// A new file has what its folder gives it.
pub(in crate::repo) fn mode(_is_program: bool) -> Option<Permissions> {
    None
}

/// Makes `place` a symbolic link to a file.
pub(in crate::repo) fn link(target: &Path, place: &Path) -> io::Result<()> {
    symlink_file(target, place)
}

/// The system does not tell.
pub(in crate::repo) fn parent_process() -> Option<u32> {
    None
}

/// The times in units of 100 ns: of the making, which stands for the file's number, and of the last write.
pub(in crate::repo) fn stamp(found: &Metadata) -> State {
    let written = i64::try_from(found.last_write_time()).unwrap_or(i64::MAX);
    (0, found.creation_time(), found.file_size(), written / 10_000_000, written % 10_000_000 * 100)
}
