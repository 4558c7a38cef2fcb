//! Tests of declared domains: what is the same, what is wider, what is a loss.

use num_bigint::BigUint;

use crate::finding::Rule;
use crate::strength::snapshot::tests::{HEAD, World, drawn, rules, table, test_f};

fn size(text: &str) -> Option<u64> {
    test_f(text).domain.size().map(|n| u64::try_from(n).unwrap())
}

#[test]
fn spellings_of_the_same_cases_lose_nothing() {
    let base = table("'a, b', [(1, 'x'), (2, 'y')]");
    let same = [
        table("'a,b', [(2, \"y\"), (1, u'x')]"),
        table("('a', 'b'), [(1, 'x'), (2, 'y')]"),
        table("['a', 'b'], ((1, 'x'), (2, 'y'),)"),
        table("'b, a', [('x', 1), ('y', 2)]"),
        table("'a, b', [[1, 'x'], [1 + 1, 'y']]"),
        table("argnames='a, b', argvalues=[(1, 'x'), (2, 'y')], ids=['p', 'q']"),
        table("'a, b', [pytest.param(1, 'x', id='p'), pytest.param(2, 'y', marks=pytest.mark.slow)]"),
        table("'a, b', zip([1, 2], ['x', 'y'])"),
        format!("ROWS = [(1, 'x'), (2, 'y')]\n{}", table("'a, b', ROWS")),
        format!("ONE = 1\nROWS = [(ONE, 'x')] + [(2, 'y')]\n{}", table("'a, b', [*ROWS]")),
        "p = pytest.mark.parametrize\n@p('a, b', [(1, 'x'), (2, 'y')])\ndef test_f(a, b): pass\n".to_string(),
        "rows = pytest.mark.parametrize('a, b', [(1, 'x'), (2, 'y')])\n@rows\ndef test_f(a, b): pass\n".to_string(),
        "from pytest import mark\n@mark.parametrize('p, q', [(1, 'x'), (2, 'y')])\ndef test_f(p, q): pass\n".to_string(),
        "pytestmark = [pytest.mark.parametrize('a, b', [(1, 'x'), (2, 'y')])]\ndef test_f(a, b): pass\n".to_string(),
        "def test_f():\n    for a, b in [(1, 'x'), (2, 'y')]:\n        assert a\n".to_string(),
    ];
    for patch in &same {
        assert_eq!(rules(&base, patch), [], "{patch}");
        assert_eq!(rules(patch, &base), [], "{patch}");
    }
}

#[test]
fn cases_that_are_gone_are_named() {
    let base = table("'a', [1, 2, 3]");
    for patch in
        ["'a', [1, 2]", "'a', [1, 2, 4, 5, 6]", "'a', [1, 2, 3.0]", "'a', [1, 2, '3']", "'a', range(1, 3)", "'a', []", "'a', [True, 2, 3]"]
    {
        assert_eq!(rules(&base, &table(patch)).first(), Some(&Rule::CaseRemoved), "{patch}");
    }
    let losses = test_f(&base).domain.losses(&test_f(&table("'a', [1, 3]")).domain);
    assert_eq!(losses[0].says, "cases lost: a=2");
    for patch in
        ["'a', [3, 2, 1]", "'a', range(1, 4)", "'a', list(range(10))", "'a', [1, 1, 2, 3]", "'a', {1, 2, 3, 4}", "'a', 2 * [1, 2, 3]"]
    {
        assert_eq!(rules(&base, &table(patch)), [], "{patch}");
    }
}

#[test]
fn a_list_that_cannot_be_read_holds_only_while_its_text_does() {
    let call = table("'a', make()");
    assert_eq!(rules(&call, &call), []);
    assert!(test_f(&call).domain.opaque().is_some());
    assert_eq!(rules(&call, &table("'a', make(1)")), [Rule::DomainUnreadable]);
    assert_eq!(rules(&table("'a', [1, 2]"), &table("'a', [1] + make()")), [Rule::DomainUnreadable]);
    assert_eq!(rules(&table("'a', [1, *make()]"), &table("'a', [*make(), 1, 2]")), []);
    assert_eq!(rules(&table("'a', [x for x in range(9)]"), &table("'a', [y for y in range(9)]")), []);
    assert_eq!(rules(&table("'a', [x for x in make()]"), &table("'a', [y for y in make(8)]")), [Rule::DomainUnreadable]);
}

