//! Owns what a function does besides drawing and asserting: marks that keep it from counting, inputs it drops, trials, examples, mocks.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

/// The wider fields of a card. Each may only move one way.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Effort {
    /// What keeps the test from running, or its failure from counting.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub marks: BTreeSet<Mark>,
    /// What keeps inputs from the assertions, or reshapes them, each as often as it stands there.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub reducers: BTreeMap<String, usize>,
    /// How hard the runner tries.
    #[serde(default, skip_serializing_if = "Budget::is_empty")]
    pub budget: Budget,
    /// Explicit examples.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub examples: BTreeSet<String>,
    /// Production objects that are replaced.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub patches: BTreeSet<String>,
    /// Names that bring what acts on it: fixtures that a mark asks for, decorators of other modules. Linking puts in what they do.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub leads: BTreeSet<String>,
    /// It acts on tests that do not name it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub everywhere: bool,
}

/// One mark.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Mark {
    /// What it does.
    pub does: Does,
    /// The condition under which it acts; `None` always.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub when: Option<String>,
    /// The one case that it is about; `None` for all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub row: Option<String>,
}

/// What a mark does, the weaker the greater.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Does {
    /// One success among several runs is enough.
    Flaky,
    /// The test must fail.
    XfailStrict,
    /// The test may fail.
    Xfail,
    /// The test does not run.
    Skip,
}

impl Does {
    /// The word for people.
    pub fn word(self) -> &'static str {
        match self {
            Does::Flaky => "flaky",
            Does::XfailStrict => "xfail (strict)",
            Does::Xfail => "xfail",
            Does::Skip => "skip",
        }
    }
}

/// Settings of the runner of properties, as far as less of them is weaker.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Budget {
    /// Setting -> canonical value; lists sorted.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub set: BTreeMap<String, String>,
    /// Names of other modules whose settings hold here too.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub of: Vec<String>,
}

impl Budget {
    /// Whether nothing is set.
    pub fn is_empty(&self) -> bool {
        self.set.is_empty() && self.of.is_empty()
    }

    /// Adds what another says of settings that this one leaves open.
    pub fn under(&mut self, other: Budget) {
        for (key, value) in other.set {
            self.set.entry(key).or_insert(value);
        }
        self.of.extend(other.of);
    }
}

impl Effort {
    /// Whether there is nothing to tell.
    pub fn is_empty(&self) -> bool {
        *self == Effort::default()
    }

    /// Of two definitions of one id, what the weaker holds.
    #[must_use]
    pub fn weaker_of(mut self, other: Effort) -> Effort {
        self.marks.extend(other.marks);
        for (text, times) in other.reducers {
            let most = self.reducers.entry(text).or_default();
            *most = times.max(*most);
        }
        self.budget.under(other.budget);
        self.examples.retain(|example| other.examples.contains(example));
        self.patches.extend(other.patches);
        self.leads.extend(other.leads);
        self.everywhere |= other.everywhere;
        self
    }
}
