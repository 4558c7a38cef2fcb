use std::collections::{BTreeMap, BTreeSet};
use std::slice::from_ref;

use num_bigint::BigInt;

use crate::finding::{Exit, PropId, Rule};
use crate::strength::card::{Assertion, Call, Card, Claim, Kind};
use crate::strength::cards::CardSet;
use crate::strength::delta::{Delta, compare, compare_beside, compare_files};
use crate::strength::domain::{Argument, Domain, Origin, Strategy, Table};
use crate::strength::effort::Effort;

/// Name, base, patch, and the id that the vanished one continues under.
type Continued<'t> = (&'t str, Vec<Card>, Vec<Card>, Option<&'t str>);
/// Name, what the patch loads, what is said of it, and whether that is drift.
type Loaded<'t> = (&'t str, &'t [(&'t str, &'t str)], &'t str, bool);

/// A test with one assertion a text; each is told as the condition alone, reached without conditions.
fn test(id: &str, asserts: &[&str]) -> Card {
    let assertions = asserts.iter().zip(1..).map(|(text, line)| Assertion { text: format!("assert {text}"), line }).collect();
    let claims = asserts.iter().enumerate();
    let claims = claims.flat_map(|(assertion, text)| text.split(" and ").map(move |part| claim(assertion, part, &[]))).collect();
    Card {
        prop_id: PropId(id.into()),
        kind: Kind::Test,
        line: 7,
        domain: Domain::default(),
        assertions,
        claims,
        calls: Vec::new(),
        parameters: Vec::new(),
        files: BTreeMap::new(),
        fixture_sha256: None,
        effort: Effort::default(),
        body_sha256: format!("body of {}", asserts.join("; ")),
    }
}

fn claim(assertion: usize, text: &str, setup: &[&str]) -> Claim {
    Claim { text: text.into(), setup: setup.iter().map(|line| (*line).into()).collect(), assertion }
}

fn table(names: &[&str], rows: &[&[&str]]) -> Table {
    let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
    Table { origin: Origin::Declared, names: words(names), rows: rows.iter().map(|row| words(row)).collect(), rest: BTreeSet::new() }
}

fn with_table(mut card: Card, names: &[&str], rows: &[&[&str]]) -> Card {
    card.domain.tables.push(table(names, rows));
    card.kind = Kind::Property;
    card
}

fn with_bounds(mut card: Card, name: &str, low: i32, high: i32) -> Card {
    let strategy = Strategy::Integers { low: Some(BigInt::from(low)), high: Some(BigInt::from(high)) };
    card.domain.arguments.push(Argument { name: name.into(), strategy });
    card.kind = Kind::Property;
    card
}

fn with_files(mut card: Card, files: &[(&str, &str)]) -> Card {
    card.files = files.iter().map(|(path, sha)| ((*path).to_owned(), (*sha).to_owned())).collect();
    card
}

fn support(mut card: Card) -> Card {
    card.kind = Kind::Support;
    card
}

fn rules(delta: &Delta) -> Vec<(Rule, String)> {
    delta.findings().into_iter().map(|f| (f.rule, f.property.map_or_else(String::new, |id| id.0))).collect()
}

fn says(delta: &Delta) -> String {
    delta.findings().into_iter().flat_map(|f| f.says).collect::<Vec<_>>().join("\n")
}

