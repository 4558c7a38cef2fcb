//! The integration tests, in one binary.
#![cfg(test)]

mod changes;
mod daemon;
mod demo;
mod digest;
mod facts;
mod gate;
mod harness;
mod hook_view;
mod hooks;
mod index_file;
mod partition;
mod pushes;
mod repo;
mod sandbox;
mod strength;
