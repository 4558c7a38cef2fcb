//! Owns the facts the daemon has ready: the latest in memory, all of them in the memo.

use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::gate::facts::Key;
use crate::gate::facts::generations::Generations;
use crate::gate::facts::memo::Memo;
use crate::gate::facts::seal::Sealed;

/// Most bytes of facts in memory.
const MEMORY: usize = 24 << 20;
/// What a fact costs besides its text.
const OVERHEAD: usize = 160;
/// So many new facts are written to the memo at once.
const BATCH: usize = 256;

/// The facts, for all threads.
pub(super) struct Store {
    inner: Mutex<Inner>,
}

struct Inner {
    memory: Generations<Key, Sealed<'static>>,
    memo: Option<Memo>,
    fresh: Vec<Key>,
}

impl Store {
    pub(super) fn new(memo: Option<Memo>) -> Self {
        Store { inner: Mutex::new(Inner { memory: Generations::new(MEMORY), memo, fresh: Vec::new() }) }
    }

    /// What is known of some keys, in their order.
    pub(super) fn get(&self, keys: &[Key]) -> Vec<Option<Sealed<'static>>> {
        let mut inner = self.inner();
        keys.iter().map(|key| inner.get(key)).collect()
    }

    /// Whether a fact is ready.
    pub(super) fn has(&self, key: &Key) -> bool {
        let mut inner = self.inner();
        inner.memory.has(key) || inner.get(key).is_some()
    }

    /// Adds a fact.
    pub(super) fn put(&self, key: Key, sealed: Sealed<'static>) {
        let mut inner = self.inner();
        inner.fresh.push(key.clone());
        let weight = sealed.text.len() + OVERHEAD;
        inner.memory.put(key, sealed, weight);
        if inner.fresh.len() >= BATCH {
            inner.write();
        }
    }

    /// Whether the memo keeps what memory forgets.
    pub(super) fn remembers(&self) -> bool {
        self.inner().memo.as_ref().is_some_and(Memo::is_usable)
    }

    /// Writes what is new to the memo.
    pub(super) fn flush(&self) {
        self.inner().write();
    }

    /// Sees what other processes have written since.
    pub(super) fn refresh(&self) {
        if let Some(memo) = self.inner().memo.as_mut() {
            memo.refresh();
        }
    }

    /// Gives the memory back; the memo still has the facts.
    pub(super) fn trim(&self) {
        let mut inner = self.inner();
        inner.write();
        inner.memory.clear();
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inner {
    fn get(&mut self, key: &Key) -> Option<Sealed<'static>> {
        if let Some(known) = self.memory.get(key) {
            return Some(known.clone());
        }
        let sealed = self.memo.as_mut()?.sealed(key.0, &key.1)?;
        self.memory.put(key.clone(), sealed.clone(), sealed.text.len() + OVERHEAD);
        Some(sealed)
    }

    fn write(&mut self) {
        let fresh = std::mem::take(&mut self.fresh);
        let Some(memo) = self.memo.as_mut().filter(|memo| !fresh.is_empty() || memo.wants_moving()) else { return };
        let facts = fresh.into_iter().filter_map(|key| self.memory.get(&key).cloned().map(|sealed| (key.0, key.1, sealed)));
        memo.put(facts.collect());
    }
}
