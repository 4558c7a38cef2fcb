//! Owns a warm test run: pytest has collected everything and tries each mutant in a fork of itself.

use std::fs;
use std::io::{ErrorKind, Read as _, Write as _};
use std::path::Path;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use crate::trial::suite::Tests;
use crate::trial::suite::command::{End, Running};
use crate::trial::suite::report::{Order, Report};
use crate::trial::system::Line;
use crate::trial::{TrialError, interrupt};

/// Shortest wait between two looks.
const TICK: Duration = Duration::from_millis(20);

/// How much longer than its own limit an answer may take.
const GRACE: Duration = Duration::from_secs(20);

/// Longest line that is read.
const LINE: usize = 1 << 20;

/// A run that waits for mutants.
pub(super) struct Host {
    running: Running,
    stream: Line,
    rest: Vec<u8>,
    /// Whether mutants can be tried in forks of it.
    is_hot: bool,
    tried: u64,
}

/// What came of a start.
pub(super) enum Started {
    /// It waits for mutants; the report is that of the twin, where one was asked for.
    Waits(Host, Option<Report>),
    /// The command ended by itself, or was ended.
    Over(End, Option<Report>, String),
}

#[derive(Serialize)]
struct Try<'a> {
    id: u64,
    path: &'a str,
    source: &'a str,
    only: &'a [String],
    limit: f64,
    memory: u64,
}

/// What the plugin says.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Said {
    op: String,
    id: u64,
    hot: bool,
    verdict: String,
    why: Option<String>,
}

/// What a fork came to.
pub(super) enum Tried {
    /// A test failed.
    Killed(String),
    /// Every test passed.
    Survived,
    /// It cannot be told.
    Unknown(String),
    /// The mutant has to be there from the start.
    Cold,
    /// The host is gone.
    Gone,
}

impl Host {
    /// Starts the command and waits until it can be asked; with `order.twin` all tests are run first.
    ///
    /// # Errors
    /// When it cannot be started, or somebody wants it to end.
    pub(super) fn start(tests: &Tests, tree: &Path, order: &Order) -> Result<Started, TrialError> {
        let (start, mut running) = (Instant::now(), Running::start(tests, tree, order, &[tree])?);
        let mut host: Option<(Line, Vec<u8>)> = None;
        let mut is_hot = false;
        loop {
            interrupt::check()?;
            if let Some(code) = running.ended()? {
                return Ok(Started::Over(End::Exit(code), running.report(), running.output()));
            }
            if start.elapsed() > tests.limit {
                running.kill();
                return Ok(Started::Over(End::Limit, None, running.output()));
            }
            let Some((stream, rest)) = host.as_mut() else {
                host = called(&running)?.map(|stream| (stream, Vec::new()));
                if host.is_none() {
                    std::thread::sleep(TICK);
                }
                continue;
            };
            let Ok(line) = hear(stream, rest) else {
                std::thread::sleep(TICK);
                continue;
            };
            let Some(line) = line else { continue };
            let said: Said = serde_json::from_slice(&line).unwrap_or_default();
            is_hot |= said.op == "ready" && said.hot;
            if said.op == if order.twin { "twin" } else { "ready" }
                && let Some((stream, rest)) = host.take()
            {
                let report = running.report();
                return Ok(Started::Waits(Host { running, stream, rest, is_hot, tried: 0 }, report));
            }
        }
    }

    /// Whether it can be asked at all.
    pub(super) fn is_hot(&self) -> bool {
        self.is_hot
    }

    /// Tries one mutant on some tests.
    ///
    /// # Errors
    /// When the disk refuses, or somebody wants it to end.
    pub(super) fn ask(&mut self, path: &str, mutant: &[u8], only: &[String], limit: Duration, memory: u64) -> Result<Tried, TrialError> {
        self.tried += 1;
        let file = self.running.scratch().join("mutant.py");
        fs::write(&file, mutant).map_err(TrialError::disk(&file))?;
        let source = file.to_string_lossy();
        let order = Try { id: self.tried, path, source: &source, only, limit: limit.as_secs_f64(), memory };
        let mut line = serde_json::to_vec(&order).map_err(|error| TrialError::Protocol(error.to_string()))?;
        line.push(b'\n');
        if self.stream.write_all(&line).is_err() {
            return Ok(Tried::Gone);
        }
        let start = Instant::now();
        while start.elapsed() < limit + GRACE {
            interrupt::check()?;
            match hear(&mut self.stream, &mut self.rest) {
                Err(_) => return Ok(Tried::Gone),
                Ok(None) => {}
                Ok(Some(line)) => {
                    let said: Said = serde_json::from_slice(&line).unwrap_or_default();
                    if said.op == "tried" && said.id == self.tried {
                        return Ok(read(said));
                    }
                }
            }
        }
        Ok(Tried::Gone)
    }
}

fn read(said: Said) -> Tried {
    let why = said.why.unwrap_or_default();
    match said.verdict.as_str() {
        "killed" => Tried::Killed(why),
        "survived" => Tried::Survived,
        "cold" => Tried::Cold,
        _ => Tried::Unknown(why),
    }
}

/// The plugin's call, if it came.
fn called(running: &Running) -> Result<Option<Line>, TrialError> {
    let Some(listener) = running.listener() else { return Ok(None) };
    listener.set_nonblocking(true).map_err(TrialError::disk("a socket"))?;
    match listener.accept() {
        Ok((stream, _)) => {
            stream.set_nonblocking(false).map_err(TrialError::disk("a socket"))?;
            Ok(Some(stream))
        }
        Err(error) if error.kind() == ErrorKind::WouldBlock => Ok(None),
        Err(error) => Err(TrialError::disk("a socket")(error)),
    }
}

/// A line, if one is there soon; an error when there will be none.
fn hear(stream: &mut Line, rest: &mut Vec<u8>) -> std::io::Result<Option<Vec<u8>>> {
    loop {
        if let Some(at) = rest.iter().position(|b| *b == b'\n') {
            let line = rest.drain(..=at).take(at).collect();
            return Ok(Some(line));
        }
        if rest.len() > LINE {
            return Err(std::io::Error::other("a line without end"));
        }
        stream.set_read_timeout(Some(TICK))?;
        let mut piece = [0; 1 << 14];
        match stream.read(&mut piece) {
            Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
            Ok(read) => rest.extend_from_slice(&piece[..read]),
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted) => return Ok(None),
            Err(error) => return Err(error),
        }
    }
}
