//! Owns the replay on the base: did this input already fail there?

pub mod jobs;

use crate::finding::PropId;
use crate::gate::facts::Facts;
use crate::gate::inventory;
use crate::repo::Repo;
use crate::strength::card::Card;
use crate::tree::Oid;
use crate::trial::TrialError;
use crate::trial::session::{Prop, Session};
use crate::trial::trees::{Source, Trees};
use crate::trial::worker::Config;
use crate::trial::worker::outcome::Outcome;
use crate::witness::value::Input;

/// What the base says of an input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Base {
    /// The property holds on it.
    Pass,
    /// It fails there too, in these words.
    Fail(String),
    /// There is no telling, for this reason: that is no pass.
    Unknown(String),
}

/// Replays inputs on a base; the answers are in their order. `told` hears of each.
///
/// # Errors
/// When the base cannot be read, there is no worker, or somebody wants it to end.
pub fn all(
    repo: &Repo,
    facts: &Facts,
    trees: &Trees,
    config: &Config,
    base: &Oid,
    (inputs, told): (&[(PropId, Input)], &dyn Fn()),
) -> Result<Vec<Base>, TrialError> {
    let source = Source::commit(repo, base)?;
    let tree = source.tree();
    let (inventory, mut session) = (inventory::of_tree(&tree, facts)?, Session::new(trees, &tree, config)?);
    let props: Vec<Result<Prop, Base>> =
        inputs.iter().map(|(id, input)| fitting(inventory.cards.get(id).map(AsRef::as_ref), input)).collect();
    let mut first = Vec::new();
    for (prop, (_, input)) in props.iter().zip(inputs) {
        first.push(match prop {
            Ok(prop) => verdict(session.one(prop, input)?),
            Err(base) => base.clone(),
        });
    }
    // Once more in a fresh worker, last input first: who remembers other inputs remembers others now.
    session.renew();
    let mut verdicts = Vec::new();
    for ((prop, (_, input)), first) in props.iter().zip(inputs).zip(first).rev() {
        verdicts.push(match prop {
            Ok(prop) => again(&mut session, prop, input, first)?,
            Err(base) => base.clone(),
        });
        told();
    }
    verdicts.reverse();
    Ok(verdicts)
}

/// The base's property, if it can be called with such an input.
fn fitting(card: Option<&Card>, input: &Input) -> Result<Prop, Base> {
    let prop = card.map(Prop::of).ok_or_else(|| Base::Unknown("the base has no such property".to_owned()))?;
    let fits = prop.arguments.len() == input.0.len() && prop.arguments.iter().all(|name| input.0.contains_key(name));
    if fits { Ok(prop) } else { Err(Base::Unknown("on the base the property takes other arguments".to_owned())) }
}

/// The verdict that two runs agree on. Where they do not, a worker that remembers nothing decides, if it says the same twice.
fn again(session: &mut Session, prop: &Prop, input: &Input, first: Base) -> Result<Base, TrialError> {
    let second = verdict(session.one(prop, input)?);
    if is_same(&first, &second) { Ok(first) } else { replay(session, prop, input) }
}

fn is_same(one: &Base, two: &Base) -> bool {
    matches!((one, two), (Base::Pass, Base::Pass) | (Base::Fail(_), Base::Fail(_)) | (Base::Unknown(_), Base::Unknown(_)))
}

/// Runs one input twice, each time in a worker that remembers nothing: only two equal answers are one.
fn replay(session: &mut Session, prop: &Prop, input: &Input) -> Result<Base, TrialError> {
    session.renew();
    let first = verdict(session.one(prop, input)?);
    session.renew();
    let second = verdict(session.one(prop, input)?);
    Ok(match is_same(&first, &second) {
        true => first,
        false => Base::Unknown("it does not say the same twice on the base".to_owned()),
    })
}

fn verdict(outcome: Outcome) -> Base {
    match outcome {
        Outcome::Pass => Base::Pass,
        Outcome::Fail(failure) => Base::Fail(format!("{}: {}", failure.way(), failure.message)),
        Outcome::Invalid => Base::Unknown("the input does not meet the property's assumptions on the base".to_owned()),
        Outcome::Error(refusal) => Base::Unknown(format!("{}: {}", refusal.kind, refusal.message)),
    }
}
