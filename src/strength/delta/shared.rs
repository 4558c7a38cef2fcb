//! Owns losses of one cause: a shared strategy that got narrower is told once, with the tests that draw from it.

use std::collections::BTreeMap;

use crate::finding::Rule;
use crate::strength::card::Kind;
use crate::strength::delta::Move;
use crate::strength::domain::Cause;

/// At most this many tests are named.
const MOST_NAMED: usize = 12;

/// Leaves each change of a shared definition at one place: where it is defined, else at the first test that draws from it.
pub(super) fn told_once(moves: &mut [Move]) {
    let causes: Vec<Option<Vec<Cause>>> = moves.iter().map(causes).collect();
    let leaders = leaders(moves, &causes);
    let mut followers: BTreeMap<usize, Vec<String>> = BTreeMap::new();
    for (at, causes) in causes.iter().enumerate() {
        let Some(causes) = causes else { continue };
        let places: Option<Vec<usize>> =
            causes.iter().map(|cause| leaders.get(&cause.key).copied().filter(|leader| *leader != at)).collect();
        let Some(places) = places else { continue };
        moves[at].losses.retain(|loss| !is_of_domain(loss.rule));
        let name = moves[at].base.as_ref().map(|card| card.prop_id.0.clone()).unwrap_or_default();
        for place in places.into_iter().collect::<std::collections::BTreeSet<_>>() {
            followers.entry(place).or_default().push(name.clone());
        }
    }
    for (at, names) in followers {
        let shown: Vec<&str> = names.iter().take(MOST_NAMED).map(String::as_str).collect();
        let more = names.len().saturating_sub(MOST_NAMED);
        let beyond = if more > 0 { format!(", and {more} more") } else { String::new() };
        moves[at].notes.push(format!("drawn from by {} of this change: {}{beyond}", names.len(), shown.join(", ")));
    }
}

fn is_of_domain(rule: Rule) -> bool {
    matches!(rule, Rule::BoundNarrowed | Rule::DomainUnreadable)
}

/// What a move's narrower domain comes from; `None` when it is not narrower, or by more than its strategies.
fn causes(change: &Move) -> Option<Vec<Cause>> {
    let (base, patch) = (change.base.as_ref()?, change.patch.as_ref()?);
    change
        .losses
        .iter()
        .any(|loss| is_of_domain(loss.rule))
        .then(|| base.domain.causes(&patch.domain))
        .flatten()
        .filter(|all| !all.is_empty())
}

/// Cause -> the move that tells it: named strategies first. A change that no definition holds belongs to the test that made it.
fn leaders(moves: &[Move], causes: &[Option<Vec<Cause>>]) -> BTreeMap<String, usize> {
    let mut leaders = BTreeMap::new();
    let is_support = |at: usize| moves[at].base.as_ref().is_some_and(|card| card.kind == Kind::Support);
    let mut order: Vec<usize> = (0..moves.len()).collect();
    order.sort_by_key(|at| (!is_support(*at), causes[*at].as_ref().map_or(0, Vec::len)));
    for at in order {
        for cause in causes[at].iter().flatten().filter(|cause| cause.is_defined || is_support(at)) {
            leaders.entry(cause.key.clone()).or_insert(at);
        }
    }
    leaders
}
