//! Tests of shrinking: the rules that every step keeps, and what each reducer can do.

use std::collections::{BTreeMap, BTreeSet};
use std::convert::Infallible;

use proptest::prelude::{any, prop_assert, prop_assert_eq, proptest};

use crate::strength::domain::{Argument, Domain, Origin, Strategy, Table};
use crate::witness::generate::Plan;
use crate::witness::order;
use crate::witness::shrink::{Shrunk, node, shrink};
use crate::witness::value::{Input, Value};

fn integers(low: i64, high: i64) -> Strategy {
    Strategy::Integers { low: Some(low.into()), high: Some(high.into()) }
}

fn finite(keys: &[&str]) -> Strategy {
    Strategy::Finite(keys.iter().map(|key| (*key).to_owned()).collect())
}

fn many(what: &str, of: &[Strategy], min: u64, max: Option<u64>) -> Strategy {
    Strategy::Many { what: what.to_owned(), of: of.to_vec(), min, max, rest: BTreeMap::new() }
}

fn plan(arguments: &[(&str, Strategy)]) -> Plan {
    let arguments = arguments.iter().map(|(name, strategy)| Argument { name: (*name).to_owned(), strategy: strategy.clone() });
    Plan::of(&Domain { arguments: arguments.collect(), ..Domain::default() }).unwrap()
}

fn input(json: &str) -> Input {
    Input::from_json(json.as_bytes()).unwrap_or_else(|error| panic!("{json}: {error}"))
}

fn run(plan: &Plan, start: &str, fails: fn(&str) -> bool) -> Shrunk {
    let start = input(start);
    assert!(plan.contains(&start) && fails(&start.to_json()), "{}", start.to_json());
    shrink(plan, &start, 10_000, &mut |input| Ok::<bool, Infallible>(fails(&input.to_json()))).unwrap()
}

/// The sum of all digits that stand in a text.
fn digits(json: &str) -> u32 {
    json.chars().filter_map(|c| c.to_digit(10)).sum()
}

