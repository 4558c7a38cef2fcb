//! Owns what local names stand for at a statement: the value they were bound to last, as far as that is certain.

use std::fmt::Write as _;

use ruff_python_ast::{Expr, Stmt, StmtIf};
use rustc_hash::FxHashSet;

use crate::strength::languages::python::claims::{LINE, Line, Teller, clipped};
use crate::strength::languages::python::names::{Bound, Layer, layer};
use crate::strength::languages::python::oracles;
use crate::strength::languages::python::text::File;
use crate::strength::languages::python::write::{Local, OR, TERNARY, told_at};

/// Names that a body binds more than once, or that are parameters too.
pub(super) fn rebound<'a>(stmts: &'a [Stmt], own: &Layer<'a>, file: &File<'_>) -> FxHashSet<&'a str> {
    let many = |name: &&'a str| matches!(own.get(name), Some(Bound::Many));
    layer(stmts, file).into_keys().filter(many).collect()
}

/// What a block binds that does nothing else.
fn assigned(block: &[Stmt]) -> Option<(&str, &Expr)> {
    match block {
        [Stmt::Assign(a)] => match a.targets.as_slice() {
            [Expr::Name(name)] => Some((name.id.as_str(), &a.value)),
            _ => None,
        },
        _ => None,
    }
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

    /// A statement that only gives one name one of several values is a choice between them.
    pub(super) fn choose(&mut self, s: &'a StmtIf) -> bool {
        let Some((name, value)) = assigned(&s.body) else { return false };
        let rest: Option<Vec<(Option<&Expr>, &Expr)>> = s
            .elif_else_clauses
            .iter()
            .map(|clause| assigned(&clause.body).filter(|(other, _)| *other == name).map(|(_, value)| (clause.test.as_ref(), value)))
            .collect();
        let Some(rest) = rest.filter(|rest| rest.last().is_some_and(|(test, _)| test.is_none()) && self.rebound.contains(name)) else {
            return false;
        };
        let is_filled = |value: &Expr| oracles::is_container(value) && self.filled.contains(name);
        if is_filled(value) || rest.iter().any(|(_, value)| is_filled(value)) {
            return false;
        }
        let at = |expr: &Expr, around| told_at(expr, around, self.scope, &self.locals);
        let mut text = format!("{} if {} else ", at(value, OR), at(&s.test, OR));
        for (test, value) in rest {
            match test {
                Some(test) => drop(write!(text, "{} if {} else ", at(value, OR), at(test, OR))),
                None => text.push_str(&at(value, TERNARY)),
            }
        }
        let short = text.len() <= LINE;
        if short {
            self.settle();
            self.locals.insert(name, Local::of_choice(text));
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
