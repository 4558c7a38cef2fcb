//! Owns what steps count as that only must succeed: conditions, assertions or nothing, as the policy says.

use crate::settings::Steps;
use crate::strength::card::{Assertion, Claim};
use crate::strength::languages::facts::Function;

/// How a reader tells such a step.
const STEPS: [&str; 2] = ["succeeds(", "fails("];

/// The assertions and claims of a function.
pub(super) fn counted(function: &Function, steps: Steps) -> (Vec<Assertion>, Vec<Claim>) {
    let (mut assertions, mut claims) = (function.assertions.clone(), function.claims.clone());
    let is_step = |claim: &Claim| claim.assertion == usize::MAX && STEPS.iter().any(|step| claim.text.starts_with(step));
    match steps {
        Steps::Hold => {}
        Steps::Off => claims.retain(|claim| !is_step(claim)),
        Steps::Count => {
            for claim in claims.iter_mut().filter(|claim| is_step(claim)) {
                claim.assertion = assertions.len();
                assertions.push(Assertion { text: format!("assert {}", claim.text), line: function.line });
            }
        }
    }
    (assertions, claims)
}
