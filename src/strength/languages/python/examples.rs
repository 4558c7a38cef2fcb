//! Owns explicit examples: `@example(…)` with all that may be chained to it.

use std::collections::BTreeMap;

use ruff_python_ast::{Expr, ExprCall};

use crate::strength::languages::python::names::Scope;
use crate::strength::languages::python::write::opaque;

/// The example that a decorator gives. One that may fail is told apart.
pub(super) fn example(decorator: &Expr, parameters: &[String], scope: &Scope<'_, '_>) -> Option<String> {
    let Expr::Call(call) = decorator else { return None };
    if let Expr::Attribute(method) = &*call.func
        && let inner @ Expr::Call(_) = &*method.value
    {
        let text = example(inner, parameters, scope)?;
        return Some(if method.attr.as_str() == "xfail" && !text.starts_with(XFAIL) { format!("{XFAIL}{text}") } else { text });
    }
    (scope.dotted(&call.func)? == "hypothesis.example").then(|| told(call, parameters, scope))
}

/// How an example that may fail starts.
const XFAIL: &str = "xfail ";

/// Values by parameter, where their places tell it.
fn told(call: &ExprCall, parameters: &[String], scope: &Scope<'_, '_>) -> String {
    let given = &call.arguments;
    let whole = given.args.len() + given.keywords.len() == parameters.len();
    let mut values: BTreeMap<String, String> = BTreeMap::new();
    for (at, value) in given.args.iter().enumerate() {
        let name = parameters.get(at).filter(|_| whole).cloned().unwrap_or_else(|| at.to_string());
        values.insert(name, opaque(value, scope));
    }
    for keyword in &given.keywords {
        let name = keyword.arg.as_ref().map_or_else(|| "**".to_owned(), ToString::to_string);
        values.insert(name, opaque(&keyword.value, scope));
    }
    values.iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join(", ")
}
