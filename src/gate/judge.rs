//! Owns the verdict on one candidate: partition, fixtures, cards and waivers, all findings in one run.

use std::cell::{OnceCell, RefCell};
use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

use crate::finding::{Exit, Finding, Rule};
use crate::gate::GateError;
use crate::gate::ahead;
use crate::gate::candidate::Candidate;
use crate::gate::cards::{self, Carded, View};
use crate::gate::facts::{Facts, Key};
use crate::gate::fixtures::{self, Search, Twins};
use crate::gate::harness;
use crate::gate::inside::Look;
use crate::gate::losses::Case;
use crate::gate::policy::{self, Policy};
use crate::gate::records;
use crate::partition::{Partition, Side};
use crate::repo::{GitTree, Repo, RepoError};
use crate::settings::Settings;
use crate::strength::waiver;
use crate::tree::{Change, Entry, Oid, RepoPath, Tree};

/// What was found in one candidate.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Judgement {
    /// Its commit; `None` for the index.
    pub commit: Option<Oid>,
    /// First line of its message.
    pub subject: String,
    /// Its parents.
    pub parents: Vec<Oid>,
    /// Every finding, worst first.
    pub findings: Vec<Finding>,
    /// How many findings of which rule the policy has off.
    pub silenced: BTreeMap<Rule, usize>,
    /// Why there is no verdict, and the exit it asks for.
    pub error: Option<(Exit, String)>,
}

impl Judgement {
    /// The candidate's exit.
    pub fn exit(&self) -> Exit {
        let found = self.findings.iter().map(Finding::exit).fold(Exit::Clear, Exit::worst);
        self.error.as_ref().map_or(found, |(exit, _)| exit.worst(found))
    }
}

/// Judges candidates of one repository. Compiled policies are kept by blob id.
pub struct Judge<'a> {
    repo: &'a Repo,
    facts: &'a Facts,
    folds: OnceCell<bool>,
    policies: RefCell<HashMap<Option<Oid>, Rc<Policy>>>,
    fixed: Option<Rc<Policy>>,
}

/// A judgement with what it was made of.
pub(super) struct Measured {
    pub(super) judgement: Judgement,
    pub(super) partition: Partition,
    /// The cards of the changed files before (of a merge, as it is held against its parents) and after.
    pub(super) cards: (Vec<Carded>, Carded),
}

impl<'a> Judge<'a> {
    /// A judge for a repository, with facts from whatever layers there are.
    pub fn new(repo: &'a Repo, facts: &'a Facts) -> Self {
        Judge { repo, facts, folds: OnceCell::new(), policies: RefCell::default(), fixed: None }
    }

    /// The same, judging everything by one policy and not by that of each base.
    pub(super) fn by(self, policy: Policy) -> Self {
        Judge { fixed: Some(Rc::new(policy)), ..self }
    }

    /// Whether case does not count in the file names here. Asked only for added paths: the answer may need git itself.
    fn folds(&self) -> Result<bool, RepoError> {
        if let Some(known) = self.folds.get() {
            return Ok(*known);
        }
        let folds = self.repo.config_bool("core.ignorecase")?.unwrap_or(false);
        Ok(*self.folds.get_or_init(|| folds))
    }

    /// The judgement of a commit by its id; errors are part of it, so that a range is judged to its end.
    pub fn commit(&self, oid: &Oid) -> Judgement {
        let candidate = Candidate::commit(self.repo, oid).map_err(GateError::from);
        let judged = candidate.and_then(|known| known.map(|c| self.candidate(&c)).transpose());
        let empty = Judgement { commit: Some(oid.clone()), ..Judgement::default() };
        match judged {
            Ok(judgement) => judgement.unwrap_or(empty),
            Err(error) => Judgement { error: Some((error.exit(), error.to_string())), ..empty },
        }
    }

