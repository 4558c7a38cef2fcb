//! Owns reducer.
