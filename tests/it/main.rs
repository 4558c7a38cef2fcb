//! Every integration test, in one binary.

mod repo;
mod sandbox;
