//! What a property finds around it when it is called bare: the same chance each time, conftest.py, and pytest's module path.

use crate::project::{Project, property, python};

const PROPS: &str = "tests/properties/test_it.py";

#[test]
fn what_draws_from_shared_chance_draws_the_same_before_each_input_and_in_each_process() {
    // What `random` gives after `seed(0)` is the same in every Python 3.
    let text = "from seedgate_props import bounds\nfrom helper import drawn, gauss\nSEEN = {}\n\n\n\
        def same(value):\n    assert SEEN.setdefault('first', value) == value\n\n\n\
        @bounds(n=(0, 9))\ndef prop_first_import(n):\n    import random\n    assert random.random() == 0.8444218515250481\n\n\n\
        @bounds(n=(0, 9))\ndef prop_name(n):\n    from random import randint, seed\n    assert randint(0, 99) == 49\n    seed(n)\n\n\n\
        @bounds(n=(0, 9))\ndef prop_helper(n):\n    assert drawn() == 0.8444218515250481 and n >= 0\n\n\n\
        @bounds(n=(0, 9))\ndef prop_now_and_then(n):\n    import random\n    assert n % 3 or random.random() == 0.8444218515250481\n\n\n\
        @bounds(n=(0, 9))\ndef prop_round(n):\n    import random\n    assert [random.getrandbits(32) for _ in range(624 * (n + 1))][0] == 3626764237\n\n\n\
        @bounds(n=(0, 9))\ndef prop_installed(n):\n    import statistics\n    same(statistics.NormalDist().samples(3))\n    assert gauss() != gauss()\n\n\n\
        @bounds(n=(0, 9))\ndef prop_fails(n):\n    import random\n    assert not (n == 7 and random.random() == 0.8444218515250481)\n";
    let helper = "import random\nfrom random import gauss as _gauss\n\n\ndef drawn():\n    return random.random()\n\n\ndef gauss():\n    return _gauss(0, 1)\n";
    let project = Project::new(&[("src/helper.py", helper)]);
    project.commit("properties", &[(PROPS, text)]);
    let (said, record) = project.run(&[]);
    assert_eq!(said.code, Some(2), "{record:#}");
    for name in ["prop_first_import", "prop_name", "prop_helper", "prop_now_and_then", "prop_round", "prop_installed"] {
        assert_eq!(property(&record, name)["status"], "pass", "{:#}", property(&record, name));
    }
    // It failed again in a process of its own.
    let failed = property(&record, "prop_fails");
    assert_eq!((failed["status"].as_str(), failed["runs"][0]["input"]["n"].as_u64()), (Some("fail"), Some(7)), "{failed:#}");
}

#[test]
fn conftest_files_are_imported_before_the_module_outermost_first_and_once() {
    let text = "import sys\nfrom seedgate_props import bounds\nfrom far import FAR\nfrom conftest import WHERE\n\n\n\
        @bounds(n=(0, 3))\ndef prop_set(n):\n    assert (FAR, WHERE, sys.seen) == (1, 'inner', ['outer', 'inner'])\n\n\n\
        @bounds(n=(0, 3))\ndef prop_again(n):\n    assert sys.seen == ['outer', 'inner']\n";
    let outer = "import os, sys\nsys.path.insert(0, os.path.join(os.path.dirname(__file__), 'deep', 'lib'))\nsys.seen = ['outer']\n";
    let project = Project::new(&[("deep/lib/far.py", "FAR = 1\n"), ("conftest.py", outer)]);
    let inner = ("tests/properties/conftest.py", "import sys\nsys.seen.append('inner')\nWHERE = 'inner'\n");
    project.commit("properties", &[(PROPS, text), inner, ("other/conftest.py", "raise RuntimeError\n")]);
    let (said, record) = project.run(&[]);
    assert_eq!(said.code, Some(0), "{record:#}");

    project.commit("broken", &[("tests/conftest.py", "import nowhere_at_all\n")]);
    let (said, record) = project.run(&[]);
    let refusal = &property(&record, "prop_set")["refusal"];
    assert_eq!((said.code, refusal["kind"].as_str()), (Some(65), Some("import_failed")), "{record:#}");
    assert!(refusal["message"].as_str().is_some_and(|says| says.contains("tests/conftest.py:1")), "{refusal}");
}

#[test]
fn folders_of_pytests_module_path_come_before_the_others_and_never_from_outside() {
    let text =
        "from seedgate_props import bounds\nfrom shop import WHERE\n\n\n@bounds(n=(0, 3))\ndef prop_a(n):\n    assert WHERE == 'lib'\n";
    for (file, config, code) in [
        ("pytest.ini", "[pytest]\npythonpath = lib\n", 0),
        ("pyproject.toml", "[tool.pytest.ini_options]\npythonpath = [\"./lib/\"]\n", 0),
        ("setup.cfg", "[tool:pytest]\npythonpath = lib\n", 0),
        ("pytest.ini", "[pytest]\npythonpath = ../../lib\n", 2),
    ] {
        let project = Project::new(&[("lib/shop.py", "WHERE = 'lib'\n"), ("src/shop.py", "WHERE = 'src'\n"), (file, config)]);
        project.commit("a property", &[(PROPS, text)]);
        let (said, record) = project.run(&[]);
        assert_eq!(said.code, Some(code), "{config}: {record:#}");
    }
}

#[test]
fn what_a_conftest_gives_to_every_test_keeps_a_property_from_being_run_bare() {
    let Some(python) = python("what_a_conftest_gives_to_every_test_keeps_a_property_from_being_run_bare") else { return };
    let conftest =
        "import pytest\nfrom hypothesis import settings\n\nsettings.register_profile('ci', max_examples=7)\nsettings.load_profile('ci')\n";
    let text = "from hypothesis import given, settings, strategies as st\n\n\n@given(st.integers(0, 3))\ndef test_a(n):\n    assert settings().max_examples == 7\n";
    let project = Project::new(&[("src/a.py", "A = 1\n"), ("tests/conftest.py", conftest)]);
    project.commit("a property", &[(PROPS, text)]);
    let python = python.to_str().expect("text");
    let (said, record) = project.run(&["--python", python]);
    assert_eq!(said.code, Some(0), "{record:#}");
    let every = format!("{conftest}\n\n@pytest.fixture(autouse=True)\ndef prepared():\n    yield\n");
    project.commit("for every test", &[("tests/conftest.py", &every)]);
    let (_, record) = project.run(&["--python", python]);
    assert_eq!(property(&record, "test_a")["refusal"]["kind"], "needs_fixture", "{record:#}");
}
