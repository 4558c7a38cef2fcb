//! Owns what a value is drawn from: ranges, types, `proptest`'s strategies and functions that make them.

use std::collections::{BTreeMap, BTreeSet};

use num_bigint::BigInt;
use num_traits::ToPrimitive as _;
use quote::ToTokens as _;
use syn::{BinOp, Expr, ExprCall, ExprMethodCall, ItemFn, Lit, RangeLimits, ReturnType, Stmt, Type, TypeParamBound, UnOp};

use crate::strength::domain::Strategy;
use crate::strength::languages::rust::macros::{self, From};
use crate::strength::languages::rust::names::{Defined, Names};
use crate::strength::languages::rust::write::calls::inner;
use crate::strength::languages::rust::write::{Writer, integer, plain};

/// How deep strategies that stand in one another are read.
const DEPTH: usize = 24;
/// Parts of one strategy that are read; what is beyond them is told by its text.
const PARTS: usize = 20_000;

/// Reads strategies in one file.
pub(super) struct Reader<'r, 'f> {
    pub(super) names: &'r Names,
    pub(super) defined: &'r Defined<'f>,
    left: std::cell::Cell<usize>,
}

impl<'r, 'f> Reader<'r, 'f> {
    pub(super) fn new(names: &'r Names, defined: &'r Defined<'f>) -> Self {
        Reader { names, defined, left: std::cell::Cell::new(PARTS) }
    }

    fn text(&self, expr: &Expr) -> String {
        Writer::new(self.names).text(expr)
    }

    /// What a parameter is drawn from.
    pub(super) fn drawn(&self, from: &From) -> Strategy {
        match from {
            From::Strategy(expr) => self.strategy(expr),
            From::Type(kind) => by_type(kind),
        }
    }

    pub(super) fn strategy(&self, expr: &Expr) -> Strategy {
        self.at(expr, DEPTH)
    }

    fn at(&self, expr: &Expr, depth: usize) -> Strategy {
        let left = self.left.get();
        let Some(depth) = depth.checked_sub(1).filter(|_| left > 0) else { return Strategy::Opaque(self.text(expr)) };
        self.left.set(left - 1);
        match inner(expr) {
            Expr::Range(range) => self.range(range),
            Expr::Lit(lit) if matches!(lit.lit, Lit::Str(_)) => {
                Strategy::Call { name: "regex".to_owned(), arguments: vec![("0".to_owned(), Strategy::Value(self.text(expr)))] }
            }
            Expr::Tuple(tuple) => Strategy::Tuples(tuple.elems.iter().map(|e| self.at(e, depth)).collect()),
            Expr::Array(array) => Strategy::Tuples(array.elems.iter().map(|e| self.at(e, depth)).collect()),
            Expr::Macro(mac) if mac.mac.path.segments.last().is_some_and(|s| s.ident == "prop_oneof") => {
                match macros::arms(&mac.mac.tokens) {
                    Some(arms) => Strategy::one_of(arms.iter().map(|(_, arm)| self.at(arm, depth)).collect()),
                    None => Strategy::Opaque(plain(&mac.mac.tokens)),
                }
            }
            Expr::Call(call) => self.call(call, depth),
            Expr::MethodCall(call) => self.method(call, depth),
            Expr::Path(path) => self.named(path, depth),
            Expr::Block(block) => match super::write::block_value(&block.block) {
                Some(value) => self.at(value, depth),
                None => Strategy::Opaque(self.text(expr)),
            },
            _ => Strategy::Opaque(self.text(expr)),
        }
    }

    fn named(&self, path: &syn::ExprPath, depth: usize) -> Strategy {
        let name = path.path.get_ident().map(ToString::to_string).unwrap_or_default();
        if let Some(value) = self.defined.value(&name) {
            return self.at(value, depth);
        }
        match self.names.imported(&name) {
            Some(full) => Strategy::Named(full.to_owned()),
            None => Strategy::Opaque(Writer::new(self.names).path(&path.path)),
        }
    }

