//! Every integration test, in one binary.

mod repo;
#[cfg(test)]
mod sandbox;
