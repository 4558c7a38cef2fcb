//! Owns literal values: folding an expression to the value that Python would give it, and its canonical text.

use std::fmt::Write as _;

use num_bigint::BigInt;
use num_traits::{Signed as _, ToPrimitive as _, Zero as _};
use ruff_python_ast::{Expr, Int, Number, Operator, UnaryOp};

use crate::strength::languages::python::names::Scope;

/// Largest integer that is folded, in bits.
const BITS: u64 = 1 << 16;
/// Longest text that a repetition makes.
const TEXT: usize = 1 << 16;

/// A value.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Value {
    None,
    Ellipsis,
    Bool(bool),
    Int(BigInt),
    Float(f64),
    Imaginary(f64),
    Str(String),
    Bytes(Vec<u8>),
    Tuple(Vec<Value>),
    List(Vec<Value>),
    Set(Vec<Value>),
    Dict(Vec<(Value, Value)>),
}

impl Value {
    /// Canonical text: equal for equal values of equal types.
    pub(super) fn text(&self) -> String {
        let mut out = String::new();
        self.write(&mut out);
        out
    }

    /// Writes the same behind a text.
    pub(super) fn write(&self, out: &mut String) {
        match self {
            Value::None => out.push_str("None"),
            Value::Ellipsis => out.push_str("..."),
            Value::Bool(true) => out.push_str("True"),
            Value::Bool(false) => out.push_str("False"),
            Value::Int(n) => integer(n, out),
            Value::Float(f) => float(*f, out),
            Value::Imaginary(f) => {
                float(*f, out);
                out.push('j');
            }
            Value::Str(s) => quoted(s, out),
            Value::Bytes(b) => quoted_bytes(b, out),
            Value::Tuple(parts) => {
                out.push('(');
                listed(parts, out);
                out.push_str(if parts.len() == 1 { ",)" } else { ")" });
            }
            Value::List(parts) => {
                out.push('[');
                listed(parts, out);
                out.push(']');
            }
            Value::Set(parts) => {
                let mut texts: Vec<String> = parts.iter().map(Value::text).collect();
                texts.sort();
                texts.dedup();
                let _ = write!(out, "{{{}}}", texts.join(", "));
            }
            Value::Dict(items) => {
                out.push('{');
                for (at, (key, value)) in items.iter().enumerate() {
                    out.push_str(if at > 0 { ", " } else { "" });
                    key.write(out);
                    out.push_str(": ");
                    value.write(out);
                }
                out.push('}');
            }
        }
    }

    /// How much memory it holds, roughly.
    fn weight(&self) -> usize {
        match self {
            Value::Str(s) => s.len() / 16 + 1,
            Value::Bytes(b) => b.len() / 16 + 1,
            Value::Int(n) => usize::try_from(n.bits() / 64).unwrap_or(1) + 1,
            Value::Tuple(parts) | Value::List(parts) | Value::Set(parts) => weight(parts),
            Value::Dict(items) => items.iter().map(|(k, v)| k.weight() + v.weight()).sum(),
            _ => 1,
        }
    }

    /// The parts of a tuple or list.
    pub(super) fn parts(&self) -> Option<&[Value]> {
        match self {
            Value::Tuple(parts) | Value::List(parts) => Some(parts),
            _ => None,
        }
    }
}

fn weight(parts: &[Value]) -> usize {
    1 + parts.iter().map(Value::weight).sum::<usize>()
}

fn listed(parts: &[Value], out: &mut String) {
    for (at, part) in parts.iter().enumerate() {
        out.push_str(if at > 0 { ", " } else { "" });
        part.write(out);
    }
}

/// Decimal digits; hexadecimal above what is quick to convert.
pub(super) fn integer(n: &BigInt, out: &mut String) {
    let _ = match n.to_i64() {
        Some(small) => write!(out, "{small}"),
        None if n.bits() <= 1 << 10 => write!(out, "{n}"),
        None => write!(out, "{}0x{}", if n.is_negative() { "-" } else { "" }, n.magnitude().to_str_radix(16)),
    };
}

/// The shortest text that reads back as the same number, never the text of an integer.
pub(super) fn float(f: f64, out: &mut String) {
    if f.is_infinite() {
        out.push_str(if f > 0.0 { "1e999" } else { "-1e999" });
        return;
    }
    let _ = write!(out, "{f:?}");
}

/// A string literal in single quotes.
pub(super) fn quoted(text: &str, out: &mut String) {
    out.reserve(text.len() + 2);
    out.push('\'');
    escape(text, out);
    out.push('\'');
}

