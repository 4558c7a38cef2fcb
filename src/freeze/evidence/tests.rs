use std::collections::BTreeMap;

use super::{Counts, Evidence, Fixtures, Outcomes, Replay, Run, SCHEMA, Seen, disagreements};
use crate::finding::PropId;
use crate::freeze::classify::Label;
use crate::freeze::probe::{self, Mutant, Outcome, Probe, Verdict};
use crate::tree::Oid;

/// The digest of the sample's fixtures.
pub(crate) const DIGEST: &str = "00000000000000000000000000000000000000000000000000000000000000d1";

/// A test that is noise.
pub(crate) const TEST: &str = "a.py::test_x";

fn oid(digit: &str) -> Oid {
    Oid::from_hex(&digit.repeat(40)).unwrap()
}

fn mutant(outcome: Verdict, base: Option<Verdict>) -> Mutant {
    let of = |verdict| Outcome::new(verdict, None, None);
    Mutant {
        id: "0".repeat(12),
        path: "a.py".into(),
        line: 1,
        function: "f".into(),
        operator: "comparison".into(),
        before: "<".into(),
        after: "<=".into(),
        in_diff: true,
        outcome: of(outcome),
        base: base.map(of),
        seconds: 0.5,
    }
}

fn probe(compare: bool, mutants: Vec<Mutant>) -> Probe {
    Probe {
        schema: probe::SCHEMA.into(),
        base: None,
        head: oid("b"),
        seed: "0".into(),
        budget: Some(1),
        compare,
        command: "pytest".into(),
        tools: BTreeMap::new(),
        began: 0,
        seconds: 1.0,
        twins: Vec::new(),
        counts: probe::Counts::of(&mutants),
        mutants,
        left_out: Vec::new(),
    }
}

fn run(outcome: Seen, digest: &str, failed: &[&str]) -> Run {
    Run {
        began: 1,
        seconds: 1.0,
        exit: Some(i32::from(outcome == Seen::Fail)),
        outcome,
        why: None,
        fixture_digest: digest.into(),
        passed: Some(3),
        failed: failed.iter().map(|id| PropId((*id).into())).collect(),
    }
}

/// Evidence on which a test may be frozen.
pub(crate) fn eligible(test: &str) -> Evidence {
    let runs = vec![run(Seen::Pass, DIGEST, &[]), run(Seen::Fail, DIGEST, &[test])];
    let of = |seen| (DIGEST.to_owned(), Outcomes::from([(PropId(test.into()), seen)]));
    Evidence {
        schema: SCHEMA.into(),
        counts: Counts { production_files: 1, test_files: 0, digest_match: None, mutant_exit: None },
        base: oid("a"),
        head: oid("b"),
        command: "pytest".into(),
        fixtures: Fixtures { base: DIGEST.into(), head: DIGEST.into() },
        runs,
        disagree: disagreements(&[of(Seen::Pass), of(Seen::Fail)]),
        properties: Replay { failed: Some(false), held: 2, seeds: vec!["1729".into()], ..Replay::default() },
        probe: Some(probe(false, vec![mutant(Verdict::Killed, None)])),
        no_probe: None,
        tools: BTreeMap::new(),
        began: 0,
        seconds: 3.0,
    }
    .counted()
}

/// The label after a change of the sample.
fn label(change: impl FnOnce(&mut Evidence)) -> Label {
    let mut evidence = eligible(TEST);
    change(&mut evidence);
    evidence.classified().label()
}

#[test]
fn each_part_of_the_evidence_leads_to_its_label() {
    assert_eq!(label(|_| ()), Label::FreezeEligible);
    assert_eq!(label(|e| e.counts.test_files = 1), Label::SplitRequired);
    assert_eq!(label(|e| e.fixtures.head = "moved".into()), Label::FixtureDrift);
    assert_eq!(label(|e| e.runs[1].fixture_digest = "moved".into()), Label::FixtureDrift);
    assert_eq!(label(|e| e.properties.failing.push(PropId("p.py::prop_y".into()))), Label::PropertyFail);
    assert_eq!(label(|e| e.properties.failed = Some(true)), Label::PropertyFail);
    assert_eq!(label(|e| e.properties.failed = None), Label::Hold);
    assert_eq!(label(|e| e.probe = None), Label::Hold);
    assert_eq!(label(|e| (e.runs[1].outcome, e.disagree) = (Seen::Unknown, Vec::new())), Label::Hold);
    assert_eq!(label(|e| (e.runs[1].outcome, e.disagree) = (Seen::Pass, Vec::new())), Label::Hold);
}

