//! Owns git's own programs as children: which git, in what environment, for how long.

use std::ffi::{OsStr, OsString};
use std::io::{self, Read, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::time::Duration;

use super::RepoError;
use super::environment::{Environment, is_git};
use super::native;
use super::open::Place;

/// Git says nothing for so long only when it hangs (a dead remote of a partial clone, a dead disk).
const SILENCE: Duration = Duration::from_mins(5);
/// How long the last words of an ended child may take.
const MOMENT: Duration = Duration::from_millis(500);
/// What is kept of a child's standard error.
const WORDS: usize = 4096;
/// How much of a pipe is read at once.
const CHUNK: usize = 64 * 1024;

/// Settings that could start a program, page, or write while git only reads for us.
const QUIET: &[&str] = &[
    "--no-pager",
    "-c",
    "core.fsmonitor=false",
    "-c",
    "core.hooksPath=/dev/null",
    "-c",
    "core.untrackedCache=false",
    "-c",
    "core.askPass=",
    "-c",
    "protocol.ext.allow=never",
    "-c",
    "log.showSignature=false",
    "-c",
    "maintenance.auto=false",
    "-c",
    "gc.auto=0",
];

/// What every child is told: real objects, no lock, no prompt, plain English, exact paths.
const FORCED: &[(&str, &str)] = &[
    ("LC_ALL", "C"),
    ("LANGUAGE", ""),
    ("GIT_NO_REPLACE_OBJECTS", "1"),
    ("GIT_GRAFT_FILE", "/dev/null"),
    ("GIT_OPTIONAL_LOCKS", "0"),
    ("GIT_LITERAL_PATHSPECS", "1"),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("GIT_ATTR_NOSYSTEM", "1"),
    ("GIT_ADVICE", "0"),
];

/// How to start git for one repository.
#[derive(Clone, Debug)]
pub(super) struct Plumbing {
    program: PathBuf,
    directory: PathBuf,
    variables: Vec<(OsString, OsString)>,
}

/// What a finished child said.
pub(super) struct Answer {
    code: Option<i32>,
    stdout: Vec<u8>,
    stderr: String,
}

impl Answer {
    /// The output, when git was content.
    pub(super) fn success(self) -> Result<Vec<u8>, RepoError> {
        if self.code == Some(0) { Ok(self.stdout) } else { Err(self.refusal()) }
    }

    /// The output, or `None` when git said no (exit 1) without a word of trouble.
    pub(super) fn found(self) -> Result<Option<Vec<u8>>, RepoError> {
        match self.code {
            Some(0) => Ok(Some(self.stdout)),
            Some(1) => Ok(None),
            _ => Err(self.refusal()),
        }
    }

    fn refusal(&self) -> RepoError {
        let words = self.stderr.trim().trim_start_matches("fatal: ");
        RepoError::Git(match (words, self.code) {
            ("", Some(code)) => format!("git ended with {code}"),
            ("", None) => "git was killed".into(),
            (words, _) => words.to_owned(),
        })
    }
}

impl Plumbing {
    /// Finds git, for the repository that the environment names.
    pub(super) fn find(environment: &Environment) -> Result<Self, RepoError> {
        let program = program(std::env::var_os("PATH").as_deref(), &environment.cwd).ok_or(RepoError::NoGit)?;
        let variables = environment.kept().map(|(name, value)| (name.into(), value)).collect();
        Ok(Plumbing { program, directory: environment.cwd.clone(), variables })
    }

    /// The same git, told exactly which repository, work tree and index it works on.
    pub(super) fn settled(mut self, place: &Place) -> Self {
        let mut set = |name: &str, value: &Path| {
            self.variables.retain(|(known, _)| known != name);
            self.variables.push((name.into(), value.into()));
        };
        set("GIT_DIR", &place.git_dir);
        set("GIT_INDEX_FILE", &place.index);
        if let Some(top) = &place.top {
            set("GIT_WORK_TREE", top);
        }
        self.directory.clone_from(&place.git_dir);
        self
    }

    /// The same git, started in another folder.
    pub(super) fn at(mut self, folder: &Path) -> Self {
        folder.clone_into(&mut self.directory);
        self
    }

    /// The same git with one variable more.
    pub(super) fn with(mut self, name: &str, value: impl Into<OsString>) -> Self {
        self.variables.push((name.into(), value.into()));
        self
    }

    /// Runs git to its end.
    pub(super) fn run<S: AsRef<OsStr>>(&self, arguments: &[S], input: Option<&[u8]>) -> Result<Answer, RepoError> {
        let mut running = self.start(arguments, input.is_some())?;
        if let (Some(bytes), Some(mut stdin)) = (input, running.child.stdin.take()) {
            // A git that ends before it has read everything says why itself.
            let _ = stdin.write_all(bytes);
        }
        let mut stdout = Vec::new();
        running.stdout.read_to_end(&mut stdout).map_err(|error| running.abandon(&error))?;
        let status = running.child.wait().map_err(|error| RepoError::Git(error.to_string()))?;
        let stderr = running.words();
        Ok(Answer { code: status.code(), stdout, stderr })
    }

    /// Starts git.
    pub(super) fn start<S: AsRef<OsStr>>(&self, arguments: &[S], input: bool) -> Result<Running, RepoError> {
        let mut command = self.command();
        command.args(arguments).stdin(if input { Stdio::piped() } else { Stdio::null() });
        let mut child = command.spawn().map_err(|error| RepoError::Git(format!("{}: {error}", self.program.display())))?;
        let stdout = Patient::of(child.stdout.take(), usize::MAX);
        let stderr = Patient::of(child.stderr.take(), WORDS);
        Ok(Running { child, stdout, stderr })
    }

    fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        for (name, _) in std::env::vars_os().filter(|(name, _)| is_git(name)) {
            command.env_remove(name);
        }
        command.current_dir(&self.directory).args(QUIET).stdout(Stdio::piped()).stderr(Stdio::piped());
        command.envs(self.variables.iter().map(|(name, value)| (name, value))).envs(FORCED.iter().copied());
        command
    }
}

