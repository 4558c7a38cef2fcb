//! `seedgate daemon`: starts, stops and shows the process that keeps facts warm.

use std::io::Read as _;
use std::time::Duration;

use serde_json::json;

use crate::cli::Failure;
use crate::daemon::place::Place;
use crate::daemon::serve::{self, Options};
use crate::daemon::wire::Status;
use crate::daemon::{DaemonError, client};
use crate::finding::Exit;
use crate::report;

/// Ends so long after the last request when nothing else is said.
const IDLE: Duration = Duration::from_mins(15);
/// Most bytes of the log that are shown.
const LOG: u64 = 512 << 10;

/// Start, stop and show the daemon, which keeps facts warm and decides nothing.
///
/// Hooks start it by themselves after a verdict, and reach the same verdict without it. `SEEDGATE_DAEMON=off` switches it off,
/// `on` starts it in CI and for repositories in temporary folders too.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  seedgate daemon status        is one running, and what does it keep warm
  seedgate daemon stop          end it; the next hook starts another
  SEEDGATE_DAEMON=off git commit  commit without it

Exit codes: 0 done or running, 69 not running or not offered here, 70 fault.")]
pub(super) struct Args {
    #[command(subcommand)]
    word: Word,
}

#[derive(clap::Subcommand)]
enum Word {
    /// Start it, if it is not running, and wait until it answers.
    Start,
    /// Ask every daemon of this user to end, also those of other versions.
    Stop,
    /// Stop, then start.
    Restart,
    /// Say whether it runs and what it keeps warm.
    Status {
        /// Print `seedgate.daemon_status/1`.
        #[arg(long)]
        json: bool,
    },
    /// Print what it logged.
    Log,
    /// Be the daemon.
    #[command(hide = true)]
    Serve {
        /// The first repository, as JSON.
        #[arg(long)]
        repository: Option<String>,
    },
}

impl From<DaemonError> for Failure {
    fn from(error: DaemonError) -> Self {
        let exit = match error {
            DaemonError::System(_) => Exit::Fault,
            _ => Exit::Unavailable,
        };
        Failure { exit, says: error.to_string() }
    }
}

pub(super) fn run(args: &Args) -> Result<Exit, Failure> {
    match &args.word {
        Word::Start => started(&client::start()?),
        Word::Stop => {
            let asked = client::stop()?;
            report::out(if asked == 0 { "no daemon was running\n" } else { "stopped\n" });
        }
        Word::Restart => {
            client::stop()?;
            started(&client::start()?);
        }
        Word::Status { json } => return Ok(status(*json)?),
        Word::Log => log()?,
        Word::Serve { repository } => {
            let known = repository.as_deref().and_then(|text| serde_json::from_str(text).ok());
            serve::serve(Options { idle: idle(), known })?;
        }
    }
    Ok(Exit::Clear)
}

fn idle() -> Duration {
    let told = std::env::var("SEEDGATE_DAEMON_IDLE_MS").ok().and_then(|text| text.parse().ok());
    told.map_or(IDLE, Duration::from_millis)
}

fn started(status: &Status) {
    report::out(&format!("running: process {}\n", status.pid));
}

fn status(json: bool) -> Result<Exit, DaemonError> {
    let status = client::status()?;
    let exit = if status.is_some() { Exit::Clear } else { Exit::Unavailable };
    let text = match (&status, json) {
        (_, true) => report::json(&json!({ "schema": "seedgate.daemon_status/1", "running": status.is_some(), "daemon": status })),
        (Some(status), false) => lines(status),
        (None, false) => "not running; the next hook that has facts to compute starts it\n".into(),
    };
    report::out(&text);
    Ok(exit)
}

fn lines(status: &Status) -> String {
    let memory = status.resident.map_or_else(String::new, |bytes| format!(", {} MiB", bytes >> 20));
    let watch = match &status.watch_off {
        None => format!("watch: {} folders (a hint where to read ahead, never a reason to believe anything)", status.watches),
        Some(why) => format!("watch off: {why}"),
    };
    let mut lines = vec![
        format!("running: process {}, up {} s{memory}", status.pid, status.up_seconds),
        format!("requests: {}; facts told: {}, not known: {}, read ahead: {}", status.requests, status.told, status.unknown, status.warmed),
        watch,
    ];
    if status.shunned > 0 {
        lines.push(format!("never read ahead: {} that an earlier daemon ended at", report::plural(status.shunned, "blob")));
    }
    lines.extend(status.repositories.iter().map(|warmth| {
        let cold = warmth.cold.as_ref().map_or_else(String::new, |why| format!(" (not kept warm: {why})"));
        format!("  {}: {} of {} facts ready{cold}", warmth.place, warmth.ready, warmth.wanted)
    }));
    lines.join("\n") + "\n"
}

fn log() -> Result<(), DaemonError> {
    let place = Place::find(false)?;
    let mut text = Vec::new();
    if let Ok(file) = std::fs::File::open(place.log()) {
        file.take(LOG).read_to_end(&mut text).map_err(DaemonError::System)?;
    }
    report::out(&String::from_utf8_lossy(&text));
    Ok(())
}
