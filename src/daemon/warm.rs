//! Owns reading ahead: the thread that computes facts before they are asked for, whenever nobody asks for anything.

use std::collections::{BTreeSet, HashSet};
use std::panic::{self, AssertUnwindSafe};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::thread::{self, JoinHandle, sleep};
use std::time::{Duration, Instant};

use crate::daemon::history::InFlight;
use crate::daemon::merges;
use crate::daemon::shared::{QUIET, Shared, lock};
use crate::daemon::system;
use crate::daemon::watch::{self, Eyes, Inbox};
use crate::daemon::wire::Known;
use crate::gate::ahead;
use crate::gate::facts::generations::Generations;
use crate::gate::facts::seal::Sealed;
use crate::gate::facts::{Fact, Key, Question, compute};
use crate::tree::TreeError;

pub(super) mod ward;
use ward::Ward;

/// Most repositories that are kept warm.
const WARDS: usize = 16;
/// Most folders that are watched, and the share of what the user may watch at all.
const WATCHES: usize = 4096;
const SHARE: usize = 20;
/// How long files must be left alone before they are read ahead.
const SETTLE: Duration = Duration::from_millis(50);
/// How long a commit takes from its hook to its end, about.
const COMMIT: Duration = Duration::from_millis(150);
/// How often repositories are looked after without any hint.
const ROUND: Duration = Duration::from_secs(30);
/// A blob that took longer is not read ahead again.
const SLOW: Duration = Duration::from_secs(2);
/// Largest blobs that are read ahead.
const LARGEST_MODULE: u64 = 4 << 20;
const LARGEST_FIXTURE: u64 = 16 << 20;
/// Stack of the thread: parsers recurse.
const STACK: usize = 16 << 20;
/// How many keys are remembered as ready, so that they are not looked up again.
const READY: usize = 1 << 16;

/// What the thread is told.
pub(super) enum Order {
    /// A repository is worked in.
    Learn(Known),
    /// The watcher saw something.
    Hint,
    /// Events may have been missed.
    Doubt(String),
    /// The daemon ends.
    End,
}

/// Starts the thread.
pub(super) fn start(
    shared: &Arc<Shared>,
    orders: Receiver<Order>,
    in_flight: InFlight,
    shunned: Vec<Key>,
) -> std::io::Result<JoinHandle<()>> {
    let shared = Arc::clone(shared);
    let bell = shared.bell();
    let run = move || {
        system::step_back();
        let inbox = Inbox::new(bell);
        let reader =
            Reader { shared: Arc::clone(&shared), in_flight, shunned: shunned.into_iter().collect(), ready: Generations::new(READY) };
        let mut warmer = Warmer { eyes: Eyes::new(watch::of_system, inbox), wards: Vec::new(), reader, round: Instant::now(), said: None };
        while warmer.step(&orders) {}
    };
    thread::Builder::new().name("warm".into()).stack_size(STACK).spawn(run)
}

struct Warmer {
    eyes: Eyes,
    /// Least recently worked in first.
    wards: Vec<Ward>,
    reader: Reader,
    round: Instant,
    /// What the log says of the watch.
    said: Option<String>,
}

impl Warmer {
    /// Does what is next; false at the end.
    fn step(&mut self, orders: &Receiver<Order>) -> bool {
        let now = Instant::now();
        let due = self.eyes.due().map_or(ROUND, |at| at.saturating_duration_since(now)).min(ROUND.saturating_sub(self.round.elapsed()));
        match orders.recv_timeout(due) {
            Ok(Order::Learn(known)) => self.learn(known),
            Ok(Order::Hint) => self.look(),
            Ok(Order::Doubt(why)) => self.doubt(&why),
            Err(RecvTimeoutError::Timeout) => {}
            Ok(Order::End) | Err(RecvTimeoutError::Disconnected) => return false,
        }
        if self.round.elapsed() >= ROUND {
            self.round = Instant::now();
            self.wards.retain(Ward::is_there);
            match self.eyes.state().1 {
                Some(_) => self.all(),
                None => self.watch(),
            }
        }
        if self.eyes.reopen() {
            self.all();
        }
        self.tell();
        !self.reader.shared.leaving.load(Ordering::SeqCst)
    }

