//! The integration tests, in one binary.

mod daemon;
mod digest;
mod facts;
mod partition;
mod repo;
#[cfg(test)]
mod sandbox;
