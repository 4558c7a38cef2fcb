//! Owns one worker: a process that calls properties of one tree, and what its silence or its end says.

pub mod outcome;
pub mod process;
mod wire;

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::trial::worker::outcome::{Failure, Outcome, Refusal};
use crate::trial::worker::process::{Heard, Process};
use crate::trial::{TrialError, interrupt, system};
use crate::witness::value::Input;

pub use wire::Welcome;

/// The worker that is shipped.
pub(super) const PYTHON: &str = include_str!("../../templates/python/seedgate_worker.py");

/// The decorators of plain properties, for projects that did not copy them.
pub(super) const DECORATORS: &str = include_str!("../../templates/python/seedgate_props.py");

/// Shortest wait between two looks.
const TICK: Duration = Duration::from_millis(25);

/// How long a worker may take for its hello, and for importing a module.
const START: Duration = Duration::from_mins(1);

/// How properties are run.
#[derive(Clone, Debug)]
pub struct Config {
    /// The interpreter.
    pub program: PathBuf,
    /// Folders of the tree that modules are imported from.
    pub path: Vec<String>,
    /// How long one input may take.
    pub limit: Duration,
    /// Most memory, in bytes.
    pub memory: u64,
}

/// What became of a batch.
#[derive(Debug)]
pub(super) struct Done {
    /// How many inputs ran.
    pub(super) ran: u64,
    /// Those that did not pass, by their number in the batch.
    pub(super) others: Vec<(u64, Outcome)>,
    /// The worker is gone, or is not fit to go on.
    pub(super) is_over: bool,
    /// How many modules are loaded by now, when it says so.
    pub(super) loaded: Option<u64>,
}

/// A worker.
pub struct Worker {
    process: Process,
    welcome: Welcome,
    progress: File,
    limit: Duration,
    batches: u64,
    _scratch: tempfile::TempDir,
}

impl Worker {
    /// Starts a worker for a tree.
    ///
    /// # Errors
    /// [`TrialError::NoWorker`] when it cannot be started or is no worker.
    pub fn start(config: &Config, tree: &Path) -> Result<Self, TrialError> {
        let scratch = tempfile::Builder::new().prefix("seedgate-").tempdir().map_err(TrialError::disk("a temporary folder"))?;
        let (shim, progress) = (scratch.path().join("seedgate_worker.py"), scratch.path().join("progress"));
        let spare = scratch.path().join("spare");
        let decorators = spare.join("seedgate_props.py");
        fs::write(&shim, PYTHON).map_err(TrialError::disk(&shim))?;
        fs::create_dir(&spare).and_then(|()| fs::write(&decorators, DECORATORS)).map_err(TrialError::disk(&spare))?;
        fs::write(&progress, [0; 16]).map_err(TrialError::disk(&progress))?;
        let home = scratch.path().join("home");
        fs::create_dir(&home).map_err(TrialError::disk(&home))?;
        let arguments = ["-s".into(), "-B".into(), shim.into_os_string()];
        let mut process = Process::start(&config.program, &arguments, tree, &home)?;
        let (root, shown) = (text_of(tree)?, text_of(&progress)?);
        let hello =
            wire::Hello { protocol: wire::PROTOCOL, op: "hello", root, path: &config.path, memory: Some(config.memory), progress: shown };
        process.send(wire::line(&hello));
        let welcome: Welcome = match wait(&process, START)? {
            Some(line) => wire::read(&line)?.map_err(|refusal| TrialError::NoWorker(refusal.message))?,
            None => return Err(TrialError::NoWorker(last_words(&mut process, &config.program))),
        };
        if welcome.protocol != wire::PROTOCOL {
            return Err(TrialError::NoWorker(format!("it speaks seedgate.worker/{}, not /{}", welcome.protocol, wire::PROTOCOL)));
        }
        let file = File::open(&progress).map_err(TrialError::disk(&progress))?;
        Ok(Worker { process, welcome, progress: file, limit: config.limit, batches: 0, _scratch: scratch })
    }

    /// Who it is.
    pub fn welcome(&self) -> &Welcome {
        &self.welcome
    }

    /// Makes a property ready. The second answer is that the worker is gone.
    ///
    /// # Errors
    /// When it breaks the protocol.
    pub(super) fn open(&mut self, id: &str, arguments: &[String]) -> Result<(Result<u32, Refusal>, bool), TrialError> {
        self.process.send(wire::line(&wire::Open { op: "open", id, arguments }));
        match self.answer()? {
            Ok(line) => Ok((wire::read::<wire::Opened>(&line)?.map(|opened| opened.property), false)),
            Err(refusal) => Ok((Err(refusal), true)),
        }
    }

    /// Modules loaded since the last time, with their files; `None` when the worker is gone.
    ///
    /// # Errors
    /// When it breaks the protocol.
    pub(super) fn modules(&mut self) -> Result<Option<Vec<(String, String)>>, TrialError> {
        self.process.send(b"{\"op\":\"modules\"}\n".to_vec());
        let Ok(line) = self.answer()? else { return Ok(None) };
        let modules = wire::read::<wire::Modules>(&line)?;
        Ok(Some(modules.map_err(|refusal| TrialError::Protocol(refusal.message))?.modules))
    }

