//! Owns what a part of a Rust file says whatever its formatting: its tokens without those that only layout adds, and its imports.

use std::collections::BTreeSet;
use std::ops::Range;

use crate::digest;
use crate::strength::languages::rust::items::{self, Item, Sort};
use crate::strength::languages::rust::lex::{Kind, Source};

/// How deep modules and import lists are followed for imports; deeper ones are tokens like any other.
const DEPTH: usize = 32;

/// Stands between two characters of one operator; no token is empty.
const JOINED: &str = "";

/// What a part of a file says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Essence {
    /// SHA-256 of the tokens of each piece; imports stand apart.
    pieces: Vec<String>,
    /// Private imports without attributes, name by name.
    imports: BTreeSet<String>,
}

impl Essence {
    /// Whether it says the same but for its imports.
    pub fn is_same_code(&self, other: &Essence) -> bool {
        self.pieces == other.pieces
    }

    /// The same without regard to the order of its pieces.
    pub(super) fn is_same_set(&self, other: &Essence) -> bool {
        let sorted = |essence: &Essence| {
            let mut pieces = essence.pieces.clone();
            pieces.sort();
            pieces
        };
        sorted(self) == sorted(other) && self.imports == other.imports
    }

    /// Whether it says nothing at all.
    pub fn is_empty(&self) -> bool {
        self.pieces.is_empty() && self.imports.is_empty()
    }

    /// Whether what it imports differs from `before` only by what `beside` gave away or took, the other part of the same file before
    /// and after.
    pub fn only_moved_imports(&self, before: &Essence, beside: (&Essence, &Essence)) -> bool {
        let (was, is) = beside;
        let lost = before.imports.difference(&self.imports).all(|import| is.imports.contains(import));
        lost && self.imports.difference(&before.imports).all(|import| was.imports.contains(import))
    }

    /// Adds a piece: some tokens without those of `holes` (in order).
    pub(super) fn add(&mut self, source: &Source<'_>, tokens: Range<usize>, holes: &[Range<usize>]) {
        let mut skipped = holes.to_vec();
        self.collect(source, tokens.clone(), holes, DEPTH, &mut skipped);
        skipped.sort_by_key(|range| range.start);
        let words = words(source, tokens, &skipped);
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
fn words<'t>(source: &Source<'t>, tokens: Range<usize>, skipped: &[Range<usize>]) -> Vec<&'t str> {
    let (mut words, mut commas, mut at) = (Vec::new(), Vec::new(), tokens.start);
    let mut skipped = skipped.iter().peekable();
    while at < tokens.end {
        if let Some(hole) = skipped.next_if(|hole| hole.start <= at) {
            at = at.max(hole.end);
            continue;
        }
        match source.kind(at) {
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
    (plain && leaves(source, tree, String::new(), DEPTH, &mut found)).then_some(found)
}

/// Adds the leaves of an import tree; `false` when it is nested too deep.
fn leaves(source: &Source<'_>, tree: Range<usize>, head: String, depth: usize, found: &mut Vec<String>) -> bool {
    let Some(depth) = depth.checked_sub(1) else { return false };
    let (mut path, mut at) = (head.clone(), tree.start);
    while at < tree.end {
        match source.kind(at) {
            Some(Kind::Mark(',')) => found.push(std::mem::replace(&mut path, head.clone())),
            Some(Kind::Open(_)) => {
                let close = source.tokens[at].pair;
                if !leaves(source, at + 1..close, std::mem::replace(&mut path, head.clone()), depth, found) {
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
