//! Owns a run: the index or many commits, side by side, and once more in the cold when a layer of facts was wrong.

use rayon::prelude::*;

use crate::finding::Exit;
use crate::gate::GateError;
use crate::gate::advice;
use crate::gate::candidate::Candidate;
use crate::gate::facts::{Counts, Facts};
use crate::gate::judge::{Judge, Judgement};
use crate::repo::Repo;
use crate::tree::Oid;

/// Fewest commits worth a repository handle of their own.
const CHUNK: usize = 8;

/// Shares a thread gets, so that one with long commits does not hold up the end.
const SHARES: usize = 4;

/// What is judged.
pub enum Subject<'a> {
    /// The commit that the index would become.
    Index,
    /// Commits, oldest first.
    Commits(&'a [Oid]),
}

/// What a run found.
pub struct Outcome {
    /// One judgement a candidate, in the subject's order.
    pub judgements: Vec<Judgement>,
    /// Which layers answered.
    pub facts: Counts,
    /// True when a layer gave a wrong answer, so that everything was judged again without any.
    pub distrusted: bool,
}

impl Outcome {
    /// The worst exit of all candidates.
    pub fn exit(&self) -> Exit {
        self.judgements.iter().map(Judgement::exit).fold(Exit::Clear, Exit::worst)
    }
}

/// Judges a subject. `step` is told of each commit judged, from any thread.
///
/// # Errors
/// [`GateError`] when the index cannot be judged; an error of one commit is part of its judgement.
pub fn judge(repo: &Repo, facts: &Facts, subject: &Subject<'_>, step: &(dyn Fn() + Sync)) -> Result<Outcome, GateError> {
    let judgements = once(repo, facts, subject, step)?;
    if facts.distrusted().is_none() {
        return Ok(Outcome { judgements, facts: facts.counts(), distrusted: false });
    }
    let cold = Facts::cold();
    let judgements = once(repo, &cold, subject, &|| ())?;
    Ok(Outcome { judgements, facts: cold.counts(), distrusted: true })
}

fn once(repo: &Repo, facts: &Facts, subject: &Subject<'_>, step: &(dyn Fn() + Sync)) -> Result<Vec<Judgement>, GateError> {
    match subject {
        Subject::Index => Ok(vec![advice::fitting(Judge::new(repo, facts).candidate(&Candidate::staged(repo)?)?)]),
        Subject::Commits(commits) if commits.len() <= CHUNK => Ok(chunk(repo, facts, commits, step)),
        Subject::Commits(commits) => {
            let share = commits.len().div_ceil(rayon::current_num_threads() * SHARES).max(CHUNK);
            let environment = repo.environment();
            let judged: Result<Vec<Vec<Judgement>>, GateError> =
                commits.par_chunks(share).map(|part| Ok(chunk(&Repo::open(environment)?, facts, part, step))).collect();
            Ok(judged?.into_iter().flatten().collect())
        }
    }
}

fn chunk(repo: &Repo, facts: &Facts, commits: &[Oid], step: &(dyn Fn() + Sync)) -> Vec<Judgement> {
    let judge = Judge::new(repo, facts);
    let one = |oid| {
        let judgement = advice::fitting(judge.commit(oid));
        step();
        judgement
    };
    commits.iter().map(one).collect()
}
