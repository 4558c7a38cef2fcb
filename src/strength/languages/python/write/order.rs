//! Owns how tightly expressions bind, and the signs of operators.

use ruff_python_ast::{BoolOp, CmpOp, Expr, Operator, UnaryOp};

/// How tightly an expression binds; the greater, the tighter.
pub(in crate::strength::languages::python) type Tightness = u8;
pub(in crate::strength::languages::python) const LOOSEST: Tightness = 0;
pub(in crate::strength::languages::python) const LAMBDA: Tightness = 1;
pub(in crate::strength::languages::python) const TERNARY: Tightness = 2;
pub(in crate::strength::languages::python) const OR: Tightness = 3;
pub(in crate::strength::languages::python) const NOT: Tightness = 5;
pub(in crate::strength::languages::python) const COMPARE: Tightness = 6;
pub(in crate::strength::languages::python) const UNARY: Tightness = 13;
pub(in crate::strength::languages::python) const POWER: Tightness = 14;
pub(in crate::strength::languages::python) const AWAIT: Tightness = 15;
pub(in crate::strength::languages::python) const ATOM: Tightness = 16;

pub(super) fn tightness(expr: &Expr) -> Tightness {
    match expr {
        Expr::Named(_) | Expr::Yield(_) | Expr::YieldFrom(_) => LOOSEST,
        Expr::Lambda(_) => LAMBDA,
        Expr::If(_) => TERNARY,
        Expr::BoolOp(e) => {
            if e.op == BoolOp::Or {
                OR
            } else {
                OR + 1
            }
        }
        Expr::UnaryOp(e) => {
            if e.op == UnaryOp::Not {
                NOT
            } else {
                UNARY
            }
        }
        Expr::Compare(_) => COMPARE,
        Expr::BinOp(e) => operator(e.op).1,
        Expr::Await(_) => AWAIT,
        _ => ATOM,
    }
}

pub(super) fn operator(op: Operator) -> (&'static str, Tightness) {
    match op {
        Operator::BitOr => (" | ", 7),
        Operator::BitXor => (" ^ ", 8),
        Operator::BitAnd => (" & ", 9),
        Operator::LShift => (" << ", 10),
        Operator::RShift => (" >> ", 10),
        Operator::Add => (" + ", 11),
        Operator::Sub => (" - ", 11),
        Operator::Mult => (" * ", 12),
        Operator::MatMult => (" @ ", 12),
        Operator::Div => (" / ", 12),
        Operator::Mod => (" % ", 12),
        Operator::FloorDiv => (" // ", 12),
        Operator::Pow => ("**", POWER),
    }
}

pub(super) fn comparison(op: CmpOp) -> &'static str {
    match op {
        CmpOp::Eq => " == ",
        CmpOp::NotEq => " != ",
        CmpOp::Lt => " < ",
        CmpOp::LtE => " <= ",
        CmpOp::Gt => " > ",
        CmpOp::GtE => " >= ",
        CmpOp::Is => " is ",
        CmpOp::IsNot => " is not ",
        CmpOp::In => " in ",
        CmpOp::NotIn => " not in ",
    }
}
