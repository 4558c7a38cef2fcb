//! Cards, deltas and waivers by the program itself, on scratch repositories.

use std::path::Path;
use std::process::Output;

use serde_json::Value;

use crate::sandbox::Sandbox;

const BASE: &str = "\
import pytest
from hypothesis import given
from hypothesis import strategies as st
from shop.total import clamp, total


@given(n=st.integers(min_value=0, max_value=100))
def test_clamp(n):
    assert clamp(n) >= 0
    assert clamp(n) <= 100


@pytest.mark.parametrize('qty, want', [(1, 2), (3, 6)])
def test_total(qty, want):
    assert total(qty) == want


def test_empty():
    assert total(0) == 0
    assert total(-1) == 0
";
const FILE: &str = "tests/test_total.py";

fn shop() -> Sandbox {
    let sandbox = Sandbox::new(&[]);
    sandbox.write("shop/total.py", "def total(qty):\n    return max(0, qty) * 2\n");
    sandbox.write(FILE, BASE);
    sandbox.commit_all("base");
    sandbox
}

/// Stages the test file with a text replaced.
fn staged(sandbox: &Sandbox, from: &str, to: &str) {
    assert!(BASE.contains(from), "{from}");
    sandbox.write(FILE, BASE.replace(from, to));
    sandbox.git(["add", "-A"]);
}

fn seedgate(sandbox: &Sandbox, arguments: &[&str]) -> Output {
    let mut command = sandbox.command(env!("CARGO_BIN_EXE_seedgate"));
    command.env("SEEDGATE_DAEMON", "off").env("XDG_CACHE_HOME", sandbox.beside("cache"));
    command.args(arguments).output().expect("seedgate runs")
}

fn exit(output: &Output) -> Option<i32> {
    output.status.code()
}

fn said(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

/// Rule, property and words of every finding of what is staged.
fn findings(sandbox: &Sandbox) -> Vec<(String, String, String)> {
    let output = seedgate(sandbox, &["check", "--json", "--cold"]);
    let verdict: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("a verdict: {}", said(&output)));
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let all = verdict["commits"].as_array().into_iter().flatten().flat_map(|commit| commit["findings"].as_array().into_iter().flatten());
    all.map(|finding| (text(&finding["rule"]), text(&finding["property"]), text(&finding["says"]))).collect()
}

fn rules(sandbox: &Sandbox) -> Vec<String> {
    findings(sandbox).into_iter().map(|(rule, ..)| rule).collect()
}

fn draft_of(sandbox: &Sandbox) -> String {
    let mut names: Vec<String> = std::fs::read_dir(sandbox.top.join("docs/waivers"))
        .expect("the folder")
        .map(|entry| entry.expect("an entry").file_name().into_string().expect("a name"))
        .collect();
    assert_eq!(names.len(), 1, "{names:?}");
    format!("docs/waivers/{}", names.remove(0))
}

fn complete(sandbox: &Sandbox, path: &str) -> String {
    let text = std::fs::read_to_string(sandbox.top.join(path)).expect("a draft");
    let text = text.replace("spec = \"\"", "spec = \"https://example.invalid/17\"") + "\nNegative quantities are refused earlier now.\n";
    sandbox.write(path, &text);
    text
}

#[test]
fn weakenings_are_refused_by_rule_and_honest_changes_are_not() {
    let table: [(&str, &str, &str, &[&str]); 9] = [
        ("bound narrowed", "max_value=100", "max_value=50", &["bound_narrowed"]),
        ("bound widened", "max_value=100", "max_value=200", &[]),
        ("case removed", ", (3, 6)", "", &["case_removed"]),
        ("case swapped", "(3, 6)", "(4, 8)", &["case_removed"]),
        ("case added", "(3, 6)", "(3, 6), (4, 8)", &[]),
        ("assertion removed", "    assert clamp(n) <= 100\n", "", &["assertion_removed"]),
        ("assertions merged", "n) >= 0\n    assert clamp(n) <= 100", "n) >= 0 and clamp(n) <= 100", &[]),
        ("test removed", "def test_empty():\n    assert total(0) == 0\n    assert total(-1) == 0\n", "", &["property_removed"]),
        ("test taken out of collection", "def test_empty", "def check_empty", &["property_removed"]),
    ];
    for (name, from, to, wanted) in table {
        let sandbox = shop();
        staged(&sandbox, from, to);
        assert_eq!(rules(&sandbox), wanted, "{name}: {:?}", findings(&sandbox));
    }
}

