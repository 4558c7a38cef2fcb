//! Owns the tokens of a Rust file: flat, each with its place in the bytes, so that no nesting costs stack.

use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};

use crate::strength::languages::Unreadable;

/// What a token is. Its text is in the source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// An identifier, keywords among them.
    Word,
    /// One character of punctuation.
    Mark(char),
    /// A literal.
    Literal,
    /// A documentation comment.
    Doc,
    /// A bracket that opens.
    Open(char),
    /// A bracket that closes.
    Close,
}

/// One token.
#[derive(Clone, Copy, Debug)]
pub(super) struct Token {
    pub(super) kind: Kind,
    pub(super) start: usize,
    pub(super) end: usize,
    /// Of a bracket the place of its partner, else its own.
    pub(super) pair: usize,
}

/// A file and its tokens.
pub(super) struct Source<'t> {
    pub(super) text: &'t str,
    pub(super) tokens: Vec<Token>,
    /// Where Rust begins: after a byte order mark and a `#!` line.
    pub(super) start: usize,
}

/// Spans are numbers into tables of the thread, which would grow for ever.
struct Tables;

impl Drop for Tables {
    fn drop(&mut self) {
        proc_macro2::extra::invalidate_current_thread_spans();
    }
}

impl<'t> Source<'t> {
    /// Reads the tokens of a file.
    pub(super) fn read(bytes: &'t [u8]) -> Result<Self, Unreadable> {
        let text = std::str::from_utf8(bytes).map_err(|error| {
            let line = memchr::memchr_iter(b'\n', &bytes[..error.valid_up_to()]).count();
            Unreadable { line: u32::try_from(line + 1).unwrap_or(u32::MAX), says: "is not UTF-8".to_owned() }
        })?;
        let start = prelude(text);
        let _tables = Tables;
        let stream: TokenStream = text[start..].parse().map_err(|error: proc_macro2::LexError| {
            let skipped = text[..start].matches('\n').count();
            let line = error.span().start().line.saturating_add(skipped);
            Unreadable { line: u32::try_from(line).unwrap_or(u32::MAX), says: "its tokens or brackets are not those of Rust".to_owned() }
        })?;
        let mut source = Source { text, tokens: Vec::new(), start };
        source.flatten(stream);
        Ok(source)
    }

    fn flatten(&mut self, stream: TokenStream) {
        let mut waiting = vec![(stream.into_iter(), None::<(usize, Group)>)];
        while let Some((rest, _)) = waiting.last_mut() {
            match rest.next() {
                Some(TokenTree::Group(group)) => {
                    let open = self.push(Kind::Open(bracket(group.delimiter())), &group.span_open());
                    waiting.push((group.stream().into_iter(), Some((open, group))));
                }
                Some(TokenTree::Ident(word)) => drop(self.push(Kind::Word, &word.span())),
                Some(TokenTree::Literal(literal)) => drop(self.push(Kind::Literal, &literal.span())),
                Some(TokenTree::Punct(mark)) => {
                    if mark.span().byte_range().len() <= 1 {
                        self.push(Kind::Mark(mark.as_char()), &mark.span());
                        continue;
                    }
                    // A documentation comment comes as an attribute of which every token has the comment's place.
                    self.push(Kind::Doc, &mark.span());
                    while rest.next().is_some_and(|token| !matches!(token, TokenTree::Group(_))) {}
                }
                None => {
                    if let Some((_, Some((open, group)))) = waiting.pop() {
                        let close = self.push(Kind::Close, &group.span_close());
                        self.tokens[close].pair = open;
                        self.tokens[open].pair = close;
                    }
                }
            }
        }
    }

    fn push(&mut self, kind: Kind, span: &proc_macro2::Span) -> usize {
        let (range, at) = (span.byte_range(), self.tokens.len());
        self.tokens.push(Token { kind, start: range.start + self.start, end: range.end + self.start, pair: at });
        at
    }

    /// The text of a token.
    pub(super) fn word(&self, at: usize) -> &'t str {
        self.tokens.get(at).map_or("", |token| &self.text[token.start..token.end])
    }

    /// What a token is; `None` past the end.
    pub(super) fn kind(&self, at: usize) -> Option<Kind> {
        self.tokens.get(at).map(|token| token.kind)
    }

    /// Where the token before this one ends: where the gap before it begins.
    pub(super) fn gap(&self, at: usize) -> usize {
        at.checked_sub(1).and_then(|before| self.tokens.get(before)).map_or(self.start, |token| token.end)
    }
}

fn bracket(delimiter: Delimiter) -> char {
    match delimiter {
        Delimiter::Parenthesis => '(',
        Delimiter::Bracket => '[',
        Delimiter::Brace | Delimiter::None => '{',
    }
}

/// The length of a byte order mark and of a `#!` line that is no attribute.
fn prelude(text: &str) -> usize {
    let mark = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
    let rest = &text[mark..];
    let shebang = rest.strip_prefix("#!").is_some_and(|line| !line.trim_start().starts_with('['));
    mark + if shebang { rest.find('\n').unwrap_or(rest.len()) } else { 0 }
}
