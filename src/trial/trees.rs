//! Owns the trees that code is run in: composed from git objects, kept in the cache by what they hold, checked before each use.

mod seal;
mod write;

use std::collections::HashMap;
use std::fs::{self, File, TryLockError};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use crate::digest;
use crate::gate::folder;
use crate::gate::inside::{self, Half, Look};
use crate::partition::{Side, Sides};
use crate::repo::{GitTree, Repo};
use crate::settings::Settings;
use crate::tree::{Change, Entry, Mode, Oid, Overlay, RepoPath, Tree, TreeError};
use crate::trial::{TrialError, system};

/// Trees kept in the cache.
const KEPT: usize = 12;

/// A folder of a writer that is older than this was left by one that was killed.
const ABANDONED: Duration = Duration::from_hours(1);

/// Which part of a candidate is laid over its base.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// Its production side: the base's own tests judge it.
    ProductionOnly,
    /// All of it.
    Full,
}

impl Part {
    /// The word for it in records and options.
    pub fn name(self) -> &'static str {
        match self {
            Part::ProductionOnly => "production-only",
            Part::Full => "full",
        }
    }
}

/// A tree that need not exist as a git object: a commit's, with changes on top.
pub struct Source<'r> {
    base: Objects<'r>,
    changes: Vec<Change>,
}

/// A commit's tree, with files that were made and are in no object store.
pub struct Objects<'r> {
    git: GitTree<'r>,
    made: HashMap<Oid, Vec<u8>>,
}

impl Tree for Objects<'_> {
    fn entry(&self, path: &RepoPath) -> Result<Option<Entry>, TreeError> {
        self.git.entry(path)
    }

    fn list(&self, under: &[u8]) -> Result<Vec<(RepoPath, Entry)>, TreeError> {
        self.git.list(under)
    }

    fn blob(&self, oid: &Oid, cap: u64) -> Result<Vec<u8>, TreeError> {
        self.made.get(oid).map_or_else(|| self.git.blob(oid, cap), |made| Ok(made.clone()))
    }

    fn pour(&self, oid: &Oid, cap: u64, into: &mut dyn FnMut(&[u8])) -> Result<(), TreeError> {
        let Some(made) = self.made.get(oid) else { return self.git.pour(oid, cap, into) };
        into(made);
        Ok(())
    }
}

impl<'r> Source<'r> {
    /// A commit's own tree.
    ///
    /// # Errors
    /// When the commit cannot be read.
    pub fn commit(repo: &'r Repo, commit: &Oid) -> Result<Self, TrialError> {
        Ok(Source { base: Objects { git: repo.tree(Some(commit))?, made: HashMap::new() }, changes: Vec::new() })
    }

    /// A candidate on its base, sides by the base's policy. Of a file that is on both sides only the production part is the
    /// candidate's.
    ///
    /// # Errors
    /// When a commit or the policy cannot be read, or such a file cannot be taken apart.
    pub fn candidate(repo: &'r Repo, base: &Oid, patch: &Oid, part: Part) -> Result<Self, TrialError> {
        if part == Part::Full {
            return Source::commit(repo, patch);
        }
        let mut source = Source::commit(repo, base)?;
        let sides = Sides::new(&policy(&source.base)?);
        let changes = repo.changes(Some(base), Some(patch))?;
        let overlay = Overlay::new(&source.base.git, &changes);
        let partition = Look { bases: &[&source.base.git], patch: &overlay, sides: &sides }.partition(&changes)?;
        for change in changes.iter().filter(|change| sides.side(&change.path) == Side::Production) {
            let has = |side: Side| partition.has(side, &change.path);
            match (has(Side::Production), has(Side::Test)) {
                (true, true) => {
                    let entry = source.production_of(change)?;
                    source.changes.push(Change { new: Some(entry), ..change.clone() });
                }
                (false, true) => {}
                // Only its formatting changed, or all that changed is production.
                _ => source.changes.push(change.clone()),
            }
        }
        Ok(source)
    }

    fn production_of(&mut self, change: &Change) -> Result<Entry, TrialError> {
        let made = inside::half(&self.base.git, change, Half::Production)?
            .map_err(|why| TrialError::Unfit { path: change.path.clone(), says: why.to_string() })?;
        let mode = change.new.as_ref().or(change.old.as_ref()).map_or(Mode::File, |entry| entry.mode);
        let oid = Oid::from(digest::sha256(&made));
        self.base.made.insert(oid.clone(), made);
        Ok(Entry { mode, oid })
    }

    /// The tree.
    pub fn tree(&self) -> Overlay<'_, Objects<'r>> {
        Overlay::new(&self.base, &self.changes)
    }
}

/// The policy of a tree; the defaults when it has none.
///
/// # Errors
/// When it cannot be read or is none.
pub fn policy(tree: &dyn Tree) -> Result<Settings, TrialError> {
    match tree.entry(&RepoPath::new(Settings::PATH))? {
        Some(Entry { mode: Mode::File | Mode::Executable, oid }) => {
            let bytes = tree.blob(&oid, Settings::MOST_BYTES + 1)?;
            Ok(Settings::read(&bytes).map_err(crate::gate::GateError::from)?)
        }
        Some(_) => Err(crate::gate::GateError::from(Settings::no_file("a link or a submodule")).into()),
        None => Ok(Settings::default()),
    }
}

