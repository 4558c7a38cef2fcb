//! Owns waivers: Markdown with a TOML head that names the exact old and new card.

mod draft;
mod file;
mod head;

use std::collections::BTreeMap;

use serde_json::Value as Json;
use toml::Table;

use crate::finding::{Exit, Finding, Rule};
use crate::tree::{Entry, Mode, RepoPath, Tree, TreeError};

pub use draft::{Draft, draft};
pub use file::{Broken, SCHEMA, Subject, Waiver};

/// Where waivers lie.
pub const FOLDER: &str = "docs/waivers";

/// Largest waiver that is read, in bytes.
const MOST_BYTES: u64 = 1 << 20;
/// More files than these in the folder are not read.
const MOST_FILES: usize = 10_000;

/// What only a person or a repair settles, never a waiver.
const NEVER: [Rule; 4] = [Rule::SplitRequired, Rule::UnreadableFile, Rule::WaiverInvalid, Rule::PolicyChanged];

/// A waiver file as found.
#[derive(Clone, Debug, PartialEq)]
pub struct Found {
    /// Where it lies.
    pub path: RepoPath,
    /// The waiver, or why there is none.
    pub read: Result<Waiver, Broken>,
    /// What keeps a well-formed one from being honoured.
    pub faults: Vec<Broken>,
}

impl Found {
    /// A waiver that is not in the tree yet; what it names is looked up there.
    ///
    /// # Errors
    /// When the tree cannot be read.
    pub fn of_text(path: &RepoPath, text: &str, tree: &dyn Tree) -> Result<Self, TreeError> {
        Found::new(path, Waiver::parse(text), tree)
    }

    fn new(path: &RepoPath, read: Result<Waiver, Broken>, tree: &dyn Tree) -> Result<Self, TreeError> {
        let faults = read.as_ref().map_or(Ok(Vec::new()), |waiver| waiver.faults(tree))?;
        Ok(Found { path: path.clone(), read, faults })
    }

    /// Why it settles none of these findings; nothing when it settles one.
    pub fn objections(&self, findings: &[Finding]) -> Vec<Broken> {
        self.against(&findings.iter().map(Claim::of).collect::<Vec<_>>())
    }

    fn against(&self, claims: &[Option<Claim>]) -> Vec<Broken> {
        let mut faults = self.faults.clone();
        match &self.read {
            Err(broken) => faults.push(broken.clone()),
            Ok(waiver) => faults.extend(mismatch(waiver, claims).into_iter().map(|says| Broken::at(1, says))),
        }
        faults
    }

    fn valid(&self) -> Option<&Waiver> {
        self.read.as_ref().ok().filter(|_| self.faults.is_empty())
    }
}

/// What a finding asks of a waiver: the subject and both measured cards.
struct Claim {
    subject: Subject,
    old: Table,
    new: Option<Table>,
}

impl Claim {
    /// `None` when no waiver can settle the finding.
    fn of(finding: &Finding) -> Option<Self> {
        let base = finding.base_card.as_ref()?;
        let settled = finding.rule == Rule::Waived;
        if !settled && finding.rule.exit() != Exit::Refused || NEVER.contains(&finding.rule) {
            return None;
        }
        let named = |key: &str| base.get(key).and_then(Json::as_str).map(str::to_owned);
        let file = || named("fixture").map(Subject::Fixture).or_else(|| named("path").map(Subject::Path));
        let subject = finding.property.as_ref().map(|id| Subject::Property(id.0.clone())).or_else(file)?;
        Some(Claim { subject, old: head::of(base), new: finding.patch_card.as_ref().map(head::of) })
    }

    fn settled_by(&self, waiver: &Waiver) -> bool {
        self.subject == waiver.subject && self.differences(waiver).is_empty()
    }

