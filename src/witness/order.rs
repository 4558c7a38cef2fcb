//! Owns which of two values is simpler: fewer parts first, then part by part. Every step of shrinking goes down in this order.

use std::cmp::Ordering;

use num_traits::Signed as _;

use crate::witness::value::Value;

/// The order of two values: smaller ones first, then by kind and content.
pub(super) fn simpler(a: &Value, b: &Value) -> Ordering {
    weight(a).cmp(&weight(b)).then_with(|| content(a, b))
}

/// How many parts a value has, itself included.
pub(super) fn weight(value: &Value) -> usize {
    match value {
        Value::Null | Value::Bool(_) | Value::Int(_) | Value::Float(_) => 1,
        Value::Text(text) => 1 + text.chars().count(),
        Value::Bytes(bytes) => 1 + bytes.len(),
        Value::List(parts) | Value::Tuple(parts) | Value::Set(parts) | Value::FrozenSet(parts) => {
            1 + parts.iter().map(weight).sum::<usize>()
        }
        Value::Map(pairs) => 1 + pairs.iter().map(|(key, value)| 1 + weight(key) + weight(value)).sum::<usize>(),
    }
}

fn content(a: &Value, b: &Value) -> Ordering {
    match (a, b) {
        (Value::Bool(a), Value::Bool(b)) => a.cmp(b),
        (Value::Int(a), Value::Int(b)) => (a.abs(), a.is_negative()).cmp(&(b.abs(), b.is_negative())),
        (Value::Float(a), Value::Float(b)) => float(a.get(), b.get()),
        (Value::Text(a), Value::Text(b)) => {
            a.chars().count().cmp(&b.chars().count()).then_with(|| a.chars().map(rank).cmp(b.chars().map(rank)))
        }
        (Value::Bytes(a), Value::Bytes(b)) => (a.len(), a).cmp(&(b.len(), b)),
        (Value::List(a), Value::List(b))
        | (Value::Tuple(a), Value::Tuple(b))
        | (Value::Set(a), Value::Set(b))
        | (Value::FrozenSet(a), Value::FrozenSet(b)) => a.len().cmp(&b.len()).then_with(|| each(a.iter(), b.iter())),
        (Value::Map(a), Value::Map(b)) => {
            let flat = |pairs: &'_ [(Value, Value)]| pairs.iter().flat_map(|(key, value)| [key.clone(), value.clone()]).collect::<Vec<_>>();
            a.len().cmp(&b.len()).then_with(|| each(flat(a).iter(), flat(b).iter()))
        }
        _ => kind(a).cmp(&kind(b)),
    }
}

fn each<'v>(a: impl Iterator<Item = &'v Value>, b: impl Iterator<Item = &'v Value>) -> Ordering {
    a.zip(b).map(|(a, b)| content(a, b)).find(|order| order.is_ne()).unwrap_or(Ordering::Equal)
}

fn kind(value: &Value) -> u8 {
    match value {
        Value::Null => 0,
        Value::Bool(_) => 1,
        Value::Int(_) => 2,
        Value::Float(_) => 3,
        Value::Text(_) => 4,
        Value::Bytes(_) => 5,
        Value::List(_) => 6,
        Value::Tuple(_) => 7,
        Value::Set(_) => 8,
        Value::FrozenSet(_) => 9,
        Value::Map(_) => 10,
    }
}

/// Finite before infinite before NaN, whole before broken, then by magnitude, positive first.
fn float(a: f64, b: f64) -> Ordering {
    let key = |f: f64| (u8::from(f.is_infinite()) + 2 * u8::from(f.is_nan()), f.is_finite() && f.fract() != 0.0);
    key(a).cmp(&key(b)).then_with(|| a.abs().total_cmp(&b.abs())).then_with(|| a.is_sign_negative().cmp(&b.is_sign_negative()))
}

/// The place of a character in the order of simplicity: digits, capitals, small letters, then all others by code point.
pub(super) fn rank(c: char) -> u32 {
    let code = u32::from(c);
    match c {
        '0'..='9' => code - u32::from('0'),
        'A'..='Z' => 10 + code - u32::from('A'),
        'a'..='z' => 36 + code - u32::from('a'),
        _ => 62 + code,
    }
}

/// The character of a place; `None` when there is none.
pub(super) fn ranked(rank: u32) -> Option<char> {
    match rank {
        0..=9 => char::from_u32(u32::from('0') + rank),
        10..=35 => char::from_u32(u32::from('A') + rank - 10),
        36..=61 => char::from_u32(u32::from('a') + rank - 36),
        _ => char::from_u32(rank - 62),
    }
}

#[cfg(test)]
mod tests {
    use super::{rank, ranked, simpler};
    use crate::witness::value::Input;

    #[test]
    fn values_are_listed_from_the_simplest() {
        let texts = [
            "null",
            "false",
            "true",
            "0",
            "1",
            "-1",
            "2",
            "0.0",
            "-0.0",
            "1.0",
            "0.5",
            r#"{"$float":"inf"}"#,
            r#"{"$float":"nan"}"#,
            r#""""#,
            "[]",
            r#"{"$tuple":[]}"#,
            r#""0""#,
            r#""A""#,
            r#""a""#,
            r#"" ""#,
            r#"{"$bytes":"00"}"#,
            "[null]",
            "[0]",
            "[[0]]",
            "[0,0]",
            "[0,1]",
            "[1,0]",
            "[0,0,0]",
            r#"{"0":0}"#,
            r#"{"a":[0]}"#,
        ];
        let values: Vec<_> = texts.iter().map(|t| Input::from_json(format!("{{\"x\":{t}}}").as_bytes()).unwrap().0["x"].clone()).collect();
        for (at, two) in values.windows(2).enumerate() {
            assert!(simpler(&two[0], &two[1]).is_lt(), "{} {}", texts[at], texts[at + 1]);
        }
    }

    #[test]
    fn ranks_of_characters_are_read_back() {
        for c in "09AZaz \n~é\u{10ffff}".chars() {
            assert_eq!(ranked(rank(c)), Some(c));
        }
    }
}