/// A tree on disk, for as long as this value lives. Nobody removes it until then.
pub struct Lease {
    path: PathBuf,
    _lock: Option<File>,
    _own: Option<tempfile::TempDir>,
}

impl Lease {
    /// Its root, without links on the way.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Says that it is still in use: what looks abandoned is swept.
    pub fn touch(&self) {
        let _ = File::open(&self.path).and_then(|folder| folder.set_modified(SystemTime::now()));
    }
}

/// The folder of kept trees.
pub struct Trees {
    folder: PathBuf,
    _own: Option<tempfile::TempDir>,
}

impl Trees {
    /// The user's cache, or a folder that goes away with this value where there is none.
    ///
    /// # Errors
    /// When the folder is not private or cannot be made.
    pub fn of_user() -> Result<Self, TrialError> {
        if let Some(cache) = folder::cache() {
            let made = cache.join("trees");
            folder::make(&made)?;
            let path = made.canonicalize().map_err(TrialError::disk(&made))?;
            return Ok(Trees { folder: path, _own: None });
        }
        let own = tempfile::tempdir().map_err(TrialError::disk("a temporary folder"))?;
        let path = own.path().canonicalize().map_err(TrialError::disk(own.path()))?;
        Ok(Trees { folder: path, _own: Some(own) })
    }

    /// Puts a tree on disk, or takes the one that is there and still as it was written.
    ///
    /// # Errors
    /// When it cannot be read or written.
    pub fn lease(&self, tree: &dyn Tree) -> Result<Lease, TrialError> {
        let entries = tree.list(b"")?;
        let id = id_of(&entries);
        let kept = self.folder.join(&id);
        let lock = self.lock(&id)?;
        lock.lock_shared().map_err(TrialError::disk(&kept))?;
        if self.is_whole(&id) {
            return Ok(self.used(&id, lock));
        }
        lock.unlock().map_err(TrialError::disk(&kept))?;
        if try_lock(&lock)? {
            if !self.is_whole(&id) {
                self.build(tree, &entries, &id)?;
            }
            lock.unlock().and_then(|()| lock.lock_shared()).map_err(TrialError::disk(&kept))?;
            if self.is_whole(&id) {
                self.evict(&id);
                return Ok(self.used(&id, lock));
            }
        }
        // Somebody else uses it, altered as it is, or keeps altering it.
        let own = tempfile::Builder::new().prefix(".own-").tempdir_in(&self.folder).map_err(TrialError::disk(&self.folder))?;
        write::out(tree, &entries, own.path())?;
        Ok(Lease { path: own.path().to_path_buf(), _lock: None, _own: Some(own) })
    }

    /// Puts a tree on disk for one who will alter it: nobody else gets this one, and it goes with the value.
    ///
    /// # Errors
    /// When it cannot be read or written.
    pub fn copy(&self, tree: &dyn Tree) -> Result<Lease, TrialError> {
        self.sweep();
        let own = tempfile::Builder::new().prefix(".own-").tempdir_in(&self.folder).map_err(TrialError::disk(&self.folder))?;
        write::out(tree, &tree.list(b"")?, own.path())?;
        Ok(Lease { path: own.path().to_path_buf(), _lock: None, _own: Some(own) })
    }

    /// Removes what killed writers left.
    fn sweep(&self) {
        for path in fs::read_dir(&self.folder).into_iter().flatten().flatten().map(|entry| entry.path()) {
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            let age = path.symlink_metadata().and_then(|found| found.modified()).ok().and_then(|age| age.elapsed().ok());
            if [".new-", ".old-", ".own-"].iter().any(|head| name.starts_with(head)) && age.is_some_and(|age| age > ABANDONED) {
                let _ = fs::remove_dir_all(&path);
            }
        }
    }

    /// A kept tree in use; its seal's time says when it was last.
    fn used(&self, id: &str, lock: File) -> Lease {
        let seal = File::options().append(true).open(self.seal(id));
        let _ = seal.and_then(|seal| seal.set_modified(SystemTime::now()));
        Lease { path: self.folder.join(id), _lock: Some(lock), _own: None }
    }

    /// One of 256 locks: a tree's own could not be removed without a race. Two trees on one lock only means a tree that is not kept.
    fn lock(&self, id: &str) -> Result<File, TrialError> {
        let path = self.folder.join(format!("{}.lock", &id[..2]));
        File::options().create(true).truncate(false).write(true).open(&path).map_err(TrialError::disk(path))
    }

    fn seal(&self, id: &str) -> PathBuf {
        self.folder.join(format!("{id}.seal"))
    }

    /// Whether the tree is there and nobody has written to it since.
    fn is_whole(&self, id: &str) -> bool {
        let sealed = fs::read_to_string(self.seal(id)).ok();
        sealed.is_some() && sealed == seal::of(&self.folder.join(id)).ok()
    }

