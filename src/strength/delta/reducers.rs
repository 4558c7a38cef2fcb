//! Owns whether inputs still reach the assertions as they are drawn.

use std::collections::{BTreeMap, BTreeSet};

use crate::finding::Rule;
use crate::strength::card::Card;
use crate::strength::delta::Loss;
use crate::strength::delta::oracle::without_modules;
use crate::strength::delta::tokens;

/// A condition or reshaping that stands there more often than on the base. One whose names alone changed, one for one, is the same.
pub(super) fn compare(base: &Card, patch: &Card) -> Vec<Loss> {
    let mut gone = surplus(base, patch);
    let added = surplus(patch, base);
    let mut losses = Vec::new();
    for text in added {
        if let Some(at) = gone.iter().position(|was| is_renamed(was, text, base, patch)) {
            gone.swap_remove(at);
            continue;
        }
        let says = format!("inputs are reduced: {text}");
        losses.push(Loss { rule: Rule::ReducerAdded, says, line: Some(patch.line) });
    }
    losses
}

/// What stands in one card more often than in the other.
fn surplus<'c>(one: &'c Card, other: &Card) -> Vec<&'c str> {
    let more = |(text, times): (&'c String, &usize)| {
        let known = other.effort.reducers.get(text).copied().unwrap_or_default();
        std::iter::repeat_n(text.as_str(), times.saturating_sub(known))
    };
    one.effort.reducers.iter().flat_map(more).collect()
}

/// Whether two texts differ only in local names, one for one: no name that stayed a parameter stands for another.
fn is_renamed(was: &str, now: &str, base: &Card, patch: &Card) -> bool {
    let own: BTreeSet<&str> = base.parameters.iter().chain(&patch.parameters).map(String::as_str).chain(["self", "cls"]).collect();
    let (was, now) = (without_modules(was, &own), without_modules(now, &own));
    let (old, new) = (tokens::compared(&was), tokens::compared(&now));
    let (mut there, mut back): (BTreeMap<&str, &str>, BTreeMap<&str, &str>) = (BTreeMap::new(), BTreeMap::new());
    let stays = |name: &str| base.parameters.iter().any(|p| p == name) && patch.parameters.iter().any(|p| p == name);
    old.len() == new.len()
        && old.iter().enumerate().zip(&new).all(|((at, was), now)| {
            let named = tokens::is_name(was) && tokens::is_name(now) && tokens::is_free(&old, at);
            if !named {
                return was == now;
            }
            let moved = was != now && (stays(was) || stays(now));
            // The same of another module.
            let part = old.get(at + 1) == Some(&".") && new.get(at + 1) == Some(&".");
            !moved && (part || *there.entry(was).or_insert(now) == *now && *back.entry(now).or_insert(was) == *was)
        })
}
