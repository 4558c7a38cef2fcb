//! Owns the start of a test command: its environment, its plugin, its keeper, and its end.

use std::collections::VecDeque;
use std::env;
use std::ffi::OsString;
use std::fs;
use std::io::{Read, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use crate::digest;
use crate::trial::TrialError;
use crate::trial::suite::Tests;
use crate::trial::suite::keeper::{COMMAND, GOODBYE};
use crate::trial::suite::report::{Order, Report, Sent};
use crate::trial::system::{self, Door};

/// The pytest plugin that is shipped.
pub const PLUGIN: &str = include_str!("../../../templates/python/seedgate_report.py");

/// Its module.
const MODULE: &str = "seedgate_report";

/// What is kept of what a command prints.
const OUTPUT: usize = 16 << 10;

/// How long the keeper may take to end everything.
const MOMENT: Duration = Duration::from_secs(3);

static STARTED: AtomicU64 = AtomicU64::new(0);

/// How a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// With this code, as a shell tells it: 128 and the number for a signal.
    Exit(i32),
    /// By us, when its time was over.
    Limit,
}

/// A command that runs. It ends, with all that it started, when this value goes.
pub struct Running {
    child: Child,
    control: Option<ChildStdin>,
    output: Arc<Mutex<VecDeque<u8>>>,
    report: PathBuf,
    nonce: String,
    listener: Option<Door>,
    scratch: tempfile::TempDir,
}

impl Running {
    /// Starts a command. `doomed` are folders that go with it when this process is killed.
    ///
    /// # Errors
    /// When the disk or the system refuses.
    pub fn start(tests: &Tests, tree: &Path, order: &Order, doomed: &[&Path]) -> Result<Self, TrialError> {
        let scratch = tempfile::Builder::new().prefix("seedgate-").tempdir().map_err(TrialError::disk("a temporary folder"))?;
        let here = scratch.path();
        for name in ["home", "tmp", "plugin"] {
            fs::create_dir(here.join(name)).map_err(TrialError::disk(here))?;
        }
        let plugin = here.join("plugin").join(format!("{MODULE}.py"));
        fs::write(&plugin, PLUGIN).map_err(TrialError::disk(&plugin))?;
        let (report, nonce) = (here.join("report.json"), nonce());
        let socket = here.join("s");
        // Without a socket (its path may be too long for one) each mutant is a run of its own.
        let listener = if order.serve { Door::bind(&socket).ok() } else { None };
        let serve = if listener.is_some() { Some(text(&socket)?) } else { None };
        let sent = Sent { nonce: &nonce, root: text(tree)?, report: text(&report)?, serve, order };
        let order_file = here.join("order.json");
        let bytes = serde_json::to_vec(&sent).map_err(|error| TrialError::Protocol(error.to_string()))?;
        fs::write(&order_file, bytes).map_err(TrialError::disk(&order_file))?;

        let own = env::current_exe().map_err(TrialError::disk("this program"))?;
        let mut command = Command::new(&own);
        command.arg(COMMAND).arg("--drop").arg(here);
        for folder in doomed {
            command.arg("--drop").arg(folder);
        }
        command.args(["--", "sh", "-c"]).arg(&tests.command).current_dir(tree);
        environment(&mut command, tests, tree, here);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        system::alone(&mut command).map_err(TrialError::disk(&own))?;
        let mut child = command.spawn().map_err(TrialError::disk(own))?;
        let output = Arc::new(Mutex::new(VecDeque::new()));
        let pipes: [Option<Box<dyn Read + Send>>; 2] =
            [child.stdout.take().map(|pipe| Box::new(pipe) as _), child.stderr.take().map(|pipe| Box::new(pipe) as _)];
        for pipe in pipes.into_iter().flatten() {
            let kept = Arc::clone(&output);
            thread::spawn(move || keep(pipe, &kept));
        }
        let control = child.stdin.take();
        Ok(Running { child, control, output, report, nonce, listener, scratch })
    }

    /// Its own folder, outside the tree.
    pub fn scratch(&self) -> &Path {
        self.scratch.path()
    }

    /// Where the plugin calls, if it was asked to.
    pub fn listener(&self) -> Option<&Door> {
        self.listener.as_ref()
    }

    /// The exit code, once it has ended.
    ///
    /// # Errors
    /// When the system does not tell.
    pub fn ended(&mut self) -> Result<Option<i32>, TrialError> {
        let status = self.child.try_wait().map_err(TrialError::disk("the test command"))?;
        Ok(status.map(system::code))
    }

