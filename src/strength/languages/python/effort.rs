//! Owns the wider facts of functions, classes and modules, put together from their decorators and bodies.

use std::collections::BTreeSet;

use ruff_python_ast::{Stmt, StmtClassDef, StmtFunctionDef};

use crate::strength::domain::Domain;
use crate::strength::effort::Effort;
use crate::strength::languages::facts::Function;
use crate::strength::languages::python::budget::settings;
use crate::strength::languages::python::examples::example;
use crate::strength::languages::python::names::{Bound, Layer, Scope};
use crate::strength::languages::python::patches;
use crate::strength::languages::python::strategies::own_layer;
use crate::strength::languages::python::{marks, reducers};

/// Of a function or method.
pub(super) fn of_function(def: &StmtFunctionDef, found: &Function, outer: &Scope<'_, '_>, inner: &Scope<'_, '_>) -> Effort {
    let mut effort = Effort::default();
    for decorator in &def.decorator_list {
        marks::declared(&decorator.expression, outer, &mut effort.marks);
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
        settings(&decorator.expression, outer).into_iter().for_each(|set| effort.budget.under(set));
        effort.patches.extend(patches::of_decorator(&decorator.expression, outer));
    }
    pytestmark(own, inner, &mut effort);
    for name in ["setUp", "asyncSetUp", "setUpClass", "setup_method", "setup_class"] {
        set_up(own, name, inner, &mut effort);
    }
    effort
}

/// Of a module: what acts on each of its tests.
pub(super) fn of_module(body: &[Stmt], top: &Layer<'_>, scope: &Scope<'_, '_>) -> Effort {
    let mut effort = Effort::default();
    pytestmark(top, scope, &mut effort);
    reducers::of_block(body, scope, &mut effort);
    for name in ["setUpModule", "setup_module", "setup_function"] {
        set_up(top, name, scope, &mut effort);
    }
    effort
}

fn pytestmark(layer: &Layer<'_>, scope: &Scope<'_, '_>, effort: &mut Effort) {
    if let Some(Bound::Once(value)) = layer.get("pytestmark") {
        marks::declared(value, scope, &mut effort.marks);
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
