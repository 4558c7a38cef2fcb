//! Owns what a check newly stands under: a condition around it, or a loop that goes through less.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::finding::Rule;
use crate::strength::card::{Card, Claim};
use crate::strength::delta::Loss;
use crate::strength::delta::assertions::clipped;
use crate::strength::delta::tokens;

/// At most this many guarded checks of one card are told.
const MOST_TOLD: usize = 8;
/// Heads of blocks that a run may pass by.
const HEADS: [&str; 4] = ["if ", "while ", "match ", "except"];

/// Checks that say what they said, but not whenever they said it.
pub(super) fn compare(base: &Card, patch: &Card) -> Vec<Loss> {
    let (before, after) = (by_text(&base.claims), by_text(&patch.claims));
    let mut losses = Vec::new();
    for (text, was) in before {
        let Some(now) = after.get(text) else { continue };
        let least = now.iter().min_by_key(|claim| conditions(claim).count());
        let Some((was, now)) = was.iter().min_by_key(|claim| conditions(claim).count()).zip(least) else { continue };
        let why = match added(was, now, patch, base) {
            Some(condition) if !is_either_way(condition, &after[text]) => format!("only {condition}"),
            _ => match fewer(was, now) {
                Some((through, less)) => format!("{through} -> {less}"),
                None => continue,
            },
        };
        let line = patch.assertions.get(now.assertion).map_or(patch.line, |assertion| assertion.line);
        let says = format!("oracle: \"{}\" is demanded of less: {}", clipped(text), clipped(&why));
        losses.push(Loss { rule: Rule::OracleWeakened, says, line: Some(line) });
    }
    losses.truncate(MOST_TOLD);
    losses
}

fn by_text(claims: &[Claim]) -> BTreeMap<&str, Vec<&Claim>> {
    let mut all: BTreeMap<&str, Vec<&Claim>> = BTreeMap::new();
    for claim in claims {
        all.entry(&claim.text).or_default().push(claim);
    }
    all
}

/// The heads around a claim that a run may pass by. A whole statement that stands before it has its colon apart.
fn conditions(claim: &Claim) -> impl Iterator<Item = &str> {
    heads(&claim.setup).filter(|line| HEADS.iter().any(|head| line.starts_with(head)))
}

fn heads(setup: &[Arc<str>]) -> impl Iterator<Item = &str> {
    setup.iter().map(|line| &**line).filter(|line| !line.contains(" : "))
}

/// A condition that the claim did not stand under: one more than before, or one that demands more. What a new argument of the test decides,
/// its rows decide.
fn added<'c>(was: &Claim, now: &'c Claim, patch: &Card, base: &Card) -> Option<&'c str> {
    let before: Vec<&str> = conditions(was).collect();
    let after: Vec<&str> = conditions(now).collect();
    let is_more = after.len() > before.len();
    let fresh = after.into_iter().find(|condition| {
        let grown = before.iter().any(|was| condition.strip_prefix(was).is_some_and(|rest| rest.starts_with(" and ")));
        grown || (is_more && !before.contains(condition))
    })?;
    let cut = tokens::cut(fresh);
    let of_rows = patch.parameters.iter().any(|name| !base.parameters.contains(name) && cut.contains(&name.as_str()));
    (!of_rows).then_some(fresh)
}

/// Whether the same check stands under the opposite condition too.
fn is_either_way(condition: &str, claims: &[&Claim]) -> bool {
    let Some(test) = condition.strip_prefix("if ") else { return false };
    let opposite = [format!("if not {test}"), format!("if not ({test})"), format!("if {}", test.strip_prefix("not ").unwrap_or_default())];
    claims.iter().flat_map(|claim| conditions(claim)).any(|other| opposite.iter().any(|o| o == other))
}

/// What a loop, or a line of set-up, went through, and the part of it that is left.
fn fewer<'c>(was: &'c Claim, now: &'c Claim) -> Option<(&'c str, &'c str)> {
    let only = |one: &'c Claim, other: &'c Claim| {
        let there: BTreeSet<&str> = other.setup.iter().map(|line| &**line).collect();
        one.setup.iter().map(|line| &**line).filter(move |line| !there.contains(line))
    };
    only(was, now).zip(only(now, was)).find(|(was, now)| is_cut(was, now))
}

/// Whether a text is another with a slice or a filter put in.
fn is_cut(was: &str, now: &str) -> bool {
    let (was, now) = (tokens::cut(was), tokens::cut(now));
    let head = was.iter().zip(&now).take_while(|(a, b)| a == b).count();
    let tail = was[head..].iter().rev().zip(now[head..].iter().rev()).take_while(|(a, b)| a == b).count();
    let (gone, put) = (&was[head..was.len() - tail], now[head..now.len() - tail].join(" "));
    let cuts = ["[ :", ": ]", "islice (", "filter (", "if "].iter().any(|word| put.contains(word));
    cuts && gone.iter().all(|token| put.split(' ').any(|kept| kept == *token))
}