#[test]
fn the_exit_is_0_held_2_weaker_or_removed_3_only_new_ids() {
    let one = || test("tests/test_a.py::test_x", &["f(1) == 1", "f(2) == 2"]);
    let less = || test("tests/test_a.py::test_x", &["f(1) == 1"]);
    let new = || test("tests/test_a.py::test_new", &["g() == 0"]);
    let table = [
        ("nothing at all", vec![], vec![], Exit::Clear),
        ("held", vec![one()], vec![one()], Exit::Clear),
        ("stronger", vec![less()], vec![one()], Exit::Clear),
        ("weaker", vec![one()], vec![less()], Exit::Refused),
        ("removed", vec![one()], vec![], Exit::Refused),
        ("new", vec![one()], vec![one(), new()], Exit::Review),
        ("weaker beside new", vec![one()], vec![less(), new()], Exit::Refused),
        ("support new", vec![one()], vec![one(), support(new())], Exit::Clear),
        ("support removed", vec![one(), support(new())], vec![one()], Exit::Clear),
        ("support weaker", vec![support(one())], vec![support(less())], Exit::Refused),
        ("test turned support", vec![one()], vec![support(one())], Exit::Refused),
    ];
    for (name, base, patch, exit) in table {
        let delta = compare(&base, &patch);
        assert_eq!(delta.exit(), exit, "{name}");
        let worst = delta.findings().iter().map(|f| f.rule.exit()).fold(Exit::Clear, Exit::worst);
        assert_eq!(worst, exit, "findings of: {name}");
        assert_eq!(delta.cleared().is_some(), exit == Exit::Clear, "{name}");
    }
}

#[test]
fn every_reason_is_reported_in_one_run_one_finding_a_property_and_rule() {
    let base = with_files(
        with_bounds(test("tests/test_a.py::test_x", &["f(n) == n", "f(n) > 0"]), "n", 0, 100),
        &[("tests/fixtures/a.json", "aa")],
    );
    let base = with_table(base, &["m"], &[&["1"], &["2"]]);
    let patch = with_files(with_bounds(test("tests/test_a.py::test_x", &["f(n) == n"]), "n", 0, 50), &[("tests/fixtures/a.json", "bb")]);
    let patch = with_table(patch, &["m"], &[&["1"], &["3"]]);
    let delta = compare(&[base, test("tests/test_a.py::test_y", &[])], &[patch]);
    let x = "tests/test_a.py::test_x".to_owned();
    let found: BTreeSet<(Rule, String)> = rules(&delta).into_iter().collect();
    let wanted = [
        (Rule::PropertyRemoved, "tests/test_a.py::test_y".to_owned()),
        (Rule::CaseRemoved, x.clone()),
        (Rule::BoundNarrowed, x.clone()),
        (Rule::AssertionRemoved, x.clone()),
        (Rule::FixtureDrift, x),
    ];
    assert_eq!(found, BTreeSet::from(wanted));
    assert_eq!(delta.findings().len(), 5);
}

#[test]
fn a_lost_assertion_is_quoted_and_the_next_command_named() {
    let base = test("tests/test_a.py::test_x", &["f(x) == f(-x)", "f(0) == 0", "f(1) == 1"]);
    let delta = compare(&[base], &[test("tests/test_a.py::test_x", &["f(0) == 0", "f(1) == 1"])]);
    let finding = &delta.findings()[0];
    assert_eq!(finding.says, ["assertions 3 -> 2: lost \"assert f(x) == f(-x)\""]);
    assert_eq!(finding.help, "restore it, or: seedgate waiver new tests/test_a.py::test_x");
    assert_eq!((finding.path.as_deref(), finding.line), (Some("tests/test_a.py"), Some(7)));
    let count = |card: &Option<serde_json::Value>| card.as_ref().and_then(|c| c["assertion_count"].as_u64());
    assert_eq!((count(&finding.base_card), count(&finding.patch_card)), (Some(3), Some(2)));
}

#[test]
fn an_id_that_a_shell_would_take_apart_is_quoted_in_the_help() {
    let delta = compare(&[test("tests/test a.py::test_$(x)'y", &["a"])], &[]);
    assert_eq!(delta.findings()[0].help, r"restore it, or: seedgate waiver new 'tests/test a.py::test_$(x)'\''y'");
}

#[test]
fn assertions_of_equal_number_are_not_removed_whatever_their_text() {
    let delta = compare(&[test("t.py::test_x", &["f(1) == 1"])], &[test("t.py::test_x", &["f(1) > 0"])]);
    assert_eq!(rules(&delta), [(Rule::OracleWeakened, "t.py::test_x".to_owned())]);
}

