//! Owns what the daemon's threads share: the facts, the log, the counts, and the wish to end.

use std::collections::HashMap;
use std::io;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::SyncSender;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use crate::daemon::log::Log;
use crate::daemon::place::Place;
use crate::daemon::store::Store;
use crate::daemon::system::{self, Stream, Waker};
use crate::daemon::warm::Order;
use crate::daemon::wire::{Known, Merge, Status, Warmth};
use crate::gate::facts::memo::Memo;

/// How long no verdict must have asked for anything before the next blob is read ahead.
pub(super) const QUIET: Duration = Duration::from_millis(30);
/// Longest wait for that.
const ASIDE: Duration = Duration::from_millis(500);

/// What the daemon's threads share.
pub(super) struct Shared {
    pub(super) store: Store,
    pub(super) log: Log,
    pub(super) told: AtomicU64,
    pub(super) unknown: AtomicU64,
    pub(super) warmed: AtomicU64,
    pub(super) watches: AtomicUsize,
    pub(super) watch_off: Mutex<Option<String>>,
    pub(super) merges: Mutex<HashMap<Known, Vec<Merge>>>,
    pub(super) warmth: Mutex<Vec<Warmth>>,
    pub(super) leaving: AtomicBool,
    pub(super) reason: Mutex<Option<String>>,
    pub(super) orders: SyncSender<Order>,
    started: Instant,
    last: Mutex<Instant>,
    worked: Mutex<Instant>,
    pub(super) requests: AtomicU64,
    pub(super) admitted: AtomicU64,
    pub(super) panics: AtomicUsize,
    pub(super) signals: AtomicUsize,
    shunned: usize,
    pub(super) talks: Mutex<HashMap<u64, Stream>>,
    pub(super) waker: Waker,
}

impl Shared {
    /// The state of a daemon that has just started.
    pub(super) fn new(place: &Place, orders: SyncSender<Order>, shunned: usize) -> io::Result<Self> {
        Ok(Shared {
            store: Store::new(Memo::of_user()),
            log: Log::open(&place.log()),
            told: AtomicU64::new(0),
            unknown: AtomicU64::new(0),
            warmed: AtomicU64::new(0),
            watches: AtomicUsize::new(0),
            watch_off: Mutex::new(None),
            merges: Mutex::default(),
            warmth: Mutex::default(),
            leaving: AtomicBool::new(false),
            reason: Mutex::new(None),
            orders,
            started: Instant::now(),
            last: Mutex::new(Instant::now()),
            worked: Mutex::new(Instant::now()),
            requests: AtomicU64::new(0),
            admitted: AtomicU64::new(0),
            panics: AtomicUsize::new(0),
            signals: AtomicUsize::new(0),
            shunned,
            talks: Mutex::default(),
            waker: Waker::new()?,
        })
    }

    /// A request came: the daemon is in use.
    pub(super) fn asked(&self, of_work: bool) {
        self.requests.fetch_add(1, Ordering::Relaxed);
        *lock(&self.last) = Instant::now();
        if of_work {
            *lock(&self.worked) = Instant::now();
        }
    }

    /// Time since the last request of any kind.
    pub(super) fn idle(&self) -> Duration {
        lock(&self.last).elapsed()
    }

    /// Lets verdicts go first: waits until none has asked for a while, but not for ever.
    pub(super) fn step_aside(&self, quiet: Duration) {
        let end = Instant::now() + ASIDE;
        while lock(&self.worked).elapsed() < quiet && Instant::now() < end && !self.leaving.load(Ordering::SeqCst) {
            thread::sleep(Duration::from_millis(5));
        }
    }

    /// Asks the main loop to end; the first reason is the one that is logged.
    pub(super) fn leave(&self, reason: &str) {
        lock(&self.reason).get_or_insert_with(|| reason.to_owned());
        self.leaving.store(true, Ordering::SeqCst);
        self.waker.wake();
    }

    /// A repository is worked in. When there is too much to do already, it will be heard of again.
    pub(super) fn learn(&self, known: Known) {
        let _ = self.orders.try_send(Order::Learn(known));
    }

    /// What is known of a repository's merges.
    pub(super) fn merges(&self, known: &Known) -> Vec<Merge> {
        lock(&self.merges).get(known).cloned().unwrap_or_default()
    }

    /// How the daemon is.
    pub(super) fn status(&self) -> Status {
        Status {
            pid: std::process::id(),
            up_seconds: self.started.elapsed().as_secs(),
            requests: self.requests.load(Ordering::Relaxed),
            told: self.told.load(Ordering::Relaxed),
            unknown: self.unknown.load(Ordering::Relaxed),
            warmed: self.warmed.load(Ordering::Relaxed),
            resident: system::resident(),
            repositories: lock(&self.warmth).clone(),
            watches: self.watches.load(Ordering::Relaxed),
            watch_off: lock(&self.watch_off).clone(),
            shunned: self.shunned,
        }
    }

    /// Tells the reading thread that there is something to look at; when it has enough to do, it will look anyway.
    pub(super) fn bell(&self) -> impl Fn() + Send + Sync + 'static {
        let orders = self.orders.clone();
        move || drop(orders.try_send(Order::Hint))
    }

    /// A signal asked for the end; a second one asks for it now.
    pub(super) fn signal(&self) {
        self.signals.fetch_add(1, Ordering::SeqCst);
        self.leave("a signal");
    }
}

/// Locks; a thread that panicked leaves whole values behind.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
