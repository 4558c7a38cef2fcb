//! Owns whether a text is another one whose calls give what they could not be made without.

use crate::strength::delta::oracle::source::{closing, cut_at};
use crate::strength::delta::tokens::is_word;
use crate::strength::signature::{Given, Signature};

/// Calls that stand in one another deeper than this are compared as they are written.
const DEPTH: usize = 40;

type Tokens<'t> = &'t [&'t str];

/// What the production code's functions must be given, by their dotted names.
pub(in crate::strength::delta) type Known<'k> = dyn Fn(&str) -> Option<Signature> + 'k;

/// Whether the second text is the first one with arguments added that its calls must be given.
pub(in crate::strength::delta) fn gives_what_is_demanded(one: Tokens<'_>, other: Tokens<'_>, known: &Known<'_>) -> bool {
    one.len() < other.len() && holds(one, other, known, DEPTH)
}

fn holds(mut one: Tokens<'_>, mut other: Tokens<'_>, known: &Known<'_>, depth: usize) -> bool {
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
        let held = inside == within
            || match callee(head).filter(|_| left[0] == "(") {
                Some(name) => called(&name, inside, within, known, depth),
                None => holds(inside, within, known, depth),
            };
        if !held {
            return false;
        }
        (one, other) = (&left[end + 1..], &right[until + 1..]);
    }
}

/// The dotted name of an imported function at the end of a text.
fn callee(head: Tokens<'_>) -> Option<String> {
    let start = head.iter().rposition(|token| !(is_word(token) || *token == ".")).map_or(0, |at| at + 1);
    let name = head[start..].concat();
    let follows = start > 0 && matches!(head[start - 1], ")" | "]" | "}");
    (!follows && name.contains('.') && !name.starts_with('.') && !name.ends_with('.')).then_some(name)
}

fn called(name: &str, inside: Tokens<'_>, within: Tokens<'_>, known: &Known<'_>, depth: usize) -> bool {
    let (Some(was), Some(now)) = (Arguments::read(inside), Arguments::read(within)) else { return false };
    let mut places = now.positional.iter();
    let kept = was.positional.iter().all(|a| places.any(|b| holds(a, b, known, depth)))
        && was.named.iter().all(|(word, a)| now.named.iter().any(|(other, b)| word == other && holds(a, b, known, depth)));
    if !kept {
        return false;
    }
    let given = Given { positional: was.positional.len(), named: was.named.iter().map(|(word, _)| *word).collect() };
    let fresh = now.named.iter().map(|(word, _)| *word).filter(|word| !given.named.contains(word)).collect();
    let besides = Given { positional: now.positional.len() - was.positional.len(), named: fresh };
    besides == Given::default() || known(name).is_some_and(|signature| signature.demands(&given, &besides))
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
