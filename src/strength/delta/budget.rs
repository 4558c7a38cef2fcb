//! Owns whether properties are still tried as hard.

use std::collections::BTreeSet;

use crate::finding::Rule;
use crate::strength::card::Card;
use crate::strength::delta::Loss;
use crate::strength::languages::{self, Setting};

/// Settings that are lower than on the base, what is usual where one side sets nothing.
pub(super) fn compare(base: &Card, patch: &Card) -> Vec<Loss> {
    let (was, now) = (&base.effort.budget.set, &patch.effort.budget.set);
    let keys: BTreeSet<&String> = was.keys().chain(now.keys()).collect();
    let lowered = keys.into_iter().filter_map(|key| {
        let setting = languages::setting(key);
        let usual = setting.as_ref().map_or("", |setting| setting.usual);
        let old = was.get(key).map_or(usual, String::as_str);
        let new = now.get(key).map_or(usual, String::as_str);
        is_lower(setting.as_ref(), old, new).then(|| format!("{key} {} -> {}", shown(old), shown(new)))
    });
    lowered.map(|says| Loss { rule: Rule::BudgetLowered, says, line: Some(patch.line) }).collect()
}

fn shown(value: &str) -> &str {
    if value.is_empty() { "none" } else { value }
}

/// A setting that no language knows may say anything: another text of it is not known to be as much.
fn is_lower(setting: Option<&Setting>, old: &str, new: &str) -> bool {
    old != new && setting.is_none_or(|setting| (setting.is_lower)(setting.usual, old, new))
}
