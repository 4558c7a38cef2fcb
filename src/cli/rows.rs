//! `seedgate ledger show`: what the ledger holds.

use std::path::PathBuf;

use crate::cli::{Failure, ledger as command};
use crate::finding::Exit;
use crate::report;
use crate::witness::ledger;

/// Show the ledger: its pin, then every row with both verdicts, what was decided and what to do.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  seedgate ledger show
  seedgate ledger show --open        only what somebody has to act on
  seedgate ledger show --json        the ledger itself (seedgate.ledger/1)

Exit codes: 0 shown, 65 there is no ledger or it cannot be read, 70 fault.")]
pub(super) struct Args {
    /// The ledger.
    #[arg(long, value_name = "FILE", default_value = ledger::PATH)]
    ledger: PathBuf,
    /// Leave out rows that are settled.
    #[arg(long, conflicts_with = "json")]
    open: bool,
    /// Print seedgate.ledger/1.
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &Args) -> Result<Exit, Failure> {
    let ledger = command::read(&args.ledger)?;
    report::out(&if args.json { ledger.to_text() } else { report::ledger_text(&ledger, args.open, report::out_style()) });
    Ok(Exit::Clear)
}