/// The first git on PATH. Relative entries and folders inside the working directory are left out: they may belong to the judged repository.
pub(super) fn program(path: Option<&OsStr>, cwd: &Path) -> Option<PathBuf> {
    let runs = |file: &PathBuf| file.metadata().is_ok_and(|meta| native::is_program(&meta));
    let folders = std::env::split_paths(path?).filter(|folder| folder.is_absolute() && !folder.starts_with(cwd));
    folders.map(|folder| folder.join(format!("git{}", std::env::consts::EXE_SUFFIX))).find(runs)
}

/// A child at work. Dropping it ends it.
pub(super) struct Running {
    /// The process.
    pub(super) child: Child,
    /// Its answers.
    pub(super) stdout: Patient,
    stderr: Patient,
}

impl Running {
    /// What it said on standard error. It has ended, but something that it started may hold the pipe open, so this waits only a moment for more.
    fn words(&mut self) -> String {
        let mut words = Vec::new();
        while let Ok(Ok(chunk)) = self.stderr.chunks.recv_timeout(MOMENT) {
            words.extend(chunk);
        }
        String::from_utf8_lossy(&words).into_owned()
    }

    /// Ends it and says what went wrong.
    pub(super) fn abandon(&mut self, error: &io::Error) -> RepoError {
        let _ = self.child.kill();
        if error.kind() == io::ErrorKind::TimedOut {
            return RepoError::Git(format!("git gave no answer for {} seconds", SILENCE.as_secs()));
        }
        RepoError::Git(match self.words().trim() {
            "" => format!("git: {error}"),
            words => words.to_owned(),
        })
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A pipe read by a thread of its own, so that waiting for it can end.
pub(super) struct Patient {
    chunks: Receiver<io::Result<Vec<u8>>>,
    chunk: Vec<u8>,
    at: usize,
}

impl Patient {
    /// Starts reading; what comes after `keep` bytes is read and dropped, so that the writer never blocks on it.
    fn of<R: Read + Send + 'static>(pipe: Option<R>, keep: usize) -> Self {
        let (sender, chunks) = sync_channel(4);
        if let Some(pipe) = pipe {
            std::thread::spawn(move || forward(pipe, keep, &sender));
        }
        Patient { chunks, chunk: Vec::new(), at: 0 }
    }
}

fn forward<R: Read>(mut pipe: R, keep: usize, to: &SyncSender<io::Result<Vec<u8>>>) {
    let mut sent = 0;
    loop {
        let mut chunk = vec![0; CHUNK];
        match pipe.read(&mut chunk) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => {
                let _ = to.send(Err(error));
                return;
            }
            Ok(0) => return,
            Ok(_) if sent >= keep => {}
            Ok(size) => {
                chunk.truncate(size);
                sent += size;
                if to.send(Ok(chunk)).is_err() {
                    return;
                }
            }
        }
    }
}

impl Read for Patient {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if self.at == self.chunk.len() {
            match self.chunks.recv_timeout(SILENCE) {
                Ok(chunk) => (self.chunk, self.at) = (chunk?, 0),
                Err(RecvTimeoutError::Disconnected) => return Ok(0),
                Err(RecvTimeoutError::Timeout) => return Err(io::ErrorKind::TimedOut.into()),
            }
        }
        let size = into.len().min(self.chunk.len() - self.at);
        into[..size].copy_from_slice(&self.chunk[self.at..self.at + size]);
        self.at += size;
        Ok(size)
    }
}