#[test]
fn fewer_assertions_hold_only_where_each_one_is_still_demanded() {
    let two = || test("t.py::test_x", &["f(1) == 1", "f(2) == 2"]);
    let one = || test("t.py::test_x", &["f(1) == 1"]);
    let conditional = |mut card: Card| {
        card.claims.iter_mut().for_each(|claim| claim.setup.push("if False".into()));
        card
    };
    let table = [
        ("merged by and", vec![two()], vec![test("t.py::test_x", &["f(1) == 1 and f(2) == 2"])], true),
        ("merged under a condition", vec![two()], vec![conditional(test("t.py::test_x", &["f(1) == 1 and f(2) == 2"]))], false),
        ("merged with one changed", vec![two()], vec![test("t.py::test_x", &["f(1) == 1 and f(2) > 0"])], false),
        ("moved to a new test", vec![two()], vec![one(), test("t.py::test_y", &["f(2) == 2"])], true),
        (
            "moved to an old test",
            vec![two(), test("t.py::test_y", &["g()"])],
            vec![one(), test("t.py::test_y", &["g()", "f(2) == 2"])],
            true,
        ),
        (
            "an old test had it before",
            vec![two(), test("t.py::test_y", &["f(2) == 2"])],
            vec![one(), test("t.py::test_y", &["f(2) == 2"])],
            false,
        ),
        ("weaker in the new test", vec![two()], vec![one(), test("t.py::test_y", &["isinstance(f(2), int)"])], false),
        ("unreached in the new test", vec![two()], vec![one(), conditional(test("t.py::test_y", &["f(2) == 2"]))], false),
        ("moved to a helper nobody calls", vec![two()], vec![one(), support(test("t.py::check", &["f(2) == 2"]))], false),
        (
            "as a row of a new table",
            vec![two()],
            vec![one(), with_table(test("t.py::test_t", &["f(n) == want"]), &["n", "want"], &[&["2", "2"], &["3", "3"]])],
            true,
        ),
        (
            "as a row with another value",
            vec![two()],
            vec![one(), with_table(test("t.py::test_t", &["f(n) == want"]), &["n", "want"], &[&["2", "3"]])],
            false,
        ),
        (
            "in a table with an empty list",
            vec![two()],
            vec![one(), with_table(with_table(test("t.py::test_t", &["f(n) == n"]), &["n"], &[&["2"]]), &["k"], &[])],
            false,
        ),
    ];
    for (name, base, patch, held) in table {
        let delta = compare(&base, &patch);
        assert_eq!(delta.exit() != Exit::Refused, held, "{name}: {}", says(&delta));
        assert_eq!(rules(&delta).iter().any(|(rule, id)| *rule == Rule::AssertionRemoved && id == "t.py::test_x"), !held, "{name}");
    }
}

fn asks(id: &str, asserts: &[&str], parameters: &[&str]) -> Card {
    Card { parameters: parameters.iter().map(|name| (*name).to_owned()).collect(), ..test(id, asserts) }
}

/// Whether the base's first test keeps its second assertion when `home` is where it went.
fn moves_to(base: &Card, home: Card) -> bool {
    let mut left = base.clone();
    left.assertions.truncate(1);
    left.claims.retain(|claim| claim.assertion == 0);
    compare(from_ref(base), &[left, home]).exit() != Exit::Refused
}

#[test]
fn a_demand_on_a_drawn_argument_moves_only_to_where_the_same_is_drawn() {
    let drawn = |id: &str, asserts: &[&str], high: i32| with_bounds(asks(id, asserts, &["n"]), "n", 0, high);
    let two = ["f(n) >= 0", "f(n) <= 9"];
    let base = drawn("t.py::test_x", &two, 9);
    assert!(moves_to(&base, drawn("t.py::test_y", &two[1..], 9)));
    assert!(!moves_to(&base, drawn("t.py::test_y", &two[1..], 5)));
    let merged = drawn("t.py::test_x", &["f(n) >= 0 and f(n) <= 9"], 99);
    assert_eq!(compare(&[base], &[merged]).exit(), Exit::Clear, "in the same test the domains are compared apart");
}

