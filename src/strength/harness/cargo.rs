//! Owns Cargo's, nextest's and cargo-mutants' configuration: targets that are not tested, failures that are repeated, tests that are filtered.

use toml::{Table, Value};

use crate::strength::harness::Loss;
use crate::strength::harness::ini::{line_of, table};
use crate::tree::RepoPath;

/// Whether a path is one of them.
pub(super) fn is_config(path: &RepoPath) -> bool {
    path.name() == b"Cargo.toml"
        || is_settings(path)
        || [&b".config/nextest.toml"[..], MUTANTS].iter().any(|end| path.as_bytes().ends_with(end))
}

/// The configuration of cargo-mutants.
const MUTANTS: &[u8] = b".cargo/mutants.toml";

/// Whether a path is Cargo's own configuration.
fn is_settings(path: &RepoPath) -> bool {
    [&b".cargo/config.toml"[..], b".cargo/config"].iter().any(|end| path.as_bytes().ends_with(end))
}

/// Compares a file before and after.
pub(super) fn losses(path: &RepoPath, was: &str, is: &str) -> Vec<Loss> {
    let Ok(before) = table(was) else { return Vec::new() };
    match table(is) {
        Ok(after) if path.name() == b"Cargo.toml" => manifest(path, &before, &after, is),
        Ok(after) if is_settings(path) => settings(path, &before, &after, is),
        Ok(after) if path.as_bytes().ends_with(MUTANTS) => mutants(path, &before, &after, is),
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
    losses.extend(profile(path, was, is, text));
    let before = without_harness(was);
    let fresh = without_harness(is).into_iter().filter(|name| !before.contains(name));
    losses.extend(fresh.map(|name| Loss::at(path, Some(line_of(text, "harness")), format!("[[test]] {name}: harness = false"))));
    // Targets of a fuzzer run under the fuzzer.
    let fuzzed = is.get("dependencies").is_some_and(|all| all.get("libfuzzer-sys").is_some());
    for kind in if fuzzed { &["test"][..] } else { &["test", "bin"][..] } {
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

/// Checks of the language that tests are built without.
fn profile(path: &RepoPath, was: &Table, is: &Table, text: &str) -> Vec<Loss> {
    let off = |table: &Table, name: &str, key: &str| {
        let profile = table.get("profile").and_then(|all| all.get(name));
        profile.and_then(|profile| profile.get(key)).and_then(Value::as_bool) == Some(false)
    };
    let mut losses = Vec::new();
    for name in ["test", "dev"] {
        for key in ["debug-assertions", "overflow-checks"] {
            if off(is, name, key) && !off(was, name, key) {
                losses.push(Loss::at(
                    path,
                    Some(line_of(text, key)),
                    format!("profile.{name}: {key} = false: tests run without these checks"),
                ));
            }
        }
    }
    losses
}

/// Variables of which a lower number tries properties less, and what is usual.
const LESSENED: [(&str, u64); 4] =
    [("PROPTEST_CASES", 256), ("PROPTEST_MAX_DEFAULT_SIZE_RANGE", 100), ("QUICKCHECK_TESTS", 100), ("QUICKCHECK_GENERATOR_SIZE", 100)];

/// Programs that run nothing of what they are given.
const IDLE: [&str; 6] = ["true", "echo", "printf", "cat", "test", ":"];

/// Targets whose tests are given to a program that does not run them.
fn idle(path: &RepoPath, was: &Table, is: &Table, text: &str) -> Vec<Loss> {
    let runner = |table: &Table, target: &str| -> Option<String> {
        let value = table.get("target")?.get(target)?.get("runner")?;
        let first = value.as_array().map_or(Some(value), |words| words.first())?;
        let program = first.as_str()?.split_whitespace().next()?.rsplit('/').next()?;
        IDLE.contains(&program).then(|| program.to_owned())
    };
    let targets = is.get("target").and_then(Value::as_table).into_iter().flatten().map(|(target, _)| target);
    let fresh = targets.filter_map(|target| runner(is, target).filter(|_| runner(was, target).is_none()).map(|program| (target, program)));
    fresh
        .map(|(target, program)| {
            Loss::at(path, Some(line_of(text, "runner")), format!("target {target}: runner = {program}: no test is run"))
        })
        .collect()
}

/// Variables by which properties are tried less, set for every run.
fn settings(path: &RepoPath, was: &Table, is: &Table, text: &str) -> Vec<Loss> {
    let told = |table: &Table, key: &str| {
        let value = table.get("env").and_then(|env| env.get(key))?;
        let value = value.get("value").unwrap_or(value);
        Some(value.as_str().map_or_else(|| value.to_string(), str::to_owned))
    };
    let mut losses = Vec::new();
    for (key, usual) in LESSENED {
        let number = |value: Option<String>| value.map_or(Some(usual), |value| value.parse().ok());
        let (before, after) = (number(told(was, key)), number(told(is, key)));
        if after < before {
            let says = format!("env: {key} = {}: properties are tried less", told(is, key).unwrap_or_default());
            losses.push(Loss::at(path, Some(line_of(text, key)), says));
        }
    }
    for key in ["PROPTEST_DISABLE_FAILURE_PERSISTENCE", "PROPTEST_RNG_SEED", "INSTA_UPDATE", "INSTA_FORCE_PASS"] {
        let after = told(is, key);
        let passes = after.as_deref().is_some_and(|value| !matches!(value, "no" | "0" | "auto" | "new"));
        if passes && after != told(was, key) {
            losses.push(Loss::at(path, Some(line_of(text, key)), format!("env: {key} = {}", after.unwrap_or_default())));
        }
    }
    losses.extend(idle(path, was, is, text));
    losses
}

/// What cargo-mutants leaves out.
fn mutants(path: &RepoPath, was: &Table, is: &Table, text: &str) -> Vec<Loss> {
    let listed = |table: &Table, key: &str| -> Vec<String> {
        let all = table.get(key).and_then(Value::as_array).into_iter().flatten();
        all.map(|value| value.as_str().map_or_else(|| value.to_string(), str::to_owned)).collect()
    };
    let mut losses = Vec::new();
    for key in ["exclude_globs", "exclude_re", "skip_calls"] {
        let before = listed(was, key);
        if let Some(more) = listed(is, key).into_iter().find(|entry| !before.contains(entry)) {
            losses.push(Loss::at(path, Some(line_of(text, key)), format!("{key}: {more:?} is not mutated")));
        }
    }
    losses
}

fn untested(table: &Table, kind: &str) -> Vec<String> {
    let targets = table.get(kind).and_then(Value::as_array).into_iter().flatten();
    let is_off = |target: &Value, key: &str| target.get(key).and_then(Value::as_bool) == Some(false);
    let off = targets.filter(|target| is_off(target, "test"));
    off.filter_map(|target| target.get("name").and_then(Value::as_str).map(str::to_owned)).collect()
}

/// Targets of tests that bring a `main` of their own: Cargo runs that, and no test function.
fn without_harness(table: &Table) -> Vec<String> {
    let targets = table.get("test").and_then(Value::as_array).into_iter().flatten();
    let off = targets.filter(|target| target.get("harness").and_then(Value::as_bool) == Some(false));
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
