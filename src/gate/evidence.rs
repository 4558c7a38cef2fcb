//! Owns what evidence is held against: a candidate's files by side, and the fixtures of both its ends.

use std::collections::BTreeMap;

use crate::digest;
use crate::freeze::evidence::{Counts, Evidence, Fixtures};
use crate::gate::GateError;
use crate::gate::cards::View;
use crate::gate::facts::Facts;
use crate::gate::pins;
use crate::gate::policy::{self, Policy};
use crate::partition::{Partition, Side};
use crate::repo::Repo;
use crate::settings::Settings;
use crate::tree::{Change, Mode, Oid, RepoPath, Tree};
use crate::witness::promote;

/// A candidate as its commits have it, by the policy of its base.
pub struct Measured {
    /// The base.
    pub base: Oid,
    /// The candidate's commit.
    pub head: Oid,
    /// Production files and files of the test side that differ.
    pub partition: Partition,
    /// Fixtures of the candidate, with their SHA-256.
    pub fixtures: BTreeMap<RepoPath, String>,
    /// Digests over the fixtures of both ends.
    pub digests: Fixtures,
    policy: Policy,
}

impl Measured {
    /// Measures a candidate.
    ///
    /// # Errors
    /// When something that must be read cannot be.
    pub fn of(repo: &Repo, facts: &Facts, base: &Oid, head: &Oid) -> Result<Self, GateError> {
        let (from, to) = (repo.tree(Some(base))?, repo.tree(Some(head))?);
        let own: Vec<Change> = repo.changes(Some(base), Some(head))?;
        let policy = policy::for_candidate(&from, from.entry(&RepoPath::new(Settings::PATH))?.as_ref(), &own)?;
        let before = pins::fixtures(&View { tree: &from, facts, policy: &policy })?;
        let fixtures = pins::fixtures(&View { tree: &to, facts, policy: &policy })?;
        let digests = Fixtures { base: pins::over(&before), head: pins::over(&fixtures) };
        let partition = Partition::of(&own, &policy.sides);
        Ok(Measured { base: base.clone(), head: head.clone(), partition, fixtures, digests, policy })
    }

    /// How many files of production and of the test side.
    pub fn counts(&self) -> Counts {
        let of = |is: &dyn Fn(Side) -> bool| {
            let sides = Side::ALL.into_iter().filter(|side| is(*side));
            sides.map(|side| self.partition.paths(side).len() as u64).sum()
        };
        let production_files = of(&|side| side == Side::Production);
        Counts { production_files, test_files: of(&Side::is_test_side), digest_match: None, mutant_exit: None }
    }

    /// Whether the candidate changes a path.
    pub fn touches(&self, path: &RepoPath) -> bool {
        Side::ALL.into_iter().any(|side| self.partition.paths(side).contains(&path))
    }

    /// The digest over the fixtures of the candidate's tree as they lie on disk: links as the commit has them, everything else as a loader
    /// reads it, files that a run made too.
    ///
    /// # Errors
    /// When the disk cannot be read.
    pub fn on_disk(&self, tree: &dyn Tree, root: &std::path::Path) -> Result<String, GateError> {
        let is = |path: &RepoPath| {
            let compiled = path.as_bytes().split(|b| *b == b'/').any(|part| part == b"__pycache__");
            self.policy.sides.side(path) == Side::Fixture && !promote::is_witness(path) && !compiled
        };
        let mut now = digest::chosen(root, &is).map_err(|error| crate::tree::TreeError::Store(error.to_string()))?;
        for (path, sha256) in &self.fixtures {
            if tree.entry(path)?.is_some_and(|entry| entry.mode == Mode::Symlink) {
                now.insert(path.clone(), sha256.clone());
            }
        }
        Ok(pins::over(&now))
    }

    /// What keeps evidence from being that of this candidate, each in a sentence.
    pub fn strangers(&self, evidence: &Evidence) -> Vec<String> {
        let mut says = Vec::new();
        let short = |oid: &Oid| oid.as_str().chars().take(12).collect::<String>();
        if evidence.head != self.head {
            says.push(format!("it was made for commit {}, and this is {}", short(&evidence.head), short(&self.head)));
        }
        if evidence.base != self.base {
            says.push(format!("it was held against {}, and the base is {}", short(&evidence.base), short(&self.base)));
        }
        if !says.is_empty() {
            return says;
        }
        for (which, stated, found) in
            [("base", &evidence.fixtures.base, &self.digests.base), ("candidate", &evidence.fixtures.head, &self.digests.head)]
        {
            if stated != found {
                says.push(format!("it names another fixture digest for the {which}: {stated}, and the commit has {found}"));
            }
        }
        let (stated, found) = (evidence.counts, self.counts());
        if (stated.production_files, stated.test_files) != (found.production_files, found.test_files) {
            says.push(format!(
                "it counts {} production and {} test files, and the commits have {} and {}",
                stated.production_files, stated.test_files, found.production_files, found.test_files
            ));
        }
        says
    }
}
