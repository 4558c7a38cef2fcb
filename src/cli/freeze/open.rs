//! `seedgate freeze open`: freezes a test that is noise, with a token.

use std::path::{Path, PathBuf};

use crate::cli::freeze::{Files, update};
use crate::cli::{Failure, classify, evidence, open as repository, remembered, trial};
use crate::digest;
use crate::finding::{Exit, PropId};
use crate::freeze::day::Day;
use crate::freeze::evidence::{self as record, Evidence, Seen};
use crate::freeze::file::{Entry, Freeze};
use crate::freeze::token::{Bound, Token};
use crate::gate::evidence::Measured;
use crate::gate::facts::Facts;
use crate::gate::{frozen, inventory};
use crate::repo::Repo;
use crate::report::{self, Refusal};
use crate::strength::card::{self, Card, Kind};
use crate::strength::cards;
use crate::strength::record::{RecordError, create};
use crate::tree::RepoPath;
use crate::trial::evidence::{Reruns, rerun};
use crate::trial::interrupt;
use crate::trial::trees::{self, Source, Trees};

/// Freeze a test that is noise: with an owner, an end, and a token that only evidence grants. This runs the tests.
#[derive(clap::Args)]
#[command(
    after_help = "It takes the evidence of HEAD (`seedgate evidence collect`), which must come to freeze_eligible and show that the test disagrees with itself.
Then the command is run until one failure and two passes at once after it are seen, all on one fixture digest. Two failures in a row, here or
in the evidence, are no noise and end it. Never frozen: a property, a test that the candidate touches, a test with a counterexample in the ledger.

The entry ends on its day (at most [freeze] days from now), and is void as soon as the fixtures or the test move.

Examples:
  seedgate freeze open tests/test_net.py::test_fetch --owner ada --expires 2027-01-15
  seedgate freeze open test_fetch --owner ada --expires 2027-01-15 --tests 'python -m pytest -q tests/test_net.py' --runs 40

Exit codes: 0 frozen, 2 refused, 3 the evidence comes to hold, or the runs did not show it, 64 no such test or a wrong day, 65 there is no
evidence, or a run has no verdict, 69 no interpreter, 70 fault or interrupted: then nothing is written."
)]
pub(in crate::cli) struct Args {
    /// The test's id, or an unambiguous end of it.
    #[arg(value_name = "TEST")]
    test: String,
    /// Who answers for it.
    #[arg(long, value_name = "NAME")]
    owner: String,
    /// The last day on which it holds, YYYY-MM-DD (UTC).
    #[arg(long, value_name = "DATE", value_parser = day)]
    expires: Day,
    /// The test command: that of the evidence, which is the default.
    #[arg(long, value_name = "CMD")]
    tests: Option<String>,
    /// Most runs of the command.
    #[arg(long, value_name = "N", default_value_t = 30, value_parser = clap::value_parser!(u32).range(3..=10_000))]
    runs: u32,
    /// How long one run may take, in seconds.
    #[arg(long, value_name = "SECONDS", default_value_t = 600, value_parser = clap::value_parser!(u64).range(1..=86_400))]
    limit: u64,
    /// The evidence [default: .seedgate/evidence.json].
    #[arg(long, value_name = "FILE")]
    evidence: Option<PathBuf>,
    #[command(flatten)]
    files: Files,
}

fn day(text: &str) -> Result<Day, String> {
    Day::parse(text).ok_or_else(|| "a day is written YYYY-MM-DD".to_owned())
}

pub(super) fn run(args: &Args) -> Result<Exit, Failure> {
    let repo = repository()?;
    let facts = remembered();
    let path = args.evidence.clone().unwrap_or_else(|| trial::at_top(&repo, record::PATH));
    within_days(args, &repo)?;
    let (evidence, bytes, measured) = evidence::present(&repo, &facts, &path, "HEAD")?;
    let refused = match admit(args, &repo, &facts, &evidence, &measured) {
        Ok(card) => freeze(args, &repo, &facts, (&evidence, &bytes, &measured), &card)?,
        Err(refused) => Some(refused?),
    };
    facts.flush();
    let Some(refusal) = refused else { return Ok(Exit::Clear) };
    report::out(&report::not_frozen(&refusal, report::out_style()));
    Ok(refusal.exit)
}

