//! Owns what attributes say of tests: `cfg` predicates and the names of test attributes.

use std::ops::Range;

use crate::strength::languages::rust::spans::lex::{Kind, Source};

/// How deep predicates are followed; deeper ones say nothing.
const DEPTH: usize = 32;

/// Last words of attributes that make a function a test, or a fixture of tests.
const TESTS: [&str; 11] = [
    "test",
    "rstest",
    "fixture",
    "test_case",
    "test_matrix",
    "case",
    "proptest",
    "quickcheck",
    "wasm_bindgen_test",
    "parameterized",
    "property_test",
];

/// What an attribute says of its item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Says {
    /// It is there only when tests are built.
    OnlyTests,
    /// It is there only when no tests are built.
    NeverTests,
    /// It is a test.
    Test,
    /// Nothing about tests.
    Nothing,
}

/// Reads an attribute, the tokens between its brackets.
pub(super) fn says(source: &Source<'_>, attribute: &Range<usize>) -> Says {
    let Some((name, end)) = path(source, attribute) else { return Says::Nothing };
    if name == "cfg" && end == attribute.start + 1 && source.kind(end) == Some(Kind::Open('(')) {
        let inside = end + 1..source.tokens[end].pair;
        return match inside {
            inside if implies(source, &inside, true, true, DEPTH) => Says::OnlyTests,
            inside if implies(source, &inside, true, false, DEPTH) => Says::NeverTests,
            _ => Says::Nothing,
        };
    }
    if TESTS.contains(&name) { Says::Test } else { Says::Nothing }
}

/// The text of `path = "text"`, without its quotes.
pub(super) fn path_of<'t>(source: &Source<'t>, attribute: &Range<usize>) -> Option<&'t str> {
    let is_path = source.word(attribute.start) == "path" && source.word(attribute.start + 1) == "=";
    is_path.then(|| source.word(attribute.start + 2).trim_matches('"'))
}

/// The last word of the path that an attribute begins with, and where the path ends.
fn path<'t>(source: &Source<'t>, attribute: &Range<usize>) -> Option<(&'t str, usize)> {
    let is_path = |at: &usize| matches!(source.kind(*at), Some(Kind::Word | Kind::Mark(':')));
    let end = attribute.clone().take_while(is_path).last()? + 1;
    Some((source.word(end - 1), end))
}

/// Whether a predicate that is `value` makes certain that `test` is `wanted`.
fn implies(source: &Source<'_>, predicate: &Range<usize>, value: bool, wanted: bool, depth: usize) -> bool {
    let Some(depth) = depth.checked_sub(1) else { return false };
    let head = source.word(predicate.start);
    if source.kind(predicate.start + 1) != Some(Kind::Open('(')) || predicate.start + 1 >= predicate.end {
        return predicate.len() == 1 && matches!(head, "test" | "doctest") && value == wanted;
    }
    let inside = parts(source, predicate.start + 2..source.tokens[predicate.start + 1].pair);
    let one = |part: &Range<usize>| implies(source, part, value, wanted, depth);
    match (head, value) {
        ("not", _) => inside.first().is_some_and(|part| implies(source, part, !value, wanted, depth)),
        ("all", true) | ("any", false) => inside.iter().any(one),
        ("all", false) | ("any", true) => !inside.is_empty() && inside.iter().all(one),
        _ => false,
    }
}

/// What commas divide.
fn parts(source: &Source<'_>, tokens: Range<usize>) -> Vec<Range<usize>> {
    let (mut found, mut start, mut at) = (Vec::new(), tokens.start, tokens.start);
    while at < tokens.end {
        match source.kind(at) {
            Some(Kind::Mark(',')) => {
                found.push(start..at);
                start = at + 1;
            }
            Some(Kind::Open(_)) => at = source.tokens[at].pair,
            _ => {}
        }
        at += 1;
    }
    found.push(start..tokens.end);
    found.retain(|part| !part.is_empty());
    found
}
