//! Owns what a tree of bytes is: paths, modes, entries, changes, and the trait every tree answers to.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

/// A path from the repository root: bytes as git stores them, `/` between parts, never empty.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RepoPath(Vec<u8>);

impl RepoPath {
    /// Takes the bytes as they are.
    pub fn new(bytes: impl Into<Vec<u8>>) -> Self {
        RepoPath(bytes.into())
    }

    /// The bytes.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// The text, when the bytes are UTF-8.
    pub fn as_str(&self) -> Option<&str> {
        std::str::from_utf8(&self.0).ok()
    }

    /// The path that is shown as this text.
    pub fn from_shown(text: &str) -> Self {
        let mut bytes = Vec::with_capacity(text.len());
        let mut rest = text;
        while let Some((plain, escape)) = rest.split_once('\\') {
            bytes.extend_from_slice(plain.as_bytes());
            rest = unescape(escape, &mut bytes);
        }
        bytes.extend_from_slice(rest.as_bytes());
        RepoPath(bytes)
    }

    /// The last part.
    pub fn name(&self) -> &[u8] {
        self.0.rsplit(|b| *b == b'/').next().unwrap_or(&self.0)
    }

    /// The folder part, without the slash; empty at the root.
    pub fn parent(&self) -> &[u8] {
        self.0.iter().rposition(|b| *b == b'/').map_or(&[], |at| &self.0[..at])
    }
}

/// Reads one escape, after its backslash, as `Display` writes it; what is left.
fn unescape<'t>(text: &'t str, bytes: &mut Vec<u8>) -> &'t str {
    let mut chars = text.chars();
    let braced = || text.strip_prefix("u{").and_then(|rest| rest.split_once('}'));
    match chars.next() {
        Some('n') => bytes.push(b'\n'),
        Some('t') => bytes.push(b'\t'),
        Some('r') => bytes.push(b'\r'),
        Some('u') => {
            let Some((hex, rest)) = braced() else { return text };
            let char = u32::from_str_radix(hex, 16).ok().and_then(char::from_u32);
            bytes.extend(char.map(String::from).unwrap_or_default().bytes());
            return rest;
        }
        Some('x') => {
            let byte = text.get(1..3).and_then(|hex| u8::from_str_radix(hex, 16).ok());
            bytes.extend(byte);
            return text.get(3..).unwrap_or_default();
        }
        Some(other) => bytes.extend(String::from(other).bytes()),
        None => {}
    }
    chars.as_str()
}

impl fmt::Display for RepoPath {
    /// Shows UTF-8 as it is; control characters, separators that break lines, backslashes of escapes
    /// and bytes that are not UTF-8 as `\n`, `\u{2028}`, `\xe9`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for chunk in self.0.utf8_chunks() {
            for c in chunk.valid().chars() {
                match c {
                    '\\' => f.write_str("\\\\")?,
                    c if c.is_control()
                        || matches!(c, '\u{2028}' | '\u{2029}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}') =>
                    {
                        write!(f, "{}", c.escape_default())?;
                    }
                    c => write!(f, "{c}")?,
                }
            }
            for b in chunk.invalid() {
                write!(f, "\\x{b:02x}")?;
            }
        }
        Ok(())
    }
}

impl fmt::Debug for RepoPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\"{self}\"")
    }
}

/// A git object id in lower-case hex: 40 digits (SHA-1) or 64 (SHA-256).
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Oid(String);

impl Oid {
    /// Reads hex of either length; anything else is `None`.
    pub fn from_hex(text: &str) -> Option<Self> {
        let hex = text.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b));
        (hex && matches!(text.len(), 40 | 64)).then(|| Oid(text.to_owned()))
    }

    /// The hex.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// True for the id that means "no object" in hooks: zeros of any length.
    pub fn is_zero(&self) -> bool {
        self.0.bytes().all(|b| b == b'0')
    }
}

impl From<[u8; 20]> for Oid {
    fn from(sha1: [u8; 20]) -> Self {
        Oid(hex(&sha1))
    }
}

impl From<[u8; 32]> for Oid {
    fn from(sha256: [u8; 32]) -> Self {
        Oid(hex(&sha256))
    }
}

fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    bytes.iter().flat_map(|b| [b >> 4, b & 15]).map(|nibble| char::from(DIGITS[usize::from(nibble)])).collect()
}

impl fmt::Display for Oid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// What kind of thing an entry is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Mode {
    /// 100644 (and git's historic 100664).
    File,
    /// 100755.
    Executable,
    /// 120000: the blob is the target's text.
    Symlink,
    /// 160000: a commit of another repository; opaque.
    Gitlink,
}

