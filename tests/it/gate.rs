//! What the gate says of whole repositories: merges, policy, splitting, status, and input that cannot be judged.

use std::process::Output;

use serde_json::Value;

use crate::sandbox::Sandbox;

pub(crate) const PROPS: &str = "tests/properties/test_props.py";
pub(crate) const SMALL: &str = "tests/properties/test_props.py::test_small";

pub(crate) fn props(asserts: &[&str]) -> String {
    let body: String = asserts.iter().map(|line| format!("    assert {line}\n")).collect();
    format!("import pytest\nfrom src.app import f\n\n\n@pytest.mark.parametrize(\"x\", [1, 2, 3])\ndef test_small(x):\n{body}")
}

pub(crate) const BOTH: [&str; 2] = ["f(x) >= 0", "f(x) == f(-x)"];

pub(crate) fn project(init: &[&str]) -> Sandbox {
    let sandbox = Sandbox::new(init);
    sandbox.write("src/app.py", "def f(x):\n    return x * x\n");
    sandbox.write(PROPS, props(&BOTH));
    sandbox.write("tests/test_unit.py", "def test_two():\n    assert 2\n");
    sandbox.write("tests/fixtures/data.json", "{}\n");
    sandbox.commit_all("base");
    sandbox
}

pub(crate) fn seedgate(sandbox: &Sandbox, arguments: &[&str]) -> Output {
    sandbox.command(env!("CARGO_BIN_EXE_seedgate")).env("SEEDGATE_DAEMON", "off").args(arguments).output().expect("seedgate runs")
}

pub(crate) fn code(output: &Output) -> i32 {
    output.status.code().expect("an exit code")
}

pub(crate) fn said(output: &Output) -> String {
    String::from_utf8_lossy(&[output.stdout.as_slice(), &output.stderr].concat()).into_owned()
}

fn verdict(sandbox: &Sandbox, arguments: &[&str]) -> (i32, Value) {
    let output = seedgate(sandbox, &[&["check", "--json", "--cold"], arguments].concat());
    let value: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {}", said(&output)));
    assert_eq!(value["exit"], code(&output));
    (code(&output), value)
}

fn rules(verdict: &Value) -> Vec<(String, String)> {
    let commits = verdict["commits"].as_array().expect("commits");
    let findings = commits.iter().flat_map(|commit| commit["findings"].as_array().expect("findings"));
    let subject = |f: &Value| f["property"].as_str().or(f["path"].as_str()).unwrap_or_default().to_owned();
    findings.map(|f| (f["rule"].as_str().expect("a rule").to_owned(), subject(f))).collect()
}

fn pairs(expected: &[(&str, &str)]) -> Vec<(String, String)> {
    expected.iter().map(|(rule, subject)| ((*rule).to_owned(), (*subject).to_owned())).collect()
}

/// Branches `one` and `two` from the base, merged without a commit; the work tree holds the merge.
fn merged(one: &[(&str, &str)], two: &[(&str, &str)], merge: &[(&str, &str)]) -> Sandbox {
    let sandbox = project(&[]);
    for (branch, files) in [("one", one), ("two", two)] {
        sandbox.git(["checkout", "-q", "-b", branch, "main"]);
        files.iter().for_each(|(path, text)| sandbox.write(path, text));
        sandbox.commit_all(branch);
    }
    sandbox.git(["merge", "-q", "--no-ff", "--no-commit", "-s", "ours", "one"]);
    sandbox.git(["checkout", "-q", "one", "--", "."]);
    merge.iter().for_each(|(path, text)| sandbox.write(path, text));
    sandbox.commit_all("merge");
    sandbox
}

