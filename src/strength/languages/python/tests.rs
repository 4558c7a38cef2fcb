//! Tests of reading bytes: encodings, line ends, syntax, and files made to hurt.

use crate::strength::languages::{Language, Module, Unreadable};

fn read(bytes: &[u8]) -> Result<Module, Unreadable> {
    Language::Python.module(bytes)
}

fn refused_at(bytes: &[u8]) -> u32 {
    read(bytes).unwrap_err().line
}

const TEST: &str = "def test_a(x):\n    assert x == 'é'\n";

fn text_of_assertion(bytes: &[u8]) -> String {
    read(bytes).unwrap().functions[0].assertions[0].text.clone()
}

#[test]
fn trap_27_marks_cookies_and_their_aliases_are_obeyed() {
    let latin: Vec<u8> = TEST.chars().map(|c| u8::try_from(u32::from(c)).unwrap()).collect();
    let with = |head: &[u8], body: &[u8]| [head, body].concat();
    for head in [
        "",
        "\u{feff}",
        "# coding: utf-8\n",
        "# vim: set fileencoding=UTF8 :\n",
        "#!/usr/bin/python\n# -*- coding: utf_8 -*-\n",
        "\u{feff}# coding: utf-8\n",
        "\n# coding: koi8-r\n\n\n",
        "x = 1\n# coding: koi8-r\n",
    ] {
        let (koi, blank) = (head.contains("koi8"), head.starts_with('\n'));
        let read = read(&with(head.as_bytes(), TEST.as_bytes()));
        assert_eq!(read.is_ok(), !(koi && blank), "{head:?}: {read:?}");
    }
    for head in [
        "# coding: latin-1\n",
        "# coding=iso-8859-1\n",
        "\n# -*- coding: Latin_1 -*-\n",
        "# coding: L1\n",
        "#\r\n# coding: iso-8859-1-unix\r\n",
    ] {
        assert_eq!(text_of_assertion(&with(head.as_bytes(), &latin)), "assert x == 'é'", "{head:?}");
    }
    for (head, line) in [
        ("# coding: koi8-r\n", 1),
        ("#\n# coding: uft-8\n", 2),
        ("\u{feff}# coding: latin-1\n", 1),
        ("# coding: ascii\n\n", 4),
        ("# coding: utf-16\n", 1),
    ] {
        assert_eq!(refused_at(&with(head.as_bytes(), TEST.as_bytes())), line, "{head:?}");
    }
    assert_eq!(refused_at(&latin), 2);
    assert_eq!(refused_at(b"x = 1\r\ry = 2\n\0"), 4);
}

#[test]
fn line_ends_tabs_and_form_feeds_change_nothing() {
    let plain = "def test_a():\n\tx = '''a\nb'''\n\tassert x\n";
    let want = read(plain.as_bytes()).unwrap();
    for other in [plain.replace('\n', "\r\n"), plain.replace('\n', "\r"), plain.replace("def", "\u{c}def"), plain.trim_end().to_owned()] {
        let got = read(other.as_bytes()).unwrap();
        assert_eq!(got, want, "{other:?}");
    }
}

#[test]
fn syntax_is_accepted_and_refused_as_by_the_reference() {
    let good = [
        "",
        "x = 1",
        "async def f():\n    return [x async for x in y]\n",
        "lambda *, a: a\n",
        "f(**a, b=1)\n",
        "def f(a, /, b): pass\n",
        "print(*a, sep='')\n",
        "del (a), b\n",
        "x: int = 3\n",
    ];
    let bad = [
        "x = = 1\n",
        "def f(:\n    pass\n",
        "if x:\npass\n",
        "  x = 1\n",
        "x = (1\n",
        "f'{'\n",
        "exec 'x'\n",
        "0777\n",
        "a = 1 +\n",
        "\tif x:\n        y\n",
        "class C:\n",
        "é = $\n",
        "f(a=1, 2)\n",
        "f() = 1\n",
    ];
    for text in good {
        assert!(read(text.as_bytes()).is_ok(), "{text:?}");
    }
    for text in bad {
        assert!(read(text.as_bytes()).is_err(), "{text:?}");
    }
}

