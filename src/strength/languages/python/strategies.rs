//! Owns strategies: from an expression to the normalised tree of what it draws from.

mod finder;

use std::collections::{BTreeMap, BTreeSet};

use num_bigint::BigInt;
use num_traits::{FromPrimitive as _, ToPrimitive as _};
use ruff_python_ast::visitor::Visitor as _;
use ruff_python_ast::{Arguments, Expr, ExprCall, ExprGenerator, Operator, Stmt, StmtFunctionDef};
use ruff_text_size::{Ranged, TextRange};

use crate::strength::domain::{Argument, Domain, Strategy};
use crate::strength::languages::python::cases::cases;
use crate::strength::languages::python::leaning::leaning;
use crate::strength::languages::python::literal::{Value, fold};
use crate::strength::languages::python::names::{Bound, Layer, Scope, layer};
use crate::strength::languages::python::strategies::finder::{Finder, tossed};
use crate::strength::languages::python::text::File;
use crate::strength::languages::python::write::{canonical, opaque};

const HOUSE: &str = "hypothesis.strategies.";
/// Draws and returns of one generator that are read; a greater one is told by its text.
const DRAWS: usize = 64;
/// Longest body of a composite that is told as it is; a longer one is told by a hash.
const BODY: usize = 4 << 10;

/// What an expression draws from.
pub(super) fn strategy(expr: &Expr, scope: &Scope<'_, '_>) -> Strategy {
    if scope.spend(4).is_none() {
        return Strategy::Opaque(opaque(expr, scope));
    }
    match expr {
        Expr::BinOp(b) if b.op == Operator::BitOr => Strategy::one_of(vec![strategy(&b.left, scope), strategy(&b.right, scope)]),
        Expr::Call(call) => called(call, expr, scope),
        Expr::If(either) => branches(&canonical(&either.test, scope), strategy(&either.body, scope), strategy(&either.orelse, scope)),
        Expr::Name(_) | Expr::Attribute(_) => match scope.enter(expr, |value, scope| strategy(value, scope)) {
            Some(strategy) => strategy,
            None => named(expr, scope),
        },
        _ => leaning(expr, scope),
    }
}

/// One strategy or another, by a condition that is not known here.
fn branches(test: &str, holds: Strategy, fails: Strategy) -> Strategy {
    let arguments = vec![("test".to_owned(), Strategy::Value(test.to_owned())), ("then".to_owned(), holds), ("else".to_owned(), fails)];
    Strategy::Call { name: Strategy::BRANCHES.to_owned(), arguments }
}

/// A dotted name of another module stays a name, so that linking can follow it.
fn named(expr: &Expr, scope: &Scope<'_, '_>) -> Strategy {
    match scope.dotted(expr) {
        Some(name) if name.contains('.') && !name.starts_with("self.") => Strategy::Named(name),
        _ => leaning(expr, scope),
    }
}

fn called(call: &ExprCall, whole: &Expr, scope: &Scope<'_, '_>) -> Strategy {
    if let Expr::Attribute(method) = &*call.func
        && matches!(method.attr.as_str(), "filter" | "map" | "flatmap")
        && let [by] = &*call.arguments.args
        && call.arguments.keywords.is_empty()
    {
        let (of, how) = (strategy(&method.value, scope), method.attr.to_string());
        return match leaning(by, scope) {
            Strategy::Opaque(by) => Strategy::Mapped { of: Box::new(of), how, by },
            by => Strategy::Call { name: how, arguments: vec![("of".to_owned(), of), ("by".to_owned(), by)] },
        };
    }
    let Some(name) = scope.dotted(&call.func) else { return leaning(whole, scope) };
    let unread = || leaning(whole, scope);
    if let Some(known) = name.strip_prefix(HOUSE) {
        return known_call(known, &call.arguments, scope).unwrap_or_else(unread);
    }
    if let Expr::Name(local) = &*call.func
        && let Some((Bound::Function(def), home)) = scope.lookup(local.id.as_str())
    {
        let Some(made) = made_by(def, &home) else { return unread() };
        return with_arguments(made, &call.arguments, scope).unwrap_or_else(unread);
    }
    if name.contains('.') && !name.starts_with("self.") {
        let made = Strategy::Call { name, arguments: Vec::new() };
        return with_arguments(made, &call.arguments, scope).unwrap_or_else(unread);
    }
    unread()
}

