//! Probes end to end: what kills, what does not, what is never a kill, what is compared, and that nothing is left behind or touched.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use serde_json::Value;

use crate::project::{Project, Said, appears, python};

const PRICE: &str = "def total(xs):\n    t = 0\n    for x in xs:\n        t += x\n    return t\n\n\ndef grown(age):\n    return age >= 18\n\n\ndef idle(n):\n    return n + 1\n";
const TESTS: &str = "from price import grown, total\n\n\ndef test_total():\n    assert total([1, 2]) == 3\n\n\ndef test_grown():\n    assert grown(18)\n    assert not grown(17)\n";
const FILES: [(&str, &str); 2] = [("src/price.py", PRICE), ("tests/test_price.py", TESTS)];

/// A command that runs pytest.
fn pytest(test: &str) -> Option<String> {
    python(test).map(|python| format!("{} -m pytest -q", python.display()))
}

fn probe(project: &Project, tests: &str, more: &[&str]) -> (Said, Value) {
    let said = project.seedgate(&[&["probe", "--tests", tests, "--json", "--jobs", "1"], more].concat());
    let record = serde_json::from_str(&said.out).unwrap_or_default();
    (said, record)
}

fn counts(record: &Value) -> [u64; 4] {
    ["killed", "survived", "unknown", "weakened"].map(|name| record["counts"][name].as_u64().unwrap_or(99))
}

/// The mutant of one replaced text.
fn mutant<'r>(record: &'r Value, before: &str, after: &str) -> &'r Value {
    let all = record["mutants"].as_array().expect("mutants");
    all.iter().find(|one| one["before"] == before && one["after"] == after).unwrap_or_else(|| panic!("{before} -> {after}: {record}"))
}

/// A unified diff of one line of `src/price.py`.
fn patch(project: &Project, line: usize, before: &str, after: &str) -> String {
    let file = project.sandbox.beside("m.patch");
    let text = format!("--- a/src/price.py\n+++ b/src/price.py\n@@ -{line} +{line} @@\n-{before}\n+{after}\n");
    fs::write(&file, text).expect("a patch");
    file.to_str().expect("text").to_owned()
}

/// Every file below a folder, with its bytes.
fn bytes(folder: &Path, into: &mut Vec<(String, Vec<u8>)>) {
    let mut entries: Vec<_> = fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path()).collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            bytes(&path, into);
        } else {
            into.push((path.display().to_string(), fs::read(&path).expect("bytes")));
        }
    }
}

#[test]
fn tests_that_bite_kill_what_they_reach_and_the_repository_is_as_it_was() {
    let Some(tests) = pytest("tests_that_bite_kill_what_they_reach_and_the_repository_is_as_it_was") else { return };
    let project = Project::new(&FILES);
    let (mut before, mut after) = (Vec::new(), Vec::new());
    bytes(&project.sandbox.top, &mut before);
    let (said, record) = probe(&project, &tests, &[]);
    bytes(&project.sandbox.top, &mut after);
    assert_eq!(said.code, Some(0), "{} {}", said.out, said.err);
    assert!(before == after, "the repository moved");
    assert_eq!(record["schema"], "seedgate.probe/1");
    assert_eq!(mutant(&record, ">=", ">")["outcome"]["verdict"], "killed");
    assert_eq!(mutant(&record, "+=", "-=")["outcome"]["verdict"], "killed");
    assert_eq!(mutant(&record, ">=", ">")["outcome"]["tests"], 1);
    let functions: Vec<_> = record["mutants"].as_array().expect("mutants").iter().map(|one| one["function"].as_str()).collect();
    assert!(!functions.contains(&Some("idle")), "no test reaches it: {functions:?}");
    assert_eq!(counts(&record)[1..], [0, 0, 0], "{record}");
    assert_eq!(project.left(), Vec::<String>::new());
    // The same seed, the same mutants and verdicts.
    let told = |record: &Value| {
        record["mutants"]
            .as_array()
            .expect("mutants")
            .iter()
            .map(|one| (one["id"].clone(), one["outcome"]["verdict"].clone()))
            .collect::<Vec<_>>()
    };
    assert_eq!(told(&probe(&project, &tests, &[]).1), told(&record));
}

