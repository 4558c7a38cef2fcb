//! Owns how deep a tree the text can make, told from its tokens before anything recurses.

use ruff_python_ast::token::TokenKind;
use ruff_python_parser::{Mode, lexer};

use crate::strength::languages::Unreadable;

/// `CPython`'s own limits.
const BRACKETS: usize = 200;
const INDENTS: usize = 99;
/// Operators of one statement that can nest; `CPython` gives up in the same order of magnitude.
const NESTING: usize = 10_000;

/// An upper bound of the depth of the tree.
pub(super) fn bound(source: &str) -> Result<usize, Unreadable> {
    scan(source).map_err(|says| Unreadable { line: line_of_refusal(source), says: says.to_owned() })
}

/// The lexer does not tell where it stands, so the line is found by halving: the first so many lines that are refused too.
fn line_of_refusal(source: &str) -> u32 {
    let ends: Vec<usize> = source.match_indices('\n').map(|(at, _)| at + 1).collect();
    let before = ends.partition_point(|end| scan(&source[..*end]).is_ok());
    u32::try_from(before).unwrap_or(u32::MAX).saturating_add(1)
}

/// A comma ends a chain at its level, except inside a lambda's head.
fn scan(source: &str) -> Result<usize, &'static str> {
    let mut lexer = lexer::lex(source, Mode::Module);
    let mut levels: Vec<usize> = vec![0];
    let (mut sum, mut lambdas, mut indents, mut deepest) = (0_usize, 0_usize, 0_usize, 0_usize);
    loop {
        let kind = lexer.next_token();
        match kind {
            TokenKind::EndOfFile => return Ok(deepest),
            TokenKind::Newline | TokenKind::Semi => {
                levels.clear();
                levels.push(0);
                (sum, lambdas) = (0, 0);
            }
            TokenKind::Indent => indents += 1,
            TokenKind::Dedent => indents = indents.saturating_sub(1),
            TokenKind::Lpar | TokenKind::Lsqb | TokenKind::Lbrace => levels.push(0),
            TokenKind::Rpar | TokenKind::Rsqb | TokenKind::Rbrace => {
                if levels.len() > 1 {
                    sum -= levels.pop().unwrap_or_default();
                }
                sum += step(&mut levels);
            }
            TokenKind::Comma => sum -= levels.last_mut().map(std::mem::take).unwrap_or_default(),
            TokenKind::Lambda => lambdas += 1,
            kind if nests(kind) => sum += step(&mut levels),
            _ => continue,
        }
        let depth = sum + lambdas + levels.len() + indents;
        deepest = deepest.max(depth);
        if levels.len() > BRACKETS + 1 {
            return Err("too many nested parentheses");
        }
        if indents > INDENTS {
            return Err("too many levels of indentation");
        }
        if depth > NESTING {
            return Err("an expression too deeply nested to be read");
        }
    }
}

fn step(levels: &mut [usize]) -> usize {
    levels.last_mut().map_or(0, |level| {
        *level += 1;
        1
    })
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
