//! Owns what a file tells pytest besides its tests: hooks and fixtures with what they can do to outcomes, and files left out.

use std::collections::{BTreeMap, BTreeSet};

use ruff_python_ast::visitor::{Visitor, walk_expr, walk_stmt};
use ruff_python_ast::{Expr, ExprCall, Stmt, StmtFunctionDef};
use ruff_text_size::{Ranged as _, TextRange};

use crate::strength::languages::python::names::Names;
use crate::strength::languages::python::replaced::Replaced;
use crate::strength::languages::python::text::File;

/// What one function of pytest's machinery can do.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Hook {
    /// 1-based line.
    pub line: u32,
    /// Statements that drop tests or rewrite outcomes, as canonical text.
    pub effects: BTreeSet<String>,
    /// Statements that put something else in the place of the real thing.
    pub stubs: BTreeSet<String>,
    /// SHA-256 of the body and of what its names lead to in this file.
    pub body_sha256: String,
    /// A fixture that every test gets.
    pub autouse: bool,
}

/// What a file tells pytest.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Hooks {
    /// Functions named `pytest_*`.
    pub hooks: BTreeMap<String, Hook>,
    /// Fixtures, by their names.
    pub fixtures: BTreeMap<String, Hook>,
    /// Entries of `collect_ignore` and `collect_ignore_glob` with their lines: paths as they are, other expressions in parentheses.
    pub ignored: BTreeMap<String, u32>,
    /// Statements of the module itself that end or skip a run.
    pub top: BTreeMap<String, u32>,
    /// Statements of the module itself that put something else in the place of a part of another module: the module, and the line.
    pub patched: BTreeMap<String, (String, u32)>,
}

/// Hooks whose answer takes the place of pytest's own work.
const ANSWERING: [&str; 11] = [
    "pytest_ignore_collect",
    "pytest_runtest_protocol",
    "pytest_pyfunc_call",
    "pytest_cmdline_main",
    "pytest_runtestloop",
    "pytest_collection",
    "pytest_pycollect_makeitem",
    "pytest_pycollect_makemodule",
    "pytest_collect_directory",
    "pytest_runtest_makereport",
    "pytest_make_collect_report",
];
/// Attributes that decide which tests run and what their outcome is.
const DECISIVE: [&str; 17] = [
    "outcome",
    "longrepr",
    "wasxfail",
    "exitstatus",
    "testsfailed",
    "shouldfail",
    "shouldstop",
    "excinfo",
    "runtest",
    "keyword",
    "markexpr",
    "deselect",
    "collectonly",
    "lf",
    "ignore",
    "reruns",
    "obj",
];
/// Functions that only look at the items.
const LOOKING: [&str; 15] =
    ["sorted", "len", "enumerate", "list", "iter", "reversed", "tuple", "set", "any", "all", "zip", "map", "filter", "print", "sum"];
const STUBS: [&str; 8] = ["Mock", "MagicMock", "AsyncMock", "NonCallableMock", "PropertyMock", "create_autospec", "mock_open", "patch"];

/// Reads the statements of a file.
pub(super) fn read(file: &File<'_>, body: &[Stmt]) -> Hooks {
    let names = Names::read(file, body);
    let mut reader = Reader { file, names: &names, replaced: Replaced::read(body), hooks: Hooks::default() };
    reader.block(body);
    reader.hooks
}

struct Reader<'r, 'a> {
    file: &'r File<'r>,
    names: &'r Names<'a>,
    replaced: Replaced,
    hooks: Hooks,
}

impl Reader<'_, '_> {
    fn block(&mut self, body: &[Stmt]) {
        for stmt in body {
            self.ignores(stmt);
            if let Some(module) = self.replaced.module(stmt) {
                self.hooks.patched.insert(self.file.plain(stmt.range(), &[]), (module, self.file.line(stmt.start())));
            }
            match stmt {
                Stmt::FunctionDef(def) => self.function(def),
                Stmt::ClassDef(class) => self.block(&class.body),
                Stmt::If(branch) => {
                    self.block(&branch.body);
                    branch.elif_else_clauses.iter().for_each(|clause| self.block(&clause.body));
                }
                Stmt::Try(tried) => {
                    self.block(&tried.body);
                    self.block(&tried.orelse);
                    self.block(&tried.finalbody);
                    tried.handlers.iter().filter_map(|handler| handler.as_except_handler()).for_each(|handler| self.block(&handler.body));
                }
                Stmt::With(with) => self.block(&with.body),
                Stmt::Expr(expr) if expr.value.as_call_expr().is_some_and(ends_a_run) => {
                    self.hooks.top.insert(self.file.plain(stmt.range(), &[]), self.file.line(stmt.start()));
                }
                _ => {}
            }
        }
    }

