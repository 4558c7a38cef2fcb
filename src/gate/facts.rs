//! Owns facts of blobs: modules and digests by blob id, whichever layer has them.

pub mod engine;
pub mod generations;
mod index;
pub mod memo;
pub mod seal;

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasher as _, RandomState};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::digest;
use crate::finding::Finding;
use crate::gate::facts::generations::Generations;
use crate::gate::facts::memo::Memo;
use crate::gate::facts::seal::Sealed;
use crate::strength::languages::{Language, Module, Unreadable};
use crate::tree::{Oid, Tree, TreeError};

/// What is asked of a blob. With the engine id and the blob id it is the whole key: a fact never goes stale.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Question {
    /// The module of a language.
    Module(Language),
    /// SHA-256 of the bytes.
    Sha256,
}

/// A fact.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fact {
    /// The module.
    Module(Arc<Module>),
    /// The bytes are no module of that language: deterministic, so a fact too.
    Unreadable(Unreadable),
    /// Lower-case hex.
    Sha256(String),
}

/// How many facts each layer answered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// Found in this process.
    pub memory: u64,
    /// Found in the memo on disk.
    pub memo: u64,
    /// Answered by the daemon.
    pub daemon: u64,
    /// Computed here.
    pub cold: u64,
}

impl Counts {
    /// The farthest a question had to go: `cold`, `daemon` or `memo`.
    pub fn source(&self) -> &'static str {
        match self {
            Counts { cold: 0, daemon: 0, memo: 1.., .. } => "memo",
            Counts { cold: 0, daemon: 1.., .. } => "daemon",
            _ => "cold",
        }
    }
}

/// A question about a blob.
pub type Key = (Question, Oid);

/// An answer that turned out wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Wrong {
    /// A fact of a blob.
    Blob(Question, Oid),
    /// What a change takes away, by its digest.
    Change(String),
}

/// A layer that answers many questions in one go: the daemon's client.
pub trait Batch: Send {
    /// The facts it has, a part or none of what was asked.
    fn ask(&mut self, wanted: &[Key]) -> HashMap<Key, Fact>;

    /// Told when an answer turned out wrong.
    fn distrust(&mut self) {}
}

/// How many answers of the outer layers are computed again to see whether they are right.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Audit {
    /// One in 64, chosen at random.
    #[default]
    Some,
    /// Every one.
    All,
}

/// Most facts held in memory: a long history must not grow without bound.
const MEMORY: usize = 1 << 16;
/// Most facts that wait to be written to the memo.
const FRESH: usize = 4096;
/// Bytes that are read before the modules in them are computed side by side.
const BATCH: usize = 16 << 20;
/// Fewer bytes than this are read faster than threads are started.
const SHARED: usize = 64 << 10;

/// The layers, nearest first. The judge does not know which one answered.
pub struct Facts {
    layers: Mutex<Layers>,
    audit: Audit,
    dice: RandomState,
}

struct Layers {
    memory: Generations<Key, Held>,
    memo: Option<Memo>,
    daemon: Option<Box<dyn Batch>>,
    fresh: Vec<(Key, Fact)>,
    weighed: Vec<(String, Vec<Finding>)>,
    counts: Counts,
    wrong: Option<Wrong>,
}

#[derive(Clone)]
struct Held {
    fact: Fact,
    from: From,
}

/// Where a fact in memory came from; after its first use it is simply known.
#[derive(Clone, Copy, PartialEq)]
enum From {
    Memo,
    Daemon,
    /// Computed here before anybody asked.
    Cold,
    Known,
}

impl Default for Facts {
    fn default() -> Self {
        Facts::cold()
    }
}

impl Facts {
    /// Only this process: nothing is asked of disk or daemon.
    pub fn cold() -> Self {
        Facts::layered(None, None)
    }

