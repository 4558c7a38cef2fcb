//! Owns one repository that is kept warm: what its next verdicts will ask, and where changes of that would show.

use std::collections::{BTreeSet, HashSet};
use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::daemon::staged;
use crate::daemon::system::{self, Identity};
use crate::daemon::warm::Reader;
use crate::daemon::wire::{AnyPath, Known, Warmth};
use crate::gate::GateError;
use crate::gate::ahead::Ahead;
use crate::gate::facts::Key;
use crate::gate::folder;
use crate::repo::{Environment, Repo};
use crate::tree::{Entry, Mode, Oid, RepoPath, Tree as _, TreeError};

/// Most facts that are kept ready for one repository.
const MOST: usize = 50_000;
/// The same where there is no memo, so that they fit into memory.
const MOST_IN_MEMORY: usize = 1_000;
/// Most bytes of a git configuration that are looked through.
const CONFIG: u64 = 1 << 20;
/// Files of a git directory that say where HEAD, branches and the index are.
const SIGNS: [&str; 4] = ["HEAD", "index", "packed-refs", "FETCH_HEAD"];

/// A repository.
pub(in crate::daemon) struct Ward {
    pub(in crate::daemon) known: Known,
    top: Option<PathBuf>,
    git_dir: PathBuf,
    common_dir: PathBuf,
    identity: Option<Identity>,
    stamp: Option<Stamp>,
    folders: BTreeSet<PathBuf>,
    warmth: Warmth,
    given_up: bool,
}

/// What a pass was made for: as long as it is the same, there is nothing new to read ahead.
#[derive(PartialEq)]
struct Stamp {
    head: Option<Oid>,
    upstream: Option<Oid>,
    index: Option<(Identity, u64, SystemTime)>,
    whole: bool,
}

impl Ward {
    /// A repository that is there and belongs to this user.
    pub(super) fn new(known: Known) -> Option<Self> {
        let top = known.top.as_ref().map(AnyPath::to_path).map_or(Some(None), |top| top.map(Some))?;
        let (git_dir, common_dir) = (known.git_dir.to_path()?, known.common_dir.to_path()?);
        let all = [Some(&git_dir), Some(&common_dir), top.as_ref()];
        let fit = all.into_iter().flatten().all(|path| path.is_absolute() && system::euid_owns(path));
        let identity = system::identity(&git_dir);
        let warmth = Warmth { place: folder::shown(top.as_deref().unwrap_or(&git_dir)), ..Warmth::default() };
        fit.then_some(Ward { known, top, git_dir, common_dir, identity, stamp: None, folders: BTreeSet::new(), warmth, given_up: false })
    }

    /// Its place, escaped.
    pub(super) fn name(&self) -> &str {
        &self.warmth.place
    }

    /// How warm it is.
    pub(super) fn warmth(&self) -> Warmth {
        self.warmth.clone()
    }

    /// The folders in which changes would show.
    pub(super) fn folders(&self) -> impl Iterator<Item = &PathBuf> {
        self.folders.iter()
    }

    /// Whether it is still the repository that was learned.
    pub(super) fn is_there(&self) -> bool {
        self.identity.is_some() && system::identity(&self.git_dir) == self.identity
    }

    /// Whether a path of git's own was touched that says that HEAD, a branch or the index may have moved.
    pub(super) fn is_touched(&self, touched: &HashSet<PathBuf>) -> bool {
        let named = |path: &Path| path.file_name().is_some_and(|name| SIGNS.iter().any(|sign| name == *sign));
        let refs = self.common_dir.join("refs");
        touched.iter().any(|path| {
            path.starts_with(&refs)
                || (named(path) && [&self.git_dir, &self.common_dir].iter().any(|dir| path.parent() == Some(dir.as_path())))
        })
    }

    /// Opens it as git would, told exactly where it is.
    pub(in crate::daemon) fn open(&self) -> Result<Repo, GateError> {
        let cwd = self.top.as_ref().unwrap_or(&self.git_dir);
        let mut environment = Environment::at(cwd);
        environment.git.push(("GIT_DIR".into(), self.git_dir.clone().into()));
        if let Some(top) = &self.top {
            environment.git.push(("GIT_WORK_TREE".into(), top.clone().into()));
        }
        Ok(Repo::open(&environment)?)
    }

    /// Makes ready what the verdicts on HEAD, the merge base and the index will ask.
    pub(super) fn warm(&mut self, reader: &mut Reader) {
        if self.stays_cold(system::is_remote) {
            return;
        }
        self.warmth.cold = self.pass(reader).err().map(|error| error.to_string());
        if self.warmth.cold.is_some() {
            self.stamp = None;
        }
    }

