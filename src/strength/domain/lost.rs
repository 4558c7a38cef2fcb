//! Owns one concrete input that a base's domain admits and a patch's does not.

use std::collections::BTreeMap;

use num_bigint::BigInt;

use crate::strength::domain::Strategy;
use crate::strength::domain::compare::narrowing;
use crate::strength::domain::strategy::{decimal, holds};

/// Strategies inside one another deeper than this give no input.
const DEPTH: u32 = 12;
/// More elements than this are told by one of them and their number.
const SHOWN: usize = 6;
/// More distinct elements than this are not made.
const DISTINCT: usize = 24;

/// A value as Python writes it.
#[derive(Clone, Debug, PartialEq)]
enum Value {
    Int(BigInt),
    Float(f64),
    Text(String),
    Bytes(usize),
    /// Any other constant, as it is written.
    Written(String),
    /// A list, set or the like, by the word for it.
    Many(String, Vec<Value>),
    Pairs(Vec<(Value, Value)>),
    Tuple(Vec<Value>),
}

/// An input that the base admits and the patch does not, as Python writes it; `None` where none is known for certain.
pub(super) fn input(base: &Strategy, patch: &Strategy) -> Option<String> {
    lost(base, patch, DEPTH).map(|value| value.told())
}

fn lost(base: &Strategy, patch: &Strategy, depth: u32) -> Option<Value> {
    let depth = depth.checked_sub(1)?;
    let narrower = |base: &Strategy, patch: &Strategy| narrowing(base, patch).and_then(|_| lost(base, patch, depth));
    if let Strategy::OneOf(parts) = base {
        return parts.iter().find_map(|part| narrower(part, patch));
    }
    let is_lost = |value: &Value| admits(patch, value, depth) == Some(false);
    match (base, patch) {
        (Strategy::Integers { low, high }, _) => {
            let ends = (low.clone(), high.clone());
            let near = edges(patch, depth).into_iter().filter(|n| holds(&ends, n));
            near.chain(low.clone()).chain(high.clone()).chain(smallest(base, depth).and_then(Value::whole)).map(Value::Int).find(is_lost)
        }
        (Strategy::Finite(keys), _) => keys.iter().map(|key| constant(key)).find(is_lost),
        (Strategy::Floats { .. }, _) => floats(base, patch).into_iter().find(is_lost),
        (Strategy::Tuples(parts), Strategy::Tuples(kept)) if parts.len() == kept.len() => {
            let at = (0..parts.len()).find(|at| narrowing(&parts[*at], &kept[*at]).is_some())?;
            let one = |place: usize| if place == at { lost(&parts[at], &kept[at], depth) } else { smallest(&parts[place], depth) };
            (0..parts.len()).map(one).collect::<Option<Vec<_>>>().map(Value::Tuple).filter(is_lost)
        }
        (Strategy::Many { min, max, .. }, _) => {
            let sizes = sizes(patch, depth).into_iter().chain([*min]).filter(|n| n >= min && max.is_none_or(|max| *n <= max));
            let by_size = sizes.filter_map(|size| filled(base, size, None, depth)).find(is_lost);
            by_size.or_else(|| of_elements(base, patch, depth).filter(is_lost))
        }
        _ => smallest(base, depth).filter(is_lost),
    }
}

/// Numbers beside the ends of what the patch admits.
fn edges(patch: &Strategy, depth: u32) -> Vec<BigInt> {
    let Some(depth) = depth.checked_sub(1) else { return Vec::new() };
    match patch {
        Strategy::Integers { low, high } => high.iter().map(|n| n + 1).chain(low.iter().map(|n| n - 1)).collect(),
        Strategy::Finite(keys) => {
            let known: Vec<BigInt> = keys.iter().filter_map(|key| key.parse().ok()).collect();
            known
                .iter()
                .max()
                .map(|n| n + 1)
                .into_iter()
                .chain(known.iter().min().map(|n| n - 1))
                .chain(known.iter().map(|n| n + 1))
                .collect()
        }
        Strategy::OneOf(parts) => parts.iter().flat_map(|part| edges(part, depth)).collect(),
        _ => Vec::new(),
    }
}

