//! Owns measuring a candidate for a freeze: the same command again and again on one tree, and what each test came to.

use std::collections::BTreeMap;
use std::time::{SystemTime, UNIX_EPOCH};

use crate::finding::PropId;
use crate::freeze::evidence::{Outcomes, Replay, Run, Seen};
use crate::freeze::token;
use crate::gate::evidence::Measured;
use crate::gate::facts::Facts;
use crate::gate::inventory;
use crate::repo::Repo;
use crate::strength::card::Kind;
use crate::tree::Tree;
use crate::trial::TrialError;
use crate::trial::record::{Props, Status};
use crate::trial::suite::{self, SuiteOutcome, SuiteRun, TestOutcome, Tests};
use crate::trial::trees::{Part, Source, Trees};

/// One run with what each test came to.
pub struct Observed {
    /// As it goes into the record.
    pub run: Run,
    /// The tests, by function.
    pub outcomes: Outcomes,
    /// The runner's programs and their versions.
    pub tools: BTreeMap<String, String>,
}

/// Runs the command once on the candidate's own tree, and hashes the fixtures that it leaves on disk.
///
/// # Errors
/// When the tree cannot be laid out, the command cannot be started, or somebody wants it to end.
pub fn observe(trees: &Trees, tree: &dyn Tree, measured: &Measured, tests: &Tests) -> Result<Observed, TrialError> {
    let (lease, entries) = (trees.lease(tree)?, tree.list(b"")?);
    let began = now();
    let ran = suite::run(tests, lease.path(), &entries)?;
    let fixture_digest = measured.on_disk(tree, lease.path())?;
    let outcomes = by_function(&ran);
    let (outcome, why) = match &ran.outcome {
        SuiteOutcome::Passed => (Seen::Pass, None),
        SuiteOutcome::Failed(_) => (Seen::Fail, None),
        SuiteOutcome::Unknown(why) => (Seen::Unknown, Some(why.clone())),
    };
    // What a run without a verdict says of single tests counts neither.
    let outcomes = if outcome == Seen::Unknown { Outcomes::new() } else { outcomes };
    let of = |wanted: Seen| outcomes.iter().filter(move |(_, seen)| **seen == wanted).map(|(id, _)| id.clone());
    let run = Run {
        began,
        seconds: ran.seconds,
        exit: ran.exit,
        outcome,
        why,
        fixture_digest,
        passed: ran.is_told.then(|| of(Seen::Pass).count() as u64),
        failed: of(Seen::Fail).collect(),
    };
    Ok(Observed { run, outcomes, tools: ran.tools })
}

/// What each test function came to: it failed when one of its cases did, and passed when all did.
fn by_function(ran: &SuiteRun) -> Outcomes {
    let mut outcomes = Outcomes::new();
    for (id, test) in &ran.tests {
        let seen = match test.outcome {
            TestOutcome::Passed => Seen::Pass,
            TestOutcome::Failed => Seen::Fail,
            // What prepares a test is not the test.
            _ => Seen::Unknown,
        };
        let known = outcomes.entry(function(id)).or_insert(seen);
        *known = match (*known, seen) {
            (Seen::Fail, _) | (_, Seen::Fail) => Seen::Fail,
            (Seen::Pass, Seen::Pass) => Seen::Pass,
            _ => Seen::Unknown,
        };
    }
    outcomes
}

/// The id of a test without its parameters.
fn function(id: &str) -> PropId {
    let file = id.split("::").next().map_or(0, str::len);
    let cut = id[file..].find('[').map_or(id.len(), |at| file + at);
    PropId(id[..cut].to_owned())
}

/// What the reruns of one test came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reruns {
    /// One failure, and two passes at once after it.
    Noise,
    /// Two failures in a row: that is no noise.
    Steady,
    /// Neither was seen in so many runs.
    Neither,
    /// A run said nothing of the test, for this reason.
    Unknown(String),
    /// The fixtures moved.
    Moved(String),
}

/// Runs the command until a test shows one failure and two passes at once after it, or something that rules this out. The second answer is
/// what the test did, run after run. `told` hears of each.
///
/// # Errors
/// As of [`observe`].
pub fn rerun(
    trees: &Trees,
    tree: &dyn Tree,
    measured: &Measured,
    (tests, test): (&Tests, &PropId),
    most: u32,
    told: &dyn Fn(),
) -> Result<(Reruns, Vec<Seen>), TrialError> {
    let mut seen = Vec::new();
    for _ in 0..most {
        let observed = observe(trees, tree, measured, tests)?;
        told();
        let one = observed.outcomes.get(test).copied().unwrap_or(Seen::Unknown);
        seen.push(one);
        if one == Seen::Unknown {
            let why = observed.run.why.unwrap_or_else(|| "it was not among the tests that ran and have a verdict".to_owned());
            return Ok((Reruns::Unknown(why), seen));
        }
        if observed.run.fixture_digest != measured.digests.head {
            return Ok((Reruns::Moved(observed.run.fixture_digest), seen));
        }
        if token::is_steady(&seen) {
            return Ok((Reruns::Steady, seen));
        }
        if token::is_noise(&seen) {
            return Ok((Reruns::Noise, seen));
        }
    }
    Ok((Reruns::Neither, seen))
}

