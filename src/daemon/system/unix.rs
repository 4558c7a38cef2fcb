//! Owns the system's side where sockets are files and files have owners.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::fd::OwnedFd;
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::os::unix::net::UnixStream;
use std::path::{Component, Path};
use std::time::Duration;

use interprocess::local_socket::traits::{Listener as _, StreamCommon as _};
use interprocess::local_socket::{GenericFilePath, ListenerNonblockingMode, ListenerOptions, ToFsName as _};
use interprocess::os::unix::uds_local_socket as uds;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{Mode, OFlags};
use rustix::net::{AddressFamily, SocketAddrUnix, SocketType};
use rustix::process::geteuid;

use super::Identity;

/// A connection.
pub(in crate::daemon) type Stream = UnixStream;

/// Connects without ever waiting: a full backlog is an error like any other.
pub(in crate::daemon) fn connect(path: &Path) -> io::Result<Stream> {
    let address = SocketAddrUnix::new(path)?;
    let socket = rustix::net::socket(AddressFamily::UNIX, SocketType::STREAM, None)?;
    rustix::io::fcntl_setfd(&socket, rustix::io::FdFlags::CLOEXEC)?;
    rustix::io::ioctl_fionbio(&socket, true)?;
    rustix::net::connect(&socket, &address)?;
    rustix::io::ioctl_fionbio(&socket, false)?;
    Ok(Stream::from(socket))
}

/// The stream again, and whether this very user is at its other end (root is not let in as a user's peer).
pub(in crate::daemon) fn peer_is_own(stream: Stream) -> (Stream, bool) {
    let wrapped = uds::Stream::from(stream);
    let own = wrapped.peer_creds().ok().and_then(|peer| peer.euid()) == Some(geteuid().as_raw());
    (Stream::from(OwnedFd::from(wrapped)), own)
}

/// The listening socket.
pub(in crate::daemon) struct Door {
    listener: uds::Listener,
}

impl Door {
    /// Binds the name, which must be free, for this user alone.
    pub(in crate::daemon) fn bind(path: &Path) -> io::Result<Self> {
        let name = path.to_fs_name::<GenericFilePath>()?;
        let options = ListenerOptions::new().name(name).nonblocking(ListenerNonblockingMode::Accept).reclaim_name(false);
        #[cfg(target_os = "linux")]
        let options = interprocess::os::unix::local_socket::ListenerOptionsExt::mode(options, 0o600);
        Ok(Door { listener: options.create_sync_as::<uds::Listener>()? })
    }

    /// Waits until somebody connects, the waker is used, or the time is over.
    pub(in crate::daemon) fn wait(&self, waker: &Waker, time: Duration) {
        let seconds = i64::try_from(time.as_secs()).unwrap_or(i64::MAX);
        let time = Timespec { tv_sec: seconds, tv_nsec: time.subsec_nanos().into() };
        let mut watched = [PollFd::new(&self.listener, PollFlags::IN), PollFd::new(&waker.inner, PollFlags::IN)];
        // An interrupted or failed wait is a short one: the caller looks and waits again.
        if poll(&mut watched, Some(&time)).is_err() {
            std::thread::sleep(Duration::from_millis(1));
        }
        waker.drain();
    }

    /// The next one who has connected, if any.
    pub(in crate::daemon) fn next(&self) -> Option<Stream> {
        self.listener.accept().ok().map(|stream| Stream::from(OwnedFd::from(stream)))
    }
}

/// Ends a wait from another thread.
#[derive(Debug)]
pub(in crate::daemon) struct Waker {
    inner: UnixStream,
    outer: UnixStream,
}

impl Waker {
    pub(in crate::daemon) fn new() -> io::Result<Self> {
        let (inner, outer) = UnixStream::pair()?;
        inner.set_nonblocking(true)?;
        outer.set_nonblocking(true)?;
        Ok(Waker { inner, outer })
    }

    /// A full pipe already wakes.
    pub(in crate::daemon) fn wake(&self) {
        let _ = (&self.outer).write(&[1]);
    }

    fn drain(&self) {
        while (&self.inner).read(&mut [0; 64]).is_ok_and(|read| read > 0) {}
    }
}

/// Leaves the session, terminal and directory of whoever started this process.
pub(in crate::daemon) fn detach() {
    // It fails for the leader of a group, who then was started by hand and stays in that session.
    let _ = rustix::process::setsid();
    let _ = rustix::process::chdir("/");
    rustix::process::umask(Mode::from_raw_mode(0o077));
}

/// Keeps descriptors that this process was given from the processes it starts.
pub(in crate::daemon) fn seal_descriptors() {
    close_fds::set_fds_cloexec_threadsafe(3, &[]);
}

/// Lets every other thread go first.
pub(in crate::daemon) fn step_back() {
    #[cfg(target_os = "linux")]
    let _ = rustix::process::setpriority_process(None, 15);
}

