//! Owns where a generator's body draws, and what a plain function returns.

use ruff_python_ast::visitor::{Visitor, walk_expr, walk_stmt};
use ruff_python_ast::{Expr, Operator, Stmt};
use ruff_text_size::Ranged as _;

/// Finds `draw(X)` of a composite, or what a plain function returns.
pub(super) struct Finder<'a> {
    pub(super) draw: Option<&'a str>,
    pub(super) found: Vec<&'a Expr>,
    /// Alternatives `a() | b()` that stand elsewhere.
    pub(super) chains: Vec<&'a Expr>,
    depth: u32,
}

impl<'a> Finder<'a> {
    pub(super) fn new(draw: Option<&'a str>) -> Self {
        Finder { draw, found: Vec::new(), chains: Vec::new(), depth: 0 }
    }

    /// A body's text where a toss between values is told as the draw that it is.
    pub(super) fn drawn(&self, text: &str) -> String {
        let Some(draw) = self.draw else { return text.to_owned() };
        let is_toss = |word: &str| {
            let at = word.strip_prefix('#').and_then(|at| at.parse::<usize>().ok());
            at.and_then(|at| self.found.get(at)).is_some_and(|expr| tossed(expr, Some(draw)).is_some())
        };
        let told = text.split(' ').map(|word| if is_toss(word) { format!("{draw} ( {word} )") } else { word.to_owned() });
        told.collect::<Vec<_>>().join(" ")
    }
}

/// The values of `a if draw(booleans()) else b`, which is a draw from both; none of them draws itself.
pub(super) fn tossed<'a>(expr: &'a Expr, draw: Option<&str>) -> Option<Vec<&'a Expr>> {
    let (draw, either) = (draw?, expr.as_if_expr()?);
    let toss = either.test.as_call_expr()?;
    let of = toss.arguments.args.first()?.as_call_expr()?;
    let name = match &*of.func {
        Expr::Name(name) => name.id.as_str(),
        Expr::Attribute(attribute) => attribute.attr.as_str(),
        _ => return None,
    };
    let is_toss = name == "booleans" && of.arguments.is_empty() && toss.func.as_name_expr().is_some_and(|name| name.id.as_str() == draw);
    let mut arms = Vec::new();
    for arm in [&*either.body, &*either.orelse] {
        match tossed(arm, Some(draw)) {
            Some(inner) => arms.extend(inner),
            None => arms.push(arm),
        }
    }
    let draws = |arm: &&Expr| {
        let mut inside = Finder::new(Some(draw));
        inside.visit_expr(arm);
        !inside.found.is_empty()
    };
    (is_toss && !arms.iter().any(draws)).then_some(arms)
}

/// Whether an expression is a choice between what calls make.
fn is_choice(expr: &Expr) -> bool {
    match expr {
        Expr::BinOp(b) if b.op == Operator::BitOr => [&b.left, &b.right].into_iter().all(|side| side.is_call_expr() || is_choice(side)),
        _ => false,
    }
}

impl<'a> Visitor<'a> for Finder<'a> {
    fn visit_stmt(&mut self, stmt: &'a Stmt) {
        let inner = matches!(stmt, Stmt::FunctionDef(_) | Stmt::ClassDef(_));
        if let Stmt::Return(returned) = stmt
            && self.draw.is_none()
            && self.depth == 0
        {
            self.found.extend(returned.value.as_deref());
        }
        self.depth += u32::from(inner);
        walk_stmt(self, stmt);
        self.depth -= u32::from(inner);
    }

    fn visit_expr(&mut self, expr: &'a Expr) {
        if tossed(expr, self.draw).is_some() {
            return self.found.push(expr);
        }
        if let (Some(draw), Expr::Call(call)) = (self.draw, expr)
            && call.func.as_name_expr().is_some_and(|n| n.id.as_str() == draw)
        {
            self.found.extend(call.arguments.args.first());
        }
        let is_found = self.found.iter().any(|found| found.range().contains_range(expr.range()));
        if !is_found && is_choice(expr) {
            return self.chains.push(expr);
        }
        walk_expr(self, expr);
    }
}
