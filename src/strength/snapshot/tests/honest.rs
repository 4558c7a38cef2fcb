//! Owns the tests of changes that lose nothing: each stands beside a twin that looks like it and does lose something.

use crate::strength::delta::{Code, compare_beside};
use crate::strength::snapshot::tests::World;
use crate::strength::snapshot::{defines, signature, stands_for};
use crate::tree::RepoPath;

const HEAD: &str = "import sys, platform, pytest\nfrom collections import abc\nfrom hypothesis import given, strategies as st\nfrom shop.total import order_total, build, Cart, RATES\n";
const PRODUCTION: &str = "RATES = [1]\ndef order_total(items, *, currency, tax=0, rounded=False): pass\ndef build(name, size, color=False): pass\nclass Cart:\n    def __init__(self, owner, limit, *, vip=False): pass\n";

/// Name, the base, a change of it that loses nothing, and one that loses something.
type Twins<'t> = (&'t str, &'t str, &'t str, &'t str);

/// What going from one text of the file to another loses.
fn lost(base: &str, patch: &str) -> Vec<String> {
    lost_beside([base, patch], [PRODUCTION, PRODUCTION])
}

/// The same with other code beside each of them.
fn lost_beside([base, patch]: [&str; 2], [before, after]: [&str; 2]) -> Vec<String> {
    let world = |text: &str, code: &str| World::new(&[("tests/test_a.py", &format!("{HEAD}{text}")), ("src/shop/total.py", code)]);
    let (base, patch) = (world(base, before), world(patch, after));
    let known = |name: &str, path: &str| signature(name, &RepoPath::new(path), &patch);
    let defined = |name: &str, path: &str| {
        let path = RepoPath::new(path);
        Some([defines(name, &path, &base)?, defines(name, &path, &patch)?])
    };
    let led = |name: &str, path: &str, side: usize| stands_for(name, &RepoPath::new(path), if side == 0 { &base } else { &patch });
    let code = Code { signature: &known, defines: &defined, stands_for: &led };
    let delta = compare_beside(&base.cards("tests/test_a.py"), &patch.cards("tests/test_a.py"), &[], &code);
    delta.moves.into_iter().flat_map(|change| change.losses).map(|loss| loss.says).collect()
}

