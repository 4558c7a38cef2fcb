//! Owns the generator: from a domain, a seed and a number to one input, the same for ever.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use crate::strength::domain::{Domain, Origin, Table};
use crate::witness::literal;
use crate::witness::order;
use crate::witness::shape::{Budget, Shape};
use crate::witness::stream::Stream;
use crate::witness::value::{Input, Value};

/// Parts that one input may have beyond what its domain demands.
const PARTS: usize = 1 << 14;

/// Why a domain cannot be drawn from: which part, in words.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Undrawable(pub String);

/// A domain made ready to draw from.
#[derive(Clone, Debug)]
pub struct Plan {
    pub(super) parts: Vec<Part>,
}

/// What gives a value to some arguments.
#[derive(Clone, Debug)]
pub(super) enum Part {
    /// One row of a case list, simplest first, for its columns.
    Rows(Vec<String>, Vec<Vec<Value>>),
    /// One argument.
    Argument(String, Shape),
}

/// The input number `n` of a seed. To draw many from one domain, make a [`Plan`] once.
///
/// # Errors
/// As [`Plan::of`].
pub fn draw(domain: &Domain, seed: u64, n: u64) -> Result<Input, Undrawable> {
    Ok(Plan::of(domain)?.draw(seed, n))
}

impl Plan {
    /// Makes a domain ready. A domain without arguments has one input: no argument at all.
    ///
    /// # Errors
    /// Names the part that literals do not give: nothing is guessed.
    pub fn of(domain: &Domain) -> Result<Self, Undrawable> {
        if let Some(text) = domain.unread.iter().next() {
            return Err(Undrawable(format!("literals do not give the domain `{text}`")));
        }
        let mut parts = Vec::new();
        for table in domain.tables.iter().filter(|table| table.origin != Origin::Loop) {
            parts.push(rows(table)?);
        }
        for argument in &domain.arguments {
            named(&argument.name)?;
            let shape = Shape::of(&argument.strategy).map_err(|why| Undrawable(format!("{}: {why}", argument.name)))?;
            parts.push(Part::Argument(argument.name.clone(), shape));
        }
        let mut seen = BTreeSet::new();
        let twice = parts.iter().flat_map(Part::names).find(|name| !seen.insert((*name).to_owned()));
        twice.map_or(Ok(()), |name| Err(Undrawable(format!("{name}: two lists give a value to this argument"))))?;
        Ok(Plan { parts })
    }

    /// The input number `n` of a seed.
    pub fn draw(&self, seed: u64, n: u64) -> Input {
        let (mut stream, mut budget) = (Stream::new(seed, n), Budget(PARTS));
        let mut arguments = BTreeMap::new();
        for part in &self.parts {
            match part {
                Part::Rows(names, rows) => {
                    let at = usize::try_from(stream.below(rows.len() as u64)).unwrap_or(0);
                    arguments.extend(names.iter().cloned().zip(rows[at].iter().cloned()));
                }
                Part::Argument(name, shape) => {
                    arguments.insert(name.clone(), shape.draw(&mut stream, &mut budget));
                }
            }
        }
        Input(arguments)
    }

    /// All inputs in a stable order, each once, when there are at most `most`.
    pub fn all(&self, most: usize) -> Option<Vec<Input>> {
        let mut inputs = vec![BTreeMap::new()];
        for part in &self.parts {
            let choices: Vec<Vec<(String, Value)>> = match part {
                Part::Rows(names, rows) => rows.iter().map(|row| names.iter().cloned().zip(row.iter().cloned()).collect()).collect(),
                Part::Argument(name, shape) => {
                    let listing = shape.list(most);
                    listing.is_whole.then_some(())?;
                    listing.values.into_iter().map(|value| vec![(name.clone(), value)]).collect()
                }
            };
            if inputs.len().checked_mul(choices.len())? > most {
                return None;
            }
            let with = |input: &BTreeMap<String, Value>, choice: &Vec<(String, Value)>| {
                let mut input = input.clone();
                input.extend(choice.iter().cloned());
                input
            };
            inputs = inputs.iter().flat_map(|input| choices.iter().map(|choice| with(input, choice)).collect::<Vec<_>>()).collect();
        }
        let mut seen = HashSet::new();
        Some(inputs.into_iter().map(Input).filter(|input| seen.insert(input.clone())).collect())
    }

    /// Whether the domain holds an input: every argument that it names and no other, each with a value that it could draw.
    pub fn contains(&self, input: &Input) -> bool {
        let names: usize = self.parts.iter().map(|part| part.names().len()).sum();
        let holds = |part: &Part| match part {
            Part::Argument(name, shape) => input.0.get(name).is_some_and(|value| shape.contains(value)),
            Part::Rows(names, rows) => {
                let row: Option<Vec<&Value>> = names.iter().map(|name| input.0.get(name)).collect();
                row.is_some_and(|row| rows.iter().any(|known| known.iter().eq(row.iter().copied())))
            }
        };
        input.0.len() == names && self.parts.iter().all(holds)
    }
}

impl Part {
    /// The arguments it gives a value to.
    pub(super) fn names(&self) -> &[String] {
        match self {
            Part::Rows(names, _) => names,
            Part::Argument(name, _) => std::slice::from_ref(name),
        }
    }
}

fn named(name: &str) -> Result<(), Undrawable> {
    let plain = !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || c == '_');
    if plain { Ok(()) } else { Err(Undrawable(format!("`{name}` is drawn in the body, so no input can be given"))) }
}

fn rows(table: &Table) -> Result<Part, Undrawable> {
    let shown = table.names.join(", ");
    if table.origin == Origin::Fixture {
        return Err(Undrawable(format!("{shown}: the cases come from a fixture, which only its runner can give")));
    }
    if let Some(text) = table.rest.iter().next() {
        return Err(Undrawable(format!("{shown}: literals do not give the cases `{text}`")));
    }
    let nameless = table.names.iter().all(String::is_empty);
    let names: Vec<String> = if nameless { (0..table.names.len()).map(|at| at.to_string()).collect() } else { table.names.clone() };
    names.iter().try_for_each(|name| named(name))?;
    let mut rows = Vec::with_capacity(table.rows.len());
    for row in &table.rows {
        let cell = |text: &String| literal::value(text).ok_or_else(|| Undrawable(format!("{shown}: `{text}` is no literal")));
        let row = row.iter().map(cell).collect::<Result<Vec<Value>, _>>()?;
        if row.len() != names.len() {
            return Err(Undrawable(format!("{shown}: a case has {} values", row.len())));
        }
        rows.push(row);
    }
    if rows.is_empty() {
        return Err(Undrawable(format!("{shown}: there are no cases")));
    }
    rows.sort_by(|a, b| order::simpler(&Value::Tuple(a.clone()), &Value::Tuple(b.clone())));
    Ok(Part::Rows(names, rows))
}

#[cfg(test)]
mod tests;
