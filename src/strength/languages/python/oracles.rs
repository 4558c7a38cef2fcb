//! Owns checks that are no `assert`: what must raise or warn, and the check functions of other libraries.

use ruff_python_ast::{Expr, ExprCall};

use crate::strength::languages::python::names::Scope;

/// What must raise or warn.
pub(super) struct Raising<'a> {
    /// `raises` or `warns`.
    pub(super) word: &'static str,
    /// The class or classes.
    pub(super) of: Option<&'a Expr>,
    /// The class where the name of the check says it.
    pub(super) named: Option<&'static str>,
    /// What the message must match.
    pub(super) pattern: Option<&'a Expr>,
    /// The function that is called and what it is given, where no block follows.
    pub(super) call: &'a [Expr],
}

/// Reads `pytest.raises(…)`, `self.assertRaises(…)` and their like.
pub(super) fn raising<'a>(call: &'a ExprCall, scope: &Scope<'_, 'a>) -> Option<Raising<'a>> {
    if matches!(&*call.func, Expr::Attribute(a) if checks(a.attr.as_str()).is_none()) {
        return None;
    }
    let name = scope.dotted(&call.func)?;
    let (house, method) = name.rsplit_once('.')?;
    if !matches!(house, "pytest" | "self" | "cls" | "_pytest.python_api" | "nose.tools") {
        return None;
    }
    let (word, named, patterned) = checks(method)?;
    let args = &call.arguments.args;
    let keyword = |word: &str| call.arguments.find_keyword(word).map(|k| &k.value);
    let classes = usize::from(named.is_none());
    let of =
        (classes == 1).then(|| args.first().or_else(|| keyword("expected_exception")).or_else(|| keyword("expected_warning"))).flatten();
    let pattern = if patterned { args.get(1) } else { keyword("match") };
    let taken = classes + usize::from(patterned);
    Some(Raising { word, of, named, pattern, call: args.get(taken..).unwrap_or_default() })
}

/// What a method of this name checks: the word for it, the class that the name says, and whether a pattern follows the class.
fn checks(method: &str) -> Option<(&'static str, Option<&'static str>, bool)> {
    match method {
        "raises" | "assertRaises" | "assert_raises" => Some(("raises", None, false)),
        "assertRaisesRegex" | "assertRaisesRegexp" => Some(("raises", None, true)),
        "warns" | "assertWarns" => Some(("warns", None, false)),
        "assertWarnsRegex" => Some(("warns", None, true)),
        "deprecated_call" => Some(("warns", Some("DeprecationWarning"), false)),
        _ => None,
    }
}

/// Whether a call is a check of another library: `numpy.testing.assert_allclose(…)`, `mock.assert_called_with(…)`.
pub(super) fn is_foreign_check(call: &ExprCall, scope: &Scope<'_, '_>) -> bool {
    let Expr::Attribute(method) = &*call.func else {
        let house = scope.dotted(&call.func).unwrap_or_default();
        return house.starts_with("numpy.testing.assert") || house.starts_with("pandas.testing.assert");
    };
    if !method.attr.as_str().starts_with("assert") {
        return false;
    }
    let of_mock = ["assert_called", "assert_any_call", "assert_has_calls", "assert_not_called", "assert_awaited", "assert_any_await"];
    if of_mock.iter().any(|name| method.attr.as_str().starts_with(name)) {
        return true;
    }
    let house = scope.dotted(&method.value).unwrap_or_default();
    house.starts_with("numpy.testing") || house.starts_with("pandas.testing")
}

/// Whether a value is a fresh container that something may fill later.
pub(super) fn is_container(value: &Expr) -> bool {
    match value {
        Expr::List(_) | Expr::Dict(_) | Expr::Set(_) | Expr::ListComp(_) | Expr::DictComp(_) | Expr::SetComp(_) => true,
        Expr::Call(call) => {
            let name = match &*call.func {
                Expr::Name(n) => n.id.as_str(),
                Expr::Attribute(a) => a.attr.as_str(),
                _ => "",
            };
            matches!(
                name,
                "list" | "dict" | "set" | "defaultdict" | "deque" | "Counter" | "OrderedDict" | "bytearray" | "StringIO" | "BytesIO"
            )
        }
        _ => false,
    }
}
