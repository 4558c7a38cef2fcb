//! Owns a run of properties: which are run, on which inputs, in which order, and what is kept of it.

pub mod jobs;

use std::sync::Arc;

use crate::finding::PropId;
use crate::gate::facts::Facts;
use crate::gate::inventory::{self, Inventory};
use crate::repo::Repo;
use crate::strength::card::{Card, Kind};
use crate::strength::cards;
use crate::tree::Oid;
use crate::trial::TrialError;
use crate::trial::record::{From, Props, Row, Run, SCHEMA, Status};
use crate::trial::session::{Prop, Ran, Session};
use crate::trial::trees::{Part, Source, Trees};
use crate::trial::worker::Config;
use crate::trial::worker::outcome::{Outcome, Refusal};
use crate::witness::generate::Plan;
use crate::witness::value::Input;

/// What is run, and how.
pub struct Order {
    /// The commit under judgement.
    pub patch: Oid,
    /// The commit it is laid over.
    pub base: Oid,
    /// Which part of it.
    pub part: Part,
    /// The seed list.
    pub seeds: Vec<u64>,
    /// Inputs a seed.
    pub trials: u64,
    /// Seeds that are not on the list, to be run last.
    pub explore: Vec<u64>,
    /// Ids or unambiguous ends of them; all properties when empty.
    pub only: Vec<String>,
    /// Promoted witnesses: property, the fixture's path, input.
    pub promoted: Vec<(PropId, String, Input)>,
}

/// Hears how far a run is.
pub struct Told<'a> {
    /// How many inputs there will be at most, once it is known.
    pub total: &'a dyn Fn(u64),
    /// So many more ran, or will not be.
    pub ran: &'a dyn Fn(u64),
}

/// One property on its way.
struct Subject {
    prop: Prop,
    plan: Plan,
    /// The whole domain, when it is small.
    all: Option<Vec<Input>>,
    row: Row,
}

/// The properties of a tree, each with its plan or why there is none.
///
/// # Errors
/// When a name means none or several.
pub fn chosen(inventory: &Inventory, only: &[String]) -> Result<Vec<(Card, Result<Plan, Refusal>)>, cards::CardsError> {
    let ids = || inventory.cards.cards().filter(|card| card.kind == Kind::Property).map(|card| &card.prop_id);
    let only: Vec<&PropId> = only.iter().map(|name| cards::named(name, ids())).collect::<Result<_, _>>()?;
    let wanted = |card: &&Arc<Card>| card.kind == Kind::Property && (only.is_empty() || only.contains(&&card.prop_id));
    let plan = |card: &Card| Plan::of(&card.domain).map_err(|why| Refusal::new("undrawable", why.to_string()));
    Ok(inventory.cards.cards().filter(wanted).map(|card| (Card::clone(card), plan(card))).collect())
}

/// Runs properties.
///
/// # Errors
/// When something that must be read cannot be, there is no worker, or somebody wants it to end.
pub fn run(repo: &Repo, facts: &Facts, trees: &Trees, config: &Config, order: &Order, told: &Told<'_>) -> Result<Props, TrialError> {
    let source = Source::candidate(repo, &order.base, &order.patch, order.part)?;
    let tree = source.tree();
    let inventory = inventory::of_tree(&tree, facts)?;
    let (mut subjects, mut rows) = subjects(order, &inventory)?;
    let mut runner = Runner { session: Session::new(trees, &tree, config)?, order, told, runs_on: None };
    (told.total)(subjects.iter().map(|subject| most(subject, order)).sum());
    runner.all(&mut subjects)?;
    rows.extend(subjects.into_iter().map(|subject| subject.row));
    Ok(props(order, rows, runner.runs_on))
}

