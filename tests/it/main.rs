//! The integration tests, in one binary.

mod facts;
mod hooks;
mod repo;
#[cfg(test)]
mod sandbox;
