//! Owns blocks in a body: branches, matches, loops, closures, and ways out of them.

use std::collections::BTreeSet;

use syn::visit::{self, Visit};
use syn::{Expr, ExprCall, ExprClosure, ExprForLoop, ExprIf, ExprLoop, ExprMatch, ExprMethodCall, ExprWhile, LitStr, Macro, Pat, Stmt};

use crate::strength::domain::{Origin, Table};
use crate::strength::languages::rust::body::checks::closure_body;
use crate::strength::languages::rust::body::{Condition, Frame, Tail, Teller, failures, line_of};
use crate::strength::languages::rust::write::NOT;
use crate::strength::languages::rust::write::calls::inner;
use crate::strength::languages::rust::write::patterns::bindings;

/// A range of at most so many numbers is told number by number.
const SPREAD: i64 = 1_000;
/// Rows of one loop.
const ROWS: usize = 8_000;

impl Teller<'_, '_> {
    /// What a condition comes to, where its text alone tells.
    fn truth(&self, condition: &Expr) -> Option<bool> {
        match self.text(condition).as_str() {
            "True" | "not False" => Some(true),
            "False" | "not True" => Some(false),
            text if text.ends_with(" and False") || text.starts_with("False and ") => Some(false),
            text if text == "cfg(any ( ))" || text == "cfg(FALSE)" || text == "cfg(any())" => Some(false),
            _ => None,
        }
    }

    fn let_names(&mut self, condition: &Expr) {
        match condition {
            Expr::Let(e) => {
                let mut names = Vec::new();
                bindings(&e.pat, &mut names);
                names.iter().for_each(|name| self.names.forget(name));
            }
            Expr::Binary(e) => {
                self.let_names(&e.left);
                self.let_names(&e.right);
            }
            _ => {}
        }
    }

    pub(super) fn branches(&mut self, e: &ExprIf, tail: Tail) {
        self.visit_expr(&e.cond);
        let told = self.writer().at(&e.cond, NOT);
        let other = e.else_branch.as_ref().map(|(_, other)| &**other);
        let known = self.truth(&e.cond);
        if failures::is_failure(&e.then_branch.stmts) && known.is_none() && tail == Tail::Nothing {
            // `if a { panic!() }` demands that not a.
            self.seen += 1;
            let text = format!("not {}", self.writer().at(&e.cond, NOT + 9));
            self.claim(text, usize::MAX);
            return other.into_iter().for_each(|other| self.visit_expr(other));
        }
        if let Some(other) = other.filter(|other| failures::fails(other) && known.is_none() && tail == Tail::Nothing) {
            let line = line_of(syn::spanned::Spanned::span(other));
            self.check(&told, line, std::slice::from_ref(&told));
            let names = self.names.clone();
            self.let_names(&e.cond);
            self.block(&e.then_branch.stmts, tail);
            self.names = names;
            return;
        }
        let before = self.conditions.len();
        let names = self.names.clone();
        if known != Some(true) {
            self.conditions.push(Condition {
                text: told.clone(),
                otherwise: format!("not {}", self.writer().at(&e.cond, NOT + 9)),
                seen: self.seen,
            });
        }
        self.let_names(&e.cond);
        self.branch((known != Some(true)).then(|| format!("if {told}")), known == Some(false), &e.then_branch.stmts, tail);
        self.names = names;
        self.conditions.truncate(before);
        if let Some(other) = other {
            let text = format!("not {}", self.writer().at(&e.cond, NOT + 9));
            self.conditions.push(Condition { text: text.clone(), otherwise: told, seen: self.seen });
            match other {
                Expr::Block(block) => self.branch(Some(format!("if {text}")), known == Some(true), &block.block.stmts, tail),
                other => self.branch(Some(format!("if {text}")), known == Some(true), &[Stmt::Expr(other.clone(), None)], tail),
            }
            self.conditions.truncate(before);
        }
        self.settled();
    }

    fn branch(&mut self, head: Option<String>, unless: bool, stmts: &[Stmt], tail: Tail) {
        let (lines, unreached) = (self.setup.len(), self.unreached);
        self.setup.extend(head.map(|text| super::clipped(&text)));
        self.unreached |= unless;
        self.block(stmts, tail);
        self.setup.truncate(lines);
        self.unreached = unreached;
    }

