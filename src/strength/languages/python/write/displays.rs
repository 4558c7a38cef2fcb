//! Owns the spelling of what brackets or quotes hold together: displays, calls, subscripts, literals.

use ruff_python_ast::{ConversionFlag, Expr, ExprCall, ExprList, ExprTuple, FStringPart, InterpolatedStringElement, Number};

use crate::strength::languages::python::literal::{self, float};
use crate::strength::languages::python::write::Writer;
use crate::strength::languages::python::write::order::{ATOM, LAMBDA, LOOSEST};

/// A key of a dictionary, written as one or as the keyword of a call.
enum Part<'w> {
    Word(&'w str),
    Expr(&'w Expr),
}

impl<'w> Writer<'w, '_, '_> {
    /// Displays, literals, calls, subscripts: what brackets or quotes hold together.
    pub(super) fn display(&mut self, expr: &'w Expr) {
        match expr {
            Expr::Tuple(e) => {
                self.out.push('(');
                self.joined(&e.elts, ", ", LAMBDA);
                self.out.push_str(if e.elts.len() == 1 { ",)" } else { ")" });
            }
            Expr::List(e) => {
                self.out.push('[');
                self.joined(&e.elts, ", ", LAMBDA);
                self.out.push(']');
            }
            Expr::Set(e) => {
                self.out.push('{');
                self.joined(&e.elts, ", ", LAMBDA);
                self.out.push('}');
            }
            Expr::Dict(e) => {
                self.out.push('{');
                for (at, item) in e.items.iter().enumerate() {
                    self.out.push_str(if at > 0 { ", " } else { "" });
                    match &item.key {
                        Some(key) => {
                            self.expr(key, LAMBDA);
                            self.out.push_str(": ");
                        }
                        None => self.out.push_str("**"),
                    }
                    self.expr(&item.value, LAMBDA);
                }
                self.out.push('}');
            }
            Expr::ListComp(e) => self.comprehension(['[', ']'], &[&e.elt], &e.generators),
            Expr::SetComp(e) => self.comprehension(['{', '}'], &[&e.elt], &e.generators),
            Expr::Generator(e) => self.comprehension(['(', ')'], &[&e.elt], &e.generators),
            Expr::DictComp(e) => {
                let mut parts: Vec<&'w Expr> = e.key.as_deref().into_iter().collect();
                parts.push(&e.value);
                self.comprehension(['{', '}'], &parts, &e.generators);
            }
            Expr::Call(e) if self.as_display(e) || self.as_chain(e) || self.as_constant(e) || self.as_template(e) => {}
            Expr::Call(e) => {
                self.expr(&e.func, ATOM);
                self.arguments(&e.arguments);
            }
            Expr::Subscript(e) => {
                self.expr(&e.value, ATOM);
                self.out.push('[');
                self.expr(&e.slice, LOOSEST);
                self.out.push(']');
            }
            Expr::Slice(e) => {
                for (at, part) in [&e.lower, &e.upper, &e.step].into_iter().enumerate() {
                    self.out.push_str(if at == 1 || (at == 2 && part.is_some()) { ":" } else { "" });
                    if let Some(part) = part {
                        self.expr(part, LAMBDA);
                    }
                }
            }
            other => self.literal(other),
        }
    }

    /// Calls that are displays spelt otherwise: `dict(a=1)`, `dict([('a', 1)])`, `set([1])`, `list()`.
    fn as_display(&mut self, call: &'w ExprCall) -> bool {
        let Expr::Name(name) = &*call.func else { return false };
        let name = name.id.as_str();
        if !matches!(name, "dict" | "set" | "list" | "tuple") || !self.is_builtin(name) {
            return false;
        }
        let keywords = &call.arguments.keywords;
        match (name, &*call.arguments.args) {
            ("dict", []) if keywords.iter().all(|k| k.arg.is_some()) => {
                let pairs = keywords.iter().filter_map(|k| Some((Part::Word(k.arg.as_ref()?.as_str()), &k.value)));
                self.pairs(&pairs.collect::<Vec<_>>());
            }
            ("dict", [Expr::List(ExprList { elts, .. }) | Expr::Tuple(ExprTuple { elts, .. })]) if keywords.is_empty() => {
                let pair = |e: &'w Expr| match e {
                    Expr::Tuple(ExprTuple { elts, .. }) | Expr::List(ExprList { elts, .. }) => match elts.as_slice() {
                        [key, value] if !key.is_starred_expr() && !value.is_starred_expr() => Some((Part::Expr(key), value)),
                        _ => None,
                    },
                    _ => None,
                };
                let Some(pairs) = elts.iter().map(pair).collect::<Option<Vec<_>>>() else { return false };
                self.pairs(&pairs);
            }
            ("set", [Expr::List(ExprList { elts, .. }) | Expr::Tuple(ExprTuple { elts, .. })])
                if keywords.is_empty() && !elts.is_empty() =>
            {
                self.out.push('{');
                self.joined(elts, ", ", LAMBDA);
                self.out.push('}');
            }
            ("list", []) if keywords.is_empty() => self.out.push_str("[]"),
            ("tuple", []) if keywords.is_empty() => self.out.push_str("()"),
            _ => return false,
        }
        true
    }

    /// `chain(*x)` is `chain.from_iterable(x)`.
    fn as_chain(&mut self, call: &'w ExprCall) -> bool {
        let ([Expr::Starred(all)], []) = (&*call.arguments.args, &*call.arguments.keywords) else { return false };
        let before = self.out.len();
        self.expr(&call.func, ATOM);
        if &self.out[before..] != "itertools.chain" {
            self.out.truncate(before);
            return false;
        }
        self.out.push_str(".from_iterable(");
        self.expr(&all.value, LAMBDA);
        self.out.push(')');
        true
    }

    /// `getattr(x, 'name')` is `x.name`, `'a'.encode()` is `b'a'`.
    fn as_constant(&mut self, call: &'w ExprCall) -> bool {
        match (&*call.func, &*call.arguments.args, &*call.arguments.keywords) {
            (Expr::Name(name), [of, Expr::StringLiteral(attribute)], []) if name.id.as_str() == "getattr" && self.is_builtin("getattr") => {
                let word = attribute.value.to_str();
                let is_word =
                    word.starts_with(|c: char| c.is_alphabetic() || c == '_') && word.chars().all(|c| c.is_alphanumeric() || c == '_');
                if !is_word || of.is_number_literal_expr() {
                    return false;
                }
                self.expr(of, ATOM);
                self.out.push('.');
                self.out.push_str(word);
                true
            }
            (Expr::Attribute(method), given, []) if method.attr.as_str() == "encode" && self.resolve => {
                let known = match given {
                    [] => true,
                    [Expr::StringLiteral(name)] => matches!(name.value.to_str(), "ascii" | "utf-8" | "utf8" | "latin-1" | "latin1"),
                    _ => false,
                };
                match &*method.value {
                    Expr::StringLiteral(text) if known && text.value.to_str().is_ascii() => {
                        literal::Value::Bytes(text.value.to_str().bytes().collect()).write(&mut self.out);
                        true
                    }
                    _ => false,
                }
            }
            _ => false,
        }
    }

    fn pairs(&mut self, pairs: &[(Part<'w>, &'w Expr)]) {
        self.out.push('{');
        for (at, (key, value)) in pairs.iter().enumerate() {
            self.out.push_str(if at > 0 { ", " } else { "" });
            match key {
                Part::Word(word) => literal::quoted(word, &mut self.out),
                Part::Expr(key) => self.expr(key, LAMBDA),
            }
            self.out.push_str(": ");
            self.expr(value, LAMBDA);
        }
        self.out.push('}');
    }

    fn literal(&mut self, expr: &'w Expr) {
        match expr {
            Expr::NumberLiteral(e) => match &e.value {
                Number::Int(int) => match literal::whole(int) {
                    Some(n) => literal::integer(&n, &mut self.out),
                    None => self.out.push_str(&int.to_string().replace('_', "").to_ascii_lowercase()),
                },
                Number::Float(f) => float(*f, &mut self.out),
                Number::Complex { imag, .. } => {
                    float(*imag, &mut self.out);
                    self.out.push('j');
                }
            },
            Expr::StringLiteral(e) => literal::quoted(e.value.to_str(), &mut self.out),
            Expr::BytesLiteral(e) => literal::Value::Bytes(e.value.bytes().collect()).write(&mut self.out),
            Expr::BooleanLiteral(e) => self.out.push_str(if e.value { "True" } else { "False" }),
            Expr::NoneLiteral(_) => self.out.push_str("None"),
            Expr::EllipsisLiteral(_) => self.out.push_str("..."),
            Expr::FString(e) if self.as_formatted(e) => {}
            Expr::FString(e) => {
                self.out.push_str("f'");
                for part in &e.value {
                    match part {
                        FStringPart::Literal(text) => self.template_text(text.as_str()),
                        FStringPart::FString(text) => self.template(text.elements.iter()),
                    }
                }
                self.out.push('\'');
            }
            Expr::TString(e) => {
                self.out.push_str("t'");
                self.template(e.value.elements());
                self.out.push('\'');
            }
            _ => {}
        }
    }

    fn template(&mut self, elements: impl Iterator<Item = &'w InterpolatedStringElement>) {
        for element in elements {
            match element {
                InterpolatedStringElement::Literal(text) => self.template_text(&text.value),
                InterpolatedStringElement::Interpolation(part) => {
                    self.out.push('{');
                    self.expr(&part.expression, LAMBDA + 1);
                    if let Some(debug) = &part.debug_text {
                        literal::escape(&format!("{}={}", debug.leading(), debug.trailing()), &mut self.out);
                    }
                    self.out.push_str(match part.conversion {
                        ConversionFlag::None => "",
                        ConversionFlag::Str => "!s",
                        ConversionFlag::Ascii => "!a",
                        ConversionFlag::Repr => "!r",
                    });
                    if let Some(spec) = &part.format_spec {
                        self.out.push(':');
                        self.template(spec.elements.iter());
                    }
                    self.out.push('}');
                }
            }
        }
    }

    fn template_text(&mut self, text: &str) {
        literal::escape(&text.replace('{', "{{").replace('}', "}}"), &mut self.out);
    }
}
