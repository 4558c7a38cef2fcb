//! Owns `seedgate.evidence/1`: what was measured of a candidate before anybody may call a failure noise.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::finding::PropId;
use crate::freeze::classify::{Classified, Inputs, classify};
use crate::freeze::file::FreezeError;
use crate::freeze::probe::{Mutant, Probe, Verdict};
use crate::strength::record;
use crate::tree::Oid;

/// The schema of the record.
pub const SCHEMA: &str = "seedgate.evidence/1";

/// Where the record lies.
pub const PATH: &str = ".seedgate/evidence.json";

/// Where the evidence of a token is kept, by its SHA-256.
pub const KEPT: &str = ".seedgate/evidence";

/// Largest record that is read, in bytes.
pub const CAP: u64 = 16 << 20;

/// What was measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Evidence {
    /// [`SCHEMA`].
    pub schema: String,
    /// The four counts to read before a merge.
    pub counts: Counts,
    /// What the candidate is held against.
    pub base: Oid,
    /// The candidate's commit, whose tree the runs are of.
    pub head: Oid,
    /// The test command.
    pub command: String,
    /// Digest over the fixtures of both commits.
    pub fixtures: Fixtures,
    /// The runs, in their order.
    pub runs: Vec<Run>,
    /// Tests that passed and failed on one digest.
    pub disagree: Vec<Disagreement>,
    /// The properties on the base with the candidate's production side.
    pub properties: Replay,
    /// The mutant probe; `null` when there is none.
    pub probe: Option<Probe>,
    /// Why there is no probe.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub no_probe: Option<String>,
    /// Programs and their versions, by name.
    pub tools: BTreeMap<String, String>,
    /// When it began, in seconds since 1970.
    pub began: u64,
    /// How long it took.
    pub seconds: f64,
}

/// The four counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    /// Production files that the candidate changes.
    pub production_files: u64,
    /// Test files, fixtures and runner configuration that it changes.
    pub test_files: u64,
    /// Whether the fixtures' digest is the base's everywhere.
    pub digest_match: Option<bool>,
    /// 1 when the kept tests failed on the planted mutant, 0 when they accepted it, `null` when nobody knows.
    pub mutant_exit: Option<u8>,
}

/// Digests over all fixtures but promoted witnesses.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fixtures {
    /// Of the base.
    pub base: String,
    /// Of the candidate.
    pub head: String,
}

/// What a run or a test of it came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Seen {
    /// It passed.
    Pass,
    /// It failed, as a test fails.
    Fail,
    /// There is no telling: neither.
    Unknown,
}

impl Seen {
    /// The word in records and text.
    pub fn name(self) -> &'static str {
        match self {
            Seen::Pass => "pass",
            Seen::Fail => "fail",
            Seen::Unknown => "unknown",
        }
    }
}

/// One run of the command.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Run {
    /// When it began, in seconds since 1970.
    pub began: u64,
    /// How long it took.
    pub seconds: f64,
    /// What the command ended with; `null` when a signal or a limit ended it.
    pub exit: Option<i32>,
    /// What it came to.
    pub outcome: Seen,
    /// Why it has no verdict.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// Digest over the fixtures on disk after it.
    pub fixture_digest: String,
    /// Tests that passed; `null` where the command does not tell.
    pub passed: Option<u64>,
    /// Tests that failed.
    pub failed: Vec<PropId>,
}

/// A test that disagreed with itself on one digest.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Disagreement {
    /// The test.
    pub test: PropId,
    /// The digest.
    pub fixture_digest: String,
    /// Numbers of the runs it passed in, from 1.
    pub passed_in: Vec<u32>,
    /// Numbers of the runs it failed in.
    pub failed_in: Vec<u32>,
}

/// What the properties said on the production-only tree.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Replay {
    /// Whether one failed; `null` when nobody knows.
    pub failed: Option<bool>,
    /// In one sentence, where that is from.
    pub says: String,
    /// Properties that held.
    pub held: u64,
    /// Those that failed, or failed once and not again.
    pub failing: Vec<PropId>,
    /// Those that cannot be run here.
    pub not_run: u64,
    /// The seed list, as decimal text.
    pub seeds: Vec<String>,
    /// Inputs a seed.
    pub trials: u64,
    /// SHA-256 of the record it was read from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub record_sha256: Option<String>,
}

