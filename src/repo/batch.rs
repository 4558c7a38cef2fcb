//! Owns one `git cat-file` kept open: objects by id, in git's own reading.

use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};

use super::RepoError;
use super::id::Id;
use super::plumbing::{Patient, Plumbing, Running};
use super::store::Kind;
use crate::tree::Oid;

/// A git that answers ids with objects.
pub(super) struct Batch {
    running: Running,
}

/// What the batch says of an id.
pub(super) enum Reply {
    /// The object.
    Object(Kind, Vec<u8>),
    /// It is larger than asked for; the batch is of no more use.
    TooLarge(u64),
    /// There is no such object.
    Missing,
}

impl Batch {
    /// Starts it for reading objects.
    pub(super) fn start(git: &Plumbing) -> Result<Self, RepoError> {
        Ok(Batch { running: git.start(&["cat-file", "--batch"], true)? })
    }

    /// Starts it for finding out which objects are here; promised ones are not fetched.
    pub(super) fn start_checking(git: &Plumbing) -> Result<Self, RepoError> {
        Ok(Batch { running: git.clone().with("GIT_NO_LAZY_FETCH", "1").start(&["cat-file", "--batch-check"], true)? })
    }

    /// Whether an object is here. Only for a batch that was started for it.
    pub(super) fn has(&mut self, id: &Id) -> Result<bool, RepoError> {
        let header = self.ask(id).map_err(|error| self.running.abandon(&error))?;
        Ok(!header.ends_with(b" missing"))
    }

    /// Reads an object of at most `cap` bytes.
    pub(super) fn read(&mut self, id: &Id, cap: u64) -> Result<Reply, RepoError> {
        self.exchange(id, cap).map_err(|error| self.running.abandon(&error))
    }

    /// Sends an id and takes the line that answers it.
    fn ask(&mut self, id: &Id) -> io::Result<Vec<u8>> {
        let stdin = self.running.child.stdin.as_mut().ok_or(io::ErrorKind::BrokenPipe)?;
        stdin.write_all(format!("{}\n", Oid::from(*id)).as_bytes())?;
        stdin.flush()?;
        line(&mut self.running.stdout)
    }

    fn exchange(&mut self, id: &Id, cap: u64) -> io::Result<Reply> {
        let header = self.ask(id)?;
        let mut words = header.split(|b| *b == b' ').skip(1);
        let (kind, size) = match (words.next(), words.next()) {
            (Some(b"missing"), None) => return Ok(Reply::Missing),
            (Some(kind), Some(size)) => (Kind::from_name(kind), number(size)),
            _ => (None, None),
        };
        let (Some(kind), Some(size)) = (kind, size) else {
            return Err(io::Error::other(format!("cat-file said {}", header.escape_ascii())));
        };
        if size > cap {
            return Ok(Reply::TooLarge(size));
        }
        let mut bytes = Vec::new();
        (&mut self.running.stdout).take(size).read_to_end(&mut bytes)?;
        let mut end = [0];
        self.running.stdout.read_exact(&mut end)?;
        Ok(Reply::Object(kind, bytes))
    }
}

/// A line without its end. Headers are short, so byte by byte is no loss.
fn line(from: &mut Patient) -> io::Result<Vec<u8>> {
    let mut line = Vec::new();
    BufReader::with_capacity(1, from.take(512)).read_until(b'\n', &mut line)?;
    match line.pop() {
        Some(b'\n') => Ok(line),
        _ => Err(io::ErrorKind::UnexpectedEof.into()),
    }
}

fn number(digits: &[u8]) -> Option<u64> {
    std::str::from_utf8(digits).ok()?.parse().ok()
}
