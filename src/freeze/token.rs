//! Owns the token: the receipt of an eligible freeze, and what of it can be told again from a tree.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json};

use crate::finding::PropId;
use crate::freeze::classify::{Eligible, Label};
use crate::freeze::day::Day;
use crate::freeze::evidence::{Evidence, Seen};

/// How a test must behave: one failure, and two passes at once after it.
pub const NOISE: [Seen; 3] = [Seen::Fail, Seen::Pass, Seen::Pass];

/// The receipt. The first six fields are the published ones.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Token {
    /// `freeze_eligible`.
    pub verdict: Label,
    /// Digest over the fixtures; when it moves, the token is void.
    pub fixture_digest: String,
    /// The first seed of the property replay, as decimal text; `null` where there is no property. The evidence has them all.
    pub property_seed: Option<String>,
    /// Whether a property failed on the production-only tree.
    pub property_failed: bool,
    /// Whether the planted mutant was killed.
    pub mutant_killed: bool,
    /// Test files in the candidate.
    pub test_files_in_candidate: u64,
    /// True: it is void when the digest moves.
    pub expires_on_digest_change: bool,
    /// The test.
    pub test: PropId,
    /// SHA-256 of the test's card; when it moves, the token is void.
    pub card_sha256: String,
    /// SHA-256 of the evidence, which is kept beside the freeze file.
    pub evidence_sha256: String,
    /// The command that was run.
    pub command: String,
    /// What the test did, run after run.
    pub reruns: Vec<Seen>,
    /// The day it was issued on.
    pub issued: Day,
}

/// What a token is bound to besides its evidence.
pub struct Bound {
    /// The test.
    pub test: PropId,
    /// SHA-256 of its card.
    pub card_sha256: String,
    /// SHA-256 of the evidence's bytes.
    pub evidence_sha256: String,
    /// What the test did, run after run.
    pub reruns: Vec<Seen>,
    /// Today.
    pub issued: Day,
}

/// Whether reruns show noise: they end with one failure and two passes at once after it, and nothing else failed twice in a row.
pub fn is_noise(reruns: &[Seen]) -> bool {
    reruns.ends_with(&NOISE) && !is_steady(reruns) && !reruns.contains(&Seen::Unknown)
}

/// Whether a failure came back at once: that is no noise.
pub fn is_steady(reruns: &[Seen]) -> bool {
    reruns.windows(2).any(|pair| pair == [Seen::Fail, Seen::Fail])
}

impl Token {
    /// Issues a token. It takes the leave away: one leave, one token.
    #[expect(clippy::needless_pass_by_value, reason = "the leave is spent")]
    pub fn issue(leave: Eligible, evidence: &Evidence, bound: Bound) -> Self {
        let inputs = leave.inputs();
        Token {
            verdict: Label::FreezeEligible,
            fixture_digest: evidence.fixtures.head.clone(),
            property_seed: evidence.properties.seeds.first().cloned(),
            property_failed: inputs.property_failed != Some(false),
            mutant_killed: inputs.mutant_killed == Some(true),
            test_files_in_candidate: inputs.test_files,
            expires_on_digest_change: true,
            test: bound.test,
            card_sha256: bound.card_sha256,
            evidence_sha256: bound.evidence_sha256,
            command: evidence.command.clone(),
            reruns: bound.reruns,
            issued: bound.issued,
        }
    }

    /// As it stands in the freeze file.
    pub fn to_map(&self) -> Map<String, Json> {
        serde_json::to_value(self).ok().and_then(|value| value.as_object().cloned()).unwrap_or_default()
    }

    /// Reads a token; what a newer writer added is passed over.
    ///
    /// # Errors
    /// In one sentence, why it is none.
    pub fn read(map: &Map<String, Json>) -> Result<Self, String> {
        if map.get("verdict").and_then(Json::as_str) != Some(Label::FreezeEligible.name()) {
            return Err("its token's verdict is not `freeze_eligible`".to_owned());
        }
        let token: Token = serde_json::from_value(Json::Object(map.clone()))
            .map_err(|error| format!("its token is none that `seedgate freeze open` writes: {error}"))?;
        Ok(token)
    }

    /// What is wrong with the token in itself, and with the evidence that its tree holds (`None` when there is none).
    pub fn faults(&self, test: &PropId, evidence: Option<Result<&Evidence, &str>>) -> Vec<String> {
        let mut faults = Vec::new();
        let mut wrong = |is: bool, says: &str| {
            if is {
                faults.push(says.to_owned());
            }
        };
        wrong(self.test != *test, "its token is that of another test");
        wrong(self.property_failed, "its token says that a property failed");
        wrong(!self.mutant_killed, "its token says that the mutant lived");
        wrong(self.test_files_in_candidate > 0, "its token is of a candidate with test files");
        wrong(!self.expires_on_digest_change, "its token is not bound to the digest");
        wrong(is_steady(&self.reruns), "its token shows two failures in a row, which is no noise");
        wrong(!is_noise(&self.reruns), "its token does not show one failure and two passes at once after it");
        match evidence {
            None => faults.push(format!("the evidence of its token, {}, is not there", Evidence::kept(&self.evidence_sha256))),
            Some(Err(says)) => faults.push(format!("the evidence of its token cannot be read: {says}")),
            Some(Ok(evidence)) => faults.extend(self.unsupported(evidence)),
        }
        faults
    }

    /// What the token claims and its evidence does not show.
    fn unsupported(&self, evidence: &Evidence) -> Vec<String> {
        let mut faults = Vec::new();
        let label = evidence.classified().label();
        if label != Label::FreezeEligible {
            faults.push(format!("the evidence of its token comes to {label}"));
        }
        if evidence.fixtures.head != self.fixture_digest || evidence.command != self.command {
            faults.push("its token and the evidence of it name different digests or commands".to_owned());
        }
        if evidence.is_steady(&self.test) {
            faults.push("the evidence of its token shows two failures in a row, which is no noise".to_owned());
        }
        if evidence.of(&self.test).is_none() {
            faults.push("the evidence of its token does not show that the test disagrees with itself".to_owned());
        }
        faults
    }
}

#[cfg(test)]
mod tests {
    use super::{Seen, is_noise, is_steady};

    #[test]
    fn one_failure_and_two_passes_at_once_after_it_is_noise_and_nothing_else_is() {
        let read = |text: &str| -> Vec<Seen> {
            let one = |c| match c {
                'p' => Seen::Pass,
                'f' => Seen::Fail,
                _ => Seen::Unknown,
            };
            text.chars().map(one).collect()
        };
        for (reruns, noise, steady) in [
            ("fpp", true, false),
            ("ppfpp", true, false),
            ("fpfpp", true, false),
            ("", false, false),
            ("pp", false, false),
            ("fp", false, false),
            ("fppp", false, false),
            ("ffpp", false, true),
            ("ffpfpp", false, true),
            ("fp?fpp", false, false),
            ("f?pp", false, false),
        ] {
            assert_eq!((is_noise(&read(reruns)), is_steady(&read(reruns))), (noise, steady), "{reruns}");
        }
    }
}
