//! Owns the system's side where paths are bytes and files have modes.

use std::ffi::OsString;
use std::fs::{Metadata, Permissions};
use std::io;
use std::os::unix::ffi::OsStringExt as _;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
use std::path::Path;

use super::State;

/// A path or variable from the bytes that git prints.
pub(in crate::repo) fn text(bytes: Vec<u8>) -> OsString {
    OsString::from_vec(bytes)
}

/// Whether the operating system would execute a file.
pub(in crate::repo) fn is_program(found: &Metadata) -> bool {
    found.is_file() && found.permissions().mode() & 0o111 != 0
}

/// The permissions of a new file. The operating system takes the umask off these bits, as it does for what git writes.
#[expect(clippy::unnecessary_wraps, reason = "another system has none")]
pub(in crate::repo) fn mode(is_program: bool) -> Option<Permissions> {
    Some(Permissions::from_mode(if is_program { 0o777 } else { 0o666 }))
}

/// Makes `place` a symbolic link to a file.
pub(in crate::repo) fn link(target: &Path, place: &Path) -> io::Result<()> {
    symlink(target, place)
}

#[expect(clippy::unnecessary_wraps, reason = "another system has none")]
pub(in crate::repo) fn parent_process() -> Option<u32> {
    Some(std::os::unix::process::parent_id())
}

/// Git writes an index anew and renames it into place, so another one is another inode.
pub(in crate::repo) fn stamp(found: &Metadata) -> State {
    (found.dev(), found.ino(), found.len(), found.ctime(), found.ctime_nsec())
}
