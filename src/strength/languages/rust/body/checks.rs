//! Owns checks: assertion macros, steps that must succeed, what is thrown away, properties that stand in a body.

use std::collections::{BTreeMap, BTreeSet};

use proc_macro2::{TokenStream, TokenTree};
use quote::ToTokens as _;
use syn::spanned::Spanned as _;
use syn::visit::Visit as _;
use syn::{Block, Expr, ExprCall, ExprClosure, ExprMethodCall, Item, Macro, Pat, Stmt};

use crate::strength::domain::Argument;
use crate::strength::languages::facts::HelperCall;
use crate::strength::languages::rust::body::{Frame, Tail, Teller, failures, line_of};
use crate::strength::languages::rust::budget;
use crate::strength::languages::rust::macros;
use crate::strength::languages::rust::strategies::by_type;
use crate::strength::languages::rust::write::calls::inner;
use crate::strength::languages::rust::write::patterns::bindings;
use crate::strength::languages::rust::write::{NOT, plain};

/// Macros of the language and of its test libraries that check.
pub(in crate::strength::languages::rust) fn is_check(name: &str) -> bool {
    let bare = name.strip_prefix("debug_").or_else(|| name.strip_prefix("prop_")).unwrap_or(name);
    bare.starts_with("assert") || ["check_", "verify", "expect_that"].iter().any(|word| bare.starts_with(word)) || bare == "check"
}

/// The operands of a conjunction.
pub(super) fn conjuncts(expr: &Expr) -> Vec<&Expr> {
    let mut all = Vec::new();
    let mut open = vec![expr];
    while let Some(next) = open.pop() {
        match inner(next) {
            Expr::Binary(e) if matches!(e.op, syn::BinOp::And(_)) => open.extend([&*e.right, &*e.left]),
            other => all.push(other),
        }
    }
    all
}

impl Teller<'_, '_> {
    pub(super) fn macro_call(&mut self, mac: &Macro) {
        let name = mac.path.segments.last().map(|s| s.ident.to_string()).unwrap_or_default();
        match name.as_str() {
            "proptest" => return self.inner_property(mac),
            "prop_assume" | "assume" => return self.assumed(mac),
            _ => {}
        }
        if let Some(all) = macros::arguments(&mac.tokens) {
            all.iter().for_each(|e| self.visit_expr(e));
        }
        if is_check(&name) {
            self.asserted(&name, mac);
        }
    }

    fn asserted(&mut self, name: &str, mac: &Macro) {
        let line = line_of(mac.path.span());
        let bare = name.strip_prefix("debug_").or_else(|| name.strip_prefix("prop_")).unwrap_or(name);
        if bare.ends_with("snapshot") {
            return self.snapshot(bare, mac, line);
        }
        if (bare == "assert_matches" || bare == "assert_match")
            && let Some((value, pattern, guard)) = macros::matched(&mac.tokens)
        {
            let text = self.writer().is_like(&self.writer().at(&value, NOT + 2), &pattern, guard.as_ref());
            return self.check(&text, line, std::slice::from_ref(&text));
        }
        let arguments = macros::arguments(&mac.tokens).unwrap_or_default();
        match (bare, arguments.as_slice()) {
            ("assert", [condition, ..]) => self.demand(condition, line),
            ("assert_eq" | "assert_str_eq", [left, right, ..]) => {
                let text = self.writer().equal(left, right);
                let fields = self.fields(left, right).or_else(|| self.fields(right, left));
                self.check(&text, line, &fields.unwrap_or_else(|| vec![text.clone()]));
            }
            ("assert_ne" | "assert_str_ne", [left, right, ..]) => {
                let text = format!("{} != {}", self.writer().at(left, NOT + 2), self.writer().at(right, NOT + 2));
                self.check(&text, line, std::slice::from_ref(&text));
            }
            (
                "assert_relative_eq" | "assert_abs_diff_eq" | "assert_ulps_eq" | "assert_approx_eq" | "assert_float_eq",
                [left, right, rest @ ..],
            ) => {
                let text = self.close(left, right, rest);
                self.check(&text, line, std::slice::from_ref(&text));
            }
            ("assert_lt" | "assert_le" | "assert_gt" | "assert_ge", [left, right, ..]) => {
                let sign = match bare {
                    "assert_lt" => "<",
                    "assert_le" => "<=",
                    "assert_gt" => ">",
                    _ => ">=",
                };
                let text = format!("{} {sign} {}", self.writer().at(left, NOT + 2), self.writer().at(right, NOT + 2));
                self.check(&text, line, std::slice::from_ref(&text));
            }
            _ => {
                let told = if arguments.is_empty() { plain(&mac.tokens) } else { self.writer().list(&arguments) };
                let text = format!("macro_{name}({told})");
                self.check(&text, line, std::slice::from_ref(&text));
            }
        }
    }

