//! Same bytes.
