//! Owns constructs by which code tells whether a test runs, and equality that is always true.

use std::borrow::Cow;
use std::collections::HashMap;

use ruff_python_ast::visitor::{Visitor, walk_expr, walk_stmt};
use ruff_python_ast::{CmpOp, ExceptHandler, Expr, ExprCall, Operator, Stmt, StmtFunctionDef, StmtTry};
use ruff_text_size::{Ranged as _, TextSize};

use crate::strength::languages::Sense;
use crate::strength::languages::python::text::File;

/// A file of these words is worth reading.
pub(super) const WORDS: [&str; 16] = [
    "PYTEST_",
    "pytest",
    "unittest",
    "_getframe",
    "inspect",
    "traceback",
    "__eq__",
    "TEST",
    "_called_from_test",
    "hypothesis",
    "environ",
    "getenv",
    "modules",
    "argv",
    "test/",
    "tests/",
];
/// Modules that are loaded where tests run.
const RUNNERS: [&str; 8] = ["pytest", "_pytest", "unittest", "unittest.mock", "nose", "hypothesis", "doctest", "xdist"];
/// Variables that projects set where tests run.
const VARIABLES: [&str; 17] = [
    "TESTING",
    "TEST",
    "TESTS",
    "IN_TEST",
    "IN_TESTS",
    "IS_TEST",
    "IS_TESTING",
    "UNITTEST",
    "UNIT_TEST",
    "UNIT_TESTS",
    "UNIT_TESTING",
    "RUNNING_TEST",
    "RUNNING_TESTS",
    "TEST_ENV",
    "TEST_MODE",
    "TOX_ENV_NAME",
    "TOX_ENV_DIR",
];
const ENDINGS: [&str; 6] = ["_TESTING", "_TEST_MODE", "_UNDER_TEST", "_IN_TEST", "_IN_TESTS", "_RUNNING_TESTS"];
const PYTEST: [&str; 4] = ["PYTEST_CURRENT_TEST", "PYTEST_XDIST_WORKER", "PYTEST_XDIST_TESTRUNUID", "PYTEST_VERSION"];
const MOCKS: [&str; 5] = ["Mock", "MagicMock", "AsyncMock", "NonCallableMock", "NonCallableMagicMock"];

/// Reads the statements of a file.
pub(super) fn read(file: &File<'_>, body: &[Stmt]) -> Vec<Sense> {
    let mut reader = Reader { file, aliases: HashMap::new(), frames: vec![Frame::default()], statements: Vec::new(), found: Vec::new() };
    body.iter().for_each(|stmt| reader.visit_stmt(stmt));
    reader.close();
    reader.found.sort_by_key(|sense| sense.line);
    reader.found
}

/// What is named in one function or one statement.
#[derive(Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is one thing that the frame reads")]
struct Frame<'a> {
    modules: bool,
    argv: bool,
    environment: bool,
    stack: bool,
    texts: Vec<(Cow<'a, str>, TextSize)>,
}

struct Reader<'r, 'a> {
    file: &'r File<'r>,
    aliases: HashMap<&'a str, String>,
    /// Functions, outer ones first; the module is the first.
    frames: Vec<Frame<'a>>,
    statements: Vec<Frame<'a>>,
    found: Vec<Sense>,
}

