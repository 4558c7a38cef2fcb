//! A project with a test that is noise: from the evidence to the token, what voids it, and what is left behind.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use seedgate::freeze::day::Day;
use seedgate::freeze::probe::Verdict;
use serde_json::Value;

use crate::project::{Project, appears, gone, python};
use crate::token;

const NET: &str = "def clamp(n, low, high):\n    return max(low, min(n, high))\n\n\ndef total(xs):\n    t = 0\n    for x in xs:\n        t += x\n    return t\n";
const PROPERTY: &str = "from net import clamp\nfrom hypothesis import given, strategies as st\n\n\n@given(st.integers(-1000, 1000))\ndef test_prop_clamp(n):\n    assert 0 <= clamp(n, 0, 10) <= 10\n";
const FREEZE: &str = ".seedgate/freeze.json";
const FLAKY: &str = "tests/test_net.py::test_fetch";

/// The tests: one of them fails as the digits of `pattern` say, one digit a run, from a count that is kept outside of every tree.
fn tests(counter: &Path, pattern: &str) -> String {
    format!(
        "import json\nfrom pathlib import Path\n\nfrom net import clamp, total\n\nCOUNTER = Path({:?})\n\n\n\
         def test_clamp():\n    assert clamp(5, 0, 3) == 3\n    assert clamp(-5, 0, 3) == 0\n    assert clamp(2, 0, 3) == 2\n\n\n\
         def test_total():\n    rows = json.loads((Path(__file__).parent / 'fixtures/rows.json').read_text())\n    assert total(rows) == 6\n\n\n\
         def test_fetch():\n    n = int(COUNTER.read_text()) if COUNTER.exists() else 0\n    COUNTER.write_text(str(n + 1))\n    pattern = '{pattern}'\n    assert pattern[n % len(pattern)] == '0', 'timed out'\n",
        counter.display().to_string()
    )
}

struct Flaky {
    project: Project,
    command: String,
    python: PathBuf,
}

impl Flaky {
    /// A base, and a harmless change of production on top.
    fn new(test: &str, pattern: &str) -> Option<Self> {
        let python = python(test)?;
        let project = Project::new(&[]);
        let counter = project.sandbox.beside("counter");
        project.commit(
            "tests",
            &[
                (".seedgate/config.toml", "schema = \"seedgate.config/1\"\n"),
                ("src/net.py", NET),
                ("tests/test_net.py", &tests(&counter, pattern)),
                ("tests/properties/test_props.py", PROPERTY),
                ("tests/fixtures/rows.json", "[1, 2, 3]\n"),
            ],
        );
        project.commit("add", &[("src/net.py", &format!("{NET}\n\ndef add(a, b):\n    return a + b\n"))]);
        let command = format!("{} -m pytest -q -p no:hypothesispytest tests/test_net.py", python.display());
        Some(Flaky { project, command, python })
    }

    fn ends(&self, code: i32, arguments: &[&str]) -> String {
        let said = self.project.seedgate(arguments);
        assert_eq!(said.code, Some(code), "{arguments:?}: {}{}", said.out, said.err);
        said.out + &said.err
    }

    /// A probe's record of the last commit.
    fn probe(&self, verdicts: (Verdict, Option<Verdict>)) -> String {
        let head = self.project.sandbox.oid(["rev-parse", "HEAD"]);
        let record = token::probe(&head, &self.command, verdicts);
        let path = self.project.sandbox.beside("probe.json");
        fs::write(&path, serde_json::to_string(&record).expect("JSON")).expect("a record");
        path.display().to_string()
    }

    /// Runs the properties, collects evidence and gives it.
    fn collect(&self, runs: &str, verdicts: (Verdict, Option<Verdict>)) -> Value {
        let python = self.python.to_str().expect("text");
        let props = self.project.seedgate(&["props", "run", "--base", "HEAD~1", "--python", python, "--out", ".seedgate/props.json"]);
        assert!(matches!(props.code, Some(0 | 2)), "{}{}", props.out, props.err);
        let probe = self.probe(verdicts);
        let said = self
            .ends(0, &["evidence", "collect", "--tests", &self.command, "--base", "HEAD~1", "--runs", runs, "--probe", &probe, "--json"]);
        serde_json::from_str(&said).unwrap_or_else(|error| panic!("{error}: {said}"))
    }

