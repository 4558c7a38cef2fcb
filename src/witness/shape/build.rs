//! Owns the way from a strategy to its shape. What literals do not give is named, and so is what has no value at all.

use std::collections::{BTreeMap, BTreeSet};

use num_traits::Zero as _;

use crate::strength::domain::Strategy;
use crate::witness::literal;
use crate::witness::order;
use crate::witness::shape::{Floats, Kind, Shape, Size};
use crate::witness::value::{MAX_DEPTH, Value};

/// Parts that the smallest value of a shape may have.
const LEAST: usize = 1 << 16;

/// Texts of the alphabets that Python's `string` module names.
const ALPHABETS: [(&str, &str); 6] = [
    ("string.ascii_lowercase", "abcdefghijklmnopqrstuvwxyz"),
    ("string.ascii_uppercase", "ABCDEFGHIJKLMNOPQRSTUVWXYZ"),
    ("string.ascii_letters", "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"),
    ("string.digits", "0123456789"),
    ("string.hexdigits", "0123456789abcdefABCDEF"),
    ("string.octdigits", "01234567"),
];

impl Shape {
    /// The shape of a strategy; `Ok(None)` when it has no values.
    ///
    /// # Errors
    /// What cannot be drawn, in words.
    pub(super) fn empty_or(strategy: &Strategy, depth: usize) -> Result<Option<Shape>, String> {
        if depth >= MAX_DEPTH - 1 {
            return Err(format!("strategies nest deeper than {} levels", MAX_DEPTH - 2));
        }
        match strategy {
            Strategy::Integers { low: Some(low), high: Some(high) } if low > high => Err(format!("inverted bound {low}..{high}")),
            Strategy::Integers { low, high } => Ok(Some(Shape::Integers { low: low.clone(), high: high.clone() })),
            Strategy::Floats { low, high, rest } => floats(low.as_deref(), high.as_deref(), rest).map(|f| f.map(Shape::Floats)),
            Strategy::Finite(keys) => finite(keys),
            Strategy::OneOf(parts) => {
                let mut parts = all(parts, depth)?.into_iter().flatten().collect::<Vec<_>>();
                Ok(if parts.len() > 1 { Some(Shape::OneOf(parts)) } else { parts.pop() })
            }
            Strategy::Tuples(parts) => Ok(all(parts, depth)?.into_iter().collect::<Option<Vec<_>>>().map(Shape::Tuple)),
            Strategy::Many { what, of, min, max, rest } => many(what, &all(of, depth)?, sizes(*min, *max)?, rest),
            Strategy::Value(_) | Strategy::Call { .. } | Strategy::Mapped { .. } | Strategy::Named(_) | Strategy::Opaque(_) => {
                Err(format!("literals do not give `{}`", short(&strategy.to_string())))
            }
        }
    }

    /// The shape of a strategy.
    ///
    /// # Errors
    /// What cannot be drawn, in words.
    pub(in crate::witness) fn of(strategy: &Strategy) -> Result<Shape, String> {
        let shape = Shape::empty_or(strategy, 0)?.ok_or("the domain has no value")?;
        let least = shape.least();
        if least > LEAST { Err(format!("its smallest value has {least} parts, more than the {LEAST} that are drawn")) } else { Ok(shape) }
    }

    /// Parts of the smallest value, counted without making it.
    fn least(&self) -> usize {
        let times = |size: &Size, part: usize| size.min.saturating_mul(part).saturating_add(1);
        match self {
            Shape::Integers { .. } | Shape::Floats(_) => 1,
            Shape::Finite(values) => values.iter().map(order::weight).min().unwrap_or(1),
            Shape::OneOf(parts) => parts.iter().map(Shape::least).min().unwrap_or(1),
            Shape::Tuple(parts) => parts.iter().map(Shape::least).fold(1, usize::saturating_add),
            Shape::Many { of, size, .. } => times(size, of.least()),
            Shape::Text { size, .. } | Shape::Bytes(size) => times(size, 1),
            Shape::Map { key, value, size } => times(size, key.least().saturating_add(value.least())),
        }
    }
}

fn all(parts: &[Strategy], depth: usize) -> Result<Vec<Option<Shape>>, String> {
    parts.iter().map(|part| Shape::empty_or(part, depth + 1)).collect()
}

fn sizes(min: u64, max: Option<u64>) -> Result<Size, String> {
    let max = max.map(|max| usize::try_from(max).unwrap_or(usize::MAX));
    let size = Size { min: usize::try_from(min).unwrap_or(usize::MAX), max };
    if max.is_some_and(|max| max < size.min) { Err(format!("inverted size {}..{}", min, max.unwrap_or(0))) } else { Ok(size) }
}

fn finite(keys: &BTreeSet<String>) -> Result<Option<Shape>, String> {
    let read = |key: &String| literal::value(key).ok_or_else(|| format!("`{}` is no literal", short(key)));
    let mut values = keys.iter().map(read).collect::<Result<Vec<Value>, String>>()?;
    values.sort_by(order::simpler);
    values.dedup();
    Ok((!values.is_empty()).then_some(Shape::Finite(values)))
}