    fn range(&self, range: &syn::ExprRange) -> Strategy {
        let end = |e: &Option<Box<Expr>>| e.as_ref().map(|e| self.number(e, DEPTH));
        let (low, high) = (end(&range.start), end(&range.end));
        let kind = Self::kind_of(range);
        match (low, high) {
            (None | Some(Some(_)), None | Some(Some(_))) => {
                let one = i32::from(matches!(range.limits, RangeLimits::HalfOpen(_)));
                let (least, most) = kind.as_deref().and_then(ends).map_or((None, None), |(low, high)| (Some(low), Some(high)));
                let low = end(&range.start).flatten().or(least);
                let high = end(&range.end).flatten().map(|n| n - one).or(most);
                Strategy::Integers { low, high }
            }
            _ => self.real(range).unwrap_or_else(|| Strategy::Opaque(self.text(&Expr::Range(range.clone())))),
        }
    }

    /// A range of floats; an end that is not among them is told with the rest.
    fn real(&self, range: &syn::ExprRange) -> Option<Strategy> {
        let end = |e: &Option<Box<Expr>>| -> Option<Option<String>> {
            let Some(e) = e else { return Some(None) };
            self.float(e).map(|n| Some(format!("{n:?}")))
        };
        Some(Strategy::Floats { low: end(&range.start)?, high: end(&range.end)?, rest: BTreeMap::new() })
    }

    fn float(&self, expr: &Expr) -> Option<f64> {
        match inner(expr) {
            Expr::Lit(lit) => match &lit.lit {
                Lit::Float(n) => n.base10_digits().parse().ok(),
                Lit::Int(n) => n.base10_digits().parse().ok(),
                _ => None,
            },
            Expr::Unary(e) if matches!(e.op, UnOp::Neg(_)) => Some(-self.float(&e.expr)?),
            Expr::Path(p) => match self.defined.value(&p.path.get_ident()?.to_string()) {
                Some(value) if !matches!(value, Expr::Path(_)) => self.float(value),
                _ => None,
            },
            _ => None,
        }
    }

    /// The type that an end of a range tells by its suffix.
    fn kind_of(range: &syn::ExprRange) -> Option<String> {
        let suffix = |e: &Expr| match inner(e) {
            Expr::Lit(lit) => match &lit.lit {
                Lit::Int(n) => Some(n.suffix().to_owned()).filter(|s| !s.is_empty()),
                _ => None,
            },
            _ => None,
        };
        [&range.start, &range.end].into_iter().flatten().find_map(|e| suffix(e))
    }

    /// The whole number that an expression is, constants of the file and of the language's types put in.
    pub(super) fn number(&self, expr: &Expr, depth: usize) -> Option<BigInt> {
        let depth = depth.checked_sub(1)?;
        match inner(expr) {
            Expr::Lit(lit) => integer(&lit.lit),
            Expr::Unary(e) if matches!(e.op, UnOp::Neg(_)) => Some(-self.number(&e.expr, depth)?),
            Expr::Cast(e) => self.number(&e.expr, depth),
            Expr::Path(path) => {
                let parts: Vec<String> = path.path.segments.iter().map(|s| s.ident.to_string()).collect();
                match parts.as_slice() {
                    [.., kind, word] if word == "MAX" => ends(kind).map(|(_, high)| high),
                    [.., kind, word] if word == "MIN" => ends(kind).map(|(low, _)| low),
                    [.., name] => self.number(self.defined.value(name)?, depth),
                    [] => None,
                }
            }
            Expr::Binary(e) => {
                let (left, right) = (self.number(&e.left, depth)?, self.number(&e.right, depth)?);
                match e.op {
                    BinOp::Add(_) => Some(left + right),
                    BinOp::Sub(_) => Some(left - right),
                    BinOp::Mul(_) => Some(left * right),
                    BinOp::Div(_) if right != BigInt::ZERO => Some(left / right),
                    BinOp::Shl(_) => right.to_u32().filter(|n| *n < 256).map(|n| left << n),
                    _ => None,
                }
            }
            Expr::MethodCall(e) if e.method == "pow" => {
                let power = self.number(e.args.first()?, depth)?.to_u32().filter(|n| *n <= 256)?;
                self.number(&e.receiver, depth).map(|n| n.pow(power))
            }
            _ => None,
        }
    }

