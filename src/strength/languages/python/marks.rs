//! Owns marks that keep a test from running or from counting: decorators, `pytestmark`, and those of single rows.

use std::collections::BTreeSet;

use ruff_python_ast::{Arguments, BoolOp, CmpOp, Expr, ExprCall, UnaryOp};

use crate::strength::effort::{Does, Mark};
use crate::strength::languages::python::cases::row_text;
use crate::strength::languages::python::literal::{Value, fold};
use crate::strength::languages::python::names::{Bound, Scope};
use crate::strength::languages::python::swallowers;
use crate::strength::languages::python::write::{COMPARE, NOT, canonical, canonical_at};

/// Adds the marks that a decorator or the value of `pytestmark` declares.
pub(super) fn declared(expr: &Expr, scope: &Scope<'_, '_>, marks: &mut BTreeSet<Mark>) {
    if scope.spend(1).is_none() {
        return;
    }
    let dotted = |e: &Expr| scope.dotted(e).or_else(|| by_getattr(e, scope)).unwrap_or_default();
    match expr {
        Expr::List(l) => l.elts.iter().for_each(|e| declared(e, scope, marks)),
        Expr::Tuple(t) => t.elts.iter().for_each(|e| declared(e, scope, marks)),
        Expr::Call(call) => {
            let name = dotted(&call.func);
            if let Some(name) = by_getattr(expr, scope) {
                marks.extend(is_mark(&name).then(|| mark(&name, None, scope)).flatten());
            } else if name.ends_with(".fixture") {
                call.arguments.find_keyword("params").into_iter().for_each(|params| rows(&params.value, scope, marks));
            } else if name.ends_with("parametrize") {
                call.arguments.find_argument_value("argvalues", 1).into_iter().for_each(|list| rows(list, scope, marks));
            } else if is_mark(&name) {
                marks.extend(mark(&name, Some(&call.arguments), scope));
            } else if !matches!(&*call.func, Expr::Attribute(_)) {
                marks.extend(dropping(&call.func, scope));
                let inner = scope.enter(&call.func, |value, scope| declared(value, scope, marks));
                marks.extend(inner.is_none().then(|| by_name(&name, expr, scope)).flatten());
            } else {
                marks.extend(by_name(&name, expr, scope));
            }
        }
        Expr::Name(_) | Expr::Attribute(_) => {
            let name = dotted(expr);
            if is_mark(&name) {
                marks.extend(mark(&name, None, scope));
            } else if scope.enter(expr, |value, scope| declared(value, scope, marks)).is_none() {
                marks.extend(dropping(expr, scope));
                marks.extend(by_name(&name, expr, scope));
            }
        }
        _ => {}
    }
}

/// The name in `getattr(pytest.mark, "skip")`.
fn by_getattr(expr: &Expr, scope: &Scope<'_, '_>) -> Option<String> {
    let call = expr.as_call_expr().filter(|call| matches!(&*call.func, Expr::Name(n) if n.id.as_str() == "getattr"))?;
    let [of, name, ..] = &*call.arguments.args else { return None };
    match fold(name, scope)? {
        Value::Str(name) => Some(format!("{}.{name}", scope.dotted(of)?)),
        _ => None,
    }
}

/// What a decorator of this file does to what it decorates.
pub(super) fn dropping(expr: &Expr, scope: &Scope<'_, '_>) -> Option<Mark> {
    match scope.lookup(expr.as_name_expr()?.id.as_str())? {
        (Bound::Function(def), home) => swallowers::decorator(def, &home),
        _ => None,
    }
}

/// Adds the names that bring what acts on the test: fixtures that a mark asks for, decorators of other modules.
pub(super) fn leads(expr: &Expr, scope: &Scope<'_, '_>, names: &mut BTreeSet<String>) {
    match expr {
        Expr::List(l) => l.elts.iter().for_each(|e| leads(e, scope, names)),
        Expr::Tuple(t) => t.elts.iter().for_each(|e| leads(e, scope, names)),
        Expr::Call(call) if matches!(&*call.func, Expr::Attribute(a) if a.attr.as_str() == "usefixtures") => {
            let asked = call.arguments.args.iter().filter_map(|e| fold(e, scope));
            names.extend(asked.filter_map(|value| if let Value::Str(name) = value { Some(name) } else { None }));
        }
        Expr::Call(call) => leads(&call.func, scope, names),
        Expr::Name(_) | Expr::Attribute(_) => {
            let outside = ["pytest", "hypothesis", "unittest", "self"];
            let led = scope.dotted(expr).filter(|name| name.split_once('.').is_some_and(|(root, _)| !outside.contains(&root)));
            names.extend(led);
        }
        _ => {}
    }
}

