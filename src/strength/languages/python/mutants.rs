//! Owns where faults fit in Python: operators, constants, returns and statements of functions that run, and nothing that only looks like code.

use ruff_python_ast::visitor::{Visitor, walk_expr, walk_stmt};
use ruff_python_ast::{CmpOp, Expr, ExprCall, Number, Pattern, Stmt, StmtFunctionDef, StmtIf, UnaryOp};
use ruff_text_size::{Ranged, TextRange, TextSize};

use crate::digest;
use crate::strength::languages::python::text::File;
use crate::strength::mutants::{Function, Operator, Places, Site, exchanges};

/// More places than these are not kept for one file.
const MOST: usize = 20_000;
/// Longest text that is replaced, in bytes.
const LONGEST: usize = 2_000;

/// Functions whose result is for people.
const FOR_PEOPLE: [&str; 3] = ["__repr__", "__dir__", "__del__"];
/// Decorators of what never runs, or only stands for something.
const NEVER: [&str; 3] = ["overload", "abstractmethod", "no_type_check"];
/// What begins the name of something that only tells.
const TELLERS: [&str; 10] = ["log", "logger", "logging", "_log", "_logger", "LOG", "LOGGER", "warnings", "warn", "print"];
/// Functions that change nothing at run time.
const TYPING: [&str; 5] = ["cast", "TypeVar", "ParamSpec", "NewType", "reveal_type"];
/// Keyword arguments that only tell.
const TELLING: [&str; 5] = ["stacklevel", "help", "doc", "msg", "message"];

/// Reads a file.
pub(super) fn read(file: &File<'_>, source: &str, body: &[Stmt]) -> Places {
    let mut finder = Finder { file, source, places: Places::default(), names: Vec::new(), inside: None, reach: (0, 0) };
    finder.visit_body(body);
    finder.places.sites.sort_by_key(|site| site.at);
    finder.places
}

struct Finder<'f, 's> {
    file: &'f File<'f>,
    source: &'s str,
    places: Places,
    /// Names of the classes and functions around.
    names: Vec<String>,
    /// The innermost function, unless a class lies between.
    inside: Option<usize>,
    reach: (u32, u32),
}

impl Finder<'_, '_> {
    fn text(&self, range: TextRange) -> &str {
        self.source.get(range.to_std_range()).unwrap_or_default()
    }

    fn site(&mut self, operator: Operator, range: TextRange, after: impl Into<String>) {
        let (Some(function), after) = (self.inside, after.into()) else { return };
        let before = self.text(range).to_owned();
        if before.is_empty() || before == after || before.len() > LONGEST || self.places.sites.len() >= MOST {
            return;
        }
        let line = self.file.line(range.start());
        let (at, end) = (range.start().to_usize(), range.end().to_usize());
        self.places.sites.push(Site { function, operator, at, end, before, after, line, reach: self.reach });
    }

    /// Exchanges the one operator that stands between two operands.
    fn exchange(&mut self, left: TextRange, right: TextRange, token: &str) {
        let Some(between) = self.source.get(left.end().to_usize()..right.start().to_usize()) else { return };
        if between.contains('#') {
            return;
        }
        let Some(at) = between.find(token) else { return };
        let start = left.end() + TextSize::try_from(at).unwrap_or_default();
        let range = TextRange::at(start, TextSize::try_from(token.len()).unwrap_or_default());
        for (operator, after) in exchanges(token) {
            self.site(operator, range, after);
        }
    }

    fn lines(&self, range: TextRange) -> (u32, u32) {
        (self.file.line(range.start()), self.file.line(range.end()))
    }

