//! Owns canonical text: an expression told as the conditions of cards are told, and tokens told as they are.

pub(super) mod calls;
pub(super) mod patterns;

use num_bigint::BigInt;
use proc_macro2::{Spacing, TokenStream, TokenTree};
use quote::ToTokens;
use syn::{BinOp, Expr, Lit, Member, RangeLimits, UnOp};

use crate::strength::languages::rust::names::Names;

/// How tightly an operator binds in conditions as cards tell them; looser than all of them is a whole text.
pub(super) const LOOSE: u8 = 0;
const OR: u8 = 1;
const AND: u8 = 2;
pub(super) const NOT: u8 = 3;
const COMPARE: u8 = 4;
const BITS: u8 = 5;
const SHIFT: u8 = 8;
const SUM: u8 = 9;
const PRODUCT: u8 = 10;
const UNARY: u8 = 11;
const ATOM: u8 = 12;

/// Expressions that stand in one another deeper than this are told by their tokens.
const DEPTH: usize = 64;

/// Writes expressions with the names of one place.
#[derive(Clone)]
pub(super) struct Writer<'n> {
    pub(super) names: &'n Names,
    depth: usize,
}

impl<'n> Writer<'n> {
    pub(super) fn new(names: &'n Names) -> Self {
        Writer { names, depth: 0 }
    }

    /// A whole expression.
    pub(super) fn text(&self, expr: &Expr) -> String {
        self.at(expr, LOOSE)
    }

    /// An expression as an operand of something that binds so tightly.
    pub(super) fn at(&self, expr: &Expr, least: u8) -> String {
        let deeper = Writer { names: self.names, depth: self.depth + 1 };
        if deeper.depth > DEPTH {
            return plain(&expr.to_token_stream());
        }
        let (text, binds) = deeper.told(expr);
        if binds < least { format!("({text})") } else { text }
    }

    fn told(&self, expr: &Expr) -> (String, u8) {
        match expr {
            Expr::Paren(e) => self.told(&e.expr),
            Expr::Group(e) => self.told(&e.expr),
            Expr::Reference(e) => self.told(&e.expr),
            Expr::Await(e) => self.told(&e.base),
            Expr::Lit(e) => (literal(&e.lit), ATOM),
            Expr::Path(e) => self.named(&e.path),
            Expr::Unary(e) => self.unary(e),
            Expr::Binary(e) => self.binary(e),
            Expr::Cast(e) => self.cast(e),
            Expr::Tuple(e) if e.elems.len() == 1 => (format!("({},)", self.list(&e.elems)), ATOM),
            Expr::Tuple(e) => (format!("({})", self.list(&e.elems)), ATOM),
            Expr::Array(e) => (format!("[{}]", self.list(&e.elems)), ATOM),
            Expr::Repeat(e) => (format!("[{}] * {}", self.text(&e.expr), self.at(&e.len, UNARY)), PRODUCT),
            Expr::Field(e) => match &e.member {
                Member::Named(name) => (format!("{}.{name}", self.at(&e.base, ATOM)), ATOM),
                Member::Unnamed(at) => (format!("{}[{}]", self.at(&e.base, ATOM), at.index), ATOM),
            },
            Expr::Index(e) => (format!("{}[{}]", self.at(&e.expr, ATOM), self.indexed(&e.index)), ATOM),
            Expr::Try(e) => (format!("{}.unwrap()", self.at(&e.expr, ATOM)), ATOM),
            Expr::Call(e) => self.call(e),
            Expr::MethodCall(e) => self.method(e),
            Expr::Macro(e) => self.macro_call(&e.mac),
            Expr::Struct(e) => self.made(e),
            Expr::Range(e) => (self.range(e), ATOM),
            Expr::Closure(e) => self.closure(e),
            Expr::Let(e) => (self.is_like(&self.text(&e.expr), &e.pat, None), ATOM),
            Expr::If(e) => match (block_value(&e.then_branch), e.else_branch.as_ref().map(|(_, other)| &**other)) {
                (Some(then), Some(other)) => {
                    (format!("{} if {} else {}", self.at(then, OR), self.at(&e.cond, OR), self.at(other, OR)), LOOSE)
                }
                _ => (plain(&e.to_token_stream()), LOOSE),
            },
            Expr::Block(e) if e.label.is_none() => match block_value(&e.block) {
                Some(value) => self.told(value),
                None => (plain(&e.to_token_stream()), ATOM),
            },
            Expr::Unsafe(e) => block_value(&e.block).map_or_else(|| (plain(&e.to_token_stream()), ATOM), |value| self.told(value)),
            Expr::Async(e) => block_value(&e.block).map_or_else(|| (plain(&e.to_token_stream()), ATOM), |value| self.told(value)),
            other => (plain(&other.to_token_stream()), LOOSE),
        }
    }

