//! Tests of traps found in the tests of real projects, one test each, numbered as in the survey that found them.

use num_bigint::BigInt;

use crate::finding::Rule;
use crate::strength::card::Kind;
use crate::strength::snapshot::tests::{HEAD, World, drawn, ids, rules, table, test_f};

#[test]
fn trap_01_the_same_test_in_try_and_except_is_one_card_with_the_weaker_of_each_field() {
    let twin = test_f(
        "try:\n    import x\nexcept ImportError:\n    def test_f():\n        assert 1\n        assert 2\nelse:\n    def test_f():\n        pass\n",
    );
    assert!(twin.assertions.is_empty());
    let rows = "if x:\n    @pytest.mark.parametrize('a', [1, 2])\n    def test_f(a): pass\nelse:\n    @pytest.mark.parametrize('a', [1])\n    def test_f(a): pass\n";
    assert_eq!(test_f(rows).domain.case_keys(), ["1"]);
}

#[test]
fn trap_02_modules_and_functions_under_other_names() {
    let base = drawn("a=st.integers(0, 9)");
    for patch in [
        "import hypothesis\n@hypothesis.given(a=hypothesis.strategies.integers(0, 9))\ndef test_f(a): pass\n",
        "from hypothesis import given as g\nimport hypothesis.strategies as ds\n@g(a=ds.integers(0, 9))\ndef test_f(a): pass\n",
        "from hypothesis.strategies import integers as ints\n@given(a=ints(0, 9))\ndef test_f(a): pass\n",
        "s = st\n@given(a=s.integers(0, 9))\ndef test_f(a): pass\n",
    ] {
        assert_eq!(rules(&base, patch), [], "{patch}");
    }
    assert_eq!(
        test_f("from pytest import param\n@pytest.mark.parametrize('a', [param(1), param(2, id='x')])\ndef test_f(a): pass\n")
            .domain
            .case_keys(),
        ["1", "2"]
    );
}

#[test]
fn trap_03_a_decorator_stored_in_a_name() {
    let text = "both = pytest.mark.parametrize('a', [1, 2])\n@both\ndef test_f(a): pass\n";
    assert_eq!(test_f(text).domain.case_keys(), ["1", "2"]);
    let hidden = |rows: &str| format!("def sizes(f):\n    return pytest.mark.parametrize('a', {rows})(f)\n@sizes\ndef test_f(a): pass\n");
    assert_eq!(rules(&hidden("[1, 2]"), &hidden("[1]")), [Rule::DomainUnreadable]);
}

#[test]
fn trap_04_a_shared_settings_object_declares_no_domain() {
    let text = "from tests.strategies import SETTINGS\n@SETTINGS\n@given(st.integers(0, 9))\ndef test_f(a): pass\n";
    assert_eq!(test_f(text).domain.bounds()["a"], (Some(BigInt::from(0)), Some(BigInt::from(9))));
}

#[test]
fn trap_05_tests_bound_to_what_a_call_returns() {
    let text = "def define_test(x):\n    return lambda: None\ntest_a = define_test(1)\ntest_dir = Path('x')\ntest_data = [1]\n";
    assert_eq!(ids("tests/test_a.py", text), ["test_a"]);
    let at = |x: &str| format!("def define_test(x):\n    return lambda: None\ntest_f = define_test({x})\n");
    assert_eq!(test_f(&at("1")).kind, Kind::Property);
    assert_eq!(rules(&at("1"), &at("1")), []);
    assert_eq!(rules(&at("1"), &at("2")), [Rule::DomainUnreadable]);
}

#[test]
fn trap_06_properties_inside_tests_count_for_the_test() {
    let with = |high: &str| {
        format!(
            "def test_f():\n    @given(st.integers(0, {high}))\n    def inner(n):\n        assert n\n        assert n + 1\n    inner()\n"
        )
    };
    assert_eq!(test_f(&with("9")).assertions.len(), 2);
    assert_eq!(rules(&with("9"), &with("8")), [Rule::BoundNarrowed]);
}

#[test]
fn trap_07_arguments_that_cannot_be_read() {
    for arguments in ["**kwargs", "*args", "...", "a=..., b=st.none()", "a=st.integers(*ends)"] {
        assert!(test_f(&drawn(arguments)).domain.opaque().is_some(), "{arguments}");
        assert_eq!(rules(&drawn(arguments), &drawn(arguments)), [], "{arguments}");
    }
    assert!(!rules(&drawn("**kwargs"), &drawn("**other")).is_empty());
}

#[test]
fn trap_08_decorators_that_are_calls_of_attributes_of_calls() {
    let text =
        "from hypothesis import example\n@given(st.integers(0, 9))\n@example(1).via('x')\n@example(2).xfail()\ndef test_f(a): pass\n";
    assert_eq!(test_f(text).domain.bounds().len(), 1);
}

