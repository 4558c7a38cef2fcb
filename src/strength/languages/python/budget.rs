//! Owns how hard properties are tried: settings as decorators, as shared objects and as profiles.

use std::collections::{BTreeMap, BTreeSet};

use ruff_python_ast::{Expr, ExprCall, Stmt};

use crate::strength::effort::Budget;
use crate::strength::languages::Setting;
use crate::strength::languages::facts::LOADED;
use crate::strength::languages::python::literal::{Value, fold};
use crate::strength::languages::python::marks::truth;
use crate::strength::languages::python::names::Scope;
use crate::strength::languages::python::write::opaque;

const HOUSE: &str = "hypothesis.settings";

/// Phases of which the loss loses nothing that is found.
const TELLING: [&str; 2] = ["explain", "shrink"];
/// All phases that find something.
const FINDING: [&str; 4] = ["explicit", "generate", "reuse", "target"];

/// A setting of Hypothesis.
pub(super) fn known(key: &str) -> Option<Setting> {
    Some(match key {
        "max_examples" => Setting::number("100"),
        "stateful_step_count" => Setting::number("50"),
        "phases" => Setting { usual: "all", is_lower: |_, old, new| !phases(new).is_superset(&phases(old)) },
        "derandomize" => Setting { usual: "False", is_lower: |_, _, new| new != "False" },
        "suppress_health_check" => {
            Setting { usual: "", is_lower: |_, old, new| new == "all" || (old != "all" && !words(old).is_superset(&words(new))) }
        }
        "database" => Setting::kept("a database"),
        _ => return None,
    })
}

fn words(text: &str) -> BTreeSet<&str> {
    text.split(", ").filter(|name| !name.is_empty()).collect()
}

fn phases(text: &str) -> BTreeSet<&str> {
    let all = if text == "all" { FINDING.into() } else { words(text) };
    all.into_iter().filter(|name| !TELLING.contains(name)).collect()
}

/// What an expression sets, when it is a settings object or may be one of another module.
pub(super) fn settings(expr: &Expr, scope: &Scope<'_, '_>) -> Option<Budget> {
    scope.spend(1)?;
    match expr {
        Expr::Call(call) => object(call, scope),
        Expr::Name(_) | Expr::Attribute(_) => {
            scope.enter(expr, |value, scope| settings(value, scope)).unwrap_or_else(|| imported(&scope.dotted(expr)?))
        }
        _ => None,
    }
}

/// The settings of a call of `settings` itself.
pub(super) fn object(call: &ExprCall, scope: &Scope<'_, '_>) -> Option<Budget> {
    if scope.dotted(&call.func)? == "hypothesis.seed" {
        // A fixed seed draws the same inputs each time.
        return Some(Budget { set: BTreeMap::from([("derandomize".to_owned(), "True".to_owned())]), of: Vec::new() });
    }
    if scope.dotted(&call.func)? != HOUSE && scope.dotted(&call.func)? != "hypothesis._settings.settings" {
        return None;
    }
    let mut budget = Budget::default();
    for keyword in &call.arguments.keywords {
        match keyword.arg.as_deref() {
            Some("parent") => {}
            Some(key) => budget.set.extend(setting(key, &keyword.value, scope)),
            None => budget.set.extend([("**".to_owned(), opaque(&keyword.value, scope))]),
        }
    }
    let parent = call.arguments.find_argument_value("parent", 0);
    parent.and_then(|p| settings(p, scope)).into_iter().for_each(|p| budget.under(p));
    Some(budget)
}

fn imported(dotted: &str) -> Option<Budget> {
    let outside = ["pytest.", "hypothesis.", "unittest.", "self."].iter().any(|house| dotted.starts_with(house));
    (dotted.contains('.') && !outside).then(|| Budget { set: BTreeMap::new(), of: vec![dotted.to_owned()] })
}

fn setting(key: &str, value: &Expr, scope: &Scope<'_, '_>) -> Option<(String, String)> {
    let text = match key {
        "max_examples" | "stateful_step_count" | "derandomize" => opaque(value, scope),
        "database" => match fold(value, scope) {
            Some(Value::None) => "None".to_owned(),
            _ => "a database".to_owned(),
        },
        "phases" | "suppress_health_check" => listed(value, scope),
        _ => return None,
    };
    Some((key.to_owned(), text))
}

