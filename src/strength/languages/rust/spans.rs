//! Owns where the tests stand in a Rust file. What is not plainly a test is production.

mod attributes;
mod compose;
mod essence;
mod items;
mod lex;

use std::collections::HashMap;
use std::ops::Range;

use crate::strength::languages::Unreadable;
use crate::strength::languages::beside::{Essence, Spans};
use crate::strength::languages::rust::predicate;
use crate::strength::languages::rust::spans::attributes::Says;
use crate::strength::languages::rust::spans::essence::Docs;
use crate::strength::languages::rust::spans::items::{Item, Sort};
use crate::strength::languages::rust::spans::lex::Source;

pub(super) use compose::compose;

/// How deep modules and implementations are gone into; what lies deeper is production.
const DEPTH: usize = 64;

/// Reads a file.
///
/// # Errors
/// [`Unreadable`] when the bytes are not the tokens of a Rust file.
pub(super) fn spans(bytes: &[u8]) -> Result<Spans, Unreadable> {
    Ok(Layout::read(bytes)?.spans())
}

/// Reads a file that all is tests, whatever stands in it.
///
/// # Errors
/// [`Unreadable`] when the bytes are not the tokens of a Rust file.
pub(super) fn all_tests(bytes: &[u8]) -> Result<Spans, Unreadable> {
    Ok(Layout { source: Source::read(bytes)?, holes: Vec::new(), containers: Vec::new(), whole: true }.spans())
}

/// Whether a file has `mod name;` with the module in another file, and then whether only tests have it.
///
/// # Errors
/// [`Unreadable`] when the bytes are not the tokens of a Rust file.
pub(super) fn declares_tests(bytes: &[u8], name: &str, file: &str) -> Result<Option<bool>, Unreadable> {
    let source = Source::read(bytes)?;
    let all = 0..source.tokens.len();
    let (attributes, start) = items::inner(&source, &all);
    let only_tests = attributes.iter().any(|attribute| attributes::says(&source, attribute) == Says::OnlyTests);
    let declares = |item: &Item| {
        let path = item.attributes.iter().find_map(|attribute| attributes::path_of(&source, attribute));
        item.sort == Sort::Mod && item.body.is_none() && path.map_or(item.name == name, |path| path == file)
    };
    let found = items::items(&source, start..all.end).into_iter().find(declares);
    Ok(found.map(|item| only_tests || is_test(&source, &item)))
}

/// A test item.
struct Hole {
    /// Its bytes, with what belongs to it around it.
    bytes: Range<usize>,
    tokens: Range<usize>,
    /// What holds it, by its place in the layout.
    container: usize,
    /// How many production items stand before it there.
    slot: usize,
    /// What tells it from its neighbours.
    key: (String, usize),
}

/// A file, module, implementation or trait: what items stand in.
struct Container {
    /// What tells it from others, from the outside in.
    key: Vec<(String, usize)>,
    /// Where its items begin, in bytes.
    start: usize,
    /// Its production items: what tells each from its neighbours, and where it ends.
    anchors: Vec<((String, usize), usize)>,
}

/// A file taken apart.
struct Layout<'t> {
    source: Source<'t>,
    holes: Vec<Hole>,
    containers: Vec<Container>,
    whole: bool,
}

impl<'t> Layout<'t> {
    fn read(bytes: &'t [u8]) -> Result<Self, Unreadable> {
        let source = Source::read(bytes)?;
        let all = 0..source.tokens.len();
        let (attributes, _) = items::inner(&source, &all);
        let whole = attributes.iter().any(|attribute| attributes::says(&source, attribute) == Says::OnlyTests);
        let mut layout = Layout { source, holes: Vec::new(), containers: Vec::new(), whole };
        if !whole {
            layout.walk(all, &[], DEPTH);
        }
        layout.holes.sort_by_key(|hole| hole.bytes.start);
        Ok(layout)
    }

    fn spans(&self) -> Spans {
        let (mut production, mut test) = (Essence::default(), Essence::default());
        let all = 0..self.source.tokens.len();
        if self.whole {
            test.add(&self.source, all, &[], Docs::SayNothing);
            return Spans { tests: std::iter::once(0..self.source.text.len()).collect(), whole: true, production, test };
        }
        let holes: Vec<Range<usize>> = self.holes.iter().map(|hole| hole.tokens.clone()).collect();
        production.add(&self.source, all, &holes, Docs::Count);
        holes.into_iter().for_each(|tokens| test.add(&self.source, tokens, &[], Docs::SayNothing));
        Spans { tests: self.holes.iter().map(|hole| hole.bytes.clone()).collect(), whole: false, production, test }
    }

