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
        let start = text.find("{\n  \"command_exit\"").unwrap_or_else(|| panic!("{text}"));
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
