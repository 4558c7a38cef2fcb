//! The chain from a failing property to a promoted witness, with each exit code, and what may interrupt it.

use std::fs;
use std::process::Stdio;
use std::thread::sleep;
use std::time::Duration;

use serde_json::Value;

use crate::project::{Project, gone, property, python};

const PRICE: &str = "def total(xs):\n    t = 0\n    for x in xs:\n        t += x\n    return t\n\n\ndef clamp(n, low, high):\n    return max(low, min(n, high))\n";
const PLAIN: &str = "from price import clamp\nfrom seedgate_props import bounds\n\n\n@bounds(n=(-1000, 100000))\ndef prop_clamp(n):\n    assert 0 <= clamp(n, 0, 10) <= 10\n";
const LEDGER: &str = ".seedgate/ledger.json";

/// `clamp` forgets its upper end from 4711 on.
fn bug() -> String {
    PRICE.replace("min(n, high)", "min(n, high) if n < 4711 else n")
}

fn plain() -> Project {
    let project = Project::new(&[("src/price.py", PRICE), ("tests/properties/test_price.py", PLAIN)]);
    project.commit("bug", &[("src/price.py", &bug())]);
    project
}

fn ledger(project: &Project) -> Value {
    serde_json::from_slice(&fs::read(project.sandbox.top.join(LEDGER)).expect("a ledger")).expect("a ledger is JSON")
}

/// Runs a command that must end in a code, and gives what it said on either stream.
fn ends(project: &Project, code: i32, arguments: &[&str]) -> String {
    let said = project.seedgate(arguments);
    assert_eq!(said.code, Some(code), "{arguments:?}: {}{}", said.out, said.err);
    said.out + &said.err
}

const RUN: [&str; 6] = ["props", "run", "--trials", "300", "--out", ".seedgate/props.json"];

#[test]
fn a_planted_bug_becomes_a_minimal_witness_that_fails_first_until_it_is_repaired() {
    let project = plain();
    ends(&project, 0, &["ledger", "pin", "--base", "HEAD~1", "--out", LEDGER]);
    ends(&project, 2, &RUN);
    let said = ends(&project, 0, &["ledger", "shrink", "--props", ".seedgate/props.json", "--max-steps", "500"]);
    assert!(said.contains("\n    to    {\"n\":4711}\n") && said.contains("no reducer finds a smaller one"), "{said}");
    let said = ends(&project, 0, &["ledger", "replay-base", "--base", "HEAD~1", "--ledger", LEDGER]);
    assert!(said.starts_with("promote  tests/properties/test_price.py::prop_clamp\n"), "{said}");
    ends(&project, 0, &["ledger", "promote", "--ledger", LEDGER, "--fixtures", "tests/fixtures/promoted/"]);
    let row = ledger(&project)["rows"][0].clone();
    assert_eq!((row["base"].as_str(), row["patch"].as_str(), row["decision"].as_str()), (Some("pass"), Some("fail"), Some("promote")));
    assert_eq!((row["shrunk"]["n"].as_i64(), row["raw"]["n"].as_i64() > Some(4711)), (Some(4711), true), "{row}");

    // Promoted and committed: what the gate lets pass, and what the next run runs first.
    let witness = row["witness"].as_str().expect("a path").to_owned();
    project.sandbox.git(["add", "--", LEDGER, &witness]);
    ends(&project, 0, &["check"]);
    project.sandbox.git(["commit", "-q", "-m", "promote"]);
    let (said, record) = project.run(&["--base", "HEAD~2", "--tree", "production-only", "--trials", "300"]);
    let runs = &property(&record, "prop_clamp")["runs"];
    assert_eq!(
        (said.code, runs[0]["fixture"].as_str(), runs[0]["input"]["n"].as_i64()),
        (Some(2), Some(&witness[..]), Some(4711)),
        "{runs}"
    );

    // Taking it out helps nobody, and repairing the code does.
    project.sandbox.git(["rm", "-q", &witness]);
    assert!(ends(&project, 2, &["check"]).contains("witness_removed"));
    project.sandbox.git(["commit", "-q", "-m", "hide"]);
    let (_, record) = project.run(&["--base", "HEAD~1"]);
    assert_eq!(property(&record, "prop_clamp")["runs"][0]["from"], "promoted");
    project.sandbox.git(["reset", "-q", "--hard", "HEAD~1"]);
    project.commit("repair", &[("src/price.py", PRICE)]);
    let (said, record) = project.run(&[]);
    assert_eq!((said.code, property(&record, "prop_clamp")["runs"][0]["outcome"].as_str()), (Some(0), Some("pass")));
}

