//! Owns which base card and which patch card are the same check: by id, else by body, else by name.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::finding::PropId;
use crate::strength::card::{Card, Kind};
use crate::strength::cards::CardSet;
use crate::strength::delta::tokens;

/// Base and patch side of one check; one side is `None` when it vanished or is new.
pub(super) type Pair<'c> = (Option<&'c Arc<Card>>, Option<&'c Arc<Card>>);

/// The cards of both sides, and those that only another base of a merge has.
pub(super) struct Sides<'c> {
    pub(super) base: &'c CardSet,
    pub(super) patch: &'c CardSet,
    pub(super) beside: &'c CardSet,
}

/// Pairs in order of the base id, new ones last.
pub(super) fn pairs<'c>(sides: &Sides<'c>) -> Vec<Pair<'c>> {
    let Sides { base, patch, beside } = *sides;
    let vanished: Vec<&Arc<Card>> = base.cards().filter(|card| partner(card, patch).is_none()).collect();
    let known = |card: &&Arc<Card>| partner(card, base).is_some() || partner(card, beside).is_some();
    let fresh: Vec<&Arc<Card>> = patch.cards().filter(|card| !known(card)).collect();
    let moved = moves(&vanished, &fresh);
    let followed: BTreeSet<&PropId> = moved.values().map(|card| &card.prop_id).collect();
    let mut pairs: Vec<Pair<'c>> =
        base.cards().map(|card| (Some(card), partner(card, patch).or_else(|| moved.get(&card.prop_id).copied()))).collect();
    pairs.extend(fresh.into_iter().filter(|card| !followed.contains(&card.prop_id)).map(|card| (None, Some(card))));
    pairs
}

/// The card of the same id. A test that turned into support (it is not collected any more) is gone, whatever its id.
fn partner<'c>(card: &Card, others: &'c CardSet) -> Option<&'c Arc<Card>> {
    others.get(&card.prop_id).filter(|other| same_sort(card, other))
}

fn same_sort(one: &Card, other: &Card) -> bool {
    (one.kind == Kind::Support) == (other.kind == Kind::Support)
}

/// What a vanished card and a new one may have in common, the strongest likeness first; `None` where it says nothing.
const LIKENESS: [fn(&Card) -> Option<Key<'_>>; 6] = [
    |card| body(card).map(|body| [body, card.short_name(), file_name(card)]),
    |card| body(card).map(|body| [body, card.short_name(), ""]),
    |card| body(card).map(|body| [body, "", ""]),
    |card| Some(["", card.short_name(), file_name(card)]),
    |card| Some(["", card.short_name(), ""]),
    |card| Some(["", card.name(), ""]),
];

type Key<'c> = [&'c str; 3];

fn body(card: &Card) -> Option<&str> {
    Some(card.body_sha256.as_str()).filter(|sha| !sha.is_empty())
}

fn file_name(card: &Card) -> &str {
    card.path().rsplit('/').next().unwrap_or_default()
}

/// Vanished id -> the one new card that continues it. A likeness counts only where it is one to one: a choice between two would be a guess.
fn moves<'c>(vanished: &[&'c Arc<Card>], fresh: &[&'c Arc<Card>]) -> BTreeMap<&'c PropId, &'c Arc<Card>> {
    let mut moved: BTreeMap<&PropId, &Arc<Card>> = BTreeMap::new();
    let mut taken: BTreeSet<&PropId> = BTreeSet::new();
    for likeness in LIKENESS {
        let old = sole(vanished.iter().filter(|card| !moved.contains_key(&card.prop_id)), likeness);
        let new = sole(fresh.iter().filter(|card| !taken.contains(&card.prop_id)), likeness);
        for (key, old) in old {
            let Some((old, new)) = old.zip(new.get(&key).copied().flatten()) else { continue };
            taken.insert(&new.prop_id);
            moved.insert(&old.prop_id, new);
        }
    }
    shaped(vanished, fresh, &mut moved, &taken);
    moved
}

/// Tests of one file that check the same with other names: a function was renamed, and its test with it. Whether the names stand for the
/// same is for the comparison to say.
fn shaped<'c>(
    vanished: &[&'c Arc<Card>],
    fresh: &[&'c Arc<Card>],
    moved: &mut BTreeMap<&'c PropId, &'c Arc<Card>>,
    taken: &BTreeSet<&'c PropId>,
) {
    let by_shape = |cards: Vec<&'c Arc<Card>>| {
        let mut found: BTreeMap<(&str, String), Option<&'c Arc<Card>>> = BTreeMap::new();
        for card in cards.into_iter().filter(|card| card.kind != Kind::Support && !card.claims.is_empty()) {
            found.entry((card.path(), shape(card))).and_modify(|known| *known = None).or_insert(Some(card));
        }
        found
    };
    let old = by_shape(vanished.iter().copied().filter(|card| !moved.contains_key(&card.prop_id)).collect());
    let new = by_shape(fresh.iter().copied().filter(|card| !taken.contains(&card.prop_id)).collect());
    for (key, old) in old {
        if let Some((old, new)) = old.zip(new.get(&key).copied().flatten()) {
            moved.insert(&old.prop_id, new);
        }
    }
}

/// What a card checks, names left out.
fn shape(card: &Card) -> String {
    let told = card.claims.iter().map(|claim| {
        let tokens = tokens::cut(&claim.text);
        let word = |token: &&str| if tokens::is_name(token) { "_".to_owned() } else { (*token).to_owned() };
        tokens.iter().map(word).collect::<Vec<_>>().join(" ")
    });
    told.collect::<Vec<_>>().join("\n")
}

/// Key -> its card; `None` where several cards have the key.
fn sole<'c, 'i>(
    cards: impl Iterator<Item = &'i &'c Arc<Card>>,
    likeness: fn(&Card) -> Option<Key<'_>>,
) -> BTreeMap<(bool, Key<'c>), Option<&'c Arc<Card>>>
where
    'c: 'i,
{
    let mut found: BTreeMap<(bool, Key<'c>), Option<&'c Arc<Card>>> = BTreeMap::new();
    for card in cards.copied() {
        let Some(key) = likeness(card) else { continue };
        found.entry((card.kind == Kind::Support, key)).and_modify(|known| *known = None).or_insert(Some(card));
    }
    found
}
