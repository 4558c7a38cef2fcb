//! Owns the rows of comprehensions over lists that are read whole: one row for each element, its names told by their values.

use ruff_python_ast::{CmpOp, Comprehension, Expr, Operator};

use crate::strength::languages::facts::{Cases, Row};
use crate::strength::languages::python::cases::{cases, is_chain, is_param, sequence};
use crate::strength::languages::python::names::{Bound, Layer, Scope};
use crate::strength::languages::python::write::{Local, Locals, told};

/// Most rows that one comprehension is spread into; a longer one stays text, and what its lists lose is told where they are named.
const ROWS: usize = 16_000;
/// Comprehensions that stand in one another deeper than this are not spread.
const DEPTH: u32 = 8;

/// Where an expression stands.
#[derive(Clone, Copy)]
struct Place<'c, 's, 'f> {
    scope: &'c Scope<'s, 'f>,
    depth: u32,
    /// Not its elements are wanted, but the elements of each of them.
    inner: bool,
}

/// The names that comprehensions around an expression bind, with the row that each stands for.
#[derive(Clone, Default)]
struct Bindings<'a> {
    locals: Locals<'a>,
    rows: Vec<(&'a str, Row)>,
}

/// Adds the rows of a comprehension; `false` when they cannot be told.
pub(super) fn spread(expr: &Expr, scope: &Scope<'_, '_>, found: &mut Cases) -> bool {
    each(expr, Place { scope, depth: DEPTH, inner: false }, &Bindings::default(), found)
}

/// Adds the rows of every list in an iterable of lists.
pub(super) fn flattened(expr: &Expr, scope: &Scope<'_, '_>, found: &mut Cases) -> bool {
    each(expr, Place { scope, depth: DEPTH, inner: true }, &Bindings::default(), found)
}

/// Adds the elements of an iterable, or the elements of its elements.
fn each<'a>(expr: &'a Expr, place: Place<'_, '_, '_>, bound: &Bindings<'a>, found: &mut Cases) -> bool {
    let Some(depth) = place.depth.checked_sub(1).filter(|_| place.scope.spend(1).is_some()) else { return false };
    let place = Place { depth, ..place };
    let parts = |parts: &'a [Expr], found: &mut Cases| parts.iter().all(|part| one(part, place, bound, found));
    match expr {
        Expr::List(l) => parts(&l.elts, found),
        Expr::Tuple(t) => parts(&t.elts, found),
        Expr::Set(s) => parts(&s.elts, found),
        Expr::ListComp(c) => all(&c.elt, &c.generators, place, bound, found),
        Expr::SetComp(c) => all(&c.elt, &c.generators, place, bound, found),
        Expr::Generator(c) => all(&c.elt, &c.generators, place, bound, found),
        Expr::BinOp(b) if b.op == Operator::Add => each(&b.left, place, bound, found) && each(&b.right, place, bound, found),
        Expr::Call(call) if is_chain(call, place.scope) => {
            !place.inner && call.arguments.args.iter().all(|part| each(part, Place { inner: true, ..place }, bound, found))
        }
        other => !place.inner && !mentions(other, bound) && whole(other, place.scope, found),
    }
}

fn whole(expr: &Expr, scope: &Scope<'_, '_>, found: &mut Cases) -> bool {
    let list = cases(expr, scope);
    found.rows.extend(list.rows);
    list.rest.is_empty()
}

fn one<'a>(expr: &'a Expr, place: Place<'_, '_, '_>, bound: &Bindings<'a>, found: &mut Cases) -> bool {
    if place.inner {
        return each(expr, Place { inner: false, ..place }, bound, found);
    }
    if expr.is_starred_expr() || found.rows.len() >= ROWS {
        return false;
    }
    let row = row(expr, place.scope, bound);
    let size = row.whole.len() + row.cells.iter().map(String::len).sum::<usize>();
    found.rows.push(row);
    place.scope.spend(size / 8 + 2).is_some()
}

fn row<'a>(expr: &'a Expr, scope: &Scope<'_, '_>, bound: &Bindings<'a>) -> Row {
    let hidden: Layer<'_> = bound.rows.iter().map(|(name, _)| (*name, Bound::Many)).collect();
    let scope = scope.inside(&hidden);
    let parts: &[Expr] = match expr {
        Expr::Name(name) => {
            if let Some((_, row)) = bound.rows.iter().rev().find(|(known, _)| *known == name.id.as_str()) {
                return row.clone();
            }
            &[]
        }
        Expr::Tuple(t) => &t.elts,
        Expr::List(l) => &l.elts,
        Expr::Call(call) if scope.dotted(&call.func).is_some_and(|name| is_param(&name)) => match &*call.arguments.args {
            [one] => return row(one, &scope, bound),
            many => return parameters(many, &scope, bound),
        },
        _ => &[],
    };
    let plain = !parts.iter().any(Expr::is_starred_expr);
    let text = |expr: &Expr| told(expr, &scope, &bound.locals);
    Row { whole: text(expr), cells: if plain { parts.iter().map(text).collect() } else { Vec::new() } }
}

