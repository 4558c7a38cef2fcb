//! Owns the tests of what keeps a test from running to its end or from failing: ends behind calls, helpers that swallow, tests taken out.

use crate::finding::Rule;
use crate::strength::snapshot::tests::effort::{broken, same, weaken};

const T: &str = "def test_f():\n    assert f()\n";
const P: &str = "@given(a=st.integers(0, 9))\ndef test_f(a):\n    assert f(a)\n";
const LOOP: &str = "def test_f():\n    for a in rows():\n        assert f(a)\n";
const CASE: &str = "class G(unittest.TestCase):\n    def test_f(self):\n        self.assertEqual(f(), 1)\n";

#[test]
fn a_loop_left_behind_its_first_check_and_an_argument_overwritten_reach_less() {
    weaken(
        Rule::ReducerAdded,
        &[
            ("break", LOOP, "def test_f():\n    for a in rows():\n        assert f(a)\n        break\n"),
            ("return", LOOP, "def test_f():\n    for a in rows():\n        assert f(a)\n        return\n"),
            ("constant", P, "@given(a=st.integers(0, 9))\ndef test_f(a):\n    a = 5\n    assert f(a)\n"),
            (
                "forgotten",
                "def test_f(log):\n    g(log)\n    log.assert_not_called()\n",
                "def test_f(log):\n    g(log)\n    log.reset_mock()\n    log.assert_not_called()\n",
            ),
            (
                "rule emptied",
                "class M(RuleBasedStateMachine):\n    @rule()\n    def add(self):\n        self.n += 1\nTestM = M.TestCase\n",
                "class M(RuleBasedStateMachine):\n    @rule()\n    def add(self):\n        pass\nTestM = M.TestCase\n",
            ),
        ],
    );
    same(&[
        ("break before", LOOP, "def test_f():\n    for a in rows():\n        assert f(a)\n        if done(a):\n            print(a)\n"),
        ("new local", P, "@given(a=st.integers(0, 9))\ndef test_f(a):\n    b = a\n    assert f(b)\n"),
        ("after the check", P, "@given(a=st.integers(0, 9))\ndef test_f(a):\n    assert f(a)\n    a = 5\n"),
        (
            "next phase",
            "def test_f(log):\n    log.assert_not_called()\n",
            "def test_f(log):\n    log.reset_mock()\n    g(log)\n    log.assert_not_called()\n",
        ),
    ]);
}