    /// Something in it made its reader panic: it is not read ahead again.
    pub(super) fn give_up(&mut self) {
        self.given_up = true;
        self.stays_cold(|_| false);
    }

    /// Whether nothing is read ahead here. Then nothing is watched either.
    fn stays_cold(&mut self, is_remote: fn(&Path) -> bool) -> bool {
        let why_not = self.why_not(is_remote);
        if why_not.is_some() {
            self.warmth.cold = why_not.map(str::to_owned);
            self.folders = BTreeSet::new();
        }
        why_not.is_some()
    }

    fn why_not(&self, is_remote: fn(&Path) -> bool) -> Option<&'static str> {
        if self.given_up {
            return Some("reading it ahead made the daemon panic");
        }
        if is_remote(&self.common_dir) {
            return Some("it lies on a network file system");
        }
        // Reading a missing object would make git fetch it.
        promises(&self.common_dir.join("config")).then_some("it is a partial clone")
    }

    fn pass(&mut self, reader: &mut Reader) -> Result<(), GateError> {
        let repo = self.open()?;
        let head = repo.head()?;
        let ahead = Ahead::of(&repo, head.as_ref())?;
        let upstream = repo.resolve(ahead.merge_target().unwrap_or("@{upstream}")).ok();
        let stamp = Stamp { head: head.clone(), upstream: upstream.clone(), index: self.index(), whole: true };
        if self.stamp.as_ref() == Some(&stamp) {
            return Ok(());
        }
        let base = match (&head, &upstream) {
            (Some(head), Some(upstream)) => repo.merge_base(head, upstream)?,
            _ => None,
        };
        let wanted = wanted(&repo, &ahead, head.as_ref(), base.as_ref().filter(|base| Some(*base) != head.as_ref()))?;
        let most = if reader.shared.store.remembers() { MOST } else { MOST_IN_MEMORY };
        self.folders = self.watched(wanted.iter().map(|(path, _)| path));
        let blobs = repo.tree(head.as_ref())?;
        let mut seen = HashSet::new();
        let (mut ready, mut whole) = (0, true);
        for key in wanted.iter().map(|(_, key)| key).filter(|key| seen.insert(*key)).take(most) {
            if reader.is_over() {
                whole = false;
                break;
            }
            ready += usize::from(reader.make(key, &|cap| blobs.blob(&key.1, cap)));
        }
        self.warmth.wanted = seen.len();
        self.warmth.ready = ready;
        // Nothing that the daemon would die or tire of stands in the way.
        if whole && ready == seen.len() && reader.shared.store.remembers() {
            reader.rest();
            staged::weigh(self, &reader.shared);
        }
        self.stamp = Some(Stamp { whole, ..stamp });
        Ok(())
    }

    /// Reads ahead what was saved in the work tree, under the id that `git add` would give it.
    pub(super) fn saved(&self, touched: &HashSet<PathBuf>, reader: &mut Reader) {
        let Some(top) = self.top.as_ref().filter(|_| self.warmth.cold.is_none()) else { return };
        let files: Vec<&Path> =
            touched.iter().filter(|path| !path.starts_with(&self.git_dir)).filter_map(|path| path.strip_prefix(top).ok()).collect();
        if files.is_empty() {
            return;
        }
        let Ok(repo) = self.open() else { return };
        let Ok(ahead) = repo.head().map_err(GateError::from).and_then(|head| Ahead::of(&repo, head.as_ref())) else { return };
        for file in files {
            let path = RepoPath::new(file.as_os_str().as_encoded_bytes());
            let Some(bytes) = system::read_below(top, file, super::LARGEST_FIXTURE) else { continue };
            let Some(oid) = repo.blob_id(&bytes) else { continue };
            for key in ahead.keys(&path, &Entry { mode: Mode::File, oid }) {
                reader.make(&key, &|cap| within(&bytes, cap, &key.1));
            }
        }
        reader.rest();
    }

    fn index(&self) -> Option<(Identity, u64, SystemTime)> {
        let path = self.git_dir.join("index");
        let found = fs::symlink_metadata(&path).ok()?;
        Some((system::identity(&path)?, found.len(), found.modified().ok()?))
    }

    /// Git's own folders, and those of the carded files as far as no link leads to them.
    fn watched<'a>(&self, paths: impl Iterator<Item = &'a RepoPath>) -> BTreeSet<PathBuf> {
        let mut folders = BTreeSet::from([self.git_dir.clone(), self.common_dir.clone(), self.common_dir.join("refs/heads")]);
        let Some(top) = &self.top else { return folders };
        let parents: BTreeSet<&[u8]> = paths.map(RepoPath::parent).collect();
        folders.extend(parents.into_iter().filter_map(|parent| real_folder(top, parent)));
        folders
    }
}