    /// What an equation with a literal of a structure demands: its type, and each field.
    fn fields(&self, value: &Expr, whole: &Expr) -> Option<Vec<String>> {
        let (mut of, mut at) = (self.writer().at(value, NOT + 9), inner(whole));
        while let (Expr::Call(call), Some(one)) = (at, if let Expr::Call(call) = at { call.args.first() } else { None }) {
            let name = self.writer().text(&call.func);
            of = match name.as_str() {
                "Ok" | "Some" => format!("{of}.unwrap()"),
                "Err" => format!("{of}.unwrap_err()"),
                _ => return None,
            };
            at = inner(one);
        }
        let Expr::Struct(made) = at else { return None };
        if made.rest.is_some() || made.fields.is_empty() || matches!(inner(value), Expr::Struct(_)) {
            return None;
        }
        let name = self.writer().path(&made.path);
        // Of a variant the name says something; a structure is told by its fields.
        let mut all: Vec<String> = name.contains('.').then(|| format!("isinstance({of}, {name})")).into_iter().collect();
        for field in &made.fields {
            let name = match &field.member {
                syn::Member::Named(name) => name.to_string(),
                syn::Member::Unnamed(at) => format!("_{}", at.index),
            };
            all.push(format!("{of}.{name} == {}", self.writer().at(&field.expr, NOT + 2)));
        }
        Some(all)
    }

    /// Equal but for a tolerance: `epsilon` and the like, or a third argument.
    fn close(&self, left: &Expr, right: &Expr, rest: &[Expr]) -> String {
        let mut told = format!("isclose({}, {}", self.text(left), self.text(right));
        for part in rest {
            let (name, value) = match part {
                Expr::Assign(assign) => match plain(&assign.left.to_token_stream()).as_str() {
                    "max_relative" | "rmax" | "r2nd" => ("rel_tol", &*assign.right),
                    _ => ("abs_tol", &*assign.right),
                },
                Expr::Lit(lit) if matches!(lit.lit, syn::Lit::Float(_) | syn::Lit::Int(_)) => ("abs_tol", part),
                _ => continue,
            };
            told.extend([", ", name, "=", &self.text(value)]);
        }
        told.push(')');
        told
    }

    /// `assert_snapshot!(value, @"…")`: what stands behind the sign is expected; without it a file holds it.
    fn snapshot(&mut self, name: &str, mac: &Macro, line: u32) {
        let mut given = TokenStream::new();
        let mut expected = None;
        let mut rest = mac.tokens.clone().into_iter();
        while let Some(token) = rest.next() {
            match &token {
                TokenTree::Punct(punct) if punct.as_char() == '@' => {
                    expected = rest.next();
                    break;
                }
                _ => given.extend([token]),
            }
        }
        let told = match macros::arguments(&given) {
            Some(all) => {
                all.iter().for_each(|e| self.visit_expr(e));
                self.writer().list(&all)
            }
            None => plain(&given),
        };
        let text = match expected {
            Some(TokenTree::Literal(lit)) => {
                let lit = syn::Lit::new(lit);
                let value =
                    if let syn::Lit::Str(s) = &lit { format!("{:?}", unindented(&s.value())) } else { super::super::write::literal(&lit) };
                format!("{name}({told}) == {value}")
            }
            _ => format!("{name}({told})"),
        };
        self.check(&text, line, std::slice::from_ref(&text));
    }