    /// Judges a candidate. What it takes away may be known from before; all else is told anew each time.
    ///
    /// # Errors
    /// [`GateError`] when something that must be read cannot be.
    pub fn candidate(&self, candidate: &Candidate) -> Result<Judgement, GateError> {
        let case = self.case(candidate)?;
        let losses = match case.digest() {
            Some(digest) if self.fixed.is_none() => self.facts.losses(&digest, || Ok::<_, GateError>(self.losses(&case)?.0))?,
            _ => self.losses(&case)?.0,
        };
        Ok(self.settled(&case, losses)?.0)
    }

    /// Judges a candidate and hands out what was measured on the way.
    pub(super) fn measured(&self, candidate: &Candidate) -> Result<Measured, GateError> {
        let case = self.case(candidate)?;
        let (losses, cards) = self.losses(&case)?;
        let (judgement, partition) = self.settled(&case, losses)?;
        Ok(Measured { judgement, partition, cards })
    }

    fn case<'c>(&self, candidate: &'c Candidate) -> Result<Case<'c, 'a>, GateError> {
        let base = self.repo.tree(candidate.base())?;
        let own = candidate.own();
        let policy = self.policy(&base, &own)?;
        let folds = own.iter().any(|change| change.old.is_none()) && self.folds()?;
        Ok(Case { candidate, base, own, policy, folds, links: self.links(candidate)? })
    }

    /// All that the change takes away, and the cards that tell it.
    fn losses(&self, case: &Case<'_, '_>) -> Result<(Vec<Finding>, (Vec<Carded>, Carded)), GateError> {
        let patch = case.patch();
        let (mut losses, cards) = self.weakenings(case, &self.views(case, &patch))?;
        losses.extend(self.harness(case, &patch)?);
        Ok((losses, cards))
    }

    fn views<'v>(&'v self, case: &'v Case<'_, '_>, patch: &'v dyn Tree) -> (View<'v>, View<'v>) {
        let view = |tree| View { tree, facts: self.facts, policy: &case.policy };
        (view(&case.base), view(patch))
    }

    /// The verdict: what was lost, with the partition, the records, waivers and levels of the policy.
    fn settled(&self, case: &Case<'_, '_>, losses: Vec<Finding>) -> Result<(Judgement, Partition), GateError> {
        let (candidate, patch) = (case.candidate, case.patch());
        let partition = self.partition(case, &patch)?;
        let mut findings: Vec<Finding> = partition.mixed().into_iter().collect();
        findings.extend(policy::changed(&partition.paths(Side::Policy)));
        findings.extend(losses);
        records::witnesses(&case.base, &case.own, &mut findings)?;
        let views = self.views(case, &patch);
        findings.extend(records::findings(&views.0, &views.1, &case.own)?);
        let changed: Vec<RepoPath> = case.own.iter().map(|change| change.path.clone()).collect();
        let findings = waiver::settle(&patch, &changed, findings)?;
        let (mut findings, silenced) = case.policy.levels.settle(findings, &partition);
        findings.sort_by(|a, b| a.sort_key().cmp(&b.sort_key()));
        let judgement = Judgement {
            commit: candidate.commit.clone(),
            subject: candidate.subject.clone(),
            parents: candidate.parents.clone(),
            findings,
            silenced,
            error: None,
        };
        Ok((judgement, partition))
    }

    /// The policy a candidate is judged by.
    pub(super) fn policy_of(&self, candidate: &Candidate) -> Result<Rc<Policy>, GateError> {
        self.policy(&self.repo.tree(candidate.base())?, &candidate.own())
    }

    fn policy(&self, base: &dyn Tree, own: &[Change]) -> Result<Rc<Policy>, GateError> {
        if let Some(fixed) = &self.fixed {
            return Ok(Rc::clone(fixed));
        }
        let path = RepoPath::new(Settings::PATH);
        let entry = base.entry(&path)?;
        let touched = own.iter().any(|change| change.path == path);
        let key = entry.as_ref().map(|e| e.oid.clone());
        if let (false, Some(known)) = (touched, self.policies.borrow().get(&key)) {
            return Ok(Rc::clone(known));
        }
        let policy = Rc::new(policy::for_candidate(base, entry.as_ref(), own)?);
        if !touched {
            self.policies.borrow_mut().insert(key, Rc::clone(&policy));
        }
        Ok(policy)
    }

    /// The sides of what the change itself does; of a merge held against every parent.
    fn partition(&self, case: &Case<'_, '_>, patch: &dyn Tree) -> Result<Partition, GateError> {
        let others = self.other_parents(case.candidate)?;
        Look { bases: &case.bases(&others), patch, sides: &case.policy.sides }.partition(&case.own)
    }

    /// The trees of a merge's parents but the first.
    fn other_parents(&self, candidate: &Candidate) -> Result<Vec<GitTree<'_>>, GateError> {
        Ok(candidate.parents.iter().skip(1).map(|parent| self.repo.tree(Some(parent))).collect::<Result<_, _>>()?)
    }

    fn weakenings(
        &self,
        case: &Case<'_, '_>,
        (base, patch): &(View<'_>, View<'_>),
    ) -> Result<(Vec<Finding>, (Vec<Carded>, Carded)), GateError> {
        let (own, links) = (&case.own, &case.links);
        let paths = cards::paths(base.policy, own);
        if paths.is_empty() && !fixtures::may_drift(base, own, links) && !case.folds {
            return Ok((Vec::new(), (Vec::new(), Carded::default())));
        }
        let twins = |path: &RepoPath| case.base.entries_folded(path);
        let twins = case.folds.then_some(&twins as &Twins<'_>);
        let read = |(question, oid): &Key| patch.tree.blob(oid, ahead::cap(*question));
        self.facts.prepare(&ahead::of_changes(base.policy, own), &read);
        let unlinked = cards::unlinked(own, base, patch);
        let paths: Vec<&RepoPath> = paths.into_iter().chain(&unlinked).collect();
        let before = self.bases(case.candidate, base, &paths)?;
        let after = Carded::read(patch, &paths)?;
        let search = Search { base, patch, own, before: &before, after: &after };
        let mut findings = search.drifts(links, twins)?;
        findings.extend(cards::findings(&before, &after, [base, patch]));
        Ok((findings, (before, after)))
    }

    /// What the change does to the harness, and what production code learns of tests.
    fn harness(&self, case: &Case<'_, '_>, patch: &dyn Tree) -> Result<Vec<Finding>, GateError> {
        let read = harness::Read::of(&case.policy, &case.own);
        if read.is_empty() {
            return Ok(Vec::new());
        }
        let others = self.other_parents(case.candidate)?;
        harness::Search { bases: &case.bases(&others), patch, policy: &case.policy }.findings(&read)
    }

    /// The cards to hold against: the parent's, or for a merge of two the three-way choice.
    fn bases(&self, candidate: &Candidate, base: &View<'_>, paths: &[&RepoPath]) -> Result<Vec<Carded>, GateError> {
        let of = |parent: &Oid| -> Result<Carded, GateError> {
            let tree = self.repo.tree(Some(parent))?;
            Carded::read(&View { tree: &tree, facts: base.facts, policy: base.policy }, paths)
        };
        match candidate.parents.as_slice() {
            [] | [_] => Ok(vec![Carded::read(base, paths)?]),
            [one, two] => {
                let origin = self.repo.merge_base(one, two)?.map(|oid| of(&oid)).transpose()?.unwrap_or_default();
                Ok(cards::three_way(&origin, of(one)?, of(two)?))
            }
            many => many.iter().map(of).collect(),
        }
    }

    fn links(&self, candidate: &Candidate) -> Result<Vec<(RepoPath, Entry)>, GateError> {
        Ok(match candidate.commit {
            None => self.repo.staged_symlinks()?,
            Some(_) => self.repo.symlinks(candidate.base())?,
        })
    }
}
