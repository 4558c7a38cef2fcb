use std::collections::BTreeSet;

use crate::strength::delta::names::Names;
use crate::strength::delta::oracle::{Kind, Oracle, normal};
use crate::strength::delta::weigh::{Weight, weigh};

fn kinds(text: &str) -> Vec<Kind> {
    Oracle::read(&normal(text)).iter().map(|o| o.kind).collect()
}

#[test]
fn each_condition_has_its_kind() {
    let table: [(&str, &[Kind]); 40] = [
        ("f(1) == 2", &[Kind::Exact]),
        ("2 == f(1)", &[Kind::Exact]),
        ("f(1) is None", &[Kind::Exact]),
        ("not f(1) != 2", &[Kind::Exact]),
        ("f(1) == 2 and g() > 0", &[Kind::Exact, Kind::Bound]),
        ("0 < f(1) < 9", &[Kind::Bound, Kind::Bound]),
        ("f(1) in (1, 2)", &[Kind::Member]),
        ("'a' in f(1)", &[Kind::Member]),
        ("'a' not in f(1)", &[Kind::Bound]),
        ("f(1) == pytest.approx(2.0)", &[Kind::Tolerance]),
        ("pytest.approx(2.0, rel=0.5) == f(1)", &[Kind::Tolerance]),
        ("abs(f(1) - 2.0) < 1e-6", &[Kind::Tolerance]),
        ("1e-6 > abs(f(1) - 2.0)", &[Kind::Tolerance]),
        ("round(f(1), 2) == 2.0", &[Kind::Tolerance]),
        ("math.isclose(f(1), 2.0, rel_tol=0.1)", &[Kind::Tolerance]),
        ("self.assertAlmostEqual(f(1), 2.0, places=3)", &[Kind::Tolerance]),
        ("numpy.testing.assert_allclose(f(1), x)", &[Kind::Tolerance]),
        ("numpy.testing.assert_array_equal(f(1), x)", &[Kind::Exact]),
        ("m.assert_called_once_with(1, 2)", &[Kind::Exact]),
        ("m.assert_called()", &[Kind::Shape]),
        ("f(1) >= 0", &[Kind::Bound]),
        ("isinstance(f(1), int)", &[Kind::Shape]),
        ("f(1) is not None", &[Kind::Shape]),
        ("f(1)", &[Kind::Shape]),
        ("not f(1)", &[Kind::Shape]),
        ("f(1) or g()", &[Kind::Either]),
        ("not (f(1) and g())", &[Kind::Either]),
        ("not (f(1) or g())", &[Kind::Shape, Kind::Shape]),
        ("f(1) == 2 or True", &[Kind::Vacuous]),
        ("f(1) == 2 or f(1) != 2", &[Kind::Vacuous]),
        ("True", &[Kind::Vacuous]),
        ("'text'", &[Kind::Vacuous]),
        ("(f(1) == 2, 'message')", &[Kind::Vacuous]),
        ("f(1) == f(1)", &[Kind::Vacuous]),
        ("str(1) == '1'", &[Kind::Vacuous]),
        ("all((f(_0) for _0 in []))", &[Kind::Vacuous]),
        ("all([])", &[Kind::Vacuous]),
        ("len(f(1)) >= 0", &[Kind::Vacuous]),
        ("False", &[Kind::Shape]),
        ("with raises(ValueError, match='no'): f(1)", &[Kind::Raises]),
    ];
    for (text, wanted) in table {
        assert_eq!(kinds(text), wanted, "{text}");
    }
}

fn weight(base: &str, patch: &str) -> Option<bool> {
    let (base, patch) = (Oracle::read(&normal(base)).remove(0), Oracle::read(&normal(patch)).remove(0));
    let names =
        Names { went: BTreeSet::from(["got"]), came: BTreeSet::from(["result"]), own: BTreeSet::from(["cart"]), ..Names::default() };
    weigh(&base, &patch, &names).map(|weight| weight == Weight::Held)
}

