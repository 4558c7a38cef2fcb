//! Owns the sealed form of a fact: its JSON text and a checksum that binds it to engine and name (of a blob's fact: question and blob id).

use std::borrow::Cow;

use serde::Serialize;
use serde::de::DeserializeOwned;
use sha2::{Digest as _, Sha256};

use crate::gate::facts::{Fact, Question, engine};
use crate::tree::Oid;

/// Bytes of a seal.
pub const SEAL: usize = 16;

/// A fact as it lies in the memo, in the daemon's memory and on the wire. A text under a wrong seal is no fact.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sealed<'a> {
    /// The fact as JSON.
    pub text: Cow<'a, str>,
    /// Binds the text to its key.
    pub seal: [u8; SEAL],
}

impl Sealed<'static> {
    /// Seals a fact; `None` when its text would not read back as the same fact (then it is kept nowhere).
    pub fn of(question: Question, oid: &Oid, fact: &Fact) -> Option<Self> {
        Sealed::named(&key(question, oid), fact)
    }

    /// The same under any name.
    pub(super) fn named<T: Serialize + DeserializeOwned + PartialEq>(name: &str, fact: &T) -> Option<Self> {
        let text = serde_json::to_string(fact).ok()?;
        let same = serde_json::from_str::<T>(&text).is_ok_and(|read| read == *fact);
        same.then(|| Sealed { seal: seal(name, &text), text: Cow::Owned(text) })
    }
}

impl Sealed<'_> {
    /// Whether the seal is this key's and this text's.
    pub fn holds(&self, question: Question, oid: &Oid) -> bool {
        self.is_of(&key(question, oid))
    }

    /// Whether the seal is this name's and this text's.
    pub(super) fn is_of(&self, name: &str) -> bool {
        seal(name, &self.text) == self.seal
    }

    /// The fact; `None` when the seal is broken or the text is no answer to the question.
    pub fn open(&self, question: Question, oid: &Oid) -> Option<Fact> {
        self.holds(question, oid).then(|| self.read(question)).flatten()
    }

    /// The fact of a text whose seal was found right; `None` when it is no answer to the question.
    pub(super) fn read(&self, question: Question) -> Option<Fact> {
        let fact = serde_json::from_str(&self.text).ok()?;
        let fits = match (&fact, question) {
            (Fact::Sha256(hex), Question::Sha256) => hex.len() == 64,
            (Fact::Module(_) | Fact::Unreadable(_), Question::Module(_)) => true,
            _ => false,
        };
        fits.then_some(fact)
    }
}

/// The name of a key inside one engine.
pub fn key(question: Question, oid: &Oid) -> String {
    format!("{} {oid}", serde_json::to_string(&question).unwrap_or_default())
}

fn seal(name: &str, text: &str) -> [u8; SEAL] {
    let mut hash = Sha256::new();
    for part in [engine::id(), name, text] {
        hash.update(part.len().to_le_bytes());
        hash.update(part);
    }
    let mut seal = [0; SEAL];
    seal.copy_from_slice(&hash.finalize()[..SEAL]);
    seal
}
