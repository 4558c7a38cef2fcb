//! Owns digests of committed folders: every blob hashed once, side by side, by whichever layer of facts has it.

use std::collections::{BTreeSet, HashMap};
use std::num::NonZero;
use std::sync::Mutex;
use std::thread;

use crate::digest::{self, FolderDigest};
use crate::gate::GateError;
use crate::gate::cards::FIXTURE_CAP;
use crate::gate::facts::{Facts, Question};
use crate::repo::{Environment, Repo};
use crate::tree::{Entry, Oid, RepoPath, Tree};

/// The digest of a folder (or one file) of a tree; `b""` is the root. Handles on the repository are not shared between
/// threads, so each opens its own.
///
/// # Errors
/// When the tree or a blob cannot be read.
pub fn folder(environment: &Environment, tree: &dyn Tree, facts: &Facts, dir: &[u8]) -> Result<FolderDigest, GateError> {
    let files = digest::regular(tree, dir)?;
    let mut seen = BTreeSet::new();
    let blobs: Vec<&(RepoPath, Entry)> = files.iter().filter(|(_, entry)| seen.insert(&entry.oid)).collect();
    facts.prefetch(&blobs.iter().map(|(_, entry)| (Question::Sha256, entry.oid.clone())).collect::<Vec<_>>());
    let sums = sums(environment, facts, &blobs)?;
    let named = files.iter().filter_map(|(path, entry)| Some((path.clone(), sums.get(&entry.oid)?.clone())));
    Ok(FolderDigest::of(dir, named))
}

/// SHA-256 of each blob. Threads take the next one as they are free.
fn sums(environment: &Environment, facts: &Facts, blobs: &[&(RepoPath, Entry)]) -> Result<HashMap<Oid, String>, GateError> {
    let threads = thread::available_parallelism().map_or(1, NonZero::get).min(blobs.len());
    let next = Mutex::new(blobs.iter());
    let take = || next.lock().ok().and_then(|mut next| next.next().copied());
    let work = || -> Result<Vec<(Oid, String)>, GateError> {
        let repo = Repo::open(environment)?;
        let store = repo.tree(None)?;
        std::iter::from_fn(take).map(|(path, entry)| sum(&store, facts, path, &entry.oid)).collect()
    };
    thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        let mut all = HashMap::new();
        for worker in workers {
            // A worker's panic is this thread's: the process must not go on as if the blobs were hashed.
            all.extend(worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))?);
        }
        Ok(all)
    })
}

fn sum(store: &dyn Tree, facts: &Facts, path: &RepoPath, oid: &Oid) -> Result<(Oid, String), GateError> {
    Ok((oid.clone(), facts.sha256(store, oid, FIXTURE_CAP).map_err(|error| error.of(path))?))
}
