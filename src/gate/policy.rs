//! Owns the policy a candidate is judged by: the base tree's, never the candidate's own.

use crate::finding::{Finding, Rule};
use crate::gate::GateError;
use crate::gate::levels::Levels;
use crate::partition::Sides;
use crate::settings::Settings;
use crate::tree::{Change, Entry, Mode, RepoPath, Tree};

/// Largest policy file that is read, in bytes.
const CAP: u64 = 1 << 20;

/// Settings with their compiled globs.
pub(super) struct Policy {
    pub(super) settings: Settings,
    pub(super) sides: Sides,
    pub(super) levels: Levels,
}

impl Policy {
    /// Compiles settings.
    pub(super) fn new(settings: Settings) -> Self {
        let (sides, levels) = (Sides::new(&settings), Levels::new(&settings.rules));
        Policy { settings, sides, levels }
    }

    /// The policy of a tree; the defaults when it has none.
    pub(super) fn of(tree: &dyn Tree, entry: Option<&Entry>) -> Result<Self, GateError> {
        let Some(entry) = entry else { return Ok(Policy::new(Settings::default())) };
        match entry.mode {
            Mode::File | Mode::Executable => {}
            Mode::Symlink => return Err(Settings::no_file("a symbolic link").into()),
            Mode::Gitlink => return Err(Settings::no_file("a submodule").into()),
        }
        let bytes = tree.blob(&entry.oid, CAP)?;
        Ok(Policy::new(Settings::read(&bytes)?))
    }
}

/// The policy for a candidate whose base has `entry` at the policy's path. A base whose policy is broken stops everything but
/// the change that repairs it, which is judged by the defaults.
pub(super) fn for_candidate(base: &dyn Tree, entry: Option<&Entry>, own: &[Change]) -> Result<Policy, GateError> {
    let repaired = own.iter().find(|change| change.path == RepoPath::new(Settings::PATH));
    if let Some(Change { new: Some(new), .. }) = repaired {
        Policy::of(base, Some(new))?;
    }
    match Policy::of(base, entry) {
        Err(_) if repaired.is_some() => Ok(Policy::new(Settings::default())),
        other => other,
    }
}

/// The finding for a change of the policy itself.
pub(super) fn changed(paths: &[&RepoPath]) -> Option<Finding> {
    let first = paths.first()?;
    let mut finding = Finding::new(Rule::PolicyChanged);
    finding.path = Some(first.to_string());
    finding.says = paths.iter().map(|path| format!("{path} changed; this change is judged by the policy of its base")).collect();
    finding.help = "a human merges a change of policy; nothing else to do".into();
    Some(finding)
}
