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
/// write, the same for both. Documentation goes with production, waivers go with the tests.
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
    #[arg(short, long, value_name = "TEXT")]
    message: Vec<String>,
    /// Print seedgate.verdict/1 of the two commits.
    #[arg(long)]
    json: bool,
}

impl From<SplitError> for Failure {
    fn from(error: SplitError) -> Self {
        let exit = match &error {
            SplitError::Gate(gate) => gate.exit(),
            SplitError::NotMixed | SplitError::InProgress(_) => Exit::Unreadable,
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
    let (first, second) = match args.message.as_slice() {
        [] => return Err(Failure::usage("split needs a message: seedgate split -m 'what and why'")),
        [one] => (one.clone(), one.clone()),
        [one, two] => (one.clone(), two.clone()),
        _ => return Err(Failure::usage("split makes two commits: give -m once or twice")),
    };
    Ok(match (order, args.message.len()) {
        (Order::ProductionFirst, 1) => Request { order, production: first, tests: format!("{second} (tests)") },
        (Order::ProductionFirst, _) => Request { order, production: first, tests: second },
        (Order::TestsFirst, 1) => Request { order, production: second, tests: format!("{first} (tests)") },
        (Order::TestsFirst, _) => Request { order, production: second, tests: first },
    })
}
