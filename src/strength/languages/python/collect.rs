//! Owns what a file defines: classes, functions, fixtures, tests bound by assignment, and names for other modules.

use std::collections::{BTreeMap, BTreeSet};

use ruff_python_ast::{Expr, Stmt, StmtAssign, StmtClassDef, StmtFor, StmtFunctionDef, StmtIf};
use ruff_text_size::{Ranged as _, TextRange};

use crate::strength::card::Assertion;
use crate::strength::domain::{Argument, Domain, Origin, Strategy, Table};
use crate::strength::effort::{Budget, Does, Mark};
use crate::strength::languages::facts::{Class, Function, Meaning, Module, Name, Role};
use crate::strength::languages::python::body::Body;
use crate::strength::languages::python::budget::{Profiles, settings};
use crate::strength::languages::python::cases::{cases, loop_table, mark};
use crate::strength::languages::python::claims::{self, Told};
use crate::strength::languages::python::effort;
use crate::strength::languages::python::exports::exports;
use crate::strength::languages::python::literal::{Value, fold};
use crate::strength::languages::python::machine;
use crate::strength::languages::python::marks;
use crate::strength::languages::python::names::{Bound, Names, Scope, layer};
use crate::strength::languages::python::paths::Named;
use crate::strength::languages::python::reach::truth;
use crate::strength::languages::python::rebinds;
use crate::strength::languages::python::signatures;
use crate::strength::languages::python::strategies::{as_given, given, own_layer, statements, strategy};
use crate::strength::languages::python::text::sha256_of;
use crate::strength::languages::python::write::{canonical, opaque, plain};

/// Bases of a class that are looked at.
const BASES: usize = 32;
/// Tables of one function, names of them all and arguments that are kept.
const TABLES: usize = 64;
const NAMES: usize = 512;
/// Draws of one body that are carded one by one.
const DRAWS: usize = 256;

/// Reads a whole file.
pub(super) fn module<'a>(body: &'a [Stmt], names: &Names<'a>) -> Module {
    let scope = names.scope();
    let mut marks = Domain::default();
    if let Some(Bound::Once(value)) = names.top.get("pytestmark") {
        mark(value, &scope, &mut marks);
    }
    let mut collector = Collector {
        names,
        named: Named::new(names),
        module: Module::default(),
        marks,
        silenced: BTreeSet::new(),
        machines: BTreeSet::new(),
        profiles: Profiles::default(),
        settled: BTreeMap::new(),
        conditions: Vec::new(),
        guarded: false,
    };
    collector.block(body, None, &scope);
    let (profiles, settled) = (std::mem::take(&mut collector.profiles), std::mem::take(&mut collector.settled));
    let silenced = std::mem::take(&mut collector.silenced);
    let mut module = collector.module;
    for function in module.functions.iter_mut().filter(|f| f.class.is_none()) {
        function.disabled |= silenced.contains(&function.name);
    }
    module.disabled = silenced.contains("");
    for (at, function) in module.functions.iter().enumerate() {
        if let Some(class) = function.class.and_then(|class| module.classes.get_mut(class)) {
            class.functions.push(at);
        }
    }
    module.effort = effort::of_module(body, &names.top, &scope);
    for function in module.functions.iter_mut().filter(|f| f.class.is_none()) {
        settled.get(&function.name).cloned().into_iter().for_each(|set| function.effort.budget.under(set));
    }
    module.effort.budget = profiles.loaded().cloned().unwrap_or_default();
    let profiles = profiles.named().into_iter();
    module.names.extend(profiles.map(|(name, line, budget)| (name, Name { line, meaning: Meaning::Settings(budget) })));
    exports(names, &mut module);
    module.signatures = signatures::read(names);
    module
}

struct Collector<'n, 'a> {
    names: &'n Names<'a>,
    named: Named<'n, 'a>,
    module: Module,
    marks: Domain,
    /// Functions with `name.__test__ = False`; the empty name is the module.
    silenced: BTreeSet<String>,
    /// Classes that are machines: their methods are told by the machine.
    machines: BTreeSet<usize>,
    profiles: Profiles,
    /// `TestX.settings = settings(…)`.
    settled: BTreeMap<String, Budget>,
    /// What keeps the definitions that are read now from being made, one text for each block around.
    conditions: Vec<String>,
    /// Whether a `try` or loop stands around.
    guarded: bool,
}