#[test]
fn one_command_does_the_chain_and_says_what_to_commit() {
    let project = plain();
    fs::remove_file(project.sandbox.top.join(".seedgate/seeds.txt")).expect("a seed list");
    let said = ends(&project, 2, &["witness", "--trials", "300"]);
    for part in ["failed  tests", "shrunk  tests", "\n    to    {\"n\":4711}\n", "promote  tests", "base pass, patch fail"] {
        assert!(said.contains(part), "{part}: {said}");
    }
    let next = said.lines().last().and_then(|line| line.split_once("git add ")).expect("what to commit").1;
    let paths: Vec<&str> = next.split(' ').collect();
    assert!(
        paths.len() == 3 && paths[..2] == [LEDGER, ".seedgate/seeds.txt"] && paths[2].starts_with("tests/fixtures/promoted/"),
        "{next}"
    );
    project.sandbox.git([&["add", "--"], &paths[..]].concat());
    ends(&project, 0, &["check"]);
    project.sandbox.git(["commit", "-q", "-m", "promote"]);
    // A second time there is nothing new to say, and it still blocks.
    let said = ends(&project, 2, &["witness", "--base", "HEAD~2", "--trials", "300"]);
    assert!(said.contains("on    promoted witness") && !said.contains("shrunk"), "{said}");
    project.commit("repair", &[("src/price.py", PRICE)]);
    let said = ends(&project, 0, &["witness", "--trials", "300"]);
    assert_eq!(said, "seedgate: 1 property: 1 pass; 2401 inputs\n");
}

#[test]
fn a_base_with_the_same_bug_quarantines_and_blocks() {
    let project = Project::new(&[("src/price.py", &bug()), ("tests/properties/test_price.py", PLAIN)]);
    project.commit("something else", &[("src/other.py", "A = 1\n")]);
    let said = ends(&project, 2, &["witness", "--trials", "300"]);
    assert!(said.contains("quarantine  tests") && said.contains("base fail, patch fail"), "{said}");
    assert!(!project.sandbox.top.join("tests/fixtures").exists());
    assert_eq!(ledger(&project)["rows"][0]["decision"], "quarantine");
    project.sandbox.git(["add", "--", LEDGER]);
    assert!(ends(&project, 2, &["check"]).contains("ledger_unresolved"));
    ends(&project, 2, &["ledger", "replay-base", "--base", "HEAD~1"]);
}

#[test]
fn a_base_without_a_verdict_stops_and_is_no_pass() {
    let project = Project::new(&[("src/price.py", &bug())]);
    project.commit("a property", &[("tests/properties/test_price.py", PLAIN)]);
    let full = [&RUN[..], &["--tree", "full"]].concat();
    ends(&project, 2, &full);
    ends(&project, 0, &["ledger", "shrink"]);
    let said = ends(&project, 2, &["ledger", "replay-base", "--base", "HEAD~1"]);
    assert!(said.starts_with("stop  tests") && said.contains("the base has no such property"), "{said}");
    // The promoter has nothing to do with it, and an interpreter that is gone changes nothing in the ledger.
    assert!(ends(&project, 0, &["ledger", "promote"]).contains("nothing is to be promoted"));
    let before = fs::read(project.sandbox.top.join(LEDGER)).expect("a ledger");
    ends(&project, 69, &["ledger", "replay-base", "--base", "HEAD~1", "--python", "none"]);
    assert_eq!(fs::read(project.sandbox.top.join(LEDGER)).expect("a ledger"), before);
    ends(&project, 65, &["ledger", "replay-base", "--base", "HEAD~1", "--ledger", "none.json"]);
}

