use std::collections::BTreeMap;

use super::command::names_pytest;
use super::{SuiteOutcome, TestOutcome, TestRun, digest_of, told, untold};
use crate::trial::suite::report::Report;

fn report(exit: Option<i32>, tests: &[(&str, &str)], error: Option<&str>) -> Report {
    let tests: Vec<_> = tests.iter().map(|(id, outcome)| serde_json::json!([id, outcome, 0.1, "why"])).collect();
    let errors: Vec<_> = error.iter().map(|kind| serde_json::json!({"where": "t.py", "kind": kind, "says": "boom"})).collect();
    let whole = serde_json::json!({"nonce": "n", "exit": exit, "tests": tests, "errors": errors, "tools": {}, "modules": [], "homes": [], "early": [], "ids": [], "shared": [], "lines": {}});
    serde_json::from_value(whole).unwrap()
}

#[test]
fn only_a_failing_test_is_a_failure_and_all_that_keeps_tests_from_running_is_unknown() {
    use SuiteOutcome::{Failed, Passed};
    for (code, exit, tests, error, want) in [
        (0, Some(0), &[("a", "passed"), ("b", "skipped"), ("c", "xfailed")][..], None, Some(Passed)),
        (1, Some(1), &[("a", "passed"), ("b", "failed")], None, Some(Failed(vec!["b".into()]))),
        (1, Some(1), &[("a", "error")], None, None),
        (1, Some(1), &[("a", "error"), ("b", "failed")], None, Some(Failed(vec!["b".into()]))),
        (1, Some(1), &[("a", "import_error")], None, None),
        (1, Some(1), &[("a", "timeout")], None, None),
        (1, Some(1), &[("a", "passed")], None, None),
        (1, Some(0), &[("a", "passed")], None, None),
        (2, Some(2), &[("a", "failed")], None, None),
        (3, Some(3), &[], Some("internal"), None),
        (4, Some(4), &[], None, None),
        (5, Some(5), &[], None, None),
        (1, Some(1), &[("a", "failed")], Some("collection"), None),
        (1, Some(1), &[("a", "failed")], Some("import"), None),
        (137, None, &[("a", "failed")], None, None),
    ] {
        let found = told(code, &report(exit, tests, error), &[]);
        match want {
            Some(want) => assert_eq!(found, want),
            None => assert!(matches!(found, SuiteOutcome::Unknown(_)), "{code} {exit:?} {tests:?} {error:?}: {found:?}"),
        }
    }
    let found = told(0, &report(Some(0), &[("a", "passed")], None), &["m was loaded from /x/m.py".to_owned()]);
    assert!(matches!(found, SuiteOutcome::Unknown(why) if why.contains("/x/m.py")));
}

#[test]
fn a_command_that_tells_nothing_is_known_by_its_code_unless_it_is_pytest_or_never_ran() {
    for (command, code, want) in [
        ("make check", 0, Some(SuiteOutcome::Passed)),
        ("make check", 2, Some(SuiteOutcome::Failed(Vec::new()))),
        ("make check", 126, None),
        ("make check", 127, None),
        ("make check", 139, None),
        ("python -m pytest -q", 0, None),
        ("python -m pytest -q", 1, None),
    ] {
        let found = untold(command, code, "last words\n\n");
        match want {
            Some(want) => assert_eq!(found, want),
            None => assert!(matches!(found, SuiteOutcome::Unknown(why) if why.ends_with("last words")), "{command} {code}"),
        }
    }
}

#[test]
fn pytest_is_known_by_its_name_wherever_it_stands() {
    for (command, is) in [
        ("pytest", true),
        ("/venv/bin/pytest tests -q", true),
        ("py.test x", true),
        ("python3 -m pytest", true),
        ("uv run pytest", true),
        ("poetry run python -m pytest", true),
        ("cd a && pytest", true),
        ("make test", false),
        ("python -m unittest", false),
        ("./pytest-like.sh", false),
        ("cat pytest.ini", false),
    ] {
        assert_eq!(names_pytest(command), is, "{command}");
    }
}

#[test]
fn the_digest_of_a_run_is_that_of_its_outcomes_and_not_of_its_times() {
    let of = |outcome, seconds| BTreeMap::from([("a".to_owned(), TestRun { outcome, seconds, says: String::new() })]);
    assert_eq!(digest_of(&of(TestOutcome::Passed, 1.0)), digest_of(&of(TestOutcome::Passed, 2.0)));
    assert_ne!(digest_of(&of(TestOutcome::Passed, 1.0)), digest_of(&of(TestOutcome::Failed, 1.0)));
}
