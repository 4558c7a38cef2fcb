//! Owns the methods of unittest that check, spelt as conditions.

use ruff_python_ast::{Expr, ExprCall};

use crate::strength::languages::python::claims::{Teller, conjuncts};
use crate::strength::languages::python::write::{COMPARE, LAMBDA, NOT, told_after, told_at};

impl<'a> Teller<'_, '_, 'a> {
    /// What a method of unittest demands, spelt as conditions; `None` when it is none, or none that can be spelt so.
    pub(super) fn unittest(&self, call: &'a ExprCall, whole: &'a Expr) -> Option<Vec<String>> {
        let Expr::Attribute(method) = &*call.func else { return None };
        if !matches!(&*method.value, Expr::Name(n) if n.id.as_str() == "self") {
            return None;
        }
        let at = |i: usize, tight| call.arguments.args.get(i).map(|e| told_at(e, tight, self.scope, &self.locals));
        let two = |sign: &str| {
            let mut text = at(0, COMPARE + 1)?;
            text.extend([" ", sign, " "]);
            Some(vec![told_after(text, call.arguments.args.get(1)?, COMPARE + 1, self.scope, &self.locals)])
        };
        match method.attr.as_str().strip_prefix("assert")? {
            "Equal" | "Equals" | "ListEqual" | "DictEqual" | "SetEqual" | "TupleEqual" | "SequenceEqual" | "MultiLineEqual" => two("=="),
            "NotEqual" | "NotEquals" => two("!="),
            "Is" => two("is"),
            "IsNot" => two("is not"),
            "In" => two("in"),
            "NotIn" => two("not in"),
            "Greater" => two(">"),
            "GreaterEqual" => two(">="),
            "Less" => two("<"),
            "LessEqual" => two("<="),
            "IsNone" => Some(vec![format!("{} is None", at(0, COMPARE + 1)?)]),
            "IsNotNone" => Some(vec![format!("{} is not None", at(0, COMPARE + 1)?)]),
            "False" => Some(vec![format!("not {}", at(0, NOT)?)]),
            "True" => Some(conjuncts(call.arguments.args.first()?).into_iter().map(|e| self.text(e)).collect()),
            "IsInstance" => Some(vec![format!("isinstance({}, {})", at(0, LAMBDA)?, at(1, LAMBDA)?)]),
            _ => Some(vec![self.text(whole)]),
        }
    }
}
