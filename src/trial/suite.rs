//! Owns a run of the project's own test command in one tree: what it came to, and when nothing can be said of it.

pub mod command;
pub mod keeper;
pub mod report;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::digest;
use crate::tree::{Entry, RepoPath};
use crate::trial::outside::Inside;
use crate::trial::suite::command::{End, Running};
use crate::trial::suite::report::{Order, Report};
use crate::trial::{TrialError, interrupt};

/// Exit codes from here on are the shell's own: not executable, not found, ended by a signal.
pub(super) const OF_SHELL: i32 = 126;

/// How long between two looks.
const TICK: Duration = Duration::from_millis(10);

/// A test command, as a person wrote it.
#[derive(Clone, Debug)]
pub struct Tests {
    /// The command line, for `sh -c` at the root of the tree.
    pub command: String,
    /// Folders of the tree that modules are imported from.
    pub path: Vec<String>,
    /// How long the whole command may take.
    pub limit: Duration,
    /// A folder whose programs come before those of PATH: that of the interpreter which jobs elsewhere have too.
    pub programs: Option<PathBuf>,
}

/// What a command came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SuiteOutcome {
    /// Every test that ran passed.
    Passed,
    /// These failed; none is named where the command does not tell.
    Failed(Vec<String>),
    /// It cannot be told, for this reason: that is neither of the two.
    Unknown(String),
}

/// What one test came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TestOutcome {
    /// It passed.
    Passed,
    /// Its own code failed.
    Failed,
    /// What prepares it or cleans up failed: that is no failure of the test.
    Error,
    /// It failed while something was imported or compiled.
    ImportError,
    /// The runner's own time limit ended it.
    Timeout,
    /// It was skipped.
    Skipped,
    /// It failed as it was expected to.
    Xfailed,
    /// It passed although it was expected to fail.
    Xpassed,
}

impl TestOutcome {
    /// Whether a test failed as a test.
    pub fn is_failure(self) -> bool {
        self == TestOutcome::Failed
    }

    /// Whether it has no verdict.
    pub fn is_broken(self) -> bool {
        matches!(self, TestOutcome::Error | TestOutcome::ImportError | TestOutcome::Timeout)
    }
}

/// One test of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct TestRun {
    /// What it came to.
    pub outcome: TestOutcome,
    /// How long it took.
    pub seconds: f64,
    /// The failure in a line; empty when there is none.
    pub says: String,
}

/// One run.
#[derive(Clone, Debug)]
pub struct SuiteRun {
    /// What it came to.
    pub outcome: SuiteOutcome,
    /// Whether the runner told of each test, as pytest does.
    pub is_told: bool,
    /// The tests by the runner's own ids, parameters and all; empty where it does not tell.
    pub tests: BTreeMap<String, TestRun>,
    /// The command's exit code; `None` when it was ended by us.
    pub exit: Option<i32>,
    /// How long it took.
    pub seconds: f64,
    /// The runner's programs and their versions.
    pub tools: BTreeMap<String, String>,
    /// The end of what it printed.
    pub output: String,
}

impl SuiteRun {
    /// SHA-256 over what each test came to; `None` where the command does not tell.
    pub fn digest(&self) -> Option<String> {
        self.is_told.then(|| digest_of(&self.tests))
    }
}

/// SHA-256 over the ids of tests and what each came to.
pub fn digest_of(tests: &BTreeMap<String, TestRun>) -> String {
    let lines = tests.iter().map(|(id, test)| format!("{:?} {id}\n", test.outcome));
    digest::sha256_hex(lines.collect::<String>().as_bytes())
}

/// Runs the command once in a tree that is on disk; `entries` are what the tree holds.
///
/// # Errors
/// When it cannot be started, or somebody wants it to end. What the command does is no error but an outcome.
pub fn run(tests: &Tests, tree: &Path, entries: &[(RepoPath, Entry)]) -> Result<SuiteRun, TrialError> {
    let (ended, report) = finish(tests, tree, &Order::default(), &[])?;
    Ok(read(tests, tree, entries, ended, report))
}

/// How a command ended, when, and what it printed last.
pub(super) struct Ended {
    pub(super) end: End,
    pub(super) seconds: f64,
    pub(super) output: String,
}

