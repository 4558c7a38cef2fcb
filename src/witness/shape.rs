//! Owns shapes: what a strategy's values look like, made ready to draw, enumerate, recognise and simplify.

mod build;
mod draw;
mod listing;
mod member;

use num_bigint::BigInt;

pub(super) use crate::witness::shape::draw::Budget;

use crate::witness::order;
use crate::witness::value::{Float, Value};

/// What values of one strategy look like. No shape is empty.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Shape {
    /// Whole numbers; an open end is `None`.
    Integers { low: Option<BigInt>, high: Option<BigInt> },
    /// Binary64 numbers.
    Floats(Floats),
    /// Listed values, simplest first.
    Finite(Vec<Value>),
    /// One of several.
    OneOf(Vec<Shape>),
    /// A fixed number of parts.
    Tuple(Vec<Shape>),
    /// Any number of parts.
    Many { kind: Kind, of: Box<Shape>, size: Size, unique: bool },
    /// Text over an alphabet, simplest character first; `None` is every character.
    Text { alphabet: Option<Vec<char>>, size: Size },
    /// Bytes.
    Bytes(Size),
    /// Keys, each once, with values.
    Map { key: Box<Shape>, value: Box<Shape>, size: Size },
}

/// What holds the parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    List,
    Set,
    FrozenSet,
}

/// How many parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Size {
    pub(super) min: usize,
    /// `None` is open.
    pub(super) max: Option<usize>,
}

impl Size {
    fn holds(self, count: usize) -> bool {
        count >= self.min && self.max.is_none_or(|max| count <= max)
    }
}

/// What binary64 numbers are allowed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Floats {
    pub(super) low: f64,
    pub(super) high: f64,
    pub(super) nan: bool,
    pub(super) infinity: bool,
    pub(super) subnormal: bool,
    /// Ends that are left out.
    pub(super) without: [bool; 2],
}

impl Kind {
    pub(super) fn value(self, parts: Vec<Value>) -> Value {
        match self {
            Kind::List => Value::List(parts),
            Kind::Set => Value::set(parts),
            Kind::FrozenSet => Value::frozen_set(parts),
        }
    }
}

impl Shape {
    /// Simplest value.
    pub(super) fn simplest(&self) -> Value {
        match self {
            Shape::Integers { low, high } => Value::Int(nearest(low.as_ref(), high.as_ref())),
            Shape::Floats(floats) => Value::Float(Float::new(floats.simplest())),
            Shape::Finite(values) => values.first().cloned().unwrap_or(Value::Null),
            Shape::OneOf(parts) => parts.iter().map(Shape::simplest).min_by(order::simpler).unwrap_or(Value::Null),
            Shape::Tuple(parts) => Value::Tuple(parts.iter().map(Shape::simplest).collect()),
            Shape::Text { alphabet, size } => {
                let first = alphabet.as_ref().and_then(|alphabet| alphabet.first()).copied().unwrap_or('0');
                Value::Text(std::iter::repeat_n(first, size.min).collect())
            }
            Shape::Bytes(size) => Value::Bytes(vec![0; size.min]),
            Shape::Many { kind, of, size, unique: false } => kind.value(vec![of.simplest(); size.min]),
            Shape::Many { kind, of, size, unique: true } => kind.value(of.distinct(size.min)),
            Shape::Map { key, value, size } => Value::Map(key.distinct(size.min).into_iter().map(|key| (key, value.simplest())).collect()),
        }
    }
}

/// The number of an interval that is nearest to zero.
pub(super) fn nearest(low: Option<&BigInt>, high: Option<&BigInt>) -> BigInt {
    let zero = BigInt::ZERO;
    match (low, high) {
        (Some(low), _) if *low > zero => low.clone(),
        (_, Some(high)) if *high < zero => high.clone(),
        _ => zero,
    }
}
