//! Owns the totals of cards over time: how many of what a tree holds, and how a commit changes that.

use std::iter::Sum;
use std::ops::{Add, Sub};

use rayon::prelude::*;
use serde::Serialize;

use crate::gate::GateError;
use crate::gate::candidate::Candidate;
use crate::gate::cards::{self, Carded, View, is_carded};
use crate::gate::facts::Facts;
use crate::gate::judge::Measured;
use crate::gate::policy::Policy;
use crate::repo::Repo;
use crate::strength::card::{Card, Kind};
use crate::tree::{Oid, RepoPath, Tree as _};

/// Most trees that are counted whole, where no neighbour's totals lead to them.
const ANCHORS: usize = 8;
/// Files that one repository handle counts.
const FILES: usize = 32;

/// How many of what.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Totals {
    /// Properties.
    pub properties: i64,
    /// Other tests.
    pub tests: i64,
    /// Assertions of both.
    pub assertions: i64,
    /// Rows of their case lists.
    pub cases: i64,
    /// Properties whose domain literals do not give.
    pub opaque: i64,
}

impl Totals {
    /// Counts the cards of some files.
    pub(super) fn of(carded: &Carded) -> Self {
        carded.cards.iter().map(|card| Totals::of_card(card)).sum()
    }

    fn of_card(card: &Card) -> Self {
        if card.kind == Kind::Support {
            return Totals::default();
        }
        let count = |number: usize| i64::try_from(number).unwrap_or(i64::MAX);
        let property = card.kind == Kind::Property;
        Totals {
            properties: i64::from(property),
            tests: i64::from(!property),
            assertions: count(card.assertions.len()),
            cases: count(card.domain.tables.iter().map(|table| table.rows.len()).sum()),
            opaque: i64::from(property && card.domain.opaque().is_some()),
        }
    }

    /// Everything that a commit's tree holds.
    ///
    /// # Errors
    /// When the tree cannot be read.
    pub(super) fn of_tree(repo: &Repo, commit: &Oid, facts: &Facts, policy: &Policy) -> Result<Self, GateError> {
        let tree = repo.tree(Some(commit))?;
        let files: Vec<RepoPath> = tree.list(b"")?.into_iter().map(|(path, _)| path).filter(|path| is_carded(policy, path)).collect();
        let environment = repo.environment();
        let part = |files: &[RepoPath]| -> Result<Totals, GateError> {
            let repo = Repo::open(environment)?;
            let tree = repo.tree(Some(commit))?;
            let view = View { tree: &tree, facts, policy };
            let counted = files.iter().map(|file| Ok(Totals::of(&Carded::read(&view, &[file])?)));
            counted.sum::<Result<Totals, GateError>>()
        };
        files.par_chunks(FILES).map(part).try_reduce(Totals::default, |one, two| Ok(one + two))
    }

    /// What a commit changes against its first parent. Of a merge that is more than its own change.
    ///
    /// # Errors
    /// When a tree cannot be read.
    pub(super) fn changed(repo: &Repo, facts: &Facts, policy: &Policy, of: &Candidate, measured: &Measured) -> Result<Self, GateError> {
        if let ([before], after) = (measured.cards.0.as_slice(), &measured.cards.1) {
            return Ok(Totals::of(after) - Totals::of(before));
        }
        if of.parents.len() < 2 {
            return Ok(Totals::default());
        }
        let paths = cards::paths(policy, of.changes());
        let count = |commit: Option<&Oid>| -> Result<Totals, GateError> {
            let tree = repo.tree(commit)?;
            Ok(Totals::of(&Carded::read(&View { tree: &tree, facts, policy }, &paths)?))
        };
        Ok(count(of.commit.as_ref())? - count(of.base())?)
    }
}

impl Add for Totals {
    type Output = Totals;

    fn add(self, other: Totals) -> Totals {
        Totals {
            properties: self.properties + other.properties,
            tests: self.tests + other.tests,
            assertions: self.assertions + other.assertions,
            cases: self.cases + other.cases,
            opaque: self.opaque + other.opaque,
        }
    }
}