#[test]
fn every_kind_of_value_is_made_small() {
    let any_text = || many("text", &[], 0, None);
    for (strategy, start, fails, small) in [
        (integers(-100, 100), "-77", (|json: &str| json.contains('-')) as fn(&str) -> bool, "-1"),
        (integers(5, 100), "77", |_| true, "5"),
        (integers(-100, -5), "-77", |_| true, "-5"),
        (integers(0, 1 << 50), "1125899906842623", |json: &str| json.len() > 8, "100"),
        (finite(&["'c'", "'b'", "3", "None"]), "\"c\"", |json: &str| json.ends_with("\"}"), "\"b\""),
        (Strategy::booleans(), "true", |_| true, "false"),
        (any_text(), "\"some long text with an x in it\"", |json: &str| json.matches('x').count() > 1, "\"x\""),
        (any_text(), "\"zebra\"", |json: &str| json.len() > 9, "\"00\""),
        (many("binary", &[], 0, None), r#"{"$bytes":"00ff17"}"#, |json: &str| json.contains("17"), r#"{"$bytes":"17"}"#),
        (many("sets", &[integers(0, 9)], 0, None), r#"{"$set":[3,5,7]}"#, |json: &str| json.matches(',').count() > 0, r#"{"$set":[0,1]}"#),
        (many("lists", &[integers(0, 9)], 2, None), "[9,8,7]", |_| true, "[0,0]"),
        (
            many("dictionaries", &[any_text(), integers(0, 99)], 0, None),
            r#"{"ab":50,"c":77}"#,
            |json: &str| json.contains("77"),
            r#"{"":77}"#,
        ),
        (
            Strategy::Tuples(vec![integers(0, 9), any_text()]),
            r#"{"$tuple":[7,"abc"]}"#,
            |json: &str| digits(json) > 0,
            r#"{"$tuple":[1,""]}"#,
        ),
        (
            Strategy::OneOf(vec![integers(0, 9), many("lists", &[many("lists", &[integers(0, 9)], 0, None)], 0, None)]),
            "[[1],[2,3],[4]]",
            |json: &str| json.contains('['),
            "[]",
        ),
        (Strategy::Floats { low: None, high: None, rest: BTreeMap::new() }, "-3.75", |json: &str| !json.contains("0.0"), "1.0"),
        (Strategy::Floats { low: None, high: None, rest: BTreeMap::new() }, "1234567.0", |json: &str| json.len() > 11, "1000.0"),
    ] {
        let plan = plan(&[("x", strategy.clone())]);
        let shrunk = run(&plan, &format!("{{\"x\":{start}}}"), fails);
        assert_eq!(shrunk.input.to_json(), format!("{{\"x\":{small}}}"), "{strategy}");
        assert!(shrunk.is_minimal);
    }
}

#[test]
fn coupled_values_are_moved_together() {
    let pair = || plan(&[("x", integers(0, 1 << 40)), ("y", integers(0, 1 << 40))]);
    let of = |input: &Input| {
        let int = |name: &str| if let Value::Int(n) = &input.0[name] { i64::try_from(n).unwrap() } else { 0 };
        (int("x"), int("y"))
    };
    for (fails, small) in [
        ((|x, y| x == y && x > 9) as fn(i64, i64) -> bool, r#"{"x":10,"y":10}"#),
        (|x, y| x - y == 3, r#"{"x":3,"y":0}"#),
        (|x, y| x + y == 200, r#"{"x":0,"y":200}"#),
        (|x, y| x < y, r#"{"x":0,"y":1}"#),
    ] {
        let mut asked = |input: &Input| Ok::<bool, Infallible>(fails(of(input).0, of(input).1));
        let start = [r#"{"x":123456,"y":123456}"#, r#"{"x":103,"y":100}"#, r#"{"x":150,"y":50}"#, r#"{"x":7,"y":88}"#]
            .map(input)
            .into_iter()
            .find(|start| asked(start) == Ok(true))
            .unwrap();
        assert_eq!(shrink(&pair(), &start, 10_000, &mut asked).unwrap().input.to_json(), small);
    }
}

#[test]
fn a_case_list_gives_its_simplest_failing_row() {
    let rows: BTreeSet<Vec<String>> = [["3", "'x'"], ["1", "'y'"], ["2", "'x'"]].map(|row| row.map(str::to_owned).to_vec()).into();
    let table = Table { origin: Origin::Declared, names: vec!["a".to_owned(), "b".to_owned()], rows, rest: BTreeSet::new() };
    let plan = Plan::of(&Domain { tables: vec![table], ..Domain::default() }).unwrap();
    assert_eq!(run(&plan, r#"{"a":3,"b":"x"}"#, |json| json.contains('x')).input.to_json(), r#"{"a":2,"b":"x"}"#);
}

#[test]
fn steps_are_bounded_and_an_error_ends_it() {
    let plan = plan(&[("x", many("lists", &[integers(0, 1_000_000)], 0, None))]);
    let start = input(&format!("{{\"x\":{:?}}}", (1000..1060).collect::<Vec<_>>()));
    for most in [0, 1, 5, 80] {
        let mut calls = 0;
        let shrunk = shrink(&plan, &start, most, &mut |candidate| {
            calls += 1;
            Ok::<bool, Infallible>(digits(&candidate.to_json()) >= 100)
        });
        let shrunk = shrunk.unwrap();
        assert_eq!((shrunk.steps, shrunk.is_minimal), (calls, false));
        assert_eq!(calls, most);
    }
    assert_eq!(shrink(&plan, &start, 10, &mut |_| Err("gone")), Err("gone"));
    let outside = input(r#"{"x":[-1]}"#);
    let left = shrink(&plan, &outside, 10, &mut |_| Ok::<bool, Infallible>(true)).unwrap();
    assert_eq!(left, Shrunk { input: outside, steps: 0, is_minimal: false });
}

proptest! {
    #[test]
    fn every_candidate_is_new_simpler_and_of_the_domain_and_the_same_start_ends_the_same(seed in any::<u64>(), modulus in 2_u32..7) {
        let number = || integers(-50, 1 << 40);
        let strategies = [
            many("lists", &[many("lists", &[number()], 0, Some(4))], 0, Some(5)),
            Strategy::Tuples(vec![number(), many("dictionaries", &[integers(0, 9), many("text", &[], 0, Some(3))], 0, Some(4))]),
            Strategy::OneOf(vec![finite(&["None"]), many("sets", &[integers(0, 30)], 2, Some(6)), number()]),
        ];
        for strategy in strategies {
            let plan = plan(&[("a", strategy.clone()), ("b", number())]);
            let fails = |input: &Input| digits(&input.to_json()).is_multiple_of(modulus);
            let Some(start) = (0..50).map(|n| plan.draw(seed, n)).find(fails) else { continue };
            let tree = |input: &Input| node::tree(&plan, input).value();
            let (mut seen, mut last) = (BTreeSet::new(), start.clone());
            let mut asked = |candidate: &Input| {
                assert!(plan.contains(candidate) && seen.insert(candidate.clone()));
                assert!(order::simpler(&tree(candidate), &tree(&last)).is_lt());
                if fails(candidate) {
                    last = candidate.clone();
                }
                Ok::<bool, Infallible>(fails(candidate))
            };
            let shrunk = shrink(&plan, &start, 3_000, &mut asked).unwrap();
            prop_assert!(fails(&shrunk.input));
            let again = shrink(&plan, &start, 3_000, &mut |candidate| Ok::<bool, Infallible>(fails(candidate))).unwrap();
            prop_assert_eq!(&shrunk, &again);
            if shrunk.is_minimal {
                let more = shrink(&plan, &shrunk.input, 3_000, &mut |candidate| Ok::<bool, Infallible>(fails(candidate))).unwrap();
                prop_assert_eq!(more.input, shrunk.input);
            }
        }
    }
}
