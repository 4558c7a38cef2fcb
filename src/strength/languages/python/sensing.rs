//! Owns constructs by which code tells whether a test runs, and equality that is always true.

use std::collections::HashMap;

use ruff_python_ast::visitor::{Visitor, walk_expr, walk_stmt};
use ruff_python_ast::{Expr, Stmt, StmtFunctionDef};
use ruff_text_size::{Ranged as _, TextSize};

use crate::strength::languages::python::text::File;

/// One such construct.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sense {
    /// 1-based line.
    pub line: u32,
    /// What it does, without its place: equal for equal constructs.
    pub says: String,
}

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
    texts: Vec<(&'a str, TextSize)>,
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
            if frame.modules && RUNNERS.contains(text) {
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
            let variable = VARIABLES.contains(text) || ENDINGS.iter().any(|end| text.ends_with(end)) || text.starts_with("PYTEST_");
            if PYTEST.contains(text) || frame.environment && variable {
                self.note(*at, format!("asks for the environment variable {text}"));
            }
            if frame.argv && RUNNERS.iter().any(|runner| text == runner || text.ends_with(&format!("/{runner}"))) {
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
            "traceback.extract_stack",
            "traceback.format_stack",
            "traceback.walk_stack",
        ];
        for frame in self.frames.last_mut().into_iter().chain(self.statements.last_mut()) {
            frame.modules |= name == "sys.modules";
            frame.argv |= matches!(name, "sys.argv" | "sys.orig_argv");
            frame.environment |= matches!(name, "os.environ" | "os.getenv" | "os.environb");
            frame.stack |= stack.contains(&name);
        }
        if name.ends_with("_called_from_test") {
            self.note(at, "asks for _called_from_test".to_owned());
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

/// A text that names tests: a prefix of their names, their runner, their folder.
fn is_of_tests(text: &str) -> bool {
    text.starts_with("test_")
        || RUNNERS.contains(&text)
        || ["pytest", "unittest", "/tests/", "conftest"].iter().any(|word| text.contains(word))
        || matches!(text, "test" | "tests")
}

/// Whether a method says yes whatever it is asked: every `return` is `True`, and nothing is raised.
fn is_constant(def: &StmtFunctionDef) -> bool {
    #[derive(Default)]
    struct Ends {
        yes: usize,
        others: usize,
    }
    impl<'a> Visitor<'a> for Ends {
        fn visit_stmt(&mut self, stmt: &'a Stmt) {
            match stmt {
                Stmt::Return(end) if matches!(end.value.as_deref(), Some(Expr::BooleanLiteral(b)) if b.value) => self.yes += 1,
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
    value.as_lambda_expr().is_some_and(|lambda| matches!(&*lambda.body, Expr::BooleanLiteral(yes) if yes.value))
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
            Expr::StringLiteral(text) => {
                let entry = (text.value.to_str(), text.start());
                self.frames.last_mut().into_iter().chain(self.statements.last_mut()).for_each(|frame| frame.texts.push(entry));
            }
            Expr::Name(_) | Expr::Attribute(_) => {
                if let Some(name) = self.dotted(expr) {
                    self.named(&name, expr.start());
                }
            }
            Expr::Call(call) if call.func.as_name_expr().is_some_and(|name| name.id.as_str() == "isinstance") => {
                let class = call.arguments.args.get(1).and_then(|class| self.dotted(class)).unwrap_or_default();
                if class.contains("mock") && MOCKS.contains(&class.rsplit('.').next().unwrap_or_default()) {
                    self.note(call.start(), format!("asks whether something is a {class}"));
                }
            }
            _ => {}
        }
        walk_expr(self, expr);
    }
}
