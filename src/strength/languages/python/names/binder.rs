//! Owns which names a block binds, and to what.

use ruff_python_ast::visitor::{Visitor, walk_expr, walk_pattern, walk_stmt};
use ruff_python_ast::{Expr, Pattern, Stmt};
use ruff_text_size::TextRange;
use rustc_hash::FxHashMap;

use crate::strength::languages::python::names::{Bound, Layer};
use crate::strength::languages::python::text::File;

/// The names that a block binds, functions and classes left closed.
pub(in crate::strength::languages::python) fn layer<'a>(body: &'a [Stmt], file: &File<'_>) -> Layer<'a> {
    let mut binder = Binder { walrus: file.has_walrus, ..Binder::default() };
    for stmt in body {
        binder.visit_stmt(stmt);
    }
    binder.layer
}

/// Binds names; with `at` it also notes where.
#[derive(Default)]
pub(super) struct Binder<'a> {
    pub(super) layer: Layer<'a>,
    pub(super) places: FxHashMap<&'a str, Vec<TextRange>>,
    pub(super) at: Option<TextRange>,
    /// Whether expressions bind names too.
    pub(super) walrus: bool,
}

impl<'a> Binder<'a> {
    fn bind(&mut self, name: &'a str, bound: Bound<'a>) {
        self.layer.entry(name).and_modify(|b| *b = Bound::Many).or_insert(bound);
        if let Some(at) = self.at {
            self.places.entry(name).or_default().push(at);
        }
    }

    /// A target and, where one is known, its value: `LOW, HIGH = 0, 10` binds both.
    fn target(&mut self, target: &'a Expr, value: Option<&'a Expr>) {
        match target {
            Expr::Name(name) => self.bind(name.id.as_str(), value.map_or(Bound::Many, Bound::Once)),
            Expr::Starred(starred) => self.target(&starred.value, None),
            Expr::Tuple(ruff_python_ast::ExprTuple { elts, .. }) | Expr::List(ruff_python_ast::ExprList { elts, .. }) => {
                let plain = |parts: &[Expr]| parts.len() == elts.len() && !parts.iter().chain(elts).any(Expr::is_starred_expr);
                let values = match value {
                    Some(Expr::Tuple(t)) if plain(&t.elts) => Some(&t.elts),
                    Some(Expr::List(l)) if plain(&l.elts) => Some(&l.elts),
                    _ => None,
                };
                for (at, part) in elts.iter().enumerate() {
                    self.target(part, values.and_then(|v| v.get(at)));
                }
            }
            _ => {}
        }
    }
}

impl<'a> Visitor<'a> for Binder<'a> {
    fn visit_stmt(&mut self, stmt: &'a Stmt) {
        match stmt {
            Stmt::FunctionDef(def) => return self.bind(def.name.as_str(), Bound::Function(def)),
            Stmt::ClassDef(def) => return self.bind(def.name.as_str(), Bound::Class(def)),
            Stmt::Assign(assign) => assign.targets.iter().for_each(|t| self.target(t, Some(&assign.value))),
            Stmt::AnnAssign(assign) if assign.value.is_some() => self.target(&assign.target, assign.value.as_deref()),
            Stmt::AugAssign(assign) => self.target(&assign.target, None),
            Stmt::Delete(delete) => delete.targets.iter().for_each(|t| self.target(t, None)),
            Stmt::For(stmt) => self.target(&stmt.target, None),
            Stmt::With(with) => with.items.iter().filter_map(|i| i.optional_vars.as_deref()).for_each(|t| self.target(t, None)),
            Stmt::Try(stmt) => {
                for name in stmt.handlers.iter().filter_map(|h| h.as_except_handler().and_then(|h| h.name.as_ref())) {
                    self.bind(name.as_str(), Bound::Many);
                }
            }
            Stmt::TypeAlias(alias) => self.target(&alias.name, None),
            _ => {}
        }
        walk_stmt(self, stmt);
    }

    fn visit_expr(&mut self, expr: &'a Expr) {
        if !self.walrus {
            return;
        }
        if let Expr::Named(named) = expr {
            self.target(&named.target, None);
        }
        if !matches!(expr, Expr::Lambda(_)) {
            walk_expr(self, expr);
        }
    }

    fn visit_pattern(&mut self, pattern: &'a Pattern) {
        let name = match pattern {
            Pattern::MatchAs(p) => p.name.as_ref(),
            Pattern::MatchStar(p) => p.name.as_ref(),
            Pattern::MatchMapping(p) => p.rest.as_ref(),
            _ => None,
        };
        if let Some(name) = name {
            self.bind(name.as_str(), Bound::Many);
        }
        walk_pattern(self, pattern);
    }
}
