//! Owns which arguments of a test are drawn from both booleans.

use std::collections::BTreeSet;

use crate::strength::card::Card;
use crate::strength::domain::Strategy;

/// The arguments of a test that are drawn from both booleans: a call that is given one of them is tried with its default too.
pub(super) fn both_ways(card: &Card) -> BTreeSet<&str> {
    let has_both = |has: &dyn Fn(&str) -> bool| has("True") && has("False");
    let drawn = card.domain.arguments.iter().filter(|argument| match &argument.strategy {
        Strategy::Finite(keys) => has_both(&|key| keys.contains(key)),
        _ => false,
    });
    let listed =
        card.domain.tables.iter().filter(|table| table.names.len() == 1 && has_both(&|key| table.rows.iter().any(|r| r == &[key])));
    drawn.map(|argument| argument.name.as_str()).chain(listed.flat_map(|table| &table.names).map(String::as_str)).collect()
}
