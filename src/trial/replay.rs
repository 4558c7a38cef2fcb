//! Owns the replay on the base: did this input already fail there?

use crate::finding::PropId;
use crate::gate::facts::Facts;
use crate::gate::inventory;
use crate::repo::Repo;
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
    let mut verdicts = Vec::new();
    for (id, input) in inputs {
        verdicts.push(match inventory.cards.get(id) {
            Some(card) => {
                let prop = Prop::of(card);
                let fits = prop.arguments.len() == input.0.len() && prop.arguments.iter().all(|name| input.0.contains_key(name));
                if fits {
                    replay(&mut session, &prop, input)?
                } else {
                    Base::Unknown("on the base the property takes other arguments".to_owned())
                }
            }
            None => Base::Unknown("the base has no such property".to_owned()),
        });
        told();
    }
    Ok(verdicts)
}

/// Runs one input twice, each time in a worker that remembers nothing: only two equal answers are one.
///
/// # Errors
/// When there is no worker, it breaks the protocol, or somebody wants it to end.
pub fn replay(session: &mut Session, prop: &Prop, input: &Input) -> Result<Base, TrialError> {
    session.renew();
    let first = verdict(session.one(prop, input)?);
    if matches!(first, Base::Unknown(_)) {
        return Ok(first);
    }
    session.renew();
    let second = verdict(session.one(prop, input)?);
    Ok(match (&first, &second) {
        (Base::Pass, Base::Pass) | (Base::Fail(_), Base::Fail(_)) => first,
        (_, Base::Unknown(_)) => second,
        _ => Base::Unknown("it fails on the base once and not again".to_owned()),
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
