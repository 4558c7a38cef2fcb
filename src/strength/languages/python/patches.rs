//! Owns what a test replaces: targets of mocks as dotted names, import aliases resolved.

use std::collections::BTreeSet;

use ruff_python_ast::visitor::{Visitor, walk_expr, walk_stmt};
use ruff_python_ast::{Expr, ExprCall, Stmt, StmtFunctionDef};

use crate::strength::languages::python::literal::{Value, fold};
use crate::strength::languages::python::names::{Bound, Scope};

/// Everything that a function's decorators and body replace; what of it is production, linking knows.
pub(super) fn of_function(def: &StmtFunctionDef, outer: &Scope<'_, '_>, inner: &Scope<'_, '_>) -> BTreeSet<String> {
    let mut finder = Finder { scope: outer, found: BTreeSet::new() };
    def.decorator_list.iter().for_each(|d| finder.visit_expr(&d.expression));
    let mut within = Finder { scope: inner, found: finder.found };
    def.body.iter().for_each(|s| within.visit_stmt(s));
    within.found
}

/// What the decorators of a class replace for each test in it.
pub(super) fn of_decorator(expr: &Expr, scope: &Scope<'_, '_>) -> BTreeSet<String> {
    let mut finder = Finder { scope, found: BTreeSet::new() };
    finder.visit_expr(expr);
    finder.found
}

struct Finder<'f, 's, 'a> {
    scope: &'f Scope<'s, 'a>,
    found: BTreeSet<String>,
}

impl Finder<'_, '_, '_> {
    fn call(&self, call: &ExprCall) -> Option<String> {
        if matches!(&*call.func, Expr::Attribute(a) if !matches!(a.attr.as_str(), "patch" | "object" | "setattr")) {
            return None;
        }
        let name = self.scope.dotted(&call.func)?;
        let (house, last) = name.rsplit_once('.').unwrap_or(("", &name));
        let at = |place: usize| call.arguments.args.get(place);
        match last {
            "patch" => return self.text(at(0)?),
            "object" if house == "patch" || house.ends_with(".patch") => {
                return Some(format!("{}.{}", self.target(at(0)?)?, self.text(at(1)?)?));
            }
            "setattr" if house.is_empty() || house.rsplit('.').next().is_some_and(|h| h.starts_with(['m', 'p'])) => {}
            _ => return None,
        }
        match (at(0)?, at(1), at(2)) {
            (target, Some(_), None) if name != "setattr" => self.text(target),
            (target, Some(attribute), Some(_)) => Some(format!("{}.{}", self.target(target)?, self.text(attribute)?)),
            _ => None,
        }
    }

    fn text(&self, expr: &Expr) -> Option<String> {
        match fold(expr, self.scope)? {
            Value::Str(text) => Some(text),
            _ => None,
        }
    }

    /// An object by its dotted name; a local one by the class that it is made of.
    fn target(&self, expr: &Expr) -> Option<String> {
        let made = self.scope.enter(expr, |value, scope| value.as_call_expr().and_then(|call| scope.dotted(&call.func)));
        made.flatten().or_else(|| self.scope.dotted(expr))
    }

    /// `cart.total = Mock(…)`, `shop.total.order_total = lambda: 0`.
    fn assigned(&self, target: &Expr, value: &Expr) -> Option<String> {
        let Expr::Attribute(attribute) = target else { return None };
        let stands_in = match value {
            Expr::Lambda(_) => true,
            Expr::Call(call) => {
                let name = self.scope.dotted(&call.func).unwrap_or_default();
                let made = name.rsplit('.').next().unwrap_or_default();
                made.ends_with("Mock") || matches!(made, "create_autospec" | "stub")
            }
            Expr::Name(name) => matches!(self.scope.lookup(name.id.as_str()), Some((Bound::Function(_), _))),
            _ => false,
        };
        stands_in.then(|| Some(format!("{}.{}", self.target(&attribute.value)?, attribute.attr))).flatten()
    }
}

impl<'v> Visitor<'v> for Finder<'_, '_, '_> {
    fn visit_stmt(&mut self, stmt: &'v Stmt) {
        if let Stmt::Assign(assign) = stmt {
            let targets: Vec<String> = assign.targets.iter().filter_map(|t| self.assigned(t, &assign.value)).collect();
            self.found.extend(targets);
        }
        walk_stmt(self, stmt);
    }

    fn visit_expr(&mut self, expr: &'v Expr) {
        if let Expr::Call(call) = expr {
            self.found.extend(self.call(call));
        }
        walk_expr(self, expr);
    }
}
