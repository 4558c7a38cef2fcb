use crate::strength::languages::Language;
use crate::strength::mutants::Places;

fn places(text: &str) -> Places {
    Language::Python.mutants(text.as_bytes()).unwrap()
}

/// Operator, replaced text, new text of each place in a body.
fn found(body: &str) -> Vec<String> {
    let text = format!("def f(x, y):\n    {}\n", body.replace('\n', "\n    "));
    let places = places(&text);
    for site in &places.sites {
        let mutant = site.planted(text.as_bytes(), places.encoding).unwrap();
        assert!(mutant != text.as_bytes() && Language::Python.mutants(&mutant).is_ok(), "{}", String::from_utf8_lossy(&mutant));
    }
    places.sites.iter().map(|site| format!("{} {} -> {}", site.operator.name(), site.before, site.after)).collect()
}

#[test]
fn every_operator_has_its_places() {
    for (body, want) in [
        ("return x == y", &["return_value x == y -> None", "comparison == -> !="][..]),
        ("return x <= y", &["return_value x <= y -> None", "boundary <= -> <", "comparison <= -> >"]),
        ("return x is  not y", &["return_value x is  not y -> None"]),
        ("return x not in y", &["return_value x not in y -> None", "comparison not in -> in"]),
        ("if x and y: pass", &["boolean and -> or"]),
        ("if not x: pass", &["boolean not x -> x"]),
        ("if x == 'a': pass", &["comparison == -> !=", "constant 'a' -> 'XX'"]),
        ("z = x + y * 2", &["arithmetic + -> -", "arithmetic * -> /", "constant 2 -> 3"]),
        ("x += 1", &["removed_statement x += 1 -> pass", "arithmetic += -> -=", "constant 1 -> 2"]),
        ("x.append(y)", &["removed_statement x.append(y) -> pass"]),
        ("x.a = y", &["removed_statement x.a = y -> pass"]),
        ("raise ValueError(f'{x + 1}')", &["removed_statement raise ValueError(f'{x + 1}') -> pass"]),
        ("return True", &["boolean True -> False"]),
        ("z = 0.5", &["constant 0.5 -> (0.5 + 1)"]),
        ("while x > 0: y()", &["boundary > -> >=", "comparison > -> <=", "constant 0 -> 1", "removed_statement y() -> pass"]),
        (
            "return [a for a in x if a < 3]",
            &["return_value [a for a in x if a < 3] -> None", "boundary < -> <=", "comparison < -> >=", "constant 3 -> 4"],
        ),
    ] {
        assert_eq!(found(body), want, "{body}");
    }
}

#[test]
fn what_cannot_matter_or_never_runs_is_left_alone() {
    for body in [
        "'''a > b'''",
        "z: int | None = y",
        "if TYPE_CHECKING:\n    x += 1",
        "if False:\n    x += 1",
        "return None\nx += 1",
        "return ()",
        "z = x + 0",
        "z = x * 1",
        "z = '%d > 1' % x",
        "logger.info('a', 1 + 2)",
        "self._logger.debug(x > 1)",
        "print(x + 1)",
        "warnings.warn('a', stacklevel=2)",
        "z = cast(int | str, x)",
        "z = f'{x + 1:>3}'",
        "import a",
        "global z",
        "if sys.version_info >= (3, 9): pass",
        "z = (x # + 1\n    + y)",
    ] {
        assert_eq!(found(body), [""; 0], "{body}");
    }
    for text in [
        "X = 1 + 2\n",
        "__all__ = ['a' + 'b']\n",
        "class A:\n    x = 1 + 2\n",
        "def f(x=1 + 2): ...\n",
        "@d(1 + 2)\ndef f(): ...\n",
        "class A:\n    def __repr__(self):\n        return 1 + 2\n",
        "@overload\ndef f():\n    return 1 + 2\n",
    ] {
        assert_eq!(places(text).sites, [], "{text}");
    }
}

#[test]
fn a_place_knows_its_function_and_the_lines_that_reach_it() {
    let places = places(
        "class A:\n    @d\n    def m(self):\n        if (self.x >\n                1):\n            def inner():\n                return 2 - (\n                    self.x)\n            return inner\n",
    );
    let names: Vec<_> = places.functions.iter().map(|f| (f.name.as_str(), f.line)).collect();
    assert_eq!(names, [("A.m", 3), ("A.m.inner", 6)]);
    let sites: Vec<_> = places.sites.iter().map(|s| (s.before.as_str(), s.function, s.line, s.reach)).collect();
    assert!(sites.contains(&(">", 0, 4, (4, 5))) && sites.contains(&("-", 1, 7, (7, 8))), "{sites:?}");
}

/// The file with each of its faults in it.
fn planted(bytes: &[u8]) -> Vec<Vec<u8>> {
    let places = Language::Python.mutants(bytes).unwrap();
    let mutants: Vec<_> = places.sites.iter().map(|site| site.planted(bytes, places.encoding).unwrap()).collect();
    assert!(mutants.iter().all(|mutant| Language::Python.mutants(mutant).is_ok()));
    mutants
}

#[test]
fn a_fault_in_bytes_that_are_not_the_text_itself_moves_none_of_the_other_bytes() {
    for (bytes, wanted) in [
        (&b"def f(x):\r\n    g(x)\r\n"[..], &b"def f(x):\r\n    pass\r\n"[..]),
        (b"def f(x):\r    g(x)\r", b"def f(x):\r    pass\r"),
        (b"\xef\xbb\xbfdef f(x):\n    g(x)\n", b"\xef\xbb\xbfdef f(x):\n    pass\n"),
        (b"\xef\xbb\xbfdef f(x):\r\n    '\xc3\xa9'\r\n    g(x)\r\n", b"\xef\xbb\xbfdef f(x):\r\n    '\xc3\xa9'\r\n    pass\r\n"),
        (b"# coding: latin-1\ndef f(x):\n    g('\xe9')\n", b"# coding: latin-1\ndef f(x):\n    pass\n"),
        (
            b"# coding: latin-1\ndef f(x):\n    '\xe9'\n    if not x == '\xe8': return\n",
            b"# coding: latin-1\ndef f(x):\n    '\xe9'\n    if x == '\xe8': return\n",
        ),
    ] {
        assert!(planted(bytes).contains(&wanted.to_vec()), "{}", bytes.escape_ascii());
    }
    let crlf = b"def f(x):\r\n    g(x,\r\n      1)\r\n    return x\r\n";
    assert!(planted(crlf).contains(&b"def f(x):\r\n    pass\r\n    return x\r\n".to_vec()));
    let places = Language::Python.mutants(crlf).unwrap();
    assert!(
        places.sites.iter().all(|site| site.planted(b"another file, and long enough to have the place in it", places.encoding).is_none())
    );
}

#[test]
fn bytes_that_are_no_text_have_no_places() {
    for (bytes, says) in [(&b"# coding: cp1252\nX = 1\n"[..], "cp1252"), (b"X = '\xe9'\n", "not UTF-8"), (b"X = 1\0\n", "null bytes")] {
        assert!(Language::Python.mutants(bytes).unwrap_err().says.contains(says));
    }
    assert!(Language::Python.mutants(b"def f(:\n").is_err());
}
