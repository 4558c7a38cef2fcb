//! `seedgate witness`: the whole chain for a person, from the pin to what is to be committed.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::cli::promote::Promoted;
use crate::cli::{self, Failure, open, promote, props, replay, shrink, trial};
use crate::finding::Exit;
use crate::freeze::file as freeze;
use crate::gate::pins;
use crate::repo::Repo;
use crate::report;
use crate::strength::record;
use crate::tree::Oid;
use crate::witness::ledger::{self, LedgerError, Row};
use crate::witness::promote as witnesses;

/// Run the properties of a change, shrink what fails, replay it on the base, decide, and promote: the whole chain in one command.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  seedgate witness                                the last commit, against the merge target or its parent
  seedgate witness --base origin/main --trials 1000
  seedgate witness --python .venv/bin/python --tree full

It pins the base where nothing is pinned, writes .seedgate/seeds.txt where there is no seed list, and leaves its records in .seedgate.
What it promotes lies in tests/fixtures/promoted and is yours to commit.

Exit codes: 0 every property that can be run holds, 2 something failed, or a pinned file moved, 65 a property has no verdict or a file
cannot be read, 69 no interpreter, 70 fault or interrupted.")]
pub(super) struct Args {
    #[command(flatten)]
    candidate: trial::Candidate,
    /// The seed list: one whole number a line.
    #[arg(long, value_name = "FILE", default_value = trial::SEEDS)]
    seeds: PathBuf,
    #[command(flatten)]
    effort: props::Effort,
    #[command(flatten)]
    steps: shrink::Steps,
    /// The ledger.
    #[arg(long, value_name = "FILE", default_value = ledger::PATH)]
    ledger: PathBuf,
    /// Where the record of the run goes.
    #[arg(long, value_name = "FILE", default_value = trial::PROPS)]
    props: PathBuf,
    #[command(flatten)]
    worker: trial::WorkerArgs,
}

/// The list that is written where there is none. What the numbers are does not matter, as long as they stay.
const LIST: &str = "# The seeds of the merge gate, one a line. Add some; taking one out takes inputs out.\n1\n2\n3\n4\n5\n6\n7\n8\n";

pub(super) fn run(args: &Args) -> Result<Exit, Failure> {
    let repo = open()?;
    let ends = args.candidate.ends(&repo)?;
    let mut written: BTreeSet<String> = BTreeSet::new();
    if !args.seeds.exists() {
        write(&args.seeds, LIST.as_bytes())?;
        written.insert(args.seeds.display().to_string());
    }
    if pin(&repo, &args.ledger, &ends.base)? {
        written.insert(args.ledger.display().to_string());
    }
    if let Some(exit) = trial::moved(&repo, &args.ledger, &ends.patch)? {
        return Ok(exit);
    }
    let props = props::measure(&args.candidate, &args.seeds, &args.effort, &[], &args.worker)?;
    write(&args.props, report::json_of(&props).as_bytes())?;
    report::out(&report::props_text(&props, report::out_style()));
    let found = shrink::record(&repo, &props, &args.ledger, &args.steps, &args.worker)?;
    let mut promoted = Promoted { witnesses: Vec::new(), closed: Vec::new() };
    if !found.is_empty() {
        report::out(&report::shrunk_text(&found, report::out_style()));
        promoted = settle(args, &repo, &props.base)?;
        written.insert(args.ledger.display().to_string());
    }
    written.extend(promoted.witnesses.iter().map(|(_, path)| path.clone()));
    written.extend((!promoted.closed.is_empty()).then(|| freeze::PATH.to_owned()));
    let paths: Vec<String> = written.into_iter().collect();
    report::out(&match promoted.witnesses.is_empty() {
        true => report::to_commit(&paths),
        false => report::promoted_text(&promoted.witnesses, &promoted.closed, &paths, report::out_style()),
    });
    Ok(props.exit())
}

/// Replays, decides and promotes.
fn settle(args: &Args, repo: &Repo, base: &Oid) -> Result<Promoted, Failure> {
    let decided = replay::record(repo, base, &args.ledger, (&args.worker, None))?;
    let rows: Vec<(&Row, Option<&str>)> = decided.iter().map(|decided| (&decided.row, decided.says.as_deref())).collect();
    report::out(&report::decided_text(&rows, report::out_style()));
    let Some(top) = repo.top() else { return Ok(Promoted { witnesses: Vec::new(), closed: Vec::new() }) };
    ledger::update(&args.ledger, |ledger| promote::all(ledger, &top.join(witnesses::FOLDER), Path::new(freeze::PATH)))
}

/// Pins the base where nothing is pinned yet. Whether it did.
fn pin(repo: &Repo, path: &Path, base: &Oid) -> Result<bool, Failure> {
    if ledger::read(path)?.is_some_and(|ledger| ledger.pin.is_some()) {
        return Ok(false);
    }
    let facts = cli::remembered();
    let pin = pins::of_commit(repo, &facts, base)?;
    facts.flush();
    trial::make_folder(path)?;
    Ok(ledger::update(path, |ledger| Ok::<_, LedgerError>(ledger.pin.replace(pin).is_none()))?)
}

fn write(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    trial::make_folder(path)?;
    Ok(record::replace(path, bytes)?)
}