#[test]
fn what_fails_once_stops_too() {
    let project = Project::new(&[("src/price.py", PRICE)]);
    let flaky = "from seedgate_props import bounds\n\nSEEN = []\n\n\n@bounds(n=(0, 3))\ndef prop_flaky(n):\n    SEEN.append(n)\n    assert len(SEEN) != 3\n";
    project.commit("a property", &[("tests/properties/test_price.py", flaky)]);
    let said = ends(&project, 2, &["witness", "--tree", "full", "--base", "HEAD"]);
    assert!(said.contains("flake  tests") && said.contains("stop  tests") && said.contains("base not asked, patch flake"), "{said}");
}

#[test]
fn a_pinned_file_that_moved_stops_every_later_step_and_is_named() {
    let project = plain();
    ends(&project, 0, &["ledger", "pin", "--base", "HEAD~1"]);
    ends(&project, 2, &RUN);
    ends(&project, 0, &["ledger", "shrink"]);
    project.commit("narrower", &[("tests/properties/test_price.py", &PLAIN.replace("100000", "10"))]);
    let says = "tests/properties/test_price.py: property module changed";
    for command in [&["props", "run"][..], &["ledger", "replay-base", "--base", "HEAD"], &["witness"]] {
        let said = ends(&project, 2, command);
        assert!(said.contains("it is not the same check") && said.contains(says), "{command:?}: {said}");
    }
    // The record is of the commit before, so shrinking goes on; one of this commit would not.
    ends(&project, 0, &["ledger", "shrink"]);
}

#[test]
fn a_freeze_entry_of_a_property_with_a_witness_is_refused_and_closed_by_promotion() {
    let project = plain();
    let entry = "{\"schema\":\"seedgate.freeze/1\",\"entries\":[{\"test\":\"tests/properties/test_price.py::prop_clamp\",\"owner\":\"ada\",\"expires\":\"2999-01-01\",\"token\":{\"verdict\":\"freeze_eligible\",\"fixture_digest\":\"0000000000000000000000000000000000000000000000000000000000000000\"}}]}";
    project.sandbox.write(".seedgate/freeze.json", entry);
    let said = ends(&project, 2, &["freeze", "check", "--ledger", LEDGER, "--freeze", ".seedgate/freeze.json"]);
    assert!(said.contains("properties are never frozen"), "{said}");
    let said = ends(&project, 2, &["witness", "--trials", "300"]);
    assert!(said.contains("freeze entry of tests/properties/test_price.py::prop_clamp taken out"), "{said}");
    assert!(said.lines().last().is_some_and(|line| line.contains(" .seedgate/freeze.json")), "{said}");
    ends(&project, 0, &["freeze", "check"]);
}

#[test]
fn a_reducer_is_believed_in_nothing() {
    for (offers, found) in [
        // In the domain and failing: taken, and shrunk further.
        ("echo '{\"n\":5000}'", "1 offered, 1 kept"),
        // Passing, out of the domain, of another argument, noise.
        ("echo '{\"n\":1}'; echo '{\"n\":100001}'; echo '{\"m\":1}'; echo noise", "3 offered, 0 kept, 1 unreadable"),
        ("exit 1", "0 offered, 0 kept"),
    ] {
        let project = plain();
        ends(&project, 2, &RUN);
        let said = ends(&project, 0, &["ledger", "shrink", "--reducer", offers]);
        assert!(said.contains("\n    to    {\"n\":4711}\n") && said.contains(found), "{offers}: {said}");
    }
    let project = plain();
    ends(&project, 2, &RUN);
    let said = ends(&project, 0, &["ledger", "shrink", "--max-steps", "1", "--reducer", "echo '{\"n\":5000}'; echo '{\"n\":4999}'"]);
    assert!(said.contains("to    {\"n\":5000}") && said.contains("more steps may find a smaller one"), "{said}");
}

