//! Owns one child process that talks in lines: its start in a clean environment, its pipes, and the end of it and of all it started.

use std::collections::VecDeque;
use std::env;
use std::ffi::OsString;
use std::fs;
use std::io::{self, BufRead as _, BufReader, Read, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use crate::trial::TrialError;
use crate::trial::system::{self, Group};

/// Variables of the user that a child keeps: where programs are, and which of several Pythons is meant.
const KEPT: [&str; 5] = ["LD_LIBRARY_PATH", "PYENV_ROOT", "PYENV_VERSION", "SYSTEMROOT", "NIX_LD_LIBRARY_PATH"];

/// What every child is told, so that two runs do the same.
const TOLD: [(&str, &str); 6] = [
    ("LC_ALL", "C.UTF-8"),
    ("TZ", "UTC"),
    ("PYTHONHASHSEED", "0"),
    ("PYTHONUTF8", "1"),
    ("PYTHONDONTWRITEBYTECODE", "1"),
    ("NO_COLOR", "1"),
];

/// Longest line that is read.
const LINE: u64 = 64 << 20;
/// What is kept of what it says beside the protocol.
const WORDS: usize = 8192;
/// How long a child may take to end once its work is done.
const MOMENT: Duration = Duration::from_secs(2);

/// A child that is ended, with its group, when this value goes.
pub struct Process {
    child: Child,
    group: Option<Group>,
    orders: Option<Sender<Vec<u8>>>,
    lines: Receiver<io::Result<Vec<u8>>>,
    words: Arc<Mutex<VecDeque<u8>>>,
}

/// What came of a wait for a line.
pub enum Heard {
    /// A line, without its end.
    Line(Vec<u8>),
    /// Nothing for so long.
    Nothing,
    /// There will be no more.
    End,
}

impl Process {
    /// Starts a program in `folder`, with `scratch` as its home and its place for temporary files.
    ///
    /// # Errors
    /// [`TrialError::NoWorker`] when it cannot be started.
    pub fn start(program: &Path, arguments: &[OsString], folder: &Path, scratch: &Path) -> Result<Self, TrialError> {
        let mut command = Command::new(program);
        command.args(arguments).current_dir(folder).env_clear().envs(TOLD);
        command.envs(KEPT.iter().filter_map(|name| Some((*name, env::var_os(name)?))));
        command.env("PATH", path()).env("HOME", scratch).env("TMPDIR", scratch);
        Self::of(command, program)
    }

    /// Starts a command as it stands, in a group of its own.
    ///
    /// # Errors
    /// [`TrialError::NoWorker`] when it cannot be started.
    pub fn of(mut command: Command, program: &Path) -> Result<Self, TrialError> {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let started = system::alone(&mut command).and_then(|()| command.spawn());
        let mut child = started.map_err(|error| TrialError::NoWorker(format!("{} cannot be started: {error}", program.display())))?;
        let (orders, lines, words) = (channel(), channel(), Arc::new(Mutex::new(VecDeque::new())));
        if let (Some(mut input), Some(output), Some(errors)) = (child.stdin.take(), child.stdout.take(), child.stderr.take()) {
            let (asked, heard, kept) = (orders.1, lines.0, Arc::clone(&words));
            // A hung child reads nothing: only this thread may wait for it.
            thread::spawn(move || asked.iter().all(|line: Vec<u8>| input.write_all(&line).is_ok()));
            thread::spawn(move || hear(output, &heard));
            thread::spawn(move || keep(errors, &kept));
        }
        let group = Group::of(&child);
        Ok(Process { child, group, orders: Some(orders.0), lines: lines.1, words })
    }

    /// Sends bytes, without waiting for them to be read. Whether anybody reads them shows in what is heard.
    pub fn send(&self, bytes: Vec<u8>) {
        if let Some(orders) = &self.orders {
            let _ = orders.send(bytes);
        }
    }

    /// Says that nothing more will be sent.
    pub fn close(&mut self) {
        self.orders = None;
    }

    /// The next line, if one comes in time.
    ///
    /// # Errors
    /// When the line is too long or the pipe breaks.
    pub fn hear(&self, time: Duration) -> Result<Heard, TrialError> {
        match self.lines.recv_timeout(time) {
            Ok(Ok(line)) => Ok(Heard::Line(line)),
            Ok(Err(error)) => Err(TrialError::Protocol(error.to_string())),
            Err(RecvTimeoutError::Timeout) => Ok(Heard::Nothing),
            Err(RecvTimeoutError::Disconnected) => Ok(Heard::End),
        }
    }

    /// How it ended, once it says nothing more; it is ended if it does not end by itself.
    pub fn ended(&mut self) -> String {
        let end = Instant::now() + MOMENT;
        while Instant::now() < end {
            if let Ok(Some(status)) = self.child.try_wait() {
                return how(status);
            }
            thread::sleep(Duration::from_millis(2));
        }
        self.kill();
        "closed output".to_owned()
    }

    /// The end of what it said beside the protocol.
    pub fn words(&self) -> String {
        // The last words of an ended child may still be on their way.
        let end = Instant::now() + Duration::from_millis(200);
        while Arc::strong_count(&self.words) > 1 && Instant::now() < end {
            thread::sleep(Duration::from_millis(2));
        }
        let words = self.words.lock().unwrap_or_else(PoisonError::into_inner);
        let bytes: Vec<u8> = words.iter().copied().collect();
        String::from_utf8_lossy(&bytes).trim().to_owned()
    }

    /// Ends it and everything in its group.
    pub fn kill(&mut self) {
        self.orders = None;
        // While it is not waited for, nobody else can have its number.
        if let Some(group) = self.group.take() {
            group.kill();
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.kill();
    }
}

fn how(status: ExitStatus) -> String {
    match (system::signal(status), status.code()) {
        (Some(signal), _) => format!("signal {signal}{}", named(signal)),
        (None, Some(code)) => format!("exit {code}"),
        _ => "no status".to_owned(),
    }
}

fn named(signal: i32) -> &'static str {
    match signal {
        4 => ", SIGILL",
        6 => ", SIGABRT",
        7 => ", SIGBUS",
        8 => ", SIGFPE",
        9 => ", SIGKILL",
        11 => ", SIGSEGV",
        15 => ", SIGTERM",
        _ => "",
    }
}

fn hear(output: impl Read, heard: &Sender<io::Result<Vec<u8>>>) {
    let mut reader = BufReader::with_capacity(1 << 16, output);
    loop {
        let mut line = Vec::new();
        let told = match reader.by_ref().take(LINE).read_until(b'\n', &mut line) {
            Ok(0) => return,
            Ok(_) if line.last() == Some(&b'\n') => {
                line.pop();
                Ok(line)
            }
            // The last line of one that died in the middle of it.
            Ok(_) if line.len() < usize::try_from(LINE).unwrap_or(usize::MAX) => return,
            Ok(_) => Err(io::Error::other(format!("a line of more than {LINE} bytes"))),
            Err(error) => Err(error),
        };
        let is_over = told.is_err();
        if heard.send(told).is_err() || is_over {
            return;
        }
    }
}

fn keep(mut errors: impl Read, kept: &Arc<Mutex<VecDeque<u8>>>) {
    let mut piece = [0; 4096];
    while let Ok(read @ 1..) = errors.read(&mut piece) {
        let mut words = kept.lock().unwrap_or_else(PoisonError::into_inner);
        words.extend(&piece[..read]);
        let many = words.len().saturating_sub(WORDS);
        words.drain(..many);
    }
}

/// The user's PATH without folders that would be looked for inside the tree.
fn path() -> OsString {
    let all = env::var_os("PATH").unwrap_or_default();
    env::join_paths(env::split_paths(&all).filter(|folder| folder.is_absolute())).unwrap_or_default()
}

/// The program of a name (on PATH) or of a path (from `top`).
///
/// # Errors
/// [`TrialError::NoWorker`] when there is none.
pub fn find(name: &str, top: &Path) -> Result<PathBuf, TrialError> {
    let runs = |file: &PathBuf| fs::metadata(file).is_ok_and(|found| system::is_program(&found));
    if name.contains('/') {
        let file = top.join(name);
        return if runs(&file) { Ok(file) } else { Err(TrialError::NoWorker(format!("{} is no program", file.display()))) };
    }
    let found = env::split_paths(&path()).map(|folder| folder.join(name)).find(runs);
    found.ok_or_else(|| {
        TrialError::NoWorker(format!("there is no {name} on PATH; name an interpreter with --python, or in [worker] python"))
    })
}