#[test]
#[expect(clippy::too_many_lines, reason = "one table")]
fn a_skip_behind_a_call_a_fixture_or_a_statement_disables() {
    weaken(
        Rule::TestDisabled,
        &[
            ("helper", T, "def later():\n    pytest.skip('x')\ndef test_f():\n    later()\n    assert f()\n"),
            ("helper that may", T, "def later():\n    if N:\n        pytest.skip('x')\ndef test_f():\n    later()\n    assert f()\n"),
            ("exit", T, "def test_f():\n    pytest.exit('x', returncode=0)\n    assert f()\n"),
            (
                "usefixtures",
                T,
                "@pytest.fixture\ndef calm():\n    pytest.skip('x')\n@pytest.mark.usefixtures('calm')\ndef test_f():\n    assert f()\n",
            ),
            ("getattr", T, "@getattr(pytest.mark, 'skip')\ndef test_f():\n    assert f()\n"),
            ("pytestmark of a test", T, "def test_f():\n    assert f()\ntest_f.pytestmark = [pytest.mark.skip]\n"),
            ("condition around", T, "import os\nif os.environ.get('ALL'):\n    def test_f():\n        assert f()\n"),
            ("generator", T, "def test_f():\n    assert f()\n    yield\n"),
            ("manager", T, "import contextlib\n@contextlib.contextmanager\ndef test_f():\n    assert f()\n    yield\n"),
            (
                "decorator that swallows",
                T,
                "def calm(f):\n    def run():\n        try:\n            f()\n        except AssertionError:\n            pass\n    return run\n@calm\ndef test_f():\n    assert f()\n",
            ),
            ("decorator that drops", T, "def calm(f):\n    return lambda: None\n@calm\ndef test_f():\n    assert f()\n"),
            (
                "decorator of a decorator",
                T,
                "def calm(n):\n    def wrap(f):\n        def run():\n            return n\n        return run\n    return wrap\n@calm(1)\ndef test_f():\n    assert f()\n",
            ),
            (
                "own check",
                CASE,
                "class G(unittest.TestCase):\n    def assertEqual(self, a, b):\n        pass\n    def test_f(self):\n        self.assertEqual(f(), 1)\n",
            ),
            (
                "own failure",
                CASE,
                "class G(unittest.TestCase):\n    failureException = KeyError\n    def test_f(self):\n        self.assertEqual(f(), 1)\n",
            ),
            (
                "own run",
                CASE,
                "class G(unittest.TestCase):\n    def run(self, result=None):\n        return result\n    def test_f(self):\n        self.assertEqual(f(), 1)\n",
            ),
            (
                "coroutine that nobody waits for",
                "class G(unittest.IsolatedAsyncioTestCase):\n    async def test_f(self):\n        assert f()\n",
                "class G(unittest.TestCase):\n    async def test_f(self):\n        assert f()\n",
            ),
        ],
    );
    same(&[
        ("helper that sets up", T, "def ready():\n    print(1)\ndef test_f():\n    ready()\n    assert f()\n"),
        (
            "decorator that logs",
            T,
            "def log(f):\n    def run():\n        print(1)\n        return f()\n    return run\n@log\ndef test_f():\n    assert f()\n",
        ),
        (
            "decorator that raises again",
            T,
            "def log(f):\n    def run():\n        try:\n            return f()\n        except Exception:\n            print(1)\n            raise\n    return run\n@log\ndef test_f():\n    assert f()\n",
        ),
        (
            "decorator that cleans up",
            T,
            "def log(f):\n    def run():\n        try:\n            return f()\n        finally:\n            print(1)\n    return run\n@log\ndef test_f():\n    assert f()\n",
        ),
        ("decorator that registers", T, "def log(f):\n    ALL.append(f)\n    return f\n@log\ndef test_f():\n    assert f()\n"),
        (
            "run that goes on",
            CASE,
            "class G(unittest.TestCase):\n    def run(self, result=None):\n        return super().run(result)\n    def test_f(self):\n        self.assertEqual(f(), 1)\n",
        ),
        (
            "more checks",
            CASE,
            "class G(unittest.TestCase):\n    def assertOdd(self, a):\n        assert a % 2\n    def test_f(self):\n        self.assertEqual(f(), 1)\n",
        ),
    ]);
}

#[test]
fn marks_decorators_and_helpers_of_other_modules_act_too() {
    let test =
        |import: &str, head: &str, body: &str| format!("from tests.more import {import}\n{head}def test_f():\n{body}    assert f()\n");
    let plain = test("x", "", "");
    for (name, more, patch, rules) in [
        ("mark", "import pytest\nlater = pytest.mark.skip(reason='x')\n", test("later", "@later\n", ""), &[Rule::TestDisabled][..]),
        (
            "decorator",
            "def calm(f):\n    def run():\n        try:\n            f()\n        except Exception:\n            return\n    return run\n",
            test("calm", "@calm\n", ""),
            &[Rule::TestDisabled],
        ),
        ("helper", "import pytest\ndef later():\n    pytest.skip('x')\n", test("later", "", "    later()\n"), &[Rule::TestDisabled]),
        ("honest decorator", "def log(f):\n    def run():\n        return f()\n    return run\n", test("log", "@log\n", ""), &[]),
        ("honest helper", "def ready():\n    print(1)\n", test("ready", "", "    ready()\n"), &[]),
    ] {
        let of = |text: &str| broken(&[("tests/test_a.py", &plain)], &[("tests/test_a.py", text), ("tests/more.py", more)]);
        assert_eq!(of(&patch), rules, "{name}");
    }
}

