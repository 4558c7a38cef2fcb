//! Facts by blob id: every layer says what computing says, or nothing.

use std::cell::Cell;
use std::collections::HashMap;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use seedgate::gate::facts::memo::Memo;
use seedgate::gate::facts::seal::Sealed;
use seedgate::gate::facts::{Audit, Batch, Fact, Facts, Key, Question, Wrong, compute};
use seedgate::strength::languages::Language;
use seedgate::tree::{Oid, TreeError};

fn oid(number: usize) -> Oid {
    Oid::from_hex(&format!("{number:040x}")).unwrap()
}

fn bytes(number: usize) -> Vec<u8> {
    format!("bytes of {number}").into_bytes()
}

fn sealed(number: usize) -> (Question, Oid, Sealed<'static>) {
    let fact = compute(Question::Sha256, &bytes(number));
    (Question::Sha256, oid(number), Sealed::of(Question::Sha256, &oid(number), &fact).unwrap())
}

fn private(at: &Path) -> std::path::PathBuf {
    let folder = at.join("facts");
    fs::create_dir(&folder).unwrap();
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o700)).unwrap();
    folder
}

fn never() -> Result<Vec<u8>, TreeError> {
    panic!("a known fact was read again")
}

#[test]
fn a_fact_computed_by_one_process_is_found_by_the_next() {
    let home = tempfile::tempdir().unwrap();
    let first = Facts::layered(Some(Memo::at(home.path().join("new/facts"), Memo::CAP)), None);
    let cold = first.get(Question::Sha256, &oid(1), &|| Ok(bytes(1))).unwrap();
    first.flush();
    assert_eq!(first.counts().source(), "cold");
    let second = Facts::layered(Some(Memo::at(home.path().join("new/facts"), Memo::CAP)), None);
    second.prefetch(&[(Question::Sha256, oid(1))]);
    let warm = second.get(Question::Sha256, &oid(1), &|| Ok(bytes(1))).unwrap();
    assert_eq!(warm, cold);
    assert_eq!((second.counts().memo, second.counts().cold, second.counts().source()), (1, 0, "memo"));
}

#[test]
fn modules_computed_ahead_say_what_computing_says_and_count_where_they_are_asked_for() {
    let module = |number: usize| format!("def test_{number}():\n    assert {number}\n# {}\n", "x".repeat(40_000)).into_bytes();
    let wanted: Vec<Key> = (1..=6).map(|number| (Question::Module(Language::Python), oid(number))).collect();
    let facts = Facts::cold();
    facts.prepare(&wanted, &|(_, of)| {
        let number = (1..=6).find(|number| *of == oid(*number)).unwrap();
        if number == 6 { Err(TreeError::Store("gone".into())) } else { Ok(module(number)) }
    });
    assert_eq!(facts.counts().cold, 0, "nothing was asked for yet");
    for number in 1..=5 {
        let fact = facts.get(wanted[number - 1].0, &oid(number), &|| panic!("{number} was computed ahead")).unwrap();
        assert_eq!(fact, compute(wanted[0].0, &module(number)));
    }
    facts.get(wanted[5].0, &oid(6), &|| Ok(module(6))).unwrap();
    assert_eq!((facts.counts().cold, facts.counts().memory), (6, 0));
}

#[test]
fn no_file_is_made_or_opened_before_a_question() {
    let home = tempfile::tempdir().unwrap();
    let facts = Facts::layered(Some(Memo::at(home.path().join("facts"), Memo::CAP)), None);
    facts.prefetch(&[]);
    facts.flush();
    assert!(!home.path().join("facts").exists());
}

#[test]
fn a_folder_that_cannot_be_used_is_no_memo_and_no_error() {
    let home = tempfile::tempdir().unwrap();
    let file = home.path().join("file");
    fs::write(&file, "").unwrap();
    let open = private(home.path());
    fs::set_permissions(&open, fs::Permissions::from_mode(0o755)).unwrap();
    let link = home.path().join("link");
    std::os::unix::fs::symlink(home.path(), &link).unwrap();
    for folder in [file.join("below"), open.clone(), link, "/proc/1/nope/facts".into(), "/dev/null/x".into()] {
        let facts = Facts::layered(Some(Memo::at(folder.clone(), Memo::CAP)), None);
        for _ in 0..2 {
            assert_eq!(facts.get(Question::Sha256, &oid(1), &|| Ok(bytes(1))).unwrap(), compute(Question::Sha256, &bytes(1)));
            facts.flush();
        }
        assert_eq!((facts.counts().cold, facts.counts().memory), (1, 1), "{folder:?}");
    }
    assert_eq!(fs::read_dir(&open).unwrap().count(), 0);
    assert_eq!(fs::metadata(&open).unwrap().permissions().mode() & 0o777, 0o755, "nothing was changed to make it fit");
}

