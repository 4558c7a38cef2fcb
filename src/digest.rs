//! Owns SHA-256 of bytes and of folders.
//!
//! The digest of a folder is what this prints at the repository root, so that anyone can recompute it:
//! `export LC_ALL=C; find DIR -type f -print0 | sort -z | xargs -0 sha256sum | sha256sum`

use std::collections::{BTreeMap, HashMap};
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use rayon::prelude::{IntoParallelIterator as _, ParallelIterator as _};
use sha2::{Digest as _, Sha256};

use crate::tree::{Entry, Mode, Oid, RepoPath, Tree, TreeError};

/// Largest blob that is read.
const MOST_BLOB: u64 = 1 << 30;

/// Bytes of blobs held at once while they wait to be hashed side by side.
const BATCH: usize = 64 << 20;

/// Bytes of a file held at once.
const CHUNK: usize = 128 << 10;

/// Why a folder has no digest.
#[derive(Debug, thiserror::Error)]
pub enum DigestError {
    /// The object store.
    #[error(transparent)]
    Tree(#[from] TreeError),
    /// The disk.
    #[error("{path}: {error}")]
    Io {
        /// The path.
        path: RepoPath,
        /// What the operating system said.
        error: io::Error,
    },
    /// A link on the way would lead elsewhere.
    #[error("{0} is a symbolic link on the way to the folder; name the folder it leads to")]
    Link(RepoPath),
}

/// A folder's digest and what it is made of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FolderDigest {
    /// Lower-case hex.
    pub sha256: String,
    /// Every regular file, with the SHA-256 of its bytes.
    pub files: BTreeMap<RepoPath, String>,
}

impl FolderDigest {
    fn of(files: BTreeMap<RepoPath, String>) -> Self {
        FolderDigest { sha256: over(files.iter().map(|(path, sha256)| (path.as_bytes(), sha256.as_str()))), files }
    }
}

/// SHA-256 of bytes, lower-case hex.
pub fn sha256_hex(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        for nibble in [byte >> 4, byte & 15] {
            text.push(char::from_digit(u32::from(nibble), 16).unwrap_or('0'));
        }
        text
    })
}

/// The digest over files whose own digests are known: the pipeline's last two steps.
pub fn over<'a>(files: impl IntoIterator<Item = (&'a [u8], &'a str)>) -> String {
    let mut files: Vec<_> = files.into_iter().collect();
    files.sort_unstable();
    let mut sum = Sha256::new();
    for (path, sha256) in &files {
        sum.update(line(path, sha256));
    }
    if files.is_empty() {
        // Without a name, `xargs` runs `sha256sum` once on its empty standard input.
        sum.update(line(b"-", &sha256_hex(b"")));
    }
    hex(&sum.finalize())
}

/// One line of `sha256sum`: a name with a backslash, newline or carriage return is escaped and the line says so.
fn line(path: &[u8], sha256: &str) -> Vec<u8> {
    let mut name = Vec::with_capacity(path.len());
    for byte in path {
        match byte {
            b'\\' => name.extend(b"\\\\"),
            b'\n' => name.extend(b"\\n"),
            b'\r' => name.extend(b"\\r"),
            byte => name.push(*byte),
        }
    }
    let mark: &[u8] = if name.len() == path.len() { b"" } else { b"\\" };
    [mark, sha256.as_bytes(), b"  ", &name, b"\n"].concat()
}

/// The digest of a folder (or one file) of a tree; `b""` is the root. Symlinks and gitlinks are no regular files.
///
/// # Errors
/// When the tree or a blob cannot be read.
pub fn folder(tree: &(impl Tree + ?Sized), dir: &[u8]) -> Result<FolderDigest, DigestError> {
    let files = regular(tree, dir)?;
    let known = blobs(tree, &files)?;
    let named = files.into_iter().filter_map(|(path, entry)| Some((under(dir, path), known.get(&entry.oid)?.clone())));
    Ok(FolderDigest::of(named.collect()))
}

/// The regular files of a folder (or the one file) of a tree.
///
/// # Errors
/// When the tree cannot be read.
pub fn regular(tree: &(impl Tree + ?Sized), dir: &[u8]) -> Result<Vec<(RepoPath, Entry)>, TreeError> {
    let path = RepoPath::new(dir);
    let alone = if dir.is_empty() { None } else { tree.entry(&path)? };
    let mut all = match alone {
        Some(entry) => vec![(path, entry)],
        None => tree.list(dir)?,
    };
    all.retain(|(_, entry)| matches!(entry.mode, Mode::File | Mode::Executable));
    Ok(all)
}

/// `find .` names what it finds `./name`.
fn under(dir: &[u8], path: RepoPath) -> RepoPath {
    if dir.is_empty() { RepoPath::new([b"./", path.as_bytes()].concat()) } else { path }
}

/// SHA-256 of every blob, each hashed once: read one after another, hashed side by side.
fn blobs(tree: &(impl Tree + ?Sized), files: &[(RepoPath, Entry)]) -> Result<HashMap<Oid, String>, TreeError> {
    let mut known = HashMap::new();
    let mut waiting: HashMap<Oid, Vec<u8>> = HashMap::new();
    let mut bytes = 0;
    for (path, entry) in files {
        if known.contains_key(&entry.oid) || waiting.contains_key(&entry.oid) {
            continue;
        }
        let blob = tree.blob(&entry.oid, MOST_BLOB).map_err(|error| error.of(path))?;
        bytes += blob.len();
        waiting.insert(entry.oid.clone(), blob);
        if bytes > BATCH {
            known.extend(sums(std::mem::take(&mut waiting)));
            bytes = 0;
        }
    }
    known.extend(sums(waiting));
    Ok(known)
}