#[test]
fn a_condition_that_says_as_much_holds_the_other() {
    for (base, patch) in [
        ("f(1) == 0", "f(1) == 0.0"),
        ("f(1) == 2", "2 == f(1)"),
        ("f(x) == g(x)", "g(x) == f(x)"),
        ("f(x) < g(x)", "g(x) > f(x)"),
        ("got >= 0", "result >= 0"),
        ("asyncio.run(f(1)) == 2", "await f(1) == 2"),
        ("f(1) >= 0", "f(1) == 5"),
        ("f(1) >= 0", "f(1) > 0"),
        ("f(1) < 9", "f(1) < 5"),
        ("f(1) in (1, 2, 3)", "f(1) in (1, 2)"),
        ("f(1) in (1, 2)", "f(1) == 2"),
        ("'a' in f(1)", "f(1) == 'cab'"),
        ("f(1) == pytest.approx(2.0)", "f(1) == pytest.approx(2.0, rel=1e-9)"),
        ("self.assertAlmostEqual(f(1), 2.0)", "f(1) == 2.0"),
        ("len(f(1)) == 3", "f(1) == [1, 2, 3]"),
        ("f(1)['a'] == 3", "f(1) == {'a': 3}"),
        ("f(1).name == 'x'", "f(1) == Thing('x')"),
        ("f(1) == [1]", "list(f(1)) == [1]"),
        ("f(1) is True", "f(1)"),
        ("f(1) == False", "not f(1)"),
        ("f(1) or g()", "g() or f(1)"),
        ("f(1) or g()", "f(1)"),
        ("f(1) is not None", "isinstance(f(1), int)"),
        ("isinstance(f(1), (int, str))", "isinstance(f(1), int)"),
        ("pack.old.f(1) == 2", "pack.new.f(1) == 2"),
        ("f(typing.List[int]) == 2", "f(list[int]) == 2"),
        ("all((g(_0) for _0 in [1, 2]))", "all((g(_0) for _0 in [1, 2, 3]))"),
        ("with raises(ValueError): f(1)", "with raises(ValueError, match='no'): f(1)"),
        ("with raises(Exception): f(1)", "with raises(ValueError): f(1)"),
        ("with raises((KeyError, ValueError)): f(1)", "with raises(KeyError): f(1)"),
        ("with raises(ValueError, match='no'): f(1)", "with raises(ValueError, match='no way'): f(1)"),
        ("m.assert_called()", "m.assert_called_once_with(1)"),
        ("f(1) == g(2)", "list(f(1)) == list(g(2))"),
        ("C(x=1) == C(x=2)", "C(x=2) == C(x=1)"),
        ("with raises(ValueError, match='no such thing'): f(1)", "with raises(ValueError, match='thing not known'): f(1)"),
        ("str(e.value) == 'no such thing here'", "str(e.value) == 'nothing of that name'"),
        ("('no such thing here',) == e.value.args", "('no such thing here: x',) == e.value.args"),
        ("'no such thing' in str(e)", "'no such thing' in str(e.value)"),
        ("with raises(ValueError, match='no way.'): f(1)", "with raises(ValueError, match='no way'): f(1)"),
        ("with raises(ValueError): f(1)", "with raises(ValueError): list(f(1))"),
        ("f(1)", "len(f(1)) == 2"),
        ("f(1)", "0 < len(f(1))"),
        ("not f(1)", "len(f(1)) == 0"),
        ("len(f(1)) == 1", "len(list(f(1))) == 1"),
        (".f(1) == 2", ".helpers.f(1) == 2"),
    ] {
        assert_eq!(weight(base, patch), Some(true), "{base} -> {patch}");
    }
}

