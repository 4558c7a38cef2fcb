//! Owns statements of a module that put something else in the place of a part of another one: `pytest.raises = …`, `setattr(…)`.

use std::collections::{BTreeMap, BTreeSet};

use ruff_python_ast::{Expr, ExprCall, Stmt};

/// What is imported and defined at the top of a file.
#[derive(Default)]
pub(super) struct Replaced {
    /// Local names and the modules that they come from.
    imported: BTreeMap<String, String>,
    /// Functions and classes of the file.
    defined: BTreeSet<String>,
}

impl Replaced {
    /// Reads the statements of a module.
    pub(super) fn read(body: &[Stmt]) -> Self {
        let mut patches = Replaced::default();
        for stmt in body {
            match stmt {
                Stmt::Import(import) => {
                    for alias in &import.names {
                        let whole = alias.name.to_string();
                        let local = alias.asname.as_ref().map_or_else(|| first(&whole).to_owned(), ToString::to_string);
                        patches.imported.insert(local, whole);
                    }
                }
                Stmt::ImportFrom(import) if import.level == 0 => {
                    let module = import.module.as_ref().map(ToString::to_string).unwrap_or_default();
                    for alias in &import.names {
                        patches.imported.insert(alias.asname.as_ref().unwrap_or(&alias.name).to_string(), module.clone());
                    }
                }
                Stmt::FunctionDef(def) => drop(patches.defined.insert(def.name.to_string())),
                Stmt::ClassDef(class) => drop(patches.defined.insert(class.name.to_string())),
                _ => {}
            }
        }
        patches
    }

    /// The module that a statement changes.
    pub(super) fn module(&self, stmt: &Stmt) -> Option<String> {
        match stmt {
            Stmt::Assign(assign) if self.replaces(&assign.value) => {
                assign.targets.iter().find_map(|target| self.owner(&target.as_attribute_expr()?.value))
            }
            Stmt::Expr(expr) => {
                let call = expr.value.as_call_expr()?;
                let [owner, _, value] = &*call.arguments.args else { return None };
                let sets = call.func.as_name_expr().is_some_and(|name| name.id.as_str() == "setattr");
                self.owner(owner).filter(|_| sets && self.replaces(value))
            }
            _ => None,
        }
    }

    /// The imported module that an expression begins with.
    fn owner(&self, expr: &Expr) -> Option<String> {
        let mut place = expr;
        while let Expr::Attribute(attribute) = place {
            place = &attribute.value;
        }
        self.imported.get(place.as_name_expr()?.id.as_str()).cloned()
    }

    /// Whether a value is code: a constant or a plain object in its place is configuration.
    fn replaces(&self, value: &Expr) -> bool {
        match value {
            Expr::Lambda(_) => true,
            Expr::Name(name) => self.defined.contains(name.id.as_str()),
            Expr::Attribute(attribute) => attribute.value.as_name_expr().is_some_and(|name| name.id.as_str() == "contextlib"),
            Expr::Call(call) => makes_code(call),
            _ => false,
        }
    }
}

fn makes_code(call: &ExprCall) -> bool {
    let name = match &*call.func {
        Expr::Name(name) => name.id.as_str(),
        Expr::Attribute(attribute) => attribute.attr.as_str(),
        _ => return false,
    };
    matches!(name, "type" | "partial" | "Mock" | "MagicMock" | "AsyncMock" | "NonCallableMock" | "create_autospec")
}

fn first(module: &str) -> &str {
    module.split('.').next().unwrap_or(module)
}
