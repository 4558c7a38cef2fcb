//! Owns the verdict on one candidate.
