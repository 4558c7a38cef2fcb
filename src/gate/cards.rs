//! Owns the candidate's cards: which files are carded, from which trees, and what their comparison says.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::finding::{Finding, PropId, Rule};
use crate::gate::GateError;
use crate::gate::facts::{Fact, Facts, Question};
use crate::gate::policy::Policy;
use crate::partition::Side;
use crate::settings::Settings;
use crate::strength::card::Card;
use crate::strength::delta;
use crate::strength::languages::{Language, Module, Unreadable};
use crate::strength::snapshot::{self, SnapshotError, Source};
use crate::tree::{Change, Mode, RepoPath, Tree, TreeError, follow};

/// Largest source file that is carded, in bytes.
pub(super) const SOURCE_CAP: u64 = 4 << 20;

/// Largest fixture that is hashed, in bytes.
pub(super) const FIXTURE_CAP: u64 = 1 << 30;

/// One tree as the cards see it: modules and digests from the facts, sides from the policy.
pub(super) struct View<'a> {
    pub(super) tree: &'a dyn Tree,
    pub(super) facts: &'a Facts,
    pub(super) policy: &'a Policy,
}

impl View<'_> {
    fn unreadable(path: &RepoPath, why: Unreadable) -> SnapshotError {
        SnapshotError::Unreadable { path: path.clone(), why }
    }
}

impl Source for View<'_> {
    fn module(&self, path: &RepoPath) -> Result<Option<Arc<Module>>, SnapshotError> {
        let Some(language) = Language::of(path) else { return Ok(None) };
        let Some(entry) = self.tree.entry(path)?.filter(|e| matches!(e.mode, Mode::File | Mode::Executable)) else { return Ok(None) };
        match self.facts.get(Question::Module(language), &entry.oid, &|| self.tree.blob(&entry.oid, SOURCE_CAP)) {
            Ok(Fact::Module(module)) => Ok(Some(module)),
            Ok(Fact::Unreadable(why)) => Err(View::unreadable(path, why)),
            Ok(Fact::Sha256(_)) => Ok(None),
            Err(error @ TreeError::TooLarge { .. }) => Err(View::unreadable(path, Unreadable { line: 1, says: error.to_string() })),
            Err(error) => Err(error.of(path).into()),
        }
    }

    fn sha256(&self, path: &RepoPath) -> Result<Option<String>, SnapshotError> {
        let Some(entry) = follow(self.tree, path, &mut Vec::new())? else { return Ok(None) };
        if entry.mode == Mode::Gitlink {
            return Ok(None);
        }
        Ok(Some(self.facts.sha256(self.tree, &entry.oid, FIXTURE_CAP).map_err(|e| e.of(path))?))
    }

    fn is_fixture(&self, path: &RepoPath) -> bool {
        self.policy.sides.side(path) == Side::Fixture
    }

    fn is_test(&self, path: &RepoPath) -> bool {
        Language::of(path).is_some() && is_test_side(self.policy, path)
    }

    fn is_property_path(&self, path: &RepoPath) -> bool {
        self.policy.sides.is_property_path(path)
    }

    fn settings(&self) -> &Settings {
        &self.policy.settings
    }
}

/// Whether a file of this path is carded at all: test code or the harness, in a language that is read, or production code where that
/// language's tests stand beside it.
pub(super) fn is_carded(policy: &Policy, path: &RepoPath) -> bool {
    let Some(language) = Language::of(path) else { return false };
    is_test_side(policy, path) || (language.is_beside_code() && matches!(policy.sides.side(path), Side::Production | Side::Neutral))
}

fn is_test_side(policy: &Policy, path: &RepoPath) -> bool {
    matches!(policy.sides.side(path), Side::Test | Side::Harness) || policy.sides.is_property_path(path)
}

/// What the carded files of one tree hold.
#[derive(Default)]
pub(super) struct Carded {
    pub(super) cards: Vec<Arc<Card>>,
    unreadable: BTreeMap<RepoPath, Unreadable>,
}

impl Carded {
    /// Cards the files of `paths` that are there.
    pub(super) fn read(view: &View<'_>, paths: &[&RepoPath]) -> Result<Self, GateError> {
        let mut carded = Carded::default();
        for path in paths {
            match snapshot::cards(path, view) {
                Ok(cards) => carded.cards.extend(cards.into_iter().map(Arc::new)),
                Err(SnapshotError::Unreadable { path, why }) => {
                    carded.unreadable.insert(path, why);
                }
                Err(error) => return Err(error.into()),
            }
        }
        Ok(carded)
    }

    /// The files that could not be read, and why.
    pub(super) fn unreadable(&self) -> Vec<(RepoPath, String)> {
        self.unreadable.iter().map(|(path, why)| (path.clone(), why.to_string())).collect()
    }

    fn by_id(&self) -> BTreeMap<&PropId, &Arc<Card>> {
        self.cards.iter().map(|card| (&card.prop_id, card)).collect()
    }