impl<'a> Collector<'_, 'a> {
    fn block(&mut self, stmts: &'a [Stmt], class: Option<usize>, scope: &Scope<'_, 'a>) {
        for stmt in stmts {
            match stmt {
                Stmt::FunctionDef(def) => self.function(def, class, scope),
                Stmt::ClassDef(def) => self.class(def, class, scope),
                Stmt::Assign(assign) => self.assigned(assign, class, scope),
                Stmt::If(s) => self.branches(s, class, scope),
                Stmt::Try(s) => {
                    let around = std::mem::replace(&mut self.guarded, true);
                    self.block(&s.body, class, scope);
                    s.handlers.iter().filter_map(|h| h.as_except_handler()).for_each(|h| self.block(&h.body, class, scope));
                    self.block(&s.orelse, class, scope);
                    self.block(&s.finalbody, class, scope);
                    self.guarded = around;
                }
                Stmt::With(s) => self.block(&s.body, class, scope),
                Stmt::For(s) => {
                    self.block(&s.body, class, scope);
                    self.block(&s.orelse, class, scope);
                }
                Stmt::While(s) => {
                    self.block(&s.body, class, scope);
                    self.block(&s.orelse, class, scope);
                }
                Stmt::Match(s) => s.cases.iter().for_each(|c| self.block(&c.body, class, scope)),
                Stmt::Expr(_) if class.is_none() => {
                    self.profiles.read(stmt, scope);
                    rebinds::removed(stmt, class, scope, &mut self.module);
                }
                Stmt::Delete(_) => rebinds::removed(stmt, class, scope, &mut self.module),
                _ => {}
            }
        }
    }

    /// What stands under a condition is defined only where it holds.
    fn branches(&mut self, s: &'a StmtIf, class: Option<usize>, scope: &Scope<'_, 'a>) {
        let before = self.conditions.len();
        let arms = std::iter::once((Some(&*s.test), &s.body)).chain(s.elif_else_clauses.iter().map(|c| (c.test.as_ref(), &c.body)));
        for (test, body) in arms {
            let known = test.and_then(|test| truth(test, scope));
            if known == Some(false) {
                continue;
            }
            let depth = self.conditions.len();
            self.conditions.extend(test.filter(|_| known.is_none()).map(|test| marks::negated(test, scope)));
            self.block(body, class, scope);
            self.conditions.truncate(depth);
            match test {
                Some(_) if known == Some(true) => break,
                Some(test) => self.conditions.push(canonical(test, scope)),
                None => {}
            }
        }
        self.conditions.truncate(before);
    }

    /// A second class of a name takes the place of the first; under a condition it may not.
    fn shadow(&mut self, name: &str, outer: Option<usize>, scope: &Scope<'_, 'a>) {
        if !self.conditions.is_empty() || self.guarded || scope.spend(self.module.classes.len() / 16).is_none() {
            return;
        }
        if let Some(first) = rebinds::class_named(name, outer, &self.module) {
            self.module.classes[first].collect = Some(false);
        }
    }

    fn class(&mut self, def: &'a StmtClassDef, outer: Option<usize>, scope: &Scope<'_, 'a>) {
        let own = layer(&def.body, self.names.file);
        let inner = scope.inside_class(&own);
        let mut domain = Domain::default();
        def.decorator_list.iter().for_each(|d| mark(&d.expression, scope, &mut domain));
        if let Some(Bound::Once(value)) = own.get("pytestmark") {
            mark(value, &inner, &mut domain);
        }
        let collect = match own.get("__test__") {
            Some(Bound::Once(value)) => {
                if let Some(Value::Bool(on)) = fold(value, &inner) {
                    Some(on)
                } else {
                    None
                }
            }
            _ => None,
        };
        let bases: Vec<String> = def.bases().iter().take(BASES).map(|b| scope.dotted(b).unwrap_or_default()).collect();
        let has_init = ["__init__", "__new__"].iter().any(|n| matches!(own.get(n), Some(Bound::Function(_) | Bound::Many)));
        let line = self.names.file.line(def.name.start());
        self.shadow(def.name.as_str(), outer, scope);
        let at = self.module.classes.len();
        let mut effort = effort::of_class(def, &own, scope, &inner);
        effort.marks.extend(self.conditional());
        let domain = capped(domain);
        self.module.classes.push(Class {
            name: def.name.to_string(),
            outer,
            line,
            bases,
            has_init,
            collect,
            domain,
            effort,
            functions: Vec::new(),
        });
        if let Some(machine) = machine::read(def, scope, self.names.file) {
            let bound = if def.bases().iter().any(machine::is_test_case) { Role::Machine } else { Role::Rules };
            self.machines.insert(at);
            self.module.functions.push(Function { name: def.name.to_string(), class: outer, line, role: bound, ..machine });
        }
        let around = (std::mem::take(&mut self.conditions), std::mem::replace(&mut self.guarded, false));
        self.block(&def.body, Some(at), &inner);
        (self.conditions, self.guarded) = around;
    }

    /// `test_x = define(...)`, `TestX = Machine.TestCase`, `test_x.__test__ = False`, `__test__ = False`.
    fn assigned(&mut self, assign: &'a StmtAssign, class: Option<usize>, scope: &Scope<'_, 'a>) {
        rebinds::assigned(assign, class, scope, &mut self.module);
        let [target] = assign.targets.as_slice() else { return };
        let off = || matches!(fold(&assign.value, scope), Some(Value::Bool(false)));
        match target {
            Expr::Attribute(a) if a.attr.as_str() == "__test__" && off() => {
                self.silenced.extend(a.value.as_name_expr().map(|n| n.id.to_string()));
            }
            Expr::Attribute(a) if a.attr.as_str() == "settings" && class.is_none() => {
                let case = a.value.as_attribute_expr().filter(|case| case.attr.as_str() == "TestCase");
                let of = case.map_or(&a.value, |case| &case.value).as_name_expr();
                self.settled.extend(of.zip(settings(&assign.value, scope)).map(|(of, set)| (of.id.to_string(), set)));
            }
            Expr::Name(name) if name.id.as_str() == "__test__" && class.is_none() && off() => drop(self.silenced.insert(String::new())),
            Expr::Name(name) if rebinds::wraps(&assign.value, name.id.as_str()).is_some() => {}
            Expr::Name(name) if name.id.to_ascii_lowercase().starts_with("test") || name.id.starts_with("prop_") => {
                let line = self.names.file.line(target.start());
                let made = machine::bound(&assign.value, scope, self.names.file).or_else(|| made(&assign.value, name.id.as_str(), scope));
                self.module.functions.extend(made.map(|f| Function { name: name.id.to_string(), class, line, ..f }));
            }
            _ => {}
        }
    }

    fn function(&mut self, def: &'a StmtFunctionDef, class: Option<usize>, scope: &Scope<'_, 'a>) {
        let name = def.name.as_str();
        let parameters = parameters(def, class.is_some(), scope);
        let mut found =
            Function { name: name.to_owned(), class, line: self.names.file.line(def.name.start()), parameters, ..Function::default() };
        let is_fixture = def.decorator_list.iter().any(|d| fixture(&d.expression, scope, &mut found));
        let told_by_machine = class.is_some_and(|at| self.machines.contains(&at)) && !is_carded(name);
        if told_by_machine {
            return;
        }
        let own = own_layer(def, self.names.file);
        let inner = scope.inside(&own);
        if is_fixture {
            let everywhere = found.effort.everywhere;
            found.effort = effort::of_fixture(def, &found, scope, &inner);
            found.gives = given_by(&def.body, &inner);
            found.effort.everywhere = everywhere && !found.effort.is_empty();
            if found.domain.tables.is_empty() {
                self.module.functions.push(found);
                return;
            }
        }
        let body = Body::read(&def.body);
        let loops = if is_fixture { Vec::new() } else { self.declared(def, &body, (&inner, scope), &mut found) };
        found.assertions = body.asserts.iter().map(|a| assertion(a, &inner)).collect();
        found.checks = body.checks;
        let carded = name.starts_with("test") || name.starts_with("prop_") || found.domain.is_declared() || is_fixture;
        if !carded && found.assertions.is_empty() && found.checks == 0 && !body.skips {
            let again = class.is_none() && self.conditions.is_empty() && !self.guarded;
            if again && matches!(self.names.top.get(name), Some(Bound::Many)) {
                rebinds::hidden(name, scope, &mut self.module);
            }
            return;
        }
        if !is_fixture {
            found.effort = effort::of_function(def, &found, scope, &inner);
        }
        if is_carded(name) {
            found.effort.marks.extend(self.conditional());
            found.effort.marks.extend(self.never_runs(def, &body, class, scope));
        }
        found.literals = self.named.of(&body, &found.parameters, &inner);
        found.body_sha256 = self.hash(&found.parameters, &def.body);
        // Nothing that a helper checks counts under a decorator that takes its failure.
        let dropped = !is_carded(name) && def.decorator_list.iter().any(|d| marks::dropping(&d.expression, scope).is_some());
        let told = if dropped { Told::default() } else { claims::of(&def.body, &body, &loops, &own, &inner) };
        (found.claims, found.calls) = (told.claims, told.calls);
        self.module.functions.push(found);
    }

    /// The mark of what is defined only under conditions.
    fn conditional(&self) -> Option<Mark> {
        (!self.conditions.is_empty()).then(|| Mark { does: Does::Skip, when: Some(self.conditions.join(" or ")), row: None })
    }

    /// A test that its runner calls and that does nothing then: a generator, a coroutine that nobody waits for.
    fn never_runs(&self, def: &StmtFunctionDef, body: &Body<'_>, class: Option<usize>, scope: &Scope<'_, '_>) -> Option<Mark> {
        let dotted =
            || def.decorator_list.iter().filter_map(|d| scope.dotted(d.expression.as_call_expr().map_or(&d.expression, |c| &c.func)));
        let manager = dotted().any(|name| name.ends_with("contextmanager"));
        let drives = dotted()
            .any(|name| !["pytest.mark.parametrize", "pytest.mark.skip", "pytest.mark.xfail"].iter().any(|own| name.starts_with(own)));
        let generator = body.yields && !(def.is_async || drives);
        let unittest = class.and_then(|at| self.module.classes.get(at)).is_some_and(|class| {
            class.bases.iter().any(|base| base == "unittest.TestCase") && def.is_async && def.decorator_list.is_empty()
        });
        (manager || generator || unittest).then_some(Mark { does: Does::Skip, when: None, row: None })
    }

    fn declared(
        &mut self,
        def: &'a StmtFunctionDef,
        body: &Body<'a>,
        (inner, scope): (&Scope<'_, 'a>, &Scope<'_, 'a>),
        found: &mut Function,
    ) -> Vec<&'a StmtFor> {
        let mut domain = if is_carded(def.name.as_str()) { self.module_marks(scope) } else { Domain::default() };
        for decorator in &def.decorator_list {
            match as_given(&decorator.expression, scope) {
                Some(call) => given(call, &decorator.expression, &found.parameters, scope, &mut domain),
                None => mark(&decorator.expression, scope, &mut domain),
            }
        }
        for nested in &body.inner {
            let calls = nested.decorator_list.iter().filter_map(|d| Some((as_given(&d.expression, inner)?, &d.expression)));
            for (call, whole) in calls {
                let mut part = Domain::default();
                given(call, whole, &parameters(nested, false, inner), inner, &mut part);
                domain.unread.extend(part.unread);
                domain.arguments.extend(part.arguments.into_iter().map(|a| Argument { name: format!("{}.{}", nested.name, a.name), ..a }));
            }
        }
        let drawing: BTreeSet<String> =
            domain.arguments.iter().filter(|a| is_data(&a.strategy)).map(|a| last(&a.name).to_owned()).collect();
        let draws = body.draws.iter().filter(|(of, _)| drawing.contains(*of)).take(DRAWS);
        let draws: Vec<Argument> =
            draws.enumerate().map(|(at, (_, what))| Argument { name: format!("draw[{at}]"), strategy: strategy(what, inner) }).collect();
        domain.arguments.extend(draws);
        let loops = body.loops.iter().filter_map(|l| Some((*l, loop_table(&l.target, &l.iter, inner)?)));
        let (loops, tables): (Vec<_>, Vec<_>) = loops.unzip();
        domain.tables.extend(tables);
        found.domain = capped(domain);
        loops
    }

    /// The module's marks; where the file's budget does not hold them again, their text.
    fn module_marks(&self, scope: &Scope<'_, 'a>) -> Domain {
        let rows: usize = self.marks.tables.iter().map(|t| t.rows.len() * t.names.len()).sum();
        if scope.spend(rows + 1).is_some() {
            return self.marks.clone();
        }
        Domain { unread: BTreeSet::from([sha256_of(&self.marks.to_json().to_string())]), ..Domain::default() }
    }

    fn hash(&self, parameters: &[String], body: &'a [Stmt]) -> String {
        let ranges: Vec<TextRange> = statements(body).map(Stmt::range).collect();
        sha256_of(&format!("{}\n{}", parameters.join(","), self.names.file.sha256(&ranges, &[])))
    }
}

