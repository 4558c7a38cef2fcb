//! Owns what a part of a Rust file says whatever its formatting: its tokens without those that only layout adds, and its imports.

use std::ops::Range;

use crate::digest;
use crate::strength::languages::beside::Essence;
use crate::strength::languages::rust::spans::items::{self, Item, Sort};
use crate::strength::languages::rust::spans::lex::{Kind, Source};

/// How deep modules and import lists are followed for imports; deeper ones are tokens like any other.
const DEPTH: usize = 32;

/// Stands between two characters of one operator; no token is empty.
const JOINED: &str = "";

/// Whether documentation comments count. Those of tests hold no examples that are run, and nobody builds on them.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Docs {
    Count,
    SayNothing,
}

impl Essence {
    /// Adds a piece: some tokens without those of `holes` (in order).
    pub(super) fn add(&mut self, source: &Source<'_>, tokens: Range<usize>, holes: &[Range<usize>], docs: Docs) {
        let mut skipped = holes.to_vec();
        self.collect(source, tokens.clone(), holes, DEPTH, &mut skipped);
        skipped.sort_by_key(|range| range.start);
        let words = words(source, tokens, &skipped, docs);
        if !words.is_empty() {
            self.pieces.push(digest::sha256_hex(words.join("\0").as_bytes()));
        }
    }

    fn collect(
        &mut self,
        source: &Source<'_>,
        tokens: Range<usize>,
        holes: &[Range<usize>],
        depth: usize,
        skipped: &mut Vec<Range<usize>>,
    ) {
        let Some(depth) = depth.checked_sub(1) else { return };
        let (_, start) = items::inner(source, &tokens);
        for item in items::items(source, start..tokens.end) {
            if holes.contains(&item.tokens) {
                continue;
            }
            if let Some(imports) = imports(source, &item) {
                self.imports.extend(imports);
                skipped.push(item.tokens);
            } else if let (Sort::Mod, Some(body)) = (item.sort, item.body) {
                self.collect(source, body, holes, depth, skipped);
            }
        }
    }
}

/// The tokens' texts. A comma before a closing bracket is layout, but for that of a tuple of one.
fn words<'t>(source: &Source<'t>, tokens: Range<usize>, skipped: &[Range<usize>], docs: Docs) -> Vec<&'t str> {
    let (mut words, mut commas, mut at) = (Vec::new(), Vec::new(), tokens.start);
    let mut skipped = skipped.iter().peekable();
    while at < tokens.end {
        if let Some(hole) = skipped.next_if(|hole| hole.start <= at) {
            at = at.max(hole.end);
            continue;
        }
        match source.kind(at) {
            Some(Kind::Doc) if docs == Docs::SayNothing => {
                at += 1;
                continue;
            }
            Some(Kind::Open(bracket)) => {
                let is_tuple = bracket == '(' && !at.checked_sub(1).and_then(|before| source.kind(before)).is_some_and(ends_callee);
                commas.push((0_usize, is_tuple));
            }
            Some(Kind::Mark(',')) => commas.last_mut().into_iter().for_each(|(count, _)| *count += 1),
            Some(Kind::Close) => {
                let (count, is_tuple) = commas.pop().unwrap_or_default();
                if words.last() == Some(&",") && !(is_tuple && count == 1) {
                    words.pop();
                }
            }
            Some(Kind::Mark('>')) if words.last() == Some(&",") => drop(words.pop()),
            _ => {}
        }
        words.push(source.word(at));
        if is_joined(source, at) {
            words.push(JOINED);
        }
        at += 1;
    }
    words
}

/// Whether a token is one operator with the next: `a && b` is not `a & &b`.
fn is_joined(source: &Source<'_>, at: usize) -> bool {
    let operator = |at: usize| matches!(source.kind(at), Some(Kind::Mark(mark)) if "&|<>=.+-*/%^!:".contains(mark));
    operator(at) && operator(at + 1) && source.tokens[at].end == source.tokens[at + 1].start
}

/// Whether a bracket after this is a call's or a signature's.
fn ends_callee(kind: Kind) -> bool {
    matches!(kind, Kind::Word | Kind::Close | Kind::Mark('>' | '!'))
}

/// The names that a private import without attributes brings.
fn imports(source: &Source<'_>, item: &Item) -> Option<Vec<String>> {
    let plain = item.sort == Sort::Use && source.word(item.tokens.start) == "use";
    let mut found = Vec::new();
    let tree = item.tokens.start + 1..item.tokens.end.checked_sub(1)?;
    (plain && leaves(source, tree, "", DEPTH, &mut found)).then_some(found)
}

/// Adds the leaves of an import tree; `false` when it is nested too deep.
fn leaves(source: &Source<'_>, tree: Range<usize>, head: &str, depth: usize, found: &mut Vec<String>) -> bool {
    let Some(depth) = depth.checked_sub(1) else { return false };
    let (mut path, mut at) = (head.to_owned(), tree.start);
    while at < tree.end {
        match source.kind(at) {
            Some(Kind::Mark(',')) => found.push(std::mem::replace(&mut path, head.to_owned())),
            Some(Kind::Open(_)) => {
                let close = source.tokens[at].pair;
                if !leaves(source, at + 1..close, &std::mem::replace(&mut path, head.to_owned()), depth, found) {
                    return false;
                }
                // The comma after a list belongs to it.
                at = if source.kind(close + 1) == Some(Kind::Mark(',')) { close + 1 } else { close };
            }
            Some(Kind::Word) if source.word(at) == "as" => path.push_str(" as "),
            _ => path.push_str(source.word(at)),
        }
        at += 1;
    }
    if path != head {
        found.push(path);
    }
    found.iter_mut().for_each(|leaf| leaf.truncate(leaf.strip_suffix("::self").map_or(leaf.len(), str::len)));
    true
}
