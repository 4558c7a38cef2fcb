//! Owns freeze entries with tokens that hold, for the tests that run no project code.

use std::collections::BTreeMap;

use seedgate::digest;
use seedgate::finding::PropId;
use seedgate::freeze::day::Day;
use seedgate::freeze::evidence::{Evidence, Fixtures, Outcomes, Replay, Run, SCHEMA, Seen, disagreements};
use seedgate::freeze::probe::{self, Mutant, Outcome, Probe, Verdict};
use seedgate::freeze::token::{Bound, Token};
use seedgate::gate::evidence::Measured;
use seedgate::gate::facts::Facts;
use seedgate::gate::{frozen, inventory};
use seedgate::tree::Oid;
use serde_json::{Value, json};

use crate::sandbox::Sandbox;

/// An entry of a test, issued on a day and for some days from then, with its evidence beside it.
pub(crate) fn entry(sandbox: &Sandbox, test: &str, issued: Day, days: i64) -> Value {
    let repo = sandbox.open();
    let head = repo.head().expect("HEAD").expect("a commit");
    let facts = Facts::cold();
    let measured = Measured::of(&repo, &facts, &head, &head).expect("a measure");
    let id = PropId(test.to_owned());
    let cards = inventory::of_commit(&repo, &head, &facts).expect("cards").cards;
    let evidence = evidence(&measured, &id);
    let text = serde_json::to_string(&evidence).expect("JSON");
    let sha256 = digest::sha256_hex(text.as_bytes());
    sandbox.write(Evidence::kept(&sha256), text);
    let bound = Bound {
        test: id.clone(),
        card_sha256: cards.get(&id).map_or_else(|| "none".to_owned(), |card| frozen::card_sha256(card)),
        evidence_sha256: sha256,
        reruns: vec![Seen::Fail, Seen::Pass, Seen::Pass],
        issued,
    };
    let leave = evidence.classified().eligible().expect("leave");
    let token = Token::issue(leave, &evidence, bound).to_map();
    json!({"test": test, "owner": "ada", "expires": issued.plus(days), "token": token})
}

fn evidence(measured: &Measured, test: &PropId) -> Evidence {
    let digest = &measured.digests.head;
    let run = |seen: Seen| Run {
        began: 0,
        seconds: 1.0,
        exit: Some(i32::from(seen == Seen::Fail)),
        outcome: seen,
        why: None,
        fixture_digest: digest.clone(),
        passed: Some(1),
        failed: if seen == Seen::Fail { vec![test.clone()] } else { Vec::new() },
    };
    let of = |seen: Seen| (digest.clone(), Outcomes::from([(test.clone(), seen)]));
    Evidence {
        schema: SCHEMA.to_owned(),
        counts: measured.counts(),
        base: measured.base.clone(),
        head: measured.head.clone(),
        command: "pytest -q".to_owned(),
        fixtures: Fixtures { base: digest.clone(), head: digest.clone() },
        runs: vec![run(Seen::Pass), run(Seen::Fail)],
        disagree: disagreements(&[of(Seen::Pass), of(Seen::Fail)]),
        properties: Replay { failed: Some(false), held: 1, seeds: vec!["1729".to_owned()], ..Replay::default() },
        probe: Some(probe(&measured.head, "pytest -q", (Verdict::Killed, None))),
        no_probe: None,
        tools: BTreeMap::new(),
        began: 0,
        seconds: 2.0,
    }
    .counted()
}

/// The record of a probe with one mutant: what the kept tests say of it, and what the base's do.
pub(crate) fn probe(head: &Oid, command: &str, (verdict, base): (Verdict, Option<Verdict>)) -> Probe {
    let mutant = Mutant {
        id: "0".repeat(12),
        path: "src/net.py".to_owned(),
        line: 2,
        function: "clamp".to_owned(),
        operator: "comparison".to_owned(),
        before: "max".to_owned(),
        after: "min".to_owned(),
        in_diff: false,
        outcome: Outcome::new(verdict, None, None),
        base: base.map(|base| Outcome::new(base, None, None)),
        seconds: 0.1,
    };
    Probe {
        schema: probe::SCHEMA.to_owned(),
        base: None,
        head: head.clone(),
        seed: "0".to_owned(),
        budget: Some(1),
        compare: base.is_some(),
        command: command.to_owned(),
        tools: BTreeMap::new(),
        began: 0,
        seconds: 0.5,
        twins: Vec::new(),
        counts: probe::Counts::of(std::slice::from_ref(&mutant)),
        mutants: vec![mutant],
        left_out: Vec::new(),
    }
}