#[test]
fn a_row_pays_for_an_assertion_only_with_its_value() {
    let table =
        "\n\n@pytest.mark.parametrize('qty, want', [(-1, 0), (-2, 0)])\ndef test_below(qty, want):\n    assert total(qty) == want\n";
    let sandbox = shop();
    staged(&sandbox, "    assert total(-1) == 0\n", table);
    assert_eq!(rules(&sandbox), ["new_property"], "{:?}", findings(&sandbox));
    staged(&sandbox, "    assert total(-1) == 0\n", &table.replace("(-1, 0)", "(-3, 0)"));
    let lost = findings(&sandbox).remove(0);
    assert_eq!((lost.0.as_str(), lost.1.as_str()), ("assertion_removed", "tests/test_total.py::test_empty"));
    assert_eq!(lost.2, "assertions 2 -> 1: lost \"assert total(-1) == 0\"");
}

#[test]
fn an_assertion_may_go_to_a_helper_that_the_test_calls() {
    let helper = |body: &str| {
        BASE.replace("@given", &format!("def check(got):\n{body}\n\n@given"))
            .replace("    assert clamp(n) >= 0\n    assert clamp(n) <= 100\n", "    check(clamp(n))\n")
    };
    let sandbox = shop();
    sandbox.write(FILE, helper("    assert got >= 0\n    assert got <= 100\n"));
    sandbox.git(["add", "-A"]);
    assert_eq!(rules(&sandbox), [] as [&str; 0], "{:?}", findings(&sandbox));
    sandbox.write(FILE, helper("    assert got >= 0\n"));
    sandbox.git(["add", "-A"]);
    assert_eq!(rules(&sandbox), ["assertion_removed"], "{:?}", findings(&sandbox));
}

#[test]
fn an_assertion_that_only_seems_to_move_is_lost() {
    let clamp = "    assert clamp(n) >= 0\n    assert clamp(n) <= 100\n";
    let below = "    assert total(-1) == 0\n";
    let drawn =
        |high: &str, body: &str| format!("    assert clamp(n) >= 0\n\n\n@given(n=st.integers(0, {high}))\ndef test_high(n):\n{body}");
    let table = [
        ("to a test that draws the same", clamp, drawn("100", "    assert clamp(n) <= 100\n"), true),
        ("to a test that draws less", clamp, drawn("9", "    assert clamp(n) <= 100\n"), false),
        ("behind a filter", clamp, drawn("100", "    assume(n < 5)\n    assert clamp(n) <= 100\n"), false),
        ("behind a condition", clamp, drawn("100", "    if n < 0:\n        assert clamp(n) <= 100\n"), false),
        ("behind an early return", clamp, drawn("100", "    if n > 5:\n        return\n    assert clamp(n) <= 100\n"), false),
        (
            "where its failure is swallowed",
            clamp,
            drawn("100", "    try:\n        assert clamp(n) <= 100\n    except AssertionError:\n        pass\n"),
            false,
        ),
        (
            "into a function that nobody calls",
            clamp,
            "    assert clamp(n) >= 0\n\n    def later():\n        return clamp(n) <= 100\n".to_owned(),
            false,
        ),
        ("to a new test", below, "\n\ndef test_below():\n    assert total(-1) == 0\n".to_owned(), true),
        ("to a method", below, "\n\nclass TestBelow:\n    def test_below(self):\n        assert total(-1) == 0\n".to_owned(), true),
        (
            "to a class that is not collected",
            below,
            "\n\nclass Below:\n    def test_below(self):\n        assert total(-1) == 0\n".to_owned(),
            false,
        ),
        ("to a function that is not collected", below, "\n\ndef below():\n    assert total(-1) == 0\n".to_owned(), false),
        ("to a test with another total", below, "\n\ndef test_below():\n    total = abs\n    assert total(-1) == 0\n".to_owned(), false),
        (
            "to a test whose loop is empty",
            below,
            "\n\ndef test_below():\n    for n in []:\n        assert total(-1) == 0\n".to_owned(),
            false,
        ),
        (
            "to a loop over its value",
            below,
            "\n\ndef test_below():\n    for n in [-1, -2]:\n        assert total(n) == 0\n".to_owned(),
            true,
        ),
        (
            "to a method of unittest",
            below,
            "\n\nclass BelowCase(unittest.TestCase):\n    def test_below(self):\n        self.assertEqual(total(-1), 0)\n".to_owned(),
            true,
        ),
        ("to another expectation", below, "\n\ndef test_below():\n    assert total(-1) == -0.0\n".to_owned(), false),
    ];
    for (name, from, to, held) in table {
        let sandbox = shop();
        staged(&sandbox, from, &to);
        let found = findings(&sandbox);
        assert_eq!(!found.iter().any(|(rule, ..)| rule == "assertion_removed"), held, "{name}: {found:?}");
    }
}