    /// Collects evidence that a test is noise, and freezes it.
    fn freeze(&self) -> String {
        self.collect("4", (Verdict::Killed, None));
        let expires = Day::today().plus(9).to_string();
        self.ends(0, &["freeze", "open", "test_fetch", "--owner", "ada", "--expires", &expires, "--tests", &self.command])
    }
}

#[test]
fn every_kind_of_candidate_gets_its_label() {
    let Some(flaky) = Flaky::new("every_kind_of_candidate_gets_its_label", "0100") else { return };
    let project = &flaky.project;
    let weak =
        fs::read_to_string(project.sandbox.top.join("tests/test_net.py")).expect("tests").replace("clamp(5, 0, 3) == 3", "clamp(5, 0, 3)");
    let upper = NET.replace("min(n, high)", "n");
    let (killed, alive) = ((Verdict::Killed, None), (Verdict::Survived, Some(Verdict::Killed)));
    for (label, exit, files, runs, probed) in [
        ("split_required", 2, vec![("src/net.py", NET), ("tests/test_net.py", &weak)], "2", killed),
        ("fixture_drift", 2, vec![("tests/fixtures/rows.json", "[1, 5]\n")], "2", killed),
        ("property_fail", 2, vec![("src/net.py", &upper)], "2", killed),
        ("oracle_weakened", 2, vec![("tests/test_net.py", &weak)], "2", alive),
        ("freeze_eligible", 0, vec![("src/net.py", NET)], "4", killed),
        ("hold", 3, vec![("src/net.py", NET)], "4", (Verdict::Unknown, None)),
    ] {
        project.sandbox.git(["checkout", "-q", "-B", "candidate", "main"]);
        let _ = fs::remove_file(project.sandbox.beside("counter"));
        project.commit(label, &files);
        let evidence = flaky.collect(runs, probed);
        let said = flaky.ends(exit, &["classify"]);
        assert!(said.starts_with(&format!("seedgate: {label}: ")), "{said}");
        let json: Value = serde_json::from_str(&flaky.ends(exit, &["classify", "--json"])).expect("JSON");
        assert_eq!((json["label"].as_str(), json["inputs"].as_array().map(Vec::len)), (Some(label), Some(6)), "{json}");
        assert_eq!(json["counts"], evidence["counts"]);
        if label != "freeze_eligible" {
            let expires = Day::today().plus(9).to_string();
            let said = flaky.ends(exit, &["freeze", "open", "test_fetch", "--owner", "ada", "--expires", &expires]);
            assert!(said.starts_with("seedgate: not frozen: "), "{said}");
            assert!(!project.sandbox.top.join(FREEZE).exists());
        }
    }
    let evidence: Value =
        serde_json::from_slice(&fs::read(project.sandbox.top.join(".seedgate/evidence.json")).expect("evidence")).expect("JSON");
    for tool in ["git", "pytest", "python", "seedgate"] {
        assert!(evidence["tools"][tool].is_string(), "{tool}: {}", evidence["tools"]);
    }
    assert_eq!(evidence["disagree"][0]["test"], FLAKY);
    // Of another commit it says nothing.
    project.commit("more", &[("src/more.py", "A = 1\n")]);
    let said = flaky.ends(2, &["classify"]);
    assert!(said.contains("the evidence is stale: it was made for commit "), "{said}");
    let said = flaky.ends(2, &["evidence", "collect", "--tests", &flaky.command, "--base", "HEAD~1", "--runs", "2"]);
    assert!(said.contains("props.json: it is of commit ") && said.contains("next:  seedgate props run --base "), "{said}");
}

