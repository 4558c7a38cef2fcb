//! Owns shrink.