    fn call(&self, call: &ExprCall, depth: usize) -> Strategy {
        let Expr::Path(path) = inner(&call.func) else { return Strategy::Opaque(self.text(&Expr::Call(call.clone()))) };
        let Some(last) = path.path.segments.last() else { return Strategy::Opaque(self.text(&Expr::Call(call.clone()))) };
        let name = last.ident.to_string();
        let args: Vec<&Expr> = call.args.iter().collect();
        match (name.as_str(), args.as_slice()) {
            ("any" | "arbitrary", []) => match &last.arguments {
                syn::PathArguments::AngleBracketed(of) => match of.args.first() {
                    Some(syn::GenericArgument::Type(kind)) => by_type(kind),
                    _ => made("any", Vec::new()),
                },
                _ => made("any", Vec::new()),
            },
            ("Just", [value]) => Strategy::Finite(BTreeSet::from([self.text(value)])),
            ("vec" | "hash_set" | "btree_set" | "vec_deque" | "binary_heap" | "linked_list", [of, size]) => {
                self.many(&name, vec![self.at(of, depth)], size)
            }
            ("hash_map" | "btree_map", [key, value, size]) => self.many(&name, vec![self.at(key, depth), self.at(value, depth)], size),
            ("subsequence", [of, size]) => self.many(&name, vec![self.listed(of)], size),
            ("select", [of]) => self.listed(of),
            ("of" | "weighted", [.., of]) if path.path.segments.len() > 1 || self.names.imported(&name).is_some() => {
                made("option.of", vec![("0".to_owned(), self.at(of, depth))])
            }
            ("string_regex" | "bytes_regex", [of]) => self.at(of, depth),
            _ => self.made_by(&name, path, &args, depth),
        }
    }

    fn listed(&self, of: &Expr) -> Strategy {
        let listed = match inner(of) {
            Expr::Macro(mac) if mac.mac.path.is_ident("vec") => macros::arguments(&mac.mac.tokens),
            _ => None,
        };
        if let Some(rows) = listed {
            return Strategy::Finite(rows.iter().map(|row| self.text(row)).collect());
        }
        match self.rows(of) {
            Some(rows) => Strategy::Finite(rows.into_iter().map(|row| self.text(row)).collect()),
            None => Strategy::Opaque(self.text(of)),
        }
    }

