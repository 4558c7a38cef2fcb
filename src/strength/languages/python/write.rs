//! Owns the canonical source of an expression: one spelling for each meaning, whatever the quotes, spaces and aliases.

mod displays;
mod order;
mod templates;

use std::collections::BTreeSet;
use std::fmt::Write as _;

use ruff_python_ast::{Arguments, BoolOp, Comprehension, Expr, ExprAttribute, Operator, Parameters, UnaryOp};

use rustc_hash::FxHashMap;

use crate::strength::languages::python::literal::fold;
use crate::strength::languages::python::names::Scope;
use crate::strength::languages::python::write::order::{ATOM, AWAIT, Tightness, UNARY, comparison, operator, tightness};
pub(super) use crate::strength::languages::python::write::order::{COMPARE, LAMBDA, LOOSEST, NOT, OR, TERNARY};

/// Texts that stand for a function's local names.
pub(super) type Locals<'a> = FxHashMap<&'a str, Local>;

/// The text of a value, and how tightly it binds.
#[derive(Clone)]
pub(super) struct Local {
    text: String,
    tight: Tightness,
}

impl Local {
    pub(super) fn new(text: String, value: &Expr) -> Self {
        Local { text, tight: tightness(value) }
    }

    /// As of `a if test else b`.
    pub(super) fn of_choice(text: String) -> Self {
        Local { text, tight: TERNARY }
    }

    /// As of a text alone: what is not one literal, name or bracketed whole is put in parentheses where that could matter.
    pub(super) fn of_text(text: String) -> Self {
        let loose = text.starts_with(['-', '+', '~']) || text.starts_with("lambda") || text.contains(' ') && !is_closed(&text);
        Local { text, tight: if loose { LAMBDA } else { ATOM } }
    }
}

/// The function that a lambda only hands its parameters to: `lambda a, b: f(a, b)` is `f`.
fn passed_on<'e>(parameters: Option<&'e Parameters>, body: &'e Expr) -> Option<&'e Expr> {
    let (parameters, call) = (parameters?, body.as_call_expr()?);
    let is_plain = parameters.iter().all(|p| p.default().is_none() && !p.is_variadic()) && parameters.kwonlyargs.is_empty();
    let given = &*call.arguments.args;
    let is_same = parameters.len() == given.len()
        && parameters.iter().zip(given).all(|(p, e)| e.as_name_expr().is_some_and(|e| e.id.as_str() == p.name().as_str()));
    let mut root = &*call.func;
    while let Expr::Attribute(attribute) = root {
        root = &attribute.value;
    }
    let root = root.as_name_expr()?.id.as_str();
    let is_free = !parameters.iter().any(|p| p.name().as_str() == root);
    (is_plain && is_same && is_free && call.arguments.keywords.is_empty()).then_some(&*call.func)
}

/// Whether brackets or quotes stand around the whole of a text and nowhere else inside.
fn is_closed(text: &str) -> bool {
    let inside = text.get(1..text.len().saturating_sub(1)).unwrap_or_default();
    match (text.chars().next(), text.chars().last()) {
        (Some('('), Some(')')) => !inside.contains(['(', ')']),
        (Some('['), Some(']')) => !inside.contains(['[', ']']),
        (Some('{'), Some('}')) => !inside.contains(['{', '}']),
        (Some('\''), Some('\'')) => !inside.contains('\''),
        _ => false,
    }
}

/// Longest text that one expression gets; what is longer is told by its hash.
const CAP: usize = 1 << 16;

/// What most expressions take to write, in bytes.
const SHORT: usize = 64;

/// Writes expressions.
pub(super) struct Writer<'w, 's, 'a> {
    scope: &'w Scope<'s, 'a>,
    /// Whether aliases are resolved, constants put in and chains folded.
    resolve: bool,
    locals: Option<&'w Locals<'a>>,
    renamed: Vec<(&'w str, String)>,
    out: String,
    /// Names of this file that are written as names, when they are asked for.
    used: Option<BTreeSet<String>>,
}

/// The canonical source of an expression, aliases resolved and constants put in.
pub(super) fn canonical(expr: &Expr, scope: &Scope<'_, '_>) -> String {
    canonical_at(expr, LOOSEST, scope)
}

