//! `seedgate check`: judges the index, or every commit of a range.

use crate::cli::{self, Failure, open};
use crate::finding::Exit;
use crate::gate::run::{Outcome, Subject};
use crate::repo::Repo;
use crate::report;

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
    let warm = cli::warm(&repo, args.cold);
    let facts = warm.facts();
    let (outcome, what) = match &args.base {
        Some(base) => range(&repo, &facts, base, &args.head)?,
        None => (cli::judge(&repo, &facts, &Subject::Index)?, "index".to_owned()),
    };
    report::out(&if args.json {
        report::json(&report::verdict_json(&outcome))
    } else {
        report::verdict_text(&outcome, &what, report::out_style())
    });
    report::note(warm.finish(&facts).as_deref());
    Ok(outcome.exit())
}

fn range(repo: &Repo, facts: &crate::gate::facts::Facts, base: &str, head: &str) -> Result<(Outcome, String), Failure> {
    let commits = repo.range(&repo.resolve(base)?, &repo.resolve(head)?)?;
    let outcome = cli::judge(repo, facts, &Subject::Commits(&commits))?;
    Ok((outcome, format!("{} of {base}..{head}", report::plural(commits.len(), "commit"))))
}
