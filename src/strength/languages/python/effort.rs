//! Owns the wider facts of functions, classes and modules, put together from their decorators and bodies.

use std::collections::BTreeSet;

use ruff_python_ast::{Expr, Stmt, StmtClassDef, StmtFunctionDef};

use crate::strength::domain::Domain;
use crate::strength::effort::{Does, Effort, Mark};
use crate::strength::languages::facts::Function;
use crate::strength::languages::python::budget::settings;
use crate::strength::languages::python::examples::example;
use crate::strength::languages::python::names::{Bound, Layer, Scope};
use crate::strength::languages::python::patches;
use crate::strength::languages::python::strategies::{own_layer, statements};
use crate::strength::languages::python::{marks, reducers};

/// Of a function or method.
pub(super) fn of_function(def: &StmtFunctionDef, found: &Function, outer: &Scope<'_, '_>, inner: &Scope<'_, '_>) -> Effort {
    let mut effort = Effort::default();
    for decorator in &def.decorator_list {
        marks::declared(&decorator.expression, outer, &mut effort.marks);
        marks::leads(&decorator.expression, outer, &mut effort.leads);
        settings(&decorator.expression, outer).into_iter().for_each(|set| effort.budget.under(set));
        effort.examples.extend(example(&decorator.expression, &found.parameters, outer));
    }
    reducers::of_body(&def.body, &arguments(&found.domain), inner, &mut effort);
    effort.patches = patches::of_function(def, outer, inner);
    effort
}

fn arguments(domain: &Domain) -> BTreeSet<&str> {
    let names = domain.tables.iter().flat_map(|t| &t.names).chain(domain.arguments.iter().map(|a| &a.name));
    names.map(String::as_str).collect()
}

/// Of a fixture: what it does to the tests that use it.
pub(super) fn of_fixture(def: &StmtFunctionDef, found: &Function, outer: &Scope<'_, '_>, inner: &Scope<'_, '_>) -> Effort {
    let Effort { marks, patches, .. } = of_function(def, found, outer, inner);
    Effort { marks, patches, ..Effort::default() }
}

/// Of a class: what acts on each of its tests.
pub(super) fn of_class(def: &StmtClassDef, own: &Layer<'_>, outer: &Scope<'_, '_>, inner: &Scope<'_, '_>) -> Effort {
    let mut effort = Effort::default();
    for decorator in &def.decorator_list {
        marks::declared(&decorator.expression, outer, &mut effort.marks);
        marks::leads(&decorator.expression, outer, &mut effort.leads);
        settings(&decorator.expression, outer).into_iter().for_each(|set| effort.budget.under(set));
        effort.patches.extend(patches::of_decorator(&decorator.expression, outer));
    }
    pytestmark(own, inner, &mut effort);
    effort.marks.extend(own_runner(own).map(|name| Mark {
        does: Does::Xfail,
        when: Some(format!("the class's own {name} says so")),
        row: None,
    }));
    for name in ["setUp", "asyncSetUp", "setUpClass", "setup_method", "setup_class"] {
        set_up(own, name, inner, &mut effort);
    }
    effort
}

/// What a class defines in the place of what unittest runs and checks by.
fn own_runner<'a>(own: &Layer<'a>) -> impl Iterator<Item = &'a str> {
    let mut names: Vec<&str> = own.iter().filter(|(name, bound)| replaces(name, **bound)).map(|(name, _)| *name).collect();
    names.sort_unstable();
    names.into_iter()
}

fn replaces(name: &str, bound: Bound<'_>) -> bool {
    match name {
        "failureException" => true,
        // One that goes on to the class above only adds to it.
        "run" | "__call__" | "debug" => matches!(bound, Bound::Function(def) if !reducers::goes_on(&def.body)),
        "fail" | "skipTest" => !matches!(bound, Bound::Once(Expr::Name(_))),
        name => {
            let checked = [
                "Equal",
                "NotEqual",
                "True",
                "False",
                "Is",
                "IsNot",
                "IsNone",
                "IsNotNone",
                "In",
                "NotIn",
                "IsInstance",
                "Raises",
                "AlmostEqual",
                "Less",
                "Greater",
                "LessEqual",
                "GreaterEqual",
                "ListEqual",
                "DictEqual",
                "SetEqual",
                "TupleEqual",
                "SequenceEqual",
                "MultiLineEqual",
                "CountEqual",
                "Regex",
                "RaisesRegex",
            ];
            name.strip_prefix("assert").is_some_and(|what| checked.contains(&what))
        }
    }
}

/// Of a module: what acts on each of its tests.
pub(super) fn of_module(body: &[Stmt], top: &Layer<'_>, scope: &Scope<'_, '_>) -> Effort {
    let mut effort = Effort::default();
    pytestmark(top, scope, &mut effort);
    reducers::of_block(body, scope, &mut effort);
    effort.patches = patches::of_statements(body, scope);
    for name in ["setUpModule", "setup_module", "setup_function"] {
        set_up(top, name, scope, &mut effort);
    }
    effort
}

fn pytestmark(layer: &Layer<'_>, scope: &Scope<'_, '_>, effort: &mut Effort) {
    if let Some(Bound::Once(value)) = layer.get("pytestmark") {
        marks::declared(value, scope, &mut effort.marks);
        marks::leads(value, scope, &mut effort.leads);
    }
}

/// What runs before each test: its skips skip the tests.
fn set_up(layer: &Layer<'_>, name: &str, scope: &Scope<'_, '_>, effort: &mut Effort) {
    let Some(Bound::Function(def)) = layer.get(name) else { return };
    let own = own_layer(def, scope.names.file);
    let inner = scope.inside(&own);
    let mut before = Effort::default();
    reducers::of_body(&def.body, &BTreeSet::new(), &inner, &mut before);
    effort.marks.extend(before.marks);
    effort.patches.extend(patches::of_function(def, scope, &inner));
}

/// Of a rule or other method of a state machine: what it drops is told with its name.
pub(super) fn of_method(def: &StmtFunctionDef, scope: &Scope<'_, '_>, effort: &mut Effort) {
    let own = own_layer(def, scope.names.file);
    let inner = scope.inside(&own);
    let mut method = Effort::default();
    reducers::of_body(&def.body, &BTreeSet::new(), &inner, &mut method);
    effort.marks.extend(method.marks);
    let decorated = def.decorator_list.iter().any(|d| {
        let name = scope.dotted(d.expression.as_call_expr().map_or(&d.expression, |c| &c.func)).unwrap_or_default();
        matches!(name.rsplit('.').next(), Some("rule" | "invariant" | "initialize"))
    });
    if decorated && statements(&def.body).all(|s| s.is_pass_stmt() || matches!(s, Stmt::Expr(e) if e.value.is_literal_expr())) {
        *effort.reducers.entry(format!("{}: does nothing", def.name)).or_default() += 1;
    }
    for (text, times) in method.reducers {
        *effort.reducers.entry(format!("{}: {text}", def.name)).or_default() += times;
    }
    for decorator in &def.decorator_list {
        let Some(call) = decorator.expression.as_call_expr() else { continue };
        let name = scope.dotted(&call.func).unwrap_or_default();
        if name == "hypothesis.stateful.precondition" || name == "precondition" {
            let texts = call.arguments.args.iter().map(|a| reducers::precondition(a, scope));
            for text in texts.flatten() {
                *effort.reducers.entry(format!("{}: only if {text}", def.name)).or_default() += 1;
            }
        }
    }
    effort.patches.extend(patches::of_function(def, scope, &inner));
}
