//! Tests of the ledger: rows that advance, files of other versions and of strangers, many writers.

use std::fs;
use std::path::Path;
use std::thread;

use crate::finding::PropId;
use crate::tree::Oid;
use crate::witness::decide::{Action, Verdict};
use crate::witness::ledger::{Ledger, LedgerError, Resolution, Row, SCHEMA, read, update};
use crate::witness::value::Input;

fn input(text: &str) -> Input {
    Input::from_json(text.as_bytes()).unwrap()
}

fn row(name: &str, value: &str) -> Row {
    let patch = Oid::from_hex(&"b".repeat(40)).unwrap();
    Row::new(PropId(name.to_owned()), input(&format!("{{\"x\":{value}}}")), Some("7".to_owned()), Verdict::Fail, patch)
}

fn add(path: &Path, row: Row) {
    update::<(), LedgerError>(path, |ledger| {
        ledger.record(row);
        Ok(())
    })
    .unwrap();
}

#[test]
fn a_row_is_added_once_and_only_advances() {
    let mut ledger = Ledger::default();
    ledger.record(row("a.py::p", "1"));
    ledger.record(row("a.py::p", "2"));
    ledger.record(row("a.py::q", "1"));
    let base = Oid::from_hex(&"a".repeat(40)).unwrap();
    let further = Row { shrunk: Some(input(r#"{"x":0}"#)), base: Some(Verdict::Pass), base_sha: Some(base), ..row("a.py::p", "1") };
    ledger.record(further);
    ledger.record(Row { seed: Some("8".to_owned()), ..row("a.py::p", "1") });
    assert_eq!(ledger.rows().len(), 3);
    let first = &ledger.rows()[0];
    assert_eq!((first.base, first.seed.as_deref(), first.input().to_json().as_str()), (Some(Verdict::Pass), Some("7"), r#"{"x":0}"#));
    assert_eq!(first.raw().to_json(), r#"{"x":1}"#);
}

#[test]
fn what_blocks_is_told_by_the_decision() {
    for (base, patch, decision, unresolved) in [
        (None, Verdict::Fail, Action::Stop, true),
        (Some(Verdict::Unknown), Verdict::Fail, Action::Stop, true),
        (Some(Verdict::Fail), Verdict::Fail, Action::Quarantine, true),
        (Some(Verdict::Pass), Verdict::Flake, Action::Stop, true),
        (Some(Verdict::Pass), Verdict::Fail, Action::Promote, true),
        (Some(Verdict::Pass), Verdict::Pass, Action::None, false),
    ] {
        let mut row = Row { patch, base, ..row("a.py::p", "1") };
        assert_eq!(row.is_unresolved(), row.is_failing());
        assert_eq!(row.decide(false), decision);
        assert_eq!(row.is_unresolved(), unresolved, "{decision:?}");
        let settled = Row { resolved: Some(Resolution { by: "me".to_owned(), reason: "why".to_owned() }), ..row.clone() };
        assert!(!settled.is_unresolved());
        let promoted = Row { witness: Some("tests/fixtures/promoted/a.json".to_owned()), ..row };
        assert_eq!(promoted.is_unresolved(), unresolved && decision != Action::Promote);
    }
}

#[test]
fn what_a_newer_writer_added_is_read_and_written_again() {
    let mut ledger = Ledger::default();
    ledger.record(row("a.py::p", r#"{"$int":"123456789012345678901234567890"}"#));
    let mut newer: serde_json::Value = serde_json::from_str(&ledger.to_text()).unwrap();
    newer["newer"] = serde_json::json!({"a": [1, "b"]});
    newer["rows"][0]["newer"] = 2.into();
    let read = Ledger::parse(newer.to_string().as_bytes()).unwrap();
    assert_eq!(serde_json::from_str::<serde_json::Value>(&read.to_text()).unwrap(), newer);
    assert_eq!(read.rows()[0].raw(), ledger.rows()[0].raw());
}

#[test]
fn the_first_version_of_the_format_is_read() {
    let text = r#"{
      "schema": "seedgate.ledger/1",
      "rows": [{
        "prop_id": "tests/test_a.py::prop_x", "input_sha256": "d43a3f2106f7316c9ebeb684f6b9a3091126bb332c9f1940538338979dc129c8",
        "raw": {"n": 5, "xs": [1, 0, 1]}, "seed": "184729", "shrunk": null, "patch": "fail",
        "patch_sha": "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb", "base": null, "base_sha": null, "decision": null, "witness": null
      }]
    }"#;
    let ledger = Ledger::parse(text.as_bytes()).unwrap();
    assert_eq!(ledger.rows()[0].seed.as_deref(), Some("184729"));
    assert_eq!(Ledger::parse(ledger.to_text().as_bytes()).unwrap(), ledger);
}

#[test]
fn what_is_no_ledger_is_told_in_one_sentence() {
    let good = {
        let mut ledger = Ledger::default();
        ledger.record(row("a.py::p", "1"));
        ledger.to_text()
    };
    let twice = good.replace("\"rows\": [", &format!("\"rows\": [{},", serde_json::to_string(&row("a.py::p", "1")).unwrap()));
    for (text, says) in [
        (String::new(), "it is no ledger: "),
        ("[]".to_owned(), "it is no ledger: "),
        ("{\"schema\":1}".to_owned(), "it is no ledger: "),
        (good.replace(SCHEMA, "seedgate.ledger/2"), "it has the schema \"seedgate.ledger/2\", and this version reads seedgate.ledger/1"),
        (good.replace("\"x\": 1", "\"x\": 2"), "of a.py::p is not about the input it holds"),
        (good.replace("\"fail\"", "\"fails\""), "unknown variant `fails`"),
        (twice, "of a.py::p is there twice"),
        (format!("{}1{}", "[".repeat(100_000), "]".repeat(100_000)), "it is no ledger: "),
        (good.replace("\"x\": 1", &format!("\"x\": {}1{}", "[".repeat(90), "]".repeat(90))), "nest deeper"),
    ] {
        let error = Ledger::parse(text.as_bytes()).unwrap_err();
        assert!(error.contains(says) && !error.contains('\n'), "{error}");
    }
}

#[test]
fn a_link_a_folder_and_a_giant_are_not_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ledger.json");
    assert!(read(&path).unwrap().is_none());
    fs::create_dir(&path).unwrap();
    assert!(read(&path).unwrap_err().is_input());
    fs::remove_dir(&path).unwrap();
    let file = fs::File::create(&path).unwrap();
    file.set_len(super::file::CAP + 1).unwrap();
    assert!(read(&path).unwrap_err().to_string().contains("more than the 67108864 bytes"));
    #[cfg(unix)]
    {
        fs::remove_file(&path).unwrap();
        std::os::unix::fs::symlink("/etc/passwd", &path).unwrap();
        assert!(read(&path).unwrap_err().to_string().contains("no regular file"));
    }
}

#[test]
fn two_writers_at_once_lose_nothing_and_leave_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ledger.json");
    thread::scope(|scope| {
        for writer in 0..4 {
            let path = &path;
            scope.spawn(move || (0..8).for_each(|n| add(path, row(&format!("a.py::p{writer}"), &n.to_string()))));
        }
    });
    assert_eq!(read(&path).unwrap().unwrap().rows().len(), 32);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn a_change_that_fails_or_changes_nothing_writes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ledger.json");
    add(&path, row("a.py::p", "1"));
    let before = fs::metadata(&path).unwrap().modified().unwrap();
    let failed: Result<(), LedgerError> = update(&path, |ledger| {
        ledger.record(row("a.py::p", "2"));
        Err(LedgerError::Busy(path.clone()))
    });
    assert!(failed.is_err());
    add(&path, row("a.py::p", "1"));
    assert_eq!(fs::metadata(&path).unwrap().modified().unwrap(), before);
    assert_eq!(read(&path).unwrap().unwrap().rows().len(), 1);
}