/// What the properties said: from a record of the candidate, or from there being none to run.
///
/// # Errors
/// When the tree cannot be read, or the record is that of another candidate.
pub fn replay(repo: &Repo, facts: &Facts, measured: &Measured, record: Option<(&Props, String)>) -> Result<Replay, TrialError> {
    let Some((props, sha256)) = record else {
        let source = Source::candidate(repo, &measured.base, &measured.head, Part::ProductionOnly)?;
        let inventory = inventory::of_tree(&source.tree(), facts)?;
        let count = inventory.cards.cards().filter(|card| card.kind == Kind::Property).count();
        return Ok(unrecorded(count, inventory.unreadable.len()));
    };
    let of =
        |wanted: &'static [Status]| props.properties.iter().filter(move |row| wanted.contains(&row.status)).map(|row| row.prop_id.clone());
    let (held, not_run) = (of(&[Status::Pass]).count() as u64, of(&[Status::NotRun]).count() as u64);
    let failing: Vec<PropId> = of(&[Status::Fail, Status::Flake]).collect();
    let broken = of(&[Status::Error]).next();
    let (failed, says) = match (failing.first(), broken, held, not_run) {
        (Some(first), ..) => (Some(true), format!("{first} fails on the production-only tree")),
        (None, Some(first), ..) => (None, format!("{first} has no verdict")),
        (None, None, 0, 1..) => (None, "none of the properties can be run, so nothing was replayed".to_owned()),
        (None, None, 0, 0) => (Some(false), "there is no property to replay".to_owned()),
        (None, None, ..) => (Some(false), "every property that can be run holds on the production-only tree".to_owned()),
    };
    let (seeds, trials) = (props.seeds.clone(), props.trials);
    Ok(Replay { failed, says, held, failing, not_run, seeds, trials, record_sha256: Some(sha256) })
}

/// Without a record nothing is known, unless there is no property at all.
fn unrecorded(properties: usize, unreadable: usize) -> Replay {
    let (failed, says) = match (properties, unreadable) {
        (0, 0) => (Some(false), "the production-only tree has no property to replay".to_owned()),
        (0, _) => (None, "a test file cannot be read, so nobody knows whether it has properties".to_owned()),
        (count, _) => (None, format!("{count} of them, and no record of a run")),
    };
    Replay { failed, says, ..Replay::default() }
}

/// What keeps a record of properties from being that of a candidate.
pub fn strange(props: &Props, measured: &Measured) -> Option<String> {
    if props.patch != measured.head {
        return Some(format!("it is of commit {}, and the candidate is {}", props.patch, measured.head));
    }
    if props.base != measured.base {
        return Some(format!("it was held against {}, and the base is {}", props.base, measured.base));
    }
    (props.tree != Part::ProductionOnly.name())
        .then(|| format!("it is of the {} tree, and the production-only tree is asked for", props.tree))
}

/// Seconds since 1970.
pub fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |passed| passed.as_secs())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::{by_function, function, unrecorded};
    use crate::finding::PropId;
    use crate::freeze::evidence::Seen;
    use crate::trial::suite::{SuiteOutcome, SuiteRun, TestOutcome, TestRun};

    #[test]
    fn a_function_failed_when_one_case_did_and_passed_when_all_did() {
        use TestOutcome::{Error, Failed, ImportError, Passed, Skipped, Timeout, Xfailed, Xpassed};
        for (cases, want) in [
            (&[Passed, Passed][..], Seen::Pass),
            (&[Passed, Failed], Seen::Fail),
            (&[Failed, Skipped], Seen::Fail),
            (&[Passed, Skipped], Seen::Unknown),
            (&[Error], Seen::Unknown),
            (&[ImportError], Seen::Unknown),
            (&[Timeout], Seen::Unknown),
            (&[Xfailed], Seen::Unknown),
            (&[Xpassed], Seen::Unknown),
        ] {
            let test = |outcome: &TestOutcome| TestRun { outcome: *outcome, seconds: 0.0, says: String::new() };
            let tests: BTreeMap<String, TestRun> =
                cases.iter().enumerate().map(|(n, outcome)| (format!("a.py::test_x[{n}-[::]]"), test(outcome))).collect();
            let ran = SuiteRun {
                outcome: SuiteOutcome::Passed,
                is_told: true,
                tests,
                exit: Some(0),
                seconds: 0.0,
                tools: BTreeMap::new(),
                output: String::new(),
            };
            assert_eq!(by_function(&ran), BTreeMap::from([(PropId("a.py::test_x".into()), want)]), "{cases:?}");
        }
    }

    #[test]
    fn parameters_are_no_part_of_an_id_and_brackets_of_a_folder_are() {
        for (id, want) in [
            ("a.py::test_x[1]", "a.py::test_x"),
            ("a[1]/b.py::C::test_x", "a[1]/b.py::C::test_x"),
            ("a[1]/b.py::test_x[a::b[c]]", "a[1]/b.py::test_x"),
        ] {
            assert_eq!(function(id).0, want);
        }
    }

    #[test]
    fn without_a_record_only_the_want_of_any_property_is_an_answer() {
        assert_eq!((unrecorded(0, 0).failed, unrecorded(0, 1).failed, unrecorded(3, 0).failed), (Some(false), None, None));
    }
}
