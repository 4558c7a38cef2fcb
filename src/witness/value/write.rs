//! Owns the JSON form on its way out.

use num_bigint::BigInt;
use num_traits::{Signed as _, ToPrimitive as _};
use serde::ser::{Serialize, SerializeMap as _, Serializer};

use crate::witness::value::{EXACT, Float, Input, Value};

/// Above this many bits digits are hexadecimal: decimal ones take quadratic time, and some readers refuse them.
const DECIMAL_BITS: u64 = 1 << 12;

impl Serialize for Input {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

impl Serialize for Value {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Value::Null => serializer.serialize_unit(),
            Value::Bool(b) => serializer.serialize_bool(*b),
            Value::Int(n) => match n.to_i64().filter(|n| n.unsigned_abs() < EXACT.unsigned_abs()) {
                Some(small) => serializer.serialize_i64(small),
                None => tagged(serializer, "$int", &digits(n)),
            },
            Value::Float(f) => match plain(*f) {
                Some(small) => serializer.serialize_f64(small),
                None => tagged(serializer, "$float", &named(f.get())),
            },
            Value::Text(text) => serializer.serialize_str(text),
            Value::Bytes(bytes) => tagged(serializer, "$bytes", &hex(bytes)),
            Value::List(parts) => parts.serialize(serializer),
            Value::Tuple(parts) => tagged(serializer, "$tuple", parts),
            Value::Set(parts) => tagged(serializer, "$set", parts),
            Value::FrozenSet(parts) => tagged(serializer, "$frozenset", parts),
            Value::Map(pairs) if is_object(pairs) => {
                let mut map = serializer.serialize_map(Some(pairs.len()))?;
                for (key, value) in pairs {
                    map.serialize_entry(key, value)?;
                }
                map.end()
            }
            Value::Map(pairs) => tagged(serializer, "$map", pairs),
        }
    }
}

fn tagged<S: Serializer>(serializer: S, tag: &str, of: &(impl Serialize + ?Sized)) -> Result<S::Ok, S::Error> {
    let mut map = serializer.serialize_map(Some(1))?;
    map.serialize_entry(tag, of)?;
    map.end()
}

/// A number that every reader of JSON holds.
fn plain(f: Float) -> Option<f64> {
    let f = f.get();
    #[expect(clippy::cast_precision_loss, reason = "a power of two")]
    let end = EXACT as f64;
    (f.abs() < end).then_some(f)
}

fn named(f: f64) -> String {
    if f.is_nan() {
        return "nan".to_owned();
    }
    if f.is_infinite() {
        return if f > 0.0 { "inf" } else { "-inf" }.to_owned();
    }
    format!("{f:e}")
}

fn digits(n: &BigInt) -> String {
    if n.bits() <= DECIMAL_BITS {
        return n.to_string();
    }
    let sign = if n.is_negative() { "-" } else { "" };
    format!("{sign}0x{}", n.magnitude().to_str_radix(16))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Whether a JSON object holds these pairs without doubt: its keys are texts, and it has no order of its own.
fn is_object(pairs: &[(Value, Value)]) -> bool {
    let texts: Option<Vec<&str>> = pairs.iter().map(|(key, _)| if let Value::Text(t) = key { Some(t.as_str()) } else { None }).collect();
    texts.is_some_and(|texts| texts.iter().all(|t| !t.starts_with('$')) && texts.is_sorted_by(|a, b| a < b))
}
