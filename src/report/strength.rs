//! Owns how cards, deltas and waivers look as text.

use std::fmt::Write as _;

use crate::gate::facts::Counts;
use crate::gate::judge::Judgement;
use crate::gate::run::Outcome;
use crate::report::Style;
use crate::report::text::{line_of, plural, verdict};
use crate::strength::card::{Card, Kind};
use crate::strength::delta::Delta;
use crate::strength::domain::Interval;
use crate::strength::waiver::{Broken, FOLDER, Found};

/// Case keys shown of one card; the rest is counted.
const KEYS: usize = 20;

/// Characters shown of one argument.
const ARGUMENT: usize = 160;

/// A comparison of cards: the verdict, then what moved without a loss.
pub fn delta_text(delta: &Delta, style: Style) -> String {
    let judgement = Judgement { findings: delta.findings(), ..Judgement::default() };
    let outcome = Outcome { judgements: vec![judgement], facts: Counts::default(), distrusted: false };
    let mut text = verdict(&outcome, "cards", style);
    let held: Vec<_> = delta.moves.iter().filter(|change| change.losses.is_empty() && !change.notes.is_empty()).collect();
    for change in held {
        let id = change.base.as_ref().map_or("", |card| card.prop_id.0.as_str());
        let _ = writeln!(text, "\n  {}  {}", style.dim("held"), style.strong(&line_of(id)));
        for note in &change.notes {
            let _ = writeln!(text, "    {}", line_of(note));
        }
    }
    text
}

/// One card, for a person.
pub fn card_text(card: &Card, style: Style) -> String {
    let kind = match card.kind {
        Kind::Property => "property",
        Kind::Test => "test",
        Kind::Support => "support",
    };
    let mut text = format!("{kind}  {}\n", style.strong(&line_of(&card.prop_id.0)));
    let mut row = |name: &str, says: &str| {
        let _ = writeln!(text, "  {}  {}", style.dim(&format!("{name:<10}")), line_of(says));
    };
    row("line", &card.line.to_string());
    if let Some(size) = card.domain.size() {
        row("inputs", &size.to_string());
    }
    if let Some(why) = card.domain.opaque() {
        row("opaque", &why);
    }
    let bounds = card.domain.bounds();
    for argument in &card.domain.arguments {
        let drawn = bounds.get(&argument.name).map_or_else(|| argument.strategy.to_string(), shown);
        row("argument", &format!("{}: {}", argument.name, clipped(&drawn)));
    }
    let keys = card.domain.case_keys();
    keys.iter().take(KEYS).for_each(|key| row("case", key));
    if keys.len() > KEYS {
        row("case", &format!("… and {} more (--json lists all)", keys.len() - KEYS));
    }
    card.files.iter().for_each(|(path, sha)| row("fixture", &format!("{path} {sha}")));
    row("assertions", &card.assertions.len().to_string());
    card.assertions.iter().for_each(|assertion| row("", &format!("{}: {}", assertion.line, assertion.text)));
    text
}

fn shown((low, high): &Interval) -> String {
    let end = |end: &Option<num_bigint::BigInt>| end.as_ref().map_or_else(|| "open".to_owned(), ToString::to_string);
    format!("{} .. {}", end(low), end(high))
}

fn clipped(text: &str) -> String {
    match text.char_indices().nth(ARGUMENT) {
        Some((cut, _)) => format!("{}…", &text[..cut]),
        None => text.to_owned(),
    }
}

/// A draft that was written, or was there before, and what to do with it. `below` the root, git is told that the path starts there.
pub fn drafted_text(name: &str, fresh: bool, below: bool) -> String {
    let path = format!("{FOLDER}/{name}");
    let did = if fresh { "drafted" } else { "was there already, unchanged:" };
    let root = if below { ":/" } else { "" };
    format!("{did} {path}\n  next: write its spec and its reason, then: git add {root}{path}\n")
}

/// The waivers of a tree, one line each.
pub fn waivers_text(found: &[Found], style: Style) -> String {
    let mut text = format!("seedgate: {}\n", plural(found.len(), "waiver"));
    for waiver in found {
        let state = match (&waiver.read, waiver.faults.is_empty()) {
            (Err(_), _) => style.bad("broken"),
            (Ok(_), false) => style.warn("draft "),
            (Ok(_), true) => style.good("whole "),
        };
        let subject = waiver.read.as_ref().map_or_else(ToString::to_string, |read| read.subject.name().to_owned());
        let _ = writeln!(text, "  {state}  {}  {}", style.strong(&line_of(&waiver.path.to_string())), line_of(&subject));
    }
    text
}

/// What was found of each waiver that was checked.
pub fn checked_text(checked: &[(Found, Vec<Broken>)], style: Style) -> String {
    let bad = checked.iter().filter(|(_, objections)| !objections.is_empty()).count();
    let mut text = match (checked.len(), bad) {
        (0, _) => "seedgate: no waiver is staged; name a file to check it\n".to_owned(),
        (all, 0) => format!("seedgate: {} settled by what is staged\n", style.good(&plural(all, "waiver"))),
        (all, bad) => format!("seedgate: {} of {} not honoured\n", style.bad(&bad.to_string()), plural(all, "waiver")),
    };
    for (waiver, objections) in checked {
        let _ = writeln!(text, "  {}", style.strong(&line_of(&waiver.path.to_string())));
        for objection in objections {
            let _ = writeln!(text, "    line {}: {}", objection.line, line_of(&objection.says));
        }
        if objections.is_empty() {
            let _ = writeln!(text, "    states the measured cards; a person merges");
        }
    }
    text
}
