//! Owns the words of a verdict: property ids, rules, findings and exit codes.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Identity of one carded function: pytest's node id from the repository root without parameters,
/// `path::Class::name`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct PropId(pub String);

impl fmt::Display for PropId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// What the process ends with, everywhere (the highest of 70 > 65 > 2 > 4 > 3 > 0 wins).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Exit {
    /// Nothing to say.
    Clear = 0,
    /// A rule was broken.
    Refused = 2,
    /// Only new properties: a person looks.
    Review = 3,
    /// Weakened with an exact waiver, or policy changed: a human merges.
    Waived = 4,
    /// The command line was wrong.
    Usage = 64,
    /// Input could not be read.
    Unreadable = 65,
    /// Something outside that was asked for is not to be had.
    Unavailable = 69,
    /// The program could not do its work.
    Fault = 70,
}

impl Exit {
    /// The number the operating system sees.
    pub fn code(self) -> u8 {
        self as u8
    }

    /// Rank among exits: 70 > 65 > 2 > 4 > 3 > 0 (64 and 69 stand beside 70: no verdict was reached).
    fn rank(self) -> u8 {
        match self {
            Exit::Clear => 0,
            Exit::Review => 1,
            Exit::Waived => 2,
            Exit::Refused => 3,
            Exit::Unreadable => 4,
            Exit::Usage => 5,
            Exit::Unavailable => 6,
            Exit::Fault => 7,
        }
    }

    /// The worse of two exits.
    #[must_use]
    pub fn worst(self, other: Exit) -> Exit {
        if other.rank() > self.rank() { other } else { self }
    }

    /// The one word for it in `seedgate.verdict/1`.
    pub fn decision(self) -> &'static str {
        match self {
            Exit::Clear => "clear",
            Exit::Refused => "refused",
            Exit::Review => "review",
            Exit::Waived => "waived",
            Exit::Usage => "usage",
            Exit::Unreadable => "unreadable",
            Exit::Unavailable => "unavailable",
            Exit::Fault => "fault",
        }
    }
}

/// How hard a rule is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Level {
    /// Counted and not reported.
    Off,
    /// Reported, for a person to look at.
    Review,
    /// Reported and refused.
    Refuse,
}

impl Level {
    /// The configuration's word.
    pub fn name(self) -> &'static str {
        match self {
            Level::Off => "off",
            Level::Review => "review",
            Level::Refuse => "refuse",
        }
    }

    /// From the configuration's word.
    pub fn named(word: &str) -> Option<Self> {
        [Level::Off, Level::Review, Level::Refuse].into_iter().find(|level| level.name() == word)
    }
}

/// The rules a change can break. `id` is the name in text, JSON and docs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Rule {
    /// Production and test-side paths in one commit.
    SplitRequired,
    /// A file that must be read could not be parsed or decoded.
    UnreadableFile,
    /// A property or test is gone.
    PropertyRemoved,
    /// A test no longer runs, or its failure no longer counts.
    TestDisabled,
    /// An input of the base's case list is gone.
    CaseRemoved,
    /// An interval, finite set or structure admits less.
    BoundNarrowed,
    /// A domain that literals do not give has changed.
    DomainUnreadable,
    /// Fewer assertions than the base.
    AssertionRemoved,
    /// An assertion asserts less.
    OracleWeakened,
    /// Inputs are filtered away before the assertion.
    ReducerAdded,
    /// Fewer trials, phases or health checks.
    BudgetLowered,
    /// An explicit example is gone.
    ExampleRemoved,
    /// The unit under test is replaced by the test.
    SubjectPatched,
    /// The runner's configuration hides or drops tests.
    HarnessChanged,
    /// Production code asks whether a test runs.
    ProductionDetectsTests,
    /// Bytes of an existing fixture changed, moved or vanished.
    FixtureDrift,
    /// A promoted witness is gone or edited.
    WitnessRemoved,
    /// A freeze entry that does not hold.
    FreezeInvalid,
    /// A ledger with rows that nobody settled.
    LedgerUnresolved,
    /// A waiver that cannot be honoured.
    WaiverInvalid,
    /// Policy or signers changed: judged by the base's policy, merged by a human.
    PolicyChanged,
    /// Weakened, with an exact waiver.
    Waived,
    /// A property or test that the base does not have.
    NewProperty,
}

