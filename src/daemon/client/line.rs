//! Owns one connection on the client's side: deadlines, and the checks that every answer must pass.

use std::collections::HashMap;
use std::fmt;
use std::io;
use std::path::Path;
use std::time::{Duration, Instant};

use crate::daemon::system::{self, Stream};
use crate::daemon::talk::Timed;
use crate::daemon::wire::{self, ANSWER_CAP, Answer, Hello, Known, Matter, Merge, REQUEST_CAP, Request, Status, Told, WireError, Wish};
use crate::gate::facts::{Fact, Key, engine};

/// How long a daemon may take.
#[derive(Clone, Copy)]
pub(super) struct Patience {
    /// To connect and say hello.
    hello: Duration,
    /// For all answers together: many slow ones must not add up.
    answers: Duration,
}

/// A verdict waits: it is reached without the daemon sooner than late.
pub(super) const HURRY: Patience = Patience { hello: Duration::from_millis(25), answers: Duration::from_millis(250) };
/// The user asked for the daemon itself.
pub(super) const LEISURE: Patience = Patience { hello: Duration::from_secs(2), answers: Duration::from_secs(2) };

/// Why the daemon was of no use.
#[derive(Debug)]
pub(super) enum Broken {
    /// Nobody could be reached.
    Connect(io::Error),
    /// Somebody else listens there.
    Stranger,
    /// It was not heard in time, or the connection ended.
    Wire(WireError),
    /// It speaks another protocol or is another engine.
    Foreign,
    /// What it said was not what was asked.
    Wrong(&'static str),
}

impl Broken {
    /// Whether only the address of a dead daemon is left.
    pub(super) fn is_stale(&self) -> bool {
        matches!(self, Broken::Connect(error) if matches!(error.kind(), io::ErrorKind::ConnectionRefused | io::ErrorKind::NotFound))
    }
}

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Broken::Connect(error) if error.kind() == io::ErrorKind::ConnectionRefused => f.write_str("is no longer there"),
            Broken::Connect(error) if error.kind() == io::ErrorKind::WouldBlock => f.write_str("is too busy"),
            Broken::Connect(_) => f.write_str("could not be reached"),
            Broken::Stranger => f.write_str("at the socket belongs to another user"),
            Broken::Wire(error) if error.is_late() => f.write_str("did not answer in time"),
            Broken::Wire(WireError::Io(_)) => f.write_str("ended the connection"),
            Broken::Wire(_) => f.write_str("sent what is no message"),
            Broken::Foreign => f.write_str("is of another version"),
            Broken::Wrong(what) => write!(f, "answered with {what}"),
        }
    }
}

impl From<WireError> for Broken {
    fn from(error: WireError) -> Self {
        Broken::Wire(error)
    }
}

/// A connection to a daemon of this user and engine.
pub(super) struct Line {
    stream: Stream,
    /// Time that is left for answers.
    left: Duration,
    foreign: bool,
}

impl Line {
    /// Connects and says hello, in one short attempt. Before the peer is known to be this user, nothing is sent.
    pub(super) fn open(socket: &Path, patience: Patience) -> Result<Self, Broken> {
        let line = Line::reach(socket, patience)?;
        if !line.foreign {
            return Ok(line);
        }
        // An old daemon under this name serves nobody any more.
        let _ = Line::stop(&mut { line });
        Err(Broken::Foreign)
    }

    /// The same, whatever the engine: good for asking it to end.
    pub(super) fn reach(socket: &Path, patience: Patience) -> Result<Self, Broken> {
        let until = Instant::now() + patience.hello;
        let (stream, own) = system::peer_is_own(system::connect(socket).map_err(Broken::Connect)?);
        if !own {
            return Err(Broken::Stranger);
        }
        let hello = Hello::new(&wire::nonce());
        let mut timed = Timed { stream: &stream, until };
        wire::send(&mut timed, &hello, REQUEST_CAP)?;
        let bytes = wire::receive(&mut timed, ANSWER_CAP)?.ok_or(Broken::Wire(WireError::Io(io::ErrorKind::UnexpectedEof.into())))?;
        let back: Hello = wire::parse(&bytes)?;
        if back.nonce != hello.nonce || back.magic != hello.magic {
            return Err(Broken::Wrong("another one's hello"));
        }
        Ok(Line { stream, left: patience.answers, foreign: back != hello })
    }

    /// Facts for keys: those it knows.
    pub(super) fn facts(&mut self, known: Option<&Known>, keys: &[Key]) -> Result<HashMap<Key, Fact>, Broken> {
        match self.ask(known, Wish::Facts(keys.to_vec()))? {
            Matter::Facts(told) => checked(keys, &told),
            _ => Err(Broken::Wrong("another matter")),
        }
    }

    pub(super) fn status(&mut self) -> Result<Status, Broken> {
        match self.ask(None, Wish::Status)? {
            Matter::Status(status) => Ok(*status),
            _ => Err(Broken::Wrong("another matter")),
        }
    }

