//! Owns failures that a test calls itself: `if c: fail()` demands `not c`, a failure where nothing was raised demands that it is.

use ruff_python_ast::{BoolOp, Expr, Stmt, StmtRaise, StmtTry, UnaryOp};

use crate::strength::languages::python::claims::{Teller, conjuncts};
use crate::strength::languages::python::marks::opposite;
use crate::strength::languages::python::names::Scope;
use crate::strength::languages::python::oracles::Raising;
use crate::strength::languages::python::reach;
use crate::strength::languages::python::write::{COMPARE, NOT, told_at};

impl<'a> Teller<'_, '_, 'a> {
    /// What must hold where a failure follows from a condition.
    pub(super) fn refused(&self, test: &'a Expr) -> Vec<String> {
        match test {
            Expr::UnaryOp(u) if u.op == UnaryOp::Not => conjuncts(&u.operand).into_iter().map(|e| self.text(e)).collect(),
            Expr::BoolOp(b) if b.op == BoolOp::Or => b.values.iter().flat_map(|e| self.refused(e)).collect(),
            Expr::Compare(c) => match (&*c.ops, &*c.comparators) {
                ([sign], [right]) => {
                    let side = |e| told_at(e, COMPARE + 1, self.scope, &self.locals);
                    vec![format!("{} {} {}", side(&c.left), opposite(*sign), side(right))]
                }
                _ => vec![format!("not {}", told_at(test, NOT, self.scope, &self.locals))],
            },
            _ => vec![format!("not {}", told_at(test, NOT, self.scope, &self.locals))],
        }
    }

    /// `try: f() except E: pass else: fail()` demands that `f()` raises, and so does a failure at the end of the body.
    pub(super) fn must_raise(&mut self, s: &'a StmtTry) {
        let [handler] = s.handlers.as_slice() else { return };
        let Some(of) = handler.as_except_handler().and_then(|h| h.type_.as_deref()) else { return };
        let ended = s
            .body
            .split_last()
            .filter(|(last, _)| is_failure(std::slice::from_ref(*last), self.scope) && !reach::catches(Some(of), self.scope));
        let subject = match ended {
            Some((_, before)) => before.last(),
            None => s.body.last().filter(|_| is_failure(&s.orelse, self.scope)),
        };
        let Some(subject) = subject.map(|stmt| self.raiser(stmt)) else { return };
        self.raises(&Raising { word: "raises", of: Some(of), named: None, pattern: None, call: &[] }, &subject);
    }
}

/// Whether nothing but the test's failure comes of these statements.
pub(super) fn is_failure(stmts: &[Stmt], scope: &Scope<'_, '_>) -> bool {
    let [stmt] = stmts else { return false };
    match stmt {
        Stmt::Expr(e) => e.value.as_call_expr().is_some_and(|call| {
            matches!(&*call.func, Expr::Name(_) | Expr::Attribute(_))
                && matches!(scope.dotted(&call.func).as_deref(), Some("pytest.fail" | "self.fail"))
        }),
        Stmt::Raise(r) => raises_assertion(r),
        _ => false,
    }
}

pub(super) fn raises_assertion(raise: &StmtRaise) -> bool {
    raise.exc.as_deref().is_some_and(|raised| {
        let class = raised.as_call_expr().map_or(raised, |c| &c.func);
        matches!(class, Expr::Name(n) if n.id.as_str() == "AssertionError")
    })
}
