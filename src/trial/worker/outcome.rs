//! Owns what an input came to: passed, invalid, failed in a way that has a name, or not to be told.

use serde::{Deserialize, Serialize};

/// Longest message, in characters.
const WORDS: usize = 300;

/// How a property failed. Two failures are the same when kind and place are.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    /// The exception's type; or `crash`, `hang`, `out_of_memory`.
    #[serde(rename = "type")]
    pub kind: String,
    /// `path:line` of the innermost frame of the tree.
    #[serde(default)]
    pub place: Option<String>,
    /// In words, short.
    #[serde(default)]
    pub message: String,
}

impl Failure {
    /// Whether another failure is this one again.
    pub fn is_same_way(&self, other: &Failure) -> bool {
        self.kind == other.kind && self.place == other.place
    }

    /// In one line: which failure, and its words.
    pub fn told(&self) -> String {
        if self.message.is_empty() { self.way() } else { format!("{}: {}", self.way(), self.message) }
    }

    /// What `is_same_way` compares, as one text.
    pub fn way(&self) -> String {
        self.place.as_ref().map_or_else(|| self.kind.clone(), |place| format!("{} at {place}", self.kind))
    }
}

/// Why a property or an input has no verdict.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refusal {
    /// `needs_fixture`, `network`, `timeout`, … (docs/worker-protocol.md).
    pub kind: String,
    /// In words.
    pub message: String,
}

impl Refusal {
    /// A refusal. Its words may quote a whole list of cases; a line is enough of them.
    pub fn new(kind: &str, message: impl Into<String>) -> Self {
        let message: String = message.into();
        let short: String = message.chars().take(WORDS).collect();
        let is_whole = short.len() == message.len();
        Refusal { kind: kind.to_owned(), message: if is_whole { message } else { short + "…" } }
    }

    /// Whether the property is simply not one that can be run here, rather than that something went wrong.
    pub fn is_of_the_property(&self) -> bool {
        ["needs_fixture", "skipped", "unsupported", "undrawable"].contains(&self.kind.as_str())
    }
}

/// What an input came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The property holds.
    Pass,
    /// The input does not meet the property's own assumptions.
    Invalid,
    /// The property does not hold.
    Fail(Failure),
    /// No verdict.
    Error(Refusal),
}