#[test]
fn a_demand_moves_only_to_where_its_names_mean_the_same() {
    let fixture = ["cart.total() == 7", "cart.lines() == 2"];
    let base = asks("t.py::test_x", &fixture, &["cart"]);
    assert!(moves_to(&base, asks("t.py::test_y", &fixture[1..], &["cart"])), "the fixtures of one file");
    assert!(!moves_to(&base, asks("u.py::test_y", &fixture[1..], &["cart"])), "those of another file");
    let imported = ["shop.f(1) == 1", "shop.f(2) == len('ab')"];
    assert!(moves_to(&test("t.py::test_x", &imported), test("u.py::test_y", &imported[1..])), "imported names");
    let own = ["shop.f(1) == 1", "shop.f(2) == total(2)"];
    assert!(!moves_to(&test("t.py::test_x", &own), test("u.py::test_y", &own[1..])), "names of another file");
    let instance = ["self.f(1)", "self.f(2)"];
    assert!(moves_to(&test("t.py::A::test_x", &instance), test("t.py::A::test_y", &instance[1..])), "the instance of one class");
    assert!(!moves_to(&test("t.py::A::test_x", &instance), test("t.py::B::test_y", &instance[1..])), "that of another class");
}

#[test]
fn a_test_that_moves_with_its_file_gains_nothing_by_it() {
    let base = [test("old.py::test_x", &["f(a) == 1", "g()"]), test("old.py::test_y", &["f(a) == 1"])];
    let patch = [test("new.py::test_x", &["g()"]), test("new.py::test_y", &["f(a) == 1"])];
    assert_eq!(rules(&compare(&base, &patch)), [(Rule::AssertionRemoved, "old.py::test_x".to_owned())]);
}

#[test]
fn one_new_demand_pays_for_one_lost_assertion_only() {
    let base = [test("t.py::test_x", &["f() == 1", "g()"]), test("t.py::test_y", &["f() == 1", "h()"])];
    let patch = [test("t.py::test_x", &["g()"]), test("t.py::test_y", &["h()"]), test("t.py::test_z", &["f() == 1"])];
    let lost: Vec<_> = rules(&compare(&base, &patch)).into_iter().filter(|(rule, _)| *rule == Rule::AssertionRemoved).collect();
    assert_eq!(lost.len(), 1);
}

#[test]
fn a_helper_that_is_called_tells_its_demands_with_what_is_passed() {
    let base = test("t.py::test_x", &["clamp(v) >= 0", "clamp(v) <= 9"]);
    let helper = |asserts: &[&str]| support(test("t.py::check", asserts));
    let caller = || {
        let mut card = test("t.py::test_x", &[]);
        let arguments = BTreeMap::from([("got".to_owned(), "clamp(v)".to_owned())]);
        card.calls.push(Call { callee: PropId("t.py::check".into()), arguments, setup: Vec::new() });
        card
    };
    let whole = compare(from_ref(&base), &[caller(), helper(&["got >= 0", "got <= 9"])]);
    assert_eq!(whole.exit(), Exit::Clear, "{}", says(&whole));
    let cut = compare(from_ref(&base), &[caller(), helper(&["got >= 0"])]);
    assert_eq!(says(&cut), "assertions 2 -> 0: lost \"assert clamp(v) <= 9\"");
    let mut conditional = caller();
    conditional.calls[0].setup.push("if slow".into());
    assert_eq!(compare(&[base], &[conditional, helper(&["got >= 0", "got <= 9"])]).exit(), Exit::Refused);
}

#[test]
fn helpers_that_call_themselves_come_to_an_end() {
    let mut helper = support(test("t.py::check", &["a"]));
    helper.calls.push(Call { callee: helper.prop_id.clone(), arguments: BTreeMap::new(), setup: Vec::new() });
    let mut caller = test("t.py::test_x", &["b"]);
    caller.calls.push(helper.calls[0].clone());
    let delta = compare(&[test("t.py::test_x", &["b", "z"])], &[caller, helper]);
    assert_eq!(rules(&delta), [(Rule::AssertionRemoved, "t.py::test_x".to_owned())]);
}