#[test]
#[expect(clippy::too_many_lines, reason = "one freeze is followed from its start to its end")]
fn a_frozen_test_fails_apart_until_something_moves() {
    let Some(flaky) = Flaky::new("a_frozen_test_fails_apart_until_something_moves", "0100") else { return };
    let (sandbox, top) = (&flaky.project.sandbox, &flaky.project.sandbox.top);
    let said = flaky.freeze();
    assert!(said.starts_with(&format!("seedgate: frozen: {FLAKY}\n  owner     ada, until ")), "{said}");
    let freeze: Value = serde_json::from_slice(&fs::read(top.join(FREEZE)).expect("a freeze file")).expect("JSON");
    let token = &freeze["entries"][0]["token"];
    for (field, value) in [
        ("verdict", Value::from("freeze_eligible")),
        ("property_seed", "1".into()),
        ("property_failed", false.into()),
        ("mutant_killed", true.into()),
        ("test_files_in_candidate", 0.into()),
        ("expires_on_digest_change", true.into()),
    ] {
        assert_eq!(token[field], value, "{field}");
    }
    assert!(
        flaky
            .ends(2, &["freeze", "open", "test_fetch", "--owner", "bob", "--expires", &Day::today().to_string()])
            .contains("is frozen already")
    );

    // Before it is staged, when it is, and for the gate it holds.
    flaky.ends(0, &["freeze", "check"]);
    sandbox.git(["add", FREEZE, ".seedgate/evidence"]);
    flaky.ends(0, &["freeze", "check"]);
    flaky.ends(0, &["check"]);
    sandbox.git(["commit", "-q", "-m", "freeze"]);
    let said = flaky.ends(0, &["freeze", "list"]);
    assert!(said.contains("seedgate: 1 test frozen\n") && said.contains("(9 days left)"), "{said}");

    // Four runs: one of them fails, and that one is told apart.
    let words: Vec<&str> = flaky.command.split(' ').collect();
    let run = |code: i32| {
        let mut command = flaky.project.command(&[&["freeze", "run", "--json", "--"], &words[..]].concat());
        let output = command.env("PYTHONPATH", top.join("src")).output().expect("seedgate runs");
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert_eq!(output.status.code(), Some(code), "{text}{}", String::from_utf8_lossy(&output.stderr));
        let start = text.find("{\n  \"began\"").unwrap_or_else(|| panic!("{text}"));
        serde_json::from_str::<Value>(&text[start..]).expect("JSON")
    };
    let _ = fs::remove_file(sandbox.beside("counter"));
    assert_eq!(run(0)["frozen_passed"][0], FLAKY);
    let failed = run(0);
    assert_eq!((failed["frozen_failed"][0]["test"].as_str(), failed["command_exit"].as_i64()), (Some(FLAKY), Some(1)), "{failed}");

    // Another failure counts, and so does the frozen one as soon as its token does not hold.
    sandbox.write("src/net.py", NET.replace("t += x", "t -= x"));
    fs::write(sandbox.beside("counter"), "1").expect("a count");
    let both = run(2);
    assert_eq!((both["failed"].as_array().map(Vec::len), both["frozen_failed"].as_array().map(Vec::len)), (Some(1), Some(1)), "{both}");
    sandbox.git(["checkout", "-q", "src"]);
    let names = |says: &str, path: &str, text: &str| {
        sandbox.write(path, text);
        let on_disk = run(2);
        assert!(on_disk["failed"].as_array().is_some_and(|failed| !failed.is_empty()), "{on_disk}");
        sandbox.git(["add", path]);
        for (code, command) in [(2, &["freeze", "check"][..]), (0, &["freeze", "list"]), (2, &["check"])] {
            let said = flaky.ends(code, command);
            assert!(said.contains(says), "{command:?} {says}: {said}");
        }
        sandbox.git(["reset", "-q", "--hard"]);
    };
    fs::write(sandbox.beside("counter"), "1").expect("a count");
    let edited = fs::read_to_string(top.join("tests/test_net.py")).expect("tests").replace("'0100'", "'1111'");
    names("void: the test has changed", "tests/test_net.py", &edited);
    fs::write(sandbox.beside("counter"), "1").expect("a count");
    names("void: the fixtures' digest has moved", "tests/fixtures/rows.json", "[3, 2, 1]\n");
    fs::write(sandbox.beside("counter"), "1").expect("a count");
    let expired = fs::read_to_string(top.join(FREEZE))
        .expect("a freeze file")
        .replace(&Day::today().plus(9).to_string(), &Day::today().plus(-1).to_string());
    sandbox.write(FREEZE, &expired);
    assert!(run(2)["not_frozen"].to_string().contains("it expired on "));
    // What somebody wrote by hand is no token.
    let forged = fs::read_to_string(top.join(FREEZE)).expect("a freeze file").replace("test_fetch", "test_total");
    fs::write(sandbox.beside("counter"), "1").expect("a count");
    names("its token is that of another test", FREEZE, &forged.replacen("test_total", "test_clamp", 1));
    let said = flaky.ends(0, &["freeze", "close", "test_fetch"]);
    assert!(said.starts_with(&format!("seedgate: taken out: {FLAKY}\n")), "{said}");
    assert_eq!(fs::read_dir(top.join(".seedgate/evidence")).expect("a folder").count(), 0);
    fs::write(sandbox.beside("counter"), "1").expect("a count");
    run(2);
}

