//! Owns the tests of candidates: what is taken, what is not and why, and what a pinned file may hold.

use super::Reason::{OutsideDomain, Repeated, Unparseable};
use super::{Pinned, Reason, accept, card_sha256};
use crate::strength::card::Card;
use crate::strength::cards::CardSet;
use crate::strength::delta::{self, Cleared};
use crate::tree::Oid;
use crate::witness::value::Input;

fn card(low: &str) -> Card {
    let file = serde_json::json!({"schema": "seedgate.cards/1", "cards": [{
        "prop_id": "a.py::prop_x", "assertion_count": 1,
        "domain": {"tables": [], "arguments": [{"name": "n", "strategy": {"integers": {"low": low, "high": "100"}}}], "unread": []},
        "assertions": [],
    }]});
    Card::clone(CardSet::parse(&file.to_string()).unwrap().cards().next().unwrap())
}

fn cleared(card: &Card) -> Cleared {
    delta::compare(std::slice::from_ref(card), std::slice::from_ref(card)).cleared().unwrap()
}

fn parent() -> Oid {
    Oid::from_hex(&"a".repeat(40)).unwrap()
}

#[test]
fn each_proposal_is_read_once_and_what_is_outside_or_unreadable_is_recorded_without_its_text() {
    let card = card("0");
    let text = "{\"n\":5}\n\nHere you go:\n{\"n\":101}\n{\"n\":5,\"expected\":7}\n{\"n\":5}\n{\"n\":{\"$int\":\"9007199254740993\"}}\n{\"n\":0}\n[1]\n\u{fffd}";
    let pinned = accept(&cleared(&card), &card, parent(), text.as_bytes()).unwrap();
    assert_eq!(pinned.candidates.iter().map(Input::to_json).collect::<Vec<_>>(), [r#"{"n":5}"#, r#"{"n":0}"#]);
    let why: Vec<(u64, Reason)> = pinned.discarded.iter().map(|discarded| (discarded.line, discarded.reason)).collect();
    assert_eq!(
        why,
        [(3, Unparseable), (4, OutsideDomain), (5, OutsideDomain), (6, Repeated), (7, OutsideDomain), (9, Unparseable), (10, Unparseable)]
    );
    let text = pinned.to_text();
    assert!(!text.contains("\"expected\"") && !text.contains("Here you go"), "{text}");
    assert_eq!((pinned.card_sha256.as_str(), &pinned.parent), (card_sha256(&card).as_str(), &parent()));
    assert_eq!(Pinned::parse(text.as_bytes()).unwrap(), pinned);
}

#[test]
fn a_property_that_was_not_compared_takes_none() {
    let (known, mut other) = (card("0"), card("0"));
    other.prop_id.0 = "a.py::prop_y".to_owned();
    let error = accept(&cleared(&known), &other, parent(), b"{\"n\":5}").unwrap_err().to_string();
    assert!(error.contains("was not compared"), "{error}");
}

#[test]
fn a_pinned_file_holds_nothing_that_is_expected_and_another_schema_is_named() {
    let card = card("0");
    let text = accept(&cleared(&card), &card, parent(), b"{\"n\":5}").unwrap().to_text();
    for (from, to, says) in [
        ("candidates/1", "candidates/2", "seedgate.candidates/2"),
        ("\"parent\":", "\"expected\": [7],\n  \"parent\":", "unknown field `expected`"),
        ("\"property\"", "\"prop\"", "unknown field `prop`"),
    ] {
        let error = Pinned::parse(text.replacen(from, to, 1).as_bytes()).unwrap_err();
        assert!(error.contains(says), "{error}");
    }
}
