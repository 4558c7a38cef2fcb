//! Every integration test, in one binary.

mod facts;
mod repo;
mod sandbox;
