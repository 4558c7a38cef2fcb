//! Owns one walk over a body: what its checks demand, whether a run reaches them, and what keeps inputs from them.

mod blocks;
mod checks;
mod failures;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use proc_macro2::{Span, TokenStream, TokenTree};
use quote::ToTokens as _;
use rustc_hash::{FxHashMap, FxHashSet};
use syn::visit::Visit;
use syn::{Block, Expr, Pat, Stmt};

use crate::strength::card::{Assertion, Claim};
use crate::strength::domain::{Argument, Table};
use crate::strength::effort::Budget;
use crate::strength::languages::facts::{HERE, HelperCall};
use crate::strength::languages::rust::names::{Defined, Names};
use crate::strength::languages::rust::strategies::Reader;
use crate::strength::languages::rust::write::calls::inner;
use crate::strength::languages::rust::write::patterns::bindings;
use crate::strength::languages::rust::write::{NOT, Writer};

/// Lines of set-up that a claim keeps.
const LINES: usize = 24;
/// Longest line that is kept as it is.
const LINE: usize = 512;
/// Claims of one body that are told.
const CLAIMS: usize = 20_000;

/// What the value at a body's end means.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Tail {
    /// Nothing: a unit, or a result whose failure fails the test.
    Nothing,
    /// Whether the property holds.
    Verdict,
    /// What a case's expected value is compared with.
    Answer,
}

/// What is told of a body.
#[derive(Default)]
pub(super) struct Told {
    pub(super) assertions: Vec<Assertion>,
    pub(super) claims: Vec<Claim>,
    pub(super) calls: Vec<HelperCall>,
    pub(super) reducers: BTreeMap<String, usize>,
    pub(super) loops: Vec<Table>,
    pub(super) arguments: Vec<Argument>,
    pub(super) budget: Budget,
    pub(super) literals: BTreeSet<String>,
    /// Names of functions that are called.
    pub(super) called: BTreeSet<String>,
    /// Names of functions that the body defines itself.
    pub(super) own: BTreeSet<String>,
}

/// Words of a body, each as often as it stands there, inside macros too.
pub(super) fn words(tokens: &TokenStream) -> FxHashMap<String, usize> {
    let mut found = FxHashMap::default();
    let mut open = vec![tokens.clone().into_iter()];
    while let Some(rest) = open.last_mut() {
        match rest.next() {
            Some(TokenTree::Group(group)) => open.push(group.stream().into_iter()),
            Some(TokenTree::Ident(word)) => *found.entry(word.to_string()).or_default() += 1,
            Some(_) => {}
            None => drop(open.pop()),
        }
    }
    found
}

/// One condition on the way to a statement.
#[derive(Clone)]
struct Condition {
    text: String,
    /// What holds where it does not.
    otherwise: String,
    /// Checks that stood before it.
    seen: usize,
}

/// A way out of a function or loop, and how many checks stood before what follows it.
struct Exit {
    text: String,
    depth: usize,
    seen: Option<usize>,
}

/// A function or a loop that may be left.
struct Frame {
    is_function: bool,
    exits: Vec<Exit>,
}

/// Walks a body.
pub(super) struct Teller<'t, 'f> {
    names: Names,
    defined: &'t Defined<'f>,
    arguments: BTreeSet<String>,
    words: FxHashMap<String, usize>,
    setup: Vec<Arc<str>>,
    conditions: Vec<Condition>,
    frames: Vec<Frame>,
    /// Local functions that check.
    checkers: FxHashSet<String>,
    /// Local lists of cases.
    lists: FxHashMap<String, Expr>,
    /// Checks so far, reached or not.
    seen: usize,
    unreached: bool,
    told: Told,
}

/// What is known where a body starts.
pub(super) struct Start<'s, 'f> {
    pub(super) names: &'s Names,
    pub(super) defined: &'s Defined<'f>,
    /// Names of what is given to it.
    pub(super) arguments: BTreeSet<String>,
}

