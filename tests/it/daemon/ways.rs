//! Every way in which a commit comes to be, and what happens to a repository meanwhile: judged as without a daemon.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::house::{HANG, House, end, finish};

const PROGRAM: &str = env!("CARGO_BIN_EXE_seedgate");

/// Puts a hook somewhere.
fn put(hooks: &Path, name: &str, script: &str) {
    fs::create_dir_all(hooks).unwrap();
    fs::write(hooks.join(name), format!("#!/bin/sh\n{script}\n")).unwrap();
    fs::set_permissions(hooks.join(name), fs::Permissions::from_mode(0o755)).unwrap();
}

/// A home whose hooks judge twice, without any help and with the daemon, and note both.
struct Twice {
    house: House,
    off: PathBuf,
    on: PathBuf,
}

impl Twice {
    fn new() -> Self {
        let house = House::new();
        house.git(&["reset", "-q", "--hard"]);
        let (off, on) = (house.path("off"), house.path("on"));
        let twice = Twice { house, off, on };
        put(&twice.house.repo.join(".git/hooks"), "pre-commit", &twice.script("hook pre-commit"));
        twice
    }

    fn script(&self, command: &str) -> String {
        let (off, on) = (self.off.display(), self.on.display());
        format!(
            "SEEDGATE_DAEMON=off XDG_CACHE_HOME=/dev/null/none '{PROGRAM}' {command} >>'{off}' 2>&1; echo \"exit $?\" >>'{off}'\n\
             SEEDGATE_DAEMON=on '{PROGRAM}' {command} >>'{on}' 2>&1; code=$?; echo \"exit $code\" >>'{on}'\n\
             [ $code = 0 ] || exit 1"
        )
    }

    /// Runs what calls a hook; the two judgements must be the same, and the expected one.
    fn judges(&self, what: &str, accepted: bool, command: &mut Command) {
        for file in [&self.off, &self.on] {
            fs::write(file, "").unwrap();
        }
        let output = finish(command);
        assert_eq!(output.status.success(), accepted, "{what}: {}", String::from_utf8_lossy(&output.stderr));
        let words = |file| {
            fs::read_to_string(file).unwrap().lines().filter(|line| !line.starts_with("seedgate: note: ")).collect::<Vec<_>>().join("\n")
        };
        let (off, on) = (words(&self.off), words(&self.on));
        assert!(off.contains("exit "), "{what}: the hook did not run");
        assert_eq!(on, off, "{what}");
    }

    fn git(&self, args: &[&str]) -> Command {
        let mut command = self.house.command("git");
        command.args(args);
        command
    }

    fn write(&self, path: &str, text: &str) {
        fs::write(self.house.repo.join(path), text).unwrap();
    }

    /// The daemon was there and was asked: otherwise nothing was compared.
    fn was_asked(&self) {
        assert!(self.house.status().unwrap().requests > 1, "{}", self.house.log());
    }
}

const FIXTURE: &str = "tests/fixtures/data.json";

