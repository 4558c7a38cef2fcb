//! Owns a command's use of memo and daemon: facts before the verdict, and after it a sign of life or a start.

use std::collections::HashMap;
use std::io;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use crate::daemon::DaemonError;
use crate::daemon::place::{Place, PlaceError};
use crate::daemon::shared::lock;
use crate::daemon::system;
use crate::daemon::wire::{Known, Merge, Status, Warmth};
use crate::gate::facts::memo::Memo;
use crate::gate::facts::{Audit, Batch, Fact, Facts, Key};
use crate::gate::folder::{self, FolderError};
use crate::repo::Repo;

mod line;
mod start;
mod wish;

use line::{Broken, HURRY, LEISURE, Line, Patience};
pub use start::start;
pub use wish::Wishes;

/// Most facts that are asked for in one request; what is left over is computed.
const MOST: usize = 20_000;
/// A connection that rested longer may be closed on the other side, and is not used again.
const RESTED: Duration = Duration::from_secs(1);

/// Memo and daemon, as one command uses them.
pub struct Warm {
    cold: bool,
    wishes: Wishes,
    known: Known,
    link: Arc<Mutex<Link>>,
}

/// How it stands with the daemon.
enum Link {
    /// Nobody has tried.
    Untried,
    /// It answers.
    Open(Line, Instant),
    /// There is none.
    Absent,
    /// It was left.
    Left,
    /// It was expected, and this happened.
    Broken(Broken),
}

impl Warm {
    /// What the environment wishes (`SEEDGATE_DAEMON`, `CI`, `SEEDGATE_AUDIT`), for a repository. Touches nothing yet.
    pub fn of(repo: &Repo) -> Self {
        let known = Known { top: repo.top().map(Into::into), git_dir: repo.git_dir().into(), common_dir: repo.common_dir().into() };
        let wishes = Wishes::of_process(repo);
        Warm { cold: false, wishes, known, link: Arc::new(Mutex::new(Link::Untried)) }
    }

    /// Neither memo nor daemon: every fact is computed.
    pub fn cold(repo: &Repo) -> Self {
        Warm { cold: true, wishes: Wishes::default(), ..Warm::of(repo) }
    }

    /// The layers of facts.
    pub fn facts(&self) -> Facts {
        if self.cold {
            return Facts::cold();
        }
        let ask = Ask { known: self.known.clone(), link: Arc::clone(&self.link) };
        let daemon = self.wishes.asks().then(|| Box::new(ask) as Box<dyn Batch>);
        let audit = if self.wishes.audits() { Audit::All } else { Audit::Some };
        Facts::layered(Memo::of_user(), daemon).audited(audit)
    }

    /// After the verdict is out: writes the memo, and shows the daemon a sign of life or starts one. Answers what the user should
    /// know, in one line.
    pub fn finish(self, facts: &Facts) -> Option<String> {
        facts.flush();
        self.wishes.asks().then(|| self.greet()).flatten()
    }

    fn greet(&self) -> Option<String> {
        let mut link = lock(&self.link);
        if matches!(*link, Link::Untried) {
            *link = open(HURRY);
            if let Link::Open(line, _) = &mut *link {
                // A sign of life is not worth a word when it fails.
                let _ = line.facts(Some(&self.known), &[]);
            }
        }
        let (start, note) = match &*link {
            Link::Broken(broken) => (broken.is_stale(), Some(format!("the daemon {broken}; the verdict was reached without it"))),
            Link::Absent => (true, None),
            Link::Untried | Link::Open(..) | Link::Left => (false, None),
        };
        drop(link);
        if !(start && self.wishes.starts()) {
            return note;
        }
        match start::spawn(Some(&self.known), false) {
            Err(DaemonError::Place(error @ PlaceError::Folder(FolderError::Unsafe { .. }))) => note.or(Some(format!("no daemon: {error}"))),
            _ => note,
        }
    }
}

/// The daemon as a layer of facts.
struct Ask {
    known: Known,
    link: Arc<Mutex<Link>>,
}

