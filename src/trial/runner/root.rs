//! Owns the input root: the files of a tree that a job gets, held in memory with their digests, without Seedgate's own records.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::digest;
use crate::settings::glob::Glob;
use crate::tree::{Entry, Mode, Oid, RepoPath, Tree, TreeError, is_under};
use crate::trial::runner::merkle::{Digest, Folder, Node};
use crate::trial::{TrialError, interrupt};

/// Most bytes of an input root.
const CAP: u64 = 512 << 20;
/// Most files.
const FILES: usize = 200_000;
/// Longest text of a link.
const LINK_CAP: u64 = 4096;
/// Links that are followed on the way to one file.
const HOPS: usize = 40;

/// The files of a tree.
pub struct Root {
    whole: Arc<Whole>,
    /// Files that stand there otherwise than in the tree.
    planted: BTreeMap<RepoPath, Entry>,
    made: BTreeMap<Oid, (Digest, Arc<[u8]>)>,
}

/// What many roots of one tree share.
#[derive(Default)]
struct Whole {
    files: BTreeMap<RepoPath, Entry>,
    blobs: BTreeMap<Oid, (Digest, Arc<[u8]>)>,
    /// Paths that must not leave the machine.
    secrets: Vec<RepoPath>,
}

impl Root {
    /// Reads a tree. Seedgate's records, compiled Python, submodules and links that lead out are left out.
    ///
    /// # Errors
    /// When it cannot be read, is too large, or has a name that is none.
    pub fn of(tree: &dyn Tree, secrets: &[Glob]) -> Result<Self, TrialError> {
        let mut root = Whole::default();
        let mut left = CAP;
        for (path, entry) in tree.list(b"")? {
            // What is left out would be as secret to whoever has the rest.
            root.secrets.extend(secrets.iter().any(|glob| glob.matches(path.as_bytes())).then(|| path.clone()));
            if entry.mode == Mode::Gitlink || is_left_out(&path) {
                continue;
            }
            check_name(&path)?;
            if root.files.len() >= FILES {
                return Err(unfit(&path, format!("the tree has more than the {FILES} files that a job may have")));
            }
            interrupt::check()?;
            if !root.blobs.contains_key(&entry.oid) {
                let cap = if entry.mode == Mode::Symlink { LINK_CAP } else { left };
                let too_large = |error: TreeError| match error {
                    TreeError::TooLarge { .. } => unfit(&path, format!("the tree has more than the {CAP} bytes that a job may have")),
                    other => other.of(&path).into(),
                };
                let bytes = tree.blob(&entry.oid, cap).map_err(too_large)?;
                left = left.saturating_sub(bytes.len() as u64);
                root.blobs.insert(entry.oid.clone(), (Digest::of(&bytes), bytes.into()));
            }
            root.files.insert(path, entry);
        }
        root.drop_escapes();
        Ok(Root { whole: Arc::new(root), planted: BTreeMap::new(), made: BTreeMap::new() })
    }

    /// The same files, some of which hold other bytes; `None` when one of them is no file of it.
    pub fn planted(&self, files: &[(String, Vec<u8>)]) -> Option<Self> {
        let (mut planted, mut made) = (BTreeMap::new(), BTreeMap::new());
        for (path, bytes) in files {
            let path = RepoPath::new(path.as_str());
            let mode = self.whole.files.get(&path).map(|entry| entry.mode).filter(|mode| matches!(mode, Mode::File | Mode::Executable))?;
            let oid = Oid::from(digest::sha256(bytes));
            made.insert(oid.clone(), (Digest::of(bytes), bytes.as_slice().into()));
            planted.insert(path, Entry { mode, oid });
        }
        Some(Root { whole: Arc::clone(&self.whole), planted, made })
    }

    fn entries(&self) -> impl Iterator<Item = (&RepoPath, &Entry)> {
        self.whole.files.iter().map(|(path, entry)| (path, self.planted.get(path).unwrap_or(entry)))
    }

