//! A hook that starts a daemon: after its verdict, once, clean of everything the hook was given.

use std::fs;
use std::os::unix::process::CommandExt as _;
use std::process::Stdio;
use std::thread::sleep;
use std::time::{Duration, Instant};

use super::house::{HANG, House, end, finish, odd_name, said, signal, skipped};

#[test]
fn many_hooks_at_once_start_one_daemon() {
    let house = House::new();
    let cold = house.cold();
    std::thread::scope(|scope| {
        let checks: Vec<_> = (0..50).map(|_| scope.spawn(|| house.check())).collect();
        assert!(checks.into_iter().all(|check| check.join().unwrap() == cold));
    });
    house.wait_for("one daemon", || house.status().is_some() && house.daemons().len() == 1);
}

#[test]
fn a_started_daemon_has_its_own_session_and_nothing_of_the_hooks() {
    let house = House::new();
    let kept = fs::File::open(house.repo.join(".git/HEAD")).unwrap();
    rustix::io::fcntl_setfd(&kept, rustix::io::FdFlags::empty()).unwrap();
    let mut command = house.seedgate(&["check"]);
    command.env("GIT_DIR", ".git").env("GIT_INDEX_FILE", ".git/index").env("GIT_PREFIX", "").env("SECRET_TOKEN", "x");
    finish(&mut command);
    drop(kept);
    house.wait_for("the daemon", || house.status().is_some());
    let proc = std::path::PathBuf::from(format!("/proc/{}", house.status().unwrap().pid));
    let environ = String::from_utf8(fs::read(proc.join("environ")).unwrap()).unwrap();
    assert!(!environ.contains("GIT_") && !environ.contains("SECRET"), "{environ}");
    assert_eq!(fs::read_link(proc.join("cwd")).unwrap(), std::path::Path::new("/"));
    let open: Vec<_> = fs::read_dir(proc.join("fd")).unwrap().map(|fd| fs::read_link(fd.unwrap().path()).unwrap_or_default()).collect();
    assert_eq!(open.iter().filter(|file| file.as_os_str() == "/dev/null").count(), 3, "{open:?}");
    assert!(!open.iter().any(|file| file.starts_with(&house.repo)), "{open:?}");
    let stat = fs::read_to_string(proc.join("stat")).unwrap();
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap().split_whitespace().collect();
    assert_eq!(fields[3], house.status().unwrap().pid.to_string(), "its session");
}

#[test]
fn output_that_is_read_to_its_end_ends_with_the_hook() {
    let house = House::new();
    let started = Instant::now();
    let output = finish(house.command("sh").args(["-c", "\"$0\" check 2>&1 | cat"]).arg(env!("CARGO_BIN_EXE_seedgate")));
    assert!(!output.stdout.is_empty());
    house.wait_for("the daemon", || house.status().is_some());
    assert!(started.elapsed() < HANG, "the daemon held the pipe");
}

#[test]
fn a_process_group_that_is_killed_takes_no_daemon_with_it() {
    let house = House::new();
    let mut group = house.command("sh");
    group
        .args(["-c", "\"$0\" check; sleep 60"])
        .arg(env!("CARGO_BIN_EXE_seedgate"))
        .process_group(0)
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let mut shell = group.spawn().unwrap();
    house.wait_for("the daemon", || house.status().is_some());
    let kill = std::process::Command::new("kill").args(["-INT", "--", &format!("-{}", shell.id())]).status().unwrap();
    assert!(kill.success());
    // A shell that was still busy with the check may go on to sleep.
    signal(shell.id(), "KILL");
    shell.wait().unwrap();
    sleep(Duration::from_millis(100));
    assert!(house.status().is_some());
    assert!(!house.repo.join(".git/index.lock").exists());
}

#[test]
fn after_three_crashes_nobody_starts_one_by_himself() {
    let house = House::new();
    for _ in 0..3 {
        end(house.serve(HANG), "KILL");
    }
    assert_eq!(house.check(), house.cold());
    house.wait_for("the last crash to be noted", || house.status().is_some());
    for pid in house.daemons() {
        signal(pid, "KILL");
    }
    house.wait_for("the end", || house.daemons().is_empty());
    assert_eq!(house.check(), house.cold());
    sleep(Duration::from_millis(300));
    assert_eq!(house.daemons(), Vec::<u32>::new());
    assert!(finish(&mut house.seedgate(&["daemon", "start"])).status.success(), "but who asks for it gets it");
}

