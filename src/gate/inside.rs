//! Owns the closer look at changed files in which tests stand beside production: which of their lines are which.

mod hunks;

use std::collections::HashMap;

use crate::gate::GateError;
use crate::gate::cards::SOURCE_CAP;
use crate::partition::{Lines, Part, Partition, Side, Sides};
use crate::strength::languages::Language;
use crate::strength::languages::beside::{Essence, Inseparable, Spans};
use crate::tree::{Change, Entry, Mode, RepoPath, Tree, TreeError};

/// A change to be sorted, and what it is held against.
pub struct Look<'a> {
    /// The trees of its parents; the empty tree when it has none.
    pub bases: &'a [&'a dyn Tree],
    /// The candidate.
    pub patch: &'a dyn Tree,
    /// The policy's globs.
    pub sides: &'a Sides,
}

/// One end of a change.
#[derive(Default)]
struct End {
    bytes: Vec<u8>,
    spans: Spans,
}

/// A file that was looked into.
struct File<'c> {
    change: &'c Change,
    bases: Vec<End>,
    patch: End,
    production: bool,
    test: bool,
}

impl Look<'_> {
    /// The change's sides: a file that may hold both by its changed lines, all else by its path.
    ///
    /// # Errors
    /// When an object cannot be read. A file that cannot be taken apart is sorted by its path.
    pub fn partition(&self, own: &[Change]) -> Result<Partition, GateError> {
        let mut files = Vec::new();
        for change in own {
            if let Some(language) = language(&change.path) {
                files.extend(self.file(language, change)?);
            }
        }
        forget_moved_tests(&mut files);
        let mut parts: HashMap<&RepoPath, Vec<Part>> = files.iter().map(|file| (&file.change.path, file.parts())).collect();
        // An empty list says nothing of the path.
        parts.retain(|_, parts| !parts.is_empty());
        Ok(Partition::by(own, &|change| {
            parts.get(&change.path).cloned().unwrap_or_else(|| vec![Part::whole(self.sides.side(&change.path))])
        }))
    }

    fn file<'c>(&self, language: Language, change: &'c Change) -> Result<Option<File<'c>>, GateError> {
        let side = self.sides.side(&change.path);
        if !matches!(side, Side::Production | Side::Test) {
            return Ok(None);
        }
        let mut bases = Vec::with_capacity(self.bases.len());
        for (number, base) in self.bases.iter().enumerate() {
            let entry = if number == 0 { change.old.clone() } else { base.entry(&change.path)? };
            let Some(end) = end(language, *base, entry.as_ref(), &change.path, side)? else { return Ok(None) };
            bases.push(end);
        }
        let Some(patch) = end(language, self.patch, change.new.as_ref(), &change.path, side)? else { return Ok(None) };
        if bases.iter().any(|base| base.bytes == patch.bytes) {
            return Ok(None);
        }
        let (production, test) = (differs(&bases, &patch, Facet::Production), differs(&bases, &patch, Facet::Test));
        let mut file = File { change, bases, patch, production, test };
        if file.bases.len() > 1 {
            file.keep_own();
        }
        Ok(Some(file))
    }
}

/// Which of the two parts of a file.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Facet {
    Production,
    Test,
}

impl Facet {
    fn of(self, spans: &Spans) -> &Essence {
        match self {
            Facet::Production => &spans.production,
            Facet::Test => &spans.test,
        }
    }

    fn other(self) -> Self {
        match self {
            Facet::Production => Facet::Test,
            Facet::Test => Facet::Production,
        }
    }
}

/// Whether a part says something else than in every base. Formatting says nothing, and an import that only went from one part to the
/// other is no change of either.
fn differs(bases: &[End], patch: &End, part: Facet) -> bool {
    bases.iter().all(|base| {
        let (was, is) = (part.of(&base.spans), part.of(&patch.spans));
        let beside = (part.other().of(&base.spans), part.other().of(&patch.spans));
        !is.is_same_code(was) || !is.only_moved_imports(was, beside)
    })
}

