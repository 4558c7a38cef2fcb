//! Owns starting the daemon: a process of its own session that inherits nothing but a short list of variables.

use std::env;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::daemon::DaemonError;
use crate::daemon::client::line::{LEISURE, Line};
use crate::daemon::history::History;
use crate::daemon::place::Place;
use crate::daemon::system;
use crate::daemon::wire::{Known, Status};

/// All that the daemon learns of its starter's environment. Nothing of git's: a repository is told by name.
const KEPT: [&str; 14] = [
    "HOME",
    "PATH",
    "TMPDIR",
    "USER",
    "LOGNAME",
    "XDG_CACHE_HOME",
    "XDG_CONFIG_HOME",
    "XDG_RUNTIME_DIR",
    "SEEDGATE_RUNTIME_DIR",
    "SEEDGATE_DAEMON_IDLE_MS",
    "USERPROFILE",
    "LOCALAPPDATA",
    "APPDATA",
    "SystemRoot",
];

/// Starts a daemon and does not wait for it. Nothing is started while daemons keep crashing, unless the user insists.
pub(super) fn spawn(known: Option<&Known>, insists: bool) -> Result<(), DaemonError> {
    let place = Place::find(true)?;
    if !insists && History::read(&place).says_wait() {
        return Ok(());
    }
    let program = env::current_exe().map_err(DaemonError::System)?;
    let mut command = Command::new(program);
    command.args(["daemon", "serve"]).current_dir(place.folder()).env_clear().envs(kept());
    if let Some(known) = known.and_then(|known| serde_json::to_string(known).ok()) {
        command.args(["--repository", &known]);
    }
    system::seal_descriptors();
    // It outlives whoever starts it, and init inherits it.
    let started = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
    started.map(drop).map_err(DaemonError::System)
}

fn kept() -> impl Iterator<Item = (&'static str, std::ffi::OsString)> {
    // One arena of the allocator is enough for a process that mostly sleeps, and keeps it small.
    let allocator = [("LC_ALL", "C"), ("MALLOC_ARENA_MAX", "1"), ("MALLOC_TRIM_THRESHOLD_", "131072")];
    KEPT.iter().filter_map(|name| Some((*name, env::var_os(name)?))).chain(allocator.map(|(name, value)| (name, value.into())))
}

/// Starts a daemon if there is none, and waits until it answers.
///
/// # Errors
/// When it does not answer in time.
pub fn start() -> Result<Status, DaemonError> {
    let place = Place::find(true)?;
    let end = Instant::now() + Duration::from_secs(3);
    let mut started = false;
    loop {
        match Line::open(&place.socket(), LEISURE).and_then(|mut line| line.status()) {
            Ok(status) => return Ok(status),
            Err(broken) if !started && broken.is_stale() => {
                spawn(None, true)?;
                started = true;
            }
            Err(broken) if Instant::now() > end => {
                return Err(DaemonError::Talk(format!("{broken}; its log is {}", place.log().display())));
            }
            Err(_) => sleep(Duration::from_millis(5)),
        }
    }
}
