//! Owns which names of an interface were renamed by a change: attributes, functions and keywords that only one side uses.

use std::collections::BTreeSet;

use rustc_hash::FxHashSet;

use crate::strength::cards::CardSet;
use crate::strength::delta::tokens::{cut, is_free, is_name};

/// Words of fewer letters make no two names alike.
const LETTERS: usize = 3;

/// Names that stand behind a dot or before a keyword's value in the checks of one side, and in none of the other.
#[derive(Debug, Default)]
pub(super) struct Renames {
    went: BTreeSet<String>,
    came: BTreeSet<String>,
}

impl Renames {
    /// Reads the checks of both sides.
    pub(super) fn of(base: &CardSet, patch: &CardSet) -> Self {
        let (before, after) = (parts(base), parts(patch));
        let only = |one: &FxHashSet<&str>, other: &FxHashSet<&str>| one.difference(other).map(|&part| part.to_owned()).collect();
        Renames { went: only(&before, &after), came: only(&after, &before) }
    }

    /// Whether the first name may have become the second: they share a word, and no check of the patch uses the first, none of the base
    /// the second.
    pub(super) fn became(&self, was: &str, now: &str) -> bool {
        self.went.contains(was) && self.came.contains(now) && are_kin(was, now)
    }
}

fn parts(side: &CardSet) -> FxHashSet<&str> {
    let mut all = FxHashSet::default();
    for claim in side.cards().flat_map(|card| &card.claims) {
        for text in std::iter::once(claim.text.as_str()).chain(claim.setup.iter().map(|line| &**line)) {
            let tokens = cut(text);
            all.extend((0..tokens.len()).filter(|at| is_name(tokens[*at]) && !is_free(&tokens, *at)).map(|at| tokens[at]));
        }
    }
    all
}

fn are_kin(one: &str, other: &str) -> bool {
    let (one, other) = (words(one), words(other));
    one.iter().any(|word| word.len() >= LETTERS && other.contains(word))
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
        ] {
            assert!(are_kin(one, other), "{one} {other}");
        }
        for (one, other) in [("total", "fake"), ("strict", "lenient"), ("is_ok", "is_bad"), ("a", "a_b"), ("old", "new")] {
            assert!(!are_kin(one, other), "{one} {other}");
        }
    }
}