#[test]
fn a_comprehension_over_a_list_that_is_read_has_its_rows() {
    let base = format!("import operator, itertools\nV = ['1', '2', '3']\n{}", table("'a, b', [(x, True) for x in V]"));
    let with = |rows: &str| format!("import operator, itertools\nV = ['1', '2', '3']\n{}", table(&format!("'a, b', {rows}")));
    for same in [
        "[('1', True), ('2', True), ('3', True)]",
        "list((w, True) for w in V)",
        "[(x, True) for x in V + ['4']]",
        "itertools.chain.from_iterable([[(x, True) for x in V]] + [[('9', False)]])",
        "itertools.chain(*[[(x, True)] for x in V])",
        "[(x, True) for i, x in enumerate(V) if i != 7]",
        "[pytest.param(x, True, id=x) for x in V]",
    ] {
        assert_eq!(rules(&base, &with(same)), [], "{same}");
    }
    for less in ["[(x, True) for x in V if x != '2']", "[(x, True) for x in ['1', '3']]", "[(x, False) for x in V]"] {
        assert_eq!(rules(&base, &with(less)), [Rule::CaseRemoved], "{less}");
    }
    for unread in ["[(x, True) for x in V if make(x)]", "[(x, True) for x in make()]"] {
        assert_eq!(rules(&base, &with(unread)), [Rule::DomainUnreadable], "{unread}");
    }
    let later = "itertools.chain.from_iterable([[(x, y) for y in V[i + 1 :]] for i, x in enumerate(V)])";
    assert_eq!(size(&with(later)), Some(3));
    assert_eq!(rules(&with(later), &with(&later.replace("i + 1", "i + 2"))), [Rule::CaseRemoved]);
    let pairs = "[(x, y) for i, x in enumerate(V) for y in V]";
    assert_eq!(size(&with(pairs)), Some(9));
    assert_eq!(size(&with("[[(x, y) for j, y in enumerate(V) if i != j] for i, x in enumerate(V)]")), None);
    assert_eq!(
        size(&with("itertools.chain.from_iterable([[(x, y) for j, y in enumerate(V) if i != j] for i, x in enumerate(V)])")),
        Some(6)
    );
}

#[test]
fn a_case_whose_name_is_imported_from_elsewhere_is_the_same_case() {
    let with = |from: &str, names: &str| format!("from {from} import Real, Other, Fake\n{}", table(&format!("'a', [{names}]")));
    assert_eq!(rules(&with("pack.old", "Real, Other"), &with("pack.new", "Real, Other")), []);
    assert_eq!(rules(&with("pack", "Real, Other"), &with("packs", "Real, Other")), []);
    assert_eq!(rules(&with("pack", "Real, Other"), &with("packs", "Real, Fake")), [Rule::CaseRemoved]);
    assert_eq!(rules(&with("pack", "Real"), &with("fakes", "Real")), [Rule::CaseRemoved]);
}

#[test]
fn layout_and_documentation_of_a_generator_say_nothing() {
    let with = |body: &str| format!("@st.composite\ndef made(draw, low=0):\n{body}\n@given(made())\ndef test_f(a): pass\n");
    let base = with("    n = draw(st.integers(low, 9))\n    return pair(n, n)");
    for same in [
        "    \"\"\"Makes it.\"\"\"\n    n = draw(st.integers(low, 9))\n    return pair(n, n)",
        "    n = draw(\n        st.integers(low, 9),\n    )\n    return pair(\n        n,\n        n,\n    )",
        "    n = draw(st.integers(low, 9))\n    return (pair(n, (n)))",
    ] {
        assert_eq!(rules(&base, &with(same)), [], "{same}");
    }
    let annotated = base.replace("(draw, low=0)", "(draw: Draw, low: int = 0) -> Pair");
    assert_eq!(rules(&base, &annotated), []);
    for other in ["    n = draw(st.integers(low, 9))\n    return pair((n, n))", "    n = draw(st.integers(low, 9))\n    return pair(n, 1)"]
    {
        assert_eq!(rules(&base, &with(other)), [Rule::DomainUnreadable], "{other}");
    }
}

#[test]
fn a_choice_in_a_generator_may_gain_what_it_chooses_from() {
    let with = |choice: &str| {
        format!(
            "def made(wide=None):\n    all = {choice}\n    if wide:\n        all = st.lists(all, min_size=wide)\n    return all\n@given(made())\ndef test_f(a): pass\n"
        )
    };
    let base = with("st.text() | st.binary()");
    assert_eq!(rules(&base, &with("st.text() | st.binary() | st.booleans()")), []);
    assert_eq!(rules(&base, &with("st.text() | st.booleans()")).len(), 1);
}

