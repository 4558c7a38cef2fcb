//! What a hook sees: real commits and merges, with this test binary as the hook.

use std::path::{Path, PathBuf};

use seedgate::repo::{Environment, Repo};

use crate::sandbox::Sandbox;

/// Where the probe writes what it saw.
const REPORT: &str = "PROBE_REPORT";

/// Runs inside a hook, started by the scripts that `probed` writes; asserts nothing by itself.
#[test]
#[ignore = "runs only as a git hook"]
fn probe() {
    let Some(report) = std::env::var_os(REPORT) else { return };
    let repo = Repo::open(&Environment::of_process().expect("a folder")).expect("a repository");
    let pending = repo.pending().expect("parents");
    let parents: Vec<String> = pending.parents.iter().map(ToString::to_string).collect();
    let staged = repo.staged(repo.head().expect("a HEAD").as_ref()).expect("an index");
    let paths: Vec<String> = staged.iter().map(|change| change.path.to_string()).collect();
    let top = repo.top().expect("a work tree").display().to_string();
    let text = [top, pending.amend.to_string(), parents.join(" "), paths.join(" ")].join("\n");
    std::fs::write(report, text).expect("a report");
}

/// What the last hook saw.
#[derive(Debug, PartialEq)]
struct Seen {
    top: PathBuf,
    amend: bool,
    parents: Vec<String>,
    paths: Vec<String>,
}

/// A repository with the probe as its commit hooks, and one commit.
fn probed() -> Sandbox {
    let sandbox = Sandbox::new(&[]);
    for file in ["src/app.py", "tests/test_app.py", "README"] {
        sandbox.write(file, "1\n");
    }
    sandbox.commit_all("base");
    for hook in ["pre-commit", "pre-merge-commit"] {
        let binary = std::env::current_exe().expect("a path");
        let report = sandbox.beside("report");
        let script = format!(
            "#!/bin/sh\n{REPORT}='{}' '{}' --exact hook_view::probe --ignored >/dev/null 2>&1\n",
            report.display(),
            binary.display()
        );
        sandbox.write(format!(".git/hooks/{hook}"), script);
        sandbox.run("chmod", &["+x", &format!(".git/hooks/{hook}")]);
    }
    sandbox
}

/// Runs git, whose hook must have run, and gives what the hook saw.
fn seen(sandbox: &Sandbox, arguments: &[&str]) -> Seen {
    let report = sandbox.beside("report");
    let _ = std::fs::remove_file(&report);
    sandbox.git(arguments);
    let text = std::fs::read_to_string(&report).expect("the hook ran");
    let lines: Vec<&str> = text.split('\n').collect();
    let words = |line: &str| line.split(' ').filter(|word| !word.is_empty()).map(str::to_owned).collect();
    Seen { top: lines[0].into(), amend: lines[1] == "true", parents: words(lines[2]), paths: words(lines[3]) }
}

fn parents_of_head(sandbox: &Sandbox) -> Vec<String> {
    sandbox.line(["rev-list", "--parents", "-1", "HEAD"]).split(' ').skip(1).map(str::to_owned).collect()
}

/// The hook saw the parents that the commit then got.
fn agrees(sandbox: &Sandbox, seen: &Seen, amend: bool, paths: &[&str], why: &str) {
    assert_eq!(seen.parents, parents_of_head(sandbox), "{why}");
    assert_eq!((seen.amend, &seen.paths[..]), (amend, &paths.iter().map(ToString::to_string).collect::<Vec<_>>()[..]), "{why}");
    assert_eq!(seen.top, sandbox.top, "{why}");
}

