//! Owns what names of a file stand for: imports, names bound once, and which of them something may change.

mod binder;
mod changes;

use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::rc::Rc;

use ruff_python_ast::token::TokenKind;
use ruff_python_ast::visitor::Visitor as _;
use ruff_python_ast::{Expr, Stmt, StmtClassDef, StmtFunctionDef};
use ruff_text_size::{Ranged, TextRange};
use rustc_hash::{FxHashMap, FxHashSet};

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
pub(super) type Layer<'a> = FxHashMap<&'a str, Bound<'a>>;

/// Work that folding and writing may do over one file: a hostile file cannot make them run away.
const BUDGET: usize = 2_000_000;
/// How many names may lead to one another.
const CHAIN: u32 = 48;
/// Parts of a dotted name that is read.
const PARTS: usize = 16;

/// The names of a file.
pub(super) struct Names<'a> {
    /// The file's text and tokens.
    pub(super) file: &'a File<'a>,
    imports: FxHashMap<&'a str, Option<String>>,
    stars: Vec<String>,
    /// Names of the module itself.
    pub(super) top: Layer<'a>,
    mutated: FxHashSet<&'a str>,
    /// Where each of the module's names is bound or changed.
    places: FxHashMap<&'a str, Vec<TextRange>>,
    budget: Cell<usize>,
    chain: Cell<u32>,
    open: RefCell<Vec<String>>,
    /// What the module's names were told as.
    told: RefCell<FxHashMap<String, Rc<str>>>,
    /// What their import aliases lead to.
    resolved: RefCell<FxHashMap<String, Option<Rc<str>>>>,
}

impl<'a> Names<'a> {
    /// Reads a whole file once.
    pub(super) fn read(file: &'a File<'a>, body: &'a [Stmt]) -> Self {
        let mut names = Names {
            file,
            imports: FxHashMap::default(),
            stars: Vec::new(),
            top: Layer::default(),
            mutated: FxHashSet::default(),
            places: FxHashMap::default(),
            budget: Cell::new(BUDGET),
            chain: Cell::new(0),
            open: RefCell::new(Vec::new()),
            told: RefCell::default(),
            resolved: RefCell::default(),
        };
        let mut binder = Binder { walrus: file.has_walrus, ..Binder::default() };
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

    /// One hash over everything of this file that these names lead to; `None` when they lead to nothing here.
    pub(super) fn fingerprint(&self, names: &BTreeSet<String>) -> Option<String> {
        self.behind(names, &|_| false).0.map(|behind| behind.hash())
    }

    /// Everything of this file that they lead to without what is told apart, and the names of that.
    pub(super) fn behind(&self, names: &BTreeSet<String>, apart: &dyn Fn(&str) -> bool) -> (Option<Behind<'_>>, BTreeSet<&'a str>) {
        let mut told: BTreeSet<&'a str> = BTreeSet::new();
        let mut open: Vec<&'a str> = names.iter().filter_map(|name| self.top.get_key_value(name.as_str()).map(|(name, _)| *name)).collect();
        let mut seen: BTreeSet<&'a str> = open.iter().copied().collect();
        let mut ranges: Vec<TextRange> = Vec::new();
        while let Some(name) = open.pop() {
            for place in self.places.get(name).into_iter().flatten() {
                let tokens = self.file.tokens(*place);
                if self.scope().spend(tokens.len()).is_none() {
                    return (Some(Behind { file: self.file, ranges: Vec::new() }), BTreeSet::new());
                }
                if apart(name) {
                    told.insert(name);
                } else {
                    ranges.push(*place);
                }
                let inside = tokens.iter().filter(|t| t.kind() == TokenKind::Name && !self.file.is_noise(t));
                for (inner, _) in inside.filter_map(|t| self.top.get_key_value(self.file.of(t))) {
                    if seen.insert(inner) {
                        open.push(inner);
                    }
                }
            }
        }
        ranges.sort_unstable_by_key(Ranged::start);
        ranges.dedup();
        ((!ranges.is_empty()).then_some(Behind { file: self.file, ranges }), told)
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
        Scope { names: self, layer: None, outer: None, is_class: false }
    }

    /// Every imported name and where it comes from.
    pub(super) fn imported(&self) -> impl Iterator<Item = (&'a str, &str)> {
        self.imports.iter().filter(|(name, _)| !self.top.contains_key(*name)).filter_map(|(name, from)| Some((*name, from.as_deref()?)))
    }
}

/// The parts of a file that names lead to; without a part, all of it.
pub(super) struct Behind<'f> {
    file: &'f File<'f>,
    ranges: Vec<TextRange>,
}

