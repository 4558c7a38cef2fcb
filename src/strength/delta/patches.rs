//! Owns whether a test still checks production code, and not what stands in for it.

use crate::finding::Rule;
use crate::strength::card::Card;
use crate::strength::delta::Loss;

/// Production objects that are replaced and were not on the base.
pub(super) fn compare(base: &Card, patch: &Card) -> Vec<Loss> {
    let added = patch.effort.patches.difference(&base.effort.patches);
    added.map(|target| Loss { rule: Rule::SubjectPatched, says: format!("replaced: {target}"), line: Some(patch.line) }).collect()
}
