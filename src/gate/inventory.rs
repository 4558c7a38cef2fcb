//! Owns the cards of a whole tree: a commit's or the index's.

use crate::finding::PropId;
use crate::gate::GateError;
use crate::gate::ahead;
use crate::gate::cards::{Carded, View, is_carded};
use crate::gate::facts::{Facts, Question};
use crate::gate::policy::Policy;
use crate::repo::Repo;
use crate::settings::Settings;
use crate::strength::card::{Card, Kind};
use crate::strength::cards::CardSet;
use crate::strength::languages::Language;
use crate::strength::snapshot::Source as _;
use crate::tree::{Oid, Overlay, RepoPath, Tree};

/// The cards of a tree, and what cannot be carded in it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Inventory {
    /// The cards.
    pub cards: CardSet,
    /// Test files that cannot be read, with the reason.
    pub unreadable: Vec<(RepoPath, String)>,
    /// Properties under the strict property paths whose domain literals do not give, with the reason.
    pub opaque: Vec<(PropId, String)>,
}

/// The inventory of what is staged.
///
/// # Errors
/// [`GateError`] when something that must be read cannot be.
pub fn of_index(repo: &Repo, facts: &Facts) -> Result<Inventory, GateError> {
    let head = repo.head()?;
    let staged = repo.staged(head.as_ref())?;
    of_tree(&Overlay::new(&repo.tree(head.as_ref())?, &staged), facts)
}

/// The inventory of a commit.
///
/// # Errors
/// [`GateError`] when something that must be read cannot be.
pub fn of_commit(repo: &Repo, commit: &Oid, facts: &Facts) -> Result<Inventory, GateError> {
    of_tree(&repo.tree(Some(commit))?, facts)
}

/// The inventory of any tree, by the tree's own policy: this is a measure, not a judgement.
///
/// # Errors
/// [`GateError`] when something that must be read cannot be.
pub fn of_tree(tree: &dyn Tree, facts: &Facts) -> Result<Inventory, GateError> {
    let policy = Policy::of(tree, tree.entry(&RepoPath::new(Settings::PATH))?.as_ref())?;
    let view = View { tree, facts, policy: &policy };
    let files: Vec<_> = tree.list(b"")?.into_iter().filter(|(path, _)| is_carded(&policy, path)).collect();
    let wanted = files.iter().filter_map(|(path, entry)| Some((Question::Module(Language::of(path)?), entry.oid.clone())));
    facts.prepare(&wanted.collect::<Vec<_>>(), &|(question, oid)| tree.blob(oid, ahead::cap(*question)));
    let mut inventory = Inventory::default();
    let mut cards = Vec::new();
    for (path, _) in &files {
        let carded = Carded::read(&view, &[path])?;
        inventory.unreadable.extend(carded.unreadable());
        if view.is_property_path(path) {
            inventory.opaque.extend(carded.cards.iter().filter_map(|card| opaque(card)));
        }
        cards.extend(carded.cards);
    }
    inventory.cards = CardSet::new(cards);
    Ok(inventory)
}

fn opaque(card: &Card) -> Option<(PropId, String)> {
    let why = card.domain.opaque().filter(|_| card.kind == Kind::Property)?;
    Some((card.prop_id.clone(), why))
}
