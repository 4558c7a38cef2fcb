//! `seedgate split`: makes two commits of a mixed index.

use crate::cli::{Failure, open};
use crate::finding::Exit;
use crate::gate::facts::Facts;
use crate::gate::judge::Judge;
use crate::gate::run::Outcome;
use crate::gate::split::{self, Order, Request, SplitError};
use crate::report;

/// Make two commits of a mixed index: production first, then tests.
///
/// Both are judged before anything moves; on any refusal or failure HEAD, index and work tree are as they were. Work-tree
/// files are never touched, and what is not staged stays unstaged. Author and committer are those that `git commit` would
/// write, the same for both. Documentation goes with production, waivers go with the tests. A Rust file that is on both sides is
/// taken apart: the first commit has one part of its change, the second all of it. No hook runs.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  seedgate split -m 'round half up'
  seedgate split -m 'round half up' -m 'test rounding at the half'
  seedgate split --tests-first -m 'pin the bug' -m 'fix it'")]
pub(super) struct Args {
    /// The test commit first, then production.
    #[arg(long)]
    tests_first: bool,
    /// Message of both commits; given twice, of the first and of the second.
    #[arg(short, long, value_name = "TEXT", allow_hyphen_values = true)]
    message: Vec<String>,
    /// Print seedgate.verdict/1 of the two commits.
    #[arg(long)]
    json: bool,
}

impl From<SplitError> for Failure {
    fn from(error: SplitError) -> Self {
        let exit = match &error {
            SplitError::Gate(gate) => gate.exit(),
            SplitError::NotMixed | SplitError::InProgress(_) | SplitError::Inseparable { .. } => Exit::Unreadable,
        };
        Failure { exit, says: error.to_string() }
    }
}

pub(super) fn run(args: &Args) -> Result<Exit, Failure> {
    let request = request(args)?;
    let repo = open()?;
    let facts = Facts::cold();
    let done = split::split(&repo, &Judge::new(&repo, &facts), &request)?;
    let verdict = Outcome { judgements: done.judgements, facts: facts.counts(), distrusted: false };
    let text = if args.json {
        report::json(&report::verdict_json(&verdict))
    } else {
        let moved = if done.moved { "two commits made" } else { "nothing was changed" };
        format!("{}\n{moved}\n", report::verdict_text(&verdict, "split", report::out_style()).trim_end())
    };
    report::out(&text);
    Ok(verdict.exit())
}

fn request(args: &Args) -> Result<Request, Failure> {
    let order = if args.tests_first { Order::TestsFirst } else { Order::ProductionFirst };
    let messages = args.message.iter().map(|text| whole(text)).collect::<Option<Vec<String>>>();
    let messages = messages.ok_or_else(|| Failure::usage("a message is empty: seedgate split -m 'what and why'"))?;
    Ok(match (order, messages.as_slice()) {
        (_, []) => return Err(Failure::usage("split needs a message: seedgate split -m 'what and why'")),
        (_, [one]) => Request { order, production: one.clone(), tests: of_tests(one) },
        (Order::ProductionFirst, [first, second]) => Request { order, production: first.clone(), tests: second.clone() },
        (Order::TestsFirst, [first, second]) => Request { order, production: second.clone(), tests: first.clone() },
        _ => return Err(Failure::usage("split makes two commits: give -m once or twice")),
    })
}

/// A message as git ends it; `None` when nothing is written in it.
fn whole(text: &str) -> Option<String> {
    let text = text.trim_start_matches('\n').trim_end();
    (!text.is_empty()).then(|| format!("{text}\n"))
}

/// The message of both commits, as that of the tests: its first line says so.
fn of_tests(message: &str) -> String {
    let (subject, rest) = message.split_at(message.find('\n').unwrap_or(message.len()));
    format!("{subject} (tests){rest}")
}
