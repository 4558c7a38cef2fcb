//! Owns a user's home for one test: private folders, a repository, and the end of every process started there.

use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::OsStringExt as _;
use std::os::unix::fs::{DirBuilderExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use seedgate::daemon::wire::{PROTOCOL, Status};
use seedgate::gate::facts::engine;

/// Nothing that is tested here takes this long unless it hangs.
pub(crate) const HANG: Duration = Duration::from_mins(1);

/// A home.
pub(crate) struct House {
    folder: tempfile::TempDir,
    /// The repository that commands run in.
    pub(crate) repo: PathBuf,
}

/// What a command said.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Said {
    pub(crate) out: String,
    pub(crate) code: Option<i32>,
}

impl House {
    /// A home with a repository whose index moves a fixture.
    pub(crate) fn new() -> Self {
        let house = House::empty();
        house.init("r");
        house
    }

    /// A home without a repository.
    pub(crate) fn empty() -> Self {
        let folder = tempfile::Builder::new().prefix("sgd").tempdir().unwrap();
        let repo = folder.path().canonicalize().unwrap().join("r");
        let house = House { folder, repo };
        for name in ["home", "run"] {
            fs::DirBuilder::new().mode(0o700).create(house.path(name)).unwrap();
        }
        house
    }

    /// Makes a repository that moves a fixture and weakens a test, staged.
    pub(crate) fn init(&self, name: &str) -> PathBuf {
        let repo = self.path(name);
        fs::create_dir_all(repo.join("tests/fixtures")).unwrap();
        fs::create_dir_all(repo.join("src")).unwrap();
        self.git_in(&repo, &["init", "-q", "-b", "main"]);
        fs::write(repo.join("src/app.py"), "def f(x):\n    return x * x\n").unwrap();
        fs::write(repo.join("tests/test_app.py"), "def test_two():\n    assert f(2) == 4\n    assert f(3) == 9\n").unwrap();
        fs::write(repo.join("tests/fixtures/data.json"), "{\"balance\": 10}\n").unwrap();
        self.git_in(&repo, &["add", "."]);
        self.git_in(&repo, &["commit", "-q", "--no-verify", "-m", "base"]);
        fs::write(repo.join("tests/fixtures/data.json"), "{\"balance\": 99}\n").unwrap();
        fs::write(repo.join("tests/test_app.py"), "def test_two():\n    assert f(2) == 4\n").unwrap();
        self.git_in(&repo, &["add", "."]);
        repo
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join(name)
    }

    /// The daemon's folder.
    pub(crate) fn run(&self) -> PathBuf {
        self.path("run/seedgate")
    }

    /// Makes the daemon's folder as the daemon would.
    pub(crate) fn make_run(&self) -> PathBuf {
        fs::DirBuilder::new().mode(0o700).recursive(true).create(self.run()).unwrap();
        self.run()
    }

    /// A file of this engine's daemon.
    pub(crate) fn file(&self, end: &str) -> PathBuf {
        self.run().join(format!("d{PROTOCOL}-{}.{end}", engine::short()))
    }

    /// A command in the hermetic environment of this home.
    pub(crate) fn command(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let mut command = Command::new(program);
        command.env_clear().env("PATH", std::env::var_os("PATH").unwrap_or_default()).env("LC_ALL", "C");
        command.env("HOME", self.path("home")).env("XDG_RUNTIME_DIR", self.path("run")).env("SEEDGATE_DAEMON", "on");
        command.env("GIT_CONFIG_NOSYSTEM", "1").env("GIT_CONFIG_GLOBAL", "/dev/null");
        for (name, value) in [("NAME", "T"), ("EMAIL", "t@example.invalid")] {
            command.env(format!("GIT_AUTHOR_{name}"), value).env(format!("GIT_COMMITTER_{name}"), value);
        }
        if self.repo.is_dir() {
            command.current_dir(&self.repo);
        }
        command.stdin(Stdio::null());
        command
    }

    pub(crate) fn git_in(&self, repo: &Path, args: &[&str]) -> String {
        let output = self.command("git").current_dir(repo).args(args).output().unwrap();
        assert!(output.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).trim_end().to_owned()
    }

    pub(crate) fn git(&self, args: &[&str]) -> String {
        self.git_in(&self.repo, args)
    }

    /// Our program.
    pub(crate) fn seedgate(&self, args: &[&str]) -> Command {
        let mut command = self.command(env!("CARGO_BIN_EXE_seedgate"));
        command.args(args);
        command
    }

