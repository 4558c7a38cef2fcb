//! Owns SHA-256 of bytes and of folders.
