//! The integration tests, in one binary.
#![cfg(test)]

mod daemon;
mod changes;
mod digest;
mod facts;
mod hooks;
mod hook_view;
mod index_file;
mod partition;
mod pushes;
mod repo;
mod sandbox;
mod strength;