    /// Whether the file held cards here.
    fn holds(&self, path: &RepoPath) -> bool {
        let head = format!("{path}::");
        self.cards.iter().any(|card| card.prop_id.0.starts_with(&head))
    }
}

/// The carded files among the changes.
pub(super) fn paths<'c>(policy: &Policy, own: &'c [Change]) -> Vec<&'c RepoPath> {
    own.iter()
        .filter(|c| c.old.as_ref().map(|e| &e.oid) != c.new.as_ref().map(|e| &e.oid) || is_type_change(c))
        .map(|c| &c.path)
        .filter(|p| is_carded(policy, p))
        .collect()
}

/// Carded files that did not change and whose tests the change takes out of the build: no file declares them any more.
pub(super) fn unlinked(own: &[Change], base: &View<'_>, patch: &View<'_>) -> Vec<RepoPath> {
    let changed = paths(base.policy, own);
    let gone = changed.iter().flat_map(|path| snapshot::unlinked(path, base, patch));
    let is_beside = |path: &RepoPath| is_carded(base.policy, path) && !changed.contains(&path);
    let all: BTreeSet<RepoPath> = gone.filter(is_beside).collect();
    all.into_iter().collect()
}

fn is_type_change(change: &Change) -> bool {
    let link = |entry: &Option<crate::tree::Entry>| entry.as_ref().is_some_and(|e| e.mode == Mode::Symlink);
    link(&change.old) != link(&change.new)
}

/// Findings of the patch against its bases: one set for a commit, two for a merge.
pub(super) fn findings(bases: &[Carded], patch: &Carded, [before, view]: [&View<'_>; 2]) -> Vec<Finding> {
    let signature = |name: &str, path: &str| snapshot::signature(name, &RepoPath::new(path), view);
    let defines = |name: &str, path: &str| {
        let path = RepoPath::new(path);
        Some([snapshot::defines(name, &path, before)?, snapshot::defines(name, &path, view)?])
    };
    let stands_for = |name: &str, path: &str, side: usize| {
        let view = if side == 0 { before } else { view };
        snapshot::stands_for(name, &RepoPath::new(path), view)
    };
    let code = delta::Code { signature: &signature, defines: &defines, stands_for: &stands_for };
    let mut all: Vec<Finding> = Vec::new();
    for (at, base) in bases.iter().enumerate() {
        let beside: Vec<Arc<Card>> =
            bases.iter().enumerate().filter(|(other, _)| *other != at).flat_map(|(_, b)| b.cards.clone()).collect();
        let found = delta::compare_beside(&base.cards, &patch.cards, &beside, &code).findings();
        let fresh: Vec<Finding> = found.into_iter().filter(|finding| !all.contains(finding)).collect();
        all.extend(fresh);
    }
    for (path, why) in &patch.unreadable {
        if bases.iter().any(|base| base.holds(path)) || (snapshot::must_read(path) && view.is_test(path)) {
            all.retain(|f| f.path.as_deref() != Some(&path.to_string()));
            all.push(unreadable(path, why));
        }
    }
    all
}

fn unreadable(path: &RepoPath, why: &Unreadable) -> Finding {
    let mut finding = Finding::new(Rule::UnreadableFile);
    finding.path = Some(path.to_string());
    finding.line = Some(why.line);
    finding.says = vec![format!("cannot be read as a test file: {}", why.says)];
    finding.help = "repair the file, or leave it out of the commit".into();
    finding
}

/// The base of a merge, id by id: a side that kept the merge base's card gives way to the other side's; where both changed it,
/// the candidate must hold against both.
pub(super) fn three_way(base: &Carded, one: Carded, two: Carded) -> Vec<Carded> {
    let origin = base.by_id();
    let (first, second) = (one.by_id(), two.by_id());
    let keeps = |mine: Option<&&Arc<Card>>, other: Option<&&Arc<Card>>, id: &PropId| {
        let unchanged = same(mine, origin.get(id));
        let agree = same(mine, other);
        (!unchanged || agree) && mine.is_some()
    };
    let left: Vec<Arc<Card>> =
        first.iter().filter(|(id, _)| keeps(first.get(*id), second.get(*id), id)).map(|(_, card)| Arc::clone(card)).collect();
    let right: Vec<Arc<Card>> = second
        .iter()
        .filter(|(id, card)| keeps(Some(card), first.get(*id), id) && !same(Some(card), first.get(*id)))
        .map(|(_, card)| Arc::clone(card))
        .collect();
    vec![Carded { cards: left, unreadable: one.unreadable }, Carded { cards: right, unreadable: two.unreadable }]
}

fn same(one: Option<&&Arc<Card>>, two: Option<&&Arc<Card>>) -> bool {
    match (one, two) {
        (Some(one), Some(two)) => one.measures_as(two),
        (None, None) => true,
        _ => false,
    }
}
