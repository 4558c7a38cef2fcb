//! Owns what goes over the socket: frames of a length and JSON, their caps, and the messages in them.

use std::borrow::Cow;
use std::hash::{BuildHasher as _, RandomState};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::gate::facts::seal::{SEAL, Sealed};
use crate::gate::facts::{Key, Question, engine};
use crate::tree::Oid;

/// Changes whenever a message changes.
pub const PROTOCOL: u32 = 1;
/// Most bytes of a request, and of an answer.
pub const REQUEST_CAP: u32 = 4 << 20;
/// Most bytes of an answer.
pub const ANSWER_CAP: u32 = 16 << 20;
/// Most facts of one request.
pub const MOST_FACTS: usize = 100_000;

/// Why a message was not taken.
#[derive(Debug, thiserror::Error)]
pub enum WireError {
    /// The connection.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// A length above the cap: nothing was read.
    #[error("a message of {0} bytes")]
    TooLong(u32),
    /// Not the JSON of a message.
    #[error("a message that is no message: {0}")]
    Json(#[from] serde_json::Error),
}

impl WireError {
    /// Whether the time was over.
    pub fn is_late(&self) -> bool {
        matches!(self, WireError::Io(error) if matches!(error.kind(), io::ErrorKind::TimedOut | io::ErrorKind::WouldBlock))
    }
}

/// Who speaks: the first message of both sides.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hello {
    /// Always `seedgate`.
    pub magic: String,
    /// The protocol.
    pub protocol: u32,
    /// The engine.
    pub engine: String,
    /// Chosen by the client, given back by the daemon.
    pub nonce: String,
}

impl Hello {
    /// This engine's.
    pub fn new(nonce: &str) -> Self {
        Hello { magic: "seedgate".into(), protocol: PROTOCOL, engine: engine::id().into(), nonce: nonce.into() }
    }
}

/// A path that need not be UTF-8.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(untagged)]
pub enum AnyPath {
    /// UTF-8.
    Text(String),
    /// Anything else.
    Bytes(Vec<u8>),
}

impl From<&Path> for AnyPath {
    fn from(path: &Path) -> Self {
        match path.to_str() {
            Some(text) => AnyPath::Text(text.into()),
            None => AnyPath::Bytes(path.as_os_str().as_encoded_bytes().into()),
        }
    }
}

impl AnyPath {
    /// The path; `None` where the system has no such paths.
    pub fn to_path(&self) -> Option<PathBuf> {
        match self {
            AnyPath::Text(text) => Some(text.into()),
            #[cfg(unix)]
            AnyPath::Bytes(bytes) => Some(<std::ffi::OsStr as std::os::unix::ffi::OsStrExt>::from_bytes(bytes).into()),
            #[cfg(not(unix))]
            AnyPath::Bytes(_) => None,
        }
    }
}

/// A repository that a client works in: a hint where facts may be wanted next.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Known {
    /// Root of the work tree.
    pub top: Option<AnyPath>,
    /// Per-worktree git directory.
    pub git_dir: AnyPath,
    /// Common git directory.
    pub common_dir: AnyPath,
}

/// What a client wants.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Request {
    /// Given back in the answer.
    pub nonce: String,
    /// The repository, when the client has one.
    #[serde(default)]
    pub repository: Option<Known>,
    /// The wish.
    pub wish: Wish,
}

/// The wishes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Wish {
    /// Facts by key; none is a mere sign of life.
    Facts(Vec<Key>),
    /// How the daemon is.
    Status,
    /// Whether merges of the repository's branches would be clear, as far as is known.
    Merges,
    /// End.
    Stop,
}

/// A fact, or that it is not known.
#[derive(Debug, Serialize, Deserialize)]
pub struct Told {
    /// The question asked.
    pub question: Question,
    /// The blob asked about.
    pub oid: Oid,
    /// The fact's text as it was sealed; `null` when it is not known.
    pub fact: Option<Box<RawValue>>,
    /// Its seal, lower-case hex.
    pub seal: String,
}