impl<'a> Reader<'_, 'a> {
    fn note(&mut self, at: TextSize, says: String) {
        self.found.push(Sense { line: self.file.line(at), says });
    }

    /// Judges the innermost function.
    fn close(&mut self) {
        let Some(frame) = self.frames.pop() else { return };
        for (text, at) in &frame.texts {
            let text = &**text;
            if frame.modules && names_runner(text) {
                self.note(*at, format!("looks for {text} among the loaded modules"));
            }
            if frame.stack && is_of_tests(text) {
                self.note(*at, format!("looks for {text:?} in the call stack"));
            }
        }
    }

    /// Judges the innermost statement.
    fn end(&mut self) {
        let Some(frame) = self.statements.pop() else { return };
        for (text, at) in &frame.texts {
            let text = &**text;
            let variable = VARIABLES.contains(&text) || ENDINGS.iter().any(|end| text.ends_with(end)) || text.starts_with("PYTEST_");
            if PYTEST.contains(&text) || frame.environment && variable {
                self.note(*at, format!("asks for the environment variable {text}"));
            }
            if frame.argv && names_runner(text) {
                self.note(*at, format!("looks for {text} in the command line"));
            }
        }
    }

    fn dotted(&self, expr: &Expr) -> Option<String> {
        match expr {
            Expr::Name(name) => Some(self.aliases.get(name.id.as_str()).cloned().unwrap_or_else(|| name.id.to_string())),
            Expr::Attribute(attribute) => Some(format!("{}.{}", self.dotted(&attribute.value)?, attribute.attr)),
            _ => None,
        }
    }

    fn named(&mut self, name: &str, at: TextSize) {
        let stack = [
            "inspect.stack",
            "inspect.currentframe",
            "inspect.trace",
            "sys._getframe",
            "sys._current_frames",
            "traceback.extract_stack",
            "traceback.format_stack",
            "traceback.walk_stack",
        ];
        for frame in self.frames.last_mut().into_iter().chain(self.statements.last_mut()) {
            frame.modules |= name == "sys.modules";
            frame.argv |= matches!(name, "sys.argv" | "sys.orig_argv" | "__main__.__file__" | "__main__.__spec__");
            frame.environment |= matches!(name, "os.environ" | "os.getenv" | "os.environb");
            frame.stack |= stack.contains(&name);
        }
        if name.ends_with("_called_from_test") {
            self.note(at, "asks for _called_from_test".to_owned());
        }
    }

    fn text(&mut self, text: Cow<'a, str>, at: TextSize) {
        if let Some(frame) = self.frames.last_mut() {
            frame.texts.push((text.clone(), at));
        }
        if let Some(statement) = self.statements.last_mut() {
            statement.texts.push((text, at));
        }
    }

    /// Calls that tell it by one argument.
    fn call(&mut self, call: &ExprCall) {
        let name = self.dotted(&call.func).unwrap_or_default();
        let argument = |at: usize| {
            let value = call.arguments.args.get(at)?;
            value.as_string_literal_expr().map(|text| text.value.to_str().to_owned()).or_else(|| sum(value))
        };
        match name.rsplit('.').next().unwrap_or_default() {
            "isinstance" => {
                let class = call.arguments.args.get(1).and_then(|class| self.dotted(class)).unwrap_or_default();
                if class.contains("mock") && MOCKS.contains(&class.rsplit('.').next().unwrap_or_default()) {
                    self.note(call.start(), format!("asks whether something is a {class}"));
                }
            }
            "hasattr" | "getattr" if argument(1).is_some_and(|text| text.ends_with("_called_from_test")) => {
                self.note(call.start(), "asks for _called_from_test".to_owned());
            }
            "find_spec" | "find_loader" => {
                let found = argument(0).filter(|text| names_runner(text));
                found.into_iter().for_each(|text| self.note(call.start(), format!("asks whether {text} is installed")));
            }
            "exists" | "isfile" | "lexists" | "open" | "Path" | "stat" | "getsize" | "getmtime" => {
                let file = argument(0).filter(|text| is_test_file(text));
                file.into_iter().for_each(|text| self.note(call.start(), format!("asks for a file of the tests, {text:?}")));
            }
            _ => {}
        }
    }

    fn imported(&mut self, stmt: &'a Stmt) {
        match stmt {
            Stmt::Import(import) => {
                for alias in import.names.iter().filter(|alias| alias.asname.is_some()) {
                    let name = alias.asname.as_ref().map_or(alias.name.as_str(), |name| name.as_str());
                    self.aliases.insert(name, alias.name.to_string());
                }
            }
            Stmt::ImportFrom(import) => {
                let module = import.module.as_ref().map(ToString::to_string).unwrap_or_default();
                for alias in &import.names {
                    let name = alias.asname.as_ref().map_or(alias.name.as_str(), |name| name.as_str());
                    self.aliases.insert(name, format!("{module}.{}", alias.name));
                }
            }
            _ => {}
        }
    }
}

/// Deepest sum of texts that is joined.
const MOST_JOINED: usize = 16;

/// A module or a path of a runner: `pytest`, `_pytest.python`, `pytest/__main__.py`.
fn names_runner(text: &str) -> bool {
    let plain = text.len() < 200 && !text.contains(char::is_whitespace);
    let file = [".ini", ".toml", ".cfg", ".xml", ".json", ".log", ".txt"].iter().any(|end| text.ends_with(end));
    let module = !file && text.split('.').next().is_some_and(|first| RUNNERS.contains(&first));
    plain && (module || text.split(['/', '\\']).any(|part| RUNNERS.contains(&part)))
}

/// A file of the test side: a test, a snapshot, a set-up file.
fn is_test_file(text: &str) -> bool {
    let text = text.trim_start_matches("./");
    let inside = ["tests/", "test/"].iter().any(|folder| text.starts_with(folder) || text.contains(&format!("/{folder}")));
    let name = text.rsplit('/').next().unwrap_or(text);
    let python = name.strip_suffix(".py");
    let test = python.is_some_and(|stem| stem == "conftest" || stem.starts_with("test_") || stem.ends_with("_test"));
    text.contains("__snapshots__/") || (inside && (test || name.ends_with(".snap") || name.ends_with(".ambr")))
}

/// Texts that are joined by `+`.
fn sum(expr: &Expr) -> Option<String> {
    let mut parts = Vec::new();
    let mut place = expr;
    while let Expr::BinOp(binary) = place {
        if binary.op != Operator::Add || parts.len() >= MOST_JOINED {
            return None;
        }
        parts.push(binary.right.as_string_literal_expr()?.value.to_str());
        place = &binary.left;
    }
    parts.push(place.as_string_literal_expr()?.value.to_str());
    Some(parts.into_iter().rev().collect())
}

