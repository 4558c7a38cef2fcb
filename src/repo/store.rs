//! Owns reading objects by id, from libgit2 or from git itself.

use std::cell::{OnceCell, RefCell};
use std::collections::HashMap;
use std::io::Read as _;
use std::path::Path;
use std::rc::Rc;

use git2::{ErrorCode, ObjectType, Repository};

use super::RepoError;
use super::batch::{Batch, Reply};
use super::environment::Environment;
use super::folder::Folder;
use super::id::{Format, Id};
use super::index::{self, Index};
use super::open::{Found, Place};
use super::plumbing::Plumbing;
use crate::tree::{Oid, TreeError};

/// No tree, commit or tag that is larger is read.
pub(super) const OBJECT_CAP: u64 = 256 * 1024 * 1024;
/// What one byte of a deflated file can unpack to at most, in bytes (zlib's technical notes).
const DEFLATE: u64 = 1032;
/// How much of an object is unpacked at once.
const PIECE: usize = 64 * 1024;
/// Bytes of trees kept in memory.
const KEPT_TREES: usize = 64 * 1024 * 1024;

/// The four kinds of objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A commit.
    Commit,
    /// A tree.
    Tree,
    /// A blob.
    Blob,
    /// An annotated tag.
    Tag,
}

impl Kind {
    /// From git's word.
    pub(super) fn from_name(name: &[u8]) -> Option<Self> {
        match name {
            b"commit" => Some(Kind::Commit),
            b"tree" => Some(Kind::Tree),
            b"blob" => Some(Kind::Blob),
            b"tag" => Some(Kind::Tag),
            _ => None,
        }
    }

    fn from_library(kind: ObjectType) -> Option<Self> {
        match kind {
            ObjectType::Commit => Some(Kind::Commit),
            ObjectType::Tree => Some(Kind::Tree),
            ObjectType::Blob => Some(Kind::Blob),
            ObjectType::Tag => Some(Kind::Tag),
            ObjectType::Any => None,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Kind::Commit => "commit",
            Kind::Tree => "tree",
            Kind::Blob => "blob",
            Kind::Tag => "tag",
        }
    }
}

/// The objects of one repository.
pub(super) struct Store {
    /// libgit2's handle, when it can read the repository.
    pub(super) library: Option<Repository>,
    /// How objects are named.
    pub(super) format: Format,
    environment: Environment,
    place: Place,
    git: OnceCell<Plumbing>,
    batch: RefCell<Option<Batch>>,
    checks: RefCell<Option<Batch>>,
    promised: OnceCell<bool>,
    trees: RefCell<Trees>,
    index: RefCell<Option<(index::Stamp, Rc<Index>)>>,
}

#[derive(Default)]
struct Trees {
    known: HashMap<Id, Rc<Folder>>,
    size: usize,
}

impl Store {
    /// The objects of a found repository.
    pub(super) fn new(found: Found, environment: Environment) -> Self {
        Store {
            library: found.library,
            format: found.place.format,
            environment,
            place: found.place,
            git: OnceCell::new(),
            batch: RefCell::default(),
            checks: RefCell::default(),
            promised: OnceCell::new(),
            trees: RefCell::default(),
            index: RefCell::default(),
        }
    }

    /// An index file, read once for as long as it stays the same file.
    pub(super) fn index(&self, file: &Path) -> Result<Rc<Index>, RepoError> {
        let stamp = index::stamp(file);
        if stamp.is_none() && self.place.top.is_none() && !file.exists() {
            return Err(RepoError::Bare(self.place.git_dir.clone()));
        }
        if let Some((_, known)) = self.index.borrow().as_ref().filter(|(was, _)| stamp.is_some() && *was == stamp) {
            return Ok(Rc::clone(known));
        }
        let read = Rc::new(Index::read(file, self.format.width())?);
        *self.index.borrow_mut() = Some((stamp, Rc::clone(&read)));
        Ok(read)
    }

    /// Git itself, for this repository.
    pub(super) fn git(&self) -> Result<&Plumbing, RepoError> {
        if let Some(git) = self.git.get() {
            return Ok(git);
        }
        let git = Plumbing::find(&self.environment)?.settled(&self.place);
        Ok(self.git.get_or_init(|| git))
    }

    /// The id in binary, when it is one of this repository's.
    pub(super) fn id(&self, oid: &Oid) -> Result<Id, TreeError> {
        let id = Id::from_hex(oid.as_str().as_bytes()).filter(|id| id.as_bytes().len() == self.format.width());
        id.ok_or_else(|| TreeError::Missing { oid: oid.clone(), path: None })
    }

    /// An object, which must be of that kind and no larger than the cap.
    pub(super) fn read(&self, id: &Id, kind: Kind, cap: u64) -> Result<Vec<u8>, TreeError> {
        let (found, bytes) = self.object(id, cap)?;
        if found != kind {
            return Err(TreeError::Store(format!("object {} is a {}, not a {}", Oid::from(*id), found.name(), kind.name())));
        }
        Ok(bytes)
    }

