//! The integration tests, in one binary.

mod facts;
mod repo;
mod sandbox;
