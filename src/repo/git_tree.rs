//! Owns a commit's tree as a tree of bytes.

use std::cell::RefCell;
use std::collections::HashMap;

use super::Repo;
use super::changes::{Budget, DEPTH, Side, entry_of};
use super::id::Id;
use super::store::Kind;
use crate::tree::{Entry, Oid, RepoPath, Tree, TreeError};

/// A commit's tree.
pub struct GitTree<'r> {
    repo: &'r Repo,
    root: Option<Id>,
    /// Folders by path, as far as they were asked for: reading one test file asks for the same few hundreds of times.
    folders: RefCell<HashMap<Vec<u8>, Option<Id>>>,
}

impl<'r> GitTree<'r> {
    pub(super) fn new(repo: &'r Repo, root: Option<Id>) -> Self {
        GitTree { repo, root, folders: RefCell::default() }
    }

    /// The tree's id; `None` is the empty tree.
    pub fn id(&self) -> Option<Oid> {
        self.root.map(Oid::from)
    }

    /// The folder at a path (no slash at its end; empty is the root).
    fn folder(&self, path: &[u8]) -> Result<Option<Id>, TreeError> {
        if let Some(known) = self.folders.borrow().get(path) {
            return Ok(*known);
        }
        let mut at = self.root;
        for part in path.split(|b| *b == b'/').filter(|_| !path.is_empty()) {
            let Some(above) = at else { break };
            at = Side::read(&self.repo.store, Some(&above))?.find(part, true)?.map(|item| item.id);
        }
        self.folders.borrow_mut().insert(path.to_vec(), at);
        Ok(at)
    }

    /// Paths of this tree that a file system blind to letter case cannot tell from `path`: `path` itself, when there, and its twins.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn entries_folded(&self, path: &RepoPath) -> Result<Vec<(RepoPath, Entry)>, TreeError> {
        let mut parts = path.as_bytes().split(|b| *b == b'/').map(folded).peekable();
        let mut folders: Vec<(Vec<u8>, Option<Id>)> = vec![(Vec::new(), self.root)];
        let (mut found, mut budget) = (Vec::new(), Budget::default());
        while let Some(part) = parts.next() {
            let mut deeper = Vec::new();
            for (above, id) in folders {
                let side = Side::read(&self.repo.store, id.as_ref())?;
                for item in side.items() {
                    let item = item?;
                    if folded(item.name) != part {
                        continue;
                    }
                    let path = [&above, item.name].concat();
                    budget.spend(&path)?;
                    match entry_of(item) {
                        None if parts.peek().is_some() => deeper.push(([&path[..], b"/"].concat(), Some(item.id))),
                        Some(entry) if parts.peek().is_none() => found.push((RepoPath::new(path), entry)),
                        _ => {}
                    }
                }
            }
            folders = deeper;
        }
        Ok(found)
    }
}

impl Tree for GitTree<'_> {
    fn entry(&self, path: &RepoPath) -> Result<Option<Entry>, TreeError> {
        let Some(folder) = self.folder(path.parent())? else { return Ok(None) };
        let side = Side::read(&self.repo.store, Some(&folder))?;
        Ok(side.find(path.name(), false)?.and_then(entry_of))
    }

    fn list(&self, under: &[u8]) -> Result<Vec<(RepoPath, Entry)>, TreeError> {
        let Some(id) = self.folder(under)? else { return Ok(Vec::new()) };
        let start = if under.is_empty() { Vec::new() } else { [under, b"/"].concat() };
        let (mut waiting, mut found, mut budget) = (vec![(start, id, 0)], Vec::new(), Budget::default());
        while let Some((above, id, depth)) = waiting.pop() {
            if depth > DEPTH {
                return Err(TreeError::Store(format!("folders are nested more than {DEPTH} deep")));
            }
            for item in Side::read(&self.repo.store, Some(&id))?.items() {
                let item = item?;
                let path = [&above, item.name].concat();
                budget.spend(&path)?;
                match entry_of(item) {
                    Some(entry) => found.push((RepoPath::new(path), entry)),
                    None => waiting.push(([&path[..], b"/"].concat(), item.id, depth + 1)),
                }
            }
        }
        found.sort_unstable_by(|one: &(RepoPath, Entry), two| one.0.cmp(&two.0));
        Ok(found)
    }

    fn blob(&self, oid: &Oid, cap: u64) -> Result<Vec<u8>, TreeError> {
        self.repo.store.read(&self.repo.store.id(oid)?, Kind::Blob, cap)
    }

    fn pour(&self, oid: &Oid, cap: u64, into: &mut dyn FnMut(&[u8])) -> Result<(), TreeError> {
        self.repo.store.pour(&self.repo.store.id(oid)?, Kind::Blob, cap, into)
    }
}

/// A name as a file system blind to letter case sees it: `ς`, `σ` and `Σ` are one, so are `ß` and `ss`. More twins than real ones do no harm.
fn folded(name: &[u8]) -> Vec<u8> {
    match std::str::from_utf8(name) {
        Ok(text) => text.chars().flat_map(char::to_uppercase).flat_map(char::to_lowercase).collect::<String>().into_bytes(),
        Err(_) => name.to_ascii_lowercase(),
    }
}
