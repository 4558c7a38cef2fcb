//! The integration tests, in one binary.

mod facts;
mod repo;
#[cfg(test)]
mod sandbox;
