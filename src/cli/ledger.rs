//! `seedgate ledger`: the record of every counterexample.

use std::path::Path;

use crate::cli::{self, Failure, pin, promote, replay, resolve, rows, shrink};
use crate::finding::Exit;
use crate::gate::pins;
use crate::repo::Repo;
use crate::report;
use crate::tree::Oid;
use crate::witness::ledger::{self, Ledger, LedgerError};

/// The record of every counterexample: pinned, shrunk, replayed on the base, decided, promoted.
#[derive(clap::Subcommand)]
pub(super) enum Command {
    Pin(pin::Args),
    Shrink(shrink::Args),
    ReplayBase(replay::Args),
    Show(rows::Args),
    Promote(promote::Args),
    Resolve(resolve::Args),
}

impl From<LedgerError> for Failure {
    fn from(error: LedgerError) -> Self {
        Failure { exit: if error.is_input() { Exit::Unreadable } else { Exit::Fault }, says: error.to_string() }
    }
}

pub(super) fn run(command: &Command) -> Result<Exit, Failure> {
    match command {
        Command::Pin(args) => pin::run(args),
        Command::Shrink(args) => shrink::run(args),
        Command::ReplayBase(args) => replay::run(args),
        Command::Show(args) => rows::run(args),
        Command::Promote(args) => promote::run(args),
        Command::Resolve(args) => resolve::run(args),
    }
}

/// The ledger at a path, which must be there.
pub(super) fn read(path: &Path) -> Result<Ledger, Failure> {
    let none =
        || Failure { exit: Exit::Unreadable, says: format!("{}: there is no ledger; make one with `seedgate ledger pin`", path.display()) };
    ledger::read(path)?.ok_or_else(none)
}

/// Names what moved in a commit since the pin, which stops everything: it is no longer the same check. `None` when nothing did, or
/// nothing is pinned.
pub(super) fn moved(repo: &Repo, ledger: &Ledger, commit: &Oid) -> Result<Option<Exit>, Failure> {
    let Some(pin) = &ledger.pin else { return Ok(None) };
    let facts = cli::remembered();
    let moved = pins::moved(repo, &facts, pin, commit)?;
    facts.flush();
    if moved.is_empty() {
        return Ok(None);
    }
    report::err(&report::moved_text(pin, &moved));
    Ok(Some(Exit::Refused))
}
