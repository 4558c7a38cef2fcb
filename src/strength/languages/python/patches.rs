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

/// What the statements of a module replace themselves, functions and classes left closed.
pub(super) fn of_statements(stmts: &[Stmt], scope: &Scope<'_, '_>) -> BTreeSet<String> {
    let mut finder = Finder { scope, found: BTreeSet::new() };
    finder.statements(stmts);
    finder.found
}

struct Finder<'f, 's, 'a> {
    scope: &'f Scope<'s, 'a>,
    found: BTreeSet<String>,
}

impl Finder<'_, '_, '_> {
    fn statements(&mut self, stmts: &[Stmt]) {
        for stmt in stmts {
            match stmt {
                Stmt::Assign(_) | Stmt::Expr(_) => self.visit_stmt(stmt),
                Stmt::If(s) => {
                    self.statements(&s.body);
                    s.elif_else_clauses.iter().for_each(|c| self.statements(&c.body));
                }
                Stmt::Try(s) => self.statements(&s.body),
                Stmt::With(s) => self.statements(&s.body),
                _ => {}
            }
        }
    }

    fn call(&self, call: &ExprCall) -> Option<String> {
        if matches!(&*call.func, Expr::Attribute(a) if !matches!(a.attr.as_str(), "patch" | "object" | "setattr" | "setitem" | "dict")) {
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
            "dict" if house == "patch" || house.ends_with(".patch") => {
                let values = call.arguments.find_argument_value("values", 1).and_then(Expr::as_dict_expr);
                let key = values.and_then(|values| values.items.first()).and_then(|item| item.key.as_ref());
                return self.item(at(0)?, key);
            }
            "setitem" if house.rsplit('.').next().is_some_and(|h| h.starts_with(['m', 'p'])) => return self.item(at(0)?, at(1)),
            "setattr" if house.is_empty() || house.rsplit('.').next().is_some_and(|h| h.starts_with(['m', 'p'])) => {}
            _ => return None,
        }
        match (at(0)?, at(1), at(2)) {
            (target, Some(_), None) if name != "setattr" => self.text(target),
            (target, Some(attribute), Some(_)) => Some(format!("{}.{}", self.target(target)?, self.text(attribute)?)),
            _ => None,
        }
    }

    /// An entry of a dictionary: of the module's own names it is the object of that name, of `sys.modules` the module.
    fn item(&self, of: &Expr, key: Option<&Expr>) -> Option<String> {
        let key = key.and_then(|key| self.text(key));
        if let Expr::Attribute(a) = of
            && matches!(a.attr.as_str(), "__globals__" | "__dict__")
        {
            // What a function sees by a name is part of it.
            return self.target(&a.value);
        }
        if matches!(of, Expr::Call(c) if matches!(&*c.func, Expr::Name(n) if n.id.as_str() == "globals")) {
            return self.scope.names.scope().dotted_name(&key?);
        }
        match self.target(of).or_else(|| self.text(of))?.as_str() {
            "sys.modules" => Some(format!("{}.*", key?)),
            "os.environ" => None,
            of => Some(of.to_owned()),
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
        match target {
            Expr::Attribute(attribute) if stands_in => Some(format!("{}.{}", self.target(&attribute.value)?, attribute.attr)),
            // The object that a fixture gives: linking knows what it is.
            Expr::Name(name) if stands_in && !value.is_name_expr() => Some(name.id.to_string()),
            _ => None,
        }
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