#[test]
fn card_files_are_written_compared_and_recorded() {
    let sandbox = shop();
    let (base, patch, out) = ("base.json", "patch.json", "delta.json");
    assert_eq!(exit(&seedgate(&sandbox, &["cards", "snapshot", "--rev", "HEAD", "--out", base])), Some(0));
    assert_eq!(exit(&seedgate(&sandbox, &["cards", "diff", "--base", base, "--patch", base, "--out", out])), Some(0));
    let record = |name: &str| std::fs::read_to_string(sandbox.top.join(name)).expect("a file");
    assert!(record(out).contains("\"decision\": \"strength_ok\""), "{}", record(out));
    staged(&sandbox, "max_value=100", "max_value=50");
    assert_eq!(exit(&seedgate(&sandbox, &["cards", "snapshot", "--out", patch])), Some(0));
    let diff = seedgate(&sandbox, &["cards", "diff", "--base", base, "--patch", patch, "--out", out]);
    assert_eq!(exit(&diff), Some(2), "{}", said(&diff));
    assert!(record(out).contains("\"rule\": \"bound_narrowed\""), "{}", record(out));
    let json = seedgate(&sandbox, &["cards", "diff", "--base", patch, "--patch", base, "--json"]);
    assert_eq!((exit(&json), json.stdout.starts_with(b"{\n  \"schema\": \"seedgate.delta/1\"")), (Some(0), true));
    let snapshot = seedgate(&sandbox, &["cards", "snapshot", "--rev", "HEAD"]);
    assert_eq!(said(&snapshot), record(base), "the same tree gives the same bytes");
}

#[test]
fn an_opaque_domain_under_the_strict_property_paths_stops_a_snapshot_by_name() {
    let sandbox = shop();
    sandbox.write(".seedgate/config.toml", "schema = \"seedgate.config/1\"\nproperties = [\"tests/properties/**\"]\n");
    sandbox.write(
        "tests/properties/test_odd.py",
        "from hypothesis import given\nfrom shop.gen import things\n\n@given(things())\ndef test_odd(thing):\n    assert thing\n",
    );
    sandbox.git(["add", "-A"]);
    let refused = seedgate(&sandbox, &["cards", "snapshot", "--out", "cards.json"]);
    assert_eq!(exit(&refused), Some(65), "{}", said(&refused));
    assert!(said(&refused).contains("tests/properties/test_odd.py::test_odd"), "{}", said(&refused));
    assert!(!sandbox.top.join("cards.json").exists());
    let allowed = seedgate(&sandbox, &["cards", "snapshot", "--allow-opaque", "--out", "cards.json"]);
    assert_eq!(exit(&allowed), Some(0), "{}", said(&allowed));
}

#[test]
fn a_card_is_shown_by_an_unambiguous_name() {
    let sandbox = shop();
    let shown = seedgate(&sandbox, &["cards", "show", "test_clamp"]);
    assert_eq!(exit(&shown), Some(0), "{}", said(&shown));
    assert!(said(&shown).contains("n: 0 .. 100") && said(&shown).contains("assert clamp(n) <= 100"), "{}", said(&shown));
    let json = seedgate(&sandbox, &["cards", "show", "test_total", "--json"]);
    let card: Value = serde_json::from_slice(&json.stdout).expect("a card");
    assert_eq!((card["domain_size"].as_str(), card["case_keys"].as_array().map(Vec::len)), (Some("2"), Some(2)), "{card}");
    assert_eq!(exit(&seedgate(&sandbox, &["cards", "show", "test_none"])), Some(64));
}

