//! Owns how hard properties are tried: the configurations of `proptest` and `quickcheck`.

use syn::{Expr, Member};

use crate::strength::effort::Budget;
use crate::strength::languages::Setting;
use crate::strength::languages::rust::write::Writer;
use crate::strength::languages::rust::write::calls::inner;

/// A setting of `proptest` or `quickcheck` of which less is weaker.
pub(super) fn setting(key: &str) -> Option<Setting> {
    match key {
        "cases" => Some(Setting::number("256")),
        "tests" => Some(Setting::number("100")),
        "failure_persistence" => Some(Setting::kept("a file")),
        _ => None,
    }
}

/// `ProptestConfig::with_cases(n)`, `ProptestConfig { cases: n, .. }`, and methods over them.
pub(super) fn of_config(config: &Expr, writer: &Writer<'_>) -> Budget {
    let mut budget = Budget::default();
    read(config, writer, &mut budget, 16);
    budget
}

fn read(config: &Expr, writer: &Writer<'_>, budget: &mut Budget, depth: usize) {
    let Some(depth) = depth.checked_sub(1) else { return };
    match inner(config) {
        Expr::Struct(e) => {
            for field in &e.fields {
                if let Member::Named(name) = &field.member {
                    set(budget, &name.to_string(), &field.expr, writer);
                }
            }
            e.rest.iter().for_each(|rest| read(rest, writer, budget, depth));
        }
        Expr::Call(e) => match (writer.text(&e.func).rsplit('.').next().unwrap_or_default(), e.args.first()) {
            ("with_cases", Some(value)) => set(budget, "cases", value, writer),
            ("with_failure_persistence", Some(value)) => set(budget, "failure_persistence", value, writer),
            ("default" | "new", None) => {}
            _ => drop(budget.set.entry("config".to_owned()).or_insert_with(|| writer.text(config))),
        },
        Expr::MethodCall(e) => match (e.method.to_string().as_str(), e.args.first()) {
            ("with_cases", Some(value)) => set(budget, "cases", value, writer),
            _ => read(&e.receiver, writer, budget, depth),
        },
        other => drop(budget.set.entry("config".to_owned()).or_insert_with(|| writer.text(other))),
    }
}

fn set(budget: &mut Budget, name: &str, value: &Expr, writer: &Writer<'_>) {
    if setting(name).is_some() {
        budget.set.entry(name.to_owned()).or_insert_with(|| writer.text(value));
    }
}
