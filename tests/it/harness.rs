//! The harness and the production scan by the program itself: what is refused, what holds, and how a waiver settles it.

use std::process::Output;

use serde_json::Value;

use crate::sandbox::Sandbox;

const CLEAN: &str = "def total(n):\n    return n\n";
const SENSING: &str = "import sys\n\n\ndef total(n):\n    return 1 if 'pytest' in sys.modules else n\n";

fn project() -> Sandbox {
    let sandbox = Sandbox::new(&[]);
    sandbox.write("shop/total.py", CLEAN);
    sandbox.write("tests/test_a.py", "def test_a():\n    assert 1\n");
    sandbox.write("pytest.ini", "[pytest]\ntestpaths = tests\n");
    sandbox.write("Makefile", "test:\n\tpytest -q\n");
    sandbox.commit_all("base");
    sandbox
}

fn seedgate(sandbox: &Sandbox, arguments: &[&str]) -> Output {
    let mut command = sandbox.command(env!("CARGO_BIN_EXE_seedgate"));
    command.env("SEEDGATE_DAEMON", "off").env("XDG_CACHE_HOME", sandbox.beside("cache"));
    command.args(arguments).output().expect("seedgate runs")
}

/// Rule and path of every finding of what is staged.
fn staged(sandbox: &Sandbox) -> Vec<(String, String)> {
    sandbox.git(["add", "-A"]);
    let output = seedgate(sandbox, &["check", "--json", "--cold"]);
    let verdict: Value = serde_json::from_slice(&output.stdout).expect("a verdict");
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let all = verdict["commits"].as_array().into_iter().flatten().flat_map(|commit| commit["findings"].as_array().into_iter().flatten());
    all.map(|finding| (text(&finding["rule"]), text(&finding["path"]))).collect()
}

#[test]
fn a_weaker_harness_and_sensing_code_are_refused_by_rule_and_path() {
    for (path, text, rule) in [
        ("pytest.ini", "[pytest]\ntestpaths = tests\naddopts = -k fast\n", Some("harness_changed")),
        ("Makefile", "test:\n\t-pytest -q\n", Some("harness_changed")),
        ("tests/conftest.py", "def pytest_ignore_collect(collection_path):\n    return True\n", Some("harness_changed")),
        ("shop/total.py", SENSING, Some("production_detects_tests")),
        ("pytest.ini", "[pytest]\ntestpaths = tests\naddopts = --strict-markers\n", None),
        ("shop/total.py", "def total(n):\n    return n + 0\n", None),
    ] {
        let sandbox = project();
        sandbox.write(path, text);
        let wanted: Vec<_> = rule.into_iter().map(|rule| (rule.to_owned(), path.to_owned())).collect();
        assert_eq!(staged(&sandbox), wanted, "{path}: {text}");
    }
}

#[test]
fn a_waiver_of_the_path_settles_exactly_these_bytes() {
    let sandbox = project();
    let weaker = "[pytest]\ntestpaths = tests\naddopts = -k fast\n";
    sandbox.write("pytest.ini", weaker);
    sandbox.git(["add", "-A"]);
    assert_eq!(seedgate(&sandbox, &["waiver", "new", "--path", "pytest.ini"]).status.code(), Some(0));
    let folder = sandbox.top.join("docs/waivers");
    let draft = std::fs::read_dir(folder).expect("the folder").next().expect("a draft").expect("an entry").path();
    let text = std::fs::read_to_string(&draft).expect("a draft");
    assert!(text.contains("path = \"pytest.ini\""), "{text}");
    sandbox.write(&draft, text.replace("spec = \"\"", "spec = \"https://example.invalid/17\"") + "\nThe slow ones run at night.\n");
    assert_eq!(staged(&sandbox), [("waived".to_owned(), "pytest.ini".to_owned())]);
    sandbox.write("pytest.ini", format!("{weaker}# other bytes\n"));
    let rules: Vec<String> = staged(&sandbox).into_iter().map(|(rule, _)| rule).collect();
    assert_eq!(rules, ["harness_changed", "waiver_invalid"]);
}

#[test]
fn a_merge_answers_only_for_what_neither_parent_has() {
    let sandbox = project();
    sandbox.git(["checkout", "-q", "-b", "side"]);
    sandbox.write("pytest.ini", "[pytest]\ntestpaths = tests\naddopts = -k fast\n");
    sandbox.commit_all("side");
    sandbox.git(["checkout", "-q", "main"]);
    sandbox.write("pytest.ini", "[pytest]\ntestpaths = tests\nminversion = 8\n");
    sandbox.commit_all("main");
    let merge = |text: &str| {
        sandbox.git(["reset", "-q", "--hard", "main"]);
        sandbox.git(["merge", "-q", "--no-ff", "-s", "ours", "--no-commit", "side"]);
        sandbox.write("pytest.ini", text);
        staged(&sandbox)
    };
    assert_eq!(merge("[pytest]\ntestpaths = tests\nminversion = 8\naddopts = -k fast\n"), []);
    assert_eq!(merge("[pytest]\ntestpaths = tests\nminversion = 8\naddopts = -k fast --lf\n").len(), 1);
}
