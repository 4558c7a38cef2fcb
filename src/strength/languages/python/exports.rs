//! Owns the names of a file that other modules may ask for.

use std::collections::BTreeSet;

use ruff_python_ast::{Expr, UnaryOp};
use ruff_text_size::Ranged as _;

use crate::strength::effort::Mark;
use crate::strength::languages::facts::{Meaning, Module, Name};
use crate::strength::languages::python::budget::object;
use crate::strength::languages::python::cases::cases;
use crate::strength::languages::python::literal::fold;
use crate::strength::languages::python::marks;
use crate::strength::languages::python::names::{Bound, Names, Scope};
use crate::strength::languages::python::strategies::{is_composite, made_by, returns_strategy, strategy};
use crate::strength::languages::python::swallowers::decorator;

/// Longest list that other modules are told.
const EXPORTED: usize = 10_000;

/// Names that other modules may ask for.
pub(super) fn exports(names: &Names<'_>, module: &mut Module) {
    let scope = names.scope();
    let mut found: Vec<(&str, u32, Meaning)> = Vec::new();
    for (name, bound) in &names.top {
        let meaning = match bound {
            Bound::Function(def) if is_composite(def, &scope) || returns_strategy(def, &scope) => {
                made_by(def, &scope).map(|s| (def.name.start(), Meaning::Strategy(s)))
            }
            Bound::Function(def) => decorator(def, &scope).map(|mark| (def.name.start(), Meaning::Marks(BTreeSet::from([mark])))),
            Bound::Once(value) => once(value, &scope).map(|m| (value.start(), m)),
            _ => None,
        };
        found.extend(meaning.map(|(at, meaning)| (*name, names.file.line(at), meaning)));
    }
    found.extend(names.imported().map(|(name, from)| (name, 0, Meaning::Imported(from.to_owned()))));
    module.names.extend(found.into_iter().map(|(name, line, meaning)| (name.to_owned(), Name { line, meaning })));
}

fn once(value: &Expr, scope: &Scope<'_, '_>) -> Option<Meaning> {
    if let Some(set) = value.as_call_expr().and_then(|call| object(call, scope)) {
        return Some(Meaning::Settings(set));
    }
    if is_strategy(value, scope) {
        return Some(Meaning::Strategy(strategy(value, scope)));
    }
    if let Some(marks) = shared_marks(value, scope) {
        return Some(Meaning::Marks(marks));
    }
    match value {
        Expr::List(_) | Expr::Tuple(_) | Expr::Set(_) | Expr::Dict(_) => {
            let list = cases(value, scope);
            (list.rows.len() <= EXPORTED).then_some(Meaning::Cases(list))
        }
        Expr::NumberLiteral(_) | Expr::UnaryOp(_) | Expr::StringLiteral(_) | Expr::BinOp(_) => {
            let asks =
                || matches!(value, Expr::UnaryOp(u) if u.op == UnaryOp::Not).then(|| Meaning::Condition(marks::condition(value, scope)));
            fold(value, scope).map(|v| Meaning::Literal(v.text())).or_else(asks)
        }
        // Another name of what is imported.
        Expr::Name(_) | Expr::Attribute(_) => scope.dotted(value).filter(|name| name.contains('.')).map(Meaning::Imported),
        Expr::Compare(_) => Some(Meaning::Condition(marks::condition(value, scope))),
        _ => None,
    }
}

/// The marks of `later = pytest.mark.skip(…)`.
fn shared_marks(value: &Expr, scope: &Scope<'_, '_>) -> Option<BTreeSet<Mark>> {
    let of = value.as_call_expr().map_or(value, |call| &call.func);
    let mut marks = BTreeSet::new();
    if of.is_attribute_expr() && scope.dotted(of).is_some_and(|name| name.starts_with("pytest.mark.") || name.starts_with("unittest.")) {
        marks::declared(value, scope, &mut marks);
    }
    (!marks.is_empty()).then_some(marks)
}

/// Whether an expression is made of strategies by its look.
pub(super) fn is_strategy(expr: &Expr, scope: &Scope<'_, '_>) -> bool {
    match expr {
        Expr::Call(call) => match &*call.func {
            Expr::Attribute(method) if matches!(method.attr.as_str(), "filter" | "map" | "flatmap") => is_strategy(&method.value, scope),
            Expr::Name(name) if matches!(scope.lookup(name.id.as_str()), Some((Bound::Function(_), _))) => {
                match scope.lookup(name.id.as_str()) {
                    Some((Bound::Function(def), home)) => is_composite(def, &home) || returns_strategy(def, &home),
                    _ => false,
                }
            }
            func => scope.dotted(func).is_some_and(|name| name.starts_with("hypothesis.strategies.") && !name.ends_with(".composite")),
        },
        Expr::BinOp(b) => is_strategy(&b.left, scope) || is_strategy(&b.right, scope),
        Expr::Name(_) | Expr::Attribute(_) => {
            scope.enter(expr, |value, scope| scope.spend(1).is_some() && is_strategy(value, scope)).unwrap_or(false)
        }
        _ => false,
    }
}
