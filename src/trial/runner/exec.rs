//! Owns the process of a job on this machine: in bubblewrap when that is there, within its time, and the one file that it leaves.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::settings::runner::Sandbox;
use crate::trial::runner::{Unknown, verdict};
use crate::trial::worker::process::{Heard, Process, find};
use crate::trial::{TrialError, interrupt};

/// How often it is looked whether somebody wants it to end.
const TICK: Duration = Duration::from_millis(25);

/// What runs jobs on this machine.
#[derive(Clone, Debug)]
pub struct Engine {
    program: PathBuf,
    bubblewrap: Option<PathBuf>,
}

/// What a job's process left.
pub struct Left {
    /// The bytes of its verdict, or why there are none.
    pub verdict: Result<Vec<u8>, Unknown>,
    /// How it ended.
    pub ended: String,
}

impl Left {
    /// The process's exit code, when it had one.
    pub fn exit(&self) -> Option<i32> {
        self.ended.strip_prefix("exit ").and_then(|code| code.parse().ok())
    }
}

impl Engine {
    /// With an interpreter.
    ///
    /// # Errors
    /// [`TrialError::NoWorker`] when bubblewrap must be there and is not.
    pub fn new(program: PathBuf, sandbox: Sandbox) -> Result<Self, TrialError> {
        let found = if sandbox == Sandbox::Off { None } else { find("bwrap", Path::new("/")).ok() };
        if found.is_none() && sandbox == Sandbox::Require {
            return Err(TrialError::NoWorker(
                "there is no bubblewrap (bwrap) on PATH, and the configuration says `sandbox = \"require\"`".into(),
            ));
        }
        Ok(Engine { program, bubblewrap: found })
    }

    /// The word for what shuts jobs off.
    pub fn sandbox(&self) -> &'static str {
        if self.bubblewrap.is_some() { "bubblewrap" } else { "none" }
    }

    /// Runs the script of a job's folder on the tree around it, for at most so long. `goes_on` is asked while it runs.
    ///
    /// # Errors
    /// When somebody wants it to end.
    pub fn run(&self, tree: &Path, folder: &Path, total: Duration, goes_on: &dyn Fn() -> bool) -> Result<Left, TrialError> {
        let home = folder.join("home");
        fs::create_dir_all(&home).map_err(TrialError::disk(&home))?;
        let script = folder.join("seedgate_job.py").into_os_string();
        let own: [OsString; 4] = [self.program.clone().into(), "-s".into(), "-B".into(), script];
        let started = match &self.bubblewrap {
            Some(bubblewrap) => Process::start(bubblewrap, &shut_off(tree, folder, &own), tree, &home),
            None => Process::start(&self.program, &own[1..], tree, &home),
        };
        let mut process = match started {
            Ok(process) => process,
            Err(error) => {
                return Ok(Left { verdict: Err(Unknown::new("no_verdict", error.to_string())), ended: "not started".to_owned() });
            }
        };
        process.close();
        let start = Instant::now();
        while let Ok(Heard::Line(_) | Heard::Nothing) = process.hear(TICK) {
            interrupt::check()?;
            if start.elapsed() > total || !goes_on() {
                process.kill();
                let says = format!("the job did not end within {} s", total.as_secs());
                return Ok(Left { verdict: Err(Unknown::new("timeout", says)), ended: "killed".to_owned() });
            }
        }
        let ended = process.ended();
        let verdict = read(&folder.join("verdict.json")).map_err(|why| no_verdict(&why, &ended, &process.words()));
        Ok(Left { verdict, ended })
    }
}

/// Bubblewrap's arguments: the system read-only, no network, own processes; only the tree and the job's folder can be written.
fn shut_off(tree: &Path, folder: &Path, own: &[OsString]) -> Vec<OsString> {
    let mut all: Vec<OsString> =
        ["--unshare-all", "--die-with-parent", "--new-session", "--cap-drop", "ALL", "--ro-bind", "/", "/"].map(Into::into).to_vec();
    all.extend(["--dev", "/dev", "--proc", "/proc"].map(OsString::from));
    for place in [tree, folder] {
        all.extend(["--bind".into(), place.into(), place.into()]);
    }
    all.extend(["--chdir".into(), tree.into(), "--".into()]);
    all.extend_from_slice(own);
    all
}

/// The file, when it is one and not too large. No link is followed: the project's code could have put one there.
fn read(path: &Path) -> Result<Vec<u8>, String> {
    let found = fs::symlink_metadata(path).map_err(|_| "it left no verdict".to_owned())?;
    if !found.is_file() {
        return Err("what it left is no regular file".to_owned());
    }
    let mut bytes = Vec::new();
    let read = File::open(path).and_then(|file| file.take(verdict::CAP + 1).read_to_end(&mut bytes));
    read.map_err(|error| error.to_string())?;
    if bytes.len() as u64 > verdict::CAP { Err("its verdict is too large".to_owned()) } else { Ok(bytes) }
}

fn no_verdict(why: &str, ended: &str, words: &str) -> Unknown {
    let last: String = words.lines().last().unwrap_or_default().trim().chars().take(300).collect();
    let said = if last.is_empty() { String::new() } else { format!(": {last}") };
    Unknown::new("no_verdict", format!("{why} ({ended}){said}"))
}
