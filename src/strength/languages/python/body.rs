//! Owns one walk over a function's body: its assertions, other checks, loops, draws, calls and texts.

use ruff_python_ast::visitor::{Visitor, walk_expr, walk_stmt};
use ruff_python_ast::{Expr, ExprCall, Operator, Stmt, StmtAssert, StmtFor, StmtFunctionDef};

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
    in_chain: bool,
}

impl<'a> Body<'a> {
    /// Walks a body.
    pub(super) fn read(stmts: &'a [Stmt]) -> Self {
        let mut body = Body::default();
        ruff_python_ast::visitor::walk_body(&mut body, stmts);
        body
    }

    fn weight(&self) -> usize {
        self.asserts.len() + usize::try_from(self.checks).unwrap_or(usize::MAX)
    }

    fn call(&mut self, call: &'a ExprCall) {
        self.checks += u32::from(is_check(&call.func));
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
            Stmt::FunctionDef(def) => self.inner.push(def),
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