impl Mode {
    /// From git's octal digits.
    pub fn from_octal(mode: u32) -> Option<Self> {
        match mode & 0o170_000 {
            0o100_000 if mode & 0o111 != 0 => Some(Mode::Executable),
            0o100_000 => Some(Mode::File),
            0o120_000 => Some(Mode::Symlink),
            0o160_000 => Some(Mode::Gitlink),
            _ => None,
        }
    }

    /// Git's octal digits.
    pub fn octal(self) -> &'static str {
        match self {
            Mode::File => "100644",
            Mode::Executable => "100755",
            Mode::Symlink => "120000",
            Mode::Gitlink => "160000",
        }
    }
}

/// A non-folder entry of a tree.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Entry {
    /// Kind.
    pub mode: Mode,
    /// Blob id (for a gitlink, the commit id).
    pub oid: Oid,
}

/// One path that differs between two trees; renames are a removal and an addition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// The path.
    pub path: RepoPath,
    /// Before; `None` when added.
    pub old: Option<Entry>,
    /// After; `None` when removed.
    pub new: Option<Entry>,
}

/// Why a tree or blob could not be read.
#[derive(Debug, thiserror::Error)]
pub enum TreeError {
    /// The object is named but not there (partial clone, damaged store).
    #[error("object {oid} is missing{}", named(.path.as_ref()))]
    Missing {
        /// The object.
        oid: Oid,
        /// The path it was wanted for, when known.
        path: Option<RepoPath>,
    },
    /// Larger than the reader's cap.
    #[error("object {oid} has {size} bytes, more than the {cap} that are read{}", named(.path.as_ref()))]
    TooLarge {
        /// The object.
        oid: Oid,
        /// Its size in bytes.
        size: u64,
        /// The cap in bytes.
        cap: u64,
        /// The path it was wanted for, when known.
        path: Option<RepoPath>,
    },
    /// Anything else, in the store's words.
    #[error("{0}")]
    Store(String),
}

impl TreeError {
    /// The same error, naming the path it was met on.
    #[must_use]
    pub fn of(self, wanted: &RepoPath) -> Self {
        match self {
            TreeError::Missing { oid, path: None } => TreeError::Missing { oid, path: Some(wanted.clone()) },
            TreeError::TooLarge { oid, size, cap, path: None } => TreeError::TooLarge { oid, size, cap, path: Some(wanted.clone()) },
            other => other,
        }
    }
}

fn named(path: Option<&RepoPath>) -> String {
    path.map(|path| format!(" ({path})")).unwrap_or_default()
}

/// A tree of bytes: a commit, the index, memory.
pub trait Tree {
    /// The entry at a path; `None` when there is none or it is a folder.
    ///
    /// # Errors
    /// When the store cannot be read.
    fn entry(&self, path: &RepoPath) -> Result<Option<Entry>, TreeError>;

    /// Every non-folder entry under a folder (`b""` is the root), in byte order of the paths.
    ///
    /// # Errors
    /// When the store cannot be read.
    fn list(&self, under: &[u8]) -> Result<Vec<(RepoPath, Entry)>, TreeError>;

    /// The bytes of a blob, at most `cap` of them.
    ///
    /// # Errors
    /// [`TreeError::TooLarge`] above the cap, [`TreeError::Missing`] when it is not there.
    fn blob(&self, oid: &Oid, cap: u64) -> Result<Vec<u8>, TreeError>;

    /// The same bytes piece by piece, for whoever need not hold them all.
    ///
    /// # Errors
    /// As of [`Tree::blob`]; pieces may have gone out before.
    fn pour(&self, oid: &Oid, cap: u64, into: &mut dyn FnMut(&[u8])) -> Result<(), TreeError> {
        into(&self.blob(oid, cap)?);
        Ok(())
    }
}

/// A base tree with a list of changes on top: how a candidate is read, whether or not its root tree object exists.
pub struct Overlay<'a, T: Tree + ?Sized> {
    base: &'a T,
    changes: BTreeMap<&'a RepoPath, &'a Change>,
}

impl<'a, T: Tree + ?Sized> Overlay<'a, T> {
    /// Lays `changes` over `base`.
    pub fn new(base: &'a T, changes: &'a [Change]) -> Self {
        Overlay { base, changes: changes.iter().map(|c| (&c.path, c)).collect() }
    }
}

