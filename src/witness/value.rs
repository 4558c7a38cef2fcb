//! Owns the values that properties are called with, and their one JSON form.
//!
//! JSON holds null, booleans, text, lists and small numbers as they are. What it cannot hold without doubt is an object with one
//! key that begins with `$`: `{"$int":"123…"}` (beyond ±(2^53-1); hexadecimal `0x…` above 4096 bits), `{"$float":"nan"}` (also `inf`,
//! `-inf` and whatever is 2^53 or greater), `{"$bytes":"00ff"}`, `{"$tuple":[…]}`, `{"$set":[…]}`, `{"$frozenset":[…]}` and `{"$map":[[key,value],…]}`.
//! A map whose keys are texts in ascending order, none beginning with `$`, is a plain object.

mod read;
mod write;

use std::collections::BTreeMap;

use num_bigint::BigInt;

use crate::digest;

/// How deep values may nest.
pub const MAX_DEPTH: usize = 48;
/// Longest JSON text of one input.
pub const MAX_BYTES: usize = 4 << 20;
/// From here on a number is tagged: not every reader of JSON holds it.
const EXACT: i64 = 1 << 53;

/// A value.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Value {
    /// Nothing: `None`, `null`.
    Null,
    /// A boolean.
    Bool(bool),
    /// A whole number of any size.
    Int(BigInt),
    /// A binary64 number.
    Float(Float),
    /// Text.
    Text(String),
    /// Bytes.
    Bytes(Vec<u8>),
    /// A list.
    List(Vec<Value>),
    /// A tuple.
    Tuple(Vec<Value>),
    /// A set: each part once, in ascending order.
    Set(Vec<Value>),
    /// A frozen set: each part once, in ascending order.
    FrozenSet(Vec<Value>),
    /// Keys and values in the order in which they were put.
    Map(Vec<(Value, Value)>),
}

/// A binary64 number that is equal to itself: bits decide, and there is one NaN.
#[derive(Clone, Copy, Debug)]
pub struct Float(f64);

impl Float {
    /// The number; every NaN becomes the same one.
    pub fn new(number: f64) -> Self {
        Float(if number.is_nan() { f64::NAN } else { number })
    }

    /// The number.
    pub fn get(self) -> f64 {
        self.0
    }
}

impl PartialEq for Float {
    fn eq(&self, other: &Self) -> bool {
        self.0.to_bits() == other.0.to_bits()
    }
}

impl Eq for Float {}

impl std::hash::Hash for Float {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.0.to_bits().hash(state);
    }
}

impl PartialOrd for Float {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Float {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.0.total_cmp(&other.0)
    }
}

impl Value {
    /// A whole number.
    pub fn int(n: impl Into<BigInt>) -> Self {
        Value::Int(n.into())
    }

    /// A set: sorted, each part once.
    pub fn set(mut parts: Vec<Value>) -> Self {
        parts.sort();
        parts.dedup();
        Value::Set(parts)
    }

    /// A frozen set: sorted, each part once.
    pub fn frozen_set(mut parts: Vec<Value>) -> Self {
        parts.sort();
        parts.dedup();
        Value::FrozenSet(parts)
    }
}

/// What one call of a property gets: a value for every argument, by name.
///
/// Its JSON form is an object. A name of digits only is a position: the argument has no name in the domain.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Input(pub BTreeMap<String, Value>);

/// Why a text is no input.
#[derive(Debug, thiserror::Error)]
pub enum ValueError {
    /// Too long.
    #[error("the input has {0} bytes; at most {MAX_BYTES} are read")]
    Long(usize),
    /// Not the JSON of an input.
    #[error("not an input: {0}")]
    Form(serde_json::Error),
}

impl Input {
    /// Reads the JSON form.
    ///
    /// # Errors
    /// When the text is longer than [`MAX_BYTES`], nests deeper than [`MAX_DEPTH`] or is not the form.
    pub fn from_json(text: &[u8]) -> Result<Self, ValueError> {
        if text.len() > MAX_BYTES {
            return Err(ValueError::Long(text.len()));
        }
        serde_json::from_slice(text).map_err(ValueError::Form)
    }

    /// The canonical JSON form: one line without spaces, arguments by name. Equal inputs have equal bytes.
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }

    /// SHA-256 of the canonical form, lower-case hex: the input's name in the ledger.
    pub fn input_sha256(&self) -> String {
        digest::sha256_hex(self.to_json().as_bytes())
    }
}

#[cfg(test)]
mod tests;
