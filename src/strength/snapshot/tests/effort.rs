//! Owns the tests of the wider fields, from Python text to the losses that a change of it is.

use crate::finding::Rule;
use crate::strength::delta::compare;
use crate::strength::snapshot::tests::{HEAD, World};

const MORE: &str = "import sys, unittest\nfrom unittest import mock\nfrom hypothesis import HealthCheck, Phase, assume, example, reject, settings\nfrom hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule\nfrom shop.total import order_total\nfrom shop.cart import Cart\n";
const PRODUCTION: [(&str, &str); 2] = [
    ("src/shop/total.py", "def order_total(items): pass\n"),
    ("src/shop/cart.py", "import time\nfrom shop.total import order_total\nclass Cart: pass\n"),
];

/// Name, what stands there on the base and in the patch, and the rules that this breaks.
type Changed<'t> = (&'t str, &'t str, &'t str, &'t [Rule]);

/// The rules that going from some files to others breaks; what a check that is not reached says of its oracle is told elsewhere.
pub(super) fn broken(base: &[(&str, &str)], patch: &[(&str, &str)]) -> Vec<Rule> {
    let cards = |files: &[(&str, &str)]| {
        let world = World::new(&[files, &PRODUCTION].concat());
        files.iter().flat_map(|(path, _)| world.cards(path)).collect::<Vec<_>>()
    };
    let delta = compare(&cards(base), &cards(patch));
    let rules =
        delta.findings().into_iter().map(|finding| finding.rule).filter(|rule| !matches!(rule, Rule::NewProperty | Rule::OracleWeakened));
    let mut rules: Vec<Rule> = rules.collect();
    rules.dedup();
    rules
}

