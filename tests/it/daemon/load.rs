//! The daemon under load. The long runs are not part of every test run: `cargo test --test it load -- --ignored`.

use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use seedgate::daemon::wire::{self, ANSWER_CAP, Answer, Hello, Matter, REQUEST_CAP, Request, Wish};

use super::house::{HANG, House, end};

#[test]
fn a_hundred_hooks_at_once_all_get_their_verdict() {
    let house = House::new();
    let cold = house.cold();
    let daemon = house.serve(HANG);
    std::thread::scope(|scope| {
        let checks: Vec<_> = (0..100).map(|_| scope.spawn(|| house.check())).collect();
        assert!(checks.into_iter().all(|check| check.join().unwrap() == cold));
    });
    assert_eq!(house.daemons(), [daemon.id()]);
    assert_eq!(end(daemon, "TERM"), Some(0));
    house.wait_for("no process", || house.processes().is_empty());
}

#[test]
#[ignore = "takes minutes"]
fn a_thousand_requests_a_second_for_a_minute_lose_no_answer_and_no_memory() {
    let house = House::new();
    let daemon = house.serve(HANG);
    house.check();
    let before = house.status().unwrap();
    let (answered, refused) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let end_at = Instant::now() + Duration::from_mins(1);
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                let mut due = Instant::now();
                while Instant::now() < end_at {
                    due += Duration::from_millis(8);
                    std::thread::sleep(due.saturating_duration_since(Instant::now()));
                    match one(&house) {
                        Some(()) => answered.fetch_add(1, Ordering::Relaxed),
                        None => refused.fetch_add(1, Ordering::Relaxed),
                    };
                }
            });
        }
    });
    let after = house.status().unwrap();
    let (answered, refused) = (answered.into_inner(), refused.into_inner());
    println!("{answered} answered, {refused} not; {:?} -> {:?} bytes", before.resident, after.resident);
    assert_eq!(refused, 0);
    assert!(answered > 30_000, "{answered}");
    assert!(after.resident.unwrap() < before.resident.unwrap() + (32 << 20));
    assert_eq!(house.daemons(), [daemon.id()]);
    assert_eq!(end(daemon, "TERM"), Some(0));
}

fn one(house: &House) -> Option<()> {
    let mut stream = UnixStream::connect(house.file("sock")).ok()?;
    wire::send(&mut stream, &Hello::new("n"), REQUEST_CAP).ok()?;
    wire::receive(&mut stream, ANSWER_CAP).ok()??;
    wire::send(&mut stream, &Request { nonce: "n".into(), repository: None, wish: Wish::Facts(Vec::new()) }, REQUEST_CAP).ok()?;
    let bytes = wire::receive(&mut stream, ANSWER_CAP).ok()??;
    let answer: Answer = wire::parse(&bytes).ok()?;
    matches!(answer.matter, Matter::Facts(facts) if facts.is_empty()).then_some(())
}

#[test]
#[ignore = "takes minutes"]
fn five_hundred_repositories_one_after_another_leave_one_small_daemon() {
    let house = House::empty();
    for number in 0..500 {
        let repo = house.init(&format!("r{number}"));
        let output = super::house::finish(house.seedgate(&["check"]).current_dir(&repo));
        assert_eq!(output.status.code(), Some(2));
    }
    let status = house.status().unwrap();
    println!("{} repositories, {} watches, {:?} bytes", status.repositories.len(), status.watches, status.resident);
    assert!(status.repositories.len() <= 16 && status.watches <= 4096);
    assert!(status.resident.unwrap() < 64 << 20);
    assert_eq!(house.daemons().len(), 1);
}