/// Each of these has hurt some reader of Python: nothing here may overflow the stack, hang or take memory without end.
#[test]
fn files_made_to_hurt_are_read_or_refused() {
    let n = 100_000;
    let deep = [
        format!("x = {}1\n", "1+".repeat(n)),
        format!("x = {}1\n", "not ".repeat(n)),
        format!("x = {}1\n", "-".repeat(n)),
        format!("x = {}1\n", "2**".repeat(n)),
        format!("x = a{}\n", ".b".repeat(n)),
        format!("x = a{}\n", "()".repeat(n)),
        format!("x = a{}\n", "[0]".repeat(n)),
        format!("x = {}1{}\n", "(".repeat(n), ")".repeat(n)),
        format!("x = {}{}\n", "[".repeat(n), "]".repeat(n)),
        "[".repeat(n),
        format!("x = {}1\n", "lambda a, b: ".repeat(n)),
        format!("x = {}1\n", "1 if a else ".repeat(n)),
        format!("x = {}1{}\n", "f'{".repeat(n), "}'".repeat(n)),
        format!("x = f'{}1{}'\n", "{1:".repeat(n), "}".repeat(n)),
        (0..2_000).map(|i| format!("{}if x:\n", " ".repeat(i))).collect::<String>() + &" ".repeat(2_000) + "pass\n",
        format!("x = {}1\n", "await ".repeat(n)),
        format!("{}def f(): pass\n", "@a\n".repeat(n)),
        format!("match x:\n    case {}1{}: pass\n", "[".repeat(n), "]".repeat(n)),
    ];
    for text in &deep {
        let answer = read(text.as_bytes());
        assert!(answer.is_err() || text.starts_with('@'), "{}", &text[..40]);
    }
    let wide = [
        format!("if a: pass\n{}", "elif a: pass\n".repeat(20_000)),
        format!("x = [{}]\n", "1, ".repeat(100_000)),
        format!("x = ({})\n", "'a' ".repeat(100_000)),
        format!("x = {}1\n", "a = ".repeat(5_000)),
        format!("x = {}1\n", "1 + ".repeat(4_000)),
        format!("x = {}a\n", "a and ".repeat(4_000)),
        format!("x = {}1{}\n", "(".repeat(190), ")".repeat(190)),
    ];
    for text in &wide {
        assert!(read(text.as_bytes()).is_ok(), "{}", &text[..40]);
    }
}

#[test]
fn values_made_to_explode_stay_text() {
    let head = "import pytest\n";
    let lists: String = (1..40).map(|i| format!("A{i} = [A{0}, A{0}]\nB{i} = B{0} + B{0}\n", i - 1)).collect();
    let bombs = [
        format!(
            "{head}A0 = [1]\nB0 = [1]\n{lists}@pytest.mark.parametrize('a', A39)\ndef test_a(a): pass\n@pytest.mark.parametrize('a', B39)\ndef test_b(a): pass\n"
        ),
        format!("{head}A = B\nB = A\n@pytest.mark.parametrize('a', A)\ndef test_a(a): pass\n"),
        format!("{head}A = [A]\n@pytest.mark.parametrize('a', [A, 10**10**10, 'a' * 10**9, [[1] * 60000] * 60000])\ndef test_a(a): pass\n"),
        format!("{head}{}", "@pytest.mark.parametrize('a', range(99_999))\ndef test_a(a): pass\n".repeat(300)),
        format!("{head}@pytest.mark.parametrize('a', range(10**12))\ndef test_a(a): pass\n"),
        format!("x = {}\n", "9".repeat(1_000_000)),
        "from hypothesis import given, strategies as st\n@st.composite\ndef a(draw):\n    return draw(b()) + draw(b())\n@st.composite\ndef b(draw):\n    return draw(a()) + draw(a())\n@given(a())\ndef test_a(x): pass\n".to_string(),
        format!(
            "from hypothesis import strategies as st\ns0 = st.none()\n{}",
            (1..60).map(|i| format!("s{i} = st.tuples(s{0}, s{0})\n", i - 1)).collect::<String>()
        ),
        format!("def test_a():\n{}", "    f(x)\n    assert x\n".repeat(50_000)),
    ];
    for text in &bombs {
        let size = serde_json::to_string(&read(text.as_bytes()).unwrap()).unwrap().len();
        assert!(size < 200 << 20, "{size}: {}", &text[..60]);
    }
}