    pub(super) fn list<'e>(&self, all: impl IntoIterator<Item = &'e Expr>) -> String {
        all.into_iter().map(|e| self.text(e)).collect::<Vec<_>>().join(", ")
    }

    fn unary(&self, e: &syn::ExprUnary) -> (String, u8) {
        match e.op {
            UnOp::Deref(_) => self.told(&e.expr),
            UnOp::Not(_) => (format!("not {}", self.at(&e.expr, NOT)), NOT),
            _ => (format!("-{}", self.at(&e.expr, UNARY)), UNARY),
        }
    }

    fn binary(&self, e: &syn::ExprBinary) -> (String, u8) {
        let (word, binds) = match e.op {
            BinOp::Or(_) => ("or", OR),
            BinOp::And(_) => ("and", AND),
            BinOp::Eq(_) => return (self.equal(&e.left, &e.right), COMPARE),
            BinOp::Ne(_) => ("!=", COMPARE),
            BinOp::Lt(_) => ("<", COMPARE),
            BinOp::Le(_) => ("<=", COMPARE),
            BinOp::Gt(_) => (">", COMPARE),
            BinOp::Ge(_) => (">=", COMPARE),
            BinOp::BitOr(_) => ("|", BITS),
            BinOp::BitXor(_) => ("^", BITS + 1),
            BinOp::BitAnd(_) => ("&", BITS + 2),
            BinOp::Shl(_) => ("<<", SHIFT),
            BinOp::Shr(_) => (">>", SHIFT),
            BinOp::Add(_) => ("+", SUM),
            BinOp::Sub(_) => ("-", SUM),
            BinOp::Mul(_) => ("*", PRODUCT),
            BinOp::Div(_) => ("/", PRODUCT),
            BinOp::Rem(_) => ("%", PRODUCT),
            _ => return (plain(&e.to_token_stream()), LOOSE),
        };
        // A comparison among comparisons would read as a chain.
        let least = if binds == COMPARE { COMPARE + 1 } else { binds };
        (format!("{} {word} {}", self.at(&e.left, least), self.at(&e.right, binds + 1)), binds)
    }

    /// An equation; what is expected inside `Ok`, `Some` or `Err` is told of what is inside.
    pub(super) fn equal(&self, left: &Expr, right: &Expr) -> String {
        let (left, right) = (self.at(left, COMPARE + 1), self.at(right, COMPARE + 1));
        for (of, value) in [(&left, &right), (&right, &left)] {
            for (head, method) in [("Ok(", "unwrap"), ("Some(", "unwrap"), ("Err(", "unwrap_err")] {
                let inside =
                    value.strip_prefix(head).and_then(|text| text.strip_suffix(')')).filter(|text| is_one(text) && !text.is_empty());
                if let Some(inside) = inside.filter(|_| !of.starts_with(head)) {
                    return format!("{of}.{method}() == {inside}");
                }
            }
        }
        format!("{left} == {right}")
    }

    fn cast(&self, e: &syn::ExprCast) -> (String, u8) {
        if matches!(&*e.expr, Expr::Lit(_)) {
            return self.told(&e.expr);
        }
        let to = match plain(&e.ty.to_token_stream()).as_str() {
            "f32" | "f64" => "float",
            "u8" | "u16" | "u32" | "u64" | "u128" | "usize" | "i8" | "i16" | "i32" | "i64" | "i128" | "isize" => "int",
            other => return (format!("cast({}, {other})", self.text(&e.expr)), ATOM),
        };
        (format!("{to}({})", self.text(&e.expr)), ATOM)
    }

    fn indexed(&self, index: &Expr) -> String {
        let Expr::Range(range) = index else { return self.text(index) };
        let end = |e: &Option<Box<Expr>>| e.as_ref().map(|e| self.at(e, SUM)).unwrap_or_default();
        let closed = if matches!(range.limits, RangeLimits::Closed(_)) { "=" } else { "" };
        format!("{}:{closed}{}", end(&range.start), end(&range.end))
    }

    fn range(&self, range: &syn::ExprRange) -> String {
        let end = |e: &Option<Box<Expr>>| e.as_ref().map_or_else(|| "None".to_owned(), |e| self.text(e));
        let name = if matches!(range.limits, RangeLimits::Closed(_)) { "range_to" } else { "range" };
        format!("{name}({}, {})", end(&range.start), end(&range.end))
    }

    fn made(&self, e: &syn::ExprStruct) -> (String, u8) {
        let mut fields: Vec<String> = e
            .fields
            .iter()
            .map(|field| {
                let name = match &field.member {
                    Member::Named(name) => name.to_string(),
                    Member::Unnamed(at) => format!("_{}", at.index),
                };
                format!("{name}={}", self.text(&field.expr))
            })
            .collect();
        fields.sort();
        fields.extend(e.rest.iter().map(|rest| format!("rest={}", self.text(rest))));
        (format!("{}({})", self.path(&e.path), fields.join(", ")), ATOM)
    }

    fn closure(&self, e: &syn::ExprClosure) -> (String, u8) {
        let mut names = self.names.clone();
        let mut bound = Vec::new();
        e.inputs.iter().for_each(|pattern| patterns::bindings(pattern, &mut bound));
        let depth = self.names.closures;
        names.closures += bound.len();
        for (at, name) in bound.iter().enumerate() {
            names.stand(name, format!("_{}", depth + at + 1));
        }
        let inner = Writer { names: &names, depth: self.depth };
        let inputs: Vec<String> = e.inputs.iter().map(|pattern| inner.pattern(pattern)).collect();
        (format!("lambda {}: {}", inputs.join(" "), inner.at(&e.body, OR)), LOOSE)
    }
}

