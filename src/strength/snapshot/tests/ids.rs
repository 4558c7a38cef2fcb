//! Tests of which functions get a card, and what kind.

use crate::strength::card::Kind;
use crate::strength::snapshot::tests::{World, ids};

#[test]
fn ids_are_the_node_ids_that_pytest_prints() {
    let text = "
def test_a(): pass
async def test_b(): pass
def helper(): pass
class TestOne:
    def test_c(self): pass
    class TestInner:
        async def test_d(self): pass
    class Other:
        def test_e(self): pass
class Plain:
    def test_f(self): pass
if flag:
    def test_g(): pass
else:
    with open('x'):
        def test_h(): pass
try:
    class TestTwo:
        for x in 'ab':
            def test_i(self): pass
except ImportError:
    def test_j(): pass
def tests_when_named_so(): pass
def testCamel(): pass
";
    let got = ids("tests/test_a.py", text);
    let want = [
        "test_a",
        "test_b",
        "TestOne::test_c",
        "TestOne::TestInner::test_d",
        "test_g",
        "test_h",
        "TestTwo::test_i",
        "test_j",
        "tests_when_named_so",
        "testCamel",
    ];
    assert_eq!(got, want);
}

#[test]
fn what_pytest_leaves_out_has_no_card() {
    for text in [
        "class TestA:\n    def __init__(self): pass\n    def test_a(self): assert 1\n",
        "class TestA:\n    def __new__(cls): pass\n    def test_a(self): assert 1\n",
        "class TestA:\n    __test__ = False\n    def test_a(self): assert 1\n",
        "class A:\n    def test_a(self): assert 1\n",
        "__test__ = False\ndef test_a(): assert 1\n",
        "def test_a(): assert 1\ntest_a.__test__ = False\n",
        "import pytest\n@pytest.fixture\ndef test_url(): return 1\n",
        "import pytest\n@pytest.fixture(scope='module')\ndef test_url(): return 1\n",
        "def outer():\n    def test_a(): assert 1\n",
    ] {
        let got = ids("tests/test_a.py", text);
        assert!(!got.iter().any(|id| id.contains("test_")), "{text}: {got:?}");
    }
}

#[test]
fn test_cases_of_unittest_are_collected_by_their_bases() {
    let text = "
import unittest
from django.test import TestCase as Base
class First(unittest.TestCase):
    def __init__(self, *a): super().__init__(*a)
    def test_a(self): pass
class Second(First):
    def test_b(self): pass
class Third(Base):
    def test_c(self): pass
class Fourth(unittest.IsolatedAsyncioTestCase):
    async def test_d(self): pass
class Mixin:
    def test_e(self): assert 1
class TestMixed(Mixin):
    pass
class MixedCase(Mixin, unittest.TestCase):
    pass
";
    let mut got = ids("tests/test_a.py", text);
    got.sort();
    let want =
        ["First::test_a", "Fourth::test_d", "MixedCase::test_e", "Second::test_a", "Second::test_b", "TestMixed::test_e", "Third::test_c"];
    assert_eq!(got, want);
}

#[test]
fn tests_of_a_base_in_another_file_are_cards_of_the_class_that_has_it() {
    let world = World::new(&[
        ("tests/base.py", "class Base:\n    def test_a(self):\n        assert 1\n        assert 2\n"),
        ("tests/test_a.py", "from tests.base import Base\nclass TestA(Base):\n    pass\n"),
    ]);
    assert_eq!(world.card("tests/test_a.py::TestA::test_a").assertions.len(), 2);
}

#[test]
fn a_file_renamed_out_of_collection_has_no_tests() {
    let text = "from hypothesis import given, strategies as st\n@given(st.integers(0, 1))\ndef test_a(n):\n    assert n\n";
    assert_eq!(ids("tests/properties/test_props.py", text), ["test_a"]);
    assert_eq!(ids("tests/properties/props_test.py", text), ["test_a"]);
    assert!(ids("tests/properties/props_old.py", text).is_empty());
}

#[test]
fn functions_named_prop_are_properties_wherever_tests_lie() {
    for path in ["tests/properties/test_props.py", "tests/properties/balance.py", "tests/props.py"] {
        let world = World::new(&[(path, "def prop_a(n):\n    assert n\n")]);
        assert_eq!(world.card(&format!("{path}::prop_a")).kind, Kind::Property, "{path}");
    }
}

#[test]
fn a_domain_or_a_property_path_makes_a_property() {
    let text = "import pytest\ndef test_a(): assert 1\n@pytest.mark.parametrize('x', [1])\ndef test_b(x): assert x\ndef test_c():\n    for x in [1, 2]:\n        assert x\n";
    let world = World::new(&[("tests/test_a.py", text), ("tests/properties/test_a.py", text)]);
    let kinds = |path: &str| world.cards(path).into_iter().map(|c| c.kind).collect::<Vec<_>>();
    assert_eq!(kinds("tests/test_a.py"), [Kind::Test, Kind::Property, Kind::Test]);
    assert_eq!(kinds("tests/properties/test_a.py"), [Kind::Property, Kind::Property, Kind::Property]);
}

#[test]
fn helpers_with_checks_strategies_and_tables_are_support() {
    let checks = "from hypothesis import strategies as st\namounts = st.integers(0, 10)\nROWS = [1, 2]\npytest_plugins = ['x']\n@st.composite\ndef lines(draw):\n    return draw(amounts)\ndef check(x):\n    assert x\ndef quiet(x):\n    return x\n";
    let world = World::new(&[("tests/checks.py", checks)]);
    let got: Vec<(String, Kind)> = world.cards("tests/checks.py").into_iter().map(|c| (c.prop_id.0, c.kind)).collect();
    let want = ["amounts", "ROWS", "lines", "check"].map(|n| (format!("tests/checks.py::{n}"), Kind::Support));
    assert_eq!(got.len(), want.len(), "{got:?}");
    assert!(want.iter().all(|w| got.contains(w)), "{got:?}");
}

#[test]
fn production_code_has_no_cards() {
    let world = World::new(&[("shop/total.py", "def prop_a(n):\n    assert n\ndef check(n):\n    assert n\n")]);
    assert!(world.cards("shop/total.py").is_empty());
    assert!(world.cards("shop/absent.py").is_empty());
}

#[test]
fn a_state_machine_has_the_id_that_its_test_case_is_bound_to() {
    let machine = "
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule
class M(RuleBasedStateMachine):
    @rule(n=st.integers(0, 9))
    def add(self, n):
        assert n >= 0
    @invariant()
    def sound(self):
        assert self
";
    let world = World::new(&[("tests/test_m.py", &format!("{machine}TestM = M.TestCase\n"))]);
    let card = world.card("tests/test_m.py::TestM");
    assert_eq!((card.kind, card.assertions.len()), (Kind::Property, 2));
    assert_eq!(card.domain.bounds().keys().collect::<Vec<_>>(), ["add.n"]);
    assert_eq!(world.cards("tests/test_m.py").len(), 1);
    let sub = World::new(&[("tests/test_m.py", &format!("{machine}class TestM(M.TestCase):\n    pass\n"))]);
    assert_eq!(sub.card("tests/test_m.py::TestM").assertions.len(), 2);
    let unbound = World::new(&[("tests/test_m.py", machine)]);
    assert_eq!(unbound.card("tests/test_m.py::M").kind, Kind::Support);
}
