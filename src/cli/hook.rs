//! `seedgate hook NAME`: what the installed hooks call.

use std::ffi::OsString;

use crate::cli::{self, Failure, open};
use crate::finding::Exit;
use crate::gate::facts::Facts;
use crate::gate::run::{Outcome, Subject};
use crate::repo::Repo;
use crate::repo::hooks::{self, HookName, baseline};
use crate::report;

/// Judge for a git hook: what git gave the hook, given on. Exit 0 lets git go on, 1 refuses.
#[derive(clap::Args)]
#[command(hide = true)]
pub(super) struct Args {
    /// The hook.
    #[arg(value_parser = named)]
    hook: HookName,
    /// Git's arguments to the hook; pre-push also reads git's lines from standard input.
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    _rest: Vec<OsString>,
}

fn named(name: &str) -> Result<HookName, String> {
    HookName::ALL
        .into_iter()
        .find(|hook| hook.name() == name)
        .ok_or_else(|| format!("seedgate stands in {}", HookName::ALL.map(HookName::name).join(", ")))
}

/// Answers what the installed hooks ask. They ask at every commit, so the command line of all the other commands is not built first.
pub(super) fn at_once(args: &[OsString]) -> Option<u8> {
    let [_, command, name, ..] = args else { return None };
    let hook = named(name.to_str()?).ok().filter(|_| command == "hook")?;
    Some(exit_of(hook))
}

/// Judges, and answers the exit code that git understands.
pub(super) fn run(args: &Args) -> u8 {
    exit_of(args.hook)
}

fn exit_of(hook: HookName) -> u8 {
    let exit = judge(hook).unwrap_or_else(|failure| {
        report::fault(&failure.says);
        failure.exit
    });
    match exit {
        Exit::Clear | Exit::Review | Exit::Waived => 0,
        Exit::Refused | Exit::Usage | Exit::Unreadable | Exit::Unavailable | Exit::Fault => 1,
    }
}

fn judge(hook: HookName) -> Result<Exit, Failure> {
    let repo = open()?;
    let warm = cli::warm(&repo, false);
    let facts = warm.facts();
    let (outcome, what) = match hook {
        HookName::PreCommit => (cli::judge(&repo, &facts, &Subject::Index)?, "commit".to_owned()),
        HookName::PreMergeCommit => (cli::judge(&repo, &facts, &Subject::Index)?, "merge".to_owned()),
        HookName::PrePush => push(&repo, &facts)?,
    };
    let exit = outcome.exit();
    if exit != Exit::Clear {
        report::err(&report::verdict_text(&outcome, &what, report::err_style()));
    }
    report::note(warm.finish(&facts).as_deref());
    Ok(exit)
}

fn push(repo: &Repo, facts: &Facts) -> Result<(Outcome, String), Failure> {
    let updates = hooks::pushed(std::io::stdin().lock())?;
    let known = baseline::read(repo.common_dir())?.unwrap_or_default();
    let commits = repo.outgoing(&updates, &known)?;
    let outcome = cli::judge(repo, facts, &Subject::Commits(&commits))?;
    Ok((outcome, format!("push of {}", report::plural(commits.len(), "commit"))))
}
