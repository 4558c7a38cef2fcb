//! Candidates: what is pinned, what stops before anything is run, and what becomes of one that fails.

use std::fs;

use serde_json::Value;

use crate::project::{Project, Said};

const PRICE: &str = "def clamp(n, low, high):\n    return max(low, min(n, high))\n";
const PROPERTY: &str = "from price import clamp\nfrom seedgate_props import bounds\n\n\n@bounds(n=(-1000, 100000))\ndef prop_clamp(n):\n    assert 0 <= clamp(n, 0, 10) <= 10\n";
const PROPOSALS: &str = "Here are some:\n{\"n\": 5}\n{\"n\": 99999}\n{\"n\": 100001}\n{\"n\": 6, \"expected\": 6}\n{\"n\": 5}\n";

/// A change of the production code that breaks the property from 4711 on.
fn plain() -> Project {
    let project = Project::new(&[("src/price.py", PRICE), ("tests/properties/test_price.py", PROPERTY)]);
    project.commit("bug", &[("src/price.py", &PRICE.replace("min(n, high)", "min(n, high) if n < 4711 else n"))]);
    project.sandbox.write("proposals", PROPOSALS);
    project
}

fn accept(project: &Project) -> Said {
    project.seedgate(&["candidates", "accept", "--property", "prop_clamp", "--base", "HEAD~1", "proposals"])
}

fn replay(project: &Project, more: &[&str]) -> Said {
    let cards = project.seedgate(&["cards", "snapshot", "--rev", "HEAD", "--out", ".seedgate/cards.json"]);
    assert_eq!(cards.code, Some(0), "{}", cards.err);
    project.seedgate(&[&["candidates", "replay", "--cards", ".seedgate/cards.json", "--runner", "local"], more].concat())
}

fn json(project: &Project, path: &str) -> Value {
    serde_json::from_slice(&fs::read(project.sandbox.top.join(path)).expect("a file")).expect("JSON")
}

