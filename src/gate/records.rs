//! Owns what the gate reads of Seedgate's own records: promoted witnesses that go, and a ledger that is not settled.

use memchr::memmem;

use crate::finding::{Finding, Level, Rule};
use crate::gate::GateError;
use crate::gate::cards::View;
use crate::gate::fixtures;
use crate::gate::frozen;
use crate::tree::{Change, Mode, RepoPath, Tree, TreeError};
use crate::witness::decide::Action;
use crate::witness::ledger::{self, Ledger, Row};
use crate::witness::promote;

/// Largest ledger that a verdict reads, in bytes.
const LEDGER_CAP: u64 = 64 << 20;
/// Largest file that can be a witness, in bytes.
const WITNESS_CAP: u64 = 16 << 20;
/// Rows that are named in one finding.
const NAMED: usize = 3;

/// Makes of every fixture drift of a promoted witness the loss that it is, and adds those that the policy counts as no fixture. A file of
/// another kind in that folder is a fixture like any other.
pub(super) fn witnesses(base: &dyn Tree, own: &[Change], findings: &mut Vec<Finding>) -> Result<(), GateError> {
    for change in own.iter().filter(|change| promote::is_witness(&change.path) && is_lost(change)) {
        if !is_ours(base, change)? {
            continue;
        }
        let path = change.path.to_string();
        let known = findings.iter_mut().find(|finding| finding.rule == Rule::FixtureDrift && finding.path.as_ref() == Some(&path));
        let says = "a promoted witness, to be run first ever after".to_owned();
        if let Some(finding) = known {
            finding.rule = Rule::WitnessRemoved;
            finding.says.insert(0, says);
        } else {
            let help = format!("restore it: git checkout HEAD -- {}", fixtures::shell(&path));
            findings.push(Finding { path: Some(path), says: vec![says], help, ..Finding::new(Rule::WitnessRemoved) });
        }
    }
    Ok(())
}

/// Whether the base's file names the schema of witnesses, whatever else it holds.
fn is_ours(base: &dyn Tree, change: &Change) -> Result<bool, GateError> {
    let Some(old) = change.old.as_ref().filter(|old| matches!(old.mode, Mode::File | Mode::Executable)) else { return Ok(false) };
    match base.blob(&old.oid, WITNESS_CAP) {
        Ok(bytes) => Ok(memmem::find(&bytes, b"\"seedgate.witness/").is_some()),
        Err(TreeError::TooLarge { .. }) => Ok(false),
        Err(error) => Err(error.of(&change.path).into()),
    }
}

fn is_lost(change: &Change) -> bool {
    let file = |mode: Mode| matches!(mode, Mode::File | Mode::Executable);
    match (&change.old, &change.new) {
        (Some(old), Some(new)) => old.oid != new.oid || file(old.mode) != file(new.mode),
        (Some(_), None) => true,
        (None, _) => false,
    }
}

/// Findings about the ledger and the freeze file of a candidate.
pub(super) fn findings(base: &View<'_>, patch: &View<'_>, own: &[Change]) -> Result<Vec<Finding>, GateError> {
    let touched = |path: &str| own.iter().any(|change| change.path == RepoPath::new(path));
    let read = ledger_of(patch.tree)?;
    let mut found = Vec::new();
    match &read {
        Ok(ledger) => {
            found.extend(unsettled(ledger.as_ref(), patch.policy.settings.quarantine));
            if touched(ledger::PATH) {
                found.extend(advanced(&ledger_of(base.tree)?.ok().flatten().unwrap_or_default(), &ledger.clone().unwrap_or_default()));
            }
        }
        Err(says) => found.push(about_ledger(vec![format!("it cannot be read: {says}")], "repair it: what it holds is not known")),
    }
    let failing = read.ok().flatten().unwrap_or_default();
    found.extend(frozen::findings(base, patch, own, &failing)?);
    Ok(found)
}

