//! What the daemon keeps warm, what it watches, and what it makes of doubt.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Stdio;

use seedgate::gate::facts::{Question, engine};
use seedgate::tree::Oid;

use super::house::{HANG, House, end, finish, signal, skipped};

/// Waits until a pass over the repository is done.
fn warm(house: &House) {
    assert_eq!(house.check(), house.cold());
    // On a busy machine a hook may miss the daemon, and the next one finds all it asks for in the memo.
    house.wait_for("the daemon to hear of the repository", || {
        house.introduce();
        house.status().is_some_and(|status| status.requests > 0 && !status.repositories.is_empty())
    });
    house.wait_for("warmth", || {
        house.status().is_some_and(|status| status.repositories.iter().any(|one| one.wanted > 0 && one.ready == one.wanted))
    });
}

#[test]
fn what_head_and_index_need_is_ready_and_then_nothing_is_computed() {
    let house = House::new();
    let daemon = house.serve(HANG);
    warm(&house);
    let output = finish(&mut house.seedgate(&["check", "--json"]));
    let verdict: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(verdict["facts"]["cold"], 0, "{}", verdict["facts"]);
    assert_ne!(verdict["facts_from"], "cold");
    assert_eq!(end(daemon, "TERM"), Some(0));
}

#[test]
fn what_is_staged_is_weighed_before_its_commit_asks() {
    let house = House::new();
    let daemon = house.serve(HANG);
    warm(&house);
    fs::write(house.repo.join("tests/test_app.py"), "def test_two():\n    assert f(2) == 4 or True\n").unwrap();
    house.git(&["add", "."]);
    let memo = house.path(&format!("home/.cache/seedgate/facts/{}.memo", engine::short()));
    let lost = "lost \\\"assert f(2) == 4\\\", \\\"assert f(3) == 9\\\"";
    house.wait_for("what is staged to be weighed", || String::from_utf8_lossy(&fs::read(&memo).unwrap_or_default()).contains(lost));
    let output = finish(&mut house.seedgate(&["check", "--json"]));
    let verdict: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(verdict["facts"], serde_json::json!({"memory": 0, "memo": 1, "daemon": 0, "cold": 0}));
    assert_eq!(house.check(), house.cold());
    assert_eq!(end(daemon, "TERM"), Some(0));
}

#[test]
fn a_daemon_without_a_memo_tells_facts_itself() {
    let house = House::new();
    fs::create_dir_all(house.path("home/.cache")).unwrap();
    fs::write(house.path("home/.cache/seedgate"), "no folder").unwrap();
    let daemon = house.serve(HANG);
    warm(&house);
    let output = finish(&mut house.seedgate(&["check", "--json"]));
    let verdict: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(verdict["facts_from"], "daemon", "{}", verdict["facts"]);
    assert!(house.status().unwrap().told > 0);
    assert_eq!(end(daemon, "TERM"), Some(0));
}

#[test]
fn a_saved_file_is_read_ahead_under_the_id_it_would_get() {
    let house = House::new();
    let daemon = house.serve(HANG);
    warm(&house);
    let before = house.status().unwrap().warmed;
    fs::write(house.repo.join("tests/fixtures/data.json"), "{\"balance\": 12345}\n").unwrap();
    house.wait_for("the saved file", || house.status().unwrap().warmed > before);
    house.git(&["add", "."]);
    let output = finish(&mut house.seedgate(&["check", "--json"]));
    let verdict: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(verdict["facts"]["cold"], 0, "{}", verdict["facts"]);
    assert_eq!(end(daemon, "TERM"), Some(0));
}

#[test]
fn more_events_than_fit_end_the_watcher_and_a_fresh_one_sees_again() {
    let house = House::new();
    let daemon = house.serve(HANG);
    warm(&house);
    let fixtures = house.repo.join("tests/fixtures");
    house.wait_for("the flood to be noticed", || {
        for number in 0..6000 {
            fs::write(fixtures.join(format!("flood{number}")), "").unwrap();
        }
        house.log().contains("watch off: too many changes at once")
    });
    assert_eq!(house.check(), house.cold());
    house.wait_for("a fresh watcher", || house.status().is_some_and(|status| status.watch_off.is_none() && status.watches > 0));
    let before = house.status().unwrap().warmed;
    house.wait_for("the fresh watcher to see", || {
        fs::write(fixtures.join("data.json"), format!("{:?}", std::time::SystemTime::now())).unwrap();
        house.status().unwrap().warmed > before
    });
    assert_eq!(end(daemon, "TERM"), Some(0));
}

