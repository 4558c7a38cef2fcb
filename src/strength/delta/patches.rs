//! Owns whether a test still checks production code, and not what stands in for it.

use crate::finding::Rule;
use crate::strength::card::Card;
use crate::strength::delta::Loss;

/// Production objects that are replaced and were not on the base. One that was replaced there under another address counts as the same: it
/// moved to another module, or became public.
pub(super) fn compare(base: &Card, patch: &Card) -> Vec<Loss> {
    let mut gone: Vec<&str> = base.effort.patches.difference(&patch.effort.patches).map(|target| name(target)).collect();
    let mut losses = Vec::new();
    for target in patch.effort.patches.difference(&base.effort.patches) {
        if let Some(at) = gone.iter().position(|known| *known == name(target)) {
            gone.swap_remove(at);
        } else {
            losses.push(Loss { rule: Rule::SubjectPatched, says: format!("replaced: {target}"), line: Some(patch.line) });
        }
    }
    losses
}

/// The object's own name, private or not.
fn name(target: &str) -> &str {
    target.rsplit([':', '.']).next().unwrap_or(target).trim_start_matches('_')
}