impl File<'_> {
    /// Of a merge only the lines count that no parent brings.
    fn keep_own(&mut self) {
        let bases: Vec<(&[u8], &Spans)> = self.bases.iter().map(|base| (base.bytes.as_slice(), &base.spans)).collect();
        let (production, test) = hunks::own(&bases, (&self.patch.bytes, &self.patch.spans));
        self.production &= production;
        self.test &= test;
    }

    fn parts(&self) -> Vec<Part> {
        let whole = self.patch.spans.whole || (self.change.new.is_none() && self.bases.iter().any(|base| base.spans.whole));
        match (self.production, self.test) {
            (true, true) => {
                let (production, test) = self.lines();
                vec![Part { side: Side::Production, lines: Some(production) }, Part { side: Side::Test, lines: Some(test) }]
            }
            (true, false) => vec![Part::whole(Side::Production)],
            (false, true) if whole => vec![Part::whole(Side::Test)],
            (false, true) => vec![Part { side: Side::Test, lines: Some(self.lines().1) }],
            (false, false) => vec![Part::whole(Side::Neutral)],
        }
    }

    fn lines(&self) -> (Lines, Lines) {
        let Some(base) = self.bases.first() else { return (Lines::default(), Lines::default()) };
        hunks::lines((&base.bytes, &base.spans), (&self.patch.bytes, &self.patch.spans))
    }
}

/// The tests of a file that was renamed are where its production part is: nothing happened to them.
fn forget_moved_tests(files: &mut [File<'_>]) {
    let holds_both = |end: &End| !end.spans.test.is_empty() && !end.spans.production.is_empty();
    let gone: Vec<usize> =
        (0..files.len()).filter(|at| files[*at].change.new.is_none() && files[*at].bases.iter().all(holds_both)).collect();
    for old in gone {
        let is_twin = |file: &File<'_>| {
            let same = |base: &End| base.spans.test == file.patch.spans.test;
            file.change.old.is_none() && file.test && holds_both(&file.patch) && files[old].bases.iter().all(same)
        };
        if let Some(new) = files.iter().position(is_twin) {
            files[old].test = false;
            files[new].test = false;
        }
    }
}

/// The language of a path, when its tests stand beside production.
fn language(path: &RepoPath) -> Option<Language> {
    Language::of(path).filter(|language| language.is_beside_code())
}

/// One end of a change, empty where there is none; `None` when it cannot be taken apart.
fn end(language: Language, tree: &dyn Tree, entry: Option<&Entry>, path: &RepoPath, side: Side) -> Result<Option<End>, GateError> {
    let Some(entry) = entry else { return Ok(Some(End::default())) };
    let Some(bytes) = source(tree, entry, path)? else { return Ok(None) };
    let all_tests = side == Side::Test || is_declared(language, tree, path)?;
    Ok(language.spans(&bytes, all_tests).map(|spans| End { bytes, spans }))
}

/// The bytes of a source file; `None` for what is no file or too large.
fn source(tree: &dyn Tree, entry: &Entry, path: &RepoPath) -> Result<Option<Vec<u8>>, GateError> {
    if !matches!(entry.mode, Mode::File | Mode::Executable) {
        return Ok(None);
    }
    match tree.blob(&entry.oid, SOURCE_CAP) {
        Err(TreeError::TooLarge { .. }) => Ok(None),
        other => Ok(Some(other.map_err(|error| error.of(path))?)),
    }
}

/// Whether the file that another belongs to has it for tests only, as in `#[cfg(test)] mod tests;`.
fn is_declared(language: Language, tree: &dyn Tree, path: &RepoPath) -> Result<bool, GateError> {
    for (parent, name) in language.parents(path) {
        let Some(entry) = tree.entry(&parent)?.filter(|_| parent != *path) else { continue };
        let Some(bytes) = source(tree, &entry, &parent)? else { continue };
        let file = path.as_bytes().strip_prefix(parent.parent()).unwrap_or(path.name());
        let file = String::from_utf8_lossy(file.strip_prefix(b"/").unwrap_or(file));
        if let Some(for_tests) = language.declares_tests(&bytes, &name, &file) {
            return Ok(for_tests);
        }
    }
    Ok(false)
}

/// Which part of a file that is on both sides comes alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Half {
    /// The candidate's production with the base's tests.
    Production,
    /// The candidate's tests in the base's production.
    Tests,
}

/// The file that has one half of a change.
///
/// # Errors
/// When an object cannot be read, or there is no such file: then the path and why.
pub fn half(tree: &dyn Tree, change: &Change, half: Half) -> Result<Result<Vec<u8>, Inseparable>, GateError> {
    let bytes = |entry: Option<&Entry>| -> Result<Vec<u8>, GateError> {
        Ok(entry.map(|entry| source(tree, entry, &change.path)).transpose()?.flatten().unwrap_or_default())
    };
    let (was, is) = (bytes(change.old.as_ref())?, bytes(change.new.as_ref())?);
    let Some(language) = language(&change.path) else { return Ok(Err(Inseparable::Tangled)) };
    Ok(match half {
        Half::Production => language.compose(&is, &was),
        Half::Tests => language.compose(&was, &is),
    })
}
