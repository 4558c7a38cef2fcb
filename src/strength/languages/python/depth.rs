//! Owns how deep a tree a text can make: a guess from the bytes before anything is parsed, a bound from the tokens before anything recurses.

use memchr::{memchr, memchr3};
use ruff_python_ast::token::{Token, TokenKind};
use ruff_text_size::Ranged as _;

/// `CPython`'s own limits.
const BRACKETS: usize = 200;
const INDENTS: usize = 99;
/// Operators of one statement that can nest; `CPython` gives up in the same order of magnitude.
const NESTING: usize = 10_000;

/// Why a text is not read: byte offset and sentence.
pub(super) struct TooDeep {
    pub(super) offset: usize,
    pub(super) says: &'static str,
}

const TOO_NESTED: &str = "an expression too deeply nested to be read";

/// Open levels of one statement: what could nest at each since its last comma. A comma ends a chain at its level, except in a lambda's head.
#[derive(Default)]
struct Levels {
    outer: Vec<usize>,
    here: usize,
    sum: usize,
    lambdas: usize,
}

impl Levels {
    fn step(&mut self) {
        self.here += 1;
    }

    fn open(&mut self) {
        self.sum += self.here;
        self.outer.push(std::mem::take(&mut self.here));
    }

    fn close(&mut self) {
        if let Some(outer) = self.outer.pop() {
            self.sum -= outer;
            self.here = outer + 1;
        }
    }

    fn comma(&mut self) {
        self.here = 0;
    }

    fn end(&mut self) {
        self.outer.clear();
        (self.here, self.sum, self.lambdas) = (0, 0, 0);
    }

    fn depth(&self) -> usize {
        self.sum + self.here + self.lambdas + self.outer.len()
    }
}

/// An upper bound of the depth of the tree that was made of these tokens.
pub(super) fn bound(tokens: &[Token]) -> Result<usize, TooDeep> {
    let mut levels = Levels::default();
    let (mut indents, mut deepest) = (0_usize, 0_usize);
    for token in tokens {
        match token.kind() {
            TokenKind::Newline | TokenKind::Semi => levels.end(),
            TokenKind::Indent => indents += 1,
            TokenKind::Dedent => indents = indents.saturating_sub(1),
            TokenKind::Lpar | TokenKind::Lsqb | TokenKind::Lbrace => levels.open(),
            TokenKind::Rpar | TokenKind::Rsqb | TokenKind::Rbrace => levels.close(),
            TokenKind::Comma => levels.comma(),
            TokenKind::Lambda => levels.lambdas += 1,
            kind if nests(kind) => levels.step(),
            _ => continue,
        }
        let depth = levels.depth() + indents;
        deepest = deepest.max(depth);
        let refused = |says| Err(TooDeep { offset: token.start().to_usize(), says });
        if levels.outer.len() > BRACKETS {
            return refused("too many nested parentheses");
        }
        if indents > INDENTS {
            return refused("too many levels of indentation");
        }
        if depth > NESTING {
            return refused(TOO_NESTED);
        }
    }
    Ok(deepest)
}

/// Everything but names, literals and layout.
fn nests(kind: TokenKind) -> bool {
    !matches!(
        kind,
        TokenKind::Name
            | TokenKind::Int
            | TokenKind::Float
            | TokenKind::Complex
            | TokenKind::String
            | TokenKind::FStringStart
            | TokenKind::FStringMiddle
            | TokenKind::FStringEnd
            | TokenKind::TStringStart
            | TokenKind::TStringMiddle
            | TokenKind::TStringEnd
            | TokenKind::Comment
            | TokenKind::NonLogicalNewline
            | TokenKind::True
            | TokenKind::False
            | TokenKind::None
            | TokenKind::Ellipsis
    )
}

/// Refuses what would make the parser itself nest without end. The parser grows its stack by itself, so a wrong guess here costs
/// memory, never the stack, and `bound` judges again.
pub(super) fn guess(source: &[u8]) -> Result<(), TooDeep> {
    let mut scan = Scan { source, at: 0, levels: Levels::default(), templates: Vec::new(), in_text: false };
    while let Some(byte) = source.get(scan.at) {
        match byte {
            _ if scan.in_text => scan.text(),
            b' ' => {
                scan.at += 1;
                continue;
            }
            // What a word adds is seen at the next byte.
            byte if PART[usize::from(*byte)] => {
                scan.word();
                continue;
            }
            _ => scan.code(),
        }
        if scan.levels.outer.len() > 4 * BRACKETS || scan.levels.depth() > 4 * NESTING || scan.templates.len() > BRACKETS {
            return Err(TooDeep { offset: scan.at.min(source.len()), says: TOO_NESTED });
        }
    }
    Ok(())
}

