//! Every integration test, in one binary.

#[cfg(test)]
mod changes;
#[cfg(test)]
mod hook_view;
#[cfg(test)]
mod index_file;
#[cfg(test)]
mod pushes;
#[cfg(test)]
mod repo;
#[cfg(test)]
mod sandbox;
