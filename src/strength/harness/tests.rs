//! Owns the tests of the harness: tables of changes that take strength away, and of those that do not.
