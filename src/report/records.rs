//! Owns what `ledger`, `freeze` and `decide` say.

use std::fmt::Write as _;

use serde_json::{Value, json};

use crate::finding::PropId;
use crate::freeze::file::Fault;
use crate::report::Style;
use crate::report::text::{line_of, plural};
use crate::witness::decide::Action;
use crate::witness::ledger::{Ledger, Row};
use crate::witness::pin::{Moved, Pin};

/// Characters shown of one input.
const INPUT: usize = 160;

/// What was pinned, and what moved since it was pinned before.
pub fn pinned_text(pin: &Pin, rows: usize, moved: &[Moved], style: Style) -> String {
    let counted = format!("{}, {}", plural(pin.modules.len(), "property module"), plural(pin.fixtures.len(), "fixture"));
    let mut text = format!("{} {}: {counted}\n", style.good("pinned"), &pin.base.as_str()[..12]);
    let _ = writeln!(text, "  {}  {}", style.dim("fixtures"), pin.fixture_sha256);
    for (path, sha256) in &pin.modules {
        let _ = writeln!(text, "  {}    {sha256}  {}", style.dim("module"), line_of(path));
    }
    if rows > 0 {
        let _ = writeln!(text, "the {} of the ledger stay", plural(rows, "row"));
    }
    for one in moved {
        let _ = writeln!(text, "since the last pin: {}: {}", line_of(&one.path), one.says);
    }
    text
}

/// What moved, which stops everything.
pub fn moved_text(pin: &Pin, moved: &[Moved]) -> String {
    let mut text = format!(
        "seedgate: stopped: {} moved since {} was pinned, so it is not the same check\n",
        plural(moved.len(), "file"),
        &pin.base.as_str()[..12]
    );
    for one in moved {
        let _ = writeln!(text, "  {}: {}", line_of(&one.path), one.says);
    }
    text
}

/// The ledger for people.
pub fn ledger_text(ledger: &Ledger, open: bool, style: Style) -> String {
    let mut text = String::new();
    let _ = match &ledger.pin {
        Some(pin) => writeln!(
            text,
            "{} {}, {}, fixtures {}",
            style.dim("base"),
            &pin.base.as_str()[..12],
            plural(pin.modules.len(), "module"),
            &pin.fixture_sha256
        ),
        None => writeln!(text, "{}", style.warn("nothing is pinned: seedgate ledger pin --base REV")),
    };
    for row in ledger.rows().iter().filter(|row| !open || row.is_unresolved()) {
        text.push('\n');
        told(&mut text, row, style);
    }
    let _ = writeln!(text, "\n{}, {} open", plural(ledger.rows().len(), "row"), ledger.unresolved().count());
    text
}

fn told(text: &mut String, row: &Row, style: Style) {
    let word = row.decision.map_or("undecided", Action::name);
    let word = if row.is_unresolved() { style.bad(word) } else { style.good(word) };
    let _ = writeln!(text, "{word}  {}", style.strong(&line_of(&row.prop_id.0)));
    let mut line = |name: &str, says: &str| {
        let _ = writeln!(text, "  {}  {}", style.dim(&format!("{name:<7}")), line_of(says));
    };
    line("input", &clipped(&row.input().to_json()));
    if row.shrunk.is_some() {
        line("raw", &clipped(&row.raw().to_json()));
    }
    line("seed", row.seed.as_deref().unwrap_or("none"));
    let base = row.base.map_or("not replayed", |base| base.name());
    line("base", &row.base_sha.as_ref().map_or_else(|| base.to_owned(), |sha| format!("{base} at {}", &sha.as_str()[..12])));
    line("patch", &format!("{} at {}", row.patch.name(), &row.patch_sha.as_str()[..12]));
    row.failure.iter().for_each(|failure| line("failure", failure));
    row.witness.iter().for_each(|path| line("witness", path));
    row.resolved.iter().for_each(|by| line("settled", &format!("by {}: {}", by.by, by.reason)));
    if row.is_unresolved() {
        line("next", row.help());
    }
}

fn clipped(text: &str) -> String {
    match text.char_indices().nth(INPUT) {
        Some((cut, _)) => format!("{}…", &text[..cut]),
        None => text.to_owned(),
    }
}

/// Rows that somebody settled.
pub fn settled_text(rows: &[Row], style: Style) -> String {
    let mut text = String::new();
    for row in rows {
        let _ = writeln!(text, "{} {} on {}", style.good("settled"), line_of(&row.prop_id.0), clipped(&row.input().to_json()));
    }
    text + "the change that brings this is a human's to merge\n"
}

/// What was promoted, and what to commit.
pub fn promoted_text(witnesses: &[(PropId, String)], closed: &[PropId], paths: &[String], style: Style) -> String {
    if witnesses.is_empty() {
        return "nothing is to be promoted\n".to_owned();
    }
    let mut text = String::new();
    for (id, path) in witnesses {
        let _ = writeln!(text, "{} {}\n  {path}", style.good("promoted"), style.strong(&line_of(&id.0)));
    }
    for id in closed {
        let _ = writeln!(text, "{} {} taken out", style.warn("freeze entry of"), line_of(&id.0));
    }
    let _ = writeln!(text, "commit together: git add {}", paths.join(" "));
    text
}

/// `seedgate.promoted/1`.
pub fn promoted_json(witnesses: &[(PropId, String)], closed: &[PropId], paths: &[String]) -> Value {
    let promoted: Vec<Value> = witnesses.iter().map(|(id, path)| json!({"property": id, "path": path})).collect();
    let paths = if witnesses.is_empty() { &[] } else { paths };
    json!({"schema": "seedgate.promoted/1", "promoted": promoted, "freeze_closed": closed, "commit": paths})
}

/// A check of the freeze file for people.
pub fn freeze_text(entries: usize, faults: &[Fault], style: Style) -> String {
    let mut text = String::new();
    for fault in faults {
        let _ = writeln!(text, "{}  {}\n  {}", style.bad("freeze_invalid"), style.strong(&line_of(&fault.test.0)), line_of(&fault.says));
    }
    let counted = if entries == 1 { "1 entry".to_owned() } else { format!("{entries} entries") };
    let _ = match faults.len() {
        0 => writeln!(text, "{}: {counted}", style.good("every freeze entry holds")),
        count => writeln!(text, "{} in {counted}", plural(count, "fault")),
    };
    text
}

/// `seedgate.freeze-check/1`.
pub fn freeze_json(entries: usize, faults: &[Fault]) -> Value {
    let faults: Vec<Value> = faults.iter().map(|fault| json!({"test": fault.test, "says": fault.says})).collect();
    json!({"schema": "seedgate.freeze-check/1", "entries": entries, "faults": faults})
}

/// One decision, as a line.
pub fn decided_json(action: Action) -> Value {
    json!({"action": action, "help": action.help()})
}

/// A line that was no case.
pub fn undecided_json(error: &str) -> Value {
    json!({"action": null, "error": error})
}
