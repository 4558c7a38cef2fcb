//! Owns Python: from the bytes of one file to the facts of one module.

mod body;
mod budget;
mod cases;
mod claims;
mod collect;
mod comprehensions;
mod decode;
mod depth;
mod effort;
mod examples;
pub(super) mod hooks;
mod literal;
mod machine;
mod marks;
mod names;
mod noise;
mod patches;
mod paths;
mod reducers;
pub(super) mod sensing;
mod oracles;
mod reach;
mod strategies;
mod text;
mod write;

use ruff_python_ast::Stmt;
use ruff_python_parser::{Mode, ParseOptions, parse_unchecked};

use crate::strength::languages::Unreadable;
use crate::strength::languages::facts::Module;
use crate::strength::languages::python::names::Names;
use crate::strength::languages::python::text::File;

/// Trees of at most this depth are read on the stack that is there.
const SHALLOW: usize = 150;
/// Stack for one more level of a tree, and the least that is asked for.
const LEVEL: usize = 24 << 10;
const LEAST: usize = 8 << 20;

/// Reads one file.
///
/// # Errors
/// [`Unreadable`] when the bytes cannot be decoded or parsed.
pub(super) fn module(bytes: &[u8]) -> Result<Module, Unreadable> {
    parsed(bytes, |file, body| collect::module(body, &Names::read(file, body)))
}

/// What one file tells pytest besides its tests.
pub(super) fn hooks(bytes: &[u8]) -> Result<hooks::Hooks, Unreadable> {
    parsed(bytes, hooks::read)
}

/// How one file tells whether a test runs.
pub(super) fn senses(bytes: &[u8]) -> Result<Vec<sensing::Sense>, Unreadable> {
    parsed(bytes, sensing::read)
}

/// Reads a tree on a stack that is deep enough for it.
fn parsed<T: Default>(bytes: &[u8], read: impl Fn(&File<'_>, &[Stmt]) -> T) -> Result<T, Unreadable> {
    let source = decode::text(bytes)?;
    let depth = depth::bound(&source)?;
    if depth <= SHALLOW {
        return with_tree(&source, read);
    }
    stacker::grow(LEAST + depth * LEVEL, || with_tree(&source, read))
}

fn with_tree<T: Default>(source: &str, read: impl Fn(&File<'_>, &[Stmt]) -> T) -> Result<T, Unreadable> {
    let parsed = parse_unchecked(source, ParseOptions::from(Mode::Module));
    if let Some(error) = parsed.errors().iter().min_by_key(|e| e.location.start()) {
        let file = File::new(source, &[]);
        return Err(Unreadable { line: file.line(error.location.start()), says: error.error.to_string() });
    }
    let Some(tree) = parsed.syntax().as_module() else { return Ok(T::default()) };
    let file = File::new(source, parsed.tokens()).quieted(&tree.body);
    Ok(read(&file, &tree.body))
}

#[cfg(test)]
mod tests;
