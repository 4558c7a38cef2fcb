//! Owns what a function's checks demand, told so that another function's can be recognised as the same.

mod failures;
mod known;
mod unittest;

use std::collections::BTreeMap;
use std::sync::Arc;

use ruff_python_ast::{BoolOp, Expr, ExprCall, Stmt, StmtAssert, StmtFor, StmtIf, StmtTry, StmtWith};
use ruff_text_size::{Ranged, TextSize};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::strength::card::Claim;
use crate::strength::languages::facts::HelperCall;
use crate::strength::languages::python::body::{Body, is_check};
use crate::strength::languages::python::claims::failures::{is_failure, raises_assertion};
use crate::strength::languages::python::names::{Bound, Layer, Scope, layer};
use crate::strength::languages::python::oracles::{self, Raising};
use crate::strength::languages::python::reach;
use crate::strength::languages::python::text::sha256_of;
use crate::strength::languages::python::write::{LAMBDA, LOOSEST, Locals, NOT, told, told_after, told_at};

/// Lines of set-up that a claim keeps as they are; what stands before them is told by a hash.
const LINES: usize = 24;
/// Longest line, and longest text put in the place of a name.
const LINE: usize = 512;

/// What is demanded, and which helpers are called.
#[derive(Default)]
pub(super) struct Told {
    pub(super) claims: Vec<Claim>,
    pub(super) calls: Vec<HelperCall>,
}

/// Tells a body. Nothing is told when the file's budget is spent: then only the statements' texts can be compared.
pub(super) fn of<'a>(stmts: &'a [Stmt], body: &Body<'a>, tables: &[&StmtFor], own: &Layer<'a>, scope: &Scope<'_, 'a>) -> Told {
    let mut teller = Teller {
        scope,
        own,
        locals: Locals::default(),
        setup: Vec::new(),
        assertions: body.asserts.iter().enumerate().map(|(at, a)| (a.start(), at)).collect(),
        tables: tables.iter().map(Ranged::start).collect(),
        filled: reach::filled(stmts),
        rebound: known::rebound(stmts, own, scope.names.file),
        read: body.names.iter().copied().collect(),
        idle: body.idle_functions(),
        unreached: false,
        told: Told::default(),
        spent: false,
    };
    teller.block(stmts);
    if teller.spent { Told::default() } else { teller.told }
}

struct Teller<'t, 's, 'a> {
    scope: &'t Scope<'s, 'a>,
    own: &'t Layer<'a>,
    locals: Locals<'a>,
    setup: Vec<Line<'a>>,
    assertions: FxHashMap<TextSize, usize>,
    tables: FxHashSet<TextSize>,
    /// Names whose value something may change.
    filled: FxHashSet<&'a str>,
    /// Names that are bound more than once: each stands for its last value, as far as that is certain.
    rebound: FxHashSet<&'a str>,
    /// Names that it reads.
    read: FxHashSet<&'a str>,
    /// Functions inside that never run, or whose failures nobody sees.
    idle: FxHashSet<TextSize>,
    /// Whether no run gets here, or a failure here fails nothing.
    unreached: bool,
    told: Told,
    spent: bool,
}

