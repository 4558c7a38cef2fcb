//! Owns freezing: temporary exceptions for tests that are noise. A property is never one of them.

pub mod classify;
pub mod day;
pub mod evidence;
pub mod file;
pub mod junit;
pub mod probe;
pub mod token;
