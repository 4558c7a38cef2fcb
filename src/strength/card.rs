//! Owns the strength card: what is measured of one function, and its JSON form.

use std::collections::BTreeMap;
use std::sync::Arc;

use num_bigint::{BigInt, BigUint};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::digest;
use crate::finding::PropId;
use crate::strength::domain::Domain;
use crate::strength::effort::Effort;

/// What a card is about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// A test function with a declared domain, or under the property paths, or named `prop_*`.
    #[default]
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

/// Texts of assertions, each as often as it stands there.
pub(super) struct Texts<'a>(BTreeMap<&'a str, usize>);

impl<'a> Texts<'a> {
    pub(super) fn of(assertions: &'a [Assertion]) -> Self {
        let mut texts = BTreeMap::new();
        for assertion in assertions {
            *texts.entry(assertion.text.as_str()).or_default() += 1;
        }
        Texts(texts)
    }

    /// Takes one out, if it is there.
    pub(super) fn take(&mut self, text: &str) -> bool {
        let left = self.0.get_mut(text).filter(|left| **left > 0);
        left.map(|left| *left -= 1).is_some()
    }
}

/// One condition that an assertion demands, told so that it can be recognised in another function: conjunctions are split, unittest's
/// methods are spelt as conditions, names bound once are replaced by what they are bound to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Claim {
    /// Canonical source of the condition.
    pub text: String,
    /// Canonical sources, in order, of the statements and block heads that decide what the names mean and whether it is reached;
    /// a loop whose rows the domain holds is not among them.
    pub setup: Vec<Arc<str>>,
    /// Which of the card's assertions demands it; a position past the last one for a check that is no assertion (a method of unittest).
    pub assertion: usize,
}

/// A call of a check helper of the same repository, as a statement of its own.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Call {
    /// The helper's card.
    pub callee: PropId,
    /// Parameter -> canonical source of what is passed.
    pub arguments: BTreeMap<String, String>,
    /// As of a claim.
    pub setup: Vec<Arc<str>>,
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
    /// What the assertions demand, where the language tells; empty otherwise.
    pub claims: Vec<Claim>,
    /// Calls of check helpers.
    pub calls: Vec<Call>,
    /// Parameters without the instance, for reading the claims.
    pub parameters: Vec<String>,
    /// Fixture files the function loads: path -> SHA-256.
    pub files: BTreeMap<String, String>,
    /// Digest over `files` (one file its SHA-256, several the folder digest); `None` without files.
    pub fixture_sha256: Option<String>,
    /// Marks, reducers, budget, examples and patches.
    pub effort: Effort,
    /// SHA-256 of the canonical body, for pairing moved functions.
    pub body_sha256: String,
}

/// Both ends of an interval as written: decimal text, `null` where open.
type WrittenInterval = (Option<String>, Option<String>);

/// A card as it stands in `seedgate.cards/1`: first what people read, then what the comparison needs besides.
#[derive(Serialize)]
struct Written<'c> {
    prop_id: &'c PropId,
    kind: Kind,
    domain_size: Option<String>,
    assertion_count: usize,
    fixture_sha256: Option<&'c str>,
    case_keys: Vec<String>,
    bounds: BTreeMap<String, WrittenInterval>,
    opaque: Option<String>,
    files: &'c BTreeMap<String, String>,
    domain: &'c Domain,
    assertions: &'c [Assertion],
    #[serde(skip_serializing_if = "<[Claim]>::is_empty")]
    claims: &'c [Claim],
    #[serde(skip_serializing_if = "<[Call]>::is_empty")]
    calls: &'c [Call],
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    parameters: &'c [String],
    #[serde(skip_serializing_if = "Effort::is_empty")]
    effort: &'c Effort,
    line: u32,
    body_sha256: &'c str,
}