/// Tells a body.
pub(super) fn of(block: &Block, tail: Tail, start: &Start<'_, '_>) -> Told {
    let mut names = start.names.clone();
    start.arguments.iter().for_each(|name| names.forget(name));
    let mut teller = Teller {
        names,
        defined: start.defined,
        arguments: start.arguments.clone(),
        words: words(&block.to_token_stream()),
        setup: Vec::new(),
        conditions: Vec::new(),
        frames: vec![Frame { is_function: true, exits: Vec::new() }],
        checkers: FxHashSet::default(),
        lists: FxHashMap::default(),
        seen: 0,
        unreached: false,
        told: Told::default(),
    };
    teller.block(&block.stmts, tail);
    teller.left();
    teller.told
}

fn line_of(span: Span) -> u32 {
    u32::try_from(span.start().line).unwrap_or_default()
}

impl Teller<'_, '_> {
    fn writer(&self) -> Writer<'_> {
        Writer::new(&self.names)
    }

    fn text(&self, expr: &Expr) -> String {
        self.writer().text(expr)
    }

    /// Statements one after the other; what they bind holds to their end.
    fn block(&mut self, stmts: &[Stmt], tail: Tail) {
        let (names, lines, unreached) = (self.names.clone(), self.setup.len(), self.unreached);
        for (at, stmt) in stmts.iter().enumerate() {
            let last = at + 1 == stmts.len();
            self.stmt(stmt, if last { tail } else { Tail::Nothing });
            self.unreached |= failures::ends(stmt);
        }
        self.names = names;
        self.setup.truncate(lines);
        self.unreached = unreached;
    }

    /// A block under a head.
    fn under(&mut self, head: Option<String>, unless: bool, stmts: &[Stmt]) {
        let (lines, unreached) = (self.setup.len(), self.unreached);
        self.setup.extend(head.map(|text| clipped(&text)));
        self.unreached |= unless;
        self.block(stmts, Tail::Nothing);
        self.setup.truncate(lines);
        self.unreached = unreached;
    }

    fn stmt(&mut self, stmt: &Stmt, tail: Tail) {
        let attributes = match stmt {
            Stmt::Local(local) => &local.attrs[..],
            Stmt::Macro(mac) => &mac.attrs[..],
            _ => &[],
        };
        let head = match super::cfg::of(attributes) {
            super::cfg::Holds::Never => return,
            super::cfg::Holds::Always => None,
            super::cfg::Holds::If(text) => Some(text),
        };
        let lines = self.setup.len();
        self.setup.extend(head.iter().map(|text| clipped(&format!("if {text}"))));
        match stmt {
            Stmt::Local(local) => self.local(local),
            Stmt::Item(item) => self.item(item),
            Stmt::Macro(mac) => self.macro_call(&mac.mac),
            Stmt::Expr(expr, semi) => self.expression(expr, semi.is_some(), tail),
        }
        if head.is_some() {
            self.setup.truncate(lines);
        }
    }

    fn expression(&mut self, expr: &Expr, ended: bool, tail: Tail) {
        if !ended && tail != Tail::Nothing {
            self.answered(expr, tail);
            return;
        }
        if let Expr::Assign(assign) = expr {
            self.visit_expr(expr);
            if let Expr::Path(path) = &*assign.left {
                let name = path.path.get_ident().map(ToString::to_string).unwrap_or_default();
                if self.arguments.contains(&name) && self.seen == 0 && self.conditions.is_empty() {
                    self.reshaped(&name, &assign.right);
                }
                self.names.forget(&name);
            }
            self.line(&self.text(expr));
            return;
        }
        let before = self.seen;
        self.stepped(expr);
        self.visit_expr(expr);
        if before == self.seen && !matches!(expr, Expr::Macro(_) | Expr::Return(_)) && !self.is_helper(expr) {
            self.line(&self.text(expr));
        }
    }

    /// Whether a statement is a call of a function that checks: no set-up of what follows it.
    fn is_helper(&self, expr: &Expr) -> bool {
        let Expr::Call(call) = inner(expr) else { return false };
        let Expr::Path(path) = &*call.func else { return false };
        let name = path.path.segments.last().map(|s| s.ident.to_string()).unwrap_or_default();
        let of_file = || {
            self.defined.made_by(&name).is_some_and(|item| words(&item.block.to_token_stream()).keys().any(|word| checks::is_check(word)))
        };
        checks::is_check(&name) || self.checkers.contains(&name) || of_file()
    }

    /// The value at the end of a property or of a case.
    fn answered(&mut self, expr: &Expr, tail: Tail) {
        match expr {
            Expr::Block(e) => return self.block(&e.block.stmts, tail),
            Expr::Unsafe(e) => return self.block(&e.block.stmts, tail),
            Expr::If(e) if e.else_branch.is_some() => return self.branches(e, tail),
            Expr::Match(e) => return self.arms(e, tail),
            _ => {}
        }
        self.visit_expr(expr);
        self.verdict(expr, tail);
    }

    fn verdict(&mut self, expr: &Expr, tail: Tail) {
        let line = line_of(syn::spanned::Spanned::span(expr));
        if tail == Tail::Answer {
            let text = format!("{} == result", self.writer().at(expr, NOT + 2));
            return self.check(&text, line, std::slice::from_ref(&text));
        }
        let call = if let Expr::Call(call) = inner(expr) { Some(call) } else { None };
        let name = call.map(|call| self.writer().at(&call.func, NOT + 9)).unwrap_or_default();
        match (name.as_str(), call.and_then(|call| call.args.first())) {
            ("TestResult.discard", _) => self.leave(true),
            ("TestResult.from_bool" | "TestResult.from", Some(held)) if self.text(held) != "True" => self.demand(held, line),
            // What always ends in one way checks nothing by that.
            ("TestResult.passed" | "TestResult.failed" | "TestResult.error" | "TestResult.from_bool" | "TestResult.from", _) => {}
            _ if self.text(expr) == "True" => {}
            _ => self.demand(expr, line),
        }
    }

    fn demand(&mut self, held: &Expr, line: u32) {
        let all: Vec<String> = checks::conjuncts(held).into_iter().map(|e| self.writer().at(e, NOT)).collect();
        let text = self.text(held);
        self.check(&text, line, &all);
    }

    fn local(&mut self, local: &syn::Local) {
        let Some(init) = &local.init else {
            return self.unbound(&local.pat);
        };
        let pattern = if let Pat::Type(typed) = &local.pat { &*typed.pat } else { &local.pat };
        let before = self.seen;
        match (pattern, &*init.expr) {
            (Pat::Ident(name), Expr::Closure(closure)) => self.bound_closure(&name.ident.to_string(), closure),
            (Pat::Wild(_), expr) => self.discarded(expr),
            (_, expr) => self.visit_expr(expr),
        }
        if let Some((_, other)) = &init.diverge {
            self.diverges(pattern, &init.expr, other);
        }
        match pattern {
            Pat::Ident(name) if name.mutability.is_none() && name.subpat.is_none() => self.bind(&name.ident.to_string(), &init.expr),
            Pat::Ident(name) if self.words.get(&name.ident.to_string()) == Some(&2) && name.subpat.is_none() && before == self.seen => {
                self.bind(&name.ident.to_string(), &init.expr);
            }
            _ => {
                let text = format!("{} = {}", self.writer().pattern(pattern), self.text(&init.expr));
                self.unbound(pattern);
                self.line(&text);
            }
        }
    }

    fn bind(&mut self, name: &str, value: &Expr) {
        if self.arguments.contains(name) && self.seen == 0 && self.conditions.is_empty() {
            self.reshaped(name, value);
        }
        if matches!(inner(value), Expr::Array(_)) || matches!(inner(value), Expr::Macro(mac) if mac.mac.path.is_ident("vec")) {
            self.lists.insert(name.to_owned(), inner(value).clone());
        }
        if matches!(value, Expr::Closure(_)) {
            return self.names.forget(name);
        }
        let text = self.text(value);
        let is_block = matches!(value, Expr::Match(_) | Expr::If(_) | Expr::Block(_) | Expr::Loop(_) | Expr::Async(_));
        if is_block {
            self.names.forget(name);
        }
        if is_block || !self.names.stand(name, text.clone()) {
            self.line(&format!("{name} = {text}"));
        }
    }

    fn unbound(&mut self, pattern: &Pat) {
        let mut names = Vec::new();
        bindings(pattern, &mut names);
        names.iter().for_each(|name| self.names.forget(name));
    }

    /// What is given to the test is changed before it is checked.
    fn reshaped(&mut self, name: &str, value: &Expr) {
        if matches!(inner(value), Expr::Path(path) if path.path.is_ident(name)) {
            return;
        }
        let text = format!("{name} = {}", self.text(value));
        // A borrow or a copy of it is the same value.
        if text != format!("{name} = {name}") {
            *self.told.reducers.entry(text).or_default() += 1;
        }
    }

    fn line(&mut self, text: &str) {
        self.setup.push(clipped(text));
    }

    /// A check: its assertion, and what it demands where a run gets there.
    fn check(&mut self, text: &str, line: u32, demands: &[String]) {
        self.seen += 1;
        let at = self.told.assertions.len();
        self.told.assertions.push(Assertion { text: format!("assert {text}"), line });
        for demand in demands {
            self.claim(demand.clone(), at);
        }
    }

    fn claim(&mut self, text: String, assertion: usize) {
        if self.unreached || self.told.claims.len() >= CLAIMS {
            return;
        }
        let mut setup: Vec<Arc<str>> = self.setup.iter().take(LINES).cloned().collect();
        if self.setup.len() > LINES {
            let rest = self.setup[LINES..].iter().map(|line| &**line).collect::<Vec<_>>().join("\n");
            setup.push(format!("sha256({})", crate::digest::sha256_hex(rest.as_bytes())).into());
        }
        self.told.claims.push(Claim { text, setup, assertion });
    }

    /// A way out of the function, or of the loop around.
    fn leave(&mut self, of_function: bool) {
        let is_way_out = self.conditions.last().is_none_or(|c| c.seen == self.seen);
        if !is_way_out {
            return;
        }
        let text = match self.conditions.as_slice() {
            [] => "never".to_owned(),
            [one] => one.otherwise.clone(),
            many => format!("not ({})", many.iter().map(|c| c.text.as_str()).collect::<Vec<_>>().join(" and ")),
        };
        let (depth, seen) = (self.conditions.len(), self.conditions.is_empty().then_some(self.seen));
        let frame = self.frames.iter_mut().rev().find(|f| f.is_function || !of_function);
        frame.into_iter().for_each(|f| f.exits.push(Exit { text: text.clone(), depth, seen }));
    }

    /// A conditional statement ends: what follows it is what its ways out leave out.
    fn settled(&mut self) {
        let (depth, seen) = (self.conditions.len(), self.seen);
        for exit in self.frames.iter_mut().flat_map(|f| &mut f.exits).filter(|e| e.seen.is_none() && e.depth > depth) {
            exit.seen = Some(seen);
        }
    }

    /// The innermost function or loop ends.
    fn left(&mut self) {
        let Some(frame) = self.frames.pop() else { return };
        let now = self.seen;
        for exit in frame.exits.into_iter().filter(|e| e.seen.is_some_and(|seen| seen < now)) {
            self.reduce(&exit.text);
        }
    }

    fn reduce(&mut self, text: &str) {
        *self.told.reducers.entry(format!("only if {text}")).or_default() += 1;
    }

    fn reader(&self) -> Reader<'_, '_> {
        Reader::new(&self.names, self.defined)
    }

    fn literal(&mut self, text: &str) {
        if text.len() < 300 && text.contains(['/', '.']) && !text.contains(char::is_whitespace) {
            self.told.literals.insert(text.to_owned());
            self.told.literals.insert(format!("{HERE}/../{text}"));
        }
    }
}

fn clipped(text: &str) -> Arc<str> {
    if text.len() > LINE { format!("sha256({})", crate::digest::sha256_hex(text.as_bytes())).into() } else { text.into() }
}
