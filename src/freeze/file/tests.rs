use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::{Against, Entry, Freeze};
use crate::digest;
use crate::finding::PropId;
use crate::freeze::day::Day;
use crate::freeze::evidence::tests::{DIGEST, TEST, eligible};
use crate::freeze::evidence::{Evidence, Seen};
use crate::freeze::token::{Bound, Token};

const CARD: &str = "00000000000000000000000000000000000000000000000000000000000000ca";

/// A token of a test that is noise, issued on New Year's Day of 2030.
fn token(test: &str) -> Value {
    let evidence = eligible(test);
    let bound = Bound {
        test: PropId(test.into()),
        card_sha256: CARD.into(),
        evidence_sha256: kept(test).0,
        reruns: vec![Seen::Pass, Seen::Fail, Seen::Pass, Seen::Pass],
        issued: Day::parse("2030-01-01").unwrap(),
    };
    let leave = evidence.classified().eligible().unwrap();
    Value::Object(Token::issue(leave, &evidence, bound).to_map())
}

fn kept(test: &str) -> (String, String) {
    let text = serde_json::to_string(&eligible(test)).unwrap();
    (digest::sha256_hex(text.as_bytes()), text)
}

fn entry(test: &str) -> Value {
    json!({"test": test, "owner": "me", "expires": "2030-01-31", "token": token(test)})
}

fn file(entries: &[Value]) -> String {
    json!({"schema": "seedgate.freeze/1", "entries": entries}).to_string()
}

/// What the tree holds now.
struct Now {
    digest: &'static str,
    card: Option<&'static str>,
    evidence: bool,
    touched: bool,
    today: Option<&'static str>,
}

const NOW: Now = Now { digest: DIGEST, card: Some(CARD), evidence: true, touched: false, today: Some("2030-01-15") };

fn faults(text: &str, now: &Now) -> Vec<String> {
    let failing = BTreeSet::from([PropId("a.py::test_failing".into())]);
    let against = Against {
        is_property: &|id: &PropId| id.0.contains("prop_"),
        failing: &failing,
        fixture_digest: now.digest,
        card: &|_: &PropId| now.card.map(str::to_owned),
        evidence: &|sha256: &str| {
            let known = [TEST, "a.py::prop_y", "a.py::test_failing", "a.py::test_y"].map(kept);
            let (_, text) = known.into_iter().find(|(known, _)| known == sha256).filter(|_| now.evidence)?;
            Some(Evidence::parse(text.as_bytes()))
        },
        is_touched: &|_: &Entry| now.touched,
        most_days: 30,
        today: now.today.and_then(Day::parse),
    };
    Freeze::parse(text.as_bytes()).unwrap().faults(&against).into_iter().map(|f| format!("{}: {}", f.test, f.says)).collect()
}

fn changed(mut entry: Value, pointer: &str, value: Value) -> Value {
    *entry.pointer_mut(pointer).unwrap() = value;
    entry
}

#[test]
fn every_fault_of_every_entry_is_named() {
    assert_eq!(faults(&file(&[entry(TEST)]), &NOW), [""; 0]);
    let y = || entry("a.py::test_y");
    let no_card = {
        let mut entry = y();
        entry["token"].as_object_mut().unwrap().remove("card_sha256");
        entry
    };
    for (entry, says) in [
        (entry("a.py::prop_y"), "a.py::prop_y: it is a property, and properties are never frozen"),
        (entry("a.py::test_failing"), "a.py::test_failing: the ledger holds a counterexample of it: evidence outranks the exception"),
        (changed(y(), "/expires", "2030-01-13".into()), "a.py::test_y: it expired on 2030-01-13, 2 days ago"),
        (
            changed(y(), "/expires", "2030-02-01".into()),
            "a.py::test_y: it expires 31 days after its token was issued, and the policy allows 30 days",
        ),
        (changed(y(), "/owner", " ".into()), "a.py::test_y: it has no owner"),
        (changed(y(), "/token/verdict", "hold".into()), "a.py::test_y: its token's verdict is not `freeze_eligible`"),
        (changed(y(), "/token/issued", "2030-01-16".into()), "a.py::test_y: its token was issued on 2030-01-16, which is yet to come"),
        (
            changed(y(), "/token/reruns", json!(["fail", "pass", "fail", "pass", "fail"])),
            "a.py::test_y: its token does not show one failure and two passes at once after it",
        ),
        (changed(y(), "/token/mutant_killed", false.into()), "a.py::test_y: its token says that the mutant lived"),
        (changed(y(), "/token/property_failed", true.into()), "a.py::test_y: its token says that a property failed"),
        (changed(y(), "/token/test_files_in_candidate", 1.into()), "a.py::test_y: its token is of a candidate with test files"),
        (changed(y(), "/token/expires_on_digest_change", false.into()), "a.py::test_y: its token is not bound to the digest"),
        (changed(y(), "/token/card_sha256", "0".into()), "a.py::test_y: void: the test has changed since its token was issued"),
        (
            changed(y(), "/token/evidence_sha256", "0".into()),
            "a.py::test_y: the evidence of its token, .seedgate/evidence/0.json, is not there",
        ),
        (
            changed(y(), "/token/command", "true".into()),
            "a.py::test_y: its token and the evidence of it name different digests or commands",
        ),
        (no_card, "a.py::test_y: its token is none that `seedgate freeze open` writes: missing field `card_sha256`"),
        (entry(TEST), "a.py::test_x: it is frozen twice"),
    ] {
        let found = faults(&file(&[self::entry(TEST), entry]), &NOW);
        assert_eq!(found, [says]);
    }
    // A token that was copied from another entry is neither's.
    let copied = changed(y(), "/token", token(TEST));
    assert_eq!(faults(&file(&[copied]), &NOW), ["a.py::test_y: its token is that of another test"]);
}

