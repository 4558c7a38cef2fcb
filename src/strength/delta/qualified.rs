//! Owns whether a text is another one whose bare names are told with the module that they come from.

use std::collections::BTreeSet;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use crate::strength::delta::tokens::{is_free, is_name, is_word};

/// A hash that texts share which are equal but for what stands before the last part of dotted names.
pub(super) fn ends(tokens: &[&str]) -> u64 {
    let mut hash = DefaultHasher::new();
    let mut at = 0;
    while at < tokens.len() {
        let end = chain(tokens, at);
        tokens[end - 1].hash(&mut hash);
        at = end;
    }
    hash.finish()
}

/// Whether the second text is the first one with names of the file told as names of a module. A name of the file is no production
/// object for certain, so that one which an import gives says no less. `own` are parameters and the instance.
pub(super) fn is_qualified(one: &[&str], other: &[&str], own: &BTreeSet<&str>) -> bool {
    let (mut at, mut now) = (0, 0);
    while at < one.len() && now < other.len() {
        let (end, until) = (chain(one, at), chain(other, now));
        let (was, is) = (&one[at..end], &other[now..until]);
        let is_bare = matches!(was, [name] if is_name(name) && is_free(one, at) && !own.contains(name));
        if was != is && !(is_bare && is.len() > 1 && is.last() == was.last()) {
            return false;
        }
        (at, now) = (end, until);
    }
    at == one.len() && now == other.len()
}

/// Where the dotted name ends that starts here; after one token where none does.
fn chain(tokens: &[&str], at: usize) -> usize {
    let is_of_value = at > 0 && (matches!(tokens[at - 1], ")" | "]" | "}") || tokens[at - 1].ends_with(['\'', '"']));
    let mut end = at;
    while tokens.get(end) == Some(&".") && !is_of_value {
        end += 1;
    }
    if !tokens.get(end).is_some_and(|token| is_word(token)) || is_of_value {
        return at + 1;
    }
    end += 1;
    while tokens.get(end) == Some(&".") && tokens.get(end + 1).is_some_and(|token| is_word(token)) {
        end += 2;
    }
    end
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::{ends, is_qualified};
    use crate::strength::delta::tokens::cut;

    #[test]
    fn a_bare_name_may_be_told_with_its_module_but_not_the_other_way_round() {
        let own = BTreeSet::from(["self", "given"]);
        for (base, patch, wanted) in [
            ("f(Set[int]) == {1}", "f(collections.abc.Set[int]) == {1}", true),
            ("make(1).x", ".helpers.make(1).x", true),
            ("isinstance(a, Mapping)", "isinstance(a, collections.abc.Mapping)", true),
            ("shop.total(1)", "total(1)", false),
            ("shop.total(1)", "fakes.total(1)", false),
            ("total(1)", "shop.fake(1)", false),
            ("given.x", "shop.given.x", false),
            ("given(1)", "shop.given(1)", false),
            ("f(1).x", "f(1).y.x", false),
            ("f(x=1)", "f(a.x=1)", false),
        ] {
            let (base, patch) = (cut(base), cut(patch));
            assert_eq!(is_qualified(&base, &patch, &own), wanted, "{base:?} {patch:?}");
            assert!(!wanted || ends(&base) == ends(&patch), "{base:?} {patch:?}");
        }
    }
}