/// What a test came to in each run, by function; a function with several cases failed when one of them did, and passed when all did.
pub type Outcomes = BTreeMap<PropId, Seen>;

/// The tests that passed in one run and failed in another on the same digest.
pub fn disagreements(runs: &[(String, Outcomes)]) -> Vec<Disagreement> {
    let mut all: BTreeMap<(&PropId, &str), (Vec<u32>, Vec<u32>)> = BTreeMap::new();
    for (number, (digest, outcomes)) in (1..).zip(runs) {
        for (test, seen) in outcomes {
            let (passed, failed) = all.entry((test, digest.as_str())).or_default();
            match seen {
                Seen::Pass => passed.push(number),
                Seen::Fail => failed.push(number),
                Seen::Unknown => {}
            }
        }
    }
    let both = all.into_iter().filter(|(_, (passed, failed))| !passed.is_empty() && !failed.is_empty());
    let told = |((test, digest), (passed_in, failed_in)): ((&PropId, &str), _)| Disagreement {
        test: test.clone(),
        fixture_digest: digest.to_owned(),
        passed_in,
        failed_in,
    };
    both.map(told).collect()
}

impl Evidence {
    /// The label, and what led to it. The counts that follow from the rest are made anew from it.
    pub fn classified(&self) -> Classified {
        classify(Inputs {
            production_files: self.counts.production_files,
            test_files: self.counts.test_files,
            digest_stable: Some(self.is_stable()),
            property_failed: self.property_failed(),
            mutant_killed: self.mutant_killed(),
            nondeterministic: self.disagrees(),
        })
    }

    /// The four counts as the rest of the record gives them.
    #[must_use]
    pub fn counted(mut self) -> Self {
        self.counts.digest_match = Some(self.is_stable());
        self.counts.mutant_exit = self.mutant_killed().map(u8::from);
        self
    }

    fn is_stable(&self) -> bool {
        let digests = self.runs.iter().map(|run| &run.fixture_digest);
        digests.chain([&self.fixtures.head]).all(|digest| *digest == self.fixtures.base)
    }

    fn property_failed(&self) -> Option<bool> {
        if self.properties.failing.is_empty() { self.properties.failed } else { Some(true) }
    }

    /// Whether the kept tests still bite: every mutant with a verdict was killed, and there is one. A kill by a test that disagrees with
    /// itself is none. Where base tests and patch tests were both asked, only what the base's noticed and these do not is alive; what both
    /// accept says nothing.
    pub fn mutant_killed(&self) -> Option<bool> {
        let probe = self.probe.as_ref()?;
        let killed = probe.mutants.iter().filter(|mutant| mutant.outcome.verdict == Verdict::Killed && !self.is_noise(mutant)).count();
        match (killed, probe.counts.survived) {
            _ if probe.counts.weakened > 0 => Some(false),
            (_, 1..) if probe.compare => None,
            (_, 1..) => Some(false),
            (1.., 0) => Some(true),
            (0, 0) => None,
        }
    }

    /// Whether the test that killed a mutant is one that also fails without it.
    pub fn is_noise(&self, mutant: &Mutant) -> bool {
        let why = mutant.outcome.why.as_deref().unwrap_or_default();
        self.disagree.iter().any(|one| why.strip_prefix(one.test.0.as_str()).is_some_and(|rest| rest.starts_with([':', '['])))
    }

    /// Whether the command disagreed with itself on one digest; `None` below two runs with a verdict.
    fn disagrees(&self) -> Option<bool> {
        let known: BTreeSet<(&str, Seen)> =
            self.runs.iter().filter(|run| run.outcome != Seen::Unknown).map(|run| (run.fixture_digest.as_str(), run.outcome)).collect();
        let both = known.iter().any(|(digest, seen)| *seen == Seen::Pass && known.contains(&(*digest, Seen::Fail)));
        if both || !self.disagree.is_empty() {
            return Some(true);
        }
        let with_verdict = self.runs.iter().filter(|run| run.outcome != Seen::Unknown).count();
        (with_verdict >= 2).then_some(false)
    }

