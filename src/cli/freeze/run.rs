//! `seedgate freeze run`: runs a suite, tells frozen failures apart, and fails on everything else.

use std::env;
use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::time::{Instant, SystemTime};

use crate::cli::freeze::Files;
use crate::cli::{Failure, open as repository, remembered, trial};
use crate::finding::{Exit, PropId};
use crate::freeze::day::Day;
use crate::freeze::file::{Fault, Freeze};
use crate::freeze::junit::{self, Case, State};
use crate::gate::frozen;
use crate::repo::Repo;
use crate::report::{self, Made, Suite};
use crate::trial::{evidence, interrupt, wrapped};

/// Run a test suite. Frozen tests run too; their failures are told apart and do not fail it. Everything else does.
#[derive(clap::Args)]
#[command(
    after_help = "The command runs here, as you would run it. pytest is asked for a JUnit report by itself; another runner is told to write one, and --junit
names the file. A report that this run did not write, or that is not whole, is no verdict.

An entry that is expired, void or otherwise does not hold, before the run or after it, freezes nothing. A fixture on disk that git does not know
voids it too. An error in setting a test up or collecting it is no failure of
the test, and is never frozen. A command that fails without a failing test (a usage error, a coverage threshold) fails.

Examples:
  seedgate freeze run -- python -m pytest -q
  seedgate freeze run --junit report.xml -- npx jest --reporters=jest-junit
  seedgate freeze run --json -- pytest -q    a summary for machines on standard output, after the suite's own (seedgate.freeze-run/1)

Exit codes: 0 nothing failed but frozen tests, 2 something else did, 65 there is no whole report of this run, 69 the command cannot be
started, 70 fault or interrupted."
)]
pub(in crate::cli) struct Args {
    /// The `JUnit` report that the command writes [default: pytest is asked for one].
    #[arg(long, value_name = "FILE")]
    junit: Option<PathBuf>,
    /// Print seedgate.freeze-run/1.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    files: Files,
    /// The command.
    #[arg(last = true, required = true, value_name = "CMD")]
    command: Vec<OsString>,
}

pub(super) fn run(args: &Args) -> Result<Exit, Failure> {
    let repo = repository()?;
    let (freeze, mut faults) = held(args, &repo)?;
    let (start, began) = (Instant::now(), evidence::now());
    interrupt::watch();
    let scratch = tempfile::Builder::new().prefix("seedgate-").tempdir();
    let scratch = scratch.map_err(|error| Failure { exit: Exit::Fault, says: format!("a temporary folder: {error}") })?;
    let (report, asked) = report_of(args, scratch.path());
    let before = stamp(&report);
    let options = asked.then(|| addopts(&report)).transpose()?;
    let variables: Vec<(&str, &OsStr)> = options.iter().map(|options| ("PYTEST_ADDOPTS", options.as_os_str())).collect();
    let code = wrapped::run(&args.command, &variables, Some(scratch.path()))?;
    if code == 126 || code == 127 {
        let program = args.command.first().map(|word| word.display().to_string()).unwrap_or_default();
        return Err(Failure { exit: Exit::Unavailable, says: format!("{program} cannot be started (exit {code})") });
    }
    let unfit = |says: String| Failure { exit: Exit::Unreadable, says: format!("{says} (the command ended with {code})") };
    let text = read(&report, before).map_err(|says| unfit(no_report(&says, asked)))?;
    let cases = junit::read(&text).map_err(|says| unfit(format!("{}: {says}", trial::shown(&report))))?;
    // What moves while the tests run is no more what the token is of than what moved before.
    let seconds = start.elapsed().as_secs_f64();
    let after = held(args, &repo)?.1;
    faults.extend(after.into_iter().filter(|fault| !faults.contains(fault)).collect::<Vec<_>>());
    let held = |id: &PropId| !faults.iter().any(|fault| fault.test == *id);
    let frozen: Vec<&PropId> = freeze.entries.iter().map(|entry| &entry.test).filter(|id| held(id)).collect();
    let made = Made {
        command: args.command.iter().map(|word| word.display().to_string()).collect(),
        began,
        seconds,
        fixture_digest: frozen::digest_on_disk(&repo, &remembered())?,
        git: repo.git_version()?,
    };
    let suite = Suite { made, ..sorted(&cases, &frozen, code) };
    report::out(&if args.json {
        report::json(&report::suite_json(&suite, &freeze, &faults, Day::today()))
    } else {
        report::suite_text(&suite, &freeze, &faults, Day::today(), report::out_style())
    });
    Ok(if suite.fails() { Exit::Refused } else { Exit::Clear })
}