#[test]
fn a_weakened_test_is_refused_with_both_outcomes_and_an_honest_change_of_tests_is_not() {
    let Some(tests) = pytest("a_weakened_test_is_refused_with_both_outcomes_and_an_honest_change_of_tests_is_not") else { return };
    let project = Project::new(&FILES);
    project.commit("weaker", &[("tests/test_price.py", &TESTS.replace("    assert grown(18)\n", "    assert grown(30)\n"))]);
    let (said, record) = probe(&project, &tests, &["--compare"]);
    assert_eq!(said.code, Some(2), "{} {}", said.out, said.err);
    let weak = mutant(&record, ">=", ">");
    assert_eq!((weak["outcome"]["verdict"].as_str(), weak["base"]["verdict"].as_str()), (Some("survived"), Some("killed")));
    let text = project.seedgate(&["probe", "--tests", &tests, "--compare", "--jobs", "1"]);
    assert!(text.out.starts_with("oracle_weakened  src/price.py:9 in grown"), "{}", text.out);
    assert!(text.out.contains("    base tests   killed (1 test asked): tests/test_price.py::test_grown"), "{}", text.out);
    assert!(text.out.contains("    patch tests  survived"), "{}", text.out);

    project.commit("stronger", &[("tests/test_price.py", &TESTS.replace("[1, 2]) == 3", "[1, 2, 4]) == 7"))]);
    let (said, record) = probe(&project, &tests, &["--compare"]);
    assert_eq!((said.code, counts(&record)[3]), (Some(0), 0), "{}", said.err);
}

#[test]
fn a_broken_run_is_unknown_or_an_error_and_never_a_kill() {
    let Some(tests) = pytest("a_broken_run_is_unknown_or_an_error_and_never_a_kill") else { return };
    let project = Project::new(&FILES);
    for (line, before, after, why) in [
        (9, "    return age >= 18", "    return age >= = 18", "SyntaxError"),
        (1, "def total(xs):", "import no_such_module\\ndef total(xs):", "import error"),
        (4, "        t += x", "        while True: pass", "time-out"),
    ] {
        let file = patch(&project, line, before, after);
        fs::write(&file, fs::read_to_string(&file).expect("a patch").replace("\\n", "\n+").replace("+1 @@\n-def", "+1,2 @@\n-def"))
            .expect("a patch");
        let (said, record) = probe(&project, &tests, &["--mutant", &file, "--limit", "60"]);
        let outcome = &record["mutants"][0]["outcome"];
        assert_eq!((said.code, outcome["verdict"].as_str()), (Some(65), Some("unknown")), "{} {}", said.out, said.err);
        assert!(outcome["why"].as_str().is_some_and(|said| said.contains(why)), "{outcome}");
    }
    for (command, says) in [
        ("no-such-program tests", "not found"),
        ("python3 -S -I -m pytest", "pytest gave no report"),
        (&*format!("{tests} tests/nowhere.py"), "patch tests do not pass"),
        (&*format!("{tests} -k nothing_of_this_name"), "patch tests do not pass"),
    ] {
        let (said, record) = probe(&project, command, &[]);
        assert_eq!((said.code, record), (Some(65), Value::Null), "{command}");
        assert!(said.err.contains(says), "{command}: {}", said.err);
    }
    assert_eq!(project.left(), Vec::<String>::new());
}