    fn function(&mut self, def: &StmtFunctionDef) {
        let is_never =
            def.decorator_list.iter().any(|decorator| last_name(&decorator.expression).is_some_and(|name| NEVER.contains(&name)));
        if is_never || FOR_PEOPLE.contains(&def.name.as_str()) {
            return;
        }
        self.names.push(def.name.to_string());
        let start = def.decorator_list.first().map_or(def.range().start(), Ranged::start);
        let text = self.text(TextRange::new(start, def.range().end())).as_bytes();
        let (name, sha256) = (self.names.join("."), digest::sha256_hex(text));
        self.places.functions.push(Function { name, line: self.file.line(def.name.start()), sha256 });
        let around = self.inside.replace(self.places.functions.len() - 1);
        self.visit_body(&def.body);
        self.inside = around;
        self.names.pop();
    }

    /// A statement that can be left out without leaving a name unbound.
    fn removal(&mut self, stmt: &Stmt) {
        let is_removable = match stmt {
            Stmt::Expr(s) => match &*s.value {
                Expr::Await(e) => e.value.is_call_expr(),
                other => other.is_call_expr(),
            },
            Stmt::Assign(s) => s.targets.iter().all(|target| target.is_attribute_expr() || target.is_subscript_expr()),
            Stmt::AugAssign(_) | Stmt::Raise(_) => true,
            Stmt::Delete(s) => s.targets.iter().all(|target| target.is_attribute_expr() || target.is_subscript_expr()),
            _ => false,
        };
        if is_removable {
            self.site(Operator::RemovedStatement, stmt.range(), "pass");
        }
    }

    fn returned(&mut self, value: &Expr) {
        // What is as false as nothing, or is turned round by another operator, says no more when it is nothing.
        let is_quiet = matches!(value, Expr::NoneLiteral(_) | Expr::BooleanLiteral(_)) || is_empty(value) || is_zero(value);
        if !is_quiet {
            self.site(Operator::ReturnValue, value.range(), "None");
        }
    }

    fn branch(&mut self, stmt: &StmtIf) {
        let known = truth(&stmt.test);
        if known.is_none() {
            self.visit_expr(&stmt.test);
        }
        if known != Some(false) {
            self.visit_body(&stmt.body);
        }
        if known == Some(true) {
            return;
        }
        for clause in &stmt.elif_else_clauses {
            if let Some(test) = &clause.test {
                self.reach = self.lines(test.range());
                self.visit_expr(test);
            }
            self.visit_body(&clause.body);
        }
    }

