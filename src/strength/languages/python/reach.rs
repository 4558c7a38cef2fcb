//! Owns what a run never reaches: what stands after an end, under a head that never lets in, or where a failure is swallowed.

use ruff_python_ast::visitor::{Visitor, walk_expr, walk_stmt};
use ruff_python_ast::{Expr, ExprCall, Stmt, StmtIf, StmtTry, StmtWhile, StmtWith};
use rustc_hash::FxHashSet;

use crate::strength::languages::python::literal::{Value, fold};
use crate::strength::languages::python::names::Scope;
use crate::strength::languages::python::swallowers;

/// Whether nothing after this statement runs in its block.
pub(super) fn ends(stmt: &Stmt, scope: &Scope<'_, '_>) -> bool {
    match stmt {
        Stmt::Return(_) | Stmt::Raise(_) | Stmt::Continue(_) | Stmt::Break(_) => true,
        Stmt::If(s) => if_ends(s, scope),
        Stmt::With(s) => block_ends(&s.body, scope) && !s.items.iter().any(|i| may_swallow(&i.context_expr)),
        Stmt::Try(s) => {
            let mut handlers = s.handlers.iter().filter_map(|h| h.as_except_handler());
            block_ends(&s.finalbody, scope) || (block_ends(&s.body, scope) && handlers.all(|h| block_ends(&h.body, scope)))
        }
        Stmt::While(s) => truth(&s.test, scope) == Some(true) && !Breaks::within(&s.body),
        Stmt::Expr(s) => s.value.as_call_expr().is_some_and(|call| never_returns(call, scope)),
        _ => false,
    }
}

/// Calls that raise or end the run, whatever they are given.
fn never_returns(call: &ExprCall, scope: &Scope<'_, '_>) -> bool {
    let name = match &*call.func {
        Expr::Attribute(a) => a.attr.as_str(),
        Expr::Name(n) => n.id.as_str(),
        _ => return false,
    };
    // An alias of such a function may have any name, but then it is a name. Skips are told as marks.
    (matches!(name, "fail" | "exit") || call.func.is_name_expr())
        && scope.dotted(&call.func).is_some_and(|name| matches!(name.as_str(), "pytest.fail" | "self.fail" | "sys.exit" | "exit" | "quit"))
}

fn block_ends(stmts: &[Stmt], scope: &Scope<'_, '_>) -> bool {
    stmts.iter().any(|s| ends(s, scope))
}

/// Any manager but a file may take an exception for itself; what returns is not stopped by one.
fn may_swallow(manager: &Expr) -> bool {
    !matches!(manager, Expr::Call(c) if matches!(&*c.func, Expr::Name(n) if n.id.as_str() == "open"))
}

fn if_ends(s: &StmtIf, scope: &Scope<'_, '_>) -> bool {
    match truth(&s.test, scope) {
        Some(true) => return block_ends(&s.body, scope),
        Some(false) if s.elif_else_clauses.is_empty() => return false,
        _ => {}
    }
    let all = block_ends(&s.body, scope) && s.elif_else_clauses.iter().all(|c| block_ends(&c.body, scope));
    all && s.elif_else_clauses.last().is_some_and(|c| c.test.is_none())
}

/// What a condition always is.
pub(super) fn truth(test: &Expr, scope: &Scope<'_, '_>) -> Option<bool> {
    match test {
        Expr::NoneLiteral(_) => Some(false),
        Expr::List(e) if e.elts.is_empty() => Some(false),
        Expr::Dict(e) if e.items.is_empty() => Some(false),
        Expr::Name(name) if name.id.as_str() == "TYPE_CHECKING" => Some(false),
        Expr::Attribute(a) if a.attr.as_str() == "TYPE_CHECKING" => Some(false),
        Expr::BoolOp(_) | Expr::Compare(_) | Expr::Call(_) => None,
        _ => match fold(test, scope)? {
            Value::Bool(on) => Some(on),
            other => match other.text().as_str() {
                "0" | "''" | "b''" | "()" | "0.0" | "None" | "[]" | "{}" => Some(false),
                _ => Some(true),
            },
        },
    }
}