/// A row by what stands in `pytest.param`.
fn parameters<'a>(parts: &'a [Expr], scope: &Scope<'_, '_>, bound: &Bindings<'a>) -> Row {
    sequence(parts.iter().map(|part| told(part, scope, &bound.locals)).collect())
}

/// One element for each way in which the generators bind their names.
fn all<'a>(element: &'a Expr, generators: &'a [Comprehension], place: Place<'_, '_, '_>, bound: &Bindings<'a>, found: &mut Cases) -> bool {
    let Some((generator, rest)) = generators.split_first() else { return one(element, place, bound, found) };
    let rows = if generator.is_async { None } else { listed(&generator.iter, place.scope, bound) };
    rows.is_some_and(|rows| {
        rows.iter().all(|row| {
            let mut now = bound.clone();
            place.scope.spend(now.rows.len() + 1).is_some()
                && bind(&generator.target, row, &mut now)
                && match generator.ifs.iter().try_fold(true, |holds, test| Some(holds && decided(test, place.scope, &now)?)) {
                    Some(true) => all(element, rest, place, &now, found),
                    Some(false) => true,
                    None => false,
                }
        })
    })
}

/// The rows of a list that is read whole, or of the part of one that a slice by known numbers leaves.
fn listed(iter: &Expr, scope: &Scope<'_, '_>, bound: &Bindings<'_>) -> Option<Vec<Row>> {
    let (of, range) = match iter {
        Expr::Subscript(s) => (&*s.value, s.slice.as_slice_expr()),
        other => (other, None),
    };
    let list = cases(if range.is_some() { of } else { iter }, scope);
    if mentions(of, bound) || !list.rest.is_empty() || list.rows.len() > ROWS {
        return None;
    }
    let Some(range) = range.filter(|range| range.step.is_none()) else { return (!mentions(iter, bound)).then_some(list.rows) };
    let end = |expr: &Option<Box<Expr>>, open: usize| {
        expr.as_ref().map_or(Some(open), |e| number(e, scope, bound)).map(|n| n.min(list.rows.len()))
    };
    let (from, to) = (end(&range.lower, 0)?, end(&range.upper, usize::MAX)?);
    scope.spend(list.rows.len())?;
    Some(list.rows.get(from..to.max(from)).unwrap_or_default().to_vec())
}

/// A number that is not negative: a literal, a bound name, or a sum of such.
fn number(expr: &Expr, scope: &Scope<'_, '_>, bound: &Bindings<'_>) -> Option<usize> {
    match expr {
        Expr::BinOp(b) if b.op == Operator::Add => number(&b.left, scope, bound)?.checked_add(number(&b.right, scope, bound)?),
        Expr::Name(_) | Expr::NumberLiteral(_) => row(expr, scope, bound).whole.parse().ok(),
        _ => None,
    }
}

fn bind<'a>(target: &'a Expr, row: &Row, bound: &mut Bindings<'a>) -> bool {
    match target {
        Expr::Name(name) => {
            bound.locals.insert(name.id.as_str(), Local::of_text(row.whole.clone()));
            bound.rows.push((name.id.as_str(), row.clone()));
            true
        }
        Expr::Tuple(t) if t.elts.len() == row.cells.len() => {
            let cell = |text: &String| Row { whole: text.clone(), cells: Vec::new() };
            t.elts.iter().zip(&row.cells).all(|(part, text)| part.is_name_expr() && bind(part, &cell(text), bound))
        }
        _ => false,
    }
}

/// Whether a condition on literals holds; `None` when it is about anything else.
fn decided(test: &Expr, scope: &Scope<'_, '_>, bound: &Bindings<'_>) -> Option<bool> {
    let Expr::Compare(compare) = test else { return None };
    let ([op], [right]) = (&*compare.ops, &*compare.comparators) else { return None };
    let (left, right) = (row(&compare.left, scope, bound).whole, row(right, scope, bound).whole);
    let literal = |text: &str| text.parse::<i64>().is_ok() || is_plain_string(text);
    if !(literal(&left) && literal(&right)) {
        return None;
    }
    match op {
        CmpOp::Eq => Some(left == right),
        CmpOp::NotEq => Some(left != right),
        _ => None,
    }
}

/// A string literal, and nothing after it.
fn is_plain_string(text: &str) -> bool {
    text.len() >= 2 && text.starts_with('\'') && text.ends_with('\'') && !text[1..text.len() - 1].contains('\'')
}

/// Whether a name that a comprehension binds stands in an expression.
fn mentions(expr: &Expr, bound: &Bindings<'_>) -> bool {
    !bound.rows.is_empty()
        && ruff_python_ast::helpers::any_over_expr(expr, |e| {
            e.as_name_expr().is_some_and(|name| bound.rows.iter().any(|(known, _)| *known == name.id.as_str()))
        })
}
