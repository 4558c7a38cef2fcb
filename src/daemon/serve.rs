//! Owns the daemon's main loop and what its threads share: connections in, time, memory and signals watched, an orderly end.

use std::collections::HashMap;
use std::net::Shutdown;
use std::panic::{self, AssertUnwindSafe};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use crate::daemon::DaemonError;
use crate::daemon::history::{History, InFlight};
use crate::daemon::life::Life;
use crate::daemon::log::Log;
use crate::daemon::place::Place;
use crate::daemon::store::Store;
use crate::daemon::system::{self, Door, Stream, Waker};
use crate::daemon::talk;
use crate::daemon::warm::{self, Order};
use crate::daemon::wire::{Known, Merge, Status, Warmth};
use crate::gate::facts::memo::Memo;
use crate::gate::folder;

/// Most connections at once; one more is closed at once, and that client computes for itself.
const CONNECTIONS: usize = 64;
/// How often the daemon looks whether it should still be there.
const TICK: Duration = Duration::from_secs(5);
/// Most resident memory, in bytes.
const RESIDENT: u64 = 256 << 20;
/// How long an end waits for answers that are on their way.
const FAREWELL: Duration = Duration::from_secs(2);
/// So many panics, and the daemon no longer trusts itself.
const PANICS: usize = 2;
/// A clock that disagrees with itself by more was set, or the machine slept.
const JUMP: Duration = Duration::from_mins(1);
/// How long no verdict must have asked for anything before the next blob is read ahead.
pub(super) const QUIET: Duration = Duration::from_millis(30);
/// Longest wait for that.
const ASIDE: Duration = Duration::from_millis(500);
/// Stack of a connection's thread.
const STACK: usize = 512 << 10;

/// How a daemon is started.
#[derive(Clone, Debug)]
pub struct Options {
    /// Ends so long after the last request.
    pub idle: Duration,
    /// The first repository to keep warm.
    pub known: Option<Known>,
}

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
    reason: Mutex<Option<String>>,
    orders: SyncSender<Order>,
    started: Instant,
    last: Mutex<Instant>,
    worked: Mutex<Instant>,
    requests: AtomicU64,
    admitted: AtomicU64,
    panics: AtomicUsize,
    signals: AtomicUsize,
    shunned: usize,
    talks: Mutex<HashMap<u64, Stream>>,
    waker: Waker,
}

impl Shared {
    /// A request came: the daemon is in use.
    pub(super) fn asked(&self, of_work: bool) {
        self.requests.fetch_add(1, Ordering::Relaxed);
        *lock(&self.last) = Instant::now();
        if of_work {
            *lock(&self.worked) = Instant::now();
        }
    }

