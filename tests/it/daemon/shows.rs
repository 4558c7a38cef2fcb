//! What `seedgate status` shows of hooks and daemon, once, and again and again on a terminal.

use std::fs;
use std::io::{Read as _, Write as _};
use std::process::{Child, Stdio};
use std::sync::{Arc, Mutex};
use std::thread::{JoinHandle, spawn};

use super::house::{HANG, House, end, finish, signal, skipped};

/// Runs a program on a terminal of its own: what it draws goes to standard output, standard input is the keyboard.
const TERMINAL: &str = "import os,pty,sys,threading
pid,fd=pty.fork()
if pid==0: os.execv(sys.argv[1],sys.argv[1:])
def keys():
    while True:
        key=os.read(0,1)
        if not key: return
        os.write(fd,key)
threading.Thread(target=keys,daemon=True).start()
while True:
    try: drawn=os.read(fd,65536)
    except OSError: break
    if not drawn: break
    os.write(1,drawn)
os._exit(os.waitstatus_to_exitcode(os.waitpid(pid,0)[1])&255)";

const OPENED: &str = "\x1b[?1049h\x1b[?25l";
const CLOSED: &str = "\x1b[?25h\x1b[?1049l";

struct Terminal {
    child: Child,
    drawn: Arc<Mutex<Vec<u8>>>,
    reader: JoinHandle<()>,
}

impl Terminal {
    fn of(house: &House, args: &[&str]) -> Self {
        let mut command = house.command("python3");
        command.args(["-c", TERMINAL, env!("CARGO_BIN_EXE_seedgate")]).args(args).env("TERM", "xterm");
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut stdout = child.stdout.take().unwrap();
        let drawn = Arc::new(Mutex::new(Vec::new()));
        let into = Arc::clone(&drawn);
        let reader = spawn(move || {
            let mut some = [0; 4096];
            while let Ok(read @ 1..) = stdout.read(&mut some) {
                into.lock().unwrap().extend_from_slice(&some[..read]);
            }
        });
        Terminal { child, drawn, reader }
    }

    fn drawn(&self) -> String {
        String::from_utf8_lossy(&self.drawn.lock().unwrap()).into_owned()
    }

    /// What was drawn last.
    fn last(&self) -> String {
        self.drawn().rsplit("\x1b[H").next().unwrap_or_default().to_owned()
    }

    fn press(&mut self, key: &[u8]) {
        self.child.stdin.as_mut().unwrap().write_all(key).unwrap();
    }

    /// Waits for the end and gives the exit code and all that was drawn.
    fn ended(mut self) -> (Option<i32>, String) {
        let code = self.child.wait().unwrap().code();
        self.reader.join().unwrap();
        let drawn = self.drawn.lock().unwrap().clone();
        (code, String::from_utf8_lossy(&drawn).into_owned())
    }
}

fn has_terminals() -> bool {
    let runs = std::process::Command::new("python3").args(["-c", "import pty"]).stderr(Stdio::null()).status();
    runs.is_ok_and(|status| status.success()) || skipped("no python3 to make a terminal")
}

/// A home whose hooks are live.
fn hooked() -> House {
    let house = House::new();
    house.git(&["reset", "-q", "--hard"]);
    assert!(finish(&mut house.seedgate(&["init"])).status.success());
    house
}

#[test]
fn on_a_terminal_every_change_is_shown_and_control_c_leaves_it_as_it_was() {
    if !has_terminals() {
        return;
    }
    let house = hooked();
    let mut terminal = Terminal::of(&house, &["status", "--watch"]);
    let shows = |terminal: &Terminal, what: &str| house.wait_for(what, || terminal.last().contains(what));
    shows(&terminal, "every hook is live");
    house.git(&["commit", "-q", "--no-verify", "--allow-empty", "-m", "next"]);
    shows(&terminal, &house.git(&["rev-parse", "HEAD"])[..12]);
    let hook = house.repo.join(".git/hooks/pre-push");
    let live = fs::read(&hook).unwrap();
    fs::remove_file(&hook).unwrap();
    shows(&terminal, "1 hook not live");
    fs::write(&hook, live).unwrap();
    fs::set_permissions(&hook, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    shows(&terminal, "every hook is live");
    terminal.press(b"\x03");
    let (code, drawn) = terminal.ended();
    assert_eq!(code, Some(0), "every hook is live");
    assert!(drawn.starts_with(OPENED) && drawn.trim_end().ends_with(CLOSED), "{drawn:?}");
    assert_eq!((drawn.matches(OPENED).count(), drawn.matches(CLOSED).count()), (1, 1));
}

#[test]
fn a_watch_that_ends_says_whether_the_hooks_are_live() {
    if !has_terminals() {
        return;
    }
    let house = House::new();
    let mut terminal = Terminal::of(&house, &["status", "--watch"]);
    house.wait_for("the first look", || terminal.last().contains("not live"));
    terminal.press(b"\x03");
    let (code, drawn) = terminal.ended();
    assert_eq!(code, Some(69));
    assert!(drawn.trim_end().ends_with(CLOSED), "{drawn:?}");
}

#[test]
fn a_watch_whose_reader_leaves_ends_although_nothing_changes() {
    let house = hooked();
    let mut command = house.seedgate(&["status", "--watch", "--json"]);
    let mut child = command.env("SEEDGATE_DAEMON", "off").stdout(Stdio::piped()).spawn().unwrap();
    let mut stdout = child.stdout.take().unwrap();
    let mut line = Vec::new();
    while !line.ends_with(b"\n") {
        let mut byte = [0];
        stdout.read_exact(&mut byte).unwrap();
        line.extend_from_slice(&byte);
    }
    let shown: serde_json::Value = serde_json::from_slice(&line).unwrap();
    assert_eq!(shown["schema"], "seedgate.status/1");
    drop(stdout);
    let pid = child.id();
    let ended = spawn(move || child.wait().unwrap());
    house.wait_for("the end of the watch", || ended.is_finished());
    assert_eq!(ended.join().unwrap().code(), Some(0));
    signal(pid, "KILL");
}

#[test]
fn status_says_in_json_whether_the_daemon_is_live_and_why_not() {
    let house = House::new();
    let daemon_of = |mode: &str| {
        let output = finish(house.seedgate(&["status", "--json"]).env("SEEDGATE_DAEMON", mode));
        let mut status: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        status["daemon"].take()
    };
    for (mode, why) in [("off", "SEEDGATE_DAEMON is off"), ("auto", "temporary folder"), ("on", "not running")] {
        let daemon = daemon_of(mode);
        assert_eq!(daemon["live"], false, "{mode}: {daemon}");
        assert!(daemon["why"].as_str().unwrap().contains(why), "{mode}: {daemon}");
    }
    let serving = house.serve(HANG);
    house.wait_for("the repository to be warm", || {
        let daemon = daemon_of("on");
        assert_eq!((&daemon["live"], &daemon["why"]), (&true.into(), &serde_json::Value::Null), "{daemon}");
        daemon["wanted"].as_u64().is_some_and(|wanted| wanted > 0 && daemon["ready"] == wanted)
    });
    assert_eq!(end(serving, "TERM"), Some(0));
}
