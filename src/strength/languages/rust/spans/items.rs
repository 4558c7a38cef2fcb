//! Owns the items of a Rust file: where each begins and ends, what it is and what its attributes say. One that no Rust knows ends
//! like any other, so that it hides nothing behind it.

use std::ops::Range;

use crate::strength::languages::rust::spans::lex::{Kind, Source};

/// What an item is, as far as it matters here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sort {
    Use,
    Mod,
    Fn,
    Impl,
    Trait,
    Macro,
    Other,
}

/// One item.
#[derive(Debug)]
pub(super) struct Item {
    /// Its tokens, attributes among them.
    pub(super) tokens: Range<usize>,
    /// The tokens between the brackets of each attribute.
    pub(super) attributes: Vec<Range<usize>>,
    pub(super) sort: Sort,
    /// Its name; of an `impl` the head's words.
    pub(super) name: String,
    /// The tokens between the braces that end it.
    pub(super) body: Option<Range<usize>>,
    /// Whether it begins with a plain `pub`.
    pub(super) public: bool,
}

impl Item {
    /// Whether other items may stand in its body and be taken out of it.
    pub(super) fn holds_items(&self) -> bool {
        matches!(self.sort, Sort::Mod | Sort::Impl | Sort::Trait) && self.body.is_some()
    }

    /// What tells it from its neighbours.
    pub(super) fn key(&self) -> String {
        let word = match self.sort {
            Sort::Use => "use",
            Sort::Mod => "mod",
            Sort::Fn => "fn",
            // The words of its head begin with it.
            Sort::Impl => return self.name.clone(),
            Sort::Trait => "trait",
            Sort::Macro => "macro",
            Sort::Other => "item",
        };
        format!("{word} {}", self.name)
    }
}

/// The attributes that a container opens with, `#![..]`, and where its items begin.
pub(super) fn inner(source: &Source<'_>, tokens: &Range<usize>) -> (Vec<Range<usize>>, usize) {
    let (mut at, mut attributes) = (tokens.start, Vec::new());
    while at < tokens.end {
        let is_doc = source.kind(at) == Some(Kind::Doc) && is_inner_doc(source.word(at));
        let is_attribute = source.kind(at) == Some(Kind::Mark('#'))
            && source.kind(at + 1) == Some(Kind::Mark('!'))
            && source.kind(at + 2) == Some(Kind::Open('['));
        if is_attribute {
            let close = source.tokens[at + 2].pair;
            attributes.push(at + 3..close);
            at = close + 1;
        } else if is_doc {
            at += 1;
        } else {
            break;
        }
    }
    (attributes, at)
}

fn is_inner_doc(text: &str) -> bool {
    text.starts_with("//!") || text.starts_with("/*!")
}

/// The items among some tokens.
pub(super) fn items(source: &Source<'_>, tokens: Range<usize>) -> Vec<Item> {
    let (mut at, mut found) = (tokens.start, Vec::new());
    while at < tokens.end {
        let item = Scan { source, at, end: tokens.end }.item();
        at = item.tokens.end;
        found.push(item);
    }
    found
}

struct Scan<'s, 't> {
    source: &'s Source<'t>,
    at: usize,
    end: usize,
}

/// What the words read so far make of an item.
struct Head {
    sort: Option<Sort>,
    name: String,
    public: bool,
    /// Only a semicolon ends it, no brace.
    semicolon: bool,
    angles: usize,
}

impl Scan<'_, '_> {
    fn item(mut self) -> Item {
        let first = self.at;
        let attributes = self.attributes();
        let head = self.at;
        let mut read = Head { sort: None, name: String::new(), public: false, semicolon: false, angles: 0 };
        let mut body = None;
        while self.at < self.end {
            let (at, kind) = (self.at, self.source.kind(self.at));
            self.at += 1;
            match kind {
                Some(Kind::Mark(';')) => break,
                Some(Kind::Open(bracket)) => {
                    let close = self.source.tokens[at].pair;
                    self.at = close + 1;
                    let is_macro = read.sort == Some(Sort::Macro);
                    if bracket == '{' && (is_macro || (!read.semicolon && read.angles == 0)) {
                        body = Some(at + 1..close).filter(|_| !is_macro);
                        break;
                    }
                }
                Some(Kind::Mark('<')) => read.angles += 1,
                Some(Kind::Mark('>')) if !self.is_arrow(at) => read.angles = read.angles.saturating_sub(1),
                Some(Kind::Mark('!')) if read.sort.is_none() && at > head => read.sort = Some(Sort::Macro),
                Some(Kind::Word) => self.word(at, &mut read),
                _ => {}
            }
        }
        let sort = read.sort.unwrap_or(Sort::Other);
        if let (Sort::Impl, Some(body)) = (sort, &body) {
            read.name = (head..body.start - 1).map(|at| self.source.word(at)).collect::<Vec<_>>().join(" ");
        }
        Item { tokens: first..self.at.max(first + 1), attributes, sort, name: read.name, body, public: read.public }
    }

    fn attributes(&mut self) -> Vec<Range<usize>> {
        let mut found = Vec::new();
        while self.at < self.end {
            let bang = usize::from(self.source.kind(self.at + 1) == Some(Kind::Mark('!')));
            let open = self.at + 1 + bang;
            match self.source.kind(self.at) {
                Some(Kind::Doc) => self.at += 1,
                Some(Kind::Mark('#')) if self.source.kind(open) == Some(Kind::Open('[')) => {
                    let close = self.source.tokens[open].pair;
                    found.push(open + 1..close);
                    self.at = close + 1;
                }
                _ => break,
            }
        }
        found
    }

    /// The end of `->` or `=>`.
    fn is_arrow(&self, at: usize) -> bool {
        let before = at.checked_sub(1).and_then(|before| self.source.tokens.get(before));
        before.is_some_and(|mark| matches!(mark.kind, Kind::Mark('-' | '=')) && mark.end == self.source.tokens[at].start)
    }

    fn word(&mut self, at: usize, read: &mut Head) {
        let word = self.source.word(at);
        if read.sort == Some(Sort::Macro) {
            return;
        }
        if read.sort.is_some() {
            if read.name.is_empty() && !matches!(read.sort, Some(Sort::Use | Sort::Impl)) {
                word.clone_into(&mut read.name);
            }
            return;
        }
        let next = self.source.word(at + 1);
        match word {
            "pub" => read.public = next != "(",
            "use" => (read.sort, read.semicolon) = (Some(Sort::Use), true),
            "mod" => read.sort = Some(Sort::Mod),
            "fn" => read.sort = Some(Sort::Fn),
            "impl" => read.sort = Some(Sort::Impl),
            "trait" => read.sort = Some(Sort::Trait),
            "struct" | "enum" => read.sort = Some(Sort::Other),
            "static" | "type" => (read.sort, read.semicolon) = (Some(Sort::Other), true),
            "const" if !matches!(next, "fn" | "unsafe" | "async" | "extern" | "gen") => {
                (read.sort, read.semicolon) = (Some(Sort::Other), true);
            }
            "extern" if next == "crate" => (read.sort, read.semicolon) = (Some(Sort::Other), true),
            // Perhaps the path of a macro: its last word counts.
            other => other.clone_into(&mut read.name),
        }
        if read.sort.is_some() {
            read.name.clear();
        }
    }
}
