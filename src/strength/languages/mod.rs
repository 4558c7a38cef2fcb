//! Owns the seam between a language and the rest: bytes of one blob in, facts of one module out. What else a language knows is an answer here.

pub mod beside;
pub mod facts;
mod python;
mod rust;

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::strength::languages::beside::{Inseparable, Spans};
pub use crate::strength::languages::facts::Module;
pub use crate::strength::languages::python::hooks::{Hook, Hooks};
use crate::strength::mutants::Places;
use crate::tree::RepoPath;

/// Why a file was not read: deterministic for its bytes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("line {line}: {says}")]
pub struct Unreadable {
    /// 1-based line.
    pub line: u32,
    /// What is wrong.
    pub says: String,
}

/// A construct by which production code tells whether a test runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sense {
    /// 1-based line.
    pub line: u32,
    /// What it does, without its place: equal for equal constructs.
    pub says: String,
}

/// One setting of how hard a language's runner tries.
pub struct Setting {
    /// What holds where it is not set.
    pub usual: &'static str,
    /// Of what is usual, a text and another text: whether the last is less than the one before.
    pub is_lower: fn(&str, &str, &str) -> bool,
}

impl Setting {
    /// A number of tries; a text that is no number is less than any.
    fn number(usual: &'static str) -> Self {
        let is_lower = |usual: &str, old: &str, new: &str| {
            let before = number(old).or_else(|| number(usual)).unwrap_or_default();
            number(new).is_none_or(|new| new < before)
        };
        Setting { usual, is_lower }
    }

    /// Something that may be `None`.
    fn kept(usual: &'static str) -> Self {
        Setting { usual, is_lower: |_, _, new| new == "None" }
    }
}

fn number(text: &str) -> Option<u64> {
    text.parse().ok()
}

/// What is asked of a language. What has an answer here already is that of a language that has nothing of the kind.
trait Adapter: Sync {
    /// Whether a path is a file of this language, by its ending.
    fn owns(&self, path: &RepoPath) -> bool;

    /// Reads one blob.
    fn module(&self, bytes: &[u8]) -> Result<Module, Unreadable>;

    /// What a file tells its runner besides tests.
    fn hooks(&self, _: &[u8]) -> Result<Hooks, Unreadable> {
        Ok(Hooks::default())
    }

    /// How a file tells whether a test runs.
    fn senses(&self, _: &[u8]) -> Result<Vec<Sense>, Unreadable> {
        Ok(Vec::new())
    }

    /// Where faults fit in a file.
    fn mutants(&self, _: &[u8]) -> Result<Places, Unreadable> {
        Ok(Places::default())
    }

    /// Whether tests may stand beside production code, so that a file of production is carded too.
    fn is_beside_code(&self) -> bool {
        false
    }

    /// Where the tests stand in a file of which they may be a part; `all_tests` when all of it is known to be. `None` where a file is of
    /// one side as a whole.
    fn spans(&self, _: &[u8], _all_tests: bool) -> Option<Result<Spans, Unreadable>> {
        None
    }

    /// The production part of one file with the tests of another.
    fn compose(&self, _: &[u8], _: &[u8]) -> Result<Vec<u8>, Inseparable> {
        Err(Inseparable::Tangled)
    }

    /// Whether a file declares another, by the name or the file name that it has there, and then whether for tests only.
    fn declares_tests(&self, _: &[u8], _name: &str, _file: &str) -> Option<bool> {
        None
    }

    /// Whether the runner looks for tests in a file of this path.
    fn collects(&self, path: &RepoPath) -> bool;

    /// Whether a file of this path must be readable, whether or not it had cards before.
    fn must_read(&self, path: &RepoPath) -> bool {
        self.collects(path)
    }

    /// Whether a plain function of this name is a test.
    fn is_test_name(&self, _: &str) -> bool {
        false
    }

    /// Whether a plain function of this name is a property.
    fn is_property_name(&self, _: &str) -> bool {
        false
    }

    /// Files whose functions act on the tests of this one without being named by it, nearest first.
    fn shared(&self, _: &RepoPath) -> Vec<RepoPath> {
        Vec::new()
    }