impl Batch for Ask {
    fn ask(&mut self, wanted: &[Key]) -> HashMap<Key, Fact> {
        let mut state = lock(&self.link);
        if matches!(*state, Link::Untried) {
            *state = open(HURRY);
        }
        if matches!(&*state, Link::Open(_, used) if used.elapsed() > RESTED) {
            *state = Link::Left;
        }
        let Link::Open(line, rested) = &mut *state else { return HashMap::new() };
        match line.facts(Some(&self.known), &wanted[..wanted.len().min(MOST)]) {
            Ok(facts) => {
                *rested = Instant::now();
                facts
            }
            Err(broken) => {
                *state = Link::Broken(broken);
                HashMap::new()
            }
        }
    }

    /// A daemon that tells wrong facts is asked to end.
    fn distrust(&mut self) {
        if let Link::Open(line, _) = &mut *lock(&self.link) {
            let _ = line.stop();
        }
    }
}

/// One attempt. That nothing is there is no surprise; anything else is.
fn open(patience: Patience) -> Link {
    let Ok(place) = Place::find(false) else { return Link::Absent };
    match Line::open(&place.socket(), patience) {
        Ok(line) => Link::Open(line, Instant::now()),
        Err(Broken::Connect(error)) if error.kind() == io::ErrorKind::NotFound => Link::Absent,
        Err(broken) => Link::Broken(broken),
    }
}

/// How this engine's daemon is; `None` when there is none.
///
/// # Errors
/// When there is one and it does not answer.
pub fn status() -> Result<Option<Status>, DaemonError> {
    with(Line::status)
}

/// What a repository has of the daemon.
#[derive(Clone, Debug, PartialEq)]
pub struct Aid {
    /// How it stands with the daemon, in a few words.
    pub says: String,
    /// What it knows of merges to come: hints, each for its two commits.
    pub merges: Vec<Merge>,
}

/// What a repository has of the daemon. Whatever goes wrong is part of the answer.
pub fn aid(repo: &Repo) -> Aid {
    let warm = Warm::of(repo);
    let none = |says: String| Aid { says, merges: Vec::new() };
    if !warm.wishes.asks() {
        return none("not asked here: SEEDGATE_DAEMON is off, this is CI, or the repository lies in a temporary folder".into());
    }
    let place = warm.known.top.as_ref().unwrap_or(&warm.known.git_dir).to_path().map(|place| folder::shown(&place));
    let asked = with(|line| Ok((line.status()?, line.merges(&warm.known)?)));
    match asked {
        Ok(None) => none("not running; the next hook starts it".into()),
        Err(error) => none(format!("{error}; verdicts are reached without it").replacen("the daemon ", "", 1)),
        Ok(Some((status, merges))) => {
            let warmth = status.repositories.iter().find(|warmth| Some(&warmth.place) == place.as_ref());
            let says = match warmth {
                Some(Warmth { cold: Some(why), .. }) => format!("running; this repository is not kept warm: {why}"),
                Some(warmth) => format!("running; {} of {} facts ready", warmth.ready, warmth.wanted),
                None => "running; it has not heard of this repository yet".into(),
            };
            Aid { says, merges }
        }
    }
}

fn with<T>(ask: impl FnOnce(&mut Line) -> Result<T, Broken>) -> Result<Option<T>, DaemonError> {
    match open(LEISURE) {
        Link::Open(mut line, _) => ask(&mut line).map(Some).map_err(|broken| DaemonError::Talk(broken.to_string())),
        Link::Broken(broken) if !broken.is_stale() => Err(DaemonError::Talk(broken.to_string())),
        _ => Ok(None),
    }
}

/// Asks every daemon of this user here to end, whatever its engine, and waits until this engine's is gone. Answers how many were asked.
///
/// # Errors
/// When this engine's daemon does not answer, or does not end in time.
pub fn stop() -> Result<usize, DaemonError> {
    let Ok(place) = Place::find(false) else { return Ok(0) };
    let mut asked = 0;
    for socket in place.sockets() {
        match Line::reach(&socket, LEISURE).and_then(|mut line| line.stop()) {
            Ok(()) => asked += 1,
            Err(broken) if socket == place.socket() && !broken.is_stale() => return Err(DaemonError::Talk(broken.to_string())),
            Err(_) => {}
        }
    }
    let end = Instant::now() + Duration::from_secs(5);
    while asked > 0 && system::identity(&place.socket()).is_some() {
        if Instant::now() > end {
            return Err(DaemonError::Talk("said goodbye and is still there".into()));
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    Ok(asked)
}
