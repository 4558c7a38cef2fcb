//! `seedgate ledger resolve`: a person settles what is stopped or quarantined.

use std::path::PathBuf;

use crate::cli::Failure;
use crate::finding::{Exit, PropId};
use crate::report;
use crate::strength::cards;
use crate::witness::decide::Action;
use crate::witness::ledger::{self, Resolution, Row};

/// Settle the stopped or quarantined rows of a property: who, and why. The change that brings it is a human's to merge (exit 4).
#[derive(clap::Args)]
#[command(
    after_help = "A settled row no longer blocks by itself, but it counts for the quarantine's cap. A promotion is not settled: run `ledger promote`.

Examples:
  seedgate ledger resolve prop_total_is_kept --by ada --reason 'base debt, ticket 12; not touched by this patch'
  seedgate ledger resolve prop_total_is_kept --input d43a3f21 --by ada --reason 'replayed by hand'

Exit codes: 0 settled, 64 no such row is open, 65 the ledger cannot be read, 70 fault."
)]
pub(super) struct Args {
    /// The property's id, or an unambiguous end of it.
    id: String,
    /// Only the row whose input's digest begins so.
    #[arg(long, value_name = "SHA256")]
    input: Option<String>,
    /// Who settles it.
    #[arg(long, value_name = "NAME")]
    by: String,
    /// Why it does not block.
    #[arg(long, value_name = "TEXT")]
    reason: String,
    /// The ledger.
    #[arg(long, value_name = "FILE", default_value = ledger::PATH)]
    ledger: PathBuf,
}

pub(super) fn run(args: &Args) -> Result<Exit, Failure> {
    let said = |text: &str| !text.trim().is_empty() && !text.chars().any(char::is_control);
    if !said(&args.by) || !said(&args.reason) {
        return Err(Failure::usage("say who and why, each on one line"));
    }
    if ledger::read(&args.ledger)?.is_none() {
        return Err(Failure { exit: Exit::Unreadable, says: format!("{}: there is no ledger", args.ledger.display()) });
    }
    let settled: Vec<Row> = ledger::update(&args.ledger, |ledger| {
        let is_open = |row: &Row| row.is_unresolved() && row.decision != Some(Action::Promote);
        let ids: Vec<PropId> = ledger.rows().iter().filter(|row| is_open(row)).map(|row| row.prop_id.clone()).collect();
        let id = cards::named(&args.id, ids.iter()).map_err(|error| Failure::usage(format!("{error} among the open rows")))?;
        let head = args.input.as_deref().unwrap_or_default();
        let mut settled = Vec::new();
        for row in ledger.rows_mut().filter(|row| row.prop_id == *id && is_open(row) && row.input_sha256().starts_with(head)) {
            row.resolved = Some(Resolution { by: args.by.trim().to_owned(), reason: args.reason.trim().to_owned() });
            settled.push(row.clone());
        }
        if settled.is_empty() {
            Err(Failure::usage(format!("no open row of {id} has an input that begins with {head}")))
        } else {
            Ok(settled)
        }
    })?;
    report::out(&report::settled_text(&settled, report::out_style()));
    Ok(Exit::Clear)
}
