//! Owns which names of an interface were renamed by a change: attributes, functions and keywords that only one side uses.

use std::collections::BTreeSet;

use rustc_hash::FxHashSet;

use crate::strength::cards::CardSet;
use crate::strength::delta::tokens::{cut, is_free, is_word};

/// Words of fewer letters make no two names alike.
const LETTERS: usize = 3;
/// A word of so many letters that another one begins with makes them alike: `valid`, `validate`.
const STEM: usize = 5;
/// Words that end so many names that they make no two of them alike: a wider class of errors is no new name of a narrower one.
const COMMON: [&str; 3] = ["error", "exception", "warning"];
/// At most so many tokens back the function is looked for that a keyword is passed to.
const FAR: usize = 2_000;

/// Names that stand behind a dot or before a keyword's value in the checks of one side, and in none of the other.
#[derive(Debug, Default)]
pub(super) struct Renames {
    went: FxHashSet<(String, String)>,
    came: FxHashSet<(String, String)>,
}

impl Renames {
    /// Reads the checks of both sides.
    pub(super) fn of(base: &CardSet, patch: &CardSet) -> Self {
        let (before, after) = (parts(base), parts(patch));
        let owned = |&(of, name): &Part<'_>| (of.to_owned(), name.to_owned());
        let only = |one: &FxHashSet<Part<'_>>, other: &FxHashSet<Part<'_>>| one.difference(other).map(owned).collect();
        Renames { went: only(&before, &after), came: only(&after, &before) }
    }

    /// Whether the name at that place of the first text may have become the one at that place of the second: they share a word, and no
    /// check of the patch uses the first, none of the base the second.
    pub(super) fn became(&self, was: &[&str], now: &[&str], at: usize) -> bool {
        let owned = |(of, name): Part<'_>| (of.to_owned(), name.to_owned());
        let is_kin = was[at] != now[at] && is_word(was[at]) && is_word(now[at]) && are_kin(was[at], now[at]);
        let parts = Some(()).filter(|()| is_kin).and_then(|()| part(was, at).zip(part(now, at)));
        parts.is_some_and(|(old, new)| self.went.contains(&owned(old)) && self.came.contains(&owned(new)))
    }
}

/// An attribute after a dot; a keyword after the function that it is passed to.
type Part<'t> = (&'t str, &'t str);

/// The part of an interface that stands there.
fn part<'t>(tokens: &[&'t str], at: usize) -> Option<Part<'t>> {
    if is_free(tokens, at) || !is_word(tokens[at]) {
        return None;
    }
    if at > 0 && tokens[at - 1] == "." {
        return Some((".", tokens[at]));
    }
    let mut depth = 0_usize;
    let open = (0..at).rev().take(FAR).find(|place| match tokens[*place] {
        ")" | "]" | "}" => {
            depth += 1;
            false
        }
        "(" | "[" | "{" => {
            depth = depth.wrapping_sub(1);
            depth == usize::MAX
        }
        _ => false,
    })?;
    Some((open.checked_sub(1).map_or("", |before| tokens[before]), tokens[at]))
}

fn parts(side: &CardSet) -> FxHashSet<Part<'_>> {
    let mut all = FxHashSet::default();
    for claim in side.cards().flat_map(|card| &card.claims) {
        for text in std::iter::once(claim.text.as_str()).chain(claim.setup.iter().map(|line| &**line)) {
            let tokens = cut(text);
            all.extend((0..tokens.len()).filter_map(|at| part(&tokens, at)));
        }
    }
    all
}

fn are_kin(one: &str, other: &str) -> bool {
    let (one, other) = (words(one), words(other));
    let begins = |a: &str, b: &str| a.len() >= STEM && b.starts_with(a);
    one.iter().any(|a| a.len() >= LETTERS && !COMMON.contains(&a.as_str()) && other.iter().any(|b| a == b || begins(a, b) || begins(b, a)))
}

/// `_format_full_version` and `FormatFullVersion` are both `format`, `full`, `version`.
fn words(name: &str) -> BTreeSet<String> {
    let mut all: Vec<String> = vec![String::new()];
    let mut small = false;
    for c in name.chars() {
        if !c.is_alphabetic() || (c.is_uppercase() && small) {
            all.push(String::new());
        }
        small = c.is_lowercase();
        if let Some(last) = all.last_mut().filter(|_| c.is_alphabetic()) {
            last.extend(c.to_lowercase());
        }
    }
    all.into_iter().filter(|word| !word.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::are_kin;

    #[test]
    fn names_that_share_a_word_may_be_one_name_renamed() {
        for (one, other) in [
            ("format_full_version", "_format_full_version"),
            ("MultiSub", "MultiReplace"),
            ("hash", "unsafe_hash"),
            ("temp_dir", "dir"),
            ("range2list", "parse_list"),
            ("valid", "validate"),
        ] {
            assert!(are_kin(one, other), "{one} {other}");
        }
        for (one, other) in [
            ("total", "fake"),
            ("strict", "lenient"),
            ("is_ok", "is_bad"),
            ("a", "a_b"),
            ("old", "new"),
            ("fake", "faked_total"),
            ("CartError", "ShopError"),
        ] {
            assert!(!are_kin(one, other), "{one} {other}");
        }
    }
}