    /// With a memo and a daemon behind the memory, each optional. Neither is touched before the first question.
    pub fn layered(memo: Option<Memo>, daemon: Option<Box<dyn Batch>>) -> Self {
        let memory = Generations::new(MEMORY);
        let layers = Layers { memory, memo, daemon, fresh: Vec::new(), weighed: Vec::new(), counts: Counts::default(), wrong: None };
        Facts { layers: Mutex::new(layers), audit: Audit::default(), dice: RandomState::new() }
    }

    /// The same with at most so many facts in memory: for work that goes through many blobs and comes back to few.
    #[must_use]
    pub fn holding(mut self, most: usize) -> Self {
        self.layers.get_mut().unwrap_or_else(PoisonError::into_inner).memory = Generations::new(most);
        self
    }

    /// The same with another share of answers computed again.
    #[must_use]
    pub fn audited(mut self, audit: Audit) -> Self {
        self.audit = audit;
        self
    }

    /// Tells the outer layers what will be asked soon, so that they answer in one batch. Never needed for a right answer.
    pub fn prefetch(&self, wanted: &[(Question, Oid)]) {
        self.layers().prefetch(wanted);
    }

    /// The same, and what no outer layer has is computed side by side; `read` brings the bytes. What cannot be read is left for the one who
    /// asks for it. Never needed for a right answer.
    pub fn prepare(&self, wanted: &[Key], read: &dyn Fn(&Key) -> Result<Vec<u8>, TreeError>) {
        self.prefetch(wanted);
        let mut missing: Vec<&Key> = {
            let layers = self.layers();
            let mut seen = HashSet::new();
            wanted.iter().filter(|key| matches!(key.0, Question::Module(_)) && seen.insert(*key) && !layers.memory.has(key)).collect()
        };
        // One alone has nobody to share the work with.
        while missing.len() > 1 {
            let mut bytes = 0;
            let mut batch: Vec<(&Key, Vec<u8>)> = Vec::new();
            while bytes < BATCH {
                let Some(key) = missing.pop() else { break };
                let Ok(text) = read(key) else { continue };
                bytes += text.len();
                batch.push((key, text));
            }
            let one = |(key, text): (&'_ Key, Vec<u8>)| (key.clone(), compute(key.0, &text));
            let computed: Vec<(Key, Fact)> =
                if bytes < SHARED { batch.into_iter().map(one).collect() } else { batch.into_par_iter().map(one).collect() };
            let mut layers = self.layers();
            computed.into_iter().for_each(|(key, fact)| layers.computed(key, &fact, From::Cold));
        }
    }

    /// A fact; `read` brings the bytes when no layer has it.
    ///
    /// # Errors
    /// What `read` says: an error is never kept as a fact.
    pub fn get(&self, question: Question, oid: &Oid, read: &dyn Fn() -> Result<Vec<u8>, TreeError>) -> Result<Fact, TreeError> {
        self.answer((question, oid.clone()), &|| Ok(compute(question, &read()?)))
    }

    /// SHA-256 of a blob of a tree, at most `cap` bytes of it; it is never held as a whole.
    ///
    /// # Errors
    /// When the blob cannot be read.
    pub fn sha256(&self, tree: &dyn Tree, oid: &Oid, cap: u64) -> Result<String, TreeError> {
        let compute = || Ok(Fact::Sha256(digest::sha256_poured(|into| tree.pour(oid, cap, into))?));
        match self.answer((Question::Sha256, oid.clone()), &compute)? {
            Fact::Sha256(hex) => Ok(hex),
            Fact::Module(_) | Fact::Unreadable(_) => Err(TreeError::Store(format!("{oid}: its digest was answered with something else"))),
        }
    }

    fn answer(&self, key: Key, compute: &dyn Fn() -> Result<Fact, TreeError>) -> Result<Fact, TreeError> {
        let known = self.layers().known(&key);
        match known {
            Some(held) if matches!(held.from, From::Memo | From::Daemon) && self.is_audited(&key) => {
                Ok(self.check(key, &held.fact, compute()?))
            }
            Some(held) => Ok(held.fact),
            None => {
                let fact = compute()?;
                let mut layers = self.layers();
                layers.counts.cold += 1;
                layers.computed(key, &fact, From::Known);
                drop(layers);
                Ok(fact)
            }
        }
    }

    /// What a change takes away. `change` is the SHA-256 of all that decides it, so a kept answer never goes stale. It is asked of the memo
    /// and never of the daemon; an answer that had to be made is counted by the facts that it was made of.
    ///
    /// # Errors
    /// What `compute` says: an error is never kept.
    pub(super) fn losses<E>(&self, change: &str, compute: impl Fn() -> Result<Vec<Finding>, E>) -> Result<Vec<Finding>, E> {
        let name = format!("losses {change}");
        let known = self.layers().weighed(&name);
        let is_taken = known.is_some() && !(self.audit == Audit::All || self.dice.hash_one(&name).is_multiple_of(64));
        match known {
            Some(said) if is_taken => Ok(said),
            Some(said) => {
                let losses = compute()?;
                if losses != said {
                    self.layers().distrust(Wrong::Change(change.to_owned()));
                }
                Ok(losses)
            }
            None => {
                let losses = compute()?;
                self.layers().keep(name, &losses);
                Ok(losses)
            }
        }
    }

    /// What answered so far.
    pub fn counts(&self) -> Counts {
        self.layers().counts
    }

    /// The answer that turned out wrong, if one did: the verdict made with these facts must be made again with
    /// [`Facts::cold`].
    pub fn distrusted(&self) -> Option<Wrong> {
        self.layers().wrong.clone()
    }

    /// Writes what was computed to the memo, once, after the verdict is out. Its cost is bounded; what does not fit is not kept.
    pub fn flush(&self) {
        self.layers().flush();
    }

    fn is_audited(&self, key: &Key) -> bool {
        self.audit == Audit::All || self.dice.hash_one(key).is_multiple_of(64)
    }

    /// Holds a fact against what was computed again. When it differs, no outer layer is asked any more.
    fn check(&self, key: Key, said: &Fact, fact: Fact) -> Fact {
        if fact != *said {
            self.layers().distrust(Wrong::Blob(key.0, key.1));
        }
        fact
    }

    /// A panic elsewhere leaves whole facts behind, so a poisoned lock is only a lock.
    fn layers(&self) -> MutexGuard<'_, Layers> {
        self.layers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Layers {
    fn prefetch(&mut self, wanted: &[Key]) {
        let mut seen = HashSet::new();
        let mut missing: Vec<Key> = wanted.iter().filter(|key| seen.insert(*key) && !self.memory.has(key)).cloned().collect();
        missing.retain(|key| !self.recall(key));
        let Some(daemon) = self.daemon.as_mut().filter(|_| !missing.is_empty()) else { return };
        for (key, fact) in daemon.ask(&missing) {
            self.memory.put(key, Held { fact, from: From::Daemon }, 1);
        }
    }

    /// Brings a fact from the memo into memory, if it is there.
    fn recall(&mut self, key: &Key) -> bool {
        let Some(fact) = self.memo.as_mut().and_then(|memo| memo.get(key.0, &key.1)) else { return false };
        self.memory.put(key.clone(), Held { fact, from: From::Memo }, 1);
        true
    }

    fn known(&mut self, key: &Key) -> Option<Held> {
        if !self.memory.has(key) {
            self.recall(key);
        }
        let held = self.memory.get(key)?;
        let known = held.clone();
        held.from = From::Known;
        match known.from {
            From::Memo => self.counts.memo += 1,
            From::Daemon => self.counts.daemon += 1,
            From::Cold => self.counts.cold += 1,
            From::Known => self.counts.memory += 1,
        }
        Some(known)
    }

    fn computed(&mut self, key: Key, fact: &Fact, from: From) {
        if self.memo.is_some() && self.fresh.len() < FRESH {
            self.fresh.push((key.clone(), fact.clone()));
        }
        self.memory.put(key, Held { fact: fact.clone(), from }, 1);
    }

    fn distrust(&mut self, wrong: Wrong) {
        self.wrong = Some(wrong);
        self.memory.clear();
        if let Some(mut memo) = self.memo.take() {
            memo.wipe();
        }
        if let Some(mut daemon) = self.daemon.take() {
            daemon.distrust();
        }
    }

    fn flush(&mut self) {
        let (fresh, weighed) = (std::mem::take(&mut self.fresh), std::mem::take(&mut self.weighed));
        let is_idle = fresh.is_empty() && weighed.is_empty();
        let Some(memo) = self.memo.as_mut().filter(|memo| !is_idle || memo.wants_moving()) else { return };
        let facts =
            fresh.into_iter().filter_map(|((question, oid), fact)| Some((seal::key(question, &oid), Sealed::of(question, &oid, &fact)?)));
        let changes = weighed.into_iter().filter_map(|(name, losses)| Some((Sealed::named(&name, &losses)?, name)));
        memo.keep(changes.map(|(sealed, name)| (name, sealed)).chain(facts).collect());
    }

    fn weighed(&mut self, name: &str) -> Option<Vec<Finding>> {
        let losses = serde_json::from_str(&self.memo.as_mut()?.named(name)?.text).ok()?;
        self.counts.memo += 1;
        Some(losses)
    }

    fn keep(&mut self, name: String, losses: &[Finding]) {
        if self.memo.is_some() && self.weighed.len() < FRESH {
            self.weighed.push((name, losses.to_vec()));
        }
    }
}

/// Computes a fact from bytes: the one function that every layer's answer must equal.
pub fn compute(question: Question, bytes: &[u8]) -> Fact {
    match question {
        Question::Sha256 => Fact::Sha256(digest::sha256_hex(bytes)),
        Question::Module(language) => match language.module(bytes) {
            Ok(module) => Fact::Module(Arc::new(module)),
            Err(unreadable) => Fact::Unreadable(unreadable),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::memo::Memo;
    use super::seal::Sealed;
    use super::{Audit, Facts, Wrong};
    use crate::finding::{Finding, Rule};

    #[expect(clippy::unnecessary_wraps, reason = "it stands for a computation that may fail")]
    fn lost() -> Result<Vec<Finding>, ()> {
        Ok(vec![Finding::new(Rule::AssertionRemoved)])
    }

    #[test]
    fn a_planted_lie_about_a_change_is_found_by_an_audit_and_the_memo_is_wiped() {
        let home = tempfile::tempdir().unwrap();
        let memo = || Memo::at(home.path().join("facts"), Memo::CAP);
        let planted = Sealed::named("losses abc", &Vec::<Finding>::new()).unwrap();
        memo().keep(vec![("losses abc".to_owned(), planted.clone())]);
        let facts = Facts::layered(Some(memo()), None).audited(Audit::All);
        assert_eq!(facts.losses("abc", lost), lost());
        assert_eq!(facts.distrusted(), Some(Wrong::Change("abc".to_owned())));
        assert!(memo().named("losses abc").is_none());
        // Under another change's name its seal is broken.
        memo().keep(vec![("losses abd".to_owned(), planted)]);
        let facts = Facts::layered(Some(memo()), None);
        assert_eq!(facts.losses("abd", lost), lost());
        assert_eq!((facts.counts().memo, facts.distrusted()), (0, None));
    }

    #[test]
    fn what_could_not_be_told_is_not_kept() {
        let home = tempfile::tempdir().unwrap();
        let memo = || Memo::at(home.path().join("facts"), Memo::CAP);
        let facts = Facts::layered(Some(memo()), None);
        assert_eq!(facts.losses("abc", || Err(())), Err(()));
        facts.flush();
        assert_eq!(Facts::layered(Some(memo()), None).losses("abc", lost), lost());
    }
}