fn twins(table: &[Twins<'_>]) {
    for (name, base, honest, weaker) in table {
        assert_eq!(lost(base, honest), [""; 0], "{name}");
        assert_ne!(lost(base, weaker), [""; 0], "the weaker twin of {name}");
    }
}

#[test]
fn a_name_stands_for_what_it_was_bound_to_last() {
    twins(&[
        (
            "a name that is bound again later",
            "def test_f():\n    got = build(1, 2)\n    assert got == 3\n",
            "def test_f():\n    got = build(1, 2)\n    assert got == 3\n    got = build(2, 2)\n    assert got == 4\n",
            "def test_f():\n    got = 3\n    assert got == 3\n    got = build(2, 2)\n    assert got == 4\n",
        ),
        (
            "a value made of the one before",
            "def test_f():\n    got = build(1, 2)\n    assert got.strip() == 'a'\n",
            "def test_f():\n    got = build(1, 2)\n    got = got.strip()\n    assert got == 'a'\n",
            "def test_f():\n    got = build(1, 2)\n    got = 'a'\n    assert got == 'a'\n",
        ),
        (
            "a value of a branch",
            "def test_f(a):\n    got = build(1, 2)\n    assert got == 3\n",
            "def test_f(a):\n    got = build(1, 2)\n    assert got == 3\n    if a:\n        got = build(2, 2)\n        assert got == 4\n",
            "def test_f(a):\n    got = build(1, 2)\n    if a:\n        got = 3\n    assert got == 3\n",
        ),
        (
            "a value of a loop",
            "def test_f(a):\n    got = build(1, 2)\n    assert got == 3\n",
            "def test_f(a):\n    got = build(1, 2)\n    assert got == 3\n    for n in a:\n        got = build(n, 2)\n",
            "def test_f(a):\n    got = build(1, 2)\n    for n in a:\n        got = 3\n        break\n    assert got == 3\n",
        ),
        (
            "what is counted up",
            "def test_f():\n    got = build(1, 2)\n    assert got == 3\n",
            "def test_f():\n    got = build(1, 2)\n    assert got == 3\n    got += 1\n    assert got == 4\n",
            "def test_f():\n    got = build(1, 2)\n    got -= got - 3\n    assert got == 3\n",
        ),
    ]);
}

#[test]
fn an_argument_may_be_added_where_the_call_is_tried_with_all_its_values_or_cannot_be_made_without() {
    let drawn = |flag: &str, call: &str| format!("@given(n=st.integers(0, 9){flag})\ndef test_f(n, flag=0):\n    assert {call} == 3\n");
    let base = drawn("", "build(n, 2)");
    twins(&[
        (
            "a flag",
            &base,
            &drawn(", flag=st.booleans()", "build(n, 2, color=flag)"),
            &drawn(", flag=st.booleans()", "build(n, 2, color=False)"),
        ),
        (
            "a flag of half a domain",
            &base,
            &drawn(", flag=st.sampled_from([True, False])", "build(n, 2, color=flag)"),
            &drawn(", flag=st.just(False)", "build(n, 2, color=flag)"),
        ),
    ]);
    let known = |call: &str| drawn(", flag=st.booleans()", call);
    twins(&[(
        "a flag whose default is one",
        &drawn("", "order_total([n], currency='EUR')"),
        &known("order_total([n], currency='EUR', rounded=flag)"),
        &known("order_total([n], currency='EUR', tax=flag)"),
    )]);
    let rows =
        |rows: &str, call: &str| format!("@pytest.mark.parametrize('n', [1, 2])\n{rows}def test_f(n, flag=0):\n    assert {call} == 3\n");
    let flags = |values: &str| format!("@pytest.mark.parametrize('flag', {values})\n");
    twins(&[(
        "a flag in a table",
        &rows("", "build(n, 2)"),
        &rows(&flags("[True, False]"), "build(n, 2, color=flag)"),
        &rows(&flags("[False]"), "build(n, 2, color=flag)"),
    )]);
    let checked = |call: &str| format!("def test_f():\n    assert {call} == 3\n");
    twins(&[
        ("by place", &checked("build('a')"), &checked("build('a', 2)"), &checked("build('a', 2, 'red')")),
        ("by name", &checked("order_total([1])"), &checked("order_total([1], currency='EUR')"), &checked("order_total([1], tax=5)")),
        (
            "of a class, inside another call",
            &checked("len(Cart('me'))"),
            &checked("len(Cart('me', 5))"),
            &checked("len(Cart('me', vip=True))"),
        ),
        ("another value too", &checked("build('a')"), &checked("build('a', 2)"), &checked("build('b', 2)")),
    ]);
    let raised = |call: &str| format!("def test_f():\n    with pytest.raises(TypeError):\n        {call}\n");
    assert_ne!(lost(&raised("build('a')"), &raised("build('a', 2)")), [""; 0], "what lacks an argument raises just that");
}

#[test]
fn a_row_of_one_name_in_a_list_of_names_holds_the_value() {
    let table = |rows: &str| format!("@pytest.mark.parametrize({rows})\ndef test_f(a):\n    assert a\n");
    twins(&[
        ("taken out of tuples", &table("['a'], [('x',), (b'y',)]"), &table("'a', ['x', b'y']"), &table("'a', ['x', 'y']")),
        ("a parameter", &table("['a'], [pytest.param('x')]"), &table("'a', ['x']"), &table("'a', [('x',)]")),
        ("sorted", &table("'a', RATES"), &table("'a', sorted(RATES)"), &table("'a', sorted(RATES)[1:]")),
        ("a lambda that passes on", &table("'a', [lambda v: build(v)]"), &table("'a', [build]"), &table("'a', [lambda v: build(1)]")),
        (
            "a dictionary spelt as a call",
            &table("'a', [dict(x=1, y=(2,))]"),
            &table("'a', [{'x': 1, 'y': (2,)}]"),
            &table("'a', [{'x': 1}]"),
        ),
        ("a set spelt as a call", &table("'a', [build(set([1, 2]))]"), &table("'a', [build({1, 2})]"), &table("'a', [build({1})]")),
    ]);
}

#[test]
fn what_follows_the_call_inside_raises_is_not_what_raises() {
    let block =
        |body: &str| format!("class GroupException(Exception): pass\ndef test_f():\n    with pytest.raises(GroupException) as e:\n{body}");
    twins(&[
        (
            "checks that are not reached",
            &block("        build(1, 2)\n        assert e\n"),
            &block("        build(1, 2)\n    assert e\n"),
            &block("        build(1, 3)\n    assert e\n"),
        ),
        ("a list of it", &block("        build(1, 2)\n"), &block("        list(build(1, 2))\n"), &block("        list(build(1))\n")),
    ]);
}

#[test]
fn a_condition_of_a_mark_is_told_by_what_its_name_stands_for() {
    let marked = |head: &str, when: &str| format!("{head}@pytest.mark.skipif({when}, reason='x')\ndef test_f():\n    assert build(1, 2)\n");
    let old = "platform.python_implementation() == 'PyPy'";
    twins(&[
        (
            "a constant",
            &marked("", old),
            &marked(&format!("OLD = {old}\n"), "OLD"),
            &marked(&format!("OLD = {old} or sys.platform == 'x'\n"), "OLD"),
        ),
        (
            "one condition of two",
            &marked(&format!("OLD = {old} or sys.platform == 'x'\n"), "OLD"),
            &marked(&format!("OLD = {old}\n"), "OLD"),
            &marked("OLD = sys.platform == 'y'\n", "OLD"),
        ),
        ("turned round", &marked("", "not is_new()"), &marked("NEW = is_new()\n", "not NEW"), &marked("NEW = is_new()\n", "NEW")),
    ]);
}

#[test]
fn names_that_only_moved_are_the_same_names() {
    let file = |import: &str, check: &str| format!("{import}\ndef test_f():\n    assert {check}\n");
    twins(&[
        (
            "two imports of one name",
            &file("from typing import Set\nfrom collections.abc import Set", "isinstance(build(1, 2), Set)"),
            &file("from collections.abc import Set", "isinstance(build(1, 2), Set)"),
            &file("from collections.abc import Sized", "isinstance(build(1, 2), Sized)"),
        ),
        (
            "a helper in a module of its own",
            &file("from . import order", "order(1) == build(1, 2)"),
            &file("from .helpers import order", "order(1) == build(1, 2)"),
            &file("from .helpers import order_total", "order_total(1) == build(1, 2)"),
        ),
        (
            "a package of nearly the same name",
            &file("import wares, waress", "wares.make(1) == 2 and waress.two() == 3"),
            &file("import waress", "waress.make(1) == 2 and waress.two() == 3"),
            &file("import waress", "waress.made(1) == 2 and waress.two() == 3"),
        ),
        (
            "a keyword of one function",
            &file("", "build(1, hash=True) == 2 and other(hash=1) == 3"),
            &file("", "build(1, unsafe_hash=True) == 2 and other(hash=1) == 3"),
            &file("", "build(1, quick=True) == 2 and other(hash=1) == 3"),
        ),
    ]);
    let local = "def order_total(items):\n    return 30\n";
    let check = "def test_f():\n    assert order_total([1], currency='EUR') == 30\n";
    assert_ne!(lost(check, &format!("{local}{check}")), [""; 0], "a name of the file in the place of an import");
}

#[test]
fn a_generator_is_compared_by_what_it_leans_on() {
    let file = |low: &str, helper: &str| {
        format!(
            "def part(n):\n    return st.integers(0, {low})\ndef many():\n    return part(1) | part(2)\ndef grow(base):\n    {helper}\n    \
             return [base, many()]\nNESTED = st.recursive(st.none(), grow)\n@given(NESTED)\ndef test_f(a):\n    assert a\n"
        )
    };
    twins(&[("what stands behind it", &file("9", "pass"), &file("10", "pass"), &file("8", "pass"))]);
    assert_ne!(lost(&file("9", "pass"), &file("10", "base = 1")), [""; 0], "its own body");
    let choice = |parts: &str| format!("@given({parts})\ndef test_f(a):\n    assert a\n");
    twins(&[(
        "one of all",
        &choice("st.sampled_from(list(abc.Kinds))"),
        &choice("st.one_of(st.just(k) for k in abc.Kinds)"),
        &choice("st.one_of(st.just(k) for k in abc.Kinds if k)"),
    )]);
}

#[test]
fn a_composite_may_draw_more_and_pass_it_on() {
    let made = |body: &str| format!("@st.composite\ndef orders(draw, flag=False):\n{body}@given(orders())\ndef test_f(a):\n    assert a\n");
    let base = made("    n = draw(st.integers(0, 9))\n    return Order(n, draw(st.text()))\n");
    twins(&[
        (
            "one more field",
            &base,
            &made("    n = draw(st.integers(0, 9))\n    return Order(n, draw(st.text()), draw(st.booleans()))\n"),
            &made("    n = draw(st.integers(0, 9))\n    return Order(n, draw(st.text()), False)\n"),
        ),
        (
            "under a condition",
            &base,
            &made(
                "    n = draw(st.integers(0, 9))\n    vip = draw(st.booleans()) if flag else None\n    return Order(n, draw(st.text()), vip=vip)\n",
            ),
            &made("    n = draw(st.integers(0, 9))\n    n = draw(st.booleans()) if flag else None\n    return Order(n, draw(st.text()))\n"),
        ),
        (
            "what it drew is narrower",
            &base,
            &made("    n = draw(st.integers(0, 10))\n    return Order(n, draw(st.text()), draw(st.booleans()))\n"),
            &made("    n = draw(st.integers(0, 8))\n    return Order(n, draw(st.text()), draw(st.booleans()))\n"),
        ),
        (
            "one value alone",
            &base,
            &made("    n = draw(st.integers(0, 9))\n    return Order(n, draw(st.text()), draw(st.sampled_from([1, 2])))\n"),
            &made("    n = draw(st.integers(0, 9))\n    return Order(n, draw(st.text()), draw(st.just(1)))\n"),
        ),
    ]);
    let inner = |defs: &str, back: &str| {
        format!(
            "def grow(base):\n    def one(x):\n        return [x]\n{defs}    return st.one_of(base.map(one){back})\n@given(grow(st.integers()))\ndef test_f(a):\n    assert a\n"
        )
    };
    twins(&[(
        "another way to make it",
        &inner("", ""),
        &inner("    def two(x):\n        return [x, x]\n", ", base.map(two)"),
        &inner("    def one(x):\n        return [0]\n", ""),
    )]);
}

#[test]
fn a_text_that_is_formatted_is_one_thing_however_it_is_spelt() {
    twins(&[
        (
            "an f-string",
            "def test_f(a):\n    assert build(a, 1) == '<{a!r} {n}>'.format(a=a, n=order_total(a))\n",
            "def test_f(a):\n    assert build(a, 1) == f'<{a!r} {order_total(a)}>'\n",
            "def test_f(a):\n    assert build(a, 1) == f'<{a!r} {order_total(a)}'\n",
        ),
        (
            "places by number",
            "def test_f(a):\n    assert build(a, 1) == '{0}-{1:>3}'.format(a, RATES)\n",
            "def test_f(a):\n    assert build(a, 1) == f'{a}-{RATES:>3}'\n",
            "def test_f(a):\n    assert build(a, 1) == f'{a}-{RATES:>4}'\n",
        ),
        (
            "an attribute by its name",
            "def test_f(a):\n    assert getattr(build(a, 1), 'size') == 3\n",
            "def test_f(a):\n    assert build(a, 1).size == 3\n",
            "def test_f(a):\n    assert build(a, 1).width == 3\n",
        ),
        (
            "bytes of a text",
            "def test_f():\n    assert build('Hello'.encode('ascii'), 1) == 3\n",
            "def test_f():\n    assert build(b'Hello', 1) == 3\n",
            "def test_f():\n    assert build(b'Hallo', 1) == 3\n",
        ),
        (
            "a part of a list",
            "def test_f(a):\n    assert build(a, order_total(a)[0]) == 3\n",
            "def test_f(a):\n    assert build(a, list(order_total(a))[0]) == 3\n",
            "def test_f(a):\n    assert build(a, list(order_total(a))[1]) == 3\n",
        ),
    ]);
}

#[test]
fn a_choice_is_one_thing_however_it_is_spelt() {
    twins(&[
        (
            "branches that only bind",
            "def test_f(a):\n    if a:\n        got = build(a, 1)\n    else:\n        got = build(2, 2)\n    assert got == 3\n",
            "def test_f(a):\n    got = build(a, 1) if a else build(2, 2)\n    assert got == 3\n",
            "def test_f(a):\n    got = build(a, 1) if a else 3\n    assert got == 3\n",
        ),
        (
            "contexts in one line",
            "def test_f(a):\n    with pytest.raises(ValueError):\n        with build(a, 1):\n            assert a\n            order_total(a)\n",
            "def test_f(a):\n    with pytest.raises(ValueError), build(a, 1):\n        assert a\n        order_total(a)\n",
            "def test_f(a):\n    with pytest.raises(ValueError), build(a, 1):\n        assert a\n        order_total(0)\n",
        ),
    ]);
}

#[test]
fn a_list_of_cases_may_be_written_out() {
    twins(&[
        (
            "rows as assertions",
            "@pytest.mark.parametrize('n, want', [(1, 2), (2, 4)])\ndef test_f(n, want):\n    assert build(n, 1) == want\n",
            "def test_f():\n    assert build(1, 1) == 2\n    assert build(2, 1) == 4\n",
            "def test_f():\n    assert build(1, 1) == 2\n    assert build(1, 1) == 2\n",
        ),
        (
            "rows of a loop",
            "def test_f():\n    for n in [1, 2]:\n        assert build(n, 1) == 3\n",
            "def test_f():\n    assert build(1, 1) == 3\n    assert build(2, 1) == 3\n",
            "def test_f():\n    for m in [1, 2][:1]:\n        assert build(m, 1) == 3\n",
        ),
        (
            "a row whose argument is gone",
            "@pytest.mark.parametrize('cls', [Cart])\ndef test_f(cls):\n    assert cls(1, 2).size == 3\n",
            "def test_f():\n    assert Cart(1, 2).size == 3\n",
            "def test_f():\n    assert Cart(1, 1).size == 3\n",
        ),
        (
            "rows that a fixture gives",
            "@pytest.mark.parametrize('on', [True, False])\ndef test_f(on):\n    assert build(1, 2) == 3\n",
            "@pytest.fixture(params=[True, False])\ndef both(request):\n    yield\n@pytest.mark.usefixtures('both')\ndef test_f():\n    assert build(1, 2) == 3\n",
            "@pytest.fixture(params=[True])\ndef both(request):\n    yield\n@pytest.mark.usefixtures('both')\ndef test_f():\n    assert build(1, 2) == 3\n",
        ),
    ]);
}

#[test]
fn a_name_that_the_code_gave_up_for_another_is_renamed() {
    let with = |name: &str| PRODUCTION.replace("def build(", &format!("def {name}("));
    let test = |name: &str| {
        format!(
            "from shop import total\ndef test_f():\n    assert total.{name}(1, 2) == 3\n    with pytest.raises(ValueError):\n        total.{name}(0, 0)\n"
        )
    };
    assert_eq!(lost_beside([&test("build"), &test("form")], [PRODUCTION, &with("form")]), [""; 0]);
    let both = format!("{PRODUCTION}def form(name, size): pass\n");
    for (what, before, after) in [
        ("the old one stays", PRODUCTION, both.as_str()),
        ("the new one was there", both.as_str(), &with("form")),
        ("nothing moved", PRODUCTION, PRODUCTION),
    ] {
        assert_ne!(lost_beside([&test("build"), &test("form")], [before, after]), [""; 0], "{what}");
    }
}

#[test]
fn a_generator_may_draw_what_it_gave() {
    let composite = |body: &str| {
        format!(
            "@st.composite\ndef carts(draw):\n    n = draw(st.integers())\n{body}@given(carts())\ndef test_f(c):\n    assert build(c, 1) == 3\n"
        )
    };
    let base = composite("    return Cart(n, kind=list[int])\n");
    for (name, honest) in [
        ("a choice in its place", "    return Cart(n, kind=list[int] if draw(st.booleans()) else list)\n"),
        ("a draw in its place", "    return Cart(n, kind=draw(st.sampled_from([list, list[int]])))\n"),
        ("a draw with a name", "    kind = draw(st.sampled_from([list, list[int]]))\n    return Cart(n, kind=kind)\n"),
    ] {
        assert_eq!(lost(&base, &composite(honest)), [""; 0], "{name}");
    }
    for (name, weaker) in [
        ("another value", "    return Cart(n, kind=list)\n"),
        ("a draw of others", "    return Cart(n, kind=draw(st.sampled_from([list, dict])))\n"),
        ("less of the rest", "    return Cart(0, kind=draw(st.sampled_from([list, list[int]])))\n"),
        ("a condition", "    assume(n > 3)\n    return Cart(n, kind=draw(st.sampled_from([list, list[int]])))\n"),
    ] {
        assert_ne!(lost(&base, &composite(weaker)), [""; 0], "{name}");
    }
    let tossed = composite("    return Cart(n, kind=list[int] if draw(st.booleans()) else list)\n");
    assert_ne!(lost(&tossed, &base), [""; 0], "a choice that is gone");
    assert_eq!(lost(&tossed, &composite("    return Cart(n, kind=draw(st.sampled_from([dict, list, list[int]])))\n")), [""; 0]);
}

#[test]
fn a_list_under_a_condition_holds_what_both_branches_hold() {
    let test = |list: &str| format!("@given(st.{list})\ndef test_f(c):\n    assert build(c, 1) == 3\n");
    let base = test("sampled_from([1, 2])");
    assert_eq!(lost(&base, &test("sampled_from([1, 2, 3] if sys.platform == 'linux' else [1, 2])")), [""; 0]);
    assert_ne!(lost(&base, &test("sampled_from([1, 2, 3] if sys.platform == 'linux' else [1])")), [""; 0]);
    assert_ne!(lost(&test("sampled_from([1, 2, 3] if sys.platform == 'linux' else [1])"), &base), [""; 0]);
}

#[test]
fn a_test_without_assertions_that_several_could_continue_is_compared() {
    let class = |name: &str, call: &str| {
        format!("class {name}:\n    def test_f(self):\n        with pytest.raises(ValueError):\n            {call}\n")
    };
    let base = class("TestBuild", "build(0, 0)");
    let split = format!("{}{}", class("TestBuildSmall", "build(0, 0)"), class("TestBuildLarge", "build(9, 9)"));
    assert_eq!(lost(&base, &split), [""; 0]);
    let other = format!("{}{}", class("TestBuildSmall", "build(1, 1)"), class("TestBuildLarge", "build(9, 9)"));
    assert_ne!(lost(&base, &other), [""; 0]);
}

#[test]
fn a_name_that_a_module_passes_on_is_the_one_that_it_imports() {
    let code = format!("from collections import OrderedDict as Sorted\nKind = Sorted\n{PRODUCTION}");
    let test = |name: &str| format!("import collections, shop.total\ndef test_f():\n    assert build(1, 2) == {{{name}: 1}}\n");
    let lost = |was: &str, now: &str| lost_beside([&test(was), &test(now)], [&code, &code]);
    for was in ["shop.total.Sorted", "shop.total.Kind"] {
        assert_eq!(lost(was, "collections.OrderedDict"), [""; 0], "{was}");
        assert_ne!(lost(was, "collections.Counter"), [""; 0], "{was}");
    }
    assert_ne!(lost("shop.total.Sorted", "shop.total.Cart"), [""; 0]);
}

#[test]
fn what_is_lost_more_than_once_is_told_once() {
    let test = |check: &str| format!("def test_f():\n{}", format!("    assert build(1, 2){check}\n").repeat(3));
    let told = lost(&test(" == 3"), &test(""));
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(told[0].ends_with(", 3 times"), "{told:?}");
}
