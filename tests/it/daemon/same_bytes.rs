//! The promise: the same tree gives the same verdict and the same bytes, whatever becomes of the daemon.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::process::{Child, Output};
use std::thread::sleep;
use std::time::Duration;

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

use super::answers::{False, PLAYS};
use super::house::{HANG, House, finish, signal};

/// What becomes of the daemon while a command runs.
#[derive(Clone, Debug)]
enum Fate {
    Off,
    /// Started by the hooks themselves.
    Auto,
    Running,
    KilledAfter(u64),
    Stopped,
    /// An impostor that plays one of the parts.
    False(usize),
    /// A memo whose bytes were changed here.
    Damaged(u16),
}

/// One change of the work tree.
#[derive(Clone, Debug)]
enum Edit {
    Production(u8),
    Fixture(u8),
    DropAssert(u8),
    AddTest(u8),
    DropCase(u8),
    Break(u8),
    RemoveFixture(u8),
    Commit,
}

fn edits() -> impl Strategy<Value = Vec<Edit>> {
    let one = prop_oneof![
        any::<u8>().prop_map(Edit::Production),
        any::<u8>().prop_map(Edit::Fixture),
        any::<u8>().prop_map(Edit::DropAssert),
        any::<u8>().prop_map(Edit::AddTest),
        any::<u8>().prop_map(Edit::DropCase),
        any::<u8>().prop_map(Edit::Break),
        any::<u8>().prop_map(Edit::RemoveFixture),
        Just(Edit::Commit),
    ];
    prop::collection::vec(one, 1..6)
}

fn fates() -> impl Strategy<Value = Vec<Fate>> {
    let one = prop_oneof![
        Just(Fate::Off),
        Just(Fate::Auto),
        Just(Fate::Running),
        (0..40_u64).prop_map(Fate::KilledAfter),
        Just(Fate::Stopped),
        (0..PLAYS.len()).prop_map(Fate::False),
        any::<u16>().prop_map(Fate::Damaged),
    ];
    prop::collection::vec(one, 3)
}

fn module(number: u8) -> String {
    format!("tests/test_m{}.py", number % 3)
}

fn apply(house: &House, edit: &Edit) {
    let path = |name: &str| house.repo.join(name);
    let change = |name: &str, with: &dyn Fn(String) -> String| {
        let text = fs::read_to_string(path(name)).unwrap_or_default();
        fs::write(path(name), with(text)).unwrap();
    };
    match edit {
        Edit::Production(n) => change("src/app.py", &|text| format!("{text}\nx{n} = {n}\n")),
        Edit::Fixture(n) => change(&format!("tests/fixtures/f{}.json", n % 3), &|_| format!("{{\"n\": {n}}}\n")),
        Edit::DropAssert(n) => change(&module(*n), &|text| text.replacen("    assert f(2) == 4\n", "", 1)),
        Edit::AddTest(n) => change(&module(*n), &|text| format!("{text}\n\ndef test_new{n}():\n    assert f({n})\n")),
        Edit::DropCase(n) => change(&module(*n), &|text| text.replacen(", 3]", "]", 1)),
        Edit::Break(n) => change(&module(*n), &|text| format!("{text}\ndef broken(:\n")),
        Edit::RemoveFixture(n) => drop(fs::remove_file(path(&format!("tests/fixtures/f{}.json", n % 3)))),
        Edit::Commit => {
            house.git(&["add", "-A"]);
            house.git(&["commit", "-q", "--no-verify", "--allow-empty", "-m", "step"]);
        }
    }
}

fn build(edits: &[Edit]) -> House {
    let house = House::new();
    for number in 0..3 {
        let text =
            "import pytest\n\n\n@pytest.mark.parametrize(\"x\", [1, 2, 3])\ndef test_cases(x):\n    assert f(x)\n    assert f(2) == 4\n";
        fs::write(house.repo.join(module(number)), text).unwrap();
        fs::write(house.repo.join(format!("tests/fixtures/f{number}.json")), "{}").unwrap();
    }
    apply(&house, &Edit::Commit);
    for edit in edits {
        apply(&house, edit);
    }
    house.git(&["add", "-A"]);
    let hook = house.repo.join(".git/hooks/pre-commit");
    fs::write(&hook, format!("#!/bin/sh\nexec '{}' hook pre-commit \"$@\"\n", env!("CARGO_BIN_EXE_seedgate"))).unwrap();
    fs::set_permissions(&hook, fs::Permissions::from_mode(0o755)).unwrap();
    house
}

