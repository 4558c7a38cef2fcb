//! Owns the freeze file, `.seedgate/freeze.json`: which tests, whose, until when, by which token. It has no seed column.

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json};

use crate::finding::PropId;
use crate::freeze::day::Day;
use crate::freeze::evidence::Evidence;
use crate::freeze::token::Token;
use crate::strength::record::{self, Unread};

/// Where the freeze file lies.
pub const PATH: &str = ".seedgate/freeze.json";
/// The schema.
pub const SCHEMA: &str = "seedgate.freeze/1";
/// Largest freeze file that is read, in bytes.
pub const CAP: u64 = 4 << 20;
/// More entries than these are not read.
const MOST: usize = 1_000;

/// The freeze file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Freeze {
    /// [`SCHEMA`].
    schema: String,
    /// The frozen tests.
    pub entries: Vec<Entry>,
}

/// One frozen test.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    /// The test's id.
    pub test: PropId,
    /// Who answers for it.
    pub owner: String,
    /// The last day on which it holds.
    pub expires: Day,
    /// The evidence it was granted on.
    pub token: Map<String, Json>,
}

/// Why there is no freeze file to go by.
#[derive(Debug, thiserror::Error)]
pub enum FreezeError {
    /// Its bytes.
    #[error("{}: {says}", .path.display())]
    Unfit {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        says: String,
    },
    /// The disk.
    #[error("{}: {source}", .path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

impl FreezeError {
    /// Why the file at a path was not read.
    pub(super) fn unread(path: &Path) -> impl Fn(Unread) -> Self {
        move |why| match why {
            Unread::Io(source) => FreezeError::Io { path: path.to_path_buf(), source },
            Unread::Unfit(says) => FreezeError::Unfit { path: path.to_path_buf(), says },
        }
    }

    /// Whether what was read is to blame, and not the machine.
    pub fn is_input(&self) -> bool {
        matches!(self, FreezeError::Unfit { .. })
    }
}

/// Why an entry does not hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The test.
    pub test: PropId,
    /// What is wrong with it.
    pub says: String,
}

/// What entries are held against.
pub struct Against<'a> {
    /// Whether an id is that of a property.
    pub is_property: &'a dyn Fn(&PropId) -> bool,
    /// Ids with a failing row in the ledger.
    pub failing: &'a BTreeSet<PropId>,
    /// Digest over the fixtures as they are.
    pub fixture_digest: &'a str,
    /// SHA-256 of a test's card as it is; `None` when there is no such test.
    pub card: &'a dyn Fn(&PropId) -> Option<String>,
    /// The evidence that is kept under a digest; `None` when there is none.
    pub evidence: &'a dyn Fn(&str) -> Option<Result<Evidence, String>>,
    /// Whether the change that brings an entry also touches its test.
    pub is_touched: &'a dyn Fn(&Entry) -> bool,
    /// Most days from a token's issue to the expiry.
    pub most_days: u32,
    /// The day it is; `None` where no clock may decide.
    pub today: Option<Day>,
}

impl Freeze {
    /// The freeze file at a path; `None` when there is none. No link is followed.
    ///
    /// # Errors
    /// [`FreezeError`].
    pub fn read(path: &Path) -> Result<Option<Self>, FreezeError> {
        let unfit = |says: String| FreezeError::Unfit { path: path.to_path_buf(), says };
        let bytes = record::read_known(path, CAP).map_err(FreezeError::unread(path))?;
        bytes.map(|bytes| Freeze::parse(&bytes)).transpose().map_err(unfit)
    }

