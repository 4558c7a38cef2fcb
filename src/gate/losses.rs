//! Owns the case: all that decides what a candidate takes away, and the digest under which that can be kept.

use std::rc::Rc;

use sha2::{Digest as _, Sha256};

use crate::gate::candidate::Candidate;
use crate::gate::cards;
use crate::gate::harness;
use crate::gate::policy::Policy;
use crate::repo::GitTree;
use crate::tree::{Change, Entry, Overlay, RepoPath, Tree};

/// A candidate with what it is held against.
pub(super) struct Case<'c, 'r> {
    pub(super) candidate: &'c Candidate,
    /// The tree of its first parent.
    pub(super) base: GitTree<'r>,
    /// What the candidate itself changes.
    pub(super) own: Vec<Change>,
    /// The policy of the base.
    pub(super) policy: Rc<Policy>,
    /// Paths are added, and case does not count in the file names here.
    pub(super) folds: bool,
    /// The symlinks to look through.
    pub(super) links: Vec<(RepoPath, Entry)>,
}

impl<'r> Case<'_, 'r> {
    /// The candidate's tree.
    pub(super) fn patch(&self) -> Overlay<'_, GitTree<'r>> {
        Overlay::new(&self.base, self.candidate.changes())
    }

    /// The trees to hold against: the base, and of a merge those of the other parents.
    pub(super) fn bases<'t>(&'t self, others: &'t [GitTree<'_>]) -> Vec<&'t dyn Tree> {
        std::iter::once(&self.base as &dyn Tree).chain(others.iter().map(|tree| tree as &dyn Tree)).collect()
    }

    /// SHA-256 of all that decides what the change takes away: the base's tree (the policy lies in it), the changes, the links that are
    /// looked through and whether case counts. `None` for a merge, which more trees decide, and where telling it anew costs less than asking.
    pub(super) fn digest(&self) -> Option<String> {
        if self.candidate.parents.len() > 1 || !self.is_work() {
            return None;
        }
        let mut hash = Parts::default();
        hash.part(self.base.id().map(|id| id.to_string()).unwrap_or_default().as_bytes());
        hash.part(&[u8::from(self.folds)]);
        for (path, link) in &self.links {
            hash.part(path.as_bytes());
            hash.end(Some(link));
        }
        hash.part(b"changes");
        for change in &self.own {
            hash.part(change.path.as_bytes());
            hash.end(change.old.as_ref());
            hash.end(change.new.as_ref());
        }
        Some(hash.hex())
    }

    /// Whether cards are read; of a commit, whose verdict is one of many, also whether anything else is.
    fn is_work(&self) -> bool {
        let is_commit = self.candidate.commit.is_some();
        !cards::paths(&self.policy, &self.own).is_empty() || (is_commit && !harness::Read::of(&self.policy, &self.own).is_empty())
    }
}

/// A hash of parts, each with its length first, so that no two lists of parts hash alike.
#[derive(Default)]
struct Parts(Sha256);

impl Parts {
    fn part(&mut self, bytes: &[u8]) {
        self.0.update((bytes.len() as u64).to_le_bytes());
        self.0.update(bytes);
    }

    fn end(&mut self, entry: Option<&Entry>) {
        match entry {
            Some(entry) => self.part(format!("{:?} {}", entry.mode, entry.oid).as_bytes()),
            None => self.part(b""),
        }
    }

    fn hex(self) -> String {
        self.0.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
    }
}