    /// What `check` says; what it notes on standard error is checked by `noted`.
    pub(crate) fn check(&self) -> Said {
        said(&finish(&mut self.seedgate(&["check"])))
    }

    /// What `check` says without any help.
    pub(crate) fn cold(&self) -> Said {
        said(&finish(&mut self.seedgate(&["check", "--cold"])))
    }

    /// The lines `check` notes on standard error, after its verdict was found to be the cold one.
    pub(crate) fn noted(&self) -> Vec<String> {
        let output = finish(&mut self.seedgate(&["check"]));
        assert_eq!(said(&output), self.cold());
        String::from_utf8(output.stderr).unwrap().lines().map(str::to_owned).collect()
    }

    /// A daemon as a child of this test, answering.
    pub(crate) fn serve(&self, idle: Duration) -> Child {
        let child = self.serve_quietly(idle);
        self.wait_for("the daemon", || self.status().is_some());
        child
    }

    /// The same, not yet answering.
    pub(crate) fn serve_quietly(&self, idle: Duration) -> Child {
        let mut command = self.seedgate(&["daemon", "serve"]);
        command.env("SEEDGATE_DAEMON_IDLE_MS", idle.as_millis().to_string()).stdout(Stdio::null()).stderr(Stdio::null());
        command.spawn().unwrap()
    }

    /// How the daemon is.
    pub(crate) fn status(&self) -> Option<Status> {
        let output = finish(&mut self.seedgate(&["daemon", "status", "--json"]));
        let value: serde_json::Value = serde_json::from_slice(&output.stdout).ok()?;
        serde_json::from_value(value["daemon"].clone()).ok()
    }

    /// Waits for something that will be.
    pub(crate) fn wait_for(&self, what: &str, done: impl Fn() -> bool) {
        let end = Instant::now() + HANG;
        while !done() {
            assert!(Instant::now() < end, "{what} never came; log:\n{}", self.log());
            sleep(Duration::from_millis(10));
        }
    }

    pub(crate) fn log(&self) -> String {
        fs::read_to_string(self.file("log")).unwrap_or_default()
    }

    /// Processes that were started in this home and still run.
    pub(crate) fn processes(&self) -> Vec<u32> {
        let mark = [b"HOME=", self.path("home").into_os_string().into_vec().as_slice()].concat();
        let of = |pid: &u32| fs::read(format!("/proc/{pid}/environ")).is_ok_and(|all| all.split(|b| *b == 0).any(|one| one == mark));
        let pids = fs::read_dir("/proc").unwrap().filter_map(|entry| entry.unwrap().file_name().to_str()?.parse().ok());
        pids.filter(of).filter(|pid| *pid != std::process::id()).collect()
    }

    /// Daemons among them.
    pub(crate) fn daemons(&self) -> Vec<u32> {
        let serves =
            |pid: &u32| fs::read(format!("/proc/{pid}/cmdline")).is_ok_and(|line| line.windows(13).any(|w| w == b"daemon\0serve\0"));
        self.processes().into_iter().filter(serves).collect()
    }
}

impl Drop for House {
    fn drop(&mut self) {
        for pid in self.processes() {
            signal(pid, "CONT");
            signal(pid, "KILL");
        }
        let _ = fs::set_permissions(self.folder.path(), fs::Permissions::from_mode(0o700));
    }
}

/// Sends a signal to one process.
pub(crate) fn signal(pid: u32, name: &str) {
    let _ = Command::new("kill").args(["-s", name, &pid.to_string()]).stderr(Stdio::null()).status();
}

/// Runs a command to its end; one that hangs is killed and fails the test.
pub(crate) fn finish(command: &mut Command) -> Output {
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let pid = child.id();
    let (ended, watched) = std::sync::mpsc::channel::<()>();
    let watch = std::thread::spawn(move || {
        let hung = watched.recv_timeout(HANG) == Err(std::sync::mpsc::RecvTimeoutError::Timeout);
        if hung {
            signal(pid, "KILL");
        }
        hung
    });
    let output = child.wait_with_output().unwrap();
    drop(ended);
    assert!(!watch.join().unwrap(), "{command:?} hung");
    output
}

pub(crate) fn said(output: &Output) -> Said {
    Said { out: String::from_utf8(output.stdout.clone()).unwrap(), code: output.status.code() }
}

/// A name that is not UTF-8.
pub(crate) fn odd_name() -> OsString {
    OsString::from_vec(b"caf\xe9 \n'x".to_vec())
}

/// Ends a child and gives its exit code.
pub(crate) fn end(mut child: Child, with: &str) -> Option<i32> {
    signal(child.id(), with);
    child.wait().unwrap().code()
}