#[test]
fn without_claims_only_equal_text_keeps_an_assertion() {
    let untold = |asserts: &[&str]| Card { claims: Vec::new(), ..test("t.py::test_x", asserts) };
    let delta = compare(&[untold(&["a", "b"])], &[untold(&["a and b"])]);
    assert_eq!(says(&delta), "assertions 2 -> 1: lost \"assert a\", \"assert b\"");
}

#[test]
fn a_vanished_id_pairs_with_the_one_new_id_that_continues_it() {
    let old = || test("tests/test_a.py::test_x", &["a", "b"]);
    let named = |id: &str| Card { prop_id: PropId(id.into()), ..old() };
    let table: [Continued<'_>; 9] = [
        ("file moved", vec![old()], vec![named("tests/test_b.py::test_x")], Some("tests/test_b.py::test_x")),
        ("renamed with its body", vec![old()], vec![named("tests/test_a.py::test_z")], Some("tests/test_a.py::test_z")),
        ("wrapped in a class", vec![old()], vec![named("tests/test_a.py::TestA::test_x")], Some("tests/test_a.py::TestA::test_x")),
        ("moved and edited", vec![old()], vec![test("tests/test_b.py::test_x", &["a", "c"])], Some("tests/test_b.py::test_x")),
        (
            "body before name",
            vec![old()],
            vec![named("tests/test_b.py::test_q"), test("tests/test_c.py::test_x", &["z", "y"])],
            Some("tests/test_b.py::test_q"),
        ),
        ("two equal bodies", vec![old()], vec![named("tests/test_b.py::test_q"), named("tests/test_b.py::test_r")], None),
        (
            "two equal names",
            vec![old()],
            vec![test("tests/test_b.py::test_x", &["c", "d"]), test("tests/test_c.py::test_x", &["d", "e"])],
            None,
        ),
        ("another body and name", vec![old()], vec![test("tests/test_b.py::test_q", &["c"])], None),
        ("only support has the body", vec![old()], vec![support(named("tests/test_b.py::test_x"))], None),
    ];
    for (name, base, patch, home) in table {
        let delta = compare(&base, &patch);
        let moved = delta.moves.iter().find(|m| m.base.is_some()).and_then(|m| m.patch.as_ref()).map(|card| card.prop_id.0.as_str());
        assert_eq!(moved, home, "{name}");
        assert_eq!(delta.exit() == Exit::Refused, home.is_none(), "{name}: {}", says(&delta));
    }
}

#[test]
fn edited_tests_of_a_moved_folder_pair_by_file_and_name() {
    let base = [test("old/test_a.py::test_x", &["a", "b"]), test("old/test_b.py::test_x", &["c", "d"])];
    let patch = [test("new/test_a.py::test_x", &["a"]), test("new/test_b.py::test_x", &["c", "e"])];
    assert_eq!(rules(&compare(&base, &patch)), [(Rule::AssertionRemoved, "old/test_a.py::test_x".to_owned())]);
}

#[test]
fn files_that_swap_folders_pair_by_file_name_although_their_bodies_are_equal() {
    let at = |id: &str| test(id, &["a"]);
    let base = [at("old/test_a.py::test_empty"), at("old/test_b.py::test_empty")];
    let patch = [at("new/test_a.py::test_empty"), at("new/test_b.py::test_empty")];
    assert_eq!(compare(&base, &patch).exit(), Exit::Clear);
}

#[test]
fn a_moved_property_is_compared_and_keeps_its_base_id() {
    let base = with_bounds(test("tests/test_a.py::test_x", &["a", "b"]), "n", 0, 100);
    let patch = with_bounds(test("tests/test_b.py::test_x", &["a"]), "n", 0, 100);
    let finding = compare(&[base], &[patch]).findings().remove(0);
    assert_eq!((finding.rule, finding.property), (Rule::AssertionRemoved, Some(PropId("tests/test_a.py::test_x".into()))));
    assert_eq!(finding.path.as_deref(), Some("tests/test_b.py"));
    assert_eq!(finding.says, ["assertions 2 -> 1: lost \"assert b\"", "moved to tests/test_b.py::test_x"]);
}