/// The properties that can be drawn from, and the rows of those that cannot.
fn subjects(order: &Order, inventory: &Inventory) -> Result<(Vec<Subject>, Vec<Row>), TrialError> {
    let chosen = chosen(inventory, &order.only).map_err(|error| TrialError::Name(error.to_string()))?;
    let (mut subjects, mut rows) = (Vec::new(), Vec::new());
    for (card, plan) in chosen {
        let size = card.domain.size().map(|size| size.to_string());
        let mut row = Row { prop_id: card.prop_id.clone(), status: Status::NotRun, domain_size: size, refusal: None, runs: Vec::new() };
        match plan {
            Ok(plan) => subjects.push(Subject {
                prop: Prop::of(&card),
                all: plan.all(usize::try_from(order.trials).unwrap_or(usize::MAX)),
                plan,
                row,
            }),
            Err(refusal) => {
                row.refusal = Some(refusal);
                rows.push(row);
            }
        }
    }
    rows.extend(unheld(order, inventory));
    Ok((subjects, rows))
}

/// The record, its rows by id.
fn props(order: &Order, mut rows: Vec<Row>, worker: Option<(String, String)>) -> Props {
    rows.sort_by(|one, two| one.prop_id.cmp(&two.prop_id));
    Props {
        schema: SCHEMA.to_owned(),
        patch: order.patch.clone(),
        base: order.base.clone(),
        tree: order.part.name().to_owned(),
        seeds: order.seeds.iter().map(u64::to_string).collect(),
        trials: order.trials,
        worker,
        properties: rows,
    }
}

/// Promoted witnesses of properties that the tree does not have: they cannot be run, and that is no pass.
fn unheld(order: &Order, inventory: &Inventory) -> Vec<Row> {
    let is_gone = |id: &PropId| order.only.is_empty() && inventory.cards.get(id).is_none_or(|card| card.kind != Kind::Property);
    let mut gone: Vec<&PropId> = order.promoted.iter().map(|(id, ..)| id).filter(|id| is_gone(id)).collect();
    gone.sort();
    gone.dedup();
    let row = |id: &PropId| Row {
        prop_id: id.clone(),
        status: Status::Error,
        domain_size: None,
        refusal: Some(Refusal::new("not_found", "it has a promoted witness, and the tree has no such property")),
        runs: Vec::new(),
    };
    gone.into_iter().map(row).collect()
}

/// How many inputs a property has at most.
fn most(subject: &Subject, order: &Order) -> u64 {
    let promoted = order.promoted.iter().filter(|(id, ..)| *id == subject.prop.id).count() as u64;
    let listed = subject.all.as_ref().map_or(order.trials.saturating_mul(order.seeds.len() as u64), |all| all.len() as u64);
    let explored = if subject.all.is_some() { 0 } else { order.trials.saturating_mul(order.explore.len() as u64) };
    promoted.saturating_add(listed).saturating_add(explored)
}

struct Runner<'a> {
    session: Session,
    order: &'a Order,
    told: &'a Told<'a>,
    runs_on: Option<(String, String)>,
}