/// Sizes beside the ends of what the patch admits.
fn sizes(patch: &Strategy, depth: u32) -> Vec<u64> {
    let Some(depth) = depth.checked_sub(1) else { return Vec::new() };
    match patch {
        Strategy::Many { min, max, .. } => max.iter().map(|n| n.saturating_add(1)).chain(min.checked_sub(1)).collect(),
        Strategy::OneOf(parts) => parts.iter().flat_map(|part| sizes(part, depth)).collect(),
        _ => Vec::new(),
    }
}

fn floats(base: &Strategy, patch: &Strategy) -> Vec<Value> {
    let (Strategy::Floats { low, high, rest }, Strategy::Floats { low: new_low, high: new_high, rest: new_rest }) = (base, patch) else {
        return smallest(base, 1).into_iter().collect();
    };
    let number = |text: &Option<String>| text.as_ref().and_then(|text| text.parse::<f64>().ok());
    let (low, high) = (number(low), number(high));
    let within = |n: &f64| low.is_none_or(|low| *n >= low) && high.is_none_or(|high| *n <= high);
    let near = [number(new_low).map(|n| n - 1.0), number(new_high).map(|n| n + 1.0), low, high];
    let ends = near.into_iter().flatten().filter(within).map(Value::Float);
    let off = |key: &str| new_rest.get(key).is_some_and(|value| value == "False") && !rest.contains_key(key);
    let open = low.is_none() && high.is_none();
    let special = [("allow_nan", f64::NAN), ("allow_infinity", f64::INFINITY)];
    ends.chain(special.into_iter().filter(|(key, _)| open && off(key)).map(|(_, value)| Value::Float(value))).collect()
}

/// A collection with an element that the patch's does not hold.
fn of_elements(base: &Strategy, patch: &Strategy, depth: u32) -> Option<Value> {
    let (Strategy::Many { of, min, rest, .. }, Strategy::Many { of: kept, min: least, rest: now, .. }) = (base, patch) else { return None };
    let size = (*min).max(*least).max(1);
    if of.is_empty() {
        let letters = |rest: &BTreeMap<String, String>| rest.get("alphabet").and_then(|text| unquoted(text));
        let gone = letters(rest)?.chars().find(|c| letters(now).is_some_and(|now| !now.contains(*c)))?;
        return Some(Value::Text(gone.to_string().repeat(usize::try_from(size).ok()?)));
    }
    let at = (0..of.len().min(kept.len())).find(|at| narrowing(&of[*at], &kept[*at]).is_some())?;
    let element = lost(&of[at], &kept[at], depth.checked_sub(1)?)?;
    filled(base, size, Some(&(at, element)), depth)
}

/// A collection of so many elements, with a given one first.
fn filled(strategy: &Strategy, size: u64, given: Option<&(usize, Value)>, depth: u32) -> Option<Value> {
    let (depth, size) = (depth.checked_sub(1)?, usize::try_from(size).ok().filter(|size| *size <= 100_000)?);
    let Strategy::Many { what, of, rest, .. } = strategy else { return None };
    let is_plain = rest.keys().all(|key| key == "alphabet");
    let elements = |at: usize, distinct: bool| -> Option<Vec<Value>> {
        if size == 0 {
            return Some(Vec::new());
        }
        let given = given.iter().filter(|(place, _)| *place == at).map(|(_, value)| value.clone());
        let mut all: Vec<Value> = given.take(size).collect();
        let made = if distinct {
            several(&of[at], size, depth)?
        } else {
            vec![smallest(&of[at], depth).filter(|_| size > all.len()).map_or_else(|| all.first().cloned(), Some)?; size]
        };
        let fresh: Vec<Value> = made.into_iter().filter(|value| !distinct || !all.contains(value)).take(size - all.len()).collect();
        all.extend(fresh);
        (all.len() == size).then_some(all)
    };
    match (what.as_str(), of.len()) {
        ("text", 0) => {
            let letter = match rest.get("alphabet") {
                Some(alphabet) => unquoted(alphabet)?.chars().next()?,
                None => '0',
            };
            is_plain.then(|| Value::Text(letter.to_string().repeat(size)))
        }
        ("binary", 0) => is_plain.then_some(Value::Bytes(size)),
        ("dictionaries", 2) => {
            is_plain.then_some(()).and_then(|()| Some(Value::Pairs(elements(0, true)?.into_iter().zip(elements(1, false)?).collect())))
        }
        (kind, 1) => {
            is_plain.then(|| elements(0, kind != "lists" && kind != "iterables")).flatten().map(|all| Value::Many(kind.to_owned(), all))
        }
        _ => None,
    }
}