#[test]
fn a_test_is_not_gone_while_others_demand_all_of_it() {
    let gone = test("t.py::test_both", &["f(1) == 2", "g(1) == 3"]);
    let (one, other) = (test("t.py::test_f", &["f(1) == 2"]), test("t.py::test_g", &["g(1) == 3", "h(1) == 4"]));
    assert_eq!(rules(&compare(from_ref(&gone), &[one.clone(), other.clone()])).len(), 2, "two new tests");
    let lost =
        |patch: &[Card]| compare(from_ref(&gone), patch).moves.iter().any(|m| m.losses.iter().any(|l| l.rule == Rule::PropertyRemoved));
    assert!(!lost(&[one.clone(), other.clone()]));
    assert!(lost(from_ref(&one)));
    assert!(lost(&[one.clone(), test("t.py::test_g", &["g(1) == 4"])]));
    let before = [gone.clone(), one.clone(), other.clone()];
    let delta = compare(&before, &[one, other]);
    assert_eq!(delta.exit(), Exit::Refused, "what they demanded before pays for nothing");
}

#[test]
fn a_test_renamed_with_what_it_checks_is_the_same_test() {
    let base = test("t.py::test_range2list", &["pack.range2list('1-3') == [1, 2, 3]"]);
    let renamed = test("t.py::test_parse_int_list", &["pack.parse_int_list('1-3') == [1, 2, 3]"]);
    assert_eq!(compare(from_ref(&base), from_ref(&renamed)).exit(), Exit::Clear);
    let swapped = test("t.py::test_other", &["pack.fake('1-3') == [1, 2, 3]"]);
    assert_eq!(compare(from_ref(&base), from_ref(&swapped)).exit(), Exit::Refused);
    let still = [test("t.py::test_still", &["pack.range2list('4') == [4]"]), renamed];
    let delta = compare(&[base, test("t.py::test_still", &["pack.range2list('4') == [4]"])], &still);
    assert_eq!(delta.exit(), Exit::Refused, "a name that is still used was not renamed");
}

#[test]
fn a_shared_strategy_that_narrows_is_told_once_with_the_tests_that_draw_from_it() {
    let bounded = |high: i32| Strategy::Integers { low: Some(BigInt::from(0)), high: Some(BigInt::from(high)) };
    let made = |high: i32| {
        let parts = vec![("draw[0]".to_owned(), bounded(high)), ("body".to_owned(), Strategy::Value("b".into()))];
        Strategy::Call { name: "pairs".into(), arguments: parts }
    };
    let draws = |id: &str, name: &str, strategy: Strategy| {
        let mut card = test(id, &["f(x) == 2"]);
        card.domain.arguments.push(Argument { name: name.into(), strategy });
        card
    };
    let side = |high: i32| {
        [
            draws("t.py::test_a", "x", made(high)),
            draws("t.py::test_b", "x", Strategy::Tuples(vec![made(high), made(high)])),
            support(draws("s.py::pairs", "pairs", made(high))),
            draws("u.py::test_own", "x", bounded(high)),
        ]
    };
    let delta = compare(&side(9), &side(5));
    let told: Vec<String> = rules(&delta).into_iter().map(|(_, id)| id).collect();
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(told[0].contains("s.py::pairs"), "{told:?}");
    assert!(says(&delta).contains("drawn from by 3 of this change"), "{}", says(&delta));
    let alone = |at: usize| {
        let delta = compare(&side(9)[at..=at], &side(5)[at..=at]);
        rules(&delta).len()
    };
    assert_eq!((alone(0), alone(3)), (1, 1));
    let two = |high: i32| [draws("t.py::test_a", "x", bounded(high)), draws("u.py::test_own", "x", bounded(high))];
    assert_eq!(rules(&compare(&two(9), &two(5))).len(), 2, "two tests that each narrow their own are two causes");
}

