//! Owns the text of a file as tokens: lines, canonical token text, and hashes of it.

use memchr::memchr_iter;
use ruff_python_ast::Stmt;
use ruff_python_ast::token::{Token, TokenKind};
use ruff_text_size::{Ranged as _, TextRange, TextSize};

use crate::digest;
use crate::strength::languages::python::noise::noise;

/// A parsed file's text.
pub(super) struct File<'a> {
    source: &'a str,
    tokens: &'a [Token],
    starts: Vec<u32>,
    /// Whether `:=` stands anywhere.
    pub(super) has_walrus: bool,
    /// Where tokens start that say nothing, sorted.
    noise: Vec<TextSize>,
}

impl<'a> File<'a> {
    /// Finds the lines.
    pub(super) fn new(source: &'a str, tokens: &'a [Token]) -> Self {
        let starts = memchr_iter(b'\n', source.as_bytes()).map(|at| u32::try_from(at).unwrap_or(u32::MAX)).collect();
        File { source, tokens, starts, has_walrus: source.contains(":="), noise: Vec::new() }
    }

    /// The same file, with what its statements tell of tokens that say nothing.
    pub(super) fn quieted(mut self, body: &[Stmt]) -> Self {
        self.noise = noise(self.tokens, self.source, body);
        self
    }

    /// 1-based line of an offset.
    pub(super) fn line(&self, at: TextSize) -> u32 {
        let before = self.starts.partition_point(|end| *end < at.to_u32());
        u32::try_from(before).unwrap_or(u32::MAX).saturating_add(1)
    }

    /// The tokens of a range.
    pub(super) fn tokens(&self, range: TextRange) -> &'a [Token] {
        let from = self.tokens.partition_point(|t| t.start() < range.start());
        let to = self.tokens.partition_point(|t| t.start() < range.end());
        self.tokens.get(from..to.max(from)).unwrap_or_default()
    }

    /// The text of a token.
    pub(super) fn of(&self, token: &Token) -> &'a str {
        self.source.get(token.range().to_std_range()).unwrap_or_default()
    }

    /// Whether a token says nothing.
    pub(super) fn is_noise(&self, token: &Token) -> bool {
        self.noise.binary_search(&token.start()).is_ok()
    }

    /// Canonical text of a range: no comments, no layout, one space between tokens, blocks in braces. Each hole is told by its number.
    pub(super) fn plain(&self, range: TextRange, holes: &[TextRange]) -> String {
        let mut out = String::new();
        self.feed(range, holes, &mut |text| {
            if !out.is_empty() {
                out.push(' ');
            }
            out.push_str(text);
        });
        out
    }

    /// SHA-256 of the canonical text of several ranges.
    pub(super) fn sha256(&self, ranges: &[TextRange], holes: &[TextRange]) -> String {
        let mut text: Vec<u8> = Vec::with_capacity(ranges.iter().map(|r| r.len().to_usize() * 3 / 2).sum());
        for range in ranges {
            self.feed(*range, holes, &mut |part| {
                text.extend_from_slice(part.as_bytes());
                text.push(0);
            });
        }
        digest::sha256_hex(&text)
    }

    /// SHA-256 of the file as it stands.
    pub(super) fn whole_sha256(&self) -> String {
        digest::sha256_hex(self.source.as_bytes())
    }

    fn feed(&self, range: TextRange, holes: &[TextRange], each: &mut impl FnMut(&str)) {
        let tokens = self.tokens(range);
        let mut inside = None;
        let from = self.noise.partition_point(|at| *at < range.start());
        let mut noise = self.noise.get(from..).unwrap_or_default().iter().peekable();
        for (at, token) in tokens.iter().enumerate() {
            while noise.next_if(|quiet| **quiet < token.start()).is_some() {}
            if let Some(hole) = holes.iter().position(|h| h.contains_range(token.range()) && !h.is_empty()) {
                if inside != Some(hole) {
                    each(&format!("#{hole}"));
                }
                inside = Some(hole);
                continue;
            }
            inside = None;
            if noise.peek().is_some_and(|quiet| **quiet == token.start()) {
                continue;
            }
            match token.kind() {
                TokenKind::Comment | TokenKind::NonLogicalNewline => {}
                TokenKind::Newline => each(";"),
                TokenKind::Indent => each("{"),
                TokenKind::Dedent => each("}"),
                TokenKind::Comma if closes(tokens.get(at + 1..).unwrap_or_default()) => {}
                TokenKind::String => unprefixed(self.of(token), each),
                _ => each(self.of(token)),
            }
        }
    }
}

/// Whether the next token that counts is a closing bracket: then a comma before it says nothing.
fn closes(rest: &[Token]) -> bool {
    let next = rest.iter().map(Token::kind).find(|k| !matches!(k, TokenKind::Comment | TokenKind::NonLogicalNewline));
    next.is_some_and(|k| matches!(k, TokenKind::Rsqb | TokenKind::Rbrace))
}

/// `u'a'` and `"a"` as `'a'`, where nothing inside minds.
fn unprefixed(text: &str, each: &mut impl FnMut(&str)) {
    let bare = text.strip_prefix(['u', 'U']).unwrap_or(text);
    let bare = bare.strip_prefix(['r', 'R']).filter(|inside| inside.starts_with(['\'', '"']) && is_raw_anyway(inside)).unwrap_or(bare);
    let plain = bare.len() >= 2 && bare.starts_with('"') && !bare.starts_with("\"\"\"") && !bare.contains(['\'', '\\']);
    if plain {
        each(&format!("'{}'", &bare[1..bare.len() - 1]));
    } else {
        each(bare);
    }
}

/// Whether no backslash of a text begins what means something else: `'\d'` is `r'\d'`.
fn is_raw_anyway(text: &str) -> bool {
    let mut after = text.split('\\').skip(1);
    after.all(|rest| rest.starts_with(|c: char| !"\n\r\'\"abfnrtvxuUN01234567".contains(c)))
}

/// SHA-256 of text.
pub(super) fn sha256_of(text: &str) -> String {
    digest::sha256_hex(text.as_bytes())
}
