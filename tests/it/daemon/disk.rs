//! A disk that is full or may not be written: the verdict stays, the memo does not.

use std::os::unix::fs::DirBuilderExt as _;
use std::process::{Command, Output, Stdio};

use super::house::{House, finish, skipped};

/// Whether a file system can be mounted for one process and those it starts.
fn mounts() -> bool {
    let mounted = Command::new("unshare").args(["-Urm", "mount", "-t", "tmpfs", "none", "/mnt"]).stderr(Stdio::null()).status();
    mounted.is_ok_and(|status| status.success()) || skipped("nothing can be mounted in a namespace of one's own")
}

/// Runs a script with the cache folder mounted anew; `$0` is our program, `$C` the cache folder.
fn with_cache(house: &House, mount: &str, daemon: &str, script: &str) -> Output {
    let cache = house.path("home/.cache/seedgate");
    std::fs::DirBuilder::new().mode(0o700).recursive(true).create(&cache).unwrap();
    let mut command = house.command("unshare");
    command.args(["-Urm", "sh", "-c", &format!("{mount} && {script}"), env!("CARGO_BIN_EXE_seedgate")]);
    finish(command.env("C", &cache).env("SEEDGATE_DAEMON", daemon))
}

const TWICE: &str = "{ \"$0\" check; echo \"exit $?\"; \"$0\" check; echo \"exit $?\"; }";
const FULL: [&str; 3] = [
    "mount -t tmpfs -o mode=700,size=4k none \"$C\" && mkdir \"$C/full\" && { head -c 99999 /dev/zero >\"$C/full/it\" 2>&- || :; }",
    "mount -t tmpfs -o mode=700,size=8k none \"$C\"",
    "mount -t tmpfs -o mode=700,nr_inodes=2 none \"$C\"",
];
const READ_ONLY: &str = "mount -t tmpfs -o mode=700,ro none \"$C\"";

#[test]
fn a_full_or_read_only_cache_costs_the_memo_and_nothing_else() {
    if !mounts() {
        return;
    }
    for mount in FULL.into_iter().chain([READ_ONLY]) {
        let house = House::new();
        let cold = house.cold();
        let expected = format!("{}exit 2\n", cold.out).repeat(2);
        let output = with_cache(&house, mount, "off", TWICE);
        assert_eq!(String::from_utf8_lossy(&output.stdout), expected, "{mount}");
        assert_eq!(String::from_utf8_lossy(&output.stderr), "", "{mount}: where there is no memo, nothing is said");
        let output = with_cache(&house, mount, "off", "{ \"$0\" check >/dev/null; \"$0\" check --json; }");
        let verdict: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_ne!(verdict["facts"]["cold"], 0, "{mount}: {}", verdict["facts"]);
    }
}

#[test]
fn a_daemon_whose_disk_is_full_or_read_only_changes_no_verdict() {
    if !mounts() {
        return;
    }
    for mount in FULL.into_iter().chain([READ_ONLY]) {
        let house = House::new();
        let cold = house.cold();
        let expected = format!("{}exit 2\n", cold.out).repeat(2);
        for run in ["", "export SEEDGATE_RUNTIME_DIR=\"$C\";"] {
            let script = format!("{{ {run} \"$0\" daemon start >/dev/null 2>&1; {TWICE}; \"$0\" daemon stop >/dev/null 2>&1; }}");
            let output = with_cache(&house, mount, "on", &script);
            assert_eq!(String::from_utf8_lossy(&output.stdout), expected, "{mount} {run}");
            let notes = String::from_utf8_lossy(&output.stderr).into_owned();
            assert!(notes.lines().all(|line| line.starts_with("seedgate: note: ")), "{mount} {run}: {notes}");
            house.wait_for("no process", || house.processes().is_empty());
        }
    }
}

#[test]
fn a_memo_that_may_only_be_read_still_answers() {
    if !mounts() {
        return;
    }
    let house = House::new();
    assert_eq!(house.check(), house.cold());
    let bound = "mount --bind \"$C\" \"$C\" && mount -o remount,ro,bind \"$C\"";
    let output = with_cache(&house, bound, "off", "\"$0\" check --json");
    let verdict: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&verdict["facts"]["cold"], &verdict["facts_from"]), (&0.into(), &"memo".into()), "{}", verdict["facts"]);
    assert_eq!(output.status.code(), Some(2));
}
