//! Owns the row of an audit: what is told of one commit, of bounded size whatever the commit holds.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::Serialize;

use crate::finding::{Exit, Finding, PropId, Rule};
use crate::gate::GateError;
use crate::gate::judge::Judgement;
use crate::repo::Commit;
use crate::tree::Oid;

/// Findings told of one rule in one commit; all are counted.
const FINDINGS: usize = 10;
/// Characters told of one text.
const TEXT: usize = 400;

/// What a commit comes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// Nothing to say.
    Clear,
    /// Refused, among others for its production and test paths.
    Mixed,
    /// Refused for what it does to tests and what is around them.
    Weakened,
    /// Only new tests.
    Review,
    /// A person merges: waived, policy, or a rule whose level is review.
    Waived,
    /// Something cannot be read.
    Unreadable,
    /// Not judged: the shallow clone ends here.
    Unseen,
}

impl Outcome {
    /// Every outcome, in the order in which they are told.
    pub const ALL: [Outcome; 7] =
        [Outcome::Clear, Outcome::Mixed, Outcome::Weakened, Outcome::Review, Outcome::Waived, Outcome::Unreadable, Outcome::Unseen];

    /// Its name in text and JSON.
    pub fn name(self) -> &'static str {
        match self {
            Outcome::Clear => "clear",
            Outcome::Mixed => "mixed",
            Outcome::Weakened => "weakened",
            Outcome::Review => "review",
            Outcome::Waived => "waived",
            Outcome::Unreadable => "unreadable",
            Outcome::Unseen => "unseen",
        }
    }

    fn of(judgement: &Judgement) -> Self {
        let refused = || judgement.findings.iter().filter(|finding| finding.exit() == Exit::Refused).map(|finding| finding.rule);
        match judgement.exit() {
            Exit::Clear => Outcome::Clear,
            Exit::Review => Outcome::Review,
            Exit::Waived => Outcome::Waived,
            Exit::Refused if refused().any(|rule| rule == Rule::SplitRequired) => Outcome::Mixed,
            Exit::Refused if refused().all(|rule| rule == Rule::UnreadableFile) => Outcome::Unreadable,
            Exit::Refused => Outcome::Weakened,
            Exit::Usage | Exit::Unreadable | Exit::Unavailable | Exit::Fault => Outcome::Unreadable,
        }
    }
}

/// One finding, shortened.
#[derive(Debug, Serialize)]
pub(super) struct Told {
    rule: &'static str,
    exit: u8,
    property: Option<PropId>,
    path: Option<String>,
    line: Option<u32>,
    says: String,
}

impl Told {
    fn of(finding: &Finding) -> Self {
        Told {
            rule: finding.rule.id(),
            exit: finding.exit().code(),
            property: finding.property.clone(),
            path: finding.path.clone(),
            line: finding.line,
            says: clipped(&finding.says.join("\n")),
        }
    }
}

/// One commit.
#[derive(Debug, Serialize)]
pub struct Row {
    commit: Oid,
    subject: String,
    author: String,
    time: i64,
    parents: Vec<Oid>,
    /// What it comes to.
    pub outcome: Outcome,
    exit: u8,
    error: Option<String>,
    /// Findings by rule.
    pub rules: BTreeMap<Rule, usize>,
    /// Findings that the policy has off, by rule.
    pub silenced: BTreeMap<Rule, usize>,
    findings: Vec<Told>,
    micros: u64,
}

impl Row {
    /// A commit that was judged.
    pub(super) fn judged(commit: &Commit, judgement: &Judgement, took: Duration) -> Self {
        let mut rules: BTreeMap<Rule, usize> = BTreeMap::new();
        let mut findings = Vec::new();
        for finding in &judgement.findings {
            let count = rules.entry(finding.rule).or_default();
            *count += 1;
            if *count <= FINDINGS {
                findings.push(Told::of(finding));
            }
        }
        let (outcome, exit) = (Outcome::of(judgement), judgement.exit());
        let row = Row::of(commit, outcome, exit);
        Row { rules, silenced: judgement.silenced.clone(), findings, micros: u64::try_from(took.as_micros()).unwrap_or(u64::MAX), ..row }
    }

    /// A commit at which the clone ends.
    pub(super) fn unseen(commit: &Commit) -> Self {
        Row::of(commit, Outcome::Unseen, Exit::Clear)
    }

    /// A commit of which something cannot be read.
    pub(super) fn unreadable(oid: &Oid, commit: Option<&Commit>, error: &GateError) -> Self {
        let nothing = Commit {
            oid: oid.clone(),
            tree: oid.clone(),
            parents: Vec::new(),
            boundary: false,
            author: String::new(),
            time: 0,
            subject: String::new(),
        };
        Row { error: Some(clipped(&error.to_string())), ..Row::of(commit.unwrap_or(&nothing), Outcome::Unreadable, error.exit()) }
    }

    /// How long its judgement took, when there is one.
    pub(super) fn micros(&self) -> Option<u64> {
        (self.error.is_none() && self.outcome != Outcome::Unseen).then_some(self.micros)
    }

    /// Whether `commit^` names all that it is held against.
    pub(super) fn has_one_parent(&self) -> bool {
        self.parents.len() == 1
    }

    fn of(commit: &Commit, outcome: Outcome, exit: Exit) -> Self {
        Row {
            commit: commit.oid.clone(),
            subject: clipped(&commit.subject),
            author: clipped(&commit.author),
            time: commit.time,
            parents: commit.parents.clone(),
            outcome,
            exit: exit.code(),
            error: None,
            rules: BTreeMap::new(),
            silenced: BTreeMap::new(),
            findings: Vec::new(),
            micros: 0,
        }
    }
}

fn clipped(text: &str) -> String {
    match text.char_indices().nth(TEXT) {
        Some((cut, _)) => format!("{}…", &text[..cut]),
        None => text.to_owned(),
    }
}
