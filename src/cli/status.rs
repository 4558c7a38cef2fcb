//! `seedgate status`: how this repository stands.

use crate::cli::{self, Failure, environment, open};
use crate::daemon::client;
use crate::finding::Exit;
use crate::gate::overview;
use crate::repo::hooks::{self, Place};
use crate::report::{self, Standing};

/// Show how this repository stands: hooks live or not and why, base, fixtures, cards, waivers.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  seedgate status
  seedgate status --json   for machines (seedgate.status/1)

Exit codes: 0 every hook is live, 69 some hook is not, 65 something cannot be read, 70 fault.")]
pub(super) struct Args {
    /// Print seedgate.status/1.
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &Args) -> Result<Exit, Failure> {
    let repo = open()?;
    let hooks = hooks::state(&Place::find(&environment()?)?)?;
    let live = hooks.iter().all(hooks::HookState::is_live);
    let facts = cli::remembered();
    let standing = Standing { hooks, overview: overview::of(&repo, &facts)?, aid: client::aid(&repo) };
    facts.flush();
    report::out(&if args.json {
        report::json(&report::status_json(&standing))
    } else {
        report::status_text(&standing, report::out_style())
    });
    Ok(if live { Exit::Clear } else { Exit::Unavailable })
}
