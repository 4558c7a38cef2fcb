//! Owns enumeration: the values of a shape in a stable order, as many as are asked for.

use std::collections::HashSet;

use num_bigint::BigInt;

use crate::witness::order;
use crate::witness::shape::member::same;
use crate::witness::shape::{Kind, Shape, Size, nearest};
use crate::witness::value::{Float, Value};

/// The first values of a shape, and whether these are all.
pub(in crate::witness) struct Listing {
    pub(in crate::witness) values: Vec<Value>,
    pub(in crate::witness) is_whole: bool,
}

impl Listing {
    fn of(values: Vec<Value>, most: usize) -> Self {
        let is_whole = values.len() <= most;
        let mut values = values;
        values.truncate(most);
        Listing { values, is_whole }
    }
}

impl Shape {
    /// At most `most` values, each once.
    pub(in crate::witness) fn list(&self, most: usize) -> Listing {
        match self {
            Shape::Integers { low, high } => integers(low.as_ref(), high.as_ref(), most),
            Shape::Floats(floats) => {
                let some = [0.0, 1.0, -1.0, floats.low, floats.high, floats.simplest()];
                let one = floats.low.to_bits() == floats.high.to_bits();
                let mut values: Vec<Value> = some.into_iter().filter(|f| floats.holds(*f)).map(|f| Value::Float(Float::new(f))).collect();
                values.sort_by(order::simpler);
                values.dedup();
                values.truncate(most);
                Listing { is_whole: one && most > 0, values }
            }
            Shape::Finite(values) => Listing::of(values.iter().take(most.saturating_add(1)).cloned().collect(), most),
            Shape::OneOf(parts) => {
                let (mut seen, mut values, mut is_whole) = (HashSet::new(), Vec::new(), true);
                for part in parts {
                    let listing = part.list(most);
                    is_whole &= listing.is_whole;
                    values.extend(listing.values.into_iter().filter(|value| seen.insert(value.clone())));
                }
                is_whole &= values.len() <= most;
                values.truncate(most);
                Listing { values, is_whole }
            }
            Shape::Tuple(parts) => {
                let lists: Vec<Listing> = parts.iter().map(|part| part.list(most)).collect();
                let is_whole = lists.iter().all(|list| list.is_whole);
                let rows = product(lists.iter().map(|list| list.values.as_slice()), most.saturating_add(1));
                let whole = Listing::of(rows.into_iter().map(Value::Tuple).collect(), most);
                Listing { is_whole: whole.is_whole && is_whole, ..whole }
            }
            Shape::Many { kind, of, size, unique } => {
                let how = if *kind != Kind::List {
                    How::Chosen
                } else if *unique {
                    How::Distinct
                } else {
                    How::Any
                };
                sequences(&of.list(most), *size, how, most, &|parts| kind.value(parts))
            }
            Shape::Text { alphabet, size } => {
                let all: Vec<char> =
                    alphabet.clone().unwrap_or_else(|| (0..most.min(62)).filter_map(|n| order::ranked(u32::try_from(n).ok()?)).collect());
                let parts = Listing { values: all.into_iter().map(|c| Value::Text(c.to_string())).collect(), is_whole: alphabet.is_some() };
                sequences(&parts, *size, How::Any, most, &|parts| Value::Text(parts.iter().filter_map(as_text).collect()))
            }
            Shape::Bytes(size) => {
                let parts = Listing { values: (0..=255).map(|b: u8| Value::int(b)).collect(), is_whole: true };
                let byte = |part: &Value| if let Value::Int(n) = part { u8::try_from(n).ok() } else { None };
                sequences(&parts, *size, How::Any, most, &|parts| Value::Bytes(parts.iter().filter_map(byte).collect()))
            }
            Shape::Map { key, value, size } => maps(key, value, *size, most),
        }
    }

    /// So many different values, or all there are when they are fewer.
    pub(super) fn distinct(&self, count: usize) -> Vec<Value> {
        let (mut most, mut kept) = (count, Vec::new());
        while kept.len() < count {
            let listing = self.list(most);
            let mut seen = HashSet::new();
            kept = listing.values.into_iter().filter(|value| seen.insert(same(value))).take(count).collect();
            if listing.is_whole || most > count.saturating_mul(4) {
                break;
            }
            most = most.saturating_mul(2);
        }
        kept
    }
}

fn as_text(part: &Value) -> Option<&str> {
    if let Value::Text(text) = part { Some(text) } else { None }
}

