//! Owns the tests of changes that take strength away.

use super::broken;

/// What happens, the text before, the text after, and the rules of which one is broken.
#[rustfmt::skip]
const WEAKER: &[(&str, &str, &str, &[&str])] = &[
    ("an assertion is removed",
r"#[test]
fn t() {
    assert_eq!(f(1), 1);
    assert_eq!(f(2), 2);
}
",
r"#[test]
fn t() {
    assert_eq!(f(1), 1);
}
",
     &["assertion_removed"]),
    ("equality becomes inequality",
r"#[test]
fn t() {
    assert_eq!(f(1), 1);
}
",
r"#[test]
fn t() {
    assert_ne!(f(1), 5);
}
",
     &["oracle_weakened"]),
    ("a tolerance grows",
r"#[test]
fn t() {
    assert!((f(1) - 0.2).abs() < 1e-9);
}
",
r"#[test]
fn t() {
    assert!((f(1) - 0.2).abs() < 1e-1);
}
",
     &["oracle_weakened"]),
    ("an epsilon grows",
r"#[test]
fn t() {
    assert_relative_eq!(f(1), 0.2, epsilon = 1e-9);
}
",
r"#[test]
fn t() {
    assert_relative_eq!(f(1), 0.2, epsilon = 1e-2);
}
",
     &["oracle_weakened"]),
    ("a pattern lets more through",
r"#[test]
fn t() {
    assert!(matches!(f(1), Err(E::Empty)));
}
",
r"#[test]
fn t() {
    assert!(matches!(f(1), Err(_)));
}
",
     &["oracle_weakened"]),
    ("a pattern gets an alternative",
r"#[test]
fn t() {
    assert!(matches!(f(1), Err(E::Empty)));
}
",
r"#[test]
fn t() {
    assert!(matches!(f(1), Err(E::Empty | E::Other)));
}
",
     &["oracle_weakened"]),
    ("a value becomes is_ok",
r"#[test]
fn t() {
    assert_eq!(f(1), Ok(3));
}
",
r"#[test]
fn t() {
    assert!(f(1).is_ok());
}
",
     &["oracle_weakened"]),
    ("a whole becomes its length",
r"#[test]
fn t() {
    assert_eq!(f(1), vec![1, 2]);
}
",
r"#[test]
fn t() {
    assert_eq!(f(1).len(), 2);
}
",
     &["oracle_weakened"]),
    ("a value becomes a part",
r#"#[test]
fn t() {
    assert_eq!(f(1), "abc");
}
"#,
r#"#[test]
fn t() {
    assert!(f(1).contains("b"));
}
"#,
     &["oracle_weakened"]),
    ("what is compared is compared with itself",
r"#[test]
fn t() {
    assert_eq!(f(1), 3);
}
",
r"#[test]
fn t() {
    assert_eq!(f(1), f(1));
}
",
     &["oracle_weakened"]),
    ("a check stands behind if false",
r"#[test]
fn t() {
    assert_eq!(f(1), 3);
    assert!(g());
}
",
r"#[test]
fn t() {
    if false {
        assert_eq!(f(1), 3);
    }
    assert!(g());
}
",
     &["oracle_weakened"]),
    ("a check stands under a new condition",
r"#[test]
fn t() {
    assert_eq!(f(1), 3);
}
",
r"#[test]
fn t() {
    if f(1) == 3 {
        assert_eq!(f(1), 3);
    }
}
",
     &["oracle_weakened"]),
    ("a check stands in a closure that nobody calls",
r"#[test]
fn t() {
    assert_eq!(f(1), 3);
}
",
r"#[test]
fn t() {
    let _check = || assert_eq!(f(1), 3);
}
",
     &["oracle_weakened", "assertion_removed"]),
    ("a check stands in a function that nobody calls",
r"#[test]
fn t() {
    assert_eq!(f(1), 3);
}
",
r"#[test]
fn t() {
    #[allow(dead_code)]
    fn check() {
        assert_eq!(f(1), 3);
    }
}
",
     &["oracle_weakened"]),
    ("a check stands behind a return",
r"#[test]
fn t() {
    assert_eq!(f(1), 3);
}
",
r"#[test]
fn t() {
    return;
    assert_eq!(f(1), 3);
}
",
     &["oracle_weakened", "reducer_added"]),
    ("a check stands behind a let else",
r"#[test]
fn t() {
    let v = f(1).unwrap();
    assert_eq!(v, 3);
}
",
r"#[test]
fn t() {
    let Ok(v) = f(1) else { return };
    assert_eq!(v, 3);
}
",
     &["reducer_added", "oracle_weakened"]),
    ("an arm of a match passes by",
r#"#[test]
fn t() {
    match f(1) {
        Ok(v) => assert_eq!(v, 3),
        Err(e) => panic!("{e}"),
    }
}
"#,
r"#[test]
fn t() {
    match f(1) {
        Ok(v) => assert_eq!(v, 3),
        Err(_) => {}
    }
}
",
     &["oracle_weakened", "assertion_removed"]),
    ("a panic is caught",
r"#[test]
fn t() {
    assert_eq!(f(1), 3);
}
",
r"#[test]
fn t() {
    let _ = std::panic::catch_unwind(|| assert_eq!(f(1), 3));
}
",
     &["oracle_weakened"]),
    ("a thread nobody joins",
r"#[test]
fn t() {
    assert_eq!(f(1), 3);
}
",
r"#[test]
fn t() {
    std::thread::spawn(|| assert_eq!(f(1), 3));
}
",
     &["oracle_weakened"]),
    ("a step that must succeed is gone",
r#"#[test]
fn t() {
    f("1.5").unwrap();
}
"#,
r#"#[test]
fn t() {
    let _ = f("1.5");
}
"#,
     &["oracle_weakened"]),
    ("a question mark is thrown away",
r#"#[test]
fn t() -> Result<(), E> {
    f("1.5")?;
    Ok(())
}
"#,
r#"#[test]
fn t() -> Result<(), E> {
    f("1.5").ok();
    Ok(())
}
"#,
     &["oracle_weakened"]),
    ("ignored",
r"#[test]
fn t() {
    assert!(f());
}
",
r#"#[test]
#[ignore = "slow"]
fn t() {
    assert!(f());
}
"#,
     &["test_disabled"]),
    ("ignored under a condition that always holds",
r"#[test]
fn t() {
    assert!(f());
}
",
r"#[test]
#[cfg_attr(all(), ignore)]
fn t() {
    assert!(f());
}
",
     &["test_disabled"]),
    ("built for a feature alone",
r"#[test]
fn t() {
    assert!(f());
}
",
r#"#[test]
#[cfg(feature = "slow-tests")]
fn t() {
    assert!(f());
}
"#,
     &["test_disabled"]),
    ("never built",
r"mod inner {
    #[test]
    fn t() {
        assert!(f());
    }
}
",
r"#[cfg(FALSE)]
mod inner {
    #[test]
    fn t() {
        assert!(f());
    }
}
",
     &["test_disabled"]),
    ("the file is built for one system",
r"#[test]
fn t() {
    assert!(f());
}
",
r"#![cfg(windows)]
#[test]
fn t() {
    assert!(f());
}
",
     &["test_disabled"]),
    ("no test any more",
r"#[test]
fn t() {
    assert!(f());
}
",
r"#[allow(dead_code)]
fn t() {
    assert!(f());
}
",
     &["property_removed"]),
    ("test only where a feature is",
r"#[test]
fn t() {
    assert!(f());
}
",
r#"#[cfg_attr(feature = "x", test)]
fn t() {
    assert!(f());
}
"#,
     &["test_disabled"]),
    ("must panic now",
r"#[test]
fn t() {
    assert_eq!(f(1), 3);
}
",
r"#[test]
#[should_panic]
fn t() {
    assert_eq!(f(1), 3);
}
",
     &["oracle_weakened", "test_disabled"]),
    ("any panic will do",
r#"#[test]
#[should_panic(expected = "bad money")]
fn t() {
    f(1);
}
"#,
r"#[test]
#[should_panic]
fn t() {
    f(1);
}
",
     &["oracle_weakened"]),
    ("a range gets narrower",
r"proptest! {
    #[test]
    fn t(a in 0..100i32) {
        prop_assert!(f(a) >= 0);
    }
}
",
r"proptest! {
    #[test]
    fn t(a in 0..10i32) {
        prop_assert!(f(a) >= 0);
    }
}
",
     &["bound_narrowed"]),
    ("a type becomes a range",
r"proptest! {
    #[test]
    fn t(a: u8) {
        prop_assert!(f(a) >= 0);
    }
}
",
r"proptest! {
    #[test]
    fn t(a in 0u8..200) {
        prop_assert!(f(a) >= 0);
    }
}
",
     &["bound_narrowed"]),
    ("any becomes a range",
r"proptest! {
    #[test]
    fn t(a in any::<i64>()) {
        prop_assert!(f(a) >= 0);
    }
}
",
r"proptest! {
    #[test]
    fn t(a in -5i64..5) {
        prop_assert!(f(a) >= 0);
    }
}
",
     &["bound_narrowed"]),
    ("lists get shorter",
r"proptest! {
    #[test]
    fn t(a in prop::collection::vec(any::<u8>(), 0..50)) {
        prop_assert!(f(a));
    }
}
",
r"proptest! {
    #[test]
    fn t(a in prop::collection::vec(any::<u8>(), 0..2)) {
        prop_assert!(f(a));
    }
}
",
     &["bound_narrowed"]),
    ("a pattern of texts changes",
r#"proptest! {
    #[test]
    fn t(a in "[a-z]{1,9}") {
        prop_assert!(f(a));
    }
}
"#,
r#"proptest! {
    #[test]
    fn t(a in "[a-c]{1,2}") {
        prop_assert!(f(a));
    }
}
"#,
     &["bound_narrowed", "domain_unreadable"]),
    ("a choice is gone",
r"proptest! {
    #[test]
    fn t(a in prop::sample::select(vec![1, 2, 3])) {
        prop_assert!(f(a));
    }
}
",
r"proptest! {
    #[test]
    fn t(a in prop::sample::select(vec![1, 2])) {
        prop_assert!(f(a));
    }
}
",
     &["bound_narrowed"]),
    ("a named strategy gets narrower",
r"fn small() -> impl Strategy<Value = u8> {
    0u8..9
}
proptest! {
    #[test]
    fn t(a in small()) {
        prop_assert!(f(a));
    }
}
",
r"fn small() -> impl Strategy<Value = u8> {
    0u8..3
}
proptest! {
    #[test]
    fn t(a in small()) {
        prop_assert!(f(a));
    }
}
",
     &["bound_narrowed"]),
    ("a composed strategy gets narrower",
r"prop_compose! {
    fn pair()(a in 0..9u8, b in 0..9u8) -> (u8, u8) { (a, b) }
}
proptest! {
    #[test]
    fn t(p in pair()) {
        prop_assert!(f(p));
    }
}
",
r"prop_compose! {
    fn pair()(a in 0..9u8, b in 0..2u8) -> (u8, u8) { (a, b) }
}
proptest! {
    #[test]
    fn t(p in pair()) {
        prop_assert!(f(p));
    }
}
",
     &["bound_narrowed", "domain_unreadable"]),
    ("inputs are mapped",
r"proptest! {
    #[test]
    fn t(a in 0..9u8) {
        prop_assert!(f(a));
    }
}
",
r"proptest! {
    #[test]
    fn t(a in (0..9u8).prop_map(|_| 1)) {
        prop_assert!(f(a));
    }
}
",
     &["domain_unreadable"]),
    ("an input is overwritten",
r"proptest! {
    #[test]
    fn t(a in 0..9u8) {
        prop_assert!(f(a));
    }
}
",
r"proptest! {
    #[test]
    fn t(a in 0..9u8) {
        let a = a % 2;
        prop_assert!(f(a));
    }
}
",
     &["reducer_added"]),
    ("an input is rejected",
r"proptest! {
    #[test]
    fn t(a in 0..9u8) {
        prop_assert!(f(a));
    }
}
",
r#"proptest! {
    #[test]
    fn t(a in 0..9u8) {
        if a > 3 {
            return Err(TestCaseError::reject("big"));
        }
        prop_assert!(f(a));
    }
}
"#,
     &["reducer_added"]),
    ("an input is discarded",
r"#[quickcheck]
fn t(a: u8) -> TestResult {
    TestResult::from_bool(f(a) == 1)
}
",
r"#[quickcheck]
fn t(a: u8) -> TestResult {
    if a > 3 {
        return TestResult::discard();
    }
    TestResult::from_bool(f(a) == 1)
}
",
     &["reducer_added"]),
    ("a property always holds",
r"quickcheck! {
    fn t(a: u8) -> bool {
        f(a) == 1
    }
}
",
r"quickcheck! {
    fn t(a: u8) -> bool {
        let _ = f(a);
        true
    }
}
",
     &["oracle_weakened", "assertion_removed"]),
    ("a property gets a way to hold",
r"#[quickcheck]
fn t(a: u8) -> bool {
    f(a) == 1
}
",
r"#[quickcheck]
fn t(a: u8) -> bool {
    f(a) == 1 || a > 3
}
",
     &["oracle_weakened"]),
    ("a drawn type gets smaller",
r"#[quickcheck]
fn t(a: u32) -> bool {
    f(a) == 1
}
",
r"#[quickcheck]
fn t(a: u8) -> bool {
    f(a) == 1
}
",
     &["bound_narrowed"]),
    ("fewer tests",
r"#[test]
fn t() {
    fn prop(a: u8) -> bool {
        f(a) == 1
    }
    QuickCheck::new().tests(500).quickcheck(prop as fn(u8) -> bool);
}
",
r"#[test]
fn t() {
    fn prop(a: u8) -> bool {
        f(a) == 1
    }
    QuickCheck::new().tests(5).quickcheck(prop as fn(u8) -> bool);
}
",
     &["budget_lowered"]),
    ("fewer cases than usual",
r"proptest! {
    #[test]
    fn t(a in 0..9u8) {
        prop_assert!(f(a));
    }
}
",
r"proptest! {
    #![proptest_config(ProptestConfig { cases: 3, ..ProptestConfig::default() })]
    #[test]
    fn t(a in 0..9u8) {
        prop_assert!(f(a));
    }
}
",
     &["budget_lowered"]),
    ("a closed property gets narrower",
r"#[test]
fn t() {
    proptest!(|(a in 0..9u8)| {
        prop_assert!(f(a));
    });
}
",
r"#[test]
fn t() {
    proptest!(|(a in 0..2u8)| {
        prop_assert!(f(a));
    });
}
",
     &["bound_narrowed"]),
    ("a value of an argument is gone",
r"#[rstest]
fn t(#[values(1, 2, 7)] a: u8) {
    assert!(f(a));
}
",
r"#[rstest]
fn t(#[values(1, 2)] a: u8) {
    assert!(f(a));
}
",
     &["case_removed"]),
    ("a case of a template is gone",
r"#[template]
#[rstest]
#[case(1)]
#[case(2)]
fn all(#[case] a: u8) {}
#[apply(all)]
fn t(#[case] a: u8) {
    assert!(f(a));
}
",
r"#[template]
#[rstest]
#[case(1)]
fn all(#[case] a: u8) {}
#[apply(all)]
fn t(#[case] a: u8) {
    assert!(f(a));
}
",
     &["case_removed"]),
    ("an expected value of a case changes",
r"#[test_case(1 => 2)]
#[test_case(2 => 4)]
fn t(a: u8) -> u8 {
    f(a)
}
",
r"#[test_case(1 => 2)]
#[test_case(2 => 5)]
fn t(a: u8) -> u8 {
    f(a)
}
",
     &["case_removed", "oracle_weakened"]),
    ("a row of a loop is gone",
r"#[test]
fn t() {
    for (a, b) in [(1, 2), (3, 4)] {
        assert_eq!(f(a), b);
    }
}
",
r"#[test]
fn t() {
    for (a, b) in [(1, 2)] {
        assert_eq!(f(a), b);
    }
}
",
     &["case_removed"]),
    ("a loop goes through less",
r"#[test]
fn t() {
    for a in 0..100 {
        assert_eq!(f(a), a);
    }
}
",
r"#[test]
fn t() {
    for a in 0..1 {
        assert_eq!(f(a), a);
    }
}
",
     &["case_removed"]),
    ("a loop is cut",
r"#[test]
fn t() {
    for a in all() {
        assert_eq!(f(a), 1);
    }
}
",
r"#[test]
fn t() {
    for a in all().take(1) {
        assert_eq!(f(a), 1);
    }
}
",
     &["oracle_weakened"]),
    ("a loop passes by",
r"#[test]
fn t() {
    for a in all() {
        assert_eq!(f(a), 1);
    }
}
",
r"#[test]
fn t() {
    for a in all() {
        if a > 3 {
            continue;
        }
        assert_eq!(f(a), 1);
    }
}
",
     &["reducer_added"]),
    ("a snapshot is rewritten",
r#"#[test]
fn t() {
    insta::assert_debug_snapshot!(f(1), @"[1]");
}
"#,
r#"#[test]
fn t() {
    insta::assert_debug_snapshot!(f(1), @"[2]");
}
"#,
     &["oracle_weakened"]),
    ("a helper is not called any more",
r"fn check(a: u8, b: u8) {
    assert_eq!(f(a), b);
}
#[test]
fn t() {
    check(1, 2);
    check(3, 4);
}
",
r"fn check(a: u8, b: u8) {
    assert_eq!(f(a), b);
}
#[test]
fn t() {
    check(1, 2);
}
",
     &["oracle_weakened", "assertion_removed"]),
    ("a helper checks less",
r"fn check(a: u8, b: u8) {
    assert_eq!(f(a), b);
    assert!(g(a));
}
#[test]
fn t() {
    check(1, 2);
}
",
r"fn check(a: u8, b: u8) {
    assert_eq!(f(a), b);
}
#[test]
fn t() {
    check(1, 2);
}
",
     &["assertion_removed", "oracle_weakened"]),
    ("a local helper is not called any more",
r"#[test]
fn t() {
    let check = |a, b| assert_eq!(f(a), b);
    check(1, 2);
    check(3, 4);
}
",
r"#[test]
fn t() {
    let check = |a, b| assert_eq!(f(a), b);
    check(1, 2);
}
",
     &["oracle_weakened"]),
    ("a macro of the file asserts less",
r"macro_rules! check {
    ($a:expr) => {
        assert_eq!(f($a), 1);
        assert!(g($a));
    };
}
#[test]
fn t() {
    check!(1);
}
",
r"macro_rules! check {
    ($a:expr) => {
        assert_eq!(f($a), 1);
    };
}
#[test]
fn t() {
    check!(1);
}
",
     &["assertion_removed"]),
    ("a check is debug_assert of nothing",
r"#[test]
fn t() {
    assert!(f(1) > 3);
}
",
r"#[test]
fn t() {
    assert!(f(1) > 1);
}
",
     &["oracle_weakened"]),
];

#[test]
fn what_takes_strength_away_is_refused_by_its_rule() {
    for (what, base, patch, rules) in WEAKER {
        let found = broken(base, patch);
        assert!(found.iter().any(|(rule, _)| rules.contains(&rule.as_str())), "{what}: {found:?}");
        assert_eq!(broken(base, base), [], "{what}: nothing changed");
        assert_eq!(broken(patch, patch), [], "{what}: nothing changed");
    }
}
