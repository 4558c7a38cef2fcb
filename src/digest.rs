//! Owns SHA-256 of bytes and of folders.
//!
//! The digest of a folder is what this prints at the repository root, so that anyone can recompute it:
//! `export LC_ALL=C; find DIR -type f -print0 | sort -z | xargs -0 sha256sum | sha256sum`

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use rayon::prelude::{IntoParallelIterator as _, ParallelIterator as _};
use sha2::{Digest as _, Sha256};

use crate::tree::{Entry, Mode, RepoPath, Tree, TreeError};

/// Bytes of a file held at once.
const CHUNK: usize = 128 << 10;

/// Why a folder has no digest.
#[derive(Debug, thiserror::Error)]
pub enum DigestError {
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
    /// The digest of a folder (`b""` is the root) from its files' own digests.
    pub fn of(dir: &[u8], files: impl IntoIterator<Item = (RepoPath, String)>) -> Self {
        // `find .` names what it finds `./name`.
        let named = |path: RepoPath| if dir.is_empty() { RepoPath::new([b"./", path.as_bytes()].concat()) } else { path };
        let files: BTreeMap<_, _> = files.into_iter().map(|(path, sha256)| (named(path), sha256)).collect();
        FolderDigest { sha256: over(files.iter().map(|(path, sha256)| (path.as_bytes(), sha256.as_str()))), files }
    }
}

/// SHA-256 of bytes.
pub fn sha256(bytes: &[u8]) -> [u8; 32] {
    Sha256::digest(bytes).into()
}

/// SHA-256 of bytes, lower-case hex.
pub fn sha256_hex(bytes: &[u8]) -> String {
    hex(&sha256(bytes))
}

/// SHA-256 of bytes that come in pieces, lower-case hex.
///
/// # Errors
/// What `pour` says.
pub fn sha256_poured<E>(pour: impl FnOnce(&mut dyn FnMut(&[u8])) -> Result<(), E>) -> Result<String, E> {
    let mut sum = Sha256::new();
    pour(&mut |piece| sum.update(piece))?;
    Ok(hex(&sum.finalize()))
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
    Ok(Some(FolderDigest::of(dir, sums.collect::<Result<Vec<_>, _>>()?)))
}

/// SHA-256 of the regular files below a folder on disk whose paths are chosen; no link is followed.
///
/// # Errors
/// When something cannot be read.
pub fn chosen(top: &Path, is: &(dyn Fn(&RepoPath) -> bool + Sync)) -> Result<BTreeMap<RepoPath, String>, DigestError> {
    let found: Vec<_> = walk(top.to_path_buf(), b"")?.into_iter().filter(|(path, _)| is(path)).collect();
    let sums = found.into_par_iter().map(|(path, disk)| match stream(&disk) {
        Ok(sha256) => Ok((path, sha256)),
        Err(error) => Err(DigestError::Io { path, error }),
    });
    sums.collect()
}

/// The regular files of a folder on disk, in no order: those in it, or (`is_deep`) below it too; no link is followed.
///
/// # Errors
/// When something cannot be read, or a link lies on the way to the folder.
pub fn listed(top: &Path, dir: &[u8], is_deep: bool) -> Result<Vec<RepoPath>, DigestError> {
    let Some(start) = reach(top, dir)? else { return Ok(Vec::new()) };
    Ok(walked(start, dir, is_deep)?.into_iter().map(|(path, _)| path).collect())
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
    walked(start, dir, true)
}

fn walked(start: PathBuf, dir: &[u8], is_deep: bool) -> Result<Vec<(RepoPath, PathBuf)>, DigestError> {
    let fault = |name: &[u8], error| DigestError::Io { path: RepoPath::new(name), error };
    let kind = fs::symlink_metadata(&start).map_err(|error| fault(dir, error))?.file_type();
    let mut found = Vec::new();
    let mut waiting = vec![(dir.to_vec(), start, kind)];
    while let Some((name, disk, kind)) = waiting.pop() {
        if kind.is_file() {
            found.push((RepoPath::new(name), disk));
        } else if kind.is_dir() && (is_deep || name == dir) {
            for entry in fs::read_dir(&disk).map_err(|error| fault(&name, error))? {
                let entry = entry.map_err(|error| fault(&name, error))?;
                let slash: &[u8] = if name.is_empty() { b"" } else { b"/" };
                let below = [&name, slash, entry.file_name().as_encoded_bytes()].concat();
                if below != b".git" {
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
    use super::{FolderDigest, line, over, regular, sha256_hex};
    use crate::tree::{MemTree, Mode, RepoPath};

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
        assert_eq!(FolderDigest::of(b"none", []).sha256, over([]));
    }

    #[test]
    fn files_are_taken_in_byte_order_of_the_whole_path() {
        let files = ["f/a/b", "f/a.b", "f/a-b"].map(|path| (RepoPath::new(path), EMPTY.to_owned()));
        let text: String = ["f/a-b", "f/a.b", "f/a/b"].map(|path| format!("{EMPTY}  {path}\n")).concat();
        assert_eq!(FolderDigest::of(b"f", files.clone()).sha256, sha256_hex(text.as_bytes()));
        let text: String = ["f/a-b", "f/a.b", "f/a/b"].map(|path| format!("{EMPTY}  ./{path}\n")).concat();
        assert_eq!(FolderDigest::of(b"", files).sha256, sha256_hex(text.as_bytes()));
    }

    #[test]
    fn a_folder_holds_its_regular_files_and_a_file_itself() {
        let mut tree = MemTree::default();
        for path in ["f/a/b", "f/a", "fa", "f2/x"] {
            tree.put(path, "");
        }
        let names = |dir: &[u8]| regular(&tree, dir).unwrap().into_iter().map(|(path, _)| path.to_string()).collect::<Vec<_>>();
        assert_eq!(names(b"f"), ["f/a", "f/a/b"]);
        assert_eq!(names(b"fa"), ["fa"]);
        assert_eq!(names(b"f/none"), [""; 0]);
        assert_eq!(names(b"").len(), 4);
        assert!(regular(&tree, b"f").unwrap().iter().all(|(_, entry)| entry.mode == Mode::File));
    }
}
