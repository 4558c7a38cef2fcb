//! Owns writing files so that a reader sees the old bytes or the new ones, and reading files of bounded size without following links.

use std::fs::{self, File};
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};

use super::HookError;
use crate::repo::native;

/// More than any hook or configuration that is looked into has.
const CAP: u64 = 1 << 20;

/// How a file is put at its place.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Mode {
    /// A program; it takes the place of whatever stands there.
    Program,
    /// Data; it takes the place of whatever stands there.
    Data,
    /// Data that must not take the place of anything.
    First,
}

/// Writes a file beside its place, flushes it, and moves it there.
pub(super) fn write(path: &Path, bytes: &[u8], mode: Mode) -> Result<(), HookError> {
    let folder = path.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder).map_err(HookError::io("create", folder))?;
    let mut making = tempfile::Builder::new();
    making.prefix(".seedgate-");
    if let Some(permissions) = native::mode(mode == Mode::Program) {
        making.permissions(permissions);
    }
    let mut beside = making.tempfile_in(folder).map_err(HookError::io("write in", folder))?;
    beside.write_all(bytes).and_then(|()| beside.as_file().sync_all()).map_err(HookError::io("write", path))?;
    let moved = if mode == Mode::First { beside.persist_noclobber(path) } else { beside.persist(path) };
    moved.map_err(|failed| HookError::Io { doing: "write", path: path.to_owned(), source: failed.error })?;
    flush(folder)
}

/// Makes the names in a folder last.
pub(super) fn flush(folder: &Path) -> Result<(), HookError> {
    File::open(folder).and_then(|open| open.sync_all()).map_err(HookError::io("flush", folder))
}

/// The bytes of a hook or a configuration, `None` when there is no such file. Links are followed only if the caller says so.
pub(super) fn read(path: &Path, links: Links) -> Result<Option<Vec<u8>>, HookError> {
    read_up_to(path, links, CAP)
}

/// The bytes of a file of at most `cap` bytes, `None` when there is no such file.
pub(super) fn read_up_to(path: &Path, links: Links, cap: u64) -> Result<Option<Vec<u8>>, HookError> {
    let found = match links {
        Links::Follow => path.metadata(),
        Links::Refuse => path.symlink_metadata(),
    };
    let Ok(found) = found else { return Ok(None) };
    if !found.is_file() {
        return Ok(None);
    }
    let mut bytes = Vec::new();
    let open = File::open(path).map_err(HookError::io("read", path))?;
    open.take(cap + 1).read_to_end(&mut bytes).map_err(HookError::io("read", path))?;
    if bytes.len() as u64 > cap {
        return Err(HookError::Unfit { path: path.to_owned(), says: format!("has more than {cap} bytes") });
    }
    Ok(Some(bytes))
}

/// What to do at a symbolic link.
#[derive(Clone, Copy)]
pub(super) enum Links {
    /// Read what it leads to.
    Follow,
    /// Read nothing.
    Refuse,
}

/// Whether the operating system would execute what stands here.
pub(super) fn is_program(path: &Path) -> bool {
    path.metadata().is_ok_and(|found| native::is_program(&found))
}

/// Whether anything stands here, be it a link that leads nowhere.
pub(super) fn stands(path: &Path) -> bool {
    path.symlink_metadata().is_ok()
}

/// A path with something put behind its last part.
pub(super) fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}
