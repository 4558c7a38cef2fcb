//! A daemon that answers wrongly, late or not at all: the verdict is the cold one, and one line says so.

use std::io::{Read as _, Write as _};
use std::os::unix::net::{UnixListener, UnixStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::{JoinHandle, sleep, spawn};
use std::time::Duration;

use seedgate::daemon::wire::{self, ANSWER_CAP, Answer, Hello, Matter, REQUEST_CAP, Request, Told, Wish};
use seedgate::gate::facts::seal::Sealed;
use seedgate::gate::facts::{Fact, Key, Question, engine};
use seedgate::tree::Oid;

use super::house::House;

/// How a false daemon misbehaves.
pub(super) type Play = fn(&mut UnixStream) -> Option<()>;

/// A listener at the daemon's address that plays its part with everybody who connects.
pub(super) struct False {
    over: Arc<AtomicBool>,
    heard: Arc<AtomicUsize>,
    path: std::path::PathBuf,
    thread: Option<JoinHandle<()>>,
}

impl False {
    pub(super) fn daemon(house: &House, play: Play) -> Self {
        house.make_run();
        let path = house.file("sock");
        let listener = UnixListener::bind(&path).unwrap();
        let (over, heard) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicUsize::new(0)));
        let (ends, counts) = (Arc::clone(&over), Arc::clone(&heard));
        let thread = spawn(move || {
            for stream in listener.incoming() {
                if ends.load(Ordering::SeqCst) {
                    break;
                }
                counts.fetch_add(1, Ordering::SeqCst);
                spawn(move || play(&mut stream.unwrap()));
            }
        });
        False { over, heard, path, thread: Some(thread) }
    }
}

impl Drop for False {
    fn drop(&mut self) {
        self.over.store(true, Ordering::SeqCst);
        drop(UnixStream::connect(&self.path));
        self.thread.take().unwrap().join().unwrap();
    }
}

fn take<T: for<'a> serde::Deserialize<'a>>(stream: &mut UnixStream) -> Option<T> {
    let bytes = wire::receive(stream, REQUEST_CAP).ok()??;
    wire::parse(&bytes).ok()
}

fn greeted(stream: &mut UnixStream) -> Option<Request> {
    let hello: Hello = take(stream)?;
    wire::send(stream, &hello, ANSWER_CAP).ok()?;
    take(stream)
}

fn told(stream: &mut UnixStream, request: &Request, facts: Vec<Told>) -> Option<()> {
    let answer = Answer { nonce: request.nonce.clone(), engine: engine::id().into(), matter: Matter::Facts(facts) };
    wire::send(stream, &answer, ANSWER_CAP).ok()
}

fn keys(request: &Request) -> Vec<Key> {
    match &request.wish {
        Wish::Facts(keys) => keys.clone(),
        _ => Vec::new(),
    }
}

fn unknown(request: &Request) -> Vec<Told> {
    keys(request).iter().map(|key| Told::new(key, None)).collect()
}

/// A fact that is false but looks like one, sealed for another blob.
fn lie(key: &Key) -> Told {
    let other = Oid::from_hex(&"1".repeat(40)).unwrap();
    let sealed = Sealed::of(Question::Sha256, &other, &Fact::Sha256("0".repeat(64)));
    Told::new(key, sealed)
}