/// A domain of so many parts that comparing them would take long is told by its hash.
pub(super) fn capped(domain: Domain) -> Domain {
    let names: usize = domain.tables.iter().map(|t| t.names.len()).sum();
    if domain.tables.len() <= TABLES && names <= NAMES && domain.arguments.len() <= NAMES {
        return domain;
    }
    Domain { unread: BTreeSet::from([sha256_of(&domain.to_json().to_string())]), ..Domain::default() }
}

fn is_carded(name: &str) -> bool {
    name.starts_with("test") || name.starts_with("prop_")
}

fn last(name: &str) -> &str {
    name.rsplit('.').next().unwrap_or(name)
}

fn is_data(strategy: &Strategy) -> bool {
    matches!(strategy, Strategy::Call { name, .. } if name == "data")
}

fn assertion(assert: &ruff_python_ast::StmtAssert, scope: &Scope<'_, '_>) -> Assertion {
    Assertion { text: format!("assert {}", plain(&assert.test, scope)), line: scope.names.file.line(assert.start()) }
}

/// Parameters in order, without the instance or class.
fn parameters(def: &StmtFunctionDef, in_class: bool, scope: &Scope<'_, '_>) -> Vec<String> {
    let is_static = def.decorator_list.iter().any(|d| scope.dotted(&d.expression).is_some_and(|n| n == "staticmethod"));
    let skip = usize::from(in_class && !is_static);
    def.parameters.iter().filter(|p| !p.is_variadic()).skip(skip).take(NAMES).map(|p| p.name().to_string()).collect()
}