fn with_arguments(made: Strategy, given: &Arguments, scope: &Scope<'_, '_>) -> Option<Strategy> {
    let Strategy::Call { name, arguments } = made else { return Some(made) };
    let mut all = listed(given, scope)?;
    all.extend(arguments);
    Some(Strategy::Call { name, arguments: all })
}

/// Arguments of a call: positions, then keywords by name. Stars cannot be read.
fn listed(given: &Arguments, scope: &Scope<'_, '_>) -> Option<Vec<(String, Strategy)>> {
    let mut all = Vec::new();
    for (at, argument) in given.args.iter().enumerate() {
        if argument.is_starred_expr() {
            return None;
        }
        all.push((at.to_string(), part(argument, scope)));
    }
    let mut keywords = BTreeMap::new();
    for keyword in &given.keywords {
        keywords.insert(keyword.arg.as_ref()?.to_string(), part(&keyword.value, scope));
    }
    all.extend(keywords);
    Some(all)
}

/// An argument that may be a value or a strategy.
fn part(expr: &Expr, scope: &Scope<'_, '_>) -> Strategy {
    match fold(expr, scope) {
        Some(value) => Strategy::Value(value.text()),
        None => strategy(expr, scope),
    }
}

fn known_call(name: &str, given: &Arguments, scope: &Scope<'_, '_>) -> Option<Strategy> {
    if given.args.iter().any(Expr::is_starred_expr) || given.keywords.iter().any(|k| k.arg.is_none()) {
        return None;
    }
    let all = |parts: &[Expr]| parts.iter().map(|p| strategy(p, scope)).collect::<Vec<_>>();
    let one = |key: String| Strategy::Finite(BTreeSet::from([key]));
    match (name, &*given.args) {
        ("integers", _) => integers(given, scope),
        ("floats", _) => floats(given, scope),
        ("booleans", []) => Some(Strategy::booleans()),
        ("none", []) => Some(one("None".to_owned())),
        ("nothing", []) => Some(Strategy::Finite(BTreeSet::new())),
        ("just", [value]) => Some(one(canonical(value, scope))),
        ("sampled_from", _) => {
            let elements = given.find_argument_value("elements", 0)?;
            sampled(elements, scope).or_else(|| one_from(elements, scope))
        }
        ("one_of", [Expr::Generator(each)]) => one_from(just_each(each, scope)?, scope),
        ("one_of", [Expr::List(l)]) => Some(Strategy::one_of(all(&l.elts))),
        ("one_of", [Expr::Tuple(t)]) => Some(Strategy::one_of(all(&t.elts))),
        ("one_of", parts) => Some(Strategy::one_of(all(parts))),
        ("tuples", parts) => Some(Strategy::Tuples(all(parts))),
        ("lists" | "sets" | "frozensets" | "iterables", _) => many(name, &["elements"], given, scope),
        ("dictionaries", _) => many(name, &["keys", "values"], given, scope),
        ("text" | "binary", _) => many(name, &[], given, scope),
        _ => Some(Strategy::Call { name: name.to_owned(), arguments: listed(given, scope)? }),
    }
}

/// One element of what is no list that can be read.
fn one_from(elements: &Expr, scope: &Scope<'_, '_>) -> Option<Strategy> {
    let listed = match elements {
        Expr::Call(call) if scope.dotted(&call.func).is_some_and(|name| matches!(name.as_str(), "list" | "tuple" | "sorted")) => {
            let [one] = &*call.arguments.args else { return None };
            one
        }
        other => other,
    };
    let name = scope.dotted(listed).filter(|name| name.contains('.') && !name.starts_with("self."))?;
    Some(Strategy::Call { name: "sampled_from".to_owned(), arguments: vec![("elements".to_owned(), Strategy::Opaque(name))] })
}