/// The simplest value of a strategy.
fn smallest(strategy: &Strategy, depth: u32) -> Option<Value> {
    several(strategy, 1, depth)?.pop()
}

/// So many different values of a strategy.
fn several(strategy: &Strategy, count: usize, depth: u32) -> Option<Vec<Value>> {
    let depth = depth.checked_sub(1)?;
    if count > DISTINCT {
        return None;
    }
    let all: Vec<Value> = match strategy {
        Strategy::Integers { low, high } => {
            let ends = (low.clone(), high.clone());
            let first = if holds(&ends, &BigInt::ZERO) { BigInt::ZERO } else { low.clone().or_else(|| high.clone())? };
            let step = if holds(&ends, &(&first + 1)) || count == 1 { 1 } else { -1 };
            (0..count).map(|at| &first + BigInt::from(at) * step).filter(|n| holds(&ends, n)).map(Value::Int).collect()
        }
        Strategy::Finite(keys) => keys.iter().take(count).map(|key| constant(key)).collect(),
        Strategy::Floats { low, high, rest } if rest.keys().all(|key| key.starts_with("allow_")) => {
            let number = |text: &Option<String>| text.as_ref().and_then(|text| text.parse::<f64>().ok());
            let (low, high) = (number(low), number(high));
            let first = low.filter(|low| *low > 0.0).or_else(|| high.filter(|high| *high < 0.0)).unwrap_or(0.0);
            (count == 1).then_some(vec![Value::Float(first)])?
        }
        Strategy::Many { min, max, .. } => {
            let sizes = (0..count as u64).map(|at| min + at).filter(|size| max.is_none_or(|max| *size <= max));
            sizes.filter_map(|size| filled(strategy, size, None, depth)).collect()
        }
        Strategy::Tuples(parts) if count == 1 => {
            vec![Value::Tuple(parts.iter().map(|part| smallest(part, depth)).collect::<Option<_>>()?)]
        }
        Strategy::OneOf(parts) => parts.iter().find_map(|part| several(part, count, depth))?,
        _ => return None,
    };
    (all.len() == count).then_some(all)
}

/// Whether all hold: one that does not decides, else one that is not known.
fn all(parts: impl Iterator<Item = Option<bool>>) -> Option<bool> {
    let told: Vec<Option<bool>> = parts.collect();
    if told.contains(&Some(false)) { Some(false) } else { told.iter().all(Option::is_some).then_some(true) }
}

