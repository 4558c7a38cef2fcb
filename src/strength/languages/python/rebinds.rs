//! Owns what the statements of a file do to the tests that it defined before them: removed, rebound, wrapped, marked.

use ruff_python_ast::{Expr, ExprCall, ExprSubscript, Stmt, StmtAssign};

use crate::strength::effort::{Does, Effort, Mark};
use crate::strength::languages::facts::{Module, Role};
use crate::strength::languages::python::budget::settings;
use crate::strength::languages::python::literal::{Value, fold};
use crate::strength::languages::python::marks;
use crate::strength::languages::python::names::Scope;

/// Reads `del test_x`, `globals().pop("test_x")`, `delattr(TestX, "test_y")`.
pub(super) fn removed(stmt: &Stmt, class: Option<usize>, scope: &Scope<'_, '_>, module: &mut Module) {
    match stmt {
        Stmt::Delete(delete) => delete.targets.iter().for_each(|target| target_gone(target, class, scope, module)),
        Stmt::Expr(e) => {
            let Expr::Call(call) = &*e.value else { return };
            let args = &call.arguments.args;
            match (&*call.func, args.first(), args.get(1)) {
                (Expr::Attribute(a), Some(name), _) if a.attr.as_str() == "pop" && is_globals(&a.value) => {
                    text(name, scope).into_iter().for_each(|name| gone(&name, None, scope, module));
                }
                (Expr::Name(f), Some(of), Some(name)) if matches!(f.id.as_str(), "delattr" | "setattr") => {
                    let Some(of) = of.as_name_expr().and_then(|of| class_named(of.id.as_str(), None, module)) else { return };
                    let stays = f.id.as_str() == "setattr" && !args.get(2).is_some_and(runs_nothing);
                    text(name, scope).filter(|_| !stays).into_iter().for_each(|name| gone(&name, Some(of), scope, module));
                }
                _ => {}
            }
        }
        _ => {}
    }
}

fn target_gone(target: &Expr, class: Option<usize>, scope: &Scope<'_, '_>, module: &mut Module) {
    match target {
        Expr::Name(name) => gone(name.id.as_str(), class, scope, module),
        Expr::Attribute(a) => {
            let of = a.value.as_name_expr().and_then(|of| class_named(of.id.as_str(), None, module));
            of.into_iter().for_each(|of| gone(a.attr.as_str(), Some(of), scope, module));
        }
        Expr::Subscript(s) => global(s, scope).into_iter().for_each(|name| gone(&name, None, scope, module)),
        Expr::Tuple(t) => t.elts.iter().for_each(|e| target_gone(e, class, scope, module)),
        _ => {}
    }
}

/// Reads `test_x = None`, `test_x = settings(…)(test_x)`, `TestX.test_y = lambda self: None`, `test_x.pytestmark = …`.
pub(super) fn assigned(assign: &StmtAssign, class: Option<usize>, scope: &Scope<'_, '_>, module: &mut Module) {
    let [target] = assign.targets.as_slice() else { return };
    match target {
        Expr::Name(name) if wraps(&assign.value, name.id.as_str()).is_none() && runs_nothing(&assign.value) => {
            gone(name.id.as_str(), class, scope, module);
        }
        Expr::Name(name) => {
            let Some(call) = wraps(&assign.value, name.id.as_str()) else { return };
            under(&call.func, name.id.as_str(), class, scope, module);
        }
        Expr::Attribute(a) if a.attr.as_str() == "pytestmark" => {
            let Expr::Name(of) = &*a.value else { return };
            under(&assign.value, of.id.as_str(), class, scope, module);
        }
        Expr::Attribute(_) if runs_nothing(&assign.value) => target_gone(target, class, scope, module),
        Expr::Subscript(s) if runs_nothing(&assign.value) => global(s, scope).into_iter().for_each(|name| gone(&name, None, scope, module)),
        _ => {}
    }
}

/// `deco(test_x)` for the name itself.
pub(super) fn wraps<'e>(value: &'e Expr, name: &str) -> Option<&'e ExprCall> {
    let call = value.as_call_expr()?;
    let [Expr::Name(of)] = &*call.arguments.args else { return None };
    (of.id.as_str() == name && call.arguments.keywords.is_empty()).then_some(call)
}

/// A decorator that is applied later.
fn under(decorator: &Expr, name: &str, class: Option<usize>, scope: &Scope<'_, '_>, module: &mut Module) {
    let mut effort = Effort::default();
    marks::declared(decorator, scope, &mut effort.marks);
    marks::leads(decorator, scope, &mut effort.leads);
    settings(decorator, scope).into_iter().for_each(|set| effort.budget.under(set));
    if effort.is_empty() || scope.spend(module.functions.len() / 16).is_none() {
        return;
    }
    if let Some(of) = class_named(name, class, module) {
        let effort_of = &mut module.classes[of].effort;
        effort_of.marks.extend(effort.marks.clone());
        effort_of.leads.extend(effort.leads.clone());
    }
    for function in module.functions.iter_mut().filter(|f| f.class == class && f.name == name) {
        function.effort.marks.extend(effort.marks.iter().cloned());
        function.effort.leads.extend(effort.leads.iter().cloned());
        let before = std::mem::replace(&mut function.effort.budget, effort.budget.clone());
        function.effort.budget.under(before);
    }
}

/// What is no test: a constant, a function without a body.
fn runs_nothing(value: &Expr) -> bool {
    value.is_literal_expr() || value.is_lambda_expr()
}

/// A helper that is defined again without a check: nobody calls the first.
pub(super) fn hidden(name: &str, scope: &Scope<'_, '_>, module: &mut Module) {
    if scope.spend(module.functions.len() / 16 + 1).is_none() {
        return;
    }
    let mark = Mark { does: Does::Skip, when: Some("it is defined again".to_owned()), row: None };
    for function in module.functions.iter_mut().filter(|f| f.class.is_none() && f.name == name) {
        function.effort.marks.insert(mark.clone());
    }
}

fn gone(name: &str, class: Option<usize>, scope: &Scope<'_, '_>, module: &mut Module) {
    if scope.spend(module.functions.len() / 16 + 1).is_none() {
        return;
    }
    let is_test = |role: Role| matches!(role, Role::Plain | Role::Assigned | Role::Machine);
    module.functions.retain(|f| f.class != class || f.name != name || !is_test(f.role));
    if let Some(of) = class_named(name, class, module) {
        module.classes[of].collect = Some(false);
    }
}

/// The class of a name that stands nowhere else than here.
pub(super) fn class_named(name: &str, outer: Option<usize>, module: &Module) -> Option<usize> {
    module.classes.iter().rposition(|class| class.outer == outer && class.name == name)
}

fn text(expr: &Expr, scope: &Scope<'_, '_>) -> Option<String> {
    match fold(expr, scope)? {
        Value::Str(text) => Some(text),
        _ => None,
    }
}

fn is_globals(expr: &Expr) -> bool {
    matches!(expr, Expr::Call(call) if matches!(&*call.func, Expr::Name(n) if n.id.as_str() == "globals"))
}

/// The name in `globals()["test_x"]`.
fn global(subscript: &ExprSubscript, scope: &Scope<'_, '_>) -> Option<String> {
    text(&subscript.slice, scope).filter(|_| is_globals(&subscript.value))
}