#[test]
fn trap_09_marks_of_a_class_and_of_a_module() {
    let text = format!(
        "{HEAD}pytestmark = [pytest.mark.parametrize('b', [1])]\n@pytest.mark.parametrize('a', [1, 2])\nclass TestA:\n    pytestmark = pytest.mark.parametrize('c', [5])\n    def test_f(self, a, b, c): pass\n"
    );
    let card = World::new(&[("tests/test_a.py", &text)]).card("tests/test_a.py::TestA::test_f");
    assert_eq!(
        (card.kind, card.domain.case_keys()),
        (Kind::Property, vec!["a=1".to_owned(), "a=2".to_owned(), "b=1".to_owned(), "c=5".to_owned()])
    );
}

#[test]
fn trap_10_eight_stacked_decorators() {
    let names = ["a", "b", "c", "d", "e", "f", "g", "h"];
    let marks: String = names.iter().map(|n| format!("@pytest.mark.parametrize('{n}', [True, False])\n")).collect();
    let card = test_f(&format!("{marks}def test_f({}): pass\n", names.join(", ")));
    assert_eq!(card.domain.size(), Some(256u16.into()));
}

#[test]
fn trap_11_names_as_text_tuple_or_list_and_renamed() {
    let base = table("'a,b', [(1, 2)]");
    for patch in ["('a', 'b'), [(1, 2)]", "['a', 'b'], [(1, 2)]", "' a , b,', [(1, 2)]"] {
        assert_eq!(rules(&base, &table(patch)), [], "{patch}");
    }
    assert_eq!(rules(&base, "@pytest.mark.parametrize('x,y', [(1, 2)])\ndef test_f(x, y): pass\n"), []);
    assert_eq!(rules(&base, "@pytest.mark.parametrize('y,x', [(1, 2)])\ndef test_f(x, y): pass\n"), [Rule::CaseRemoved]);
}

#[test]
fn trap_12_an_empty_list_is_a_domain_without_inputs() {
    let card = test_f(&table("'a, b', []"));
    assert_eq!((card.domain.size(), card.domain.opaque()), (Some(0u8.into()), None));
}

#[test]
fn trap_13_ids_say_nothing_of_the_input() {
    let base = table("'a', [1, 2]");
    for patch in ["'a', [1, 2], ids=lambda x: 'same'", "'a', [1, 2], ids=['p', 'p']", "'a', [1, 2], ids=str"] {
        assert_eq!(rules(&base, &table(patch)), [], "{patch}");
    }
}

#[test]
fn trap_14_cases_that_are_expressions() {
    let base = table("'a', [lambda x: x + 1, st.integers(0, 9), dict, f(1)]");
    assert_eq!(rules(&base, &table("'a', [f(1,), dict, lambda  q : q+1, st.integers(0,9)]")), []);
    assert_eq!(rules(&base, &table("'a', [lambda x: x + 2, st.integers(0, 9), dict, f(1)]")), [Rule::CaseRemoved]);
    assert_eq!(
        rules(
            "import m\n@pytest.mark.parametrize('a', [m.C])\ndef test_f(a): pass\n",
            "from m import C\n@pytest.mark.parametrize('a', [C])\ndef test_f(a): pass\n"
        ),
        []
    );
}

#[test]
fn trap_15_lists_put_together() {
    let constants = "A = [1, 2]\nB = (3,)\nD = {'x': 1}\n";
    let keys = |list: &str| test_f(&format!("{constants}{}", table(&format!("'a', {list}")))).domain.case_keys();
    assert_eq!(keys("list(A) + list(B)"), ["1", "2", "3"]);
    assert_eq!(keys("sorted(set(A))"), ["1", "2"]);
    assert_eq!(keys("D.values()"), ["1"]);
    assert_eq!(keys("D"), ["'x'"]);
    let product = test_f(&format!("import itertools\n{constants}{}", table("'a, b', itertools.product(A, B)")));
    assert_eq!(product.domain.case_keys(), ["(1, 3)", "(2, 3)"]);
    assert!(test_f(&table("'a', [x for x in A]")).domain.opaque().is_some());
}

#[test]
fn trap_16_a_missing_comma_merges_two_cases() {
    assert_eq!(rules(&table("'a', ['x', 'y']"), &table("'a', ['x' 'y']")), [Rule::CaseRemoved]);
}

#[test]
fn trap_17_keys_are_values_with_their_type() {
    let keys = test_f(&table("'a', [1, True, 1.0, '1', b'1', None, 0.0, -0.0, 1j, ...]")).domain.case_keys();
    assert_eq!(keys.len(), 10);
    assert_eq!(rules(&table("'a', [u'x', \"y\", ('z')]"), &table("'a', ['x', 'y', 'z']")), []);
    assert_eq!(rules(&table("'a', ['']"), &table("'a', [b'']")), [Rule::CaseRemoved]);
}