/// Whether `try: import pytest` sets a flag.
fn flags_pytest(tried: &StmtTry) -> bool {
    let pytest = |name: &str| matches!(name.split('.').next(), Some("pytest" | "_pytest"));
    let imports = |stmt: &Stmt| match stmt {
        Stmt::Import(import) => import.names.iter().any(|alias| pytest(&alias.name)),
        Stmt::ImportFrom(import) => import.level == 0 && import.module.as_ref().is_some_and(|module| pytest(module)),
        _ => false,
    };
    let flag = |stmt: &Stmt| matches!(stmt, Stmt::Assign(assign) if assign.value.is_boolean_literal_expr());
    let mut handlers = tried.handlers.iter().map(|ExceptHandler::ExceptHandler(handler)| handler);
    tried.body.iter().any(imports)
        && (tried.body.iter().chain(&tried.orelse).any(flag) || handlers.any(|handler| handler.body.iter().any(flag)))
}

/// A text that names tests: a prefix of their names, their runner, their folder.
fn is_of_tests(text: &str) -> bool {
    text.starts_with("test_")
        || text.starts_with("tests/")
        || RUNNERS.contains(&text)
        || ["pytest", "unittest", "/tests/", "conftest"].iter().any(|word| text.contains(word))
        || matches!(text, "test" | "tests")
}

/// An answer that is yes whatever is asked: `True`, or no more than that there is something.
fn is_yes(value: &Expr) -> bool {
    match value {
        Expr::BooleanLiteral(yes) => yes.value,
        Expr::Compare(compare) => {
            matches!(&*compare.ops, [CmpOp::IsNot | CmpOp::NotEq])
                && compare.left.is_name_expr()
                && compare.comparators.first().is_some_and(Expr::is_none_literal_expr)
        }
        Expr::Call(call) => {
            let name = |expr: &Expr, word: &str| expr.as_name_expr().is_some_and(|name| name.id.as_str() == word);
            name(&call.func, "isinstance") && call.arguments.args.get(1).is_some_and(|class| name(class, "object"))
        }
        _ => false,
    }
}

/// Whether a method says yes whatever it is asked, and nothing is raised.
fn is_constant(def: &StmtFunctionDef) -> bool {
    #[derive(Default)]
    struct Ends {
        yes: usize,
        others: usize,
    }
    impl<'a> Visitor<'a> for Ends {
        fn visit_stmt(&mut self, stmt: &'a Stmt) {
            match stmt {
                Stmt::Return(end) if end.value.as_deref().is_some_and(is_yes) => self.yes += 1,
                Stmt::Return(_) | Stmt::Raise(_) => self.others += 1,
                Stmt::FunctionDef(_) | Stmt::ClassDef(_) => {}
                _ => walk_stmt(self, stmt),
            }
        }
    }
    let mut ends = Ends::default();
    def.body.iter().for_each(|stmt| ends.visit_stmt(stmt));
    ends.yes > 0 && ends.others == 0
}

fn is_constant_lambda(value: &Expr) -> bool {
    value.as_lambda_expr().is_some_and(|lambda| is_yes(&lambda.body))
}

impl<'a> Visitor<'a> for Reader<'_, 'a> {
    fn visit_stmt(&mut self, stmt: &'a Stmt) {
        self.imported(stmt);
        if let Stmt::ClassDef(class) = stmt {
            for inner in &class.body {
                let constant = match inner {
                    Stmt::FunctionDef(def) => def.name.as_str() == "__eq__" && is_constant(def),
                    Stmt::Assign(assign) => {
                        let named = assign.targets.iter().any(|t| t.as_name_expr().is_some_and(|name| name.id.as_str() == "__eq__"));
                        named && is_constant_lambda(&assign.value)
                    }
                    _ => false,
                };
                if constant {
                    self.note(inner.start(), format!("{}.__eq__ is always true", class.name));
                }
            }
        }
        if let Stmt::Try(tried) = stmt
            && flags_pytest(tried)
        {
            self.note(stmt.start(), "keeps whether pytest can be imported".to_owned());
        }
        if matches!(stmt, Stmt::Expr(expr) if expr.value.is_string_literal_expr()) {
            return;
        }
        let function = stmt.is_function_def_stmt();
        if function {
            self.frames.push(Frame::default());
        }
        self.statements.push(Frame::default());
        walk_stmt(self, stmt);
        self.end();
        if function {
            self.close();
        }
    }

    fn visit_expr(&mut self, expr: &'a Expr) {
        match expr {
            Expr::StringLiteral(text) => self.text(Cow::Borrowed(text.value.to_str()), text.start()),
            Expr::BinOp(_) => {
                if let Some(whole) = sum(expr) {
                    self.text(Cow::Owned(whole), expr.start());
                    return;
                }
            }
            Expr::Call(call) => self.call(call),
            Expr::Name(_) | Expr::Attribute(_) => {
                if let Some(name) = self.dotted(expr) {
                    self.named(&name, expr.start());
                }
            }
            _ => {}
        }
        walk_expr(self, expr);
    }
}
