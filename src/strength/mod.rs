//! Owns strength: what a test measures, as cards, and which way a change moves it.

pub mod card;
pub mod cards;
pub mod delta;
pub mod domain;
pub mod effort;
pub mod harness;
pub mod languages;
pub mod mutants;
pub mod production;
pub mod record;
pub mod signature;
pub mod snapshot;
pub mod waiver;