fn many(what: &str, of: &[Option<Shape>], mut size: Size, rest: &BTreeMap<String, String>) -> Result<Option<Shape>, String> {
    let mut unique = matches!(what, "sets" | "frozensets" | "dictionaries");
    let mut alphabet = None;
    for (name, text) in rest {
        match (what, name.as_str(), text.as_str()) {
            ("lists", "unique", "True") => unique = true,
            ("text", "alphabet", text) => alphabet = Some(characters(text)?),
            _ => return Err(format!("literals do not give `{name}={}`", short(text))),
        }
    }
    if let (Some(alphabet), "text") = (alphabet.as_ref(), what)
        && alphabet.is_empty()
    {
        return Ok((size.min == 0).then_some(Shape::Text { alphabet: None, size: Size { min: 0, max: Some(0) } }));
    }
    let holds = |part: &Option<Shape>| part.is_some();
    if !of.iter().all(holds) {
        // Without any part there is only the empty collection.
        size.max = Some(0);
        let any = Shape::Finite(vec![Value::Null]);
        return Ok((size.min == 0).then(|| collection(what, &[any.clone(), any], size, unique)).flatten());
    }
    let parts: Vec<Shape> = of.iter().flatten().cloned().collect();
    if size.min > LEAST {
        return Err(format!("its smallest value has {} parts, more than the {LEAST} that are drawn", size.min));
    }
    if unique && parts.first().is_some_and(|part| part.distinct(size.min).len() < size.min) {
        return Ok(None);
    }
    match what {
        "text" => Ok(Some(Shape::Text { alphabet, size })),
        "binary" => Ok(Some(Shape::Bytes(size))),
        _ => collection(what, &parts, size, unique).map(Some).ok_or_else(|| format!("values of `{}` cannot be written down", short(what))),
    }
}

fn collection(what: &str, parts: &[Shape], size: Size, unique: bool) -> Option<Shape> {
    let of = Box::new(parts.first()?.clone());
    let kind = match what {
        "lists" => Kind::List,
        "sets" => Kind::Set,
        "frozensets" => Kind::FrozenSet,
        "dictionaries" => return Some(Shape::Map { key: of, value: Box::new(parts.get(1)?.clone()), size }),
        _ => return None,
    };
    Some(Shape::Many { kind, of, size, unique })
}

/// The characters of an alphabet, simplest first.
fn characters(text: &str) -> Result<Vec<char>, String> {
    let known = ALPHABETS.iter().find(|(name, _)| *name == text).map(|(_, characters)| Value::Text((*characters).to_owned()));
    let single = |value: &Value| match value {
        Value::Text(one) if one.chars().count() == 1 => one.chars().next(),
        _ => None,
    };
    let listed: Option<Vec<char>> = match known.or_else(|| literal::value(text)) {
        Some(Value::Text(characters)) => Some(characters.chars().collect()),
        Some(Value::List(parts) | Value::Tuple(parts) | Value::Set(parts)) => parts.iter().map(single).collect(),
        _ => None,
    };
    let mut characters = listed.ok_or_else(|| format!("literals do not give `alphabet={}`", short(text)))?;
    characters.sort_by_key(|c| order::rank(*c));
    characters.dedup();
    Ok(characters)
}

fn floats(low: Option<&str>, high: Option<&str>, rest: &BTreeMap<String, String>) -> Result<Option<Floats>, String> {
    let end =
        |text: Option<&str>, open: f64| text.map_or(Ok(open), |t| t.parse::<f64>().map_err(|_| format!("`{}` is no number", short(t))));
    let mut floats = Floats {
        low: end(low, f64::NEG_INFINITY)?,
        high: end(high, f64::INFINITY)?,
        nan: low.is_none() && high.is_none(),
        infinity: low.is_none() || high.is_none(),
        subnormal: true,
        without: [false; 2],
    };
    for (name, text) in rest {
        let said = match text.as_str() {
            "True" => true,
            "False" => false,
            _ => return Err(format!("literals do not give `{name}={}`", short(text))),
        };
        match name.as_str() {
            "allow_nan" => floats.nan = said,
            "allow_infinity" => floats.infinity = said,
            "allow_subnormal" => floats.subnormal = said,
            "exclude_min" => floats.without[0] = said,
            "exclude_max" => floats.without[1] = said,
            _ => return Err(format!("numbers with `{name}` are not drawn")),
        }
    }
    if floats.low > floats.high || floats.low.is_nan() || floats.high.is_nan() {
        return Err(format!("inverted bound {}..{}", floats.low, floats.high));
    }
    if floats.high.is_zero() && floats.low.is_zero() && floats.without.contains(&true) {
        return Ok(None);
    }
    Ok((floats.holds(floats.simplest()) || floats.nan).then_some(floats))
}

fn short(text: &str) -> String {
    if text.chars().count() <= 100 { text.to_owned() } else { text.chars().take(97).chain("...".chars()).collect() }
}
