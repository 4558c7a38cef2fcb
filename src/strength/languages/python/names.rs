//! Owns what names of a file stand for: imports, names bound once, and which of them something may change.

mod binder;
mod changes;

use std::cell::{Cell, RefCell};
use std::collections::{BTreeSet, HashMap, HashSet};

use ruff_python_ast::token::TokenKind;
use ruff_python_ast::visitor::Visitor as _;
use ruff_python_ast::{Expr, Stmt, StmtClassDef, StmtFunctionDef};
use ruff_text_size::{Ranged, TextRange};

use crate::strength::languages::python::names::binder::Binder;
pub(super) use crate::strength::languages::python::names::binder::layer;
use crate::strength::languages::python::names::changes::passed_on;
use crate::strength::languages::python::text::File;

/// What one name of one scope is bound to.
#[derive(Clone, Copy)]
pub(super) enum Bound<'a> {
    /// Bound by one assignment.
    Once(&'a Expr),
    /// Bound by one `def`.
    Function(&'a StmtFunctionDef),
    /// Bound by one `class`.
    Class(&'a StmtClassDef),
    /// Bound more than once, or in a way that gives no single value.
    Many,
}

/// The names of one scope.
pub(super) type Layer<'a> = HashMap<&'a str, Bound<'a>>;

/// Work that folding and writing may do over one file: a hostile file cannot make them run away.
const BUDGET: usize = 4_000_000;
/// How many names may lead to one another.
const CHAIN: u32 = 48;

/// The names of a file.
pub(super) struct Names<'a> {
    /// The file's text and tokens.
    pub(super) file: &'a File<'a>,
    imports: HashMap<&'a str, Option<String>>,
    stars: Vec<String>,
    /// Names of the module itself.
    pub(super) top: Layer<'a>,
    mutated: HashSet<&'a str>,
    /// Where each of the module's names is bound or changed.
    places: HashMap<&'a str, Vec<TextRange>>,
    budget: Cell<usize>,
    chain: Cell<u32>,
    open: RefCell<Vec<String>>,
}

impl<'a> Names<'a> {
    /// Reads a whole file once.
    pub(super) fn read(file: &'a File<'a>, body: &'a [Stmt]) -> Self {
        let mut names = Names {
            file,
            imports: HashMap::new(),
            stars: Vec::new(),
            top: Layer::new(),
            mutated: HashSet::new(),
            places: HashMap::new(),
            budget: Cell::new(BUDGET),
            chain: Cell::new(0),
            open: RefCell::new(Vec::new()),
        };
        let mut binder = Binder::default();
        for stmt in body {
            binder.at = Some(stmt.range());
            binder.visit_stmt(stmt);
        }
        (names.top, names.places) = (binder.layer, binder.places);
        for stmt in body {
            names.visit_stmt(stmt);
            names.mutated(passed_on(stmt), stmt.range());
        }
        names.spread_mutation();
        names
    }

    fn mutated(&mut self, names: impl IntoIterator<Item = &'a str>, at: TextRange) {
        for name in names {
            self.mutated.insert(name);
            self.places.entry(name).or_default().push(at);
        }
    }

    /// One short hash over everything of this file that these names lead to; `None` when they lead to nothing here.
    pub(super) fn fingerprint(&self, names: &BTreeSet<String>) -> Option<String> {
        let mut open: Vec<&'a str> = names.iter().filter_map(|name| self.top.get_key_value(name.as_str()).map(|(name, _)| *name)).collect();
        let mut seen: BTreeSet<&'a str> = open.iter().copied().collect();
        let mut ranges: Vec<TextRange> = Vec::new();
        while let Some(name) = open.pop() {
            for place in self.places.get(name).into_iter().flatten() {
                let tokens = self.file.tokens(*place);
                if self.scope().spend(tokens.len()).is_none() {
                    return Some(self.file.whole_sha256());
                }
                ranges.push(*place);
                let inside = tokens.iter().filter(|t| t.kind() == TokenKind::Name);
                for (inner, _) in inside.filter_map(|t| self.top.get_key_value(self.file.of(t))) {
                    if seen.insert(inner) {
                        open.push(inner);
                    }
                }
            }
        }
        ranges.sort_unstable_by_key(Ranged::start);
        ranges.dedup();
        (!ranges.is_empty()).then(|| self.file.sha256(&ranges, &[])[..16].to_owned())
    }

    /// A name that stands for a mutated one's list is the same list.
    fn spread_mutation(&mut self) {
        for _ in 0..4 {
            let same: Vec<&'a str> = self
                .top
                .iter()
                .filter(|(name, _)| self.mutated.contains(*name))
                .filter_map(|(_, bound)| match bound {
                    Bound::Once(Expr::Name(other)) => Some(other.id.as_str()),
                    _ => None,
                })
                .collect();
            self.mutated.extend(same);
        }
    }

    /// Whether a function is being read: a generator may lead to itself.
    pub(super) fn is_open(&self, name: &str) -> bool {
        self.open.borrow().iter().any(|open| open == name)
    }

    /// A function is being read from now on.
    pub(super) fn open(&self, name: &str) {
        self.open.borrow_mut().push(name.to_owned());
    }

    /// The function opened last is read.
    pub(super) fn close(&self) {
        self.open.borrow_mut().pop();
    }

    /// The module's own scope.
    pub(super) fn scope(&self) -> Scope<'_, 'a> {
        Scope { names: self, layers: Vec::new() }
    }

    /// Every imported name and where it comes from.
    pub(super) fn imported(&self) -> impl Iterator<Item = (&'a str, &str)> {
        self.imports.iter().filter(|(name, _)| !self.top.contains_key(*name)).filter_map(|(name, from)| Some((*name, from.as_deref()?)))
    }
}

/// The names that an expression sees: the module's, and those of the blocks around it, innermost last.
#[derive(Clone)]
pub(super) struct Scope<'s, 'a> {
    /// The file.
    pub(super) names: &'s Names<'a>,
    layers: Vec<&'s Layer<'a>>,
}

impl<'s, 'a> Scope<'s, 'a> {
    /// A scope inside this one.
    pub(super) fn inside(&self, layer: &'s Layer<'a>) -> Self {
        let mut layers = self.layers.clone();
        layers.push(layer);
        Scope { names: self.names, layers }
    }

    /// Takes from the file's budget; `None` when it is spent.
    pub(super) fn spend(&self, work: usize) -> Option<()> {
        let left = self.names.budget.get().checked_sub(work)?;
        self.names.budget.set(left);
        Some(())
    }

    /// What a name is bound to, and the scope that binds it.
    pub(super) fn lookup(&self, name: &str) -> Option<(Bound<'a>, Scope<'s, 'a>)> {
        for depth in (0..self.layers.len()).rev() {
            if let Some(bound) = self.layers[depth].get(name) {
                return Some((*bound, Scope { names: self.names, layers: self.layers[..=depth].to_vec() }));
            }
        }
        self.names.top.get(name).map(|bound| (*bound, self.names.scope()))
    }

    /// Goes to what a name (or `self.NAME`, `Class.NAME`) is bound to, when one assignment binds it and nothing changes it.
    pub(super) fn enter<T>(&self, expr: &Expr, go: impl FnOnce(&'a Expr, &Scope<'s, 'a>) -> T) -> Option<T> {
        let (value, scope) = self.value(expr)?;
        let chain = &self.names.chain;
        if chain.get() >= CHAIN {
            return None;
        }
        chain.set(chain.get() + 1);
        let result = go(value, &scope);
        chain.set(chain.get() - 1);
        Some(result)
    }

    fn value(&self, expr: &Expr) -> Option<(&'a Expr, Scope<'s, 'a>)> {
        let name = match expr {
            Expr::Name(name) => name.id.as_str(),
            Expr::Attribute(attribute) => attribute.attr.as_str(),
            _ => return None,
        };
        if self.names.mutated.contains(name) {
            return None;
        }
        let found = match expr {
            Expr::Attribute(attribute) => self.attribute(&attribute.value, name)?,
            _ if self.names.imports.contains_key(name) => return None,
            _ => self.lookup(name)?,
        };
        match found {
            (Bound::Once(value), scope) => Some((value, scope)),
            _ => None,
        }
    }

    /// A constant of a class: of the innermost scope for `self` and `cls`, of the named class otherwise.
    fn attribute(&self, of: &Expr, name: &str) -> Option<(Bound<'a>, Scope<'s, 'a>)> {
        let of = of.as_name_expr()?.id.as_str();
        if matches!(of, "self" | "cls") {
            return self.layers.iter().find_map(|layer| layer.get(name)).map(|bound| (*bound, self.clone()));
        }
        let (Bound::Class(class), scope) = self.lookup(of)? else { return None };
        layer(&class.body).get(name).map(|bound| (*bound, scope))
    }

    /// A dotted name with import aliases resolved; `None` for anything else, and for a name that could be several things.
    pub(super) fn dotted(&self, expr: &Expr) -> Option<String> {
        match expr {
            Expr::Name(name) => Some(self.resolved(name.id.as_str())),
            Expr::Attribute(attribute) => {
                let mut name = self.dotted(&attribute.value)?;
                name.push('.');
                name.push_str(attribute.attr.as_str());
                Some(name)
            }
            _ => None,
        }
    }

    /// A name with its import alias resolved, `mark = pytest.mark` followed too.
    pub(super) fn resolved(&self, name: &str) -> String {
        let local = self.layers.iter().any(|layer| layer.contains_key(name));
        let top = self.names.top.get(name);
        match self.names.imports.get(name) {
            Some(from) if !local && top.is_none() => return from.clone().unwrap_or_else(|| name.to_owned()),
            None if !local && top.is_none() && self.names.stars.len() == 1 && !is_builtin(name) => {
                return format!("{}.{name}", self.names.stars[0]);
            }
            None => {}
            Some(_) => return name.to_owned(),
        }
        let alias = self.lookup(name).and_then(|(bound, scope)| match bound {
            Bound::Once(value @ (Expr::Name(_) | Expr::Attribute(_))) => {
                let chain = &self.names.chain;
                if chain.get() >= CHAIN || value.as_name_expr().is_some_and(|n| n.id.as_str() == name) {
                    return None;
                }
                chain.set(chain.get() + 1);
                let dotted = scope.dotted(value);
                chain.set(chain.get() - 1);
                dotted
            }
            _ => None,
        });
        alias.unwrap_or_else(|| name.to_owned())
    }
}

fn is_builtin(name: &str) -> bool {
    const BUILTINS: [&str; 44] = [
        "range",
        "list",
        "tuple",
        "set",
        "dict",
        "frozenset",
        "len",
        "int",
        "str",
        "bytes",
        "bool",
        "float",
        "complex",
        "zip",
        "map",
        "filter",
        "sorted",
        "reversed",
        "enumerate",
        "min",
        "max",
        "sum",
        "abs",
        "round",
        "repr",
        "print",
        "open",
        "isinstance",
        "issubclass",
        "type",
        "object",
        "any",
        "all",
        "iter",
        "next",
        "hash",
        "id",
        "ord",
        "chr",
        "callable",
        "getattr",
        "hasattr",
        "super",
        "vars",
    ];
    BUILTINS.contains(&name) || name.starts_with("__") || name.ends_with("Error") || name.ends_with("Exception")
}
