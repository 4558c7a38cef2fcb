//! Owns splitting: one mixed index becomes two commits, judged before anything moves.

use crate::finding::Exit;
use crate::gate::GateError;
use crate::gate::candidate::Candidate;
use crate::gate::inside::{self, Half, Look};
use crate::gate::judge::{Judge, Judgement};
use crate::partition::Side;
use crate::repo::Repo;
use crate::strength::languages::beside::Inseparable;
use crate::tree::{Change, Entry, Mode, Oid, Overlay, RepoPath, Tree};

/// Which half comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// Production, then tests.
    ProductionFirst,
    /// Tests, then production.
    TestsFirst,
}

/// What the two commits are to be.
#[derive(Clone, Debug)]
pub struct Request {
    /// Which half comes first.
    pub order: Order,
    /// Message of the production half.
    pub production: String,
    /// Message of the test half.
    pub tests: String,
}

/// Why the index was not split.
#[derive(Debug, thiserror::Error)]
pub enum SplitError {
    /// Nothing to split.
    #[error("nothing to split: the index does not mix production and test paths; commit it as it is")]
    NotMixed,
    /// In the middle of something that git must end.
    #[error("cannot split while a {0} is in progress: conclude or abort it first")]
    InProgress(&'static str),
    /// A file of both sides that cannot be taken apart.
    #[error("{path} cannot be split: {why}; commit its two sides by hand, or take one of them back")]
    Inseparable {
        /// The file.
        path: RepoPath,
        /// Why.
        why: Inseparable,
    },
    /// No verdict.
    #[error(transparent)]
    Gate(#[from] GateError),
}

/// How it ended.
pub struct Split {
    /// The judgements of both halves, in commit order.
    pub judgements: Vec<Judgement>,
    /// Whether the branch was moved: not when a half was refused.
    pub moved: bool,
}

/// Makes two commits of the index and moves the branch to the second, if both pass. The index and the work tree are left as
/// they are: the second commit's tree is the index.
///
/// # Errors
/// [`SplitError`]; nothing has moved then.
pub fn split(repo: &Repo, judge: &Judge<'_>, request: &Request) -> Result<Split, SplitError> {
    if let Some(operation) = repo.operation() {
        return Err(SplitError::InProgress(operation));
    }
    let candidate = Candidate::staged(repo).map_err(GateError::from)?;
    let policy = judge.policy_of(&candidate)?;
    let base = repo.tree(candidate.base()).map_err(GateError::from)?;
    let patch = Overlay::new(&base, candidate.changes());
    let partition = Look { bases: &[&base], patch: &patch, sides: &policy.sides }.partition(candidate.changes())?;
    if partition.mixed().is_none() {
        return Err(SplitError::NotMixed);
    }
    let (mut production, mut tests) = (Vec::new(), Vec::new());
    for change in candidate.changes() {
        let has_tests = Side::ALL.into_iter().any(|side| side.is_test_side() && partition.has(side, &change.path));
        match (partition.has(Side::Production, &change.path), has_tests) {
            (true, true) => {
                let (first, half) = match request.order {
                    Order::ProductionFirst => (&mut production, Half::Production),
                    Order::TestsFirst => (&mut tests, Half::Tests),
                };
                first.push(alone(repo, &base, change, half)?);
                // The second commit's tree is the index.
                let second = if half == Half::Production { &mut tests } else { &mut production };
                second.push(change.clone());
            }
            (false, has_tests) if has_tests || goes_with_tests(policy.sides.side(&change.path)) => tests.push(change.clone()),
            _ => production.push(change.clone()),
        }
    }
    let halves = match request.order {
        Order::ProductionFirst => [(production, &request.production), (tests, &request.tests)],
        Order::TestsFirst => [(tests, &request.tests), (production, &request.production)],
    };
    commit_both(repo, judge, candidate.base(), halves).map_err(SplitError::from)
}

/// One half of the change of a file that is on both sides, its bytes written as a blob. Mode and type are production.
fn alone(repo: &Repo, base: &dyn Tree, change: &Change, half: Half) -> Result<Change, SplitError> {
    let made = inside::half(base, change, half)?.map_err(|why| SplitError::Inseparable { path: change.path.clone(), why })?;
    let oid = repo.write_blob(&made).map_err(GateError::from)?;
    let (one, other) = match half {
        Half::Production => (&change.new, &change.old),
        Half::Tests => (&change.old, &change.new),
    };
    let mode = one.as_ref().or(other.as_ref()).map_or(Mode::File, |entry| entry.mode);
    Ok(Change { new: Some(Entry { mode, oid }), ..change.clone() })
}

/// Records and policy ride with the tests, since a waiver must be in the commit it waives.
fn goes_with_tests(side: Side) -> bool {
    side.is_test_side() || matches!(side, Side::Record | Side::Policy)
}

fn commit_both(repo: &Repo, judge: &Judge<'_>, base: Option<&Oid>, halves: [(Vec<Change>, &String); 2]) -> Result<Split, GateError> {
    let mut tip: Option<Oid> = base.cloned();
    let mut author = None;
    let mut judgements = Vec::new();
    for (changes, message) in halves {
        let tree = repo.write_tree_with(tip.as_ref(), &changes)?;
        let commit = repo.commit_tree(&tree, tip.as_slice(), author.as_ref(), message.as_bytes())?;
        author = Some(repo.author(&commit)?);
        judgements.push(judge.commit(&commit));
        tip = Some(commit);
    }
    let exit = judgements.iter().map(Judgement::exit).fold(Exit::Clear, Exit::worst);
    let moved = matches!(exit, Exit::Clear | Exit::Review | Exit::Waived);
    if let (true, Some(tip)) = (moved, &tip) {
        repo.update_ref_checked("HEAD", tip, base, "seedgate split")?;
    }
    Ok(Split { judgements, moved })
}
