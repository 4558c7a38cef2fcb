//! Owns shrinking by a worker: the preserve check is a real run of the property, and what is kept fails in a worker that remembers nothing.

use crate::trial::TrialError;
use crate::trial::reducer;
use crate::trial::session::{Prop, Session};
use crate::trial::worker::outcome::{Failure, Outcome};
use crate::witness::generate::Plan;
use crate::witness::shrink;
use crate::witness::value::Input;

/// What is to be shrunk.
pub struct Raw<'a> {
    /// The property.
    pub prop: &'a Prop,
    /// Its domain.
    pub plan: &'a Plan,
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
pub fn shrink(session: &mut Session, raw: &Raw<'_>, max_steps: u64, command: Option<&str>) -> Result<Option<Small>, TrialError> {
    session.renew();
    if !fails(session, raw, raw.input)? {
        return Ok(None);
    }
    let (mut start, mut steps, mut said) = (raw.input.clone(), 0, None);
    if let Some(command) = command {
        let offer = reducer::ask(command, raw.input, max_steps)?;
        let (mut taken, offered) = (0_u64, offer.inputs.len());
        for candidate in offer.inputs {
            if !raw.plan.contains(&candidate) || !is_smaller(&candidate, &start) {
                continue;
            }
            steps += 1;
            if fails(session, raw, &candidate)? {
                (start, taken) = (candidate, taken + 1);
            }
        }
        said = Some(format!("{offered} offered, {taken} kept, {} unreadable", offer.unread));
    }
    let left = max_steps.saturating_sub(steps);
    let shrunk = shrink::shrink(raw.plan, &start, left, &mut |candidate| fails(session, raw, candidate))?;
    session.renew();
    let holds = shrunk.input == *raw.input || fails(session, raw, &shrunk.input)?;
    let input = if holds { shrunk.input } else { raw.input.clone() };
    Ok(Some(Small { input, steps: steps + shrunk.steps, is_minimal: shrunk.is_minimal && holds, reducer: said }))
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
