//! Owns the replay of pinned candidates: jobs of them, what each came to, and the counterexamples that are kept.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::finding::PropId;
use crate::strength::card::Card;
use crate::strength::delta::Cleared;
use crate::tree::Oid;
use crate::trial::TrialError;
use crate::trial::candidates::{Pinned, card_sha256, covered};
use crate::trial::runner::Outcome;
use crate::trial::runner::job::{Again, Bench, Job, Kind, Order};
use crate::trial::session::Prop;
use crate::trial::worker::outcome::Failure;
use crate::witness::value::Input;

/// The schema of the counterexamples beside the delta.
pub const SCHEMA: &str = "seedgate.counterexamples/1";
/// Candidates of one job.
const CHUNK: usize = 16;

/// What a candidate came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Held {
    /// The property holds on it.
    Held,
    /// It does not meet the property's own assumptions.
    Invalid,
    /// The property fails on it; the second part says whether it did so again.
    Failed(Failure, bool),
    /// There is no verdict, for this reason.
    Unknown(String),
}

/// The candidates that failed, as they are saved.
#[derive(Serialize)]
pub struct Counterexamples<'a> {
    schema: &'static str,
    parent: &'a Oid,
    patch: &'a Oid,
    property: &'a PropId,
    candidates_sha256: &'a str,
    counterexamples: Vec<Counterexample<'a>>,
}

#[derive(Serialize)]
struct Counterexample<'a> {
    input: &'a Input,
    input_sha256: String,
    again: bool,
    failure: &'a Failure,
}

/// The jobs of a pinned file. Nothing is run yet; the proof that nothing weakened is asked for all the same, for nothing else makes jobs of candidates.
///
/// # Errors
/// When the comparison did not cover the property, or its card is not the pinned one.
pub fn jobs(
    cleared: &Cleared,
    pinned: &Pinned,
    card: &Card,
    bench: &Bench,
    bound: &BTreeMap<String, String>,
) -> Result<Vec<Job>, TrialError> {
    covered(cleared, &pinned.property)?;
    if card_sha256(card) != pinned.card_sha256 {
        return Err(TrialError::Name(format!("{} has another card than the candidates were pinned for", pinned.property)));
    }
    let prop = Prop::of(card);
    let order = |inputs: &[Input]| Order {
        kind: Kind::Candidates,
        parent: &pinned.parent,
        prop_id: &pinned.property,
        arguments: &prop.arguments,
        runs: inputs.iter().map(|input| vec![input.clone()]).collect(),
        again: Again::Failures,
        bound,
    };
    pinned.candidates.chunks(CHUNK).map(|inputs| bench.job(&order(inputs))).collect()
}

/// What each candidate came to, in the file's order.
pub fn held<'o>(pinned: &Pinned, outcomes: impl Iterator<Item = &'o Outcome>) -> Vec<Held> {
    pinned.candidates.chunks(CHUNK).zip(outcomes).flat_map(|(inputs, outcome)| of_job(inputs.len(), outcome)).collect()
}

fn of_job(inputs: usize, outcome: &Outcome) -> Vec<Held> {
    let verdict = match &outcome.verdict {
        Ok(verdict) => verdict,
        Err(unknown) => return vec![Held::Unknown(format!("{}: {}", unknown.word, unknown.says)); inputs],
    };
    let why = verdict.refusal.as_ref().map_or_else(String::new, |refusal| format!("{}: {}", refusal.kind, refusal.message));
    let ran = verdict.runs.iter().map(|run| match &run.first {
        Some(first) => Held::Failed(first.failure.clone(), first.again),
        None if run.invalid > 0 => Held::Invalid,
        None => Held::Held,
    });
    ran.chain(std::iter::repeat(Held::Unknown(why))).take(inputs).collect()
}

/// What is saved beside the delta; `None` when nothing failed.
pub fn counterexamples<'a>(pinned: &'a Pinned, sha256: &'a str, patch: &'a Oid, held: &'a [Held]) -> Option<Counterexamples<'a>> {
    let counterexamples: Vec<Counterexample<'_>> = pinned
        .candidates
        .iter()
        .zip(held)
        .filter_map(|(input, held)| match held {
            Held::Failed(failure, again) => Some(Counterexample { input, input_sha256: input.input_sha256(), again: *again, failure }),
            _ => None,
        })
        .collect();
    let (parent, property) = (&pinned.parent, &pinned.property);
    (!counterexamples.is_empty()).then_some(Counterexamples {
        schema: SCHEMA,
        parent,
        patch,
        property,
        candidates_sha256: sha256,
        counterexamples,
    })
}