/// Runs the command to its end or its limit, with an order for our plugin.
pub(super) fn finish(tests: &Tests, tree: &Path, order: &Order, doomed: &[&Path]) -> Result<(Ended, Option<Report>), TrialError> {
    let start = Instant::now();
    let mut running = Running::start(tests, tree, order, doomed)?;
    let end = loop {
        interrupt::check()?;
        if let Some(code) = running.ended()? {
            break End::Exit(code);
        }
        if start.elapsed() > tests.limit {
            running.kill();
            break End::Limit;
        }
        std::thread::sleep(TICK);
    };
    let report = running.report();
    Ok((Ended { end, seconds: start.elapsed().as_secs_f64(), output: running.output() }, report))
}

/// What a run came to.
pub(super) fn read(tests: &Tests, tree: &Path, entries: &[(RepoPath, Entry)], ended: Ended, report: Option<Report>) -> SuiteRun {
    let outcome = match (&ended.end, &report) {
        (End::Limit, _) => SuiteOutcome::Unknown(format!("time-out: it took more than {} s", tests.limit.as_secs())),
        (End::Exit(code), Some(report)) => told(*code, report, &strangers(tests, tree, entries, report)),
        (End::Exit(code), None) => untold(&tests.command, *code, &ended.output),
    };
    let exit = if let End::Exit(code) = ended.end { Some(code) } else { None };
    let (is_told, tools) = (report.is_some(), report.as_ref().map(|report| report.tools.clone()).unwrap_or_default());
    let tests = report.map(Report::into_tests).unwrap_or_default();
    SuiteRun { outcome, is_told, tests, exit, seconds: ended.seconds, tools, output: ended.output }
}

/// Code of the tree that was loaded from elsewhere.
pub(super) fn strangers(tests: &Tests, tree: &Path, entries: &[(RepoPath, Entry)], report: &Report) -> Vec<String> {
    let inside = Inside::new(tree, entries, &tests.path, &report.homes);
    inside.strangers(&report.modules)
}

/// pytest's own words for its exit codes.
fn of_pytest(code: i32) -> &'static str {
    match code {
        2 => "it was interrupted",
        3 => "internal error",
        4 => "usage error",
        5 => "no test was collected",
        _ => "a code of no meaning",
    }
}

/// The outcome of a command whose runner told of each test.
fn told(code: i32, report: &Report, strangers: &[String]) -> SuiteOutcome {
    let unknown = |says: String| SuiteOutcome::Unknown(says);
    if let Some(error) = report.errors.first() {
        return unknown(format!("{} error in {}: {}", error.kind, error.place, error.says));
    }
    if let Some(stranger) = strangers.first() {
        return unknown(format!("{stranger}: not the tree under test (an editable install, or another copy of the project?)"));
    }
    let failed: Vec<String> = report.named(TestOutcome::is_failure);
    match report.exit {
        Some(0) if code == 0 => SuiteOutcome::Passed,
        Some(0) => unknown(format!("its tests passed, and it ended with exit {code}")),
        Some(1) if !failed.is_empty() => SuiteOutcome::Failed(failed),
        Some(1) => unknown(report.broken().unwrap_or_else(|| "exit 1, and no test failed".to_owned())),
        Some(other) => unknown(format!("{} (pytest exit {other})", of_pytest(other))),
        None => unknown("it told no end".to_owned()),
    }
}

/// The outcome of a command of which only the exit code is known.
fn untold(command: &str, code: i32, output: &str) -> SuiteOutcome {
    let last = output.lines().rfind(|line| !line.trim().is_empty()).unwrap_or_default();
    let last: String = last.trim().chars().take(200).collect();
    let says = if last.is_empty() { String::new() } else { format!(": {last}") };
    if code >= OF_SHELL {
        return SuiteOutcome::Unknown(format!("the command was not found, not started or ended by a signal (exit {code}){says}"));
    }
    if command::names_pytest(command) {
        return SuiteOutcome::Unknown(format!("pytest gave no report (exit {code}){says}"));
    }
    if code == 0 { SuiteOutcome::Passed } else { SuiteOutcome::Failed(Vec::new()) }
}

#[cfg(test)]
mod tests;
