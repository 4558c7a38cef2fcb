//! Owns the JSON form on its way in: every depth is counted, and nothing is read that could mean two things.

use std::collections::BTreeMap;
use std::fmt;

use num_bigint::BigInt;
use num_traits::Num as _;
use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};

use crate::witness::value::{Float, Input, MAX_DEPTH, Value};

impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Depth(0).deserialize(deserializer)
    }
}

impl<'de> Deserialize<'de> for Input {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(Arguments)
    }
}

struct Arguments;

impl<'de> Visitor<'de> for Arguments {
    type Value = Input;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object of arguments")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Input, A::Error> {
        let mut arguments = BTreeMap::new();
        while let Some(name) = map.next_key::<String>()? {
            let value = map.next_value_seed(Depth(1))?;
            if arguments.insert(name, value).is_some() {
                return Err(A::Error::custom("an argument is given twice"));
            }
        }
        Ok(Input(arguments))
    }
}

/// How deep a value stands.
#[derive(Clone, Copy)]
struct Depth(usize);

impl Depth {
    fn below<E: Error>(self) -> Result<Depth, E> {
        if self.0 < MAX_DEPTH { Ok(Depth(self.0 + 1)) } else { Err(E::custom(format!("values nest deeper than {MAX_DEPTH}"))) }
    }
}

impl<'de> DeserializeSeed<'de> for Depth {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Depth {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_unit<E: Error>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E: Error>(self, b: bool) -> Result<Value, E> {
        Ok(Value::Bool(b))
    }

    fn visit_i64<E: Error>(self, n: i64) -> Result<Value, E> {
        Ok(Value::int(n))
    }

    fn visit_u64<E: Error>(self, n: u64) -> Result<Value, E> {
        Ok(Value::int(n))
    }

    /// A whole number too great for the reader arrives here as well, so a great one must be tagged.
    fn visit_f64<E: Error>(self, f: f64) -> Result<Value, E> {
        if f.abs() >= 9.0e18 {
            return Err(E::custom("a number this great is written {\"$int\":\"…\"} or {\"$float\":\"…\"}"));
        }
        Ok(Value::Float(Float::new(f)))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Value, E> {
        Ok(Value::Text(text.to_owned()))
    }

    fn visit_string<E: Error>(self, text: String) -> Result<Value, E> {
        Ok(Value::Text(text))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<Value, A::Error> {
        Parts(self).visit_seq(seq).map(Value::List)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
        let below = self.below()?;
        let mut pairs = BTreeMap::new();
        while let Some(key) = map.next_key::<String>()? {
            if key.starts_with('$') {
                let value = tagged(&key, below, &mut map)?;
                let alone = pairs.is_empty() && map.next_key::<String>()?.is_none();
                return if alone { Ok(value) } else { Err(A::Error::custom(format!("{key} stands alone in its object"))) };
            }
            let value = map.next_value_seed(below)?;
            if pairs.insert(key, value).is_some() {
                return Err(A::Error::custom("a key is given twice"));
            }
        }
        Ok(Value::Map(pairs.into_iter().map(|(key, value)| (Value::Text(key), value)).collect()))
    }
}

fn tagged<'de, A: MapAccess<'de>>(tag: &str, below: Depth, map: &mut A) -> Result<Value, A::Error> {
    match tag {
        "$int" => whole(&map.next_value::<String>()?).map(Value::Int).ok_or_else(|| A::Error::custom("$int holds no whole number")),
        "$float" => real(&map.next_value::<String>()?).map(Value::Float).ok_or_else(|| A::Error::custom("$float holds no number")),
        "$bytes" => unhex(&map.next_value::<String>()?).map(Value::Bytes).ok_or_else(|| A::Error::custom("$bytes holds no hexadecimal")),
        "$tuple" => map.next_value_seed(Parts(below)).map(Value::Tuple),
        "$set" => unique(map.next_value_seed(Parts(below))?).map(Value::Set),
        "$frozenset" => unique(map.next_value_seed(Parts(below))?).map(Value::FrozenSet),
        "$map" => pairs(map.next_value_seed(Parts(below))?).map(Value::Map),
        _ => Err(A::Error::custom("an unknown `$` tag")),
    }
}

/// The parts of a list.
struct Parts(Depth);

impl<'de> DeserializeSeed<'de> for Parts {
    type Value = Vec<Value>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Vec<Value>, D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for Parts {
    type Value = Vec<Value>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Vec<Value>, A::Error> {
        let below = self.0.below()?;
        let mut parts = Vec::new();
        while let Some(part) = seq.next_element_seed(below)? {
            parts.push(part);
        }
        Ok(parts)
    }
}

fn unique<E: Error>(mut parts: Vec<Value>) -> Result<Vec<Value>, E> {
    parts.sort();
    if parts.windows(2).any(|two| two[0] == two[1]) {
        return Err(E::custom("a set holds a value twice"));
    }
    Ok(parts)
}

fn pairs<E: Error>(parts: Vec<Value>) -> Result<Vec<(Value, Value)>, E> {
    let pair = |part| match part {
        Value::List(two) => <[Value; 2]>::try_from(two).ok().map(|[key, value]| (key, value)),
        _ => None,
    };
    let pairs: Option<Vec<(Value, Value)>> = parts.into_iter().map(pair).collect();
    let pairs = pairs.ok_or_else(|| E::custom("$map holds pairs"))?;
    let mut keys: Vec<&Value> = pairs.iter().map(|(key, _)| key).collect();
    keys.sort();
    if keys.windows(2).any(|two| two[0] == two[1]) {
        return Err(E::custom("a map holds a key twice"));
    }
    Ok(pairs)
}

/// Longest text of a whole number: hexadecimal is read in linear time, and decimal no longer than Python reads it.
const DIGITS: (usize, usize) = (4300, 1 << 20);

fn whole(text: &str) -> Option<BigInt> {
    let (sign, digits) = text.strip_prefix('-').map_or(("", text), |digits| ("-", digits));
    let (radix, digits, most) = digits.strip_prefix("0x").map_or((10, digits, DIGITS.0), |hex| (16, hex, DIGITS.1));
    let readable = !digits.is_empty() && digits.len() <= most && digits.bytes().all(|b| b.is_ascii_hexdigit());
    readable.then(|| BigInt::from_str_radix(&format!("{sign}{digits}"), radix).ok()).flatten()
}

fn real(text: &str) -> Option<Float> {
    let known = matches!(text, "nan" | "inf" | "-inf") || text.bytes().all(|b| b.is_ascii_digit() || b"+-.eE".contains(&b));
    let number = known.then(|| text.parse().ok()).flatten()?;
    Some(Float::new(number))
}

fn unhex(text: &str) -> Option<Vec<u8>> {
    let digit = |b: u8| char::from(b).to_digit(16).and_then(|d| u8::try_from(d).ok());
    let pair = |two: &[u8]| Some(digit(*two.first()?)? * 16 + digit(*two.get(1)?)?);
    text.as_bytes().chunks(2).map(pair).collect()
}