    fn function(&mut self, def: &StmtFunctionDef) {
        let name = def.name.to_string();
        let fixture = def.decorator_list.iter().map(|d| &d.expression).find_map(fixture);
        if fixture.is_none() && !name.starts_with("pytest_") {
            return;
        }
        let mut effects = Effects {
            file: self.file,
            hook: &name,
            wraps: yields(&def.body),
            effects: BTreeSet::new(),
            stubs: BTreeSet::new(),
            named: BTreeSet::new(),
        };
        def.body.iter().for_each(|stmt| effects.visit_stmt(stmt));
        let ranges: Vec<TextRange> = def.body.iter().map(Stmt::range).collect();
        let behind = self.names.fingerprint(&effects.named).unwrap_or_default();
        let body_sha256 = format!("{}{behind}", self.file.sha256(&ranges, &[]));
        let (effects, stubs) = (effects.effects, effects.stubs);
        let line = self.file.line(def.name.start());
        let hook = Hook { line, effects, stubs, body_sha256, autouse: fixture.as_ref().is_some_and(|(autouse, _)| *autouse) };
        match fixture {
            Some((_, alias)) => self.hooks.fixtures.insert(alias.unwrap_or(name), hook),
            None => self.hooks.hooks.insert(name, hook),
        };
    }

    /// `collect_ignore = […]`, `collect_ignore += […]`, `collect_ignore.append(…)`.
    fn ignores(&mut self, stmt: &Stmt) {
        let is_list =
            |expr: &Expr| expr.as_name_expr().is_some_and(|name| matches!(name.id.as_str(), "collect_ignore" | "collect_ignore_glob"));
        match stmt {
            Stmt::Assign(assign) if assign.targets.iter().any(is_list) => self.entries(&assign.value),
            Stmt::AugAssign(assign) if is_list(&assign.target) => self.entries(&assign.value),
            Stmt::AnnAssign(assign) if is_list(&assign.target) => assign.value.iter().for_each(|value| self.entries(value)),
            Stmt::Expr(expr) => {
                if let Expr::Call(call) = &*expr.value
                    && call.func.as_attribute_expr().is_some_and(|method| is_list(&method.value))
                {
                    call.arguments.args.iter().for_each(|value| self.entries(value));
                }
            }
            _ => {}
        }
    }

    fn entries(&mut self, value: &Expr) {
        let line = self.file.line(value.start());
        match value {
            Expr::List(list) => list.elts.iter().for_each(|item| self.entries(item)),
            Expr::Tuple(list) => list.elts.iter().for_each(|item| self.entries(item)),
            Expr::StringLiteral(text) => drop(self.hooks.ignored.insert(text.value.to_str().to_owned(), line)),
            other => drop(self.hooks.ignored.insert(format!("({})", self.file.plain(other.range(), &[])), line)),
        }
    }
}

/// Whether a decorator makes a fixture: whether every test gets it, and its own name.
fn fixture(decorator: &Expr) -> Option<(bool, Option<String>)> {
    let call = decorator.as_call_expr();
    let name = dotted(call.map_or(decorator, |call| &call.func))?;
    if !matches!(name.rsplit('.').next(), Some("fixture" | "yield_fixture")) {
        return None;
    }
    let keyword = |key: &str| call.and_then(|call| call.arguments.find_keyword(key)).map(|keyword| &keyword.value);
    let autouse = keyword("autouse").is_some_and(|value| !matches!(value, Expr::BooleanLiteral(no) if !no.value));
    Some((autouse, keyword("name").and_then(|value| value.as_string_literal_expr()).map(|text| text.value.to_str().to_owned())))
}

fn dotted(expr: &Expr) -> Option<String> {
    match expr {
        Expr::Name(name) => Some(name.id.to_string()),
        Expr::Attribute(attribute) => Some(format!("{}.{}", dotted(&attribute.value).unwrap_or_default(), attribute.attr)),
        _ => None,
    }
}

fn ends_a_run(call: &ExprCall) -> bool {
    let name = dotted(&call.func).unwrap_or_default();
    matches!(
        name.as_str(),
        "pytest.skip"
            | "pytest.xfail"
            | "pytest.exit"
            | "pytest.importorskip"
            | "os._exit"
            | "sys.exit"
            | "skip"
            | "xfail"
            | "importorskip"
    ) || (name.ends_with("atexit.register") && ends_later(call))
}

/// `atexit.register(os._exit, 0)`.
fn ends_later(call: &ExprCall) -> bool {
    let exits = |expr: &Expr| dotted(expr).is_some_and(|name| name.ends_with("_exit"));
    match call.arguments.args.first() {
        Some(Expr::Lambda(lambda)) => lambda.body.as_call_expr().is_some_and(|call| exits(&call.func)),
        Some(first) => exits(first),
        None => false,
    }
}

#[derive(Default)]
struct Yields(bool);

impl<'a> Visitor<'a> for Yields {
    fn visit_expr(&mut self, expr: &'a Expr) {
        self.0 |= expr.is_yield_expr();
        walk_expr(self, expr);
    }

    fn visit_stmt(&mut self, stmt: &'a Stmt) {
        if !stmt.is_function_def_stmt() {
            walk_stmt(self, stmt);
        }
    }
}

fn yields(body: &[Stmt]) -> bool {
    let mut yields = Yields::default();
    body.iter().for_each(|stmt| yields.visit_stmt(stmt));
    yields.0
}

