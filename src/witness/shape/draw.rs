//! Owns drawing: how chance becomes a value of a shape. Nothing here may change: recorded seeds mean what they meant.

use std::collections::HashSet;

use num_bigint::{BigInt, BigUint};

use crate::witness::order;
use crate::witness::shape::member::same;
use crate::witness::shape::{Floats, Shape, Size, nearest};
use crate::witness::stream::Stream;
use crate::witness::value::{Float, Value};

/// Bits of numbers without end, each as likely.
const WIDTHS: [u64; 5] = [8, 16, 32, 64, 128];
/// Attempts at a part that is not there yet: for one that must be found, and for one that may be left out.
const ATTEMPTS: [usize; 2] = [100, 5];
/// Numbers at which floating point is most often wrong.
const FLOATS: [f64; 12] =
    [0.0, -0.0, 1.0, -1.0, 0.5, 1.1, 1e-300, 9_007_199_254_740_992.0, f64::MAX, f64::MIN_POSITIVE, f64::INFINITY, f64::NEG_INFINITY];

/// What one input may still cost; once it is spent, collections are as short as they may be.
pub(in crate::witness) struct Budget(pub(in crate::witness) usize);

impl Shape {
    /// One value.
    pub(in crate::witness) fn draw(&self, stream: &mut Stream, budget: &mut Budget) -> Value {
        budget.0 = budget.0.saturating_sub(1);
        match self {
            Shape::Integers { low, high } => Value::Int(integer(low.as_ref(), high.as_ref(), stream)),
            Shape::Floats(floats) => Value::Float(Float::new(float(*floats, stream))),
            Shape::Finite(values) => pick(values, stream).cloned().unwrap_or(Value::Null),
            Shape::OneOf(parts) => pick(parts, stream).map_or(Value::Null, |part| part.draw(stream, budget)),
            Shape::Tuple(parts) => Value::Tuple(parts.iter().map(|part| part.draw(stream, budget)).collect()),
            Shape::Many { kind, of, size, unique: false } => {
                let count = count(*size, stream, budget);
                let mut parts: Vec<Value> = Vec::with_capacity(count);
                for at in 0..count {
                    let again = at > 0 && stream.once_in(16);
                    let part = if again { pick(&parts, stream).cloned() } else { None };
                    parts.push(part.unwrap_or_else(|| of.draw(stream, budget)));
                }
                kind.value(parts)
            }
            Shape::Many { kind, of, size, unique: true } => kind.value(different(of, *size, stream, budget)),
            Shape::Text { alphabet, size } => {
                let count = count(*size, stream, budget);
                Value::Text((0..count).map(|_| character(alphabet.as_deref(), stream)).collect())
            }
            Shape::Bytes(size) => {
                let count = count(*size, stream, budget);
                Value::Bytes((0..count).map(|_| u8::try_from(stream.below(256)).unwrap_or(0)).collect())
            }
            Shape::Map { key, value, size } => {
                let keys = different(key, *size, stream, budget);
                Value::Map(keys.into_iter().map(|key| (key, value.draw(stream, budget))).collect())
            }
        }
    }
}

fn pick<'v, T>(of: &'v [T], stream: &mut Stream) -> Option<&'v T> {
    of.get(usize::try_from(stream.below(of.len() as u64)).unwrap_or(0))
}

/// How many parts: once in 8 as few, once in 16 as many as there may be (up to 64 more); else one more while chance says so, about five on average.
fn count(size: Size, stream: &mut Stream, budget: &mut Budget) -> usize {
    let most = size.max.unwrap_or(usize::MAX).min(size.min.saturating_add(budget.0));
    let count = match stream.below(16) {
        0 | 1 => size.min,
        2 if size.max.is_some_and(|max| max - size.min <= 64) => most,
        _ => {
            let spread = (most - size.min).min(64) as u64;
            let mean = (size.min as u64).max(5).min(spread.div_ceil(2)).max(1);
            let mut count = size.min;
            while count < most && !stream.once_in(mean + 1) {
                count += 1;
            }
            count
        }
    };
    budget.0 = budget.0.saturating_sub(count);
    count
}

/// Parts that all differ. What chance does not find is taken from the enumeration, as far as the least number asks for it.
fn different(of: &Shape, size: Size, stream: &mut Stream, budget: &mut Budget) -> Vec<Value> {
    let count = count(size, stream, budget);
    let (mut seen, mut parts) = (HashSet::new(), Vec::with_capacity(count));
    for at in 0..count {
        let attempts = ATTEMPTS[usize::from(at >= size.min)];
        let found = (0..attempts).map(|_| of.draw(stream, budget)).find(|part| seen.insert(same(part)));
        parts.extend(found);
    }
    if parts.len() < size.min {
        let missing = size.min - parts.len();
        let spare = of.distinct(size.min.saturating_mul(2)).into_iter().filter(|part| seen.insert(same(part)));
        parts.extend(spare.take(missing));
    }
    parts
}

