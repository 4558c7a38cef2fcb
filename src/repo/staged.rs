//! Owns what an index differs in from a tree: by its cached root, else by its entries, else by asking git.

use std::cmp::Ordering;
use std::collections::HashMap;
use std::ops::Range;
use std::path::Path;

use super::RepoError;
use super::cached_tree::Node;
use super::changes::{Comparison, DEPTH, Side, between, entry_of};
use super::folder::{Item, fit_name, order};
use super::id::Id;
use super::index::{Entries, Index, Row};
use super::raw_diff::{Record, records};
use super::store::Store;
use crate::tree::{Change, Entry, Mode, Oid, RepoPath, TreeError};

/// What an index file differs in from a tree (`None` is the empty tree), in byte order of the paths.
pub(super) fn staged(store: &Store, file: &Path, base: Option<Id>) -> Result<Vec<Change>, RepoError> {
    let index = Index::read(file, store.format.width())?;
    if let Some(root) = committed_root(&index) {
        match between(store, base, Some(root)) {
            // The index of a partial commit may name trees that are not written yet, and git can make a malformed tree of a sparse
            // index: then the entries tell the paths.
            Err(TreeError::Missing { .. } | TreeError::Store(_)) => {}
            known => return Ok(known?),
        }
    }
    if index.entries == Entries::Whole { by_entries(store, file, &index, base) } else { by_git(store, base) }
}

/// The tree that a commit of this index would have, when git has already made it.
fn committed_root(index: &Index) -> Option<Id> {
    let whole = index.plain && index.entries != Entries::Partial;
    index.root.filter(|(entries, _)| whole && *entries == index.len()).map(|(_, id)| id)
}

/// Entry by entry; folders that the cache of trees proves equal are passed over.
fn by_entries(store: &Store, file: &Path, index: &Index, base: Option<Id>) -> Result<Vec<Change>, RepoError> {
    let corrupt = |says: &str| RepoError::Index { file: file.to_owned(), says: says.to_owned() };
    let mut names = Vec::new();
    let mut rows = index.rows(&mut names).map_err(corrupt)?;
    if let Some(row) = rows.iter().find(|row| row.conflict) {
        return Err(RepoError::Unmerged(RepoPath::new(row.path)));
    }
    rows.retain(|row| !row.announced);
    let cache = index.cache().map_err(corrupt)?;
    let mut walk = Walk { store, rows: &rows, cache: &cache, waiting: Vec::new(), found: Comparison::new(store) };
    let root = Section { path: Vec::new(), depth: 0, base, rows: 0..rows.len(), node: (!cache.is_empty()).then_some(0) };
    walk.waiting.push(root);
    while let Some(section) = walk.waiting.pop() {
        walk.section(&section).map_err(|stop| match stop {
            Stop::Tree(error) => error.into(),
            Stop::Corrupt(says) => corrupt(says),
        })?;
    }
    Ok(walk.found.finish()?)
}

/// A folder of the index beside the same folder of the tree.
struct Section {
    /// Ends in a slash; empty at the root.
    path: Vec<u8>,
    depth: usize,
    base: Option<Id>,
    rows: Range<usize>,
    node: Option<usize>,
}

struct Walk<'w> {
    store: &'w Store,
    rows: &'w [Row<'w>],
    cache: &'w [Node<'w>],
    waiting: Vec<Section>,
    found: Comparison<'w>,
}

enum Stop {
    Tree(TreeError),
    Corrupt(&'static str),
}

impl From<TreeError> for Stop {
    fn from(error: TreeError) -> Self {
        Stop::Tree(error)
    }
}

/// A direct child of a section: a run of rows under one name.
struct Group<'w> {
    name: &'w [u8],
    rows: Range<usize>,
    folder: bool,
}

impl<'w> Walk<'w> {
    fn section(&mut self, section: &Section) -> Result<(), Stop> {
        let proven = section.node.and_then(|place| self.cache.get(place)?.valid()).filter(|(entries, _)| *entries == section.rows.len());
        if proven.is_some_and(|(_, id)| section.base == Some(id)) {
            return Ok(());
        }
        if section.depth > DEPTH {
            return Err(Stop::Corrupt("its folders are nested too deep"));
        }
        let nodes = self.nodes(section);
        let side = Side::read(self.store, section.base.as_ref())?;
        let mut items = side.items();
        let (mut item, mut group) = (items.next().transpose()?, self.group(section, section.rows.start)?);
        loop {
            let place = match (&item, &group) {
                (None, None) => return Ok(()),
                (Some(_), None) => Ordering::Less,
                (None, Some(_)) => Ordering::Greater,
                (Some(item), Some(group)) => order(item.place(), (group.name, group.folder)),
            };
            self.siblings(section, &nodes, item.filter(|_| place.is_le()), group.as_ref().filter(|_| place.is_ge()))?;
            if place.is_le() {
                item = items.next().transpose()?;
            }
            if place.is_ge() {
                let next = group.map_or(section.rows.end, |group| group.rows.end);
                group = self.group(section, next)?;
            }
        }
    }

