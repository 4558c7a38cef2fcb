//! `seedgate candidates`: proposed inputs, taken or discarded, pinned, and replayed.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::cli::{self, Failure, open, runner, trial};
use crate::finding::Exit;
use crate::gate::inventory::{self, Inventory};
use crate::repo::Repo;
use crate::report;
use crate::strength::card::Card;
use crate::strength::cards::CardSet;
use crate::strength::delta::{self, Cleared};
use crate::strength::record;
use crate::tree::Oid;
use crate::trial::candidates::replay::{self, Held};
use crate::trial::candidates::{self, Pinned};
use crate::trial::runner::duplicate::{self, About, Judged};
use crate::trial::runner::evidence::Runs;
use crate::trial::runner::job::Memory;
use crate::trial::session::{Prop, Session};
use crate::trial::shrink::{self, Effort, Raw};
use crate::trial::trees::{Source, Trees};
use crate::trial::worker::outcome;
use crate::trial::{TrialError, interrupt};
use crate::witness::decide::Verdict;
use crate::witness::generate::Plan;
use crate::witness::ledger::{self, LedgerError, Row};

/// Where the pinned file lies.
const PATH: &str = ".seedgate/candidates.json";
/// Where the delta lies.
const DELTA: &str = ".seedgate/strength_delta.json";
/// What counterexamples are called beside the delta.
const COUNTEREXAMPLES: &str = "counterexamples.json";

/// Inputs that somebody (a model, say) proposes for a property: read once, pinned, and judged by the property alone.
#[derive(clap::Subcommand)]
pub(super) enum Command {
    Accept(Accept),
    Replay(Replay),
}

/// Read proposals, a JSON object of arguments a line, each once; pin those that the property's domain holds.
#[derive(clap::Args)]
#[command(
    after_help = "What is no input, or outside the domain, is discarded and recorded with its reason and without its text. Nothing that is expected of an
input is taken, and no fixture is written. Only a change that weakens nothing comes so far: its cards are compared first.

Examples:
  seedgate candidates accept --property prop_balance_non_negative --base HEAD~1 proposals.jsonl
  ask-a-model | seedgate candidates accept --property prop_balance_non_negative --base origin/main --out .seedgate/candidates.json
  seedgate candidates accept --property prop_balance_non_negative --json < proposals.jsonl

Exit codes: 0 pinned (whatever was discarded), 2 something weakened, or the file is there already with other candidates, 3 there are new tests
to look at first, 64 no such property, 65 literals do not give its domain, or an input cannot be read, 70 fault."
)]
pub(super) struct Accept {
    /// The property: its id, or an unambiguous end of it.
    #[arg(long, value_name = "ID")]
    property: String,
    /// The proposals; `-` is standard input.
    #[arg(value_name = "FILE", default_value = "-")]
    from: PathBuf,
    #[command(flatten)]
    change: Change,
    /// Where the pinned file goes (seedgate.candidates/1).
    #[arg(long, value_name = "FILE", default_value = PATH)]
    out: PathBuf,
    /// Print seedgate.candidates/1.
    #[arg(long)]
    json: bool,
}

/// The change whose cards are compared.
#[derive(clap::Args)]
struct Change {
    /// What it is held against.
    #[arg(long, value_name = "REV")]
    base: Option<String>,
    /// The commit under judgement.
    #[arg(long, value_name = "REV", default_value = "HEAD")]
    patch: String,
    /// Where the comparison goes (seedgate.delta/1); counterexamples are saved beside it.
    #[arg(long, value_name = "FILE", default_value = DELTA)]
    delta: PathBuf,
}

/// Run the pinned candidates on the change. One that fails is a counterexample for the ledger; it freezes nothing.
#[derive(clap::Args)]
#[command(
    after_help = "Two runs use the same pinned file or the second is refused: other candidates are another experiment. With `--runner ssh` or `remote` this machine
runs them first, and the other one is a duplicate: what it cannot say changes nothing, and what it says otherwise is recorded as `disagree`.