    /// The elements of an array, of `vec![…]` or of a constant that is one.
    pub(super) fn rows<'e>(&self, of: &'e Expr) -> Option<Vec<&'e Expr>>
    where
        'f: 'e,
    {
        match inner(of) {
            Expr::Array(array) => Some(array.elems.iter().collect()),
            Expr::MethodCall(e)
                if e.args.is_empty() && matches!(e.method.to_string().as_str(), "iter" | "into_iter" | "to_vec" | "copied" | "cloned") =>
            {
                self.rows(&e.receiver)
            }
            Expr::Path(path) => match self.defined.value(&path.path.segments.last()?.ident.to_string())? {
                Expr::Path(_) => None,
                value => self.rows(value),
            },
            _ => None,
        }
    }

    fn many(&self, what: &str, of: Vec<Strategy>, size: &Expr) -> Strategy {
        let mut rest = BTreeMap::new();
        let (min, max) = if let Some(ends) = self.size(size) {
            ends
        } else {
            rest.insert("of_size".to_owned(), self.text(size));
            (0, None)
        };
        let what = if what == "vec" { "lists" } else { what };
        Strategy::Many { what: what.to_owned(), of, min, max, rest }
    }

    fn size(&self, size: &Expr) -> Option<(u64, Option<u64>)> {
        let number = |e: &Expr| self.number(e, DEPTH).and_then(|n| n.to_u64());
        match inner(size) {
            Expr::Range(range) => {
                let low = range.start.as_ref().map_or(Some(0), |e| number(e))?;
                let high = range.end.as_ref().map(|e| number(e)).map_or(Some(None), |n| n.map(Some))?;
                let one = u64::from(matches!(range.limits, RangeLimits::HalfOpen(_)));
                Some((low, high.map(|n| n.saturating_sub(one))))
            }
            Expr::Call(call) if call.args.len() == 1 => self.size(&call.args[0]),
            Expr::MethodCall(call) if call.method == "into" => self.size(&call.receiver),
            other => number(other).map(|n| (n, Some(n))),
        }
    }

    fn method(&self, call: &ExprMethodCall, depth: usize) -> Strategy {
        let method = call.method.to_string();
        let of = || self.at(&call.receiver, depth);
        let last = || call.args.last().map(|a| self.text(a)).unwrap_or_default();
        match method.as_str() {
            "boxed" | "sboxed" | "no_shrink" | "into" | "clone" | "prop_shuffle" | "prop_map_into" => of(),
            "prop_map" | "prop_perturb" => Strategy::Mapped { of: Box::new(of()), how: "map".to_owned(), by: last() },
            "prop_filter" => Strategy::Mapped { of: Box::new(of()), how: "filter".to_owned(), by: last() },
            "prop_filter_map" => Strategy::Mapped { of: Box::new(of()), how: "filter_map".to_owned(), by: last() },
            "prop_flat_map" | "prop_ind_flat_map" | "prop_ind_flat_map2" => {
                Strategy::Mapped { of: Box::new(of()), how: "flatmap".to_owned(), by: last() }
            }
            "prop_union" => {
                Strategy::one_of(vec![of(), call.args.first().map_or_else(|| Strategy::Opaque(String::new()), |a| self.at(a, depth))])
            }
            _ => Strategy::Opaque(self.text(&Expr::MethodCall(call.clone()))),
        }
    }

    /// A function that makes a strategy: of this file what it gives, of another file its name.
    fn made_by(&self, name: &str, path: &syn::ExprPath, args: &[&Expr], depth: usize) -> Strategy {
        let mut arguments: Vec<(String, Strategy)> =
            args.iter().enumerate().map(|(at, a)| (at.to_string(), self.argument(a, depth))).collect();
        if path.path.segments.len() == 1 {
            if let Some(item) = self.defined.made_by(name) {
                let Strategy::Call { name, arguments: inside } = self.maker(item, depth) else { return self.maker(item, depth) };
                arguments.extend(inside);
                return Strategy::Call { name, arguments };
            }
            if let Some(mac) = self.defined.composed(name) {
                arguments.extend(self.composed(mac, depth));
                return Strategy::Call { name: name.to_owned(), arguments };
            }
        }
        let full: Vec<String> = path.path.segments.iter().map(|s| s.ident.to_string()).collect();
        let full = match (full.as_slice(), full.first().and_then(|first| self.names.imported(first))) {
            ([_, rest @ ..], Some(head)) => std::iter::once(head).chain(rest.iter().map(String::as_str)).collect::<Vec<_>>().join("."),
            _ => full.join("."),
        };
        if args.is_empty() && full.contains('.') {
            return Strategy::Named(full);
        }
        Strategy::Call { name: if full.contains('.') { full } else { name.to_owned() }, arguments }
    }

    fn argument(&self, expr: &Expr, depth: usize) -> Strategy {
        match self.at(expr, depth) {
            Strategy::Opaque(text) => Strategy::Value(text),
            other => other,
        }
    }

    /// What a function of this file makes: its one expression where it takes nothing, else a call with its body.
    pub(super) fn maker(&self, item: &ItemFn, depth: usize) -> Strategy {
        let Some(depth) = depth.checked_sub(1) else { return Strategy::Opaque(item.sig.ident.to_string()) };
        if let [Stmt::Expr(value, None)] = item.block.stmts.as_slice()
            && item.sig.inputs.is_empty()
        {
            return self.at(value, depth);
        }
        let body = plain(&item.block.to_token_stream());
        let leans = self.leans(&item.block.stmts, depth);
        let mut arguments = vec![(Strategy::BODY.to_owned(), Strategy::Value(body))];
        arguments.extend(leans);
        Strategy::Call { name: item.sig.ident.to_string(), arguments }
    }

    /// Strategies of this file that a body calls by name.
    fn leans(&self, stmts: &[Stmt], depth: usize) -> Vec<(String, Strategy)> {
        struct Calls<'c>(BTreeSet<String>, &'c Defined<'c>);
        impl<'a> syn::visit::Visit<'a> for Calls<'_> {
            fn visit_expr_call(&mut self, call: &'a ExprCall) {
                if let Expr::Path(path) = &*call.func {
                    let name = path.path.get_ident().map(ToString::to_string).unwrap_or_default();
                    if self.1.made_by(&name).is_some_and(makes_strategy) {
                        self.0.insert(name);
                    }
                }
                syn::visit::visit_expr_call(self, call);
            }
        }
        let mut calls = Calls(BTreeSet::new(), self.defined);
        stmts.iter().for_each(|s| syn::visit::Visit::visit_stmt(&mut calls, s));
        let found =
            calls.0.into_iter().filter_map(|name| Some((format!("leans[{name}]"), self.maker(self.defined.made_by(&name)?, depth))));
        found.take(16).collect()
    }

    /// The draws of `prop_compose!`, and its body.
    pub(super) fn composed(&self, mac: &syn::Macro, depth: usize) -> Vec<(String, Strategy)> {
        let Some(property) = macros::composed(&mac.tokens) else {
            return vec![(Strategy::BODY.to_owned(), Strategy::Value(plain(&mac.tokens)))];
        };
        let mut parts: Vec<(String, Strategy)> = Vec::new();
        for (at, drawn) in property.drawn.iter().enumerate() {
            let strategy = match &drawn.from {
                From::Strategy(expr) => self.at(expr, depth.saturating_sub(1)),
                From::Type(kind) => by_type(kind),
            };
            parts.push((format!("draw[{at}]"), strategy));
        }
        parts.push((Strategy::BODY.to_owned(), Strategy::Value(plain(&property.block.to_token_stream()))));
        parts
    }
}

