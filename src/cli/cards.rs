//! `seedgate cards`: measures properties and compares the measures.

use std::fs;
use std::path::{Path, PathBuf};

use crate::cli::{self, Failure, open};
use crate::finding::Exit;
use crate::gate::inventory::{self, Inventory};
use crate::report;
use crate::strength::cards::{CardSet, CardsError};
use crate::strength::delta;
use crate::strength::record::{self, RecordError};

/// Measure properties and tests as cards, and compare the cards of two revisions.
#[derive(clap::Subcommand)]
pub(super) enum Command {
    Snapshot(Snapshot),
    Diff(Diff),
    Show(Show),
}

/// Write the cards of a revision, or of what is staged (seedgate.cards/1).
#[derive(clap::Args)]
#[command(after_help = "Examples:
  seedgate cards snapshot                          cards of the index, to standard output
  seedgate cards snapshot --rev origin/main --out base_cards.json
  seedgate cards snapshot --rev HEAD --out patch_cards.json --allow-opaque

Exit codes: 0 written, 65 a test file cannot be read, or a property under the strict property paths has a domain that literals do not
give (each is named; --allow-opaque records the domains instead), 70 fault.")]
pub(super) struct Snapshot {
    /// The revision to measure, or `index`.
    #[arg(long, value_name = "REV", default_value = "index")]
    rev: String,
    /// Write to a file in place of standard output.
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Record properties whose domain literals do not give.
    #[arg(long)]
    allow_opaque: bool,
}

/// Compare two card files: does any property get weaker?
#[derive(clap::Args)]
#[command(after_help = "Examples:
  seedgate cards diff --base base_cards.json --patch patch_cards.json
  seedgate cards diff --base base_cards.json --patch patch_cards.json --out strength_delta.json

Exit codes: 0 held or stronger, 2 something got weaker or is gone, 3 only new ids, 65 a file cannot be read, 70 fault.")]
pub(super) struct Diff {
    /// Cards before.
    #[arg(long, value_name = "FILE")]
    base: PathBuf,
    /// Cards after.
    #[arg(long, value_name = "FILE")]
    patch: PathBuf,
    /// Also write seedgate.delta/1 to a file.
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Print seedgate.delta/1.
    #[arg(long)]
    json: bool,
}

/// Show one card.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  seedgate cards show tests/properties/test_balance.py::prop_balance_non_negative
  seedgate cards show prop_balance_non_negative --rev origin/main
  seedgate cards show TestCart::test_total --json

Exit codes: 0 shown, 64 no card or several have that name, 70 fault.")]
pub(super) struct Show {
    /// A property's id, or an unambiguous end of it.
    id: String,
    /// The revision to measure, or `index`.
    #[arg(long, value_name = "REV", default_value = "index")]
    rev: String,
    /// Print the card as in seedgate.cards/1.
    #[arg(long)]
    json: bool,
}

impl From<CardsError> for Failure {
    fn from(error: CardsError) -> Self {
        let exit = match &error {
            CardsError::Unknown(_) | CardsError::Ambiguous { .. } => Exit::Usage,
            _ => Exit::Unreadable,
        };
        Failure { exit, says: error.to_string() }
    }
}

impl From<RecordError> for Failure {
    fn from(error: RecordError) -> Self {
        Failure { exit: Exit::Fault, says: error.to_string() }
    }
}

pub(super) fn run(command: &Command) -> Result<Exit, Failure> {
    match command {
        Command::Snapshot(args) => snapshot(args),
        Command::Diff(args) => diff(args),
        Command::Show(args) => show(args),
    }
}

fn snapshot(args: &Snapshot) -> Result<Exit, Failure> {
    let inventory = measure(&args.rev)?;
    let unread = inventory.unreadable.iter().map(|(path, why)| format!("{path}: {why}"));
    let opaque = inventory.opaque.iter().filter(|_| !args.allow_opaque).map(|(id, why)| format!("{id}: {why}"));
    let faults: Vec<String> = unread.chain(opaque).collect();
    if !faults.is_empty() {
        return Err(Failure { exit: Exit::Unreadable, says: format!("no cards are written:\n  {}", faults.join("\n  ")) });
    }
    let text = inventory.cards.to_text();
    match &args.out {
        Some(path) => record::replace(path, text.as_bytes())?,
        None => report::out(&text),
    }
    Ok(Exit::Clear)
}

fn diff(args: &Diff) -> Result<Exit, Failure> {
    let delta = delta::compare_files(&read(&args.base)?, &read(&args.patch)?);
    if let Some(path) = &args.out {
        record::replace(path, delta.to_text().as_bytes())?;
    }
    report::out(&if args.json { delta.to_text() } else { report::delta_text(&delta, report::out_style()) });
    Ok(delta.exit())
}

fn show(args: &Show) -> Result<Exit, Failure> {
    let inventory = measure(&args.rev)?;
    let card = inventory.cards.find(&args.id)?;
    report::out(&if args.json { report::json_of(card) } else { report::card_text(card, report::out_style()) });
    Ok(Exit::Clear)
}

fn measure(rev: &str) -> Result<Inventory, Failure> {
    let repo = open()?;
    let facts = cli::remembered();
    let inventory = match rev {
        "index" => inventory::of_index(&repo, &facts)?,
        rev => inventory::of_commit(&repo, &repo.resolve(rev)?, &facts)?,
    };
    facts.flush();
    Ok(inventory)
}

fn read(path: &Path) -> Result<CardSet, Failure> {
    let wrong = |why: &dyn std::fmt::Display| Failure { exit: Exit::Unreadable, says: format!("{}: {why}", path.display()) };
    let text = fs::read_to_string(path).map_err(|error| wrong(&error))?;
    CardSet::parse(&text).map_err(|error| wrong(&error))
}
