//! `seedgate freeze list`: what is frozen, for how long, and what does not hold.

use crate::cli::freeze::Files;
use crate::cli::{Failure, open as repository, remembered};
use crate::finding::Exit;
use crate::freeze::day::Day;
use crate::freeze::file::Freeze;
use crate::gate::frozen;
use crate::report;

/// List the frozen tests with their owners, the days left, and why an entry does not hold.
#[derive(clap::Args)]
#[command(after_help = "It lists and does not judge; `seedgate freeze check` ends in 2 where this names a fault.

Examples:
  seedgate freeze list
  seedgate freeze list --json             for machines (seedgate.freeze-list/1)

Exit codes: 0 listed, 65 the freeze file or the ledger cannot be read, 70 fault.")]
pub(in crate::cli) struct Args {
    #[command(flatten)]
    files: Files,
    /// Print seedgate.freeze-list/1.
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &Args) -> Result<Exit, Failure> {
    let repo = repository()?;
    let ledger = args.files.ledger(&repo)?;
    let freeze = Freeze::read(&args.files.path(&repo))?.unwrap_or_else(Freeze::empty);
    let (facts, today) = (remembered(), Day::today());
    let faults = frozen::faults(&repo, &facts, &freeze, &ledger, today)?;
    facts.flush();
    report::out(&if args.json {
        report::json(&report::frozen_list_json(&freeze, &faults, today))
    } else {
        report::frozen_list_text(&freeze, &faults, today, report::out_style())
    });
    Ok(Exit::Clear)
}