/// What `just(x) for x in …` goes through.
fn just_each<'e>(each: &'e ExprGenerator, scope: &Scope<'_, '_>) -> Option<&'e Expr> {
    let [through] = each.generators.as_slice() else { return None };
    let (made, target) = (each.elt.as_call_expr()?, through.target.as_name_expr()?);
    let is_just = scope.dotted(&made.func).is_some_and(|name| name == format!("{HOUSE}just")) && made.arguments.keywords.is_empty();
    let same = matches!(&*made.arguments.args, [Expr::Name(name)] if name.id == target.id);
    (is_just && same && through.ifs.is_empty()).then_some(&through.iter)
}

/// The values of a list, or of one of two by a condition.
fn sampled(elements: &Expr, scope: &Scope<'_, '_>) -> Option<Strategy> {
    if let Expr::If(either) = elements {
        scope.spend(1)?;
        return Some(branches(&canonical(&either.test, scope), sampled(&either.body, scope)?, sampled(&either.orelse, scope)?));
    }
    let list = cases(elements, scope);
    list.rest.is_empty().then(|| Strategy::Finite(list.rows.into_iter().map(|r| r.whole).collect()))
}

fn only(given: &Arguments, positions: usize, keywords: &[&str]) -> Option<()> {
    let known = |k: &ruff_python_ast::Keyword| k.arg.as_ref().is_some_and(|name| keywords.contains(&name.as_str()));
    (given.args.len() <= positions && given.keywords.iter().all(known)).then_some(())
}

fn integers(given: &Arguments, scope: &Scope<'_, '_>) -> Option<Strategy> {
    only(given, 2, &["min_value", "max_value"])?;
    let end = |name: &str, at: usize| match given.find_argument_value(name, at).map(|e| fold(e, scope)) {
        None | Some(Some(Value::None)) => Some(None),
        Some(Some(Value::Int(n))) => Some(Some(n)),
        Some(Some(Value::Float(f))) if f.fract() == 0.0 => Some(Some(BigInt::from_f64(f)?)),
        Some(_) => None,
    };
    Some(Strategy::Integers { low: end("min_value", 0)?, high: end("max_value", 1)? })
}

fn floats(given: &Arguments, scope: &Scope<'_, '_>) -> Option<Strategy> {
    let end = |name: &str, at: usize| match given.find_argument_value(name, at).map(|e| fold(e, scope)) {
        None | Some(Some(Value::None)) => Some(None),
        Some(Some(Value::Int(n))) => Some(Some(Value::Float(n.to_f64()?).text())),
        Some(Some(Value::Float(f))) if !f.is_nan() => Some(Some(Value::Float(f).text())),
        Some(_) => None,
    };
    let (low, high) = (end("min_value", 0)?, end("max_value", 1)?);
    let others = given.keywords.iter().filter(|k| !matches!(k.arg.as_deref(), Some("min_value" | "max_value")));
    let mut rest: BTreeMap<String, String> =
        others.filter_map(|k| Some((k.arg.as_ref()?.to_string(), canonical(&k.value, scope)))).collect();
    rest.retain(|key, value| {
        !matches!(
            (key.as_str(), value.as_str()),
            (_, "None")
                | ("allow_nan" | "allow_infinity" | "allow_subnormal", "True")
                | ("exclude_min" | "exclude_max", "False")
                | ("width", "64")
        )
    });
    Some(Strategy::Floats { low, high, rest })
}