#[test]
fn a_list_by_a_condition_is_held_branch_by_branch() {
    let with = |of: &str| drawn(&format!("st.sampled_from({of})"));
    let base = with("[1, 2] if NEW else [1]");
    assert_eq!(rules(&base, &with("[1, 2, 3] if NEW else [1, 4]")), []);
    assert_eq!(rules(&base, &with("[1, 2] if NEW else [4]")), [Rule::BoundNarrowed]);
    assert_eq!(rules(&base, &with("[1, 2] if OLD else [1]")), [Rule::DomainUnreadable]);
    assert!(test_f(&base).domain.opaque().is_some());
}

#[test]
fn a_change_behind_a_name_is_a_change() {
    let with = |rows: &str| format!("def make():\n    return {rows}\n{}", table("'a', make()"));
    assert_eq!(rules(&with("[1, 2]"), &with("[1,  2]  # same")), []);
    assert_eq!(rules(&with("[1, 2]"), &with("[1]")), [Rule::DomainUnreadable]);
    let changed = |after: &str| format!("ROWS = [1, 2]\n{after}\n{}", table("'a', ROWS"));
    for after in [
        "ROWS.pop()",
        "del ROWS[0]",
        "ROWS[:] = [1]",
        "ROWS = ROWS[:1]",
        "shrink(ROWS)",
        "def f():\n    global ROWS\n    ROWS = []",
        "SAME = ROWS\nSAME.pop()",
    ] {
        let expected = if after.starts_with("SAME") { rules(&changed(""), &changed(after)) } else { vec![] };
        let got = rules(&changed(""), &changed(after));
        assert!(!got.is_empty(), "{after}: {expected:?}");
    }
    let own = "def other():\n    ROWS = []\n    ROWS.append(1)\n";
    assert_eq!(rules(&changed(""), &changed(own)), []);
}

#[test]
fn stacked_decorators_multiply() {
    let two = "@pytest.mark.parametrize('a', [1, 2])\n@pytest.mark.parametrize('b', 'xy')\ndef test_f(a, b): pass\n";
    assert_eq!(size(two), Some(4));
    assert_eq!(test_f(two).domain.case_keys(), ["a=1", "a=2", "b='x'", "b='y'"]);
    let one = table("'a, b', [(1, 'x'), (1, 'y'), (2, 'x'), (2, 'y')]");
    assert_eq!(rules(two, &one), []);
    let thinner = table("'a, b', [(1, 'x'), (2, 'y')]");
    assert_eq!(rules(two, &thinner), [Rule::CaseRemoved]);
    assert_eq!(rules(two, "@pytest.mark.parametrize('a', [1, 2])\ndef test_f(a): pass\n"), [Rule::CaseRemoved]);
    assert_eq!(rules(&table("'a', [1, 2]"), two), []);
    assert_eq!(
        rules(&table("'a', [1]"), "@pytest.mark.parametrize('b', [])\n@pytest.mark.parametrize('a', [1])\ndef test_f(a, b): pass\n"),
        [Rule::CaseRemoved]
    );
}

#[test]
fn integer_bounds_are_compared_end_by_end() {
    let base = drawn("a=st.integers(-1000, 1000)");
    let held = [
        "st.integers(-1_000, 10**3), st.none()",
        "a=st.integers(min_value=-1000)",
        "a=st.integers()",
        "a=st.integers(-5000, 5000)",
        "a=st.integers(-1000, 0) | st.integers(1, 1000)",
        "a=st.one_of(st.none(), st.integers(-2000, 2000))",
    ];
    for patch in held {
        assert_eq!(rules(&base, &drawn(patch)), [], "{patch}");
    }
    for patch in [
        "a=st.integers(0, 1000)",
        "a=st.integers(-1000, 999)",
        "a=st.integers(0, 100000)",
        "a=st.just(5)",
        "a=st.integers(min_value=-999)",
        "a=st.text()",
        "b=st.none()",
        "a=st.nothing()",
    ] {
        assert!(rules(&base, &drawn(patch)).contains(&Rule::BoundNarrowed), "{patch}");
    }
    for patch in
        ["a=st.integers(low(), 1000)", "a=st.integers(-1000, 1000).filter(bool)", "a=st.integers(-1000, 1000).map(abs)", "**rest", "a=..."]
    {
        assert!(!rules(&base, &drawn(patch)).is_empty(), "{patch}");
    }
    assert_eq!(rules(&drawn("a=st.integers(0, 9).filter(bool)"), &drawn("a=st.integers(0, 9)")), []);
    assert_eq!(
        test_f(&base).domain.losses(&test_f(&drawn("a=st.integers(0, 10)")).domain)[0].says,
        "a: -1000..1000 -> 0..10, without a=11"
    );
}