/// A line of set-up; statements are told when a claim first stands after them.
enum Line<'a> {
    Told { text: Arc<str>, running: Option<Arc<str>> },
    Stmt(&'a Stmt),
    Whole(&'a Stmt),
}

impl<'a> Teller<'_, '_, 'a> {
    fn block(&mut self, stmts: &'a [Stmt]) {
        let before = self.unreached;
        for stmt in stmts {
            self.stmt(stmt);
            self.unreached |= reach::ends(stmt, self.scope);
        }
        self.unreached = before;
    }

    /// A block that no run reaches if `unless` holds.
    fn reached(&mut self, unless: bool, head: Option<String>, stmts: &'a [Stmt]) {
        let before = self.unreached;
        self.unreached |= unless;
        self.under(head, stmts);
        self.unreached = before;
    }

    /// A block under a head; what stands in it is no set-up of what follows it.
    fn under(&mut self, head: Option<String>, stmts: &'a [Stmt]) {
        let before = self.setup.len();
        let known = self.known();
        self.settle();
        self.setup.extend(head.map(|text| Line::Told { text: clipped(text), running: None }));
        self.block(stmts);
        self.setup.truncate(before);
        self.restore(known);
    }

    /// The lines that stand before here. Past the first ones a running hash takes their place.
    fn setup(&mut self) -> Vec<Arc<str>> {
        let mut lines = Vec::with_capacity(self.setup.len().min(LINES + 1));
        let mut last: Option<Arc<str>> = None;
        for at in 0..self.setup.len() {
            let text = match &self.setup[at] {
                Line::Told { text, .. } => text.clone(),
                Line::Stmt(stmt) => clipped(self.simple(stmt)),
                Line::Whole(stmt) => clipped(self.plain(*stmt)),
            };
            let known = if let Line::Told { running, .. } = &self.setup[at] { running.clone() } else { None };
            if at < LINES {
                lines.push(text.clone());
            } else {
                last = Some(known.unwrap_or_else(|| sha256_of(&format!("{}\n{text}", last.as_deref().unwrap_or_default())).into()));
            }
            self.setup[at] = Line::Told { text, running: last.clone() };
        }
        lines.extend(last.map(|hash| format!("sha256({hash})").into()));
        let size: usize = lines.iter().map(|line| line.len()).sum();
        self.spent |= self.scope.spend((size + self.setup.len()) / 16 + 1).is_none();
        lines
    }

    fn text(&self, expr: &Expr) -> String {
        told(expr, self.scope, &self.locals)
    }

    fn plain(&self, of: &impl Ranged) -> String {
        self.scope.names.file.plain(of.range(), &[])
    }

    fn stmt(&mut self, stmt: &'a Stmt) {
        if self.spent || self.scope.spend(1).is_none() {
            self.spent = true;
            return;
        }
        match stmt {
            Stmt::Assert(assert) => self.assert(assert),
            Stmt::Expr(e) => self.expression(&e.value, stmt),
            Stmt::Assign(a) => match a.targets.as_slice() {
                [Expr::Name(name)] if self.bind(name.id.as_str(), &a.value) => {}
                _ => self.bound(stmt),
            },
            Stmt::AnnAssign(a) => match (&*a.target, &a.value) {
                (Expr::Name(name), Some(value)) if self.bind(name.id.as_str(), value) => {}
                _ => self.bound(stmt),
            },
            Stmt::Pass(_) | Stmt::Import(_) | Stmt::ImportFrom(_) => {}
            Stmt::If(_)
            | Stmt::For(_)
            | Stmt::While(_)
            | Stmt::With(_)
            | Stmt::Try(_)
            | Stmt::Match(_)
            | Stmt::FunctionDef(_)
            | Stmt::ClassDef(_) => {
                if matches!(stmt, Stmt::If(s) if self.choose(s)) {
                    return;
                }
                if !matches!(stmt, Stmt::If(_) | Stmt::With(_)) {
                    self.forget(stmt);
                }
                self.compound(stmt);
                if !is_check_only(stmt) {
                    self.setup.push(Line::Whole(stmt));
                }
                self.forget(stmt);
            }
            other => {
                self.setup.push(Line::Whole(other));
                self.forget(other);
            }
        }
    }

    /// A binding that gives no name a value to stand for.
    fn bound(&mut self, stmt: &'a Stmt) {
        self.setup.push(Line::Stmt(stmt));
        self.forget(stmt);
    }

    /// A simple statement as set-up.
    fn simple(&self, stmt: &Stmt) -> String {
        match stmt {
            Stmt::Expr(e) => self.text(&e.value),
            Stmt::Assign(a) => {
                let single = matches!(a.targets.as_slice(), [Expr::Name(_)]);
                let none = Locals::default();
                let mut text = String::with_capacity(a.range.len().to_usize());
                for target in &a.targets {
                    text = told_after(text, target, LOOSEST, self.scope, if single { &none } else { &self.locals });
                    text.push_str(" = ");
                }
                told_after(text, &a.value, LOOSEST, self.scope, &self.locals)
            }
            other => self.plain(other),
        }
    }

    fn compound(&mut self, stmt: &'a Stmt) {
        match stmt {
            Stmt::If(s) => self.branches(s),
            Stmt::For(s) => self.looped(s),
            Stmt::While(s) => {
                self.reached(reach::never_runs(s, self.scope), Some(format!("while {}", self.text(&s.test))), &s.body);
                self.under(Some("while else".to_owned()), &s.orelse);
            }
            Stmt::With(s) => self.with(s),
            Stmt::Try(s) => self.tried(s),
            Stmt::Match(s) => {
                for case in &s.cases {
                    let guard = case.guard.as_ref().map(|g| format!(" if {}", self.plain(&**g))).unwrap_or_default();
                    self.under(Some(format!("match {} case {}{guard}", self.text(&s.subject), self.plain(&case.pattern))), &case.body);
                }
            }
            Stmt::FunctionDef(s) => {
                let called = !self.idle.contains(&s.start());
                let called = called && (!s.decorator_list.is_empty() || self.read.contains(s.name.as_str()) || s.name.starts_with("__"));
                self.inner(!called, format!("def {} {}", s.name, self.plain(&*s.parameters)), &s.body);
            }
            Stmt::ClassDef(s) => self.inner(false, format!("class {}", s.name), &s.body),
            _ => {}
        }
    }

    /// A function or class inside: its own names hide the outer ones.
    fn inner(&mut self, unreached: bool, head: String, stmts: &'a [Stmt]) {
        let hidden = layer(stmts, self.scope.names.file);
        self.spent |= self.scope.spend(self.locals.len() / 8).is_none();
        let outer = self.locals.clone();
        self.locals.retain(|name, _| !hidden.contains_key(name) && !self.rebound.contains(name));
        self.reached(unreached, Some(head), stmts);
        self.locals = outer;
    }

    fn branches(&mut self, s: &'a StmtIf) {
        let mut refused = vec![told_at(&s.test, NOT, self.scope, &self.locals)];
        let mut decided = reach::truth(&s.test, self.scope);
        if is_failure(&s.body, self.scope) && decided.is_none() {
            for text in self.refused(&s.test) {
                let beyond = self.assertions.len();
                self.claim(text, beyond);
            }
        } else {
            self.reached(decided == Some(false), Some(format!("if {}", self.text(&s.test))), &s.body);
        }
        for clause in &s.elif_else_clauses {
            let mut head: Vec<String> = refused.iter().map(|test| format!("not {test}")).collect();
            if let Some(test) = &clause.test {
                head.push(told_at(test, NOT, self.scope, &self.locals));
                refused.push(told_at(test, NOT, self.scope, &self.locals));
            }
            let own = clause.test.as_ref().and_then(|test| reach::truth(test, self.scope));
            self.reached(decided == Some(true) || own == Some(false), Some(format!("if {}", head.join(" and "))), &clause.body);
            decided = if own == Some(true) { own } else { decided };
        }
    }

    fn looped(&mut self, s: &'a StmtFor) {
        let head = (!self.tables.contains(&s.start())).then(|| format!("for {} in {}", self.plain(&*s.target), self.text(&s.iter)));
        self.reached(reach::is_nothing(&s.iter, self.scope, &self.filled), head, &s.body);
        self.under(Some("for else".to_owned()), &s.orelse);
    }

    fn with(&mut self, s: &'a StmtWith) {
        let is_label = |e: &Expr| matches!(e, Expr::Call(c) if matches!(&*c.func, Expr::Attribute(a) if a.attr.as_str() == "subTest"));
        let items: Vec<String> = s
            .items
            .iter()
            .filter(|i| !is_label(&i.context_expr))
            .map(|i| {
                let name = i.optional_vars.as_ref().map(|v| format!(" as {}", self.plain(&**v))).unwrap_or_default();
                format!("{}{name}", self.text(&i.context_expr))
            })
            .collect();
        let raising = s.items.iter().filter_map(|i| oracles::raising(i.context_expr.as_call_expr()?, self.scope));
        let raising: Vec<Raising<'a>> = raising.collect();
        for expected in &raising {
            // What is asserted after the call is not what raises.
            let fails = expected.of.is_some_and(|class| reach::catches(Some(class), self.scope));
            let first_end = s.body.iter().find(|stmt| reach::ends(stmt, self.scope));
            let last = first_end.or_else(|| s.body.iter().rfind(|stmt| fails || !stmt.is_assert_stmt())).or(s.body.last());
            let subject = last.map(|last| self.raiser(last)).unwrap_or_default();
            self.raises(expected, &subject);
        }
        let stopped = raising.iter().any(|r| r.word == "raises") || reach::suppresses(s, self.scope);
        self.reached(stopped, (!items.is_empty()).then(|| format!("with {}", items.join(", "))), &s.body);
    }

    /// The statement that is to raise, told without what its value is bound to.
    fn raiser(&self, stmt: &'a Stmt) -> String {
        match stmt {
            Stmt::Expr(s) => match &*s.value {
                Expr::Tuple(t) if t.elts.len() == 1 => self.text(&t.elts[0]),
                value => self.text(value),
            },
            Stmt::Assign(s) => self.text(&s.value),
            Stmt::Return(s) if s.value.is_some() => s.value.as_ref().map(|v| self.text(v)).unwrap_or_default(),
            // As where it stands behind the same `with`.
            Stmt::With(s) => s.body.last().map(|last| self.raiser(last)).unwrap_or_default(),
            other => self.plain(other),
        }
    }

    fn raises(&mut self, expected: &Raising<'a>, subject: &str) {
        let told: Vec<String> = expected.of.iter().map(|e| self.text(e)).chain(expected.named.map(str::to_owned)).collect();
        let pattern = expected.pattern.map(|p| format!(", match={}", told_at(p, LAMBDA, self.scope, &self.locals))).unwrap_or_default();
        let subject = if subject.len() > LINE { format!("sha256({})", sha256_of(subject)) } else { subject.to_owned() };
        let beyond = self.assertions.len();
        self.claim(format!("with {}({}{pattern}): {subject}", expected.word, told.join(", ")), beyond);
    }

    fn tried(&mut self, s: &'a StmtTry) {
        let handlers = s.handlers.iter().filter_map(|h| h.as_except_handler());
        let caught: Vec<String> = handlers.clone().map(|h| h.type_.as_ref().map_or_else(String::new, |t| self.text(t))).collect();
        self.must_raise(s);
        self.reached(reach::swallows(s, self.scope), Some(format!("try except {}", caught.join(", "))), &s.body);
        for (handler, caught) in handlers.zip(&caught) {
            self.under(Some(format!("except {caught}")), &handler.body);
        }
        self.under(Some("try else".to_owned()), &s.orelse);
        self.under(None, &s.finalbody);
    }

    fn assert(&mut self, assert: &'a StmtAssert) {
        let at = self.assertions.get(&assert.start()).copied().unwrap_or(usize::MAX);
        for part in conjuncts(&assert.test) {
            let text = self.text(part);
            self.claim(text, at);
        }
    }

    fn claim(&mut self, text: String, assertion: usize) {
        let setup = self.setup();
        if !self.spent && !self.unreached {
            self.told.claims.push(Claim { text, setup, assertion });
        }
    }

    fn expression(&mut self, value: &'a Expr, stmt: &'a Stmt) {
        let awaited = if let Expr::Await(a) = value { &a.value } else { value };
        let Expr::Call(call) = awaited else {
            if !value.is_literal_expr() {
                self.setup.push(Line::Stmt(stmt));
            }
            return;
        };
        if let Some(expected) = oracles::raising(call, self.scope) {
            if let Some(subject) = expected.call.first() {
                let passed: Vec<String> = expected.call[1..].iter().map(|e| told_at(e, LAMBDA, self.scope, &self.locals)).collect();
                let subject = format!("{}({})", self.text(subject), passed.join(", "));
                self.raises(&expected, &subject);
            }
            return;
        }
        if oracles::is_foreign_check(call, self.scope) {
            let beyond = self.assertions.len();
            let text = self.text(value);
            return self.claim(text, beyond);
        }
        if let Some(claims) = self.unittest(call, awaited) {
            let beyond = self.assertions.len();
            for text in claims {
                self.claim(text, beyond);
            }
            return;
        }
        let helper = self.helper(call);
        if helper.is_none() || !is_check(&call.func) {
            self.setup.push(Line::Stmt(stmt));
        }
        // A coroutine that nobody waits for checks nothing.
        let idle = !value.is_await_expr()
            && matches!(&*call.func, Expr::Name(n) if matches!(self.scope.lookup(n.id.as_str()), Some((Bound::Function(def), _)) if def.is_async));
        self.told.calls.extend(helper.filter(|_| !self.unreached && !idle));
    }

    /// A call by name of something that is not local: linking knows whether it is a helper.
    fn helper(&mut self, call: &'a ExprCall) -> Option<HelperCall> {
        let callee = self.scope.dotted(&call.func)?;
        let root = callee.trim_start_matches('.').split('.').next().unwrap_or_default();
        let plain = !call.arguments.args.iter().any(Expr::is_starred_expr) && call.arguments.keywords.iter().all(|k| k.arg.is_some());
        let here = callee.contains('.') || matches!(self.scope.names.top.get(callee.as_str()), Some(Bound::Function(_)));
        if !plain || !here || (root != "self" && self.own.contains_key(root)) {
            return None;
        }
        let positional = call.arguments.args.iter().map(|a| self.text(a)).collect();
        let named = call.arguments.keywords.iter().filter_map(|k| Some((k.arg.as_ref()?.to_string(), self.text(&k.value))));
        let keywords: BTreeMap<String, String> = named.collect();
        Some(HelperCall { callee, positional, keywords, setup: self.setup() })
    }
}

/// The parts of a conjunction.
fn conjuncts(test: &Expr) -> Vec<&Expr> {
    match test {
        Expr::BoolOp(b) if b.op == BoolOp::And => b.values.iter().flat_map(conjuncts).collect(),
        other => vec![other],
    }
}

fn clipped(text: String) -> Arc<str> {
    if text.len() > LINE { format!("sha256({})", sha256_of(&text)).into() } else { text.into() }
}

/// Whether a statement only checks: it changes nothing for what follows.
fn is_check_only(stmt: &Stmt) -> bool {
    let all = |stmts: &[Stmt]| stmts.iter().all(is_check_only);
    match stmt {
        Stmt::Assert(_) | Stmt::Pass(_) => true,
        Stmt::Raise(r) => raises_assertion(r),
        Stmt::Expr(e) => match &*e.value {
            Expr::Call(call) => is_check(&call.func),
            other => other.is_literal_expr(),
        },
        Stmt::For(s) => all(&s.body) && all(&s.orelse),
        Stmt::If(s) => all(&s.body) && s.elif_else_clauses.iter().all(|c| all(&c.body)),
        Stmt::With(s) => all(&s.body),
        _ => false,
    }
}
