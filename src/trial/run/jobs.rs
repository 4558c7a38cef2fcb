//! Owns a run of properties by jobs: one for each property and source of inputs. This machine decides; exploratory seeds run where the fleet reaches.

use std::collections::BTreeMap;
use std::path::Path;

use crate::gate::facts::Facts;
use crate::gate::inventory;
use crate::repo::Repo;
use crate::trial::TrialError;
use crate::trial::record::{From, Props, Run, Status};
use crate::trial::run::{Order, Subject, most, props, subjects, unmet};
use crate::trial::runner::duplicate::{self, About, Judged};
use crate::trial::runner::fleet::Fleet;
use crate::trial::runner::job::{self, Again, Bench, Job, Kind, Memory};
use crate::trial::runner::verdict::Ran;
use crate::trial::runner::{Outcome, Unknown};
use crate::trial::trees::Source;
use crate::trial::worker::outcome::Refusal;
use crate::witness::value::Input;

/// Most inputs: they are held in memory until their jobs are done.
const INPUTS: u64 = 20_000_000;

/// Where a job's inputs come from: which property, and what its run is called.
struct Asked {
    subject: usize,
    from: From,
    inputs: Vec<Input>,
}

/// Runs properties as jobs, and gives what the runners said of those that count.
///
/// # Errors
/// When something that must be read cannot be, or somebody wants it to end.
pub fn run(
    (repo, facts): (&Repo, &Facts),
    fleet: &Fleet,
    order: &Order,
    (runs, told): (&Path, &(dyn Fn() + Sync)),
) -> Result<(Props, Vec<Judged>), TrialError> {
    let source = Source::candidate(repo, &order.base, &order.patch, order.part)?;
    let tree = source.tree();
    let inventory = inventory::of_tree(&tree, facts)?;
    let (mut subjects, mut rows) = subjects(order, &inventory)?;
    let inputs: u64 = subjects.iter().map(|subject| most(subject, order)).fold(0, u64::saturating_add);
    if inputs > INPUTS {
        return Err(TrialError::Name(format!(
            "{inputs} inputs are more than the {INPUTS} that are sent as jobs; run fewer trials, seeds or properties"
        )));
    }
    let (bound, mut worker) = (BTreeMap::new(), None);
    let about = About { tree: &order.patch, bound: &bound, runs, spared: None };
    let listed = listed(order, &subjects);
    let jobs = jobs(&fleet.bench(&tree, Memory::Never)?, order, &subjects, &listed)?;
    let judged = duplicate::all(fleet, &jobs, &about, told)?;
    for (asked, judged) in listed.iter().zip(&judged) {
        take(&mut subjects[asked.subject], asked, &judged.local, order, &mut worker);
    }
    let explored = explored(order, &subjects);
    let jobs = self::jobs(&fleet.bench(&tree, Memory::Welcome)?, order, &subjects, &explored)?;
    for (asked, outcome) in explored.iter().zip(duplicate::explore(fleet, &jobs, &about, told)?) {
        take(&mut subjects[asked.subject], asked, &outcome, order, &mut worker);
    }
    rows.extend(subjects.into_iter().map(|subject| subject.row));
    Ok((props(order, rows, worker), judged))
}

/// Promoted witnesses of all properties first, then the seed list or the whole of a small domain.
fn listed(order: &Order, subjects: &[Subject]) -> Vec<Asked> {
    let mut all = Vec::new();
    for (subject, of) in subjects.iter().enumerate() {
        for (_, fixture, input) in order.promoted.iter().filter(|(id, ..)| *id == of.prop.id) {
            all.push(Asked { subject, from: From::Promoted { fixture: fixture.clone() }, inputs: vec![input.clone()] });
        }
    }
    for (subject, of) in subjects.iter().enumerate() {
        match &of.all {
            Some(inputs) => all.push(Asked { subject, from: From::Exhausted, inputs: inputs.clone() }),
            None => {
                all.extend(order.seeds.iter().map(|seed| drawn(subject, of, From::Seed { seed: seed.to_string() }, *seed, order.trials)));
            }
        }
    }
    all
}

/// Only for what has a verdict so far.
fn explored(order: &Order, subjects: &[Subject]) -> Vec<Asked> {
    let fit = subjects.iter().enumerate().filter(|(_, of)| of.all.is_none() && of.row.refusal.is_none());
    let seeds = |(subject, of)| {
        order.explore.iter().map(move |seed| drawn(subject, of, From::Explore { seed: seed.to_string() }, *seed, order.trials))
    };
    fit.flat_map(seeds).collect()
}

fn drawn(subject: usize, of: &Subject, from: From, seed: u64, trials: u64) -> Asked {
    Asked { subject, from, inputs: (0..trials).map(|n| of.plan.draw(seed, n)).collect() }
}

fn jobs(bench: &Bench, order: &Order, subjects: &[Subject], asked: &[Asked]) -> Result<Vec<Job>, TrialError> {
    let bound = BTreeMap::new();
    let job = |asked: &Asked| {
        let prop = &subjects[asked.subject].prop;
        bench.job(&job::Order {
            kind: Kind::Props,
            parent: &order.base,
            prop_id: &prop.id,
            arguments: &prop.arguments,
            runs: vec![asked.inputs.clone()],
            again: Again::Failures,
            bound: &bound,
        })
    };
    asked.iter().map(job).collect()
}

/// Takes in what a job came to.
fn take(subject: &mut Subject, asked: &Asked, outcome: &Outcome, order: &Order, worker: &mut Option<(String, String)>) {
    let mut run = Run {
        from: asked.from.clone(),
        outcome: Status::Pass,
        ran: 0,
        invalid: 0,
        input: None,
        number: None,
        failure: None,
        refusal: None,
    };
    match &outcome.verdict {
        Ok(verdict) => {
            *worker = worker.take().or_else(|| verdict.worker.clone());
            match (&verdict.refusal, verdict.runs.first()) {
                (None, Some(ran)) => ran_so(&mut run, ran, &asked.inputs),
                (refusal, _) => {
                    refused(&mut run, refusal.clone().unwrap_or_else(|| Refusal::new("no_verdict", "the job says nothing of its inputs")));
                }
            }
        }
        Err(Unknown { word, says }) => refused(&mut run, Refusal::new(word, says.clone())),
    }
    if let Some(refusal) = run.refusal.clone().filter(|_| run.counts()) {
        let is_asked = !order.only.is_empty() || order.promoted.iter().any(|(id, ..)| *id == subject.prop.id);
        if refusal.is_of_the_property() && !is_asked {
            run.outcome = Status::NotRun;
        }
        subject.row.refusal.get_or_insert(refusal);
    }
    subject.row.push(run);
}

fn ran_so(run: &mut Run, ran: &Ran, inputs: &[Input]) {
    (run.ran, run.invalid) = (ran.ran, ran.invalid);
    match &ran.first {
        Some(first) => {
            run.outcome = if first.again { Status::Fail } else { Status::Flake };
            (run.input, run.number, run.failure) =
                (inputs.get(first.number).cloned(), Some(first.number as u64), Some(first.failure.clone()));
        }
        None if ran.invalid == ran.ran => unmet(run),
        None => {}
    }
}

fn refused(run: &mut Run, refusal: Refusal) {
    run.outcome = Status::Error;
    run.refusal = Some(refusal);
}
