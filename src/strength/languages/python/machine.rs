//! Owns state machines: their rules as a domain, their invariants' assertions.

use ruff_python_ast::{Expr, Stmt, StmtClassDef, StmtFunctionDef};
use ruff_text_size::{Ranged as _, TextRange};

use crate::strength::card::Assertion;
use crate::strength::domain::{Argument, Domain, Strategy};
use crate::strength::effort::Effort;
use crate::strength::languages::facts::{Function, Role};
use crate::strength::languages::python::body::Body;
use crate::strength::languages::python::collect::capped;
use crate::strength::languages::python::effort::of_method;
use crate::strength::languages::python::names::{Bound, Scope, layer};
use crate::strength::languages::python::strategies::{own_layer, strategy};
use crate::strength::languages::python::text::{File, sha256_of};
use crate::strength::languages::python::write::{opaque, plain};

/// How many bases are followed.
const BASES: usize = 8;

/// Whether a base is the test case of a machine.
pub(super) fn is_test_case(base: &Expr) -> bool {
    base.as_attribute_expr().is_some_and(|a| a.attr.as_str() == "TestCase")
        && !matches!(base, Expr::Attribute(a) if a.value.as_name_expr().is_some_and(|n| n.id.as_str() == "unittest"))
}

/// The machine that a class is (or, by a base `M.TestCase`, runs).
pub(super) fn read<'a>(def: &'a StmtClassDef, scope: &Scope<'_, 'a>, file: &File<'_>) -> Option<Function> {
    let mut chain = Vec::new();
    follow(def, scope, &mut chain).then(|| facts(&chain, file))
}

/// `TestX = Machine.TestCase`.
pub(super) fn bound<'a>(value: &'a Expr, scope: &Scope<'_, 'a>, file: &File<'_>) -> Option<Function> {
    let Expr::Attribute(attribute) = value else { return None };
    if attribute.attr.as_str() != "TestCase" {
        return None;
    }
    if let Expr::Name(name) = &*attribute.value
        && let Some((Bound::Class(def), home)) = scope.lookup(name.id.as_str())
    {
        return read(def, &home, file).map(|f| Function { role: Role::Machine, ..f });
    }
    let text = opaque(value, scope);
    if text.starts_with("unittest.") {
        return None;
    }
    let domain = Domain { unread: [text.clone()].into(), ..Domain::default() };
    Some(Function { role: Role::Machine, body_sha256: sha256_of(&text), domain, ..Function::default() })
}

/// Collects a class and its bases of this file, the class first; true when one of them is a machine by name.
fn follow<'s, 'a>(def: &'a StmtClassDef, scope: &Scope<'s, 'a>, chain: &mut Vec<(&'a StmtClassDef, Scope<'s, 'a>)>) -> bool {
    if chain.len() >= BASES || chain.iter().any(|(known, _)| std::ptr::eq(*known, def)) {
        return false;
    }
    chain.push((def, *scope));
    let mut machine = false;
    for base in def.bases() {
        let class = if is_test_case(base) { base.as_attribute_expr().map_or(base, |a| &a.value) } else { base };
        machine |= scope.dotted(class).is_some_and(|name| name.ends_with("RuleBasedStateMachine"));
        if let Expr::Name(name) = class
            && let Some((Bound::Class(next), home)) = scope.lookup(name.id.as_str())
        {
            machine |= follow(next, &home, chain);
        }
    }
    machine
}

fn facts(chain: &[(&StmtClassDef, Scope<'_, '_>)], file: &File<'_>) -> Function {
    let (mut domain, mut assertions, mut ranges) = (Domain::default(), Vec::new(), Vec::new());
    let mut effort = Effort::default();
    let mut checks = 0;
    for (def, scope) in chain {
        let own = layer(&def.body, file);
        let inner = scope.inside_class(&own);
        let body = Body::read(&def.body);
        checks += body.checks;
        assertions.extend(
            body.asserts.iter().map(|a| Assertion { text: format!("assert {}", plain(&a.test, &inner)), line: file.line(a.start()) }),
        );
        ranges.extend(def.body.iter().map(Stmt::range));
        for method in def.body.iter().filter_map(Stmt::as_function_def_stmt) {
            rules(method, &inner, &mut domain);
            of_method(method, &inner, &mut effort);
        }
    }
    let body_sha256 = file.sha256(&ranges.into_iter().collect::<Vec<TextRange>>(), &[]);
    Function { domain: capped(domain), assertions, checks, body_sha256, effort, ..Function::default() }
}

/// A rule is an argument of its own, and so is each thing that it draws; an invariant is one too.
fn rules(method: &StmtFunctionDef, scope: &Scope<'_, '_>, domain: &mut Domain) {
    for decorator in &method.decorator_list {
        let call = decorator.expression.as_call_expr();
        let name = scope.dotted(call.map_or(&decorator.expression, |c| &c.func)).unwrap_or_default();
        let kind = name.rsplit('.').next().unwrap_or_default();
        if !matches!(kind, "rule" | "initialize" | "invariant") || !(name.starts_with("hypothesis.") || name == kind) {
            continue;
        }
        domain
            .arguments
            .push(Argument { name: method.name.to_string(), strategy: Strategy::Call { name: kind.to_owned(), arguments: Vec::new() } });
        for keyword in call.into_iter().flat_map(|c| &c.arguments.keywords).filter(|_| kind != "invariant") {
            let argument = keyword.arg.as_ref().map_or_else(|| "**".to_owned(), ToString::to_string);
            if matches!(argument.as_str(), "target" | "targets") {
                continue;
            }
            domain.arguments.push(Argument { name: format!("{}.{argument}", method.name), strategy: strategy(&keyword.value, scope) });
        }
    }
    let own = own_layer(method, scope.names.file);
    let inner = scope.inside(&own);
    let body = Body::read(&method.body);
    let draws = body.draws.iter().filter(|(of, _)| *of == "data").take(64).enumerate();
    domain
        .arguments
        .extend(draws.map(|(at, (_, what))| Argument { name: format!("{}.draw[{at}]", method.name), strategy: strategy(what, &inner) }));
}