/// Whether a strategy gives a value; `None` where that is not known.
fn admits(strategy: &Strategy, value: &Value, depth: u32) -> Option<bool> {
    let depth = depth.checked_sub(1)?;
    match (strategy, value) {
        (Strategy::OneOf(parts), _) => {
            let told: Vec<Option<bool>> = parts.iter().map(|part| admits(part, value, depth)).collect();
            if told.contains(&Some(true)) { Some(true) } else { told.iter().all(Option::is_some).then_some(false) }
        }
        (Strategy::Finite(keys), value) => Some(keys.contains(&value.told()) || keys.iter().any(|key| constant(key) == *value)),
        (Strategy::Integers { low, high }, Value::Int(n)) => Some(holds(&(low.clone(), high.clone()), n)),
        (Strategy::Floats { low, high, rest }, Value::Float(n)) => {
            let number = |text: &Option<String>| text.as_ref().and_then(|text| text.parse::<f64>().ok());
            let off = |key: &str| rest.get(key).is_some_and(|value| value == "False");
            let is_out = number(low).is_some_and(|low| *n < low) || number(high).is_some_and(|high| *n > high);
            let is_off = (n.is_nan() && off("allow_nan")) || (n.is_infinite() && off("allow_infinity"));
            if is_out || is_off { Some(false) } else { rest.keys().all(|key| key.starts_with("allow_")).then_some(true) }
        }
        (Strategy::Tuples(parts), Value::Tuple(values)) if parts.len() == values.len() => {
            all(parts.iter().zip(values).map(|(part, value)| admits(part, value, depth)))
        }
        (Strategy::Many { what, of, min, max, rest }, value) => {
            let (kind, size) = value.sort()?;
            if kind != what || (size as u64) < *min || max.is_some_and(|max| size as u64 > max) {
                return Some(false);
            }
            let held = match value {
                Value::Many(_, values) => all(values.iter().map(|value| admits(of.first()?, value, depth))),
                Value::Pairs(pairs) => all(pairs.iter().flat_map(|(key, value)| {
                    [of.first().and_then(|of| admits(of, key, depth)), of.get(1).and_then(|of| admits(of, value, depth))]
                })),
                Value::Text(text) => match rest.get("alphabet").map(|alphabet| unquoted(alphabet)) {
                    Some(letters) => letters.map(|letters| text.chars().all(|c| letters.contains(c))),
                    None => Some(true),
                },
                _ => Some(true),
            };
            held.filter(|held| !held || rest.keys().all(|key| key == "alphabet"))
        }
        (Strategy::Integers { .. } | Strategy::Floats { .. } | Strategy::Tuples(_), Value::Written(_)) => None,
        (Strategy::Integers { .. } | Strategy::Floats { .. } | Strategy::Tuples(_), _) => Some(false),
        _ => None,
    }
}

/// A constant by what it is written as.
fn constant(key: &str) -> Value {
    if let Ok(n) = key.parse() {
        return Value::Int(n);
    }
    unquoted(key).map_or_else(|| Value::Written(key.to_owned()), Value::Text)
}

/// The text of a plain string.
fn unquoted(text: &str) -> Option<String> {
    let inside = text.strip_prefix('\'')?.strip_suffix('\'')?;
    (!inside.contains(['\\', '\''])).then(|| inside.to_owned())
}

impl Value {
    fn whole(self) -> Option<BigInt> {
        if let Value::Int(n) = self { Some(n) } else { None }
    }

    /// What makes such a value, and its size.
    fn sort(&self) -> Option<(&str, usize)> {
        match self {
            Value::Text(text) => Some(("text", text.chars().count())),
            Value::Bytes(size) => Some(("binary", *size)),
            Value::Many(kind, values) => Some((kind, values.len())),
            Value::Pairs(pairs) => Some(("dictionaries", pairs.len())),
            Value::Int(_) | Value::Float(_) | Value::Tuple(_) => Some(("", 0)),
            Value::Written(_) => None,
        }
    }

