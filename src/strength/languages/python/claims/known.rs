//! Owns what local names stand for at a statement: the value they were bound to last, as far as that is certain.

use ruff_python_ast::{Expr, Stmt};
use rustc_hash::FxHashSet;

use crate::strength::languages::python::claims::{LINE, Line, Teller, clipped};
use crate::strength::languages::python::names::{Bound, Layer, layer};
use crate::strength::languages::python::oracles;
use crate::strength::languages::python::text::File;
use crate::strength::languages::python::write::Local;

/// Names that a body binds more than once, or that are parameters too.
pub(super) fn rebound<'a>(stmts: &'a [Stmt], own: &Layer<'a>, file: &File<'_>) -> FxHashSet<&'a str> {
    let many = |name: &&'a str| matches!(own.get(name), Some(Bound::Many));
    layer(stmts, file).into_keys().filter(many).collect()
}

/// What each name that is bound again stood for before a block.
pub(super) type Known<'a> = Vec<(&'a str, Option<Local>)>;

impl<'a> Teller<'_, '_, 'a> {
    /// A name stands for its value from here on, until it is bound again; any other binding is set-up.
    pub(super) fn bind(&mut self, name: &'a str, value: &'a Expr) -> bool {
        let once = matches!(self.own.get(name), Some(Bound::Once(bound)) if std::ptr::eq(*bound, value)) && !self.locals.contains_key(name);
        let again = self.rebound.contains(name);
        let is_filled = oracles::is_container(value) && self.filled.contains(name);
        if is_filled || !(once || again) {
            return false;
        }
        let text = self.text(value);
        let short = text.len() <= LINE;
        if short {
            self.settle();
            self.locals.insert(name, Local::new(text, value));
        }
        short
    }

    /// What a statement may bind stands for nothing certain.
    pub(super) fn forget(&mut self, stmt: &'a Stmt) {
        if self.rebound.is_empty() {
            return;
        }
        let bound = layer(std::slice::from_ref(stmt), self.scope.names.file);
        self.spent |= self.scope.spend(bound.len() + 1).is_none();
        self.settle();
        self.locals.retain(|name, _| !(self.rebound.contains(name) && bound.contains_key(name)));
    }

    /// What the names that are bound again stand for here.
    pub(super) fn known(&self) -> Known<'a> {
        self.rebound.iter().map(|name| (*name, self.locals.get(name).cloned())).collect()
    }

    /// Goes back to what the names stood for.
    pub(super) fn restore(&mut self, known: Known<'a>) {
        self.settle();
        for (name, local) in known {
            match local {
                Some(local) => drop(self.locals.insert(name, local)),
                None => drop(self.locals.remove(name)),
            }
        }
    }

    /// Tells the lines of set-up that stand before a change of what the names stand for.
    pub(super) fn settle(&mut self) {
        if self.rebound.is_empty() {
            return;
        }
        for at in (0..self.setup.len()).rev() {
            let text = match &self.setup[at] {
                Line::Told { .. } => break,
                Line::Stmt(stmt) => clipped(self.simple(stmt)),
                Line::Whole(stmt) => clipped(self.plain(*stmt)),
            };
            self.setup[at] = Line::Told { text, running: None };
        }
    }
}