#[test]
fn a_merge_is_held_against_what_either_side_changed() {
    let (strong, weak, plain) = (props(&["f(x) >= 0", "f(x) == f(-x)", "f(x) == x * x"]), props(&["f(x) >= 0"]), props(&BOTH));
    let longer = |text: &str| format!("{text}\n\ndef test_more():\n    assert f(2) == 4\n");
    for (one, two, merge, expected) in [
        // One side dropped an assertion in a commit judged for itself: the merge that takes both sides' edits says nothing new.
        (weak.clone(), longer(&plain), longer(&weak), pairs(&[])),
        // The merge itself drops what both sides have.
        (longer(&plain), plain.clone() + "\n", longer(&weak), pairs(&[("assertion_removed", SMALL)])),
        // Both sides changed the card: it is held against both.
        (strong.clone(), longer(&strong), longer(&plain), pairs(&[("assertion_removed", SMALL)])),
        // One side made it stronger, the merge takes the weaker one.
        (strong.clone(), longer(&plain), longer(&plain) + "\n", pairs(&[("assertion_removed", SMALL)])),
        // It takes one side's file whole: that is no change of the merge's own.
        (strong.clone(), longer(&plain), longer(&plain), pairs(&[])),
    ] {
        let sandbox = merged(&[(PROPS, &one)], &[(PROPS, &two)], &[(PROPS, &merge)]);
        let (_, found) = verdict(&sandbox, &["--base", "HEAD^", "--head", "HEAD"]);
        let last = serde_json::json!({ "commits": [found["commits"].as_array().and_then(|all| all.last()).expect("the merge")] });
        let hard: Vec<_> = rules(&last).into_iter().filter(|(rule, _)| rule != "new_property").collect();
        assert_eq!(hard, expected, "{one}\n---\n{two}\n---\n{merge}");
    }
}

#[test]
fn every_kind_of_finding_is_told_in_one_run_and_in_a_stable_order() {
    let sandbox = project(&[]);
    sandbox.write("src/app.py", "def f(x):\n    return 1\n");
    sandbox.write(PROPS, props(&["f(x) >= 0"]).replace("[1, 2, 3]", "[1, 3, 4]"));
    sandbox.write("tests/fixtures/data.json", "{\"a\": 1}\n");
    sandbox.write("tests/test_unit.py", "def test_three():\n    assert 3\n");
    sandbox.git(["add", "-A"]);
    let (exit, found) = verdict(&sandbox, &[]);
    let rules = rules(&found);
    assert_eq!(exit, 2);
    for expected in [
        ("split_required", "src/app.py"),
        ("assertion_removed", SMALL),
        ("case_removed", SMALL),
        ("fixture_drift", "tests/fixtures/data.json"),
        ("property_removed", "tests/test_unit.py::test_two"),
    ] {
        assert!(
            rules.iter().any(|(rule, subject)| rule == expected.0 && (subject == expected.1 || rule == "split_required")),
            "{expected:?} in {rules:?}"
        );
    }
    assert_eq!(found, verdict(&sandbox, &[]).1);
}

#[test]
fn policy_is_the_bases_and_a_change_of_it_is_for_a_human() {
    let sandbox = project(&[]);
    sandbox.write(".seedgate/config.toml", "schema = \"seedgate.config/1\"\n[sides]\ntest = []\nfixture = []\nharness = []\n");
    sandbox.write(PROPS, props(&["f(x) >= 0"]));
    sandbox.git(["add", "-A"]);
    let (exit, found) = verdict(&sandbox, &[]);
    assert_eq!((exit, rules(&found)), (2, pairs(&[("assertion_removed", SMALL), ("policy_changed", ".seedgate/config.toml")])));
    sandbox.git(["reset", "-q", PROPS]);
    assert_eq!(verdict(&sandbox, &[]).0, 4);
}

#[test]
fn a_broken_policy_is_named_with_its_line_and_may_be_repaired() {
    let sandbox = project(&[]);
    sandbox.write(".seedgate/config.toml", "schema = \"seedgate.config/1\"\ntypo = 1\n");
    sandbox.git(["add", "-A"]);
    let output = seedgate(&sandbox, &["check"]);
    assert_eq!(code(&output), 65);
    assert!(said(&output).contains(".seedgate/config.toml:2"), "{}", said(&output));
    sandbox.commit_all("broken");
    sandbox.write("src/app.py", "x = 1\n");
    sandbox.git(["add", "-A"]);
    assert_eq!(code(&seedgate(&sandbox, &["check"])), 65);
    sandbox.write(".seedgate/config.toml", "schema = \"seedgate.config/1\"\n");
    sandbox.git(["add", "-A"]);
    assert_eq!(code(&seedgate(&sandbox, &["check"])), 4);
}

