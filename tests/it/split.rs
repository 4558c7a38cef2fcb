//! What `split` takes for messages, and what it keeps out of.

use crate::gate::{code, project, said, seedgate};
use crate::sandbox::Sandbox;

const PRODUCTION: &str = "src/app.py";
const TESTS: &str = "tests/test_unit.py";

fn stage_both(sandbox: &Sandbox) {
    sandbox.write(PRODUCTION, "def f(x):\n    return x ** 2\n");
    sandbox.write(TESTS, "def test_two():\n    assert 2\n\n\ndef test_new():\n    assert 3\n");
    sandbox.git(["add", "-A"]);
}

/// Runs git, which stops at a conflict.
fn stops(sandbox: &Sandbox, arguments: &[&str]) {
    let output = sandbox.command("git").args(arguments).output().expect("git runs");
    assert!(!output.status.success(), "{arguments:?} stops");
}

#[test]
fn a_message_is_kept_as_git_keeps_it_and_the_tests_are_told_in_its_first_line() {
    for (messages, production, tests) in [
        (&["square"][..], "square\n", "square (tests)\n"),
        (&["square\n\nbecause"], "square\n\nbecause\n", "square (tests)\n\nbecause\n"),
        (&["\nsquare \n\n"], "square\n", "square (tests)\n"),
        (&["-x", "--tests-first"], "-x\n", "--tests-first\n"),
    ] {
        let sandbox = project(&[]);
        stage_both(&sandbox);
        let arguments: Vec<&str> = messages.iter().flat_map(|text| ["-m", text]).collect();
        let output = seedgate(&sandbox, &[&["split"], arguments.as_slice()].concat());
        assert_eq!(code(&output), 3, "{}", said(&output));
        for (commit, message) in [("HEAD^", production), ("HEAD", tests)] {
            let object = String::from_utf8(sandbox.git(["cat-file", "commit", commit])).expect("text");
            assert_eq!(object.split_once("\n\n").map(|(_, message)| message), Some(message));
        }
    }
}

#[test]
fn an_empty_message_moves_nothing() {
    let sandbox = project(&[]);
    stage_both(&sandbox);
    let head = sandbox.line(["rev-parse", "HEAD"]);
    for arguments in [&["-m", ""][..], &["-m", " \n"], &["-m", "square", "-m", ""]] {
        let output = seedgate(&sandbox, &[&["split"], arguments].concat());
        assert_eq!((code(&output), sandbox.line(["rev-parse", "HEAD"])), (64, head.clone()), "{}", said(&output));
        assert!(said(&output).contains("a message is empty"), "{}", said(&output));
    }
}

#[test]
fn what_git_is_in_the_middle_of_is_not_split() {
    let patch = "../theirs.patch";
    for (init, command, operation) in [
        (&[][..], &["merge", "-q", "theirs"][..], "merge"),
        (&[], &["cherry-pick", "theirs"], "cherry-pick"),
        (&[], &["revert", "--no-edit", "older"], "revert"),
        (&[], &["rebase", "--merge", "theirs"], "rebase"),
        (&[], &["rebase", "--apply", "theirs"], "rebase"),
        (&[], &["am", "-q", "-3", patch], "patch application"),
        (&["--ref-format=reftable"], &["cherry-pick", "theirs"], "cherry-pick"),
        (&["--ref-format=reftable"], &["revert", "--no-edit", "older"], "revert"),
    ] {
        let sandbox = project(init);
        sandbox.git(["checkout", "-q", "-b", "theirs"]);
        sandbox.write(PRODUCTION, "def f(x):\n    return x * x * 1\n");
        sandbox.commit_all("theirs");
        std::fs::write(sandbox.top.join(patch), sandbox.git(["format-patch", "-1", "--stdout"])).expect("a patch");
        sandbox.git(["checkout", "-q", "main"]);
        for text in ["x * x * 2", "x * x * 3"] {
            sandbox.write(PRODUCTION, format!("def f(x):\n    return {text}\n"));
            sandbox.commit_all(text);
        }
        sandbox.git(["branch", "older", "HEAD^"]);
        stops(&sandbox, command);
        stage_both(&sandbox);
        let head = sandbox.line(["rev-parse", "HEAD"]);
        let output = seedgate(&sandbox, &["split", "-m", "x"]);
        assert_eq!((code(&output), sandbox.line(["rev-parse", "HEAD"])), (65, head), "{command:?}: {}", said(&output));
        assert!(said(&output).contains(&format!("while a {operation} is in progress")), "{command:?}: {}", said(&output));
    }
}

#[test]
fn a_commit_that_a_rebase_stopped_for_may_be_split() {
    let sandbox = project(&[]);
    let base = sandbox.line(["rev-parse", "HEAD"]);
    stage_both(&sandbox);
    sandbox.commit_all("mixed");
    sandbox.write("README", "later\n");
    sandbox.commit_all("later");
    let rebase = ["rebase", "-q", "-i", base.as_str()];
    let edit = sandbox.command("git").env("GIT_SEQUENCE_EDITOR", "sed -i 1s/pick/edit/").args(rebase).output().expect("git runs");
    assert!(edit.status.success());
    sandbox.git(["reset", "-q", "--soft", "HEAD^"]);
    let output = seedgate(&sandbox, &["split", "-m", "square"]);
    assert_eq!(code(&output), 3, "{}", said(&output));
    sandbox.git(["rebase", "--continue"]);
    assert_eq!(sandbox.line(["log", "--format=%s", &format!("{base}..")]), "later\nsquare (tests)\nsquare");
}