    fn build(&self, tree: &dyn Tree, entries: &[(RepoPath, Entry)], id: &str) -> Result<(), TrialError> {
        let (kept, seal) = (self.folder.join(id), self.seal(id));
        let _ = fs::remove_file(&seal);
        if kept.symlink_metadata().is_ok() {
            self.remove(&kept)?;
        }
        let own = tempfile::Builder::new().prefix(".new-").tempdir_in(&self.folder).map_err(TrialError::disk(&self.folder))?;
        write::out(tree, entries, own.path())?;
        fs::rename(own.path(), &kept).map_err(TrialError::disk(&kept))?;
        let _ = own.keep();
        let text = seal::of(&kept).map_err(TrialError::disk(&kept))?;
        Ok(crate::strength::record::replace(&seal, text.as_bytes())?)
    }

    /// Out of the way first: what code did to the folder may keep it from being removed.
    fn remove(&self, path: &Path) -> Result<(), TrialError> {
        let aside = tempfile::Builder::new().prefix(".old-").tempdir_in(&self.folder).map_err(TrialError::disk(&self.folder))?;
        fs::rename(path, aside.path().join("tree")).map_err(TrialError::disk(path))?;
        drop(aside);
        Ok(())
    }

    /// Removes the trees that were used least lately, and what killed writers left. What is in use stays.
    fn evict(&self, own: &str) {
        self.sweep();
        let entries: Vec<PathBuf> = fs::read_dir(&self.folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
        let age = |path: &Path| path.symlink_metadata().and_then(|found| found.modified()).ok();
        let mut seals: Vec<(SystemTime, String)> = Vec::new();
        for path in &entries {
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            if let (Some(id), Some(used)) = (name.strip_suffix(".seal"), age(path)) {
                seals.push((used, id.to_owned()));
            }
        }
        seals.sort();
        let many = seals.len().saturating_sub(KEPT);
        for (_, id) in seals.into_iter().take(many).filter(|(_, id)| id != own) {
            let Ok(lock) = self.lock(&id) else { continue };
            if try_lock(&lock).unwrap_or(false) {
                let _ = fs::remove_file(self.seal(&id));
                let _ = self.remove(&self.folder.join(&id));
            }
        }
    }
}

fn try_lock(lock: &File) -> Result<bool, TrialError> {
    match lock.try_lock() {
        Ok(()) => Ok(true),
        Err(TryLockError::WouldBlock) => Ok(false),
        Err(TryLockError::Error(error)) => Err(TrialError::Disk { path: "the lock of a tree".into(), error }),
    }
}

/// Whether a tree has what a change leads to.
pub fn is_taken(change: &Change, entries: &[(RepoPath, Entry)]) -> bool {
    let found = entries.iter().find(|(path, _)| *path == change.path).map(|(_, entry)| entry);
    found == change.new.as_ref()
}

/// Writes a tree into a folder that is not there yet or is empty, outside every `.git`. It is there whole or not at all.
///
/// # Errors
/// [`TrialError::Taken`], or when it cannot be read or written.
pub fn write_into(repo: &Repo, tree: &dyn Tree, folder: &Path) -> Result<(), TrialError> {
    let taken = |says: &str| TrialError::Taken { path: folder.to_path_buf(), says: says.to_owned() };
    match folder.symlink_metadata() {
        Ok(found) if !found.is_dir() => return Err(taken("it is no folder")),
        Ok(_) if fs::read_dir(folder).map_err(TrialError::disk(folder))?.next().is_some() => return Err(taken("it is not empty")),
        _ => {}
    }
    let (Some(name), whole) = (folder.file_name(), std::path::absolute(folder).map_err(TrialError::disk(folder))?) else {
        return Err(taken("it has no name"));
    };
    let parent = whole.parent().unwrap_or(&whole).canonicalize().map_err(TrialError::disk(folder))?;
    let place = parent.join(name);
    let is_git = place.components().any(|part| part.as_os_str().eq_ignore_ascii_case(".git"));
    let real = [repo.git_dir(), repo.common_dir()].map(|folder| folder.canonicalize().unwrap_or_else(|_| folder.to_path_buf()));
    if is_git || real.iter().any(|git| place.starts_with(git)) {
        return Err(taken("it lies inside a .git"));
    }
    let own = tempfile::Builder::new().prefix(".seedgate-").tempdir_in(&parent).map_err(TrialError::disk(&parent))?;
    write::out(tree, &tree.list(b"")?, own.path())?;
    system::open_to_all(own.path()).map_err(TrialError::disk(&place))?;
    fs::rename(own.path(), &place).map_err(TrialError::disk(&place))?;
    let _ = own.keep();
    Ok(())
}

/// What a tree holds, as one name: equal trees share a folder, wherever they come from.
pub fn id_of(entries: &[(RepoPath, Entry)]) -> String {
    let lines = entries.iter().flat_map(|(path, entry)| {
        [entry.mode.octal().as_bytes(), b" ", entry.oid.as_str().as_bytes(), b"\t", path.as_bytes(), b"\0"].concat()
    });
    digest::sha256_hex(&lines.collect::<Vec<u8>>())
}

#[cfg(test)]
mod tests;
