//! Owns the tokens that say nothing: docstrings, annotations that nothing reads, commas and parentheses of layout alone.

use ruff_python_ast::token::{Token, TokenKind};
use ruff_python_ast::visitor::{Visitor, walk_stmt};
use ruff_python_ast::{Expr, Stmt, StmtFunctionDef};
use ruff_text_size::{Ranged, TextRange, TextSize};

/// Where the tokens of a file start that say nothing, sorted.
pub(super) fn noise(tokens: &[Token], source: &str, body: &[Stmt]) -> Vec<TextSize> {
    let mut quiet = Quiet::default();
    body.iter().for_each(|stmt| quiet.visit_stmt(stmt));
    quiet.found.sort_unstable_by_key(Ranged::start);
    let mut starts: Vec<TextSize> = Vec::new();
    for range in &quiet.found {
        let from = tokens.partition_point(|t| t.start() < range.start());
        let to = tokens.partition_point(|t| t.start() < range.end());
        // A statement goes with its end.
        let to = to + usize::from(tokens.get(to).is_some_and(|t| t.kind() == TokenKind::Newline));
        starts.extend(tokens.get(from..to.max(from)).unwrap_or_default().iter().map(Ranged::start));
    }
    layout(tokens, source, &mut starts);
    starts.sort_unstable();
    starts.dedup();
    starts
}

/// Strings that stand alone, and annotations of what no strategy is inferred from.
#[derive(Default)]
struct Quiet {
    found: Vec<TextRange>,
}

impl Quiet {
    fn function(&mut self, def: &StmtFunctionDef) {
        if let Some(returns) = &def.returns {
            // With the arrow before it.
            self.found.push(TextRange::new(def.parameters.end(), returns.end()));
        }
        let drawn = def.decorator_list.iter().any(|d| match &d.expression {
            Expr::Name(name) => name.id.as_str() == "composite",
            Expr::Attribute(attribute) => attribute.attr.as_str() == "composite",
            _ => false,
        });
        for parameter in def.parameters.iter().filter(|_| drawn) {
            if let Some(annotation) = parameter.annotation() {
                self.found.push(TextRange::new(parameter.name().end(), annotation.end()));
            }
        }
    }
}

impl Visitor<'_> for Quiet {
    fn visit_stmt(&mut self, stmt: &Stmt) {
        match stmt {
            Stmt::Expr(e) if e.value.is_string_literal_expr() => self.found.push(e.range()),
            Stmt::FunctionDef(def) => self.function(def),
            _ => {}
        }
        walk_stmt(self, stmt);
    }

    fn visit_expr(&mut self, _: &Expr) {}
}

/// One open bracket.
struct Open {
    at: usize,
    /// A call, a definition or a class stands before it.
    called: bool,
    commas: usize,
    /// What is inside needs the parentheses.
    bound: bool,
}

/// Trailing commas, parentheses between two delimiters, and those of `raise Error()`.
fn layout(tokens: &[Token], source: &str, starts: &mut Vec<TextSize>) {
    let counts = |t: &&Token| !matches!(t.kind(), TokenKind::Comment | TokenKind::NonLogicalNewline);
    let tokens: Vec<&Token> = tokens.iter().filter(counts).collect();
    let kind = |at: usize| tokens.get(at).map(|t| t.kind());
    let mut open: Vec<Open> = Vec::new();
    for at in 0..tokens.len() {
        let before = at.checked_sub(1).and_then(kind);
        match tokens[at].kind() {
            TokenKind::Lpar | TokenKind::Lsqb | TokenKind::Lbrace => {
                let called = matches!(before, Some(TokenKind::Name | TokenKind::Rpar | TokenKind::Rsqb | TokenKind::String));
                open.push(Open { at, called, commas: 0, bound: false });
            }
            TokenKind::Comma => {
                let Some(last) = open.last_mut() else { continue };
                last.commas += 1;
                if kind(at + 1) == Some(TokenKind::Rpar) && (last.called || last.commas > 1) {
                    starts.push(tokens[at].start());
                }
            }
            TokenKind::For | TokenKind::Yield | TokenKind::ColonEqual | TokenKind::Star | TokenKind::DoubleStar => {
                if let Some(last) = open.last_mut() {
                    last.bound = true;
                }
            }
            TokenKind::Rpar | TokenKind::Rsqb | TokenKind::Rbrace => {
                let Some(last) = open.pop() else { continue };
                let pair = [tokens[last.at].start(), tokens[at].start()];
                if kind(last.at) == Some(TokenKind::Lpar) && (is_idle(&last, at, kind) || is_raised(&last, at, &tokens, source)) {
                    starts.extend(pair);
                }
            }
            _ => {}
        }
    }
}

/// Whether parentheses stand between two delimiters, so that they hold nothing together.
fn is_idle(open: &Open, end: usize, kind: impl Fn(usize) -> Option<TokenKind>) -> bool {
    let before = open.at.checked_sub(1).map_or(Some(TokenKind::Newline), &kind);
    let starts = matches!(
        before,
        Some(
            TokenKind::Lpar
                | TokenKind::Lsqb
                | TokenKind::Lbrace
                | TokenKind::Comma
                | TokenKind::Equal
                | TokenKind::Colon
                | TokenKind::Return
                | TokenKind::Assert
                | TokenKind::Newline
        )
    );
    let ends = matches!(
        kind(end + 1),
        Some(TokenKind::Rpar | TokenKind::Rsqb | TokenKind::Rbrace | TokenKind::Comma | TokenKind::Colon | TokenKind::Newline)
    );
    starts && ends && open.commas == 0 && !open.bound && end > open.at + 1
}

/// `raise Error()` raises what `raise Error` does.
fn is_raised(open: &Open, end: usize, tokens: &[&Token], source: &str) -> bool {
    let Some(name) = open.at.checked_sub(1).map(|at| tokens[at]).filter(|_| end == open.at + 1) else { return false };
    let is_class = source[name.range()].starts_with(|c: char| c.is_ascii_uppercase());
    let first = tokens[..open.at].iter().rposition(|t| !matches!(t.kind(), TokenKind::Name | TokenKind::Dot));
    is_class && first.is_some_and(|at| tokens[at].kind() == TokenKind::Raise)
}
