//! Owns the decision: what a pair of verdicts asks for. First match wins.

use serde::{Deserialize, Serialize};

/// What failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// A property: it returns a concrete input.
    Property,
    /// Any other test: it returns an observation.
    Integration,
}

/// What a side said.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// It held.
    Pass,
    /// It failed, and failed again.
    Fail,
    /// It failed once and not again.
    Flake,
    /// There is no verdict: that is no pass.
    Unknown,
}

impl Verdict {
    /// The word in records and text.
    pub fn name(self) -> &'static str {
        match self {
            Verdict::Pass => "pass",
            Verdict::Fail => "fail",
            Verdict::Flake => "flake",
            Verdict::Unknown => "unknown",
        }
    }
}

/// What is known of one test or property.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Case {
    /// What failed.
    pub kind: Kind,
    /// The base's verdict on the same input; an integration test has none.
    #[serde(default = "unknown")]
    pub base: Verdict,
    /// The patch's verdict.
    pub patch: Verdict,
    /// Whether the change touched the test.
    #[serde(default)]
    pub touched: bool,
    /// Whether the freeze file names it.
    #[serde(default)]
    pub named: bool,
}

fn unknown() -> Verdict {
    Verdict::Unknown
}

/// What is to be done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Action {
    /// Make the input a fixture, and delete the freeze entry if there is one.
    Promote,
    /// The base fails too: the patch is not cleared, and a person separates the two.
    Quarantine,
    /// There is no telling: nothing goes on.
    Stop,
    /// A freeze entry is to go.
    RejectFreeze,
    /// A freeze may be asked for: with an owner, an expiry and the evidence of reruns.
    FreezeCandidate,
    /// No exception is recorded. That is no approval of anything else.
    None,
}

impl Action {
    /// The word in records and text.
    pub fn name(self) -> &'static str {
        match self {
            Action::Promote => "promote",
            Action::Quarantine => "quarantine",
            Action::Stop => "stop",
            Action::RejectFreeze => "reject_freeze",
            Action::FreezeCandidate => "freeze_candidate",
            Action::None => "none",
        }
    }

    /// What to do, in one sentence.
    pub fn help(self) -> &'static str {
        match self {
            Action::Promote => "promote the shrunk input and delete the freeze entry in the same change",
            Action::Quarantine => "the base fails too, which does not clear the patch: a person separates the two",
            Action::Stop => "there is no verdict to go by: replay until both sides have one",
            Action::RejectFreeze => "take the freeze entry out",
            Action::FreezeCandidate => "a freeze may be asked for, with an owner, an expiry and one failure beside two passes",
            Action::None => "no exception is recorded, which approves nothing",
        }
    }

    /// Whether it blocks until somebody acts.
    pub fn blocks(self) -> bool {
        matches!(self, Action::Quarantine | Action::Stop)
    }
}

/// The decision.
pub fn decide(case: Case) -> Action {
    use Verdict::{Fail, Flake, Pass};
    match case.kind {
        Kind::Property => match (case.base, case.patch) {
            (Pass, Fail) => Action::Promote,
            (Fail, Fail) => Action::Quarantine,
            (_, Fail | Flake) | (Flake, _) => Action::Stop,
            _ if case.named => Action::RejectFreeze,
            _ => Action::None,
        },
        Kind::Integration => match (case.patch, case.touched) {
            (Flake, false) if !case.named => Action::FreezeCandidate,
            (Fail | Flake, true) => Action::RejectFreeze,
            _ => Action::None,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::{Action, Case, Kind, Verdict, decide};

    /// Every line of the table; `*` is any. The first that fits is the answer.
    const TABLE: &str = "
        property    pass    fail     * *     promote
        property    fail    fail     * *     quarantine
        property    *       fail     * *     stop
        property    *       flake    * *     stop
        property    flake   *        * *     stop
        property    *       *        * named reject_freeze
        property    *       *        * *     none
        integration *       flake    no no   freeze_candidate
        integration *       fail     touched * reject_freeze
        integration *       flake    touched * reject_freeze
        integration *       *        * *     none";

    #[test]
    fn every_combination_has_the_answer_of_the_first_line_that_fits() {
        let mut seen = std::collections::BTreeMap::new();
        for kind in [Kind::Property, Kind::Integration] {
            for base in [Verdict::Pass, Verdict::Fail, Verdict::Flake, Verdict::Unknown] {
                for patch in [Verdict::Pass, Verdict::Fail, Verdict::Flake, Verdict::Unknown] {
                    for (touched, named) in [(false, false), (false, true), (true, false), (true, true)] {
                        let words = [
                            if kind == Kind::Property { "property" } else { "integration" },
                            base.name(),
                            patch.name(),
                            if touched { "touched" } else { "no" },
                            if named { "named" } else { "no" },
                        ];
                        let line = TABLE
                            .lines()
                            .map(|line| line.split_whitespace().collect::<Vec<_>>())
                            .find(|line| line.len() == 6 && line.iter().zip(words).all(|(cell, word)| *cell == "*" || *cell == word));
                        let found = decide(Case { kind, base, patch, touched, named });
                        assert_eq!(found.name(), line.unwrap()[5], "{words:?}");
                        *seen.entry(found.name()).or_insert(0) += 1;
                    }
                }
            }
        }
        assert_eq!(seen.len(), 6);
        assert_eq!(seen.values().sum::<i32>(), 2 * 4 * 4 * 4);
    }

    #[test]
    fn a_case_is_read_with_what_it_leaves_out_at_the_cautious_side() {
        let read = |text: &str| serde_json::from_str::<Case>(text);
        assert_eq!(decide(read(r#"{"kind":"property","patch":"fail"}"#).unwrap()), Action::Stop);
        assert!(read(r#"{"kind":"property"}"#).is_err());
        assert!(read(r#"{"kind":"property","patch":"fail","base_ok":true}"#).is_err());
        assert!(read(r#"{"kind":"unit","patch":"fail"}"#).is_err());
    }
}