    /// Whether a test failed in two runs at once after another, on one digest: that is no noise.
    pub fn is_steady(&self, test: &PropId) -> bool {
        self.of(test).is_some_and(|one| one.failed_in.iter().any(|number| one.failed_in.contains(&(number + 1))))
    }

    /// What a test did, run after run, where the runs tell.
    pub fn seen(&self, test: &PropId) -> Vec<Seen> {
        let Some(one) = self.of(test) else { return Vec::new() };
        let of = |(number, _)| match number {
            number if one.failed_in.contains(&number) => Seen::Fail,
            number if one.passed_in.contains(&number) => Seen::Pass,
            _ => Seen::Unknown,
        };
        (1..).zip(&self.runs).map(of).collect()
    }

    /// The disagreement of a test.
    pub fn of(&self, test: &PropId) -> Option<&Disagreement> {
        self.disagree.iter().find(|disagreement| disagreement.test == *test)
    }

    /// Where a token's evidence of this digest is kept, from the root. The name has as much of the digest as people like to read; all of it
    /// is in the token.
    pub fn kept(sha256: &str) -> String {
        format!("{KEPT}/{}", Evidence::file_name(sha256))
    }

    /// The name of that file.
    pub fn file_name(sha256: &str) -> String {
        format!("{}.json", sha256.get(..16).unwrap_or(sha256))
    }

    /// Reads the record at a path, and gives its bytes too: their digest is what a token names. No link is followed.
    ///
    /// # Errors
    /// [`FreezeError`] when it is not there, too large or no record.
    pub fn read(path: &Path) -> Result<(Self, Vec<u8>), FreezeError> {
        let unfit = |says: String| FreezeError::Unfit { path: path.to_path_buf(), says };
        let bytes = record::read(path, CAP).map_err(FreezeError::unread(path))?;
        let evidence = Evidence::parse(&bytes).map_err(unfit)?;
        Ok((evidence, bytes))
    }

    /// Reads a record.
    ///
    /// # Errors
    /// In one sentence, what is wrong with it.
    pub fn parse(bytes: &[u8]) -> Result<Self, String> {
        #[derive(Deserialize)]
        struct Head {
            schema: String,
        }
        let unfit = |error: serde_json::Error| format!("it is no {SCHEMA} file: {error}");
        let head: Head = serde_json::from_slice(bytes).map_err(unfit)?;
        if head.schema != SCHEMA {
            return Err(format!("it has the schema {:?}, and this version reads {SCHEMA}", head.schema));
        }
        let mut evidence: Evidence = serde_json::from_slice(bytes).map_err(unfit)?;
        if let Some(probe) = &mut evidence.probe {
            probe.counts = crate::freeze::probe::Counts::of(&probe.mutants);
        }
        let runs = u32::try_from(evidence.runs.len()).unwrap_or(u32::MAX);
        let odd = |one: &Disagreement| {
            let numbers = one.passed_in.iter().chain(&one.failed_in);
            let is_told = |number: &u32| {
                let run = number.checked_sub(1).and_then(|at| evidence.runs.get(at as usize));
                run.is_some_and(|run| run.fixture_digest == one.fixture_digest)
            };
            let failed = |number: &u32| evidence.runs.get((number - 1) as usize).is_some_and(|run| run.failed.contains(&one.test));
            let known = numbers.clone().all(|number| (1..=runs).contains(number)) && numbers.clone().all(is_told);
            !known
                || one.passed_in.is_empty()
                || one.failed_in.is_empty()
                || !one.failed_in.iter().all(failed)
                || one.passed_in.iter().any(failed)
        };
        match evidence.disagree.iter().find(|one| odd(one)) {
            Some(one) => Err(format!("its runs do not show that {} passed and failed on one digest", one.test)),
            None => Ok(evidence.counted()),
        }
    }
}

#[cfg(test)]
pub(crate) mod tests;
