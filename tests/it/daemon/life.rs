//! A daemon's life: one at a time, killed, stopped, robbed, upgraded, told to end.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::os::unix::net::{UnixListener, UnixStream};
use std::process::Stdio;
use std::thread::sleep;
use std::time::Duration;

use seedgate::daemon::wire::{self, ANSWER_CAP, Hello, REQUEST_CAP};

use super::house::{HANG, House, end, finish, signal};

#[test]
fn a_stale_socket_is_reclaimed_by_the_next_start() {
    let house = House::new();
    end(house.serve(HANG), "KILL");
    assert!(house.file("sock").exists());
    let notes = house.noted();
    assert!(notes.len() == 1 && notes[0].contains("no longer there"), "{notes:?}");
    house.wait_for("the next daemon", || house.status().is_some());
    assert_eq!(house.daemons().len(), 1);
    assert_eq!(house.noted(), Vec::<String>::new());
}

#[test]
fn a_stopped_daemon_costs_a_deadline_and_goes_on_when_it_is_woken() {
    let house = House::new();
    let daemon = house.serve(HANG);
    signal(daemon.id(), "STOP");
    let notes = house.noted();
    assert!(notes.len() == 1 && notes[0].contains("in time"), "{notes:?}");
    signal(daemon.id(), "CONT");
    house.wait_for("the woken daemon", || house.status().is_some());
    assert_eq!(house.check(), house.cold());
    assert_eq!(end(daemon, "TERM"), Some(0));
}

#[test]
fn a_daemon_killed_again_and_again_changes_nothing() {
    let house = House::new();
    let cold = house.cold();
    for round in 0..20 {
        let daemon = house.serve_quietly(HANG);
        sleep(Duration::from_millis(round % 7));
        std::thread::scope(|scope| {
            let check = scope.spawn(|| house.check());
            sleep(Duration::from_millis(round));
            end(daemon, "KILL");
            assert_eq!(check.join().unwrap(), cold);
        });
    }
}

#[test]
fn only_one_of_many_starts_lives() {
    let house = House::new();
    let children: Vec<_> = (0..8).map(|_| house.serve_quietly(HANG)).collect();
    house.wait_for("one daemon", || house.status().is_some());
    house.wait_for("the end of the others", || house.status().is_some() && children.iter().filter(|child| is_up(child.id())).count() == 1);
    let alive = house.status().unwrap().pid;
    for child in children {
        if child.id() == alive {
            assert_eq!(end(child, "TERM"), Some(0));
        } else {
            assert_eq!(end(child, "CONT"), Some(69));
        }
    }
}

fn is_up(pid: u32) -> bool {
    fs::read_to_string(format!("/proc/{pid}/stat")).is_ok_and(|stat| !stat.contains(") Z "))
}

#[test]
fn a_daemon_that_goes_idle_while_clients_come_loses_none_of_them() {
    let house = House::new();
    let cold = house.cold();
    for _ in 0..15 {
        let daemon = house.serve_quietly(Duration::from_millis(3));
        for _ in 0..4 {
            assert_eq!(house.check(), cold);
        }
        end(daemon, "KILL");
    }
}

#[test]
fn an_idle_daemon_ends_and_leaves_no_socket() {
    let house = House::new();
    let mut daemon = house.serve_quietly(Duration::from_millis(300));
    assert_eq!(daemon.wait().unwrap().code(), Some(0));
    assert!(!house.file("sock").exists());
    assert!(house.log().contains("nobody asked"), "{}", house.log());
}

#[test]
fn an_end_by_signal_is_orderly_and_answers_what_is_on_its_way() {
    for name in ["TERM", "INT", "HUP"] {
        let house = House::new();
        let daemon = house.serve(HANG);
        let mut stream = UnixStream::connect(house.file("sock")).unwrap();
        wire::send(&mut stream, &Hello::new("n"), REQUEST_CAP).unwrap();
        signal(daemon.id(), name);
        assert!(wire::receive(&mut stream, ANSWER_CAP).unwrap().is_some(), "{name}");
        drop(stream);
        assert_eq!(end(daemon, "CONT"), Some(0), "{name}");
        assert!(!house.file("sock").exists());
    }
}

#[test]
fn a_daemon_whose_folder_lock_or_socket_is_taken_leaves() {
    let robberies: [(&str, fn(&House)); 4] = [
        ("folder", |house| fs::remove_dir_all(house.run()).unwrap()),
        ("socket", |house| {
            fs::remove_file(house.file("sock")).unwrap();
            fs::write(house.file("sock"), "mine").unwrap();
        }),
        ("lock", |house| {
            fs::rename(house.file("held"), house.path("held")).unwrap();
            fs::write(house.file("held"), "").unwrap();
        }),
        ("mode", |house| fs::set_permissions(house.run(), fs::Permissions::from_mode(0o755)).unwrap()),
    ];
    for (what, rob) in robberies {
        let house = House::new();
        let mut daemon = house.serve(HANG);
        rob(&house);
        assert_eq!(daemon.wait().unwrap().code(), Some(0), "{what}");
        if what == "socket" {
            assert_eq!(fs::read_to_string(house.file("sock")).unwrap(), "mine", "what is not ours stays");
        }
        assert_eq!(house.check(), house.cold(), "{what}");
    }
}

