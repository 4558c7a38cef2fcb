//! Owns what the systems tell differently: paths as bytes, programs, links and the state of a file.

#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

#[cfg(unix)]
pub(super) use unix::{is_program, link, mode, parent_process, stamp, text};
#[cfg(windows)]
pub(super) use windows::{is_program, link, mode, parent_process, stamp, text};

/// What tells one state of a file from another: device, number, length, and the time of the last change in seconds and nanoseconds.
pub(super) type State = (u64, u64, u64, i64, i64);
