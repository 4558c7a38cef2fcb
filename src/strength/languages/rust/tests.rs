//! Owns the tests of the Rust reader.
