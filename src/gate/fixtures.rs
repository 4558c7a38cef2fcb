//! Owns fixture drift: bytes of existing fixtures that change, move or vanish, directly, through a link or under a case twin.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::json;

use crate::finding::{Finding, Rule};
use crate::gate::GateError;
use crate::gate::cards::{Carded, SOURCE_CAP, View};
use crate::partition::Side;
use crate::strength::languages;
use crate::strength::snapshot::Source;
use crate::tree::{Change, Entry, Mode, RepoPath, TreeError, follow, is_under};

/// Names the existing paths that a file system without case would take a path for.
pub(super) type Twins<'a> = dyn Fn(&RepoPath) -> Result<Vec<(RepoPath, Entry)>, TreeError> + 'a;

/// What drifts are looked for in.
pub(super) struct Search<'a> {
    /// The base.
    pub(super) base: &'a View<'a>,
    /// The candidate.
    pub(super) patch: &'a View<'a>,
    /// What the candidate itself changes.
    pub(super) own: &'a [Change],
    /// Cards of the changed files before.
    pub(super) before: &'a [Carded],
    /// Cards of the changed files after.
    pub(super) after: &'a Carded,
}

impl Search<'_> {
    /// One finding per fixture that drifted. `links` are the symlinks to look through; `twins` is there where case does not count.
    pub(super) fn drifts(&self, links: &[(RepoPath, Entry)], twins: Option<&Twins<'_>>) -> Result<Vec<Finding>, GateError> {
        let mut findings = Vec::new();
        for change in self.own.iter().filter(|change| self.base.is_fixture(&change.path)) {
            if change.old.is_some() && !is_mode_only(change) && !self.is_followed(change) {
                match self.seeds(change)? {
                    Some(gone) => findings.extend(self.forgotten(change, &gone)?),
                    None => findings.push(self.direct(change)?),
                }
            }
        }
        for (link, through) in self.moved_links(links)? {
            findings.push(self.linked(&link, &through)?);
        }
        let Some(twins) = twins else { return Ok(findings) };
        for change in self.own.iter().filter(|change| change.old.is_none()) {
            for (twin, entry) in twins(&change.path).map_err(|e| e.of(&change.path))? {
                let same_bytes = change.new.as_ref().is_some_and(|new| new.oid == entry.oid);
                if twin != change.path && self.base.is_fixture(&twin) && !same_bytes {
                    findings.push(self.twin(&twin, &change.path)?);
                }
            }
        }
        Ok(findings)
    }

    /// Of a file in which a runner keeps inputs to try again, those that are gone; `None` of any other file.
    fn seeds(&self, change: &Change) -> Result<Option<Vec<String>>, GateError> {
        if languages::seeds(&change.path, &[]).is_none() {
            return Ok(None);
        }
        let bytes = |view: &View<'_>, entry: &Option<Entry>| match entry {
            Some(entry) if matches!(entry.mode, Mode::File | Mode::Executable) => view.tree.blob(&entry.oid, SOURCE_CAP).map(Some),
            Some(_) => Ok(None),
            None => Ok(Some(Vec::new())),
        };
        let (Some(was), Some(is)) = (
            bytes(self.base, &change.old).map_err(|e| e.of(&change.path))?,
            bytes(self.patch, &change.new).map_err(|e| e.of(&change.path))?,
        ) else {
            return Ok(None);
        };
        let (was, is) = (languages::seeds(&change.path, &was), languages::seeds(&change.path, &is));
        let gone = was.zip(is).map(|(was, is)| was.difference(&is).map(|seed| String::from_utf8_lossy(seed).into_owned()).collect());
        Ok(gone)
    }

    fn forgotten(&self, change: &Change, gone: &[String]) -> Result<Option<Finding>, GateError> {
        if gone.is_empty() {
            return Ok(None);
        }
        let mut finding = self.direct(change)?;
        finding.rule = Rule::ExampleRemoved;
        let shown = gone.iter().take(8).map(|seed| format!("an input that failed once is not tried again: {seed}"));
        finding.says.splice(0..1, shown);
        Ok(Some(finding))
    }

    /// A fixture that moved with its bytes, and whose readers in this change moved with it.
    fn is_followed(&self, change: &Change) -> bool {
        let (Some(old), None) = (&change.old, &change.new) else { return false };
        let from = change.path.to_string();
        if self.after.cards.iter().any(|card| card.files.contains_key(&from)) {
            return false;
        }
        let readers: BTreeSet<_> =
            self.before.iter().flat_map(|b| &b.cards).filter(|card| card.files.contains_key(&from)).map(|card| &card.prop_id).collect();
        let arrived = self
            .own
            .iter()
            .filter(|c| c.old.is_none() && self.base.is_fixture(&c.path) && c.new.as_ref().is_some_and(|n| n.oid == old.oid));
        let homes: BTreeSet<String> = arrived.map(|c| c.path.to_string()).collect();
        !readers.is_empty()
            && self.after.cards.iter().any(|card| readers.contains(&card.prop_id) && card.files.keys().any(|file| homes.contains(file)))
    }

    fn direct(&self, change: &Change) -> Result<Finding, GateError> {
        let (was, is) = (hash(self.base, &change.path)?, hash(self.patch, &change.path)?);
        let says = match (&change.old, &change.new) {
            (_, None) => {
                self.moved_to(change).map_or_else(|| "removed".into(), |to| format!("moved to {to}: its path no longer holds those bytes"))
            }
            (Some(old), Some(new)) if old.mode == Mode::Symlink && new.mode == Mode::Symlink => "the link leads elsewhere".into(),
            (_, Some(new)) if new.mode == Mode::Symlink => "replaced by a link".into(),
            (Some(old), _) if old.mode == Mode::Symlink => "the link was replaced by a file".into(),
            (_, Some(new)) if new.mode == Mode::Gitlink => "the submodule names another commit; what it holds cannot be read here".into(),
            _ => "bytes changed".into(),
        };
        let mut finding = drift(&change.path, says, was, is);
        finding.says.extend(self.kept_for(change)?.map(|test| format!("it is what {test} must give")));
        Ok(finding)
    }

    /// The test of which the file kept the output on the base.
    fn kept_for(&self, change: &Change) -> Result<Option<String>, GateError> {
        let Some(old) = change.old.as_ref().filter(|old| matches!(old.mode, Mode::File | Mode::Executable)) else { return Ok(None) };
        match self.base.tree.blob(&old.oid, SOURCE_CAP) {
            Ok(bytes) => Ok(languages::kept_for(&change.path, &bytes)),
            Err(TreeError::TooLarge { .. }) => Ok(None),
            Err(error) => Err(error.of(&change.path).into()),
        }
    }

    fn moved_to(&self, change: &Change) -> Option<String> {
        let old = change.old.as_ref()?;
        self.own.iter().find(|c| c.old.is_none() && c.new.as_ref().is_some_and(|n| n.oid == old.oid)).map(|c| c.path.to_string())
    }

    /// Fixture links whose own text holds, but through which a changed path is read.
    fn moved_links(&self, links: &[(RepoPath, Entry)]) -> Result<BTreeMap<RepoPath, RepoPath>, GateError> {
        let changed: BTreeSet<&RepoPath> = self.own.iter().filter(|c| !is_mode_only(c)).map(|c| &c.path).collect();
        let mut moved = BTreeMap::new();
        for (link, _) in links.iter().filter(|(path, _)| self.base.is_fixture(path) && !changed.contains(path)) {
            let mut visited = Vec::new();
            let end = follow(self.base.tree, link, &mut visited)?;
            let folder = if end.is_none() { visited.pop() } else { None };
            let under = |path: &RepoPath| folder.as_ref().is_some_and(|f| is_under(path, f.as_bytes()));
            if let Some(through) = changed.iter().find(|path| visited.contains(path) || under(path)) {
                moved.insert(link.clone(), (*through).clone());
            }
        }
        Ok(moved)
    }

    fn linked(&self, link: &RepoPath, through: &RepoPath) -> Result<Finding, GateError> {
        let (was, is) = (hash(self.base, link)?, hash(self.patch, link)?);
        Ok(drift(link, format!("it links to {through}, which changed"), was, is))
    }

    fn twin(&self, fixture: &RepoPath, twin: &RepoPath) -> Result<Finding, GateError> {
        let (was, is) = (hash(self.base, fixture)?, hash(self.patch, twin)?);
        Ok(drift(fixture, format!("{twin} is the same file where case does not count (core.ignorecase)"), was, is))
    }
}