impl<T: Tree + ?Sized> Tree for Overlay<'_, T> {
    fn entry(&self, path: &RepoPath) -> Result<Option<Entry>, TreeError> {
        match self.changes.get(path) {
            Some(change) => Ok(change.new.clone()),
            None => self.base.entry(path),
        }
    }

    fn list(&self, under: &[u8]) -> Result<Vec<(RepoPath, Entry)>, TreeError> {
        let mut all: BTreeMap<RepoPath, Entry> = self.base.list(under)?.into_iter().collect();
        for (path, change) in &self.changes {
            if !is_under(path, under) {
                continue;
            }
            match &change.new {
                Some(entry) => all.insert((*path).clone(), entry.clone()),
                None => all.remove(*path),
            };
        }
        Ok(all.into_iter().collect())
    }

    fn blob(&self, oid: &Oid, cap: u64) -> Result<Vec<u8>, TreeError> {
        self.base.blob(oid, cap)
    }

    fn pour(&self, oid: &Oid, cap: u64, into: &mut dyn FnMut(&[u8])) -> Result<(), TreeError> {
        self.base.pour(oid, cap, into)
    }
}

/// Whether `path` lies in the folder `under` (`b""` is the root).
pub fn is_under(path: &RepoPath, under: &[u8]) -> bool {
    under.is_empty() || path.as_bytes().strip_prefix(under).is_some_and(|rest| rest.first() == Some(&b'/'))
}

/// Links followed before a path counts as a loop (Linux's own limit).
const HOPS: usize = 40;

/// The entry a loader would read at `path`: symlinks are followed inside the tree, in folders as well as at the end.
/// `None` when it leads nowhere, out of the tree, to a folder or in a circle. `visited` gets every link and the end.
///
/// # Errors
/// When the store cannot be read.
pub fn follow(tree: &dyn Tree, path: &RepoPath, visited: &mut Vec<RepoPath>) -> Result<Option<Entry>, TreeError> {
    let mut todo: Vec<Vec<u8>> = parts(path.as_bytes()).rev().map(<[u8]>::to_vec).collect();
    let mut done: Vec<Vec<u8>> = Vec::new();
    let mut hops = 0;
    while let Some(part) = todo.pop() {
        match part.as_slice() {
            b".." if done.pop().is_none() => return Ok(None),
            b"." | b".." => continue,
            _ => done.push(part),
        }
        let here = RepoPath::new(done.join(&b'/'));
        let Some(entry) = tree.entry(&here)? else { continue };
        visited.push(here);
        if entry.mode != Mode::Symlink {
            return Ok(todo.is_empty().then_some(entry));
        }
        hops += 1;
        let target = tree.blob(&entry.oid, LINK_CAP)?;
        if hops > HOPS || target.first() == Some(&b'/') {
            return Ok(None);
        }
        done.pop();
        todo.extend(parts(&target).rev().map(<[u8]>::to_vec));
    }
    let end = RepoPath::new(done.join(&b'/'));
    visited.push(end);
    Ok(None)
}

/// Longest link text that is read, in bytes (Linux's `PATH_MAX`).
const LINK_CAP: u64 = 4096;

fn parts(path: &[u8]) -> impl DoubleEndedIterator<Item = &[u8]> {
    path.split(|b| *b == b'/').filter(|part| !part.is_empty())
}

/// A tree in memory, for unit tests: blob ids are made from a counter, never hashed.
#[derive(Default)]
pub struct MemTree {
    entries: BTreeMap<RepoPath, Entry>,
    blobs: BTreeMap<Oid, Vec<u8>>,
}

impl MemTree {
    /// Adds or replaces a file and returns its entry; equal bytes get equal ids.
    pub fn put(&mut self, path: &str, bytes: impl Into<Vec<u8>>) -> Entry {
        self.put_as(path, bytes, Mode::File)
    }

    /// The same for any mode.
    pub fn put_as(&mut self, path: &str, bytes: impl Into<Vec<u8>>, mode: Mode) -> Entry {
        let bytes = bytes.into();
        let known = self.blobs.iter().find(|(_, b)| **b == bytes).map(|(oid, _)| oid.clone());
        let oid = known.unwrap_or_else(|| Oid(format!("{:040x}", self.blobs.len() + 1)));
        self.blobs.insert(oid.clone(), bytes);
        let entry = Entry { mode, oid };
        self.entries.insert(RepoPath::new(path), entry.clone());
        entry
    }
}

impl Tree for MemTree {
    fn entry(&self, path: &RepoPath) -> Result<Option<Entry>, TreeError> {
        Ok(self.entries.get(path).cloned())
    }

