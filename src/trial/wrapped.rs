//! Owns running a command for somebody who watches it: in the user's own folder and environment, until it ends or is to end.

use std::env;
use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use crate::trial::suite::keeper;
use crate::trial::system::{self, Group};
use crate::trial::{TrialError, interrupt};

/// How long between two looks.
const TICK: Duration = Duration::from_millis(10);

/// A command that runs. It ends, with all that it started, when this value goes.
struct Running {
    child: Child,
}

impl Drop for Running {
    fn drop(&mut self) {
        // The end of its input tells the keeper to end everything; until it is waited for, nobody else can have its number.
        drop(self.child.stdin.take());
        let group = Group::of(&self.child);
        for _ in 0..300 {
            if let Ok(Some(_)) = self.child.try_wait() {
                return;
            }
            thread::sleep(TICK);
        }
        if let Some(group) = group {
            group.kill();
        }
        let _ = self.child.wait();
    }
}

/// Runs a command to its end with these variables on top of the user's own; its exit code, as a shell tells it.
///
/// # Errors
/// When it cannot be started, or somebody wants it to end.
pub fn run(command: &[OsString], variables: &[(&str, &OsStr)], doomed: Option<&Path>) -> Result<i32, TrialError> {
    let own = env::current_exe().map_err(TrialError::disk("this program"))?;
    let mut keeper = Command::new(&own);
    keeper.arg(keeper::COMMAND);
    if let Some(folder) = doomed {
        keeper.arg("--drop").arg(folder);
    }
    keeper.arg("--").args(command).envs(variables.iter().copied()).stdin(Stdio::piped());
    system::apart(&mut keeper).map_err(TrialError::disk(&own))?;
    let mut running = Running { child: keeper.spawn().map_err(TrialError::disk(own))? };
    loop {
        interrupt::check()?;
        if let Some(status) = running.child.try_wait().map_err(TrialError::disk("the command"))? {
            return Ok(system::code(status));
        }
        thread::sleep(TICK);
    }
}
