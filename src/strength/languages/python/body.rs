//! Owns one walk over a function's body: its assertions, other checks, loops, draws, calls and texts.

use ruff_python_ast::visitor::{Visitor, walk_expr, walk_stmt};
use ruff_python_ast::{Expr, ExprCall, Operator, Stmt, StmtAssert, StmtFor, StmtFunctionDef};
use ruff_text_size::{Ranged, TextSize};
use rustc_hash::FxHashSet;

/// What stands in a body, at every depth, in source order.
#[derive(Default)]
pub(super) struct Body<'a> {
    pub(super) asserts: Vec<&'a StmtAssert>,
    /// Methods of unittest, `raises`, calls of helpers that are named like checks.
    pub(super) checks: u32,
    /// Loops with a check inside.
    pub(super) loops: Vec<&'a StmtFor>,
    /// `data.draw(X)`: the name and X.
    pub(super) draws: Vec<(&'a str, &'a Expr)>,
    /// Functions defined inside.
    pub(super) inner: Vec<&'a StmtFunctionDef>,
    /// Expressions that could name a file.
    pub(super) paths: Vec<&'a Expr>,
    /// Names that are read.
    pub(super) names: Vec<&'a str>,
    /// It calls something that skips a test or ends the run.
    pub(super) skips: bool,
    /// It yields itself.
    pub(super) yields: bool,
    /// Functions inside that yield.
    pub(super) generators: Vec<&'a StmtFunctionDef>,
    /// Names of functions that are handed to what keeps their failures, or (`false`) called so that only a plain function runs.
    pub(super) idle: Vec<(&'a str, bool)>,
    open: Vec<&'a StmtFunctionDef>,
    in_chain: bool,
}

impl<'a> Body<'a> {
    /// Walks a body.
    pub(super) fn read(stmts: &'a [Stmt]) -> Self {
        let mut body = Body::default();
        ruff_python_ast::visitor::walk_body(&mut body, stmts);
        body
    }

    /// Functions inside that every use leaves idle: coroutines and generators that are only called, threads and tasks that nobody waits for.
    pub(super) fn idle_functions(&self) -> FxHashSet<TextSize> {
        if self.idle.is_empty() {
            return FxHashSet::default();
        }
        let is_idle = |def: &&&StmtFunctionDef| {
            let name = def.name.as_str();
            let lazy = def.is_async || self.generators.iter().any(|one| std::ptr::eq(*one, **def));
            let left = self.idle.iter().filter(|(of, any)| *of == name && (*any || lazy)).count();
            left > 0 && self.names.iter().filter(|read| **read == name).count() == left
        };
        self.inner.iter().filter(|def| def.decorator_list.is_empty()).filter(is_idle).map(Ranged::start).collect()
    }

    fn weight(&self) -> usize {
        self.asserts.len() + usize::try_from(self.checks).unwrap_or(usize::MAX)
    }

    fn call(&mut self, call: &'a ExprCall) {
        self.checks += u32::from(is_check(&call.func));
        self.skips |= is_end(&call.func);
        if last(&call.func) == "Thread" {
            self.idle.extend(call.arguments.find_keyword("target").and_then(|k| k.value.as_name_expr()).map(|n| (n.id.as_str(), true)));
        }
        if let Expr::Attribute(method) = &*call.func
            && method.attr.as_str() == "draw"
            && let Expr::Name(of) = &*method.value
        {
            self.draws.extend(call.arguments.find_argument_value("strategy", 0).map(|what| (of.id.as_str(), what)));
        }
    }
}

/// Whether a call of this is a check by its name.
pub(super) fn is_check(func: &Expr) -> bool {
    let named = |name: &str| ["assert", "check", "verify", "expect"].iter().any(|word| name.trim_start_matches('_').starts_with(word));
    match func {
        Expr::Attribute(method) => {
            method.attr.as_str().starts_with("assert") || matches!(method.attr.as_str(), "raises" | "warns" | "fail" | "deprecated_call")
        }
        Expr::Name(name) => named(name.id.as_str()) || matches!(name.id.as_str(), "raises" | "warns"),
        _ => false,
    }
}

