//! Owns the tests of what checks newly stand under.

use crate::finding::Rule;
use crate::strength::delta::compare;
use crate::strength::snapshot::tests::test_f;

fn weaker(base: &str, patch: &str) -> Vec<String> {
    let of = |body: &str| vec![test_f(&format!("def test_f(items, path):\n    {}\n", body.replace('\n', "\n    ")))];
    let findings = compare(&of(base), &of(patch)).findings().into_iter();
    findings.filter(|finding| finding.rule == Rule::OracleWeakened).flat_map(|finding| finding.says).collect()
}

#[test]
fn a_check_that_newly_stands_under_a_condition_is_demanded_of_less() {
    for patch in [
        "if items:\n    assert f(items) == 3",
        "if f(items) == 3:\n    assert f(items) == 3",
        "if DEBUG:\n    assert f(items) == 3\nelse:\n    pass",
        "while items:\n    assert f(items) == 3\n    break",
        "match items:\n    case [1]:\n        assert f(items) == 3",
        "try:\n    g()\nexcept KeyError:\n    assert f(items) == 3",
    ] {
        assert_eq!(weaker("assert f(items) == 3", patch).len(), 1, "{patch}");
    }
    assert_eq!(
        weaker("if a:\n    assert f(items) == 3", "if a and b:\n    assert f(items) == 3"),
        ["oracle: \"f(items) == 3\" is demanded of less: only if a and b"]
    );
}

#[test]
fn a_loop_that_goes_through_a_part_demands_less() {
    for (was, now) in
        [("load(path)", "load(path)[:1]"), ("load(path)", "islice(load(path), 1)"), ("load(path)", "[x for x in load(path) if x]")]
    {
        let body = |of: &str| format!("for x in {of}:\n    assert f(x) == 3");
        assert_eq!(weaker(&body(was), &body(now)).len(), 1, "{now}");
        assert_eq!(weaker(&body(now), &body(was)), Vec::<String>::new(), "{now}");
    }
}

#[test]
fn a_line_of_set_up_that_goes_through_a_part_demands_less() {
    let body = |of: &str| format!("cart = Cart()\nfor x in {of}:\n    cart.add(x)\nassert cart.total == 3");
    for now in ["items[:0]", "items[1:]", "islice(items, 2)", "filter(None, items)", "[x for x in items if x]"] {
        assert_eq!(weaker(&body("items"), &body(now)).len(), 1, "{now}");
        assert_eq!(weaker(&body(now), &body("items")), Vec::<String>::new(), "{now}");
    }
    for now in ["sorted(items)", "list(items)", "other", "items + [1]"] {
        assert_eq!(weaker(&body("items"), &body(now)), Vec::<String>::new(), "{now}");
    }
}

#[test]
fn conditions_that_went_changed_or_decide_nothing_hold() {
    for (base, patch) in [
        ("if items:\n    assert f(items) == 3", "assert f(items) == 3"),
        ("if a.b:\n    assert f(items) == 3", "if a.c:\n    assert f(items) == 3"),
        ("assert f(items) == 3", "if items:\n    assert f(items) == 3\nelse:\n    assert f(items) == 3"),
        ("assert f(items) == 3", "if items:\n    g()\nassert f(items) == 3"),
        ("for x in load(path):\n    assert f(x) == 3", "for x in sorted(load(path)):\n    assert f(x) == 3"),
        ("assert f(items) == 3", "with open(path):\n    assert f(items) == 3"),
    ] {
        assert_eq!(weaker(base, patch), Vec::<String>::new(), "{base} -> {patch}");
    }
}