    pub(super) fn arms(&mut self, e: &ExprMatch, tail: Tail) {
        self.visit_expr(&e.expr);
        let subject = self.writer().at(&e.expr, NOT + 2);
        let (failing, others): (Vec<&syn::Arm>, Vec<&syn::Arm>) = e.arms.iter().partition(|arm| failures::fails(&arm.body));
        let certain = others.len() == 1 && others[0].guard.is_none();
        if !failing.is_empty() && tail == Tail::Nothing {
            let choices: Vec<String> =
                others.iter().map(|arm| self.writer().is_like(&subject, &arm.pat, arm.guard.as_ref().map(|(_, guard)| &**guard))).collect();
            let line = line_of(syn::spanned::Spanned::span(&e.match_token));
            let text = choices.join(" or ");
            self.check(&text, line, std::slice::from_ref(&text));
        }
        for arm in others {
            let (names, before) = (self.names.clone(), self.conditions.len());
            let guard = arm.guard.as_ref().map(|(_, guard)| &**guard);
            let told = self.writer().is_like(&subject, &arm.pat, guard);
            let mut bound = Vec::new();
            bindings(&arm.pat, &mut bound);
            bound.iter().for_each(|name| self.names.forget(name));
            let held = certain && !failing.is_empty();
            if !held {
                self.conditions.push(Condition { text: told.clone(), otherwise: format!("not ({told})"), seen: self.seen });
            }
            let head = (!held).then(|| format!("match {subject} case {}", told.trim_start_matches(subject.as_str())));
            match &*arm.body {
                Expr::Block(block) => self.branch(head, false, &block.block.stmts, tail),
                other => self.branch(head, false, &[Stmt::Expr(other.clone(), None)], tail),
            }
            self.conditions.truncate(before);
            self.names = names;
        }
        self.settled();
    }

    fn looped(&mut self, head: Option<String>, unless: bool, pattern: Option<&Pat>, stmts: &[Stmt]) {
        let names = self.names.clone();
        let mut bound = Vec::new();
        pattern.into_iter().for_each(|p| bindings(p, &mut bound));
        bound.iter().for_each(|name| self.names.forget(name));
        self.frames.push(Frame { is_function: false, exits: Vec::new() });
        let before = self.seen;
        self.under(head, unless, stmts);
        self.left();
        if let Some(at) = stmts.iter().position(|s| matches!(s, Stmt::Expr(Expr::Break(_) | Expr::Return(_), _))) {
            // Left behind its first check whatever happens.
            if at > 0 && self.seen > before && self.conditions.is_empty() {
                self.reduce("the loop goes on after its first round");
            }
        }
        self.names = names;
    }

    /// The rows of a loop over a list of this file, or over a range of known numbers.
    fn table(&self, e: &ExprForLoop) -> Option<Table> {
        let mut over = inner(&e.expr);
        while let Expr::MethodCall(call) = over {
            if !(call.args.is_empty() && matches!(call.method.to_string().as_str(), "iter" | "into_iter" | "copied" | "cloned")) {
                return None;
            }
            over = inner(&call.receiver);
        }
        if let Expr::Range(range) = over {
            return self.numbers(range, &e.pat);
        }
        let local =
            if let Expr::Path(path) = over { path.path.get_ident().and_then(|name| self.lists.get(&name.to_string())) } else { None };
        let over = local.unwrap_or(over);
        let listed;
        let rows: Vec<&Expr> = match over {
            Expr::Macro(mac) if mac.mac.path.is_ident("vec") => {
                listed = super::super::macros::arguments(&mac.mac.tokens)?;
                listed.iter().collect()
            }
            other => self.reader().rows(other)?,
        };
        self.tabled(&rows, &e.pat)
    }

    fn tabled(&self, rows: &[&Expr], pattern: &Pat) -> Option<Table> {
        let mut names = Vec::new();
        bindings(pattern, &mut names);
        let plain = match pattern {
            Pat::Tuple(tuple) => tuple.elems.len() == names.len(),
            Pat::Reference(of) => matches!(&*of.pat, Pat::Tuple(tuple) if tuple.elems.len() == names.len()) || names.len() == 1,
            _ => names.len() == 1,
        };
        if !plain || rows.len() > ROWS || rows.is_empty() {
            return None;
        }
        let width = names.len();
        let mut table = Table { origin: Origin::Loop, names, rows: BTreeSet::default(), rest: BTreeSet::default() };
        for row in rows {
            match inner(row) {
                Expr::Tuple(tuple) if tuple.elems.len() == width && width > 1 => {
                    table.rows.insert(tuple.elems.iter().map(|cell| self.text(cell)).collect());
                }
                other if width == 1 => drop(table.rows.insert(vec![self.text(other)])),
                other => drop(table.rest.insert(self.text(other))),
            }
        }
        Some(table)
    }

