//! A client that misbehaves: it is cut off, and everybody else is served.

use std::io::{Read as _, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::UnixStream;
use std::thread::sleep;
use std::time::{Duration, Instant};

use seedgate::daemon::wire::{self, ANSWER_CAP, Hello, REQUEST_CAP};

use super::house::{HANG, House, end, skipped};

/// Sends bytes and waits for the daemon to end the connection; answers how many bytes came back.
fn rudely(house: &House, send: impl Fn(&mut UnixStream)) -> usize {
    let mut stream = UnixStream::connect(house.file("sock")).unwrap();
    stream.set_read_timeout(Some(HANG)).unwrap();
    send(&mut stream);
    let mut back = Vec::new();
    match stream.read_to_end(&mut back) {
        Ok(_) => {}
        Err(error) => assert_eq!(error.kind(), std::io::ErrorKind::ConnectionReset, "it hung"),
    }
    back.len()
}

#[test]
fn a_rude_client_is_cut_off_and_others_are_served() {
    let house = House::new();
    let daemon = house.serve(HANG);
    let hello = |stream: &mut UnixStream| {
        wire::send(stream, &Hello::new("n"), REQUEST_CAP).unwrap();
        wire::receive(stream, ANSWER_CAP).unwrap().unwrap();
    };
    let deep = format!("{{\"nonce\":\"n\",\"wish\":{}{}}}", "[".repeat(1_000_000), "]".repeat(1_000_000));
    let before = house.status().unwrap().resident.unwrap();
    for round in 0..3 {
        assert_eq!(rudely(&house, |stream| stream.write_all(b"\xff\xff\xff\xff").unwrap()), 0, "4 GiB");
        assert_eq!(rudely(&house, |stream| stream.write_all(b"\0\0\0\x02{}").unwrap()), 0, "no hello");
        rudely(&house, |stream| {
            hello(stream);
            let _ = stream.write_all(&u32::try_from(deep.len()).unwrap().to_be_bytes()).and_then(|()| stream.write_all(deep.as_bytes()));
        });
        rudely(&house, |stream| {
            hello(stream);
            stream.write_all(b"\0\0\0\x09not JSON!").unwrap();
        });
        assert!(house.status().is_some(), "round {round}");
    }
    let after = house.status().unwrap().resident.unwrap();
    assert!(after < before + (64 << 20), "{before} -> {after} bytes");
    assert_eq!(end(daemon, "TERM"), Some(0));
}

#[test]
fn a_client_that_falls_silent_or_dribbles_is_cut_off_while_others_are_served() {
    let house = House::new();
    let daemon = house.serve(HANG);
    std::thread::scope(|scope| {
        let silent = (0..20).map(|_| scope.spawn(|| rudely(&house, |_| {}))).collect::<Vec<_>>();
        let dribbling = scope.spawn(|| {
            rudely(&house, |stream| {
                for byte in [0, 0, 0, 200_u8].iter().chain([b' '; 60].iter()) {
                    if stream.write_all(&[*byte]).is_err() {
                        break;
                    }
                    sleep(Duration::from_millis(100));
                }
            })
        });
        for _ in 0..10 {
            assert!(house.status().is_some());
            assert_eq!(house.check(), house.cold());
        }
        assert!(silent.into_iter().all(|one| one.join().unwrap() == 0));
        assert_eq!(dribbling.join().unwrap(), 0);
    });
    assert_eq!(end(daemon, "TERM"), Some(0));
}

#[test]
fn more_clients_than_are_let_in_at_once_lose_nothing_but_time() {
    let house = House::new();
    let daemon = house.serve(HANG);
    let held: Vec<UnixStream> = (0..64).map(|_| UnixStream::connect(house.file("sock")).unwrap()).collect();
    assert_eq!(house.check(), house.cold());
    drop(held);
    house.wait_for("room", || house.status().is_some());
    assert_eq!(end(daemon, "TERM"), Some(0));
}

#[test]
fn another_engines_client_is_told_nothing_but_may_end_the_daemon() {
    let house = House::new();
    let mut daemon = house.serve(HANG);
    let foreign = Hello { engine: "f".repeat(32), ..Hello::new("n") };
    for (wish, answered) in [("\"status\"", false), ("{\"facts\":[]}", false), ("\"stop\"", true)] {
        let mut stream = UnixStream::connect(house.file("sock")).unwrap();
        wire::send(&mut stream, &foreign, REQUEST_CAP).unwrap();
        wire::receive(&mut stream, ANSWER_CAP).unwrap().unwrap();
        let request = format!("{{\"nonce\":\"n\",\"wish\":{wish}}}");
        stream.write_all(&u32::try_from(request.len()).unwrap().to_be_bytes()).unwrap();
        stream.write_all(request.as_bytes()).unwrap();
        assert_eq!(wire::receive(&mut stream, ANSWER_CAP).unwrap().is_some(), answered, "{wish}");
    }
    assert_eq!(daemon.wait().unwrap().code(), Some(0));
}

#[test]
fn another_user_is_not_told_a_byte() {
    if !rustix::process::geteuid().is_root() {
        skipped("only root can be two users");
        return;
    }
    let house = House::new();
    let daemon = house.serve(HANG);
    let nobody = |script: &str| {
        let mut command = house.command("python3");
        command
            .args(["-c", &format!("import os,socket,sys\nos.setgid(65534); os.setuid(65534)\ns=socket.socket(socket.AF_UNIX)\n{script}")]);
        command.arg(house.file("sock")).output().ok().map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned())
    };
    let Some(refused) = nobody("try: s.connect(sys.argv[1]); print('in')\nexcept PermissionError: print('out')") else {
        skipped("no python3 to be another user");
        return;
    };
    assert_eq!(refused, "out");
    for folder in [house.path(""), house.path("run"), house.run()] {
        std::fs::set_permissions(folder, std::fs::Permissions::from_mode(0o711)).unwrap();
    }
    std::fs::set_permissions(house.file("sock"), std::fs::Permissions::from_mode(0o666)).unwrap();
    let hello = serde_json::to_string(&Hello::new("n")).unwrap();
    let frame = format!(
        "s.connect(sys.argv[1]); h='''{hello}'''.encode(); s.settimeout(20)\ntry:\n  s.sendall(len(h).to_bytes(4,'big')+h); print(len(s.recv(9)))\nexcept OSError: print(0)"
    );
    assert_eq!(nobody(&frame).unwrap(), "0");
    let started = Instant::now();
    while daemon_is_up(&daemon) && started.elapsed() < HANG {
        sleep(Duration::from_millis(50));
    }
    drop(daemon);
    assert!(house.log().contains("no longer private"), "{}", house.log());
}

fn daemon_is_up(daemon: &std::process::Child) -> bool {
    std::fs::read_to_string(format!("/proc/{}/stat", daemon.id())).is_ok_and(|stat| !stat.contains(") Z "))
}
