//! Owns the tests of each construct that tests are written with: what takes strength from it is told by the right rule.

use super::{between, broken};

/// What happens, the lines before, what is put in the place of what, and the rules of which one is broken.
type Row = (&'static str, &'static str, [&'static str; 2], &'static [&'static str]);

const PROPERTIES: &[Row] = &[
    (
        "an end that counts",
        "proptest! { #[test] fn t(a in 0..=100i32) { prop_assert!(f(a) > 0); } }",
        ["0..=100i32", "0..=99i32"],
        &["bound_narrowed"],
    ),
    (
        "a range of a type",
        "proptest! { #[test] fn t(a in any::<u8>()) { prop_assert!(f(a) > 0); } }",
        ["any::<u8>()", "0..200u8"],
        &["bound_narrowed"],
    ),
    (
        "both booleans",
        "proptest! { #[test] fn t(a in any::<bool>()) { prop_assert!(f(a)); } }",
        ["any::<bool>()", "Just(true)"],
        &["bound_narrowed"],
    ),
    (
        "an arm",
        "proptest! { #[test] fn t(a in prop_oneof![Just(1), Just(2)]) { prop_assert!(f(a)); } }",
        [", Just(2)]", "]"],
        &["bound_narrowed"],
    ),
    (
        "a length",
        "proptest! { #[test] fn t(a in proptest::collection::vec(0..9u8, 0..10)) { prop_assert!(f(&a)); } }",
        ["0..10)", "0..5)"],
        &["bound_narrowed"],
    ),
    (
        "what is in a list",
        "proptest! { #[test] fn t(a in prop::collection::vec(0..9u8, 3)) { prop_assert!(f(&a)); } }",
        ["0..9u8", "0..8u8"],
        &["bound_narrowed"],
    ),
    ("an attribute", "#[proptest]\nfn t(#[strategy(0..10u8)] a: u8) { prop_assert!(f(a)); }", ["0..10u8", "0..5u8"], &["bound_narrowed"]),
    (
        "a filter",
        "proptest! { #[test] fn t(a in 0..9u8) { prop_assert!(f(a)); } }",
        ["0..9u8", "(0..9u8).prop_filter(\"even\", |x| x % 2 == 0)"],
        &["bound_narrowed", "domain_unreadable", "reducer_added"],
    ),
    (
        "an assumption",
        "proptest! { #[test] fn t(a in 0..9u8) { prop_assert!(f(a)); } }",
        ["{ prop_assert", "{ prop_assume!(a > 3); prop_assert"],
        &["reducer_added"],
    ),
    (
        "a way out",
        "proptest! { #[test] fn t(a in 0..9u8) { prop_assert!(f(a)); } }",
        ["{ prop_assert", "{ if a > 3 { return Ok(()); } prop_assert"],
        &["reducer_added", "oracle_weakened"],
    ),
    (
        "a type that is thrown away",
        "#[quickcheck]\nfn t(a: u8) -> TestResult { TestResult::from_bool(f(a)) }",
        ["{ Test", "{ if a > 3 { return TestResult::discard(); } Test"],
        &["reducer_added", "oracle_weakened"],
    ),
    ("another type", "quickcheck! { fn t(a: u16) -> bool { f(a) } }", ["a: u16", "a: u8"], &["bound_narrowed", "domain_unreadable"]),
    (
        "fewer cases",
        "proptest! { #![proptest_config(ProptestConfig::with_cases(500))] #[test] fn t(a in 0..9u8) { prop_assert!(f(a)); } }",
        ["500", "5"],
        &["budget_lowered"],
    ),
    (
        "fewer cases than usual",
        "proptest! { #[test] fn t(a in 0..9u8) { prop_assert!(f(a)); } }",
        ["proptest! {", "proptest! { #![proptest_config(ProptestConfig { cases: 9, ..ProptestConfig::default() })]"],
        &["budget_lowered"],
    ),
    (
        "nothing is kept",
        "proptest! { #[test] fn t(a in 0..9u8) { prop_assert!(f(a)); } }",
        ["proptest! {", "proptest! { #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]"],
        &["budget_lowered"],
    ),
    (
        "fewer tests",
        "#[test]\nfn t() { fn p(a: u8) -> bool { f(a) } QuickCheck::new().tests(900).quickcheck(p as fn(u8) -> bool); }",
        ["900", "9"],
        &["budget_lowered"],
    ),
    (
        "a demand of a property",
        "proptest! { #[test] fn t(a in 0..9u8) { prop_assert_eq!(f(a), a + 1); } }",
        ["prop_assert_eq!(f(a), a + 1)", "prop_assert_ne!(f(a), 77)"],
        &["oracle_weakened"],
    ),
];

const TESTS: &[Row] = &[
    ("a test of a runtime", "#[tokio::test]\nasync fn t() { assert_eq!(f().await, 1); }", ["#[tokio::test]\n", ""], &["property_removed"]),
    (
        "a test of a runtime, with arguments",
        "#[tokio::test(flavor = \"multi_thread\")]\nasync fn t() { assert_eq!(f().await, 1); }",
        ["#[tokio", "#[ignore]\n#[tokio"],
        &["test_disabled"],
    ),
    (
        "another house's test",
        "#[async_std::test]\nasync fn t() { assert_eq!(f().await, 1); }",
        ["assert_eq!(f().await, 1)", "f().await"],
        &["assertion_removed"],
    ),
    (
        "a case",
        "#[rstest]\n#[case(1, 2)]\n#[case(2, 3)]\nfn t(#[case] a: u8, #[case] b: u8) { assert_eq!(f(a), b); }",
        ["#[case(2, 3)]\n", ""],
        &["case_removed"],
    ),
    ("a value", "#[rstest]\nfn t(#[values(1, 2, 3)] a: u8) { assert!(f(a)); }", ["1, 2, 3", "1, 2"], &["case_removed"]),
    (
        "a row",
        "#[test_case(1, 2; \"one\")]\n#[test_case(2, 3; \"two\")]\nfn t(a: u8, b: u8) { assert_eq!(f(a), b); }",
        ["#[test_case(2, 3; \"two\")]\n", ""],
        &["case_removed"],
    ),
    ("a row's answer", "#[test_case(1 => 2)]\nfn t(a: u8) -> u8 { f(a) }", ["=> 2", "=> 3"], &["case_removed", "oracle_weakened"]),
    (
        "never built",
        "#[test]\nfn t() { assert_eq!(f(1), 1); }",
        ["#[test]", "#[cfg(any())]\n#[test]"],
        &["test_disabled", "property_removed"],
    ),
    (
        "never built as a module",
        "#[cfg(test)]\nmod tests { #[test]\nfn t() { assert_eq!(f(1), 1); } }",
        ["#[cfg(test)]", "#[cfg(all(test, any()))]"],
        &["test_disabled", "property_removed"],
    ),
    ("false", "#[test]\nfn t() { assert_eq!(f(1), 1); }", ["#[test]", "#[cfg(false)]\n#[test]"], &["test_disabled", "property_removed"]),
    (
        "ignored under a condition",
        "#[test]\nfn t() { assert_eq!(f(1), 1); }",
        ["#[test]", "#[test]\n#[cfg_attr(not(feature = \"slow\"), ignore)]"],
        &["test_disabled"],
    ),
    (
        "a test under a condition",
        "#[test]\nfn t() { assert_eq!(f(1), 1); }",
        ["#[test]", "#[cfg_attr(feature = \"slow\", test)]"],
        &["test_disabled", "property_removed"],
    ),
    (
        "panics instead",
        "#[test]\nfn t() { assert_eq!(f(1), 1); }",
        ["#[test]", "#[test]\n#[should_panic]"],
        &["oracle_weakened", "test_disabled"],
    ),
    ("any panic", "#[test]\n#[should_panic(expected = \"empty\")]\nfn t() { f(1); }", ["(expected = \"empty\")", ""], &["oracle_weakened"]),
    (
        "a way out of a test",
        "#[test]\nfn t() { assert_eq!(f(1), 1); }",
        ["{ assert", "{ if std::env::var(\"CI\").is_ok() { return; } assert"],
        &["reducer_added", "oracle_weakened", "test_disabled"],
    ),
    ("a pattern", "#[test]\nfn t() { assert!(matches!(f(1), Some(3))); }", ["Some(3)", "Some(_)"], &["oracle_weakened"]),
    ("a snapshot", "#[test]\nfn t() { insta::assert_snapshot!(f(1), @\"one\"); }", [", @\"one\"", ""], &["oracle_weakened"]),
];

#[test]
fn every_construct_that_loses_strength_is_told_by_its_rule() {
    let mut missed = Vec::new();
    for (what, base, [old, new], rules) in PROPERTIES.iter().chain(TESTS) {
        assert!(base.contains(old), "{what}");
        let found = broken(base, &base.replacen(old, new, 1));
        if !found.iter().any(|(rule, _)| rules.contains(&rule.as_str())) {
            missed.push(format!("{what}: {found:?}"));
        }
    }
    assert_eq!(missed, [] as [String; 0]);
}

#[test]
fn a_strategy_of_its_own_name_is_told_where_it_is_defined() {
    let shared = |high: u8| format!("pub fn amounts() -> impl Strategy<Value = u8> {{ 0..{high}u8 }}\n");
    let user = "mod common;\nuse common::amounts;\nproptest! { #[test] fn t(a in amounts()) { prop_assert!(f(a)); } }\n";
    let found = between(
        &[("tests/common/mod.rs", &shared(100)), ("tests/t.rs", user)],
        &[("tests/common/mod.rs", &shared(10)), ("tests/t.rs", user)],
    );
    let told: Vec<(&str, &str)> = found.iter().map(|f| (f.rule.id(), f.path.as_deref().unwrap_or_default())).collect();
    assert_eq!(told, [("bound_narrowed", "tests/common/mod.rs")]);
}
