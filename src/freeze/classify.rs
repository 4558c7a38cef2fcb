//! Owns the label of a candidate's evidence: first match wins, and what is not known never counts for a freeze.

use std::fmt;

use serde::{Deserialize, Serialize};

/// What is known of a candidate. `None` is "nobody knows": no pass, no kill, no match and no disagreement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Inputs {
    /// Production files that the candidate changes.
    pub production_files: u64,
    /// Test files, fixtures and runner configuration that it changes.
    pub test_files: u64,
    /// The fixtures' digest is the base's, in the candidate and after every run.
    pub digest_stable: Option<bool>,
    /// A property failed on the base with the candidate's production side laid over it.
    pub property_failed: Option<bool>,
    /// The tests that are to be kept failed on the planted mutant.
    pub mutant_killed: Option<bool>,
    /// The same command passed and failed on one digest.
    pub nondeterministic: Option<bool>,
}

/// What the evidence comes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Label {
    /// Production and tests in one candidate: nothing else can be told.
    SplitRequired,
    /// The bytes that tests load have moved: it is drift and no flake.
    FixtureDrift,
    /// The production side breaks a property.
    PropertyFail,
    /// The edited tests let a planted mutant live.
    OracleWeakened,
    /// It is noise: a test may be frozen.
    FreezeEligible,
    /// None of these: there is nothing to freeze, or too little is known.
    Hold,
}

impl Label {
    /// Every label, in the order of the table.
    pub const ALL: [Label; 6] =
        [Label::SplitRequired, Label::FixtureDrift, Label::PropertyFail, Label::OracleWeakened, Label::FreezeEligible, Label::Hold];

    /// The word in records and text.
    pub fn name(self) -> &'static str {
        match self {
            Label::SplitRequired => "split_required",
            Label::FixtureDrift => "fixture_drift",
            Label::PropertyFail => "property_fail",
            Label::OracleWeakened => "oracle_weakened",
            Label::FreezeEligible => "freeze_eligible",
            Label::Hold => "hold",
        }
    }

    /// What it means, in one sentence.
    pub fn says(self) -> &'static str {
        match self {
            Label::SplitRequired => "production and test files are in one candidate, so no rerun can tell which side bought the result",
            Label::FixtureDrift => "the bytes that tests load have moved: reruns would measure two experiments",
            Label::PropertyFail => "a property fails on the production side alone: that is a defect and no flake",
            Label::OracleWeakened => "the edited tests accept a change that is known to be wrong",
            Label::FreezeEligible => "the command disagrees with itself on one digest, and everything else agrees: it is noise",
            Label::Hold => "no exception is granted, which approves nothing",
        }
    }
}

impl fmt::Display for Label {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Leave to freeze a test. Only [`classify`] makes one, and a token is made of nothing else, so that no token exists without evidence
/// that was classified. It is not cloned, not read from a file, and has no other way to be:
///
/// ```compile_fail,E0451
/// use seedgate::freeze::classify::{Eligible, Inputs};
///
/// let inputs = Inputs {
///     production_files: 1,
///     test_files: 0,
///     digest_stable: Some(true),
///     property_failed: Some(false),
///     mutant_killed: Some(true),
///     nondeterministic: Some(true),
/// };
/// let forged = Eligible { inputs };
/// ```
///
/// The way there is:
///
/// ```
/// use seedgate::freeze::classify::{Inputs, classify};
///
/// let inputs = Inputs {
///     production_files: 1,
///     test_files: 0,
///     digest_stable: Some(true),
///     property_failed: Some(false),
///     mutant_killed: Some(true),
///     nondeterministic: Some(true),
/// };
/// assert!(classify(inputs).eligible().is_some());
/// assert!(classify(Inputs { mutant_killed: None, ..inputs }).eligible().is_none());
/// ```
#[derive(Debug, PartialEq, Eq)]
pub struct Eligible {
    inputs: Inputs,
}

impl Eligible {
    /// What it was granted on.
    pub fn inputs(&self) -> Inputs {
        self.inputs
    }
}

/// One input, in words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reason {
    /// The input's name.
    pub input: &'static str,
    /// Whether it is among those that led to the label.
    pub led: bool,
}

/// A label with what led to it.
#[derive(Debug, PartialEq, Eq)]
pub struct Classified {
    label: Label,
    inputs: Inputs,
}

impl Classified {
    /// The label.
    pub fn label(&self) -> Label {
        self.label
    }

    /// What it was made of.
    pub fn inputs(&self) -> Inputs {
        self.inputs
    }

    /// Leave to freeze, when that is the label.
    pub fn eligible(self) -> Option<Eligible> {
        (self.label == Label::FreezeEligible).then_some(Eligible { inputs: self.inputs })
    }

    /// Every input, and whether it led to the label. What led to `hold` is what a freeze still wants.
    pub fn reasons(&self) -> [Reason; 6] {
        let inputs = self.inputs;
        let led = match self.label {
            Label::SplitRequired => [true, true, false, false, false, false],
            Label::FixtureDrift => [false, false, true, false, false, false],
            Label::PropertyFail => [false, false, false, true, false, false],
            Label::OracleWeakened => [false, true, false, false, true, false],
            Label::FreezeEligible => [false, true, true, true, true, true],
            Label::Hold => [
                false,
                inputs.test_files > 0,
                inputs.digest_stable != Some(true),
                inputs.property_failed != Some(false),
                inputs.mutant_killed != Some(true),
                inputs.nondeterministic != Some(true),
            ],
        };
        let names = ["production_files", "test_files", "digest_stable", "property_failed", "mutant_killed", "nondeterministic_same_digest"];
        std::array::from_fn(|at| Reason { input: names[at], led: led[at] })
    }
}