#[test]
fn every_way_to_commit_is_judged_by_its_own_index_with_the_daemon_and_without() {
    let twice = Twice::new();
    let daemon = twice.house.serve(HANG);
    twice.write("src/app.py", "a = 1\n");
    twice.judges("-a", true, &mut twice.git(&["commit", "-aqm", "production"]));
    twice.write("src/app.py", "a = 2\n");
    twice.write(FIXTURE, "moved 1");
    twice.judges("-a of both sides", false, &mut twice.git(&["commit", "-aqm", "both"]));
    twice.judges("one path", true, &mut twice.git(&["commit", "-qm", "one", "src/app.py"]));
    twice.house.git(&["add", "tests"]);
    twice.judges("a moved fixture", false, &mut twice.git(&["commit", "-qm", "fixture"]));
    twice.write("src/app.py", "a = 3\n");
    twice.judges("one path while another is staged", true, &mut twice.git(&["commit", "-qm", "one", "src/app.py"]));
    twice.write(FIXTURE, "moved 2");
    twice.house.git(&["add", "tests"]);
    twice.judges("--amend", false, &mut twice.git(&["commit", "-q", "--amend", "-m", "amended"]));
    let staged = |path: &str, text: &str| {
        twice.write(path, text);
        let mut add = twice.git(&["add", path]);
        let other = twice.house.path("index");
        twice.house.git(&["read-tree", &format!("--index-output={}", other.display()), "HEAD"]);
        assert!(finish(add.env("GIT_INDEX_FILE", &other)).status.success());
        let mut commit = twice.git(&["commit", "-qm", "by hand"]);
        commit.env("GIT_INDEX_FILE", other);
        commit
    };
    twice.judges("an index by hand, a fixture staged in the other", true, &mut staged("src/app.py", "a = 4\n"));
    twice.house.git(&["reset", "-q", "--hard"]);
    twice.judges("an index by hand that moves a fixture", false, &mut staged(FIXTURE, "moved 3"));
    twice.house.git(&["add", "tests"]);
    let mut relative = twice.git(&["commit", "-qm", "relative"]);
    relative.current_dir(twice.house.repo.join("tests")).env("GIT_DIR", "../.git").env("GIT_WORK_TREE", "..");
    twice.judges("a relative GIT_DIR", false, &mut relative);
    twice.was_asked();
    assert_eq!(end(daemon, "TERM"), Some(0));
}

#[test]
fn linked_work_trees_submodules_and_bare_repositories_are_judged_alike_with_the_daemon_and_without() {
    let twice = Twice::new();
    let daemon = twice.house.serve(HANG);
    let clone = twice.house.path("bare.git").display().to_string();
    twice.house.git(&["clone", "-q", "--bare", ".", &clone]);
    twice.house.git(&["worktree", "add", "-q", "../linked", "-b", "linked"]);
    let linked = twice.house.path("linked");
    fs::write(linked.join(FIXTURE), "moved in the linked one").unwrap();
    twice.judges("a linked work tree", false, twice.git(&["commit", "-aqm", "linked"]).current_dir(&linked));
    let outer = twice.house.path("outer");
    fs::create_dir(&outer).unwrap();
    twice.house.git_in(&outer, &["init", "-q"]);
    let inner = twice.house.repo.display().to_string();
    twice.house.git_in(&outer, &["-c", "protocol.file.allow=always", "submodule", "--quiet", "add", "-b", "main", &inner, "sub"]);
    put(&outer.join(".git/modules/sub/hooks"), "pre-commit", &twice.script("hook pre-commit"));
    fs::write(outer.join("sub").join(FIXTURE), "moved in the submodule").unwrap();
    twice.judges("a submodule", false, twice.git(&["commit", "-aqm", "sub"]).current_dir(outer.join("sub")));
    // Objects of a push lie in quarantine while it is judged.
    let receive = format!("read -r old new ref\n{}", twice.script("check --base main --head \"$new\""));
    put(&twice.house.path("bare.git/hooks"), "pre-receive", &receive);
    for (text, path, accepted) in [("pushed", FIXTURE, false), ("a = 5\n", "src/app.py", true)] {
        twice.house.git(&["checkout", "-q", "-B", "pushed", "main"]);
        twice.write(path, text);
        twice.house.git(&["commit", "-q", "--no-verify", "-am", "pushed"]);
        twice.judges("a push to a bare repository", accepted, &mut twice.git(&["push", "-q", &clone, "pushed"]));
    }
    twice.was_asked();
    assert_eq!(end(daemon, "TERM"), Some(0));
}