/// The marks of `pytest.param(…, marks=…)` in a list of rows.
fn rows(list: &Expr, scope: &Scope<'_, '_>, marks: &mut BTreeSet<Mark>) {
    match list {
        Expr::List(l) => l.elts.iter().for_each(|e| rows(e, scope, marks)),
        Expr::Tuple(t) => t.elts.iter().for_each(|e| rows(e, scope, marks)),
        Expr::Starred(s) => rows(&s.value, scope, marks),
        Expr::BinOp(b) => [&b.left, &b.right].into_iter().for_each(|side| rows(side, scope, marks)),
        Expr::Call(call) => {
            let Some(given) = call.arguments.find_keyword("marks") else { return };
            let mut own = BTreeSet::new();
            declared(&given.value, scope, &mut own);
            let row = row_text(list, scope);
            marks.extend(own.into_iter().map(|mark| Mark { row: Some(row.clone()), ..mark }));
        }
        Expr::Name(_) | Expr::Attribute(_) => {
            scope.enter(list, |value, scope| scope.spend(1).map(|()| rows(value, scope, marks)));
        }
        _ => {}
    }
}

fn last(name: &str) -> &str {
    name.rsplit('.').next().unwrap_or(name)
}

fn is_mark(name: &str) -> bool {
    let pytest = name.strip_prefix("pytest.mark.").or_else(|| name.strip_prefix("mark."));
    pytest.is_some_and(|own| matches!(own, "skip" | "skipif" | "xfail" | "flaky"))
        || name.strip_prefix("unittest.").is_some_and(|own| matches!(own, "skip" | "skipIf" | "skipUnless" | "expectedFailure"))
        || matches!(name, "flaky.flaky")
}

fn mark(name: &str, arguments: Option<&Arguments>, scope: &Scope<'_, '_>) -> Option<Mark> {
    let kind = last(name);
    let flag = |key: &str| {
        let value = arguments.and_then(|a| a.find_keyword(key)).map(|k| fold(&k.value, scope));
        value.map(|value| matches!(value, Some(Value::Bool(true))))
    };
    let does = match kind {
        "flaky" => Does::Flaky,
        "expectedFailure" => Does::XfailStrict,
        "xfail" if flag("run") == Some(false) => Does::Skip,
        "xfail" if flag("strict") == Some(true) => Does::XfailStrict,
        "xfail" => Does::Xfail,
        _ => Does::Skip,
    };
    if !matches!(kind, "skipif" | "skipIf" | "skipUnless" | "xfail") {
        return Some(Mark { does, when: None, row: None });
    }
    let given = arguments.into_iter().flat_map(|a| a.args.iter().chain(a.find_keyword("condition").map(|k| &k.value)));
    let conditions: Vec<&Expr> = given.take(if kind.starts_with("skipI") || kind == "skipUnless" { 1 } else { usize::MAX }).collect();
    let values: Vec<bool> = conditions.iter().filter_map(|c| truth(c, scope)).map(|b| b == (kind != "skipUnless")).collect();
    if values.len() == conditions.len() {
        let acts = conditions.is_empty() || values.contains(&true);
        return acts.then_some(Mark { does, when: None, row: None });
    }
    let text = |e: &&Expr| if kind == "skipUnless" { negated(e, scope) } else { condition(e, scope) };
    let when = conditions.iter().map(text).collect::<Vec<_>>().join(" or ");
    Some(Mark { does, when: Some(when), row: None })
}

/// A decorator that is known by its name alone.
fn by_name(name: &str, whole: &Expr, scope: &Scope<'_, '_>) -> Option<Mark> {
    let word = last(name).to_ascii_lowercase();
    let does = match word.as_str() {
        "fails" | "fails_with" => Does::XfailStrict,
        word if word.starts_with("skip") || word.contains("_skip") => Does::Skip,
        word if word.contains("xfail") || word.contains("expected_failure") => Does::Xfail,
        word if word.starts_with("flaky") || word.starts_with("retry") => Does::Flaky,
        _ => return None,
    };
    Some(Mark { does, when: Some(canonical(whole, scope)), row: None })
}

/// What a condition is known to be: a number other than zero, a text other than the empty one and so on are true.
pub(super) fn truth(expr: &Expr, scope: &Scope<'_, '_>) -> Option<bool> {
    match fold(expr, scope)? {
        Value::Bool(yes) => Some(yes),
        Value::Int(n) => Some(n != 0.into()),
        Value::None => Some(false),
        _ => None,
    }
}

