//! Owns one connection on the daemon's side: who may speak, how long, and what is answered.

use std::io::{self, Read, Write};
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use crate::daemon::shared::Shared;
use crate::daemon::system::{self, Stream};
use crate::daemon::wire::{self, ANSWER_CAP, Answer, Hello, MOST_FACTS, Matter, REQUEST_CAP, Request, Told, WireError, Wish};
use crate::gate::facts::{Key, engine};

/// How long a message may take to arrive or leave, and how long a client may be silent.
const PATIENCE: Duration = Duration::from_secs(2);

/// A stream whose every read and write ends at one moment.
#[derive(Debug)]
pub(super) struct Timed<'a> {
    pub(super) stream: &'a Stream,
    pub(super) until: Instant,
}

impl Timed<'_> {
    fn left(&self) -> io::Result<Duration> {
        let left = self.until.saturating_duration_since(Instant::now());
        if left.is_zero() { Err(io::ErrorKind::TimedOut.into()) } else { Ok(left) }
    }
}

impl Read for Timed<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        self.stream.set_read_timeout(Some(self.left()?))?;
        self.stream.read(into)
    }
}

impl Write for Timed<'_> {
    fn write(&mut self, from: &[u8]) -> io::Result<usize> {
        self.stream.set_write_timeout(Some(self.left()?))?;
        self.stream.write(from)
    }
    fn flush(&mut self) -> io::Result<()> {
        self.stream.flush()
    }
}

/// Serves a client until it leaves, falls silent or breaks the rules. Nobody but this very user is told a byte.
pub(super) fn converse(stream: Stream, shared: &Shared) -> Result<(), WireError> {
    let (stream, own) = system::peer_is_own(stream);
    if !own {
        shared.log.say("a connection of another user was refused");
        return Ok(());
    }
    let timed = || Timed { stream: &stream, until: Instant::now() + PATIENCE };
    let Some(bytes) = wire::receive(&mut timed(), REQUEST_CAP)? else { return Ok(()) };
    let hello: Hello = wire::parse(&bytes)?;
    wire::send(&mut timed(), &Hello::new(&hello.nonce), ANSWER_CAP)?;
    let mine = Hello::new(&hello.nonce) == hello;
    while let Some(bytes) = wire::receive(&mut timed(), REQUEST_CAP)? {
        let request: Request = wire::parse(&bytes)?;
        // Another engine's client may end this daemon, and nothing else.
        if !mine && request.wish != Wish::Stop {
            return Ok(());
        }
        shared.asked(matches!(request.wish, Wish::Facts(_)));
        let stop = request.wish == Wish::Stop;
        wire::send(&mut timed(), &answer(request, shared), ANSWER_CAP)?;
        if stop {
            shared.leave("a client asked for it");
        }
    }
    Ok(())
}

fn answer(request: Request, shared: &Shared) -> Answer {
    let known = request.repository;
    let matter = match request.wish {
        Wish::Facts(keys) => Matter::Facts(facts(&keys[..keys.len().min(MOST_FACTS)], shared)),
        Wish::Status => Matter::Status(Box::new(shared.status())),
        Wish::Merges => Matter::Merges(known.as_ref().map_or_else(Vec::new, |known| shared.merges(known))),
        Wish::Stop => Matter::Bye,
    };
    if let Some(known) = known.filter(|_| matter_is_of_work(&matter)) {
        shared.learn(known);
    }
    Answer { nonce: request.nonce, engine: engine::id().into(), matter }
}

/// A status or a farewell teaches the daemon no repository.
fn matter_is_of_work(matter: &Matter) -> bool {
    matches!(matter, Matter::Facts(_) | Matter::Merges(_))
}

fn facts(keys: &[Key], shared: &Shared) -> Vec<Told> {
    let mut room = (ANSWER_CAP / 2) as usize;
    let known = shared.store.get(keys).into_iter().map(|sealed| {
        // What does not fit into an answer is simply not known.
        let fits = sealed.filter(|sealed| sealed.text.len() <= room)?;
        room -= fits.text.len();
        Some(fits)
    });
    let told: Vec<Told> = keys.iter().zip(known).map(|(key, known)| Told::new(key, known)).collect();
    let hits = told.iter().filter(|told| told.fact.is_some()).count();
    shared.told.fetch_add(hits as u64, Ordering::Relaxed);
    shared.unknown.fetch_add((told.len() - hits) as u64, Ordering::Relaxed);
    told
}