struct Effects<'e> {
    file: &'e File<'e>,
    hook: &'e str,
    /// It only wraps pytest's own work.
    wraps: bool,
    effects: BTreeSet<String>,
    stubs: BTreeSet<String>,
    named: BTreeSet<String>,
}

impl Effects<'_> {
    /// Whether the hook may change the command line.
    fn loads(&self) -> bool {
        matches!(self.hook, "pytest_load_initial_conftests" | "pytest_cmdline_preparse")
    }

    /// Whether an assignment to `args` puts the words back that were given, and selects none of the tests.
    fn keeps(&self, range: TextRange) -> bool {
        let text = self.file.plain(range, &[]);
        let selects = ["-k", "-m", "--deselect", "--ignore", "--co", "--lf"].iter().any(|word| text.contains(word));
        text.split_once('=').is_some_and(|(_, value)| value.contains("args")) && !selects
    }

    fn note(&mut self, range: TextRange) {
        self.effects.insert(self.file.plain(range, &[]));
    }

    fn assigned(&mut self, target: &Expr, range: TextRange) {
        match target {
            Expr::Subscript(place) if is_items(&place.value) => self.note(range),
            Expr::Subscript(place) if self.loads() && is_named(&place.value, "args") && !self.keeps(range) => self.note(range),
            Expr::Attribute(place) => {
                let option = dotted(&place.value).is_some_and(|value| value.ends_with("option"));
                if DECISIVE.contains(&place.attr.as_str()) || option && matches!(place.attr.as_str(), "args" | "file_or_dir") {
                    self.note(range);
                }
            }
            Expr::Tuple(parts) => parts.elts.iter().for_each(|part| self.assigned(part, range)),
            _ => {}
        }
    }

    fn call(&mut self, call: &ExprCall) {
        let name = dotted(&call.func).unwrap_or_default();
        let last = name.rsplit('.').next().unwrap_or_default();
        let arguments = &call.arguments.args;
        let text =
            |at: usize| arguments.get(at).and_then(|a| a.as_string_literal_expr()).map(|t| t.value.to_str().to_owned()).unwrap_or_default();
        let marks =
            || arguments.iter().any(|a| ["skip", "xfail", "flaky"].iter().any(|word| self.file.plain(a.range(), &[]).contains(word)));
        let passes_items = self.hook == "pytest_collection_modifyitems" && !LOOKING.contains(&last) && arguments.iter().any(is_items);
        let mutates = matches!(name.as_str(), "items.remove" | "items.pop" | "items.clear" | "items.__delitem__" | "items.__setitem__");
        let decisive = matches!(last, "force_result" | "force_exception" | "pytest_deselected")
            || (last == "setattr" && DECISIVE.contains(&text(1).as_str()));
        if ends_a_run(call) || (last == "add_marker" && marks()) || passes_items || mutates || decisive {
            self.note(call.range());
        }
        if STUBS.contains(&last) || name.starts_with("patch.") || name.contains(".patch.") || name.ends_with("patch.setattr") {
            self.stubs.insert(self.file.plain(call.range(), &[]));
        }
    }
}

fn is_named(expr: &Expr, word: &str) -> bool {
    expr.as_name_expr().is_some_and(|name| name.id.as_str() == word)
}

fn is_items(expr: &Expr) -> bool {
    matches!(expr, Expr::Name(name) if name.id.as_str() == "items")
        || matches!(expr, Expr::Attribute(a) if a.attr.as_str() == "items" && a.value.is_name_expr())
}

fn says_no(value: Option<&Expr>) -> bool {
    value.is_none_or(|value| value.is_none_literal_expr() || matches!(value, Expr::BooleanLiteral(no) if !no.value))
}

impl<'a> Visitor<'a> for Effects<'_> {
    fn visit_stmt(&mut self, stmt: &'a Stmt) {
        match stmt {
            Stmt::Assign(assign) => {
                assign.targets.iter().for_each(|target| self.assigned(target, assign.range()));
                if self.hook == "pytest_collection_modifyitems" && is_items(&assign.value) {
                    self.note(assign.range());
                }
            }
            Stmt::AugAssign(assign) => self.assigned(&assign.target, assign.range()),
            Stmt::Delete(delete) => delete.targets.iter().for_each(|target| self.assigned(target, delete.range())),
            Stmt::Return(end) if !self.wraps && ANSWERING.contains(&self.hook) && !says_no(end.value.as_deref()) => self.note(end.range()),
            Stmt::Try(tried) if self.wraps && self.hook.starts_with("pytest_") && yields(&tried.body) => {
                let handlers = tried.handlers.iter().filter_map(|handler| handler.as_except_handler());
                for handler in handlers.filter(|handler| !handler.body.iter().any(Stmt::is_raise_stmt)) {
                    self.note(handler.range());
                }
            }
            _ => {}
        }
        walk_stmt(self, stmt);
    }

    fn visit_expr(&mut self, expr: &'a Expr) {
        match expr {
            Expr::Name(name) => drop(self.named.insert(name.id.to_string())),
            Expr::Call(call) => self.call(call),
            _ => {}
        }
        walk_expr(self, expr);
    }
}