    fn compared(&mut self, left: &Expr, rest: &[(&'static str, &Expr)]) {
        let mut before = left;
        for (token, operand) in rest {
            self.exchange(before.range(), operand.range(), token);
            for side in [before, operand] {
                if matches!(side, Expr::StringLiteral(text) if !text.value.is_empty()) && matches!(*token, "==" | "!=") {
                    self.site(Operator::Constant, side.range(), "'XX'");
                }
            }
            before = operand;
        }
    }

    fn called(&mut self, call: &ExprCall) {
        if is_telling(&call.func) || last_name(&call.func).is_some_and(|name| TYPING.contains(&name)) {
            return;
        }
        self.visit_expr(&call.func);
        for argument in &call.arguments.args {
            self.visit_expr(argument);
        }
        for keyword in &call.arguments.keywords {
            if keyword.arg.as_ref().is_none_or(|name| !TELLING.contains(&name.as_str())) {
                self.visit_expr(&keyword.value);
            }
        }
    }
}

impl<'a> Visitor<'a> for Finder<'_, '_> {
    fn visit_body(&mut self, body: &'a [Stmt]) {
        for stmt in body {
            self.visit_stmt(stmt);
            if matches!(stmt, Stmt::Return(_) | Stmt::Raise(_) | Stmt::Continue(_) | Stmt::Break(_)) {
                return;
            }
        }
    }

    fn visit_stmt(&mut self, stmt: &'a Stmt) {
        self.reach = self.lines(head(stmt));
        match stmt {
            Stmt::FunctionDef(def) => self.function(def),
            Stmt::ClassDef(class) => {
                self.names.push(class.name.to_string());
                let around = self.inside.take();
                self.visit_body(&class.body);
                self.inside = around;
                self.names.pop();
            }
            Stmt::If(s) => self.branch(s),
            Stmt::Assert(s) => self.visit_expr(&s.test),
            // What an exception says is for people.
            Stmt::Raise(_) => self.removal(stmt),
            Stmt::Expr(s) if s.value.as_call_expr().is_some_and(|call| is_telling(&call.func)) => {}
            Stmt::Expr(s) if s.value.is_literal_expr() => {}
            Stmt::Return(s) => {
                if let Some(value) = &s.value {
                    self.returned(value);
                    self.visit_expr(value);
                }
            }
            Stmt::Assign(s) if s.targets.iter().any(is_dunder) => {}
            Stmt::Assign(s) => {
                self.removal(stmt);
                self.visit_expr(&s.value);
            }
            Stmt::AnnAssign(s) => {
                if let Some(value) = s.value.as_ref().filter(|_| !is_dunder(&s.target)) {
                    self.visit_expr(value);
                }
            }
            Stmt::AugAssign(s) => {
                self.exchange(s.target.range(), s.value.range(), &format!("{}=", s.op.as_str()));
                self.removal(stmt);
                self.visit_expr(&s.value);
            }
            Stmt::Import(_) | Stmt::ImportFrom(_) | Stmt::Global(_) | Stmt::Nonlocal(_) | Stmt::TypeAlias(_) => {}
            _ => {
                self.removal(stmt);
                walk_stmt(self, stmt);
            }
        }
    }

    fn visit_expr(&mut self, expr: &'a Expr) {
        match expr {
            Expr::Compare(e) => {
                if is_of_platform(&e.left) {
                    return;
                }
                let rest: Vec<(&'static str, &Expr)> = e.ops.iter().map(CmpOp::as_str).zip(&e.comparators).collect();
                self.compared(&e.left, &rest);
            }
            Expr::BoolOp(e) => {
                for pair in e.values.windows(2) {
                    self.exchange(pair[0].range(), pair[1].range(), e.op.as_str());
                }
            }
            Expr::UnaryOp(e) if e.op == UnaryOp::Not => {
                let operand = self.text(TextRange::new(e.range().start() + TextSize::from(3), e.range().end())).trim_start().to_owned();
                self.site(Operator::Boolean, e.range(), operand);
            }
            Expr::BinOp(e) => {
                let is_text = |side: &Expr| matches!(side, Expr::StringLiteral(_) | Expr::FString(_) | Expr::BytesLiteral(_));
                let is_same = is_neutral(e.op.as_str(), &e.right);
                if !is_text(&e.left) && !is_text(&e.right) && !is_same {
                    self.exchange(e.left.range(), e.right.range(), e.op.as_str());
                }
                if is_same || is_text(&e.left) {
                    return;
                }
            }
            Expr::NumberLiteral(e) => match &e.value {
                Number::Int(_) => {
                    let text = self.text(e.range());
                    let next = text.parse::<u32>().map_or_else(|_| format!("({text} + 1)"), |n| (u64::from(n) + 1).to_string());
                    self.site(Operator::Constant, e.range(), next);
                }
                Number::Float(_) => {
                    let next = format!("({} + 1)", self.text(e.range()));
                    self.site(Operator::Constant, e.range(), next);
                }
                Number::Complex { .. } => {}
            },
            Expr::BooleanLiteral(e) => {
                let token = if e.value { "True" } else { "False" };
                for (operator, after) in exchanges(token) {
                    self.site(operator, e.range(), after);
                }
            }
            Expr::Call(call) => return self.called(call),
            // Text that is put together is for people; quotes inside are not ours to move.
            Expr::FString(_) | Expr::TString(_) => return,
            Expr::Lambda(e) => return self.visit_expr(&e.body),
            _ => {}
        }
        walk_expr(self, expr);
    }

    fn visit_annotation(&mut self, _: &'a Expr) {}

    // A pattern takes no expression in the place of a number.
    fn visit_pattern(&mut self, _: &'a Pattern) {}
}

/// What runs when a statement is reached: all of a simple one, the head of another.
fn head(stmt: &Stmt) -> TextRange {
    match stmt {
        Stmt::If(s) => s.test.range(),
        Stmt::While(s) => s.test.range(),
        Stmt::For(s) => TextRange::new(s.range().start(), s.iter.end()),
        Stmt::Match(s) => s.subject.range(),
        Stmt::With(s) => TextRange::new(s.range().start(), s.items.last().map_or(s.range().start(), Ranged::end)),
        Stmt::Try(s) => TextRange::at(s.range().start(), TextSize::from(3)),
        other => other.range(),
    }
}

fn last_name(expr: &Expr) -> Option<&str> {
    match expr {
        Expr::Name(name) => Some(name.id.as_str()),
        Expr::Attribute(attribute) => Some(attribute.attr.as_str()),
        Expr::Call(call) => last_name(&call.func),
        _ => None,
    }
}

/// Whether a called name only tells: `log.info`, `self._logger.debug`, `warnings.warn`, `print`.
fn is_telling(func: &Expr) -> bool {
    match func {
        Expr::Name(name) => TELLERS.contains(&name.id.as_str()),
        Expr::Attribute(attribute) => match &*attribute.value {
            Expr::Name(name) => TELLERS.contains(&name.id.as_str()),
            Expr::Attribute(inner) => TELLERS.contains(&inner.attr.as_str()),
            _ => false,
        },
        _ => false,
    }
}

/// What a condition always is, by the look of it.
fn truth(test: &Expr) -> Option<bool> {
    match test {
        Expr::BooleanLiteral(e) => Some(e.value),
        Expr::NoneLiteral(_) => Some(false),
        Expr::NumberLiteral(_) => Some(!is_zero(test)),
        Expr::Name(name) if name.id.as_str() == "TYPE_CHECKING" => Some(false),
        Expr::Attribute(e) if e.attr.as_str() == "TYPE_CHECKING" => Some(false),
        _ => None,
    }
}

/// Whether something tells where the program runs: only one side of it is ever reached.
fn is_of_platform(expr: &Expr) -> bool {
    match expr {
        Expr::Subscript(e) => is_of_platform(&e.value),
        Expr::Attribute(e) => matches!(e.attr.as_str(), "version_info" | "platform" | "implementation" | "hexversion"),
        Expr::Name(e) => matches!(e.id.as_str(), "__name__" | "__version__"),
        _ => false,
    }
}

fn is_dunder(target: &Expr) -> bool {
    target.as_name_expr().is_some_and(|name| name.id.starts_with("__") && name.id.ends_with("__"))
}

fn is_zero(expr: &Expr) -> bool {
    match expr {
        Expr::NumberLiteral(e) => match &e.value {
            Number::Int(n) => n.as_u64() == Some(0),
            Number::Float(f) => *f == 0.0,
            Number::Complex { .. } => false,
        },
        _ => false,
    }
}

fn is_empty(expr: &Expr) -> bool {
    match expr {
        Expr::List(e) => e.elts.is_empty(),
        Expr::Tuple(e) => e.elts.is_empty(),
        Expr::Dict(e) => e.items.is_empty(),
        Expr::StringLiteral(e) => e.value.is_empty(),
        Expr::BytesLiteral(e) => e.value.is_empty(),
        _ => false,
    }
}

/// Whether an operation gives back its left side: `x + 0`, `x * 1`.
fn is_neutral(token: &str, right: &Expr) -> bool {
    let is_one = matches!(right, Expr::NumberLiteral(e) if matches!(&e.value, Number::Int(n) if n.as_u64() == Some(1)));
    match token {
        "+" | "-" | "|" | "^" | "<<" | ">>" => is_zero(right),
        "*" | "/" | "//" | "**" => is_one,
        _ => false,
    }
}

#[cfg(test)]
mod tests;
