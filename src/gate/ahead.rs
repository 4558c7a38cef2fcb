//! Owns what a verdict will ask of blobs, told ahead, so that outer layers answer in one batch and the daemon can have it ready.

use crate::gate::GateError;
use crate::gate::cards::{FIXTURE_CAP, SOURCE_CAP, is_carded};
use crate::gate::facts::{Key, Question};
use crate::gate::policy::Policy;
use crate::partition::Side;
use crate::repo::Repo;
use crate::settings::Settings;
use crate::strength::languages::Language;
use crate::tree::{Change, Entry, Mode, Oid, RepoPath, Tree as _};

/// What is asked under the policy of one commit.
pub struct Ahead {
    policy: Policy,
}

impl Ahead {
    /// By the policy of a commit's tree.
    ///
    /// # Errors
    /// When the tree or its policy cannot be read.
    pub fn of(repo: &Repo, commit: Option<&Oid>) -> Result<Self, GateError> {
        let tree = repo.tree(commit)?;
        let entry = tree.entry(&RepoPath::new(Settings::PATH))?;
        Ok(Ahead { policy: Policy::of(&tree, entry.as_ref())? })
    }

    /// What is asked of the blob of one entry.
    pub fn keys(&self, path: &RepoPath, entry: &Entry) -> impl Iterator<Item = Key> {
        keys(&self.policy, path, entry)
    }

    /// Where merges go, if the policy says.
    pub fn merge_target(&self) -> Option<&str> {
        self.policy.settings.merge_target.as_deref()
    }
}

/// Most bytes that are read to answer a question.
pub fn cap(question: Question) -> u64 {
    match question {
        Question::Module(_) => SOURCE_CAP,
        Question::Sha256 => FIXTURE_CAP,
    }
}

/// What is asked of both ends of every change.
pub(super) fn of_changes(policy: &Policy, own: &[Change]) -> Vec<Key> {
    let ends = own.iter().flat_map(|change| change.old.iter().chain(&change.new).map(|entry| (&change.path, entry)));
    ends.flat_map(|(path, entry)| keys(policy, path, entry)).collect()
}

fn keys(policy: &Policy, path: &RepoPath, entry: &Entry) -> impl Iterator<Item = Key> + use<> {
    let file = matches!(entry.mode, Mode::File | Mode::Executable);
    let fixture = (file && policy.sides.side(path) == Side::Fixture).then_some(Question::Sha256);
    let module = Language::of(path).filter(|_| file && is_carded(policy, path)).map(Question::Module);
    let oid = entry.oid.clone();
    fixture.into_iter().chain(module).map(move |question| (question, oid.clone()))
}
