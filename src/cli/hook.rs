//! `seedgate hook NAME`: what the installed hooks call.

use std::ffi::OsString;

use crate::cli::{Failure, open};
use crate::daemon::client::Warm;
use crate::finding::Exit;
use crate::gate::candidate::Candidate;
use crate::gate::facts::Facts;
use crate::gate::judge::{Judge, Judgement};
use crate::repo::Repo;
use crate::repo::hooks::{self, HookName, baseline};
use crate::report::{self, Verdict};
use crate::tree::Oid;

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

/// Judges, and answers the exit code that git understands.
pub(super) fn run(args: &Args) -> u8 {
    let exit = judge(args.hook).unwrap_or_else(|failure| {
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
    let pushed = if hook == HookName::PrePush { outgoing(&repo)? } else { Vec::new() };
    let mut warm = Warm::of(&repo);
    let (judged, facts) = warm.judge(|facts| judgements(hook, &repo, facts, &pushed));
    let (judgements, what) = judged?;
    let verdict = Verdict { judgements, facts };
    let exit = verdict.exit();
    if exit != Exit::Clear {
        report::err(&report::verdict_text(&verdict, &what, report::err_style()));
    }
    report::note(warm.finish().as_deref());
    Ok(exit)
}

fn judgements(hook: HookName, repo: &Repo, facts: &Facts, pushed: &[Oid]) -> Result<(Vec<Judgement>, String), Failure> {
    let judge = Judge::new(repo, facts)?;
    Ok(match hook {
        HookName::PreCommit => (vec![judge.candidate(&Candidate::staged(repo)?)?], "commit".to_owned()),
        HookName::PreMergeCommit => (vec![judge.candidate(&Candidate::staged(repo)?)?], "merge".to_owned()),
        HookName::PrePush => {
            (pushed.iter().map(|oid| judge.commit(oid)).collect(), format!("push of {}", report::plural(pushed.len(), "commit")))
        }
    })
}

fn outgoing(repo: &Repo) -> Result<Vec<Oid>, Failure> {
    let updates = hooks::pushed(std::io::stdin().lock())?;
    let known = baseline::read(repo.common_dir())?.unwrap_or_default();
    Ok(repo.outgoing(&updates, &known)?)
}
