//! Owns asking git about places: a command, its standard output, its first line of error.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use super::HookError;
use crate::repo::environment::{Environment, is_git};
use crate::repo::{RepoError, native, plumbing};

/// Where git is asked and what it is told. Unlike the git that reads objects it sees the repository's own `core.hooksPath`.
pub(super) struct Git {
    program: PathBuf,
    cwd: PathBuf,
    variables: Vec<(String, OsString)>,
}

impl Git {
    /// Git in a folder, told of an environment only what tells where things are and whose configuration counts.
    pub(super) fn new(cwd: &Path, environment: &Environment) -> Result<Self, HookError> {
        let program = plumbing::program(std::env::var_os("PATH").as_deref(), cwd).ok_or(RepoError::NoGit)?;
        let variables = environment.kept().map(|(name, value)| (name.to_owned(), value)).collect();
        Ok(Git { program, cwd: cwd.to_owned(), variables })
    }

    /// The same, with one more variable or another value.
    pub(super) fn with(mut self, name: &str, value: &Path) -> Self {
        self.variables.retain(|(known, _)| known != name);
        self.variables.push((name.to_owned(), value.into()));
        self
    }

    /// Standard output of a command that must succeed.
    pub(super) fn output(&self, arguments: &[&OsStr]) -> Result<Vec<u8>, HookError> {
        let done = self.run(arguments)?;
        if done.status.success() { Ok(done.stdout) } else { Err(failure(arguments, &done)) }
    }

    /// Standard output of a command whose exit 1 means "none".
    pub(super) fn optional(&self, arguments: &[&OsStr]) -> Result<Option<Vec<u8>>, HookError> {
        let done = self.run(arguments)?;
        match done.status.code() {
            Some(0) => Ok(Some(done.stdout)),
            Some(1) => Ok(None),
            _ => Err(failure(arguments, &done)),
        }
    }

    /// The path that a command prints, made absolute.
    pub(super) fn path(&self, arguments: &[&str]) -> Result<PathBuf, HookError> {
        let arguments: Vec<&OsStr> = arguments.iter().map(OsStr::new).collect();
        let mut bytes = self.output(&arguments)?;
        if bytes.last() == Some(&b'\n') {
            bytes.pop();
        }
        Ok(self.cwd.join(path_of(bytes)))
    }

    fn run(&self, arguments: &[&OsStr]) -> Result<Output, HookError> {
        let mut git = Command::new(&self.program);
        for (name, _) in std::env::vars_os().filter(|(name, _)| is_git(name)) {
            git.env_remove(name);
        }
        git.envs(self.variables.iter().map(|(name, value)| (name, value)));
        git.env("LC_ALL", "C").env("GIT_OPTIONAL_LOCKS", "0").env("GIT_TERMINAL_PROMPT", "0");
        git.current_dir(&self.cwd).stdin(Stdio::null());
        git.args(["-c", "core.fsmonitor=false"]).args(arguments).output().map_err(HookError::io("start", &self.program))
    }
}

/// A path from the bytes that git printed.
pub(super) fn path_of(bytes: Vec<u8>) -> PathBuf {
    PathBuf::from(native::text(bytes))
}

fn failure(arguments: &[&OsStr], done: &Output) -> HookError {
    let words: Vec<_> = arguments.iter().map(|word| word.to_string_lossy()).collect();
    let text = String::from_utf8_lossy(&done.stderr);
    let says = text.lines().next().unwrap_or("failed without a word").trim_start_matches("fatal: ");
    HookError::Git { command: words.join(" "), says: says.to_owned() }
}
