//! `seedgate props`: lists properties and runs them on a recorded seed list.

use std::path::{Path, PathBuf};

use crate::cli::{self, Failure, open, runner, trial};
use crate::finding::Exit;
use crate::gate::inventory;
use crate::repo::Repo;
use crate::report;
use crate::strength::record;
use crate::trial::record::Props;
use crate::trial::run::{self, Order, Told, jobs};
use crate::trial::runner::duplicate::Judged;
use crate::trial::session::{Prop, Session};
use crate::trial::trees::{Source, Trees};
use crate::trial::{TrialError, interrupt};
use crate::witness::ledger;

/// Run properties on a recorded seed list. This runs code of the project; the hooks never do.
#[derive(clap::Subcommand)]
pub(super) enum Command {
    List(List),
    Run(Box<Run>),
}

/// List the properties of a revision, their domains, and which of them can be run.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  seedgate props list                        by their cards alone: no project code is run
  seedgate props list --check                import each module too, and say what keeps a property from being run
  seedgate props list --rev origin/main --json

Exit codes: 0 listed, 65 a test file or the policy cannot be read, 69 no interpreter (--check), 70 fault.")]
pub(super) struct List {
    /// The revision.
    #[arg(long, value_name = "REV", default_value = "HEAD")]
    rev: String,
    /// Also make each property ready in a worker: this imports the project's code.
    #[arg(long)]
    check: bool,
    /// Print seedgate.props-list/1.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    worker: trial::WorkerArgs,
}

/// Run properties: promoted witnesses first, then the seed list, then exploratory seeds, which neither block nor clear.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  seedgate props run --seeds .seedgate/seeds.txt --patch HEAD --out .seedgate/props.json
  seedgate props run --patch HEAD --base origin/main --tree production-only --trials 1000
  seedgate props run prop_balance_non_negative --explore 20
  seedgate props run --runner remote --explore 200        the seed list here and there, fresh seeds only there

Exit codes: 0 every property that can be run holds, 2 one failed (or failed once and not again), runners disagree, or a pinned file moved, 64 no such property, 65 one has no
verdict (import, network, time, code from outside the tree) or an input cannot be read, 69 no interpreter, 70 fault or interrupted.")]
pub(super) struct Run {
    /// Ids of properties, or unambiguous ends of them. All when none is named.
    #[arg(value_name = "ID")]
    only: Vec<String>,
    #[command(flatten)]
    candidate: trial::Candidate,
    /// The seed list: one whole number a line.
    #[arg(long, value_name = "FILE", default_value = trial::SEEDS)]
    seeds: PathBuf,
    #[command(flatten)]
    effort: Effort,
    /// The ledger: when it holds a pin, a pinned file that moved stops the run.
    #[arg(long, value_name = "FILE", default_value = ledger::PATH)]
    ledger: PathBuf,
    /// Write seedgate.props/1.
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Print seedgate.props/1.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    runner: runner::RunnerArgs,
    #[command(flatten)]
    worker: trial::WorkerArgs,
}

/// How many inputs.
#[derive(clap::Args)]
pub(super) struct Effort {
    /// Inputs a seed. A domain that is no larger is run as a whole.
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u64).range(1..=1_000_000_000))]
    trials: u64,
    /// So many seeds more, drawn afresh, that neither block nor clear.
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = clap::value_parser!(u64).range(..=1_000_000))]
    explore: u64,
}

pub(super) fn run(command: &Command) -> Result<Exit, Failure> {
    match command {
        Command::List(args) => list(args),
        Command::Run(args) => run_all(args),
    }
}