/// The expiry is a day to come, and not too far.
fn within_days(args: &Args, repo: &Repo) -> Result<(), Failure> {
    let most = trees::policy(&repo.tree(repo.head()?.as_ref())?)?.freeze_days;
    let days = Day::today().until(args.expires);
    if days < 0 {
        return Err(Failure::usage(format!("{} is over; today is {}", args.expires, Day::today())));
    }
    if days > i64::from(most) {
        let last = Day::today().plus(most.into());
        return Err(Failure::usage(format!(
            "{} is {days} days from today, and a freeze lasts {most} ([freeze] days): until {last}",
            args.expires
        )));
    }
    let said = |text: &str| !text.trim().is_empty() && !text.chars().any(char::is_control);
    if said(&args.owner) { Ok(()) } else { Err(Failure::usage("say on one line who answers for it")) }
}

/// Everything that can be told without a run: the test's card, or the refusal.
fn admit(args: &Args, repo: &Repo, facts: &Facts, evidence: &Evidence, measured: &Measured) -> Result<Card, Result<Refusal, Failure>> {
    let refuse = |says: String, next: &str| Err(Ok(Refusal { exit: Exit::Refused, test: args.test.clone(), says, next: next.to_owned() }));
    if let Some(tests) = args.tests.as_ref().filter(|tests| **tests != evidence.command) {
        let says = format!("the evidence is of the command {:?}, and this is {tests:?}", evidence.command);
        return refuse(says, "collect evidence with the same --tests, or leave it out here");
    }
    let inventory = inventory::of_commit(repo, &measured.head, facts).map_err(|error| Err(error.into()))?;
    let ids = inventory.cards.cards().filter(|card| card.kind != Kind::Support).map(|card| &card.prop_id);
    let id = cards::named(&args.test, ids).map_err(|error| Err(Failure::usage(error.to_string())))?;
    let Some(card) = inventory.cards.get(id) else { return Err(Err(Failure::usage(format!("there is no test {id}")))) };
    if card.kind == Kind::Property {
        return refuse(format!("{id} is a property, and properties are never frozen"), "seedgate witness");
    }
    let ledger = args.files.ledger(repo).map_err(Err)?;
    if ledger.failing().any(|failing| failing == id) {
        return refuse(
            format!("the ledger holds a counterexample of {id}: evidence outranks the exception"),
            "seedgate ledger show --open",
        );
    }
    let path = RepoPath::from_shown(card::path_of(id));
    if measured.touches(&path) {
        return refuse(format!("the candidate touches {path}: an edit and a failure are a review item, and no noise"), "review the edit");
    }
    let known = Freeze::read(&args.files.path(repo)).map_err(|error| Err(error.into()))?;
    if known.is_some_and(|freeze| freeze.names(id)) {
        return refuse(format!("{id} is frozen already"), &format!("seedgate freeze close {id}"));
    }
    let label = evidence.classified().label();
    if evidence.classified().eligible().is_none() {
        let says = format!("the evidence comes to {label}: {}", label.says());
        return Err(Ok(Refusal { exit: classify::exit(label), test: id.0.clone(), says, next: "seedgate classify".to_owned() }));
    }
    if evidence.of(id).is_none() {
        let says = format!("the evidence does not show that {id} passed and failed on one digest");
        let next = "seedgate evidence collect with more --runs".to_owned();
        return Err(Ok(Refusal { exit: Exit::Review, test: id.0.clone(), says, next }));
    }
    if evidence.is_steady(id) {
        return refuse(steady(&evidence.seen(id)) + ", in the runs of the evidence", "repair it");
    }
    Ok(Card::clone(card))
}