    /// Reads a freeze file.
    ///
    /// # Errors
    /// In one sentence, what is wrong with it.
    pub fn parse(bytes: &[u8]) -> Result<Self, String> {
        #[derive(Deserialize)]
        struct Head {
            schema: String,
        }
        let unfit = |error: serde_json::Error| format!("it is no freeze file: {error}");
        let head: Head = serde_json::from_slice(bytes).map_err(unfit)?;
        if head.schema != SCHEMA {
            return Err(format!("it has the schema {:?}, and this version reads {SCHEMA}", head.schema));
        }
        let freeze: Freeze = serde_json::from_slice(bytes).map_err(unfit)?;
        if freeze.entries.len() > MOST {
            return Err(format!("it has {} entries, more than the {MOST} that are read", freeze.entries.len()));
        }
        Ok(freeze)
    }

    /// The bytes of the file: pretty JSON, with a closing line feed.
    pub fn to_text(&self) -> String {
        serde_json::to_string_pretty(self).unwrap_or_default() + "\n"
    }

    /// Whether a test is named.
    pub fn names(&self, id: &PropId) -> bool {
        self.entries.iter().any(|entry| entry.test == *id)
    }

    /// An empty freeze file.
    pub fn empty() -> Self {
        Freeze { schema: SCHEMA.to_owned(), entries: Vec::new() }
    }

    /// The entry of a test.
    pub fn entry(&self, id: &PropId) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.test == *id)
    }

    /// Takes out the entries of a test; true when there were some.
    pub fn close(&mut self, id: &PropId) -> bool {
        let before = self.entries.len();
        self.entries.retain(|entry| entry.test != *id);
        self.entries.len() < before
    }

    /// Everything that is wrong with the entries, in their order.
    pub fn faults(&self, against: &Against<'_>) -> Vec<Fault> {
        let mut seen = BTreeSet::new();
        let mut faults = Vec::new();
        for entry in &self.entries {
            let mut fault = |says: String| faults.push(Fault { test: entry.test.clone(), says });
            if (against.is_property)(&entry.test) {
                fault("it is a property, and properties are never frozen".to_owned());
            }
            if against.failing.contains(&entry.test) {
                fault("the ledger holds a counterexample of it: evidence outranks the exception".to_owned());
            }
            if let Some(today) = against.today.filter(|today| *today > entry.expires) {
                fault(format!("it expired on {}, {} ago", entry.expires, days(entry.expires.until(today))));
            }
            if entry.owner.trim().is_empty() {
                fault("it has no owner".to_owned());
            }
            if (against.is_touched)(entry) {
                fault("the same change touches the test: that is a review item and no noise".to_owned());
            }
            match Token::read(&entry.token) {
                Ok(token) => entry.held(&token, against).into_iter().for_each(&mut fault),
                Err(says) => fault(says),
            }
            if !seen.insert(&entry.test) {
                fault("it is frozen twice".to_owned());
            }
        }
        faults
    }
}

impl Entry {
    /// What is wrong with the entry's token, and what has moved since it was issued.
    fn held(&self, token: &Token, against: &Against<'_>) -> Vec<String> {
        let evidence = (against.evidence)(&token.evidence_sha256);
        let mut faults = token.faults(&self.test, evidence.as_ref().map(|read| read.as_ref().map_err(String::as_str)));
        let span = token.issued.until(self.expires);
        if span < 0 || span > i64::from(against.most_days) {
            faults.push(format!(
                "it expires {} after its token was issued, and the policy allows {}",
                days(span),
                days(against.most_days.into())
            ));
        }
        if against.today.is_some_and(|today| today < token.issued) {
            faults.push(format!("its token was issued on {}, which is yet to come", token.issued));
        }
        if token.fixture_digest != against.fixture_digest {
            faults.push("void: the fixtures' digest has moved since its token was issued".to_owned());
        }
        match (against.card)(&self.test) {
            None => faults.push("void: there is no such test any more".to_owned()),
            Some(card) if card != token.card_sha256 => faults.push("void: the test has changed since its token was issued".to_owned()),
            Some(_) => {}
        }
        faults
    }
}

fn days(count: i64) -> String {
    if count == 1 { "1 day".to_owned() } else { format!("{count} days") }
}

#[cfg(test)]
mod tests;
