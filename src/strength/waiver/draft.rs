//! Owns drafts of waivers: the template filled with what was measured, for a person to complete.

use toml::{Table, Value};

use crate::digest;
use crate::finding::Finding;
use crate::strength::waiver::Claim;
use crate::strength::waiver::file::Subject;

/// What a draft is made from; the part below its head is no reason.
pub(super) const TEMPLATE: &str = include_str!("../../../templates/waiver.md");

/// Longest readable part of a file name.
const MOST_NAME: usize = 80;

/// A waiver to be completed: its file name under [`crate::strength::waiver::FOLDER`], and its text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Draft {
    /// File name, without folder.
    pub name: String,
    /// The text. It waives nothing before a person has written `spec` and the reason.
    pub text: String,
}

/// Drafts a waiver for a finding; `None` when a waiver cannot settle it.
pub fn draft(finding: &Finding) -> Option<Draft> {
    let claim = Claim::of(finding)?;
    let subject = match &claim.subject {
        Subject::Property(id) => entry("property", Value::String(id.clone())),
        Subject::Fixture(path) => entry("fixture", Value::String(path.clone())),
        Subject::Path(path) => entry("path", Value::String(path.clone())),
    };
    let cards = [Some(card("old", claim.old)), claim.new.map(|new| card("new", new))];
    let cards = cards.into_iter().flatten().collect::<Vec<_>>().join("\n");
    let (start, rest) = TEMPLATE.split_once("{subject}")?;
    let (middle, end) = rest.split_once("{cards}")?;
    let text = [start, subject.trim_end(), middle, cards.trim_end(), end].concat();
    let hash = digest::sha256_hex(format!("{subject}{cards}").as_bytes());
    Some(Draft { name: format!("{}-{}.md", safe(claim.subject.name()), &hash[..8]), text })
}

fn card(key: &str, card: Table) -> String {
    entry(key, Value::Table(card))
}

fn entry(key: &str, value: Value) -> String {
    toml::to_string(&Table::from_iter([(key.to_owned(), value)])).unwrap_or_default()
}

/// Letters, digits, `_` and `-` of an id: its end says most, so the end is kept.
fn safe(id: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || c == '_' { c } else { '-' };
    let mut name = String::new();
    for c in id.chars().map(plain) {
        if c != '-' || !name.ends_with('-') {
            name.push(c);
        }
    }
    let start = name.len().saturating_sub(MOST_NAME);
    match name[start..].trim_matches('-') {
        "" => "waiver".to_owned(),
        name => name.to_owned(),
    }
}