pub(super) const PLAYS: [(&str, Play); 20] = [
    ("ends the connection", |_| Some(())),
    ("ends after the hello", |stream| take::<Hello>(stream).map(drop)),
    ("ends between request and answer", |stream| greeted(stream).map(drop)),
    ("sends half a frame", |stream| {
        greeted(stream)?;
        stream.write_all(b"\0\0\x10\0{\"nonce\":").ok()
    }),
    ("is silent", |_| {
        sleep(Duration::from_secs(3));
        None
    }),
    ("is silent after the hello", |stream| {
        greeted(stream)?;
        sleep(Duration::from_secs(3));
        None
    }),
    ("sends one byte at a time", |stream| {
        greeted(stream)?;
        for byte in b"\0\0\0\x40{\"nonce\"".iter().chain([b' '; 40].iter()) {
            stream.write_all(&[*byte]).ok()?;
            sleep(Duration::from_millis(50));
        }
        None
    }),
    ("is another engine", |stream| {
        let hello: Hello = take(stream)?;
        wire::send(stream, &Hello { engine: "f".repeat(32), ..hello }, ANSWER_CAP).ok()
    }),
    ("speaks another protocol", |stream| {
        let hello: Hello = take(stream)?;
        wire::send(stream, &Hello { protocol: 999, ..hello }, ANSWER_CAP).ok()
    }),
    ("gives another nonce back", |stream| {
        let hello: Hello = take(stream)?;
        wire::send(stream, &Hello { nonce: "n".into(), ..hello }, ANSWER_CAP).ok()
    }),
    ("answers another question", |stream| {
        let request = greeted(stream)?;
        told(stream, &Request { nonce: "n".into(), ..request.clone() }, unknown(&request))
    }),
    ("answers as another engine", |stream| {
        let request = greeted(stream)?;
        let answer = Answer { nonce: request.nonce.clone(), engine: "f".repeat(32), matter: Matter::Facts(unknown(&request)) };
        wire::send(stream, &answer, ANSWER_CAP).ok()
    }),
    ("says goodbye", |stream| {
        let request = greeted(stream)?;
        let answer = Answer { nonce: request.nonce, engine: engine::id().into(), matter: Matter::Bye };
        wire::send(stream, &answer, ANSWER_CAP).ok()
    }),
    ("leaves a fact out", |stream| {
        let request = greeted(stream)?;
        told(stream, &request, unknown(&request).into_iter().skip(1).collect())
    }),
    ("adds a fact", |stream| {
        let request = greeted(stream)?;
        let extra = (Question::Sha256, Oid::from_hex(&"2".repeat(40)).unwrap());
        told(stream, &request, unknown(&request).into_iter().chain([Told::new(&extra, None)]).collect())
    }),
    ("answers in another order", |stream| {
        let request = greeted(stream)?;
        told(stream, &request, unknown(&request).into_iter().rev().collect())
    }),
    ("lies about ids", |stream| {
        let request = greeted(stream)?;
        told(stream, &request, keys(&request).iter().map(lie).collect())
    }),
    ("announces 17 MiB", |stream| {
        greeted(stream)?;
        stream.write_all(&(17_u32 << 20).to_be_bytes()).ok()
    }),
    ("sends what is no JSON", |stream| {
        greeted(stream)?;
        stream.write_all(b"\0\0\0\x05hello").ok()
    }),
    ("adds bytes to its answer", |stream| {
        let request = greeted(stream)?;
        let answer = Answer { nonce: request.nonce.clone(), engine: engine::id().into(), matter: Matter::Facts(unknown(&request)) };
        let mut bytes = serde_json::to_vec(&answer).unwrap();
        bytes.extend_from_slice(b"{}");
        stream.write_all(&u32::try_from(bytes.len()).unwrap().to_be_bytes()).ok()?;
        stream.write_all(&bytes).ok()
    }),
];

#[test]
fn whatever_a_daemon_does_wrong_costs_one_line_and_never_the_verdict() {
    for (what, play) in PLAYS {
        let house = House::new();
        let cold = house.cold();
        assert_eq!(cold.code, Some(2), "the change is refused: {}", cold.out);
        let daemon = False::daemon(&house, play);
        let notes = house.noted();
        assert_eq!(notes.len(), 1, "{what}: {notes:?}");
        assert!(notes[0].starts_with("seedgate: note: the daemon "), "{what}: {notes:?}");
        assert!(daemon.heard.load(Ordering::SeqCst) >= 1, "{what}");
    }
}

