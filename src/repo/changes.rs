//! Owns what differs between two trees.

use std::cmp::Ordering;
use std::rc::Rc;

use super::folder::{Item, Items, order};
use super::id::Id;
use super::store::Store;
use crate::tree::{Change, Entry, Oid, RepoPath, TreeError};

/// No path has more parts (git's own limit).
pub(super) const DEPTH: usize = 2048;
/// No more paths are listed than this, nor with more bytes in all: a tree of trees of the same tree can name more than there are atoms.
const PATHS: usize = 2_000_000;
const PATH_BYTES: usize = 128 * 1024 * 1024;

/// Keeps a list of paths within bounds.
#[derive(Default)]
pub(super) struct Budget {
    paths: usize,
    bytes: usize,
}

impl Budget {
    /// Counts one path that is kept or still to be visited.
    pub(super) fn spend(&mut self, path: &[u8]) -> Result<(), TreeError> {
        self.paths += 1;
        self.bytes += path.len();
        if self.paths > PATHS || self.bytes > PATH_BYTES {
            return Err(TreeError::Store(format!("more than {PATHS} paths or {PATH_BYTES} bytes of paths in one listing")));
        }
        Ok(())
    }
}

/// A folder still to be compared; its path ends in a slash, or is empty at the root.
struct Pair {
    path: Vec<u8>,
    depth: usize,
    old: Option<Id>,
    new: Option<Id>,
}

/// Compares trees, deepest folders last, within bounds.
pub(super) struct Comparison<'s> {
    store: &'s Store,
    waiting: Vec<Pair>,
    found: Vec<Change>,
    budget: Budget,
}

/// What differs between two trees (`None` is the empty tree), in byte order of the paths.
pub(super) fn between(store: &Store, old: Option<Id>, new: Option<Id>) -> Result<Vec<Change>, TreeError> {
    let mut comparison = Comparison::new(store);
    comparison.folder(Vec::new(), 0, old, new)?;
    comparison.finish()
}

impl<'s> Comparison<'s> {
    /// Nothing compared yet.
    pub(super) fn new(store: &'s Store) -> Self {
        Comparison { store, waiting: Vec::new(), found: Vec::new(), budget: Budget::default() }
    }

    /// Adds a folder to what is compared. `path` ends in a slash, or is empty at the root; `depth` is how many parts it has.
    pub(super) fn folder(&mut self, path: Vec<u8>, depth: usize, old: Option<Id>, new: Option<Id>) -> Result<(), TreeError> {
        if old == new {
            return Ok(());
        }
        if depth > DEPTH {
            return Err(TreeError::Store(format!("folders are nested more than {DEPTH} deep")));
        }
        self.budget.spend(&path)?;
        self.waiting.push(Pair { path, depth, old, new });
        Ok(())
    }

    /// Adds an entry that may differ.
    pub(super) fn entry(&mut self, path: Vec<u8>, old: Option<Entry>, new: Option<Entry>) -> Result<(), TreeError> {
        if old == new {
            return Ok(());
        }
        self.budget.spend(&path)?;
        self.found.push(Change { path: RepoPath::new(path), old, new });
        Ok(())
    }

    /// Compares everything that was added and gives the changes in byte order of the paths.
    pub(super) fn finish(mut self) -> Result<Vec<Change>, TreeError> {
        while let Some(pair) = self.waiting.pop() {
            self.compare(&pair)?;
        }
        self.found.sort_unstable_by(|one, two| one.path.cmp(&two.path));
        Ok(self.found)
    }

    fn compare(&mut self, pair: &Pair) -> Result<(), TreeError> {
        let (old, new) = (Side::read(self.store, pair.old.as_ref())?, Side::read(self.store, pair.new.as_ref())?);
        let (mut old, mut new) = (old.items(), new.items());
        let (mut left, mut right) = (old.next().transpose()?, new.next().transpose()?);
        loop {
            let side = match (&left, &right) {
                (None, None) => return Ok(()),
                (Some(_), None) => Ordering::Less,
                (None, Some(_)) => Ordering::Greater,
                (Some(left), Some(right)) => order(left.place(), right.place()),
            };
            self.siblings(pair, left.filter(|_| side.is_le()), right.filter(|_| side.is_ge()))?;
            if side.is_le() {
                left = old.next().transpose()?;
            }
            if side.is_ge() {
                right = new.next().transpose()?;
            }
        }
    }

    /// Two entries of one place, or one that stands alone.
    fn siblings(&mut self, folder: &Pair, old: Option<Item<'_>>, new: Option<Item<'_>>) -> Result<(), TreeError> {
        let Some(any) = old.or(new) else { return Ok(()) };
        if old.map(|item| (item.mode, item.id)) == new.map(|item| (item.mode, item.id)) {
            return Ok(());
        }
        let mut path = [&folder.path, any.name].concat();
        if any.mode.is_none() {
            path.push(b'/');
            return self.folder(path, folder.depth + 1, old.map(|item| item.id), new.map(|item| item.id));
        }
        self.entry(path, old.and_then(entry_of), new.and_then(entry_of))
    }
}

/// The entry of an item that is no folder.
pub(super) fn entry_of(item: Item<'_>) -> Option<Entry> {
    item.mode.map(|mode| Entry { mode, oid: item.id.into() })
}

/// One tree's bytes, with its name for complaints.
pub(super) struct Side {
    id: Option<Id>,
    bytes: Rc<[u8]>,
    width: usize,
}

impl Side {
    /// Reads a tree; `None` is the empty one.
    pub(super) fn read(store: &Store, id: Option<&Id>) -> Result<Self, TreeError> {
        let bytes = id.map_or_else(|| Ok(Rc::from([])), |id| store.tree(id))?;
        Ok(Side { id: id.copied(), bytes, width: store.format.width() })
    }

    /// Its entries.
    pub(super) fn items(&self) -> impl Iterator<Item = Result<Item<'_>, TreeError>> {
        let name = move || self.id.map_or_else(String::new, |id| Oid::from(id).to_string());
        Items::new(&self.bytes, self.width).map(move |item| item.map_err(|fault| TreeError::Store(format!("tree {} has {fault}", name()))))
    }
}
