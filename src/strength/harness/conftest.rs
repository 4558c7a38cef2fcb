//! Owns Python that pytest loads before the tests: hooks, fixtures and ignored files, and what a change of them takes away.

use std::collections::BTreeSet;

use crate::settings::glob::Glob;
use crate::strength::harness::{Loss, Sight, bytes, joined};
use crate::strength::languages::{Hook, Hooks, Language};
use crate::tree::{RepoPath, TreeError};

/// Modules that judge.
const JUDGES: [&str; 6] = ["pytest", "_pytest", "unittest", "hypothesis", "builtins", "numpy"];

/// What a changed file takes away. Files other than `conftest.py` are read only when they define hooks.
pub(super) fn losses(sight: &Sight<'_>, path: &RepoPath) -> Result<Vec<Loss>, TreeError> {
    let Some(is) = bytes(sight.patch, path)? else { return Ok(Vec::new()) };
    let own = path.name() == b"conftest.py";
    let package = path.name() == b"__init__.py";
    let (Some(language), true) = (Language::of(path), own || package || defines_hooks(&is)) else { return Ok(Vec::new()) };
    let was = bytes(sight.base, path)?.unwrap_or_default();
    let after = match language.hooks(&is) {
        Ok(after) => after,
        Err(why) if own && language.hooks(&was).is_ok() => return Ok(vec![Loss::unreadable(path, why.line, &why.says)]),
        Err(_) => return Ok(Vec::new()),
    };
    let before = language.hooks(&was).unwrap_or_default();
    let mut losses = hooks(path, &before, &after);
    if own {
        losses.extend(fixtures(path, &before, &after));
        losses.extend(ignored(sight, path, &before, &after)?);
        losses.extend(patched(sight, path, &before, &after)?);
    }
    if own || package {
        let fresh = after.top.iter().filter(|(text, _)| !before.top.contains_key(*text));
        losses.extend(fresh.map(|(text, line)| Loss::at(path, Some(*line), format!("ends or skips the run: {}", cut(text)))));
    }
    Ok(losses)
}

fn defines_hooks(bytes: &[u8]) -> bool {
    bytes.windows(11).any(|window| window == b"def pytest_")
}

fn hooks(path: &RepoPath, before: &Hooks, after: &Hooks) -> Vec<Loss> {
    let none = Hook::default();
    let mut losses = Vec::new();
    for (name, hook) in &after.hooks {
        let was = before.hooks.get(name).unwrap_or(&none);
        if hook.effects.is_empty() || (hook.effects.is_subset(&was.effects) && hook.body_sha256 == was.body_sha256) {
            continue;
        }
        let fewer = hook.effects.is_subset(&was.effects) && hook.effects.len() < was.effects.len();
        let says = match hook.effects.difference(&was.effects).next() {
            Some(effect) if was.effects.is_empty() => format!("{name} can drop tests or rewrite outcomes: {}", cut(effect)),
            Some(effect) => format!("{name} drops tests or rewrites outcomes in another way: {}", cut(effect)),
            None if fewer => continue,
            None => format!("{name}, which drops tests or rewrites outcomes, has changed"),
        };
        losses.push(Loss::at(path, Some(hook.line), says));
    }
    losses
}

/// Fixtures that skip or stub, now for every test, or where they gave the real thing before.
fn fixtures(path: &RepoPath, before: &Hooks, after: &Hooks) -> Vec<Loss> {
    let none = Hook::default();
    let mut losses = Vec::new();
    for (name, fixture) in &after.fixtures {
        let was = before.fixtures.get(name);
        if was.is_none() && !fixture.autouse {
            continue;
        }
        let newly = fixture.autouse && was.is_none_or(|was| !was.autouse);
        let was = was.filter(|_| !newly).unwrap_or(&none);
        let every = if fixture.autouse { "for every test" } else { "for the tests that ask for it" };
        for (now, then, does) in
            [(&fixture.effects, &was.effects, "skips or rewrites"), (&fixture.stubs, &was.stubs, "puts a stub in place")]
        {
            let fresh: BTreeSet<&String> = now.difference(then).collect();
            if let Some(effect) = fresh.first().filter(|_| now.len() > then.len()) {
                losses.push(Loss::at(path, Some(fixture.line), format!("fixture {name} {does} {every}: {}", cut(effect))));
            }
        }
    }
    losses
}

/// Parts of the runner or of the product that are something else once the file is loaded.
fn patched(sight: &Sight<'_>, path: &RepoPath, before: &Hooks, after: &Hooks) -> Result<Vec<Loss>, TreeError> {
    let mut losses = Vec::new();
    for (text, (module, line)) in after.patched.iter().filter(|(text, _)| !before.patched.contains_key(*text)) {
        let first = module.split('.').next().unwrap_or_default();
        if JUDGES.contains(&first) || is_of_the_tree(sight, first)? {
            losses.push(Loss::at(path, Some(*line), format!("puts something else in the place of a part of {module}: {}", cut(text))));
        }
    }
    Ok(losses)
}

/// Whether a module lies in the tree, where imports usually begin.
fn is_of_the_tree(sight: &Sight<'_>, module: &str) -> Result<bool, TreeError> {
    for folder in [&b""[..], b"src"] {
        let file = joined(folder, &format!("{module}.py"));
        if sight.patch.entry(&file)?.is_some() || !sight.patch.list(joined(folder, module).as_bytes())?.is_empty() {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Files that are left out; a file that the base does not have loses nothing.
fn ignored(sight: &Sight<'_>, path: &RepoPath, before: &Hooks, after: &Hooks) -> Result<Vec<Loss>, TreeError> {
    let mut losses = Vec::new();
    for (entry, line) in after.ignored.iter().filter(|(entry, _)| !before.ignored.contains_key(*entry)) {
        let place = joined(path.parent(), entry);
        let opaque = entry.starts_with('(');
        let glob = entry.contains(['*', '?', '[']);
        // What was left out by name may be left out by a pattern.
        let known = |file: &RepoPath| before.ignored.keys().any(|was| joined(path.parent(), was) == *file);
        let there = match glob {
            true => sight.base.list(path.parent())?.iter().any(|(file, _)| is_like(entry, file) && !known(file)),
            false => sight.base.entry(&place)?.is_some() || !sight.base.list(place.as_bytes())?.is_empty(),
        };
        if !opaque && !there {
            continue;
        }
        losses.push(Loss::at(path, Some(*line), format!("collect_ignore leaves out {entry}")));
    }
    Ok(losses)
}

/// Whether a glob of `collect_ignore_glob`, whose `*` crosses folders, may mean a file.
fn is_like(entry: &str, file: &RepoPath) -> bool {
    let last = entry.rsplit('/').next().unwrap_or(entry);
    Glob::new(&format!("**/{last}")).map_or(true, |glob| glob.matches(file.as_bytes()))
}

fn cut(text: &str) -> String {
    match text.char_indices().nth(120) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_owned(),
    }
}
