//! Owns what ends a run of a test: statements after which nothing runs, and blocks that only fail.

use syn::{Block, Expr, Macro, Stmt};

/// Whether nothing runs after a statement.
pub(super) fn ends(stmt: &Stmt) -> bool {
    match stmt {
        Stmt::Expr(expr, _) => ends_here(expr),
        Stmt::Macro(mac) => is_panic(&mac.mac),
        _ => false,
    }
}

fn ends_here(expr: &Expr) -> bool {
    match expr {
        Expr::Return(_) | Expr::Break(_) | Expr::Continue(_) => true,
        Expr::Macro(e) => is_panic(&e.mac),
        Expr::Block(e) => e.block.stmts.iter().any(ends),
        Expr::Call(e) => {
            matches!(&*e.func, Expr::Path(p) if p.path.segments.last().is_some_and(|s| matches!(s.ident.to_string().as_str(), "exit" | "abort")))
        }
        Expr::If(e) => {
            let other = e.else_branch.as_ref().is_some_and(|(_, other)| ends_here(other));
            let always = matches!(&*e.cond, Expr::Lit(lit) if matches!(&lit.lit, syn::Lit::Bool(b) if b.value));
            (other || always) && e.then_branch.stmts.iter().any(ends)
        }
        _ => false,
    }
}

fn is_panic(mac: &Macro) -> bool {
    mac.path
        .segments
        .last()
        .is_some_and(|s| matches!(s.ident.to_string().as_str(), "panic" | "unreachable" | "todo" | "unimplemented" | "bail"))
}

/// Whether a block does nothing but fail the test.
pub(super) fn is_failure(stmts: &[Stmt]) -> bool {
    let quiet = |s: &Stmt| matches!(s, Stmt::Macro(m) if m.mac.path.segments.last().is_some_and(|s| matches!(s.ident.to_string().as_str(), "println" | "eprintln" | "dbg")));
    let Some((last, before)) = stmts.split_last() else { return false };
    before.iter().all(quiet)
        && match last {
            Stmt::Expr(expr, _) => fails(expr),
            Stmt::Macro(mac) => fails_by(&mac.mac),
            _ => false,
        }
}

/// Whether an expression does nothing but fail the test.
pub(super) fn fails(expr: &Expr) -> bool {
    match expr {
        Expr::Macro(e) => fails_by(&e.mac),
        Expr::Block(e) => is_failure(&e.block.stmts),
        Expr::Return(e) => e.expr.as_ref().is_some_and(|e| is_err(e) || is_false(e)),
        Expr::Call(_) => is_fail(expr),
        _ => false,
    }
}

fn fails_by(mac: &Macro) -> bool {
    let name = mac.path.segments.last().map(|s| s.ident.to_string()).unwrap_or_default();
    let first = || mac.tokens.clone().into_iter().next().map(|t| t.to_string());
    is_panic(mac) || (matches!(name.as_str(), "assert" | "prop_assert") && first().as_deref() == Some("false"))
}

/// `Err(…)` that is no rejection of an input.
fn is_err(expr: &Expr) -> bool {
    match expr {
        Expr::Call(call) => {
            let named = |name: &str| matches!(&*call.func, Expr::Path(p) if p.path.segments.last().is_some_and(|s| s.ident == name));
            (named("Err") && !call.args.first().is_some_and(is_rejection)) || is_fail(expr)
        }
        _ => false,
    }
}

/// The verdict of a property that it does not hold.
fn is_false(expr: &Expr) -> bool {
    match expr {
        Expr::Lit(lit) => matches!(&lit.lit, syn::Lit::Bool(b) if !b.value),
        Expr::Call(call) => {
            let named = matches!(&*call.func, Expr::Path(p) if p.path.segments.last().is_some_and(|s| s.ident == "from_bool"));
            named && call.args.first().is_some_and(is_false)
        }
        _ => false,
    }
}

/// `TestResult::failed()`.
fn is_fail(expr: &Expr) -> bool {
    matches!(expr, Expr::Call(call) if matches!(&*call.func, Expr::Path(p) if p.path.segments.last().is_some_and(|s| matches!(s.ident.to_string().as_str(), "failed" | "error")) && p.path.segments.first().is_some_and(|s| s.ident == "TestResult")))
}

/// `TestCaseError::reject(…)`, `TestResult::discard()`.
pub(super) fn is_rejection(expr: &Expr) -> bool {
    match expr {
        Expr::Call(call) => {
            let word = matches!(&*call.func, Expr::Path(p) if p.path.segments.last().is_some_and(|s| matches!(s.ident.to_string().as_str(), "reject" | "Reject" | "discard")));
            word || call.args.iter().any(is_rejection)
        }
        _ => false,
    }
}

/// The one block of an expression, if it is one.
pub(super) fn as_block(expr: &Expr) -> Option<&Block> {
    if let Expr::Block(e) = expr { Some(&e.block) } else { None }
}