/// Failures that came back at once, wherever they were seen.
fn steady(seen: &[Seen]) -> String {
    format!("it failed twice in a row, which is a failure and no noise; {}", told(seen))
}

fn told(seen: &[Seen]) -> String {
    let words: Vec<&str> = seen.iter().map(|seen| seen.name()).collect();
    format!("it did: {}", words.join(" "))
}

/// Runs the test, and writes evidence and entry when it is noise; else the refusal.
fn freeze(args: &Args, repo: &Repo, facts: &Facts, of: (&Evidence, &[u8], &Measured), card: &Card) -> Result<Option<Refusal>, Failure> {
    let (evidence, bytes, measured) = of;
    interrupt::watch();
    let source = Source::commit(repo, &measured.head)?;
    let tests = evidence::tests(repo, &evidence.command, args.limit, &measured.base)?;
    let progress = report::Progress::new("runs of the tests, at most:", args.runs as usize);
    let ran = rerun(&Trees::of_user()?, &source.tree(), measured, (&tests, &card.prop_id), args.runs, &|| progress.step());
    drop(progress);
    let (reruns, seen) = ran?;
    if let Some(refusal) = refusal(&card.prop_id, &reruns, &seen) {
        return Ok(Some(refusal));
    }
    let Some(leave) = evidence.classified().eligible() else { return Ok(None) };
    let sha256 = digest::sha256_hex(bytes);
    let bound = Bound {
        test: card.prop_id.clone(),
        card_sha256: frozen::card_sha256(card),
        evidence_sha256: sha256.clone(),
        reruns: seen,
        issued: Day::today(),
    };
    let token = Token::issue(leave, evidence, bound);
    let entry = Entry { test: card.prop_id.clone(), owner: args.owner.trim().to_owned(), expires: args.expires, token: token.to_map() };
    let path = args.files.path(repo);
    keep(repo, &path, &sha256, bytes)?;
    update(&path, |freeze| {
        if freeze.names(&entry.test) {
            return Err(Failure { exit: Exit::Refused, says: format!("{} is frozen already", entry.test) });
        }
        freeze.entries.push(entry.clone());
        Ok(())
    })?;
    facts.flush();
    let paths = [trial::shown(&path), Evidence::kept(&sha256)];
    report::out(&report::frozen_text(&entry, &token, &paths, report::out_style()));
    Ok(None)
}

fn refusal(test: &PropId, reruns: &Reruns, seen: &[Seen]) -> Option<Refusal> {
    let told = told(seen);
    let (exit, says, next) = match reruns {
        Reruns::Noise => return None,
        Reruns::Steady => (Exit::Refused, steady(seen), "repair it"),
        Reruns::Neither => (
            Exit::Review,
            format!("{} runs did not show one failure and two passes at once after it; {told}", seen.len()),
            "run again with more --runs; there may be nothing to freeze",
        ),
        Reruns::Unknown(why) => (Exit::Unreadable, format!("a run has no verdict on it: {why}"), "make the command run it"),
        Reruns::Moved(digest) => {
            (Exit::Refused, format!("a run left other fixtures ({digest}): it is drift and no flake"), "find what writes to the fixtures")
        }
    };
    Some(Refusal { exit, test: test.0.clone(), says, next: next.to_owned() })
}

/// Keeps the evidence beside the freeze file, under its own digest.
fn keep(repo: &Repo, freeze: &Path, sha256: &str, bytes: &[u8]) -> Result<(), Failure> {
    let top = repo.top().map(Path::to_path_buf).or_else(|| freeze.parent().map(Path::to_path_buf)).unwrap_or_default();
    let put: Result<bool, RecordError> = create(&top, record::KEPT, &Evidence::file_name(sha256), bytes);
    put.map(|_| ()).map_err(Into::into)
}