#[test]
fn tests_that_statements_take_out_are_removed() {
    weaken_removed(&[
        ("del", "def test_f():\n    assert f()\ndel test_f\n"),
        ("None", "def test_f():\n    assert f()\ntest_f = None\n"),
        ("lambda", "def test_f():\n    assert f()\ntest_f = lambda: None\n"),
        ("globals", "def test_f():\n    assert f()\nglobals().pop('test_f')\n"),
        ("globals assigned", "def test_f():\n    assert f()\nglobals()['test_f'] = None\n"),
        ("if False", "if False:\n    def test_f():\n        assert f()\n"),
    ]);
    let class = "class TestG:\n    def test_f(self):\n        assert f()\n";
    for (name, after) in [
        ("shadowed", "class TestG:\n    def test_g(self):\n        assert 1 in h()\n"),
        ("del of a method", "del TestG.test_f\n"),
        ("delattr", "delattr(TestG, 'test_f')\n"),
        ("class None", "TestG = None\n"),
    ] {
        assert!(gone(class, &format!("{class}{after}")), "{name}");
    }
    assert!(!gone(class, &format!("if N:\n    class TestG:\n        pass\n{class}")), "the last one stays");
    assert!(!gone(T, &format!("{T}got = None\ndel got\n")), "another name");
}

fn weaken_removed(table: &[(&str, &str)]) {
    for (name, patch) in table {
        assert!(gone(T, patch), "{name}");
    }
}

fn gone(base: &str, patch: &str) -> bool {
    broken(&[("tests/test_a.py", base)], &[("tests/test_a.py", patch)]).contains(&Rule::PropertyRemoved)
}

#[test]
fn what_module_statements_and_dictionaries_replace_is_replaced() {
    let base = "def test_f(monkeypatch):\n    assert order_total([]) == 0\n";
    weaken(
        Rule::SubjectPatched,
        &[
            ("class attribute", base, "Cart.total = lambda self: 0\ndef test_f(monkeypatch):\n    assert order_total([]) == 0\n"),
            ("setattr", base, "setattr(Cart, 'total', lambda self: 0)\ndef test_f(monkeypatch):\n    assert order_total([]) == 0\n"),
            (
                "globals",
                base,
                "def test_f(monkeypatch):\n    monkeypatch.setitem(globals(), 'order_total', lambda x: 0)\n    assert order_total([]) == 0\n",
            ),
            (
                "what it sees",
                base,
                "@mock.patch.dict(order_total.__globals__, {'sum': len})\ndef test_f(monkeypatch):\n    assert order_total([]) == 0\n",
            ),
            (
                "object of a fixture",
                "@pytest.fixture\ndef cart():\n    cart = Cart()\n    cart.add(1)\n    return cart\ndef test_f(cart):\n    assert cart.total() == 0\n",
                "@pytest.fixture\ndef cart():\n    cart = Cart()\n    cart.add(1)\n    return cart\ndef test_f(cart):\n    cart.total = lambda: 0\n    assert cart.total() == 0\n",
            ),
            (
                "in the place of a fixture's",
                "@pytest.fixture\ndef cart():\n    return Cart()\ndef test_f(cart):\n    assert cart.total() == 0\n",
                "@pytest.fixture\ndef cart():\n    return Cart()\ndef test_f(cart):\n    cart = mock.MagicMock()\n    assert cart.total() == 0\n",
            ),
        ],
    );
    same(&[
        ("environment", base, "def test_f(monkeypatch):\n    monkeypatch.setitem(os.environ, 'A', '1')\n    assert order_total([]) == 0\n"),
        ("own object", base, "def test_f(monkeypatch):\n    got = lambda: 0\n    assert order_total([]) == 0\n"),
    ]);
}

#[test]
fn a_fixed_seed_a_profile_of_the_module_and_settings_applied_later_try_less() {
    weaken(
        Rule::BudgetLowered,
        &[
            ("seed", P, "from hypothesis import seed\n@seed(1)\n@given(a=st.integers(0, 9))\ndef test_f(a):\n    assert f(a)\n"),
            (
                "applied later",
                P,
                "@given(a=st.integers(0, 9))\ndef test_f(a):\n    assert f(a)\ntest_f = settings(max_examples=1)(test_f)\n",
            ),
            (
                "profile",
                P,
                "settings.register_profile('q', max_examples=1)\nsettings.load_profile('q')\n@given(a=st.integers(0, 9))\ndef test_f(a):\n    assert f(a)\n",
            ),
        ],
    );
    let wrapped = "@given(a=st.integers(0, 9))\ndef test_f(a):\n    assert f(a)\ntest_f = settings(max_examples=100)(test_f)\n";
    assert_eq!(broken(&[("tests/test_a.py", P)], &[("tests/test_a.py", wrapped)]), [], "as many as before");
}
