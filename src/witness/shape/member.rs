//! Owns membership: whether a shape could have drawn a value.

use std::collections::BTreeSet;

use num_bigint::BigInt;
use num_traits::FromPrimitive as _;

use crate::witness::order;
use crate::witness::shape::{Floats, Kind, Shape};
use crate::witness::value::{Float, Value};

impl Shape {
    /// Whether the shape holds a value.
    pub(in crate::witness) fn contains(&self, value: &Value) -> bool {
        match (self, value) {
            (Shape::Integers { low, high }, Value::Int(n)) => {
                low.as_ref().is_none_or(|low| low <= n) && high.as_ref().is_none_or(|high| n <= high)
            }
            (Shape::Floats(floats), Value::Float(f)) => floats.holds(f.get()),
            (Shape::Finite(values), value) => values.binary_search_by(|known| order::simpler(known, value)).is_ok(),
            (Shape::OneOf(parts), value) => parts.iter().any(|part| part.contains(value)),
            (Shape::Tuple(shapes), Value::Tuple(parts)) => {
                shapes.len() == parts.len() && shapes.iter().zip(parts).all(|(shape, part)| shape.contains(part))
            }
            (Shape::Many { kind: Kind::List, of, size, unique }, Value::List(parts)) => {
                size.holds(parts.len()) && (!unique || are_distinct(parts.iter())) && parts.iter().all(|part| of.contains(part))
            }
            (Shape::Many { kind: Kind::Set, of, size, .. }, Value::Set(parts))
            | (Shape::Many { kind: Kind::FrozenSet, of, size, .. }, Value::FrozenSet(parts)) => {
                size.holds(parts.len()) && are_distinct(parts.iter()) && parts.iter().all(|part| of.contains(part))
            }
            (Shape::Text { alphabet, size }, Value::Text(text)) => {
                let known =
                    |c: char| alphabet.as_ref().is_none_or(|a| a.binary_search_by_key(&order::rank(c), |k| order::rank(*k)).is_ok());
                size.holds(text.chars().count()) && text.chars().all(known)
            }
            (Shape::Bytes(size), Value::Bytes(bytes)) => size.holds(bytes.len()),
            (Shape::Map { key, value, size }, Value::Map(pairs)) => {
                size.holds(pairs.len())
                    && are_distinct(pairs.iter().map(|(key, _)| key))
                    && pairs.iter().all(|(k, v)| key.contains(k) && value.contains(v))
            }
            _ => false,
        }
    }
}

impl Floats {
    /// Whether a number is allowed.
    pub(super) fn holds(self, f: f64) -> bool {
        if f.is_nan() {
            return self.nan;
        }
        // An end of zero has a sign, as in Python: -0.0 is below 0.0.
        let low = if self.without[0] { self.low < f } else { self.low.total_cmp(&f).is_le() };
        let high = if self.without[1] { f < self.high } else { f.total_cmp(&self.high).is_le() };
        low && high && (self.infinity || f.is_finite()) && (self.subnormal || !f.is_subnormal())
    }

    /// The number nearest to zero that is allowed.
    pub(super) fn simplest(self) -> f64 {
        let near = [0.0, -0.0, 1.0, -1.0, self.low.ceil(), self.high.floor(), self.low, self.high];
        let beside = [self.low.next_up(), self.high.next_down(), f64::MAX, f64::MIN];
        let of = |f: &f64| Value::Float(Float::new(*f));
        let allowed = near.into_iter().chain(beside).filter(|f| self.holds(*f));
        allowed.min_by(|a, b| order::simpler(&of(a), &of(b))).unwrap_or(f64::NAN)
    }
}

/// Whether all values differ, as the languages tell it: `1`, `1.0` and `True` are one key.
fn are_distinct<'v>(values: impl Iterator<Item = &'v Value>) -> bool {
    let mut seen = BTreeSet::new();
    let mut values = values;
    values.all(|value| seen.insert(same(value)))
}

/// One value for all that are equal as keys.
pub(super) fn same(value: &Value) -> Value {
    match value {
        Value::Bool(b) => Value::int(u8::from(*b)),
        Value::Float(f) if f.get().fract() == 0.0 => BigInt::from_f64(f.get()).map_or_else(|| value.clone(), Value::Int),
        Value::Tuple(parts) => Value::Tuple(parts.iter().map(same).collect()),
        Value::List(parts) => Value::List(parts.iter().map(same).collect()),
        Value::Set(parts) | Value::FrozenSet(parts) => Value::set(parts.iter().map(same).collect()),
        other => other.clone(),
    }
}