/// The same as part of something that binds so tightly.
pub(super) fn canonical_at(expr: &Expr, around: Tightness, scope: &Scope<'_, '_>) -> String {
    written(expr, around, Writer::new(scope, true)).0
}

/// The same with local names told by what they are bound to.
pub(super) fn told<'a>(expr: &Expr, scope: &Scope<'_, 'a>, locals: &Locals<'a>) -> String {
    told_at(expr, LOOSEST, scope, locals)
}

/// The same as part of something that binds so tightly.
pub(super) fn told_at<'a>(expr: &Expr, around: Tightness, scope: &Scope<'_, 'a>, locals: &Locals<'a>) -> String {
    told_after(String::with_capacity(SHORT), expr, around, scope, locals)
}

/// The same behind a text.
pub(super) fn told_after<'a>(text: String, expr: &Expr, around: Tightness, scope: &Scope<'_, 'a>, locals: &Locals<'a>) -> String {
    written(expr, around, Writer { out: text, locals: Some(locals), ..Writer::new(scope, true) }).0
}

/// The expression as its author names things.
pub(super) fn plain(expr: &Expr, scope: &Scope<'_, '_>) -> String {
    written(expr, LOOSEST, Writer::new(scope, false)).0
}

/// The canonical source of what cannot be read as a value, with a fingerprint of the definitions of this file behind it:
/// a change there is a change of it.
pub(super) fn opaque(expr: &Expr, scope: &Scope<'_, '_>) -> String {
    let (text, used) = opaque_with_names(expr, scope);
    match scope.names.fingerprint(&used) {
        Some(print) => format!("{text}  # {print}"),
        None => text,
    }
}

/// The canonical source of what cannot be read as a value, and the names of this file that stand in it.
pub(super) fn opaque_with_names(expr: &Expr, scope: &Scope<'_, '_>) -> (String, BTreeSet<String>) {
    let mut writer = Writer::new(scope, true);
    writer.used = Some(BTreeSet::new());
    let (text, used) = written(expr, LOOSEST, writer);
    (text, used.unwrap_or_default())
}

fn written<'w>(expr: &'w Expr, around: Tightness, mut writer: Writer<'w, '_, '_>) -> (String, Option<BTreeSet<String>>) {
    let before = writer.out.len();
    writer.expr(expr, around);
    let mut text = writer.out;
    if text.len() - before > CAP {
        let hash = crate::digest::sha256_hex(&text.as_bytes()[before..]);
        text.truncate(before);
        let _ = write!(text, "sha256({hash})");
    }
    (text, writer.used)
}

impl<'w, 's, 'a> Writer<'w, 's, 'a> {
    fn new(scope: &'w Scope<'s, 'a>, resolve: bool) -> Self {
        Writer { scope, resolve, locals: None, renamed: Vec::new(), out: String::new(), used: None }
    }
}

impl<'w> Writer<'w, '_, '_> {
    fn expr(&mut self, expr: &'w Expr, around: Tightness) {
        if self.out.len() > 8 * CAP || self.scope.spend(1).is_none() {
            let range = ruff_text_size::Ranged::range(expr);
            self.out.push_str(&self.scope.names.file.sha256(&[range], &[]));
            return;
        }
        if let Expr::Name(name) = expr {
            return self.name(expr, name.id.as_str(), around);
        }
        let open = tightness(expr) < around;
        if open {
            self.out.push('(');
        }
        self.bare(expr);
        if open {
            self.out.push(')');
        }
    }

