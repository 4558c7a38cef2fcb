//! Owns what one argument is drawn from: the normalised tree of a strategy, its size and its text.

use std::collections::{BTreeMap, BTreeSet};

use num_bigint::{BigInt, BigUint};
use num_traits::{Signed as _, Zero as _};
use serde::{Deserialize, Serialize};

/// A strategy. Trees are built by the constructors below, so that equal meanings get equal trees.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Strategy {
    /// An inclusive interval.
    Integers {
        /// `None` is open.
        #[serde(with = "written")]
        low: Option<BigInt>,
        /// `None` is open.
        #[serde(with = "written")]
        high: Option<BigInt>,
    },
    /// Typed literal values (or canonical source of values).
    Finite(BTreeSet<String>),
    /// One of several.
    OneOf(Vec<Strategy>),
    /// A fixed number of parts.
    Tuples(Vec<Strategy>),
    /// Any number of parts within a size.
    Many {
        /// `lists`, `sets`, `text`, …
        what: String,
        /// What the parts are drawn from.
        of: Vec<Strategy>,
        /// Least number of parts.
        min: u64,
        /// Greatest number of parts; `None` is open.
        max: Option<u64>,
        /// Every other argument: each restricts.
        rest: BTreeMap<String, String>,
    },
    /// Floats: ends as shortest decimal text.
    Floats {
        /// `None` is open.
        low: Option<String>,
        /// `None` is open.
        high: Option<String>,
        /// Every other argument.
        rest: BTreeMap<String, String>,
    },
    /// Any other call, by resolved name, with its arguments: positions and keywords, and the draws of a composite.
    Call {
        /// Resolved name.
        name: String,
        /// Arguments in a fixed order.
        arguments: Vec<(String, Strategy)>,
    },
    /// A literal argument of a call.
    Value(String),
    /// `.filter(…)`, `.map(…)`, `.flatmap(…)` over another.
    Mapped {
        /// What is mapped.
        of: Box<Strategy>,
        /// `filter`, `map` or `flatmap`.
        how: String,
        /// Canonical text of the function.
        by: String,
    },
    /// A name that another module of the tree defines; linking replaces it.
    Named(String),
    /// Canonical text of what literals do not give.
    Opaque(String),
}

/// Above this many bits a size is not computed.
const SIZE_BITS: u64 = 1 << 17;

impl Strategy {
    /// Name of the call that stands for one of two strategies by a condition.
    pub const BRANCHES: &'static str = "if";

    /// Key of the body of the function behind a call.
    pub const BODY: &'static str = "body";

    /// Key of what stands behind a call that is told by its text alone, besides the strategies that it leans on.
    pub const BEHIND: &'static str = "behind";

    /// One of several: nested ones are flattened, finite ones united, touching intervals joined.
    pub fn one_of(parts: Vec<Strategy>) -> Strategy {
        let (mut finite, mut intervals, mut others) = (BTreeSet::new(), Vec::new(), Vec::new());
        for part in flatten(parts) {
            match part {
                Strategy::Finite(keys) => finite.extend(keys),
                Strategy::Integers { low, high } => intervals.push((low, high)),
                other if others.contains(&other) => {}
                other => others.push(other),
            }
        }
        let intervals = join(intervals);
        finite.retain(|key: &String| !key.parse().is_ok_and(|n: BigInt| intervals.iter().any(|i| holds(i, &n))));
        let mut all: Vec<Strategy> = intervals.into_iter().map(|(low, high)| Strategy::Integers { low, high }).collect();
        if !finite.is_empty() {
            all.push(Strategy::Finite(finite));
        }
        all.extend(others);
        if all.len() == 1 { all.remove(0) } else { Strategy::OneOf(all) }
    }

    /// The two booleans.
    pub fn booleans() -> Strategy {
        Strategy::Finite(BTreeSet::from(["False".to_owned(), "True".to_owned()]))
    }

