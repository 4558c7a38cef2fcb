//! Owns the order of runners: this machine first, and its record; then the duplicate elsewhere, which never changes what was said here.

use std::collections::BTreeMap;
use std::path::Path;

use crate::tree::Oid;
use crate::trial::TrialError;
use crate::trial::runner::evidence::{Beside, Row, Runs};
use crate::trial::runner::fleet::Fleet;
use crate::trial::runner::job::Job;
use crate::trial::runner::{Outcome, Unknown, flight};

/// What came of a job.
pub struct Judged {
    /// What this machine said.
    pub local: Outcome,
    /// What another one said, when one was asked.
    pub far: Option<Outcome>,
}

impl Judged {
    /// Whether two verdicts are there and differ.
    pub fn disagrees(&self) -> bool {
        beside(&self.local, self.far.as_ref()) == Some(Beside::Disagree)
    }

    /// Why another machine has no verdict, when one was asked: a word and a sentence.
    pub fn far_unknown(&self) -> Option<(&str, &str)> {
        self.far.as_ref()?.why()
    }
}

/// What jobs are about, for their record.
pub struct About<'a> {
    /// The commit whose tree is run.
    pub tree: &'a Oid,
    /// What they are bound to.
    pub bound: &'a BTreeMap<String, String>,
    /// Where the record lies.
    pub runs: &'a Path,
    /// Why another machine is not asked at all; without it, it is.
    pub spared: Option<&'a Unknown>,
}

/// Runs jobs here, records that, runs them elsewhere if the fleet reaches so far, and records that beside it.
///
/// # Errors
/// When somebody wants it to end, or this machine cannot do its part.
pub fn all(fleet: &Fleet, jobs: &[Job], about: &About<'_>, told: &(dyn Fn() + Sync)) -> Result<Vec<Judged>, TrialError> {
    let local = flight::all(&fleet.local, jobs, fleet.here, told)?;
    let rows: Vec<Row> =
        jobs.iter().zip(&local).map(|(job, outcome)| Row::of(job, about.tree, about.bound, &fleet.local, outcome)).collect();
    Runs::add(about.runs, &rows)?;
    let Some(far) = fleet.far.as_deref() else {
        return Ok(local.into_iter().map(|local| Judged { local, far: None }).collect());
    };
    let outcomes = match about.spared {
        Some(why) => jobs.iter().map(|_| Outcome::unknown(why.clone())).collect(),
        None => flight::all(far, jobs, fleet.there, told)?,
    };
    let row = |((job, here), there): ((&Job, &Outcome), &Outcome)| {
        let mut row = Row::of(job, about.tree, about.bound, far, there);
        row.beside_local = beside(here, Some(there));
        row
    };
    Runs::add(about.runs, &jobs.iter().zip(&local).zip(&outcomes).map(row).collect::<Vec<_>>())?;
    Ok(local.into_iter().zip(outcomes).map(|(local, far)| Judged { local, far: Some(far) }).collect())
}

/// Runs jobs that neither block nor clear: only where the fleet reaches.
///
/// # Errors
/// As [`all`].
pub fn explore(fleet: &Fleet, jobs: &[Job], about: &About<'_>, told: &(dyn Fn() + Sync)) -> Result<Vec<Outcome>, TrialError> {
    let (runner, most) = fleet.far.as_deref().map_or((&fleet.local as _, fleet.here), |far| (far, fleet.there));
    let outcomes = flight::all(runner, jobs, most, told)?;
    let rows: Vec<Row> = jobs.iter().zip(&outcomes).map(|(job, outcome)| Row::of(job, about.tree, about.bound, runner, outcome)).collect();
    Runs::add(about.runs, &rows)?;
    Ok(outcomes)
}

fn beside(local: &Outcome, far: Option<&Outcome>) -> Option<Beside> {
    let (here, there) = (local.verdict.as_ref().ok()?, far?.verdict.as_ref().ok()?);
    here.says_as(there).map(|same| if same { Beside::Agree } else { Beside::Disagree })
}
