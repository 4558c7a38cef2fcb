//! Owns what keeps inputs from a body's assertions: assumptions, exits before them, skips inside, and inputs that are reshaped.

use std::collections::{BTreeMap, BTreeSet};

use ruff_python_ast::visitor::{Visitor, walk_expr, walk_stmt};
use ruff_python_ast::{BoolOp, ExceptHandler, Expr, Stmt, StmtIf, StmtTry};
use ruff_text_size::{Ranged as _, TextRange, TextSize};

use crate::strength::effort::{Does, Effort, Mark};
use crate::strength::languages::python::body::is_check;
use crate::strength::languages::python::marks::{called, is_skip, negated, parts, truth};
use crate::strength::languages::python::names::Scope;
use crate::strength::languages::python::write::{NOT, canonical, canonical_at, opaque};

/// Adds what a body does to the inputs of the arguments named so.
pub(super) fn of_body(body: &[Stmt], arguments: &BTreeSet<&str>, scope: &Scope<'_, '_>, effort: &mut Effort) {
    let mut checks = Checks::default();
    body.iter().for_each(|s| checks.visit_stmt(s));
    let range = span(body);
    let mut walk = Walk {
        scope,
        checks: checks.at,
        conditions: Vec::new(),
        function: range.end(),
        around: range.end(),
        inside: true,
        open: 0,
        effort,
    };
    walk.block(body);
    reshaped(body, arguments, scope, effort);
}

/// Adds the skips of a module's or class's own statements, functions and classes left closed.
pub(super) fn of_block(body: &[Stmt], scope: &Scope<'_, '_>, effort: &mut Effort) {
    let end = span(body).end();
    let mut walk = Walk { scope, checks: Vec::new(), conditions: Vec::new(), function: end, around: end, inside: false, open: 0, effort };
    walk.block(body);
}

fn span(body: &[Stmt]) -> TextRange {
    let start = body.first().map_or(TextSize::new(0), |s| s.range().start());
    TextRange::new(start, body.last().map_or(start, |s| s.range().end()))
}

/// Where checks stand, in order.
#[derive(Default)]
struct Checks {
    at: Vec<TextSize>,
}

impl<'a> Visitor<'a> for Checks {
    fn visit_stmt(&mut self, stmt: &'a Stmt) {
        self.at.extend(stmt.is_assert_stmt().then(|| stmt.range().start()));
        walk_stmt(self, stmt);
    }

    fn visit_expr(&mut self, expr: &'a Expr) {
        if let Expr::Call(call) = expr {
            self.at.extend(is_check(&call.func).then(|| expr.range().start()));
        }
        walk_expr(self, expr);
    }
}

/// One condition on the way to a statement.
#[derive(Clone)]
struct Condition {
    text: String,
    /// Where what it leads to starts.
    from: TextSize,
    /// What holds where it does not, one text for each way out.
    otherwise: Vec<String>,
}

struct Walk<'w, 's, 'a> {
    scope: &'w Scope<'s, 'a>,
    checks: Vec<TextSize>,
    conditions: Vec<Condition>,
    /// Where the function ends, and the loop inside it.
    function: TextSize,
    around: TextSize,
    /// Whether this is a function's body.
    inside: bool,
    /// Loops and guarded blocks around: a way out of them is none of the function.
    open: usize,
    effort: &'w mut Effort,
}