impl Serialize for Card {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let text = |end: Option<BigInt>| end.map(|n| n.to_string());
        Written {
            prop_id: &self.prop_id,
            kind: self.kind,
            domain_size: self.domain.size().map(|n: BigUint| n.to_string()),
            assertion_count: self.assertions.len(),
            fixture_sha256: self.fixture_sha256.as_deref(),
            case_keys: self.domain.case_keys(),
            bounds: self.domain.bounds().into_iter().map(|(name, (low, high))| (name, (text(low), text(high)))).collect(),
            opaque: self.domain.opaque(),
            files: &self.files,
            domain: &self.domain,
            assertions: &self.assertions,
            claims: &self.claims,
            calls: &self.calls,
            parameters: &self.parameters,
            effort: &self.effort,
            line: self.line,
            body_sha256: &self.body_sha256,
        }
        .serialize(serializer)
    }
}

impl Card {
    /// What is measured, as in `seedgate.cards/1` but without positions and without what only helps to find an assertion again: equal for
    /// equal cards, wherever they stand in the file.
    pub fn to_json(&self) -> Value {
        let mut value = serde_json::to_value(self).unwrap_or(Value::Null);
        if let Some(fields) = value.as_object_mut() {
            fields.retain(|name, _| !["line", "claims", "calls", "parameters"].contains(&name.as_str()));
            fields.insert("assertions".to_owned(), self.assertions.iter().map(|a| a.text.as_str()).collect());
        }
        value
    }

    /// Whether the same was measured of both: all that [`Card::to_json`] says, wherever they stand in the file.
    pub fn measures_as(&self, other: &Card) -> bool {
        let texts = self.assertions.iter().map(|a| &a.text).eq(other.assertions.iter().map(|a| &a.text));
        (&self.prop_id, self.kind, &self.files, &self.body_sha256) == (&other.prop_id, other.kind, &other.files, &other.body_sha256)
            && texts
            && self.effort == other.effort
            && self.domain == other.domain
    }

    /// The path part of the id.
    pub fn path(&self) -> &str {
        path_of(&self.prop_id)
    }

    /// The id without its path: `Class::name`.
    pub fn short_name(&self) -> &str {
        id_parts(&self.prop_id).1
    }

    /// The classes around it: `Outer::Inner`, empty at the top.
    pub fn class(&self) -> &str {
        self.short_name().rsplit_once("::").map_or("", |(class, _)| class)
    }

    /// The function's own name.
    pub fn name(&self) -> &str {
        self.short_name().rsplit("::").next().unwrap_or_default()
    }

    /// One card for the same id defined twice (in both arms of an `if`, say): only what both of them hold.
    #[must_use]
    pub fn weaker_of(self, other: Card) -> Card {
        let mut theirs = Texts::of(&other.assertions);
        let mut assertions = self.assertions.clone();
        assertions.retain(|assertion| theirs.take(&assertion.text));
        let same_files = self.files == other.files;
        Card {
            kind: if self.kind == other.kind { self.kind } else { Kind::Test },
            line: self.line.min(other.line),
            domain: self.domain.weaker_of(other.domain),
            assertions,
            claims: Vec::new(),
            calls: Vec::new(),
            parameters: Vec::new(),
            files: self.files.into_iter().filter(|(path, sha)| other.files.get(path) == Some(sha)).collect(),
            fixture_sha256: self.fixture_sha256.filter(|_| same_files),
            effort: self.effort.weaker_of(other.effort),
            body_sha256: digest::sha256_hex(format!("{}\n{}", self.body_sha256, other.body_sha256).as_bytes()),
            prop_id: self.prop_id,
        }
    }
}

/// The path part of an id, as shown.
pub fn path_of(id: &PropId) -> &str {
    id_parts(id).0
}

/// An id's path and the rest: the path ends at the first `::` after which no folder follows and before which a file name with an ending stands.
fn id_parts(id: &PropId) -> (&str, &str) {
    let text = id.0.as_str();
    let file = |at: &usize| text[..*at].rsplit('/').next().is_some_and(|name| name.contains('.'));
    let cut = text.match_indices("::").map(|(at, _)| at).find(file).or_else(|| text.find("::"));
    cut.map_or(("", text), |at| (&text[..at], &text[at + 2..]))
}