#[test]
fn trap_18_bounds_in_every_spelling() {
    let spelt: [(&str, i64, i64); 8] = [
        ("-1, 10_000", -1, 10_000),
        ("-(2**32), 0x10FFFF", -4_294_967_296, 0x0010_ffff),
        ("0, 2**63 - 1", 0, i64::MAX),
        ("LOW, HIGH", 1, 500),
        ("Limits.low, 7 // 2", 3, 3),
        ("~0, 1 << 4", -1, 16),
        ("0, sys.maxsize", 0, i64::MAX),
        ("min_value=0.0, max_value=1e3", 0, 1000),
    ];
    for (text, low, high) in spelt {
        let card =
            test_f(&format!("import sys\nLOW, HIGH = 1, 500\nclass Limits:\n    low = 3\n{}", drawn(&format!("a=st.integers({text})"))));
        assert_eq!(card.domain.bounds()["a"], (Some(low.into()), Some(high.into())), "{text}");
    }
    for text in ["0, time.time_ns()", "ceil(size**0.5), 9", "0, 9**9**9", "0, 1 << 10**12", "0, 10**10**10", "min_value=0.5"] {
        assert!(test_f(&drawn(&format!("a=st.integers({text})"))).domain.opaque().is_some(), "{text}");
    }
}

#[test]
fn trap_19_alternatives_written_with_a_bar_and_chains_of_methods() {
    assert_eq!(
        rules(&drawn("a=st.none() | st.text() | st.integers(0, 9)"), &drawn("a=st.one_of(st.integers(0, 9), st.text(), st.none())")),
        []
    );
    assert_eq!(rules(&drawn("a=st.none() | st.text()"), &drawn("a=st.text()")), [Rule::BoundNarrowed]);
    let chain = "a=st.integers(0, 9).filter(bool).map(str)";
    assert_eq!(rules(&drawn(chain), &drawn("a=st.integers(0, 9).map(str)")), []);
    assert!(!rules(&drawn(chain), &drawn("a=st.integers(0, 9).filter(bool).filter(odd).map(str)")).is_empty());
}

#[test]
fn trap_20_assertions_at_every_depth_count() {
    let text = "def test_f():\n    for x in y:\n        while x:\n            if x:\n                assert 1\n            elif y:\n                assert 2\n            else:\n                assert False\n    try:\n        assert 3\n    except E:\n        assert 4\n    else:\n        assert 5\n    finally:\n        assert 6\n    with a:\n        def inner():\n            assert 7\n        class C:\n            assert 8\n    match x:\n        case 1:\n            assert all(x for x in y)\n";
    let card = test_f(text);
    assert_eq!(card.assertions.len(), 10);
    assert_eq!(card.assertions[2].text, "assert False");
    let split = test_f("def test_f():\n    assert a and b\n    assert not c\n");
    assert_eq!((split.assertions.len(), split.claims.len()), (2, 3));
}

#[test]
fn trap_23_mixins_odd_names_and_fixtures_named_like_tests() {
    let text = "import unittest, pytest\nclass BaseTestMixin:\n    def test_a(self): assert 1\nclass Real(BaseTestMixin, unittest.TestCase):\n    pass\ndef tests_when_so(): pass\n@pytest.fixture\ndef test_url(): return 1\n";
    let mut got = ids("tests/test_a.py", text);
    got.sort();
    assert_eq!(got, ["Real::test_a", "tests_when_so"]);
}

#[test]
fn trap_24_a_bare_name_is_no_id() {
    let text = "class TestA:\n    def test_x(self): assert 1\nclass TestB:\n    def test_x(self): assert 1\nclass TestB:\n    def test_x(self): pass\n";
    assert_eq!(ids("tests/test_a.py", text), ["TestA::test_x", "TestB::test_x"]);
    let world = World::new(&[("tests/test_a.py", text)]);
    assert!(world.card("tests/test_a.py::TestB::test_x").assertions.is_empty());
}

#[test]
fn trap_25_new_syntax_is_read() {
    let text = "type X[T] = list[T]\ndef f[T](x: T) -> T: return x\nclass C[T]: pass\ndef test_f():\n    match f(1):\n        case {'a': [1, *_]} | None: assert 1\n    with (open('a') as a, open('b') as b): assert (n := 1)\n    try: pass\n    except* ValueError: assert 1\n    assert f'{f'{1}'}'\n";
    assert_eq!(test_f(text).assertions.len(), 4);
}

#[test]
fn trap_26_files_that_do_not_parse_are_named_with_their_line() {
    for (text, line) in [("x = 1\ny = 'open\n", 2), ("print 'old'\n", 1), ("def f():\nreturn 1\n", 2)] {
        let world = World::new(&[("tests/test_a.py", text)]);
        let path = crate::tree::RepoPath::new("tests/test_a.py");
        let error = crate::strength::snapshot::cards(&path, &world).unwrap_err();
        assert!(error.to_string().starts_with(&format!("tests/test_a.py: line {line}: ")), "{error}");
    }
}

#[test]
fn trap_28_a_long_file_is_read_whole() {
    let many: String = (0..4000).map(|n| format!("def test_{n}():\n    assert {n} == f({n})\n\n")).collect();
    assert_eq!(ids("tests/test_a.py", &many).len(), 4000);
}