/// Bytes of resident memory.
pub(in crate::daemon) fn resident() -> Option<u64> {
    let pages: u64 = fs::read_to_string("/proc/self/statm").ok()?.split_ascii_whitespace().nth(1)?.parse().ok()?;
    Some(pages * rustix::param::page_size() as u64)
}

/// Which file has a name now; `None` when there is none.
pub(in crate::daemon) fn identity(path: &Path) -> Option<Identity> {
    fs::symlink_metadata(path).ok().map(|found| (found.dev(), found.ino()))
}

/// Opens a file of this user's private folder for reading and writing, never through a link, and makes it if need be.
pub(in crate::daemon) fn open_private(path: &Path) -> io::Result<File> {
    let flags = i32::try_from((OFlags::NOFOLLOW | OFlags::NONBLOCK).bits()).map_err(io::Error::other)?;
    let file = OpenOptions::new().read(true).write(true).create(true).truncate(false).mode(0o600).custom_flags(flags).open(path)?;
    let kind = file.metadata()?.file_type();
    if kind.is_file() && !kind.is_socket() { Ok(file) } else { Err(io::Error::other("it is no regular file")) }
}

/// Reads a file below a folder, through no link on the way; `None` when it is no regular file or has more than `cap` bytes.
pub(in crate::daemon) fn read_below(top: &Path, path: &Path, cap: u64) -> Option<Vec<u8>> {
    let flags = OFlags::CLOEXEC | OFlags::NOFOLLOW;
    let mut folder = rustix::fs::open(top, OFlags::CLOEXEC | OFlags::DIRECTORY, Mode::empty()).ok()?;
    let (name, parents) = (path.file_name()?, path.parent()?);
    for part in parents.components() {
        let Component::Normal(part) = part else { return None };
        folder = rustix::fs::openat(&folder, part, flags | OFlags::DIRECTORY, Mode::empty()).ok()?;
    }
    let file = File::from(rustix::fs::openat(&folder, name, flags | OFlags::NONBLOCK, Mode::empty()).ok()?);
    let found = file.metadata().ok().filter(|found| found.is_file() && found.len() <= cap)?;
    let mut bytes = Vec::new();
    file.take(cap).read_to_end(&mut bytes).ok()?;
    (bytes.len() as u64 == found.len()).then_some(bytes)
}

/// Whether this user owns what is at a path.
pub(in crate::daemon) fn euid_owns(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|found| found.uid() == geteuid().as_raw())
}

/// Whether a path lies on a file system that is reached over a network or served by a program: its events cannot be relied on.
pub(in crate::daemon) fn is_remote(path: &Path) -> bool {
    #[cfg(target_os = "linux")]
    return rustix::fs::statfs(path).is_ok_and(|found| is_remote_kind(found.f_type.cast_unsigned() & 0xffff_ffff));
    #[cfg(not(target_os = "linux"))]
    return path.as_os_str().is_empty();
}

/// Magic numbers of `statfs(2)`: NFS, SMB, CIFS, SMB2, FUSE, 9P, Ceph, AFS (two), Coda, NCP, `VirtualBox`, OCFS2, GFS2, Lustre.
#[cfg(target_os = "linux")]
fn is_remote_kind(kind: u64) -> bool {
    const KINDS: [u64; 15] = [
        0x6969,
        0x517b,
        0xff53_4d42,
        0xfe53_4d42,
        0x6573_5546,
        0x0102_1997,
        0x00c3_6400,
        0x5346_414f,
        0x6b41_4653,
        0x7375_7245,
        0x564c,
        0x786f_4256,
        0x7461_636f,
        0x0116_1970,
        0x0bd0_0bd0,
    ];
    KINDS.contains(&kind)
}

/// How many directories this user may watch in all programs together.
pub(in crate::daemon) fn most_watches() -> usize {
    let limit = fs::read_to_string("/proc/sys/fs/inotify/max_user_watches").ok();
    limit.and_then(|text| text.trim().parse().ok()).unwrap_or(8192)
}

#[cfg(test)]
mod tests {
    #[test]
    #[cfg(target_os = "linux")]
    fn network_and_program_served_file_systems_are_remote_and_disks_are_not() {
        for (name, kind, remote) in [
            ("nfs", 0x6969, true),
            ("fuse", 0x6573_5546, true),
            ("9p", 0x0102_1997, true),
            ("smb2", 0xfe53_4d42, true),
            ("ext4", 0xef53, false),
            ("btrfs", 0x9123_683e, false),
            ("xfs", 0x5846_5342, false),
            ("tmpfs", 0x0102_1994, false),
            ("overlay", 0x794c_7630, false),
        ] {
            assert_eq!(super::is_remote_kind(kind), remote, "{name}");
        }
    }
}