/// The inside of a string literal in single quotes.
pub(super) fn escape(text: &str, out: &mut String) {
    if text.bytes().all(|b| matches!(b, b' '..=b'~') && !matches!(b, b'\\' | b'\'')) {
        out.push_str(text);
        return;
    }
    for c in text.chars() {
        match c {
            '\\' | '\'' => out.extend(['\\', c]),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if c.is_control() && u32::from(c) < 256 => numbered(out, 'x', u32::from(c), 2),
            c if c.is_control()
                || matches!(c, '\u{2028}' | '\u{2029}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}') =>
            {
                numbered(out, 'u', u32::from(c), 4);
            }
            c => out.push(c),
        }
    }
}

fn numbered(out: &mut String, kind: char, code: u32, digits: usize) {
    let _ = write!(out, "\\{kind}{code:0digits$x}");
}

fn quoted_bytes(bytes: &[u8], out: &mut String) {
    out.push_str("b'");
    for b in bytes {
        match b {
            b'\\' | b'\'' => out.extend(['\\', char::from(*b)]),
            b' '..=b'~' => out.push(char::from(*b)),
            _ => numbered(out, 'x', u32::from(*b), 2),
        }
    }
    out.push('\'');
}

/// The value of a literal integer; `None` when it has more digits than are folded.
pub(super) fn whole(int: &Int) -> Option<BigInt> {
    if let Some(small) = int.as_u64() {
        return Some(BigInt::from(small));
    }
    let digits = int.to_string().replace('_', "").to_ascii_lowercase();
    let (radix, digits) = match digits.get(..2) {
        Some("0x") => (16, &digits[2..]),
        Some("0o") => (8, &digits[2..]),
        Some("0b") => (2, &digits[2..]),
        _ => (10, digits.as_str()),
    };
    let cap = if radix == 10 { 4300 } else { 1 << 14 };
    (digits.len() <= cap).then(|| BigInt::parse_bytes(digits.as_bytes(), radix)).flatten()
}

/// The value of an expression, when literals and names bound once give it. The scope's budget bounds the work over a whole file.
pub(super) fn fold(expr: &Expr, scope: &Scope<'_, '_>) -> Option<Value> {
    scope.spend(1)?;
    match expr {
        Expr::NoneLiteral(_) => Some(Value::None),
        Expr::EllipsisLiteral(_) => Some(Value::Ellipsis),
        Expr::BooleanLiteral(b) => Some(Value::Bool(b.value)),
        Expr::NumberLiteral(n) => match &n.value {
            Number::Int(int) => whole(int).map(Value::Int),
            Number::Float(f) => Some(Value::Float(*f)),
            Number::Complex { imag, .. } => Some(Value::Imaginary(*imag)),
        },
        Expr::StringLiteral(s) => {
            scope.spend(s.value.to_str().len() / 16)?;
            Some(Value::Str(s.value.to_str().to_owned()))
        }
        Expr::BytesLiteral(b) => Some(Value::Bytes(b.value.bytes().collect())),
        Expr::Tuple(t) => all(&t.elts, scope).map(Value::Tuple),
        Expr::List(l) => all(&l.elts, scope).map(Value::List),
        Expr::Set(s) => all(&s.elts, scope).map(Value::Set),
        Expr::Dict(d) => {
            let pair = |item: &ruff_python_ast::DictItem| Some((fold(item.key.as_ref()?, scope)?, fold(&item.value, scope)?));
            d.items.iter().map(pair).collect::<Option<Vec<_>>>().map(Value::Dict)
        }
        Expr::UnaryOp(u) => unary(u.op, fold(&u.operand, scope)?),
        Expr::BinOp(b) => binary(fold(&b.left, scope)?, b.op, fold(&b.right, scope)?).and_then(|v| scope.spend(v.weight()).map(|()| v)),
        Expr::Name(_) | Expr::Attribute(_) => {
            if is_maxsize(expr) && scope.dotted(expr).is_some_and(|name| name == "sys.maxsize") {
                return Some(Value::Int(BigInt::from(i64::MAX)));
            }
            scope.enter(expr, |value, scope| fold(value, scope))?
        }
        _ => None,
    }
}

fn is_maxsize(expr: &Expr) -> bool {
    match expr {
        Expr::Attribute(attribute) => attribute.attr.as_str() == "maxsize",
        Expr::Name(name) => name.id.as_str() == "maxsize",
        _ => false,
    }
}

