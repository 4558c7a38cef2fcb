//! Owns the system's side where project code can be run: process groups that end as a whole, names that are bytes.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File, Metadata, Permissions};
use std::io;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::os::unix::fs::{FileExt as _, MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _, symlink};
use std::os::unix::net::{UnixListener, UnixStream};
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::path::Path;
use std::process::{Child, Command, ExitStatus};
use std::thread;
use std::time::Duration;

use rustix::process::{Pid, Signal, WaitOptions, getppid, kill_process, kill_process_group, wait};

/// Where a run calls.
pub(in crate::trial) type Door = UnixListener;
/// What it says.
pub(in crate::trial) type Line = UnixStream;

/// Rounds in which what was started and left behind is looked for.
const ROUNDS: usize = 100;

/// Has a command started in a group of its own.
#[expect(clippy::unnecessary_wraps, reason = "another system refuses")]
pub(in crate::trial) fn apart(command: &mut Command) -> io::Result<()> {
    command.process_group(0);
    Ok(())
}

/// The same, and it has no files of ours.
pub(in crate::trial) fn alone(command: &mut Command) -> io::Result<()> {
    close_fds::set_fds_cloexec_threadsafe(3, &[]);
    apart(command)
}

/// A child with all that it starts in its group.
#[derive(Clone, Copy)]
pub(in crate::trial) struct Group(Pid);

impl Group {
    /// The group that a child leads.
    pub(in crate::trial) fn of(child: &Child) -> Option<Self> {
        i32::try_from(child.id()).ok().and_then(Pid::from_raw).map(Group)
    }

    /// Ends all of it. Only while the child is not waited for can nobody else have its number.
    pub(in crate::trial) fn kill(self) {
        let _ = kill_process_group(self.0, Signal::KILL);
    }
}

/// The signal that ended a process.
pub(in crate::trial) fn signal(status: ExitStatus) -> Option<i32> {
    status.signal()
}

/// How a process ended, as a shell tells it: 128 and the number for a signal.
pub(in crate::trial) fn code(status: ExitStatus) -> i32 {
    status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or_default())
}

/// The process that started this one, as long as it is there.
pub(in crate::trial) fn caller() -> Option<u32> {
    getppid().and_then(|pid| u32::try_from(pid.as_raw_nonzero().get()).ok())
}

/// On Linux, what a command starts and leaves behind becomes this process's own.
pub(in crate::trial) fn adopt() {
    #[cfg(target_os = "linux")]
    let _ = rustix::process::set_child_subreaper(Some(rustix::process::getpid()));
}

/// Ends what was adopted.
pub(in crate::trial) fn end_adopted() {
    for _ in 0..ROUNDS {
        let tasks = fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
        let children: Vec<Pid> = tasks
            .filter_map(|task| fs::read_to_string(task.path().join("children")).ok())
            .flat_map(|text| text.split_whitespace().filter_map(|word| Pid::from_raw(word.parse().ok()?)).collect::<Vec<_>>())
            .collect();
        if children.is_empty() {
            return;
        }
        for child in children {
            let _ = kill_process(child, Signal::KILL);
        }
        while let Ok(Some(_)) = wait(WaitOptions::NOHANG) {}
        thread::sleep(Duration::from_millis(2));
    }
}

/// A name of git as one of this system.
pub(in crate::trial) fn name(bytes: &[u8]) -> OsString {
    OsString::from_vec(bytes.to_vec())
}

/// The bytes of a name.
pub(in crate::trial) fn name_bytes(name: &OsStr) -> &[u8] {
    name.as_bytes()
}

/// Makes a link with this text.
pub(in crate::trial) fn link(target: &[u8], place: &Path) -> io::Result<()> {
    symlink(OsStr::from_bytes(target), place)
}

/// Makes a file that was not there.
pub(in crate::trial) fn create(place: &Path, is_executable: bool) -> io::Result<File> {
    File::options().write(true).create_new(true).mode(if is_executable { 0o755 } else { 0o644 }).open(place)
}

/// Lets everybody read a folder.
pub(in crate::trial) fn open_to_all(folder: &Path) -> io::Result<()> {
    fs::set_permissions(folder, Permissions::from_mode(0o755))
}

/// Whether the system would execute a file.
pub(in crate::trial) fn is_program(found: &Metadata) -> bool {
    found.is_file() && found.permissions().mode() & 0o111 != 0
}

/// Whatever of a file moves when it is written to.
pub(in crate::trial) fn state(found: &Metadata) -> String {
    let facts = (found.mode(), found.size(), found.ino(), found.mtime(), found.mtime_nsec(), found.ctime(), found.ctime_nsec());
    format!("{facts:?}")
}

/// Fills a buffer from a place in a file.
pub(in crate::trial) fn read_at(file: &File, into: &mut [u8], at: u64) -> io::Result<()> {
    file.read_exact_at(into, at)
}