    fn learn(&mut self, known: Known) {
        if let Some(at) = self.wards.iter().position(|ward| ward.known == known) {
            self.wards[at..].rotate_left(1);
        } else {
            let Some(ward) = Ward::new(known) else { return };
            self.reader.shared.log.say(&format!("keeps {} warm", ward.name()));
            self.wards.push(ward);
        }
        if self.wards.len() > WARDS {
            let gone = self.wards.remove(0);
            lock(&self.reader.shared.merges).remove(&gone.known);
        }
        if let Some(mut ward) = self.wards.pop() {
            self.warm(&mut ward);
            self.wards.push(ward);
        }
        self.watch();
    }

    /// Looks at what was touched, once it has been left alone for a moment.
    fn look(&mut self) {
        let mut seen = self.eyes.seen();
        let end = Instant::now() + 20 * SETTLE;
        while seen.doubt.is_none() && Instant::now() < end {
            sleep(SETTLE);
            let more = self.eyes.seen();
            if more.touched.is_empty() && more.doubt.is_none() {
                break;
            }
            seen.touched.extend(more.touched);
            seen.doubt = more.doubt;
        }
        if let Some(why) = seen.doubt {
            return self.doubt(&why);
        }
        self.wards.retain(Ward::is_there);
        let mut wards = std::mem::take(&mut self.wards);
        for ward in &mut wards {
            if ward.is_touched(&seen.touched) {
                self.warm(ward);
            }
            self.guarded(ward, |ward, reader| ward.saved(&seen.touched, reader));
        }
        self.wards = wards;
        self.watch();
    }

    fn doubt(&mut self, why: &str) {
        self.eyes.doubt(why);
    }

    fn all(&mut self) {
        let mut wards = std::mem::take(&mut self.wards);
        for ward in &mut wards {
            self.warm(ward);
        }
        self.wards = wards;
        self.watch();
    }

    /// One pass, when the commit that asked for it has had its time.
    fn warm(&mut self, ward: &mut Ward) {
        self.reader.shared.step_aside(COMMIT);
        if !self.reader.shared.store.remembers() {
            self.reader.ready.clear();
        }
        self.guarded(ward, |ward, reader| {
            ward.warm(reader);
            reader.rest();
            merges::judge(ward, &reader.shared);
        });
    }

    /// Works on a repository. A panic costs that repository its warmth, and nobody else anything.
    fn guarded(&mut self, ward: &mut Ward, work: impl FnOnce(&mut Ward, &mut Reader)) {
        let reader = &mut self.reader;
        if panic::catch_unwind(AssertUnwindSafe(|| work(ward, reader))).is_err() {
            reader.shared.log.say(&format!("reading ahead in {} panicked", ward.name()));
            ward.give_up();
            lock(&reader.shared.merges).remove(&ward.known);
        }
    }

    fn watch(&mut self) {
        let most = WATCHES.min(system::most_watches() / SHARE);
        let all: BTreeSet<PathBuf> = self.wards.iter().rev().flat_map(Ward::folders).take(most).cloned().collect();
        self.eyes.want(all);
    }

    fn tell(&mut self) {
        let shared = &self.reader.shared;
        let (watches, off) = self.eyes.state();
        let said = off
            .as_ref()
            .map(|why| format!("watch off: {why}; {}", if self.eyes.due().is_some() { "a fresh one follows" } else { "it stays off" }));
        if let Some(line) = said.as_ref().filter(|_| said != self.said) {
            shared.log.say(line);
        }
        self.said = said;
        shared.watches.store(watches, Ordering::Relaxed);
        *lock(&shared.watch_off) = off;
        *lock(&shared.warmth) = self.wards.iter().rev().map(Ward::warmth).collect();
    }
}

/// Reads blobs ahead, one at a time, and steps aside for every request.
pub(super) struct Reader {
    pub(super) shared: Arc<Shared>,
    in_flight: InFlight,
    shunned: HashSet<Key>,
    ready: Generations<Key, ()>,
}

