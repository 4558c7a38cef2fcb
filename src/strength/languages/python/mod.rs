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
mod exports;
mod homes;
pub(super) mod hooks;
mod leaning;
mod literal;
mod machine;
mod marks;
mod mutants;
mod names;
mod noise;
mod patches;
mod paths;
mod rebinds;
mod reducers;
mod replaced;
mod sensing;
mod signatures;
mod oracles;
mod reach;
mod strategies;
mod swallowers;
mod text;
mod write;

use ruff_python_ast::{Mod, Stmt};
use ruff_python_parser::{Mode, ParseOptions, Parsed, parse_unchecked};
use ruff_text_size::TextSize;

use crate::strength::languages::facts::Module;
use crate::strength::languages::python::depth::TooDeep;
use crate::strength::languages::python::names::Names;
use crate::strength::languages::python::text::File;
use crate::strength::languages::{Adapter, Sense, Setting, Unreadable};
use crate::strength::mutants::Places;
use crate::tree::RepoPath;

/// Trees of at most this depth are read on the stack that is there.
const SHALLOW: usize = 150;
/// Stack for one more level of a tree, and the least that is asked for.
const LEVEL: usize = 24 << 10;
const LEAST: usize = 8 << 20;

/// A file of at most so many bytes cannot make the parser nest so deep that its memory matters.
const SMALL: usize = 8 << 10;

/// Python, as the rest asks it: what pytest collects by its default rules.
pub(super) struct Python;

impl Adapter for Python {
    fn setting(&self, key: &str) -> Option<Setting> {
        budget::known(key)
    }

    fn owns(&self, path: &RepoPath) -> bool {
        let name = path.name();
        name.ends_with(b".py") || name.ends_with(b".pyi")
    }

    fn module(&self, bytes: &[u8]) -> Result<Module, Unreadable> {
        module(bytes)
    }

    fn hooks(&self, bytes: &[u8]) -> Result<hooks::Hooks, Unreadable> {
        hooks(bytes)
    }

    fn senses(&self, bytes: &[u8]) -> Result<Vec<Sense>, Unreadable> {
        senses(bytes)
    }

    fn mutants(&self, bytes: &[u8]) -> Result<Places, Unreadable> {
        mutants(bytes)
    }

    /// `test_*.py` and `*_test.py`.
    fn collects(&self, path: &RepoPath) -> bool {
        path.name().strip_suffix(b".py").is_some_and(|stem| stem.starts_with(b"test_") || stem.ends_with(b"_test"))
    }

    fn is_test_name(&self, name: &str) -> bool {
        name.starts_with("test")
    }

    fn is_property_name(&self, name: &str) -> bool {
        name.starts_with("prop_")
    }

    fn shared(&self, path: &RepoPath) -> Vec<RepoPath> {
        homes::conftests(path)
    }

    fn homes(&self, module: &str, from: &RepoPath) -> Vec<RepoPath> {
        homes::candidates(module, from)
    }

    fn is_outside(&self, module: &str) -> bool {
        ["hypothesis", "pytest", "unittest"].iter().any(|house| module == *house || module.starts_with(&format!("{house}.")))
    }

    fn sensing_words(&self) -> &'static [&'static str] {
        &sensing::WORDS
    }

    fn names_are_carded(&self, path: &RepoPath) -> bool {
        !self.collects(path)
    }
}

/// Reads one file.
///
/// # Errors
/// [`Unreadable`] when the bytes cannot be decoded or parsed.
fn module(bytes: &[u8]) -> Result<Module, Unreadable> {
    parsed(bytes, |file, body| collect::module(body, &Names::read(file, body)))
}

/// What one file tells pytest besides its tests.
fn hooks(bytes: &[u8]) -> Result<hooks::Hooks, Unreadable> {
    parsed(bytes, hooks::read)
}

/// How one file tells whether a test runs.
fn senses(bytes: &[u8]) -> Result<Vec<Sense>, Unreadable> {
    parsed(bytes, sensing::read)
}

/// Where faults fit in one file.
fn mutants(bytes: &[u8]) -> Result<Places, Unreadable> {
    let source = decode::text(bytes)?;
    let mut places = parsed(bytes, |file, body| mutants::read(file, &source, body))?;
    if source.as_bytes() != bytes {
        // Offsets of the text are none of the file.
        let (offsets, encoding) = decode::offsets(bytes, &source)?;
        let of = |at: usize| offsets.get(at).copied().unwrap_or(bytes.len());
        places.sites.iter_mut().for_each(|site| (site.at, site.end) = (of(site.at), of(site.end)));
        places.encoding = encoding;
    }
    Ok(places)
}

/// Reads a tree on a stack that is deep enough for it.
fn parsed<T: Default>(bytes: &[u8], read: impl Fn(&File<'_>, &[Stmt]) -> T) -> Result<T, Unreadable> {
    let source = decode::text(bytes)?;
    if source.len() > SMALL {
        depth::guess(source.as_bytes()).map_err(|deep| too_deep(&source, &deep))?;
    }
    let parsed = parse_unchecked(&source, ParseOptions::from(Mode::Module));
    match depth::bound(parsed.tokens()) {
        Ok(depth) if depth <= SHALLOW => with_tree(&source, parsed, read),
        Ok(depth) => stacker::grow(LEAST + depth * LEVEL, || with_tree(&source, parsed, read)),
        Err(deep) => {
            // Dropping a tree recurses as deep as it is.
            let size = LEAST + parsed.tokens().len() * DROP;
            stacker::grow(size, || drop(parsed));
            Err(too_deep(&source, &deep))
        }
    }
}

/// Stack that dropping takes for one token, at most.
const DROP: usize = 1 << 10;

fn too_deep(source: &str, deep: &TooDeep) -> Unreadable {
    let at = TextSize::try_from(deep.offset).unwrap_or_default();
    Unreadable { line: File::new(source, &[]).line(at), says: deep.says.to_owned() }
}

#[expect(clippy::needless_pass_by_value, reason = "the tree is dropped here, on the stack that was made for it")]
fn with_tree<T: Default>(source: &str, parsed: Parsed<Mod>, read: impl Fn(&File<'_>, &[Stmt]) -> T) -> Result<T, Unreadable> {
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