fn all(parts: &[Expr], scope: &Scope<'_, '_>) -> Option<Vec<Value>> {
    parts.iter().map(|part| fold(part, scope)).collect()
}

fn unary(op: UnaryOp, value: Value) -> Option<Value> {
    match (op, value) {
        (UnaryOp::USub, Value::Int(n)) => Some(Value::Int(-n)),
        (UnaryOp::USub, Value::Float(f)) => Some(Value::Float(-f)),
        (UnaryOp::UAdd, number @ (Value::Int(_) | Value::Float(_))) => Some(number),
        (UnaryOp::Invert, Value::Int(n)) => Some(Value::Int(-n - 1)),
        _ => None,
    }
}

fn binary(left: Value, op: Operator, right: Value) -> Option<Value> {
    match (left, right) {
        (Value::Int(a), Value::Int(b)) => integers(&a, op, &b),
        (Value::Float(a), Value::Float(b)) => floats(a, op, b),
        (Value::Float(a), Value::Int(b)) => floats(a, op, b.to_f64()?),
        (Value::Int(a), Value::Float(b)) => floats(a.to_f64()?, op, b),
        (Value::Str(a), Value::Str(b)) if op == Operator::Add && a.len() + b.len() <= TEXT => Some(Value::Str(a + &b)),
        (Value::Bytes(a), Value::Bytes(b)) if op == Operator::Add && a.len() + b.len() <= TEXT => Some(Value::Bytes([a, b].concat())),
        (Value::Str(a), Value::Int(n)) | (Value::Int(n), Value::Str(a)) if op == Operator::Mult => {
            times(&n, a.len()).map(|n| Value::Str(a.repeat(n)))
        }
        (Value::Bytes(a), Value::Int(n)) | (Value::Int(n), Value::Bytes(a)) if op == Operator::Mult => {
            times(&n, a.len()).map(|n| Value::Bytes(a.repeat(n)))
        }
        (Value::List(a), Value::List(b)) if op == Operator::Add && weight(&a) + weight(&b) <= TEXT => Some(Value::List([a, b].concat())),
        (Value::Tuple(a), Value::Tuple(b)) if op == Operator::Add && weight(&a) + weight(&b) <= TEXT => Some(Value::Tuple([a, b].concat())),
        (Value::List(a), Value::Int(n)) if op == Operator::Mult => {
            times(&n, weight(&a)).map(|n| Value::List(std::iter::repeat_n(a, n).flatten().collect()))
        }
        _ => None,
    }
}

fn times(n: &BigInt, len: usize) -> Option<usize> {
    let n = if n.is_negative() { 0 } else { n.to_usize()? };
    (n.checked_mul(len.max(1))? <= TEXT).then_some(n)
}

fn integers(a: &BigInt, op: Operator, b: &BigInt) -> Option<Value> {
    let small = |n: &BigInt| n.to_u32().filter(|n| u64::from(*n) <= BITS);
    let n = match op {
        Operator::Add => a + b,
        Operator::Sub => a - b,
        Operator::Mult => a * b,
        Operator::Pow => {
            let power = small(b)?;
            (a.bits().checked_mul(u64::from(power))? <= BITS).then(|| a.pow(power))?
        }
        Operator::LShift => {
            let by = small(b)?;
            (a.bits() + u64::from(by) <= BITS).then(|| a << by)?
        }
        Operator::RShift => a >> small(b)?,
        Operator::FloorDiv if !b.is_zero() => floor_div(a, b),
        Operator::Mod if !b.is_zero() => a - floor_div(a, b) * b,
        Operator::BitAnd => a & b,
        Operator::BitOr => a | b,
        Operator::BitXor => a ^ b,
        Operator::Div if !b.is_zero() => return Some(Value::Float(a.to_f64()? / b.to_f64()?)),
        _ => return None,
    };
    (n.bits() <= BITS).then_some(Value::Int(n))
}

/// Division that rounds down, as Python's does.
fn floor_div(a: &BigInt, b: &BigInt) -> BigInt {
    let quotient = a / b;
    let exact = (&quotient * b) == *a;
    if exact || a.is_negative() == b.is_negative() { quotient } else { quotient - 1 }
}

fn floats(a: f64, op: Operator, b: f64) -> Option<Value> {
    match op {
        Operator::Add => Some(Value::Float(a + b)),
        Operator::Sub => Some(Value::Float(a - b)),
        Operator::Mult => Some(Value::Float(a * b)),
        Operator::Div if b != 0.0 => Some(Value::Float(a / b)),
        _ => None,
    }
}