#[test]
fn fixture_bytes_that_a_check_loads_decide_drift_not_their_path() {
    let old = "tests/fixtures/a.json";
    let table: [Loaded<'_>; 6] = [
        ("same", &[(old, "aaaa")], "", false),
        ("another one besides", &[(old, "aaaa"), ("tests/fixtures/b.json", "bbbb")], "", false),
        ("bytes changed", &[(old, "bbbb")], "fixture tests/fixtures/a.json: bytes aaaa -> bbbb", true),
        (
            "followed",
            &[("tests/fixtures/b.json", "aaaa")],
            "fixture tests/fixtures/a.json moved to tests/fixtures/b.json, same bytes",
            false,
        ),
        (
            "repointed",
            &[("tests/fixtures/b.json", "bbbb")],
            "fixture tests/fixtures/a.json (aaaa) gave way to tests/fixtures/b.json (bbbb)",
            true,
        ),
        ("not loaded", &[], "fixture tests/fixtures/a.json (aaaa) is not loaded any more", true),
    ];
    for (name, files, words, drift) in table {
        let base = with_files(test("t.py::test_x", &["a"]), &[(old, "aaaa")]);
        let delta = compare(&[base], &[with_files(test("t.py::test_x", &["a"]), files)]);
        assert_eq!(rules(&delta).iter().any(|(rule, _)| *rule == Rule::FixtureDrift), drift, "{name}");
        let notes: Vec<&str> = delta.notes().map(|(_, note)| note).collect();
        assert!(says(&delta).contains(words) || notes.contains(&words), "{name}: {} {notes:?}", says(&delta));
    }
}

#[test]
fn what_only_another_base_of_a_merge_has_is_neither_new_nor_a_hiding_place() {
    let base = [test("t.py::test_x", &["f() == 1", "g()"]), test("u.py::test_gone", &["h()"])];
    let theirs = [test("v.py::test_y", &["f() == 1"]), test("v.py::test_gone", &["h()"])];
    let patch = [vec![test("t.py::test_x", &["g()"])], theirs.to_vec()].concat();
    let delta = compare_beside(&base, &patch, &theirs, &super::NOTHING);
    let wanted = [(Rule::AssertionRemoved, "t.py::test_x".to_owned()), (Rule::PropertyRemoved, "u.py::test_gone".to_owned())];
    assert_eq!(rules(&delta), wanted);
}

#[test]
fn the_same_id_twice_is_held_to_the_weaker() {
    let twins = [test("t.py::test_x", &["a", "b"]), test("t.py::test_x", &["a"])];
    assert_eq!(compare(&twins, &[test("t.py::test_x", &["a"])]).exit(), Exit::Clear);
    assert_eq!(compare(&[test("t.py::test_x", &["a", "b"])], &twins).exit(), Exit::Refused);
}

fn file(cards: &[Card]) -> CardSet {
    CardSet::parse(&CardSet::new(cards.iter().cloned()).to_text()).unwrap()
}

#[test]
fn card_files_compare_as_their_cards_do() {
    let strong = with_bounds(test("t.py::test_x", &["a", "b"]), "n", 0, 100);
    let weak = with_bounds(test("t.py::test_x", &["a"]), "n", 0, 99);
    let (strong, weak) = (&[strong], &[weak]);
    let (base, patch) = (file(strong), file(weak));
    assert_eq!(rules(&compare_files(&base, &patch)), rules(&compare(strong, weak)));
    assert_eq!(compare_files(&patch, &base).exit(), Exit::Clear);
    assert_eq!(compare_files(&base, &base), compare(strong, strong));
}