    fn held(&self, oid: &Oid) -> Option<&(Digest, Arc<[u8]>)> {
        self.made.get(oid).or_else(|| self.whole.blobs.get(oid))
    }

    fn bytes(&self, oid: &Oid) -> &[u8] {
        self.held(oid).map_or(&[], |(_, bytes)| bytes)
    }

    /// Paths of the tree that must not leave the machine.
    pub fn secrets(&self) -> &[RepoPath] {
        &self.whole.secrets
    }

    /// The files, with their bytes.
    pub fn files(&self) -> impl Iterator<Item = (&RepoPath, Mode, &[u8])> {
        self.entries().map(|(path, entry)| (path, entry.mode, self.bytes(&entry.oid)))
    }

    /// The folder of digests.
    ///
    /// # Errors
    /// Names a path that is not UTF-8, which such a folder cannot hold.
    pub fn folder(&self) -> Result<Folder, RepoPath> {
        let mut folder = Folder::default();
        for (path, entry) in self.entries() {
            let text = path.as_str().ok_or_else(|| path.clone())?;
            let node = match entry.mode {
                Mode::Symlink => Node::Link(String::from_utf8(self.bytes(&entry.oid).to_vec()).map_err(|_| path.clone())?),
                mode => Node::File { digest: self.digest(&entry.oid), is_executable: mode == Mode::Executable },
            };
            folder.put(&text.split('/').collect::<Vec<_>>(), node);
        }
        Ok(folder)
    }

    fn digest(&self, oid: &Oid) -> Digest {
        self.held(oid).map_or_else(|| Digest::of(b""), |(digest, _)| digest.clone())
    }

    /// The bytes of every file, by digest.
    pub fn contents(&self) -> impl Iterator<Item = (&Digest, &Arc<[u8]>)> {
        self.whole.blobs.values().chain(self.made.values()).map(|(digest, bytes)| (digest, bytes))
    }
}

impl Whole {
    /// Links that lead out, nowhere or round are no part of it.
    fn drop_escapes(&mut self) {
        let folders: BTreeSet<&[u8]> = self.files.keys().flat_map(|path| folders_of(path.as_bytes())).collect();
        let bad: Vec<RepoPath> = self
            .files
            .iter()
            .filter(|(path, entry)| entry.mode == Mode::Symlink && !self.leads_inside(path, &folders))
            .map(|(path, _)| path.clone())
            .collect();
        bad.iter().for_each(|path| drop(self.files.remove(path)));
    }

    fn leads_inside(&self, path: &RepoPath, folders: &BTreeSet<&[u8]>) -> bool {
        let parts =
            |bytes: &[u8]| bytes.split(|b| *b == b'/').filter(|part| !part.is_empty()).rev().map(<[u8]>::to_vec).collect::<Vec<_>>();
        let (mut todo, mut done, mut hops) = (parts(path.as_bytes()), Vec::<Vec<u8>>::new(), 0);
        while let Some(part) = todo.pop() {
            match part.as_slice() {
                b".." if done.pop().is_none() => return false,
                b"." | b".." => continue,
                _ => done.push(part),
            }
            let Some(entry) = self.files.get(&RepoPath::new(done.join(&b'/'))) else { continue };
            if entry.mode != Mode::Symlink {
                // A file on the way to something is a way to nothing.
                return todo.is_empty();
            }
            hops += 1;
            let target = self.bytes(&entry.oid);
            if hops > HOPS || target.first() == Some(&b'/') {
                return false;
            }
            done.pop();
            todo.extend(parts(target));
        }
        done.is_empty() || folders.contains(done.join(&b'/').as_slice())
    }

    fn bytes(&self, oid: &Oid) -> &[u8] {
        self.blobs.get(oid).map_or(&[], |(_, bytes)| bytes)
    }
}

impl Tree for Root {
    fn entry(&self, path: &RepoPath) -> Result<Option<Entry>, TreeError> {
        Ok(self.planted.get(path).or_else(|| self.whole.files.get(path)).cloned())
    }

