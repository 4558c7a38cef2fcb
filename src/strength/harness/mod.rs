//! Owns the harness card: what the files around the tests say of which tests run and count, and which change of them takes something away.

mod cargo;
mod ci;
mod conftest;
mod events;
mod flow;
mod imports;
mod ini;
mod js_config;
mod managers;
mod paths;
mod quoted;
mod options;
mod pytest_ini;
mod runners;
mod script;
mod shadow;
mod steps;
mod words;
mod yaml;

use std::collections::{BTreeMap, BTreeSet};

pub use crate::strength::harness::imports::import_folders;
pub use crate::strength::harness::shadow::is_shadow;
use crate::tree::{Change, Mode, RepoPath, Tree, TreeError, follow};

/// Largest file that is read, in bytes.
const CAP: u64 = 1 << 20;
/// Most files that are looked through for what a change may have dropped.
const MOST_FILES: usize = 200_000;

/// One way in which a change of the harness takes strength away.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Loss {
    /// The file.
    pub path: RepoPath,
    /// 1-based line in the candidate, where one shows it.
    pub line: Option<u32>,
    /// What was and what is.
    pub says: String,
    /// The file cannot be read, so that what it takes away is not known.
    pub unreadable: bool,
}

impl Loss {
    fn at(path: &RepoPath, line: Option<u32>, says: impl Into<String>) -> Self {
        Loss { path: path.clone(), line, says: says.into(), unreadable: false }
    }

    fn unreadable(path: &RepoPath, line: u32, says: &str) -> Self {
        Loss { path: path.clone(), line: Some(line), says: format!("cannot be read: {says}"), unreadable: true }
    }
}

/// The two trees that are compared, and which paths count as tests' own bytes.
pub struct Sight<'a> {
    /// The base.
    pub base: &'a dyn Tree,
    /// The candidate.
    pub patch: &'a dyn Tree,
    /// Whether a path may hold tests (fixtures do not).
    pub counts: &'a dyn Fn(&RepoPath) -> bool,
}

impl Sight<'_> {
    /// Python files of the candidate under a folder, by their paths from there.
    fn modules(&self, folder: &[u8]) -> Result<Vec<String>, TreeError> {
        let all = self.patch.list(folder)?.into_iter().map(|(path, _)| path);
        let python = all.filter(|path| path.name().ends_with(b".py") && (self.counts)(path)).take(MOST_FILES);
        let from = if folder.is_empty() { 0 } else { folder.len() + 1 };
        Ok(python.filter_map(|path| path.as_str().and_then(|text| text.get(from..)).map(str::to_owned)).collect())
    }
}

/// What kind of harness file a path is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Kind {
    /// pytest's own configuration.
    Pytest,
    /// Python that pytest loads before the tests.
    Conftest,
    /// Steps of continuous integration, of make, of scripts.
    Steps,
    /// A hook manager's file.
    Manager,
    /// Prose that agents obey.
    Prose,
    /// Configuration of cargo and nextest.
    Cargo,
    /// Configuration of JavaScript runners.
    Script,
    /// How much coverage is enough.
    Coverage,
    /// A module in the place of the runner's own.
    Shadow,
}

fn kinds(path: &RepoPath) -> impl Iterator<Item = Kind> {
    let name = path.name();
    [
        (Kind::Pytest, pytest_ini::is_config(name)),
        (Kind::Conftest, name.ends_with(b".py")),
        (Kind::Steps, script::kind(path).is_some()),
        (Kind::Manager, managers::is_manager(path)),
        (Kind::Prose, managers::is_prose(path)),
        (Kind::Cargo, cargo::is_config(path)),
        (Kind::Script, js_config::is_config(path)),
        (Kind::Coverage, pytest_ini::is_coverage(name)),
        (Kind::Shadow, is_shadow(path)),
    ]
    .into_iter()
    .filter_map(|(kind, yes)| yes.then_some(kind))
}

/// Whether a change of this path is read at all.
pub fn is_harness(path: &RepoPath) -> bool {
    kinds(path).next().is_some()
}

/// What the changed files take away. Changes that are no harness cost a look at their names.
///
/// # Errors
/// When a tree cannot be read.
pub fn losses(sight: &Sight<'_>, own: &[&Change]) -> Result<Vec<Loss>, TreeError> {
    let mut by_kind: BTreeMap<Kind, Vec<&RepoPath>> = BTreeMap::new();
    for change in own.iter().filter(|change| change.old.as_ref().map(|e| &e.oid) != change.new.as_ref().map(|e| &e.oid)) {
        for kind in kinds(&change.path) {
            by_kind.entry(kind).or_default().push(&change.path);
        }
    }
    let mut losses = Vec::new();
    for (kind, paths) in &by_kind {
        losses.extend(match kind {
            Kind::Pytest | Kind::Coverage => by_folder(sight, *kind, paths)?,
            Kind::Steps => script::losses(sight, paths)?,
            _ => each(sight, *kind, paths)?,
        });
    }
    losses.sort();
    losses.dedup();
    Ok(losses)
}

fn by_folder(sight: &Sight<'_>, kind: Kind, paths: &[&RepoPath]) -> Result<Vec<Loss>, TreeError> {
    let folders: BTreeSet<&[u8]> = paths.iter().map(|path| path.parent()).collect();
    let mut losses = Vec::new();
    for folder in folders {
        if kind == Kind::Coverage {
            losses.extend(pytest_ini::coverage(sight, folder)?);
            continue;
        }
        let here: Vec<&RepoPath> = paths.iter().copied().filter(|path| path.parent() == folder).collect();
        losses.extend(pytest_ini::losses(sight, folder, &here)?);
    }
    Ok(losses)
}

fn each(sight: &Sight<'_>, kind: Kind, paths: &[&RepoPath]) -> Result<Vec<Loss>, TreeError> {
    let mut losses = Vec::new();
    for path in paths {
        if matches!(kind, Kind::Conftest | Kind::Shadow) {
            losses.extend(if kind == Kind::Shadow { shadow::losses(sight, path)? } else { conftest::losses(sight, path)? });
            continue;
        }
        let (was, is) = (read(sight.base, path)?.unwrap_or_default(), read(sight.patch, path)?.unwrap_or_default());
        losses.extend(match kind {
            Kind::Manager => managers::dropped(path, &was, &is),
            Kind::Prose => managers::bypasses(path, &was, &is),
            Kind::Script => js_config::losses(path, &was, &is),
            _ => cargo::losses(path, &was, &is),
        });
    }
    Ok(losses)
}

/// The text of a file, links of the tree followed; `None` when there is none.
fn read(tree: &dyn Tree, path: &RepoPath) -> Result<Option<String>, TreeError> {
    Ok(bytes(tree, path)?.map(|bytes| String::from_utf8_lossy(&bytes).replace("\r\n", "\n").trim_start_matches('\u{feff}').to_owned()))
}

fn bytes(tree: &dyn Tree, path: &RepoPath) -> Result<Option<Vec<u8>>, TreeError> {
    let entry = follow(tree, path, &mut Vec::new())?.filter(|entry| matches!(entry.mode, Mode::File | Mode::Executable));
    entry.map(|entry| tree.blob(&entry.oid, CAP).map_err(|error| error.of(path))).transpose()
}

fn joined(folder: &[u8], name: &str) -> RepoPath {
    let slash: &[u8] = if folder.is_empty() { b"" } else { b"/" };
    RepoPath::new([folder, slash, name.as_bytes()].concat())
}

#[cfg(test)]
mod tests;