fn all_are(table: &[Changed<'_>]) {
    for (name, base, patch, rules) in table {
        let text = |text: &str| format!("{HEAD}{MORE}{text}");
        let (base, patch) = (text(base), text(patch));
        assert_eq!(broken(&[("tests/test_a.py", &base)], &[("tests/test_a.py", &patch)]), *rules, "{name}");
    }
}

/// Both ways between a text and the same after what weakens it.
pub(super) fn weaken(rule: Rule, table: &[(&str, &str, &str)]) {
    for (name, base, patch) in table {
        all_are(&[
            (name, base, patch, &[rule]),
            (&format!("{name}, taken back"), patch, base, &[]),
            (&format!("{name}, kept"), patch, patch, &[]),
        ]);
    }
}

/// Neither way is a loss.
pub(super) fn same(table: &[(&str, &str, &str)]) {
    for (name, base, patch) in table {
        all_are(&[(name, base, patch, &[]), (&format!("{name}, taken back"), patch, base, &[])]);
    }
}

const F: &str = "def test_f():\n    assert f()\n";
const G: &str = "class TestG:\n    def test_f(self):\n        assert f()\n";
const H: &str = "class G(unittest.TestCase):\n    def test_f(self):\n        assert f()\n";
const P: &str = "@given(a=st.integers(0, 9), b=st.integers(0, 9))\ndef test_f(a, b):\n    assert f(a, b)\n";

fn decorated(decorators: &[&str], test: &str) -> String {
    decorators.iter().map(|d| format!("@{d}\n")).collect::<String>() + test
}

fn with(body: &str) -> String {
    format!("@given(a=st.integers(0, 9), b=st.integers(0, 9))\ndef test_f(a, b):\n{body}    assert f(a, b)\n")
}

#[test]
fn a_mark_that_keeps_a_test_from_counting_is_a_loss_and_taking_it_away_is_none() {
    for mark in [
        "pytest.mark.skip",
        "pytest.mark.skip(reason='x')",
        "pytest.mark.skipif(True, reason='x')",
        "pytest.mark.skipif(sys.platform == 'win32', reason='x')",
        "pytest.mark.xfail",
        "pytest.mark.xfail(strict=True)",
        "pytest.mark.xfail(sys.version_info < (3, 9), run=False)",
        "pytest.mark.flaky(reruns=5)",
        "unittest.skip('x')",
        "unittest.skipIf(x, 'x')",
        "unittest.skipUnless(x, 'x')",
        "unittest.expectedFailure",
        "skip_on_windows",
        "xfail_if(1)",
    ] {
        weaken(Rule::TestDisabled, &[(mark, F, &decorated(&[mark], F)), (mark, G, &decorated(&[mark], G))]);
    }
    weaken(
        Rule::TestDisabled,
        &[
            ("pytestmark", F, &format!("pytestmark = [pytest.mark.skip]\n{F}")),
            ("pytestmark of a class", G, "class TestG:\n    pytestmark = pytest.mark.skip\n    def test_f(self):\n        assert f()\n"),
            ("a stored mark", F, &format!("later = pytest.mark.skipif(x, reason='')\n{}", decorated(&["later"], F))),
            ("a call in the body", F, "def test_f():\n    pytest.skip('later')\n    assert f()\n"),
            ("a call in a branch", F, "def test_f():\n    if x:\n        pytest.skip('later')\n    assert f()\n"),
            ("an expected failure in the body", F, "def test_f():\n    pytest.xfail('later')\n    assert f()\n"),
            ("an import in the body", F, "def test_f():\n    np = pytest.importorskip('np')\n    assert f()\n"),
            ("an import of the module", F, &format!("pytest.importorskip('np')\n{F}")),
            ("the whole module", F, &format!("if sys.platform == 'win32':\n    pytest.skip('x', allow_module_level=True)\n{F}")),
            ("raised", F, "def test_f():\n    raise unittest.SkipTest('x')\n    assert f()\n"),
            ("raised by the module", F, &format!("try:\n    import np\nexcept ImportError:\n    raise unittest.SkipTest('x')\n{F}")),
            ("of unittest", H, "class G(unittest.TestCase):\n    def test_f(self):\n        self.skipTest('x')\n        assert f()\n"),
            ("before each test", H, &H.replace("    def test_f", "    def setUp(self):\n        self.skipTest('x')\n    def test_f")),
            ("a helper that skips", F, "def test_f():\n    skip_if_offline()\n    assert f()\n"),
        ],
    );
}

#[test]
fn marks_of_rows_count_for_rows_that_were_there() {
    let rows = |rows: &str| format!("@pytest.mark.parametrize('a, b', [{rows}])\ndef test_f(a, b):\n    assert f(a) == b\n");
    weaken(Rule::TestDisabled, &[("a row", &rows("(1, 2), (3, 4)"), &rows("(1, 2), pytest.param(3, 4, marks=pytest.mark.skip)"))]);
    all_are(&[("a new row", &rows("(1, 2)"), &rows("(1, 2), pytest.param(3, 4, marks=pytest.mark.xfail)"), &[])]);
}

#[test]
fn marks_that_say_the_same_or_less_hold() {
    let marked = |mark: &str| decorated(&[mark], F);
    let old = marked("pytest.mark.skipif(sys.version_info < (3, 9), reason='x')");
    same(&[
        ("fixtures", F, &marked("pytest.mark.usefixtures('tmp_path')")),
        ("an own mark", F, &marked("pytest.mark.slow")),
        ("never", F, &marked("pytest.mark.skipif(False, reason='x')")),
        ("another reason", &old, &marked("pytest.mark.skipif(sys.version_info < (3, 9), reason='y')")),
        ("condition by keyword", &old, &marked("pytest.mark.skipif(condition=sys.version_info < (3, 9), reason='y')")),
        (
            "imported from elsewhere",
            &format!("from a.b import W\n{}", marked("pytest.mark.skipif(W.x, reason='')")),
            &format!("from .b import W\n{}", marked("pytest.mark.skipif(W.x, reason='')")),
        ),
        ("of unittest", &marked("unittest.skipIf(x, '')"), &marked("unittest.skipUnless(not x, '')")),
        ("to the module", &marked("pytest.mark.skip"), &format!("pytestmark = pytest.mark.skip\n{F}")),
    ]);
    let skip = Rule::TestDisabled;
    all_are(&[
        ("fewer versions", &old, &marked("pytest.mark.skipif(sys.version_info < (3, 8), reason='x')"), &[]),
        ("more versions", &old, &marked("pytest.mark.skipif(sys.version_info < (3, 10), reason='x')"), &[skip]),
        ("another condition", &old, &marked("pytest.mark.skipif(x, reason='x')"), &[skip]),
        ("always to sometimes", &marked("pytest.mark.skip"), &old, &[]),
        ("sometimes to always", &old, &marked("pytest.mark.skip"), &[skip]),
        ("skip to xfail", &marked("pytest.mark.skip"), &marked("pytest.mark.xfail"), &[]),
        ("xfail to skip", &marked("pytest.mark.xfail"), &marked("pytest.mark.skip"), &[skip]),
        ("must fail to may fail", &marked("pytest.mark.xfail(strict=True)"), &marked("pytest.mark.xfail"), &[skip]),
        ("may fail to must fail", &marked("pytest.mark.xfail"), &marked("pytest.mark.xfail(strict=True)"), &[]),
    ]);
}

#[test]
fn a_new_test_that_does_not_run_pays_for_no_lost_assertion() {
    let two = "def test_f():\n    assert f(1) == 1\n    assert f(2) == 2\n";
    let split = |mark: &str| format!("def test_f():\n    assert f(1) == 1\n{mark}def test_g():\n    assert f(2) == 2\n");
    let with_import = |text: &str| format!("from shop.f import f\n{text}");
    all_are(&[
        ("runs", &with_import(two), &with_import(&split("")), &[]),
        ("skipped", &with_import(two), &with_import(&split("@pytest.mark.skip\n")), &[Rule::AssertionRemoved]),
        ("may fail", &with_import(two), &with_import(&split("@pytest.mark.xfail\n")), &[Rule::AssertionRemoved]),
    ]);
    let marked = |text: &str| format!("pytestmark = pytest.mark.skipif(x, reason='')\nfrom shop.f import f\n{text}");
    all_are(&[("both under one mark", &marked(two), &marked(&split("")), &[])]);
}

#[test]
fn inputs_that_do_not_reach_the_assertions_as_drawn_are_a_loss() {
    let plain = with("");
    weaken(
        Rule::ReducerAdded,
        &[
            ("assume", &plain, &with("    assume(a != b)\n")),
            ("a second assumption", &with("    assume(a != b)\n"), &with("    assume(a != b and a > 0)\n")),
            ("reject", &plain, &with("    if a == b:\n        reject()\n")),
            ("return", &plain, &with("    if a == b:\n        return\n")),
            ("return on an error", &plain, &with("    try:\n        g(a)\n    except ValueError:\n        return\n")),
            ("return in the other branch", &plain, &with("    if a == b:\n        g(a)\n    else:\n        return\n")),
            ("nothing any more", &plain, &with("    return\n")),
            ("reshaped", &plain, &with("    a = abs(a)\n")),
            ("reshaped in place", &plain, &with("    a += 1\n")),
            (
                "continue",
                "def test_f():\n    for x in g():\n        assert f(x)\n",
                "def test_f():\n    for x in g():\n        if not x.ok:\n            continue\n        assert f(x)\n",
            ),
            (
                "a rule's condition",
                "class M(RuleBasedStateMachine):\n    @rule(a=st.integers(0, 9))\n    def r(self, a):\n        self.a = a\n    @invariant()\n    def i(self):\n        assert self.a\nTestM = M.TestCase\n",
                "class M(RuleBasedStateMachine):\n    @precondition(lambda self: self.b)\n    @rule(a=st.integers(0, 9))\n    def r(self, a):\n        self.a = a\n    @invariant()\n    def i(self):\n        assert self.a\nTestM = M.TestCase\n",
            ),
        ],
    );
    let (strict, loose) = (with("    assume(a > 0)\n"), with("    assume(a > 5)\n"));
    all_are(&[("another assumption", &strict, &loose, &[Rule::ReducerAdded])]);
}

#[test]
fn branches_that_check_and_the_same_condition_in_other_words_hold() {
    same(&[
        ("assumed or returned", &with("    assume(a != b)\n"), &with("    if a == b:\n        return\n")),
        ("split", &with("    assume(a != b and a > 0)\n"), &with("    assume(a != b)\n    assume(a > 0)\n")),
        ("merged", &with("    if a == b or a <= 0:\n        return\n"), &with("    assume(a != b and a > 0)\n")),
        ("a return at the end", P, &format!("{P}    if a:\n        return\n")),
        ("another name", &with("    x = g(a)\n    assume(x.ok)\n"), &with("    y = g(a)\n    assume(y.ok)\n")),
        ("a name that is no input", &with(""), &with("    c = abs(a)\n")),
        ("a branch that is never taken", &with(""), &with("    if False:\n        return\n")),
    ]);
    let branch = with("    if a == b:\n        assert g(a)\n        return\n");
    all_are(&[("a branch with its own check", &with(""), &branch, &[])]);
    all_are(&[("another input", &with("    assume(a > 0)\n"), &with("    assume(b > 0)\n"), &[Rule::ReducerAdded])]);
}

#[test]
fn fewer_trials_are_a_loss_however_they_are_set() {
    let set = |what: &str| decorated(&[&format!("settings({what})")], P);
    weaken(
        Rule::BudgetLowered,
        &[
            ("lower", &set("max_examples=200"), &set("max_examples=150")),
            ("lower than the default", P, &set("max_examples=99")),
            ("not told", &set("max_examples=200"), P),
            ("phases", P, &set("phases=[Phase.generate]")),
            ("no database", P, &set("database=None")),
            ("a health check less", P, &set("suppress_health_check=[HealthCheck.too_slow]")),
            ("all health checks", &set("suppress_health_check=[HealthCheck.too_slow]"), &set("suppress_health_check=list(HealthCheck)")),
            ("steps", P, &set("stateful_step_count=10")),
            ("always the same", P, &set("derandomize=True")),
            (
                "shared",
                &format!("S = settings(max_examples=300)\n{}", decorated(&["S"], P)),
                &format!("S = settings(max_examples=3)\n{}", decorated(&["S"], P)),
            ),
            ("a child of another", &set("settings(max_examples=300), deadline=None"), &set("settings(max_examples=30), deadline=None")),
        ],
    );
    same(&[
        ("no deadline", P, &set("deadline=None")),
        ("the default by value", P, &set("max_examples=100")),
        ("shared or not", &set("max_examples=200"), &format!("S = settings(max_examples=200)\n{}", decorated(&["S"], P))),
        ("order and container", &set("phases=[Phase.generate, Phase.explicit]"), &set("phases=(Phase.explicit, Phase.generate)")),
        ("no shrinking", P, &set("phases=[Phase.explicit, Phase.reuse, Phase.generate, Phase.target]")),
    ]);
    let machine = |set: &str| {
        format!("class M(RuleBasedStateMachine):\n    @invariant()\n    def i(self):\n        assert self.a\nTestM = M.TestCase\n{set}\n")
    };
    let (many, few) = (machine("TestM.settings = settings(max_examples=60)"), machine("TestM.settings = settings(max_examples=6)"));
    weaken(Rule::BudgetLowered, &[("of a machine", &many, &few)]);
}

#[test]
fn settings_of_another_module_and_loaded_profiles_are_followed() {
    let test = format!("{HEAD}from tests.common import SLOW\n{}", decorated(&["SLOW"], P));
    let shared = |n: u32| format!("from hypothesis import settings\nSLOW = settings(max_examples={n})\n");
    let (many, few) = (shared(300), shared(3));
    let files = |common: &'static str| [("tests/common.py", common), ("tests/test_a.py", "")];
    let (mut base, mut patch) = (files(""), files(""));
    (base[0].1, base[1].1, patch[0].1, patch[1].1) = (leak(&many), leak(&test), leak(&few), leak(&test));
    assert_eq!(broken(&base, &patch), [Rule::BudgetLowered]);
    assert_eq!(broken(&base[..1], &patch[..1]), [Rule::BudgetLowered]);
    assert_eq!(broken(&patch, &base), []);
    let profile =
        |set: &str| format!("from hypothesis import settings\nsettings.register_profile('ci', {set})\nsettings.load_profile('ci')\n");
    let (plain, low) = (profile("deadline=None"), profile("max_examples=5"));
    let (plain, low) = (("tests/conftest.py", plain.as_str()), ("tests/conftest.py", low.as_str()));
    assert_eq!(broken(&[plain], &[low]), [Rule::BudgetLowered, Rule::BudgetLowered][..1]);
    assert_eq!(broken(&[low], &[plain]), []);
    assert_eq!(broken(&[], &[low]), [Rule::BudgetLowered]);
    assert_eq!(broken(&[], &[plain]), []);
    let asked = profile("max_examples=5").replace("load_profile('ci')", "load_profile('ci' if 'CI' in os.environ else 'default')");
    assert_eq!(broken(&[], &[("tests/conftest.py", &asked)]), []);
}

/// Texts of one test live as long as the test.
fn leak(text: &str) -> &'static str {
    Box::leak(text.to_owned().into_boxed_str())
}

