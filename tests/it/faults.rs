//! Faults put into every command that writes the records: killed before, within and after each of its changes to the project's files.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::killer::{At, traced};
use crate::project::{Project, gone};

const PRICE: &str = "def clamp(n, low, high):\n    return max(low, min(n, high))\n";
const PLAIN: &str = "from price import clamp\nfrom seedgate_props import bounds\n\n\n@bounds(n=(0, 100))\ndef prop_clamp(n):\n    assert clamp(n, 0, 10) <= 10\n\n\n@bounds(n=(0, 100))\ndef prop_twice(n):\n    assert clamp(clamp(n, 0, 10), 0, 10) <= 10\n";
const LEDGER: &str = ".seedgate/ledger.json";
const FREEZE: &str = ".seedgate/freeze.json";

type Files = BTreeMap<PathBuf, Vec<u8>>;

/// The files of the work tree; what a killed writer left beside a file is not read by anybody.
fn files(top: &Path) -> Files {
    let mut found = Files::new();
    let mut open = vec![top.to_path_buf()];
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry")) {
            let (path, name) = (entry.path(), entry.file_name().to_string_lossy().into_owned());
            if path.is_dir() && name != ".git" {
                open.push(path);
            } else if path.is_file() && !name.starts_with(".seedgate-") {
                found.insert(path.clone(), fs::read(path).expect("a file"));
            }
        }
    }
    found
}

/// Puts the work tree back.
fn put(top: &Path, wanted: &Files) {
    for path in files(top).keys().filter(|path| !wanted.contains_key(*path)) {
        fs::remove_file(path).expect("a file that goes");
    }
    // With what a killed writer left in it: the folders are made again each time.
    let _ = fs::remove_dir_all(top.join("tests/fixtures"));
    for (path, bytes) in wanted {
        fs::write(path, bytes).expect("a file");
    }
}

/// A ledger of a real chain up to a step, in a project whose last commit forgets the upper end.
fn project(steps: &[&[&str]]) -> Project {
    let project = Project::new(&[("src/price.py", PRICE), ("tests/properties/test_price.py", PLAIN)]);
    project.commit("bug", &[("src/price.py", &PRICE.replace("min(n, high)", "n"))]);
    for step in steps {
        let said = project.seedgate(step);
        assert!(matches!(said.code, Some(0 | 2)), "{step:?}: {}{}", said.out, said.err);
    }
    project
}

const PIN: &[&str] = &["ledger", "pin", "--base", "HEAD~1"];
const RUN: &[&str] = &["props", "run", "--out", ".seedgate/props.json"];
const SHRINK: &[&str] = &["ledger", "shrink"];
const REPLAY: &[&str] = &["ledger", "replay-base", "--base", "HEAD~1"];
const PROMOTE: &[&str] = &["ledger", "promote"];
const RESOLVE: &[&str] = &["ledger", "resolve", "prop_clamp", "--by", "ada", "--reason", "known"];

/// Kills a command at each of its changes. Each time every file is old or new, and the command, run again, ends where it would have.
/// `again`: its exit when the first run had done everything already.
fn killed_everywhere(project: &Project, arguments: &[&str], exit: i32, again: i32, least: usize) {
    let top = project.sandbox.top.clone();
    let program = Path::new(env!("CARGO_BIN_EXE_seedgate"));
    let run = |at: At| {
        let prepare = |command: &mut std::process::Command| {
            let like = project.command(&[]);
            command.current_dir(&top).env_clear().envs(std::env::vars_os().filter(|(name, _)| !name.to_string_lossy().starts_with("GIT_")));
            like.get_envs().for_each(|(name, value)| match value {
                Some(value) => drop(command.env(name, value)),
                None => drop(command.env_remove(name)),
            });
        };
        traced(program, prepare, arguments, &top, at)
    };
    let old = files(&top);
    let whole = run(At::Never);
    assert_eq!(whole.code, Some(exit), "{arguments:?}");
    let new = files(&top);
    assert_ne!(old, new, "{arguments:?}");
    assert!(whole.changes.len() >= least, "{arguments:?}: {:?}", whole.changes);
    let writes = (0..whole.changes.len()).filter(|n| whole.changes[*n].starts_with("write "));
    let points: Vec<At> =
        (0..whole.changes.len()).map(At::Before).chain(writes.map(At::Half)).chain([At::After(whole.changes.len() - 1)]).collect();
    for at in points {
        put(&top, &old);
        let ended = run(at);
        assert_eq!(ended.code, None, "{arguments:?} {at:?}: {:?}", ended.changes);
        assert!(gone(&project.temporary().display().to_string()), "{arguments:?} {at:?}");
        let now = files(&top);
        for path in old.keys().chain(new.keys()).chain(now.keys()) {
            let is_whole = [&old, &new].iter().any(|files| files.get(path) == now.get(path));
            assert!(is_whole, "{arguments:?} {at:?} of {:?}: {} is neither old nor new", whole.changes, path.display());
        }
        let wanted = if now == new { again } else { exit };
        let said = project.seedgate(arguments);
        assert_eq!(said.code, Some(wanted), "{arguments:?} {at:?} of {:?}: {}{}", whole.changes, said.out, said.err);
        assert!(files(&top) == new, "{arguments:?} {at:?} of {:?}: it ends elsewhere", whole.changes);
    }
}