    fn bare(&mut self, expr: &'w Expr) {
        if self.resolve && matches!(expr, Expr::BinOp(_) | Expr::UnaryOp(_)) && self.folded(expr) {
            return;
        }
        match expr {
            Expr::Attribute(e) => self.attribute(expr, e),
            Expr::BoolOp(e) => {
                let (word, tight) = if e.op == BoolOp::Or { (" or ", OR) } else { (" and ", OR + 1) };
                self.joined(&e.values, word, tight + 1);
            }
            Expr::Named(e) => {
                self.expr(&e.target, ATOM);
                self.out.push_str(" := ");
                self.expr(&e.value, LAMBDA);
            }
            Expr::BinOp(_) | Expr::UnaryOp(_) => self.operation(expr),
            Expr::Lambda(e) => self.lambda(e.parameters.as_deref(), &e.body),
            Expr::If(e) => {
                self.expr(&e.body, OR);
                self.out.push_str(" if ");
                self.expr(&e.test, OR);
                self.out.push_str(" else ");
                self.expr(&e.orelse, TERNARY);
            }
            Expr::Compare(e) => {
                self.expr(&e.left, COMPARE + 1);
                for (op, right) in e.ops.iter().zip(&e.comparators) {
                    self.out.push_str(comparison(*op));
                    self.expr(right, COMPARE + 1);
                }
            }
            Expr::Await(e) => {
                self.out.push_str("await ");
                self.expr(&e.value, ATOM);
            }
            Expr::Yield(e) => {
                self.out.push_str("yield ");
                if let Some(value) = &e.value {
                    self.expr(value, LOOSEST);
                }
            }
            Expr::YieldFrom(e) => {
                self.out.push_str("yield from ");
                self.expr(&e.value, LAMBDA);
            }
            Expr::Starred(e) => {
                self.out.push('*');
                self.expr(&e.value, COMPARE + 1);
            }
            other => self.display(other),
        }
    }

    fn operation(&mut self, expr: &'w Expr) {
        match expr {
            Expr::BinOp(e) => {
                let (sign, tight) = operator(e.op);
                let power = e.op == Operator::Pow;
                self.expr(&e.left, if power { AWAIT } else { tight });
                self.out.push_str(sign);
                self.expr(&e.right, if power { UNARY } else { tight + 1 });
            }
            Expr::UnaryOp(e) => {
                self.out.push_str(match e.op {
                    UnaryOp::Not => "not ",
                    UnaryOp::USub => "-",
                    UnaryOp::UAdd => "+",
                    UnaryOp::Invert => "~",
                });
                self.expr(&e.operand, if e.op == UnaryOp::Not { NOT } else { UNARY });
            }
            _ => {}
        }
    }

    fn joined(&mut self, parts: &'w [Expr], between: &str, around: Tightness) {
        for (at, part) in parts.iter().enumerate() {
            self.out.push_str(if at > 0 { between } else { "" });
            self.expr(part, around);
        }
    }

    fn arguments(&mut self, arguments: &'w Arguments) {
        self.out.push('(');
        self.joined(&arguments.args, ", ", LAMBDA);
        for (at, keyword) in arguments.keywords.iter().enumerate() {
            self.out.push_str(if at > 0 || !arguments.args.is_empty() { ", " } else { "" });
            match &keyword.arg {
                Some(name) => {
                    self.out.push_str(name.as_str());
                    self.out.push('=');
                }
                None => self.out.push_str("**"),
            }
            self.expr(&keyword.value, LAMBDA);
        }
        self.out.push(')');
    }

    /// Parameters are told by their place, so that their names do not matter.
    fn lambda(&mut self, parameters: Option<&'w Parameters>, body: &'w Expr) {
        if let Some(func) = passed_on(parameters, body).filter(|_| self.resolve) {
            return self.expr(func, ATOM);
        }
        let outside = self.renamed.len();
        self.out.push_str("lambda");
        for (at, parameter) in parameters.into_iter().flat_map(Parameters::iter).enumerate() {
            self.out.push_str(if at > 0 { ", " } else { " " });
            let name = self.rename(parameter.name().as_str());
            self.out.push_str(if parameter.is_variadic() { "*" } else { "" });
            self.out.push_str(&name);
            if let Some(default) = parameter.default() {
                self.out.push('=');
                self.expr(default, LAMBDA);
            }
        }
        self.out.push_str(": ");
        self.expr(body, LAMBDA);
        self.renamed.truncate(outside);
    }

    fn rename(&mut self, name: &'w str) -> String {
        let new = format!("_{}", self.renamed.len());
        if self.resolve {
            self.renamed.push((name, new.clone()));
            return new;
        }
        self.renamed.push((name, name.to_owned()));
        name.to_owned()
    }