#[test]
fn a_daemon_whose_program_is_replaced_leaves() {
    let house = House::new();
    let program = house.path("seedgate");
    // Not by this process: a child of another test could hold the copy open for writing and keep it from being run.
    let copy = |to: &std::path::Path| {
        let copied = std::process::Command::new("cp").arg(env!("CARGO_BIN_EXE_seedgate")).arg(to).status().unwrap();
        assert!(copied.success());
    };
    copy(&program);
    let mut old = house.command(&program).args(["daemon", "serve"]).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    house.wait_for("the daemon", || house.status().is_some());
    copy(&house.path("new"));
    fs::rename(house.path("new"), &program).unwrap();
    assert_eq!(old.wait().unwrap().code(), Some(0));
    assert!(house.log().contains("the program was replaced"), "{}", house.log());
}

#[test]
fn what_is_in_the_sockets_way_is_refused_and_left_alone() {
    let ways: [(&str, fn(&House)); 3] = [
        ("file", |house| fs::write(house.file("sock"), "mine").unwrap()),
        ("folder", |house| fs::create_dir(house.file("sock")).unwrap()),
        ("link", |house| {
            fs::write(house.path("target"), "mine").unwrap();
            symlink(house.path("target"), house.file("sock")).unwrap();
        }),
    ];
    for (what, put) in ways {
        let house = House::new();
        house.make_run();
        put(&house);
        let before = fs::symlink_metadata(house.file("sock")).unwrap();
        let mut daemon = house.serve_quietly(HANG);
        assert_eq!(daemon.wait().unwrap().code(), Some(69), "{what}");
        house.noted();
        let after = fs::symlink_metadata(house.file("sock")).unwrap();
        assert_eq!((before.file_type(), before.modified().unwrap()), (after.file_type(), after.modified().unwrap()), "{what}");
    }
}

#[test]
fn stop_ends_it_restart_replaces_it_and_start_finds_it() {
    let house = House::new();
    let code = |word: &str| finish(&mut house.seedgate(&["daemon", word])).status.code();
    assert_eq!((code("status"), code("stop")), (Some(69), Some(0)));
    assert_eq!((code("start"), code("start"), code("status")), (Some(0), Some(0), Some(0)));
    let first = house.status().unwrap().pid;
    assert_eq!(code("restart"), Some(0));
    let second = house.status().unwrap().pid;
    assert_ne!(first, second);
    assert_eq!(house.daemons(), [second]);
    assert_eq!((code("stop"), code("status")), (Some(0), Some(69)));
    house.wait_for("no process", || house.processes().is_empty());
    let log = finish(&mut house.seedgate(&["daemon", "log"]));
    assert!(String::from_utf8_lossy(&log.stdout).contains("a client asked for it"));
}

#[test]
fn a_folder_that_is_not_private_means_no_daemon_and_is_not_changed() {
    let cases: [(&str, fn(&House)); 3] = [
        ("mode is not 0700", |house| {
            fs::create_dir(house.run()).unwrap();
            fs::set_permissions(house.run(), fs::Permissions::from_mode(0o755)).unwrap();
        }),
        ("symbolic link", |house| {
            fs::create_dir(house.path("else")).unwrap();
            fs::set_permissions(house.path("else"), fs::Permissions::from_mode(0o700)).unwrap();
            symlink(house.path("else"), house.run()).unwrap();
        }),
        ("no folder", |house| fs::write(house.run(), "").unwrap()),
    ];
    for (why, put) in cases {
        let house = House::new();
        put(&house);
        let before = fs::symlink_metadata(house.run()).unwrap();
        let notes = house.noted();
        assert!(notes.len() == 1 && notes[0].contains(why) && notes[0].contains("run/seedgate"), "{why}: {notes:?}");
        let after = fs::symlink_metadata(house.run()).unwrap();
        assert_eq!((before.permissions(), before.file_type()), (after.permissions(), after.file_type()), "{why}");
        assert_eq!(house.processes(), Vec::<u32>::new(), "{why}");
    }
}

#[test]
fn a_runtime_folder_that_does_not_fit_gives_way_to_the_cache() {
    for value in [None, Some("relative/run"), Some("/nowhere/run"), Some("/proc")] {
        let house = House::new();
        let with = |args: &[&str]| {
            let mut command = house.seedgate(args);
            command.env_remove("XDG_RUNTIME_DIR");
            finish(command.envs(value.map(|value| ("XDG_RUNTIME_DIR", value))))
        };
        assert_eq!(super::house::said(&with(&["check"])), house.cold(), "{value:?}");
        house.wait_for("a daemon in the cache", || with(&["daemon", "status"]).status.success());
        assert!(house.path("home/.cache/seedgate/run").is_dir(), "{value:?}");
        assert!(with(&["daemon", "stop"]).status.success());
    }
}

#[test]
fn a_socket_whose_path_is_too_long_means_no_daemon() {
    let house = House::new();
    let long = house.path(&"d".repeat(100));
    let mut command = house.seedgate(&["check"]);
    let output = finish(command.env("SEEDGATE_RUNTIME_DIR", &long));
    assert_eq!(super::house::said(&output), house.cold());
    assert_eq!(house.processes(), Vec::<u32>::new());
    let start = finish(house.seedgate(&["daemon", "start"]).env("SEEDGATE_RUNTIME_DIR", &long));
    assert_eq!(start.status.code(), Some(69));
    assert!(String::from_utf8_lossy(&start.stderr).contains("103"), "{start:?}");
}

#[test]
fn a_socket_of_another_listener_is_not_taken_from_it() {
    let house = House::new();
    let daemon = house.serve(HANG);
    fs::remove_file(house.file("sock")).unwrap();
    let thief = UnixListener::bind(house.file("sock")).unwrap();
    assert_eq!(end(daemon, "TERM"), Some(0));
    assert!(house.file("sock").exists(), "the socket is no longer ours to remove");
    drop(thief);
}
