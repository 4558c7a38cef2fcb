//! Owns the seam between a language and the rest: bytes of one blob in, facts of one module out.

pub mod facts;
mod python;

use serde::{Deserialize, Serialize};

pub use crate::strength::languages::facts::Module;
pub use crate::strength::languages::python::hooks::{Hook, Hooks};
pub use crate::strength::languages::python::sensing::Sense;
use crate::tree::RepoPath;

/// Why a file was not read: deterministic for its bytes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("line {line}: {says}")]
pub struct Unreadable {
    /// 1-based line.
    pub line: u32,
    /// What is wrong.
    pub says: String,
}

/// A language that can be carded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Language {
    /// Python.
    Python,
}

impl Language {
    /// The language of a path, by its ending.
    pub fn of(path: &RepoPath) -> Option<Self> {
        let name = path.name();
        (name.ends_with(b".py") || name.ends_with(b".pyi")).then_some(Language::Python)
    }

    /// Reads one blob.
    ///
    /// # Errors
    /// [`Unreadable`] when the bytes cannot be decoded or parsed.
    pub fn module(self, bytes: &[u8]) -> Result<Module, Unreadable> {
        match self {
            Language::Python => python::module(bytes),
        }
    }

    /// What a file tells its runner besides tests.
    ///
    /// # Errors
    /// [`Unreadable`] when the bytes cannot be decoded or parsed.
    pub fn hooks(self, bytes: &[u8]) -> Result<Hooks, Unreadable> {
        match self {
            Language::Python => python::hooks(bytes),
        }
    }

    /// How a file tells whether a test runs.
    ///
    /// # Errors
    /// [`Unreadable`] when the bytes cannot be decoded or parsed.
    pub fn senses(self, bytes: &[u8]) -> Result<Vec<Sense>, Unreadable> {
        match self {
            Language::Python => python::senses(bytes),
        }
    }
}