#[test]
fn a_killed_pin_run_shrink_or_replay_leaves_old_or_new_and_is_ended_by_the_next() {
    for (before, command, exit) in [(&[][..], PIN, 0), (&[PIN], RUN, 2), (&[PIN, RUN], SHRINK, 0), (&[PIN, RUN, SHRINK], REPLAY, 0)] {
        killed_everywhere(&project(before), command, exit, exit, 5);
    }
}

#[test]
fn a_killed_promotion_leaves_each_of_its_files_old_or_new_and_is_ended_by_the_next() {
    let project = project(&[PIN, RUN, SHRINK, REPLAY]);
    let id = "tests/properties/test_price.py::prop_clamp";
    let entry = json!({"test": id, "owner": "ada", "expires": "2999-01-01", "token": {"verdict": "freeze_eligible", "fixture_digest": "0".repeat(64)}});
    project.sandbox.write(FREEZE, json!({"schema": "seedgate.freeze/1", "entries": [entry]}).to_string());
    // Two fixtures and the folders of them, the freeze file and the ledger.
    killed_everywhere(&project, PROMOTE, 0, 0, 4 * 5 + 2);
    let freeze: Value = serde_json::from_slice(&fs::read(project.sandbox.top.join(FREEZE)).expect("a file")).expect("JSON");
    assert_eq!(freeze["entries"], json!([]));
}

#[test]
fn a_killed_settlement_leaves_the_old_or_the_new_ledger() {
    let project = Project::new(&[("src/price.py", &PRICE.replace("min(n, high)", "n")), ("tests/properties/test_price.py", PLAIN)]);
    project.commit("nothing", &[]);
    for step in [PIN, RUN, SHRINK, REPLAY] {
        assert!(project.seedgate(step).code.is_some_and(|code| code != 70));
    }
    // A row that is settled is open no more.
    killed_everywhere(&project, RESOLVE, 0, 64, 5);
}

#[test]
fn of_many_writers_at_once_none_loses_anything() {
    let project = Project::new(&[("src/price.py", PRICE), ("tests/properties/test_price.py", PLAIN)]);
    let head = project.sandbox.line(["rev-parse", "HEAD"]);
    let rows: Vec<Value> = (0..12)
        .map(|n| {
            let raw = json!({"n": n});
            let digest = seedgate::digest::sha256_hex(raw.to_string().as_bytes());
            json!({"prop_id": format!("tests/properties/test_price.py::prop_{n}"), "input_sha256": digest, "raw": raw, "seed": "1", "shrunk": null,
                "patch": "fail", "patch_sha": head, "base": "fail", "base_sha": head, "decision": "quarantine", "witness": null})
        })
        .collect();
    project.sandbox.write(LEDGER, json!({"schema": "seedgate.ledger/1", "rows": rows}).to_string());
    let mut writers: Vec<_> = (0..12)
        .map(|n| {
            let id = format!("prop_{n}");
            project.command(&["ledger", "resolve", &id, "--by", "ada", "--reason", "known"]).spawn().expect("seedgate")
        })
        .collect();
    writers.push(project.command(&["ledger", "pin", "--base", "HEAD"]).spawn().expect("seedgate"));
    for mut writer in writers {
        assert_eq!(writer.wait().expect("an end").code(), Some(0));
    }
    let ledger: Value = serde_json::from_slice(&fs::read(project.sandbox.top.join(LEDGER)).expect("a ledger")).expect("JSON");
    let settled = ledger["rows"].as_array().expect("rows").iter().filter(|row| row["resolved"]["by"] == "ada").count();
    assert_eq!((settled, ledger["pin"]["base"].as_str()), (12, Some(&head[..])));
}