#[test]
fn a_card_file_edited_by_hand_is_taken_at_its_word() {
    let card = with_table(with_bounds(test("t.py::test_x", &["a", "b"]), "n", 0, 100), &["m"], &[&["1"], &["2"]]);
    let text = CardSet::new([with_files(card, &[("tests/fixtures/a.json", "aa")])]).to_text();
    let base = CardSet::parse(&text).unwrap();
    let edits = [
        (r#""assertion_count": 2"#, r#""assertion_count": 1"#, Rule::AssertionRemoved),
        ("      \"case_keys\": [\n        \"1\",\n", "      \"case_keys\": [\n", Rule::CaseRemoved),
        ("\"n\": [\n          \"0\",\n          \"100\"\n", "\"n\": [\n          \"0\",\n          \"99\"\n", Rule::BoundNarrowed),
    ];
    for (from, to, rule) in edits {
        assert!(text.contains(from), "{from} in {text}");
        let patch = CardSet::parse(&text.replacen(from, to, 1)).unwrap();
        assert_eq!(rules(&compare_files(&base, &patch)), [(rule, "t.py::test_x".to_owned())], "{to}");
    }
}

#[test]
fn cards_of_plain_fields_alone_are_compared_by_them() {
    let plain = |count: u32, keys: &str, bounds: &str, sha: &str| {
        let card = format!(
            r#"{{"prop_id":"prop_x","domain_size":2,"assertion_count":{count},"fixture_sha256":"{sha}","case_keys":{keys},"bounds":{bounds}}}"#
        );
        CardSet::parse(&format!(r#"{{"schema":"seedgate.cards/1","cards":[{card}]}}"#)).unwrap()
    };
    let base = plain(2, r#"["a","b"]"#, r#"{"n":[0,9]}"#, "aa");
    let table = [
        ("same", plain(2, r#"["b","a"]"#, r#"{"n":["0","9"]}"#, "aa"), None),
        ("more", plain(3, r#"["a","b","c"]"#, r#"{"n":[null,10],"m":[1,2]}"#, "aa"), None),
        ("assert lost", plain(1, r#"["a","b"]"#, r#"{"n":[0,9]}"#, "aa"), Some(Rule::AssertionRemoved)),
        ("case swapped", plain(2, r#"["a","c"]"#, r#"{"n":[0,9]}"#, "aa"), Some(Rule::CaseRemoved)),
        ("interval narrowed", plain(2, r#"["a","b"]"#, r#"{"n":[1,9]}"#, "aa"), Some(Rule::BoundNarrowed)),
        ("interval gone", plain(2, r#"["a","b"]"#, "{}", "aa"), Some(Rule::BoundNarrowed)),
        ("fixture", plain(2, r#"["a","b"]"#, r#"{"n":[0,9]}"#, "bb"), Some(Rule::FixtureDrift)),
    ];
    for (name, patch, rule) in table {
        let found: Vec<Rule> = rules(&compare_files(&base, &patch)).into_iter().map(|(rule, _)| rule).collect();
        assert_eq!(found, rule.into_iter().collect::<Vec<_>>(), "{name}");
    }
}

#[test]
fn the_record_names_schema_decision_and_exit() {
    let (x, y) = (test("t.py::test_x", &["a"]), test("t.py::test_y", &["a", "b"]));
    let table = [
        (compare(from_ref(&x), from_ref(&x)), "strength_ok", 0),
        (compare(from_ref(&y), &[Card { prop_id: y.prop_id.clone(), ..x.clone() }]), "reject", 2),
        (compare(from_ref(&x), &[x.clone(), y]), "new_ids_separate_review", 3),
    ];
    for (delta, decision, exit) in table {
        let text = delta.to_text();
        assert!(text.starts_with("{\n  \"schema\": \"seedgate.delta/1\""), "{text}");
        let value: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!((value["decision"].as_str(), value["exit"].as_u64()), (Some(decision), Some(exit)));
        assert_eq!(value["findings"].as_array().map(Vec::len), Some(delta.findings().len()));
    }
}

#[test]
fn a_proof_covers_only_what_was_compared() {
    let x = test("t.py::test_x", &["a"]);
    let cleared = compare(from_ref(&x), from_ref(&x)).cleared().unwrap();
    assert!(cleared.covers(&x.prop_id));
    assert!(!cleared.covers(&PropId("t.py::test_y".into())));
}
