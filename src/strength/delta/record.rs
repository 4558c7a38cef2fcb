//! Owns the file `seedgate.delta/1`: what a comparison of cards said.

use serde::Serialize;
use serde_json::Value;

use crate::finding::{Exit, Finding, PropId};
use crate::strength::delta::Delta;

/// The schema of a delta file.
pub const SCHEMA: &str = "seedgate.delta/1";

#[derive(Serialize)]
struct Record<'d> {
    schema: &'static str,
    decision: &'static str,
    exit: u8,
    compared: usize,
    findings: Vec<Row<'d>>,
    notes: Vec<Note<'d>>,
}

#[derive(Serialize)]
struct Row<'d> {
    rule: &'static str,
    exit: u8,
    property: Option<&'d PropId>,
    path: Option<&'d str>,
    line: Option<u32>,
    says: String,
    help: &'d str,
    base_card: Option<&'d Value>,
    patch_card: Option<&'d Value>,
}

#[derive(Serialize)]
struct Note<'d> {
    property: &'d PropId,
    says: &'d str,
}

impl Delta {
    /// The file: schema first, one final newline.
    pub fn to_text(&self) -> String {
        let findings = self.findings();
        let exit = self.exit();
        let record = Record {
            schema: SCHEMA,
            decision: decision(exit),
            exit: exit.code(),
            compared: self.moves.len(),
            findings: findings.iter().map(row).collect(),
            notes: self.notes().map(|(property, says)| Note { property, says }).collect(),
        };
        let mut text = serde_json::to_string_pretty(&record).unwrap_or_default();
        text.push('\n');
        text
    }

    /// What moved without a loss, by property.
    pub fn notes(&self) -> impl Iterator<Item = (&PropId, &str)> {
        self.moves.iter().flat_map(|change| {
            let id = change.base.as_ref().or(change.patch.as_ref()).map(|card| &card.prop_id);
            id.into_iter().flat_map(|id| change.notes.iter().map(move |note| (id, note.as_str())))
        })
    }
}

fn decision(exit: Exit) -> &'static str {
    match exit {
        Exit::Clear => "strength_ok",
        Exit::Review => "new_ids_separate_review",
        _ => "reject",
    }
}

fn row(finding: &Finding) -> Row<'_> {
    Row {
        rule: finding.rule.id(),
        exit: finding.rule.exit().code(),
        property: finding.property.as_ref(),
        path: finding.path.as_deref(),
        line: finding.line,
        says: finding.says.join("; "),
        help: &finding.help,
        base_card: finding.base_card.as_ref(),
        patch_card: finding.patch_card.as_ref(),
    }
}