#[test]
fn stash_checkout_rebase_and_restaging_while_the_daemon_warms_up_change_no_verdict() {
    let twice = Twice::new();
    let house = &twice.house;
    for number in 0..150 {
        twice.write(&format!("tests/test_{number}.py"), &format!("def test_{number}():\n    assert f({number}) == {number}\n"));
    }
    house.git(&["add", "."]);
    house.git(&["commit", "-q", "--no-verify", "-m", "many"]);
    house.git(&["branch", "-q", "other", "HEAD^"]);
    let daemon = house.serve(HANG);
    house.introduce();
    for round in 0..3 {
        twice.write(FIXTURE, &format!("moved {round}"));
        twice.write("tests/test_1.py", &format!("def test_1():\n    assert f({round})\n"));
        house.git(&["add", "."]);
        for (change, code) in [
            (&["stash", "-q"][..], 0),
            (&["checkout", "-q", "other"], 0),
            (&["checkout", "-q", "main"], 0),
            (&["stash", "pop", "-q", "--index"], 2),
            (&["reset", "-q", "--hard"], 0),
        ] {
            house.git(change);
            let check = house.check();
            assert_eq!(check.code, Some(code), "{change:?}: {}", check.out);
            assert_eq!(check, house.cold(), "{change:?}");
        }
        house.git(&["checkout", "-q", "other"]);
        twice.write("src/app.py", &format!("a = {round}\n"));
        twice.judges("a commit to rebase", true, &mut twice.git(&["commit", "-aqm", "step"]));
        house.git(&["rebase", "-q", "main"]);
        assert_eq!(house.check(), house.cold());
        house.git(&["checkout", "-q", "main"]);
    }
    let formats = |change: &str| {
        let judge = twice.script("hook pre-commit");
        put(&house.repo.join(".git/hooks"), "pre-commit", &format!("git stash push -q --keep-index\n{change}\ngit add -u\n{judge}"));
    };
    formats(&format!("echo formatted >{FIXTURE}"));
    twice.write("src/app.py", "b = 1\n");
    house.git(&["add", "."]);
    twice.write("src/app.py", "b = 2\n");
    twice.judges("a hook that moves a fixture and stages it", false, &mut twice.git(&["commit", "-qm", "restaged"]));
    house.git(&["reset", "-q", "--hard"]);
    formats(&format!("git checkout -q HEAD -- {FIXTURE}"));
    twice.write("src/app.py", "b = 3\n");
    twice.write(FIXTURE, "moved at last");
    house.git(&["add", "."]);
    twice.judges("a hook that puts a fixture back", true, &mut twice.git(&["commit", "-qm", "put back"]));
    twice.was_asked();
    assert_eq!(end(daemon, "TERM"), Some(0));
}

/// Folders that are made, filled, added and committed at once; every second commit mixes sides.
fn rounds(rounds: usize) {
    let house = House::new();
    house.git(&["reset", "-q", "--hard"]);
    put(&house.repo.join(".git/hooks"), "pre-commit", &format!("exec '{PROGRAM}' hook pre-commit"));
    let daemon = house.serve(HANG);
    house.introduce();
    for round in 0..rounds {
        let folder = house.repo.join(format!("tests/n{round}/fixtures/a"));
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("b.json"), round.to_string()).unwrap();
        let mixed = round % 2 == 1;
        if mixed {
            fs::write(house.repo.join("src/app.py"), format!("a = {round}\n")).unwrap();
        }
        house.git(&["add", "."]);
        let output = finish(house.command("git").args(["commit", "-qm", "round"]));
        assert_eq!(output.status.success(), !mixed, "round {round}: {}", String::from_utf8_lossy(&output.stderr));
        if mixed {
            house.git(&["reset", "-q", "--hard"]);
        }
    }
    assert_eq!(end(daemon, "TERM"), Some(0));
}

#[test]
fn folders_made_and_committed_at_once_are_judged_by_what_is_staged() {
    rounds(50);
}

#[test]
#[ignore = "takes minutes"]
fn five_hundred_folders_made_and_committed_at_once_are_judged_by_what_is_staged() {
    rounds(500);
}
