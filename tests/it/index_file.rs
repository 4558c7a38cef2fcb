//! Index files of every shape: what is read of them equals what git commits, and what cannot be read is refused by name.

use std::fs;

use proptest::prelude::{any, prop};
use proptest::test_runner::{Config, TestCaseError, TestRunner};
use seedgate::repo::Repo;
use seedgate::tree::{Change, Oid};

use crate::sandbox::Sandbox;

/// A repository of a few files and folders, and its first commit.
fn small(init: &[&str]) -> (Sandbox, Oid) {
    let sandbox = Sandbox::new(init);
    for file in ["README", "docs/a/d", "src/app.py", "src/deep/er/x.py", "tests/fixtures/data.json", "tests/test_app.py"] {
        sandbox.write(file, "1\n");
    }
    let commit = sandbox.commit_all("base");
    (sandbox, commit)
}

/// `+path`, `-path` or `~path` for each change.
fn signs(changes: &[Change]) -> Vec<String> {
    let sign = |change: &Change| match (&change.old, &change.new) {
        (None, _) => '+',
        (_, None) => '-',
        _ => '~',
    };
    changes.iter().map(|change| format!("{}{}", sign(change), change.path)).collect()
}

fn staged(sandbox: &Sandbox, against: &Oid) -> Vec<String> {
    signs(&sandbox.open().staged(Some(against)).expect("readable"))
}

fn has_extension(sandbox: &Sandbox, name: &[u8]) -> bool {
    fs::read(sandbox.top.join(".git/index")).expect("an index").windows(4).any(|window| window == name)
}

#[test]
fn announced_files_do_not_count_but_removing_and_announcing_an_old_one_does() {
    let (sandbox, base) = small(&[]);
    sandbox.write("tests/test_new.py", "new\n");
    sandbox.git(["add", "-N", "tests/test_new.py"]);
    assert_eq!(staged(&sandbox, &base), [""; 0]);
    sandbox.write("src/app.py", "2\n");
    sandbox.git(["add", "src"]);
    assert_eq!(staged(&sandbox, &base), ["~src/app.py"]);
    sandbox.git(["rm", "-q", "--cached", "tests/test_app.py"]);
    sandbox.git(["add", "-N", "tests/test_app.py"]);
    assert_eq!(staged(&sandbox, &base), ["~src/app.py", "-tests/test_app.py"]);
    sandbox.git(["update-index", "--split-index"]);
    assert!(has_extension(&sandbox, b"link"));
    assert_eq!(staged(&sandbox, &base), ["~src/app.py", "-tests/test_app.py"], "as git itself reads it");
}

#[test]
fn a_sparse_index_names_what_changed_outside_the_cone_and_nothing_else() {
    let (sandbox, base) = small(&[]);
    sandbox.git(["sparse-checkout", "init", "--cone", "--sparse-index"]);
    sandbox.git(["sparse-checkout", "set", "src"]);
    assert!(has_extension(&sandbox, b"sdir"));
    assert_eq!(staged(&sandbox, &base), [""; 0], "absent files are not deleted");
    sandbox.write("src/app.py", "2\n");
    sandbox.git(["add", "src"]);
    assert!(has_extension(&sandbox, b"sdir"));
    assert_eq!(staged(&sandbox, &base), ["~src/app.py"], "its root is not valid: git is asked");
    sandbox.git(["write-tree"]);
    assert_eq!(staged(&sandbox, &base), ["~src/app.py"], "its root is valid");
    sandbox.git(["rm", "-q", "--cached", "--sparse", "tests/test_app.py"]);
    assert_eq!(staged(&sandbox, &base), ["~src/app.py", "-tests/test_app.py"]);
}

#[test]
fn no_index_file_is_an_empty_index() {
    let (sandbox, base) = small(&[]);
    fs::remove_file(sandbox.top.join(".git/index")).expect("removed");
    assert_eq!(staged(&sandbox, &base).len(), 6);
    assert!(sandbox.open().staged(None).expect("readable").is_empty());
}

#[test]
fn the_index_that_git_names_is_read_and_no_other() {
    let (sandbox, base) = small(&[]);
    let other = sandbox.top.join("other-index");
    sandbox.write("src/app.py", "2\n");
    sandbox.git_with(["add", "src"], &[("GIT_INDEX_FILE", other.as_os_str())], b"");
    for name in [other.as_os_str(), "other-index".as_ref()] {
        let repo = Repo::open(&sandbox.told(&[("GIT_INDEX_FILE", name)])).expect("a repository");
        assert_eq!(signs(&repo.staged(Some(&base)).expect("readable"))[0], "-README", "{name:?}");
        assert_eq!(repo.index_file(), other);
    }
    assert_eq!(staged(&sandbox, &base), [""; 0]);
}

#[test]
fn reading_an_index_locks_writes_and_refreshes_nothing() {
    let (sandbox, base) = small(&[]);
    let index = sandbox.top.join(".git/index");
    for variant in [&["update-index", "--refresh"][..], &["update-index", "--split-index"], &["update-index", "--index-version", "4"]] {
        sandbox.git(variant);
        let before = (fs::read(&index).expect("bytes"), fs::metadata(&index).and_then(|meta| meta.modified()).expect("a time"));
        fs::write(sandbox.top.join(".git/index.lock"), "").expect("a held lock");
        let touched = sandbox.top.join("README");
        fs::write(&touched, "1\n").expect("stale stat data");
        assert_eq!(staged(&sandbox, &base), [""; 0]);
        let after = (fs::read(&index).expect("bytes"), fs::metadata(&index).and_then(|meta| meta.modified()).expect("a time"));
        assert!(before == after, "{variant:?}");
        fs::remove_file(sandbox.top.join(".git/index.lock")).expect("the lock is still there");
    }
}