    /// The answer to what is no run: the line, or that the worker is gone or hangs.
    fn answer(&mut self) -> Result<Result<Vec<u8>, Refusal>, TrialError> {
        let start = Instant::now();
        while start.elapsed() < START {
            interrupt::check()?;
            match self.process.hear(TICK)? {
                Heard::Line(line) => return Ok(Ok(line)),
                Heard::Nothing => {}
                Heard::End => {
                    let says = format!("the worker ended while a module was imported: {}", self.process.ended());
                    return Ok(Err(Refusal::new("import_failed", with_words(says, &self.process.words()))));
                }
            }
        }
        self.process.kill();
        Ok(Err(Refusal::new("timeout", format!("a module was not imported within {} s", START.as_secs()))))
    }

    /// Sends a batch; its answer comes by [`Worker::done`], in the order of sending.
    pub(super) fn send(&mut self, property: u32, inputs: &[Input]) -> u64 {
        self.batches += 1;
        self.process.send(wire::run(property, self.batches, inputs));
        self.batches
    }

    /// The answer to the oldest batch that has none yet.
    ///
    /// # Errors
    /// When the worker breaks the protocol.
    pub(super) fn done(&mut self, batch: u64) -> Result<Done, TrialError> {
        let (mut seen, mut since) = (self.at(), Instant::now());
        loop {
            interrupt::check()?;
            match self.process.hear(TICK)? {
                Heard::Line(line) => return done(&line, batch),
                Heard::Nothing => {
                    let now = self.at();
                    if now != seen {
                        (seen, since) = (now, Instant::now());
                    } else if since.elapsed() >= self.limit {
                        self.process.kill();
                        let message = format!("one input took more than {}", said(self.limit));
                        return Ok(gone(seen, batch, Failure { kind: "hang".into(), place: None, message }));
                    }
                }
                Heard::End => {
                    let how = self.process.ended();
                    let message = with_words(format!("the worker ended: {how}"), &self.process.words());
                    return Ok(gone(self.at(), batch, Failure { kind: format!("crash ({how})"), place: None, message }));
                }
            }
        }
    }

    /// The batch and the input (from 1; 0 is none) that it says it is at.
    fn at(&self) -> (u32, u32) {
        let read = |at: u64| {
            let mut bytes = [0; 4];
            system::read_at(&self.progress, &mut bytes, at).map_or(0, |()| u32::from_ne_bytes(bytes))
        };
        (read(0), read(4))
    }
}

fn done(line: &[u8], batch: u64) -> Result<Done, TrialError> {
    let answer = wire::read::<wire::Batch>(line)?.map_err(|refusal| TrialError::Protocol(refusal.message))?;
    if answer.batch != batch {
        return Err(TrialError::Protocol(format!("an answer to batch {} where {batch} was asked", answer.batch)));
    }
    let is_over = answer.others.iter().any(|other| other.restart);
    let others = answer.others.into_iter().map(|other| Ok((other.input, other.outcome()?))).collect::<Result<_, TrialError>>()?;
    Ok(Done { ran: answer.ran, others, is_over, loaded: answer.loaded })
}

/// The batch in which a worker went: what came before the input it was at has passed, for it stops at the first that does not.
fn gone((at, input): (u32, u32), batch: u64, failure: Failure) -> Done {
    let is_here = u64::from(at) == batch & u64::from(u32::MAX) && input > 0;
    let (ran, outcome) = if is_here {
        (u64::from(input), Outcome::Fail(failure))
    } else {
        (1, Outcome::Error(Refusal::new("worker_ended", format!("between two inputs: {}", failure.message))))
    };
    Done { ran, others: vec![(ran - 1, outcome)], is_over: true, loaded: None }
}

fn wait(process: &Process, time: Duration) -> Result<Option<Vec<u8>>, TrialError> {
    let start = Instant::now();
    while start.elapsed() < time {
        interrupt::check()?;
        match process.hear(TICK)? {
            Heard::Line(line) => return Ok(Some(line)),
            Heard::Nothing => {}
            Heard::End => break,
        }
    }
    Ok(None)
}

fn last_words(process: &mut Process, program: &Path) -> String {
    process.close();
    let how = process.ended();
    with_words(format!("{} ended ({how})", program.display()), &process.words())
}

/// A sentence with the last line of what was said beside the protocol that tells a place, if any.
fn with_words(says: String, words: &str) -> String {
    let frame = words.lines().find(|line| line.trim_start().starts_with("File \"")).or_else(|| words.lines().last());
    match frame.map(str::trim) {
        Some(frame) if !frame.is_empty() => format!("{says}: {}", frame.chars().take(300).collect::<String>()),
        _ => says,
    }
}

fn said(time: Duration) -> String {
    if time < Duration::from_secs(1) { format!("{} ms", time.as_millis()) } else { format!("{} s", time.as_secs_f64()) }
}

fn text_of(path: &Path) -> Result<&str, TrialError> {
    path.to_str().ok_or_else(|| TrialError::input(path, "its path is not UTF-8, so no worker can be told of it"))
}
