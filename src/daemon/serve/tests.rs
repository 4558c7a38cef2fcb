//! A daemon's main loop with a bad day: panics in its workers, a clock that is set.

use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, sync_channel};
use std::time::{Duration, Instant, SystemTime};

use super::{Look, Talk, attend, finish, jumped};
use crate::daemon::life::Life;
use crate::daemon::place::Place;
use crate::daemon::shared::{Shared, lock};
use crate::daemon::talk;
use crate::daemon::warm::Order;
use crate::daemon::wire::{self, ANSWER_CAP, Answer, Hello, Matter, REQUEST_CAP, Request, WireError, Wish};

const DAY: Duration = Duration::from_hours(24);

struct Home {
    folder: tempfile::TempDir,
    place: Place,
    shared: Arc<Shared>,
    orders: Receiver<Order>,
}

fn home() -> Home {
    let private = std::os::unix::fs::PermissionsExt::from_mode(0o700);
    let folder = tempfile::Builder::new().permissions(private).tempdir().unwrap();
    let place = Place::in_folder(folder.path()).unwrap();
    let (send, orders) = sync_channel(8);
    let shared = Arc::new(Shared::new(&place, send, 0).unwrap());
    Home { folder, place, shared, orders }
}

impl Home {
    fn log(&self) -> String {
        std::fs::read_to_string(self.place.log()).unwrap_or_default()
    }

    /// Serves until the daemon leaves or the work is done.
    fn while_it_serves(&self, talk: Talk, work: impl FnOnce()) {
        let mut life = Life::claim(&self.place).unwrap();
        let door = life.open().unwrap();
        let shared = &self.shared;
        std::thread::scope(|scope| {
            scope.spawn(|| attend(&door, shared, &life, DAY, talk));
            work();
            shared.leave("the test is over");
        });
        finish(&door, &self.shared, talk);
    }

    /// Asks for nothing, as a client would; `None` when the connection ends without an answer.
    fn ask(&self) -> Option<()> {
        let mut stream = UnixStream::connect(self.place.socket()).unwrap();
        wire::send(&mut stream, &Hello::new("n"), REQUEST_CAP).ok()?;
        wire::receive(&mut stream, ANSWER_CAP).ok()??;
        wire::send(&mut stream, &Request { nonce: "n".into(), repository: None, wish: Wish::Facts(Vec::new()) }, REQUEST_CAP).ok()?;
        let answer: Answer = wire::parse(&wire::receive(&mut stream, ANSWER_CAP).ok()??).ok()?;
        matches!(answer.matter, Matter::Facts(_)).then_some(())
    }
}

fn wait_for(what: &str, done: impl Fn() -> bool) {
    let end = Instant::now() + Duration::from_mins(1);
    while !done() {
        assert!(Instant::now() < end, "{what} never came");
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Greets, hears the request, and panics over its answer.
fn panics(stream: UnixStream, shared: &Shared) -> Result<(), WireError> {
    if shared.admitted.load(Ordering::SeqCst).is_multiple_of(2) {
        return talk::converse(stream, shared);
    }
    let mut stream = stream;
    wire::receive(&mut stream, REQUEST_CAP)?;
    wire::send(&mut stream, &Hello::new("n"), ANSWER_CAP)?;
    wire::receive(&mut stream, REQUEST_CAP)?;
    panic!("over an answer");
}

#[test]
fn a_panic_over_an_answer_ends_that_connection_and_others_are_served() {
    let home = home();
    home.while_it_serves(panics, || {
        assert_eq!(home.ask(), None, "this worker panicked");
        assert_eq!(home.ask(), Some(()), "the daemon lives");
        assert!(!home.shared.leaving.load(Ordering::SeqCst));
        wait_for("the panic to be counted", || home.shared.panics.load(Ordering::SeqCst) == 1);
    });
    assert!(lock(&home.shared.talks).is_empty(), "a panic leaves no connection behind");
    assert!(home.log().contains("a connection panicked"), "{}", home.log());
    assert!(home.folder.path().is_dir());
}

#[test]
fn a_second_panic_is_the_daemons_end() {
    let home = home();
    home.while_it_serves(panics, || {
        assert_eq!((home.ask(), home.ask(), home.ask()), (None, Some(()), None));
        wait_for("its end", || home.shared.leaving.load(Ordering::SeqCst));
    });
    assert_eq!(lock(&home.shared.reason).as_deref(), Some("too many panics"));
}

#[test]
fn a_clock_that_is_set_costs_the_watcher_and_not_the_daemon() {
    for (wall, doubt) in [(SystemTime::now(), false), (SystemTime::now() - DAY, true), (SystemTime::now() + DAY, true)] {
        let home = home();
        let mut life = Life::claim(&home.place).unwrap();
        let _door = life.open().unwrap();
        let mut look = Look { at: Instant::now(), wall, full: false };
        for _ in 0..3 {
            look.around(&home.shared, &life);
        }
        let orders: Vec<Order> = home.orders.try_iter().collect();
        assert_eq!(orders.len(), usize::from(doubt), "one doubt for one jump, from {wall:?}");
        assert!(orders.iter().all(|order| matches!(order, Order::Doubt(why) if why == "the clock jumped")));
        assert!(!home.shared.leaving.load(Ordering::SeqCst), "it is no reason to leave");
        assert!(home.shared.idle() < DAY, "and nobody was idle for a day");
        life.close();
    }
}

#[test]
fn a_clock_that_was_set_or_slept_has_jumped() {
    for (wall, steady, answer) in [
        (Some(Duration::from_secs(5)), Duration::from_secs(5), false),
        (Some(Duration::from_secs(6)), Duration::from_secs(5), false),
        (Some(DAY), Duration::from_secs(5), true),
        (Some(Duration::ZERO), DAY, true),
        (None, Duration::from_secs(5), true),
    ] {
        assert_eq!(jumped(wall, steady), answer, "{wall:?} {steady:?}");
    }
}
