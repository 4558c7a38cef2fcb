//! `seedgate ledger replay-base`: asks the base about the shrunk inputs, and decides.

use std::path::{Path, PathBuf};

use crate::cli::{self, Failure, ledger as command, open, runner, trial};
use crate::finding::{Exit, PropId};
use crate::repo::Repo;
use crate::report;
use crate::tree::Oid;
use crate::trial::interrupt;
use crate::trial::replay::{self, Base, jobs};
use crate::trial::trees::Trees;
use crate::witness::decide::{Action, Verdict};
use crate::witness::ledger::{self, Ledger, LedgerError, Row};
use crate::witness::value::Input;

/// Replay the shrunk inputs of the ledger on the base, nothing else, and decide what is to be done about each.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  seedgate ledger replay-base --base origin/main
  seedgate ledger replay-base --base HEAD~1 --ledger .seedgate/ledger.json
  seedgate ledger replay-base --base origin/main --runner ssh
  seedgate ledger replay-base --base origin/main --json

The base passes: the input is to be promoted. The base fails too: it is quarantined, which does not clear the patch. No verdict (the base
has no such property, the answer is not the same twice, two machines differ, something went wrong): stop, for that is no pass.

Exit codes: 0 nothing blocks, 2 a row is quarantined or stopped, or a pinned file moved, 65 the ledger cannot be read, or there is none,
69 no interpreter, 70 fault or interrupted.")]
pub(super) struct Args {
    /// The base.
    #[arg(long, value_name = "REV")]
    base: String,
    /// The ledger.
    #[arg(long, value_name = "FILE", default_value = ledger::PATH)]
    ledger: PathBuf,
    /// Print seedgate.replay-base/1.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    runner: runner::RunnerArgs,
    #[command(flatten)]
    worker: trial::WorkerArgs,
}

/// What was decided about a row.
pub(super) struct Decided {
    /// The row.
    pub(super) row: Row,
    /// What the base said, in words, when it is not a pass.
    pub(super) says: Option<String>,
}

pub(super) fn run(args: &Args) -> Result<Exit, Failure> {
    let repo = open()?;
    let base = repo.resolve(&args.base)?;
    if let Some(exit) = trial::moved(&repo, &args.ledger, &base)? {
        return Ok(exit);
    }
    let decided = record(&repo, &base, &args.ledger, (&args.worker, Some(&args.runner)))?;
    let rows: Vec<(&Row, Option<&str>)> = decided.iter().map(|decided| (&decided.row, decided.says.as_deref())).collect();
    let exit = exit(&decided);
    report::out(&if args.json {
        report::json(&report::settled_json(&base, &rows, exit))
    } else {
        report::decided_text(&rows, report::out_style())
    });
    Ok(exit)
}

/// Whether one of them blocks.
fn exit(decided: &[Decided]) -> Exit {
    let blocks = decided.iter().any(|decided| decided.row.decision.is_some_and(Action::blocks));
    if blocks { Exit::Refused } else { Exit::Clear }
}

/// Replays, decides and records.
pub(super) fn record(repo: &Repo, base: &Oid, path: &Path, by: By<'_>) -> Result<Vec<Decided>, Failure> {
    let known = command::read(path)?;
    let open: Vec<&Row> = known.rows().iter().filter(|row| is_open(row)).collect();
    let asked: Vec<(PropId, Input)> =
        open.iter().filter(|row| row.patch == Verdict::Fail).map(|row| (row.prop_id.clone(), row.input().clone())).collect();
    let verdicts = ask(repo, base, &asked, by)?;
    let answers: Vec<((PropId, Input), Base)> = asked.into_iter().zip(verdicts).collect();
    let keys: Vec<(PropId, String)> = open.iter().map(|row| (row.prop_id.clone(), row.input_sha256().to_owned())).collect();
    Ok(ledger::update(path, |ledger| Ok::<_, LedgerError>(keys.iter().filter_map(|key| settle(ledger, key, base, &answers)).collect()))?)
}

/// Failing, not promoted yet, and nobody settled it.
fn is_open(row: &Row) -> bool {
    row.is_failing() && row.witness.is_none() && row.resolved.is_none()
}

/// The worker, and where jobs run when somebody said so.
pub(super) type By<'a> = (&'a trial::WorkerArgs, Option<&'a runner::RunnerArgs>);

fn ask(repo: &Repo, base: &Oid, asked: &[(PropId, Input)], (worker, runner): By<'_>) -> Result<Vec<Base>, Failure> {
    if asked.is_empty() {
        return Ok(Vec::new());
    }
    interrupt::watch();
    let (facts, tree) = (cli::remembered(), repo.tree(Some(base))?);
    if let Some(runner) = runner.filter(|runner| runner.place().is_some()) {
        let fleet = runner.fleet(repo, &tree, worker)?;
        let progress = report::Progress::new("jobs run:", asked.len() * (1 + usize::from(fleet.far.is_some())));
        let done = jobs::all((repo, &facts, base), &fleet, asked, (&runner.runs, &|| progress.step()));
        drop(progress);
        facts.flush();
        let (verdicts, judged) = done?;
        runner::tell(&fleet, &judged, &runner.runs);
        return Ok(verdicts);
    }
    let config = worker.config(repo, &tree)?;
    let progress = report::Progress::new("inputs replayed on the base:", asked.len());
    let verdicts = replay::all(repo, &facts, &Trees::of_user()?, &config, base, (asked, &|| progress.step()));
    drop(progress);
    facts.flush();
    Ok(verdicts?)
}

/// Writes the base's answer into a row; one that got another input meanwhile keeps what it has.
fn settle(ledger: &mut Ledger, (id, sha256): &(PropId, String), base: &Oid, answers: &[((PropId, Input), Base)]) -> Option<Decided> {
    let row = ledger.row_mut(id, sha256).filter(|row| is_open(row))?;
    let answer = answers.iter().find(|((of, input), _)| of == id && input == row.input()).map(|(_, answer)| answer);
    let (verdict, says) = match answer {
        Some(Base::Pass) => (Some(Verdict::Pass), None),
        Some(Base::Fail(how)) => (Some(Verdict::Fail), Some(how.clone())),
        Some(Base::Unknown(why)) => (Some(Verdict::Unknown), Some(why.clone())),
        None if row.patch == Verdict::Flake => (None, Some("it failed once on the patch and not again".to_owned())),
        None => return None,
    };
    (row.base, row.base_sha) = (verdict, verdict.map(|_| base.clone()));
    row.decide(false);
    Some(Decided { row: row.clone(), says })
}