    fn list(&self, under: &[u8]) -> Result<Vec<(RepoPath, Entry)>, TreeError> {
        Ok(self.entries.iter().filter(|(p, _)| is_under(p, under)).map(|(p, e)| (p.clone(), e.clone())).collect())
    }

    fn blob(&self, oid: &Oid, cap: u64) -> Result<Vec<u8>, TreeError> {
        let bytes = self.blobs.get(oid).ok_or_else(|| TreeError::Missing { oid: oid.clone(), path: None })?;
        let size = bytes.len() as u64;
        if size > cap { Err(TreeError::TooLarge { oid: oid.clone(), size, cap, path: None }) } else { Ok(bytes.clone()) }
    }
}

#[cfg(test)]
mod tests {
    use super::{Change, MemTree, Mode, Overlay, RepoPath, Tree, follow};

    fn end_of(tree: &MemTree, path: &str) -> Option<String> {
        let mut visited = Vec::new();
        follow(tree, &RepoPath::new(path), &mut visited)
            .unwrap()
            .map(|entry| String::from_utf8(tree.blob(&entry.oid, 99).unwrap()).unwrap())
    }

    #[test]
    fn links_are_followed_inside_the_tree_and_never_out_of_it() {
        let mut tree = MemTree::default();
        tree.put("shared/table.csv", "1");
        for (path, target) in [
            ("tests/fixtures/file", "../../shared/table.csv"),
            ("tests/fixtures/dir", "../../shared"),
            ("tests/fixtures/again", "file"),
            ("tests/fixtures/loop", "loop"),
            ("tests/fixtures/up", "../../../etc/passwd"),
            ("tests/fixtures/abs", "/etc/passwd"),
            ("tests/fixtures/gone", "nowhere"),
        ] {
            tree.put_as(path, target, Mode::Symlink);
        }
        for (path, expected) in [
            ("shared/table.csv", Some("1")),
            ("tests/fixtures/file", Some("1")),
            ("tests/fixtures/dir/table.csv", Some("1")),
            ("tests/fixtures/again", Some("1")),
            ("tests/fixtures/dir", None),
            ("tests/fixtures/loop", None),
            ("tests/fixtures/up", None),
            ("tests/fixtures/abs", None),
            ("tests/fixtures/gone", None),
            ("shared/table.csv/below", None),
        ] {
            assert_eq!(end_of(&tree, path).as_deref(), expected, "{path}");
        }
    }

    #[test]
    fn an_overlay_shows_its_changes_and_the_base_beneath_them() {
        let (mut base, mut other) = (MemTree::default(), MemTree::default());
        let (kept, gone) = (base.put("a/kept", "k"), base.put("a/gone", "g"));
        let added = other.put("a/new", "n");
        let changes = [
            Change { path: RepoPath::new("a/gone"), old: Some(gone), new: None },
            Change { path: RepoPath::new("a/new"), old: None, new: Some(added.clone()) },
        ];
        let overlay = Overlay::new(&base, &changes);
        assert_eq!(overlay.entry(&RepoPath::new("a/gone")).unwrap(), None);
        assert_eq!(overlay.list(b"a").unwrap(), vec![(RepoPath::new("a/kept"), kept), (RepoPath::new("a/new"), added)]);
        assert!(overlay.list(b"a/kep").unwrap().is_empty());
    }

    #[test]
    fn paths_are_shown_escaped_so_that_no_name_breaks_a_line() {
        for (bytes, shown) in [
            (&b"caf\xe9 \"x\".bin"[..], "caf\\xe9 \"x\".bin"),
            (b"line\nbreak", "line\\nbreak"),
            ("sep\u{2028}ls".as_bytes(), "sep\\u{2028}ls"),
            (b"back\\slash", "back\\\\slash"),
            (b"\x1b[31mred", "\\u{1b}[31mred"),
            ("h\u{e9}".as_bytes(), "h\u{e9}"),
        ] {
            assert_eq!(RepoPath::new(bytes).to_string(), shown);
        }
    }

    proptest::proptest! {
        #[test]
        fn what_is_shown_is_read_back(bytes in proptest::collection::vec(proptest::prelude::any::<u8>(), 0..40), text in "\\PC*|[\\\\nux{}0-9\n\u{1b}\u{2028}é]*") {
            for path in [RepoPath::new(bytes), RepoPath::new(text)] {
                proptest::prop_assert_eq!(RepoPath::from_shown(&path.to_string()), path);
            }
        }
    }
}