#[test]
fn what_fails_while_a_test_is_prepared_or_cleaned_up_is_no_kill_and_neither_is_a_missed_deadline() {
    let Some(tests) = pytest("what_fails_while_a_test_is_prepared_or_cleaned_up_is_no_kill_and_neither_is_a_missed_deadline") else {
        return;
    };
    let prepared = "import pytest\nfrom price import total\n\n\n@pytest.fixture\ndef sum():\n    before = total([1, 2])\n    assert before != -3\n    yield before\n    assert total([2]) != -2\n\n\ndef test_sum(sum):\n    assert sum\n";
    let cleaned = prepared.replace("    assert before != -3\n", "");
    let slow = "import time\nfrom hypothesis import given, settings, strategies as st\nfrom price import total\n\n\n@settings(deadline=50, max_examples=5)\n@given(st.just(1))\ndef test_sum(n):\n    time.sleep(0.5 if total([n]) < 0 else 0)\n";
    // Another test still kills it.
    let both = format!("{prepared}\n\ndef test_total():\n    assert total([1]) == 1\n");
    for (text, verdict, why) in [
        (prepared, "unknown", "setup error in tests/test_price.py::test_sum: AssertionError"),
        (&cleaned, "unknown", "setup error in tests/test_price.py::test_sum: AssertionError"),
        (slow, "unknown", "time-out in tests/test_price.py::test_sum"),
        (&both, "killed", "tests/test_price.py::test_total: AssertionError"),
    ] {
        let project = Project::new(&[FILES[0], ("tests/test_price.py", text)]);
        let (said, record) = probe(&project, &tests, &[]);
        let outcome = &mutant(&record, "+=", "-=")["outcome"];
        assert_eq!(outcome["verdict"], verdict, "{text}: {outcome} {}", said.err);
        assert!(outcome["why"].as_str().is_some_and(|said| said.starts_with(why)), "{text}: {outcome}");
        // The same in a run of its own, as a patch is.
        let file = patch(&project, 4, "        t += x", "        t -= x");
        let (_, record) = probe(&project, &tests, &["--mutant", &file]);
        assert_eq!(record["mutants"][0]["outcome"]["verdict"], verdict, "{text}: {record}");
    }
    let red = prepared.replace("!= -3", "== -3");
    let project = Project::new(&[FILES[0], ("tests/test_price.py", &red)]);
    let (said, _) = probe(&project, &tests, &[]);
    assert!(said.code == Some(65) && said.err.contains("setup error in tests/test_price.py::test_sum"), "{}", said.err);
}

#[test]
fn files_with_other_line_ends_marks_and_encodings_are_probed_and_what_cannot_be_read_is_named() {
    let Some(tests) = pytest("files_with_other_line_ends_marks_and_encodings_are_probed_and_what_cannot_be_read_is_named") else { return };
    let project = Project::new(&[(
        "tests/test_all.py",
        "import crlf, latin, mark\n\n\ndef test_all():\n    assert (crlf.f(2), latin.f(2), mark.f(2)) == (3, 3, 3)\n",
    )]);
    project.sandbox.write("src/crlf.py", "def f(n):\r\n    return n + 1\r\n");
    project.sandbox.write("src/mark.py", "\u{feff}def f(n):\n    return n + 1\n");
    project.sandbox.write("src/latin.py", b"# coding: latin-1\nE = '\xe9'\n\n\ndef f(n):\n    return n + len('\xe8')\n");
    project.sandbox.write("src/broken.py", "def f(:\n");
    project.sandbox.write("src/far.py", "# coding: cp1252\n");
    project.commit("files", &[]);
    project.sandbox.commit_all("files");
    let (said, record) = probe(&project, &tests, &[]);
    assert_eq!((said.code, counts(&record)[1..].to_vec()), (Some(0), vec![0, 0, 0]), "{record} {}", said.err);
    for path in ["src/crlf.py", "src/latin.py", "src/mark.py"] {
        assert!(record["mutants"].as_array().expect("mutants").iter().any(|one| one["path"] == path), "{path}: {record}");
    }
    let left: Vec<_> =
        record["left_out"].as_array().expect("files").iter().map(|one| (one["path"].as_str(), one["why"].as_str())).collect();
    let of = |path: &str| left.iter().find(|one| one.0 == Some(path)).and_then(|one| one.1).unwrap_or_default();
    assert!(left.len() == 2 && of("src/broken.py").starts_with("line 1: ") && of("src/far.py").contains("cp1252"), "{left:?}");
    let text = project.seedgate(&["probe", "--tests", &tests, "--jobs", "1"]).out;
    assert!(text.contains("left out  src/far.py: line 1: the declared encoding cp1252 is not read\n"), "{text}");
}

