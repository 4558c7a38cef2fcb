//! Owns the generator: from a domain, a seed and a number to one input, the same for ever.

use crate::strength::domain::Domain;
use crate::witness::value::Input;

/// Why a domain cannot be drawn from: which part, in words.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Undrawable(pub String);

/// A domain made ready to draw from.
#[derive(Clone, Debug)]
pub struct Plan {
    _domain: Domain,
}

impl Plan {
    /// Makes a domain ready.
    ///
    /// # Errors
    /// Names the part that literals do not give: nothing is guessed.
    pub fn of(domain: &Domain) -> Result<Self, Undrawable> {
        Ok(Plan { _domain: domain.clone() })
    }

    /// The input number `n` of a seed.
    pub fn draw(&self, _seed: u64, _n: u64) -> Input {
        Input::default()
    }

    /// All inputs in a stable order, when there are at most `most`.
    pub fn all(&self, _most: u64) -> Option<Vec<Input>> {
        None
    }

    /// Whether the domain holds an input.
    pub fn contains(&self, _input: &Input) -> bool {
        false
    }
}