impl Told {
    /// The message for what is known of a key. A text that is no JSON is not told.
    pub fn new((question, oid): &Key, known: Option<Sealed<'static>>) -> Self {
        let known = known.and_then(|sealed| Some((hex(sealed.seal), RawValue::from_string(sealed.text.into_owned()).ok()?)));
        let (seal, fact) = known.map_or((String::new(), None), |(seal, raw)| (seal, Some(raw)));
        Told { question: *question, oid: oid.clone(), fact, seal }
    }

    /// What was told, for whoever checks the seal.
    pub fn sealed(&self) -> Option<Sealed<'_>> {
        let text = Cow::Borrowed(self.fact.as_ref()?.get());
        Some(Sealed { text, seal: unhex(&self.seal)? })
    }
}

fn hex(seal: [u8; SEAL]) -> String {
    format!("{:032x}", u128::from_be_bytes(seal))
}

fn unhex(text: &str) -> Option<[u8; SEAL]> {
    (text.len() == 2 * SEAL).then(|| u128::from_str_radix(text, 16).ok()).flatten().map(u128::to_be_bytes)
}

/// An answer: the nonce and engine once more, and the matter.
#[derive(Debug, Serialize, Deserialize)]
pub struct Answer {
    /// The request's.
    pub nonce: String,
    /// The daemon's.
    pub engine: String,
    /// The matter.
    pub matter: Matter,
}

/// The matters.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Matter {
    /// One entry for each key asked, in that order.
    Facts(Vec<Told>),
    /// How the daemon is.
    Status(Box<Status>),
    /// What is known of merges.
    Merges(Vec<Merge>),
    /// It will end.
    Bye,
}

/// How the daemon is.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Status {
    /// Its process.
    pub pid: u32,
    /// Seconds since its start.
    pub up_seconds: u64,
    /// Requests answered.
    pub requests: u64,
    /// Facts told.
    pub told: u64,
    /// Facts asked for that it did not have.
    pub unknown: u64,
    /// Facts computed ahead.
    pub warmed: u64,
    /// Bytes of resident memory, where the system says.
    pub resident: Option<u64>,
    /// The repositories it keeps warm.
    pub repositories: Vec<Warmth>,
    /// Watches held, and why the watch is off if it is.
    pub watches: usize,
    /// Why the watch is off; `None` while it is on.
    pub watch_off: Option<String>,
    /// Blobs that are never computed ahead because the daemon ended while it read them.
    pub shunned: usize,
}

/// How warm a repository is.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Warmth {
    /// Its work tree, or its git directory when bare; escaped.
    pub place: String,
    /// Facts that its trees and index need.
    pub wanted: usize,
    /// How many of them are ready.
    pub ready: usize,
    /// Why it is not kept warm; `None` when it is.
    pub cold: Option<String>,
}

/// Whether one merge would be clear: a hint, computed for these two commits and no others.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Merge {
    /// The branch.
    pub branch: String,
    /// Its commit when this was computed.
    pub head: Oid,
    /// What it would be merged into.
    pub target: String,
    /// That one's commit when this was computed.
    pub base: Oid,
    /// The exit code of `check --base BASE --head HEAD`; `None` while it is not computed.
    pub exit: Option<u8>,
    /// Findings, by rule.
    pub rules: Vec<String>,
    /// Why there is no verdict.
    pub trouble: Option<String>,
}

/// A value nobody can foresee, so that an answer belongs to its question.
pub fn nonce() -> String {
    let state = RandomState::new();
    format!("{:016x}{:016x}", state.hash_one(1), state.hash_one(2))
}