    /// How many values; `None` when there is no end or it cannot be told.
    pub fn size(&self) -> Option<BigUint> {
        match self {
            Strategy::Integers { low: Some(low), high: Some(high) } => (high - low + 1u8).to_biguint(),
            Strategy::Finite(keys) => Some(BigUint::from(keys.len())),
            Strategy::OneOf(parts) => parts.iter().map(Strategy::size).sum(),
            Strategy::Tuples(parts) => parts.iter().map(Strategy::size).product(),
            Strategy::Many { what, of, min, max: Some(max), rest } if rest.is_empty() => sequences(what, of, *min, *max),
            _ => None,
        }
    }

    /// Why literals do not give it; `None` when they do.
    pub fn opaque(&self) -> Option<String> {
        match self {
            Strategy::Integers { low: Some(low), high: Some(high) } if low > high => Some(format!("inverted bound {low}..{high}")),
            Strategy::Floats { .. } => Some("float bounds".to_owned()),
            Strategy::Call { name, .. } if name == Strategy::BRANCHES => Some(format!("`{}`", short(&self.to_string()))),
            Strategy::Many { rest, .. } if rest.keys().any(|key| key.ends_with("_size")) => Some(format!("`{}`", short(&self.to_string()))),
            Strategy::OneOf(parts) | Strategy::Tuples(parts) | Strategy::Many { of: parts, .. } => parts.iter().find_map(Strategy::opaque),
            Strategy::Call { arguments, .. } => arguments.iter().find_map(|(_, part)| part.opaque()),
            Strategy::Mapped { .. } | Strategy::Named(_) | Strategy::Opaque(_) => Some(format!("`{}`", short(&self.to_string()))),
            Strategy::Integers { .. } | Strategy::Finite(_) | Strategy::Value(_) => None,
        }
    }
}

/// Big integers as text, so that every reader of JSON can hold them.
mod written {
    use num_bigint::BigInt;
    use num_traits::Num as _;
    use serde::de::Error as _;
    use serde::{Deserialize as _, Deserializer, Serialize as _, Serializer};