/// The label: the first line that fits.
pub fn classify(inputs: Inputs) -> Classified {
    let has_tests = inputs.test_files > 0;
    let label = if inputs.production_files > 0 && has_tests {
        Label::SplitRequired
    } else if inputs.digest_stable == Some(false) {
        Label::FixtureDrift
    } else if inputs.property_failed == Some(true) {
        Label::PropertyFail
    } else if has_tests && inputs.mutant_killed == Some(false) {
        Label::OracleWeakened
    } else if is_noise(inputs) {
        Label::FreezeEligible
    } else {
        Label::Hold
    };
    Classified { label, inputs }
}

/// Everything is known, and speaks for noise.
fn is_noise(inputs: Inputs) -> bool {
    inputs.nondeterministic == Some(true)
        && inputs.test_files == 0
        && inputs.mutant_killed == Some(true)
        && inputs.digest_stable == Some(true)
        && inputs.property_failed == Some(false)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::{Inputs, Label, classify};

    /// Every line of the table; `*` is any. The first that fits is the answer.
    const TABLE: &str = "
        prod test *      *      *      *        split_required
        *    *    moved  *      *      *        fixture_drift
        *    *    *      failed *      *        property_fail
        *    test *      *      alive  *        oracle_weakened
        *    no   same   held   killed disagree freeze_eligible
        *    *    *      *      *      *        hold";

    fn every() -> Vec<Inputs> {
        let answers = [Some(true), Some(false), None];
        let mut all = Vec::new();
        for (production_files, test_files) in [(0, 0), (1, 0), (0, 1), (1, 1), (7, 0), (0, 7), (7, 7)] {
            for digest_stable in answers {
                for property_failed in answers {
                    for mutant_killed in answers {
                        for nondeterministic in answers {
                            let inputs =
                                Inputs { production_files, test_files, digest_stable, property_failed, mutant_killed, nondeterministic };
                            all.push(inputs);
                        }
                    }
                }
            }
        }
        all
    }

    fn words(inputs: Inputs) -> [&'static str; 6] {
        let said = |answer: Option<bool>, yes, no| answer.map_or("unknown", |answer| if answer { yes } else { no });
        [
            if inputs.production_files > 0 { "prod" } else { "no" },
            if inputs.test_files > 0 { "test" } else { "no" },
            said(inputs.digest_stable, "same", "moved"),
            said(inputs.property_failed, "failed", "held"),
            said(inputs.mutant_killed, "killed", "alive"),
            said(inputs.nondeterministic, "disagree", "agree"),
        ]
    }

    #[test]
    fn every_combination_has_the_label_of_the_first_line_that_fits() {
        let mut seen: BTreeMap<Label, usize> = BTreeMap::new();
        for inputs in every() {
            let line = TABLE
                .lines()
                .map(|line| line.split_whitespace().collect::<Vec<_>>())
                .find(|line| line.len() == 7 && line.iter().zip(words(inputs)).all(|(cell, word)| *cell == "*" || *cell == word));
            let (found, wanted) = (classify(inputs), line.unwrap()[6]);
            assert_eq!(found.label().name(), wanted, "{inputs:?}");
            *seen.entry(found.label()).or_default() += 1;
            assert_eq!(found.eligible().is_some(), wanted == "freeze_eligible", "{inputs:?}");
        }
        assert_eq!(seen.len(), Label::ALL.len());
        assert_eq!(seen.values().sum::<usize>(), 7 * 81);
        // Without test files, whatever the production files; everything else is fixed.
        assert_eq!(seen[&Label::FreezeEligible], 3);
    }

    #[test]
    fn where_everything_is_known_it_is_the_published_procedure() {
        for inputs in every() {
            let (Some(stable), Some(failed), Some(killed), Some(disagrees)) =
                (inputs.digest_stable, inputs.property_failed, inputs.mutant_killed, inputs.nondeterministic)
            else {
                continue;
            };
            let published = match inputs {
                Inputs { production_files: 1.., test_files: 1.., .. } => Label::SplitRequired,
                _ if !stable => Label::FixtureDrift,
                _ if failed => Label::PropertyFail,
                Inputs { test_files: 1.., .. } if !killed => Label::OracleWeakened,
                Inputs { test_files: 0, .. } if disagrees && killed => Label::FreezeEligible,
                _ => Label::Hold,
            };
            assert_eq!(classify(inputs).label(), published, "{inputs:?}");
        }
    }

    #[test]
    fn making_an_answer_unknown_never_makes_anything_eligible() {
        for inputs in every().into_iter().filter(|inputs| classify(*inputs).label() != Label::FreezeEligible) {
            for forgotten in [
                Inputs { digest_stable: None, ..inputs },
                Inputs { property_failed: None, ..inputs },
                Inputs { mutant_killed: None, ..inputs },
                Inputs { nondeterministic: None, ..inputs },
            ] {
                assert_ne!(classify(forgotten).label(), Label::FreezeEligible, "{inputs:?}");
            }
        }
    }

    #[test]
    fn every_label_names_at_least_one_input_that_led_to_it() {
        for inputs in every() {
            let found = classify(inputs);
            assert!(found.reasons().iter().any(|reason| reason.led), "{inputs:?}");
        }
        let held = classify(Inputs {
            production_files: 1,
            test_files: 0,
            digest_stable: Some(true),
            property_failed: None,
            mutant_killed: Some(true),
            nondeterministic: Some(false),
        });
        let led: Vec<&str> = held.reasons().iter().filter(|reason| reason.led).map(|reason| reason.input).collect();
        assert_eq!(led, ["property_failed", "nondeterministic_same_digest"]);
    }
}
