//! Owns the comparison of what two card files state in plain fields: a file edited by hand is taken at its word.

use num_bigint::BigInt;

use crate::finding::Rule;
use crate::strength::cards::Stated;
use crate::strength::delta::Loss;
use crate::strength::domain::Interval;

/// Case keys are sets, so their number never decides; the size does where no keys stand.
pub(super) fn compare(base: &Stated, patch: &Stated, same_files: bool) -> Vec<Loss> {
    let mut losses = Vec::new();
    let mut lose = |rule: Rule, says: String| losses.push(Loss { rule, says, line: None });
    let gone: Vec<&str> = base.case_keys.difference(&patch.case_keys).map(String::as_str).collect();
    if !gone.is_empty() {
        lose(Rule::CaseRemoved, format!("cases lost: {}", gone.join(", ")));
    }
    for (name, before) in &base.bounds {
        match patch.bounds.get(name) {
            Some(after) if holds(before, after) => {}
            Some(after) => lose(Rule::BoundNarrowed, format!("{name}: {} -> {}", shown(before), shown(after))),
            None => lose(Rule::BoundNarrowed, format!("{name}: {} -> no interval", shown(before))),
        }
    }
    if base.case_keys.is_empty() && patch.domain_size < base.domain_size && patch.domain_size.is_some() {
        lose(Rule::BoundNarrowed, format!("domain_size {} -> {}", size(base), size(patch)));
    }
    if patch.assertion_count < base.assertion_count {
        lose(Rule::AssertionRemoved, format!("assertions {} -> {}", base.assertion_count, patch.assertion_count));
    }
    if same_files && base.fixture_sha256.is_some() && base.fixture_sha256 != patch.fixture_sha256 {
        let text = |sha: &Option<String>| sha.clone().unwrap_or_else(|| "none".to_owned());
        lose(Rule::FixtureDrift, format!("fixture {} -> {}", text(&base.fixture_sha256), text(&patch.fixture_sha256)));
    }
    losses
}

fn holds(before: &Interval, after: &Interval) -> bool {
    let low = after.0.as_ref().is_none_or(|low| before.0.as_ref().is_some_and(|old| low <= old));
    let high = after.1.as_ref().is_none_or(|high| before.1.as_ref().is_some_and(|old| high >= old));
    low && high
}

fn shown(interval: &Interval) -> String {
    let end = |end: &Option<BigInt>| end.as_ref().map_or_else(|| "open".to_owned(), ToString::to_string);
    format!("[{}, {}]", end(&interval.0), end(&interval.1))
}

fn size(stated: &Stated) -> String {
    stated.domain_size.as_ref().map_or_else(|| "unknown".to_owned(), ToString::to_string)
}