    fn differences(&self, waiver: &Waiver) -> Vec<String> {
        let mut differences = head::differences("old", Some(&waiver.old), Some(&self.old));
        differences.extend(head::differences("new", waiver.new.as_ref(), self.new.as_ref()));
        differences
    }
}

/// Settles findings against the waivers in the candidate tree. A finding of exit 2 about a property (or fixture path) whose
/// `base_card` and `patch_card` equal a valid waiver's `[old]` and `[new]` becomes `waived`; a waiver among `changed` that is
/// broken or matches nothing becomes a `waiver_invalid` finding.
///
/// # Errors
/// When the tree cannot be read.
pub fn settle(tree: &dyn Tree, changed: &[RepoPath], findings: Vec<Finding>) -> Result<Vec<Finding>, TreeError> {
    let touched: Vec<&RepoPath> = changed.iter().filter(|path| in_folder(path)).collect();
    let claims: Vec<Option<Claim>> = findings.iter().map(Claim::of).collect();
    if touched.is_empty() && claims.iter().all(Option::is_none) {
        return Ok(findings);
    }
    let shelf = if claims.iter().any(Option::is_some) { read_all(tree)? } else { read_some(tree, &touched)? };
    let mut settled: Vec<Finding> = Vec::with_capacity(findings.len());
    for (finding, claim) in findings.into_iter().zip(&claims) {
        let by = claim.as_ref().and_then(|claim| shelf.settling(claim, &finding));
        settled.push(match by {
            Some(found) => waived(finding, found),
            None => finding,
        });
    }
    settled.extend(shelf.found.iter().filter(|found| touched.contains(&&found.path)).filter_map(|found| invalid(found, &claims)));
    settled.extend(shelf.overfull.then(overfull));
    Ok(settled)
}

/// Every waiver of a tree, in order of the paths.
///
/// # Errors
/// When the tree cannot be read.
pub fn list(tree: &dyn Tree) -> Result<Vec<Found>, TreeError> {
    Ok(read_all(tree)?.found)
}

/// One waiver of a tree; `None` when no file lies there.
///
/// # Errors
/// When the tree cannot be read.
pub fn read(tree: &dyn Tree, path: &RepoPath) -> Result<Option<Found>, TreeError> {
    let Some(entry) = tree.entry(path)? else { return Ok(None) };
    let text = if in_folder(path) { text(tree, path, &entry)? } else { Err(Broken::at(1, format!("waivers are files {FOLDER}/NAME.md"))) };
    Ok(Some(Found::new(path, text.and_then(|text| Waiver::parse(&text)), tree)?))
}

#[derive(Default)]
struct Shelf {
    found: Vec<Found>,
    overfull: bool,
}

impl Shelf {
    fn settling(&self, claim: &Claim, finding: &Finding) -> Option<&Found> {
        let exact = self.found.iter().find(|found| found.valid().is_some_and(|waiver| claim.settled_by(waiver)));
        exact.or_else(|| if finding.rule == Rule::FixtureDrift { self.fixtures(claim) } else { None })
    }

    /// A check that only loads other bytes is settled when every file that it loads differently has a waiver of its own.
    fn fixtures(&self, claim: &Claim) -> Option<&Found> {
        let (before, after) = (files(Some(&claim.old)), files(claim.new.as_ref()));
        let mut moved = before.iter().filter(|(path, sha)| after.get(*path) != Some(*sha));
        let waived = |path: &str, sha: &str| {
            let states = |card: Option<&Table>, sha: Option<&str>| card.and_then(|card| card.get("sha256")?.as_str()) == sha;
            self.found.iter().find(|found| {
                found.valid().is_some_and(|waiver| {
                    waiver.subject == Subject::Fixture(path.to_owned())
                        && states(Some(&waiver.old), Some(sha))
                        && states(waiver.new.as_ref(), after.get(path).copied())
                })
            })
        };
        let (path, sha) = moved.next()?;
        let first = waived(path, sha)?;
        moved.all(|(path, sha)| waived(path, sha).is_some()).then_some(first)
    }
}