#[test]
fn finite_and_structural_strategies_are_compared_part_by_part() {
    let table: &[(&str, &str, &[Rule])] = &[
        ("st.sampled_from([1, 2])", "st.sampled_from((2, 1, 3))", &[]),
        ("st.sampled_from([1, 2])", "st.integers(0, 9)", &[]),
        ("st.integers(0, 2)", "st.sampled_from([0, 1, 2])", &[]),
        ("st.integers(0, 3)", "st.sampled_from([0, 1, 2])", &[Rule::BoundNarrowed]),
        ("st.booleans()", "st.just(True)", &[Rule::BoundNarrowed]),
        ("st.none() | st.booleans()", "st.one_of(st.just(None), st.sampled_from([False, True]))", &[]),
        ("st.text()", "st.text(max_size=1)", &[Rule::BoundNarrowed]),
        ("st.text()", "st.text(alphabet='abc')", &[Rule::BoundNarrowed]),
        ("st.text(alphabet='abc')", "st.text('abcd', min_size=0)", &[]),
        ("st.text(min_size=1, max_size=4)", "st.text(max_size=40)", &[]),
        ("st.lists(st.integers(0, 9), max_size=3)", "st.lists(st.integers(0, 99))", &[]),
        ("st.lists(st.integers(0, 9))", "st.lists(st.integers(0, 9), unique=True)", &[Rule::BoundNarrowed]),
        ("st.lists(st.integers(0, 9))", "st.sets(st.integers(0, 9))", &[Rule::BoundNarrowed]),
        ("st.tuples(st.booleans(), st.text())", "st.tuples(st.booleans(), st.text(max_size=2))", &[Rule::BoundNarrowed]),
        ("st.dictionaries(st.text(), st.booleans(), max_size=2)", "st.dictionaries(st.text(), st.booleans())", &[]),
        ("st.floats(0, 1)", "st.floats(min_value=0.0, max_value=1.0)", &[]),
        ("st.floats(0, 1)", "st.floats(0, 1e9)", &[]),
        ("st.floats(0, 1)", "st.floats(0, 0.5)", &[Rule::BoundNarrowed]),
        ("st.floats()", "st.floats(allow_nan=False)", &[Rule::BoundNarrowed]),
        ("st.floats(allow_nan=False)", "st.floats()", &[]),
        ("st.builds(f, st.integers(0, 9))", "st.builds(f, st.integers(0, 8))", &[Rule::BoundNarrowed]),
        ("st.builds(f, st.integers(0, 9))", "st.builds(g, st.integers(0, 9))", &[Rule::DomainUnreadable]),
        ("st.integers(0, 9).map(lambda x: x + 1)", "st.integers(0, 99).map(lambda y: y + 1)", &[]),
        ("st.integers(0, 9).map(lambda x: x + 1)", "st.integers(0, 9).map(lambda x: 1)", &[Rule::DomainUnreadable]),
        ("st.dates()", "st.dates(min_value=d)", &[Rule::DomainUnreadable]),
    ];
    for (base, patch, want) in table {
        assert_eq!(rules(&drawn(&format!("a={base}")), &drawn(&format!("a={patch}"))), *want, "{base} -> {patch}");
    }
}

#[test]
fn sizes_are_exact_and_as_big_as_they_are() {
    assert_eq!(size(&drawn("st.integers(0, 100), st.booleans()")), Some(202));
    assert_eq!(size(&drawn("st.lists(st.booleans(), max_size=2)")), Some(7));
    assert_eq!(size(&drawn("st.integers(), st.booleans()")), None);
    assert_eq!(size(&table("'a', []")), Some(0));
    assert_eq!(size("def test_f(): assert 1\n"), None);
    let big = test_f(&drawn("st.integers(0, 1 << 25_000)")).domain.size().unwrap();
    assert_eq!(big, (BigUint::from(1u8) << 25_000) + 1u8);
}