#[test]
fn proposals_are_pinned_once_and_what_is_discarded_is_told_with_its_reason() {
    let project = plain();
    let said = accept(&project);
    assert_eq!(said.code, Some(0), "{}", said.err);
    insta::assert_snapshot!(said.out, @r"
    pinned tests/properties/test_price.py::prop_clamp: 2 candidates, 4 discarded
      line 1  unparseable: not an input: expected value at line 1 column 1
      line 4  outside_domain: the domain of the property does not hold it
      line 5  outside_domain: the domain of the property does not hold it
      line 6  repeated: it was proposed before
    in .seedgate/candidates.json
    ");
    let pinned = json(&project, ".seedgate/candidates.json");
    assert_eq!(pinned["parent"].as_str(), Some(project.sandbox.line(["rev-parse", "HEAD~1"]).as_str()));
    assert!(!pinned.to_string().contains("expected\""), "{pinned}");
    assert_eq!(json(&project, ".seedgate/strength_delta.json")["decision"], "strength_ok");
    assert!(!project.sandbox.top.join("tests/fixtures").exists());
    // The same again is the same file; others need another.
    assert_eq!(accept(&project).code, Some(0));
    project.sandbox.write("proposals", "{\"n\": 8}\n");
    let said = accept(&project);
    assert_eq!(said.code, Some(2), "{}", said.out);
    assert!(said.err.contains("pins other candidates already"), "{}", said.err);
    assert_eq!(json(&project, ".seedgate/candidates.json"), pinned);
}

#[test]
fn nothing_is_pinned_for_a_change_that_weakens_or_brings_a_new_test() {
    for (text, code) in [
        (PROPERTY.replace("-1000", "0"), 2),
        (PROPERTY.replace("    assert 0", "    pass  # assert 0"), 2),
        (format!("{PROPERTY}\n\n@bounds(n=(0, 1))\ndef prop_more(n):\n    assert n < 2\n"), 3),
    ] {
        let project = plain();
        project.commit("tests", &[("tests/properties/test_price.py", &text)]);
        let said = accept(&project);
        assert_eq!(said.code, Some(code), "{}{}", said.out, said.err);
        assert!(!project.sandbox.top.join(".seedgate/candidates.json").exists());
    }
    let project = plain();
    assert_eq!(project.seedgate(&["candidates", "accept", "--property", "prop_none", "proposals"]).code, Some(64));
}

#[test]
fn a_candidate_that_fails_is_a_counterexample_in_the_ledger_and_goes_on_to_the_base() {
    let project = plain();
    accept(&project);
    let said = replay(&project, &[]);
    assert_eq!(said.code, Some(2), "{}", said.err);
    let parent = project.sandbox.line(["rev-parse", "HEAD~1"]);
    insta::assert_snapshot!(said.out.replace(&parent[..12], "PARENT"), @r#"
    counterexample  tests/properties/test_price.py::prop_clamp
        input {"n":99999}
        AssertionError at tests/properties/test_price.py:7: assert 0 <= clamp(n, 0, 10) <= 10
    shrunk  {"n":4711}
    1 row in the ledger; next: seedgate ledger replay-base --base PARENT
    seedgate: 2 candidates: 1 held, 1 failed
    "#);
    let saved = json(&project, ".seedgate/counterexamples.json");
    assert_eq!(
        (saved["schema"].as_str(), saved["counterexamples"][0]["input"]["n"].as_i64()),
        (Some("seedgate.counterexamples/1"), Some(99999))
    );
    let row = json(&project, ".seedgate/ledger.json")["rows"][0].clone();
    assert_eq!((row["raw"]["n"].as_i64(), row["shrunk"]["n"].as_i64(), row["decision"].as_str()), (Some(99999), Some(4711), None));
    assert!(!project.sandbox.top.join(".seedgate/freeze.json").exists());
    let said = project.seedgate(&["ledger", "replay-base", "--base", "HEAD~1", "--runner", "local"]);
    assert!(said.code == Some(0) && said.out.starts_with("promote  "), "{}{}", said.out, said.err);
    let kinds: Vec<Value> =
        json(&project, ".seedgate/runs.json")["rows"].as_array().expect("rows").iter().map(|row| row["kind"].clone()).collect();
    assert_eq!(kinds, ["candidates", "base"]);
}

#[test]
fn two_runs_use_the_same_pinned_file_parent_and_card_or_the_second_is_refused() {
    let project = plain();
    accept(&project);
    assert_eq!(replay(&project, &[]).code, Some(2));
    let pinned = fs::read_to_string(project.sandbox.top.join(".seedgate/candidates.json")).expect("a file");
    project.sandbox.write("other.json", pinned.replace("99999", "7"));
    let said = replay(&project, &["--candidates", "other.json"]);
    assert_eq!(said.code, Some(2));
    assert!(said.err.contains("that is another experiment"), "{}", said.err);
    assert_eq!(replay(&project, &["--candidates", "other.json", "--runs", "runs.json"]).code, Some(0));
    let said = replay(&project, &["--base", "HEAD"]);
    assert!(said.code == Some(2) && said.err.contains("are pinned on"), "{}", said.err);
    project.sandbox.write("other.json", pinned.replace("\"card_sha256\": \"", "\"card_sha256\": \"0"));
    let said = replay(&project, &["--candidates", "other.json", "--runs", "none.json"]);
    assert!(said.code == Some(2) && said.err.contains("is not the one that the candidates were pinned for"), "{}", said.err);
    project.sandbox.write("other.json", pinned.replace("\"parent\"", "\"expected\": 1, \"parent\""));
    assert_eq!(replay(&project, &["--candidates", "other.json"]).code, Some(65));
}

#[test]
fn a_run_by_jobs_comes_to_what_a_run_by_a_worker_comes_to() {
    let project = plain();
    let (said, by_worker) = project.run(&["--trials", "50"]);
    let (by, by_jobs) = project.run(&["--trials", "50", "--runner", "local"]);
    assert_eq!((by.code, said.code), (Some(2), Some(2)), "{}", by.err);
    assert_eq!(by_jobs, by_worker);
    let said = project.seedgate(&["props", "run", "--runner", "remote"]);
    assert_eq!(said.code, Some(69), "{}", said.err);
    assert_eq!(project.seedgate(&["props", "run", "--runner", "ssh"]).code, Some(69));
}

#[test]
fn a_job_that_leaves_no_verdict_is_no_pass_and_no_failure() {
    let project = Project::new(&[("src/price.py", PRICE), ("tests/properties/test_price.py", PROPERTY)]);
    // The property ends the job's own script.
    project.commit(
        "kill",
        &[(
            "src/price.py",
            &format!("import os, signal\n\n\n{PRICE}").replace("    return", "    os.kill(os.getppid(), signal.SIGKILL)\n    return"),
        )],
    );
    project.sandbox.write("proposals", "{\"n\": 5}\n");
    assert_eq!(accept(&project).code, Some(0));
    let said = replay(&project, &[]);
    assert_eq!(said.code, Some(65), "{}{}", said.out, said.err);
    assert!(said.out.contains("no verdict  ") && said.out.contains("no_verdict: it left no verdict"), "{}", said.out);
    assert!(!project.sandbox.top.join(".seedgate/ledger.json").exists());
    assert_eq!(json(&project, ".seedgate/runs.json")["rows"][0]["verdict"], "unknown");
}

#[test]
fn machines_are_told_the_pinned_file_what_each_candidate_came_to_and_what_the_base_said() {
    let project = plain();
    let said = project.seedgate(&["candidates", "accept", "--property", "prop_clamp", "--base", "HEAD~1", "--json", "proposals"]);
    assert_eq!((said.code, said.out.parse().ok()), (Some(0), Some(json(&project, ".seedgate/candidates.json"))), "{}", said.err);
    let said = replay(&project, &["--json"]);
    let told: Value = serde_json::from_str(&said.out).expect("JSON");
    assert_eq!((said.code, &told["schema"], &told["exit"]), (Some(2), &"seedgate.candidates-replay/1".into(), &2.into()));
    let outcomes: Vec<_> = told["candidates"].as_array().expect("rows").iter().map(|one| (&one["outcome"], &one["shrunk"]["n"])).collect();
    assert_eq!(outcomes, [(&"held".into(), &Value::Null), (&"failed".into(), &4711.into())], "{told}");
    let said = project.seedgate(&["ledger", "replay-base", "--base", "HEAD~1", "--json"]);
    let told: Value = serde_json::from_str(&said.out).expect("JSON");
    assert_eq!(
        (said.code, &told["schema"], &told["rows"][0]["row"]["decision"]),
        (Some(0), &"seedgate.replay-base/1".into(), &"promote".into())
    );
}
