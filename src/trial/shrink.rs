//! Owns shrinking by a worker: the preserve check is a real run of the property, and what is kept fails in a worker that remembers nothing.

use crate::finding::PropId;
use crate::gate::facts::Facts;
use crate::gate::inventory;
use crate::repo::Repo;
use crate::trial::TrialError;
use crate::trial::record::{From, Props, Row, Run, Status};
use crate::trial::reducer;
use crate::trial::session::{Prop, Session};
use crate::trial::trees::{Part, Source, Trees};
use crate::trial::worker::Config;
use crate::trial::worker::outcome::{Failure, Outcome};
use crate::witness::generate::Plan;
use crate::witness::shrink;
use crate::witness::value::Input;

/// A counterexample on its way into the ledger.
#[derive(Clone, Debug, PartialEq)]
pub struct Found {
    /// The property.
    pub prop_id: PropId,
    /// The seed it came from; `None` where a fixture or the whole domain was run.
    pub seed: Option<String>,
    /// As it was found.
    pub raw: Input,
    /// How it failed.
    pub failure: Failure,
    /// The smallest that fails the same way; `None` when the raw one does not fail again.
    pub small: Option<Small>,
}

/// How counterexamples are shrunk.
pub struct Effort<'a> {
    /// Most calls of a property.
    pub max_steps: u64,
    /// An outside reducer.
    pub reducer: Option<&'a str>,
}

/// Shrinks every counterexample of a record, one for each way in which a property failed. `told` hears of each.
///
/// # Errors
/// When the trees of the record cannot be had, there is no worker, or somebody wants it to end.
pub fn all(
    repo: &Repo,
    facts: &Facts,
    trees: &Trees,
    config: &Config,
    props: &Props,
    (effort, told): (&Effort<'_>, &dyn Fn()),
) -> Result<Vec<Found>, TrialError> {
    let part = if props.tree == Part::Full.name() { Part::Full } else { Part::ProductionOnly };
    let source = Source::candidate(repo, &props.base, &props.patch, part)?;
    let tree = source.tree();
    let (inventory, mut session) = (inventory::of_tree(&tree, facts)?, Session::new(trees, &tree, config)?);
    let mut found = Vec::new();
    for row in &props.properties {
        let Some(card) = inventory.cards.get(&row.prop_id) else { continue };
        let (prop, plan) = (Prop::of(card), Plan::of(&card.domain).ok());
        for (run, input, failure) in ways(row) {
            let raw = Raw { prop: &prop, plan: plan.as_ref(), input, failure };
            let small = if run.outcome == Status::Fail { shrink(&mut session, &raw, effort)? } else { None };
            found.push(Found { prop_id: row.prop_id.clone(), seed: seed_of(run), raw: input.clone(), failure: failure.clone(), small });
            told();
        }
    }
    Ok(found)
}

/// The first counterexample of each way in which a property failed. A way that a promoted witness shows already is known.
fn ways(row: &Row) -> Vec<(&Run, &Input, &Failure)> {
    let mut ways: Vec<(&Run, &Input, &Failure)> = Vec::new();
    for run in row.runs.iter().filter(|run| run.counts()) {
        if let (Some(input), Some(failure)) = (&run.input, &run.failure)
            && !ways.iter().any(|(_, _, known)| known.is_same_way(failure))
        {
            ways.push((run, input, failure));
        }
    }
    ways.retain(|(run, ..)| !matches!(run.from, From::Promoted { .. }));
    ways
}

/// How many counterexamples of a record there are to shrink.
pub fn count(props: &Props) -> usize {
    props.properties.iter().map(|row| ways(row).len()).sum()
}

fn seed_of(run: &Run) -> Option<String> {
    match &run.from {
        From::Seed { seed } | From::Explore { seed } => Some(seed.clone()),
        From::Exhausted | From::Promoted { .. } => None,
    }
}

/// What is to be shrunk.
pub struct Raw<'a> {
    /// The property.
    pub prop: &'a Prop,
    /// Its domain; without one nothing is known to be smaller.
    pub plan: Option<&'a Plan>,
    /// The raw counterexample.
    pub input: &'a Input,
    /// How it failed.
    pub failure: &'a Failure,
}

/// What shrinking came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Small {
    /// The smallest input that failed the same way, in a fresh worker too.
    pub input: Input,
    /// How often the property was called.
    pub steps: u64,
    /// Whether nothing smaller was left to try.
    pub is_minimal: bool,
    /// What became of an outside reducer's offer, in words.
    pub reducer: Option<String>,
}

/// Shrinks. `None`: the raw input does not fail the same way here, so there is nothing to keep.
///
/// # Errors
/// When there is no worker, it breaks the protocol, or somebody wants it to end.
pub fn shrink(session: &mut Session, raw: &Raw<'_>, effort: &Effort<'_>) -> Result<Option<Small>, TrialError> {
    if !fails(session, raw, raw.input)? {
        // What came before it in this worker may have changed something.
        session.renew();
        if !fails(session, raw, raw.input)? {
            return Ok(None);
        }
    }
    let mut small = Small { input: raw.input.clone(), steps: 0, is_minimal: false, reducer: None };
    let Some(plan) = raw.plan else { return Ok(Some(small)) };
    if let Some(command) = effort.reducer {
        offered(session, raw, (plan, command, effort.max_steps), &mut small)?;
    }
    let left = effort.max_steps.saturating_sub(small.steps);
    let shrunk = shrink::shrink(plan, &small.input, left, &mut |candidate| fails(session, raw, candidate))?;
    session.renew();
    let holds = shrunk.input == *raw.input || fails(session, raw, &shrunk.input)?;
    // What fails only after other inputs is no witness: then the raw one stays.
    small.input = if holds { shrunk.input } else { raw.input.clone() };
    (small.steps, small.is_minimal) = (small.steps + shrunk.steps, shrunk.is_minimal && holds);
    Ok(Some(small))
}

/// Takes of a reducer's offer what is in the domain, smaller, and fails the same way.
fn offered(session: &mut Session, raw: &Raw<'_>, (plan, command, most): (&Plan, &str, u64), small: &mut Small) -> Result<(), TrialError> {
    let offer = reducer::ask(command, raw.input, most)?;
    let (mut taken, count) = (0_u64, offer.inputs.len());
    for candidate in offer.inputs {
        if !plan.contains(&candidate) || !is_smaller(&candidate, &small.input) {
            continue;
        }
        small.steps += 1;
        if fails(session, raw, &candidate)? {
            (small.input, taken) = (candidate, taken + 1);
        }
    }
    small.reducer = Some(format!("{count} offered, {taken} kept, {} unreadable", offer.unread));
    Ok(())
}

fn fails(session: &mut Session, raw: &Raw<'_>, candidate: &Input) -> Result<bool, TrialError> {
    let outcome = session.one(raw.prop, candidate)?;
    Ok(matches!(&outcome, Outcome::Fail(failure) if failure.is_same_way(raw.failure)))
}

/// A reducer may not lead back to something larger.
fn is_smaller(candidate: &Input, than: &Input) -> bool {
    let (one, two) = (candidate.to_json(), than.to_json());
    (one.len(), &one) < (two.len(), &two)
}