/// A statement whose value nobody asks for: `check()`, `asyncio.create_task(check())`, `pool.submit(check)`.
fn left_alone(value: &Expr) -> Vec<(&str, bool)> {
    let (awaited, value) = if let Expr::Await(a) = value { (true, &*a.value) } else { (false, value) };
    let Expr::Call(call) = value else { return Vec::new() };
    let keeps = match last(&call.func) {
        "gather" => {
            call.arguments.find_keyword("return_exceptions").is_some_and(|k| matches!(&k.value, Expr::BooleanLiteral(b) if b.value))
        }
        "submit" => !awaited,
        // A task of a group is waited for by the group.
        "create_task" | "ensure_future" => !awaited && is_loop(&call.func),
        _ => false,
    };
    if !keeps {
        return call.func.as_name_expr().filter(|_| !awaited).map(|n| (n.id.as_str(), false)).into_iter().collect();
    }
    let passed = call.arguments.args.iter().map(|arg| arg.as_call_expr().map_or(arg, |c| &c.func));
    passed.filter_map(|arg| Some((arg.as_name_expr()?.id.as_str(), true))).collect()
}

fn is_loop(func: &Expr) -> bool {
    func.as_attribute_expr().is_none_or(|a| a.value.as_name_expr().is_some_and(|n| matches!(n.id.as_str(), "asyncio" | "loop")))
}

/// The last part of a dotted name.
fn last(func: &Expr) -> &str {
    match func {
        Expr::Attribute(method) => method.attr.as_str(),
        Expr::Name(name) => name.id.as_str(),
        _ => "",
    }
}

/// Whether a call of this skips a test or ends the run, by its name.
fn is_end(func: &Expr) -> bool {
    let name = last(func);
    matches!(name, "exit" | "_exit" | "abort" | "importorskip" | "xfail" | "SkipTest") || name.trim_start_matches('_').starts_with("skip")
}

fn joins(call: &ExprCall) -> bool {
    match &*call.func {
        Expr::Name(name) => matches!(name.id.as_str(), "Path" | "PurePath" | "PosixPath" | "PurePosixPath" | "join"),
        Expr::Attribute(method) => matches!(method.attr.as_str(), "Path" | "PurePath" | "joinpath" | "join" | "with_name"),
        _ => false,
    }
}

impl<'a> Visitor<'a> for Body<'a> {
    fn visit_stmt(&mut self, stmt: &'a Stmt) {
        match stmt {
            Stmt::Assert(assert) => self.asserts.push(assert),
            Stmt::FunctionDef(def) => {
                self.inner.push(def);
                self.open.push(def);
                walk_stmt(self, stmt);
                self.open.pop();
                return;
            }
            Stmt::Expr(e) => self.idle.extend(left_alone(&e.value)),
            _ => {}
        }
        let before = self.weight();
        walk_stmt(self, stmt);
        if let Stmt::For(looped) = stmt
            && self.weight() > before
        {
            self.loops.push(looped);
        }
    }

    fn visit_expr(&mut self, expr: &'a Expr) {
        let chained = std::mem::take(&mut self.in_chain);
        match expr {
            Expr::Name(name) => self.names.push(name.id.as_str()),
            Expr::Yield(_) | Expr::YieldFrom(_) => match self.open.last() {
                Some(inner) => self.generators.push(inner),
                None => self.yields = true,
            },
            Expr::StringLiteral(s) if s.value.to_str().contains(['/', '.']) => self.paths.push(expr),
            Expr::BinOp(binary) if binary.op == Operator::Div => {
                if !chained {
                    self.paths.push(expr);
                }
                self.in_chain = binary.left.is_bin_op_expr();
                self.visit_expr(&binary.left);
                self.in_chain = false;
                self.visit_expr(&binary.right);
                return;
            }
            Expr::Call(call) => {
                self.call(call);
                if joins(call) {
                    self.paths.push(expr);
                }
            }
            _ => {}
        }
        walk_expr(self, expr);
    }
}