#[test]
fn a_probe_tells_weakened_then_alive_then_left_out_then_the_sum() {
    let Some(tests) = pytest("a_probe_tells_weakened_then_alive_then_left_out_then_the_sum") else { return };
    let project = Project::new(&[FILES[0], FILES[1], ("src/broken.py", "def f(:\n")]);
    project.commit(
        "weaker",
        &[("tests/test_price.py", &TESTS.replace("    assert grown(18)\n", "    assert grown(30)\n").replace("[1, 2]) == 3", "[1])"))],
    );
    let said = project.seedgate(&["probe", "--tests", &tests, "--compare", "--budget", "3", "--jobs", "1"]);
    assert_eq!(said.code, Some(2), "{}", said.err);
    insta::assert_snapshot!(seconds(&said.out), @r#"
    oracle_weakened  src/price.py:2 in total  constant 4e3f10116512
        - 0
        + 1
        base tests   killed (1 test asked): tests/test_price.py::test_total: AssertionError: assert 4 == 3
        patch tests  survived (1 test asked)
    oracle_weakened  src/price.py:9 in grown  constant bdb541e62505
        - 18
        + 19
        base tests   killed (1 test asked): tests/test_price.py::test_grown: AssertionError: assert False
        patch tests  survived (1 test asked)
    left out  src/broken.py: line 1: Expected a parameter or the end of the parameter list
    twin  patch tests: 2 tests passed in TIME s
    twin  base tests: 2 tests passed in TIME s
    seedgate: 3 mutants: 1 killed, 2 survived, 0 unknown, 2 weakened; seed 1729, TIME s
    "#);
}

/// The same text without its times.
fn seconds(text: &str) -> String {
    let words = text.split_inclusive([' ', '\n']).map(|word| {
        let is_time = word.trim_end().parse::<f64>().is_ok() && word.contains('.');
        if is_time { word.replace(word.trim_end(), "TIME") } else { word.to_owned() }
    });
    words.collect()
}

#[test]
fn a_red_twin_is_an_error_that_names_the_test() {
    let Some(tests) = pytest("a_red_twin_is_an_error_that_names_the_test") else { return };
    let project = Project::new(&[FILES[0], ("tests/test_price.py", "def test_red():\n    assert False\n")]);
    let (said, _) = probe(&project, &tests, &[]);
    assert_eq!(said.code, Some(65));
    assert!(said.err.contains("tests/test_price.py::test_red fails"), "{}", said.err);
}

#[test]
fn a_mutant_of_a_file_is_killed_or_refused_and_one_of_a_test_is_none() {
    let Some(tests) = pytest("a_mutant_of_a_file_is_killed_or_refused_and_one_of_a_test_is_none") else { return };
    let project = Project::new(&FILES);
    let file = patch(&project, 9, "    return age >= 18", "    return age > 18");
    assert_eq!(probe(&project, &tests, &["--mutant", &file]).0.code, Some(0));
    let file = patch(&project, 13, "    return n + 1", "    return n + 2");
    assert_eq!(probe(&project, &tests, &["--mutant", &file]).0.code, Some(2));
    fs::write(&file, "--- a/tests/test_price.py\n+++ b/tests/test_price.py\n@@ -5 +5 @@\n-    assert total([1, 2]) == 3\n+    pass\n")
        .expect("a patch");
    let (said, _) = probe(&project, &tests, &["--mutant", &file]);
    assert!(said.code == Some(65) && said.err.contains("is no production file"), "{}", said.err);
}

#[test]
fn another_command_is_known_by_its_code_and_a_mutant_that_cannot_be_imported_is_unknown() {
    let script = "import sys\nsys.path.insert(0, 'src')\nimport price\nsys.exit(price.total([1, 2]) != 3 or not price.grown(18))\n";
    let project = Project::new(&[("src/price.py", PRICE), ("tests/check.py", script)]);
    let file = patch(&project, 9, "    return age >= 18", "    return age > 18");
    let (said, record) = probe(&project, "python3 tests/check.py", &["--mutant", &file]);
    assert_eq!((said.code, counts(&record)), (Some(0), [1, 0, 0, 0]), "{} {}", said.out, said.err);
    let file = patch(&project, 9, "    return age >= 18", "    return (age");
    let (said, record) = probe(&project, "python3 tests/check.py", &["--mutant", &file]);
    assert_eq!((said.code, counts(&record)), (Some(65), [0, 0, 1, 0]), "{} {}", said.out, said.err);
    let (said, record) = probe(&project, "python3 tests/check.py", &["--budget", "40"]);
    assert!(said.code == Some(0) && counts(&record)[0] > 0, "{} {}", said.out, said.err);
}

#[test]
fn a_killed_probe_leaves_neither_a_process_nor_a_file() {
    let Some(tests) = pytest("a_killed_probe_leaves_neither_a_process_nor_a_file") else { return };
    let slow = "import os, time\n\n\ndef test_slow():\n    mark = os.environ['MARK']\n    open(mark + '~', 'w').write(str(os.getpid()))\n    os.rename(mark + '~', mark)\n    time.sleep(600)\n";
    let project = Project::new(&[FILES[0], ("tests/test_price.py", slow)]);
    let (mut before, mut after) = (Vec::new(), Vec::new());
    bytes(&project.sandbox.top, &mut before);
    for signal in ["-KILL", "-INT"] {
        let mark = project.sandbox.beside("mark");
        let _ = fs::remove_file(&mark);
        let mut command = project.command(&["probe", "--tests", &tests]);
        let mut child = command.env("MARK", &mark).stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("a process");
        assert!(appears(&mark), "{signal}");
        // Written beside it first: a file that is there holds its number, and without one /proc itself would be looked at.
        let test: u32 = fs::read_to_string(&mark).expect("a file").parse().expect("a number");
        Command::new("kill").args([signal, &child.id().to_string()]).status().expect("kill");
        child.wait().expect("an end");
        let place = format!("/proc/{test}");
        let clean = (0..600).any(|_| {
            let trees = fs::read_dir(project.sandbox.beside("cache").join("seedgate/trees")).into_iter().flatten().flatten();
            let own = trees.filter(|entry| entry.file_name().to_string_lossy().starts_with(".own-")).count();
            if own == 0 && !Path::new(&place).exists() && project.left().is_empty() {
                return true;
            }
            std::thread::sleep(Duration::from_millis(50));
            false
        });
        assert!(clean, "{signal}: {:?}", project.left());
        // Branches, index and objects are among these.
        after.clear();
        bytes(&project.sandbox.top, &mut after);
        assert!(before == after, "{signal}: the repository moved");
    }
}

#[test]
fn the_production_only_tree_is_told_and_written_out_of_reach_of_git() {
    let project = Project::new(&FILES);
    project.commit("mixed", &[("src/price.py", &PRICE.replace("18", "21")), ("src/new.py", "x = 1\n"), ("tests/test_price.py", "")]);
    let said = project.seedgate(&["tree", "--production-only", "--json"]);
    let tree: Value = serde_json::from_str(&said.out).expect("JSON");
    let from: Vec<_> = tree["files"].as_array().expect("files").iter().map(|file| (file["path"].as_str(), file["from"].as_str())).collect();
    assert_eq!(
        from,
        [(Some("src/new.py"), Some("head")), (Some("src/price.py"), Some("head")), (Some("tests/test_price.py"), Some("base"))]
    );
    let into = project.sandbox.beside("out");
    let folder = into.to_str().expect("text");
    let said = project.seedgate(&["tree", "--production-only", "--into", folder]);
    assert_eq!(said.code, Some(0), "{}", said.err);
    assert!(said.out.contains("left as on the base: 1 path\n    test        changed  tests/test_price.py\n"), "{}", said.out);
    assert_eq!(fs::read_to_string(into.join("tests/test_price.py")).expect("a file"), TESTS);
    assert!(fs::read_to_string(into.join("src/price.py")).expect("a file").contains("21"));
    for taken in [folder, ".git/x", "src/price.py"] {
        let said = project.seedgate(&["tree", "--production-only", "--into", taken]);
        assert_eq!(said.code, Some(64), "{taken}: {}", said.err);
    }
}

#[test]
fn a_mutant_as_a_job_comes_to_what_it_comes_to_without_and_is_recorded_once() {
    let Some(python) = python("a_mutant_as_a_job_comes_to_what_it_comes_to_without_and_is_recorded_once") else { return };
    let (python, command) = (python.to_str().expect("text"), format!("{} -m pytest -q", python.display()));
    let project = Project::new(&FILES);
    project.commit("weaker", &[("tests/test_price.py", &TESTS.replace("    assert grown(18)\n", "    assert grown(30)\n"))]);
    let told = |record: &Value| {
        let all = record["mutants"].as_array().expect("mutants");
        all.iter().map(|one| [&one["id"], &one["outcome"], &one["base"]].map(Clone::clone)).collect::<Vec<_>>()
    };
    let (_, without) = probe(&project, &command, &["--compare"]);
    // `python3` is the interpreter that runs the job.
    let (said, by_jobs) = probe(&project, "python3 -m pytest -q", &["--compare", "--python", python, "--runner", "local"]);
    assert_eq!(said.code, Some(2), "{} {}", said.out, said.err);
    assert_eq!(told(&by_jobs), told(&without));
    assert!(counts(&by_jobs)[3] > 0, "{by_jobs}");
    let runs: Value = serde_json::from_slice(&fs::read(project.sandbox.top.join(".seedgate/runs.json")).expect("a record")).expect("JSON");
    let rows = runs["rows"].as_array().expect("rows");
    let of = |side: &str| rows.iter().filter(|row| row["prop_id"].as_str().is_some_and(|id| id.ends_with(side))).count();
    // The twin and each mutant on either side; what looks weakened is asked twice.
    let (mutants, weak) = (told(&without).len(), usize::try_from(counts(&by_jobs)[3]).expect("a number"));
    assert_eq!((of("(patch tests)"), of("(base tests)")), (1 + mutants + weak, 1 + mutants + weak));
    assert!(rows.iter().all(|row| row["kind"] == "probe" && row["runner"] == "local" && row["bound"]["command"].is_string()), "{runs}");
    assert_eq!(project.left(), Vec::<String>::new());
}

#[test]
fn a_job_of_tests_that_breaks_down_is_unknown_and_other_runners_are_not_guessed() {
    let Some(tests) = pytest("a_job_of_tests_that_breaks_down_is_unknown_and_other_runners_are_not_guessed") else { return };
    let project = Project::new(&FILES);
    for (line, before, after, why) in [
        (9, "    return age >= 18", "    return age >= = 18", "SyntaxError"),
        (9, "    return age >= 18", "    import no_such_module", "import error"),
        (4, "        t += x", "        __import__('os').kill(__import__('os').getpid(), 9)", "no report (exit 137)"),
        (4, "        t += x", "        __import__('os').kill(__import__('os').getppid(), 9)", "no report"),
    ] {
        let file = patch(&project, line, before, after);
        let (said, record) = probe(&project, &tests, &["--mutant", &file, "--runner", "local"]);
        let outcome = &record["mutants"][0]["outcome"];
        assert_eq!((said.code, outcome["verdict"].as_str()), (Some(65), Some("unknown")), "{} {}", said.out, said.err);
        assert!(outcome["why"].as_str().is_some_and(|said| said.contains(why)), "{outcome}");
    }
    let script = "import sys\nsys.path.insert(0, 'src')\nimport price\nsys.exit(price.total([1, 2]) != 3 or not price.grown(18))\n";
    project.commit("script", &[("tests/check.py", script)]);
    for (after, code, want) in [("    return age > 18", 0, [1, 0, 0, 0]), ("    return (age", 65, [0, 0, 1, 0])] {
        let file = patch(&project, 9, "    return age >= 18", after);
        let (said, record) = probe(&project, "python3 tests/check.py", &["--mutant", &file, "--runner", "local"]);
        assert_eq!((said.code, counts(&record)), (Some(code), want), "{} {}", said.out, said.err);
    }
    // Red as a job: nothing else is run.
    let red = "import os\n\n\ndef test_red():\n    assert 'MARK' in os.environ\n";
    project.commit("red", &[("tests/test_price.py", red)]);
    let said = project.command(&["probe", "--tests", &tests, "--runner", "local"]).env("MARK", "1").output().expect("seedgate runs");
    let says = String::from_utf8_lossy(&said.stderr).into_owned();
    assert!(said.status.code() == Some(65) && says.contains("run as a job"), "{says}");
    for runner in ["ssh", "remote"] {
        let said = project.seedgate(&["probe", "--tests", "python3 tests/check.py", "--runner", runner]);
        assert_eq!(said.code, Some(69), "{}", said.err);
    }
}