    /// Where a module of a dotted name could lie, told from a file.
    fn homes(&self, module: &str, from: &RepoPath) -> Vec<RepoPath>;

    /// Whether a dotted name is one of the language's own test libraries, which no repository defines.
    fn is_outside(&self, module: &str) -> bool;

    /// The files that could declare this one, each with the name that it would have there; none where a file needs no declaration.
    fn parents(&self, _: &RepoPath) -> Vec<(RepoPath, String)> {
        Vec::new()
    }

    /// The files in which a module lies that a file declares by a name, or by a path.
    fn linked(&self, _: &RepoPath, _: &str, _: Option<&str>) -> Vec<RepoPath> {
        Vec::new()
    }

    /// Inputs in a file that the language's runner keeps to try them again; `None` where the path is no such file.
    fn seeds<'b>(&self, _: &RepoPath, _: &'b [u8]) -> Option<BTreeSet<&'b [u8]>> {
        None
    }

    /// A setting of how hard its runners try, as budgets name it.
    fn setting(&self, _: &str) -> Option<Setting> {
        None
    }

    /// The test of which a file keeps the output, told from the file's path and bytes; `None` where the path is no such file.
    fn kept_for(&self, _: &RepoPath, _: &[u8]) -> Option<String> {
        None
    }

    /// Whether examples in the documentation of a file of this path are run.
    fn runs_examples(&self, _: &RepoPath) -> bool {
        false
    }

    /// Roots of the production code that a file of tests beside it tests.
    fn subjects(&self, _: &RepoPath) -> Vec<RepoPath> {
        Vec::new()
    }

    /// Words of which bytes hold one where they tell whether a test runs.
    fn sensing_words(&self) -> &'static [&'static str] {
        &[]
    }

    /// Whether names that other files may use have cards of their own where a test file defines them.
    fn names_are_carded(&self, path: &RepoPath) -> bool;
}

