//! Owns finding every symlink of a tree, paying only for folders not seen before.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use super::changes::{Budget, DEPTH, Side};
use super::id::Id;
use super::store::Store;
use crate::tree::{Entry, Mode, RepoPath, TreeError};

/// Folders remembered before the memory is emptied.
const REMEMBERED: usize = 1_000_000;

/// A symlink's path under some folder, and its blob.
type Link = (Vec<u8>, Id);

/// The symlinks under each folder seen so far. A tree's id fixes its content, so nothing here goes stale.
#[derive(Default)]
pub(super) struct Links {
    known: RefCell<HashMap<Id, Rc<[Link]>>>,
}

/// A folder whose subfolders are being looked through.
struct Open {
    name: Vec<u8>,
    id: Id,
    folders: Vec<Link>,
    links: Vec<Link>,
}

impl Links {
    /// Every symlink under a tree, in byte order of the paths.
    pub(super) fn under(&self, store: &Store, root: Option<Id>) -> Result<Vec<(RepoPath, Entry)>, TreeError> {
        let Some(root) = root else { return Ok(Vec::new()) };
        let links = self.gather(store, root)?;
        let entry = |id: Id| Entry { mode: Mode::Symlink, oid: id.into() };
        let mut all: Vec<_> = links.iter().map(|(path, id)| (RepoPath::new(path.clone()), entry(*id))).collect();
        all.sort_unstable_by(|one, two| one.0.cmp(&two.0));
        Ok(all)
    }

    fn gather(&self, store: &Store, root: Id) -> Result<Rc<[Link]>, TreeError> {
        let mut budget = Budget::default();
        let mut above: Vec<Open> = Vec::new();
        let mut next = Some((Vec::new(), root));
        loop {
            let done = match next.take() {
                Some((name, id)) => match self.recall(&id) {
                    Some(links) => (name, links),
                    None if above.len() > DEPTH => return Err(TreeError::Store(format!("folders are nested more than {DEPTH} deep"))),
                    None => {
                        above.push(open(store, name, id)?);
                        next = above.last_mut().and_then(|folder| folder.folders.pop());
                        if next.is_some() {
                            continue;
                        }
                        self.close(&mut above)
                    }
                },
                None => self.close(&mut above),
            };
            let Some(parent) = above.last_mut() else { return Ok(done.1) };
            for (path, id) in done.1.iter() {
                let path = [&done.0, &b"/"[..], path].concat();
                budget.spend(&path)?;
                parent.links.push((path, *id));
            }
            next = parent.folders.pop();
        }
    }

    fn recall(&self, id: &Id) -> Option<Rc<[Link]>> {
        self.known.borrow().get(id).map(Rc::clone)
    }

    /// Takes the innermost folder, all of whose subfolders are done.
    fn close(&self, above: &mut Vec<Open>) -> (Vec<u8>, Rc<[Link]>) {
        let Some(folder) = above.pop() else { return (Vec::new(), Rc::from([])) };
        let links: Rc<[Link]> = folder.links.into();
        let mut known = self.known.borrow_mut();
        if known.len() >= REMEMBERED {
            known.clear();
        }
        known.insert(folder.id, Rc::clone(&links));
        (folder.name, links)
    }
}

fn open(store: &Store, name: Vec<u8>, id: Id) -> Result<Open, TreeError> {
    let mut folder = Open { name, id, folders: Vec::new(), links: Vec::new() };
    for item in Side::read(store, Some(&id))?.items() {
        let item = item?;
        match item.mode {
            None => folder.folders.push((item.name.to_vec(), item.id)),
            Some(Mode::Symlink) => folder.links.push((item.name.to_vec(), item.id)),
            Some(_) => {}
        }
    }
    Ok(folder)
}
