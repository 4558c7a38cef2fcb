//! Owns which way strength moves between base cards and patch cards.

use crate::finding::{Finding, Rule};
use crate::strength::card::Card;

/// One way in which a property got weaker.
#[derive(Clone, Debug, PartialEq)]
pub struct Loss {
    /// The rule it breaks.
    pub rule: Rule,
    /// What was and what is.
    pub says: String,
    /// 1-based line in the patch (in the base when gone).
    pub line: Option<u32>,
}

/// One property across the change.
#[derive(Clone, Debug, PartialEq)]
pub struct Move {
    /// Card on the base.
    pub base: Option<Card>,
    /// Card in the patch.
    pub patch: Option<Card>,
    /// What was lost; empty when it held or got stronger.
    pub losses: Vec<Loss>,
}

/// All properties across the change.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Delta {
    /// In order of the base id, new ones last.
    pub moves: Vec<Move>,
}

/// Compares the cards of the changed files.
pub fn compare(_base: &[Card], _patch: &[Card]) -> Delta {
    Delta::default()
}

impl Delta {
    /// One finding per property and rule.
    pub fn findings(&self) -> Vec<Finding> {
        Vec::new()
    }
}