    /// `prop_assume!(…)`.
    fn assumed(&mut self, mac: &Macro) {
        let Some(condition) = macros::arguments(&mac.tokens).and_then(|all| all.into_iter().next()) else { return };
        let way: Vec<String> = self.conditions.iter().map(|c| c.text.clone()).collect();
        for part in conjuncts(&condition) {
            let text = self.writer().at(part, NOT);
            self.reduce(&if way.is_empty() { text } else { format!("{text} where {}", way.join(" and ")) });
        }
    }

    /// `proptest!(|(x in …)| { … })` in a body.
    fn inner_property(&mut self, mac: &Macro) {
        let Some(closed) = macros::closed(&mac.tokens) else {
            let text = format!("macro_proptest({})", plain(&mac.tokens));
            return self.check(&text, line_of(mac.path.span()), std::slice::from_ref(&text));
        };
        if let Some(config) = &closed.config {
            self.told.budget.under(budget::of_config(config, &self.writer()));
        }
        let mut names = Vec::new();
        let drawn: Vec<Argument> = closed
            .drawn
            .iter()
            .map(|d| Argument { name: self.writer().pattern(&d.pattern), strategy: self.reader().drawn(&d.from) })
            .collect();
        self.told.arguments.extend(drawn);
        closed.drawn.iter().for_each(|d| bindings(&d.pattern, &mut names));
        let outer = self.names.clone();
        names.iter().for_each(|name| self.names.forget(name));
        self.arguments.extend(names);
        self.function(&closed.body.stmts, Tail::Nothing);
        self.names = outer;
    }

    /// A function or closure: its own ways out, its own conditions.
    pub(super) fn function(&mut self, stmts: &[Stmt], tail: Tail) {
        let conditions = std::mem::take(&mut self.conditions);
        self.frames.push(Frame { is_function: true, exits: Vec::new() });
        self.block(stmts, tail);
        self.left();
        self.conditions = conditions;
    }

    pub(super) fn item(&mut self, item: &Item) {
        match item {
            Item::Fn(item) => {
                let name = item.sig.ident.to_string();
                self.told.own.insert(name.clone());
                let used = self.words.get(&name).is_some_and(|times| *times > 1);
                let tail = super::super::functions::tail_of(&item.sig.output);
                let names = self.names.clone();
                let mut given = BTreeSet::new();
                for input in &item.sig.inputs {
                    let syn::FnArg::Typed(typed) = input else { continue };
                    let mut bound = Vec::new();
                    bindings(&typed.pat, &mut bound);
                    bound.iter().for_each(|name| self.names.forget(name));
                    if tail == Tail::Verdict && self.words.keys().any(|word| word.starts_with("quickcheck") || word == "QuickCheck") {
                        let name = self.writer().pattern(&typed.pat);
                        self.told.arguments.push(Argument { name, strategy: by_type(&typed.ty) });
                    }
                    given.extend(bound);
                }
                let outer = std::mem::replace(&mut self.arguments, given);
                self.checked(&name, &format!("def {name}"), !used, &item.block.stmts, tail);
                (self.arguments, self.names) = (outer, names);
            }
            Item::Macro(mac) if mac.ident.is_none() => self.macro_call(&mac.mac),
            Item::Const(item) => self.bind(&item.ident.to_string(), &item.expr),
            _ => {}
        }
    }

    /// A local function; one that checks is remembered, so that its calls are demands.
    fn checked(&mut self, name: &str, head: &str, unless: bool, stmts: &[Stmt], tail: Tail) {
        let (before, lines, unreached) = (self.seen, self.setup.len(), self.unreached);
        self.setup.push(super::clipped(head));
        self.unreached |= unless;
        self.function(stmts, tail);
        self.setup.truncate(lines);
        self.unreached = unreached;
        if self.seen > before {
            self.checkers.insert(name.to_owned());
        }
    }