/// Longest text of definitions that is told as it is.
const BEHIND: usize = 4 << 10;

impl Behind<'_> {
    /// One short hash.
    pub(super) fn hash(&self) -> String {
        if self.ranges.is_empty() {
            return self.file.whole_sha256();
        }
        self.file.sha256(&self.ranges, &[])[..16].to_owned()
    }

    /// The text, or the hash of a long one.
    pub(super) fn text(&self) -> String {
        let length: usize = self.ranges.iter().map(|range| range.len().to_usize()).sum();
        if length == 0 || length > BEHIND {
            return self.hash();
        }
        self.ranges.iter().map(|range| self.file.plain(*range, &[])).collect::<Vec<_>>().join(" ; ")
    }
}

/// The names that an expression sees: the module's, and those of the blocks around it.
#[derive(Clone, Copy)]
pub(super) struct Scope<'s, 'a> {
    /// The file.
    pub(super) names: &'s Names<'a>,
    layer: Option<&'s Layer<'a>>,
    outer: Option<&'s Scope<'s, 'a>>,
    is_class: bool,
}

impl<'s, 'a> Scope<'s, 'a> {
    /// The scope of a function's body inside this one.
    pub(super) fn inside(&'s self, layer: &'s Layer<'a>) -> Self {
        Scope { names: self.names, layer: Some(layer), outer: Some(self), is_class: false }
    }

    /// The scope of a class's body inside this one.
    pub(super) fn inside_class(&'s self, layer: &'s Layer<'a>) -> Self {
        Scope { is_class: true, ..self.inside(layer) }
    }

    /// This scope and those around it, innermost first, the module's not among them.
    fn outward(&self) -> impl Iterator<Item = (&'s Layer<'a>, Scope<'s, 'a>)> + use<'s, 'a> {
        let mut next = Some(*self);
        std::iter::from_fn(move || {
            let scope = next?;
            next = scope.outer.copied();
            Some((scope.layer?, scope))
        })
    }

    /// Takes from the file's budget; `None` when it is spent.
    pub(super) fn spend(&self, work: usize) -> Option<()> {
        let left = self.names.budget.get().checked_sub(work)?;
        self.names.budget.set(left);
        Some(())
    }

    /// What a name is bound to, and the scope that binds it. A function's body does not see the names of a class around it.
    pub(super) fn lookup(&self, name: &str) -> Option<(Bound<'a>, Scope<'s, 'a>)> {
        let mut in_function = false;
        for (layer, scope) in self.outward() {
            if let Some(bound) = layer.get(name).filter(|_| !(in_function && scope.is_class)) {
                return Some((*bound, scope));
            }
            in_function |= !scope.is_class;
        }
        self.names.top.get(name).map(|bound| (*bound, self.names.scope()))
    }

