//! Owns one walk over a file: its imports, and what changes a name after it is bound.

use ruff_python_ast::visitor::{Visitor, walk_expr, walk_stmt};
use ruff_python_ast::{Expr, Identifier, Stmt, StmtFunctionDef};
use ruff_text_size::Ranged as _;
use rustc_hash::FxHashSet;

use crate::strength::languages::python::names::Names;
use crate::strength::languages::python::names::binder::layer;

impl<'a> Names<'a> {
    /// What a function changes of names that are its own is no change of the module's.
    fn function(&mut self, def: &'a StmtFunctionDef) {
        let outer = std::mem::take(&mut self.mutated);
        def.decorator_list.iter().for_each(|d| self.visit_decorator(d));
        self.visit_parameters(&def.parameters);
        let before = std::mem::replace(&mut self.mutated, outer);
        self.mutated.extend(before);
        let outer = std::mem::take(&mut self.mutated);
        let places = std::mem::take(&mut self.places);
        def.body.iter().for_each(|s| self.visit_stmt(s));
        let inner = std::mem::replace(&mut self.mutated, outer);
        let inner_places = std::mem::replace(&mut self.places, places);
        if inner.is_empty() {
            return;
        }
        let globals = globals(&def.body);
        let own = layer(&def.body, self.file);
        let is_own =
            |name: &str| !globals.contains(name) && (own.contains_key(name) || def.parameters.iter().any(|p| p.name().as_str() == name));
        self.mutated.extend(inner.into_iter().filter(|name| !is_own(name)));
        for (name, at) in inner_places.into_iter().filter(|(name, _)| !is_own(name)) {
            self.places.entry(name).or_default().extend(at);
        }
    }

    fn import(&mut self, name: &'a str, from: &str) {
        let known = self.imports.entry(name).or_insert_with(|| Some(from.to_owned()));
        if known.as_ref().is_some_and(|k| k != from) {
            *known = None;
        }
    }
}

/// Names that a function's own statements declare global.
fn globals(body: &[Stmt]) -> FxHashSet<&str> {
    body.iter().filter_map(Stmt::as_global_stmt).flat_map(|g| g.names.iter().map(Identifier::as_str)).collect()
}

/// Lists handed to a call that stands alone at the module's level may be changed by it.
pub(super) fn passed_on(stmt: &Stmt) -> Vec<&str> {
    let Stmt::Expr(stmt) = stmt else { return Vec::new() };
    let Expr::Call(call) = &*stmt.value else { return Vec::new() };
    call.arguments.args.iter().filter_map(|a| a.as_name_expr()).map(|name| name.id.as_str()).collect()
}

const MUTATORS: [&str; 17] = [
    "append",
    "extend",
    "insert",
    "pop",
    "remove",
    "clear",
    "sort",
    "reverse",
    "update",
    "add",
    "discard",
    "popitem",
    "setdefault",
    "__setitem__",
    "__delitem__",
    "__iadd__",
    "difference_update",
];

impl<'a> Visitor<'a> for Names<'a> {
    fn visit_stmt(&mut self, stmt: &'a Stmt) {
        match stmt {
            Stmt::Import(import) => {
                for alias in &import.names {
                    let root = alias.name.as_str().split('.').next().unwrap_or_default();
                    let named = alias.asname.as_ref().map(|name| (name.as_str(), alias.name.as_str()));
                    let (name, from) = named.unwrap_or((root, root));
                    self.import(name, from);
                }
            }
            Stmt::ImportFrom(import) => {
                let dots = ".".repeat(usize::try_from(import.level).unwrap_or_default().min(64));
                let module = import.module.as_ref().map_or("", |m| m.as_str());
                for alias in &import.names {
                    if alias.name.as_str() == "*" {
                        self.stars.push(format!("{dots}{module}"));
                        continue;
                    }
                    let dot = if module.is_empty() { "" } else { "." };
                    let name = alias.asname.as_ref().unwrap_or(&alias.name);
                    self.import(name.as_str(), &format!("{dots}{module}{dot}{}", alias.name));
                }
            }
            Stmt::FunctionDef(def) => return self.function(def),
            Stmt::Global(global) => self.mutated(global.names.iter().map(Identifier::as_str), global.range),
            Stmt::AugAssign(aug) => self.mutated(root(&aug.target), aug.range),
            Stmt::Delete(delete) => self.mutated(delete.targets.iter().flat_map(root), delete.range),
            Stmt::Assign(assign) => {
                let stored = assign.targets.iter().filter(|t| matches!(t, Expr::Subscript(_) | Expr::Attribute(_)));
                self.mutated(stored.flat_map(root), assign.range);
            }
            _ => {}
        }
        walk_stmt(self, stmt);
    }

    fn visit_expr(&mut self, expr: &'a Expr) {
        match expr {
            Expr::Named(named) => self.mutated(root(&named.target), named.range),
            Expr::Call(call) => {
                if let Expr::Attribute(method) = &*call.func
                    && MUTATORS.contains(&method.attr.as_str())
                {
                    self.mutated(root(&method.value), expr.range());
                }
            }
            _ => {}
        }
        walk_expr(self, expr);
    }
}

/// The names through which a target is reached: `ROWS`, `ROWS[0]`, `Table.rows`.
fn root(target: &Expr) -> Vec<&str> {
    let (mut names, mut at) = (Vec::new(), target);
    loop {
        match at {
            Expr::Name(name) => {
                names.push(name.id.as_str());
                return names;
            }
            Expr::Attribute(attribute) => {
                names.push(attribute.attr.as_str());
                at = &attribute.value;
            }
            Expr::Subscript(subscript) => at = &subscript.value,
            _ => return names,
        }
    }
}
