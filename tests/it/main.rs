//! The integration tests, in one binary.
#![cfg(test)]

mod advice;
mod audit;
mod candidates;
mod chain;
mod changes;
mod daemon;
mod demo;
mod digest;
mod facts;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod faults;
mod freeze;
mod gate;
mod harness;
mod hook_view;
mod hooks;
mod index_file;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod killer;
mod losses;
mod partition;
mod probe;
mod project;
mod props;
mod pushes;
mod repo;
mod rules;
mod sandbox;
mod spans;
mod split;
mod strength;
mod surroundings;
mod token;
mod witness;