    /// The cache's folders right under a section, by name.
    fn nodes(&self, section: &Section) -> HashMap<&'w [u8], usize> {
        let mut nodes = HashMap::new();
        let Some((place, end)) = section.node.and_then(|place| Some((place, self.cache.get(place)?.end))) else { return nodes };
        let mut at = place + 1;
        while let Some(node) = self.cache.get(at).filter(|_| at < end) {
            nodes.insert(node.name, at);
            at = node.end;
        }
        nodes
    }

    /// The run of rows that starts at `at` and lies under one name.
    fn group(&self, section: &Section, at: usize) -> Result<Option<Group<'w>>, Stop> {
        let Some(row) = self.rows[..section.rows.end].get(at) else { return Ok(None) };
        let rest = &row.path[section.path.len()..];
        let slash = rest.iter().position(|b| *b == b'/');
        let name = &rest[..slash.unwrap_or(rest.len())];
        if name.contains(&0) {
            return Err(Stop::Corrupt("it has a path with a zero byte"));
        }
        fit_name(name).map_err(|_| Stop::Corrupt("it has a path that git would not check out"))?;
        let run = slash.map_or(1, |slash| {
            let folder = &row.path[..=section.path.len() + slash];
            self.rows[at..section.rows.end].partition_point(|row| row.path.starts_with(folder))
        });
        Ok(Some(Group { name, rows: at..at + run, folder: slash.is_some() }))
    }

    /// An item of the tree and a group of the index of one place, or one that stands alone.
    fn siblings(
        &mut self,
        section: &Section,
        nodes: &HashMap<&[u8], usize>,
        item: Option<Item<'_>>,
        group: Option<&Group<'_>>,
    ) -> Result<(), Stop> {
        let Some(name) = item.map(|item| item.name).or(group.map(|group| group.name)) else { return Ok(()) };
        let mut path = [&section.path, name].concat();
        if item.is_some_and(|item| item.mode.is_none()) || group.is_some_and(|group| group.folder) {
            path.push(b'/');
            let base = item.map(|item| item.id);
            match group {
                None => self.found.folder(path, section.depth + 1, base, None)?,
                Some(group) => {
                    let (rows, node) = (group.rows.clone(), nodes.get(name).copied());
                    self.waiting.push(Section { path, depth: section.depth + 1, base, rows, node });
                }
            }
            return Ok(());
        }
        let new = group.and_then(|group| self.rows.get(group.rows.start)).map(row_entry).transpose()?;
        Ok(self.found.entry(path, item.and_then(entry_of), new)?)
    }
}

fn row_entry(row: &Row<'_>) -> Result<Entry, Stop> {
    let mode = Mode::from_octal(row.mode).ok_or(Stop::Corrupt("an entry has a mode that git does not know"))?;
    let id = Id::from_bytes(row.id).ok_or(Stop::Corrupt("an entry is cut short"))?;
    Ok(Entry { mode, oid: id.into() })
}

/// Every symlink that an index holds, in byte order of the paths.
pub(super) fn symlinks(store: &Store, file: &Path) -> Result<Vec<(RepoPath, Entry)>, RepoError> {
    let index = Index::read(file, store.format.width())?;
    if index.entries != Entries::Whole {
        let link = |change: Change| Some((change.path, change.new.filter(|entry| entry.mode == Mode::Symlink)?));
        return Ok(by_git(store, None)?.into_iter().filter_map(link).collect());
    }
    let links = index.symlinks().map_err(|says| RepoError::Index { file: file.to_owned(), says: says.to_owned() })?;
    Ok(links.into_iter().map(|(path, id)| (path, Entry { mode: Mode::Symlink, oid: id.into() })).collect())
}

/// As git tells it, for an index that only git can read.
fn by_git(store: &Store, base: Option<Id>) -> Result<Vec<Change>, RepoError> {
    let base = base.map_or_else(|| store.format.empty_tree().to_owned(), |id| Oid::from(id).to_string());
    // A sparse index is spread out first, so that every path is told as a path.
    let asked = [
        "-c",
        "index.sparse=false",
        "diff-index",
        "--cached",
        "--raw",
        "-z",
        "--no-abbrev",
        "--no-renames",
        "--ita-invisible-in-index",
        "--ignore-submodules=none",
        "--no-relative",
        "--no-ext-diff",
        "--no-textconv",
        &base,
        "--",
    ];
    let text = store.git()?.run(&asked, None)?.success()?;
    let records = records(&text).ok_or_else(|| RepoError::Git("diff-index printed what cannot be read".into()))?;
    let mut changes = Vec::with_capacity(records.len());
    for record in records {
        match record {
            Record::Change(change) => changes.push(change),
            Record::Unmerged(path) => return Err(RepoError::Unmerged(path)),
        }
    }
    changes.sort_unstable_by(|one, two| one.path.cmp(&two.path));
    Ok(changes)
}