    pub(super) fn bound_closure(&mut self, name: &str, closure: &ExprClosure) {
        let used = self.words.get(name).is_some_and(|times| *times > 1) && !name.starts_with('_');
        let names = self.names.clone();
        let mut bound = Vec::new();
        closure.inputs.iter().for_each(|p| bindings(p, &mut bound));
        bound.iter().for_each(|name| self.names.forget(name));
        let stmts = closure_body(closure);
        self.checked(name, &format!("def {name}"), !used, &stmts, Tail::Nothing);
        self.names = names;
    }

    /// `let _ = …`: a failure that is a value is thrown away.
    pub(super) fn discarded(&mut self, expr: &Expr) {
        let before = self.unreached;
        let is_result = matches!(inner(expr), Expr::Call(call) if matches!(inner(&call.func), Expr::Closure(_)) || is_catch(call));
        self.unreached |= is_result;
        self.visit_expr(expr);
        self.unreached = before;
    }

    /// A statement that must succeed, or that calls a function which may check.
    pub(super) fn stepped(&mut self, expr: &Expr) {
        let (of, must) = match expr {
            Expr::Try(e) => (&*e.expr, Some("succeeds")),
            Expr::MethodCall(e) if matches!(e.method.to_string().as_str(), "unwrap" | "expect") => (&*e.receiver, Some("succeeds")),
            Expr::MethodCall(e) if matches!(e.method.to_string().as_str(), "unwrap_err" | "expect_err") => (&*e.receiver, Some("fails")),
            other => (other, None),
        };
        let of = if let Expr::Await(e) = of { &*e.base } else { of };
        let is_join = matches!(of, Expr::MethodCall(e) if e.method == "join");
        if let Some(word) = must.filter(|_| !is_join) {
            let text = format!("{word}({})", self.text(of));
            self.claim(text, usize::MAX);
        }
        let Expr::Call(call) = of else { return };
        let Expr::Path(path) = &*call.func else { return };
        if let Some(name) = path.path.get_ident().map(ToString::to_string).filter(|name| self.checkers.contains(name)) {
            let text = format!("{name}({})", self.writer().list(&call.args));
            return self.claim(text, usize::MAX);
        }
        if self.unreached {
            return;
        }
        let parts: Vec<String> = path.path.segments.iter().map(|s| s.ident.to_string()).collect();
        let callee = match (parts.as_slice(), parts.first().and_then(|first| self.names.imported(first))) {
            ([_, rest @ ..], Some(head)) => std::iter::once(head).chain(rest.iter().map(String::as_str)).collect::<Vec<_>>().join("."),
            _ => parts.join("."),
        };
        let positional = call.args.iter().map(|a| self.text(a)).collect();
        self.told.calls.push(HelperCall {
            callee,
            positional,
            keywords: BTreeMap::default(),
            setup: self.setup.iter().take(super::LINES).cloned().collect(),
        });
    }

    pub(super) fn called(&mut self, call: &ExprCall) {
        if let Expr::Path(path) = &*call.func {
            self.told.called.extend(path.path.get_ident().map(ToString::to_string));
        }
        let before = self.unreached;
        let spawned = matches!(&*call.func, Expr::Path(p) if p.path.segments.last().is_some_and(|s| s.ident == "spawn"))
            && !self.words.contains_key("join");
        self.unreached |= is_catch(call) || spawned;
        syn::visit::visit_expr_call(self, call);
        self.unreached = before;
    }

