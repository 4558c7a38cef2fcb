//! Owns the audit: what the gate would have said of the project's own history, by the policy of today.

mod misfiled;
mod row;
mod spool;
mod totals;

use std::collections::{BTreeMap, HashMap};
use std::io;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use rayon::prelude::*;

use crate::finding::Rule;
use crate::gate::GateError;
use crate::gate::candidate::Candidate;
use crate::gate::facts::Facts;
use crate::gate::judge::Judge;
use crate::gate::policy::Policy;
use crate::repo::{Repo, RepoError};
use crate::settings::{Settings, SettingsError};
use crate::tree::{Oid, RepoPath, Tree as _};

pub use misfiled::{Means, Pattern};
pub use row::{Outcome, Row};
pub use totals::Totals;

use misfiled::Mixes;
use spool::Spool;
use totals::Step;

/// Most and fewest commits that one repository handle serves: its caches grow with what it reads.
const LONGEST: usize = 64;
const SHORTEST: usize = 8;
/// Facts held in memory: neighbours share their files, distant commits do not.
pub const FACTS: usize = 1024;
/// Shares a thread gets.
const SHARES: usize = 4;

/// Why there is no audit.
#[derive(Debug, thiserror::Error)]
pub enum AuditError {
    /// The gate.
    #[error(transparent)]
    Gate(#[from] GateError),
    /// The rows could not be kept.
    #[error("the rows cannot be kept in the temporary folder: {0}")]
    Rows(#[from] io::Error),
}

impl From<RepoError> for AuditError {
    fn from(error: RepoError) -> Self {
        GateError::from(error).into()
    }
}

/// What is audited.
pub struct Scope {
    /// The commits, parents before children; the last is the head.
    pub commits: Vec<Oid>,
    /// The policy that all of them are judged by.
    pub settings: Settings,
}

impl Scope {
    /// Commits, and the policy of the tree of `head`, or the draft of one.
    ///
    /// # Errors
    /// When the tree or its policy cannot be read.
    pub fn of(repo: &Repo, head: Option<&Oid>, commits: Vec<Oid>, draft: Option<Settings>) -> Result<Self, GateError> {
        let settings = if let Some(settings) = draft {
            settings
        } else {
            let tree = repo.tree(head)?;
            Policy::of(&tree, tree.entry(&RepoPath::new(Settings::PATH))?.as_ref())?.settings
        };
        Ok(Scope { commits, settings })
    }
}

/// Reads the draft of a policy from a file's bytes; `name` is what complaints call it.
///
/// # Errors
/// [`SettingsError::Bad`] with the line.
pub fn draft(name: &str, bytes: &[u8]) -> Result<Settings, SettingsError> {
    Settings::read(bytes).map_err(|SettingsError::Bad { line, says, .. }| SettingsError::Bad { path: name.to_owned(), line, says })
}

/// How often a rule spoke.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Spoken {
    /// Commits with a finding of it.
    pub commits: usize,
    /// Its findings.
    pub findings: usize,
    /// Findings that the policy has off.
    pub silenced: usize,
    /// The newest commit of these, if there is one with just one parent.
    pub example: Option<Oid>,
}

/// What an audit found.
pub struct Audit {
    /// What was audited.
    pub scope: Scope,
    /// How many commits came to what.
    pub outcomes: BTreeMap<Outcome, usize>,
    /// The rules that spoke.
    pub rules: BTreeMap<Rule, Spoken>,
    /// Patterns that would leave commits unmixed.
    pub patterns: Vec<Pattern>,
    /// How many commits are mixed.
    pub mixed: usize,
    /// What the tree of each commit holds, as far as it is known.
    pub totals: Vec<Option<Totals>>,
    /// Which commits are first parents of first parents of the head.
    pub mainline: Vec<bool>,
    /// How long each judgement took, in microseconds, sorted.
    pub micros: Vec<u64>,
    /// How long everything took.
    pub took: Duration,
    /// Threads at work.
    pub threads: usize,
    /// True when a layer of facts gave a wrong answer, so that everything was judged again without any.
    pub distrusted: bool,
    rows: Option<Spool>,
}

impl Audit {
    /// The row of a commit as JSON, by its place; empty when rows were not kept.
    ///
    /// # Errors
    /// When it cannot be read back.
    pub fn row(&self, at: usize) -> io::Result<Vec<u8>> {
        self.rows.as_ref().map_or(Ok(Vec::new()), |rows| rows.get(at))
    }

    /// How many commits came to this.
    pub fn count(&self, outcome: Outcome) -> usize {
        self.outcomes.get(&outcome).copied().unwrap_or_default()
    }

    /// Microseconds that this share of the judgements took at most.
    pub fn quantile(&self, percent: usize) -> u64 {
        let last = self.micros.len().saturating_sub(1);
        self.micros.get((self.micros.len() * percent / 100).min(last)).copied().unwrap_or_default()
    }
}

/// Audits. `keep` keeps the rows of commits; `step` is told of each commit done, from any thread.
///
/// # Errors
/// [`AuditError`]; what cannot be read of one commit is part of its row.
pub fn run(repo: &Repo, facts: &Facts, scope: Scope, keep: bool, step: &(dyn Fn() + Sync)) -> Result<Audit, AuditError> {
    let started = Instant::now();
    let mut work = Work::new(&scope, facts, keep)?;
    work.through(repo, step)?;
    let distrusted = facts.distrusted().is_some();
    let cold = Facts::cold().holding(FACTS);
    if distrusted {
        work = Work::new(&scope, &cold, keep)?;
        work.through(repo, &|| ())?;
    }
    let Work { fold, rows, facts, .. } = work;
    let fold = fold.into_inner().unwrap_or_else(PoisonError::into_inner);
    let policy = Policy::new(scope.settings.clone());
    let count = |at: usize| Totals::of_tree(repo, &scope.commits[at], facts, &policy).ok();
    let totals = totals::along(&fold.steps, &count);
    Ok(fold.audit(scope, totals, rows, started.elapsed(), distrusted))
}

/// Commits being audited, side by side.
struct Work<'a> {
    commits: &'a [Oid],
    places: HashMap<&'a Oid, usize>,
    settings: &'a Settings,
    facts: &'a Facts,
    fold: Mutex<Fold>,
    rows: Option<Spool>,
}

