//! Owns the tests of changes that take nothing away.

use super::broken;

/// What happens, the text before and the text after.
#[rustfmt::skip]
const HONEST: &[(&str, &str, &str)] = &[
    ("layout",
r"#[test]
fn t() {
    assert_eq!(f(1, 2), vec![1, 2]);
}
",
r"#[test]
fn t() {
    assert_eq!(
        f(
            1,
            2,
        ),
        vec![
            1, 2,
        ],
    );
}
"),
    ("comments and messages",
r"#[test]
fn t() {
    assert_eq!(f(1), 2);
}
",
r#"/// What it does.
#[test]
fn t() {
    // why
    assert_eq!(f(1), 2, "for {}", 1);
}
"#),
    ("another name",
r"#[test]
fn t() {
    assert_eq!(f(1), 2);
}
",
r"#[test]
fn one_gives_two() {
    assert_eq!(f(1), 2);
}
"),
    ("into a module",
r"#[test]
fn t() {
    assert_eq!(f(1), 2);
}
",
r"mod inner {
    use super::*;
    #[test]
    fn t() {
        assert_eq!(f(1), 2);
    }
}
"),
    ("a module gets another name",
r"mod old {
    #[test]
    fn t() {
        assert_eq!(f(1), 2);
    }
}
",
r"mod new {
    #[test]
    fn t() {
        assert_eq!(f(1), 2);
    }
}
"),
    ("nested imports",
r"use shop::money::show;
use shop::money::split;
#[test]
fn t() {
    assert_eq!(show(1), split(2));
}
",
r"use shop::money::{show, split};
#[test]
fn t() {
    assert_eq!(show(1), split(2));
}
"),
    ("a longer path",
r#"use shop::money::show;
#[test]
fn t() {
    assert_eq!(show(1), "1");
}
"#,
r#"use shop::money;
#[test]
fn t() {
    assert_eq!(money::show(1), "1");
}
"#),
    ("cases in another order, named",
r"#[rstest]
#[case(1, 2)]
#[case(3, 4)]
fn t(#[case] a: u8, #[case] b: u8) {
    assert_eq!(f(a), b);
}
",
r"#[rstest]
#[case::three(3, 4)]
#[case::one(1, 2)]
fn t(#[case] a: u8, #[case] b: u8) {
    assert_eq!(f(a), b);
}
"),
    ("a case more",
r#"#[test_case(1 => 2; "one")]
fn t(a: u8) -> u8 {
    f(a)
}
"#,
r#"#[test_case(1 => 2; "the first")]
#[test_case(2 => 3)]
fn t(a: u8) -> u8 {
    f(a)
}
"#),
    ("suffixes and separators",
r"#[test]
fn t() {
    assert_eq!(f(1000), 2u8);
}
",
r"#[test]
fn t() {
    assert_eq!(f(1_000), 2);
}
"),
    ("a local name",
r"#[test]
fn t() {
    assert_eq!(f(1).unwrap(), 2);
}
",
r"#[test]
fn t() {
    let got = f(1).unwrap();
    assert_eq!(got, 2);
}
"),
    ("unwrap or Ok",
r"#[test]
fn t() {
    assert_eq!(f(1).unwrap(), 2);
}
",
r"#[test]
fn t() {
    assert_eq!(f(1), Ok(2));
}
"),
    ("expect for unwrap",
r"#[test]
fn t() {
    f(1).unwrap();
}
",
r#"#[test]
fn t() {
    f(1).expect("one");
}
"#),
    ("a result for unwrap",
r"#[test]
fn t() {
    f(1).unwrap();
}
",
r"#[test]
fn t() -> Result<(), E> {
    f(1)?;
    Ok(())
}
"),
    ("an assertion for two",
r"#[test]
fn t() {
    assert!(f(1) && g(2));
}
",
r"#[test]
fn t() {
    assert!(f(1));
    assert!(g(2));
}
"),
    ("assert_eq for assert",
r"#[test]
fn t() {
    assert!(f(1) == 2);
}
",
r"#[test]
fn t() {
    assert_eq!(2, f(1));
}
"),
    ("a panic becomes an assertion",
r#"#[test]
fn t() {
    if !g(1) {
        panic!("no");
    }
}
"#,
r#"#[test]
fn t() {
    assert!(g(1), "no");
}
"#),
    ("is_none for None",
r"#[test]
fn t() {
    assert!(f(1).is_none());
}
",
r"#[test]
fn t() {
    assert_eq!(f(1), None);
}
"),
    ("a helper takes the checks",
r"#[test]
fn t() {
    assert_eq!(f(1), 2);
    assert_eq!(f(3), 4);
}
",
r"fn check(a: u8, b: u8) {
    assert_eq!(f(a), b);
}
#[test]
fn t() {
    check(1, 2);
    check(3, 4);
}
"),
    ("a range gets wider",
r"proptest! {
    #[test]
    fn t(a in 0..100i32) {
        prop_assert!(f(a) >= 0);
    }
}
",
r"proptest! {
    #[test]
    fn t(a in -5..=100) {
        prop_assert!(f(a) >= 0);
    }
}
"),
    ("a constant for a bound",
r"proptest! {
    #[test]
    fn t(a in 0..100i32) {
        prop_assert!(f(a) >= 0);
    }
}
",
r"const MAX: i32 = 100;
proptest! {
    #[test]
    fn t(a in 0..MAX) {
        prop_assert!(f(a) >= 0);
    }
}
"),
    ("more cases",
r"proptest! {
    #[test]
    fn t(a in 0..9u8) {
        prop_assert!(f(a));
    }
}
",
r"proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]
    #[test]
    fn t(a in 0..9u8) {
        prop_assert!(f(a));
    }
}
"),
    ("a strategy by name",
r"proptest! {
    #[test]
    fn t(a in 0..9u8) {
        prop_assert!(f(a));
    }
}
",
r"fn small() -> impl Strategy<Value = u8> {
    0..9u8
}
proptest! {
    #[test]
    fn t(a in small()) {
        prop_assert!(f(a));
    }
}
"),
    ("an arm more",
r"proptest! {
    #[test]
    fn t(a in prop_oneof![Just(1), Just(2)]) {
        prop_assert!(f(a));
    }
}
",
r"proptest! {
    #[test]
    fn t(a in prop_oneof![3 => Just(1), 1 => Just(2), 1 => Just(3)]) {
        prop_assert!(f(a));
    }
}
"),
    ("not under miri",
r"#[test]
fn t() {
    assert!(f());
}
",
r"#[test]
#[cfg_attr(miri, ignore)]
fn t() {
    assert!(f());
}
"),
    ("two loops become one with more rows",
r"#[test]
fn t() {
    for (a, b) in [(1, 2)] {
        assert_eq!(f(a), b);
    }
}
",
r"#[test]
fn t() {
    for (a, b) in [(1, 2), (3, 4)] {
        assert_eq!(f(a), b);
    }
}
"),
    ("assertions become rows",
r"#[test]
fn t() {
    assert_eq!(f(1), 2);
    assert_eq!(f(3), 4);
}
",
r"#[test]
fn t() {
    for (a, b) in [(1, 2), (3, 4)] {
        assert_eq!(f(a), b);
    }
}
"),
    ("a reborrow",
r"#[test]
fn t() {
    assert_eq!(f(&v), v.clone());
}
",
r"#[test]
fn t() {
    assert_eq!(&f(v.as_slice()), &v);
}
"),
];

#[test]
fn what_takes_nothing_away_is_let_through() {
    for (what, base, patch) in HONEST {
        assert_eq!(broken(base, patch), [], "{what}");
    }
}