fn sums(blobs: HashMap<Oid, Vec<u8>>) -> Vec<(Oid, String)> {
    blobs.into_par_iter().map(|(oid, blob)| (oid, sha256_hex(&blob))).collect()
}

/// The digest of a folder (or one file) on disk, as a loader reads it: files that git ignores or does not know count, no link
/// is followed, and at the root (`b""`) git's own `.git` is left out. `None` when there is nothing of that name.
///
/// # Errors
/// When something cannot be read, or a link lies on the way to the folder.
pub fn worktree(top: &Path, dir: &[u8]) -> Result<Option<FolderDigest>, DigestError> {
    let Some(start) = reach(top, dir)? else { return Ok(None) };
    let found = walk(start, dir)?;
    let sums = found.into_par_iter().map(|(path, disk)| match stream(&disk) {
        Ok(sha256) => Ok((path, sha256)),
        Err(error) => Err(DigestError::Io { path, error }),
    });
    Ok(Some(FolderDigest::of(sums.collect::<Result<BTreeMap<_, _>, _>>()?)))
}

/// The folder's place on disk, reached without following a link; the last part itself may be one, and is then no folder.
fn reach(top: &Path, dir: &[u8]) -> Result<Option<PathBuf>, DigestError> {
    let mut disk = top.to_path_buf();
    let mut seen = 0;
    for part in dir.split(|b| *b == b'/').filter(|part| !part.is_empty()) {
        disk.push(os(part));
        seen += part.len() + usize::from(seen > 0);
        match fs::symlink_metadata(&disk) {
            Ok(meta) if meta.is_symlink() && seen < dir.len() => return Err(DigestError::Link(RepoPath::new(&dir[..seen]))),
            Ok(_) => {}
            Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => return Ok(None),
            Err(error) => return Err(DigestError::Io { path: RepoPath::new(&dir[..seen]), error }),
        }
    }
    Ok(Some(disk))
}

/// Every regular file from `start` down, by its path from the root and its place on disk.
fn walk(start: PathBuf, dir: &[u8]) -> Result<Vec<(RepoPath, PathBuf)>, DigestError> {
    let name = if dir.is_empty() { b"." } else { dir };
    let fault = |name: &[u8], error| DigestError::Io { path: RepoPath::new(name), error };
    let kind = fs::symlink_metadata(&start).map_err(|error| fault(name, error))?.file_type();
    let mut found = Vec::new();
    let mut waiting = vec![(name.to_vec(), start, kind)];
    while let Some((name, disk, kind)) = waiting.pop() {
        if kind.is_file() {
            found.push((RepoPath::new(name), disk));
        } else if kind.is_dir() {
            for entry in fs::read_dir(&disk).map_err(|error| fault(&name, error))? {
                let entry = entry.map_err(|error| fault(&name, error))?;
                let below = [&name, &b"/"[..], entry.file_name().as_encoded_bytes()].concat();
                if below != b"./.git" {
                    let kind = entry.file_type().map_err(|error| fault(&below, error))?;
                    waiting.push((below, entry.path(), kind));
                }
            }
        }
    }
    Ok(found)
}

/// SHA-256 of a file, a chunk at a time.
fn stream(disk: &Path) -> io::Result<String> {
    let mut file = File::open(disk)?;
    let mut sum = Sha256::new();
    let mut chunk = vec![0; CHUNK];
    loop {
        match file.read(&mut chunk) {
            Ok(0) => return Ok(hex(&sum.finalize())),
            Ok(count) => sum.update(&chunk[..count]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

#[cfg(unix)]
fn os(part: &[u8]) -> &OsStr {
    std::os::unix::ffi::OsStrExt::from_bytes(part)
}

/// Elsewhere names are text; one that is not cannot exist, and this one does not either.
#[cfg(not(unix))]
fn os(part: &[u8]) -> &OsStr {
    OsStr::new(std::str::from_utf8(part).unwrap_or("\u{fffd}"))
}

#[cfg(test)]
mod tests {
    use super::{folder, line, over, sha256_hex};
    use crate::tree::MemTree;

    const EMPTY: &str = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

    #[test]
    fn names_are_escaped_as_sha256sum_escapes_them() {
        for (name, want) in [(&b"a b"[..], &b"0  a b\n"[..]), (b"a\\b\nc\rd\te", b"\\0  a\\\\b\\nc\\rd\te\n"), (b"\xff\"", b"0  \xff\"\n")]
        {
            assert_eq!(line(name, "0"), want);
        }
    }

    #[test]
    fn an_empty_folder_has_the_answer_of_the_pipeline() {
        assert_eq!(over([]), sha256_hex(format!("{EMPTY}  -\n").as_bytes()));
        assert_eq!(folder(&MemTree::default(), b"none").unwrap().sha256, over([]));
    }

    #[test]
    fn files_are_taken_in_byte_order_of_the_whole_path() {
        let mut tree = MemTree::default();
        for path in ["f/a/b", "f/a.b", "f/a-b", "fa", "f2/x"] {
            tree.put(path, "");
        }
        let text: String = ["f/a-b", "f/a.b", "f/a/b"].map(|path| format!("{EMPTY}  {path}\n")).concat();
        assert_eq!(folder(&tree, b"f").unwrap().sha256, sha256_hex(text.as_bytes()));
        assert_eq!(folder(&tree, b"fa").unwrap().sha256, sha256_hex(format!("{EMPTY}  fa\n").as_bytes()));
        assert_eq!(folder(&tree, b"").unwrap().files.len(), 5);
    }
}