/// Whether the body of a `while` never runs.
pub(super) fn never_runs(s: &StmtWhile, scope: &Scope<'_, '_>) -> bool {
    truth(&s.test, scope) == Some(false)
}

/// Whether there is nothing to go through: an empty display, or a name that is bound to one and that nothing fills.
pub(super) fn is_nothing(iter: &Expr, scope: &Scope<'_, '_>, filled: &FxHashSet<&str>) -> bool {
    match iter {
        Expr::List(e) => e.elts.is_empty(),
        Expr::Tuple(e) => e.elts.is_empty(),
        Expr::Dict(e) => e.items.is_empty(),
        Expr::StringLiteral(e) => e.value.is_empty(),
        Expr::Call(call) => {
            let name = call.func.as_name_expr().map(|n| n.id.as_str());
            let args = &call.arguments.args;
            let sole = args.len() == 1 && call.arguments.keywords.is_empty();
            match name {
                Some("range") => sole && matches!(fold(&args[0], scope), Some(v) if v.text() == "0"),
                Some("list" | "set" | "tuple" | "dict" | "frozenset") if call.arguments.is_empty() => true,
                Some("list" | "set" | "tuple" | "sorted" | "reversed" | "enumerate" | "iter") if sole => {
                    is_nothing(&args[0], scope, filled)
                }
                _ => false,
            }
        }
        Expr::Name(name) => {
            !filled.contains(name.id.as_str())
                && scope.enter(iter, |value, scope| !value.is_name_expr() && is_nothing(value, scope, filled)).unwrap_or(false)
        }
        _ => false,
    }
}

/// Names whose value some statement may change: a method of it is called, it is passed on, or stored into.
pub(super) fn filled(stmts: &[Stmt]) -> FxHashSet<&str> {
    let mut uses = Uses(FxHashSet::default());
    for stmt in stmts {
        uses.visit_stmt(stmt);
    }
    uses.0
}

struct Uses<'a>(FxHashSet<&'a str>);

impl<'a> Uses<'a> {
    /// The names that an expression hands over when it is passed on.
    fn hand_over(&mut self, expr: &'a Expr) {
        match expr {
            Expr::Tuple(t) => {
                for e in &t.elts {
                    self.hand_over(e);
                }
            }
            Expr::List(t) => {
                for e in &t.elts {
                    self.hand_over(e);
                }
            }
            Expr::Dict(d) => {
                for item in &d.items {
                    self.hand_over(&item.value);
                }
            }
            Expr::Starred(s) => self.hand_over(&s.value),
            Expr::Attribute(a) => self.name(&a.value),
            other => self.name(other),
        }
    }

    fn name(&mut self, expr: &'a Expr) {
        self.0.extend(expr.as_name_expr().map(|n| n.id.as_str()));
    }
}

/// Functions that only look at what they are given.
const LOOKING: [&str; 16] = [
    "len",
    "list",
    "set",
    "tuple",
    "sorted",
    "reversed",
    "enumerate",
    "iter",
    "all",
    "any",
    "sum",
    "str",
    "repr",
    "zip",
    "isinstance",
    "range",
];

impl<'a> Visitor<'a> for Uses<'a> {
    fn visit_stmt(&mut self, stmt: &'a Stmt) {
        match stmt {
            Stmt::AugAssign(s) => self.name(&s.target),
            Stmt::Assign(s) => {
                for target in s.targets.iter().filter_map(Expr::as_subscript_expr) {
                    self.name(&target.value);
                }
                self.hand_over(&s.value);
            }
            Stmt::Return(s) => {
                if let Some(value) = &s.value {
                    self.hand_over(value);
                }
            }
            _ => {}
        }
        walk_stmt(self, stmt);
    }

    fn visit_expr(&mut self, expr: &'a Expr) {
        if let Expr::Call(call) = expr {
            let looks = matches!(&*call.func, Expr::Name(n) if LOOKING.contains(&n.id.as_str()));
            if let Expr::Attribute(method) = &*call.func {
                self.name(&method.value);
            }
            let passed = call.arguments.args.iter().chain(call.arguments.keywords.iter().map(|k| &k.value));
            for value in passed.filter(|_| !looks) {
                self.hand_over(value);
            }
        }
        if let Expr::Lambda(l) = expr {
            self.hand_over(&l.body);
        }
        walk_expr(self, expr);
    }
}

