//! Owns whether properties are still tried as hard.

use std::collections::BTreeSet;

use crate::finding::Rule;
use crate::strength::card::Card;
use crate::strength::delta::Loss;

/// What holds where nothing is set.
fn default(key: &str) -> Option<&'static str> {
    match key {
        "max_examples" | "tests" => Some("100"),
        "cases" => Some("256"),
        "failure_persistence" => Some("a file"),
        "stateful_step_count" => Some("50"),
        "phases" => Some("all"),
        "derandomize" => Some("False"),
        "suppress_health_check" => Some(""),
        "database" => Some("a database"),
        _ => None,
    }
}

/// Phases of which the loss loses nothing that is found.
const TELLING: [&str; 2] = ["explain", "shrink"];
/// All phases that find something.
const FINDING: [&str; 4] = ["explicit", "generate", "reuse", "target"];

/// Settings that are lower than on the base, the default where one side sets nothing.
pub(super) fn compare(base: &Card, patch: &Card) -> Vec<Loss> {
    let (was, now) = (&base.effort.budget.set, &patch.effort.budget.set);
    let keys: BTreeSet<&String> = was.keys().chain(now.keys()).collect();
    let lowered = keys.into_iter().filter_map(|key| {
        let told = |set: Option<&String>| set.map(String::as_str).or_else(|| default(key)).map(str::to_owned);
        let (old, new) = (told(was.get(key)), told(now.get(key)));
        let (old, new) = (old.unwrap_or_default(), new.unwrap_or_default());
        is_lower(key, &old, &new).then(|| format!("{key} {} -> {}", shown(&old), shown(&new)))
    });
    lowered.map(|says| Loss { rule: Rule::BudgetLowered, says, line: Some(patch.line) }).collect()
}

fn shown(value: &str) -> &str {
    if value.is_empty() { "none" } else { value }
}

fn is_lower(key: &str, old: &str, new: &str) -> bool {
    if old == new {
        return false;
    }
    match key {
        "max_examples" | "stateful_step_count" | "cases" | "tests" => {
            number(new).is_none_or(|new| new < number(old).unwrap_or_else(|| usual(key)))
        }
        "phases" => !(phases(new).is_superset(&phases(old))),
        "suppress_health_check" => new == "all" || (old != "all" && !names(old).is_superset(&names(new))),
        "derandomize" => new != "False",
        "database" | "failure_persistence" => new == "None",
        _ => true,
    }
}

fn usual(key: &str) -> u64 {
    default(key).and_then(number).unwrap_or_default()
}

fn number(text: &str) -> Option<u64> {
    text.parse().ok()
}

fn names(text: &str) -> BTreeSet<&str> {
    text.split(", ").filter(|name| !name.is_empty()).collect()
}

fn phases(text: &str) -> BTreeSet<&str> {
    let all = if text == "all" { FINDING.into() } else { names(text) };
    all.into_iter().filter(|name| !TELLING.contains(name)).collect()
}
