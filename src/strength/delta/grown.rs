//! Owns whether a text is another one whose calls are given more: arguments that are drawn from all there is.

use std::collections::BTreeSet;

use crate::strength::card::Card;
use crate::strength::delta::tokens::{is_name, is_word};
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

/// Whether the second text is the first one with such arguments added to its calls.
pub(super) fn is_given_more(one: &[&str], other: &[&str], both_ways: &BTreeSet<&str>) -> bool {
    let (mut at, mut now, mut more, mut calls) = (0, 0, false, Vec::new());
    while now < other.len() {
        let before = now.checked_sub(1).map_or("", |before| other[before]);
        let in_call = calls.last() == Some(&true);
        let added = if in_call { added(&other[now..], before, one.get(at).copied(), both_ways) } else { 0 };
        if added > 0 {
            (now, more) = (now + added, true);
            continue;
        }
        if one.get(at) != Some(&other[now]) {
            return false;
        }
        match other[now] {
            "(" | "[" | "{" => calls.push(other[now] == "(" && (matches!(before, ")" | "]") || (is_name(before) && !before.is_empty()))),
            ")" | "]" | "}" => drop(calls.pop()),
            _ => {}
        }
        (at, now) = (at + 1, now + 1);
    }
    more && at == one.len()
}

/// How many tokens from here are an argument that the other text does not have there.
fn added(rest: &[&str], before: &str, expected: Option<&str>, both_ways: &BTreeSet<&str>) -> usize {
    let whole = |name: &str| both_ways.contains(name);
    match rest {
        [",", word, "=", name, ")" | ",", ..] if expected == Some(")") && is_word(word) && whole(name) => 4,
        [word, "=", name, ",", ..] if matches!(before, "(" | ",") && expected != Some(word) && is_word(word) && whole(name) => 4,
        [word, "=", name, ")", ..] if before == "(" && expected == Some(")") && is_word(word) && whole(name) => 3,
        [",", name, ")", ..] if expected == Some(")") && whole(name) => 2,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::is_given_more;
    use crate::strength::delta::tokens::cut;

    #[test]
    fn a_call_is_given_more_only_where_what_is_added_is_drawn_both_ways() {
        let both = BTreeSet::from(["flag", "other"]);
        for (base, patch, wanted) in [
            ("f(1) . x", "f(1, flag=flag) . x", true),
            ("f(1) . x", "f(1, flag) . x", true),
            ("f()", "f(strict=flag)", true),
            ("f(a=1)", "f(strict=flag, a=1)", true),
            ("g(f(1), 2)", "g(f(1, a=flag, b=other), 2)", true),
            ("f(1)", "f(1)", false),
            ("f(1)", "f(1, flag=False)", false),
            ("f(1)", "f(1, flag=size)", false),
            ("f(1)", "f(2, flag=flag)", false),
            ("f(1)", "f(flag, 1)", false),
            ("f(1, 2)", "f(1, a=flag)", false),
            ("f(1)", "f(1, flag=not flag)", false),
            ("f(1)", "f(1) or g(a=flag)", false),
            ("(1, 2)", "(1, 2, flag)", false),
        ] {
            assert_eq!(is_given_more(&cut(base), &cut(patch), &both), wanted, "{base} {patch}");
        }
    }
}
