//! Owns case lists: parametrize in all its spellings, the rows of literal lists, and loops over them.

use num_bigint::BigInt;
use num_traits::{Signed as _, ToPrimitive as _};
use ruff_python_ast::{Arguments, Expr, ExprCall, Operator};

use crate::strength::domain::{Argument, Domain, Origin, Strategy, Table};
use crate::strength::languages::facts::{Cases, Row};
use crate::strength::languages::python::comprehensions;
use crate::strength::languages::python::literal::{Value, fold};
use crate::strength::languages::python::names::{Bound, Scope};
use crate::strength::languages::python::write::{canonical, opaque};

/// Longest range that is spread into rows; a longer one is told by its ends and step.
const RANGE: u64 = 1_000;
/// What a row that stands in the file costs of the file's budget, and one that is computed: a few bytes of source must not become gigabytes.
const WRITTEN: usize = 8;
const COMPUTED: usize = 32;

/// The rows of an iterable.
pub(super) fn cases(expr: &Expr, scope: &Scope<'_, '_>) -> Cases {
    let mut found = Cases::default();
    if scope.spend(1).is_none() || !add(expr, scope, &mut found) {
        found.rest.insert(unread(expr, scope));
    }
    found
}

/// A dotted name of another module stays a name, so that linking can follow it.
fn unread(expr: &Expr, scope: &Scope<'_, '_>) -> String {
    match scope.dotted(expr) {
        Some(name) if name.contains('.') => name,
        _ => opaque(expr, scope),
    }
}

fn add(expr: &Expr, scope: &Scope<'_, '_>, found: &mut Cases) -> bool {
    match expr {
        Expr::List(l) => elements(&l.elts, scope, found),
        Expr::Tuple(t) => elements(&t.elts, scope, found),
        Expr::Set(s) => elements(&s.elts, scope, found),
        Expr::Dict(d) if d.items.iter().all(|i| i.key.is_some()) => {
            found.rows.extend(d.items.iter().filter_map(|i| Some(row(i.key.as_ref()?, scope))));
            true
        }
        Expr::StringLiteral(s) => {
            let text = s.value.to_str();
            let paid = scope.spend(text.len().saturating_mul(WRITTEN)).is_some();
            found.rows.extend(text.chars().filter(|_| paid).map(|c| single(&Value::Str(c.to_string()))));
            paid
        }
        Expr::BinOp(b) if b.op == Operator::Add => add(&b.left, scope, found) && add(&b.right, scope, found),
        Expr::BinOp(b) if b.op == Operator::Mult => match (fold(&b.left, scope), fold(&b.right, scope)) {
            (_, Some(Value::Int(n))) => !n.is_positive() || add(&b.left, scope, found),
            (Some(Value::Int(n)), _) => !n.is_positive() || add(&b.right, scope, found),
            _ => false,
        },
        Expr::Call(call) => called(call, scope, found),
        Expr::Name(_) | Expr::Attribute(_) => scope
            .enter(expr, |value, scope| scope.spend(1).is_some() && !value.is_generator_expr() && add(value, scope, found))
            .unwrap_or(false),
        Expr::ListComp(_) | Expr::SetComp(_) | Expr::Generator(_) => comprehensions::spread(expr, scope, found),
        _ => false,
    }
}

fn elements(parts: &[Expr], scope: &Scope<'_, '_>, found: &mut Cases) -> bool {
    for part in parts {
        if scope.spend(WRITTEN).is_none() {
            return false;
        }
        let Expr::Starred(starred) = part else {
            found.rows.push(row(part, scope));
            continue;
        };
        let inner = cases(&starred.value, scope);
        found.rows.extend(inner.rows);
        found.rest.extend(inner.rest);
    }
    true
}