    pub(super) fn merges(&mut self, known: &Known) -> Result<Vec<Merge>, Broken> {
        match self.ask(Some(known), Wish::Merges)? {
            Matter::Merges(merges) => Ok(merges),
            _ => Err(Broken::Wrong("another matter")),
        }
    }

    pub(super) fn stop(&mut self) -> Result<(), Broken> {
        match self.ask(None, Wish::Stop)? {
            Matter::Bye => Ok(()),
            _ => Err(Broken::Wrong("another matter")),
        }
    }

    /// Whether so little time is left that the next answer could hardly come in it.
    pub(super) fn is_spent(&self) -> bool {
        self.left < HURRY.hello
    }

    fn ask(&mut self, known: Option<&Known>, wish: Wish) -> Result<Matter, Broken> {
        let started = Instant::now();
        let answer = self.answer(known, wish, started + self.left);
        self.left = self.left.saturating_sub(started.elapsed());
        answer
    }

    fn answer(&self, known: Option<&Known>, wish: Wish, until: Instant) -> Result<Matter, Broken> {
        let request = Request { nonce: wire::nonce(), repository: known.cloned(), wish };
        let mut timed = Timed { stream: &self.stream, until };
        wire::send(&mut timed, &request, REQUEST_CAP)?;
        let bytes = wire::receive(&mut timed, ANSWER_CAP)?.ok_or(Broken::Wire(WireError::Io(io::ErrorKind::UnexpectedEof.into())))?;
        let answer: Answer = wire::parse(&bytes)?;
        if answer.nonce != request.nonce {
            return Err(Broken::Wrong("the answer to another question"));
        }
        if answer.engine != engine::id() && !self.foreign {
            return Err(Broken::Wrong("another engine's words"));
        }
        Ok(answer.matter)
    }
}

/// The facts, if every key asked is answered once, in order, under a seal that holds. One flaw, and nothing of it counts.
fn checked(keys: &[Key], told: &[Told]) -> Result<HashMap<Key, Fact>, Broken> {
    if told.len() != keys.len() {
        return Err(Broken::Wrong("too few or too many facts"));
    }
    let mut facts = HashMap::new();
    for (key, told) in keys.iter().zip(told) {
        if (told.question, &told.oid) != (key.0, &key.1) {
            return Err(Broken::Wrong("facts that nobody asked for"));
        }
        if told.fact.is_some() {
            let fact = told.sealed().and_then(|sealed| sealed.open(key.0, &key.1));
            facts.insert(key.clone(), fact.ok_or(Broken::Wrong("a fact under a wrong seal"))?);
        }
    }
    Ok(facts)
}

#[cfg(all(test, unix))]
mod tests {
    use std::io;
    use std::os::unix::net::UnixListener;
    use std::thread::sleep;
    use std::time::Duration;

    use super::{Broken, HURRY, Line, Patience};
    use crate::daemon::wire::{self, ANSWER_CAP, Answer, Hello, Matter, REQUEST_CAP, Request, WireError};
    use crate::gate::facts::engine;

    #[test]
    fn a_hook_waits_less_than_three_hundred_milliseconds_in_all() {
        assert!(HURRY.hello + HURRY.answers < Duration::from_millis(300));
    }

    /// Greets, and answers everything it is asked after a pause.
    fn slow(door: &UnixListener, pause: Duration) -> Result<(), WireError> {
        let (mut stream, _) = door.accept()?;
        let hello: Hello = wire::parse(&wire::receive(&mut stream, REQUEST_CAP)?.unwrap_or_default())?;
        wire::send(&mut stream, &hello, ANSWER_CAP)?;
        while let Some(bytes) = wire::receive(&mut stream, REQUEST_CAP)? {
            let request: Request = wire::parse(&bytes)?;
            sleep(pause);
            let answer = Answer { nonce: request.nonce, engine: engine::id().into(), matter: Matter::Facts(Vec::new()) };
            wire::send(&mut stream, &answer, ANSWER_CAP)?;
        }
        Ok(())
    }

    #[test]
    fn all_answers_together_have_one_deadline() {
        let home = tempfile::tempdir().unwrap();
        let (socket, pause) = (home.path().join("s"), Duration::from_millis(20));
        let door = UnixListener::bind(&socket).unwrap();
        let patience = Patience { hello: Duration::from_mins(1), answers: Duration::from_mins(1) };
        std::thread::scope(|scope| {
            scope.spawn(|| slow(&door, pause));
            let mut line = Line::open(&socket, patience).unwrap();
            for round in 1..=3 {
                assert!(line.facts(None, &[]).unwrap().is_empty());
                assert!(line.left <= patience.answers - pause * round, "{:?} left after {round}", line.left);
            }
            assert!(!line.is_spent());
            line.left = Duration::ZERO;
            assert!(line.is_spent());
            let late = line.facts(None, &[]).unwrap_err();
            assert!(matches!(&late, Broken::Wire(WireError::Io(error)) if error.kind() == io::ErrorKind::TimedOut), "{late:?}");
        });
    }
}