#[test]
fn every_kind_of_commit_shows_its_hook_the_index_that_is_committed() {
    let sandbox = probed();
    let edit = |file: &str| sandbox.write(file, format!("after {}\n", sandbox.line(["rev-parse", "HEAD"])));
    edit("src/app.py");
    sandbox.git(["add", "src"]);
    agrees(&sandbox, &seen(&sandbox, &["commit", "-m", "staged"]), false, &["src/app.py"], "staged");
    edit("src/app.py");
    edit("README");
    agrees(&sandbox, &seen(&sandbox, &["commit", "-a", "-m", "all"]), false, &["README", "src/app.py"], "commit -a: index.lock");
    edit("src/app.py");
    edit("tests/test_app.py");
    sandbox.git(["add", "tests"]);
    agrees(&sandbox, &seen(&sandbox, &["commit", "-m", "only", "--", "src/app.py"]), false, &["src/app.py"], "commit -- path: next-index");
    agrees(&sandbox, &seen(&sandbox, &["commit", "-m", "rest"]), false, &["tests/test_app.py"], "what stayed staged");
    agrees(&sandbox, &seen(&sandbox, &["commit", "--allow-empty", "-m", "none"]), false, &[], "an empty commit");
    let inside = sandbox.top.join("src");
    edit("README");
    sandbox.git(["-C", inside.to_str().expect("text"), "add", "../README"]);
    agrees(&sandbox, &seen(&sandbox, &["-C", "src", "commit", "-m", "below"]), false, &["README"], "from a folder below");
}

#[test]
fn an_amend_has_the_parents_of_the_commit_it_replaces() {
    let sandbox = probed();
    sandbox.git(["config", "alias.fix", "commit --amend --no-edit"]);
    sandbox.git(["config", "alias.by-shell", "!git commit --amend --no-edit"]);
    sandbox.git(["commit", "-q", "--no-verify", "--allow-empty", "-m", "second"]);
    for arguments in [
        &["commit", "--amend", "-m", "x"][..],
        &["commit", "--am", "--no-edit"],
        &["-c", "core.abbrev=9", "commit", "-m", "x", "--amend"],
        &["fix"],
        &["by-shell"],
    ] {
        sandbox.write("README", format!("{arguments:?}\n"));
        sandbox.git(["add", "README"]);
        let seen = seen(&sandbox, arguments);
        agrees(&sandbox, &seen, true, &["README"], &format!("{arguments:?}"));
        assert_eq!(seen.parents.len(), 1);
    }
    for arguments in [&["commit", "--allow-empty", "-m", "--amend"][..], &["commit", "--allow-empty", "--amend", "--no-amend", "-m", "x"]] {
        agrees(&sandbox, &seen(&sandbox, arguments), false, &[], &format!("{arguments:?}"));
    }
}

#[test]
fn the_first_commit_has_no_parents_and_its_amend_neither() {
    let sandbox = probed();
    sandbox.git(["checkout", "-q", "--orphan", "fresh"]);
    agrees(&sandbox, &seen(&sandbox, &["commit", "-m", "first"]), false, &["README", "src/app.py", "tests/test_app.py"], "orphan");
    agrees(&sandbox, &seen(&sandbox, &["commit", "--amend", "-m", "again"]), true, &[], "amend of a root");
}

/// Branches `one` and `two` with a commit each, beside a new commit on `main`.
fn diverged(file: impl Fn(&str) -> String) -> Sandbox {
    let sandbox = probed();
    for branch in ["one", "two"] {
        sandbox.git(["checkout", "-q", "-b", branch, "main"]);
        sandbox.write(file(branch), format!("{branch}\n"));
        sandbox.git(["add", "-A"]);
        sandbox.git(["commit", "-q", "--no-verify", "-m", branch]);
    }
    sandbox.git(["checkout", "-q", "main"]);
    sandbox.write(file("main"), "main\n");
    sandbox.git(["add", "-A"]);
    sandbox.git(["commit", "-q", "--no-verify", "-m", "main"]);
    sandbox
}

