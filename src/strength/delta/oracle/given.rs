//! Owns whether a text is another one whose calls are given more, where that loses nothing.

use std::collections::BTreeSet;

use crate::strength::delta::oracle::source::{closing, cut_at};
use crate::strength::delta::tokens::{is_name, is_word};
use crate::strength::signature::{Given, Signature};

/// Calls that stand in one another deeper than this are compared as they are written.
const DEPTH: usize = 40;

type Tokens<'t> = &'t [&'t str];

/// What the production code's functions must be given, by their dotted names.
pub(in crate::strength::delta) type Known<'k> = dyn Fn(&str) -> Option<Signature> + 'k;

/// What may be added to calls.
pub(in crate::strength::delta) struct Added<'k> {
    /// What production code demands, where that is known.
    pub(in crate::strength::delta) known: Option<&'k Known<'k>>,
    /// Arguments of the test that are drawn from both booleans: a call that is given one is tried with its default too.
    pub(in crate::strength::delta) both_ways: &'k BTreeSet<&'k str>,
    /// Whether what production code demands may be added: not where a call that lacks it is what is checked.
    pub(in crate::strength::delta) is_demand_met: bool,
}

/// Whether the second text is the first one with arguments added to its calls, all of which may be.
pub(in crate::strength::delta) fn is_given_more(one: Tokens<'_>, other: Tokens<'_>, added: &Added<'_>) -> bool {
    one.len() < other.len() && added.holds(one, other, DEPTH)
}

impl Added<'_> {
    fn holds(&self, mut one: Tokens<'_>, mut other: Tokens<'_>, depth: usize) -> bool {
        let Some(depth) = depth.checked_sub(1) else { return one == other };
        loop {
            let same = one.iter().zip(other).take_while(|(a, b)| a == b && !matches!(**a, "(" | "[" | "{")).count();
            let ((head, left), (_, right)) = (one.split_at(same), other.split_at(same));
            if left.is_empty() && right.is_empty() {
                return true;
            }
            if left.first() != right.first() {
                return false;
            }
            let (Some(end), Some(until)) = (closing(left, 0), closing(right, 0)) else { return false };
            let (inside, within) = (&left[1..end], &right[1..until]);
            // What a call is of may stand before this head.
            let is_call = left[0] == "(" && head.last().is_none_or(|last| is_name(last) || matches!(*last, ")" | "]"));
            let held = inside == within
                || if is_call && !head.is_empty() { self.called(head, inside, within, depth) } else { self.holds(inside, within, depth) };
            if !held {
                return false;
            }
            (one, other) = (&left[end + 1..], &right[until + 1..]);
        }
    }

    fn called(&self, head: Tokens<'_>, inside: Tokens<'_>, within: Tokens<'_>, depth: usize) -> bool {
        let (Some(was), Some(now)) = (Arguments::read(inside), Arguments::read(within)) else { return false };
        let mut places = now.positional.iter();
        let kept = was.positional.iter().all(|a| places.any(|b| self.holds(a, b, depth)))
            && was.named.iter().all(|(word, a)| now.named.iter().any(|(other, b)| word == other && self.holds(a, b, depth)));
        if !kept {
            return false;
        }
        let signature = callee(head).zip(self.known).and_then(|(name, known)| known(&name));
        let given = Given { positional: was.positional.len(), named: was.named.iter().map(|(word, _)| *word).collect() };
        let tried = |value: &[&str], place: Option<usize>, name: &str| {
            matches!(value, [one] if self.both_ways.contains(one))
                && signature.as_ref().is_none_or(|signature| signature.is_tried_both_ways(place, name))
        };
        let later = now.positional.get(given.positional..).unwrap_or_default();
        let all_tried = places.len() == later.len() && later.iter().enumerate().all(|(at, v)| tried(v, Some(given.positional + at), ""));
        let fresh = now.named.iter().filter(|(word, value)| !given.named.contains(word) && !tried(value, None, word));
        let besides = Given { positional: if all_tried { 0 } else { later.len() }, named: fresh.map(|(word, _)| *word).collect() };
        besides == Given::default() || (self.is_demand_met && signature.is_some_and(|signature| signature.demands(&given, &besides)))
    }
}

/// The dotted name of an imported function at the end of a text.
fn callee(head: Tokens<'_>) -> Option<String> {
    let start = head.iter().rposition(|token| !(is_word(token) || *token == ".")).map_or(0, |at| at + 1);
    let name = head[start..].concat();
    let follows = start > 0 && matches!(head[start - 1], ")" | "]" | "}");
    (!follows && name.contains('.') && !name.starts_with('.') && !name.ends_with('.')).then_some(name)
}

/// Arguments of a call, none of which is spread.
struct Arguments<'t> {
    positional: Vec<Tokens<'t>>,
    named: Vec<(&'t str, Tokens<'t>)>,
}

impl<'t> Arguments<'t> {
    fn read(inside: Tokens<'t>) -> Option<Self> {
        let mut arguments = Arguments { positional: Vec::new(), named: Vec::new() };
        for part in cut_at(inside, ",").into_iter().filter(|part| !part.is_empty()) {
            match part {
                ["*" | "**", ..] => return None,
                [word, "=", value @ ..] => arguments.named.push((*word, value)),
                value => arguments.positional.push(value),
            }
        }
        Some(arguments)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::{Added, is_given_more};
    use crate::strength::delta::tokens::cut;

    #[test]
    fn a_call_is_given_more_only_where_what_is_added_is_drawn_both_ways() {
        let both_ways = BTreeSet::from(["flag", "other"]);
        for (base, patch, wanted) in [
            ("f(1) . x", "f(1, flag=flag) . x", true),
            ("f(1) . x", "f(1, flag) . x", true),
            ("f()", "f(strict=flag)", true),
            ("f(a=1)", "f(strict=flag, a=1)", true),
            ("g(f(1), 2)", "g(f(1, a=flag, b=other), 2)", true),
            ("f(1)(2)", "f(1, flag)(2)", true),
            ("f(1)", "f(1)", false),
            ("f(1)", "f(1, flag=False)", false),
            ("f(1)", "f(1, flag=size)", false),
            ("f(1)", "f(2, flag=flag)", false),
            ("f(1)", "f(flag, 1)", false),
            ("f(1, 2)", "f(1, a=flag)", false),
            ("f(1)", "f(1, flag=not flag)", false),
            ("f(1)", "f(1) or g(a=flag)", false),
            ("(1, 2)", "(1, 2, flag)", false),
            ("f((1, 2))", "f((1, 2, flag))", false),
        ] {
            let added = Added { known: None, both_ways: &both_ways, is_demand_met: true };
            assert_eq!(is_given_more(&cut(base), &cut(patch), &added), wanted, "{base} {patch}");
        }
    }
}