Examples:
  seedgate cards snapshot --rev HEAD --out .seedgate/patch_cards.json
  seedgate candidates replay --cards .seedgate/patch_cards.json --candidates .seedgate/candidates.json --runner local
  seedgate candidates replay --cards .seedgate/patch_cards.json --candidates .seedgate/candidates.json --runner remote
  seedgate candidates replay --cards .seedgate/patch_cards.json --runner ssh --json

Exit codes: 0 every candidate held, 2 one failed, runners disagree, something weakened, or a pinned file is another one, 3 new tests to look
at first, 65 a candidate has no verdict here or a file cannot be read, 69 no interpreter or no such runner, 70 fault or interrupted."
)]
pub(super) struct Replay {
    /// The cards of the change, as `cards snapshot` wrote them.
    #[arg(long, value_name = "FILE")]
    cards: PathBuf,
    /// The pinned file.
    #[arg(long, value_name = "FILE", default_value = PATH)]
    candidates: PathBuf,
    #[command(flatten)]
    change: Change,
    /// The ledger.
    #[arg(long, value_name = "FILE", default_value = ledger::PATH)]
    ledger: PathBuf,
    /// Most calls of the property to make one counterexample small; they are made as `ledger shrink` makes them, outside bubblewrap. 0: none.
    #[arg(long, value_name = "N", default_value_t = 1000)]
    max_steps: u64,
    /// A remembered result of the same job will do: this explores, it does not clear.
    #[arg(long)]
    cached: bool,
    /// Print seedgate.candidates-replay/1.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    runner: runner::RunnerArgs,
    #[command(flatten)]
    worker: trial::WorkerArgs,
}

/// Both ends, and the cards at the end under judgement.
struct Compared {
    base: Oid,
    patch: Oid,
    inventory: Inventory,
    cleared: Cleared,
}

pub(super) fn run(command: &Command) -> Result<Exit, Failure> {
    match command {
        Command::Accept(args) => accept(args),
        Command::Replay(args) => replay(args),
    }
}

fn accept(args: &Accept) -> Result<Exit, Failure> {
    let repo = open()?;
    let base = match &args.change.base {
        Some(named) => repo.resolve(named)?,
        None => parent(&repo, &args.change.patch)?,
    };
    let compared = match compared(&repo, base, &args.change)? {
        Ok(compared) => compared,
        Err(exit) => return Ok(exit),
    };
    let card = compared.inventory.cards.find(&args.property)?;
    let pinned = candidates::accept(&compared.cleared, card, compared.base, &proposals(&args.from)?)?;
    let text = pinned.to_text();
    match fs::read(&args.out) {
        Ok(known) if known != text.as_bytes() => {
            report::err(&report::pinned_already(&args.out));
            return Ok(Exit::Refused);
        }
        Ok(_) => {}
        Err(_) => {
            make_folder(&args.out)?;
            record::replace(&args.out, text.as_bytes())?;
        }
    }
    report::out(&if args.json { text } else { report::accepted_text(&pinned, &args.out, report::out_style()) });
    Ok(Exit::Clear)
}

fn replay(args: &Replay) -> Result<Exit, Failure> {
    let repo = open()?;
    let (pinned, sha256) = Pinned::read(&args.candidates)?;
    if let Some(exit) = is_other(args, &repo, &pinned, &sha256)? {
        return Ok(exit);
    }
    let compared = match compared(&repo, pinned.parent.clone(), &args.change)? {
        Ok(compared) => compared,
        Err(exit) => return Ok(exit),
    };
    let stated = read_cards(&args.cards)?;
    let (Some(card), Some(stated)) = (compared.inventory.cards.get(&pinned.property), stated.get(&pinned.property)) else {
        return Err(Failure::usage(format!("{} is not among the cards", pinned.property)));
    };
    if candidates::card_sha256(stated) != pinned.card_sha256 || candidates::card_sha256(card) != pinned.card_sha256 {
        report::err(&report::card_moved(&pinned));
        return Ok(Exit::Refused);
    }
    interrupt::watch();
    let judged = judge(args, &repo, &compared, (&pinned, &sha256), card)?;
    let held = replay::held(&pinned, judged.iter().map(|one| &one.local));
    let found = keep(args, &repo, &compared.patch, (&pinned, &sha256), (card, &held))?;
    let exit = exit(&held, &judged);
    report::out(&if args.json {
        report::json(&report::replayed_json(&pinned, &sha256, &held, &found, (&judged, exit)))
    } else {
        report::replayed_text(&pinned, &held, &found, report::out_style())
    });
    Ok(exit)
}

