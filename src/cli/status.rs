//! `seedgate status`: how this repository stands.

use crate::cli::{self, Failure, environment, open, trial};
use crate::daemon::client;
use crate::daemon::vigil::Vigil;
use crate::finding::Exit;
use crate::freeze::day::Day;
use crate::freeze::file::{self as freeze, Freeze};
use crate::gate::facts::Facts;
use crate::gate::{frozen, overview};
use crate::repo::Repo;
use crate::repo::hooks::{self, Place};
use crate::report::{self, Frozen, Screen, Standing};
use crate::witness::ledger;

/// Show how this repository stands: hooks live or not and why, base, fixtures, cards, waivers, freezes, daemon.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  seedgate status
  seedgate status --watch         draw it again whenever something changes; Ctrl-C ends it
  seedgate status --json          for machines (seedgate.status/1)
  seedgate status --watch --json  one line for each state

Exit codes: 0 every hook is live, 69 some hook is not, 65 something cannot be read, 70 fault.")]
pub(super) struct Args {
    /// Print seedgate.status/1.
    #[arg(long)]
    json: bool,
    /// Stay, and show every change until Ctrl-C.
    #[arg(long)]
    watch: bool,
}

pub(super) fn run(args: &Args) -> Result<Exit, Failure> {
    if !args.watch {
        let standing = standing()?;
        report::out(&if args.json { report::json(&report::status_json(&standing)) } else { text(&standing) });
        return Ok(exit(&standing));
    }
    let mut vigil = Vigil::over(&open()?).map_err(|error| Failure { exit: Exit::Unavailable, says: error.to_string() })?;
    let mut screen = Screen::open();
    loop {
        // Something that cannot be read now may be whole at the next look: git may be writing it.
        let (shown, exit) = match standing() {
            Ok(standing) if args.json => (format!("{}\n", report::status_json(&standing)), exit(&standing)),
            Ok(standing) => (text(&standing), exit(&standing)),
            Err(failure) => (format!("seedgate: {}\n", failure.says), failure.exit),
        };
        if !(screen.show(&shown) && vigil.wait()) {
            return Ok(exit);
        }
    }
}

fn standing() -> Result<Standing, Failure> {
    let repo = open()?;
    let hooks = hooks::state(&Place::find(&environment()?)?)?;
    let facts = cli::remembered();
    let overview = overview::of(&repo, &facts)?;
    let standing = Standing { hooks, overview, frozen: frozen(&repo, &facts), aid: client::aid(&repo) };
    facts.flush();
    Ok(standing)
}

/// The freeze file of the work tree, as `seedgate freeze list` sees it. One that cannot be read is told and hides nothing else.
fn frozen(repo: &Repo, facts: &Facts) -> Result<Frozen, String> {
    let ledger = ledger::read(&trial::at_top(repo, ledger::PATH)).map_err(|error| error.to_string())?.unwrap_or_default();
    let freeze = Freeze::read(&trial::at_top(repo, freeze::PATH)).map_err(|error| error.to_string())?.unwrap_or_else(Freeze::empty);
    let today = Day::today();
    let faults = frozen::faults(repo, facts, &freeze, &ledger, today).map_err(|error| error.to_string())?;
    Ok(Frozen { freeze, faults, today })
}

fn text(standing: &Standing) -> String {
    report::status_text(standing, report::out_style())
}

fn exit(standing: &Standing) -> Exit {
    if standing.hooks.iter().all(hooks::HookState::is_live) { Exit::Clear } else { Exit::Unavailable }
}
