//! Owns Cargo's and nextest's configuration: targets that are not tested, failures that are repeated, tests that are filtered.

use toml::{Table, Value};

use crate::strength::harness::Loss;
use crate::strength::harness::ini::{line_of, table};
use crate::tree::RepoPath;

/// Whether a path is one of them.
pub(super) fn is_config(path: &RepoPath) -> bool {
    path.name() == b"Cargo.toml" || path.as_bytes().ends_with(b".config/nextest.toml")
}

/// Compares a file before and after.
pub(super) fn losses(path: &RepoPath, was: &str, is: &str) -> Vec<Loss> {
    let Ok(before) = table(was) else { return Vec::new() };
    match table(is) {
        Ok(after) if path.name() == b"Cargo.toml" => manifest(path, &before, &after, is),
        Ok(after) => nextest(path, &before, &after, is),
        Err((line, says)) => vec![Loss::unreadable(path, line, &says)],
    }
}

fn manifest(path: &RepoPath, was: &Table, is: &Table, text: &str) -> Vec<Loss> {
    let off = |table: &Table, part: &str, key: &str| table.get(part).and_then(|part| part.get(key)).and_then(Value::as_bool) == Some(false);
    let mut losses = Vec::new();
    for (part, key) in [("package", "autotests"), ("lib", "test"), ("lib", "doctest")] {
        if off(is, part, key) && !off(was, part, key) {
            losses.push(Loss::at(path, Some(line_of(text, key)), format!("{part}: {key} = false")));
        }
    }
    for kind in ["test", "bin"] {
        let (before, after) = (untested(was, kind), untested(is, kind));
        losses.extend(
            after
                .into_iter()
                .filter(|name| !before.contains(name))
                .map(|name| Loss::at(path, None, format!("[[{kind}]] {name}: test = false"))),
        );
    }
    losses
}

fn untested(table: &Table, kind: &str) -> Vec<String> {
    let targets = table.get(kind).and_then(Value::as_array).into_iter().flatten();
    let off = targets.filter(|target| target.get("test").and_then(Value::as_bool) == Some(false));
    off.filter_map(|target| target.get("name").and_then(Value::as_str).map(str::to_owned)).collect()
}

fn nextest(path: &RepoPath, was: &Table, is: &Table, text: &str) -> Vec<Loss> {
    let mut losses = Vec::new();
    let empty = Table::new();
    let none = Value::Table(Table::new());
    for (name, profile) in is.get("profile").and_then(Value::as_table).unwrap_or(&empty) {
        let before = was.get("profile").and_then(|profiles| profiles.get(name)).unwrap_or(&none);
        if retries(profile) > retries(before) {
            let says =
                format!("profile {name}: retries {} -> {}: a failure is repeated until it passes", retries(before), retries(profile));
            losses.push(Loss::at(path, Some(line_of(text, "retries")), says));
        }
        let filter = |profile: &Value| profile.get("default-filter").and_then(Value::as_str).unwrap_or("all()").to_owned();
        if filter(profile) != filter(before) && filter(profile) != "all()" {
            let says = format!("profile {name}: default-filter {:?} -> {:?}", filter(before), filter(profile));
            losses.push(Loss::at(path, Some(line_of(text, "default-filter")), says));
        }
        for part in overrides(profile).filter(|part| retries(part) > 0) {
            let filter = part.get("filter").and_then(Value::as_str).unwrap_or_default();
            let same = overrides(before).find(|old| old.get("filter").and_then(Value::as_str).unwrap_or_default() == filter);
            if retries(part) > same.map_or(0, retries) {
                losses.push(Loss::at(path, None, format!("profile {name}: override {filter:?} repeats failures {} times", retries(part))));
            }
        }
    }
    losses
}

fn overrides(profile: &Value) -> impl Iterator<Item = &Value> {
    profile.get("overrides").and_then(Value::as_array).into_iter().flatten()
}

fn retries(table: &Value) -> i64 {
    match table.get("retries") {
        Some(Value::Table(policy)) => policy.get("count").and_then(Value::as_integer).unwrap_or(0),
        other => other.and_then(Value::as_integer).unwrap_or(0),
    }
}