/// Builtins that give the same rows in another order, ranges, zips and products of readable parts.
fn called(call: &ExprCall, scope: &Scope<'_, '_>, found: &mut Cases) -> bool {
    let Some(name) = scope.dotted(&call.func) else { return false };
    let arguments = &*call.arguments.args;
    if let Expr::Attribute(method) = &*call.func
        && arguments.is_empty()
        && call.arguments.keywords.is_empty()
        && matches!(method.attr.as_str(), "items" | "values" | "keys")
    {
        return scope.enter(&method.value, |value, scope| of_dict(value, method.attr.as_str(), scope, found)).unwrap_or(false)
            || of_dict(&method.value, method.attr.as_str(), scope, found);
    }
    if !call.arguments.keywords.is_empty() || scope.lookup(&name).is_some() {
        return false;
    }
    match (name.as_str(), arguments) {
        ("list" | "tuple" | "set" | "frozenset" | "sorted" | "reversed" | "iter", [one]) => {
            let inner = cases(one, scope);
            found.rows.extend(inner.rows);
            found.rest.extend(inner.rest);
            true
        }
        ("list" | "tuple" | "set" | "frozenset", []) => true,
        ("range", _) => range(arguments, scope, found),
        ("itertools.chain.from_iterable", [lists]) => comprehensions::flattened(lists, scope, found),
        ("itertools.chain", [Expr::Starred(lists)]) => comprehensions::flattened(&lists.value, scope, found),
        ("itertools.chain", parts) => parts.iter().all(|part| add(part, scope, found)),
        ("zip", parts) if !parts.is_empty() => combine(parts, scope, found, &zipped),
        ("itertools.product", parts) if !parts.is_empty() => combine(parts, scope, found, &multiplied),
        ("enumerate", [one]) => {
            let inner = cases(one, scope);
            let numbered = |(at, row): (usize, &Row)| sequence(vec![at.to_string(), row.whole.clone()]);
            found.rows.extend(inner.rows.iter().enumerate().map(numbered));
            inner.rest.is_empty()
        }
        _ => false,
    }
}

fn of_dict(expr: &Expr, what: &str, scope: &Scope<'_, '_>, found: &mut Cases) -> bool {
    let Expr::Dict(dict) = expr else { return false };
    for item in &dict.items {
        let Some(key) = &item.key else { return false };
        found.rows.push(match what {
            "keys" => row(key, scope),
            "values" => row(&item.value, scope),
            _ => sequence(vec![canonical(key, scope), canonical(&item.value, scope)]),
        });
    }
    true
}

fn range(arguments: &[Expr], scope: &Scope<'_, '_>, found: &mut Cases) -> bool {
    let ends: Option<Vec<BigInt>> =
        arguments.iter().map(|a| if let Some(Value::Int(n)) = fold(a, scope) { Some(n) } else { None }).collect();
    let Some(ends) = ends else { return false };
    let (first, end, step) = match ends.as_slice() {
        [end] => (Some(0), end.to_i64(), Some(1)),
        [first, end] => (first.to_i64(), end.to_i64(), Some(1)),
        [first, end, step] => (first.to_i64(), end.to_i64(), step.to_i64()),
        _ => return false,
    };
    let (Some(mut at), Some(end), Some(step)) = (first, end, step) else { return false };
    if step == 0 {
        return false;
    }
    let count = end.abs_diff(at) / step.unsigned_abs();
    if count >= RANGE {
        found.rest.insert(format!("range({at}, {end}, {step})"));
        return true;
    }
    if scope.spend(usize::try_from(count).unwrap_or(usize::MAX).saturating_mul(COMPUTED)).is_none() {
        return false;
    }
    while (step > 0 && at < end) || (step < 0 && at > end) {
        found.rows.push(Row { whole: at.to_string(), cells: Vec::new() });
        let Some(next) = at.checked_add(step) else { break };
        at = next;
    }
    true
}

/// Whether a call strings the lists of one iterable together.
pub(super) fn is_chain(call: &ExprCall, scope: &Scope<'_, '_>) -> bool {
    call.arguments.keywords.is_empty()
        && call.arguments.args.len() == 1
        && scope.dotted(&call.func).is_some_and(|name| name == "itertools.chain.from_iterable")
}

