//! Owns what the functions and classes of a file must be given.

use std::collections::BTreeMap;

use ruff_python_ast::{Expr, ParameterWithDefault, StmtFunctionDef};

use crate::strength::languages::python::names::{Bound, Names, layer};
use crate::strength::signature::{Parameter, Signature};

/// Of the file's own functions, and of its classes by what they are made with; what a decorator may change is left out.
pub(super) fn read(names: &Names<'_>) -> BTreeMap<String, Signature> {
    let told = names.top.iter().filter_map(|(name, bound)| match bound {
        Bound::Function(def) => Some(((*name).to_owned(), of(def, 0)?)),
        Bound::Class(def) if def.decorator_list.is_empty() => match layer(&def.body, names.file).get("__init__") {
            Some(Bound::Function(init)) => Some(((*name).to_owned(), of(init, 1)?)),
            _ => None,
        },
        _ => None,
    });
    told.collect()
}

fn of(def: &StmtFunctionDef, skipped: usize) -> Option<Signature> {
    let parameters = &def.parameters;
    if !def.decorator_list.is_empty() {
        return None;
    }
    let told = |p: &ParameterWithDefault| Parameter {
        name: p.name().to_string(),
        required: p.default.is_none(),
        is_flag: p.default.as_deref().is_some_and(Expr::is_boolean_literal_expr),
    };
    let positional: Vec<Parameter> = parameters.posonlyargs.iter().chain(&parameters.args).skip(skipped).map(told).collect();
    let named: Vec<Parameter> = parameters.kwonlyargs.iter().map(told).collect();
    Some(Signature { positional, named, is_open: parameters.kwarg.is_some() })
}