#[test]
fn what_moved_since_voids_and_only_a_clock_lets_it_expire() {
    let text = file(&[entry(TEST)]);
    let expired = file(&[changed(entry(TEST), "/expires", "2030-01-10".into())]);
    let says = |says: &str| vec![format!("{TEST}: {says}")];
    for (text, now, want) in [
        (&text, Now { digest: "moved", ..NOW }, says("void: the fixtures' digest has moved since its token was issued")),
        (&text, Now { card: Some("moved"), ..NOW }, says("void: the test has changed since its token was issued")),
        (&text, Now { card: None, ..NOW }, says("void: there is no such test any more")),
        (&text, Now { touched: true, ..NOW }, says("the same change touches the test: that is a review item and no noise")),
        (&expired, NOW, says("it expired on 2030-01-10, 5 days ago")),
        (&expired, Now { today: None, ..NOW }, Vec::new()),
        (&text, Now { today: Some("2030-01-31"), ..NOW }, Vec::new()),
    ] {
        assert_eq!(faults(text, &now), want);
    }
    let gone = faults(&text, &Now { evidence: false, ..NOW });
    assert!(gone.len() == 1 && gone[0].ends_with(".json, is not there"), "{gone:?}");
}

#[test]
fn what_is_no_freeze_file_is_told_in_one_sentence() {
    let good = file(&[entry(TEST)]);
    for (text, says) in [
        (good.replace("freeze/1", "freeze/2"), "it has the schema \"seedgate.freeze/2\""),
        (good.replace("\"owner\":\"me\"", "\"owner\":\"me\",\"seed\":7"), "unknown field `seed`"),
        (good.replace("\"owner\":\"me\",", ""), "missing field `owner`"),
        (good.replace("2030-01-31", "2030-02-31"), "a day is written YYYY-MM-DD"),
        ("{}".to_owned(), "it is no freeze file"),
        (format!("{}{}", "[".repeat(100_000), "]".repeat(100_000)), "it is no freeze file"),
    ] {
        let error = Freeze::parse(text.as_bytes()).unwrap_err();
        assert!(error.contains(says) && !error.contains('\n'), "{error}");
    }
}

#[test]
fn a_token_of_a_newer_writer_is_read_and_written_back_with_what_it_added() {
    let mut newer = entry(TEST);
    newer["token"]["newer"] = json!({"a": 1});
    let text = file(&[newer]);
    assert_eq!(faults(&text, &NOW), [""; 0]);
    let again = Freeze::parse(text.as_bytes()).unwrap().to_text();
    assert_eq!(serde_json::from_str::<Value>(&again).unwrap()["entries"][0]["token"]["newer"]["a"], 1);
}

#[test]
fn a_promoted_property_is_taken_out_and_nothing_else() {
    let mut freeze = Freeze::parse(file(&[entry(TEST), entry("a.py::prop_y")]).as_bytes()).unwrap();
    assert!(freeze.names(&PropId("a.py::prop_y".into())));
    assert!(freeze.close(&PropId("a.py::prop_y".into())) && !freeze.close(&PropId("a.py::prop_y".into())));
    assert_eq!(Freeze::parse(freeze.to_text().as_bytes()).unwrap(), Freeze::parse(file(&[entry(TEST)]).as_bytes()).unwrap());
}
