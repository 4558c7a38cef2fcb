//! Every integration test, in one binary.

mod changes;
mod hook_view;
mod index_file;
mod pushes;
mod repo;
#[cfg(test)]
mod sandbox;
