//! Owns whether explicit examples are still tried.

use crate::finding::Rule;
use crate::strength::card::Card;
use crate::strength::delta::Loss;

/// How an example that may fail is told.
const MAY_FAIL: &str = "xfail ";

/// An example that is gone. One that could fail and now must pass is not.
pub(super) fn compare(base: &Card, patch: &Card) -> Vec<Loss> {
    let kept = |example: &&String| {
        let plain = example.strip_prefix(MAY_FAIL).unwrap_or(example);
        patch.effort.examples.contains(*example) || (plain != example.as_str() && patch.effort.examples.contains(plain))
    };
    let gone = base.effort.examples.iter().filter(|example| !kept(example));
    gone.map(|example| Loss { rule: Rule::ExampleRemoved, says: format!("example gone: {example}"), line: Some(patch.line) }).collect()
}
