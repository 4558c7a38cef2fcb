//! Owns judging: facts from wherever they are warm, and the verdict made of them.

pub mod facts;
pub mod folder;
pub mod judge;