#[test]
fn a_queue_that_overflows_ends_the_watcher_and_the_fresh_one_sees_every_folder() {
    const FOLDERS: usize = 12;
    let house = House::new();
    let fixture = |folder: usize| house.repo.join(format!("tests/d{folder}/fixtures/data.json"));
    for folder in 0..FOLDERS {
        fs::create_dir_all(fixture(folder).parent().unwrap()).unwrap();
        fs::write(fixture(folder), "{}").unwrap();
    }
    house.git(&["add", "."]);
    house.git(&["commit", "-q", "--no-verify", "-m", "folders"]);
    let daemon = house.serve(HANG);
    warm(&house);
    // Nobody reads the queue of a daemon that is stopped. Few names, so that it is the queue that cannot hold them.
    signal(daemon.id(), "STOP");
    let queue: usize = fs::read_to_string("/proc/sys/fs/inotify/max_queued_events").unwrap().trim().parse().unwrap();
    for write in 0..queue {
        fs::write(fixture(write % FOLDERS), write.to_string()).unwrap();
    }
    house.git(&["add", "."]);
    assert_eq!(house.check(), house.cold());
    signal(daemon.id(), "CONT");
    house.wait_for("the overflow to be seen", || house.log().contains("watch off: the system dropped events"));
    assert_eq!(house.check(), house.cold());
    house.wait_for("a fresh watcher", || house.status().is_some_and(|status| status.watch_off.is_none() && status.watches > FOLDERS));
    for folder in 0..FOLDERS {
        let before = house.status().unwrap().warmed;
        house.wait_for("the fresh watcher to see a folder", || {
            fs::write(fixture(folder), format!("{:?}", std::time::SystemTime::now())).unwrap();
            house.status().unwrap().warmed > before
        });
    }
    house.git(&["add", "."]);
    assert_eq!(house.check(), house.cold());
    assert_eq!(end(daemon, "TERM"), Some(0));
}

#[test]
fn links_out_of_the_repository_are_neither_followed_nor_watched() {
    let house = House::new();
    fs::create_dir_all(house.path("outside/deep")).unwrap();
    for (link, target) in
        [("tests/root", Path::new("/")), ("tests/loop", Path::new("loop")), ("tests/fixtures/out", house.path("outside").as_path())]
    {
        symlink(target, house.repo.join(link)).unwrap();
    }
    house.git(&["add", "."]);
    house.git(&["commit", "-q", "--no-verify", "-m", "links"]);
    let daemon = house.serve(HANG);
    warm(&house);
    let status = house.status().unwrap();
    assert!((3..10).contains(&status.watches), "{} watches", status.watches);
    assert_eq!(end(daemon, "TERM"), Some(0));
}

#[test]
fn a_repository_that_is_deleted_and_made_again_is_another_one() {
    let house = House::new();
    let daemon = house.serve(HANG);
    warm(&house);
    fs::remove_dir_all(&house.repo).unwrap();
    house.wait_for("the repository to be forgotten", || house.status().is_some_and(|status| status.repositories.is_empty()));
    house.init("r");
    warm(&house);
    assert_eq!(end(daemon, "TERM"), Some(0));
}

#[test]
fn an_edit_whose_time_is_put_back_is_judged_by_its_bytes() {
    let house = House::new();
    let daemon = house.serve(HANG);
    warm(&house);
    let file = house.repo.join("tests/fixtures/data.json");
    let time = fs::metadata(&file).unwrap().modified().unwrap();
    fs::write(&file, "{\"balance\": 77}\n").unwrap();
    fs::File::options().append(true).open(&file).unwrap().set_modified(time).unwrap();
    house.git(&["add", "--renormalize", "."]);
    assert_eq!(house.check(), house.cold());
    assert_eq!(end(daemon, "TERM"), Some(0));
}

#[test]
fn the_repository_may_be_packed_and_changed_at_any_time() {
    let house = House::new();
    let daemon = house.serve(HANG);
    warm(&house);
    for change in [
        &["gc", "-q", "--prune=now"][..],
        &["repack", "-adq"],
        &["stash", "-q"],
        &["stash", "pop", "-q", "--index"],
        &["checkout", "-qb", "other"],
    ] {
        house.git(change);
        assert_eq!(house.check(), house.cold(), "{change:?}");
    }
    fs::write(house.repo.join("src/app.py"), "b = 1\n").unwrap();
    for number in 0..10 {
        fs::create_dir_all(house.repo.join(format!("tests/new{number}/fixtures/a"))).unwrap();
        fs::write(house.repo.join(format!("tests/new{number}/fixtures/a/b.json")), number.to_string()).unwrap();
        house.git(&["add", "."]);
        assert_eq!(house.check(), house.cold(), "made and added at once");
    }
    assert!(!house.repo.join(".git/index.lock").exists());
    assert_eq!(end(daemon, "TERM"), Some(0));
}