/// Whether no bracket closes in a text that did not open there.
pub(super) fn is_one(text: &str) -> bool {
    let (mut depth, mut quoted, mut escaped) = (0_i32, None, false);
    for c in text.chars() {
        match (quoted, c) {
            (Some(_), _) if escaped => escaped = false,
            (Some(_), '\\') => escaped = true,
            (Some(quote), c) if c == quote => quoted = None,
            (None, '"' | '\'') => quoted = Some(c),
            (None, '(' | '[' | '{') => depth += 1,
            (None, ')' | ']' | '}') => depth -= 1,
            (None, ',') if depth == 0 => return false,
            _ => {}
        }
        if depth < 0 {
            return false;
        }
    }
    true
}

/// The value of a block that is nothing but one expression.
pub(super) fn block_value(block: &syn::Block) -> Option<&Expr> {
    match block.stmts.as_slice() {
        [syn::Stmt::Expr(value, None)] => Some(value),
        _ => None,
    }
}

/// A literal by its value: suffixes and separators do not count.
pub(super) fn literal(lit: &Lit) -> String {
    match lit {
        Lit::Bool(b) => if b.value { "True" } else { "False" }.to_owned(),
        Lit::Int(n) => n.base10_digits().to_owned(),
        Lit::Float(n) => n.base10_digits().to_owned(),
        Lit::Str(s) => format!("{:?}", s.value()),
        Lit::Char(c) => format!("{:?}", c.value()),
        Lit::Byte(b) => format!("b{:?}", char::from(b.value())),
        Lit::ByteStr(s) => format!("b\"{}\"", s.value().escape_ascii()),
        Lit::CStr(s) => format!("c\"{}\"", s.value().to_bytes().escape_ascii()),
        other => plain(&other.to_token_stream()),
    }
}

/// The whole number that an expression spells by itself.
pub(super) fn integer(lit: &Lit) -> Option<BigInt> {
    match lit {
        Lit::Int(n) => n.base10_digits().parse().ok(),
        Lit::Byte(b) => Some(BigInt::from(b.value())),
        Lit::Char(c) => Some(BigInt::from(u32::from(c.value()))),
        _ => None,
    }
}

/// Tokens one space apart, literals by their values, without what only layout or borrowing asks for.
pub(super) fn plain(tokens: &TokenStream) -> String {
    let mut told = String::new();
    let mut open = vec![(tokens.clone().into_iter().peekable(), "")];
    while let Some((rest, close)) = open.last_mut() {
        let Some(token) = rest.next() else {
            push(&mut told, close);
            open.pop();
            continue;
        };
        match token {
            TokenTree::Group(group) => {
                let (start, end) = match group.delimiter() {
                    proc_macro2::Delimiter::Parenthesis => ("(", ")"),
                    proc_macro2::Delimiter::Bracket => ("[", "]"),
                    proc_macro2::Delimiter::Brace => ("{", "}"),
                    proc_macro2::Delimiter::None => ("", ""),
                };
                push(&mut told, start);
                open.push((group.stream().into_iter().peekable(), end));
            }
            TokenTree::Punct(punct) => match punct.as_char() {
                '\'' => push(&mut told, "lifetime"),
                ',' if rest.peek().is_none() => {}
                ':' if punct.spacing() == Spacing::Joint
                    && matches!(rest.peek(), Some(TokenTree::Punct(next)) if next.as_char() == ':') =>
                {
                    rest.next();
                    push(&mut told, ".");
                }
                '&' if punct.spacing() == Spacing::Joint
                    && matches!(rest.peek(), Some(TokenTree::Punct(next)) if next.as_char() == '&') =>
                {
                    rest.next();
                    push(&mut told, "and");
                }
                '|' if punct.spacing() == Spacing::Joint
                    && matches!(rest.peek(), Some(TokenTree::Punct(next)) if next.as_char() == '|') =>
                {
                    rest.next();
                    push(&mut told, "or");
                }
                other
                    if punct.spacing() == Spacing::Joint
                        && matches!(rest.peek(), Some(TokenTree::Punct(next)) if next.as_char() == '=') =>
                {
                    rest.next();
                    push(&mut told, &format!("{other}="));
                }
                other => push(&mut told, other.encode_utf8(&mut [0; 4])),
            },
            TokenTree::Ident(word) => match word.to_string().as_str() {
                "true" => push(&mut told, "True"),
                "false" => push(&mut told, "False"),
                word => push(&mut told, word),
            },
            TokenTree::Literal(lit) => push(&mut told, &literal(&Lit::new(lit))),
        }
    }
    told
}

fn push(told: &mut String, word: &str) {
    if !(word.is_empty() || told.is_empty()) {
        told.push(' ');
    }
    told.push_str(word);
}
