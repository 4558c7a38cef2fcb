//! Owns the daemon's main loop: connections in, time, memory and signals watched, an orderly end.

use std::net::Shutdown;
use std::panic::{self, AssertUnwindSafe};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::sync_channel;
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use crate::daemon::DaemonError;
use crate::daemon::history::{History, InFlight};
use crate::daemon::life::Life;
use crate::daemon::place::Place;
use crate::daemon::shared::{Shared, lock};
use crate::daemon::system::{self, Door, Stream};
use crate::daemon::talk;
use crate::daemon::warm::{self, Order};
use crate::daemon::wire::Known;
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
    let shared = Arc::new(Shared::new(&place, orders, history.shunned().len()).map_err(DaemonError::System)?);
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
