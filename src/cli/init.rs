//! `seedgate init`: puts the hooks in.

use std::path::PathBuf;

use crate::cli::{Failure, environment};
use crate::finding::Exit;
use crate::repo::hooks::{self, HookError, Place, Request, Wish};
use crate::report;

/// Install the hooks in this repository, with a policy file and a record of what is older than them.
#[derive(clap::Args)]
#[command(
    after_help = "Safe to run again: a second run changes nothing. An earlier hook keeps running: before Seedgate at commits and merges (it may
stage what it mends), after it at pushes; both must pass. Where hooks belong to another manager or to a tracked folder, nothing is
overwritten: the lines to add are printed, and the exit is 69.

Exit codes: 0 every hook is in place, 65 something here cannot be read, 69 some hook is not ours to write, 70 fault."
)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
pub(super) struct Args {
    /// Only say what would be done.
    #[arg(long)]
    dry_run: bool,
    /// Record the tips of now as the baseline: what they reach is never judged at push.
    #[arg(long)]
    rebaseline: bool,
    /// Where pre-commit or prek holds a hook, keep theirs aside and run it from Seedgate's.
    #[arg(long)]
    chain: bool,
    /// Where core.hooksPath of the user or the machine names a folder for all repositories, give this one its own, linked to that one.
    #[arg(long)]
    here: bool,
}

pub(super) fn run(args: &Args) -> Result<Exit, Failure> {
    let program = program()?;
    let wishes = wishes(args);
    let request = Request { program: &program, policy: include_str!("../../templates/config.toml"), wishes: &wishes };
    let done = hooks::install(Place::find(&environment()?)?, &request)?;
    report::out(&report::installed(&done, args.dry_run, report::out_style()));
    Ok(if done.is_whole() { Exit::Clear } else { Exit::Unavailable })
}

/// This program as a hook can call it: absolute, every link followed.
pub(super) fn program() -> Result<PathBuf, Failure> {
    std::env::current_exe().and_then(|path| path.canonicalize()).map_err(|error| Failure {
        exit: Exit::Fault,
        says: format!("cannot tell where this program lies, so no hook could call it: {error}"),
    })
}

fn wishes(args: &Args) -> Vec<Wish> {
    let all = [(args.dry_run, Wish::Rehearse), (args.rebaseline, Wish::Rebaseline), (args.chain, Wish::Chain), (args.here, Wish::Here)];
    all.into_iter().filter(|(asked, _)| *asked).map(|(_, wish)| wish).collect()
}

impl From<HookError> for Failure {
    fn from(error: HookError) -> Self {
        Failure { exit: error.exit(), says: error.to_string() }
    }
}
