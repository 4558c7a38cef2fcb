//! Owns facts of blobs: modules and digests by blob id, whichever layer has them.

use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::digest;
use crate::strength::languages::{Language, Module, Unreadable};
use crate::tree::{Oid, TreeError};

/// What is asked of a blob. With the engine id and the blob id it is the whole key: a fact never goes stale.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Question {
    /// The module of a language.
    Module(Language),
    /// SHA-256 of the bytes.
    Sha256,
}

/// A fact.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fact {
    /// The module.
    Module(Arc<Module>),
    /// The bytes are no module of that language: deterministic, so a fact too.
    Unreadable(Unreadable),
    /// Lower-case hex.
    Sha256(String),
}

/// How many facts each layer answered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// Found in this process.
    pub memory: u64,
    /// Found in the memo on disk.
    pub memo: u64,
    /// Answered by the daemon.
    pub daemon: u64,
    /// Computed here.
    pub cold: u64,
}

/// The layers, nearest first. The judge does not know which one answered.
#[derive(Default)]
pub struct Facts {
    memory: RefCell<HashMap<(Question, Oid), Fact>>,
    counts: RefCell<Counts>,
}

impl Facts {
    /// Only this process: nothing is asked of disk or daemon.
    pub fn cold() -> Self {
        Facts::default()
    }

    /// Tells the outer layers what will be asked soon, so that they answer in one batch. Never needed for a right answer.
    pub fn prefetch(&self, _wanted: &[(Question, Oid)]) {}

    /// A fact; `read` brings the bytes when no layer has it.
    ///
    /// # Errors
    /// What `read` says: an error is never kept as a fact.
    pub fn get(&self, question: Question, oid: &Oid, read: &dyn Fn() -> Result<Vec<u8>, TreeError>) -> Result<Fact, TreeError> {
        let key = (question, oid.clone());
        if let Some(known) = self.memory.borrow().get(&key) {
            self.counts.borrow_mut().memory += 1;
            return Ok(known.clone());
        }
        let fact = compute(question, &read()?);
        self.counts.borrow_mut().cold += 1;
        self.memory.borrow_mut().insert(key, fact.clone());
        Ok(fact)
    }

    /// What answered so far.
    pub fn counts(&self) -> Counts {
        *self.counts.borrow()
    }
}

/// Computes a fact from bytes: the one function that every layer's answer must equal.
pub fn compute(question: Question, bytes: &[u8]) -> Fact {
    match question {
        Question::Sha256 => Fact::Sha256(digest::sha256_hex(bytes)),
        Question::Module(language) => match language.module(bytes) {
            Ok(module) => Fact::Module(Arc::new(module)),
            Err(unreadable) => Fact::Unreadable(unreadable),
        },
    }
}