impl Rule {
    /// The rules whose level a policy may set. The others keep the gate itself honest; a new rule is one of those until it is named here.
    pub const SETTABLE: [Rule; 16] = [
        Rule::SplitRequired,
        Rule::PropertyRemoved,
        Rule::TestDisabled,
        Rule::CaseRemoved,
        Rule::BoundNarrowed,
        Rule::DomainUnreadable,
        Rule::AssertionRemoved,
        Rule::OracleWeakened,
        Rule::ReducerAdded,
        Rule::BudgetLowered,
        Rule::ExampleRemoved,
        Rule::SubjectPatched,
        Rule::HarnessChanged,
        Rule::ProductionDetectsTests,
        Rule::FixtureDrift,
        Rule::NewProperty,
    ];

    /// The rule's name in text, JSON and docs.
    pub fn id(self) -> &'static str {
        match self {
            Rule::SplitRequired => "split_required",
            Rule::UnreadableFile => "unreadable_file",
            Rule::PropertyRemoved => "property_removed",
            Rule::TestDisabled => "test_disabled",
            Rule::CaseRemoved => "case_removed",
            Rule::BoundNarrowed => "bound_narrowed",
            Rule::DomainUnreadable => "domain_unreadable",
            Rule::AssertionRemoved => "assertion_removed",
            Rule::OracleWeakened => "oracle_weakened",
            Rule::ReducerAdded => "reducer_added",
            Rule::BudgetLowered => "budget_lowered",
            Rule::ExampleRemoved => "example_removed",
            Rule::SubjectPatched => "subject_patched",
            Rule::HarnessChanged => "harness_changed",
            Rule::ProductionDetectsTests => "production_detects_tests",
            Rule::FixtureDrift => "fixture_drift",
            Rule::WitnessRemoved => "witness_removed",
            Rule::FreezeInvalid => "freeze_invalid",
            Rule::LedgerUnresolved => "ledger_unresolved",
            Rule::WaiverInvalid => "waiver_invalid",
            Rule::PolicyChanged => "policy_changed",
            Rule::Waived => "waived",
            Rule::NewProperty => "new_property",
        }
    }

    /// The level of this rule when no policy sets one.
    pub fn level(self) -> Level {
        match self {
            Rule::NewProperty | Rule::Waived | Rule::PolicyChanged => Level::Review,
            _ => Level::Refuse,
        }
    }

    /// The exit a finding of this rule asks for when no policy sets its level.
    pub fn exit(self) -> Exit {
        self.exit_at(self.level())
    }

    /// The exit a finding of this rule asks for at a level. What has become weaker is never less than a human's merge.
    fn exit_at(self, level: Level) -> Exit {
        match level {
            Level::Off => Exit::Clear,
            Level::Review if self == Rule::NewProperty => Exit::Review,
            Level::Review => Exit::Waived,
            Level::Refuse => Exit::Refused,
        }
    }
}

/// One rule broken, with subject, place, sentence and the exact next command.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// The rule.
    pub rule: Rule,
    /// The level that the policy sets for it here; `None` is the rule's own.
    pub level: Option<Level>,
    /// The property, when the finding is about one.
    pub property: Option<PropId>,
    /// The path, escaped for display, when the finding is about one.
    pub path: Option<String>,
    /// 1-based line in the candidate (in the base when the subject is gone there).
    pub line: Option<u32>,
    /// What was and what is, one short line each.
    pub says: Vec<String>,
    /// The exact next command or act.
    pub help: String,
    /// The property's card on the base, as in `seedgate.cards/1`.
    pub base_card: Option<serde_json::Value>,
    /// The property's card in the candidate.
    pub patch_card: Option<serde_json::Value>,
}

impl Finding {
    /// A finding with only its rule; the caller fills the rest.
    pub fn new(rule: Rule) -> Self {
        Finding {
            rule,
            level: None,
            property: None,
            path: None,
            line: None,
            says: Vec::new(),
            help: String::new(),
            base_card: None,
            patch_card: None,
        }
    }

    /// The exit it asks for.
    pub fn exit(&self) -> Exit {
        self.level.map_or_else(|| self.rule.exit(), |level| self.rule.exit_at(level))
    }

    /// The order in which findings are shown: worst exit first, then rule, path, line, property.
    pub fn sort_key(&self) -> impl Ord + '_ {
        (std::cmp::Reverse(self.exit().rank()), self.rule, &self.path, self.line, &self.property)
    }
}