/// Bytes of a record; `Ok(Err)` says why it cannot be read.
pub(super) fn record(tree: &dyn Tree, path: &str, cap: u64) -> Result<Result<Option<Vec<u8>>, String>, GateError> {
    let path = RepoPath::new(path);
    let Some(entry) = tree.entry(&path)? else { return Ok(Ok(None)) };
    if !matches!(entry.mode, Mode::File | Mode::Executable) {
        return Ok(Err("it is no regular file".to_owned()));
    }
    match tree.blob(&entry.oid, cap) {
        Err(TreeError::TooLarge { size, cap, .. }) => Ok(Err(format!("{size} bytes are more than the {cap} that are read"))),
        other => Ok(Ok(Some(other.map_err(|error| error.of(&path))?))),
    }
}

fn ledger_of(tree: &dyn Tree) -> Result<Result<Option<Ledger>, String>, GateError> {
    Ok(record(tree, ledger::PATH, LEDGER_CAP)?.and_then(|bytes| bytes.map(|bytes| Ledger::parse(&bytes)).transpose()))
}

fn about_ledger(says: Vec<String>, help: &str) -> Finding {
    Finding { path: Some(ledger::PATH.to_owned()), says, help: help.to_owned(), ..Finding::new(Rule::LedgerUnresolved) }
}

/// One finding for each way in which rows are not settled, and one when the quarantine is full.
fn unsettled(ledger: Option<&Ledger>, cap: usize) -> Vec<Finding> {
    let Some(ledger) = ledger else { return Vec::new() };
    let mut found = Vec::new();
    for (decision, what, help) in [
        (Action::Stop, "without a verdict to go by", "replay: seedgate ledger replay-base --base REV"),
        (
            Action::Quarantine,
            "quarantined: the base fails too",
            "repair the base and replay, or a person settles it: seedgate ledger resolve --help",
        ),
        (Action::Promote, "to be promoted", "seedgate ledger promote, and commit what it writes"),
    ] {
        let of = |row: &&Row| row.decision.unwrap_or(Action::Stop) == decision;
        let rows: Vec<&Row> = ledger.unresolved().filter(of).collect();
        if let Some(first) = rows.first() {
            let mut says = vec![format!("{}: {what}", counted(rows.len()))];
            says.extend(rows.iter().take(NAMED).map(|row| named(row)));
            let property = (rows.len() == 1).then(|| first.prop_id.clone());
            found.push(Finding { property, ..about_ledger(says, help) });
        }
    }
    let quarantined = ledger.quarantined();
    if quarantined >= cap && quarantined > 0 {
        let says = format!("{} quarantined, and the policy allows fewer than {cap}", counted(quarantined));
        found.push(about_ledger(vec![says], "stop making patches and repair the base: the quarantine does not grow"));
    }
    found
}

fn counted(rows: usize) -> String {
    if rows == 1 { "1 row".to_owned() } else { format!("{rows} rows") }
}

fn named(row: &Row) -> String {
    let input = row.input().to_json();
    let short: String = if input.chars().count() > 100 { input.chars().take(97).chain("...".chars()).collect() } else { input };
    format!("{} on {short}", row.prop_id)
}

/// What a change of the ledger takes out, and what it settles: the one is refused, the other is a human's to merge.
fn advanced(base: &Ledger, patch: &Ledger) -> Vec<Finding> {
    let now = |row: &Row| patch.rows().iter().find(|new| new.prop_id == row.prop_id && new.input_sha256() == row.input_sha256());
    let gone: Vec<&Row> = base.rows().iter().filter(|row| now(row).is_none()).collect();
    let was = |row: &Row| base.rows().iter().find(|old| old.prop_id == row.prop_id && old.input_sha256() == row.input_sha256());
    let settled: Vec<&Row> =
        patch.rows().iter().filter(|row| row.resolved.is_some() && was(row).is_none_or(|old| old.resolved != row.resolved)).collect();
    let mut found = Vec::new();
    if !gone.is_empty() {
        let mut says = vec![format!("{} gone: a ledger is only added to", counted(gone.len()))];
        says.extend(gone.iter().take(NAMED).map(|row| named(row)));
        found.push(about_ledger(says, "restore the ledger: git checkout HEAD -- .seedgate/ledger.json"));
    }
    for row in settled {
        let by = row.resolved.as_ref().map_or_else(String::new, |by| format!("settled by {}: {}", by.by, by.reason));
        let finding = about_ledger(vec![named(row), by], "a person reads the reason and merges");
        found.push(Finding { property: Some(row.prop_id.clone()), level: Some(Level::Review), ..finding });
    }
    found
}
