//! Owns the system's side where no daemon is offered: nobody connects, nothing is started, every fact is computed or in the memo.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::Path;
use std::time::Duration;

use super::Identity;

/// No connection is ever made.
#[derive(Debug)]
pub(in crate::daemon) enum Stream {}

impl Stream {
    pub(in crate::daemon) fn set_read_timeout(&self, _time: Option<Duration>) -> io::Result<()> {
        match *self {}
    }
    pub(in crate::daemon) fn set_write_timeout(&self, _time: Option<Duration>) -> io::Result<()> {
        match *self {}
    }
    pub(in crate::daemon) fn try_clone(&self) -> io::Result<Self> {
        match *self {}
    }
    pub(in crate::daemon) fn shutdown(&self, _how: std::net::Shutdown) -> io::Result<()> {
        match *self {}
    }
}

impl Read for &Stream {
    fn read(&mut self, _into: &mut [u8]) -> io::Result<usize> {
        match **self {}
    }
}

impl Write for &Stream {
    fn write(&mut self, _from: &[u8]) -> io::Result<usize> {
        match **self {}
    }
    fn flush(&mut self) -> io::Result<()> {
        match **self {}
    }
}

pub(in crate::daemon) fn connect(_path: &Path) -> io::Result<Stream> {
    Err(io::ErrorKind::NotFound.into())
}

pub(in crate::daemon) fn peer_is_own(stream: Stream) -> (Stream, bool) {
    (stream, false)
}

/// No socket is ever bound.
pub(in crate::daemon) enum Door {}

impl Door {
    pub(in crate::daemon) fn bind(_path: &Path) -> io::Result<Self> {
        Err(io::Error::new(io::ErrorKind::Unsupported, "no daemon is offered on this system"))
    }
    pub(in crate::daemon) fn wait(&self, _waker: &Waker, _time: Duration) {
        match *self {}
    }
    pub(in crate::daemon) fn next(&self) -> Option<Stream> {
        match *self {}
    }
}

/// Wakes nobody.
#[derive(Debug)]
pub(in crate::daemon) struct Waker {}

impl Waker {
    pub(in crate::daemon) fn new() -> io::Result<Self> {
        Ok(Waker {})
    }
    pub(in crate::daemon) fn wake(&self) {}
}

pub(in crate::daemon) fn detach() {}

pub(in crate::daemon) fn seal_descriptors() {}

pub(in crate::daemon) fn step_back() {}

pub(in crate::daemon) fn resident() -> Option<u64> {
    None
}

pub(in crate::daemon) fn identity(_path: &Path) -> Option<Identity> {
    None
}

pub(in crate::daemon) fn open_private(path: &Path) -> io::Result<File> {
    OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path)
}

pub(in crate::daemon) fn euid_owns(path: &Path) -> bool {
    path.exists()
}

pub(in crate::daemon) fn is_remote(_path: &Path) -> bool {
    false
}

pub(in crate::daemon) fn most_watches() -> usize {
    0
}

pub(in crate::daemon) fn read_below(_top: &Path, _path: &Path, _cap: u64) -> Option<Vec<u8>> {
    None
}
