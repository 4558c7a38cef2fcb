//! `seedgate ledger`: the record of every counterexample.

use crate::cli::{Failure, replay, shrink};
use crate::finding::Exit;
use crate::witness::ledger::LedgerError;

/// The record of every counterexample: shrunk, replayed on the base, decided.
#[derive(clap::Subcommand)]
pub(super) enum Command {
    Shrink(shrink::Args),
    ReplayBase(replay::Args),
}

impl From<LedgerError> for Failure {
    fn from(error: LedgerError) -> Self {
        Failure { exit: if error.is_input() { Exit::Unreadable } else { Exit::Fault }, says: error.to_string() }
    }
}

pub(super) fn run(command: &Command) -> Result<Exit, Failure> {
    match command {
        Command::Shrink(args) => shrink::run(args),
        Command::ReplayBase(args) => replay::run(args),
    }
}
