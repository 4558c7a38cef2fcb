//! Owns texts that could name a file: literals, literal joins, and places told from `__file__`.

use std::collections::BTreeSet;

use ruff_python_ast::{Expr, ExprCall, Operator};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::strength::languages::facts::HERE;
use crate::strength::languages::python::body::Body;
use crate::strength::languages::python::names::{Bound, Names, Scope};

/// Longest text that is taken for a path.
const LONGEST: usize = 300;
/// At most so many for one function.
const MOST: usize = 256;

/// The path that an expression makes.
fn path_of(expr: &Expr, scope: &Scope<'_, '_>) -> Option<String> {
    scope.spend(1)?;
    match expr {
        Expr::StringLiteral(s) => Some(s.value.to_str().to_owned()).filter(|s| s.len() <= LONGEST && !s.contains(char::is_control)),
        Expr::Name(name) if name.id.as_str() == "__file__" => Some(HERE.to_owned()),
        Expr::Name(_) => scope.enter(expr, |value, scope| path_of(value, scope))?,
        Expr::BinOp(b) if b.op == Operator::Div => joined([path_of(&b.left, scope)?, path_of(&b.right, scope)?]),
        Expr::Attribute(a) if a.attr.as_str() == "parent" => Some(format!("{}/..", path_of(&a.value, scope)?)),
        Expr::Attribute(_) => scope.enter(expr, |value, scope| path_of(value, scope))?,
        Expr::Subscript(s) => {
            let Expr::Attribute(parents) = &*s.value else { return None };
            let up = s.slice.as_number_literal_expr()?.value.as_int()?.as_usize().filter(|n| *n < 32)?;
            (parents.attr.as_str() == "parents").then_some(())?;
            Some(format!("{}{}", path_of(&parents.value, scope)?, "/..".repeat(up + 1)))
        }
        Expr::Call(call) => called(call, scope),
        _ => None,
    }
}

fn joined(parts: impl IntoIterator<Item = String>) -> Option<String> {
    let joined = parts
        .into_iter()
        .reduce(|head, tail| if tail.starts_with('/') { tail } else { format!("{}/{tail}", head.trim_end_matches('/')) })?;
    (joined.len() <= LONGEST).then_some(joined)
}

fn called(call: &ExprCall, scope: &Scope<'_, '_>) -> Option<String> {
    let arguments = &*call.arguments.args;
    let all = |parts: &[Expr]| parts.iter().map(|p| path_of(p, scope)).collect::<Option<Vec<_>>>();
    if let Expr::Attribute(method) = &*call.func {
        match method.attr.as_str() {
            "resolve" | "absolute" | "as_posix" | "expanduser" => return path_of(&method.value, scope),
            "joinpath" => return joined([path_of(&method.value, scope)?].into_iter().chain(all(arguments)?)),
            "with_name" => return joined([format!("{}/..", path_of(&method.value, scope)?), path_of(arguments.first()?, scope)?]),
            _ => {}
        }
    }
    let name = scope.dotted(&call.func)?;
    match name.rsplit('.').next().unwrap_or_default() {
        "Path" | "PurePath" | "PosixPath" | "PurePosixPath" | "join" => joined(all(arguments)?),
        "str" | "fspath" | "abspath" | "realpath" | "normpath" => path_of(arguments.first()?, scope),
        "dirname" => Some(format!("{}/..", path_of(arguments.first()?, scope)?)),
        _ => None,
    }
}

/// Whether a text could name a file: it has a folder or an ending.
fn is_plausible(text: &str) -> bool {
    let ending = |text: &str| {
        text.rsplit_once('.')
            .is_some_and(|(stem, end)| !stem.is_empty() && (1..=10).contains(&end.len()) && end.bytes().all(|b| b.is_ascii_alphanumeric()))
    };
    !text.contains("://") && (text.contains('/') || ending(text)) && text.len() > 2
}

/// What each function and constant of a file names, itself and by what it uses.
pub(super) struct Named<'n, 'a> {
    names: &'n Names<'a>,
    own: FxHashMap<&'a str, (BTreeSet<String>, Vec<&'a str>)>,
}

impl<'n, 'a> Named<'n, 'a> {
    pub(super) fn new(names: &'n Names<'a>) -> Self {
        Named { names, own: FxHashMap::default() }
    }

    /// Files named by a body, by the module's constants that it reads, and by the module's functions that it uses.
    pub(super) fn of(&mut self, body: &Body<'a>, parameters: &[String], scope: &Scope<'_, 'a>) -> BTreeSet<String> {
        let mut found = texts(body, scope);
        let top = &self.names.top;
        let known = |name: &str| {
            top.get_key_value(name).filter(|(_, bound)| matches!(bound, Bound::Once(_) | Bound::Function(_))).map(|(name, _)| *name)
        };
        let mut seen: FxHashSet<&'a str> =
            body.names.iter().copied().chain(parameters.iter().map(String::as_str)).filter_map(known).collect();
        let mut open: Vec<&'a str> = seen.iter().copied().collect();
        while let Some(name) = open.pop() {
            if found.len() > MOST || scope.spend(1).is_none() {
                break;
            }
            let (texts, uses) = self.behind(name);
            found.extend(texts.iter().cloned());
            let uses: Vec<&'a str> = uses.clone();
            open.extend(uses.into_iter().filter_map(known).filter(|name| seen.insert(name)));
        }
        found.into_iter().take(MOST).collect()
    }

    fn behind(&mut self, name: &'a str) -> &(BTreeSet<String>, Vec<&'a str>) {
        let names = self.names;
        self.own.entry(name).or_insert_with(|| {
            let scope = names.scope();
            match names.top.get(name) {
                Some(Bound::Once(expr)) => {
                    let mut body = Body::default();
                    ruff_python_ast::visitor::Visitor::visit_expr(&mut body, expr);
                    (texts(&body, &scope), body.names)
                }
                Some(Bound::Function(def)) if !def.name.as_str().starts_with("test") => {
                    let body = Body::read(&def.body);
                    (texts(&body, &scope), body.names)
                }
                _ => (BTreeSet::new(), Vec::new()),
            }
        })
    }
}

fn texts(body: &Body<'_>, scope: &Scope<'_, '_>) -> BTreeSet<String> {
    let paths = body.paths.iter().filter_map(|expr| path_of(expr, scope));
    paths.filter(|text| is_plausible(text)).take(MOST).collect()
}