#[test]
fn a_policy_that_is_no_file_is_refused_by_name_and_may_be_repaired() {
    for (mode, what) in [("120000", "a symbolic link"), ("160000", "a submodule")] {
        let sandbox = project(&[]);
        let oid = if mode == "160000" { sandbox.line(["rev-parse", "HEAD"]) } else { sandbox.line(["rev-parse", "HEAD:src/app.py"]) };
        let entry = format!("{mode},{oid},.seedgate/config.toml");
        sandbox.git(["update-index", "--add", "--cacheinfo", &entry]);
        let refused = || {
            let output = seedgate(&sandbox, &["check"]);
            assert_eq!(code(&output), 65, "{}", said(&output));
            assert!(said(&output).contains(&format!(".seedgate/config.toml:1: it is {what}")), "{}", said(&output));
        };
        refused();
        sandbox.git(["commit", "-q", "-m", "no file"]);
        sandbox.write("src/app.py", "x = 1\n");
        sandbox.git(["add", "src"]);
        refused();
        sandbox.git(["rm", "-q", "--cached", ".seedgate/config.toml"]);
        assert_eq!(code(&seedgate(&sandbox, &["check"])), 4);
    }
}

#[test]
fn split_makes_two_judged_commits_and_leaves_index_and_files_alone() {
    for (init, order) in [(&[][..], &[][..]), (&[][..], &["--tests-first"][..]), (&["--object-format=sha256"][..], &[][..])] {
        let sandbox = project(init);
        sandbox.write("src/app.py", "def f(x):\n    return x ** 2\n");
        sandbox.write("tests/test_unit.py", "def test_two():\n    assert 2\n\n\ndef test_new():\n    assert 3\n");
        sandbox.git(["add", "-A"]);
        sandbox.write("src/app.py", "not staged\n");
        let (index, status) = (sandbox.git(["ls-files", "-s"]), sandbox.git(["diff", "--name-only"]));
        let output = seedgate(&sandbox, &[&["split", "-m", "square"], order].concat());
        assert_eq!(code(&output), 3, "{}", said(&output));
        assert_eq!(sandbox.git(["ls-files", "-s"]), index);
        assert_eq!(sandbox.git(["diff", "--name-only"]), status);
        assert!(sandbox.git(["diff", "--cached", "--name-only"]).is_empty());
        let first = if order.is_empty() { "src/app.py" } else { "tests/test_unit.py" };
        assert_eq!(sandbox.line(["diff", "--name-only", "HEAD~2", "HEAD~1"]), first);
        assert_eq!(sandbox.line(["log", "-1", "--format=%an %ae", "HEAD~1"]), "Author author@example.invalid");
        assert_eq!(sandbox.line(["log", "-1", "--format=%ad", "HEAD~1"]), sandbox.line(["log", "-1", "--format=%ad"]));
    }
}

#[test]
fn a_split_that_is_refused_moves_nothing() {
    let sandbox = project(&[]);
    sandbox.write("src/app.py", "def f(x):\n    return x ** 2\n");
    sandbox.write(PROPS, props(&["f(x) >= 0"]));
    sandbox.git(["add", "-A"]);
    let (head, index) = (sandbox.line(["rev-parse", "HEAD"]), sandbox.git(["ls-files", "-s"]));
    let output = seedgate(&sandbox, &["split", "-m", "x"]);
    assert_eq!(code(&output), 2);
    assert!(said(&output).contains("nothing was changed"), "{}", said(&output));
    assert_eq!((sandbox.line(["rev-parse", "HEAD"]), sandbox.git(["ls-files", "-s"])), (head, index));
}

#[test]
fn what_cannot_be_split_is_said_in_one_sentence() {
    let sandbox = project(&[]);
    for (arguments, exit, says) in [
        (&["split", "-m", "x"][..], 65, "nothing to split"),
        (&["split"][..], 64, "split needs a message"),
        (&["split", "-m", "1", "-m", "2", "-m", "3"][..], 64, "give -m once or twice"),
    ] {
        let output = seedgate(&sandbox, arguments);
        assert_eq!(code(&output), exit, "{}", said(&output));
        assert!(said(&output).contains(says), "{}", said(&output));
    }
}

#[test]
fn bad_input_is_one_sentence_and_the_documented_exit() {
    let sandbox = project(&[]);
    for (arguments, exit) in [
        (&["check", "--base", "no-such-rev"][..], 65),
        (&["check", "--base"][..], 64),
        (&["check", "--bogus"][..], 64),
        (&["nonsense"][..], 64),
        (&["check", "--head", "HEAD"][..], 64),
    ] {
        let output = seedgate(&sandbox, arguments);
        assert_eq!(code(&output), exit, "{arguments:?}: {}", said(&output));
    }
    let elsewhere = sandbox.command(env!("CARGO_BIN_EXE_seedgate")).current_dir("/").arg("check").output().expect("seedgate runs");
    assert_eq!(code(&elsewhere), 65, "{}", said(&elsewhere));
    sandbox.write(PROPS, "def broken(:\n");
    sandbox.git(["add", "-A"]);
    let (exit, found) = verdict(&sandbox, &[]);
    assert_eq!((exit, rules(&found)), (2, pairs(&[("unreadable_file", PROPS)])));
}