/// The adapter list: a language is a name and what answers for it.
macro_rules! adapters {
    ($($(#[$doc:meta])* $name:ident => $adapter:expr,)*) => {
        /// A language that can be carded.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
        #[serde(rename_all = "snake_case")]
        pub enum Language {
            $($(#[$doc])* $name,)*
        }

        impl Language {
            const ALL: &[Language] = &[$(Language::$name,)*];

            fn adapter(self) -> &'static dyn Adapter {
                match self {
                    $(Language::$name => &$adapter,)*
                }
            }
        }
    };
}

adapters! {
    /// Python.
    Python => python::Python,
    /// Rust.
    Rust => rust::Rust,
}

/// Inputs in a file that a runner keeps to try them again; `None` where the path is no such file.
pub fn seeds<'b>(path: &RepoPath, bytes: &'b [u8]) -> Option<BTreeSet<&'b [u8]>> {
    Language::ALL.iter().find_map(|language| language.adapter().seeds(path, bytes))
}

/// A setting of how hard runners try, of whatever language.
pub(super) fn setting(key: &str) -> Option<Setting> {
    Language::ALL.iter().find_map(|language| language.adapter().setting(key))
}

/// The test of which a file keeps the output; `None` where the path is no such file.
pub fn kept_for(path: &RepoPath, bytes: &[u8]) -> Option<String> {
    Language::ALL.iter().find_map(|language| language.adapter().kept_for(path, bytes))
}

impl Language {
    /// The language of a path, by its ending.
    pub fn of(path: &RepoPath) -> Option<Self> {
        Language::ALL.iter().copied().find(|language| language.adapter().owns(path))
    }

    /// Reads one blob.
    ///
    /// # Errors
    /// [`Unreadable`] when the bytes cannot be decoded or parsed.
    pub fn module(self, bytes: &[u8]) -> Result<Module, Unreadable> {
        self.adapter().module(bytes)
    }

    /// What a file tells its runner besides tests.
    ///
    /// # Errors
    /// [`Unreadable`] when the bytes cannot be decoded or parsed.
    pub fn hooks(self, bytes: &[u8]) -> Result<Hooks, Unreadable> {
        self.adapter().hooks(bytes)
    }

    /// How a file tells whether a test runs.
    ///
    /// # Errors
    /// [`Unreadable`] when the bytes cannot be decoded or parsed.
    pub fn senses(self, bytes: &[u8]) -> Result<Vec<Sense>, Unreadable> {
        self.adapter().senses(bytes)
    }

    /// Whether tests may stand beside production code.
    pub fn is_beside_code(self) -> bool {
        self.adapter().is_beside_code()
    }

    /// Where the tests stand in a file of which they may be a part; `all_tests` when all of it is known to be. `None` where a file of this
    /// language is of one side as a whole, or cannot be read.
    pub fn spans(self, bytes: &[u8], all_tests: bool) -> Option<Spans> {
        self.adapter().spans(bytes, all_tests)?.ok()
    }

    /// The production part of one file with the tests of another. A file that is not there counts as empty.
    ///
    /// # Errors
    /// [`Inseparable`].
    pub fn compose(self, production: &[u8], tests: &[u8]) -> Result<Vec<u8>, Inseparable> {
        self.adapter().compose(production, tests)
    }

    /// Whether a file declares another, by the name or the file name that it has there, and then whether for tests only.
    pub fn declares_tests(self, bytes: &[u8], name: &str, file: &str) -> Option<bool> {
        self.adapter().declares_tests(bytes, name, file)
    }

    /// Whether the runner looks for tests in a file of this path.
    pub(super) fn collects(self, path: &RepoPath) -> bool {
        self.adapter().collects(path)
    }

    /// Whether a file of this path must be readable, whether or not it had cards before.
    pub(super) fn must_read(self, path: &RepoPath) -> bool {
        self.adapter().must_read(path)
    }

    /// Whether a plain function of this name is a test.
    pub(super) fn is_test_name(self, name: &str) -> bool {
        self.adapter().is_test_name(name)
    }

    /// Whether a plain function of this name is a property.
    pub(super) fn is_property_name(self, name: &str) -> bool {
        self.adapter().is_property_name(name)
    }

    /// Files whose functions act on the tests of this one without being named by it, nearest first.
    pub(super) fn shared(self, path: &RepoPath) -> Vec<RepoPath> {
        self.adapter().shared(path)
    }

    /// Where a module of a dotted name could lie, told from a file.
    pub(super) fn homes(self, module: &str, from: &RepoPath) -> Vec<RepoPath> {
        self.adapter().homes(module, from)
    }

    /// Whether a dotted name is one of the language's own test libraries.
    pub(super) fn is_outside(self, module: &str) -> bool {
        self.adapter().is_outside(module)
    }

    /// The files that could declare this one, each with the name that it would have there.
    pub fn parents(self, path: &RepoPath) -> Vec<(RepoPath, String)> {
        self.adapter().parents(path)
    }

    /// The files in which a module lies that a file declares.
    pub(super) fn linked(self, from: &RepoPath, name: &str, at: Option<&str>) -> Vec<RepoPath> {
        self.adapter().linked(from, name, at)
    }

    /// Whether examples in the documentation of a file of this path are run.
    pub(super) fn runs_examples(self, path: &RepoPath) -> bool {
        self.adapter().runs_examples(path)
    }

    /// Roots of the production code that a file of tests beside it tests.
    pub(super) fn subjects(self, path: &RepoPath) -> Vec<RepoPath> {
        self.adapter().subjects(path)
    }

    /// Words of which bytes hold one where they tell whether a test runs.
    pub(super) fn sensing_words(self) -> &'static [&'static str] {
        self.adapter().sensing_words()
    }

    /// Whether names that other files may use have cards of their own where a test file defines them.
    pub(super) fn names_are_carded(self, path: &RepoPath) -> bool {
        self.adapter().names_are_carded(path)
    }

    /// Where faults fit in a file.
    ///
    /// # Errors
    /// [`Unreadable`] when the bytes cannot be decoded or parsed.
    pub fn mutants(self, bytes: &[u8]) -> Result<Places, Unreadable> {
        self.adapter().mutants(bytes)
    }
}
