//! Owns the process between seedgate and a test command: when seedgate goes, by whatever signal, it ends everything and clears up.

use std::ffi::OsString;
use std::fs;
use std::io::Read as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use crate::trial::system::{self, Group};

/// The hidden command of this program that is a keeper.
pub const COMMAND: &str = "keep";

/// What is sent before an orderly end; its absence means that seedgate was killed.
pub const GOODBYE: u8 = b'k';

/// Runs a command until it ends or standard input does; its code, as a shell tells it.
pub fn keep(command: &[OsString], doomed: &[PathBuf]) -> u8 {
    system::adopt();
    let Some((program, arguments)) = command.split_first() else { return 64 };
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::null());
    let Ok(mut child) = system::apart(&mut command).and_then(|()| command.spawn()) else { return 127 };
    let group = Group::of(&child);
    let (is_over, is_orphan) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(false)));
    let (over, orphan) = (Arc::clone(&is_over), Arc::clone(&is_orphan));
    thread::spawn(move || {
        let mut said = Vec::new();
        let _ = std::io::stdin().lock().take(64).read_to_end(&mut said);
        orphan.store(!said.contains(&GOODBYE), Ordering::SeqCst);
        // Once it is waited for, its number may be somebody else's.
        if let Some(group) = group.filter(|_| !over.load(Ordering::SeqCst)) {
            group.kill();
        }
    });
    let status = child.wait();
    is_over.store(true, Ordering::SeqCst);
    if let Some(group) = group {
        group.kill();
    }
    system::end_adopted();
    if is_orphan.load(Ordering::SeqCst) {
        doomed.iter().for_each(|folder| drop(fs::remove_dir_all(folder)));
    }
    let code = status.map_or(127, system::code);
    u8::try_from(code).unwrap_or(u8::MAX)
}