    /// The bytes of an object, piece by piece where it lies in a file of its own: a large one is not unpacked as a whole.
    pub(super) fn pour(&self, id: &Id, kind: Kind, cap: u64, into: &mut dyn FnMut(&[u8])) -> Result<(), TreeError> {
        let library = self.library.as_ref().filter(|_| self.loose(id).is_some());
        let odb = library.and_then(|library| library.odb().ok());
        let open = odb.as_ref().and_then(|odb| odb.reader(library_id(id).ok()?).ok());
        let Some((mut stream, size, _)) = open.filter(|(_, size, found)| *size as u64 <= cap && Kind::from_library(*found) == Some(kind))
        else {
            // Packed, too large, missing or something else: the plain way reads it or says why not.
            into(&self.read(id, kind, cap)?);
            return Ok(());
        };
        let broken = |error: std::io::Error| TreeError::Store(format!("object {}: {error}", Oid::from(*id)));
        let (mut piece, mut left) = (vec![0; PIECE], size);
        while left > 0 {
            let read = stream.read(&mut piece).map_err(broken)?;
            if read == 0 || read > left {
                return Err(broken(std::io::ErrorKind::UnexpectedEof.into()));
            }
            into(&piece[..read]);
            left -= read;
        }
        Ok(())
    }

    /// An object of any kind.
    pub(super) fn object(&self, id: &Id, cap: u64) -> Result<(Kind, Vec<u8>), TreeError> {
        match &self.library {
            None => self.by_git(id, cap),
            Some(library) => match by_library(library, id, cap, self.fits(id, cap)) {
                Err(TreeError::Missing { .. }) if self.is_promised() => self.by_git(id, cap),
                read => read,
            },
        }
    }

    /// Whether an object lies in a file of its own that cannot unpack to more than `cap`: then its header need not be read first.
    fn fits(&self, id: &Id, cap: u64) -> bool {
        self.loose(id).is_some_and(|size| size.saturating_mul(DEFLATE) <= cap)
    }

    /// The size of the file that an object has of its own.
    fn loose(&self, id: &Id) -> Option<u64> {
        let name = Oid::from(*id);
        let (folder, rest) = name.as_str().split_at(2);
        Some(self.place.common_dir.join("objects").join(folder).join(rest).metadata().ok()?.len())
    }

    /// A tree.
    pub(super) fn tree(&self, id: &Id) -> Result<Rc<Folder>, TreeError> {
        if let Some(known) = self.trees.borrow().known.get(id) {
            return Ok(Rc::clone(known));
        }
        let folder = Rc::new(Folder::new(self.read(id, Kind::Tree, OBJECT_CAP)?, self.format.width()));
        let mut trees = self.trees.borrow_mut();
        if trees.size + folder.size() > KEPT_TREES {
            *trees = Trees::default();
        }
        trees.size += folder.size();
        trees.known.insert(*id, Rc::clone(&folder));
        Ok(folder)
    }

    /// Whether an object is there. Nothing is fetched to find out.
    pub(super) fn has(&self, id: &Id) -> Result<bool, RepoError> {
        if let Some(library) = &self.library {
            return Ok(library.odb().and_then(|odb| Ok(odb.exists(library_id(id)?)))?);
        }
        let mut slot = self.checks.borrow_mut();
        let mut checks = slot.take().map_or_else(|| self.git().and_then(Batch::start_checking), Ok)?;
        let has = checks.has(id)?;
        *slot = Some(checks);
        Ok(has)
    }

    /// Whether objects may be absent because a remote promised them (a partial clone).
    fn is_promised(&self) -> bool {
        *self.promised.get_or_init(|| self.asks_a_promisor().unwrap_or(false))
    }

    fn asks_a_promisor(&self) -> Result<bool, RepoError> {
        let asked = ["config", "--get-regexp", r"^(extensions\.partialclone|remote\..*\.promisor)$"];
        Ok(self.git()?.run(&asked, None)?.found()?.is_some())
    }

    fn by_git(&self, id: &Id, cap: u64) -> Result<(Kind, Vec<u8>), TreeError> {
        let mut slot = self.batch.borrow_mut();
        let started = slot.take().map_or_else(|| self.git().and_then(Batch::start), Ok);
        let mut batch = started.map_err(|error| TreeError::Store(error.to_string()))?;
        match batch.read(id, cap) {
            Ok(Reply::Object(kind, bytes)) => {
                *slot = Some(batch);
                Ok((kind, bytes))
            }
            Ok(Reply::Missing) => {
                *slot = Some(batch);
                Err(TreeError::Missing { oid: (*id).into(), path: None })
            }
            Ok(Reply::TooLarge(size)) => Err(TreeError::TooLarge { oid: (*id).into(), size, cap, path: None }),
            // A promised object that could not be fetched ends the batch; it is no less missing for that.
            Err(_) if self.is_promised() => Err(TreeError::Missing { oid: (*id).into(), path: None }),
            Err(error) => Err(TreeError::Store(error.to_string())),
        }
    }
}

/// The id as libgit2 wants it.
pub(super) fn library_id(id: &Id) -> Result<git2::Oid, git2::Error> {
    git2::Oid::from_bytes(id.as_bytes())
}

fn by_library(library: &Repository, id: &Id, cap: u64, fits: bool) -> Result<(Kind, Vec<u8>), TreeError> {
    let says = |error: git2::Error| match error.code() {
        ErrorCode::NotFound => TreeError::Missing { oid: (*id).into(), path: None },
        _ => TreeError::Store(format!("object {}: {}", Oid::from(*id), error.message())),
    };
    let odb = library.odb().map_err(says)?;
    let oid = library_id(id).map_err(says)?;
    let size = if fits { 0 } else { odb.read_header(oid).map_err(says)?.0 as u64 };
    if size > cap {
        return Err(TreeError::TooLarge { oid: (*id).into(), size, cap, path: None });
    }
    let object = odb.read(oid).map_err(says)?;
    let kind = Kind::from_library(object.kind()).ok_or_else(|| TreeError::Store(format!("object {} is of no kind", Oid::from(*id))))?;
    Ok((kind, object.data().to_vec()))
}
