//! Owns what trials ask of the system: names and modes of files, groups of processes, sockets of a run.

#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

#[cfg(unix)]
use unix as ours;
#[cfg(windows)]
use windows as ours;

pub(super) use ours::{
    Door, Group, Line, adopt, alone, apart, caller, code, create, end_adopted, is_program, link, name, name_bytes, open_to_all, read_at,
    signal, state,
};