    fn told(&self) -> String {
        let joined = |values: &[Value]| values.iter().map(Value::told).collect::<Vec<_>>().join(", ");
        match self {
            Value::Int(n) => decimal(n),
            Value::Float(n) if n.is_nan() => "nan".to_owned(),
            Value::Float(n) if n.is_infinite() => "inf".to_owned(),
            Value::Float(n) => format!("{n:?}"),
            Value::Text(text) if text.chars().count() > 4 * SHOWN => {
                format!("'{}' * {}", text.chars().next().unwrap_or_default(), text.chars().count())
            }
            Value::Text(text) => format!("'{text}'"),
            Value::Bytes(size) => format!("bytes({size})"),
            Value::Written(text) => text.clone(),
            Value::Many(kind, values) if values.len() > SHOWN && kind == "lists" => {
                let first = values.first().map(Value::told).unwrap_or_default();
                if values.iter().all(|value| *value == values[0]) {
                    return format!("[{first}] * {}", values.len());
                }
                format!("[{first}, …] of {}", values.len())
            }
            Value::Many(kind, values) => match kind.as_str() {
                "sets" | "frozensets" if values.is_empty() => "set()".to_owned(),
                "sets" | "frozensets" => format!("{{{}}}", joined(values)),
                _ => format!("[{}]", joined(values)),
            },
            Value::Pairs(pairs) => {
                let told: Vec<String> = pairs.iter().map(|(key, value)| format!("{}: {}", key.told(), value.told())).collect();
                format!("{{{}}}", told.join(", "))
            }
            Value::Tuple(values) if values.len() == 1 => format!("({},)", joined(values)),
            Value::Tuple(values) => format!("({})", joined(values)),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use num_bigint::BigInt;

    use super::input;
    use crate::strength::domain::Strategy;

    fn integers(low: Option<i32>, high: Option<i32>) -> Strategy {
        Strategy::Integers { low: low.map(BigInt::from), high: high.map(BigInt::from) }
    }

    fn finite(keys: &[&str]) -> Strategy {
        Strategy::Finite(keys.iter().map(|key| (*key).to_owned()).collect::<BTreeSet<_>>())
    }

    fn many(what: &str, of: &[Strategy], min: u64, max: Option<u64>) -> Strategy {
        Strategy::Many { what: what.into(), of: of.to_vec(), min, max, rest: BTreeMap::new() }
    }

    fn letters(alphabet: &str) -> Strategy {
        Strategy::Many {
            what: "text".into(),
            of: Vec::new(),
            min: 0,
            max: None,
            rest: BTreeMap::from([("alphabet".into(), alphabet.into())]),
        }
    }

    #[test]
    fn one_input_that_is_lost_is_told() {
        let (int, text) = (integers(None, None), many("text", &[], 0, None));
        let floats = |low: &str| Strategy::Floats { low: Some(low.into()), high: Some("1.0".into()), rest: BTreeMap::new() };
        for (base, patch, wanted) in [
            (integers(Some(0), Some(100)), integers(Some(0), Some(50)), Some("51")),
            (integers(Some(0), None), integers(Some(1), None), Some("0")),
            (int.clone(), integers(Some(0), None), Some("-1")),
            (integers(Some(0), Some(9)), finite(&["0", "1"]), Some("2")),
            (finite(&["'a'", "'b'"]), finite(&["'a'"]), Some("'b'")),
            (finite(&["1", "9"]), integers(Some(0), Some(5)), Some("9")),
            (Strategy::OneOf(vec![int.clone(), text.clone()]), int.clone(), Some("''")),
            (Strategy::OneOf(vec![int.clone(), finite(&["None"])]), text.clone(), Some("0")),
            (
                many("lists", std::slice::from_ref(&int), 0, Some(50)),
                many("lists", std::slice::from_ref(&int), 0, Some(3)),
                Some("[0, 0, 0, 0]"),
            ),
            (many("lists", std::slice::from_ref(&int), 0, None), many("lists", std::slice::from_ref(&int), 1, None), Some("[]")),
            (many("lists", std::slice::from_ref(&int), 0, None), many("lists", &[integers(Some(0), None)], 0, None), Some("[-1]")),
            (
                many("lists", std::slice::from_ref(&int), 0, Some(50)),
                many("lists", std::slice::from_ref(&int), 0, Some(20)),
                Some("[0] * 21"),
            ),
            (many("sets", std::slice::from_ref(&int), 0, Some(9)), many("sets", std::slice::from_ref(&int), 0, Some(2)), Some("{0, 1, 2}")),
            (many("text", &[], 0, Some(20)), many("text", &[], 1, Some(20)), Some("''")),
            (many("text", &[], 0, Some(90)), many("text", &[], 0, Some(40)), Some("'0' * 41")),
            (letters("'abc'"), letters("'ab'"), Some("'c'")),
            (
                many("dictionaries", &[int.clone(), text.clone()], 0, Some(9)),
                many("dictionaries", &[int.clone(), text.clone()], 0, Some(1)),
                Some("{0: '', 1: ''}"),
            ),
            (
                Strategy::Tuples(vec![int.clone(), text.clone()]),
                Strategy::Tuples(vec![integers(Some(3), None), text.clone()]),
                Some("(2, '')"),
            ),
            (floats("-1.0"), floats("0.0"), Some("-1.0")),
            (int.clone(), int.clone(), None),
            (int.clone(), Strategy::Opaque("odd".into()), None),
            (int.clone(), Strategy::OneOf(vec![integers(Some(0), None), Strategy::Opaque("odd".into())]), None),
        ] {
            assert_eq!(input(&base, &patch).as_deref(), wanted, "{base} -> {patch}");
        }
    }
}
