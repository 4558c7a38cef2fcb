//! Owns what a test is: the attributes, modules and macros that make one, and what `cfg` makes certain of tests. Cards and spans ask here.

use proc_macro2::TokenStream;
use syn::Meta;

use crate::strength::languages::rust::cfg::parts;

/// How deep predicates are followed; deeper ones say nothing.
pub(super) const DEPTH: usize = 32;

/// Last words of attributes that make a function a test.
const TESTS: [&str; 11] = [
    "test",
    "rstest",
    "test_case",
    "test_matrix",
    "proptest",
    "quickcheck",
    "wasm_bindgen_test",
    "parameterized",
    "property_test",
    "gtest",
    "dir_test",
];

/// Whether an attribute of this name makes a test.
pub(super) fn makes_test(name: &str) -> bool {
    TESTS.contains(&name) || name.ends_with("_test") || name == "test_resources"
}

/// Whether an attribute of this name makes a test, or something that only tests are given.
pub(super) fn is_of_tests(name: &str) -> bool {
    makes_test(name) || matches!(name, "fixture" | "case")
}

/// Whether a module is one of tests by its name alone.
pub(super) fn is_tests_module(name: &str, public: bool) -> bool {
    !public && matches!(name, "tests" | "test")
}

/// Whether a macro of this name plainly holds properties.
pub(super) fn holds_properties(name: &str) -> bool {
    matches!(name, "proptest" | "quickcheck")
}

/// Whether a macro of this name may hold properties: a house's own form of one of them. It is read, but its place is production.
pub(super) fn may_hold_properties(name: &str) -> bool {
    name.contains("quickcheck") || name.contains("proptest")
}

/// Whether a predicate of `cfg` that holds makes certain that `test` is `wanted`.
pub(super) fn implies(predicate: &TokenStream, wanted: bool) -> bool {
    follows(predicate, true, wanted, DEPTH)
}

fn follows(predicate: &TokenStream, value: bool, wanted: bool, depth: usize) -> bool {
    let Some(depth) = depth.checked_sub(1) else { return false };
    let list = match syn::parse2::<Meta>(predicate.clone()) {
        Ok(Meta::Path(path)) => return (path.is_ident("test") || path.is_ident("doctest")) && value == wanted,
        Ok(Meta::List(list)) => list,
        _ => return false,
    };
    let inside = parts(&list.tokens);
    let one = |part: &TokenStream| follows(part, value, wanted, depth);
    let head = list.path.get_ident().map(ToString::to_string).unwrap_or_default();
    match (head.as_str(), value) {
        ("not", _) => inside.first().is_some_and(|part| follows(part, !value, wanted, depth)),
        ("all", true) | ("any", false) => inside.iter().any(one),
        ("all", false) | ("any", true) => !inside.is_empty() && inside.iter().all(one),
        _ => false,
    }
}
