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
mod gate;
mod harness;
mod hook_view;
mod hooks;
mod index_file;
mod partition;
mod project;
mod props;
mod pushes;
mod repo;
mod rules;
mod sandbox;
mod split;
mod strength;
mod witness;
