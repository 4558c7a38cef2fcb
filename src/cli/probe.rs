//! `seedgate probe`: plants faults in production code and asks the tests.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::cli::{Failure, open, runner, trial};
use crate::finding::Exit;
use crate::freeze::probe::Probe;
use crate::report;
use crate::strength::record;
use crate::trial::interrupt;
use crate::trial::probe::jobs::By;
use crate::trial::probe::{self, Faults, Order, Told};
use crate::trial::runner::duplicate::Judged;
use crate::trial::suite::Tests;
use crate::trial::trees::Trees;
use crate::trial::worker::Config;

/// Largest patch that is read, in bytes.
const PATCH_CAP: u64 = 1 << 20;

/// Plant faults in production code of a throwaway tree and ask the tests. This runs code of the project; the hooks never do.
///
/// Only committed content is probed, and nothing of the repository is touched: no branch, no work-tree byte. The unmutated
/// tests must pass first. A mutant is killed only when a test that passes without it fails as a test; a missing runner, a
/// collection or import error, a syntax error or a time-out is `unknown`, never a kill.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  seedgate probe --tests 'python -m pytest -q' --budget 30
  seedgate probe --tests 'pytest tests/test_order.py' --base origin/main --compare
  seedgate probe --tests 'pytest -q' --mutant fault.patch
  seedgate probe --tests 'pytest -q' --base origin/main --out .seedgate/probe.json
  seedgate probe --tests 'python3 -m pytest -q' --runner remote

With --runner every mutant is a job of its own, in a tree of its own: here, and with ssh or remote once more there, many at a time. What this machine
says counts; there, `python3` is the interpreter that the policy or the far side names. A difference is recorded as `disagree` and refused.

With --compare the same mutants are tried under the base's tests and under the candidate's: killed before and alive now is
oracle_weakened. In the command name programs by their full path or have their environment active: the tree is not your folder.

Exit codes: 0 no oracle is weaker, 2 one is (or a mutant survived with --mutant or --fail-on-survivor), or runners disagree, 64 usage, 65 the
unmutated tests do not pass, nothing was measured or an input cannot be read, 69 no interpreter or no such runner, 70 fault or interrupted.")]
pub(super) struct Args {
    /// The test command, for `sh -c` at the root of the tree.
    #[arg(long, value_name = "CMD")]
    tests: String,
    /// What the candidate is held against: where it and REV last met. Its functions that changed since are probed first.
    #[arg(long, value_name = "REV")]
    base: Option<String>,
    /// The candidate.
    #[arg(long, value_name = "REV", default_value = "HEAD")]
    head: String,
    /// One mutant: a unified diff of production files of the candidate.
    #[arg(long, value_name = "FILE.patch", conflicts_with = "budget")]
    mutant: Option<PathBuf>,
    /// Most mutants.
    #[arg(long, value_name = "N", default_value_t = 30, value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    budget: u64,
    /// Ask the base's tests too [base: `[merge] target` of the policy, else the first parent].
    #[arg(long)]
    compare: bool,
    /// Refuse a survivor, whatever the base's tests say of it.
    #[arg(long)]
    fail_on_survivor: bool,
    #[command(flatten)]
    effort: Effort,
    #[command(flatten)]
    runner: runner::RunnerArgs,
    /// Write seedgate.probe/1.
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Print seedgate.probe/1.
    #[arg(long)]
    json: bool,
}

/// How mutants are tried.
#[derive(clap::Args)]
struct Effort {
    /// What the order of the mutants is drawn from.
    #[arg(long, value_name = "N", default_value_t = 1729)]
    seed: u64,
    /// Mutants that are tried at once [default: one a core].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(1..))]
    jobs: Option<u8>,
    /// How long the whole test command may take, in seconds. A mutant gets ten times what its tests usually take, and no more than this.
    #[arg(long, value_name = "SECONDS", default_value = "900", value_parser = trial::seconds)]
    limit: Duration,
    /// Most memory of a test process, in MiB.
    #[arg(long, value_name = "MIB", default_value_t = 4096, value_parser = clap::value_parser!(u64).range(64..=1 << 30))]
    memory: u64,
    /// The interpreter that tells whether a mutant can be imported, for commands other than pytest [default: `[worker] python`, else python3].
    #[arg(long, value_name = "PROGRAM")]
    python: Option<String>,
}

pub(super) fn run(args: &Args) -> Result<Exit, Failure> {
    let (probe, disagree) = measure(args)?;
    if let Some(path) = &args.out {
        record::replace(path, report::json_of(&probe).as_bytes())?;
    }
    report::out(&if args.json { report::json_of(&probe) } else { report::probe_text(&probe, report::out_style()) });
    Ok(probe.exit(args.mutant.is_some() || args.fail_on_survivor).worst(disagree))
}

/// The probe, and what runners that disagree ask for.
fn measure(args: &Args) -> Result<(Probe, Exit), Failure> {
    let repo = open()?;
    let head = repo.resolve(&args.head)?;
    let base = if args.base.is_some() || args.compare { Some(trial::base(&repo, args.base.as_deref(), &args.head, &head)?) } else { None };
    let policy_of = repo.tree(Some(base.as_ref().unwrap_or(&head)))?;
    let (python, path) = trial::interpreter(&repo, &policy_of, args.effort.python.as_deref())?;
    let programs = args.runner.place().and_then(|_| Some(python.parent()?.to_path_buf()));
    let order = Order {
        base,
        head,
        compare: args.compare,
        faults: args.mutant.as_deref().map_or(Ok(Faults::Budget(args.budget)), patch)?,
        seed: args.effort.seed,
        tests: Tests { command: args.tests.clone(), path: path.clone(), limit: args.effort.limit, programs },
        memory: args.effort.memory << 20,
        python: python.clone(),
        jobs: args.effort.jobs.map_or_else(|| std::thread::available_parallelism().map_or(1, usize::from), usize::from),
    };
    let trees = Trees::of_user()?;
    if args.runner.place().is_none() {
        interrupt::watch();
        let progress = report::Counter::new("mutants tried:");
        let probe = probe::run(&repo, &trees, &order, &Told { total: &|total| progress.total(total), done: &|| progress.add(1) });
        drop(progress);
        return Ok((probe?, Exit::Clear));
    }
    let config = Config { program: python, path, limit: args.effort.limit, memory: args.effort.memory << 20 };
    let fleet = args.runner.fleet_of(&repo, &policy_of, &config)?;
    interrupt::watch();
    let progress = report::Counter::new("jobs run:");
    let told = Told { total: &|total| progress.total(total), done: &|| progress.add(1) };
    let done = probe::run_by(&repo, &trees, &order, &By { fleet: &fleet, runs: &args.runner.runs }, &told);
    drop(progress);
    let (probe, judged) = done?;
    runner::tell(&fleet, &judged, &args.runner.runs);
    Ok((probe, if judged.iter().any(Judged::disagrees) { Exit::Refused } else { Exit::Clear }))
}

fn patch(path: &Path) -> Result<Faults, Failure> {
    let wrong = |says: String| Failure { exit: Exit::Unreadable, says: format!("{}: {says}", path.display()) };
    let found = fs::metadata(path).map_err(|error| wrong(error.to_string()))?;
    if !found.is_file() || found.len() > PATCH_CAP {
        return Err(wrong(format!("it is no regular file of at most {PATCH_CAP} bytes")));
    }
    Ok(Faults::Patch(path.to_path_buf(), fs::read_to_string(path).map_err(|error| wrong(error.to_string()))?))
}