/// Rows made of the rows of several lists that are read whole.
fn combine(parts: &[Expr], scope: &Scope<'_, '_>, found: &mut Cases, how: &dyn Fn(&[Cases]) -> Vec<Vec<String>>) -> bool {
    let lists: Vec<Cases> = parts.iter().map(|part| cases(part, scope)).collect();
    let readable = lists.iter().all(|l| l.rest.is_empty()) && !parts.iter().any(|p| p.is_set_expr() || p.is_starred_expr());
    let total = lists.iter().try_fold(1_usize, |n, l| n.checked_mul(l.rows.len().max(1)));
    if !readable || total.is_none_or(|n| scope.spend(n.saturating_mul(COMPUTED)).is_none()) {
        return false;
    }
    found.rows.extend(how(&lists).into_iter().map(sequence));
    true
}

fn zipped(lists: &[Cases]) -> Vec<Vec<String>> {
    let shortest = lists.iter().map(|l| l.rows.len()).min().unwrap_or(0);
    (0..shortest).map(|at| lists.iter().map(|l| l.rows[at].whole.clone()).collect()).collect()
}

fn multiplied(lists: &[Cases]) -> Vec<Vec<String>> {
    lists.iter().fold(vec![Vec::new()], |all, list| {
        all.iter()
            .flat_map(|head: &Vec<String>| list.rows.iter().map(move |row| head.iter().cloned().chain([row.whole.clone()]).collect()))
            .collect()
    })
}

/// A row of several values.
pub(super) fn sequence(cells: Vec<String>) -> Row {
    let whole = if cells.len() == 1 { format!("({},)", cells[0]) } else { format!("({})", cells.join(", ")) };
    Row { whole, cells }
}

fn single(value: &Value) -> Row {
    Row { whole: value.text(), cells: value.parts().map(|parts| parts.iter().map(Value::text).collect()).unwrap_or_default() }
}

/// One row: its typed value, or its canonical source; `pytest.param` is what it holds.
fn row(expr: &Expr, scope: &Scope<'_, '_>) -> Row {
    if let Some(value) = fold(expr, scope) {
        return single(&value);
    }
    match expr {
        Expr::Tuple(t) if !t.elts.iter().any(Expr::is_starred_expr) => parts(expr, &t.elts, scope),
        Expr::List(l) if !l.elts.iter().any(Expr::is_starred_expr) => parts(expr, &l.elts, scope),
        Expr::Call(call) if scope.dotted(&call.func).is_some_and(|name| is_param(&name)) => {
            let values = &*call.arguments.args;
            match values {
                [one] => row(one, scope),
                many => sequence(many.iter().map(|v| canonical(v, scope)).collect()),
            }
        }
        Expr::Name(_) => {
            let entered = scope
                .enter(expr, |value, scope| matches!(value, Expr::Tuple(_) | Expr::List(_) | Expr::Call(_)).then(|| row(value, scope)));
            entered.flatten().unwrap_or_else(|| Row { whole: canonical(expr, scope), cells: Vec::new() })
        }
        _ => Row { whole: canonical(expr, scope), cells: Vec::new() },
    }
}

/// A row as one value.
pub(super) fn row_text(expr: &Expr, scope: &Scope<'_, '_>) -> String {
    row(expr, scope).whole
}

/// Whether a call of this name only wraps a row.
pub(super) fn is_param(name: &str) -> bool {
    matches!(name, "pytest.param" | "param")
}

fn parts(whole: &Expr, parts: &[Expr], scope: &Scope<'_, '_>) -> Row {
    Row { whole: canonical(whole, scope), cells: parts.iter().map(|part| canonical(part, scope)).collect() }
}

/// Adds what a decorator or mark declares to a domain.
pub(super) fn mark(expr: &Expr, scope: &Scope<'_, '_>, domain: &mut Domain) {
    if scope.spend(1).is_none() {
        domain.unread.insert(unread(expr, scope));
        return;
    }
    match expr {
        Expr::List(l) => l.elts.iter().for_each(|e| mark(e, scope, domain)),
        Expr::Tuple(t) => t.elts.iter().for_each(|e| mark(e, scope, domain)),
        Expr::Call(call) => mark_call(call, expr, scope, domain),
        Expr::Name(_) | Expr::Attribute(_) => {
            let known = scope.enter(expr, |value, scope| mark(value, scope, domain)).is_some();
            if !known {
                hidden(expr, expr, scope, domain);
            }
        }
        _ => {}
    }
}