    /// Time since the last request of any kind.
    fn idle(&self) -> Duration {
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

    fn signal(&self) {
        self.signals.fetch_add(1, Ordering::SeqCst);
        self.leave("a signal");
    }
}

/// Locks; a thread that panicked leaves whole values behind.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Is the daemon, until it is idle, asked to end, or no longer the one.
///
/// # Errors
/// When it cannot start: another one runs, or there is no safe place.
pub fn serve(options: Options) -> Result<(), DaemonError> {
    system::detach();
    let place = Place::find(true)?;
    let mut life = Life::claim(&place)?;
    let history = History::begin(&place);
    let door = match life.open() {
        Ok(door) => door,
        Err(error) => {
            history.end(&place);
            return Err(error);
        }
    };
    let (orders, inbox) = sync_channel(64);
    let shared = Arc::new(Shared {
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
        shunned: history.shunned().len(),
        talks: Mutex::default(),
        waker: Waker::new().map_err(DaemonError::System)?,
    });
    shared.log.say(&format!("started in {}", folder::shown(place.folder())));
    let handler = Arc::clone(&shared);
    ctrlc::set_handler(move || handler.signal()).map_err(|error| DaemonError::System(std::io::Error::other(error)))?;
    let warmer = warm::start(&shared, inbox, InFlight::open(&place), history.shunned().to_vec()).map_err(DaemonError::System)?;
    if let Some(known) = options.known {
        shared.learn(known);
    }
    attend(&door, &shared, &life, options.idle);
    life.close();
    finish(&door, &shared);
    let _ = shared.orders.try_send(Order::End);
    drop(warmer);
    shared.store.flush();
    history.end(&place);
    let reason = lock(&shared.reason).clone().unwrap_or_default();
    shared.log.say(&format!("ended after {} requests: {reason}", shared.requests.load(Ordering::Relaxed)));
    Ok(())
}

/// Lets clients in until there is a reason to leave.
fn attend(door: &Door, shared: &Arc<Shared>, life: &Life, idle: Duration) {
    let mut look = Look { at: Instant::now(), wall: SystemTime::now(), full: false };
    while !shared.leaving.load(Ordering::SeqCst) {
        let quiet = shared.idle();
        if quiet >= idle {
            shared.leave("nobody asked for anything any more");
            break;
        }
        door.wait(&shared.waker, TICK.saturating_sub(look.at.elapsed()).min(idle.saturating_sub(quiet)));
        while let Some(stream) = door.next() {
            admit(stream, shared);
        }
        if look.at.elapsed() >= TICK {
            look.around(shared, life);
        }
    }
}

/// What the last look around saw.
struct Look {
    at: Instant,
    wall: SystemTime,
    full: bool,
}

impl Look {
    /// Whether this daemon is still the one, and not too large; and whether the clock jumped.
    fn around(&mut self, shared: &Shared, life: &Life) {
        if let Some(reason) = life.lost() {
            shared.leave(reason);
        }
        if jumped(self.wall.elapsed().ok(), self.at.elapsed()) {
            let _ = shared.orders.try_send(Order::Doubt("the clock jumped".into()));
        }
        let full = system::resident().is_some_and(|bytes| bytes > RESIDENT);
        if full && self.full {
            shared.leave("too much memory is in use");
        } else if full {
            shared.log.say("much memory is in use: dropping what the memo has too");
            shared.store.trim();
        }
        shared.store.refresh();
        *self = Look { at: Instant::now(), wall: SystemTime::now(), full };
    }
}

/// Whether two clocks disagree on how much time has passed; `None` when the first went backwards.
fn jumped(wall: Option<Duration>, steady: Duration) -> bool {
    wall.is_none_or(|wall| wall.abs_diff(steady) > JUMP)
}

/// Gives a client a thread of its own. A panic in it ends that connection; a second one ends the daemon.
fn admit(stream: Stream, shared: &Arc<Shared>) {
    let id = shared.admitted.fetch_add(1, Ordering::Relaxed);
    let Ok(other) = stream.try_clone() else { return };
    {
        let mut talks = lock(&shared.talks);
        if talks.len() >= CONNECTIONS {
            return;
        }
        talks.insert(id, other);
    }
    let thread_shared = Arc::clone(shared);
    let talk = move || {
        let talked = panic::catch_unwind(AssertUnwindSafe(|| talk::converse(stream, &thread_shared)));
        lock(&thread_shared.talks).remove(&id);
        if talked.is_err() {
            thread_shared.log.say("a connection panicked");
            if thread_shared.panics.fetch_add(1, Ordering::SeqCst) + 1 >= PANICS {
                thread_shared.leave("too many panics");
            }
        }
        if thread_shared.leaving.load(Ordering::SeqCst) {
            thread_shared.waker.wake();
        }
    };
    if thread::Builder::new().name("talk".into()).stack_size(STACK).spawn(talk).is_err() {
        lock(&shared.talks).remove(&id);
    }
}

/// Answers those who had already connected, and waits a little for answers on their way. A second signal ends the wait.
fn finish(door: &Door, shared: &Arc<Shared>) {
    let signals = shared.signals.load(Ordering::SeqCst);
    while let Some(stream) = door.next() {
        admit(stream, shared);
    }
    for stream in lock(&shared.talks).values() {
        let _ = stream.shutdown(Shutdown::Read);
    }
    let end = Instant::now() + FAREWELL;
    while !lock(&shared.talks).is_empty() && Instant::now() < end && shared.signals.load(Ordering::SeqCst) == signals {
        thread::sleep(Duration::from_millis(1));
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::jumped;

    #[test]
    fn a_clock_that_was_set_or_slept_has_jumped() {
        let day = Duration::from_hours(24);
        for (wall, steady, answer) in [
            (Some(Duration::from_secs(5)), Duration::from_secs(5), false),
            (Some(Duration::from_secs(6)), Duration::from_secs(5), false),
            (Some(day), Duration::from_secs(5), true),
            (Some(Duration::ZERO), day, true),
            (None, Duration::from_secs(5), true),
        ] {
            assert_eq!(jumped(wall, steady), answer, "{wall:?} {steady:?}");
        }
    }
}
