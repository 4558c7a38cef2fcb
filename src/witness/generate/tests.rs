//! Tests of the generator: what the cards' domains draw, for ever the same.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::settings::Settings;
use crate::strength::domain::Domain;
use crate::strength::languages::{Language, Module};
use crate::strength::snapshot::{SnapshotError, Source, cards};
use crate::tree::RepoPath;
use crate::witness::generate::{Plan, draw};
use crate::witness::value::Input;

const HEAD: &str =
    "import string\nimport pytest\nfrom hypothesis import given, strategies as st\nfrom seedgate_props import bounds, cases\n";

struct File(String);

impl Source for File {
    fn module(&self, _: &RepoPath) -> Result<Option<Arc<Module>>, SnapshotError> {
        Ok(Language::Python.module(self.0.as_bytes()).ok().map(Arc::new))
    }

    fn sha256(&self, _: &RepoPath) -> Result<Option<String>, SnapshotError> {
        Ok(None)
    }

    fn is_fixture(&self, _: &RepoPath) -> bool {
        false
    }

    fn is_test(&self, _: &RepoPath) -> bool {
        true
    }

    fn is_property_path(&self, _: &RepoPath) -> bool {
        false
    }

    fn settings(&self) -> &Settings {
        static SETTINGS: std::sync::LazyLock<Settings> = std::sync::LazyLock::new(Settings::default);
        &SETTINGS
    }
}

/// The domain of the one test of a file.
fn domain(text: &str) -> Domain {
    let cards = cards(&RepoPath::new("tests/test_a.py"), &File(format!("{HEAD}{text}"))).unwrap();
    cards.into_iter().find(|card| card.name() == "test_f").unwrap_or_else(|| panic!("{text}")).domain
}

/// The domain of one argument drawn from a strategy.
fn given(strategy: &str) -> Domain {
    domain(&format!("@given(x={strategy})\ndef test_f(x): pass\n"))
}

fn plan(strategy: &str) -> Plan {
    Plan::of(&given(strategy)).unwrap_or_else(|why| panic!("{strategy}: {why}"))
}

