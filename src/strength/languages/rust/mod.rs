//! Owns Rust: what stands inside a file for tests, and what for the product.

mod compose;
mod essence;
mod items;
mod lex;
mod predicate;
mod spans;

pub use compose::{Inseparable, compose};
pub use essence::Essence;
pub use spans::{Spans, all_tests, declares_tests, spans};

#[cfg(test)]
mod tests;