fn integers(low: Option<&BigInt>, high: Option<&BigInt>, most: usize) -> Listing {
    let near = nearest(low, high);
    let (mut up, mut down) = (near.clone(), near - 1);
    let mut values = Vec::new();
    loop {
        let above = high.is_none_or(|high| up <= *high);
        let below = low.is_none_or(|low| down >= *low);
        if !above && !below {
            return Listing { values, is_whole: true };
        }
        for (is_there, n, step) in [(above, &mut up, 1), (below, &mut down, -1)] {
            if is_there && values.len() == most {
                return Listing { values, is_whole: false };
            }
            if is_there {
                values.push(Value::Int(n.clone()));
                *n += step;
            }
        }
    }
}

fn product<'v>(lists: impl Iterator<Item = &'v [Value]>, most: usize) -> Vec<Vec<Value>> {
    lists.fold(vec![Vec::new()], |rows, list| {
        let longer = |row: Vec<Value>| list.iter().map(move |value| row.iter().cloned().chain([value.clone()]).collect::<Vec<Value>>());
        rows.into_iter().flat_map(longer).take(most).collect()
    })
}

/// How the parts of a sequence go together.
#[derive(Clone, Copy, PartialEq)]
enum How {
    /// Any parts in any order.
    Any,
    /// Each at most once, in any order.
    Distinct,
    /// Each at most once, in one order.
    Chosen,
}

/// Longer than this, sequences are not listed to their end: the row of the first parts, with every last part.
const LISTED: usize = 16;

fn long(parts: &Listing, min: usize, how: How, most: usize, make: &dyn Fn(Vec<Value>) -> Value) -> Listing {
    let fixed = min - 1;
    let head = |at: usize| if how == How::Any { parts.values.first() } else { parts.values.get(at) };
    let row: Vec<Value> = (0..fixed).filter_map(|at| head(at).cloned()).collect();
    let lasts = parts.values.iter().skip(if how == How::Any { 0 } else { fixed }).take(most);
    let values = lasts.map(|last| make(row.iter().cloned().chain([last.clone()]).collect())).collect();
    Listing { values, is_whole: false }
}

/// Sequences over listed parts, shortest first.
fn sequences(parts: &Listing, size: Size, how: How, most: usize, make: &dyn Fn(Vec<Value>) -> Value) -> Listing {
    if size.min > LISTED {
        return long(parts, size.min, how, most, make);
    }
    let (mut values, mut length, mut is_whole) = (Vec::new(), 0_usize, parts.is_whole || size.max == Some(0));
    let mut level: Vec<Vec<usize>> = vec![Vec::new()];
    let most = most.saturating_add(1);
    loop {
        if size.holds(length) {
            let made = level.iter().map(|row| make(row.iter().filter_map(|at| parts.values.get(*at).cloned()).collect()));
            values.extend(made.take(most - values.len()));
        }
        if size.max.is_some_and(|max| length >= max) || level.is_empty() || values.len() >= most {
            break;
        }
        let longer = |row: &Vec<usize>| {
            let first = if how == How::Chosen { row.last().map_or(0, |last| last + 1) } else { 0 };
            let fits = |at: &usize, row: &[usize]| {
                how == How::Any || !row.iter().any(|known| same(&parts.values[*known]) == same(&parts.values[*at]))
            };
            let row = row.clone();
            (first..parts.values.len()).filter(move |at| fits(at, &row)).collect::<Vec<_>>()
        };
        // A level that is not listed to its end makes every longer one incomplete.
        let mut next = Vec::new();
        for row in &level {
            for at in longer(row) {
                if next.len() >= most {
                    is_whole = false;
                    break;
                }
                next.push(row.iter().copied().chain([at]).collect());
            }
        }
        level = next;
        length += 1;
    }
    let listing = Listing::of(values, most - 1);
    Listing { is_whole: listing.is_whole && is_whole, ..listing }
}

fn maps(key: &Shape, value: &Shape, size: Size, most: usize) -> Listing {
    let keys = sequences(&key.list(most), size, How::Chosen, most, &Value::List);
    let each = value.list(most);
    let (mut maps, mut is_whole) = (Vec::new(), keys.is_whole && (each.is_whole || size.max == Some(0)));
    for keys in &keys.values {
        let Value::List(keys) = keys else { continue };
        let rows = product(keys.iter().map(|_| each.values.as_slice()), most.saturating_add(1));
        maps.extend(rows.into_iter().map(|row| Value::Map(keys.iter().cloned().zip(row).collect())));
        if maps.len() > most {
            break;
        }
    }
    is_whole &= maps.len() <= most;
    maps.truncate(most);
    Listing { values: maps, is_whole }
}
