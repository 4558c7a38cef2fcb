//! Seedgate: refuses commits that mix production and test paths or weaken a property's strength card.
//!
//! The rooms, ground first. A room uses only rooms above it in this list (`tests/floors.rs`).

pub mod finding;
pub mod tree;
pub mod settings;
pub mod repo;
pub mod digest;
pub mod partition;
pub mod strength;
pub mod witness;
pub mod freeze;
pub mod gate;
pub mod daemon;
pub mod trial;
pub mod report;
pub mod cli;
