//! Seedgate: refuses commits that mix production and test paths or weaken a property's strength card.
//!
//! The rooms, ground first. A room uses only rooms above it in this list (`tests/floors.rs`).

pub mod cli;
pub mod digest;
pub mod finding;
pub mod gate;
pub mod partition;
pub mod repo;
pub mod report;
pub mod settings;
pub mod strength;
pub mod tree;