    /// The plugin's report, if it left one that answers.
    pub fn report(&self) -> Option<Report> {
        Report::read(&self.report, &self.nonce)
    }

    /// The end of what it printed.
    pub fn output(&self) -> String {
        // The last words of an ended command may still be on their way.
        let end = Instant::now() + Duration::from_millis(200);
        while Arc::strong_count(&self.output) > 1 && Instant::now() < end {
            thread::sleep(Duration::from_millis(2));
        }
        let bytes: Vec<u8> = self.output.lock().unwrap_or_else(PoisonError::into_inner).iter().copied().collect();
        String::from_utf8_lossy(&bytes).into_owned()
    }

    /// Ends it and all that it started.
    pub fn kill(&mut self) {
        if let Some(mut control) = self.control.take() {
            let _ = control.write_all(&[GOODBYE]);
        }
        let end = Instant::now() + MOMENT;
        while Instant::now() < end {
            if let Ok(Some(_)) = self.child.try_wait() {
                return;
            }
            thread::sleep(Duration::from_millis(1));
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.kill();
    }
}

/// The user's own environment, but for what would let a run see or touch the repository, another home, or the run before it.
fn environment(command: &mut Command, tests: &Tests, tree: &Path, scratch: &Path) {
    for (name, _) in env::vars_os() {
        if name.to_str().is_none_or(|name| name.starts_with("GIT_") || name.starts_with("SEEDGATE_")) {
            command.env_remove(name);
        }
    }
    if let (None, Some(home)) = (env::var_os("PYTHONUSERBASE"), env::var_os("HOME")) {
        command.env("PYTHONUSERBASE", Path::new(&home).join(".local"));
    }
    if let Some(programs) = &tests.programs {
        let users = env::var_os("PATH").unwrap_or_default();
        let all = std::iter::once(programs.clone()).chain(env::split_paths(&users));
        command.env("PATH", env::join_paths(all).unwrap_or(users));
    }
    command.env("HOME", scratch.join("home")).env("TMPDIR", scratch.join("tmp")).env("PWD", tree);
    command.env("PYTHONDONTWRITEBYTECODE", "1").env("HYPOTHESIS_STORAGE_DIRECTORY", scratch.join("hypothesis"));
    command.env("SEEDGATE_SUITE", scratch.join("order.json"));
    let own = tests.path.iter().map(|folder| tree.join(folder)).filter(|folder| folder.is_dir());
    let users = env::var_os("PYTHONPATH").unwrap_or_default();
    let users = env::split_paths(&users).filter(|folder| !folder.as_os_str().is_empty());
    let folders = std::iter::once(scratch.join("plugin")).chain(own).chain(users);
    command.env("PYTHONPATH", env::join_paths(folders).unwrap_or_default());
    let cache = format!("-o 'cache_dir={}'", scratch.join("cache").display());
    for (name, value, between) in [("PYTEST_PLUGINS", MODULE, ","), ("PYTEST_ADDOPTS", cache.as_str(), " ")] {
        let mut all = OsString::from(value);
        if let Some(kept) = env::var_os(name) {
            all = [kept.clone(), all].join(&OsString::from(between));
            command.env(format!("SEEDGATE_KEPT_{name}"), kept);
        }
        command.env(name, all);
    }
}

/// Whether a command line starts pytest by its name.
pub(super) fn names_pytest(command: &str) -> bool {
    let is_of_word = |c: char| c.is_alphanumeric() || matches!(c, '.' | '_' | '-');
    command.split(|c| !is_of_word(c)).any(|word| matches!(word, "pytest" | "py.test"))
}

fn keep(mut pipe: Box<dyn Read + Send>, kept: &Arc<Mutex<VecDeque<u8>>>) {
    let mut piece = [0; 8192];
    while let Ok(read @ 1..) = pipe.read(&mut piece) {
        let mut output = kept.lock().unwrap_or_else(PoisonError::into_inner);
        output.extend(&piece[..read]);
        let many = output.len().saturating_sub(OUTPUT);
        output.drain(..many);
    }
}

/// What a report has to repeat: nobody else wrote it.
fn nonce() -> String {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos();
    let count = STARTED.fetch_add(1, Ordering::Relaxed);
    digest::sha256_hex(format!("{now} {count} {}", std::process::id()).as_bytes())
}

fn text(path: &Path) -> Result<&str, TrialError> {
    path.to_str().ok_or_else(|| TrialError::input(path, "its path is not UTF-8, so no test runner can be told of it"))
}
