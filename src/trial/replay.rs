//! Owns replay.