/// Strategies of every kind, and the first inputs of seed 7.
const GOLDEN: &[(&str, [&str; 4])] = &[
    ("st.integers(0, 100)", ["51", "32", "2", "96"]),
    ("st.integers(min_value=5)", ["1306903529", "6443", "5016366148", r#"{"$int":"246888192846075495032484429028653829169"}"#]),
    ("st.integers()", ["1306903524", "-6438", "5016366143", r#"{"$int":"246888192846075495032484429028653829164"}"#]),
    (
        "st.integers(-10**30, 10**30)",
        [
            r#"{"$int":"-25153934983081678439548324438"}"#,
            r#"{"$int":"-41477946826104221477743724908"}"#,
            "5016366143",
            r#"{"$int":"-858047268300254210151253548314"}"#,
        ],
    ),
    ("st.booleans()", ["true", "true", "false", "true"]),
    ("st.sampled_from(['a', 'b', None, 2.5])", [r#""a""#, r#""b""#, "2.5", r#""a""#]),
    (
        "st.just((1, b'x'))",
        [
            r#"{"$tuple":[1,{"$bytes":"78"}]}"#,
            r#"{"$tuple":[1,{"$bytes":"78"}]}"#,
            r#"{"$tuple":[1,{"$bytes":"78"}]}"#,
            r#"{"$tuple":[1,{"$bytes":"78"}]}"#,
        ],
    ),
    ("st.text(max_size=5)", [r#""񱌾K𵈳""#, r#""JVAN""#, r#""R""#, r#""j""#]),
    ("st.text(alphabet='xyz', min_size=1)", [r#""zzxyzzxxzxyxxyyzx""#, r#""yyyzyyyyyz""#, r#""zyzyx""#, r#""zz""#]),
    (
        "st.binary(min_size=2, max_size=4)",
        [r#"{"$bytes":"432ffb"}"#, r#"{"$bytes":"60a6"}"#, r#"{"$bytes":"bb6f11"}"#, r#"{"$bytes":"b9b9cf"}"#],
    ),
    ("st.lists(st.integers(0, 9), max_size=4)", ["[2,8]", "[]", "[4]", "[7]"]),
    ("st.lists(st.integers(0, 9), min_size=3, max_size=6, unique=True)", ["[2,0,3,8,1]", "[0,3,4]", "[4,0,9,2]", "[7,2,6,5]"]),
    ("st.sets(st.integers(0, 9), max_size=4)", [r#"{"$set":[0,2]}"#, r#"{"$set":[]}"#, r#"{"$set":[4]}"#, r#"{"$set":[7]}"#]),
    (
        "st.tuples(st.booleans(), st.integers(1, 3))",
        [r#"{"$tuple":[true,2]}"#, r#"{"$tuple":[true,1]}"#, r#"{"$tuple":[false,1]}"#, r#"{"$tuple":[true,1]}"#],
    ),
    (
        "st.dictionaries(st.text('ab', max_size=2), st.booleans(), max_size=3)",
        [r#"{"$map":[["ba",true],["",false]]}"#, "{}", r#"{"":false}"#, r#"{"ab":true}"#],
    ),
    ("st.one_of(st.none(), st.integers(0, 9), st.lists(st.lists(st.booleans(), max_size=2), max_size=2))", ["[]", "[]", "null", "null"]),
    ("st.floats(0, 1)", ["0.39804839405370696", "0.3202001842657525", "0.40741523937879", "5e-324"]),
    ("st.floats()", ["-6.494884888391921e-291", "-359599.631468495", "59927.0", r#"{"$float":"-1.1987369990578648e254"}"#]),
];

#[test]
fn recorded_seeds_mean_what_they_meant() {
    for (strategy, golden) in GOLDEN {
        let plan = plan(strategy);
        let drawn: Vec<String> = (0..4).map(|n| plan.draw(7, n).to_json()).collect();
        assert_eq!(drawn, golden.map(|value| format!("{{\"x\":{value}}}")), "{strategy}");
        assert_eq!(draw(&given(strategy), 7, 2).unwrap(), plan.draw(7, 2));
    }
}

#[test]
fn what_is_drawn_is_of_the_domain_and_survives_its_json() {
    for (strategy, _) in GOLDEN {
        let plan = plan(strategy);
        let mut seen = BTreeSet::new();
        for seed in [0, 1, u64::MAX] {
            for n in 0..200 {
                let input = plan.draw(seed, n);
                assert!(plan.contains(&input), "{strategy}: {}", input.to_json());
                assert_eq!(Input::from_json(input.to_json().as_bytes()).unwrap(), input);
                seen.insert(input);
            }
        }
        assert!(seen.len() > 1 || strategy.contains("just"), "{strategy}");
    }
}

#[test]
fn ends_and_their_neighbours_come_early() {
    for (strategy, wanted) in [
        ("st.integers(0, 10**9)", &["0", "1", "1000000000", "999999999"][..]),
        ("st.integers(-5, 5)", &["-5", "5", "0", "1", "-1"]),
        ("st.lists(st.integers(0, 1), max_size=3)", &["[]", "[1,1,1]", "[0]"]),
        ("st.text(max_size=3)", &["\"\""]),
    ] {
        let plan = plan(strategy);
        let seen: BTreeSet<String> = (0..400).map(|n| plan.draw(1, n).to_json()).collect();
        for value in wanted {
            assert!(seen.contains(&format!("{{\"x\":{value}}}")), "{strategy} {value}");
        }
    }
}

#[test]
fn a_small_domain_is_listed_whole_in_a_stable_order() {
    for (strategy, values) in [
        ("st.integers(-1, 2)", "0 -1 1 2"),
        ("st.integers(3, 5)", "3 4 5"),
        ("st.booleans()", "false true"),
        ("st.none() | st.sampled_from([2, 'b', 1])", "null 1 2 \"b\""),
        ("st.lists(st.booleans(), max_size=2)", "[] [false] [true] [false,false] [false,true] [true,false] [true,true]"),
        ("st.lists(st.booleans(), unique=True)", "[] [false] [true] [false,true] [true,false]"),
        ("st.sets(st.integers(1, 2))", r#"{"$set":[]} {"$set":[1]} {"$set":[2]} {"$set":[1,2]}"#),
        ("st.frozensets(st.nothing())", r#"{"$frozenset":[]}"#),
        (
            "st.tuples(st.booleans(), st.integers(7, 8))",
            r#"{"$tuple":[false,7]} {"$tuple":[false,8]} {"$tuple":[true,7]} {"$tuple":[true,8]}"#,
        ),
        ("st.text('ba', min_size=1, max_size=1)", r#""a" "b""#),
        ("st.dictionaries(st.just('k'), st.booleans())", r#"{} {"k":false} {"k":true}"#),
        ("st.lists(st.nothing())", "[]"),
        ("st.lists(st.just(1), min_size=2, max_size=2) | st.just([1, 1])", "[1,1]"),
    ] {
        let all = plan(strategy).all(100).unwrap_or_else(|| panic!("{strategy}"));
        let wanted: Vec<String> = values.split(' ').map(|value| format!("{{\"x\":{value}}}")).collect();
        assert_eq!(all.iter().map(Input::to_json).collect::<Vec<_>>(), wanted, "{strategy}");
    }
}

#[test]
fn a_listing_has_the_size_that_the_card_tells_and_is_refused_above_it() {
    for strategy in [
        "st.integers(-20, 21)",
        "st.lists(st.integers(0, 2), max_size=3)",
        "st.binary(max_size=1)",
        "st.tuples(st.booleans(), st.lists(st.booleans(), max_size=3))",
        "st.one_of(st.integers(0, 3), st.lists(st.none(), max_size=2))",
    ] {
        let (domain, plan) = (given(strategy), plan(strategy));
        let size = usize::try_from(domain.size().unwrap()).unwrap();
        assert_eq!(plan.all(size).map(|all| all.len()), Some(size), "{strategy}");
        assert!(plan.all(size).unwrap().iter().all(|input| plan.contains(input)));
        assert_eq!(plan.all(size - 1), None, "{strategy}");
    }
    for open in
        ["st.integers()", "st.integers(max_value=3)", "st.text()", "st.lists(st.booleans())", "st.floats(0, 1)", "st.binary(min_size=1000)"]
    {
        assert_eq!(plan(open).all(5_000), None, "{open}");
    }
}

#[test]
fn cases_bounds_and_several_arguments_go_together() {
    let text = "@pytest.mark.parametrize('a, b', [(2, 'x'), (1, 'y')])\n@given(n=st.integers(0, 1))\ndef test_f(a, b, n): pass\n";
    let plan = Plan::of(&domain(text)).unwrap();
    let all: Vec<String> = plan.all(10).unwrap().iter().map(Input::to_json).collect();
    assert_eq!(all, [r#"{"a":1,"b":"y","n":0}"#, r#"{"a":1,"b":"y","n":1}"#, r#"{"a":2,"b":"x","n":0}"#, r#"{"a":2,"b":"x","n":1}"#]);
    assert!((0..50).all(|n| plan.contains(&plan.draw(3, n))));
    let input = |json: &str| Input::from_json(json.as_bytes()).unwrap();
    for outside in
        [r#"{"a":1,"b":"x","n":0}"#, r#"{"a":1,"b":"y"}"#, r#"{"a":1,"b":"y","n":0,"z":0}"#, r#"{"a":1,"b":"y","n":false}"#, "{}"]
    {
        assert!(!plan.contains(&input(outside)), "{outside}");
    }
    let positions = Plan::of(&domain("@cases([(1, 2), (3, 4)])\ndef test_f(a, b): pass\n")).unwrap();
    assert_eq!(positions.draw(0, 0).0.keys().collect::<Vec<_>>(), ["a", "b"]);
    let mut nameless = domain("@cases([(1, 2), (3, 4)])\ndef test_f(a, b): pass\n");
    nameless.tables[0].names = vec![String::new(); 2];
    assert_eq!(draw(&nameless, 0, 0).unwrap().0.keys().collect::<Vec<_>>(), ["0", "1"]);
    let bounds = Plan::of(&domain("@bounds(n=(4, 6))\ndef test_f(n): pass\n")).unwrap();
    assert_eq!(bounds.all(3).map(|all| all.len()), Some(3));
    assert_eq!(Plan::of(&domain("def test_f(): pass\n")).unwrap().all(1), Some(vec![Input::default()]));
}

#[test]
fn what_literals_do_not_give_is_named() {
    for (strategy, says) in [
        ("st.integers(0, LIMIT)", "x: literals do not give `"),
        ("st.integers(5, 1)", "x: inverted bound 5..1"),
        ("st.builds(int)", "x: literals do not give `builds("),
        ("st.integers(0, 3).map(f)", "x: literals do not give `integers(0, 3).map(f)`"),
        ("st.tuples(st.just(1), st.just(f(1)))", "x: `f(1)` is no literal"),
        ("st.lists(st.integers(), unique_by=f)", "x: literals do not give `unique_by=f`"),
        ("st.text(alphabet=st.characters())", "x: literals do not give `alphabet="),
        ("st.lists(st.booleans(), min_size=3, max_size=2)", "x: inverted size 3..2"),
        ("st.lists(st.booleans(), min_size=3, unique=True)", "x: the domain has no value"),
        ("st.nothing()", "x: the domain has no value"),
        ("st.lists(st.integers(), min_size=10**9)", "x: its smallest value has 1000000000 parts"),
        ("st.lists(st.lists(st.none(), min_size=60000), min_size=60000)", "x: its smallest value has "),
        ("st.floats(0, 1, width=32)", "x: literals do not give `width=32`"),
        ("st.iterables(st.none())", "x: values of `iterables` cannot be written down"),
        ("st.data()", "x: literals do not give `data()`"),
    ] {
        let why = Plan::of(&given(strategy)).map(|_| ()).unwrap_err().to_string();
        assert!(why.starts_with(says), "{strategy}: {why}");
    }
    for (text, says) in [
        ("@pytest.mark.parametrize('a', make())\ndef test_f(a): pass\n", "a: literals do not give the cases `make()`"),
        ("@pytest.mark.parametrize('a', [f(1), 2])\ndef test_f(a): pass\n", "a: `f(1)` is no literal"),
        ("@pytest.mark.parametrize('a', [])\ndef test_f(a): pass\n", "a: there are no cases"),
        ("@pytest.mark.parametrize('a', [1])\n@given(a=st.none())\ndef test_f(a): pass\n", "a: two lists give a value to this argument"),
        ("@given(**some)\ndef test_f(a): pass\n", "literals do not give the domain `"),
    ] {
        let why = Plan::of(&domain(text)).map(|_| ()).unwrap_err().to_string();
        assert!(why.starts_with(says), "{text}: {why}");
    }
    let deep = format!("{}st.none(){}", "st.lists(".repeat(60), ")".repeat(60));
    assert!(Plan::of(&given(&deep)).is_err());
}

#[test]
fn equal_keys_are_one_key_as_the_languages_tell_it() {
    let plan = plan("st.lists(st.sampled_from([1, 1.0, True, 2]), unique=True, min_size=2)");
    for n in 0..50 {
        assert!(plan.contains(&plan.draw(0, n)));
    }
    for (json, holds) in [(r#"{"x":[1,2]}"#, true), (r#"{"x":[1,true]}"#, false), (r#"{"x":[1.0,1]}"#, false), (r#"{"x":[1]}"#, false)] {
        assert_eq!(plan.contains(&Input::from_json(json.as_bytes()).unwrap()), holds, "{json}");
    }
}
