//! `seedgate ledger shrink`: makes the counterexamples of a run small and puts them into the ledger.

use std::path::{Path, PathBuf};

use crate::cli::{self, Failure, open, trial};
use crate::finding::Exit;
use crate::repo::Repo;
use crate::report;
use crate::trial::interrupt;
use crate::trial::record::Props;
use crate::trial::shrink::{self, Effort, Found};
use crate::trial::trees::Trees;
use crate::witness::decide::Verdict;
use crate::witness::ledger::{self, LedgerError, Row};

/// Shrink the counterexamples of a run, one for each way in which a property failed, and put them into the ledger.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  seedgate ledger shrink --props .seedgate/props.json --max-steps 80
  seedgate ledger shrink --props .seedgate/props.json --reducer './reduce.py'

A step is taken only when the candidate is in the property's domain and still fails the same way: same exception, same place. So is what
an outside reducer offers: it gets the raw input as one JSON line and prints candidates, one JSON line each.

Exit codes: 0 shrunk and recorded (or nothing to shrink), 2 a pinned file moved, 65 the record or the ledger cannot be read, 69 no
interpreter, 70 fault or interrupted.")]
pub(super) struct Args {
    /// The record of `props run`.
    #[arg(long, value_name = "FILE", default_value = trial::PROPS)]
    props: PathBuf,
    /// The ledger.
    #[arg(long, value_name = "FILE", default_value = ledger::PATH)]
    ledger: PathBuf,
    #[command(flatten)]
    steps: Steps,
    #[command(flatten)]
    worker: trial::WorkerArgs,
}

/// How much is spent on shrinking.
#[derive(clap::Args)]
pub(super) struct Steps {
    /// Most calls of a property for one counterexample.
    #[arg(long, value_name = "N", default_value_t = 1000)]
    max_steps: u64,
    /// A shell command that offers smaller inputs.
    #[arg(long, value_name = "CMD")]
    reducer: Option<String>,
}

pub(super) fn run(args: &Args) -> Result<Exit, Failure> {
    let repo = open()?;
    let props = Props::read(&args.props)?;
    if let Some(exit) = trial::moved(&repo, &args.ledger, &props.patch)? {
        return Ok(exit);
    }
    let found = record(&repo, &props, &args.ledger, &args.steps, &args.worker)?;
    report::out(&report::shrunk_text(&found, report::out_style()));
    Ok(Exit::Clear)
}

/// Shrinks and records.
pub(super) fn record(repo: &Repo, props: &Props, path: &Path, steps: &Steps, worker: &trial::WorkerArgs) -> Result<Vec<Found>, Failure> {
    let total = shrink::count(props);
    if total == 0 {
        return Ok(Vec::new());
    }
    interrupt::watch();
    let facts = cli::remembered();
    let config = worker.config(repo, &repo.tree(Some(&props.base))?)?;
    let progress = report::Progress::new("counterexamples shrunk:", total);
    let effort = Effort { max_steps: steps.max_steps, reducer: steps.reducer.as_deref() };
    let found = shrink::all(repo, &facts, &Trees::of_user()?, &config, props, (&effort, &|| progress.step()));
    drop(progress);
    facts.flush();
    let found = found?;
    ledger::update(path, |ledger| {
        found.iter().for_each(|found| ledger.record(row(found, props)));
        Ok::<(), LedgerError>(())
    })?;
    Ok(found)
}

/// What did not fail again is a flake, and its base is not asked.
fn row(found: &Found, props: &Props) -> Row {
    let patch = if found.small.is_some() { Verdict::Fail } else { Verdict::Flake };
    let mut row = Row::new(found.prop_id.clone(), found.raw.clone(), found.seed.clone(), patch, props.patch.clone());
    row.failure = Some(found.failure.told());
    if let Some(small) = &found.small {
        (row.shrunk, row.steps) = (Some(small.input.clone()), Some(small.steps));
    }
    row
}