impl Walk<'_, '_, '_> {
    fn block(&mut self, stmts: &[Stmt]) {
        for (at, stmt) in stmts.iter().enumerate() {
            if self.scope.spend(1).is_none() {
                return;
            }
            if let (true, Some(next)) = (self.inside, stmts.get(at + 1)) {
                self.forgotten(stmt, next);
            }
            self.stmt(stmt);
        }
    }

    fn stmt(&mut self, stmt: &Stmt) {
        match stmt {
            Stmt::Expr(e) => self.value(&e.value),
            Stmt::Assign(a) => self.value(&a.value),
            Stmt::AnnAssign(a) => a.value.iter().for_each(|v| self.value(v)),
            Stmt::Raise(r) if r.exc.as_ref().is_some_and(|e| is_skip(e, self.scope)) => {
                self.mark(Does::Skip, None);
            }
            Stmt::Return(r) if self.inside => {
                r.value.iter().for_each(|v| self.value(v));
                self.leave(stmt.range(), self.function);
            }
            Stmt::Continue(_) | Stmt::Break(_) if self.inside => self.leave(stmt.range(), self.around),
            Stmt::If(s) => self.branches(s),
            Stmt::For(s) => {
                let first = self.left_at_once(&s.body, || format!("the first of {}", canonical(&s.iter, self.scope)));
                first.into_iter().for_each(|text| self.reduce(&text));
                self.looped(stmt.range(), [&s.body, &s.orelse]);
            }
            Stmt::While(s) => {
                // `while True` with a way out at its end goes round once by its look.
                if truth(&s.test, self.scope) != Some(true) {
                    let first = self.left_at_once(&s.body, || format!("the first time of {}", canonical(&s.test, self.scope)));
                    first.into_iter().for_each(|text| self.reduce(&text));
                }
                self.looped(stmt.range(), [&s.body, &s.orelse]);
            }
            Stmt::With(s) => self.block(&s.body),
            Stmt::Try(s) => self.tried(s),
            Stmt::Match(s) => {
                for case in &s.cases {
                    let text = format!("{} matches {}", canonical(&s.subject, self.scope), self.plain(case.pattern.range()));
                    let from = case.pattern.range().end();
                    self.under(Condition { otherwise: vec![format!("not {text}")], text, from }, &case.body);
                }
            }
            Stmt::FunctionDef(def) if self.inside => {
                let (function, around) = (self.function, self.around);
                (self.function, self.around) = (def.range.end(), def.range.end());
                let conditions = std::mem::take(&mut self.conditions);
                self.block(&def.body);
                (self.function, self.around, self.conditions) = (function, around, conditions);
            }
            _ => {}
        }
    }

    /// What was recorded is thrown away right before it is checked: `log.reset_mock()`, `caplog.clear()`.
    fn forgotten(&mut self, stmt: &Stmt, next: &Stmt) {
        let Stmt::Expr(e) = stmt else { return };
        let Some(method) = e.value.as_call_expr().and_then(|call| call.func.as_attribute_expr()) else { return };
        let root = method.value.as_name_expr().map(|n| n.id.as_str());
        let forgets = match method.attr.as_str() {
            "reset_mock" => true,
            "clear" => root == Some("caplog"),
            "readouterr" => matches!(root, Some("capsys" | "capfd")),
            _ => false,
        };
        let checks = |next: &Stmt| match next {
            Stmt::Assert(_) => true,
            Stmt::Expr(e) => e.value.as_call_expr().is_some_and(|call| is_check(&call.func)),
            _ => false,
        };
        if forgets && checks(next) {
            *self.effort.reducers.entry(format!("forgotten first: {}", canonical(&e.value, self.scope))).or_default() += 1;
        }
    }

    fn plain(&self, range: TextRange) -> String {
        self.scope.names.file.plain(range, &[])
    }

    fn under(&mut self, condition: Condition, body: &[Stmt]) {
        self.conditions.push(condition);
        self.block(body);
        self.conditions.pop();
    }

    fn looped(&mut self, range: TextRange, blocks: [&[Stmt]; 2]) {
        let around = std::mem::replace(&mut self.around, range.end());
        self.open += 1;
        blocks.into_iter().for_each(|b| self.block(b));
        self.open -= 1;
        self.around = around;
    }

    /// A loop that nothing goes through twice: a way out without a condition stands behind its first check.
    fn left_at_once(&self, body: &[Stmt], head: impl Fn() -> String) -> Option<String> {
        let out = body.iter().find(|s| is_way_out(s))?.range();
        let first = self.checks.partition_point(|at| *at < span(body).start());
        let checked = self.checks.get(first).is_some_and(|at| *at < out.start());
        (self.inside && checked).then(head)
    }

    fn branches(&mut self, s: &StmtIf) {
        let before = self.conditions.len();
        let arms = std::iter::once((Some(&*s.test), &s.body)).chain(s.elif_else_clauses.iter().map(|c| (c.test.as_ref(), &c.body)));
        for (test, body) in arms {
            let known = test.map_or(Some(true), |test| truth(test, self.scope));
            match (known, test) {
                (Some(true), _) | (None, None) => self.block(body),
                (Some(false), _) => {}
                (None, Some(test)) => {
                    let condition = self.condition(test);
                    self.under(condition, body);
                }
            }
            self.conditions.extend(test.map(|test| {
                let text = negated(test, self.scope);
                Condition { text, from: test.range().end(), otherwise: vec![canonical(test, self.scope)] }
            }));
        }
        self.conditions.truncate(before);
    }

    /// `if a or b` lets pass what is neither.
    fn condition(&self, test: &Expr) -> Condition {
        let otherwise = parts(test, BoolOp::Or).into_iter().map(|part| negated(part, self.scope)).collect();
        Condition { text: canonical_at(test, NOT, self.scope), from: test.range().end(), otherwise }
    }

    fn tried(&mut self, s: &StmtTry) {
        self.open += 1;
        self.block(&s.body);
        self.open -= 1;
        for ExceptHandler::ExceptHandler(handler) in &s.handlers {
            let caught = handler.type_.as_ref().map_or_else(|| "anything".to_owned(), |t| canonical(t, self.scope));
            let (text, otherwise) = (format!("{caught} is raised"), vec![format!("{caught} is not raised")]);
            self.under(Condition { text, from: handler.range.start(), otherwise }, &handler.body);
        }
        self.block(&s.orelse);
        self.block(&s.finalbody);
    }

    fn value(&mut self, value: &Expr) {
        let value = if let Expr::Await(a) = value { &a.value } else { value };
        let Expr::Call(call) = value else { return };
        if let Some((does, when)) = called(call, self.scope) {
            self.mark(does, when);
            return;
        }
        if matches!(&*call.func, Expr::Attribute(a) if !matches!(a.attr.as_str(), "assume" | "reject")) {
            return;
        }
        let name = self.scope.dotted(&call.func).unwrap_or_default();
        match name.as_str() {
            "hypothesis.assume" | "assume" => {
                let demanded: Vec<&Expr> = call.arguments.args.iter().flat_map(|test| parts(test, BoolOp::And)).collect();
                for part in demanded {
                    let text = self.on_the_way(&canonical_at(part, NOT, self.scope));
                    self.reduce(&text);
                }
            }
            "hypothesis.reject" | "reject" => self.left(),
            _ => {}
        }
    }

    /// A demand with the conditions under which it is made.
    fn on_the_way(&self, demand: &str) -> String {
        let conditions: Vec<&str> = self.conditions.iter().map(|c| c.text.as_str()).collect();
        if conditions.is_empty() { demand.to_owned() } else { format!("{demand} where {}", conditions.join(" and ")) }
    }

    fn reduce(&mut self, text: &str) {
        *self.effort.reducers.entry(format!("only if {text}")).or_default() += 1;
    }

    fn mark(&mut self, does: Does, when: Option<String>) {
        let conditions = self.conditions.iter().map(|c| c.text.clone()).chain(when);
        let all = conditions.collect::<Vec<_>>().join(" and ");
        let when = Some(all).filter(|text| !text.is_empty());
        self.effort.marks.insert(Mark { does, when, row: None });
    }

    /// A way out counts when a check stands behind it that it leaves out.
    fn leave(&mut self, from: TextRange, to: TextSize) {
        let next = self.checks.partition_point(|at| *at < from.end());
        let skipped = self.checks.get(next).is_some_and(|at| *at < to);
        let is_way_out = self.conditions.last().map_or(self.open == 0, |arm| !self.checks[..next].iter().any(|at| *at >= arm.from));
        if skipped && is_way_out {
            self.left();
        }
    }

    fn left(&mut self) {
        let texts = match self.conditions.as_slice() {
            [] => vec!["never".to_owned()],
            [one] => one.otherwise.clone(),
            many => vec![format!("not ({})", many.iter().map(|c| c.text.as_str()).collect::<Vec<_>>().join(" and "))],
        };
        texts.into_iter().for_each(|text| self.reduce(&text));
    }
}

