//! The levels of rules, in whole repositories: what the base's policy makes of a change, and what it never does.

use serde_json::Value;

use crate::sandbox::Sandbox;

const TESTS: &str = "tests/test_a.py";
const TWO: &str = "def test_a():\n    assert f(1)\n    assert f(2)\n";
const ONE: &str = "def test_a():\n    assert f(1)\n";

/// A project whose policy is committed, and what is staged on top.
fn staged(policy: &str, files: &[(&str, &str)]) -> Sandbox {
    let sandbox = Sandbox::new(&[]);
    sandbox.write(".seedgate/config.toml", format!("schema = \"seedgate.config/1\"\n{policy}"));
    sandbox.write("src/a.py", "def f(x):\n    return x\n");
    sandbox.write(TESTS, TWO);
    sandbox.commit_all("base");
    files.iter().for_each(|(path, text)| sandbox.write(path, text));
    sandbox.git(["add", "-A"]);
    sandbox
}

fn check(sandbox: &Sandbox, arguments: &[&str]) -> (i32, String) {
    let mut command = sandbox.command(env!("CARGO_BIN_EXE_seedgate"));
    let output = command.env("SEEDGATE_DAEMON", "off").args([&["check", "--cold"], arguments].concat()).output().expect("seedgate runs");
    let said = [output.stdout.as_slice(), &output.stderr].concat();
    (output.status.code().expect("an exit code"), String::from_utf8_lossy(&said).into_owned())
}

#[test]
fn the_level_decides_exit_text_and_record() {
    for (policy, exit, decision) in [
        ("", 2, "refused"),
        ("[rules]\nassertion_removed = \"refuse\"\n", 2, "refused"),
        ("[rules]\nassertion_removed = \"review\"\n", 4, "waived"),
        ("[rules]\nassertion_removed = \"off\"\n", 0, "clear"),
        ("[[rules.for]]\npaths = [\"tests/**\"]\nassertion_removed = \"off\"\n", 0, "clear"),
        ("[[rules.for]]\npaths = [\"other/**\"]\nassertion_removed = \"off\"\n", 2, "refused"),
    ] {
        let sandbox = staged(policy, &[(TESTS, ONE)]);
        let (code, text) = check(&sandbox, &["--json"]);
        let found: Value = serde_json::from_str(&text).expect("JSON");
        let commit = &found["commits"][0];
        assert_eq!((code, commit["decision"].as_str()), (exit, Some(decision)), "{policy}: {text}");
        let (findings, off) = (commit["findings"].as_array().expect("findings"), exit == 0);
        assert_eq!(findings.len(), usize::from(!off), "{policy}");
        assert_eq!(commit["silenced"], if off { serde_json::json!({"assertion_removed": 1}) } else { serde_json::json!({}) });
        assert!(off || findings[0]["exit"] == exit && findings[0]["rule"] == "assertion_removed", "{text}");
        let (_, text) = check(&sandbox, &[]);
        assert_eq!(text.contains("off by policy, so not refused: assertion_removed 1"), off, "{text}");
    }
}

#[test]
fn a_change_cannot_relax_its_own_rules() {
    let off = "schema = \"seedgate.config/1\"\n[rules]\nassertion_removed = \"off\"\n";
    let sandbox = staged("", &[(TESTS, ONE), (".seedgate/config.toml", off)]);
    let (code, text) = check(&sandbox, &[]);
    assert_eq!(code, 2, "{text}");
    assert!(text.contains("assertion_removed  tests/test_a.py::test_a") && text.contains("policy_changed"), "{text}");
}

#[test]
fn a_test_moved_under_a_softer_level_is_held_at_the_harder() {
    let policy = "[[rules.for]]\npaths = [\"tests/legacy/**\"]\nassertion_removed = \"off\"\nproperty_removed = \"off\"\n";
    let sandbox = staged(policy, &[("tests/legacy/test_a.py", ONE)]);
    sandbox.git(["rm", "-q", "--cached", TESTS]);
    let (code, text) = check(&sandbox, &[]);
    assert_eq!(code, 2, "{text}");
}

#[test]
fn a_level_for_what_keeps_the_gate_honest_stops_the_judgement() {
    let sandbox = staged("\n[rules]\nwaiver_invalid = \"off\"\n", &[(TESTS, ONE)]);
    let (code, text) = check(&sandbox, &[]);
    assert_eq!(code, 65, "{text}");
    assert!(text.contains(".seedgate/config.toml:4: waiver_invalid keeps the gate itself honest"), "{text}");
}

#[test]
fn a_waiver_for_what_is_only_reviewed_still_waives() {
    let sandbox = staged("[rules]\nassertion_removed = \"review\"\n", &[(TESTS, ONE)]);
    let waiver = |arguments: &[&str]| {
        let mut command = sandbox.command(env!("CARGO_BIN_EXE_seedgate"));
        command.env("SEEDGATE_DAEMON", "off").args([&["waiver", "new"], arguments].concat()).output().expect("seedgate runs")
    };
    let all = waiver(&["--all"]);
    assert_eq!(all.status.code(), Some(64), "{}", String::from_utf8_lossy(&all.stderr));
    assert_eq!(waiver(&["test_a"]).status.code(), Some(0));
}