#[test]
fn a_foreign_daemon_under_our_name_is_asked_to_end() {
    static ASKED: AtomicBool = AtomicBool::new(false);
    let house = House::new();
    let _daemon = False::daemon(&house, |stream| {
        let hello: Hello = take(stream)?;
        wire::send(stream, &Hello { engine: "f".repeat(32), ..hello }, ANSWER_CAP).ok()?;
        let request: Request = take(stream)?;
        ASKED.fetch_or(request.wish == Wish::Stop, Ordering::SeqCst);
        None
    });
    // On a busy machine the hello may come too late.
    house.wait_for("the request to end", || {
        house.noted();
        ASKED.load(Ordering::SeqCst)
    });
}

#[test]
fn a_full_backlog_is_no_daemon_and_not_waited_for() {
    let house = House::new();
    house.make_run();
    let listener = rustix::net::socket(rustix::net::AddressFamily::UNIX, rustix::net::SocketType::STREAM, None).unwrap();
    rustix::net::bind(&listener, &rustix::net::SocketAddrUnix::new(house.file("sock")).unwrap()).unwrap();
    rustix::net::listen(&listener, 0).unwrap();
    let _first = UnixStream::connect(house.file("sock")).unwrap();
    let notes = house.noted();
    assert!(notes.len() == 1 && notes[0].contains("is too busy"), "{notes:?}");
}

#[test]
fn the_daemon_is_neither_asked_nor_started_when_it_is_off_or_in_ci() {
    for (name, value) in [("SEEDGATE_DAEMON", "off"), ("SEEDGATE_DAEMON", "0"), ("CI", "true"), ("SEEDGATE_DAEMON", "auto")] {
        let house = House::new();
        let daemon = False::daemon(&house, |_| Some(()));
        let mut command = house.seedgate(&["check"]);
        if name == "CI" {
            command.env("SEEDGATE_DAEMON", "auto");
        }
        let output = super::house::finish(command.env(name, value));
        assert_eq!(super::house::said(&output), house.cold());
        assert!(output.stderr.is_empty(), "{name}={value}");
        assert_eq!(daemon.heard.load(Ordering::SeqCst), 0, "{name}={value}: a repository in a temporary folder");
        assert_eq!(house.daemons(), Vec::<u32>::new());
    }
}

#[test]
fn a_client_says_nothing_before_it_knows_who_listens() {
    // Only root can be two users.
    if !rustix::process::geteuid().is_root() || !python_runs() {
        return;
    }
    let house = House::new();
    let run = house.make_run();
    let open = |mode| std::fs::set_permissions(&run, std::os::unix::fs::PermissionsExt::from_mode(mode)).unwrap();
    std::fs::set_permissions(house.path(""), std::os::unix::fs::PermissionsExt::from_mode(0o711)).unwrap();
    std::fs::set_permissions(house.path("run"), std::os::unix::fs::PermissionsExt::from_mode(0o711)).unwrap();
    open(0o777);
    let script = "import os,socket,sys\nos.setgid(65534); os.setuid(65534)\ns=socket.socket(socket.AF_UNIX)\ns.bind(sys.argv[1]); s.listen(9)\nprint('up',flush=True)\nc,_=s.accept()\nprint(len(c.recv(1)),flush=True)";
    let mut command = house.command("python3");
    let mut stranger = command.args(["-c", script]).arg(house.file("sock")).stdout(std::process::Stdio::piped()).spawn().unwrap();
    let mut said = [0; 3];
    stranger.stdout.as_mut().unwrap().read_exact(&mut said).unwrap();
    open(0o700);
    let output = super::house::finish(&mut house.seedgate(&["check"]));
    let mut heard = String::new();
    stranger.stdout.take().unwrap().read_to_string(&mut heard).unwrap();
    stranger.wait().unwrap();
    assert_eq!(heard, "0\n", "bytes that another user was told");
    let note = String::from_utf8(output.stderr).unwrap();
    assert!(note.contains("belongs to another user"), "{note}");
}

fn python_runs() -> bool {
    std::process::Command::new("python3").arg("-V").stdout(std::process::Stdio::null()).status().is_ok_and(|status| status.success())
}