impl Reader {
    /// Makes a fact ready. `read` brings the bytes; what it cannot bring is left for later.
    pub(super) fn make(&mut self, key: &Key, read: &dyn Fn(u64) -> Result<Vec<u8>, TreeError>) -> bool {
        if self.ready.get(key).is_some() {
            return true;
        }
        if self.shunned.contains(key) {
            return false;
        }
        let ready = self.shared.store.has(key) || self.compute(key, read);
        if ready {
            self.ready.put(key.clone(), (), 1);
        }
        ready
    }

    /// Whether the daemon ends.
    pub(super) fn is_over(&self) -> bool {
        self.shared.leaving.load(Ordering::SeqCst)
    }

    /// Nothing is being read any more.
    pub(super) fn rest(&self) {
        self.in_flight.clear();
        self.shared.store.flush();
    }

    fn compute(&mut self, key: &Key, read: &dyn Fn(u64) -> Result<Vec<u8>, TreeError>) -> bool {
        self.shared.step_aside(QUIET);
        let largest = if key.0 == Question::Sha256 { LARGEST_FIXTURE } else { LARGEST_MODULE };
        let Ok(bytes) = read(ahead::cap(key.0).min(largest)) else { return false };
        self.in_flight.note(key);
        let started = Instant::now();
        let fact: Option<Fact> = panic::catch_unwind(AssertUnwindSafe(|| compute(key.0, &bytes))).ok();
        if fact.is_none() || started.elapsed() > SLOW {
            self.shared.log.say(&format!("blob {} {}", key.1, if fact.is_some() { "is slow to read" } else { "made its reader panic" }));
            self.shunned.insert(key.clone());
        }
        let Some(sealed) = fact.and_then(|fact| Sealed::of(key.0, &key.1, &fact)) else { return false };
        self.shared.store.put(key.clone(), sealed);
        self.shared.warmed.fetch_add(1, Ordering::Relaxed);
        true
    }
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use std::sync::Arc;
    use std::sync::mpsc::sync_channel;
    use std::time::Instant;

    use super::{Eyes, Generations, InFlight, Reader, Ward, Warmer, watch};
    use crate::daemon::place::Place;
    use crate::daemon::shared::{Shared, lock};
    use crate::daemon::wire::Known;

    #[test]
    fn a_panic_in_reading_ahead_costs_one_repository_its_warmth_and_nobody_else_anything() {
        let home = tempfile::tempdir().unwrap();
        let place = Place::in_folder(home.path()).unwrap();
        let shared = Arc::new(Shared::new(&place, sync_channel(8).0, 0).unwrap());
        let known = |name: &str| {
            let path = home.path().join(name);
            std::fs::create_dir(&path).unwrap();
            std::fs::write(path.join("config"), "").unwrap();
            Known { top: None, git_dir: path.as_path().into(), common_dir: path.as_path().into() }
        };
        let (mut bad, mut good) = (Ward::new(known("bad")).unwrap(), Ward::new(known("good")).unwrap());
        for ward in [&bad, &good] {
            lock(&shared.merges).insert(ward.known.clone(), Vec::new());
        }
        let in_flight = InFlight::open(&place);
        let reader = Reader { shared: Arc::clone(&shared), in_flight, shunned: [].into(), ready: Generations::new(8) };
        let eyes = Eyes::new(watch::of_system, watch::Inbox::new(|| {}));
        let mut warmer = Warmer { eyes, wards: Vec::new(), reader, round: Instant::now(), said: None };
        let mut worked = 0;
        warmer.guarded(&mut bad, |_, _| panic!("over a repository"));
        warmer.guarded(&mut good, |_, _| worked += 1);
        assert_eq!((worked, good.warmth().cold), (1, None));
        assert!(bad.warmth().cold.is_some_and(|why| why.contains("panic")));
        assert_eq!(lock(&shared.merges).keys().collect::<Vec<_>>(), [&good.known]);
        bad.warm(&mut warmer.reader);
        assert!(bad.warmth().cold.is_some_and(|why| why.contains("panic")), "it is not tried again");
        assert!(std::fs::read_to_string(place.log()).unwrap().contains("bad panicked"));
    }
}