    pub(super) fn method(&mut self, call: &ExprMethodCall) {
        let name = call.method.to_string();
        if name.starts_with("assert_") || name == "assert" {
            let line = line_of(call.method.span());
            if let Some(links) = self.links(call) {
                return self.check(&self.text(&Expr::MethodCall(call.clone())), line, &links);
            }
            let text = match (inner(&call.receiver), name.as_str(), call.args.first()) {
                (Expr::Macro(mac), "assert_eq" | "assert_debug_eq", Some(value))
                    if mac.mac.path.segments.last().is_some_and(|s| s.ident.to_string().starts_with("expect")) =>
                {
                    format!(
                        "{} == {}",
                        self.writer().at(value, NOT + 2),
                        plain(&mac.mac.tokens).trim_start_matches("[ ").trim_end_matches(" ]")
                    )
                }
                _ => self.text(&Expr::MethodCall(call.clone())),
            };
            self.check(&text, line, std::slice::from_ref(&text));
        }
        match name.as_str() {
            "quickcheck" | "quicktest" => self.tried(call),
            "catch_unwind" => {
                let before = std::mem::replace(&mut self.unreached, true);
                syn::visit::visit_expr_method_call(self, call);
                self.unreached = before;
                return;
            }
            _ => {}
        }
        syn::visit::visit_expr_method_call(self, call);
    }

    /// `Expected::new().ok("a").ok("b").assert(output)` demands what each link of it says.
    fn links(&self, call: &ExprMethodCall) -> Option<Vec<String>> {
        let mut links = Vec::new();
        let mut at = inner(&call.receiver);
        while let Expr::MethodCall(link) = at {
            links.push(link);
            at = inner(&link.receiver);
        }
        let root = format!("{}.{}({})", self.writer().at(at, NOT + 9), call.method, self.writer().list(&call.args));
        let told: Vec<String> = links.iter().rev().map(|l| format!("{root}.{}({})", l.method, self.writer().list(&l.args))).collect();
        (told.len() > 1).then_some(told)
    }

    /// `QuickCheck::new().tests(500).quickcheck(…)`.
    fn tried(&mut self, call: &ExprMethodCall) {
        let mut at = inner(&call.receiver);
        while let Expr::MethodCall(e) = at {
            if let (true, Some(value)) = (e.method == "tests", e.args.first()) {
                self.told.budget.set.insert("tests".to_owned(), self.text(value));
            }
            at = inner(&e.receiver);
        }
    }

    /// `let P = value else { … }`.
    pub(super) fn diverges(&mut self, pattern: &Pat, value: &Expr, other: &Expr) {
        let told = self.writer().is_like(&self.writer().at(value, NOT + 2), pattern, None);
        if failures::fails(other) {
            let line = line_of(other.span());
            return self.check(&told, line, std::slice::from_ref(&told));
        }
        let condition = super::Condition { text: format!("not ({told})"), otherwise: told, seen: self.seen };
        self.conditions.push(condition);
        let block: Option<&Block> = failures::as_block(other);
        block.into_iter().for_each(|b| self.block(&b.stmts, Tail::Nothing));
        self.conditions.pop();
        self.settled();
    }
}

/// The statements of a closure.
pub(super) fn closure_body(closure: &ExprClosure) -> Vec<Stmt> {
    match &*closure.body {
        Expr::Block(e) => e.block.stmts.clone(),
        other => vec![Stmt::Expr(other.clone(), Some(syn::token::Semi::default()))],
    }
}

fn is_catch(call: &ExprCall) -> bool {
    matches!(&*call.func, Expr::Path(p) if p.path.segments.last().is_some_and(|s| s.ident == "catch_unwind"))
}

/// A snapshot's text as it is compared: without the indentation that all its lines share, and without empty lines around it.
fn unindented(text: &str) -> String {
    let text = text.trim_matches('\n').trim_end();
    let of = |line: &str| line.len() - line.trim_start_matches(' ').len();
    let shared = text.lines().filter(|line| !line.trim().is_empty()).map(of).min().unwrap_or_default();
    text.lines().map(|line| line.get(shared..).unwrap_or_default().trim_end()).collect::<Vec<_>>().join("\n")
}
