//! Owns reading objects by id, from libgit2 or from git itself.

use std::cell::{OnceCell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;

use git2::{ErrorCode, ObjectType, Repository};

use super::RepoError;
use super::batch::{Batch, Reply};
use super::environment::Environment;
use super::id::{Format, Id};
use super::open::{Found, Place};
use super::plumbing::Plumbing;
use crate::tree::{Oid, TreeError};

/// No tree, commit or tag that is larger is read.
pub(super) const OBJECT_CAP: u64 = 256 * 1024 * 1024;
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
}

#[derive(Default)]
struct Trees {
    known: HashMap<Id, Rc<[u8]>>,
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
        }
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

    /// An object of any kind.
    pub(super) fn object(&self, id: &Id, cap: u64) -> Result<(Kind, Vec<u8>), TreeError> {
        match &self.library {
            None => self.by_git(id, cap),
            Some(library) => match by_library(library, id, cap) {
                Err(TreeError::Missing { .. }) if self.is_promised() => self.by_git(id, cap),
                read => read,
            },
        }
    }

    /// The bytes of a tree.
    pub(super) fn tree(&self, id: &Id) -> Result<Rc<[u8]>, TreeError> {
        if let Some(known) = self.trees.borrow().known.get(id) {
            return Ok(Rc::clone(known));
        }
        let bytes: Rc<[u8]> = self.read(id, Kind::Tree, OBJECT_CAP)?.into();
        let mut trees = self.trees.borrow_mut();
        if trees.size + bytes.len() > KEPT_TREES {
            *trees = Trees::default();
        }
        trees.size += bytes.len();
        trees.known.insert(*id, Rc::clone(&bytes));
        Ok(bytes)
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

fn by_library(library: &Repository, id: &Id, cap: u64) -> Result<(Kind, Vec<u8>), TreeError> {
    let says = |error: git2::Error| match error.code() {
        ErrorCode::NotFound => TreeError::Missing { oid: (*id).into(), path: None },
        _ => TreeError::Store(format!("object {}: {}", Oid::from(*id), error.message())),
    };
    let odb = library.odb().map_err(says)?;
    let oid = library_id(id).map_err(says)?;
    let size = odb.read_header(oid).map_err(says)?.0 as u64;
    if size > cap {
        return Err(TreeError::TooLarge { oid: (*id).into(), size, cap, path: None });
    }
    let object = odb.read(oid).map_err(says)?;
    let kind = Kind::from_library(object.kind()).ok_or_else(|| TreeError::Store(format!("object {} is of no kind", Oid::from(*id))))?;
    Ok((kind, object.data().to_vec()))
}
