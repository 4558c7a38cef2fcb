//! Owns the tests of the record of runs.

use std::collections::BTreeMap;

use serde_json::Map;

use super::{Beside, Row, Runs, SCHEMA, Where};
use crate::finding::PropId;
use crate::tree::Oid;

fn row(job: &str, runner: Where, beside_local: Option<Beside>) -> Row {
    let oid = Oid::from_hex(&"a".repeat(40)).unwrap();
    Row {
        kind: "candidates".into(),
        prop_id: PropId("a.py::prop_x".into()),
        parent: oid.clone(),
        tree: oid,
        bound: BTreeMap::from([("candidates".to_owned(), "c1".to_owned())]),
        job_sha256: job.into(),
        action: None,
        command: None,
        input_root: None,
        toolchain: "t".into(),
        runner,
        endpoint: None,
        sandbox: None,
        cached: false,
        status: "ok".into(),
        exit: Some(0),
        attempts: vec!["exit 0".into()],
        verdict: "pass".into(),
        verdict_sha256: None,
        worker: None,
        why: None,
        beside_local,
        others: Map::new(),
    }
}

#[test]
fn a_row_stands_once_whoever_adds_it_again() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("deep/runs.json");
    Runs::add(&path, &[row("1", Where::Local, None), row("1", Where::Remote, Some(Beside::Agree))]).unwrap();
    Runs::add(&path, &[row("1", Where::Remote, Some(Beside::Agree)), row("2", Where::Local, None)]).unwrap();
    let runs = Runs::read(&path).unwrap();
    assert_eq!(runs.rows().len(), 3);
    assert_eq!(runs.other_candidates(&PropId("a.py::prop_x".into()), &runs.rows()[0].parent, "c2"), Some("c1"));
    assert_eq!(runs.other_candidates(&PropId("a.py::prop_x".into()), &runs.rows()[0].parent, "c1"), None);
    let text = std::fs::read_to_string(&path).unwrap();
    let newer = text.replacen("\"rows\"", "\"newer\": 1,\n  \"rows\"", 1);
    std::fs::write(&path, newer).unwrap();
    Runs::add(&path, &[row("3", Where::Local, None)]).unwrap();
    assert!(std::fs::read_to_string(&path).unwrap().contains("\"newer\": 1"));
    std::fs::write(&path, text.replace(SCHEMA, "seedgate.runs/2")).unwrap();
    assert!(Runs::read(&path).unwrap_err().to_string().contains("seedgate.runs/2"));
}

#[test]
fn a_difference_stands_until_the_two_agree_on_the_same_thing() {
    let mut runs = Runs::default();
    runs.put(row("1", Where::Remote, Some(Beside::Disagree)));
    assert_eq!(runs.disagreeing().len(), 1);
    runs.put(row("2", Where::Remote, None));
    assert_eq!(runs.disagreeing().len(), 1, "what has no verdict settles nothing");
    runs.put(row("3", Where::Remote, Some(Beside::Agree)));
    assert_eq!(runs.disagreeing().len(), 0);
}