/// Collections: their parts, sizes by literals, and every other argument as a restriction.
fn many(what: &str, parts: &[&str], given: &Arguments, scope: &Scope<'_, '_>) -> Option<Strategy> {
    let positions: Vec<&str> = match what {
        "text" => vec!["alphabet", "min_size", "max_size"],
        "binary" => vec!["min_size", "max_size"],
        _ => parts.to_vec(),
    };
    let named = given.args.iter().enumerate().map(|(at, e)| Some(((*positions.get(at)?).to_owned(), e)));
    let named: Option<BTreeMap<String, &Expr>> =
        named.chain(given.keywords.iter().map(|k| Some((k.arg.as_ref()?.to_string(), &k.value)))).collect();
    let named = named?;
    let of = parts.iter().map(|p| named.get(*p).map(|e| strategy(e, scope))).collect::<Option<Vec<_>>>()?;
    let size = |name: &str| match named.get(name).map(|e| fold(e, scope)) {
        None | Some(Some(Value::None)) => Some(None),
        Some(Some(Value::Int(n))) => Some(Some(n.to_u64()?)),
        Some(_) => None,
    };
    let (min, max) = (size("min_size"), size("max_size"));
    let told = |name: &str| (name == "min_size" && min.is_some()) || (name == "max_size" && max.is_some());
    let mut rest = BTreeMap::new();
    for (name, value) in named.iter().filter(|(name, _)| !parts.contains(&name.as_str()) && !told(name)) {
        let text = opaque(value, scope);
        if !matches!((name.as_str(), text.as_str()), ("unique", "False") | ("unique_by", "None")) {
            rest.insert(name.clone(), text);
        }
    }
    Some(Strategy::Many { what: what.to_owned(), of, min: min.flatten().unwrap_or(0), max: max.flatten(), rest })
}

/// What a function of this file makes: the draws of a composite, or the strategies that it returns, and the rest of its body.
pub(super) fn made_by(def: &StmtFunctionDef, home: &Scope<'_, '_>) -> Option<Strategy> {
    let name = def.name.as_str();
    let leaf = || Strategy::Call { name: name.to_owned(), arguments: Vec::new() };
    if home.names.is_open(name) {
        return Some(leaf());
    }
    let composite = is_composite(def, home);
    let mut finder = Finder::new(def.parameters.iter().next().filter(|_| composite).map(|p| p.name().as_str()));
    def.body.iter().for_each(|s| finder.visit_stmt(s));
    if finder.found.len() + finder.chains.len() > DRAWS || home.spend(home.names.file.tokens(def.range).len()).is_none() {
        return None;
    }
    let own = own_layer(def, home.names.file);
    let scope = home.inside(&own);
    home.names.open(name);
    let label = if composite { "draw" } else { "return" };
    let drawn = |expr: &Expr| match tossed(expr, finder.draw) {
        Some(arms) => Strategy::Finite(arms.into_iter().map(|arm| canonical(arm, &scope)).collect()),
        None => strategy(expr, &scope),
    };
    let mut arguments: Vec<(String, Strategy)> =
        finder.found.iter().enumerate().map(|(at, expr)| (format!("{label}[{at}]"), drawn(expr))).collect();
    let chains = finder.chains.iter().enumerate();
    arguments.extend(chains.map(|(at, expr)| (format!("part[{at}]"), strategy(expr, &scope))));
    home.names.close();
    let holes: Vec<TextRange> = finder.found.iter().chain(&finder.chains).map(Ranged::range).collect();
    let counts = |stmt: &&Stmt| !matches!(stmt, Stmt::Import(_) | Stmt::ImportFrom(_));
    let body: Vec<TextRange> = statements(&def.body).filter(counts).map(Stmt::range).collect();
    let length: usize = body.iter().map(|range| range.len().to_usize()).sum();
    let text = || finder.drawn(&body.iter().map(|range| home.names.file.plain(*range, &holes)).collect::<Vec<_>>().join(" ; "));
    let told = (length <= BODY).then(text);
    let told = told.unwrap_or_else(|| home.names.file.sha256(&body, &holes)[..16].to_owned());
    arguments.push((Strategy::BODY.to_owned(), Strategy::Value(told)));
    Some(Strategy::Call { name: name.to_owned(), arguments })
}