fn files(card: Option<&Table>) -> BTreeMap<&str, &str> {
    let files = card.and_then(|card| card.get("files")?.as_table());
    files.into_iter().flatten().filter_map(|(path, sha)| Some((path.as_str(), sha.as_str()?))).collect()
}

/// Whether a path is that of a waiver; the folder may hold a README.
pub fn in_folder(path: &RepoPath) -> bool {
    path.parent() == FOLDER.as_bytes() && path.name().ends_with(b".md") && !path.name().eq_ignore_ascii_case(b"readme.md")
}

fn read_all(tree: &dyn Tree) -> Result<Shelf, TreeError> {
    let paths: Vec<RepoPath> = tree.list(FOLDER.as_bytes())?.into_iter().map(|(path, _)| path).filter(in_folder).collect();
    let overfull = paths.len() > MOST_FILES;
    let read = if overfull { Vec::new() } else { paths.iter().collect() };
    Ok(Shelf { overfull, ..read_some(tree, &read)? })
}

fn read_some(tree: &dyn Tree, paths: &[&RepoPath]) -> Result<Shelf, TreeError> {
    let mut found = Vec::new();
    for path in paths {
        found.extend(read(tree, path)?);
    }
    Ok(Shelf { found, overfull: false })
}

fn text(tree: &dyn Tree, path: &RepoPath, entry: &Entry) -> Result<Result<String, Broken>, TreeError> {
    if !matches!(entry.mode, Mode::File | Mode::Executable) {
        return Ok(Err(Broken::at(1, "a waiver is a file: links are not followed")));
    }
    match tree.blob(&entry.oid, MOST_BYTES) {
        Ok(bytes) => Ok(String::from_utf8(bytes).map_err(|_| Broken::at(1, "not UTF-8"))),
        Err(TreeError::TooLarge { size, cap, .. }) => Ok(Err(Broken::at(1, format!("{size} bytes are more than the {cap} that are read")))),
        Err(error) => Err(error.of(path)),
    }
}

fn waived(finding: Finding, found: &Found) -> Finding {
    let spec = found.valid().map(|waiver| waiver.spec.clone()).unwrap_or_default();
    let mut says = vec![format!("{}, waived by {} ({spec})", finding.rule.id(), found.path)];
    says.extend(finding.says.iter().cloned());
    Finding { rule: Rule::Waived, says, help: format!("a person reads {} and merges; it is no freeze", found.path), ..finding }
}

/// The finding about a waiver of the change that is not honoured, and why.
fn invalid(found: &Found, claims: &[Option<Claim>]) -> Option<Finding> {
    let faults = found.against(claims);
    let line = faults.first()?.line;
    let mut finding = Finding::new(Rule::WaiverInvalid);
    finding.path = Some(found.path.to_string());
    finding.line = Some(line);
    finding.says = faults.into_iter().map(|fault| fault.says).collect();
    finding.help = "complete or correct it, draft it again with `seedgate waiver new`, or leave it out".into();
    Some(finding)
}

/// Where the waiver is not what was measured: nothing when it settles a claim, else the differences to the nearest one.
fn mismatch(waiver: &Waiver, claims: &[Option<Claim>]) -> Vec<String> {
    let same = claims.iter().flatten().filter(|claim| claim.subject == waiver.subject);
    let differences = same.map(|claim| claim.differences(waiver)).min_by_key(Vec::len);
    differences.unwrap_or_else(|| vec![format!("nothing in this change weakens {}", waiver.subject.name())])
}

fn overfull() -> Finding {
    let mut finding = Finding::new(Rule::WaiverInvalid);
    finding.path = Some(FOLDER.into());
    finding.says = vec![format!("the folder holds more than {MOST_FILES} waivers: none was read")];
    finding.help = "remove old waivers: git keeps them".into();
    finding
}

#[cfg(test)]
mod tests;
