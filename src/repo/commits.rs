//! Owns commits and tags as their objects say, whatever grafts, replacements or a shallow file would have them say.

use std::cell::OnceCell;
use std::collections::HashSet;
use std::path::PathBuf;

use super::id::Id;
use super::store::{Kind, OBJECT_CAP, Store};
use super::{Commit, RepoError};
use crate::tree::{Oid, TreeError};

/// A tag of a tag of a tag: nobody nests deeper.
const TAG_DEPTH: usize = 64;
/// What is kept of a message's first line.
const SUBJECT: usize = 1000;

/// What a commit object says.
pub(super) struct Parsed {
    /// Its tree.
    pub(super) tree: Id,
    /// Its parents, all of them.
    pub(super) parents: Vec<Id>,
    author: String,
    time: i64,
    subject: String,
}

/// Where the history of a shallow clone ends.
pub(super) struct Shallow {
    file: PathBuf,
    ends: OnceCell<HashSet<Id>>,
}

impl Shallow {
    /// Read from `file` when first asked.
    pub(super) fn new(file: PathBuf) -> Self {
        Shallow { file, ends: OnceCell::new() }
    }

    /// The commits whose parents the clone was not given.
    pub(super) fn ends(&self) -> Result<&HashSet<Id>, RepoError> {
        if let Some(ends) = self.ends.get() {
            return Ok(ends);
        }
        let text = match std::fs::read(&self.file) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Vec::new(),
            Err(error) => return Err(RepoError::Git(format!("{}: {error}", self.file.display()))),
        };
        let lines = text.split(|b| *b == b'\n').filter(|line| !line.is_empty());
        let ends = lines.map(|line| Id::from_hex(line.trim_ascii())).collect::<Option<_>>();
        let ends = ends.ok_or_else(|| RepoError::Git(format!("{} holds a line that is no commit id", self.file.display())))?;
        Ok(self.ends.get_or_init(|| ends))
    }
}

/// Reads what a commit object says.
pub(super) fn parse(store: &Store, id: &Id) -> Result<Parsed, TreeError> {
    let bytes = store.read(id, Kind::Commit, OBJECT_CAP)?;
    parsed(&bytes, store.format.width()).ok_or_else(|| malformed(id))
}

/// A commit as it is to be judged: without parents, and marked, where a shallow clone ends.
pub(super) fn commit(store: &Store, shallow: &Shallow, id: &Id) -> Result<Commit, RepoError> {
    let Parsed { tree, parents, author, time, subject } = parse(store, id)?;
    let boundary = ends_here(store, shallow, id, &parents)?;
    let parents = if boundary { Vec::new() } else { parents.into_iter().map(Oid::from).collect() };
    Ok(Commit { oid: (*id).into(), tree: tree.into(), parents, boundary, author, time, subject })
}

/// Whether a commit's parents exist but cannot be seen. A shallow file that hides parents which are there is not believed.
pub(super) fn ends_here(store: &Store, shallow: &Shallow, id: &Id, parents: &[Id]) -> Result<bool, RepoError> {
    if parents.is_empty() || !shallow.ends()?.contains(id) {
        return Ok(false);
    }
    for parent in parents {
        if !store.has(parent)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The author line of a commit, without its first word.
pub(super) fn author_line(store: &Store, id: &Id) -> Result<Vec<u8>, TreeError> {
    let bytes = store.read(id, Kind::Commit, OBJECT_CAP)?;
    let mut headers = bytes.split(|b| *b == b'\n').take_while(|line| !line.is_empty());
    let line = headers.find_map(|line| line.strip_prefix(b"author "));
    line.map(<[u8]>::to_vec).ok_or_else(|| malformed(id))
}

/// The commit that an object is or (a tag) leads to; `None` for blobs, trees and tags of them.
pub(super) fn peel(store: &Store, id: &Id) -> Result<Option<Id>, RepoError> {
    let mut id = *id;
    for _ in 0..TAG_DEPTH {
        match store.object(&id, OBJECT_CAP) {
            Ok((Kind::Commit, _)) => return Ok(Some(id)),
            Ok((Kind::Tree | Kind::Blob, _)) | Err(TreeError::TooLarge { .. }) => return Ok(None),
            Ok((Kind::Tag, bytes)) => {
                let target = field(&mut &bytes[..], b"object ").and_then(Id::from_hex);
                id = target.ok_or_else(|| RepoError::Git(format!("tag {} is malformed", Oid::from(id))))?;
            }
            Err(error) => return Err(error.into()),
        }
    }
    Err(RepoError::Git(format!("tags are nested more than {TAG_DEPTH} deep at {}", Oid::from(id))))
}

fn malformed(id: &Id) -> TreeError {
    TreeError::Store(format!("commit {} is malformed", Oid::from(*id)))
}

fn parsed(mut rest: &[u8], width: usize) -> Option<Parsed> {
    let id = |hex: &[u8]| Id::from_hex(hex).filter(|id| id.as_bytes().len() == width);
    let tree = id(field(&mut rest, b"tree ")?)?;
    let mut parents = Vec::new();
    while let Some(hex) = field(&mut rest, b"parent ") {
        parents.push(id(hex)?);
    }
    let author = name_of(field(&mut rest, b"author ")?);
    let time = field(&mut { rest }, b"committer ").and_then(seconds).unwrap_or_default();
    Some(Parsed { tree, parents, author, time, subject: subject(rest) })
}

/// The name of an author line, without its address and date.
fn name_of(line: &[u8]) -> String {
    let end = line.iter().position(|b| *b == b'<').unwrap_or(line.len());
    String::from_utf8_lossy(&line[..end.min(SUBJECT)]).trim().to_owned()
}

/// The seconds that a committer line ends with, before its zone.
fn seconds(line: &[u8]) -> Option<i64> {
    std::str::from_utf8(line.rsplit(|b| *b == b' ').nth(1)?).ok()?.parse().ok()
}

/// Takes the value of a header line that must come next.
fn field<'a>(rest: &mut &'a [u8], name: &[u8]) -> Option<&'a [u8]> {
    let after = rest.strip_prefix(name)?;
    let end = after.iter().position(|b| *b == b'\n')?;
    *rest = &after[end + 1..];
    Some(&after[..end])
}

/// The first line of a message; `rest` is what follows the author line.
fn subject(rest: &[u8]) -> String {
    let body = rest.windows(2).position(|pair| pair == b"\n\n").map_or(&b""[..], |at| &rest[at + 2..]).trim_ascii_start();
    let line = body.split(|b| *b == b'\n').next().unwrap_or_default();
    String::from_utf8_lossy(&line[..line.len().min(SUBJECT)]).trim_end().to_owned()
}