#[test]
fn an_example_that_is_not_tried_any_more_is_a_loss() {
    let with = |examples: &[&str]| decorated(examples, P);
    weaken(
        Rule::ExampleRemoved,
        &[
            ("gone", &with(&["example(a=1, b=2)", "example(a=3, b=4)"]), &with(&["example(a=1, b=2)"])),
            ("gone with its source", &with(&["example(a=1, b=2).via('x')"]), P),
        ],
    );
    let swapped = [Rule::ExampleRemoved];
    all_are(&[
        ("another value", &with(&["example(a=1, b=2)"]), &with(&["example(a=1, b=3)"]), &swapped),
        ("may fail now", &with(&["example(a=1, b=2)"]), &with(&["example(a=1, b=2).xfail()"]), &swapped),
        ("must pass now", &with(&["example(a=1, b=2).xfail()"]), &with(&["example(a=1, b=2)"]), &[]),
    ]);
    same(&[("spelling", &with(&["example(1, 2)"]), &with(&["example(b=2, a=1).via('x')"]))]);
}

#[test]
fn production_that_a_test_imports_and_now_replaces_is_a_loss() {
    let test = |parameter: &str, body: &str| format!("def test_f({parameter}):\n{body}    assert order_total([]) == 0\n");
    let plain = test("", "");
    weaken(
        Rule::SubjectPatched,
        &[
            ("patch", &plain, &decorated(&["mock.patch('shop.total.order_total')"], &test("", ""))),
            ("where it is used", &plain, &decorated(&["mock.patch('shop.cart.order_total')"], &test("", ""))),
            ("patch.object", &plain, &decorated(&["mock.patch.object(Cart, 'total')"], &test("", ""))),
            ("a block", &plain, &test("", "    with mock.patch('shop.total.order_total'):\n        pass\n")),
            ("monkeypatch", &plain, &test("monkeypatch", "    monkeypatch.setattr('tests.test_a.order_total', len)\n")),
            ("an attribute", &plain, &test("", "    cart = Cart()\n    cart.total = mock.Mock()\n")),
            ("mocker", &plain, &test("mocker", "    mocker.patch('shop.total.order_total')\n")),
            (
                "a class",
                "class TestG:\n    def test_f(self):\n        assert order_total([])\n",
                "@mock.patch('shop.total.order_total')\nclass TestG:\n    def test_f(self):\n        assert order_total([])\n",
            ),
            (
                "a fixture of the file",
                &format!("@pytest.fixture(autouse=True)\ndef setup(monkeypatch):\n    pass\n{plain}"),
                &format!(
                    "@pytest.fixture(autouse=True)\ndef setup(monkeypatch):\n    monkeypatch.setattr('shop.total.order_total', len)\n{plain}"
                ),
            ),
        ],
    );
    same(&[
        ("the clock", &plain, &decorated(&["mock.patch('shop.cart.time.sleep')"], &test("", ""))),
        ("another house", &plain, &decorated(&["mock.patch('requests.get')"], &test("", ""))),
        ("the environment", &plain, &test("monkeypatch", "    monkeypatch.setenv('A', 'b')\n")),
        ("its own helper", &plain, &test("monkeypatch", "    monkeypatch.setattr('tests.test_a.helper', len)\n")),
    ]);
    all_are(&[(
        "a new test",
        &plain,
        &format!("{plain}@mock.patch('shop.total.order_total')\ndef test_new():\n    assert order_total([])\n"),
        &[],
    )]);
}