#[test]
fn an_error_is_never_kept() {
    let facts = Facts::cold();
    let failed = facts.get(Question::Sha256, &oid(1), &|| Err(TreeError::Store("gone".into())));
    assert!(failed.is_err());
    assert_eq!(facts.get(Question::Sha256, &oid(1), &|| Ok(bytes(1))).unwrap(), compute(Question::Sha256, &bytes(1)));
}

#[test]
fn every_damaged_byte_of_the_memo_costs_a_fact_and_never_gives_a_wrong_one() {
    let home = tempfile::tempdir().unwrap();
    let folder = private(home.path());
    Memo::at(folder.clone(), Memo::CAP).put((0..40).map(sealed).collect());
    let file = fs::read_dir(&folder).unwrap().map(|e| e.unwrap().path()).find(|p| p.extension().is_some_and(|x| x == "memo")).unwrap();
    let whole = fs::read(&file).unwrap();
    let used: Vec<usize> = whole.iter().enumerate().filter(|(_, byte)| **byte != 0).map(|(at, _)| at).collect();
    for at in used.iter().step_by(7) {
        let mut torn = whole.clone();
        torn[*at] ^= 0x41;
        fs::write(&file, &torn).unwrap();
        all_right_or_absent(&folder);
    }
    for len in [0, 1, 127, 128, 4096, whole.len() - 1, whole.len() - 500] {
        fs::write(&file, &whole[..len]).unwrap();
        all_right_or_absent(&folder);
    }
}

fn all_right_or_absent(folder: &Path) {
    let mut memo = Memo::at(folder.to_path_buf(), Memo::CAP);
    for number in 0..40 {
        if let Some(fact) = memo.get(Question::Sha256, &oid(number)) {
            assert_eq!(fact, compute(Question::Sha256, &bytes(number)));
        }
    }
}

#[test]
fn a_damaged_memo_is_replaced_by_the_next_writer() {
    let home = tempfile::tempdir().unwrap();
    let folder = private(home.path());
    Memo::at(folder.clone(), Memo::CAP).put(vec![sealed(1)]);
    let file = fs::read_dir(&folder).unwrap().map(|e| e.unwrap().path()).find(|p| p.extension().is_some_and(|x| x == "memo")).unwrap();
    fs::write(&file, "another engine's bytes").unwrap();
    assert!(Memo::at(folder.clone(), Memo::CAP).get(Question::Sha256, &oid(1)).is_none());
    Memo::at(folder.clone(), Memo::CAP).put(vec![sealed(2)]);
    assert!(Memo::at(folder, Memo::CAP).get(Question::Sha256, &oid(2)).is_some());
}

#[test]
fn a_sealed_fact_holds_for_its_own_key_only() {
    let (question, oid_1, sealed_1) = sealed(1);
    assert!(sealed_1.open(question, &oid_1).is_some());
    assert!(sealed_1.open(question, &oid(2)).is_none());
    let mut edited = sealed_1.clone();
    edited.text = edited.text.replace('a', "b").into();
    assert!(edited.open(question, &oid_1).is_none());
}

#[test]
fn the_memo_stays_under_its_cap_and_keeps_what_is_asked_for() {
    let home = tempfile::tempdir().unwrap();
    let cap = 10 << 20;
    let mut memo = Memo::at(home.path().join("facts"), cap);
    let big = |number: usize| {
        let fact = Fact::Unreadable(seedgate::strength::languages::Unreadable { line: 1, says: "x".repeat(100_000) });
        let question = Question::Module(seedgate::strength::languages::Language::Python);
        (question, oid(number), Sealed::of(question, &oid(number), &fact).unwrap())
    };
    memo.put(vec![sealed(0), sealed(1)]);
    for number in 2..200 {
        assert!(memo.get(Question::Sha256, &oid(0)).is_some(), "after {number}");
        memo.put(vec![big(number)]);
        assert!(memo.size() <= cap, "{} bytes", memo.size());
    }
    assert!(memo.get(Question::Sha256, &oid(1)).is_none(), "never asked for, so forgotten");
}