#[test]
fn arguments_pair_by_name_then_by_place() {
    let base = "@given(st.integers(0, 9), st.text())\ndef test_f(x, y): pass\n";
    assert_eq!(rules(base, "@given(p=st.integers(0, 9), q=st.text())\ndef test_f(p, q): pass\n"), []);
    assert_eq!(rules(base, "@given(y=st.text(), x=st.integers(0, 9))\ndef test_f(x, y): pass\n"), []);
    let method = "class TestA:\n    @given(st.integers(0, 9))\n    def test_f(self, n): assert n\n";
    let world = World::new(&[("tests/test_a.py", &format!("{HEAD}{method}"))]);
    assert!(world.card("tests/test_a.py::TestA::test_f").domain.bounds().contains_key("n"));
}

#[test]
fn draws_in_the_body_are_arguments() {
    let with = |draws: &str| format!("@given(data=st.data())\ndef test_f(data):\n{draws}    assert 1\n");
    let (a, b) = ("    x = data.draw(st.integers(0, 100))\n", "    y = data.draw(st.text(), label='y')\n");
    let base = with(&format!("{a}{b}"));
    assert_eq!(test_f(&base).domain.bounds().keys().collect::<Vec<_>>(), ["draw[0]"]);
    assert_eq!(rules(&base, &with(&format!("    z = data.draw(st.booleans())\n{a}{b}"))), []);
    assert_eq!(rules(&base, &with(b)), [Rule::BoundNarrowed]);
    assert_eq!(rules(&base, &with(&format!("    x = data.draw(st.integers(0, 10))\n{b}"))), [Rule::BoundNarrowed]);
    let local = "    top = 100\n    x = data.draw(st.integers(0, top))\n";
    assert_eq!(rules(&base, &with(&format!("{local}{b}"))), []);
}

#[test]
fn names_lead_to_what_they_stand_for_in_this_file_and_in_others() {
    let base = drawn("a=st.integers(0, 100)");
    assert_eq!(rules(&base, &format!("nums = st.integers(0, 100)\n{}", drawn("a=nums"))), []);
    assert_eq!(rules(&base, &format!("LOW = 5\n{}", drawn("a=st.integers(LOW, 100)"))), [Rule::BoundNarrowed]);
    let test = format!("{HEAD}from tests.strategies import nums as n\n{}", drawn("a=n"));
    let reexport = "from .inner import *\nfrom .inner import nums\n";
    let domain = |strategies: &str| {
        let world = World::new(&[
            ("tests/test_a.py", &test),
            ("tests/strategies.py", strategies),
            ("tests/inner.py", "from hypothesis.strategies import *\nnums = integers(0, 100)\n"),
        ]);
        world.card("tests/test_a.py::test_f").domain
    };
    let base = test_f(&base).domain;
    assert_eq!(base.losses(&domain("import hypothesis.strategies as s\nnums = s.integers(0, 100)\n")), []);
    assert_eq!(base.losses(&domain(reexport)), []);
    assert_eq!(base.losses(&domain("from hypothesis.strategies import integers\nnums = integers(0, 10)\n"))[0].rule, Rule::BoundNarrowed);
    assert_eq!(base.losses(&domain("nums = make()\n"))[0].rule, Rule::DomainUnreadable);
}

#[test]
fn tables_of_other_files_are_read() {
    let domain = |rows: &str| {
        let test = format!("{HEAD}from tests.rows import ROWS\n{}", table("'b, a', ROWS"));
        World::new(&[("tests/test_a.py", &test), ("tests/rows.py", rows)]).card("tests/test_a.py::test_f").domain
    };
    let base = test_f(&table("'a, b', [(1, 2), (3, 4)]")).domain;
    assert_eq!(base.losses(&domain("ROWS = [(2, 1), (4, 3)]\n")), []);
    assert_eq!(base.losses(&domain("ROWS = [(2, 1)]\n"))[0].says, "cases lost: a=3, b=4");
}

#[test]
fn composites_are_compared_by_their_draws_and_then_by_their_body() {
    let with = |low: &str, rest: &str| {
        format!(
            "@st.composite\ndef lines(draw):\n    \"\"\"doc\"\"\"\n    q = draw(st.integers({low}, 50))\n    return q{rest}\n{}",
            drawn("a=lines()")
        )
    };
    assert_eq!(rules(&with("1", ""), &with("1", "  # same")), []);
    assert_eq!(rules(&with("1", ""), &with("2", "")), [Rule::BoundNarrowed]);
    assert_eq!(rules(&with("1", ""), &with("1", " * 0")), [Rule::DomainUnreadable]);
    let other = World::new(&[
        (
            "tests/s.py",
            "from hypothesis import strategies as st\n@st.composite\ndef lines(draw):\n    q = draw(st.integers(1, 50))\n    return q\n",
        ),
        ("tests/test_a.py", &format!("{HEAD}from tests.s import lines\n{}", drawn("a=lines()"))),
    ]);
    let here = test_f(&with("1", "")).domain;
    assert_eq!(here.losses(&other.card("tests/test_a.py::test_f").domain), []);
    assert!(other.cards("tests/s.py").iter().any(|c| c.prop_id.0 == "tests/s.py::lines"));
}