#[test]
fn a_file_above_the_cap_is_refused_by_its_size() {
    let text = "# comment\n".repeat(500_000);
    assert!(read(text.as_bytes()).unwrap_err().says.contains("bytes"));
}

#[test]
fn facts_survive_being_written_and_read() {
    let text = "import pytest\nfrom hypothesis import given, strategies as st\n@given(st.integers(0, 1 << 70), st.text() | st.floats(0, 1))\ndef test_a(n, t):\n    assert n\nX = st.lists(st.booleans(), max_size=3)\n@pytest.mark.parametrize('a', [1, f(2)])\ndef test_b(a):\n    assert a\n";
    let module = read(text.as_bytes()).unwrap();
    let json = serde_json::to_string(&module).unwrap();
    assert_eq!(serde_json::from_str::<Module>(&json).unwrap(), module);
}

#[test]
fn claims_tell_what_is_demanded_whatever_the_spelling() {
    let claims = |text: &str| {
        let module = read(text.as_bytes()).unwrap();
        module.functions.iter().find(|f| f.name == "test_a").unwrap().claims.iter().map(|c| c.text.clone()).collect::<Vec<_>>()
    };
    let want = ["shop.f(1) >= 0", "shop.f(1) == 2 or x"];
    for text in [
        "from shop import f\ndef test_a(x):\n    assert f(1) >= 0\n    assert f(1) == 2 or x\n",
        "import shop\ndef test_a(x):\n    got = shop.f(1)\n    assert got >= 0 and (got == 2 or x)\n",
        "from shop import f as g\nONE = 1\nclass TestA:\n    def test_a(self, x):\n        self.assertGreaterEqual(g(ONE), 0)\n        self.assertTrue(g(ONE) == 2 or x)\n",
    ] {
        assert_eq!(claims(text), want, "{text}");
    }
}

fn claims(body: &str) -> Vec<String> {
    let text =
        format!("import contextlib, pytest\nfrom typing import TYPE_CHECKING\ndef test_a(x):\n    {}\n", body.replace('\n', "\n    "));
    read(text.as_bytes()).unwrap().functions[0].claims.iter().map(|c| c.text.clone()).collect()
}

#[test]
fn a_check_that_no_run_reaches_or_whose_failure_fails_nothing_claims_nothing() {
    for body in [
        "return\nassert x == 1",
        "raise ValueError\nassert x == 1",
        "if x:\n    return\nelse:\n    return\nassert x == 1",
        "if True:\n    return\nassert x == 1",
        "while True:\n    f()\nassert x == 1",
        "if False:\n    assert x == 1",
        "if 0:\n    assert x == 1",
        "if TYPE_CHECKING:\n    assert x == 1",
        "if True:\n    pass\nelse:\n    assert x == 1",
        "while False:\n    assert x == 1",
        "for _ in []:\n    assert x == 1",
        "for _ in ():\n    assert x == 1",
        "for _ in range(0):\n    assert x == 1",
        "want = []\nfor _ in want:\n    assert x == 1",
        "def inner():\n    assert x == 1",
        "try:\n    assert x == 1\nexcept AssertionError:\n    pass",
        "try:\n    assert x == 1\nexcept (ValueError, Exception) as e:\n    print(e)",
        "try:\n    assert x == 1\nexcept:\n    pass",
        "try:\n    assert x == 1\nfinally:\n    return",
        "with contextlib.suppress(AssertionError):\n    assert x == 1",
        "sys.exit(0)\nassert x == 1",
        "async def inner():\n    assert x == 1\ninner()",
        "async def inner():\n    assert x == 1\nasyncio.create_task(inner())",
        "async def inner():\n    assert x == 1\nawait asyncio.gather(inner(), return_exceptions=True)",
        "def inner():\n    yield\n    assert x == 1\ninner()",
        "def inner():\n    assert x == 1\nthreading.Thread(target=inner).start()",
        "def inner():\n    assert x == 1\npool.submit(inner)",
    ] {
        assert_eq!(claims(body), Vec::<String>::new(), "{body}");
    }
    assert_eq!(claims("with pytest.raises(ValueError):\n    f()\n    assert x == 1").len(), 1, "only what is raised");
}