/// Members of an enumeration by name, sorted; all of them is `all`.
fn listed(value: &Expr, scope: &Scope<'_, '_>) -> String {
    let value_of = |parts: &[Expr]| {
        let mut names: Vec<String> = parts.iter().map(|p| last(&scope.dotted(p).unwrap_or_else(|| opaque(p, scope))).to_owned()).collect();
        names.sort();
        names.dedup();
        names.join(", ")
    };
    match value {
        Expr::List(l) => value_of(&l.elts),
        Expr::Tuple(t) => value_of(&t.elts),
        Expr::Set(s) => value_of(&s.elts),
        Expr::Name(_) | Expr::Attribute(_) => {
            scope.enter(value, |value, scope| listed(value, scope)).unwrap_or_else(|| whole(value, scope))
        }
        Expr::Call(call) if call.arguments.args.len() == 1 && call.func.is_name_expr() => whole(&call.arguments.args[0], scope),
        Expr::Call(call) => whole(&call.func, scope),
        other => opaque(other, scope),
    }
}

fn whole(value: &Expr, scope: &Scope<'_, '_>) -> String {
    let name = scope.dotted(value).unwrap_or_default();
    let name = name.strip_suffix(".all").unwrap_or(&name);
    let is_kind = |name: &str| matches!(last(name), "Phase" | "HealthCheck");
    match name.rsplit_once('.') {
        _ if is_kind(name) => "all".to_owned(),
        // One member without a list around it.
        Some((of, member)) if is_kind(of) => member.to_owned(),
        _ => opaque(value, scope),
    }
}

fn last(name: &str) -> &str {
    name.rsplit('.').next().unwrap_or(name)
}

/// Profiles that a module registers and loads.
#[derive(Default)]
pub(super) struct Profiles {
    registered: BTreeMap<String, Budget>,
    loaded: Vec<(String, u32)>,
}

impl Profiles {
    /// Reads a statement of the module, whatever it stands under.
    pub(super) fn read(&mut self, stmt: &Stmt, scope: &Scope<'_, '_>) {
        let Stmt::Expr(stmt) = stmt else { return };
        let Expr::Call(call) = &*stmt.value else { return };
        let name = scope.dotted(&call.func).unwrap_or_default();
        let Some(called) = name.strip_prefix(HOUSE) else { return };
        let Some(first) = call.arguments.find_argument_value("name", 0) else { return };
        match called {
            ".register_profile" => {
                let mut budget = Budget::default();
                let keywords = call.arguments.keywords.iter();
                budget.set.extend(keywords.filter_map(|k| setting(k.arg.as_deref()?, &k.value, scope)));
                let parent = call.arguments.find_argument_value("parent", 1);
                parent.and_then(|p| settings(p, scope)).into_iter().for_each(|p| budget.under(p));
                self.registered.extend(chosen(first, scope).into_iter().map(|profile| (profile, budget.clone())));
            }
            ".load_profile" => {
                let line = scope.names.file.line(stmt.range.start());
                self.loaded.extend(chosen(first, scope).into_iter().map(|profile| (profile, line)));
            }
            _ => {}
        }
    }

    /// What the profile sets that the module loads last, as far as it registers it itself.
    pub(super) fn loaded(&self) -> Option<&Budget> {
        self.loaded.last().and_then(|(profile, _)| self.registered.get(profile))
    }

    /// Names that no identifier can be, with what they set.
    pub(super) fn named(self) -> Vec<(String, u32, Budget)> {
        let mut named = Vec::new();
        for (at, (profile, line)) in self.loaded.iter().enumerate() {
            let budget = self.registered.get(profile).cloned().unwrap_or_default();
            named.push((if at == 0 { LOADED.to_owned() } else { format!("{LOADED}.{at}") }, *line, budget));
        }
        named.extend(self.registered.into_iter().map(|(profile, budget)| (format!("settings.profile.{profile}"), 0, budget)));
        named
    }
}

/// The profile that an expression names where the environment asks for nothing: the last arm of a choice, the default of a variable.
fn chosen(expr: &Expr, scope: &Scope<'_, '_>) -> Vec<String> {
    match expr {
        Expr::If(choice) => chosen(if truth(&choice.test, scope) == Some(true) { &choice.body } else { &choice.orelse }, scope),
        Expr::Call(call) => {
            let name = scope.dotted(&call.func).unwrap_or_default();
            let asks = matches!(name.as_str(), "os.getenv" | "os.environ.get");
            call.arguments.args.get(1).filter(|_| asks).map(|default| chosen(default, scope)).unwrap_or_default()
        }
        other => match fold(other, scope) {
            Some(Value::Str(name)) => vec![name],
            _ => Vec::new(),
        },
    }
}