fn hash(view: &View<'_>, path: &RepoPath) -> Result<Option<String>, GateError> {
    match view.tree.entry(path)? {
        Some(entry) if entry.mode == Mode::Gitlink => Ok(Some(entry.oid.to_string())),
        Some(_) => Ok(view.sha256(path)?),
        None => Ok(None),
    }
}

fn is_mode_only(change: &Change) -> bool {
    let bytes = |entry: &Option<Entry>| entry.as_ref().map(|e| (e.oid.clone(), matches!(e.mode, Mode::Symlink | Mode::Gitlink)));
    bytes(&change.old) == bytes(&change.new)
}

fn drift(path: &RepoPath, says: String, was: Option<String>, is: Option<String>) -> Finding {
    let card = |sha256: &Option<String>| sha256.as_ref().map(|hex| json!({ "fixture": path.to_string(), "sha256": hex }));
    let mut finding = Finding::new(Rule::FixtureDrift);
    finding.path = Some(path.to_string());
    finding.base_card = card(&was);
    finding.patch_card = card(&is);
    let shown = |hex: Option<String>| hex.map_or_else(|| "nothing".into(), |hex| hex.chars().take(16).collect::<String>());
    finding.says = vec![says, format!("sha256 {} -> {}", shown(was), shown(is))];
    finding.help = format!("restore it, or: seedgate waiver new --fixture {}", shell(&path.to_string()));
    finding
}

/// A word as a shell takes it.
pub(super) fn shell(word: &str) -> String {
    let plain = |b: u8| b.is_ascii_alphanumeric() || b"/._-+=:@%".contains(&b);
    if word.bytes().all(plain) && !word.starts_with('-') { word.to_owned() } else { format!("'{}'", word.replace('\'', "'\\''")) }
}

/// Whether any path of the change can touch a fixture at all, so that a production commit reads no link.
pub(super) fn may_drift(view: &View<'_>, own: &[Change], links: &[(RepoPath, Entry)]) -> bool {
    own.iter().any(|change| view.policy.sides.side(&change.path) == Side::Fixture) || links.iter().any(|(path, _)| view.is_fixture(path))
}
