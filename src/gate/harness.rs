//! Owns the harness and the production scan in the verdict: which changes are read, and the findings about them.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value as Json, json};

use crate::digest;
use crate::finding::{Finding, Rule};
use crate::gate::GateError;
use crate::gate::cards::{FIXTURE_CAP, SOURCE_CAP};
use crate::gate::fixtures::shell;
use crate::gate::policy::Policy;
use crate::partition::Side;
use crate::strength::harness::{self, Loss, Sight};
use crate::strength::production::{self, Added, Changed};
use crate::tree::{Change, Entry, Mode, RepoPath, Tree, TreeError};

/// What the two rules are asked about.
pub(super) struct Search<'a> {
    /// The trees to hold against: the base, and of a merge every parent.
    pub(super) bases: &'a [&'a dyn Tree],
    /// The candidate.
    pub(super) patch: &'a dyn Tree,
    /// The policy of the base.
    pub(super) policy: &'a Policy,
}

/// The changes that one of the two rules reads, told by their sides and names alone.
pub(super) struct Read<'c> {
    harness: Vec<&'c Change>,
    production: Vec<&'c Change>,
}

impl<'c> Read<'c> {
    /// Looks through the candidate's own changes.
    pub(super) fn of(policy: &Policy, own: &'c [Change]) -> Self {
        let mut read = Read { harness: Vec::new(), production: Vec::new() };
        for change in own {
            let side = policy.sides.side(&change.path);
            let module = production::is_read(&change.path);
            if module && matches!(side, Side::Production | Side::Neutral) && harness::is_shadow(&change.path) {
                read.harness.push(change);
            }
            match side {
                Side::Fixture | Side::Policy | Side::Record => {}
                Side::Production if module => read.production.push(change),
                Side::Neutral if module => {}
                _ if harness::is_harness(&change.path) => read.harness.push(change),
                _ => {}
            }
        }
        read
    }

    /// Whether there is nothing to read.
    pub(super) fn is_empty(&self) -> bool {
        self.harness.is_empty() && self.production.is_empty()
    }
}

impl Search<'_> {
    /// Findings of both rules. A merge is held against each parent: what one of them has too is not its own.
    pub(super) fn findings(&self, read: &Read<'_>) -> Result<Vec<Finding>, GateError> {
        let mut all: Option<(BTreeSet<Loss>, Vec<Added>)> = None;
        for base in self.bases {
            let losses: BTreeSet<Loss> = self.losses(*base, &read.harness)?.into_iter().collect();
            let added = self.added(*base, &read.production)?;
            all = Some(match all {
                None => (losses, added),
                Some((was, before)) => {
                    (was.intersection(&losses).cloned().collect(), before.into_iter().filter(|one| added.contains(one)).collect())
                }
            });
        }
        let (losses, added) = all.unwrap_or_default();
        let mut findings = Vec::new();
        let mut by_path: BTreeMap<(RepoPath, bool), Vec<Loss>> = BTreeMap::new();
        for loss in losses {
            by_path.entry((loss.path.clone(), loss.unreadable)).or_default().push(loss);
        }
        for ((path, unreadable), losses) in by_path {
            let rule = if unreadable { Rule::UnreadableFile } else { Rule::HarnessChanged };
            let line = losses.iter().find_map(|loss| loss.line);
            findings.push(self.finding(rule, &path, line, losses.into_iter().map(|loss| loss.says).collect())?);
        }
        for one in added {
            findings.push(self.finding(Rule::ProductionDetectsTests, &one.path, Some(one.line), vec![one.says])?);
        }
        Ok(findings)
    }

    fn losses(&self, base: &dyn Tree, changes: &[&Change]) -> Result<Vec<Loss>, GateError> {
        if changes.is_empty() {
            return Ok(Vec::new());
        }
        let counts = |path: &RepoPath| self.policy.sides.side(path) != Side::Fixture;
        let sight = Sight { base, patch: self.patch, counts: &counts };
        match harness::losses(&sight, changes) {
            Err(TreeError::TooLarge { size, cap, path: Some(path), .. }) => {
                let says = format!("cannot be read: {size} bytes are more than the {cap} that are read");
                Ok(vec![Loss { path, line: None, says, unreadable: true }])
            }
            other => Ok(other?),
        }
    }

    fn added(&self, base: &dyn Tree, changes: &[&Change]) -> Result<Vec<Added>, GateError> {
        let mut files = Vec::new();
        for change in changes {
            let is = source(self.patch, change.new.as_ref(), &change.path)?;
            if production::may_sense(&change.path, &is) || change.new.is_none() {
                files.push(Changed { path: &change.path, was: Vec::new(), is });
            }
        }
        if files.iter().all(|file| file.is.is_empty()) {
            return Ok(Vec::new());
        }
        for file in &mut files {
            file.was = source(base, base.entry(file.path)?.as_ref(), file.path)?;
        }
        Ok(production::added(&files))
    }

    fn finding(&self, rule: Rule, path: &RepoPath, line: Option<u32>, says: Vec<String>) -> Result<Finding, GateError> {
        let mut finding = Finding::new(rule);
        finding.path = Some(path.to_string());
        finding.line = line;
        finding.says = says;
        if rule == Rule::UnreadableFile {
            finding.help = "repair the file, or leave it out of the commit".into();
            return Ok(finding);
        }
        let base = self.bases.first().map(|base| card(*base, path)).transpose()?.flatten();
        finding.base_card = Some(base.unwrap_or_else(|| json!({ "path": path.to_string() })));
        finding.patch_card = card(self.patch, path)?;
        finding.help = format!("restore it, or: seedgate waiver new --path {}", shell(&path.to_string()));
        Ok(finding)
    }
}

/// The bytes of a source file; one too large to be read counts as empty, as it does for the cards of production code.
fn source(tree: &dyn Tree, entry: Option<&Entry>, path: &RepoPath) -> Result<Vec<u8>, GateError> {
    let Some(entry) = entry.filter(|entry| matches!(entry.mode, Mode::File | Mode::Executable)) else { return Ok(Vec::new()) };
    match tree.blob(&entry.oid, SOURCE_CAP) {
        Err(TreeError::TooLarge { .. }) => Ok(Vec::new()),
        other => Ok(other.map_err(|error| error.of(path))?),
    }
}

/// What a waiver states of a file: its path and its bytes' SHA-256.
fn card(tree: &dyn Tree, path: &RepoPath) -> Result<Option<Json>, GateError> {
    let Some(entry) = tree.entry(path)? else { return Ok(None) };
    let sha256 = match entry.mode {
        Mode::Gitlink => entry.oid.to_string(),
        _ => digest::sha256_hex(&tree.blob(&entry.oid, FIXTURE_CAP).map_err(|error| error.of(path))?),
    };
    Ok(Some(json!({ "path": path.to_string(), "sha256": sha256 })))
}