/// A condition; one in a string is what the string says, and a name of this file what it is bound to.
pub(super) fn condition(expr: &Expr, scope: &Scope<'_, '_>) -> String {
    match fold(expr, scope) {
        Some(Value::Str(text)) => text,
        _ => match expr {
            Expr::UnaryOp(u) if u.op == UnaryOp::Not && u.operand.is_name_expr() => negated(&u.operand, scope),
            _ => behind(expr, scope, condition).unwrap_or_else(|| canonical(expr, scope)),
        },
    }
}

/// The condition that a name stands for.
fn behind(expr: &Expr, scope: &Scope<'_, '_>, told: fn(&Expr, &Scope<'_, '_>) -> String) -> Option<String> {
    let asks = |value: &Expr| matches!(value, Expr::Compare(_) | Expr::BoolOp(_) | Expr::UnaryOp(_) | Expr::Call(_) | Expr::Name(_));
    scope.enter(expr, |value, scope| (scope.spend(1).is_some() && asks(value)).then(|| told(value, scope))).flatten()
}

/// The opposite of a condition, spelt without `not` where that is possible.
pub(super) fn negated(expr: &Expr, scope: &Scope<'_, '_>) -> String {
    match expr {
        Expr::UnaryOp(u) if u.op == UnaryOp::Not => condition(&u.operand, scope),
        Expr::Name(_) | Expr::Attribute(_) => {
            behind(expr, scope, negated).unwrap_or_else(|| format!("not {}", canonical_at(expr, NOT, scope)))
        }
        Expr::Compare(c) if c.ops.len() == 1 && c.comparators.len() == 1 => {
            let sign = opposite(c.ops[0]);
            let side = |e: &Expr| canonical_at(e, COMPARE + 1, scope);
            format!("{} {sign} {}", side(&c.left), side(&c.comparators[0]))
        }
        other => format!("not {}", canonical_at(other, NOT, scope)),
    }
}

/// The comparison that holds where this one does not.
pub(super) fn opposite(sign: CmpOp) -> &'static str {
    match sign {
        CmpOp::Eq => "!=",
        CmpOp::NotEq => "==",
        CmpOp::Lt => ">=",
        CmpOp::LtE => ">",
        CmpOp::Gt => "<=",
        CmpOp::GtE => "<",
        CmpOp::Is => "is not",
        CmpOp::IsNot => "is",
        CmpOp::In => "not in",
        CmpOp::NotIn => "in",
    }
}

/// The parts of a condition joined by `and`, or by `or`.
pub(super) fn parts(expr: &Expr, joined: BoolOp) -> Vec<&Expr> {
    match expr {
        Expr::BoolOp(b) if b.op == joined => b.values.iter().flat_map(|e| parts(e, joined)).collect(),
        other => vec![other],
    }
}

/// What a statement's call does to the test it stands in, and under which condition of its own.
pub(super) fn called(call: &ExprCall, scope: &Scope<'_, '_>) -> Option<(Does, Option<String>)> {
    if matches!(&*call.func, Expr::Attribute(a) if !matches!(a.attr.as_str(), "skip" | "skipTest" | "xfail" | "importorskip" | "exit" | "_exit" | "abort"))
    {
        return None;
    }
    let name = scope.dotted(&call.func)?;
    match name.as_str() {
        // Some of them end the whole run, with whatever it found so far.
        "pytest.skip" | "unittest.case.skip" | "self.skipTest" | "pytest.exit" | "os._exit" | "os.abort" => Some((Does::Skip, None)),
        "pytest.xfail" => Some((Does::Xfail, None)),
        "pytest.importorskip" => {
            let what = call.arguments.find_argument_value("modname", 0).map(|e| canonical(e, scope)).unwrap_or_default();
            Some((Does::Skip, Some(format!("{what} cannot be imported"))))
        }
        _ if !call.func.is_name_expr() => None,
        name => {
            let own = last(name).trim_start_matches('_');
            let skips = ["skip_if", "skip_unless", "skip_test", "skipif", "skipunless"].iter().any(|start| own.starts_with(start));
            skips.then(|| (Does::Skip, Some(canonical(&Expr::Call(call.clone()), scope))))
        }
    }
}

/// Whether raising this skips the test.
pub(super) fn is_skip(raised: &Expr, scope: &Scope<'_, '_>) -> bool {
    let class = raised.as_call_expr().map_or(raised, |c| &c.func);
    let name = scope.dotted(class).unwrap_or_default();
    last(&name) == "SkipTest" || name == "pytest.skip.Exception"
}
