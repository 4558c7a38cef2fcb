//! Owns scratch repositories: real git in a temporary folder, deaf to the machine's own configuration.

use std::ffi::OsStr;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use seedgate::repo::{Environment, Repo};
use seedgate::tree::Oid;

/// A folder that goes away with its repositories.
pub(crate) struct Sandbox {
    folder: tempfile::TempDir,
    /// The folder of the repository that commands run in.
    pub(crate) top: PathBuf,
}

impl Sandbox {
    /// A repository made with `git init` and these arguments.
    pub(crate) fn new(init: &[&str]) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let top = folder.path().canonicalize().expect("a real path").join("r");
        let sandbox = Sandbox { folder, top };
        std::fs::create_dir_all(&sandbox.top).expect("a folder");
        sandbox.git([&["init", "-q", "-b", "main"], init].concat());
        sandbox
    }

    /// A folder beside the repository.
    pub(crate) fn beside(&self, name: &str) -> PathBuf {
        self.folder.path().canonicalize().expect("a real path").join(name)
    }

    /// Works in another folder from now on.
    pub(crate) fn at(mut self, top: PathBuf) -> Self {
        self.top = top;
        self
    }

    /// A command with the hermetic environment.
    pub(crate) fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("GIT_")) {
            command.env_remove(name);
        }
        command.current_dir(&self.top).env("HOME", self.folder.path()).env("LC_ALL", "C").stdin(Stdio::null());
        command.env_remove("XDG_CONFIG_HOME").envs(settings());
        command
    }

    /// Runs a program, which must succeed.
    pub(crate) fn run(&self, program: &str, arguments: &[&str]) {
        let status = self.command(program).args(arguments).status().expect("a process");
        assert!(status.success(), "{program} {arguments:?}");
    }

    /// Runs git, which must succeed, and gives what it printed.
    pub(crate) fn git<S: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = S>) -> Vec<u8> {
        self.git_with(arguments, &[], b"")
    }

    /// Runs git with more environment and standard input.
    pub(crate) fn git_with<S: AsRef<OsStr>>(
        &self,
        arguments: impl IntoIterator<Item = S>,
        environment: &[(&str, &OsStr)],
        input: &[u8],
    ) -> Vec<u8> {
        let mut command = self.command("git");
        command.args(arguments).envs(environment.iter().copied());
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("git");
        child.stdin.take().expect("a pipe").write_all(input).expect("git reads");
        let output = child.wait_with_output().expect("git ends");
        assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
        output.stdout
    }

    /// The same, as one line of text.
    pub(crate) fn line<S: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = S>) -> String {
        String::from_utf8(self.git(arguments)).expect("text").trim_end().to_owned()
    }

    /// An object id that git prints.
    pub(crate) fn oid<S: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = S>) -> Oid {
        let line = self.line(arguments);
        Oid::from_hex(&line).unwrap_or_else(|| panic!("{line} is an id"))
    }

    /// Writes a file, and its folders.
    pub(crate) fn write(&self, path: impl AsRef<Path>, bytes: impl AsRef<[u8]>) {
        let file = self.top.join(path);
        std::fs::create_dir_all(file.parent().expect("a folder")).expect("folders");
        std::fs::write(file, bytes).expect("a written file");
    }

    /// Commits everything in the work tree.
    pub(crate) fn commit_all(&self, message: &str) -> Oid {
        self.git(["add", "-A"]);
        self.git(["commit", "-q", "--allow-empty", "-m", message]);
        self.oid(["rev-parse", "HEAD"])
    }

    /// What git would tell a process here.
    pub(crate) fn environment(&self) -> Environment {
        Environment { cwd: self.top.clone(), git: settings().map(|(name, value)| (name.to_owned(), value.into())).to_vec() }
    }

    /// The same, and more variables.
    pub(crate) fn told(&self, variables: &[(&str, &OsStr)]) -> Environment {
        let mut environment = self.environment();
        environment.git.extend(variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())));
        environment
    }

    /// The repository, opened.
    pub(crate) fn open(&self) -> Repo {
        Repo::open(&self.environment()).expect("a repository")
    }
}

fn settings() -> [(&'static str, &'static str); 7] {
    [
        ("GIT_CONFIG_GLOBAL", "/dev/null"),
        ("GIT_CONFIG_NOSYSTEM", "1"),
        ("GIT_AUTHOR_NAME", "Author"),
        ("GIT_AUTHOR_EMAIL", "author@example.invalid"),
        ("GIT_COMMITTER_NAME", "Committer"),
        ("GIT_COMMITTER_EMAIL", "committer@example.invalid"),
        ("GIT_COMMITTER_DATE", "1700000000 +0100"),
    ]
}