impl Sum for Totals {
    fn sum<I: Iterator<Item = Totals>>(all: I) -> Totals {
        all.fold(Totals::default(), Totals::add)
    }
}

impl Sub for Totals {
    type Output = Totals;

    fn sub(self, other: Totals) -> Totals {
        Totals {
            properties: self.properties - other.properties,
            tests: self.tests - other.tests,
            assertions: self.assertions - other.assertions,
            cases: self.cases - other.cases,
            opaque: self.opaque - other.opaque,
        }
    }
}

/// What is kept of a commit until the totals are known.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Step {
    /// Where its first parent stands in the list, if it does.
    pub(super) parent: Option<usize>,
    /// What it changes; `None` when that could not be read.
    pub(super) change: Option<Totals>,
}

/// The totals of every commit that one can be led to. The last one's tree is counted whole; from there backwards along the first
/// parents each is its child's less what the child changed, and a commit of a side branch its parent's and what it changed itself.
/// `count` counts a tree whole.
pub(super) fn along(steps: &[Step], count: &dyn Fn(usize) -> Option<Totals>) -> Vec<Option<Totals>> {
    let mut totals: Vec<Option<Totals>> = vec![None; steps.len()];
    let (mut at, mut known, mut anchors) = (steps.len().checked_sub(1), None, 0);
    while let Some(here) = at {
        if known.is_none() && anchors < ANCHORS {
            anchors += 1;
            known = count(here);
        }
        totals[here] = known;
        known = known.zip(steps[here].change).map(|(known, change)| known - change);
        at = steps[here].parent;
    }
    for here in 0..steps.len() {
        let from = steps[here].parent.and_then(|parent| totals[parent]);
        totals[here] = totals[here].or_else(|| from.zip(steps[here].change).map(|(from, change)| from + change));
    }
    totals
}

/// The places along the first parents of the last commit.
pub(super) fn mainline(steps: &[Step]) -> Vec<bool> {
    let mut main = vec![false; steps.len()];
    let mut at = steps.len().checked_sub(1);
    while let Some(here) = at {
        main[here] = true;
        at = steps[here].parent;
    }
    main
}

#[cfg(test)]
mod tests {
    use super::{Step, Totals, along, mainline};

    fn tests(number: i64) -> Totals {
        Totals { tests: number, ..Totals::default() }
    }

    #[test]
    fn totals_lead_from_the_last_commit_back_and_out_to_its_side_branches() {
        let step = |parent: Option<usize>, change: i64| Step { parent, change: Some(tests(change)) };
        // 0 - 1 ------ 4 (merge, brings 3's +2) - 5
        //   \ 2 - 3 /           6: a commit whose parent is not in the list is no part of it
        let steps = [step(None, 5), step(Some(0), 1), step(Some(0), 1), step(Some(2), 1), step(Some(1), 2), step(Some(4), -1)];
        let totals = along(&steps, &|at| (at == 5).then(|| tests(7)));
        assert_eq!(totals.iter().map(|t| t.map(|t| t.tests)).collect::<Vec<_>>(), [5, 6, 6, 7, 8, 7].map(Some));
        assert_eq!(mainline(&steps), [true, true, false, false, true, true]);
    }

    #[test]
    fn a_commit_that_cannot_be_read_is_stepped_over_by_counting_its_parent_whole() {
        let steps = [
            Step { parent: None, change: Some(tests(1)) },
            Step { parent: Some(0), change: None },
            Step { parent: Some(1), change: Some(tests(1)) },
        ];
        let totals = along(&steps, &|at| [Some(tests(1)), None, Some(tests(9))][at]);
        assert_eq!(totals, [Some(tests(1)), Some(tests(8)), Some(tests(9))]);
        assert_eq!(along(&steps, &|_| None), [None, None, None]);
        assert_eq!(along(&[], &|_| None), []);
    }
}