impl Runner<'_> {
    /// Promoted witnesses of all properties first, then the seed list, then what is exploratory.
    fn all(&mut self, subjects: &mut [Subject]) -> Result<(), TrialError> {
        for subject in subjects.iter_mut() {
            self.open(subject)?;
            self.promoted(subject)?;
        }
        for subject in subjects.iter_mut().filter(|subject| subject.row.refusal.is_none()) {
            self.listed(subject)?;
        }
        for subject in subjects.iter_mut().filter(|subject| subject.row.refusal.is_none() && subject.all.is_none()) {
            for seed in &self.order.explore {
                let from = From::Explore { seed: seed.to_string() };
                self.seed(subject, from, *seed)?;
            }
        }
        Ok(())
    }

    fn open(&mut self, subject: &mut Subject) -> Result<(), TrialError> {
        let opened = self.session.open(&subject.prop)?;
        self.runs_on = self.runs_on.take().or(self.session.runs_on());
        if let Err(refusal) = opened {
            let is_asked = !self.order.only.is_empty() || self.order.promoted.iter().any(|(id, ..)| *id == subject.prop.id);
            let is_wrong = is_asked || !refusal.is_of_the_property();
            subject.row.status = if is_wrong { Status::Error } else { Status::NotRun };
            subject.row.refusal = Some(refusal);
        }
        Ok(())
    }

    fn promoted(&mut self, subject: &mut Subject) -> Result<(), TrialError> {
        if subject.row.refusal.is_some() {
            return Ok(());
        }
        let (order, id) = (self.order, subject.prop.id.clone());
        for (_, fixture, input) in order.promoted.iter().filter(|(of, ..)| *of == id) {
            let from = From::Promoted { fixture: fixture.clone() };
            self.inputs(subject, from, &mut std::iter::once(input.clone()), 1)?;
        }
        Ok(())
    }

    fn listed(&mut self, subject: &mut Subject) -> Result<(), TrialError> {
        if let Some(all) = subject.all.take() {
            let most = all.len() as u64;
            self.inputs(subject, From::Exhausted, &mut all.into_iter(), most)?;
            subject.all = Some(Vec::new());
            return Ok(());
        }
        for seed in &self.order.seeds {
            let from = From::Seed { seed: seed.to_string() };
            self.seed(subject, from, *seed)?;
        }
        Ok(())
    }

    fn seed(&mut self, subject: &mut Subject, from: From, seed: u64) -> Result<(), TrialError> {
        let plan = subject.plan.clone();
        let trials = self.order.trials;
        self.inputs(subject, from, &mut (0..trials).map(|n| plan.draw(seed, n)), trials)
    }

    fn inputs(&mut self, subject: &mut Subject, from: From, inputs: &mut dyn Iterator<Item = Input>, most: u64) -> Result<(), TrialError> {
        let ran = self.session.run(&subject.prop, inputs, self.told.ran)?;
        (self.told.ran)(most.saturating_sub(ran.ran));
        let is_first = subject.row.runs.iter().all(|run| run.failure.is_none());
        let run = self.kept(&subject.prop, from, ran, is_first)?;
        if let Some(refusal) = run.refusal.clone().filter(|_| run.counts()) {
            subject.row.refusal.get_or_insert(refusal);
        }
        subject.row.push(run);
        Ok(())
    }

    /// A failure is tried again, the first of a property where nothing remembers the inputs before it: what does not fail twice is no
    /// witness.
    fn kept(&mut self, prop: &Prop, from: From, ran: Ran, is_first: bool) -> Result<Run, TrialError> {
        let mut run = Run {
            from,
            outcome: Status::Pass,
            ran: ran.ran,
            invalid: ran.invalid,
            input: None,
            number: None,
            failure: None,
            refusal: None,
        };
        match ran.first {
            None if ran.invalid == ran.ran => unmet(&mut run),
            None => {}
            Some((_, _, Outcome::Error(refusal))) => {
                run.outcome = Status::Error;
                run.refusal = Some(refusal);
            }
            Some((number, input, Outcome::Fail(failure))) => {
                if is_first {
                    self.session.renew();
                }
                let again = self.session.one(prop, &input)?;
                let is_again = matches!(&again, Outcome::Fail(other) if failure.is_same_way(other));
                run.outcome = if is_again { Status::Fail } else { Status::Flake };
                (run.input, run.number, run.failure) = (Some(input), Some(number), Some(failure));
            }
            Some(_) => return Err(TrialError::Protocol("an input that passed is among those that did not".into())),
        }
        Ok(run)
    }
}

/// No input met the assumptions: that is no pass. A promoted witness once met them, so somebody has changed them since.
fn unmet(run: &mut Run) {
    run.outcome = Status::NotRun;
    if let From::Promoted { fixture } = &run.from {
        run.outcome = Status::Error;
        run.refusal = Some(Refusal::new("witness_invalid", format!("{fixture} does not meet the property's assumptions any more")));
    }
}