    fn numbers(&self, range: &syn::ExprRange, pattern: &Pat) -> Option<Table> {
        let mut names = Vec::new();
        bindings(pattern, &mut names);
        if names.is_empty() {
            names.push("_".to_owned());
        }
        let end = |e: &Option<Box<Expr>>| self.reader().number(e.as_ref()?, 8).and_then(|n| i64::try_from(n).ok());
        let one = i64::from(matches!(range.limits, syn::RangeLimits::Closed(_)));
        let (low, high) = (end(&range.start)?, end(&range.end)?.checked_add(one)?);
        let mut table = Table { origin: Origin::Loop, names, rows: BTreeSet::default(), rest: BTreeSet::default() };
        if high.checked_sub(low)? <= SPREAD {
            table.rows.extend((low..high).map(|n| vec![n.to_string()]));
        } else {
            table.rest.insert(format!("range({low}, {high}, 1)"));
        }
        (table.names.len() == 1).then_some(table)
    }
}

impl<'a> Visit<'a> for Teller<'_, '_> {
    fn visit_expr_if(&mut self, e: &'a ExprIf) {
        self.branches(e, Tail::Nothing);
    }

    fn visit_expr_match(&mut self, e: &'a ExprMatch) {
        self.arms(e, Tail::Nothing);
    }

    fn visit_expr_for_loop(&mut self, e: &'a ExprForLoop) {
        self.visit_expr(&e.expr);
        let table = self.table(e);
        let text = format!("for {} in {}", self.writer().pattern(&e.pat), self.text(&e.expr));
        let nothing = matches!(self.text(&e.expr).as_str(), "[]" | "islice([], 0)") || text.ends_with(", 0)") && text.contains("islice(");
        let before = self.seen;
        self.looped(table.is_none().then_some(text), nothing, Some(&e.pat), &e.body.stmts);
        if self.seen > before {
            self.told.loops.extend(table);
        }
    }

    fn visit_expr_while(&mut self, e: &'a ExprWhile) {
        self.visit_expr(&e.cond);
        let names = self.names.clone();
        self.let_names(&e.cond);
        let head = format!("while {}", self.text(&e.cond));
        let never = self.truth(&e.cond) == Some(false);
        self.looped(Some(head), never, None, &e.body.stmts);
        self.names = names;
    }

    fn visit_expr_loop(&mut self, e: &'a ExprLoop) {
        self.looped(None, false, None, &e.body.stmts);
    }

    fn visit_expr_closure(&mut self, e: &'a ExprClosure) {
        let names = self.names.clone();
        let mut bound = Vec::new();
        e.inputs.iter().for_each(|p| bindings(p, &mut bound));
        bound.iter().for_each(|name| self.names.forget(name));
        self.function(&closure_body(e), Tail::Nothing);
        self.names = names;
    }

    fn visit_expr_return(&mut self, e: &'a syn::ExprReturn) {
        let value = e.expr.as_deref();
        value.into_iter().for_each(|v| self.visit_expr(v));
        if !value.is_some_and(|v| failures::fails(&Expr::Return(syn::ExprReturn { expr: Some(Box::new(v.clone())), ..e.clone() }))) {
            self.leave(true);
        }
    }

    fn visit_expr_break(&mut self, e: &'a syn::ExprBreak) {
        visit::visit_expr_break(self, e);
        self.leave(false);
    }

    fn visit_expr_continue(&mut self, _: &'a syn::ExprContinue) {
        self.leave(false);
    }

    fn visit_expr_call(&mut self, e: &'a ExprCall) {
        self.called(e);
    }

    fn visit_expr_method_call(&mut self, e: &'a ExprMethodCall) {
        self.method(e);
    }

    fn visit_block(&mut self, block: &'a syn::Block) {
        self.block(&block.stmts, Tail::Nothing);
    }

    fn visit_macro(&mut self, mac: &'a Macro) {
        self.macro_call(mac);
    }

    fn visit_lit_str(&mut self, lit: &'a LitStr) {
        self.literal(&lit.value());
    }
}