/// The commands whose every byte is compared: the index, the whole history, and the hook as git calls it.
fn answers(house: &House, daemon: &str, cold: bool) -> Vec<(Option<i32>, Vec<u8>)> {
    let root = house.git(&["rev-list", "--max-parents=0", "HEAD"]);
    let mut commands = [vec!["check"], vec!["check", "--base", &root], vec!["check", "--json"], vec!["hook", "pre-commit"]];
    if cold {
        commands.iter_mut().filter(|command| command[0] == "check").for_each(|command| command.push("--cold"));
    }
    let run = |command: &Vec<&str>| compared(&finish(house.seedgate(command).env("SEEDGATE_DAEMON", daemon)));
    commands.iter().map(run).collect()
}

/// All that must be the same: exit code, output, and of the hook its words; not where facts came from, nor the notes on that.
fn compared(output: &Output) -> (Option<i32>, Vec<u8>) {
    let mut bytes = output.stdout.clone();
    if let Ok(mut verdict) = serde_json::from_slice::<serde_json::Value>(&bytes) {
        let verdict_map = verdict.as_object_mut().unwrap();
        assert!(verdict_map.remove("facts").is_some() && verdict_map.remove("facts_from").is_some());
        bytes = verdict.to_string().into_bytes();
    }
    let words = String::from_utf8(output.stderr.clone()).unwrap();
    let words: String = words.lines().filter(|line| !line.starts_with("seedgate: note: ")).map(|line| format!("{line}\n")).collect();
    bytes.extend_from_slice(words.as_bytes());
    (output.status.code(), bytes)
}

fn under(house: &House, fate: &Fate) -> Vec<(Option<i32>, Vec<u8>)> {
    let mut daemon: Option<Child> = None;
    let mut impostor = None;
    match fate {
        Fate::Running | Fate::KilledAfter(_) | Fate::Stopped => daemon = Some(house.serve(HANG)),
        Fate::False(part) => impostor = Some(False::daemon(house, PLAYS[*part].1)),
        Fate::Damaged(at) => damage(house, usize::from(*at)),
        Fate::Off | Fate::Auto => {}
    }
    let pid = daemon.as_ref().map(Child::id);
    let answers = std::thread::scope(|scope| {
        if let (Fate::KilledAfter(time), Some(pid)) = (fate, pid) {
            scope.spawn(move || {
                sleep(Duration::from_millis(*time));
                signal(pid, "KILL");
            });
        }
        if let (Fate::Stopped, Some(pid)) = (fate, pid) {
            signal(pid, "STOP");
        }
        answers(house, if matches!(fate, Fate::Off) { "off" } else { "on" }, false)
    });
    drop(impostor);
    clear(house, daemon);
    answers
}

fn damage(house: &House, at: usize) {
    for entry in fs::read_dir(house.path("home/.cache/seedgate/facts")).into_iter().flatten().flatten() {
        let mut bytes = fs::read(entry.path()).unwrap();
        let used: Vec<usize> = (0..bytes.len()).filter(|at| bytes[*at] != 0).collect();
        if let Some(at) = used.get(at % used.len().max(1)) {
            bytes[*at] ^= 0x55;
            fs::write(entry.path(), bytes).unwrap();
        }
    }
}

/// Ends every daemon of this home, so that the next fate finds none.
fn clear(house: &House, daemon: Option<Child>) {
    for pid in house.daemons() {
        signal(pid, "KILL");
        signal(pid, "CONT");
    }
    if let Some(mut daemon) = daemon {
        daemon.wait().unwrap();
    }
    house.wait_for("the end of every daemon", || house.daemons().is_empty());
    drop(fs::remove_dir_all(house.run()));
}

#[test]
fn random_repositories_under_random_fates_give_the_same_bytes() {
    let cases = std::env::var("SEEDGATE_FATES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(6);
    let config = Config { cases, max_shrink_iters: 20, failure_persistence: None, ..Config::default() };
    TestRunner::new(config)
        .run(&(edits(), fates()), |(edits, fates)| {
            let house = build(&edits);
            let cold = answers(&house, "off", true);
            for fate in &fates {
                let now = under(&house, fate);
                prop_assert!(now == cold, "{fate:?}: {} instead of {}", shown(&now), shown(&cold));
            }
            Ok(())
        })
        .unwrap();
}

fn shown(answers: &[(Option<i32>, Vec<u8>)]) -> String {
    answers.iter().map(|(code, bytes)| format!("{code:?} {}\n", String::from_utf8_lossy(bytes))).collect()
}