/// Whether a `try` goes on after an assertion in its body failed.
pub(super) fn swallows(s: &StmtTry, scope: &Scope<'_, '_>) -> bool {
    let silent = s.handlers.iter().filter_map(|h| h.as_except_handler()).find(|h| catches(h.type_.as_deref(), scope));
    block_ends(&s.finalbody, scope) && s.finalbody.iter().any(Stmt::is_return_stmt) || silent.is_some_and(|h| !Fails::within(&h.body))
}

/// Whether an assertion's failure is among what is caught; everything is where nothing is named.
pub(super) fn catches(caught: Option<&Expr>, scope: &Scope<'_, '_>) -> bool {
    match caught {
        None => true,
        Some(Expr::Tuple(t)) => t.elts.iter().any(|e| catches(Some(e), scope)),
        Some(one) => scope
            .dotted(one)
            .is_some_and(|name| matches!(name.trim_start_matches("builtins."), "AssertionError" | "Exception" | "BaseException")),
    }
}

/// Whether a manager takes a failed assertion for itself: `suppress(AssertionError)`.
pub(super) fn suppresses(s: &StmtWith, scope: &Scope<'_, '_>) -> bool {
    s.items.iter().any(|item| match &item.context_expr {
        Expr::Call(call) if scope.dotted(&call.func).is_some_and(|name| name == "suppress" || name.ends_with(".suppress")) => {
            call.arguments.args.iter().any(|e| catches(Some(e), scope))
        }
        other => swallowers::manager(other, scope),
    })
}

/// Whether a failure leaves these statements.
pub(super) fn fails(stmts: &[Stmt]) -> bool {
    Fails::within(stmts)
}

/// Whether something in a handler lets the test fail all the same: it raises, asserts, or calls anything that could be a check.
#[derive(Default)]
struct Fails(bool);

impl Fails {
    fn within(stmts: &[Stmt]) -> bool {
        let mut fails = Fails::default();
        for stmt in stmts {
            fails.visit_stmt(stmt);
        }
        fails.0
    }
}

impl<'a> Visitor<'a> for Fails {
    fn visit_stmt(&mut self, stmt: &'a Stmt) {
        match stmt {
            Stmt::Raise(_) => self.0 = true,
            Stmt::Assert(s) => self.0 |= !matches!(&*s.test, Expr::BooleanLiteral(b) if b.value),
            _ => {}
        }
        walk_stmt(self, stmt);
    }

    fn visit_expr(&mut self, expr: &'a Expr) {
        if let Expr::Call(call) = expr {
            let name = match &*call.func {
                Expr::Attribute(a) => a.attr.as_str(),
                Expr::Name(n) => n.id.as_str(),
                _ => "",
            };
            self.0 |= ["fail", "exit", "assert", "raise", "check", "verify", "xfail", "skip"].iter().any(|word| name.contains(word))
                || name == "append";
        }
        walk_expr(self, expr);
    }
}

/// Whether a loop can be left from inside.
#[derive(Default)]
struct Breaks(bool);

impl Breaks {
    fn within(stmts: &[Stmt]) -> bool {
        let mut breaks = Breaks::default();
        for stmt in stmts {
            breaks.visit_stmt(stmt);
        }
        breaks.0
    }
}

impl<'a> Visitor<'a> for Breaks {
    fn visit_stmt(&mut self, stmt: &'a Stmt) {
        self.0 |= stmt.is_break_stmt();
        walk_stmt(self, stmt);
    }
}