/// Sends one message.
///
/// # Errors
/// [`WireError`].
pub fn send<T: Serialize>(to: &mut impl Write, message: &T, cap: u32) -> Result<(), WireError> {
    let mut frame = vec![0; 4];
    serde_json::to_writer(&mut frame, message)?;
    let len = u32::try_from(frame.len() - 4).unwrap_or(u32::MAX);
    if len > cap {
        return Err(WireError::TooLong(len));
    }
    frame[..4].copy_from_slice(&len.to_be_bytes());
    to.write_all(&frame)?;
    Ok(())
}

/// Receives the bytes of one message; `None` when the other side has ended the connection before it.
///
/// # Errors
/// [`WireError`]; a length above the cap is refused before anything is allocated.
pub fn receive(from: &mut impl Read, cap: u32) -> Result<Option<Vec<u8>>, WireError> {
    let mut head = [0; 4];
    if from.read(&mut head[..1])? == 0 {
        return Ok(None);
    }
    from.read_exact(&mut head[1..])?;
    let len = u32::from_be_bytes(head);
    if len > cap {
        return Err(WireError::TooLong(len));
    }
    let mut bytes = Vec::new();
    from.take(u64::from(len)).read_to_end(&mut bytes)?;
    if bytes.len() == len as usize { Ok(Some(bytes)) } else { Err(io::Error::from(io::ErrorKind::UnexpectedEof).into()) }
}

/// Reads a message from its bytes.
///
/// # Errors
/// [`WireError::Json`]: also for anything after the message.
pub fn parse<'a, T: Deserialize<'a>>(bytes: &'a [u8]) -> Result<T, WireError> {
    Ok(serde_json::from_slice(bytes)?)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{AnyPath, Hello, REQUEST_CAP, Request, WireError, Wish, parse, receive, send};

    #[test]
    fn a_message_comes_back_as_it_was_sent() {
        let request = Request { nonce: "n".into(), repository: None, wish: Wish::Stop };
        let mut bytes = Vec::new();
        send(&mut bytes, &request, REQUEST_CAP).unwrap();
        let frame = receive(&mut bytes.as_slice(), REQUEST_CAP).unwrap().unwrap();
        assert_eq!(parse::<Request>(&frame).unwrap(), request);
    }

    #[test]
    fn a_length_above_the_cap_is_refused_without_reading_on() {
        let mut bytes: &[u8] = b"\xff\xff\xff\xffrest";
        assert!(matches!(receive(&mut bytes, REQUEST_CAP), Err(WireError::TooLong(u32::MAX))));
        assert_eq!(bytes, b"rest");
    }

    #[test]
    fn half_a_message_is_none() {
        for torn in [&b"\0"[..], b"\0\0\0\x05", b"\0\0\0\x05{\"a"] {
            assert!(receive(&mut &torn[..], REQUEST_CAP).is_err(), "{torn:?}");
        }
        assert!(receive(&mut &b""[..], REQUEST_CAP).unwrap().is_none());
    }

    #[test]
    fn trailing_bytes_deep_nesting_and_other_kinds_are_no_message() {
        let deep = format!("{{\"magic\":{}{}}}", "[".repeat(100_000), "]".repeat(100_000));
        let trailing = serde_json::to_string(&Hello::new("n")).unwrap() + "{}";
        for text in [&deep, &trailing, "{}", "[]", "null", "\"hello\"", ""] {
            assert!(parse::<Hello>(text.as_bytes()).is_err(), "{text:.40}");
        }
    }

    #[test]
    #[cfg(unix)]
    fn a_path_that_is_not_utf_8_comes_back() {
        use std::os::unix::ffi::OsStrExt as _;
        for bytes in [&b"/r/caf\xe9\nx"[..], b"/plain"] {
            let path = Path::new(std::ffi::OsStr::from_bytes(bytes));
            let text = serde_json::to_string(&AnyPath::from(path)).unwrap();
            assert_eq!(serde_json::from_str::<AnyPath>(&text).unwrap().to_path().unwrap(), path);
        }
    }
}