#[test]
fn merges_show_every_parent_whether_git_makes_them_or_a_person_concludes_them() {
    let sandbox = diverged(|branch| format!("src/{branch}.py"));
    agrees(&sandbox, &seen(&sandbox, &["merge", "-q", "one"]), false, &["src/one.py"], "automatic: only a variable tells");
    sandbox.git(["reset", "-q", "--hard", "HEAD^"]);
    let octopus = seen(&sandbox, &["merge", "-q", "one", "two"]);
    assert_eq!(octopus.parents.len(), 3);
    let (mut known, mut made) = (octopus.parents.clone(), parents_of_head(&sandbox));
    known.sort();
    made.sort();
    assert_eq!(known, made, "octopus");
    sandbox.git(["reset", "-q", "--hard", "HEAD^"]);
    sandbox.git(["merge", "-q", "--no-commit", "one"]);
    agrees(&sandbox, &seen(&sandbox, &["commit", "-m", "concluded"]), false, &["src/one.py"], "MERGE_HEAD");
    sandbox.git(["reset", "-q", "--hard", "HEAD^"]);
    sandbox.git(["merge", "-q", "--squash", "one"]);
    agrees(&sandbox, &seen(&sandbox, &["commit", "-m", "squashed"]), false, &["src/one.py"], "squash");
    sandbox.git(["checkout", "-q", "-b", "ahead"]);
    sandbox.git(["commit", "-q", "--no-verify", "--allow-empty", "-m", "ahead"]);
    sandbox.git(["checkout", "-q", "main"]);
    agrees(&sandbox, &seen(&sandbox, &["merge", "-q", "--no-ff", "ahead"]), false, &[], "a merge that needed none");
}

#[test]
fn a_conflict_that_is_resolved_has_both_parents() {
    let sandbox = diverged(|_| "README".into());
    let merge = sandbox.command("git").args(["merge", "-q", "one"]).output().expect("git");
    assert!(!merge.status.success(), "a conflict");
    let told = sandbox.open().staged(None).expect_err("not merged");
    assert_eq!((told.to_string().as_str(), told.is_unreadable()), ("README is not merged: resolve the conflict and add it", true));
    sandbox.write("README", "both\n");
    sandbox.git(["add", "README"]);
    agrees(&sandbox, &seen(&sandbox, &["commit", "-m", "resolved"]), false, &["README"], "resolved");
}

#[test]
fn a_merge_that_somebody_invents_in_the_environment_is_not_believed() {
    let sandbox = diverged(|branch| format!("src/{branch}.py"));
    let one = sandbox.line(["rev-parse", "one"]);
    let report = sandbox.beside("report");
    let mut commit = sandbox.command("git");
    commit.args(["commit", "-q", "--allow-empty", "-m", "x"]).env(format!("GITHEAD_{one}"), "one");
    assert!(commit.status().expect("git").success());
    let text = std::fs::read_to_string(report).expect("the hook ran");
    assert_eq!(text.lines().nth(2), Some(parents_of_head(&sandbox).join(" ").as_str()));
}

#[test]
fn linked_worktrees_and_separate_work_trees_are_seen_where_they_are() {
    let sandbox = probed();
    let linked = sandbox.beside("linked");
    sandbox.git(["worktree", "add", "-q", "-b", "side", linked.to_str().expect("text")]);
    sandbox.write("README", "dirty\n");
    sandbox.git(["add", "README"]);
    let sandbox = sandbox.at(linked);
    sandbox.write("src/app.py", "2\n");
    agrees(&sandbox, &seen(&sandbox, &["commit", "-a", "-m", "linked"]), false, &["src/app.py"], "a linked worktree");
    let repo = sandbox.open();
    assert!(repo.git_dir().ends_with(".git/worktrees/linked") && repo.common_dir().ends_with("r/.git"), "{:?}", repo.git_dir());
    assert_eq!(repo.top(), Some(sandbox.top.as_path()));

    let (away, git_dir) = (sandbox.beside("away"), sandbox.beside("r/.git"));
    copy(&sandbox.beside("r/src"), &away.join("src"));
    copy(&sandbox.beside("r/tests"), &away.join("tests"));
    std::fs::write(away.join("README"), "away\n").expect("a written file");
    let sandbox = sandbox.at(away);
    let git_dir = format!("--git-dir={}", git_dir.display());
    let away = format!("--work-tree={}", sandbox.top.display());
    let seen = seen(&sandbox, &[&git_dir, &away, "commit", "-a", "-m", "away"]);
    assert_eq!((seen.top.as_path(), &seen.paths[..]), (sandbox.top.as_path(), &["README".to_owned()][..]));
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).expect("a folder");
    for entry in std::fs::read_dir(from).expect("a folder") {
        let file = entry.expect("an entry").path();
        std::fs::copy(&file, to.join(file.file_name().expect("a name"))).expect("a copy");
    }
}
