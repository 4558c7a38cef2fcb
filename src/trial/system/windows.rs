//! Owns the system's side where no project code is run: a command is refused before it starts, and what would follow does nothing.

use std::ffi::{OsStr, OsString};
use std::fs::{File, Metadata};
use std::io::{self, Read, Write};
use std::os::windows::fs::{FileExt as _, MetadataExt as _, symlink_file};
use std::path::Path;
use std::process::{Child, Command, ExitStatus};
use std::time::Duration;

/// No socket is ever bound.
pub(in crate::trial) enum Door {}

impl Door {
    pub(in crate::trial) fn bind(_place: &Path) -> io::Result<Self> {
        Err(io::ErrorKind::Unsupported.into())
    }

    pub(in crate::trial) fn set_nonblocking(&self, _on: bool) -> io::Result<()> {
        match *self {}
    }

    pub(in crate::trial) fn accept(&self) -> io::Result<(Line, ())> {
        match *self {}
    }
}

/// Nobody ever calls.
pub(in crate::trial) enum Line {}

impl Line {
    pub(in crate::trial) fn set_nonblocking(&self, _on: bool) -> io::Result<()> {
        match *self {}
    }

    pub(in crate::trial) fn set_read_timeout(&self, _time: Option<Duration>) -> io::Result<()> {
        match *self {}
    }
}

impl Read for Line {
    fn read(&mut self, _into: &mut [u8]) -> io::Result<usize> {
        match *self {}
    }
}

impl Write for Line {
    fn write(&mut self, _from: &[u8]) -> io::Result<usize> {
        match *self {}
    }

    fn flush(&mut self) -> io::Result<()> {
        match *self {}
    }
}

/// Without groups that end as a whole, what a command starts could outlive its run.
pub(in crate::trial) fn apart(_command: &mut Command) -> io::Result<()> {
    Err(io::Error::new(io::ErrorKind::Unsupported, "project code is not run on this system"))
}

pub(in crate::trial) fn alone(command: &mut Command) -> io::Result<()> {
    apart(command)
}

/// Nothing was started.
#[derive(Clone, Copy)]
pub(in crate::trial) enum Group {}

impl Group {
    pub(in crate::trial) fn of(_child: &Child) -> Option<Self> {
        None
    }

    pub(in crate::trial) fn kill(self) {
        match self {}
    }
}

pub(in crate::trial) fn signal(_status: ExitStatus) -> Option<i32> {
    None
}

pub(in crate::trial) fn code(status: ExitStatus) -> i32 {
    status.code().unwrap_or(1)
}

pub(in crate::trial) fn caller() -> Option<u32> {
    None
}

pub(in crate::trial) fn adopt() {}

pub(in crate::trial) fn end_adopted() {}

/// A name of git, which is UTF-8 here.
pub(in crate::trial) fn name(bytes: &[u8]) -> OsString {
    String::from_utf8_lossy(bytes).into_owned().into()
}

pub(in crate::trial) fn name_bytes(name: &OsStr) -> &[u8] {
    name.as_encoded_bytes()
}

pub(in crate::trial) fn link(target: &[u8], place: &Path) -> io::Result<()> {
    symlink_file(name(target), place)
}

pub(in crate::trial) fn create(place: &Path, _is_executable: bool) -> io::Result<File> {
    File::options().write(true).create_new(true).open(place)
}

pub(in crate::trial) fn open_to_all(_folder: &Path) -> io::Result<()> {
    Ok(())
}

pub(in crate::trial) fn is_program(found: &Metadata) -> bool {
    found.is_file()
}

pub(in crate::trial) fn state(found: &Metadata) -> String {
    format!("{:?}", (found.file_attributes(), found.file_size(), found.creation_time(), found.last_write_time()))
}

pub(in crate::trial) fn read_at(file: &File, into: &mut [u8], at: u64) -> io::Result<()> {
    if file.seek_read(into, at)? == into.len() { Ok(()) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
}