#[test]
fn what_is_no_index_is_refused_by_name() {
    let (sandbox, base) = small(&[]);
    let whole = fs::read(sandbox.top.join(".git/index")).expect("bytes");
    let with = |at: usize, bytes: &[u8]| {
        let mut changed = whole.clone();
        changed[at..at + bytes.len()].copy_from_slice(bytes);
        changed
    };
    let tree = whole.windows(4).position(|window| window == b"TREE").expect("a cache of trees");
    let table: [(&str, Vec<u8>); 9] = [
        ("it is cut short", b"DIRC".to_vec()),
        ("it does not begin with DIRC", with(0, b"dirc")),
        ("its version is not 2, 3 or 4", with(4, &9_u32.to_be_bytes())),
        ("it claims more entries than it has bytes for", with(8, &u32::MAX.to_be_bytes())),
        ("it claims more entries than it has bytes for", whole[..whole.len() / 2].to_vec()),
        ("an extension runs over its end", with(tree + 4, &u32::MAX.to_be_bytes())),
        ("its cache of trees", with(tree + 8, &[b'x'; 12])),
        ("an entry of version 2 has extended flags", with(12 + 60, &[0x40])),
        ("its entries are out of order", unordered(&whole)),
    ];
    for (says, bytes) in table {
        let file = sandbox.top.join("bad-index");
        fs::write(&file, bytes).expect("a written file");
        let repo = Repo::open(&sandbox.told(&[("GIT_INDEX_FILE", file.as_os_str())])).expect("a repository");
        let error = repo.staged(Some(&base)).expect_err(says);
        assert!(error.to_string().contains(says) && error.to_string().contains("bad-index"), "{says}: {error}");
        assert!(error.is_unreadable(), "{says}");
    }
    let folder = Repo::open(&sandbox.told(&[("GIT_INDEX_FILE", "src".as_ref())])).expect("a repository");
    assert!(folder.staged(None).expect_err("a folder").is_unreadable());
}

/// The same index with an entry renamed so that it sorts elsewhere, and without its cache of trees.
fn unordered(whole: &[u8]) -> Vec<u8> {
    let mut bytes = whole.to_vec();
    let tree = bytes.windows(4).position(|window| window == b"TREE").expect("a cache of trees");
    bytes[tree..tree + 4].copy_from_slice(b"EERT");
    let readme = bytes.windows(6).position(|window| window == b"README").expect("the entry");
    bytes[readme] = b'z';
    bytes
}

#[test]
fn no_damage_to_an_index_makes_reading_it_panic() {
    let (sandbox, base) = small(&[]);
    sandbox.write("src/app.py", "2\n");
    sandbox.git(["add", "src"]);
    sandbox.git(["add", "-N", "."]);
    let index = sandbox.top.join(".git/index");
    let mut seeds = vec![fs::read(&index).expect("bytes")];
    sandbox.git(["update-index", "--index-version", "4"]);
    seeds.push(fs::read(&index).expect("bytes"));
    let repo = Repo::open(&sandbox.told(&[("GIT_INDEX_FILE", "bad-index".as_ref())])).expect("a repository");
    let damage = (0..seeds.len(), prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6), any::<prop::sample::Index>());
    let config = Config { cases: 400, failure_persistence: None, ..Config::default() };
    let drawn = TestRunner::new(config).run(&damage, |(seed, bytes, end)| {
        let mut damaged = seeds[seed].clone();
        for (at, byte) in bytes {
            let at = at.index(damaged.len());
            damaged[at] = byte;
        }
        damaged.truncate(damaged.len() - end.index(damaged.len()) / 8);
        fs::write(sandbox.top.join("bad-index"), &damaged).map_err(|error| TestCaseError::fail(error.to_string()))?;
        let _ = repo.staged(Some(&base));
        let _ = repo.staged_symlinks();
        Ok(())
    });
    drawn.unwrap_or_else(|failure| panic!("{failure}"));
}

#[test]
fn long_paths_and_many_entries_read_as_git_reads_them() {
    let (sandbox, base) = small(&[]);
    let long = format!("{}/{}", vec!["d".repeat(200); 25].join("/"), "f".repeat(200));
    let blob = sandbox.line(["rev-parse", "HEAD:README"]);
    for version in ["2", "4"] {
        sandbox.git(["read-tree", base.as_str()]);
        sandbox.git_with(["update-index", "--index-info"], &[], format!("100755 {blob}\t{long}\n").as_bytes());
        sandbox.git(["update-index", "--index-version", version]);
        assert_eq!(staged(&sandbox, &base), [format!("+{long}")], "by entries, version {version}");
        sandbox.git(["write-tree"]);
        assert_eq!(staged(&sandbox, &base), [format!("+{long}")], "by root, version {version}");
    }
}
