//! Owns what cannot be read but leans on strategies that can: its text, and each of them by its name.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use ruff_python_ast::Expr;

use crate::strength::domain::Strategy;
use crate::strength::languages::python::exports::is_strategy;
use crate::strength::languages::python::names::{Bound, Scope};
use crate::strength::languages::python::strategies::{is_composite, made_by, makers, returns_strategy, strategy};
use crate::strength::languages::python::write::{opaque, opaque_with_names};

/// What leans on more strategies than this is told by its text and a fingerprint alone.
const MOST: usize = 48;

/// What an expression that cannot be read draws from: a change of what it leans on is one of that alone.
pub(super) fn leaning(expr: &Expr, scope: &Scope<'_, '_>) -> Strategy {
    let whole = || Strategy::Opaque(opaque(expr, scope));
    if scope.spend(2).is_none() {
        return whole();
    }
    let (text, names) = opaque_with_names(expr, scope);
    let known: RefCell<BTreeMap<String, bool>> = RefCell::default();
    let apart = |name: &str| *known.borrow_mut().entry(name.to_owned()).or_insert_with(|| draws(name, &scope.names.scope(), DEPTH));
    let (print, leans) = scope.names.behind(&names, &apart);
    if leans.is_empty() || leans.len() > MOST {
        return whole();
    }
    // Inside another one, which tells all that this one leans on.
    if scope.names.is_open(WITHIN) {
        return Strategy::Opaque(format!("{text}  # {}", print.map(|behind| behind.hash()).unwrap_or_default()));
    }
    let behind = print.map(|behind| behind.text()).unwrap_or_default();
    let mut arguments = vec![(Strategy::BEHIND.to_owned(), Strategy::Opaque(behind))];
    arguments.extend(leans.iter().map(|name| (format!("leans[{name}]"), alone(name, &leans, scope))));
    Strategy::Call { name: text, arguments }
}

/// How many functions that return what another one makes are followed.
const DEPTH: u32 = 8;

/// A name that no file can give.
const WITHIN: &str = "";

/// Whether a name of the file stands for a strategy or what makes one.
fn draws(name: &str, scope: &Scope<'_, '_>, depth: u32) -> bool {
    let Some(depth) = depth.checked_sub(1).filter(|_| scope.spend(8).is_some()) else { return false };
    match scope.lookup(name) {
        Some((Bound::Function(def), home)) => {
            is_composite(def, &home) || returns_strategy(def, &home) || makers(def).iter().any(|maker| draws(maker, scope, depth))
        }
        Some((Bound::Once(value), home)) => is_strategy(value, &home),
        _ => false,
    }
}

/// One of them, where the others are told by their names.
fn alone(name: &str, leans: &BTreeSet<&str>, scope: &Scope<'_, '_>) -> Strategy {
    let names = scope.names;
    let others: Vec<&str> = leans.iter().copied().filter(|other| *other != name).chain([WITHIN]).collect();
    others.iter().for_each(|other| names.open(other));
    let top = names.scope();
    let told = match top.lookup(name) {
        Some((Bound::Function(def), home)) => made_by(def, &home),
        Some((Bound::Once(value), home)) => Some(strategy(value, &home)),
        _ => None,
    };
    others.iter().for_each(|_| names.close());
    told.unwrap_or_else(|| Strategy::Opaque(names.fingerprint(&BTreeSet::from([name.to_owned()])).unwrap_or_default()))
}