/// Whether a statement of a loop's body leaves the loop whenever it is reached.
fn is_way_out(stmt: &Stmt) -> bool {
    match stmt {
        Stmt::Break(_) | Stmt::Return(_) => true,
        Stmt::With(s) => s.body.iter().any(is_way_out),
        _ => false,
    }
}

/// `value = abs(value)`, `value = 5` at the top of a body, before its first check: what is given does not get there as it is.
fn reshaped(body: &[Stmt], arguments: &BTreeSet<&str>, scope: &Scope<'_, '_>, effort: &mut Effort) {
    let mut found: BTreeMap<String, usize> = BTreeMap::new();
    for stmt in body.iter().take_while(|s| !s.is_assert_stmt()) {
        let text = match stmt {
            Stmt::Assign(a) => match a.targets.as_slice() {
                [Expr::Name(name)] if arguments.contains(name.id.as_str()) => format!("{} = {}", name.id, canonical(&a.value, scope)),
                _ => continue,
            },
            Stmt::AugAssign(a) => match &*a.target {
                Expr::Name(name) if arguments.contains(name.id.as_str()) => scope.names.file.plain(a.range, &[]),
                _ => continue,
            },
            _ => continue,
        };
        *found.entry(text).or_default() += 1;
    }
    effort.reducers.extend(found);
}

/// Whether a method calls the one above it.
pub(super) fn goes_on(body: &[Stmt]) -> bool {
    struct Finder(bool);
    impl<'a> Visitor<'a> for Finder {
        fn visit_expr(&mut self, expr: &'a Expr) {
            self.0 |= expr.as_name_expr().is_some_and(|n| n.id.as_str() == "super");
            walk_expr(self, expr);
        }
    }
    let mut finder = Finder(false);
    body.iter().for_each(|s| finder.visit_stmt(s));
    finder.0
}

/// The parts of the condition of a rule.
pub(super) fn precondition(given: &Expr, scope: &Scope<'_, '_>) -> Vec<String> {
    match given {
        Expr::Lambda(lambda) => parts(&lambda.body, BoolOp::And).into_iter().map(|part| canonical_at(part, NOT, scope)).collect(),
        other => vec![opaque(other, scope)],
    }
}
