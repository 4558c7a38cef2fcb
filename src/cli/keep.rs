//! `seedgate keep`: hidden; what stands between seedgate and a test command that it runs.

use std::ffi::OsString;
use std::path::PathBuf;

use crate::trial::suite::keeper;

/// Run a command until it ends or standard input does, and leave nothing of it behind.
#[derive(clap::Args)]
#[command(hide = true)]
pub(super) struct Args {
    /// A folder that goes when whoever started this was killed.
    #[arg(long, value_name = "DIR")]
    drop: Vec<PathBuf>,
    /// The command.
    #[arg(last = true, required = true)]
    command: Vec<OsString>,
}

pub(super) fn run(args: &Args) -> u8 {
    keeper::keep(&args.command, &args.drop)
}
