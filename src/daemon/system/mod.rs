//! Owns what differs between operating systems: sockets and their peers, the process itself, file systems.

#[cfg(unix)]
mod unix;
#[cfg(unix)]
pub(super) use unix::{
    Door, Stream, Waker, connect, detach, euid_owns, identity, is_remote, most_watches, open_private, peer_is_own, read_below, resident,
    seal_descriptors, step_back,
};

#[cfg(windows)]
mod windows;
#[cfg(windows)]
pub(super) use windows::{
    Door, Stream, Waker, connect, detach, euid_owns, identity, is_remote, most_watches, open_private, peer_is_own, read_below, resident,
    seal_descriptors, step_back,
};

/// What tells one file from another that took its name.
pub(super) type Identity = (u64, u64);