/// Whether a function says that it gives a strategy.
pub(super) fn makes_strategy(item: &ItemFn) -> bool {
    let ReturnType::Type(_, kind) = &item.sig.output else { return false };
    let named = |path: &syn::Path| {
        path.segments.last().is_some_and(|s| {
            matches!(s.ident.to_string().as_str(), "Strategy" | "BoxedStrategy" | "SBoxedStrategy" | "TupleUnion" | "Union")
        })
    };
    match &**kind {
        Type::ImplTrait(of) => of.bounds.iter().any(|b| matches!(b, TypeParamBound::Trait(t) if named(&t.path))),
        Type::Path(path) => named(&path.path),
        _ => false,
    }
}

fn made(name: &str, arguments: Vec<(String, Strategy)>) -> Strategy {
    Strategy::Call { name: name.to_owned(), arguments }
}

/// Least and greatest value of a type of whole numbers.
fn ends(kind: &str) -> Option<(BigInt, BigInt)> {
    let (signed, bits) = match kind {
        "usize" => (false, 64),
        "isize" => (true, 64),
        "char" => return Some((BigInt::ZERO, BigInt::from(0x0010_FFFF))),
        other => (other.starts_with('i'), other.get(1..)?.parse::<u32>().ok().filter(|_| other.starts_with(['i', 'u']))?),
    };
    if !matches!(bits, 8 | 16 | 32 | 64 | 128) {
        return None;
    }
    let one = BigInt::from(1);
    Some(if signed {
        (-(one.clone() << (bits - 1)), (one.clone() << (bits - 1)) - one)
    } else {
        (BigInt::ZERO, (one.clone() << bits) - one)
    })
}

/// What a value of a type is drawn from where nothing else is said.
pub(super) fn by_type(kind: &Type) -> Strategy {
    match kind {
        Type::Path(path) => {
            let Some(last) = path.path.segments.last() else { return Strategy::Opaque(plain(&kind.to_token_stream())) };
            let inside: Vec<&Type> = match &last.arguments {
                syn::PathArguments::AngleBracketed(of) => {
                    of.args.iter().filter_map(|a| if let syn::GenericArgument::Type(t) = a { Some(t) } else { None }).collect()
                }
                _ => Vec::new(),
            };
            match (last.ident.to_string().as_str(), inside.as_slice()) {
                ("bool", []) => Strategy::booleans(),
                ("f32" | "f64", []) => Strategy::Floats { low: None, high: None, rest: BTreeMap::new() },
                ("Vec", [of]) => {
                    Strategy::Many { what: "lists".to_owned(), of: vec![by_type(of)], min: 0, max: None, rest: BTreeMap::new() }
                }
                ("Option", [of]) => made("option.of", vec![("0".to_owned(), by_type(of))]),
                ("Box" | "Rc" | "Arc", [of]) => by_type(of),
                (name, []) => ends(name).filter(|_| name != "char").map_or_else(
                    || made("any", vec![("0".to_owned(), Strategy::Value(name.to_owned()))]),
                    |(low, high)| Strategy::Integers { low: Some(low), high: Some(high) },
                ),
                (name, inside) => {
                    made(&format!("any_{name}"), inside.iter().enumerate().map(|(at, of)| (at.to_string(), by_type(of))).collect())
                }
            }
        }
        Type::Tuple(tuple) => Strategy::Tuples(tuple.elems.iter().map(by_type).collect()),
        Type::Reference(of) => by_type(&of.elem),
        Type::Paren(of) => by_type(&of.elem),
        other => made("any", vec![("0".to_owned(), Strategy::Value(plain(&other.to_token_stream())))]),
    }
}