/// What the trees of two commits and the index ask for, with the path that asks.
fn wanted(repo: &Repo, ahead: &Ahead, head: Option<&Oid>, base: Option<&Oid>) -> Result<Vec<(RepoPath, Key)>, GateError> {
    let mut entries: Vec<(RepoPath, Entry)> = Vec::new();
    // An index that cannot be read now (a conflict, say) is no reason to leave the rest cold.
    let staged = repo.staged(head).unwrap_or_default();
    entries.extend(staged.into_iter().filter_map(|change| Some((change.path, change.new?))));
    for commit in [head, base].into_iter().flatten() {
        entries.extend(repo.tree(Some(commit))?.list(b"")?);
    }
    let keys = entries.iter().flat_map(|(path, entry)| ahead.keys(path, entry).map(|key| (path.clone(), key)));
    Ok(keys.collect())
}

fn within(bytes: &[u8], cap: u64, oid: &Oid) -> Result<Vec<u8>, TreeError> {
    let size = bytes.len() as u64;
    if size > cap { Err(TreeError::TooLarge { oid: oid.clone(), size, cap, path: None }) } else { Ok(bytes.to_vec()) }
}

/// The folder below `top`, if no part of the way is a link.
fn real_folder(top: &Path, below: &[u8]) -> Option<PathBuf> {
    let mut folder = top.to_path_buf();
    for part in below.split(|byte| *byte == b'/').filter(|part| !part.is_empty()) {
        folder.push(std::str::from_utf8(part).ok()?);
        if !fs::symlink_metadata(&folder).ok()?.is_dir() {
            return None;
        }
    }
    Some(folder)
}

/// Whether a git configuration speaks of objects that a remote promised.
fn promises(config: &Path) -> bool {
    let mut text = Vec::new();
    let read = fs::File::open(config).and_then(|file| file.take(CONFIG).read_to_end(&mut text));
    let text = String::from_utf8_lossy(&text).to_ascii_lowercase();
    read.is_err() || text.contains("promisor") || text.contains("partialclone")
}

#[cfg(test)]
mod tests {
    use super::{Ward, promises, real_folder};
    use crate::daemon::wire::Known;

    #[test]
    fn what_lies_on_a_network_file_system_is_neither_read_ahead_nor_watched() {
        let home = tempfile::tempdir().unwrap();
        let top = home.path().canonicalize().unwrap();
        std::fs::write(top.join("config"), "[core]\n").unwrap();
        let known = Known { top: Some(top.as_path().into()), git_dir: top.as_path().into(), common_dir: top.as_path().into() };
        let mut ward = Ward::new(known).unwrap();
        ward.folders.insert(top);
        assert!(!ward.stays_cold(|_| false));
        assert_eq!((ward.folders.len(), ward.warmth().cold), (1, None));
        assert!(ward.stays_cold(|_| true));
        assert_eq!((ward.folders.len(), ward.warmth().cold.as_deref()), (0, Some("it lies on a network file system")));
    }

    #[test]
    fn no_link_leads_to_a_watched_folder() {
        let home = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(home.path().join("a/b")).unwrap();
        for (link, target) in [("root", "/"), ("loop", "loop"), ("a/up", "..")] {
            std::os::unix::fs::symlink(target, home.path().join(link)).unwrap();
        }
        assert_eq!(real_folder(home.path(), b"a/b"), Some(home.path().join("a/b")));
        assert_eq!(real_folder(home.path(), b""), Some(home.path().to_path_buf()));
        for below in ["root", "root/etc", "loop", "loop/x", "a/up", "a/up/a", "none"] {
            assert_eq!(real_folder(home.path(), below.as_bytes()), None, "{below}");
        }
    }

    #[test]
    fn a_partial_clone_and_a_configuration_that_cannot_be_read_are_left_cold() {
        let home = tempfile::tempdir().unwrap();
        let config = home.path().join("config");
        assert!(promises(&config));
        for (text, cold) in
            [("[core]\nbare = false\n", false), ("[remote \"o\"]\n promisor = true\n", true), ("[extensions]\npartialClone = o\n", true)]
        {
            std::fs::write(&config, text).unwrap();
            assert_eq!(promises(&config), cold, "{text}");
        }
    }
}
