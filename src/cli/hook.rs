//! `seedgate hook NAME`: what the installed hooks call.

use crate::finding::Exit;

/// Judge for a git hook.
#[derive(clap::Args)]
#[command(hide = true)]
pub(super) struct Args {}

pub(super) fn run(_args: &Args) -> Exit {
    Exit::Fault
}
