//! `seedgate ledger pin`: hashes what the checks are made of on the base.

use std::fs;
use std::path::PathBuf;

use crate::cli::{self, Failure, open};
use crate::finding::Exit;
use crate::gate::pins;
use crate::report;
use crate::witness::ledger::{self, LedgerError};

/// Pin the base: hash its fixtures and property modules into the ledger's header. A later step whose tree moved one of them stops.
#[derive(clap::Args)]
#[command(after_help = "Rows that are there stay. Promoted witnesses are not part of the fixture digest.

Examples:
  seedgate ledger pin --base origin/main
  seedgate ledger pin --base origin/main --out .seedgate/ledger.json --json

Exit codes: 0 pinned, 65 the base or the ledger cannot be read, 70 fault.")]
pub(super) struct Args {
    /// The base.
    #[arg(long, value_name = "REV")]
    base: String,
    /// The ledger.
    #[arg(long, visible_alias = "ledger", value_name = "FILE", default_value = ledger::PATH)]
    out: PathBuf,
    /// Print the pin as it stands in the ledger.
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &Args) -> Result<Exit, Failure> {
    let repo = open()?;
    let facts = cli::remembered();
    let pin = pins::of_commit(&repo, &facts, &repo.resolve(&args.base)?)?;
    facts.flush();
    if let Some(folder) = args.out.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        let failed = |error| Failure { exit: Exit::Fault, says: format!("{}: {error}", folder.display()) };
        fs::create_dir_all(folder).map_err(failed)?;
    }
    let (rows, before) = ledger::update(&args.out, |ledger| Ok::<_, LedgerError>((ledger.rows().len(), ledger.pin.replace(pin.clone()))))?;
    let moved = before.map_or_else(Vec::new, |before| before.moved(&pin));
    report::out(&if args.json { report::json_of(&pin) } else { report::pinned_text(&pin, rows, &moved, report::out_style()) });
    Ok(Exit::Clear)
}