#[test]
fn a_mutant_is_killed_when_it_is_and_never_because_nobody_knows() {
    use Verdict::{Killed, Survived, Unknown};
    for (compare, mutants, exit) in [
        (false, vec![], None),
        (false, vec![mutant(Unknown, None)], None),
        (false, vec![mutant(Killed, None), mutant(Unknown, None)], Some(1)),
        (false, vec![mutant(Killed, None), mutant(Survived, None)], Some(0)),
        (true, vec![mutant(Survived, Some(Killed)), mutant(Killed, Some(Killed))], Some(0)),
        (true, vec![mutant(Survived, Some(Survived)), mutant(Killed, Some(Killed))], None),
        (true, vec![mutant(Survived, Some(Unknown))], None),
        (true, vec![mutant(Killed, Some(Survived))], Some(1)),
    ] {
        let told = format!("{mutants:?}");
        let evidence = Evidence { probe: Some(probe(compare, mutants)), ..eligible(TEST) }.counted();
        assert_eq!(evidence.counts.mutant_exit, exit, "{told}");
    }
    let mut noisy = mutant(Killed, None);
    for (why, exit) in [("a.py::test_x: AssertionError", None), ("a.py::test_x[1]: x", None), ("a.py::test_xy: AssertionError", Some(1))] {
        noisy.outcome.why = Some(why.into());
        let evidence = Evidence { probe: Some(probe(false, vec![noisy.clone()])), ..eligible(TEST) }.counted();
        assert_eq!(evidence.counts.mutant_exit, exit, "{why}");
    }
    let tests_only = |outcome, base| {
        label(move |e| {
            (e.counts.production_files, e.counts.test_files) = (0, 1);
            e.probe = Some(probe(true, vec![mutant(outcome, Some(base))]));
        })
    };
    assert_eq!(tests_only(Survived, Killed), Label::OracleWeakened);
    assert_eq!(tests_only(Survived, Survived), Label::Hold);
    assert_eq!(tests_only(Unknown, Killed), Label::Hold);
    assert_eq!(tests_only(Killed, Killed), Label::Hold);
}

#[test]
fn a_test_disagrees_only_with_itself_on_the_same_digest() {
    let (x, y) = (PropId(TEST.into()), PropId("a.py::test_y".into()));
    let of = |digest: &str, seen: Seen| (digest.to_owned(), Outcomes::from([(x.clone(), seen), (y.clone(), Seen::Pass)]));
    for (runs, want) in [
        (vec![of("d", Seen::Pass), of("d", Seen::Fail), of("d", Seen::Unknown), of("d", Seen::Pass)], Some((vec![1, 4], vec![2]))),
        (vec![of("d", Seen::Pass), of("e", Seen::Fail)], None),
        (vec![of("d", Seen::Fail), of("d", Seen::Fail)], None),
        (vec![of("d", Seen::Unknown), of("d", Seen::Fail)], None),
    ] {
        let found = disagreements(&runs);
        assert_eq!(found.first().map(|one| (one.passed_in.clone(), one.failed_in.clone())), want);
        assert!(found.len() < 2 && found.iter().all(|one| one.test == x));
    }
}

#[test]
fn failures_in_a_row_in_the_runs_are_no_noise() {
    use Seen::{Fail, Pass, Unknown};
    for (seen, steady) in [
        (&[Pass, Fail][..], false),
        (&[Fail, Pass, Fail, Pass], false),
        (&[Pass, Fail, Fail], true),
        (&[Fail, Fail, Pass], true),
        (&[Fail, Unknown, Fail, Pass], false),
    ] {
        let test = PropId(TEST.into());
        let of = |seen: &Seen| (DIGEST.to_owned(), Outcomes::from([(test.clone(), *seen)]));
        let runs = seen.iter().map(|seen| run(*seen, DIGEST, if *seen == Fail { &[TEST] } else { &[] })).collect();
        let evidence = Evidence { runs, disagree: disagreements(&seen.iter().map(of).collect::<Vec<_>>()), ..eligible(TEST) };
        assert_eq!((evidence.is_steady(&test), evidence.seen(&test).as_slice()), (steady, seen));
        assert!(!evidence.is_steady(&PropId("a.py::test_y".into())));
    }
}

#[test]
fn a_record_is_read_back_with_what_follows_from_it_made_anew() {
    let whole = eligible(TEST);
    let mut value = serde_json::to_value(&whole).unwrap();
    value["newer"] = 1.into();
    value["runs"][0]["newer"] = 1.into();
    value["counts"]["mutant_exit"] = 0.into();
    value["counts"]["digest_match"] = false.into();
    value["probe"]["counts"]["killed"] = 0.into();
    assert_eq!(Evidence::parse(value.to_string().as_bytes()).unwrap(), whole);
    for (pointer, edit) in [
        ("/disagree/0/passed_in/0", serde_json::json!(3)),
        ("/disagree/0/passed_in/0", serde_json::json!(0)),
        ("/disagree/0/passed_in/0", serde_json::json!(2)),
        ("/disagree/0/failed_in/0", serde_json::json!(1)),
        ("/disagree/0/passed_in", serde_json::json!([])),
        ("/disagree/0/fixture_digest", serde_json::json!("other")),
    ] {
        let mut forged = value.clone();
        *forged.pointer_mut(pointer).unwrap() = edit;
        let error = Evidence::parse(forged.to_string().as_bytes()).unwrap_err();
        assert_eq!(error, "its runs do not show that a.py::test_x passed and failed on one digest", "{pointer}");
    }
    value["schema"] = "seedgate.evidence/2".into();
    assert!(Evidence::parse(value.to_string().as_bytes()).unwrap_err().contains("seedgate.evidence/2"));
    assert!(Evidence::parse(b"{}").unwrap_err().contains("it is no seedgate.evidence/1 file"));
}