    fn is_local(&self, name: &str) -> bool {
        self.outward().any(|(layer, _)| layer.contains_key(name))
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
            let (layer, scope) = self.outward().find(|(_, scope)| scope.is_class)?;
            return layer.get(name).map(|bound| (*bound, scope));
        }
        let (Bound::Class(class), scope) = self.lookup(of)? else { return None };
        layer(&class.body, self.names.file).get(name).map(|bound| (*bound, scope))
    }

    /// A dotted name with import aliases resolved; `None` for anything else.
    pub(super) fn dotted(&self, expr: &Expr) -> Option<String> {
        let mut name = String::new();
        self.write_dotted(expr, &mut name).map(|()| name)
    }

    /// What a name of the module leads to, when an import binds it.
    pub(super) fn dotted_name(&self, name: &str) -> Option<String> {
        self.leads(name).map(|led| led.to_string())
    }

    /// Writes the same behind a text.
    pub(super) fn write_dotted(&self, expr: &Expr, out: &mut String) -> Option<()> {
        let (mut parts, mut at, mut size) = ([""; PARTS], expr, 0);
        let mut count = 0;
        while let Expr::Attribute(attribute) = at {
            *parts.get_mut(count)? = attribute.attr.as_str();
            size += attribute.attr.len() + 1;
            count += 1;
            at = &attribute.value;
        }
        let root = at.as_name_expr()?.id.as_str();
        let led = self.leads(root);
        let root = led.as_deref().unwrap_or(root);
        out.reserve(root.len() + size);
        out.push_str(root);
        for part in parts[..count].iter().rev() {
            out.push('.');
            out.push_str(part);
        }
        Some(())
    }

    /// Writes how a name is told in canonical source: the value of a constant, else the name with its import alias resolved.
    pub(super) fn tell(&self, expr: &Expr, name: &str, value: impl Fn(&Expr, &Scope<'_, '_>) -> Option<String>, out: &mut String) {
        if !self.is_local(name) {
            return out.push_str(&self.names.scope().top(expr, name, value));
        }
        if !matches!(self.lookup(name), Some((Bound::Once(_), _))) {
            return out.push_str(name);
        }
        match self.enter(expr, |bound, scope| value(bound, scope)).flatten() {
            Some(constant) => out.push_str(&constant),
            None => out.push_str(&self.resolved(name)),
        }
    }

    /// How a name of the module itself is told, found once.
    fn top(&self, expr: &Expr, name: &str, value: impl Fn(&Expr, &Scope<'_, '_>) -> Option<String>) -> Rc<str> {
        if let Some(told) = self.names.told.borrow().get(name) {
            return told.clone();
        }
        let constant = self.enter(expr, |bound, scope| value(bound, scope)).flatten();
        let told: Rc<str> = constant.map_or_else(|| self.resolved(name), Into::into);
        self.names.told.borrow_mut().insert(name.to_owned(), told.clone());
        told
    }

    /// A name with its import alias resolved, `mark = pytest.mark` followed too; a name that could be several things stays as it is.
    pub(super) fn resolved(&self, name: &str) -> Rc<str> {
        self.leads(name).unwrap_or_else(|| name.into())
    }

    /// Where a name leads to, when that is not itself.
    fn leads(&self, name: &str) -> Option<Rc<str>> {
        if self.is_local(name) {
            return self.alias(name).map(Into::into);
        }
        if let Some(known) = self.names.resolved.borrow().get(name) {
            return known.clone();
        }
        let names = self.names;
        let from = match names.imports.get(name) {
            Some(from) if !names.top.contains_key(name) => from.clone(),
            None if names.top.contains_key(name) => names.scope().alias(name),
            None if names.stars.len() == 1 && !is_builtin(name) => Some(format!("{}.{name}", names.stars[0])),
            _ => None,
        };
        let led: Option<Rc<str>> = from.map(Into::into);
        // Inside a chain the answer may be cut short.
        if names.chain.get() == 0 {
            names.resolved.borrow_mut().insert(name.to_owned(), led.clone());
        }
        led
    }

    /// What a name leads to that one assignment binds to another name.
    fn alias(&self, name: &str) -> Option<String> {
        let (Bound::Once(value @ (Expr::Name(_) | Expr::Attribute(_))), scope) = self.lookup(name)? else { return None };
        let chain = &self.names.chain;
        if chain.get() >= CHAIN || value.as_name_expr().is_some_and(|n| n.id.as_str() == name) {
            return None;
        }
        chain.set(chain.get() + 1);
        let dotted = scope.dotted(value);
        chain.set(chain.get() - 1);
        dotted
    }
}

fn is_builtin(name: &str) -> bool {
    const BUILTINS: &str = " range list tuple set dict frozenset len int str bytes bool float complex zip map filter sorted reversed enumerate min max \
        sum abs round repr print open isinstance issubclass type object any all iter next hash id ord chr callable getattr hasattr super vars ";
    let known = BUILTINS.split_ascii_whitespace().any(|builtin| builtin == name);
    known || name.starts_with("__") || name.ends_with("Error") || name.ends_with("Exception")
}