#[test]
fn a_waiver_is_drafted_completed_and_waives_exactly_what_it_names() {
    let sandbox = shop();
    staged(&sandbox, "    assert total(-1) == 0\n", "");
    let drafted = seedgate(&sandbox, &["waiver", "new", "test_empty"]);
    assert_eq!(exit(&drafted), Some(0), "{}", said(&drafted));
    let path = draft_of(&sandbox);
    assert!(said(&drafted).contains(&format!("drafted {path}")), "{}", said(&drafted));
    sandbox.git(["add", "-A"]);
    assert_eq!(rules(&sandbox), ["assertion_removed", "waiver_invalid"], "a draft waives nothing");
    let whole = complete(&sandbox, &path);
    assert_eq!(exit(&seedgate(&sandbox, &["waiver", "check", &path])), Some(0), "before it is staged");
    sandbox.git(["add", "-A"]);
    assert_eq!(rules(&sandbox), ["waived"]);
    assert_eq!(exit(&seedgate(&sandbox, &["check"])), Some(4));
    let check = seedgate(&sandbox, &["waiver", "check"]);
    assert_eq!(exit(&check), Some(0), "{}", said(&check));
    sandbox.write(&path, whole.replace("assertion_count = 2", "assertion_count = 3"));
    sandbox.git(["add", "-A"]);
    assert_eq!(rules(&sandbox), ["assertion_removed", "waiver_invalid"]);
    assert_eq!(exit(&seedgate(&sandbox, &["waiver", "check"])), Some(2));
    sandbox.write(&path, &whole);
    staged(&sandbox, "    assert total(0) == 0\n    assert total(-1) == 0\n", "    pass\n");
    assert_eq!(rules(&sandbox), ["assertion_removed", "waiver_invalid"], "more is lost than it names");
}

#[test]
fn all_drafts_are_of_what_a_waiver_can_settle_and_are_not_overwritten() {
    let sandbox = shop();
    sandbox.write("tests/fixtures/rates.json", "[1]");
    sandbox.commit_all("a fixture");
    sandbox.write("tests/fixtures/rates.json", "[2]");
    staged(&sandbox, "max_value=100", "max_value=50");
    let all = seedgate(&sandbox, &["waiver", "new", "--all"]);
    assert_eq!(said(&all).matches("drafted docs/waivers/").count(), 2, "{}", said(&all));
    let again = seedgate(&sandbox, &["waiver", "new", "--fixture", "tests/fixtures/rates.json"]);
    assert!(said(&again).contains("was there already"), "{}", said(&again));
    assert_eq!(exit(&seedgate(&sandbox, &["waiver", "new", "test_total"])), Some(64), "it holds");
    for entry in std::fs::read_dir(sandbox.top.join("docs/waivers")).expect("the folder") {
        let name = entry.expect("an entry").file_name().into_string().expect("a name");
        complete(&sandbox, &format!("docs/waivers/{name}"));
    }
    sandbox.git(["add", "-A"]);
    assert_eq!(rules(&sandbox), ["waived", "waived"], "{:?}", findings(&sandbox));
    let list = seedgate(&sandbox, &["waiver", "list"]);
    assert!(said(&list).starts_with("seedgate: 2 waivers\n"), "{}", said(&list));
}

#[cfg(unix)]
#[test]
fn no_draft_is_written_through_a_linked_folder() {
    let sandbox = shop();
    let elsewhere = sandbox.beside("elsewhere");
    std::fs::create_dir(&elsewhere).expect("a folder");
    std::os::unix::fs::symlink(&elsewhere, sandbox.top.join("docs")).expect("a link");
    staged(&sandbox, "max_value=100", "max_value=50");
    let refused = seedgate(&sandbox, &["waiver", "new", "--all"]);
    assert_eq!(exit(&refused), Some(70), "{}", said(&refused));
    assert_eq!(std::fs::read_dir(&elsewhere).expect("the folder").count(), 0);
    assert!(!Path::new(&sandbox.top).join("docs/waivers").exists());
}