#[test]
#[cfg(target_os = "linux")]
fn a_ledger_command_that_is_killed_leaves_a_whole_ledger_and_no_process() {
    let slow = PLAIN.replace("    assert", "    import time; time.sleep(0.02)\n    assert");
    let project = Project::new(&[("src/price.py", PRICE), ("tests/properties/test_price.py", &slow)]);
    project.commit("bug", &[("src/price.py", &bug())]);
    ends(&project, 0, &["ledger", "pin", "--base", "HEAD~1"]);
    ends(&project, 2, &RUN);
    let before = fs::read(project.sandbox.top.join(LEDGER)).expect("a ledger");
    let kill = |arguments: &[&str], after: u64| {
        let mut child = project.command(arguments).stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("seedgate");
        sleep(Duration::from_millis(after));
        let _ = child.kill();
        let _ = child.wait();
        assert!(gone(&project.temporary().display().to_string()));
        serde_json::from_slice::<Value>(&fs::read(project.sandbox.top.join(LEDGER)).expect("a ledger")).expect("a whole ledger")
    };
    for after in [1, 150, 400, 800] {
        let rows = kill(&["ledger", "shrink"], after)["rows"].as_array().map_or(0, Vec::len);
        assert!(rows <= 1);
    }
    assert!(fs::read(project.sandbox.top.join(LEDGER)).is_ok_and(|now| now == before || now.len() > before.len()));
    ends(&project, 0, &["ledger", "shrink"]);
    for after in [1, 150, 400, 800] {
        let row = kill(&["ledger", "replay-base", "--base", "HEAD~1"], after)["rows"][0].clone();
        assert!(row["decision"].is_null() || row["decision"] == "promote", "{row}");
    }
    ends(&project, 0, &["ledger", "replay-base", "--base", "HEAD~1"]);
    assert_eq!(ledger(&project)["rows"][0]["shrunk"]["n"], 4711);
}

#[test]
fn hypothesis_parametrize_and_plain_properties_go_through_the_chain_together() {
    let Some(python) = python("hypothesis_parametrize_and_plain_properties_go_through_the_chain_together") else { return };
    let tests = "import pytest\nfrom hypothesis import given, strategies as st\nfrom price import clamp, total\nfrom seedgate_props import bounds\n\n\n\
        @given(st.lists(st.integers(-1000, 1000), max_size=50))\ndef test_total_is_the_sum(xs):\n    assert total(xs) == sum(xs)\n\n\n\
        @pytest.mark.parametrize('n', [-5, 0, 5, 5000])\ndef test_clamp_cases(n):\n    assert 0 <= clamp(n, 0, 10) <= 10\n\n\n\
        @bounds(n=(-1000, 100000))\ndef prop_clamp(n):\n    assert 0 <= clamp(n, 0, 10) <= 10\n";
    let project = Project::new(&[("src/price.py", PRICE), ("tests/properties/test_price.py", tests)]);
    // It loses an item when two equal ones follow each other, and its upper end.
    let broken =
        bug().replace("    for x in xs:\n", "    xs = [x for i, x in enumerate(xs) if i == 0 or x != xs[i - 1]]\n    for x in xs:\n");
    project.commit("bugs", &[("src/price.py", &broken)]);
    let said = ends(&project, 2, &["witness", "--trials", "400", "--python", python.to_str().expect("text")]);
    for (name, input) in [("test_total_is_the_sum", "{\"xs\":[1,1]}"), ("test_clamp_cases", "{\"n\":5000}"), ("prop_clamp", "{\"n\":4711}")]
    {
        assert!(said.contains(&format!("promote  tests/properties/test_price.py::{name}\n    input {input}\n")), "{name}: {said}");
    }
    assert_eq!(fs::read_dir(project.sandbox.top.join("tests/fixtures/promoted")).expect("witnesses").count(), 3);
}