/// What is gathered of all commits, a few bytes of each.
#[derive(Default)]
struct Fold {
    steps: Vec<Step>,
    outcomes: BTreeMap<Outcome, usize>,
    rules: BTreeMap<Rule, (Spoken, Option<usize>)>,
    mixes: Mixes,
    micros: Vec<u64>,
}

impl<'a> Work<'a> {
    fn new(scope: &'a Scope, facts: &'a Facts, keep: bool) -> io::Result<Self> {
        let commits = scope.commits.as_slice();
        let places = commits.iter().enumerate().map(|(at, oid)| (oid, at)).collect();
        let rows = keep.then(|| Spool::new(commits.len())).transpose()?;
        let fold = Fold { steps: vec![Step::default(); commits.len()], ..Fold::default() };
        Ok(Work { commits, places, settings: &scope.settings, facts, fold: Mutex::new(fold), rows })
    }

    fn through(&self, repo: &Repo, step: &(dyn Fn() + Sync)) -> Result<(), AuditError> {
        let share = self.commits.len().div_ceil(rayon::current_num_threads() * SHARES).clamp(SHORTEST, LONGEST);
        let environment = repo.environment();
        self.commits.par_chunks(share).enumerate().try_for_each(|(number, part)| {
            let repo = Repo::open(environment)?;
            let policy = Policy::new(self.settings.clone());
            let judge = Judge::new(&repo, self.facts).by(Policy::new(self.settings.clone()));
            for (at, oid) in part.iter().enumerate() {
                self.one(&repo, &judge, &policy, number * share + at, oid)?;
                step();
            }
            Ok(())
        })
    }

    fn one(&self, repo: &Repo, judge: &Judge<'_>, policy: &Policy, at: usize, oid: &Oid) -> Result<(), AuditError> {
        let commit = repo.commit(oid);
        let parent = commit.as_ref().ok().and_then(|commit| self.places.get(commit.parents.first()?).copied());
        let started = Instant::now();
        let judged = Candidate::commit(repo, oid).map_err(GateError::from).and_then(|candidate| {
            let measured = candidate.as_ref().map(|candidate| judge.measured(candidate)).transpose()?;
            Ok(candidate.zip(measured))
        });
        let took = started.elapsed();
        let (row, change, partition) = match (&commit, judged) {
            (Ok(commit), Ok(Some((candidate, measured)))) => {
                let change = Totals::changed(repo, self.facts, policy, &candidate, &measured).ok();
                (Row::judged(commit, &measured.judgement, took), change, Some(measured.partition))
            }
            (Ok(commit), Ok(None)) => (Row::unseen(commit), None, None),
            (commit, Err(error)) => (Row::unreadable(oid, commit.as_ref().ok(), &error), None, None),
            (Err(error), Ok(_)) => (Row::unreadable(oid, None, &RepoError::Git(error.to_string()).into()), None, None),
        };
        if let Some(rows) = &self.rows {
            rows.put(at, &row)?;
        }
        let mut fold = self.fold.lock().unwrap_or_else(PoisonError::into_inner);
        fold.steps[at] = Step { parent, change };
        fold.add(at, &row);
        if let Some(partition) = partition {
            fold.mixes.add(at, &partition, row.rules.contains_key(&Rule::SplitRequired));
        }
        Ok(())
    }
}

impl Fold {
    fn add(&mut self, at: usize, row: &Row) {
        *self.outcomes.entry(row.outcome).or_default() += 1;
        self.micros.extend(row.micros());
        for (rule, count) in &row.rules {
            let (spoken, example) = self.rules.entry(*rule).or_default();
            spoken.commits += 1;
            spoken.findings += count;
            *example = (*example).max(row.has_one_parent().then_some(at));
        }
        for (rule, count) in &row.silenced {
            self.rules.entry(*rule).or_default().0.silenced += count;
        }
    }

    fn audit(mut self, scope: Scope, totals: Vec<Option<Totals>>, rows: Option<Spool>, took: Duration, distrusted: bool) -> Audit {
        self.micros.sort_unstable();
        let named = |(spoken, example): (Spoken, Option<usize>)| Spoken { example: example.map(|at| scope.commits[at].clone()), ..spoken };
        let rules = self.rules.into_iter().map(|(rule, spoken)| (rule, named(spoken))).collect();
        Audit {
            outcomes: self.outcomes,
            rules,
            mixed: self.mixes.count(),
            patterns: self.mixes.patterns(),
            totals,
            mainline: totals::mainline(&self.steps),
            micros: self.micros,
            took,
            threads: rayon::current_num_threads(),
            distrusted,
            rows,
            scope,
        }
    }
}
