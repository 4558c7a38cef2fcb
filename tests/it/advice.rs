//! What a refusal says to do next: the commands do it when they are pasted.

use std::path::Path;

use crate::gate::{BOTH, PROPS, SMALL, code, project, props, said, seedgate};
use crate::sandbox::Sandbox;

const WEAK: [&str; 1] = ["f(x) >= 0"];

/// Pastes a line into a shell that finds the program, in a folder of the work tree.
fn paste(sandbox: &Sandbox, folder: &str, line: &str) -> String {
    let program = Path::new(env!("CARGO_BIN_EXE_seedgate")).parent().expect("a folder");
    let path = format!("{}:{}", program.display(), std::env::var("PATH").expect("a PATH"));
    let mut shell = sandbox.command("sh");
    shell.current_dir(sandbox.top.join(folder)).env("PATH", path).env("SEEDGATE_DAEMON", "off");
    let output = shell.args(["-c", line]).output().expect("a shell");
    assert!(output.status.success(), "{line}: {}", said(&output));
    said(&output)
}

/// What stands behind `start` on its line.
fn after<'t>(text: &'t str, start: &str) -> &'t str {
    let found = text.lines().find_map(|line| line.split_once(start)).unwrap_or_else(|| panic!("{start} in {text}"));
    found.1
}

#[test]
fn a_staged_weakening_is_waived_by_the_commands_it_names_from_any_folder() {
    for (path, folder) in [(PROPS, "."), (PROPS, "src"), ("-odd/test_it's a.py", "src"), ("tests/properties/test_\n.py", ".")] {
        let sandbox = project(&[]);
        sandbox.write(path, props(&BOTH));
        sandbox.commit_all("strong");
        sandbox.write(path, props(&WEAK));
        sandbox.git(["add", "-A"]);
        let refusal = said(&seedgate(&sandbox, &["check"]));
        let drafted = paste(&sandbox, folder, after(&refusal, "restore it, or: "));
        paste(&sandbox, folder, after(&drafted, "then: "));
        assert!(sandbox.line(["diff", "--cached", "--name-only"]).contains("docs/waivers/"), "{path}");
    }
}

#[test]
fn a_committed_weakening_is_waived_by_the_command_it_names() {
    let sandbox = project(&[]);
    sandbox.write(PROPS, props(&WEAK));
    sandbox.commit_all("weak");
    sandbox.write("README", "later\n");
    sandbox.commit_all("later");
    let refusal = said(&seedgate(&sandbox, &["check", "--base", "HEAD~2"]));
    let drafted = paste(&sandbox, ".", after(&refusal, "amend that commit with: "));
    let draft = std::fs::read_to_string(sandbox.top.join(after(&drafted, "drafted "))).expect("a draft");
    assert!(draft.contains(SMALL), "{draft}");
}

#[test]
fn a_mixed_commit_is_told_how_to_be_taken_apart_and_a_split_that_is_refused_how_to_go_on() {
    let sandbox = project(&[]);
    sandbox.write("src/app.py", "def f(x):\n    return x ** 2\n");
    sandbox.write(PROPS, props(&WEAK));
    sandbox.git(["add", "-A"]);
    assert!(said(&seedgate(&sandbox, &["check"])).contains("run `seedgate split -m 'what and why'`"));
    // Its halves are no commits that anybody can amend.
    assert!(said(&seedgate(&sandbox, &["split", "-m", "x"])).contains("restore it, or: seedgate waiver new tests"));
    let mixed = sandbox.commit_all("mixed");
    let refusal = said(&seedgate(&sandbox, &["check", "--base", "HEAD^"]));
    assert!(refusal.contains(&format!("git rebase -i {}^`", &mixed.as_str()[..12])), "{refusal}");
}

#[test]
fn a_bare_repository_has_nothing_staged_and_its_commits_are_judged() {
    let sandbox = project(&[]);
    sandbox.write(PROPS, props(&WEAK));
    sandbox.commit_all("weak");
    let bare = sandbox.beside("bare.git");
    sandbox.git(["clone", "-q", "--bare", ".", "../bare.git"]);
    let index = sandbox.beside("index");
    sandbox.git_with(["read-tree", "HEAD"], &[("GIT_INDEX_FILE", index.as_os_str())], b"");
    let sandbox = sandbox.at(bare);
    for arguments in
        [&["check"][..], &["split", "-m", "x"], &["partition"], &["digest", "tests"], &["cards", "snapshot"], &["waiver", "list"]]
    {
        let output = seedgate(&sandbox, arguments);
        assert_eq!(code(&output), 65, "{arguments:?}: {}", said(&output));
        assert!(said(&output).contains("is bare, so nothing is staged here"), "{arguments:?}: {}", said(&output));
    }
    for (arguments, exit) in
        [(&["check", "--base", "HEAD^"][..], 2), (&["partition", "--rev", "HEAD"], 0), (&["digest", "--rev", "HEAD", "tests"], 0)]
    {
        assert_eq!(code(&seedgate(&sandbox, arguments)), exit, "{arguments:?}");
    }
    let mut given = sandbox.command(env!("CARGO_BIN_EXE_seedgate"));
    assert_eq!(code(&given.env("GIT_INDEX_FILE", index).arg("check").output().expect("seedgate runs")), 0);
}

#[test]
fn revisions_are_understood_as_git_understands_them() {
    let sandbox = project(&[]);
    sandbox.write("README", "later\n");
    sandbox.commit_all("later on");
    sandbox.git(["tag", "-a", "-m", "x", "tagged", "HEAD^"]);
    for (revision, exit, says) in [
        ("tagged", 0, "1 commit of"),
        (":/base", 0, "1 commit of"),
        ("HEAD^{/base}", 0, "1 commit of"),
        ("HEAD^{tree}", 65, "HEAD^{tree} names no commit here"),
        ("", 65, "an empty revision names no commit here"),
    ] {
        let output = seedgate(&sandbox, &["check", "--base", revision]);
        assert_eq!(code(&output), exit, "{revision}: {}", said(&output));
        assert!(said(&output).contains(says), "{revision}: {}", said(&output));
    }
}