fn mark_call(call: &ExprCall, whole: &Expr, scope: &Scope<'_, '_>, domain: &mut Domain) {
    let Some(name) = scope.dotted(&call.func) else { return };
    match name.rsplit('.').next().unwrap_or_default() {
        "parametrize" if name.contains("mark.") || name == "parametrize" => match table(&call.arguments, scope) {
            Some(table) => domain.tables.push(table),
            None => drop(domain.unread.insert(opaque(whole, scope))),
        },
        "cases" if name.starts_with("seedgate_props.") => {
            let list = call.arguments.args.first().map(|a| cases(a, scope)).unwrap_or_default();
            let width = list.rows.first().map_or(1, |r| r.cells.len().max(1));
            let (rows, rest) = list.spread(width);
            domain.tables.push(Table { origin: Origin::Declared, names: vec![String::new(); width], rows, rest });
        }
        "bounds" if name.starts_with("seedgate_props.") => {
            for keyword in &call.arguments.keywords {
                let name = keyword.arg.as_ref().map_or_else(|| "**".to_owned(), ToString::to_string);
                domain.arguments.push(Argument { name, strategy: interval(&keyword.value, scope) });
            }
        }
        _ => hidden(&call.func, whole, scope, domain),
    }
}

fn interval(expr: &Expr, scope: &Scope<'_, '_>) -> Strategy {
    match fold(expr, scope).as_ref().and_then(Value::parts) {
        Some([Value::Int(low), Value::Int(high)]) => Strategy::Integers { low: Some(low.clone()), high: Some(high.clone()) },
        _ => Strategy::Opaque(opaque(expr, scope)),
    }
}

/// A decorator of this file that declares a domain by itself: it cannot be read, so its text and all behind it stand for it.
fn hidden(name: &Expr, whole: &Expr, scope: &Scope<'_, '_>, domain: &mut Domain) {
    let Expr::Name(name) = name else { return };
    let Some((Bound::Function(def), _)) = scope.lookup(name.id.as_str()) else { return };
    let file = scope.names.file;
    let tokens = file.tokens(def.range);
    if scope.spend(tokens.len()).is_none() || tokens.iter().any(|t| matches!(file.of(t), "given" | "parametrize")) {
        domain.unread.insert(opaque(whole, scope));
    }
}

fn table(arguments: &Arguments, scope: &Scope<'_, '_>) -> Option<Table> {
    let names = arguments.find_argument_value("argnames", 0)?;
    let values = arguments.find_argument_value("argvalues", 1)?;
    let names = fold(names, scope)?;
    // A name in a list of names takes its rows apart, a name alone does not.
    let is_list = !matches!(names, Value::Str(_));
    let names: Vec<String> = match names {
        Value::Str(text) => text.split(',').map(|n| n.trim().to_owned()).filter(|n| !n.is_empty()).collect(),
        value => value.parts()?.iter().map(|n| if let Value::Str(n) = n { Some(n.clone()) } else { None }).collect::<Option<_>>()?,
    };
    let list = cases(values, scope);
    let (rows, rest) = if is_list && names.len() == 1 { list.opened() } else { list.spread(names.len()) };
    Some(Table { origin: Origin::Declared, names, rows, rest })
}

/// The table of a loop over a literal list; `None` when the list is not literal.
pub(super) fn loop_table(target: &Expr, iter: &Expr, scope: &Scope<'_, '_>) -> Option<Table> {
    let names: Vec<String> = match target {
        Expr::Name(name) => vec![name.id.to_string()],
        Expr::Tuple(t) => t.elts.iter().map(|e| e.as_name_expr().map(|n| n.id.to_string())).collect::<Option<_>>()?,
        _ => return None,
    };
    let mut found = Cases::default();
    if scope.spend(1).is_none() || !add(iter, scope, &mut found) {
        return None;
    }
    let (rows, rest) = found.spread(names.len());
    let literal = rest.iter().all(|text| text.starts_with("range(") && !text.contains('#'));
    literal.then_some(Table { origin: Origin::Loop, names, rows, rest })
}
