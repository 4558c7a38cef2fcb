//! Owns candidates: inputs that somebody proposed, each read once against a property's domain, and the pinned file of those that were taken.
//!
//! The first argument is the proof that nothing got weaker. Only a comparison of cards makes one, so the wrong order does not compile:
//!
//! ```compile_fail,E0451
//! use seedgate::strength::delta::Cleared;
//! let forged = Cleared { ids: Default::default() };
//! ```
//!
//! ```compile_fail,E0308
//! use seedgate::{strength::card::Card, tree::Oid, trial::candidates};
//! fn early(card: &Card, parent: Oid) {
//!     let _ = candidates::accept(true, card, parent, b"{}");
//! }
//! ```

pub mod replay;

use std::collections::BTreeSet;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::digest;
use crate::finding::PropId;
use crate::strength::card::Card;
use crate::strength::delta::Cleared;
use crate::strength::record;
use crate::tree::Oid;
use crate::trial::TrialError;
use crate::witness::generate::Plan;
use crate::witness::value::Input;

/// The schema of the pinned file.
pub const SCHEMA: &str = "seedgate.candidates/1";
/// Most bytes of proposals, and of a pinned file, that are read.
pub const CAP: u64 = 64 << 20;
/// Most proposals.
const MOST: usize = 10_000;
/// Longest reason, in characters.
const WORDS: usize = 200;

/// The pinned file. It holds inputs and nothing that is expected of them; an unknown field is an error.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pinned {
    /// [`SCHEMA`].
    schema: String,
    /// The commit that the change is held against.
    pub parent: Oid,
    /// The property.
    pub property: PropId,
    /// SHA-256 of the property's card.
    pub card_sha256: String,
    /// What was taken, in the order in which it was proposed.
    pub candidates: Vec<Input>,
    /// What was not.
    pub discarded: Vec<Discarded>,
}

/// A proposal that was not taken. Its text is not kept.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Discarded {
    /// Its line, from 1.
    pub line: u64,
    /// Why.
    pub reason: Reason,
    /// In words.
    pub says: String,
    /// SHA-256 of the line.
    pub sha256: String,
}

/// Why a proposal was not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    /// It is no input.
    Unparseable,
    /// The domain does not hold it.
    OutsideDomain,
    /// It was proposed before.
    Repeated,
}

impl Reason {
    /// The word in records and text.
    pub fn name(self) -> &'static str {
        match self {
            Reason::Unparseable => "unparseable",
            Reason::OutsideDomain => "outside_domain",
            Reason::Repeated => "repeated",
        }
    }
}

/// The hash of a card, as in `seedgate.cards/1` but without positions.
pub fn card_sha256(card: &Card) -> String {
    digest::sha256_hex(card.to_json().to_string().as_bytes())
}

/// Reads proposals, a JSON object a line, each once, and pins those that the property's domain holds.
///
/// # Errors
/// When the comparison did not cover the property, literals do not give its domain, or there are too many proposals.
pub fn accept(cleared: &Cleared, card: &Card, parent: Oid, proposals: &[u8]) -> Result<Pinned, TrialError> {
    covered(cleared, &card.prop_id)?;
    let plan = Plan::of(&card.domain).map_err(|why| TrialError::input(&card.prop_id.0, why.to_string()))?;
    let mut pinned = Pinned {
        schema: SCHEMA.to_owned(),
        parent,
        property: card.prop_id.clone(),
        card_sha256: card_sha256(card),
        candidates: Vec::new(),
        discarded: Vec::new(),
    };
    let mut seen = BTreeSet::new();
    let lines = proposals.split(|b| *b == b'\n').map(<[u8]>::trim_ascii).zip(1..).filter(|(line, _)| !line.is_empty());
    for (count, (line, at)) in lines.enumerate() {
        if count >= MOST {
            return Err(TrialError::input("proposals", format!("there are more than the {MOST} that are read")));
        }
        match taken(&plan, line, &mut seen) {
            Ok(input) => pinned.candidates.push(input),
            Err((reason, says)) => {
                let says = says.chars().take(WORDS).collect();
                pinned.discarded.push(Discarded { line: at, reason, says, sha256: digest::sha256_hex(line) });
            }
        }
    }
    Ok(pinned)
}

fn covered(cleared: &Cleared, id: &PropId) -> Result<(), TrialError> {
    if cleared.covers(id) {
        Ok(())
    } else {
        Err(TrialError::Name(format!("{id} was not compared, so nothing says that it did not weaken")))
    }
}

fn taken(plan: &Plan, line: &[u8], seen: &mut BTreeSet<String>) -> Result<Input, (Reason, String)> {
    let input = Input::from_json(line).map_err(|error| (Reason::Unparseable, error.to_string()))?;
    if !plan.contains(&input) {
        return Err((Reason::OutsideDomain, "the domain of the property does not hold it".to_owned()));
    }
    if !seen.insert(input.input_sha256()) {
        return Err((Reason::Repeated, "it was proposed before".to_owned()));
    }
    Ok(input)
}

impl Pinned {
    /// The bytes of the file: pretty JSON, with a closing line feed.
    pub fn to_text(&self) -> String {
        serde_json::to_string_pretty(self).unwrap_or_default() + "\n"
    }

    /// Reads a pinned file; the second answer is the SHA-256 of its bytes.
    ///
    /// # Errors
    /// [`TrialError::Input`] when it is not there, too large or no such file.
    pub fn read(path: &Path) -> Result<(Self, String), TrialError> {
        let wrong = |why: String| TrialError::input(path, why);
        let bytes = record::read(path, CAP).map_err(|why| wrong(why.to_string()))?;
        Ok((Self::parse(&bytes).map_err(wrong)?, digest::sha256_hex(&bytes)))
    }

    fn parse(bytes: &[u8]) -> Result<Self, String> {
        #[derive(Deserialize)]
        struct Head {
            schema: String,
        }
        let unfit = |error: serde_json::Error| format!("not a {SCHEMA} file: {error}");
        let head: Head = serde_json::from_slice(bytes).map_err(unfit)?;
        if head.schema != SCHEMA {
            return Err(format!("the file has schema {:?}, this program reads {SCHEMA:?}", head.schema));
        }
        let pinned: Pinned = serde_json::from_slice(bytes).map_err(unfit)?;
        let many = pinned.candidates.len();
        if many > MOST { Err(format!("it has {many} candidates, more than the {MOST} that are read")) } else { Ok(pinned) }
    }
}

#[cfg(test)]
mod tests;