    fn list(&self, under: &[u8]) -> Result<Vec<(RepoPath, Entry)>, TreeError> {
        Ok(self.entries().filter(|(path, _)| is_under(path, under)).map(|(path, entry)| (path.clone(), entry.clone())).collect())
    }

    fn blob(&self, oid: &Oid, cap: u64) -> Result<Vec<u8>, TreeError> {
        let (digest, bytes) = self.held(oid).ok_or_else(|| TreeError::Missing { oid: oid.clone(), path: None })?;
        if digest.size > cap {
            Err(TreeError::TooLarge { oid: oid.clone(), size: digest.size, cap, path: None })
        } else {
            Ok(bytes.to_vec())
        }
    }
}

/// Records of the gate are nothing that is tested, and compiled Python would be believed over the source beside it.
fn is_left_out(path: &RepoPath) -> bool {
    let mut parts = path.as_bytes().split(|b| *b == b'/');
    let first = parts.clone().next().unwrap_or_default();
    first.eq_ignore_ascii_case(b".seedgate") || parts.any(|part| part == b"__pycache__")
}

fn check_name(path: &RepoPath) -> Result<(), TrialError> {
    let odd = |part: &[u8]| matches!(part, b"" | b"." | b"..") || part.eq_ignore_ascii_case(b".git") || part.contains(&0);
    let is_odd = path.as_bytes().split(|b| *b == b'/').any(odd);
    if is_odd { Err(unfit(path, "a part of this path is no name for a file".into())) } else { Ok(()) }
}

fn folders_of(path: &[u8]) -> impl Iterator<Item = &[u8]> {
    path.iter().enumerate().filter(|(_, b)| **b == b'/').map(|(at, _)| &path[..at])
}

fn unfit(path: &RepoPath, says: String) -> TrialError {
    TrialError::Unfit { path: path.clone(), says }
}

#[cfg(test)]
mod tests {
    use super::Root;
    use crate::settings::Settings;
    use crate::settings::glob::Glob;
    use crate::tree::{MemTree, Mode};

    fn root(tree: &MemTree) -> Root {
        let secrets: Vec<Glob> = Settings::default().runner.secrets.iter().map(|glob| Glob::new(glob).unwrap()).collect();
        Root::of(tree, &secrets).unwrap()
    }

    #[test]
    fn records_compiled_files_submodules_and_links_that_lead_out_are_left_out() {
        let mut tree = MemTree::default();
        for path in ["src/a.py", "src/__pycache__/a.pyc", ".seedgate/ledger.json", "x/y/z"] {
            tree.put(path, "1");
        }
        for (path, target) in [
            ("in", "src/a.py"),
            ("folder", "x/y"),
            ("over", "folder/z"),
            ("top", "x/.."),
            ("out", "../b"),
            ("abs", "/etc"),
            ("round", "round"),
            ("gone", "src/b.py"),
            ("through", "folder/../../../b"),
            ("records", ".seedgate/ledger.json"),
            ("below", "src/a.py/x"),
        ] {
            tree.put_as(path, target, Mode::Symlink);
        }
        tree.put_as("module", "x", Mode::Gitlink);
        let paths: Vec<String> = root(&tree).files().map(|(path, ..)| path.to_string()).collect();
        assert_eq!(paths, ["folder", "in", "over", "src/a.py", "top", "x/y/z"]);
    }

    #[test]
    fn secrets_are_named_and_names_that_are_none_refused() {
        let mut tree = MemTree::default();
        for path in ["a.py", "deploy/.env", "keys/id_rsa", "tests/server.pem", "secrets/x", "docs/keyboard.md"] {
            tree.put(path, "1");
        }
        let secrets: Vec<String> = root(&tree).secrets().iter().map(ToString::to_string).collect();
        assert_eq!(secrets, ["deploy/.env", "keys/id_rsa", "secrets/x", "tests/server.pem"]);
        tree.put("a/../b", "1");
        assert!(Root::of(&tree, &[]).is_err());
    }
}