    fn walk(&mut self, tokens: Range<usize>, key: &[(String, usize)], depth: usize) {
        let Some(depth) = depth.checked_sub(1) else { return };
        let (_, first) = items::inner(&self.source, &tokens);
        let at = self.containers.len();
        let start = if first == 0 { self.source.start } else { self.line_end(first - 1) };
        self.containers.push(Container { key: key.to_vec(), start, anchors: Vec::new() });
        let mut seen: HashMap<(bool, String), usize> = HashMap::new();
        for item in items::items(&self.source, first..tokens.end) {
            let (name, test) = (item.key(), is_test(&self.source, &item));
            let number = seen.entry((test, name.clone())).and_modify(|number| *number += 1).or_default();
            let own = (name, *number);
            if test {
                let slot = self.containers[at].anchors.len();
                self.holes.push(Hole { bytes: self.reach(&item), tokens: item.tokens, container: at, slot, key: own });
                continue;
            }
            let end = self.line_end(item.tokens.end - 1);
            self.containers[at].anchors.push((own.clone(), end));
            if item.holds_items()
                && let Some(body) = item.body
            {
                self.walk(body, &[key, &[own]].concat(), depth);
            }
        }
    }

    /// Where the line of a token ends when nothing but a comment follows there, else where the token ends.
    fn line_end(&self, token: usize) -> usize {
        let end = self.source.tokens[token].end;
        let next = self.source.tokens.get(token + 1).map_or(self.source.text.len(), |next| next.start);
        let rest = &self.source.text[end..next];
        let line = rest.find('\n').map_or(rest, |feed| &rest[..=feed]);
        let is_last = line.len() == rest.len() && next < self.source.text.len() && !line.ends_with('\n');
        let words = line.trim();
        if is_last || !(words.is_empty() || words.starts_with("//")) { end } else { end + line.len() }
    }

    /// The bytes of a test item: from the blank lines and line comments right above it to the end of its last line.
    fn reach(&self, item: &Item) -> Range<usize> {
        let start = self.source.tokens[item.tokens.start].start;
        let gap_start = self.source.gap(item.tokens.start);
        let gap = &self.source.text[gap_start..start];
        let own = gap.rfind('\n').map_or(0, |feed| feed + 1);
        let is_plain = !gap.contains("/*") && (own > 0 || gap_start == self.source.start);
        let end = self.line_end(item.tokens.end - 1);
        if !is_plain {
            return start..end;
        }
        // What stands on the line of the token before belongs to that token.
        let first = if gap_start == self.source.start { 0 } else { gap.find('\n').map_or(gap.len(), |feed| feed + 1) };
        let (mut at, mut above) = (own, gap.get(first..own).unwrap_or_default());
        for belongs in [|line: &str| line.starts_with("//"), |line: &str| line.is_empty()] {
            while let Some(line) = above.split_inclusive('\n').next_back().filter(|line| belongs(line.trim())) {
                at -= line.len();
                above = &above[..above.len() - line.len()];
            }
        }
        gap_start + at..end
    }
}

/// Whether an item is there for tests.
fn is_test(source: &Source<'_>, item: &Item) -> bool {
    let mut all = item.attributes.clone();
    if let (Sort::Mod, Some(body)) = (item.sort, &item.body) {
        all.extend(items::inner(source, body).0);
    }
    let says: Vec<Says> = all.iter().map(|attribute| attributes::says(source, attribute)).collect();
    if says.contains(&Says::NeverTests) {
        return false;
    }
    let named = match item.sort {
        Sort::Fn => says.contains(&Says::Test),
        Sort::Mod => item.body.is_some() && predicate::is_tests_module(&item.name, item.public),
        Sort::Macro => predicate::holds_properties(&item.name),
        _ => false,
    };
    named || says.contains(&Says::OnlyTests)
}

/// Whether a piece of text begins a line of its file.
fn begins_line(text: &str, at: usize) -> bool {
    at == 0 || text.as_bytes().get(at - 1) == Some(&b'\n')
}

#[cfg(test)]
mod tests;
