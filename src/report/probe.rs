//! Owns how probes and composed trees are told to people.

use std::fmt::Write as _;
use std::path::Path;

use serde_json::{Value, json};

use crate::freeze::probe::{Mutant, Outcome, Probe, Verdict};
use crate::partition::Side;
use crate::report::text::line_of;
use crate::report::{Style, plural};
use crate::tree::{Change, Entry, Oid, RepoPath};

/// Survivors that are shown one by one.
const MOST: usize = 20;

/// A probe for people: what was weakened first.
pub fn probe_text(probe: &Probe, style: Style) -> String {
    let mut text = String::new();
    for mutant in probe.mutants.iter().filter(|mutant| mutant.is_weakened()) {
        let _ = writeln!(text, "{}  {}", style.bad("oracle_weakened"), place(mutant, style));
        diff(&mut text, mutant, style);
        let base = mutant.base.as_ref().map_or_else(String::new, said);
        let _ = writeln!(text, "    base tests   {base}\n    patch tests  {}", said(&mutant.outcome));
    }
    let alive = || probe.mutants.iter().filter(|mutant| mutant.outcome.verdict == Verdict::Survived && !mutant.is_weakened());
    for mutant in alive().take(MOST) {
        let base = mutant.base.as_ref().map_or_else(String::new, |base| format!("; base tests {}", said(base)));
        let _ = writeln!(text, "{}  {}{base}", style.warn("survived"), place(mutant, style));
        diff(&mut text, mutant, style);
    }
    let hidden = alive().count().saturating_sub(MOST);
    if hidden > 0 {
        let _ = writeln!(text, "survived  {hidden} more (--json has all)");
    }
    unknown(&mut text, probe, style);
    left_out(&mut text, probe, style);
    sum(&mut text, probe);
    text
}

fn place(mutant: &Mutant, style: Style) -> String {
    let function = if mutant.function.is_empty() { String::new() } else { format!(" in {}", line_of(&mutant.function)) };
    let touched = if mutant.in_diff { ", touched by the change" } else { "" };
    format!(
        "{}{function}  {} {}{touched}",
        style.strong(&format!("{}:{}", mutant.path, mutant.line)),
        mutant.operator,
        style.dim(&mutant.id)
    )
}

fn diff(text: &mut String, mutant: &Mutant, style: Style) {
    for (sign, side) in [("-", &mutant.before), ("+", &mutant.after)] {
        for line in side.lines().take(3) {
            let _ = writeln!(text, "    {}", style.dim(&format!("{sign} {}", line_of(line))));
        }
    }
}

fn said(outcome: &Outcome) -> String {
    let why = outcome.why.as_ref().map_or_else(String::new, |why| format!(": {}", line_of(why)));
    let tests = outcome
        .tests
        .map_or_else(String::new, |tests| format!(" ({} asked)", plural(usize::try_from(tests).unwrap_or(usize::MAX), "test")));
    format!("{}{tests}{why}", outcome.verdict.name())
}

/// What has no verdict, by its reason.
fn unknown(text: &mut String, probe: &Probe, style: Style) {
    let without = probe.mutants.iter().filter(|mutant| mutant.outcome.verdict == Verdict::Unknown);
    for mutant in without.take(MOST) {
        let _ = writeln!(
            text,
            "{}  {}\n    {}",
            style.dim("unknown"),
            place(mutant, style),
            line_of(mutant.outcome.why.as_deref().unwrap_or_default())
        );
    }
}

/// Files in which nothing could be planted.
fn left_out(text: &mut String, probe: &Probe, style: Style) {
    for one in probe.left_out.iter().take(MOST) {
        let _ = writeln!(text, "{}  {}: {}", style.warn("left out"), one.path, line_of(&one.why));
    }
    let hidden = probe.left_out.len().saturating_sub(MOST);
    if hidden > 0 {
        let _ = writeln!(text, "left out  {hidden} more (--json has all)");
    }
}

fn sum(text: &mut String, probe: &Probe) {
    let counts = probe.counts;
    for twin in &probe.twins {
        let tests =
            twin.passed.map_or_else(|| "the command".to_owned(), |tests| plural(usize::try_from(tests).unwrap_or(usize::MAX), "test"));
        let _ = writeln!(text, "twin  {} tests: {tests} passed in {:.1} s", twin.tests, twin.seconds);
    }
    if probe.mutants.is_empty() {
        text.push_str("no test reaches a place of production code at which a fault can be planted, so nothing was measured\n");
    }
    let weakened = if probe.compare { format!(", {} weakened", counts.weakened) } else { String::new() };
    let _ = writeln!(
        text,
        "seedgate: {}: {} killed, {} survived, {} unknown{weakened}; seed {}, {:.1} s",
        plural(probe.mutants.len(), "mutant"),
        counts.killed,
        counts.survived,
        counts.unknown,
        probe.seed,
        probe.seconds
    );
}

/// A composed tree.
pub struct Shown<'a> {
    /// `production-only` or `full`.
    pub part: &'static str,
    /// SHA-256 over paths, modes and blob ids.
    pub id: String,
    /// What the candidate changes, the side of each, and whether the tree has it.
    pub rows: Vec<(&'a Change, Side, bool)>,
    /// What it is laid over.
    pub base: &'a Oid,
    /// The candidate.
    pub head: &'a Oid,
    /// All files.
    pub entries: &'a [(RepoPath, Entry)],
}

fn word(change: &Change) -> &'static str {
    match (&change.old, &change.new) {
        (None, _) => "new",
        (_, None) => "removed",
        _ => "changed",
    }
}

/// `seedgate tree` for people.
pub fn tree_text(shown: &Shown<'_>, into: Option<&Path>) -> String {
    let mut text = format!("{} tree of {} on {}\n", shown.part, shown.head.as_str(), shown.base.as_str());
    for (taken, heading) in [(true, "from the candidate"), (false, "left as on the base")] {
        let rows: Vec<_> = shown.rows.iter().filter(|row| row.2 == taken).collect();
        let _ = writeln!(text, "{heading}: {}", plural(rows.len(), "path"));
        for (change, side, _) in rows {
            let _ = writeln!(text, "    {:<10}  {:<7}  {}", side.name(), word(change), change.path);
        }
    }
    let _ = writeln!(text, "all else is the base's: {} in all\ntree {}", plural(shown.entries.len(), "file"), shown.id);
    if let Some(folder) = into {
        let _ = writeln!(text, "written into {}", line_of(&folder.display().to_string()));
    }
    text
}

/// `seedgate.tree/1`.
pub fn tree_json(shown: &Shown<'_>) -> Value {
    let from = |path: &RepoPath| if shown.rows.iter().any(|(change, _, taken)| *taken && change.path == *path) { "head" } else { "base" };
    let files = shown
        .entries
        .iter()
        .map(|(path, entry)| json!({"path": path.to_string(), "mode": entry.mode.octal(), "blob": entry.oid.as_str(), "from": from(path)}));
    let rows = shown
        .rows
        .iter()
        .map(|(change, side, taken)| json!({"path": change.path.to_string(), "side": side.name(), "change": word(change), "taken": taken}));
    json!({
        "schema": "seedgate.tree/1",
        "part": shown.part,
        "base": shown.base.as_str(),
        "head": shown.head.as_str(),
        "tree": shown.id,
        "changes": rows.collect::<Vec<_>>(),
        "files": files.collect::<Vec<_>>(),
    })
}
