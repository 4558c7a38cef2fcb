//! `seedgate check`: judges the index, or every commit of a range.

use crate::cli::{Failure, open};
use crate::daemon::client::Warm;
use crate::finding::Exit;
use crate::gate::candidate::Candidate;
use crate::gate::facts::Facts;
use crate::gate::judge::{Judge, Judgement};
use crate::repo::Repo;
use crate::report::{self, Progress, Verdict};

/// Judge what is staged, or every commit of a range.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  seedgate check                                   what is staged, as pre-commit judges it
  seedgate check --base origin/main                every commit of origin/main..HEAD
  seedgate check --base v1.2 --head topic --json   for machines (seedgate.verdict/1)
  seedgate check --base \"$BASE\" --head \"$HEAD\" --cold  in a merge check: no daemon, no memo

Exit codes: 0 clear, 2 refused, 3 only new tests, 4 waived or policy changed (a human merges), 65 unreadable input, 70 fault.")]
pub(super) struct Args {
    /// Judge every commit of BASE..HEAD, each against its own parents.
    #[arg(long, value_name = "REV")]
    base: Option<String>,
    /// The end of the range.
    #[arg(long, value_name = "REV", requires = "base", default_value = "HEAD")]
    head: String,
    /// Print seedgate.verdict/1.
    #[arg(long)]
    json: bool,
    /// Compute every fact here: ask neither memo nor daemon.
    #[arg(long)]
    cold: bool,
}

pub(super) fn run(args: &Args) -> Result<Exit, Failure> {
    let repo = open()?;
    let mut warm = if args.cold { Warm::cold(&repo) } else { Warm::of(&repo) };
    let (judged, facts) = warm.judge(|facts| judge(args, &repo, facts));
    let (judgements, what) = judged?;
    let verdict = Verdict { judgements, facts };
    report::out(&if args.json {
        report::json(&report::verdict_json(&verdict))
    } else {
        report::verdict_text(&verdict, &what, report::out_style())
    });
    report::note(warm.finish().as_deref());
    Ok(verdict.exit())
}

fn judge(args: &Args, repo: &Repo, facts: &Facts) -> Result<(Vec<Judgement>, String), Failure> {
    match &args.base {
        Some(base) => range(repo, facts, base, &args.head),
        None => Ok((vec![Judge::new(repo, facts)?.candidate(&Candidate::staged(repo)?)?], "index".to_owned())),
    }
}

fn range(repo: &Repo, facts: &Facts, base: &str, head: &str) -> Result<(Vec<Judgement>, String), Failure> {
    let commits = repo.range(&repo.resolve(base)?, &repo.resolve(head)?)?;
    let judge = Judge::new(repo, facts)?;
    let mut progress = Progress::new("commits judged:", commits.len());
    let judgements = commits.iter().map(|oid| {
        let judgement = judge.commit(oid);
        progress.step();
        judgement
    });
    Ok((judgements.collect(), format!("{} of {base}..{head}", report::plural(commits.len(), "commit"))))
}
