//! Owns the ledger: `.seedgate/ledger.json`, the record of every counterexample, with both verdicts and what was decided.

mod file;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json};

use crate::finding::PropId;
use crate::tree::Oid;
use crate::witness::decide::{Action, Case, Kind, Verdict, decide};
use crate::witness::pin::Pin;
use crate::witness::value::Input;

pub use file::{LedgerError, lock, read, update};

/// Where the ledger lies.
pub const PATH: &str = ".seedgate/ledger.json";
/// The schema.
pub const SCHEMA: &str = "seedgate.ledger/1";

/// The ledger. What a newer writer added is kept when it is written again.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Ledger {
    /// [`SCHEMA`].
    schema: String,
    /// What the checks were made of on the base; absent until it is pinned.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pin: Option<Pin>,
    /// The rows, in the order in which they came.
    rows: Vec<Row>,
    /// What this version does not know.
    #[serde(flatten)]
    others: Map<String, Json>,
}

/// One counterexample of one property.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// The property.
    pub prop_id: PropId,
    /// Digest of the raw input: with the property's id the row's key.
    input_sha256: String,
    /// The raw counterexample.
    raw: Input,
    /// The seed that drew it, as decimal text; `null` when it came from a fixture or a whole domain.
    pub seed: Option<String>,
    /// The smallest input that fails the same way; `null` until it is shrunk.
    pub shrunk: Option<Input>,
    /// How often the predicate was called for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub steps: Option<u64>,
    /// The patch's verdict.
    pub patch: Verdict,
    /// The commit that gave it.
    pub patch_sha: Oid,
    /// How it failed, in a few words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
    /// The base's verdict on the shrunk input; `null` until it is replayed.
    pub base: Option<Verdict>,
    /// The commit that gave it.
    pub base_sha: Option<Oid>,
    /// What is to be done; `null` until it is decided.
    pub decision: Option<Action>,
    /// The promoted fixture's path; `null` until it is promoted.
    pub witness: Option<String>,
    /// Who settled a `stop` or `quarantine`, and why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resolved: Option<Resolution>,
    /// What this version does not know.
    #[serde(flatten)]
    others: Map<String, Json>,
}

/// How a person settled a row.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Resolution {
    /// Who.
    pub by: String,
    /// Why.
    pub reason: String,
}

impl Row {
    /// A counterexample as it was found.
    pub fn new(prop_id: PropId, raw: Input, seed: Option<String>, patch: Verdict, patch_sha: Oid) -> Self {
        Row {
            prop_id,
            input_sha256: raw.input_sha256(),
            raw,
            seed,
            shrunk: None,
            steps: None,
            patch,
            patch_sha,
            failure: None,
            base: None,
            base_sha: None,
            decision: None,
            witness: None,
            resolved: None,
            others: Map::new(),
        }
    }

    /// The raw counterexample.
    pub fn raw(&self) -> &Input {
        &self.raw
    }

    /// Digest of the raw input.
    pub fn input_sha256(&self) -> &str {
        &self.input_sha256
    }

    /// The input to replay and promote: the shrunk one, or the raw one until there is one.
    pub fn input(&self) -> &Input {
        self.shrunk.as_ref().unwrap_or(&self.raw)
    }

    /// Decides by the verdicts that are there: a missing base verdict is unknown. `named`: the freeze file names the property.
    pub fn decide(&mut self, named: bool) -> Action {
        let base = self.base.unwrap_or(Verdict::Unknown);
        let action = decide(Case { kind: Kind::Property, base, patch: self.patch, touched: false, named });
        self.decision = Some(action);
        action
    }

    /// Whether the patch failed on it.
    pub fn is_failing(&self) -> bool {
        matches!(self.patch, Verdict::Fail | Verdict::Flake)
    }

    /// Whether it blocks: failing without a decision, stopped, quarantined, or to be promoted and not yet so; and nobody settled it.
    pub fn is_unresolved(&self) -> bool {
        let open = match self.decision {
            Some(action) if action.blocks() => true,
            Some(Action::Promote) => self.witness.is_none(),
            Some(_) => false,
            None => self.is_failing(),
        };
        open && self.resolved.is_none()
    }

    /// What is to be done about it, in one sentence.
    pub fn help(&self) -> &'static str {
        match self.decision {
            Some(action) => action.help(),
            None => Action::Stop.help(),
        }
    }

    fn key(&self) -> (&PropId, &str) {
        (&self.prop_id, &self.input_sha256)
    }

    /// Takes what was found again about the same input. What is known already and not said again stays.
    fn advance(&mut self, newer: Row) {
        self.patch = newer.patch;
        self.patch_sha = newer.patch_sha;
        let later = (newer.shrunk.is_some(), newer.base.is_some(), newer.decision.is_some());
        if later.0 {
            (self.shrunk, self.steps) = (newer.shrunk, newer.steps);
        }
        if later.1 {
            (self.base, self.base_sha) = (newer.base, newer.base_sha);
        }
        if later.2 {
            self.decision = newer.decision;
        }
        self.failure = newer.failure.or(self.failure.take());
        self.witness = newer.witness.or(self.witness.take());
        self.resolved = newer.resolved.or(self.resolved.take());
        self.others.extend(newer.others);
    }
}

impl Default for Ledger {
    fn default() -> Self {
        Ledger { schema: SCHEMA.to_owned(), pin: None, rows: Vec::new(), others: Map::new() }
    }
}

impl Ledger {
    /// The rows, in the order in which they came.
    pub fn rows(&self) -> &[Row] {
        &self.rows
    }

    /// The rows, to be advanced. None is ever taken out.
    pub fn rows_mut(&mut self) -> impl Iterator<Item = &mut Row> {
        self.rows.iter_mut()
    }

    /// Adds a row, or advances the one of the same property and raw input.
    pub fn record(&mut self, row: Row) {
        match self.rows.iter_mut().find(|known| known.key() == row.key()) {
            Some(known) => known.advance(row),
            None => self.rows.push(row),
        }
    }

    /// The row of a property and a raw input.
    pub fn row_mut(&mut self, prop_id: &PropId, input_sha256: &str) -> Option<&mut Row> {
        self.rows.iter_mut().find(|row| row.key() == (prop_id, input_sha256))
    }

    /// The rows that block.
    pub fn unresolved(&self) -> impl Iterator<Item = &Row> {
        self.rows.iter().filter(|row| row.is_unresolved())
    }

    /// How many rows are quarantined, whether somebody settled them or not.
    pub fn quarantined(&self) -> usize {
        self.rows.iter().filter(|row| row.decision == Some(Action::Quarantine)).count()
    }

    /// Ids of the properties with a failing row.
    pub fn failing(&self) -> impl Iterator<Item = &PropId> {
        self.rows.iter().filter(|row| row.is_failing()).map(|row| &row.prop_id)
    }

    /// Reads a ledger from its bytes.
    ///
    /// # Errors
    /// In one sentence, what is wrong with it.
    pub fn parse(bytes: &[u8]) -> Result<Self, String> {
        file::parse(bytes)
    }

    /// The bytes of the file: pretty JSON, with a closing line feed.
    pub fn to_text(&self) -> String {
        serde_json::to_string_pretty(self).unwrap_or_default() + "\n"
    }
}

#[cfg(test)]
mod tests;