#[test]
fn with_mutants_that_are_planted_then_and_there_each_candidate_gets_its_label() {
    let Some(flaky) = Flaky::new("with_mutants_that_are_planted_then_and_there_each_candidate_gets_its_label", "0100") else { return };
    let project = &flaky.project;
    let text = fs::read_to_string(project.sandbox.top.join("tests/test_net.py")).expect("tests");
    // The base's tests know the sum; these only that there is one.
    let weak = text.replace("total(rows) == 6", "total(rows) is not None");
    let calm = text.replace("'0100'", "'0000'");
    let narrow = NET.replace("min(n, high)", "min(high, n)");
    for (label, exit, files, mutants) in [
        ("oracle_weakened", 2, vec![("tests/test_net.py", weak.replace("'0100'", "'0000'"))], "9"),
        ("freeze_eligible", 0, vec![("src/net.py", narrow.clone())], "1"),
        ("split_required", 2, vec![("src/net.py", narrow), ("tests/test_net.py", calm.clone())], "1"),
    ] {
        project.sandbox.git(["checkout", "-q", "-B", "candidate", "main"]);
        if label == "oracle_weakened" {
            project.commit("calm", &[("tests/test_net.py", &calm)]);
        }
        let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (*path, text.as_str())).collect();
        project.commit(label, &files);
        let _ = fs::remove_file(project.sandbox.beside("counter"));
        let python = flaky.python.to_str().expect("text");
        flaky.ends(0, &["props", "run", "--base", "HEAD~1", "--python", python, "--out", ".seedgate/props.json"]);
        flaky.ends(0, &["evidence", "collect", "--tests", &flaky.command, "--base", "HEAD~1", "--runs", "4", "--mutants", mutants]);
        let said = flaky.ends(exit, &["classify"]);
        assert!(said.starts_with(&format!("seedgate: {label}: ")), "{said}");
    }
}

/// The same text without what is another each time.
fn plain(flaky: &Flaky, text: &str) -> String {
    let sandbox = &flaky.project.sandbox;
    let mut text = text.replace(&flaky.command, "CMD").replace(&Day::today().plus(9).to_string(), "DAY");
    for (revision, name) in [("HEAD", "HEAD"), ("HEAD~1", "BASE")] {
        text = text.replace(&sandbox.line(["rev-parse", "--short=12", revision]), name);
    }
    let kept = fs::read_dir(sandbox.top.join(".seedgate/evidence")).into_iter().flatten().flatten();
    for name in kept.map(|entry| entry.file_name().to_string_lossy().into_owned()) {
        text = text.replace(&name, "EVIDENCE.json").replace(&name[..12], "EVIDENCE");
    }
    text
}

