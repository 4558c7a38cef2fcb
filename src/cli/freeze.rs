//! `seedgate freeze`: temporary exceptions for tests that are noise.

mod close;
mod list;
mod open;
mod run;

use std::path::{Path, PathBuf};

use crate::cli::{self, Failure, open as repository, trial};
use crate::finding::Exit;
use crate::freeze::day::Day;
use crate::freeze::file::{self as freeze, Fault, Freeze};
use crate::gate::frozen;
use crate::repo::Repo;
use crate::report;
use crate::strength::record;
use crate::trial::runner::evidence::{self, Runs};
use crate::witness::ledger::{self, Ledger};

/// Temporary exceptions for tests that are noise; never for a property.
#[derive(clap::Subcommand)]
pub(super) enum Command {
    Open(open::Args),
    List(list::Args),
    Close(close::Args),
    Run(run::Args),
    Check(Check),
}

/// Check the freeze file against the ledger, the index and today.
#[derive(clap::Args)]
#[command(
    after_help = "An entry does not hold when it names a property, shares its id with a failing row of the ledger, is expired, has no owner, is there twice,
has no token that `freeze open` wrote with its evidence, or is void: the fixtures' digest or the test has moved. None does while two machines disagree on a property. Every fault is named.
Without a freeze file there is nothing to check. `freeze list` and the gate say the same, but that the gate knows no day.

Examples:
  seedgate freeze check
  seedgate freeze check --ledger .seedgate/ledger.json --freeze .seedgate/freeze.json
  seedgate freeze check --json            for machines (seedgate.freeze-check/1)

Exit codes: 0 every entry holds, 2 some does not, 65 the freeze file or the ledger cannot be read, 70 fault."
)]
pub(super) struct Check {
    #[command(flatten)]
    files: Files,
    /// The record of jobs: while two machines disagree on a property, nothing is frozen.
    #[arg(long, value_name = "FILE", default_value = evidence::PATH)]
    runs: PathBuf,
    /// Print seedgate.freeze-check/1.
    #[arg(long)]
    json: bool,
}

/// Where the records lie.
#[derive(clap::Args)]
pub(super) struct Files {
    /// The ledger [default: .seedgate/ledger.json].
    #[arg(long, value_name = "FILE")]
    ledger: Option<PathBuf>,
    /// The freeze file [default: .seedgate/freeze.json].
    #[arg(long, value_name = "FILE")]
    freeze: Option<PathBuf>,
}

impl Files {
    fn ledger(&self, repo: &Repo) -> Result<Ledger, Failure> {
        let path = self.ledger.clone().unwrap_or_else(|| trial::at_top(repo, ledger::PATH));
        Ok(ledger::read(&path)?.unwrap_or_default())
    }

    fn path(&self, repo: &Repo) -> PathBuf {
        self.freeze.clone().unwrap_or_else(|| trial::at_top(repo, freeze::PATH))
    }
}

pub(super) fn run(command: &Command) -> Result<Exit, Failure> {
    match command {
        Command::Open(args) => open::run(args),
        Command::List(args) => list::run(args),
        Command::Close(args) => close::run(args),
        Command::Run(args) => run::run(args),
        Command::Check(args) => check(args),
    }
}

fn check(args: &Check) -> Result<Exit, Failure> {
    let repo = repository()?;
    let ledger = args.files.ledger(&repo)?;
    let freeze = Freeze::read(&args.files.path(&repo))?.unwrap_or_else(Freeze::empty);
    let facts = cli::remembered();
    let mut faults = frozen::faults(&repo, &facts, &freeze, &ledger, Day::today())?;
    facts.flush();
    let runs = Runs::read(&args.runs)?;
    let says = || "this machine and another one disagree on it: replay it where they agree before anything is frozen".to_owned();
    faults.extend(runs.disagreeing().into_iter().filter(|_| !freeze.entries.is_empty()).map(|id| Fault { test: id.clone(), says: says() }));
    let count = freeze.entries.len();
    report::out(&if args.json {
        report::json(&report::freeze_json(count, &faults))
    } else {
        report::freeze_text(count, &faults, report::out_style())
    });
    Ok(if faults.is_empty() { Exit::Clear } else { Exit::Refused })
}

/// Changes the freeze file while no other process may. Nothing is written when `change` fails.
fn update<T>(path: &Path, change: impl FnOnce(&mut Freeze) -> Result<T, Failure>) -> Result<T, Failure> {
    trial::make_folder(path)?;
    let lock = ledger::lock(path)?;
    let known = Freeze::read(path)?;
    let mut freeze = known.clone().unwrap_or_else(Freeze::empty);
    let answer = change(&mut freeze)?;
    if known.as_ref() != Some(&freeze) {
        record::replace(path, freeze.to_text().as_bytes())?;
    }
    drop(lock);
    Ok(answer)
}