/// Of 8: once an end or what is beside it, three times near what is nearest to zero, four times anywhere.
fn integer(low: Option<&BigInt>, high: Option<&BigInt>, stream: &mut Stream) -> BigInt {
    let holds = |n: &BigInt| low.is_none_or(|low| low <= n) && high.is_none_or(|high| n <= high);
    let near = nearest(low, high);
    let span = match (low, high) {
        (Some(low), Some(high)) => (high - low).to_biguint(),
        _ => None,
    };
    match stream.below(8) {
        0 => {
            let ends = [
                low.cloned(),
                high.cloned(),
                low.map(|n| n + 1),
                high.map(|n| n - 1),
                Some(near.clone()),
                Some(&near + 1),
                Some(&near - 1),
            ];
            let ends: Vec<BigInt> = ends.into_iter().flatten().filter(holds).collect();
            pick(&ends, stream).cloned().unwrap_or(near)
        }
        1..=3 => {
            let widest = span.as_ref().map_or(64, BigUint::bits);
            let width = stream.below(widest.min(64) + 1);
            let away = BigInt::from(stream.magnitude(width));
            let down = stream.once_in(2);
            let (one, other) = if down { (&near - &away, &near + &away) } else { (&near + &away, &near - &away) };
            if holds(&one) {
                one
            } else if holds(&other) {
                other
            } else {
                near
            }
        }
        _ => anywhere(low, high, stream),
    }
}

/// Between two ends each number is as likely; without one, each of a few widths, counted from the other.
fn anywhere(low: Option<&BigInt>, high: Option<&BigInt>, stream: &mut Stream) -> BigInt {
    if let (Some(low), Some(high)) = (low, high) {
        let count = (high - low + 1u8).to_biguint().unwrap_or_default();
        return low + BigInt::from(stream.below_big(&count));
    }
    let width = pick(&WIDTHS, stream).copied().unwrap_or(64);
    let away = BigInt::from(stream.magnitude(width));
    match (low, high) {
        (Some(low), _) => low + away,
        (_, Some(high)) => high - away,
        _ if stream.once_in(2) => -away,
        _ => away,
    }
}

/// Of 8: once a number at which things go wrong, three times a whole number, twice any bits, else anywhere between the ends.
fn float(floats: Floats, stream: &mut Stream) -> f64 {
    let simplest = floats.simplest();
    for _ in 0..8 {
        let drawn = match stream.below(8) {
            0 => {
                let ends =
                    [floats.low, floats.high, floats.low.next_up(), floats.high.next_down(), if floats.nan { f64::NAN } else { simplest }];
                let all: Vec<f64> = FLOATS.into_iter().chain(ends).filter(|f| floats.holds(*f)).collect();
                pick(&all, stream).copied().unwrap_or(simplest)
            }
            1..=3 => {
                let width = stream.below(33);
                #[expect(clippy::cast_precision_loss, reason = "32 bits are exact")]
                let whole = stream.below(1 << width) as f64;
                if stream.once_in(2) { simplest.trunc() - whole } else { simplest.trunc() + whole }
            }
            4 | 5 => f64::from_bits(stream.bits()),
            _ => {
                let (low, high) = (floats.low.max(-1e6), floats.high.min(1e6));
                #[expect(clippy::cast_precision_loss, reason = "53 bits are exact")]
                let part = (stream.bits() >> 11) as f64 / (1_u64 << 53) as f64;
                low + (high - low) * part
            }
        };
        if floats.holds(drawn) {
            return drawn;
        }
    }
    simplest
}

/// Without an alphabet: of 8, four times printable ASCII, twice a digit or letter, once any character below 256, once any at all.
fn character(alphabet: Option<&[char]>, stream: &mut Stream) -> char {
    let at = |stream: &mut Stream, first: u32, end: u32| {
        char::from_u32(first + u32::try_from(stream.below(u64::from(end - first))).unwrap_or(0))
    };
    let drawn = match alphabet {
        Some(alphabet) => pick(alphabet, stream).copied(),
        None => match stream.below(8) {
            0..=3 => at(stream, 0x20, 0x7f),
            4 | 5 => order::ranked(u32::try_from(stream.below(62)).unwrap_or(0)),
            6 => at(stream, 0, 0x100),
            // Surrogates are no characters: what would be one is the replacement character.
            _ => Some(at(stream, 0, 0x11_0000).unwrap_or('\u{fffd}')),
        },
    };
    drawn.unwrap_or('0')
}
