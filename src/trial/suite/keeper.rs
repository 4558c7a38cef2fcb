//! Owns the process between seedgate and a test command: when seedgate goes, by whatever signal, it ends everything and clears up.

use std::ffi::OsString;
use std::fs;
use std::io::Read as _;
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use rustix::process::{Pid, Signal, WaitOptions, kill_process, kill_process_group, wait};

/// The hidden command of this program that is a keeper.
pub const COMMAND: &str = "keep";

/// What is sent before an orderly end; its absence means that seedgate was killed.
pub const GOODBYE: u8 = b'k';

/// Rounds in which what was started and left behind is looked for.
const ROUNDS: usize = 100;

/// Runs a command until it ends or standard input does; its code, as a shell tells it.
pub fn keep(command: &[OsString], doomed: &[PathBuf]) -> u8 {
    adopt();
    let Some((program, arguments)) = command.split_first() else { return 64 };
    let started = Command::new(program).args(arguments).stdin(Stdio::null()).process_group(0).spawn();
    let Ok(mut child) = started else { return 127 };
    let group = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    let (is_over, is_orphan) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(false)));
    let (over, orphan) = (Arc::clone(&is_over), Arc::clone(&is_orphan));
    thread::spawn(move || {
        let mut said = Vec::new();
        let _ = std::io::stdin().lock().take(64).read_to_end(&mut said);
        orphan.store(!said.contains(&GOODBYE), Ordering::SeqCst);
        // Once it is waited for, its number may be somebody else's.
        if let Some(group) = group.filter(|_| !over.load(Ordering::SeqCst)) {
            let _ = kill_process_group(group, Signal::KILL);
        }
    });
    let status = child.wait();
    is_over.store(true, Ordering::SeqCst);
    if let Some(group) = group {
        let _ = kill_process_group(group, Signal::KILL);
    }
    end_adopted();
    if is_orphan.load(Ordering::SeqCst) {
        doomed.iter().for_each(|folder| drop(fs::remove_dir_all(folder)));
    }
    let code = status.map_or(127, |status| status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or_default()));
    u8::try_from(code).unwrap_or(u8::MAX)
}

/// On Linux, what a command started and left behind becomes this process's own.
fn adopt() {
    #[cfg(target_os = "linux")]
    let _ = rustix::process::set_child_subreaper(Some(rustix::process::getpid()));
}

/// Ends what was adopted.
fn end_adopted() {
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