#[test]
fn a_check_that_some_run_reaches_claims_what_it_says() {
    for body in [
        "if x:\n    return\nassert x == 1",
        "for y in x:\n    continue\nassert x == 1",
        "want = []\nwant.append(1)\nfor _ in want:\n    assert x == 1",
        "want = []\nfill(want)\nfor _ in want:\n    assert x == 1",
        "def inner():\n    assert x == 1\ninner()",
        "def inner():\n    assert x == 1\nrun(inner)",
        "@run\ndef inner():\n    assert x == 1",
        "try:\n    assert x == 1\nexcept ValueError:\n    pass",
        "try:\n    assert x == 1\nexcept AssertionError:\n    print(x)\n    raise",
        "try:\n    assert x == 1\nexcept Exception as e:\n    pytest.fail(str(e))",
        "with contextlib.suppress(ValueError):\n    assert x == 1",
        "while True:\n    break\nassert x == 1",
        "with pytest.warns(UserWarning):\n    pass\nassert x == 1",
        "async def inner():\n    assert x == 1\nawait inner()",
        "async def inner():\n    assert x == 1\ntask = asyncio.create_task(inner())\nawait task",
        "async def inner():\n    assert x == 1\nasyncio.run(inner())",
        "async def inner():\n    assert x == 1\nawait asyncio.gather(inner())",
        "async with asyncio.TaskGroup() as group:\n    async def inner():\n        assert x == 1\n    group.create_task(inner())",
        "def inner():\n    yield\n    assert x == 1\nlist(inner())",
        "def inner():\n    assert x == 1\ninner()\nthreading.Thread(target=inner).start()",
        "if x != 1:\n    pytest.fail('no')",
        "if not x == 1:\n    self.fail()",
        "if y or x != 1:\n    raise AssertionError('no')",
    ] {
        assert!(claims(body).contains(&"x == 1".to_owned()), "{body}: {:?}", claims(body));
    }
}

#[test]
fn what_must_raise_is_a_claim_however_it_is_written() {
    for (body, wanted) in [
        ("with pytest.raises(ValueError, match='no'):\n    f(x)", "with raises(ValueError, match='no'): f(x)"),
        ("with pytest.raises(ValueError) as e:\n    y = 1\n    got = f(x)", "with raises(ValueError): f(x)"),
        ("pytest.raises(ValueError, f, x)", "with raises(ValueError): f(x)"),
        ("with self.assertRaisesRegex(ValueError, 'no'):\n    f(x)", "with raises(ValueError, match='no'): f(x)"),
        ("self.assertRaises(ValueError, f, x)", "with raises(ValueError): f(x)"),
        ("with pytest.raises(ValueError):\n    raise ValueError\n    f(x)", "with raises(ValueError): raise ValueError"),
        ("try:\n    f(x)\nexcept ValueError:\n    pass\nelse:\n    pytest.fail('no')", "with raises(ValueError): f(x)"),
        ("try:\n    f(x)\n    self.fail('no')\nexcept ValueError:\n    pass", "with raises(ValueError): f(x)"),
        ("with pytest.deprecated_call():\n    f(x)", "with warns(DeprecationWarning): f(x)"),
    ] {
        assert_eq!(claims(body), [wanted], "{body}");
    }
}

#[test]
fn a_manager_of_the_file_that_takes_failures_leaves_no_claim() {
    let with = |head: &str| {
        let text = format!("import contextlib\n{head}\ndef test_a(x):\n    with calm():\n        assert x == 1\n");
        let module = read(text.as_bytes()).unwrap();
        module.functions.iter().find(|f| f.name == "test_a").unwrap().claims.len()
    };
    for (head, claims) in [
        ("@contextlib.contextmanager\ndef calm():\n    try:\n        yield\n    except AssertionError:\n        pass", 0),
        ("class calm:\n    def __exit__(self, *a):\n        return True", 0),
        ("@contextlib.contextmanager\ndef calm():\n    try:\n        yield\n    finally:\n        print(1)", 1),
        (
            "@contextlib.contextmanager\ndef calm():\n    try:\n        yield\n    except AssertionError:\n        print(1)\n        raise",
            1,
        ),
        ("class calm:\n    def __exit__(self, *a):\n        return False", 1),
        ("class calm:\n    def __exit__(self, *a):\n        self.close()", 1),
    ] {
        assert_eq!(with(head), claims, "{head}");
    }
}