#[test]
#[expect(clippy::too_many_lines, reason = "one story: most of its lines are what is said")]
fn what_is_said_from_the_evidence_to_the_end_of_a_freeze() {
    let Some(flaky) = Flaky::new("what_is_said_from_the_evidence_to_the_end_of_a_freeze", "0100") else { return };
    let sandbox = &flaky.project.sandbox;
    flaky.collect("4", (Verdict::Killed, None));
    let _ = fs::remove_file(sandbox.beside("counter"));
    let probe = flaky.probe((Verdict::Killed, None));
    let collect = ["evidence", "collect", "--tests", &flaky.command, "--base", "HEAD~1", "--runs", "4", "--probe", &probe];
    insta::assert_snapshot!(plain(&flaky, &flaky.ends(0, &collect)), @r#"
    seedgate: freeze_eligible: the command disagrees with itself on one digest, and everything else agrees: it is noise

      production files  1
      test files        0
      digest match      yes
      mutant exit       1

      what led to it
        test_files                    0
        digest_stable                 yes: the fixtures are bdd5f8fbe77c in base and candidate, and after 4 runs
        property_failed               no: every property that can be run holds on the production-only tree (1 held, on 3 seeds)
        mutant_killed                 yes: 1 killed, 0 survived, 0 unknown: `min` in place of `max` at src/net.py:2 killed
        nondeterministic_same_digest  yes: tests/test_net.py::test_fetch failed in run 2 and passed in 1, 3, 4 (3 passed, 1 failed, 0 unknown)

      besides
        production_files              1

      next:  seedgate freeze open tests/test_net.py::test_fetch --owner NAME --expires YYYY-MM-DD

      written to .seedgate/evidence.json
    "#);
    insta::assert_snapshot!(plain(&flaky, &flaky.ends(0, &["classify"])), @r#"
    seedgate: freeze_eligible: the command disagrees with itself on one digest, and everything else agrees: it is noise

      production files  1
      test files        0
      digest match      yes
      mutant exit       1

      what led to it
        test_files                    0
        digest_stable                 yes: the fixtures are bdd5f8fbe77c in base and candidate, and after 4 runs
        property_failed               no: every property that can be run holds on the production-only tree (1 held, on 3 seeds)
        mutant_killed                 yes: 1 killed, 0 survived, 0 unknown: `min` in place of `max` at src/net.py:2 killed
        nondeterministic_same_digest  yes: tests/test_net.py::test_fetch failed in run 2 and passed in 1, 3, 4 (3 passed, 1 failed, 0 unknown)

      besides
        production_files              1

      next:  seedgate freeze open tests/test_net.py::test_fetch --owner NAME --expires YYYY-MM-DD
    "#);
    let expires = Day::today().plus(9).to_string();
    let open = ["freeze", "open", "test_fetch", "--owner", "ada", "--expires", &expires];
    insta::assert_snapshot!(plain(&flaky, &flaky.ends(0, &open)), @r#"
    seedgate: frozen: tests/test_net.py::test_fetch
      owner     ada, until DAY (9 days left)
      runs      pass fail pass pass
      fixtures  bdd5f8fbe77c: the entry is void when they move, or the test does
      evidence  EVIDENCE
      next:  git add .seedgate/freeze.json .seedgate/evidence/EVIDENCE.json, and commit them alone
    "#);
    insta::assert_snapshot!(plain(&flaky, &flaky.ends(2, &open)), @r#"
    seedgate: not frozen: test_fetch
      tests/test_net.py::test_fetch is frozen already
      next:  seedgate freeze close tests/test_net.py::test_fetch
    "#);
    insta::assert_snapshot!(plain(&flaky, &flaky.ends(0, &["freeze", "list"])), @r#"
    seedgate: 1 test frozen

      tests/test_net.py::test_fetch
        ada, until DAY (9 days left)
    "#);
    sandbox.git(["add", FREEZE, ".seedgate/evidence"]);
    sandbox.git(["commit", "-q", "-m", "freeze"]);
    fs::write(sandbox.beside("counter"), "1").expect("a count");
    let words: Vec<&str> = flaky.command.split(' ').collect();
    let run = |code: i32| {
        let mut command = flaky.project.command(&[&["freeze", "run", "--"], &words[..]].concat());
        let output = command.env("PYTHONPATH", sandbox.top.join("src")).output().expect("seedgate runs");
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert_eq!(output.status.code(), Some(code), "{text}");
        plain(&flaky, &text[text.find("seedgate: ").expect("a verdict")..])
    };
    insta::assert_snapshot!(run(0), @r#"
    seedgate: clear: 3 tests ran, nothing failed but 1 failure that is frozen
      frozen  tests/test_net.py::test_fetch (ada, 9 days left)
          AssertionError: timed out
    "#);
    // The status shows it.
    let status = |of: &str| {
        let said = flaky.project.seedgate(&["status"]).out;
        let rows = said.lines().skip_while(|line| !line.starts_with("  freezes")).take_while(|line| !line.starts_with("  daemon"));
        format!("{of}\n{}", plain(&flaky, &rows.collect::<Vec<_>>().join("\n")))
    };
    insta::assert_snapshot!(status("held"), @r#"
    held
      freezes           1 test, 0 of them in vain
      frozen            tests/test_net.py::test_fetch (ada, 9 days left)
    "#);
    // A fixture that git does not know is one that a loader finds.
    sandbox.write("tests/fixtures/more.json", "[]\n");
    fs::write(sandbox.beside("counter"), "1").expect("a count");
    insta::assert_snapshot!(run(2), @r#"
    seedgate: failed: 1 failure of 3 tests
      failed  tests/test_net.py::test_fetch
          AssertionError: timed out
      not frozen  tests/test_net.py::test_fetch: void: the fixture tests/fixtures/more.json is on disk and not in the index
    "#);
    sandbox.git(["add", "tests/fixtures/more.json"]);
    insta::assert_snapshot!(status("void"), @r#"
    void
      freezes           1 test, 1 of them in vain
      frozen in vain    tests/test_net.py::test_fetch: void: the fixtures' digest has moved since its token was issued
    "#);
    insta::assert_snapshot!(plain(&flaky, &flaky.ends(0, &["freeze", "list"])), @r#"
    seedgate: 1 test frozen, 1 of them in vain

      tests/test_net.py::test_fetch
        ada, until DAY (9 days left)
        void: the fixtures' digest has moved since its token was issued
        next:  seedgate freeze close tests/test_net.py::test_fetch
    "#);
    let json: Value = serde_json::from_str(&flaky.project.seedgate(&["status", "--json"]).out).expect("JSON");
    let entry = &json["freezes"]["entries"][0];
    assert_eq!(
        (entry["test"].as_str(), entry["days_left"].as_i64(), entry["holds"].as_bool()),
        (Some(FLAKY), Some(9), Some(false)),
        "{json}"
    );
    assert_eq!(entry["faults"][0], "void: the fixtures' digest has moved since its token was issued");
    let kept = fs::read_dir(sandbox.top.join(".seedgate/evidence")).expect("a folder").next().expect("evidence").expect("an entry");
    let said = flaky.ends(0, &["freeze", "close", "test_fetch"]).replace(&kept.file_name().into_string().expect("text"), "EVIDENCE.json");
    insta::assert_snapshot!(said, @r#"
    seedgate: taken out: tests/test_net.py::test_fetch
      next:  git add -A -- .seedgate/freeze.json .seedgate/evidence/EVIDENCE.json
    "#);
    sandbox.write(FREEZE, "[]");
    let said = flaky.project.seedgate(&["status"]).out;
    assert!(said.contains("freezes") && said.contains("it is no freeze file"), "{said}");
}

#[test]
fn a_fixture_on_disk_that_git_does_not_have_voids_a_freeze_wherever_a_loader_may_find_it() {
    let Some(flaky) = Flaky::new("a_fixture_on_disk_that_git_does_not_have_voids_a_freeze_wherever_a_loader_may_find_it", "0100") else {
        return;
    };
    let sandbox = &flaky.project.sandbox;
    flaky.freeze();
    sandbox.write(".gitignore", "*.log\n.venv/\n");
    sandbox.git(["add", FREEZE, ".seedgate/evidence", ".gitignore"]);
    sandbox.git(["commit", "-q", "-m", "freeze"]);
    // No test runs: a report of one that failed, written anew each time.
    let report = "<testsuite tests=\"1\" failures=\"1\" errors=\"0\"><testcase classname=\"tests.test_net\" name=\"test_fetch\"><failure message=\"x\"/></testcase></testsuite>";
    let run = |more: &str| {
        let shell = format!("{more} echo '{report}' > report.xml; exit 1");
        let said = flaky.project.seedgate(&["freeze", "run", "--json", "--junit", "report.xml", "--", "sh", "-c", &shell]);
        let _ = fs::remove_file(sandbox.top.join("report.xml"));
        let json: Value = serde_json::from_str(&said.out).unwrap_or_else(|error| panic!("{error}: {}{}", said.out, said.err));
        (said.code, json)
    };
    let (code, json) = run("");
    assert_eq!(code, Some(0), "{json}");
    for field in ["command", "began", "seconds", "fixture_digest", "tools"] {
        assert!(!json[field].is_null(), "{field}: {json}");
    }
    let digest = json["fixture_digest"].clone();
    let freeze: Value = serde_json::from_slice(&fs::read(sandbox.top.join(FREEZE)).expect("a file")).expect("JSON");
    assert_eq!(digest, freeze["entries"][0]["token"]["fixture_digest"]);
    for (path, voids) in [
        ("tests/fixtures/new.json", true),
        ("tests/fixtures/deep/er/new.json", true),
        ("tests/fixtures/ignored.log", true),
        ("other/testdata/new.json", true),
        ("one.snap", true),
        (".venv/lib/tests/fixtures/other.json", false),
        ("tests/fixtures/__pycache__/a.pyc", false),
        ("tests/fixtures/promoted/prop/a.json", false),
        ("notes.txt", false),
    ] {
        sandbox.write(path, "new\n");
        let (code, json) = run("");
        assert_eq!(code, Some(if voids { 2 } else { 0 }), "{path}: {json}");
        assert_eq!(json["fixture_digest"] != digest, voids, "{path}");
        if voids {
            assert_eq!(json["not_frozen"][0]["says"], format!("void: the fixture {path} is on disk and not in the index"));
        }
        fs::remove_file(sandbox.top.join(path)).expect("a file");
    }
    // What another repository within holds, and what the run itself makes or changes.
    sandbox.git(["init", "-q", "sub"]);
    sandbox.write("sub/fixtures/a.json", "new\n");
    assert_eq!(run("").0, Some(2));
    fs::remove_dir_all(sandbox.top.join("sub")).expect("a folder");
    assert_eq!(run("").0, Some(0));
    assert_eq!(run("echo 1 > tests/fixtures/made.json;").0, Some(2));
    fs::remove_file(sandbox.top.join("tests/fixtures/made.json")).expect("a file");
    assert_eq!(run("echo 1 >> tests/fixtures/rows.json;").0, Some(2));
}

#[test]
fn a_failure_that_comes_back_at_once_a_property_and_a_touched_test_are_never_frozen() {
    let Some(flaky) = Flaky::new("a_failure_that_comes_back_at_once_a_property_and_a_touched_test_are_never_frozen", "0011") else {
        return;
    };
    flaky.collect("4", (Verdict::Killed, None));
    let expires = Day::today().plus(9).to_string();
    let open = |test: &str, code: i32, more: &[&str]| {
        flaky.ends(code, &[&["freeze", "open", test, "--owner", "ada", "--expires", &expires], more].concat())
    };
    assert!(open("test_fetch", 2, &[]).contains("it failed twice in a row, which is a failure and no noise; it did: pass pass fail fail"));
    assert!(open("test_prop_clamp", 2, &[]).contains("is a property, and properties are never frozen"));
    assert!(open("test_total", 3, &[]).contains("does not show that tests/test_net.py::test_total passed and failed"));
    assert!(open("test_fetch", 2, &["--tests", "true"]).contains("the evidence is of the command"));
    open("test_nothing", 64, &[]);
    let far = Day::today().plus(31).to_string();
    let said = flaky.ends(64, &["freeze", "open", "test_fetch", "--owner", "ada", "--expires", &far]);
    assert!(said.contains(&format!("until {}", Day::today().plus(30))), "{said}");
    assert!(!flaky.project.sandbox.top.join(FREEZE).exists());
    // A runner that is not there says nothing of anything.
    let said = flaky.ends(0, &["evidence", "collect", "--tests", "no-such-pytest", "--base", "HEAD~1", "--runs", "2"]);
    assert!(said.starts_with("seedgate: hold: ") && said.contains("2 unknown"), "{said}");
}

/// Every file of a folder with its bytes.
fn bytes(top: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let (mut all, mut waiting) = (BTreeMap::new(), vec![top.to_path_buf()]);
    while let Some(folder) = waiting.pop() {
        for entry in fs::read_dir(&folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                waiting.push(path);
            } else {
                all.insert(path.clone(), fs::read(&path).expect("a file"));
            }
        }
    }
    all
}

#[test]
#[cfg(target_os = "linux")]
fn nothing_is_left_behind_and_the_repository_is_as_it_was() {
    let Some(flaky) = Flaky::new("nothing_is_left_behind_and_the_repository_is_as_it_was", "0100") else { return };
    let top = &flaky.project.sandbox.top;
    let (before, mark) = (bytes(top), flaky.project.sandbox.beside("mark"));
    let slow = format!("touch {} && sleep 60", mark.display());
    for (signal, arguments) in [
        ("-INT", vec!["evidence", "collect", "--tests", &slow, "--base", "HEAD~1"]),
        ("-KILL", vec!["evidence", "collect", "--tests", &slow, "--base", "HEAD~1"]),
        ("-INT", vec!["freeze", "run", "--", "sh", "-c", &slow]),
        ("-KILL", vec!["freeze", "run", "--", "sh", "-c", &slow]),
    ] {
        let _ = fs::remove_file(&mark);
        let mut child = flaky.project.command(&arguments).stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("seedgate");
        assert!(appears(&mark), "{arguments:?}");
        flaky.project.sandbox.run("kill", &[signal, &child.id().to_string()]);
        let code = child.wait().expect("it ends").code();
        assert_eq!(code, (signal == "-INT").then_some(70), "{arguments:?}");
        assert!(gone(&mark.display().to_string()), "{signal} {arguments:?}");
        assert_eq!(bytes(top), before, "{signal} {arguments:?}");
        let is_clear = (0..400).any(|_| {
            std::thread::sleep(std::time::Duration::from_millis(10));
            flaky.project.left().is_empty()
        });
        assert!(is_clear, "{signal} {arguments:?}: {:?}", flaky.project.left());
    }
    // Done to its end, it has written its record and nothing else.
    flaky.ends(0, &["evidence", "collect", "--tests", &flaky.command, "--base", "HEAD~1", "--runs", "2"]);
    let mut after = bytes(top);
    assert!(after.remove(&top.join(".seedgate/evidence.json")).is_some());
    assert_eq!(after, before);
    assert_eq!(flaky.project.left(), Vec::<String>::new());
}

#[test]
fn failures_that_come_back_at_once_while_a_freeze_is_opened_end_it() {
    let Some(flaky) = Flaky::new("failures_that_come_back_at_once_while_a_freeze_is_opened_end_it", "01001100") else { return };
    flaky.collect("4", (Verdict::Killed, None));
    let expires = Day::today().plus(9).to_string();
    let said = flaky.ends(2, &["freeze", "open", "test_fetch", "--owner", "ada", "--expires", &expires]);
    assert!(said.contains("it failed twice in a row, which is a failure and no noise; it did: fail fail\n"), "{said}");
    assert!(!flaky.project.sandbox.top.join(FREEZE).exists());
}

#[test]
#[cfg(target_os = "linux")]
fn a_freeze_that_is_killed_while_it_is_opened_leaves_nothing_behind() {
    let Some(flaky) = Flaky::new("a_freeze_that_is_killed_while_it_is_opened_leaves_nothing_behind", "0100") else { return };
    let (top, mark) = (&flaky.project.sandbox.top, flaky.project.sandbox.beside("mark"));
    // Evidence that is eligible, of a command that now hangs.
    flaky.collect("4", (Verdict::Killed, None));
    let path = top.join(".seedgate/evidence.json");
    let mut evidence: Value = serde_json::from_slice(&fs::read(&path).expect("evidence")).expect("JSON");
    let slow = format!("touch {} && sleep 60", mark.display());
    (evidence["command"], evidence["probe"]["command"]) = (slow.clone().into(), slow.into());
    fs::write(&path, evidence.to_string()).expect("a record");
    let before = bytes(top);
    let expires = Day::today().plus(9).to_string();
    for (signal, code) in [("-INT", Some(70)), ("-KILL", None)] {
        let _ = fs::remove_file(&mark);
        let arguments = ["freeze", "open", "test_fetch", "--owner", "ada", "--expires", &expires];
        let mut child = flaky.project.command(&arguments).stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("seedgate");
        assert!(appears(&mark), "{signal}");
        flaky.project.sandbox.run("kill", &[signal, &child.id().to_string()]);
        assert_eq!(child.wait().expect("it ends").code(), code, "{signal}");
        assert!(gone(&mark.display().to_string()), "{signal}");
        assert!(bytes(top) == before, "{signal}: the repository moved");
        let is_clear = (0..400).any(|_| {
            std::thread::sleep(std::time::Duration::from_millis(10));
            flaky.project.left().is_empty()
        });
        assert!(is_clear, "{signal}: {:?}", flaky.project.left());
    }
}