fn list(args: &List) -> Result<Exit, Failure> {
    let repo = open()?;
    let facts = cli::remembered();
    let source = Source::commit(&repo, &repo.resolve(&args.rev)?)?;
    let tree = source.tree();
    let inventory = inventory::of_tree(&tree, &facts)?;
    facts.flush();
    let mut rows: Vec<(_, _)> = run::chosen(&inventory, &[])?.into_iter().map(|(card, plan)| (card, plan.err())).collect();
    if args.check {
        interrupt::watch();
        let mut session = Session::new(&Trees::of_user()?, &tree, &args.worker.config(&repo, &tree)?)?;
        for (card, refusal) in rows.iter_mut().filter(|(_, refusal)| refusal.is_none()) {
            *refusal = session.open(&Prop::of(card))?.err();
        }
    }
    report::out(&if args.json { report::json(&report::listed_json(&rows)) } else { report::listed_text(&rows, report::out_style()) });
    for (path, why) in &inventory.unreadable {
        report::fault(&format!("{path}: {why}"));
    }
    Ok(if inventory.unreadable.is_empty() { Exit::Clear } else { Exit::Unreadable })
}

fn run_all(args: &Run) -> Result<Exit, Failure> {
    let repo = open()?;
    if let Some(exit) = trial::moved(&repo, &args.ledger, &args.candidate.ends(&repo)?.patch)? {
        return Ok(exit);
    }
    let (props, exit) = match args.runner.place() {
        Some(_) => measure_jobs(args)?,
        None => (measure(&args.candidate, &args.seeds, &args.effort, &args.only, &args.worker)?, Exit::Clear),
    };
    if let Some(path) = &args.out {
        record::replace(path, report::json_of(&props).as_bytes())?;
    }
    report::out(&if args.json { report::json_of(&props) } else { report::props_text(&props, report::out_style()) });
    Ok(props.exit().worst(exit))
}

/// The same by jobs; the exit is what runners that disagree ask for.
fn measure_jobs(args: &Run) -> Result<(Props, Exit), Failure> {
    let repo = open()?;
    let facts = cli::remembered();
    let order = order(&repo, &args.candidate, &args.seeds, &args.effort, &args.only)?;
    let fleet = args.runner.fleet(&repo, &repo.tree(Some(&order.base))?, &args.worker)?;
    interrupt::watch();
    let progress = report::Counter::new("jobs run:");
    let done = jobs::run((&repo, &facts), &fleet, &order, (&args.runner.runs, &|| progress.add(1)));
    drop(progress);
    facts.flush();
    let (props, judged) = done?;
    runner::tell(&fleet, &judged, &args.runner.runs);
    let disagree = judged.iter().any(Judged::disagrees);
    Ok((props, if disagree { Exit::Refused } else { Exit::Clear }))
}

/// Runs the properties of a candidate.
pub(super) fn measure(
    candidate: &trial::Candidate,
    seeds: &Path,
    effort: &Effort,
    only: &[String],
    worker: &trial::WorkerArgs,
) -> Result<Props, Failure> {
    let repo = open()?;
    let facts = cli::remembered();
    let order = order(&repo, candidate, seeds, effort, only)?;
    let config = worker.config(&repo, &repo.tree(Some(&order.base))?)?;
    interrupt::watch();
    let progress = report::Counter::new("inputs run:");
    let told = Told { total: &|total| progress.total(total), ran: &|ran| progress.add(ran) };
    let props = run::run(&repo, &facts, &Trees::of_user()?, &config, &order, &told);
    drop(progress);
    facts.flush();
    Ok(props?)
}

fn order(repo: &Repo, candidate: &trial::Candidate, seeds: &Path, effort: &Effort, only: &[String]) -> Result<Order, Failure> {
    let ends = candidate.ends(repo)?;
    Ok(Order {
        seeds: trial::seeds(seeds)?,
        trials: effort.trials,
        explore: trial::fresh(effort.explore),
        only: only.to_vec(),
        promoted: trial::promoted(repo, &ends)?,
        patch: ends.patch,
        base: ends.base,
        part: candidate.part(),
    })
}

impl From<TrialError> for Failure {
    fn from(error: TrialError) -> Self {
        Failure { exit: error.exit(), says: error.to_string() }
    }
}
