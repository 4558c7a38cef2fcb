//! Owns a scratch repository: real git and real hooks in a folder of its own, deaf to the user's and the machine's configuration.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::{RepoError, plumbing};

/// What every command there is told, so that two runs print the same.
const TOLD: [(&str, &str); 11] = [
    ("GIT_CONFIG_GLOBAL", "/dev/null"),
    ("GIT_CONFIG_NOSYSTEM", "1"),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("GIT_AUTHOR_NAME", "Ada"),
    ("GIT_AUTHOR_EMAIL", "ada@example.org"),
    ("GIT_AUTHOR_DATE", "1700000000 +0000"),
    ("GIT_COMMITTER_NAME", "Ada"),
    ("GIT_COMMITTER_EMAIL", "ada@example.org"),
    ("GIT_COMMITTER_DATE", "1700000000 +0000"),
    ("LC_ALL", "C.UTF-8"),
    ("NO_COLOR", "1"),
];

/// A repository that goes away with this value, unless a folder for it was given.
pub struct Scratch {
    top: PathBuf,
    home: PathBuf,
    git: PathBuf,
    program: PathBuf,
    _folder: Option<tempfile::TempDir>,
}

/// What a command there ended with and said, on either stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ran {
    /// Its exit code; `None` when it was killed.
    pub code: Option<i32>,
    /// Standard error, then standard output.
    pub text: String,
}

impl Scratch {
    /// An empty repository, in a new temporary folder or in a new one that stays. `program` answers to the name `seedgate` there.
    ///
    /// # Errors
    /// When the folder is there already and not empty, or git cannot be started.
    pub fn new(program: &Path, keep: Option<&Path>) -> Result<Self, RepoError> {
        let (root, folder) = if let Some(keep) = keep {
            fs::create_dir_all(keep).map_err(wrong("create", keep))?;
            if fs::read_dir(keep).map_err(wrong("list", keep))?.next().is_some() {
                return Err(RepoError::Scratch(format!("{} is not empty", keep.display())));
            }
            (keep.canonicalize().map_err(wrong("find", keep))?, None)
        } else {
            let folder = tempfile::Builder::new().prefix("seedgate-demo-").tempdir();
            let folder = folder.map_err(|error| RepoError::Scratch(format!("no temporary folder: {error}")))?;
            (folder.path().canonicalize().map_err(wrong("find", folder.path()))?, Some(folder))
        };
        let git = plumbing::program(std::env::var_os("PATH").as_deref(), &root).ok_or(RepoError::NoGit)?;
        let (top, home) = (root.join("project"), root.join("home"));
        for path in [&top, &home] {
            fs::create_dir(path).map_err(wrong("create", path))?;
        }
        let scratch = Scratch { top, home, git, program: program.to_owned(), _folder: folder };
        let made = scratch.run("git", &["init", "--quiet", "--initial-branch=main"])?;
        if made.code == Some(0) { Ok(scratch) } else { Err(RepoError::Scratch(made.text)) }
    }

    /// Root of its work tree.
    pub fn top(&self) -> &Path {
        &self.top
    }

    /// Writes a file, and its folders.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn write(&self, path: &str, text: &str) -> Result<(), RepoError> {
        let file = self.top.join(path);
        let folder = file.parent().unwrap_or(&self.top);
        fs::create_dir_all(folder).map_err(wrong("create", folder))?;
        fs::write(&file, text).map_err(wrong("write", &file))
    }

    /// Replaces text in every file of a folder that holds it. Answers whether one did.
    ///
    /// # Errors
    /// When a file cannot be read or written.
    pub fn replace(&self, folder: &str, old: &str, new: &str) -> Result<bool, RepoError> {
        let folder = self.top.join(folder);
        let mut replaced = false;
        for entry in fs::read_dir(&folder).map_err(wrong("list", &folder))? {
            let file = entry.map_err(wrong("list", &folder))?.path();
            let text = fs::read_to_string(&file).map_err(wrong("read", &file))?;
            if text.contains(old) {
                fs::write(&file, text.replace(old, new)).map_err(wrong("write", &file))?;
                replaced = true;
            }
        }
        Ok(replaced)
    }

    /// Runs `git` or `seedgate` there, to its end.
    ///
    /// # Errors
    /// When it cannot be started.
    pub fn run(&self, program: &str, arguments: &[&str]) -> Result<Ran, RepoError> {
        let file = if program == "git" { &self.git } else { &self.program };
        let mut command = Command::new(file);
        command.args(arguments).current_dir(&self.top).stdin(Stdio::null());
        command.env_clear().envs(std::env::var_os("PATH").map(|path| ("PATH", path))).envs(TOLD);
        // No daemon, so nothing is left when the folder is gone.
        command.env("HOME", &self.home).env("XDG_CACHE_HOME", self.home.join("cache")).env("SEEDGATE_DAEMON", "off");
        let done = command.output().map_err(wrong("start", file))?;
        let text = [done.stderr, done.stdout].map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).concat();
        Ok(Ran { code: done.status.code(), text })
    }
}

fn wrong(doing: &str, path: &Path) -> impl FnOnce(io::Error) -> RepoError {
    let what = format!("cannot {doing} {}", path.display());
    move |error| RepoError::Scratch(format!("{what}: {error}"))
}