    fn comprehension(&mut self, brackets: [char; 2], parts: &[&'w Expr], generators: &'w [Comprehension]) {
        let outside = self.renamed.len();
        let mut tail = String::new();
        for generator in generators {
            let iter = self.aside(|w| w.expr(&generator.iter, OR));
            self.targets(&generator.target);
            let target = self.aside(|w| w.expr(&generator.target, COMPARE));
            tail.push_str(if generator.is_async { " async for " } else { " for " });
            let _ = write!(tail, "{target} in {iter}");
            for test in &generator.ifs {
                let test = self.aside(|w| w.expr(test, OR));
                let _ = write!(tail, " if {test}");
            }
        }
        self.out.push(brackets[0]);
        for (at, part) in parts.iter().enumerate() {
            self.out.push_str(if at > 0 { ": " } else { "" });
            self.expr(part, LAMBDA);
        }
        self.out.push_str(&tail);
        self.out.push(brackets[1]);
        self.renamed.truncate(outside);
    }

    fn aside(&mut self, write: impl FnOnce(&mut Self)) -> String {
        let out = std::mem::take(&mut self.out);
        write(self);
        std::mem::replace(&mut self.out, out)
    }

    fn targets(&mut self, target: &'w Expr) {
        match target {
            Expr::Name(name) => {
                self.rename(name.id.as_str());
            }
            Expr::Tuple(t) => t.elts.iter().for_each(|e| self.targets(e)),
            Expr::List(l) => l.elts.iter().for_each(|e| self.targets(e)),
            Expr::Starred(s) => self.targets(&s.value),
            _ => {}
        }
    }

    /// Whether the value of a chain of operators was written.
    fn folded(&mut self, expr: &Expr) -> bool {
        let shadowed = !self.renamed.is_empty();
        let value = if shadowed { None } else { fold(expr, self.scope) };
        if let Some(value) = value {
            value.write(&mut self.out);
            return true;
        }
        false
    }

    fn attribute(&mut self, expr: &'w Expr, e: &'w ExprAttribute) {
        let before = self.out.len();
        let is_dotted = self.resolve && self.is_free(expr) && self.scope.write_dotted(expr, &mut self.out).is_some();
        if is_dotted && !self.out[before..].starts_with("self.") {
            return self.note(expr);
        }
        self.out.truncate(before);
        self.expr(&e.value, ATOM);
        self.out.push('.');
        self.out.push_str(e.attr.as_str());
    }

    fn name(&mut self, expr: &'w Expr, name: &'w str, around: Tightness) {
        if let Some((_, new)) = self.renamed.iter().rev().find(|(old, _)| *old == name) {
            self.out.push_str(new);
        } else if let Some(local) = self.locals.and_then(|locals| locals.get(name)) {
            let open = local.tight < around;
            self.out.push_str(if open { "(" } else { "" });
            self.out.push_str(&local.text);
            self.out.push_str(if open { ")" } else { "" });
        } else if self.resolve {
            self.scope.tell(expr, name, |value, scope| fold(value, scope).map(|v| v.text()), &mut self.out);
            self.note(expr);
        } else {
            self.out.push_str(name);
        }
    }

    /// Whether a name of the language itself means what it says here.
    fn is_builtin(&self, name: &str) -> bool {
        let hidden = self.locals.is_some_and(|locals| locals.contains_key(name)) || self.renamed.iter().any(|(old, _)| *old == name);
        self.resolve && !hidden && self.scope.lookup(name).is_none() && &*self.scope.resolved(name) == name
    }

    /// Whether the name at the root of an attribute is neither renamed, nor local, nor the instance.
    fn is_free(&self, expr: &Expr) -> bool {
        let mut at = expr;
        while let Expr::Attribute(e) = at {
            at = &e.value;
        }
        let Expr::Name(name) = at else { return false };
        let name = name.id.as_str();
        let local = self.locals.is_some_and(|locals| locals.contains_key(name));
        name != "self" && !local && !self.renamed.iter().any(|(old, _)| *old == name)
    }

    /// Remembers a name of this file that was written as a name.
    fn note(&mut self, expr: &Expr) {
        let Some(used) = &mut self.used else { return };
        let mut at = expr;
        while let Expr::Attribute(e) = at {
            at = &e.value;
        }
        if let Expr::Name(name) = at {
            used.insert(name.id.to_string());
        }
    }
}