#[test]
fn a_condition_that_says_less_of_the_same_subject_is_weaker() {
    for (base, patch) in [
        ("f(1) == 2", "f(1) == 3"),
        ("f(1) == 2", "f(1) in (2, 3)"),
        ("f(1) == 2", "f(1) == pytest.approx(2)"),
        ("f(1) == 2", "round(f(1), -2) == 0"),
        ("f(1) == 2", "f(1) >= 0"),
        ("f(1) == 2", "isinstance(f(1), int)"),
        ("f(1) == 2", "f(1)"),
        ("f(1) == 2", "f(1) == compute(1)"),
        ("f(1) == 2", "f(1) == LIMIT"),
        ("f(1) == x * 2", "f(1) == x * 3"),
        ("f(1) == x", "f(1) == f(x)"),
        ("f(1) == 2", "f(1) == 2 or g()"),
        ("f(1) or g()", "f(1) or g() or h()"),
        ("f(1) in (1, 2)", "f(1) in (1, 2, 3)"),
        ("f(1) in (1, 2)", "f(1) == 7"),
        ("f(1) > 0.3", "f(1) > 0.25"),
        ("f(1) > 0", "f(1) >= 0"),
        ("f(1) > 0", "f(1) < 0"),
        ("f(1) > 3", "f(1) == 2"),
        ("f(1) == pytest.approx(27.5, rel=1e-9)", "f(1) == pytest.approx(27.5, rel=0.5)"),
        ("f(1) == pytest.approx(27.5, rel=1e-9)", "f(1) == pytest.approx(27.5, abs=10)"),
        ("abs(f(1) - x) < 1e-6", "abs(f(1) - x) < 10"),
        ("math.isclose(f(1), 2.0)", "math.isclose(f(1), 2.0, abs_tol=1)"),
        ("self.assertAlmostEqual(f(1), 2.0)", "self.assertAlmostEqual(f(1), 2.0, places=1)"),
        ("self.assertAlmostEqual(f(1), 2.0)", "self.assertAlmostEqual(f(1), 2.0, delta=1)"),
        ("numpy.testing.assert_allclose(f(1), x)", "numpy.testing.assert_allclose(f(1), x, rtol=0.5)"),
        ("with raises(ValueError): f(1)", "with raises(Exception): f(1)"),
        ("with raises(ValueError): f(1)", "with raises((ValueError, KeyError)): f(1)"),
        ("with raises(ValueError, match='no'): f(1)", "with raises(ValueError): f(1)"),
        ("with raises(ValueError, match='no'): f(1)", "with raises(ValueError, match='.*'): f(1)"),
        ("with raises(ValueError, match='no way'): f(1)", "with raises(ValueError, match='no'): f(1)"),
        ("m.assert_called_once_with(1)", "m.assert_called_once_with(2)"),
        ("m.assert_called_once_with(1)", "m.assert_called()"),
        ("with raises(ValueError, match='no such thing'): f(1)", "with raises(ValueError, match='or|and|such'): f(1)"),
        ("with raises(ValueError, match='no such thing at all'): f(1)", "with raises(ValueError, match='none'): f(1)"),
        ("str(item.value) == '27.50'", "str(item.value) == '0.00'"),
        ("str(e.value) == 'no such thing here at all'", "str(e.value) == 'no value'"),
    ] {
        assert_eq!(weight(base, patch), Some(false), "{base} -> {patch}");
    }
}

#[test]
fn conditions_on_different_subjects_say_nothing_of_each_other() {
    for (base, patch) in [
        ("f(1) == 2", "f(2) == 2"),
        ("f(1) == 2", "g(1) == 2"),
        ("f(1) == 2", "f(1) == f(1)"),
        ("'no such thing' in str(e)", "'no such thing' in str(d.value)"),
        ("f(1)", "len(f(1)) == 0"),
        ("f(1)", "len(f(1)) > -1"),
        ("not f(1)", "len(f(1)) == 2"),
        ("pack.f(1) == 2", ".pack.f(1) == 2"),
        (".old.thing.total == 2", ".new.thing.total == 2"),
        ("f(1) == 2", "len(f(1)) == 2"),
        ("cart.is_empty()", "cart.is_empty"),
        ("cart.old.total() == 2", "cart.new.total() == 2"),
        ("x < 0 or got == x", "x >= 0 or got != x"),
        ("f(1) == 2", "with raises(ValueError): f(1)"),
        ("m.assert_called()", "n.assert_called()"),
    ] {
        assert_eq!(weight(base, patch), None, "{base} -> {patch}");
    }
}
