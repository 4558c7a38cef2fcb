//! `seedgate uninstall`: takes the hooks out.

use crate::cli::{Failure, environment};
use crate::finding::Exit;
use crate::repo::hooks::{self, Place};
use crate::report;

/// Take the hooks out of this repository and put back what stood there before.
#[derive(clap::Args)]
#[command(after_help = "Policy, waivers and records stay. Safe to run again.

Exit codes: 0 nothing of Seedgate's is left among the hooks, 65 something here cannot be read, 70 fault.")]
pub(super) struct Args {}

pub(super) fn run(_args: &Args) -> Result<Exit, Failure> {
    let done = hooks::uninstall(Place::find(&environment()?)?)?;
    report::out(&report::undone(&done, report::out_style()));
    Ok(Exit::Clear)
}
