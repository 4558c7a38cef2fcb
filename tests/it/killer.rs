//! Owns killing a program at each of its changes to the files below a folder: it is traced, so nothing in the program knows.

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use nix::errno::Errno;
use nix::sys::ptrace::{self, Options};
use nix::sys::signal::{Signal, kill};
use nix::sys::wait::{WaitStatus, waitpid};
use nix::unistd::Pid;

/// Where a traced program is killed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum At {
    /// Before its change of this number, from 0.
    Before(usize),
    /// After half of the bytes of this change, which writes, are in the file.
    Half(usize),
    /// After this change.
    After(usize),
    /// Nowhere.
    Never,
}

/// How a traced program went.
pub(crate) struct Traced {
    /// Its changes below the folder, as it came to them.
    pub(crate) changes: Vec<String>,
    /// Its exit; `None` when it was killed.
    pub(crate) code: Option<i32>,
}

/// A change that is about to happen.
struct Step {
    says: String,
    writes: bool,
}

/// Runs a program and kills it there. Changes are those of its first thread.
pub(crate) fn traced(program: &Path, prepare: impl FnOnce(&mut Command), arguments: &[&str], top: &Path, at: At) -> Traced {
    let (mut child, pid) = held(program, prepare, arguments);
    ptrace::attach(pid).expect("a tracer");
    waitpid(pid, None).expect("it stops");
    ptrace::setoptions(pid, Options::PTRACE_O_TRACESYSGOOD | Options::PTRACE_O_EXITKILL | Options::PTRACE_O_TRACEEXEC).expect("options");
    child.stdin.take().expect("a pipe").write_all(b"go\n").expect("it reads");
    let (mut changes, mut is_counted, mut open, mut pass) = (Vec::new(), false, None::<Step>, None::<Signal>);
    loop {
        // One that was killed is not there to go on, and its end is heard below.
        assert!(matches!(ptrace::syscall(pid, pass.take()), Ok(()) | Err(Errno::ESRCH)), "it goes on");
        match waitpid(pid, None).expect("it stops") {
            WaitStatus::Exited(_, code) => return Traced { changes, code: Some(code) },
            WaitStatus::Signaled(..) => return Traced { changes, code: None },
            WaitStatus::PtraceEvent(..) => is_counted = true,
            WaitStatus::Stopped(_, signal) => pass = (signal != Signal::SIGSTOP).then_some(signal),
            WaitStatus::PtraceSyscall(_) if is_counted => {
                let is_after = open.take().is_some();
                let number = changes.len();
                if is_after {
                    if matches!(at, At::After(n) | At::Half(n) if n + 1 == number) {
                        kill(pid, Signal::SIGKILL).expect("a kill");
                    }
                } else if let Some(step) = entered(pid).then(|| step(pid, top)).flatten() {
                    changes.push(step.says.clone());
                    if at == At::Before(number) {
                        kill(pid, Signal::SIGKILL).expect("a kill");
                    } else if at == At::Half(number) && step.writes {
                        let mut registers = ptrace::getregs(pid).expect("registers");
                        registers.rdx /= 2;
                        ptrace::setregs(pid, registers).expect("registers");
                    }
                    open = Some(step);
                }
            }
            _ => {}
        }
    }
}

/// A shell that becomes the program once it is told so.
fn held(program: &Path, prepare: impl FnOnce(&mut Command), arguments: &[&str]) -> (Child, Pid) {
    let mut command = Command::new("sh");
    prepare(&mut command);
    command.args(["-c", "read -r line; exec \"$@\"", "sh"]).arg(program).args(arguments);
    let child = command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("a shell");
    let pid = Pid::from_raw(i32::try_from(child.id()).expect("a number"));
    (child, pid)
}

/// Whether it is at the entry of a call: there the kernel has put "no such call" where the answer will be.
fn entered(pid: Pid) -> bool {
    ptrace::getregs(pid).is_ok_and(|registers| registers.rax == (-38_i64).cast_unsigned())
}

/// The change of a file below the folder that it is about to make.
fn step(pid: Pid, top: &Path) -> Option<Step> {
    let registers = ptrace::getregs(pid).ok()?;
    let creates = |flags: u64| flags & 0o100 != 0;
    let (name, path) = match registers.orig_rax {
        1 => ("write", of_descriptor(pid, registers.rdi)?),
        2 if creates(registers.rsi) => ("open", text(pid, registers.rdi)?),
        257 if creates(registers.rdx) => ("open", text(pid, registers.rsi)?),
        74 | 75 => ("fsync", of_descriptor(pid, registers.rdi)?),
        77 => ("truncate", of_descriptor(pid, registers.rdi)?),
        82 => ("rename", text(pid, registers.rsi)?),
        264 | 316 => ("rename", text(pid, registers.r10)?),
        83 => ("mkdir", text(pid, registers.rdi)?),
        258 => ("mkdir", text(pid, registers.rsi)?),
        86 => ("link", text(pid, registers.rsi)?),
        265 => ("link", text(pid, registers.r10)?),
        87 => ("unlink", text(pid, registers.rdi)?),
        263 => ("unlink", text(pid, registers.rsi)?),
        _ => return None,
    };
    let inside = top.join(path).strip_prefix(top).ok()?.to_path_buf();
    Some(Step { says: format!("{name} {}", inside.display()), writes: name == "write" })
}

fn of_descriptor(pid: Pid, descriptor: u64) -> Option<PathBuf> {
    fs::read_link(format!("/proc/{pid}/fd/{descriptor}")).ok().filter(|path| path.is_absolute())
}

/// A path in its memory.
fn text(pid: Pid, address: u64) -> Option<PathBuf> {
    let memory = fs::File::open(format!("/proc/{pid}/mem")).ok()?;
    let mut bytes = vec![0; 4096];
    let read = memory.read_at(&mut bytes, address).ok()?;
    let end = bytes[..read].iter().position(|byte| *byte == 0)?;
    Some(String::from_utf8_lossy(&bytes[..end]).into_owned().into())
}
