//! The integration tests, in one binary.

#[cfg(test)]
mod changes;
mod digest;
mod facts;
#[cfg(test)]
mod hook_view;
#[cfg(test)]
mod index_file;
mod partition;
#[cfg(test)]
mod pushes;
#[cfg(test)]
mod repo;
#[cfg(test)]
mod sandbox;
