//! Owns modules that stand in the way of the runner's own: a `pytest.py` at the root is imported instead of pytest.

use crate::strength::harness::{Loss, Sight};
use crate::tree::{RepoPath, TreeError};

/// Names that a run of tests imports before anything else.
const TAKEN: [&str; 14] = [
    "pytest",
    "_pytest",
    "pluggy",
    "iniconfig",
    "hypothesis",
    "unittest",
    "doctest",
    "xdist",
    "pytest_asyncio",
    "anyio",
    "nose",
    "assertpy",
    "sitecustomize",
    "usercustomize",
];

/// The name that a path takes: a module or package where imports begin.
fn taken(path: &RepoPath) -> Option<&'static str> {
    let text = path.as_str()?;
    let module = text.strip_suffix(".py")?;
    let inner = ["src/", "tests/", "test/"].iter().find_map(|folder| module.strip_prefix(folder));
    let (place, below) = inner.map_or((module, false), |rest| (rest, !module.starts_with("src/")));
    // `tests/unittest/__init__.py` is a folder of tests, and pytest is loaded by then.
    let name = place.strip_suffix("/__init__").map_or(Some(place), |package| (!below).then_some(package))?;
    TAKEN.into_iter().find(|taken| *taken == name)
}

/// Whether a path takes such a name.
pub fn is_shadow(path: &RepoPath) -> bool {
    taken(path).is_some()
}

/// A module that the base does not have.
pub(super) fn losses(sight: &Sight<'_>, path: &RepoPath) -> Result<Vec<Loss>, TreeError> {
    let Some(name) = taken(path) else { return Ok(Vec::new()) };
    if sight.patch.entry(path)?.is_none() || sight.base.entry(path)?.is_some() {
        return Ok(Vec::new());
    }
    Ok(vec![Loss::at(path, Some(1), format!("is imported in the place of {name} wherever its folder is on the path"))])
}