/// Whether a decorator makes a fixture; its parameters become a table.
fn fixture(decorator: &Expr, scope: &Scope<'_, '_>, found: &mut Function) -> bool {
    let call = decorator.as_call_expr();
    let name = scope.dotted(call.map_or(decorator, |c| &c.func)).unwrap_or_default();
    if !matches!(name.as_str(), "pytest.fixture" | "pytest_asyncio.fixture" | "pytest.yield_fixture") {
        return false;
    }
    found.role = Role::Fixture;
    let Some(call) = call else { return true };
    if let Some(Value::Str(name)) = call.arguments.find_keyword("name").and_then(|k| fold(&k.value, scope)) {
        found.name = name;
    }
    let autouse = call.arguments.find_keyword("autouse").map(|k| fold(&k.value, scope));
    found.effort.everywhere = autouse.is_some_and(|value| value != Some(Value::Bool(false)));
    if let Some(params) = call.arguments.find_keyword("params") {
        let (rows, rest) = cases(&params.value, scope).spread(1);
        found.domain.tables.push(Table { origin: Origin::Fixture, names: vec![found.name.clone()], rows, rest });
    }
    true
}

/// `return Cart()`, `cart = Cart()` and then `yield cart`.
fn given_by(body: &[Stmt], scope: &Scope<'_, '_>) -> Option<String> {
    let value = body.iter().rev().find_map(|stmt| match stmt {
        Stmt::Return(r) => r.value.as_deref(),
        Stmt::Expr(e) => e.value.as_yield_expr().and_then(|y| y.value.as_deref()),
        _ => None,
    })?;
    let called = |value: &Expr, scope: &Scope<'_, '_>| value.as_call_expr().and_then(|call| scope.dotted(&call.func));
    match value {
        // A fixture fills what it makes.
        Expr::Name(name) => match scope.lookup(name.id.as_str())? {
            (Bound::Once(value), home) => called(value, &home),
            _ => None,
        },
        other => called(other, scope),
    }
}

/// A test bound to what a call returns: only of functions, since classes and the like make no tests.
fn made(value: &Expr, name: &str, scope: &Scope<'_, '_>) -> Option<Function> {
    let Expr::Call(call) = value else { return None };
    let Expr::Name(func) = &*call.func else { return None };
    let func = func.id.as_str();
    let here = matches!(scope.lookup(func), Some((Bound::Function(_), _)));
    let imported = scope.lookup(func).is_none() && scope.resolved(func).contains('.');
    let lower = func.trim_start_matches('_').starts_with(|c: char| c.is_ascii_lowercase());
    if !(lower && is_carded(name) && (here || imported)) {
        return None;
    }
    let text = opaque(value, scope);
    Some(Function {
        role: Role::Assigned,
        body_sha256: sha256_of(&text),
        domain: Domain { unread: BTreeSet::from([text]), ..Domain::default() },
        ..Function::default()
    })
}