#[test]
fn a_blob_that_a_daemon_died_of_is_not_read_ahead_again() {
    let house = House::new();
    house.make_run();
    let oid = Oid::from_hex(&house.git(&["rev-parse", "HEAD:tests/fixtures/data.json"])).unwrap();
    end(house.serve(HANG), "KILL");
    fs::write(house.file("inflight"), serde_json::to_vec(&(Question::Sha256, oid)).unwrap()).unwrap();
    let daemon = house.serve(HANG);
    assert_eq!(house.status().unwrap().shunned, 1);
    assert_eq!(house.check(), house.cold());
    house.wait_for("the rest to be warm", || {
        house.introduce();
        house.status().is_some_and(|status| status.repositories.iter().any(|one| one.wanted > 0 && one.ready + 1 == one.wanted))
    });
    assert_eq!(end(daemon, "TERM"), Some(0));
}

#[test]
fn a_limit_of_watches_is_named_and_changes_nothing() {
    let unshares = std::process::Command::new("unshare").args(["-Ur", "true"]).stderr(Stdio::null()).status();
    if !unshares.is_ok_and(|status| status.success()) {
        skipped("no user namespaces to set limits in");
        return;
    }
    for (limit, file) in [("2", "max_inotify_watches"), ("0", "max_inotify_instances")] {
        let house = House::new();
        let script = format!("echo {limit} > /proc/sys/user/{file} && exec \"$0\" daemon serve");
        let mut command = house.command("unshare");
        command.args(["-Ur", "sh", "-c", &script, env!("CARGO_BIN_EXE_seedgate")]).stdout(Stdio::null()).stderr(Stdio::null());
        let daemon = command.spawn().unwrap();
        house.wait_for("the daemon", || house.status().is_some());
        house.wait_for("the daemon to hear of the repository", || {
            house.introduce();
            house.log().contains("keeps")
        });
        house.wait_for("the limit to be named", || {
            house.status().is_some_and(|status| status.watch_off.is_some_and(|why| why.contains("limit")))
        });
        house.wait_for("the last try", || house.log().contains("it stays off"));
        assert!(house.log().matches("watch off").count() <= 3, "{}", house.log());
        assert_eq!(house.check(), house.cold());
        assert_eq!(end(daemon, "TERM"), Some(0));
    }
}

#[test]
fn a_merge_to_come_is_judged_for_its_two_commits() {
    let house = House::new();
    house.git(&["reset", "-q", "--hard"]);
    house.git(&["checkout", "-qb", "clear"]);
    house.git(&["branch", "-q", "--set-upstream-to=main"]);
    fs::write(house.repo.join("src/app.py"), "a = 1\n").unwrap();
    house.git(&["commit", "-qam", "production"]);
    house.git(&["checkout", "-q", "main"]);
    house.git(&["checkout", "-qb", "refused"]);
    house.git(&["branch", "-q", "--set-upstream-to=main"]);
    fs::write(house.repo.join("tests/fixtures/data.json"), "moved").unwrap();
    house.git(&["commit", "-qam", "fixture"]);
    let daemon = house.serve(HANG);
    let merges = || {
        let output = finish(&mut house.seedgate(&["status", "--json"]));
        let status: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        let merges = status["merges"].as_array().unwrap().clone();
        let of = |branch: &str| merges.iter().find(|merge| merge["branch"] == branch && !merge["exit"].is_null()).cloned();
        of("clear").zip(of("refused"))
    };
    house.wait_for("both merges to be judged", || {
        assert_eq!(house.check(), house.cold());
        merges().is_some()
    });
    let (clear, refused) = merges().unwrap();
    for (merge, branch, exit) in [(&clear, "clear", 0), (&refused, "refused", 2)] {
        assert_eq!(merge["exit"], exit, "{merge}");
        assert_eq!(
            (merge["head"].as_str(), merge["base"].as_str()),
            (Some(&*house.git(&["rev-parse", branch])), Some(&*house.git(&["rev-parse", "main"])))
        );
    }
    assert_eq!(refused["rules"], serde_json::json!(["fixture_drift"]));
    let text = String::from_utf8(finish(&mut house.seedgate(&["status"])).stdout).unwrap();
    assert!(text.contains("merges (hint)") && text.contains("): fixture_drift"), "{text}");
    assert_eq!(end(daemon, "TERM"), Some(0));
}