/// Repositories that are made, worked in once, and forgotten: by the hooks as they are without any setting.
fn scratch(repositories: usize) {
    let house = House::empty();
    for number in 0..repositories {
        let repo = house.init(&format!("scratch{number}"));
        let hook = repo.join(".git/hooks/pre-commit");
        fs::create_dir_all(hook.parent().unwrap()).unwrap();
        fs::write(&hook, format!("#!/bin/sh\nexec '{}' hook pre-commit\n", env!("CARGO_BIN_EXE_seedgate"))).unwrap();
        fs::set_permissions(&hook, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
        let commit = finish(house.command("git").args(["commit", "-qm", "scratch"]).current_dir(&repo).env_remove("SEEDGATE_DAEMON"));
        assert!(!commit.status.success() && String::from_utf8_lossy(&commit.stderr).contains("fixture_drift"), "{commit:?}");
        assert!(!String::from_utf8_lossy(&commit.stderr).contains("note: "), "{commit:?}");
    }
    // Without a process there is no watch.
    assert_eq!(house.processes(), Vec::<u32>::new());
    assert!(!house.run().exists());
}

#[test]
fn scratch_repositories_start_no_daemon() {
    scratch(20);
}

#[test]
#[ignore = "takes minutes"]
fn five_hundred_scratch_repositories_start_no_daemon() {
    scratch(500);
}

#[test]
fn by_itself_a_daemon_is_started_only_after_a_verdict_that_computed_facts() {
    let house = House::settled();
    if house.file("sock").as_os_str().len() > 103 {
        skipped("the build's folder is too deep for a socket");
        return;
    }
    if ["/tmp", "/var/tmp", "/dev/shm"].iter().any(|folder| house.repo.starts_with(folder)) || house.repo.starts_with(std::env::temp_dir())
    {
        skipped("the build lies in a folder for temporary files, where none is started");
        return;
    }
    let auto = |house: &House| said(&finish(house.seedgate(&["check"]).env_remove("SEEDGATE_DAEMON")));
    house.git(&["stash", "-q"]);
    fs::write(house.repo.join("src/app.py"), "production = 1\n").unwrap();
    house.git(&["add", "."]);
    assert_eq!(auto(&house).code, Some(0));
    assert!(house.daemons().is_empty() && !house.run().exists(), "production files alone ask for nothing");
    house.git(&["reset", "-q", "--hard"]);
    house.git(&["stash", "pop", "-q", "--index"]);
    assert_eq!(auto(&house), house.cold());
    house.wait_for("the daemon", || house.status().is_some());
    assert!(finish(&mut house.seedgate(&["daemon", "stop"])).status.success());
    house.wait_for("no process", || house.processes().is_empty());
    assert_eq!(auto(&house), house.cold());
    sleep(Duration::from_millis(100));
    assert_eq!(house.processes(), Vec::<u32>::new(), "the memo had every fact");
}

#[test]
fn odd_homes_locales_and_names_change_nothing() {
    let house = House::new();
    fs::write(house.repo.join("tests/fixtures").join(odd_name()), "odd").unwrap();
    house.git(&["add", "."]);
    let cold = house.cold();
    for (name, value) in
        [("HOME", None), ("HOME", Some("/proc/1/nope")), ("LANG", Some("C")), ("LC_ALL", Some("de_DE.UTF-8")), ("TMPDIR", Some("/nowhere"))]
    {
        let mut command = house.seedgate(&["check"]);
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
        // Without this home in its environment the daemon would not be found and ended by this test.
        assert_eq!(said(&finish(command.env("SEEDGATE_DAEMON", "off"))), cold, "{name}={value:?}");
    }
    let odd = house.path("").join(odd_name());
    fs::rename(&house.repo, &odd).unwrap();
    let said_there = said(&finish(house.seedgate(&["check"]).current_dir(&odd)));
    assert_eq!(said_there, cold);
    house.wait_for("an odd place to be warm", || house.status().is_some_and(|status| status.repositories.iter().any(|one| one.ready > 0)));
    assert!(house.status().unwrap().repositories[0].place.contains("caf\\xe9 \\n'x"));
}
