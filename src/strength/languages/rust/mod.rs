//! Owns Rust: from the bytes of one file to the facts of one module.

mod body;
mod budget;
mod cases;
mod cfg;
mod collect;
mod depth;
mod doctests;
mod functions;
mod links;
mod macros;
mod names;
mod predicate;
mod sensing;
mod spans;
mod strategies;
mod write;

use std::collections::BTreeSet;
use std::str::FromStr as _;

use memchr::memmem;
use proc_macro2::TokenStream;

use crate::strength::languages::beside::{Inseparable, Spans};
use crate::strength::languages::facts::Module;
use crate::strength::languages::{Adapter, Sense, Setting, Unreadable};
use crate::tree::RepoPath;

/// Trees of at most so many levels are read on the stack that is there.
const SHALLOW: usize = 64;
/// Stack for one more level, and the least that is asked for.
const LEVEL: usize = 10 << 10;
const LEAST: usize = 8 << 20;

/// Words without which a file holds neither tests nor what tests lean on.
const WORDS: [&str; 6] = ["test", "quickcheck", "assert", "Strategy", "mod ", "prop_"];

/// Rust, as the rest asks it.
pub(super) struct Rust;

impl Adapter for Rust {
    fn owns(&self, path: &RepoPath) -> bool {
        path.name().ends_with(b".rs")
    }

    fn module(&self, bytes: &[u8]) -> Result<Module, Unreadable> {
        if !WORDS.iter().chain(&doctests::WORDS).any(|word| memmem::find(bytes, word.as_bytes()).is_some()) {
            return Ok(Module::default());
        }
        parsed(bytes, collect::module)
    }

    fn senses(&self, bytes: &[u8]) -> Result<Vec<Sense>, Unreadable> {
        tokens(bytes).map(|tokens| sensing::read(&tokens))
    }

    fn is_beside_code(&self) -> bool {
        true
    }

    fn spans(&self, bytes: &[u8], all_tests: bool) -> Option<Result<Spans, Unreadable>> {
        Some(if all_tests { spans::all_tests(bytes) } else { spans::spans(bytes) })
    }

    fn compose(&self, production: &[u8], tests: &[u8]) -> Result<Vec<u8>, Inseparable> {
        spans::compose(production, tests)
    }

    fn declares_tests(&self, bytes: &[u8], name: &str, file: &str) -> Option<bool> {
        spans::declares_tests(bytes, name, file).ok().flatten()
    }

    fn collects(&self, _: &RepoPath) -> bool {
        true
    }

    fn must_read(&self, path: &RepoPath) -> bool {
        links::is_target(path)
    }

    fn homes(&self, module: &str, from: &RepoPath) -> Vec<RepoPath> {
        links::homes(module, from)
    }

    fn parents(&self, path: &RepoPath) -> Vec<(RepoPath, String)> {
        links::parents(path)
    }

    fn linked(&self, from: &RepoPath, name: &str, at: Option<&str>) -> Vec<RepoPath> {
        links::linked(from, name, at)
    }

    /// `proptest-regressions/**.txt`: lines `cc …`, told without the comment behind them.
    fn seeds<'b>(&self, path: &RepoPath, bytes: &'b [u8]) -> Option<BTreeSet<&'b [u8]>> {
        let is_file = path.name().ends_with(b".txt") && memmem::find(path.as_bytes(), b"proptest-regressions/").is_some();
        let lines = bytes.split(|byte| *byte == b'\n').filter(|line| ["cc ", "xs "].iter().any(|word| line.starts_with(word.as_bytes())));
        is_file.then(|| lines.map(|line| line.split(|byte| *byte == b'#').next().unwrap_or(line).trim_ascii()).collect())
    }

    fn setting(&self, key: &str) -> Option<Setting> {
        budget::setting(key)
    }

    /// `snapshots/*.snap` of insta: the head of the file names the source, the end of its name the test.
    fn kept_for(&self, path: &RepoPath, bytes: &[u8]) -> Option<String> {
        links::snapshot_of(path, bytes)
    }

    fn runs_examples(&self, path: &RepoPath) -> bool {
        links::is_documented(path)
    }

    fn subjects(&self, path: &RepoPath) -> Vec<RepoPath> {
        links::subjects(path)
    }

    fn sensing_words(&self) -> &'static [&'static str] {
        &sensing::WORDS
    }

    fn is_outside(&self, module: &str) -> bool {
        ["std", "core", "alloc", "proptest", "quickcheck", "rstest", "test_case", "insta"]
            .contains(&module.split('.').next().unwrap_or_default())
    }

    fn names_are_carded(&self, _: &RepoPath) -> bool {
        true
    }
}

/// The tokens of a file, its first line left out where that is for the shell.
fn tokens(bytes: &[u8]) -> Result<TokenStream, Unreadable> {
    let text = std::str::from_utf8(bytes).map_err(|_| Unreadable { line: 1, says: "it is not UTF-8".to_owned() })?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let shebang = text.starts_with("#!") && !text[2..].trim_start().starts_with('[');
    let text = if shebang { text.find('\n').map_or("", |at| &text[at..]) } else { text };
    // Spans of files that were read before are not needed any more, and each would be held for good.
    proc_macro2::extra::invalidate_current_thread_spans();
    TokenStream::from_str(text).map_err(|error| at(error.span(), &error.to_string()))
}

fn at(span: proc_macro2::Span, says: &str) -> Unreadable {
    Unreadable { line: u32::try_from(span.start().line).unwrap_or(1), says: says.to_owned() }
}

/// Reads a tree on a stack that is deep enough for it.
fn parsed<T>(bytes: &[u8], read: impl Fn(&syn::File) -> T) -> Result<T, Unreadable> {
    let tokens = tokens(bytes)?;
    let depth = depth::bound(&tokens)?;
    let go = || {
        let file: syn::File = syn::parse2(tokens).map_err(|error| at(error.span(), &error.to_string()))?;
        Ok(read(&file))
    };
    if depth <= SHALLOW { go() } else { stacker::maybe_grow(LEAST, LEAST + depth * LEVEL, go) }
}

#[cfg(test)]
mod tests;
