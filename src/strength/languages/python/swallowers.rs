//! Owns helpers of a file that keep a test, or its failure, from counting: decorators that drop it, managers that take exceptions.

use ruff_python_ast::visitor::{Visitor, walk_expr, walk_stmt};
use ruff_python_ast::{Expr, Stmt, StmtClassDef, StmtFunctionDef, StmtTry};

use crate::strength::effort::{Does, Mark};
use crate::strength::languages::python::literal::{Value, fold};
use crate::strength::languages::python::names::{Bound, Scope};
use crate::strength::languages::python::reach;

/// Decorators inside decorators that are followed.
const DEEP: usize = 4;

/// What a decorator defined so does to the functions under it; `None` when they run and may fail.
pub(super) fn decorator(def: &StmtFunctionDef, scope: &Scope<'_, '_>) -> Option<Mark> {
    let does = dropped(def, scope, DEEP)?;
    Some(Mark { does, when: (does != Does::Skip).then(|| format!("{} takes its failure", def.name)), row: None })
}

fn dropped(def: &StmtFunctionDef, scope: &Scope<'_, '_>, deep: usize) -> Option<Does> {
    scope.spend(def.body.len())?;
    let given = def.parameters.iter().next()?.name().as_str();
    let returned = def.body.iter().rev().find_map(Stmt::as_return_stmt)?.value.as_deref()?;
    if let Expr::Lambda(lambda) = returned {
        return (!Uses::of(given, |uses| uses.visit_expr(&lambda.body))).then_some(Does::Skip);
    }
    let name = wrapped(returned)?;
    let inner = def.body.iter().filter_map(Stmt::as_function_def_stmt).rfind(|inner| inner.name.as_str() == name)?;
    let makes_another = inner.body.last().and_then(Stmt::as_return_stmt).and_then(|r| r.value.as_deref());
    let makes_another = makes_another.is_some_and(|value| {
        value.is_lambda_expr()
            || wrapped(value)
                .is_some_and(|name| inner.body.iter().any(|s| s.as_function_def_stmt().is_some_and(|d| d.name.as_str() == name)))
    });
    if makes_another && deep > 0 {
        return dropped(inner, scope, deep - 1);
    }
    if !Uses::of(given, |uses| inner.body.iter().for_each(|s| uses.visit_stmt(s))) {
        return Some(Does::Skip);
    }
    swallowed(&inner.body, given, scope).then_some(Does::Xfail)
}

/// The name in `run` and in `functools.wraps(f)(run)`.
fn wrapped(expr: &Expr) -> Option<&str> {
    match expr {
        Expr::Name(name) => Some(name.id.as_str()),
        Expr::Call(call) if call.arguments.args.len() == 1 && call.func.is_call_expr() => wrapped(&call.arguments.args[0]),
        _ => None,
    }
}

/// Whether what uses the name stands where its failure is swallowed, and nothing raises it again.
fn swallowed(body: &[Stmt], name: &str, scope: &Scope<'_, '_>) -> bool {
    if reach::fails(body) {
        return false;
    }
    body.iter().any(|stmt| match stmt {
        Stmt::Try(s) => {
            let within = Uses::of(name, |uses| s.body.iter().for_each(|s| uses.visit_stmt(s)));
            within && (reach::swallows(s, scope) || swallowed(&s.body, name, scope))
        }
        Stmt::With(s) => {
            let within = Uses::of(name, |uses| s.body.iter().for_each(|s| uses.visit_stmt(s)));
            within && (reach::suppresses(s, scope) || swallowed(&s.body, name, scope))
        }
        Stmt::For(s) => swallowed(&s.body, name, scope),
        Stmt::While(s) => swallowed(&s.body, name, scope),
        Stmt::If(s) => swallowed(&s.body, name, scope),
        _ => false,
    })
}

/// Whether a manager of this file takes a failed assertion for itself.
pub(super) fn manager(expr: &Expr, scope: &Scope<'_, '_>) -> bool {
    match expr {
        Expr::Call(call) => {
            let Expr::Name(name) = &*call.func else { return false };
            match scope.lookup(name.id.as_str()) {
                Some((Bound::Function(def), home)) => generator(def, &home),
                Some((Bound::Class(def), home)) => class(def, &home),
                _ => false,
            }
        }
        Expr::Name(_) => scope.enter(expr, |value, scope| value.is_call_expr() && manager(value, scope)).unwrap_or(false),
        _ => false,
    }
}

/// `@contextmanager` around a `try` that swallows what its `yield` raises.
fn generator(def: &StmtFunctionDef, scope: &Scope<'_, '_>) -> bool {
    let manages = |d: &ruff_python_ast::Decorator| {
        scope
            .dotted(&d.expression)
            .is_some_and(|name| name.trim_start_matches("contextlib.").trim_start_matches("async") == "contextmanager")
    };
    if !def.decorator_list.iter().any(manages) {
        return false;
    }
    let swallows = |s: &StmtTry| s.body.iter().any(|s| matches!(s, Stmt::Expr(e) if e.value.is_yield_expr())) && reach::swallows(s, scope);
    def.body.iter().any(|stmt| match stmt {
        Stmt::Try(s) => swallows(s),
        Stmt::With(s) => reach::suppresses(s, scope) && s.body.iter().any(|s| matches!(s, Stmt::Expr(e) if e.value.is_yield_expr())),
        _ => false,
    })
}

/// A class whose `__exit__` always says that the exception is dealt with.
fn class(def: &StmtClassDef, scope: &Scope<'_, '_>) -> bool {
    let exits = def.body.iter().filter_map(Stmt::as_function_def_stmt).filter(|d| matches!(d.name.as_str(), "__exit__" | "__aexit__"));
    exits
        .flat_map(|exit| exit.body.iter().filter_map(Stmt::as_return_stmt))
        .any(|out| out.value.as_deref().is_some_and(|value| matches!(fold(value, scope), Some(Value::Bool(true)))))
}

/// Looks for a name.
struct Uses<'n> {
    name: &'n str,
    found: bool,
}

impl Uses<'_> {
    fn of(name: &str, look: impl FnOnce(&mut Uses<'_>)) -> bool {
        let mut uses = Uses { name, found: false };
        look(&mut uses);
        uses.found
    }
}

impl<'a> Visitor<'a> for Uses<'_> {
    fn visit_stmt(&mut self, stmt: &'a Stmt) {
        if !self.found {
            walk_stmt(self, stmt);
        }
    }

    fn visit_expr(&mut self, expr: &'a Expr) {
        self.found |= expr.as_name_expr().is_some_and(|n| n.id.as_str() == self.name);
        if !self.found {
            walk_expr(self, expr);
        }
    }
}