#[test]
fn functions_that_return_strategies_are_read_through() {
    let with = |high: &str| format!("def upto(n):\n    return st.lists(st.integers(0, {high}), max_size=n)\n{}", drawn("a=upto(5)"));
    assert_eq!(rules(&with("9"), &with("9")), []);
    assert!(!rules(&with("9"), &with("8")).is_empty());
    assert!(!rules(&with("9"), &with("9").replace("upto(5)", "upto(4)")).is_empty());
}

#[test]
fn cases_may_become_a_generator_that_holds_them() {
    assert_eq!(rules(&table("'a', [1, 2]"), &drawn("a=st.integers(0, 9)")), []);
    assert_eq!(rules(&table("'a', [1, 20]"), &drawn("a=st.integers(0, 9)")), [Rule::CaseRemoved]);
    assert_eq!(rules(&drawn("a=st.sampled_from([1, 2])"), &table("'a', [1, 2]")), []);
    assert_eq!(rules(&drawn("a=st.integers(0, 9)"), &table("'a', [1, 2]")), [Rule::BoundNarrowed]);
    assert_eq!(rules("def test_f(): assert 1\n", &drawn("a=st.integers(0, 9)")), []);
}

#[test]
fn the_plain_decorators_declare_cases_and_bounds() {
    let props = "from seedgate_props import bounds, cases\n";
    let text = format!(
        "{props}@bounds(n=(0, 100))\ndef prop_a(n): assert n\n@cases([(1, 2), (3, 4)])\ndef prop_b(a, b): assert a\n@cases([1, 2])\ndef prop_c(a): assert a\n"
    );
    let world = World::new(&[("tests/properties/test_p.py", &text)]);
    assert_eq!(world.card("tests/properties/test_p.py::prop_a").domain.size(), Some(BigUint::from(101u8)));
    let cases = world.card("tests/properties/test_p.py::prop_b").domain;
    assert_eq!(
        (cases.case_keys(), cases.tables[0].names.clone()),
        (vec!["(1, 2)".to_owned(), "(3, 4)".to_owned()], vec!["a".to_owned(), "b".to_owned()])
    );
    assert_eq!(world.card("tests/properties/test_p.py::prop_c").domain.case_keys(), ["1", "2"]);
}

#[test]
fn parameters_of_fixtures_are_cases_of_the_tests_that_ask_for_them() {
    let fixture = |rows: &str| format!("import pytest\n@pytest.fixture(params={rows})\ndef tax(request):\n    return request.param\n");
    let in_conftest = |rows: &str| {
        World::new(&[("tests/conftest.py", &fixture(rows)), ("tests/unit/test_a.py", "def test_f(tax):\n    assert tax\n")])
            .card("tests/unit/test_a.py::test_f")
            .domain
    };
    let here = World::new(&[("tests/unit/test_a.py", &format!("{}def test_f(tax):\n    assert tax\n", fixture("[0, 7]")))]);
    let here = here.card("tests/unit/test_a.py::test_f").domain;
    assert_eq!(in_conftest("[0, 7]").losses(&here), []);
    assert_eq!(here.losses(&in_conftest("[0, 7]")), []);
    assert_eq!(here.losses(&in_conftest("[0]"))[0].rule, Rule::CaseRemoved);
    assert!(!here.is_declared());
}

#[test]
fn rows_that_many_tests_share_are_held_within_bounds_and_refused_by_name_beyond_them() {
    let world = |tests: usize| {
        let tests: String = (0..tests).map(|n| format!("    def test_{n}(self, a):\n        assert a\n")).collect();
        World::new(&[("tests/test_a.py", &format!("import pytest\n\n@pytest.mark.parametrize('a', range(900))\nclass TestA:\n{tests}"))])
    };
    assert_eq!(world(50).cards("tests/test_a.py").len(), 50);
    let refused = crate::strength::snapshot::cards(&crate::tree::RepoPath::new("tests/test_a.py"), &world(1_200)).unwrap_err();
    assert_eq!(refused.to_string(), "tests/test_a.py: line 1: its cards would hold more than 1000000 inputs");
}
