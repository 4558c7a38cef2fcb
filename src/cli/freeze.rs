//! `seedgate freeze`: temporary exceptions for tests that are noise.

use std::path::PathBuf;

use crate::cli::{self, Failure, open};
use crate::finding::Exit;
use crate::freeze::day::Day;
use crate::freeze::file::{self as freeze, Fault, Freeze};
use crate::gate::records;
use crate::report;
use crate::trial::runner::evidence::{self, Runs};
use crate::witness::ledger;

/// Temporary exceptions for tests that are noise; never for a property.
#[derive(clap::Subcommand)]
pub(super) enum Command {
    Check(Check),
}

/// Check the freeze file against the ledger, the index's properties and today.
#[derive(clap::Args)]
#[command(
    after_help = "An entry does not hold when it names a property, shares its id with a failing row of the ledger, is expired, has no owner or no token,
or is there twice; none does while two machines disagree on a property. Every fault is named. Without a freeze file there is nothing to check.

Examples:
  seedgate freeze check
  seedgate freeze check --ledger .seedgate/ledger.json --freeze .seedgate/freeze.json
  seedgate freeze check --json            for machines (seedgate.freeze-check/1)

Exit codes: 0 every entry holds, 2 some does not, 65 the freeze file or the ledger cannot be read, 70 fault."
)]
pub(super) struct Check {
    /// The ledger.
    #[arg(long, value_name = "FILE", default_value = ledger::PATH)]
    ledger: PathBuf,
    /// The freeze file.
    #[arg(long, value_name = "FILE", default_value = freeze::PATH)]
    freeze: PathBuf,
    /// The record of jobs: while two machines disagree on a property, nothing is frozen.
    #[arg(long, value_name = "FILE", default_value = evidence::PATH)]
    runs: PathBuf,
    /// Print seedgate.freeze-check/1.
    #[arg(long)]
    json: bool,
}

pub(super) fn run(command: &Command) -> Result<Exit, Failure> {
    let Command::Check(args) = command;
    let repo = open()?;
    let ledger = ledger::read(&args.ledger)?.unwrap_or_default();
    let Some(freeze) = Freeze::read(&args.freeze)? else {
        report::out(&if args.json { report::json(&report::freeze_json(0, &[])) } else { report::freeze_text(0, &[], report::out_style()) });
        return Ok(Exit::Clear);
    };
    let facts = cli::remembered();
    let mut faults = records::freeze_faults(&repo, &facts, &freeze, &ledger, Day::today())?;
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