#[test]
fn a_stand_in_whose_target_moved_is_the_same_stand_in() {
    let replaced = |targets: &[&str]| {
        let decorators: String = targets.iter().map(|target| format!("@mock.patch('{target}')\n")).collect();
        format!("{decorators}def test_f():\n    assert order_total([]) == 0\n")
    };
    same(&[
        ("it moved", &replaced(&["shop.total.order_total"]), &replaced(&["shop.cart.order_total"])),
        ("it became public", &replaced(&["shop.total._order_total"]), &replaced(&["shop.total.order_total"])),
    ]);
    all_are(&[
        ("another one", &replaced(&["shop.total.order_tax"]), &replaced(&["shop.total.order_total"]), &[Rule::SubjectPatched]),
        (
            "one more",
            &replaced(&["shop.total.order_total"]),
            &replaced(&["shop.total.order_total", "shop.cart.Cart.total"]),
            &[Rule::SubjectPatched],
        ),
    ]);
}

#[test]
fn a_fixture_of_a_conftest_that_replaces_production_is_a_loss() {
    let head = "import pytest\nfrom unittest import mock\nfrom shop.cart import Cart\n";
    let real = format!("{head}@pytest.fixture\ndef cart():\n    cart = Cart()\n    return cart\n");
    let stub = real.replace("    return", "    cart.total = mock.Mock()\n    return");
    let everywhere =
        format!("{real}@pytest.fixture(autouse=True)\ndef quick(monkeypatch):\n    monkeypatch.setattr('shop.total.order_total', len)\n");
    let (real, stub, everywhere) =
        (("tests/conftest.py", real.as_str()), ("tests/conftest.py", stub.as_str()), ("tests/conftest.py", everywhere.as_str()));
    assert_eq!(broken(&[real], &[stub]), [Rule::SubjectPatched]);
    assert_eq!(broken(&[stub], &[real]), []);
    assert_eq!(broken(&[real], &[everywhere]), [Rule::SubjectPatched]);
    assert_eq!(broken(&[everywhere], &[real]), []);
}

#[test]
fn a_card_shows_the_wider_fields_only_where_there_is_something_to_tell() {
    let card = |text: &str| World::new(&[("tests/test_a.py", &format!("{HEAD}{MORE}{text}"))]).card("tests/test_a.py::test_f").to_json();
    assert!(card(P).get("effort").is_none());
    let told = card(&decorated(&["pytest.mark.skip", "settings(max_examples=5)"], &with("    assume(a)\n")));
    let wanted = serde_json::json!({"marks": [{"does": "skip"}], "reducers": {"only if a": 1}, "budget": {"set": {"max_examples": "5"}}});
    assert_eq!(told.get("effort"), Some(&wanted));
}