/// What stops a replay before anything is compared: another parent, or another experiment than the last.
fn is_other(args: &Replay, repo: &Repo, pinned: &Pinned, sha256: &str) -> Result<Option<Exit>, Failure> {
    let named = args.change.base.as_ref().map(|named| repo.resolve(named)).transpose()?;
    if let Some(other) = named.filter(|named| *named != pinned.parent) {
        report::err(&report::other_parent(pinned, &other));
        return Ok(Some(Exit::Refused));
    }
    let runs = Runs::read(&args.runner.runs)?;
    let other = runs.other_candidates(&pinned.property, &pinned.parent, sha256);
    if let Some(other) = other {
        report::err(&report::other_candidates(pinned, sha256, other, &args.runner.runs));
    }
    Ok(other.map(|_| Exit::Refused))
}

fn judge(args: &Replay, repo: &Repo, compared: &Compared, (pinned, sha256): (&Pinned, &str), card: &Card) -> Result<Vec<Judged>, Failure> {
    let fleet = args.runner.fleet(repo, &repo.tree(Some(&compared.base))?, &args.worker)?;
    let source = Source::commit(repo, &compared.patch)?;
    let memory = if args.cached { Memory::Welcome } else { Memory::Never };
    let bench = fleet.bench(&source.tree(), memory)?;
    let bound = BTreeMap::from([("candidates".to_owned(), sha256.to_owned()), ("card".to_owned(), pinned.card_sha256.clone())]);
    let jobs = replay::jobs(&compared.cleared, pinned, card, &bench, &bound)?;
    let total = jobs.len() * (1 + usize::from(fleet.far.is_some()));
    let progress = report::Progress::new("jobs run:", total);
    let about = About { tree: &compared.patch, bound: &bound, runs: &args.runner.runs, spared: None };
    let judged = duplicate::all(&fleet, &jobs, &about, &|| progress.step());
    drop(progress);
    let judged = judged?;
    runner::tell(&fleet, &judged, &args.runner.runs);
    Ok(judged)
}

/// Saves what failed beside the delta and in the ledger, the smallest that fails the same way. Where there is nothing, nothing is touched.
fn keep(
    args: &Replay,
    repo: &Repo,
    patch: &Oid,
    (pinned, sha256): (&Pinned, &str),
    (card, held): (&Card, &[Held]),
) -> Result<Vec<Row>, Failure> {
    let Some(counterexamples) = replay::counterexamples(pinned, sha256, patch, held) else { return Ok(Vec::new()) };
    let beside = args.change.delta.with_file_name(COUNTEREXAMPLES);
    record::replace(&beside, report::json_of(&counterexamples).as_bytes())?;
    let mut rows = Vec::new();
    for (input, held) in pinned.candidates.iter().zip(held) {
        let Held::Failed(failure, again) = held else { continue };
        let verdict = if *again { Verdict::Fail } else { Verdict::Flake };
        let mut row = Row::new(pinned.property.clone(), input.clone(), None, verdict, patch.clone());
        row.failure = Some(failure.told());
        rows.push((row, failure));
    }
    if args.max_steps > 0 {
        shrink(args, (repo, &pinned.parent), &mut rows, card)?;
    }
    let rows: Vec<Row> = rows.into_iter().map(|(row, _)| row).collect();
    make_folder(&args.ledger)?;
    ledger::update(&args.ledger, |ledger| {
        rows.iter().for_each(|row| ledger.record(row.clone()));
        Ok::<(), LedgerError>(())
    })?;
    Ok(rows)
}