    #[expect(clippy::ref_option, reason = "serde fixes the signature")]
    pub(super) fn serialize<S: Serializer>(n: &Option<BigInt>, serializer: S) -> Result<S::Ok, S::Error> {
        n.as_ref().map(super::decimal).serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<BigInt>, D::Error> {
        let Some(text) = Option::<String>::deserialize(deserializer)? else { return Ok(None) };
        let hex = text.strip_prefix("0x").map(str::to_owned).or_else(|| Some(format!("-{}", text.strip_prefix("-0x")?)));
        let parsed = hex.map_or_else(|| text.parse().ok(), |digits| BigInt::from_str_radix(&digits, 16).ok());
        parsed.map(Some).ok_or_else(|| D::Error::custom(format!("not a whole number: {}", super::short(&text))))
    }
}

/// Decimal digits; hexadecimal above what is quick to convert.
pub(super) fn decimal(n: &BigInt) -> String {
    if n.bits() <= 1 << 12 {
        return n.to_string();
    }
    let sign = if n.is_negative() { "-" } else { "" };
    format!("{sign}0x{}", n.magnitude().to_str_radix(16))
}

/// Text of at most 160 characters, for one line of a message.
pub(super) fn short(text: &str) -> String {
    if text.chars().count() <= 160 {
        return text.to_owned();
    }
    let head: String = text.chars().take(157).collect();
    format!("{head}...")
}

fn flatten(parts: Vec<Strategy>) -> Vec<Strategy> {
    let mut flat = Vec::new();
    for part in parts {
        match part {
            Strategy::OneOf(inner) => flat.extend(inner),
            other => flat.push(other),
        }
    }
    flat
}

type Ends = (Option<BigInt>, Option<BigInt>);

/// Sorted by low end; those that touch or overlap become one. Inverted ones are kept apart.
fn join(mut intervals: Vec<Ends>) -> Vec<Ends> {
    intervals.sort();
    let mut joined: Vec<Ends> = Vec::new();
    for (low, high) in intervals {
        match joined.last_mut() {
            Some((_, last)) if touches(last.as_ref(), low.as_ref()) => {
                if last.is_some() && (high.is_none() || high > *last) {
                    *last = high;
                }
            }
            _ => joined.push((low, high)),
        }
    }
    joined
}

fn touches(last_high: Option<&BigInt>, low: Option<&BigInt>) -> bool {
    match (last_high, low) {
        (Some(high), Some(low)) => *low <= high + 1u8,
        _ => true,
    }
}

/// Whether an interval holds a number.
pub(super) fn holds((low, high): &Ends, n: &BigInt) -> bool {
    low.as_ref().is_none_or(|low| low <= n) && high.as_ref().is_none_or(|high| n <= high)
}

/// How many sequences with `min..=max` parts.
fn sequences(what: &str, of: &[Strategy], min: u64, max: u64) -> Option<BigUint> {
    let each = match (what, of) {
        ("lists", [part]) => part.size()?,
        ("binary", []) => BigUint::from(256u16),
        _ => return None,
    };
    let (min, max) = (u32::try_from(min).ok()?, u32::try_from(max).ok()?);
    if u64::from(max).checked_mul(each.bits().max(1))? > SIZE_BITS {
        return None;
    }
    let mut power = each.pow(min);
    let mut total = BigUint::zero();
    for _ in min..=max {
        total += &power;
        power *= &each;
    }
    Some(total)
}

impl std::fmt::Display for Strategy {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Strategy::Integers { low, high } => write!(f, "integers({}, {})", end(low.as_ref()), end(high.as_ref())),
            Strategy::Finite(keys) if keys.len() == 1 => write!(f, "just({})", keys.iter().next().map_or("", String::as_str)),
            Strategy::Finite(keys) => {
                let keys: Vec<&str> = keys.iter().map(String::as_str).collect();
                write!(f, "sampled_from([{}])", keys.join(", "))
            }
            Strategy::OneOf(parts) => write!(f, "one_of({})", listed(parts)),
            Strategy::Tuples(parts) => write!(f, "tuples({})", listed(parts)),
            Strategy::Many { what, of, min, max, rest } => {
                let mut parts: Vec<String> = of.iter().map(Strategy::to_string).collect();
                if *min != 0 {
                    parts.push(format!("min_size={min}"));
                }
                parts.extend(max.iter().map(|max| format!("max_size={max}")));
                parts.extend(rest.iter().map(|(key, value)| format!("{key}={value}")));
                write!(f, "{what}({})", parts.join(", "))
            }
            Strategy::Floats { low, high, rest } => {
                let mut parts = vec![low.clone().unwrap_or("None".to_owned()), high.clone().unwrap_or("None".to_owned())];
                parts.extend(rest.iter().map(|(key, value)| format!("{key}={value}")));
                write!(f, "floats({})", parts.join(", "))
            }
            Strategy::Call { name, arguments } => {
                let parts: Vec<String> = arguments
                    .iter()
                    .filter(|(key, _)| key != Strategy::BEHIND && key != Strategy::BODY)
                    .map(
                        |(key, part)| {
                            if key.starts_with(|c: char| c.is_ascii_digit()) { part.to_string() } else { format!("{key}={part}") }
                        },
                    )
                    .collect();
                write!(f, "{name}({})", parts.join(", "))
            }
            Strategy::Mapped { of, how, by } => write!(f, "{of}.{how}({by})"),
            Strategy::Value(text) | Strategy::Named(text) | Strategy::Opaque(text) => f.write_str(text),
        }
    }
}

fn end(n: Option<&BigInt>) -> String {
    n.map_or("None".to_owned(), decimal)
}

fn listed(parts: &[Strategy]) -> String {
    parts.iter().map(Strategy::to_string).collect::<Vec<_>>().join(", ")
}
