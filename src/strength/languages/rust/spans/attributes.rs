//! Owns what the attributes of an item say of tests, as far as its place in the file goes.

use std::ops::Range;
use std::str::FromStr as _;

use proc_macro2::TokenStream;

use crate::strength::languages::rust::predicate::{DEPTH, implies, is_of_tests};
use crate::strength::languages::rust::spans::lex::{Kind, Source};

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
        let (open, close) = (source.tokens[end], source.tokens[source.tokens[end].pair]);
        let text = &source.text[open.end..close.start];
        let Some(predicate) = TokenStream::from_str(text).ok().filter(|_| !is_deep(source, end)) else { return Says::Nothing };
        return match () {
            () if implies(&predicate, true) => Says::OnlyTests,
            () if implies(&predicate, false) => Says::NeverTests,
            () => Says::Nothing,
        };
    }
    if is_of_tests(name) { Says::Test } else { Says::Nothing }
}

/// Whether brackets stand deeper in this one than any predicate is followed; what reads the tokens would go into them all.
fn is_deep(source: &Source<'_>, bracket: usize) -> bool {
    let mut depth = 0_usize;
    (bracket..source.tokens[bracket].pair).any(|at| {
        match source.kind(at) {
            Some(Kind::Open(_)) => depth += 1,
            Some(Kind::Close) => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth > DEPTH
    })
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