/// Makes what failed twice small, in a worker on this machine.
fn shrink(args: &Replay, (repo, base): (&Repo, &Oid), rows: &mut [(Row, &outcome::Failure)], card: &Card) -> Result<(), Failure> {
    let Some(patch) = rows.first().map(|(row, _)| row.patch_sha.clone()) else { return Ok(()) };
    let source = Source::commit(repo, &patch)?;
    let config = args.worker.config(repo, &repo.tree(Some(base))?)?;
    let mut session = Session::new(&Trees::of_user()?, &source.tree(), &config)?;
    let (prop, plan) = (Prop::of(card), Plan::of(&card.domain).ok());
    let effort = Effort { max_steps: args.max_steps, reducer: None };
    for (row, failure) in rows.iter_mut().filter(|(row, _)| row.patch == Verdict::Fail) {
        let raw = Raw { prop: &prop, plan: plan.as_ref(), input: &row.raw().clone(), failure };
        if let Some(small) = shrink::shrink(&mut session, &raw, &effort)? {
            (row.shrunk, row.steps) = (Some(small.input), Some(small.steps));
        }
    }
    Ok(())
}

fn exit(held: &[Held], judged: &[Judged]) -> Exit {
    let each = held.iter().map(|held| match held {
        Held::Held | Held::Invalid => Exit::Clear,
        Held::Failed(..) => Exit::Refused,
        Held::Unknown(_) => Exit::Unreadable,
    });
    let disagree = judged.iter().any(Judged::disagrees).then_some(Exit::Refused);
    each.chain(disagree).fold(Exit::Clear, Exit::worst)
}

/// Compares the cards of both ends and writes that down; the exit, when something weakened or is new.
fn compared(repo: &Repo, base: Oid, change: &Change) -> Result<Result<Compared, Exit>, Failure> {
    let (facts, patch) = (cli::remembered(), repo.resolve(&change.patch)?);
    let (before, inventory) = (inventory::of_commit(repo, &base, &facts)?, inventory::of_commit(repo, &patch, &facts)?);
    facts.flush();
    if let Some((path, why)) = before.unreadable.iter().chain(&inventory.unreadable).next() {
        return Err(Failure { exit: Exit::Unreadable, says: format!("{path}: {why}") });
    }
    let cards = |inventory: &Inventory| inventory.cards.cards().cloned().collect::<Vec<Arc<Card>>>();
    let delta = delta::compare(&cards(&before), &cards(&inventory));
    make_folder(&change.delta)?;
    record::replace(&change.delta, delta.to_text().as_bytes())?;
    let (exit, text) = (delta.exit(), report::delta_text(&delta, report::err_style()));
    let Some(cleared) = delta.cleared() else {
        report::err(&text);
        report::note(Some("candidates come after a change that weakens nothing and brings no new test"));
        return Ok(Err(exit));
    };
    Ok(Ok(Compared { base, patch, inventory, cleared }))
}

fn parent(repo: &Repo, patch: &str) -> Result<Oid, Failure> {
    let first = repo.commit(&repo.resolve(patch)?)?.parents.into_iter().next();
    first.ok_or_else(|| Failure { exit: Exit::Unreadable, says: format!("{patch} has no parent to be held against; name one with --base") })
}

fn proposals(from: &Path) -> Result<Vec<u8>, Failure> {
    let wrong = |says: String| Failure::from(TrialError::Input { path: from.to_path_buf(), says });
    let mut bytes = Vec::new();
    let read = match from.to_str() {
        Some("-") => io::stdin().take(candidates::CAP + 1).read_to_end(&mut bytes),
        _ => fs::File::open(from).and_then(|file| file.take(candidates::CAP + 1).read_to_end(&mut bytes)),
    };
    read.map_err(|error| wrong(error.to_string()))?;
    if bytes.len() as u64 > candidates::CAP {
        Err(wrong(format!("more than the {} bytes that are read", candidates::CAP)))
    } else {
        Ok(bytes)
    }
}

fn read_cards(path: &Path) -> Result<CardSet, Failure> {
    let wrong = |why: &dyn std::fmt::Display| Failure { exit: Exit::Unreadable, says: format!("{}: {why}", path.display()) };
    let text = fs::read_to_string(path).map_err(|error| wrong(&error))?;
    CardSet::parse(&text).map_err(|error| wrong(&error))
}

fn make_folder(path: &Path) -> Result<(), Failure> {
    let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) else { return Ok(()) };
    fs::create_dir_all(folder).map_err(|error| Failure { exit: Exit::Fault, says: format!("{}: {error}", folder.display()) })
}