#[test]
fn a_repository_that_repairs_an_unreadable_test_file_is_not_stopped() {
    let sandbox = project(&[]);
    sandbox.write(PROPS, "def broken(:\n");
    sandbox.commit_all("broken");
    sandbox.write(PROPS, props(&BOTH));
    sandbox.git(["add", "-A"]);
    assert_eq!(verdict(&sandbox, &[]).0, 3);
}

#[test]
fn a_fixture_may_move_with_its_readers_and_not_without_them() {
    let sandbox = project(&[]);
    let reader = |path: &str| format!("def test_load():\n    data = open(\"{path}\").read()\n    assert data\n");
    sandbox.write("tests/test_load.py", reader("tests/fixtures/data.json"));
    sandbox.commit_all("reader");
    sandbox.git(["mv", "tests/fixtures/data.json", "tests/fixtures/moved.json"]);
    let (exit, found) = verdict(&sandbox, &[]);
    assert_eq!((exit, rules(&found)), (2, pairs(&[("fixture_drift", "tests/fixtures/data.json")])));
    sandbox.write("tests/test_load.py", reader("tests/fixtures/moved.json"));
    sandbox.git(["add", "-A"]);
    assert_eq!(verdict(&sandbox, &[]).0, 0);
}

#[test]
fn a_fixture_drifts_through_a_link_to_a_file_or_folder() {
    for (link, target) in [("tests/fixtures/t.csv", "../../shared/t.csv"), ("tests/fixtures/dir", "../../shared")] {
        let sandbox = project(&[]);
        sandbox.write("shared/t.csv", "1\n");
        std::os::unix::fs::symlink(target, sandbox.top.join(link)).expect("a link");
        sandbox.commit_all("link");
        sandbox.write("shared/t.csv", "2\n");
        sandbox.git(["add", "-A"]);
        let (exit, found) = verdict(&sandbox, &[]);
        assert_eq!((exit, rules(&found)), (2, pairs(&[("fixture_drift", link)])));
        sandbox.commit_all("drift");
        assert_eq!(verdict(&sandbox, &["--base", "HEAD^"]).0, 2);
    }
}

#[test]
fn status_says_what_is_live_and_how_much_is_carded() {
    let sandbox = project(&[]);
    let output = seedgate(&sandbox, &["status", "--json"]);
    assert_eq!(code(&output), 69);
    let value: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(value["schema"], "seedgate.status/1");
    assert_eq!((&value["cards"]["properties"], &value["cards"]["tests"]), (&1.into(), &1.into()));
    assert_eq!(value["fixtures"]["files"], 1);
    assert!(value["hooks"].as_array().expect("hooks").iter().all(|hook| hook["live"] == false));
    assert_eq!(code(&seedgate(&sandbox, &["init"])), 0);
    assert_eq!(code(&seedgate(&sandbox, &["status"])), 0);
}

#[test]
fn a_range_is_judged_to_its_end_although_one_commit_cannot_be() {
    let sandbox = project(&[]);
    let start = sandbox.line(["rev-parse", "HEAD"]);
    for n in 0..40 {
        sandbox.write("src/app.py", format!("def f(x):\n    return x * x + {n} - {n}\n"));
        sandbox.commit_all(&format!("production {n}"));
        if n == 20 {
            sandbox.write(PROPS, props(&["f(x) >= 0"]));
            sandbox.commit_all("weak");
        }
    }
    let (exit, found) = verdict(&sandbox, &["--base", &start]);
    let commits = found["commits"].as_array().expect("commits");
    let order: Vec<&str> = commits.iter().map(|commit| commit["commit"].as_str().expect("an id")).collect();
    let expected = sandbox.line(["rev-list", "--reverse", &format!("{start}..HEAD")]);
    assert_eq!((exit, order), (2, expected.lines().collect()));
    assert_eq!(commits.iter().filter(|commit| commit["exit"] == 2).count(), 1);
}
