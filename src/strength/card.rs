//! Owns the strength card: what is measured of one function.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::finding::PropId;
use crate::strength::domain::Domain;

/// What a card is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// A test function with a declared domain, or under the property paths, or named `prop_*`.
    Property,
    /// Any other collected test function.
    Test,
    /// Something tests lean on: a named strategy, a check helper, a shared settings object.
    Support,
}

/// One assertion of a function.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Assertion {
    /// Canonical source of the statement.
    pub text: String,
    /// 1-based line.
    pub line: u32,
}

/// What is measured of one function.
#[derive(Clone, Debug, PartialEq)]
pub struct Card {
    /// Identity.
    pub prop_id: PropId,
    /// Property, test or support.
    pub kind: Kind,
    /// 1-based line of the definition; not compared.
    pub line: u32,
    /// The declared domain.
    pub domain: Domain,
    /// The assertions.
    pub assertions: Vec<Assertion>,
    /// Fixture files the function loads: path -> SHA-256.
    pub files: BTreeMap<String, String>,
    /// Digest over `files` (DESIGN: one file its SHA-256, several the folder digest); `None` without files.
    pub fixture_sha256: Option<String>,
    /// SHA-256 of the canonical body, for pairing moved functions.
    pub body_sha256: String,
}

impl Card {
    /// The card as JSON.
    pub fn to_json(&self) -> serde_json::Value {
        serde_json::Value::Null
    }
}