/// Bytes of names and numbers.
const PART: [bool; 256] = {
    let mut part = [false; 256];
    let mut byte = u8::MAX;
    loop {
        part[byte as usize] = matches!(byte, b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'_' | 0x80..);
        if byte == 0 {
            break;
        }
        byte -= 1;
    }
    part
};

struct Scan<'s> {
    source: &'s [u8],
    at: usize,
    levels: Levels,
    /// Open f- and t-strings.
    templates: Vec<Template>,
    /// Whether the literal part of the innermost of them is being read.
    in_text: bool,
}

struct Template {
    quote: u8,
    fence: usize,
    /// Brackets that were open where it starts.
    level: usize,
}

impl Scan<'_> {
    fn is_at(&self, text: &[u8]) -> bool {
        self.source.get(self.at..).is_some_and(|rest| rest.starts_with(text))
    }

    /// One byte of a template's literal part.
    fn text(&mut self) {
        let Some(Template { quote, fence, level }) = self.templates.last() else {
            self.in_text = false;
            return;
        };
        let (quote, fence, inside) = (*quote, *fence, self.levels.outer.len() > *level);
        match self.source[self.at] {
            b'\\' => self.at += 1,
            b'{' if self.is_at(b"{{") && !inside => self.at += 1,
            b'{' => {
                self.levels.open();
                self.in_text = false;
            }
            b'}' if inside => self.levels.close(),
            byte if byte == quote && self.is_at(&[quote; 3][..fence]) => {
                self.at += fence - 1;
                self.leave();
            }
            b'\n' if fence == 1 => self.leave(),
            _ => {}
        }
        self.at += 1;
    }

    fn leave(&mut self) {
        if let Some(template) = self.templates.pop() {
            while self.levels.outer.len() > template.level {
                self.levels.close();
            }
        }
        self.in_text = false;
    }

    fn code(&mut self) {
        let replaced = self.templates.last().is_some_and(|t| self.levels.outer.len() == t.level + 1);
        match self.source[self.at] {
            b'#' => self.at = self.find(b'\n') - 1,
            b'"' | b'\'' => return self.string(false),
            b'\\' => self.at += 1,
            b'\n' if self.levels.outer.is_empty() => self.levels.end(),
            b';' if !replaced => self.levels.end(),
            b'(' | b'[' | b'{' => self.levels.open(),
            byte @ (b')' | b']' | b'}') => {
                self.levels.close();
                self.in_text = replaced && byte == b'}';
            }
            b',' => self.levels.comma(),
            b':' if replaced => self.in_text = true,
            b' ' | b'\t' | b'\n' | 0x0c => {}
            _ => self.levels.step(),
        }
        self.at += 1;
    }

    fn find(&self, byte: u8) -> usize {
        memchr(byte, &self.source[self.at..]).map_or(self.source.len(), |n| self.at + n)
    }

    fn word(&mut self) {
        let end = self.source[self.at..].iter().position(|b| !PART[usize::from(*b)]).map_or(self.source.len(), |n| self.at + n);
        let word = &self.source[self.at..end];
        self.at = end;
        if matches!(self.source.get(end), Some(b'"' | b'\'')) && word.len() <= 2 {
            return self.string(word.iter().any(|b| matches!(b, b'f' | b'F' | b't' | b'T')));
        }
        if word.len() > 6 {
            return;
        }
        match word {
            b"lambda" => self.levels.lambdas += 1,
            b"not" | b"if" | b"else" | b"await" | b"yield" | b"and" | b"or" | b"in" | b"is" | b"for" | b"from" | b"async" => {
                self.levels.step();
            }
            _ => {}
        }
    }

    /// At a quote: a template is entered, any other string is passed over.
    fn string(&mut self, template: bool) {
        let quote = self.source[self.at];
        let fence = if self.is_at(&[quote; 3]) { 3 } else { 1 };
        self.at += fence;
        if template {
            self.templates.push(Template { quote, fence, level: self.levels.outer.len() });
            self.in_text = true;
            return;
        }
        let line = if fence == 1 { b'\n' } else { quote };
        while let Some(rest) = self.source.get(self.at..) {
            let Some(next) = memchr3(quote, b'\\', line, rest) else {
                self.at = self.source.len();
                return;
            };
            self.at += next;
            match self.source[self.at] {
                b'\\' => self.at += 2,
                b'\n' if fence == 1 => return,
                _ if self.is_at(&[quote; 3][..fence]) => {
                    self.at += fence;
                    return;
                }
                _ => self.at += 1,
            }
        }
    }
}