/// The freeze file, and what is wrong with it on disk and today.
fn held(args: &Args, repo: &Repo) -> Result<(Freeze, Vec<Fault>), Failure> {
    let ledger = args.files.ledger(repo)?;
    let freeze = Freeze::read(&args.files.path(repo))?.unwrap_or_else(Freeze::empty);
    let facts = remembered();
    let faults = frozen::faults_on_disk(repo, &facts, &freeze, &ledger, Day::today())?;
    facts.flush();
    Ok((freeze, faults))
}

/// Where the report will lie, and whether we have to ask for it.
fn report_of(args: &Args, scratch: &Path) -> (PathBuf, bool) {
    if let Some(named) = &args.junit {
        return (named.clone(), false);
    }
    let mut words = args.command.iter();
    while let Some(word) = words.next() {
        let text = word.to_string_lossy();
        let option = ["--junitxml", "--junit-xml"].into_iter().find_map(|name| text.strip_prefix(name));
        match option {
            Some("") => return (words.next().map(PathBuf::from).unwrap_or_default(), false),
            Some(value) if value.starts_with('=') => return (PathBuf::from(&value[1..]), false),
            _ => {}
        }
    }
    (scratch.join("junit.xml"), true)
}

/// pytest's options, with the report on top. It names each test's file, so that no two tests have one name.
fn addopts(report: &Path) -> Result<OsString, Failure> {
    let path = report.to_str().filter(|path| !path.contains('\''));
    let path = path.ok_or_else(|| Failure::usage("the folder for temporary files has a name that pytest cannot be told of"))?;
    let mut options = env::var_os("PYTEST_ADDOPTS").unwrap_or_default();
    options.push(format!(" -o junit_family=xunit1 '--junitxml={path}'"));
    Ok(options)
}

/// What tells one writing of a file from another.
fn stamp(path: &Path) -> Option<(SystemTime, u64)> {
    let found = fs::metadata(path).ok()?;
    Some((found.modified().ok()?, found.len()))
}

/// The report, if this run wrote it.
fn read(path: &Path, before: Option<(SystemTime, u64)>) -> Result<String, String> {
    let shown = trial::shown(path);
    let found = fs::metadata(path).map_err(|_| format!("{shown}: there is no report"))?;
    if !found.is_file() || found.len() > junit::CAP {
        return Err(format!("{shown}: it is no file of at most {} bytes", junit::CAP));
    }
    if stamp(path) == before {
        return Err(format!("{shown}: it is from before this run"));
    }
    let mut text = String::new();
    let read = File::open(path).and_then(|file| file.take(junit::CAP).read_to_string(&mut text));
    read.map_err(|error| format!("{shown}: {error}"))?;
    Ok(text)
}

fn no_report(says: &str, asked: bool) -> String {
    let next = if asked { "; is the command pytest? else let it write one and name it with --junit" } else { "" };
    format!("{says}{next}")
}

/// What failed, sorted into frozen and not.
fn sorted(cases: &[Case], frozen: &[&PropId], code: i32) -> Suite {
    let of = |case: &Case| frozen.iter().find(|id| case.is(id)).map(|id| (*id).clone());
    let mut suite = Suite { code, tests: cases.len(), ..Suite::default() };
    for case in cases {
        match (case.state, of(case)) {
            (State::Failed, Some(id)) => suite.frozen_failed.push((id, case.says.clone())),
            (State::Failed | State::Error, _) => suite.failed.push((case.shown(), case.says.clone())),
            (State::Passed, Some(id)) => suite.frozen_passed.push(id),
            _ => {}
        }
    }
    let ran = |id: &PropId| suite.frozen_passed.contains(id) || suite.frozen_failed.iter().any(|(other, _)| other == id);
    suite.frozen_absent = frozen.iter().filter(|id| !ran(id)).map(|id| (*id).clone()).collect();
    suite.frozen_passed.retain(|id| !suite.frozen_failed.iter().any(|(other, _)| other == id));
    suite.frozen_passed.dedup();
    suite
}