#[test]
fn many_writers_and_readers_at_once_lose_nothing_but_time() {
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().join("facts");
    std::thread::scope(|scope| {
        for writer in 0..8 {
            let folder = folder.clone();
            scope.spawn(move || {
                for round in 0..50 {
                    let number = writer * 1000 + round;
                    let mut memo = Memo::at(folder.clone(), Memo::CAP);
                    memo.put(vec![sealed(number)]);
                    for other in (0..8).map(|w| w * 1000 + round) {
                        if let Some(fact) = memo.get(Question::Sha256, &oid(other)) {
                            assert_eq!(fact, compute(Question::Sha256, &bytes(other)));
                        }
                    }
                }
            });
        }
    });
}

/// A layer that answers from a list.
struct Canned(HashMap<Key, Fact>);

impl Batch for Canned {
    fn ask(&mut self, wanted: &[Key]) -> HashMap<Key, Fact> {
        assert!(!wanted.is_empty());
        self.0.iter().filter(|(key, _)| wanted.contains(key)).map(|(key, fact)| (key.clone(), fact.clone())).collect()
    }
}

#[test]
fn the_daemon_is_asked_once_for_what_the_memo_lacks() {
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().join("facts");
    Memo::at(folder.clone(), Memo::CAP).put(vec![sealed(1)]);
    let known = [2, 3].map(|number| ((Question::Sha256, oid(number)), compute(Question::Sha256, &bytes(number))));
    let facts = Facts::layered(Some(Memo::at(folder, Memo::CAP)), Some(Box::new(Canned(known.into()))));
    facts.prefetch(&[1, 2, 3, 4, 4].map(|number| (Question::Sha256, oid(number))));
    for number in 1..=4 {
        let read = Cell::new(0);
        let fact = facts
            .get(Question::Sha256, &oid(number), &|| {
                read.set(1);
                Ok(bytes(number))
            })
            .unwrap();
        assert_eq!(fact, compute(Question::Sha256, &bytes(number)));
    }
    let counts = facts.counts();
    assert_eq!((counts.memo, counts.daemon, counts.cold, counts.memory), (1, 2, 1, 0));
    facts.get(Question::Sha256, &oid(4), &never).unwrap();
    assert_eq!(facts.counts().memory, 1);
}

#[test]
fn a_planted_wrong_fact_is_found_by_an_audit_and_the_memo_is_wiped() {
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().join("facts");
    let planted = Fact::Sha256("0".repeat(64));
    let lie = Sealed::of(Question::Sha256, &oid(1), &planted).unwrap();
    Memo::at(folder.clone(), Memo::CAP).put(vec![(Question::Sha256, oid(1), lie)]);
    let facts = Facts::layered(Some(Memo::at(folder.clone(), Memo::CAP)), None).audited(Audit::All);
    let fact = facts.get(Question::Sha256, &oid(1), &|| Ok(bytes(1))).unwrap();
    assert_eq!(fact, compute(Question::Sha256, &bytes(1)));
    assert_eq!(facts.distrusted(), Some(Wrong::Blob(Question::Sha256, oid(1))));
    assert!(Memo::at(folder, Memo::CAP).get(Question::Sha256, &oid(1)).is_none());
}

#[test]
fn about_one_answer_in_64_is_audited() {
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().join("facts");
    let numbers = 1..=6400;
    Memo::at(folder.clone(), Memo::CAP).put(numbers.clone().map(sealed).collect());
    let facts = Facts::layered(Some(Memo::at(folder, Memo::CAP)), None);
    let read = Cell::new(0);
    for number in numbers {
        facts
            .get(Question::Sha256, &oid(number), &|| {
                read.set(read.get() + 1);
                Ok(bytes(number))
            })
            .unwrap();
    }
    assert_eq!((facts.counts().memo, facts.counts().cold), (6400, 0));
    assert!((30..300).contains(&read.get()), "{} of 6400", read.get());
}
