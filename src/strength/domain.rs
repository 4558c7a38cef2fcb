//! Owns the declared domain of a property: cases, bounds, finite and structural strategies, opaque ones.

mod branches;
mod called;
mod cause;
mod compare;
mod lost;
mod moved;
mod respelt;
mod strategy;

use std::collections::{BTreeMap, BTreeSet};

use num_bigint::{BigInt, BigUint};
use num_traits::One as _;
use serde::{Deserialize, Serialize};
use serde_json::Value;

pub use crate::strength::domain::cause::Cause;
pub use crate::strength::domain::compare::DomainLoss;
pub use crate::strength::domain::strategy::Strategy;

/// Both ends of an interval; `None` is an open end.
pub type Interval = (Option<BigInt>, Option<BigInt>);

/// A declared domain: every table and every argument multiplies the others.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Domain {
    /// Case lists.
    pub tables: Vec<Table>,
    /// Generated arguments, in the order of the function's own.
    pub arguments: Vec<Argument>,
    /// Canonical text of what declares a domain in a way that literals do not give.
    pub unread: BTreeSet<String>,
}

/// Where a case list stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    /// A decorator or mark declares it: this makes a function a property.
    Declared,
    /// The parameters of a fixture that the function asks for.
    Fixture,
    /// A loop in the body with checks inside.
    Loop,
}

/// One case list: a set of rows, each a typed value (or canonical source) per name.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Table {
    /// Where it stands.
    pub origin: Origin,
    /// Argument names, in the order of the function's own.
    pub names: Vec<String>,
    /// The rows.
    pub rows: BTreeSet<Vec<String>>,
    /// Canonical text of the parts of the list that are not read as rows.
    pub rest: BTreeSet<String>,
}

/// One generated argument.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Argument {
    /// The argument, or `draw[0]` for a draw in the body, or `rule.argument` of a state machine.
    pub name: String,
    /// What it is drawn from.
    pub strategy: Strategy,
}

impl Table {
    /// One row as a key: the value itself, or the values in parentheses.
    pub fn key(row: &[String]) -> String {
        match row {
            [one] => one.clone(),
            many => format!("({})", many.join(", ")),
        }
    }

    /// One row as `name=value, …`.
    pub fn named(&self, row: &[String]) -> String {
        let pairs: Vec<String> = self.names.iter().zip(row).map(|(name, value)| format!("{name}={value}")).collect();
        pairs.join(", ")
    }
}

impl Domain {
    /// Whether a decorator, mark or generator declares it (a loop in the body or a fixture's parameters do not).
    pub fn is_declared(&self) -> bool {
        !self.arguments.is_empty() || !self.unread.is_empty() || self.declared().next().is_some()
    }

    fn declared(&self) -> impl Iterator<Item = &Table> {
        self.tables.iter().filter(|t| t.origin == Origin::Declared)
    }

    /// How many inputs there are; `None` without a declared domain, with an open end, or when part of it cannot be read.
    pub fn size(&self) -> Option<BigUint> {
        if !self.is_declared() || !self.unread.is_empty() {
            return None;
        }
        let mut size = BigUint::one();
        for table in self.declared() {
            if !table.rest.is_empty() {
                return None;
            }
            size *= BigUint::from(table.rows.len());
        }
        for argument in &self.arguments {
            size *= argument.strategy.size()?;
        }
        Some(size)
    }

    /// The inputs of the case lists, each once, sorted. With several lists the keys carry their argument names.
    pub fn case_keys(&self) -> Vec<String> {
        let keys: BTreeSet<String> = match self.tables.as_slice() {
            [one] => one.rows.iter().map(|row| Table::key(row)).collect(),
            many => many.iter().flat_map(|t| t.rows.iter().map(|row| t.named(row))).collect(),
        };
        keys.into_iter().collect()
    }

    /// The interval of every argument that is drawn from integers.
    pub fn bounds(&self) -> BTreeMap<String, Interval> {
        let interval = |a: &Argument| match &a.strategy {
            Strategy::Integers { low, high } => Some((a.name.clone(), (low.clone(), high.clone()))),
            _ => None,
        };
        self.arguments.iter().filter_map(interval).collect()
    }

    /// Why literals do not give this domain; `None` when they do (or when none is declared).
    pub fn opaque(&self) -> Option<String> {
        if let Some(text) = self.unread.iter().next() {
            return Some(format!("the domain comes from `{}`", strategy::short(text)));
        }
        for table in self.declared() {
            if let Some(text) = table.rest.iter().next() {
                return Some(format!("cases of {} come from `{}`", table.names.join(", "), strategy::short(text)));
            }
        }
        if let Some(why) = self.arguments.iter().find_map(|a| Some(format!("{}: {}", a.name, a.strategy.opaque()?))) {
            return Some(why);
        }
        let both = self.declared().next().is_some() && !self.bounds().is_empty();
        both.then(|| "both a case list and bounds are declared".to_owned())
    }

    /// Everything, for cards (big integers are text).
    pub fn to_json(&self) -> Value {
        serde_json::to_value(self).unwrap_or_default()
    }

    /// The weaker of two domains of the same id; when neither holds the other, one that only its own text equals.
    #[must_use]
    pub fn weaker_of(self, other: Domain) -> Domain {
        if self.losses(&other).is_empty() {
            return self;
        }
        if other.losses(&self).is_empty() {
            return other;
        }
        let mut texts = [self, other].map(|domain| bounded(domain.to_json().to_string()));
        texts.sort();
        Domain { unread: BTreeSet::from([texts.join(" or ")]), ..Domain::default() }
    }
}

/// Text that stays short however often it is put into other text.
fn bounded(text: String) -> String {
    if text.len() > 1_000 { format!("sha256({})", crate::digest::sha256_hex(text.as_bytes())) } else { text }
}

#[cfg(test)]
mod tests;