/// Statements without the docstring.
pub(super) fn statements(body: &[Stmt]) -> impl Iterator<Item = &Stmt> {
    let documented = matches!(body.first(), Some(Stmt::Expr(e)) if e.value.is_string_literal_expr());
    body.iter().skip(usize::from(documented && body.len() > 1))
}

/// A function's own names: parameters have no single value.
pub(super) fn own_layer<'a>(def: &'a StmtFunctionDef, file: &File<'_>) -> Layer<'a> {
    let mut own = layer(&def.body, file);
    for parameter in &*def.parameters {
        own.insert(parameter.name().as_str(), Bound::Many);
    }
    own
}

pub(super) fn is_composite(def: &StmtFunctionDef, scope: &Scope<'_, '_>) -> bool {
    def.decorator_list.iter().any(|d| scope.dotted(&d.expression).is_some_and(|name| name == format!("{HOUSE}composite")))
}

/// Whether a function, told by its own returns, makes strategies.
pub(super) fn returns_strategy(def: &StmtFunctionDef, home: &Scope<'_, '_>) -> bool {
    let mut finder = Finder::new(None);
    def.body.iter().for_each(|s| finder.visit_stmt(s));
    let own = own_layer(def, home.names.file);
    let scope = home.inside(&own);
    let house = |e: &Expr| match e {
        Expr::Call(call) => scope.dotted(&call.func).is_some_and(|name| name.starts_with(HOUSE)),
        _ => false,
    };
    finder.found.iter().any(|e| house(e) || matches!(e, Expr::Call(c) if matches!(&*c.func, Expr::Attribute(a) if house(&a.value))))
}

/// The functions of which a function returns what they make, or chooses between it.
pub(super) fn makers(def: &StmtFunctionDef) -> Vec<&str> {
    let mut finder = Finder::new(None);
    def.body.iter().for_each(|s| finder.visit_stmt(s));
    let mut names = Vec::new();
    for made in finder.found.iter().chain(&finder.chains) {
        let mut at = *made;
        names.extend(loop {
            at = match at {
                Expr::BinOp(choice) if choice.op == Operator::BitOr => &choice.left,
                Expr::Call(call) => match &*call.func {
                    Expr::Attribute(method) => &method.value,
                    func => break func.as_name_expr().map(|name| name.id.as_str()),
                },
                _ => break None,
            };
        });
    }
    names
}

/// Adds what `@given(...)` draws for a function's parameters.
pub(super) fn given(call: &ExprCall, whole: &Expr, parameters: &[String], scope: &Scope<'_, '_>, domain: &mut Domain) {
    let arguments = &call.arguments;
    if arguments.args.iter().any(Expr::is_starred_expr) || arguments.keywords.iter().any(|k| k.arg.is_none()) {
        domain.unread.insert(opaque(whole, scope));
        return;
    }
    let first = parameters.len().saturating_sub(arguments.args.len());
    let mut drawn: Vec<Argument> = Vec::new();
    for (at, argument) in arguments.args.iter().enumerate() {
        let name = parameters.get(first + at).cloned().unwrap_or_else(|| format!("argument[{at}]"));
        drawn.push(Argument { name, strategy: strategy(argument, scope) });
    }
    for keyword in &arguments.keywords {
        let name = keyword.arg.as_ref().map(ToString::to_string).unwrap_or_default();
        drawn.push(Argument { name, strategy: strategy(&keyword.value, scope) });
    }
    let place = |a: &Argument| parameters.iter().position(|p| *p == a.name).unwrap_or(usize::MAX);
    drawn.sort_by_key(place);
    if drawn.is_empty() {
        domain.unread.insert(opaque(whole, scope));
    }
    domain.arguments.extend(drawn);
}

/// Whether a decorator is `given`.
pub(super) fn as_given<'a>(expr: &'a Expr, scope: &Scope<'_, '_>) -> Option<&'a ExprCall> {
    let Expr::Call(call) = expr else { return None };
    let name = scope.dotted(&call.func)?;
    matches!(name.as_str(), "hypothesis.given" | "hypothesis.core.given" | "given").then_some(call)
}
