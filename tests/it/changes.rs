//! Change lists of random trees, read every way there is, equal what git prints.

use std::collections::BTreeMap;
use std::ffi::OsStr;

use proptest::prelude::{Just, Strategy, any, prop, prop_oneof};
use proptest::test_runner::{Config, TestCaseError, TestRunner};
use seedgate::repo::Repo;
use seedgate::tree::{Change, Entry, Mode, Oid, RepoPath, Tree as _};

use crate::sandbox::Sandbox;

/// What a path holds: a mode and the number of a blob.
type Held = (Mode, u8);
/// Paths and what they hold. No path lies under another that is a file.
type Model = BTreeMap<Vec<u8>, Held>;

#[derive(Clone, Debug)]
enum Edit {
    Put(Vec<u8>, Held),
    Remove(u16),
    Rename(u16, Vec<u8>),
    Change(u16, Held),
}

fn path() -> impl Strategy<Value = Vec<u8>> {
    // Names around `a` sort before, between and after the file `a` and the folder `a/`.
    let part = prop_oneof![
        4 => prop::sample::select(vec!["a", "b", "c"]).prop_map(|name| name.as_bytes().to_vec()),
        2 => prop::sample::select(vec!["a-b", "a.b", "a0", "A", "-rf", "sp ace", "new\nline", "\u{2028}", "ü", "\"q\"", "tab\t"])
            .prop_map(|name| name.as_bytes().to_vec()),
        1 => Just(b"caf\xe9".to_vec()),
        1 => Just(vec![b'x'; 200]),
    ];
    prop::collection::vec(part, 1..5).prop_map(|parts| parts.join(&b'/'))
}

fn held() -> impl Strategy<Value = Held> {
    let mode = prop_oneof![6 => Just(Mode::File), 2 => Just(Mode::Executable), 2 => Just(Mode::Symlink), 1 => Just(Mode::Gitlink)];
    (mode, 0..4_u8)
}

fn edits(count: std::ops::Range<usize>) -> impl Strategy<Value = Vec<Edit>> {
    let edit = prop_oneof![
        4 => (path(), held()).prop_map(|(path, held)| Edit::Put(path, held)),
        2 => any::<u16>().prop_map(Edit::Remove),
        1 => (any::<u16>(), path()).prop_map(|(at, path)| Edit::Rename(at, path)),
        2 => (any::<u16>(), held()).prop_map(|(at, held)| Edit::Change(at, held)),
    ];
    prop::collection::vec(edit, count)
}

fn put(model: &mut Model, path: Vec<u8>, held: Held) {
    let lies_under = |path: &[u8], folder: &[u8]| path.strip_prefix(folder).is_some_and(|rest| rest.first() == Some(&b'/'));
    model.retain(|known, _| !lies_under(known, &path) && !lies_under(&path, known));
    model.insert(path, held);
}

fn apply(model: &Model, edits: &[Edit]) -> Model {
    let mut model = model.clone();
    for edit in edits {
        let nth = |at: &u16| model.keys().nth(usize::from(*at) % model.len().max(1)).cloned();
        match edit {
            Edit::Put(path, held) => put(&mut model, path.clone(), *held),
            Edit::Remove(at) => {
                nth(at).and_then(|path| model.remove(&path));
            }
            Edit::Rename(at, to) => {
                if let Some(held) = nth(at).and_then(|path| model.remove(&path)) {
                    put(&mut model, to.clone(), held);
                }
            }
            Edit::Change(at, held) => {
                if let Some(path) = nth(at) {
                    model.insert(path, *held);
                }
            }
        }
    }
    model
}

/// The repository of all cases, and its four blobs.
struct Bench {
    sandbox: Sandbox,
    blobs: Vec<Oid>,
}

impl Bench {
    fn new() -> Self {
        let sandbox = Sandbox::new(&[]);
        let blob = |n: u8| sandbox.git_with(["hash-object", "-w", "--stdin"], &[], &[n, b'\n']);
        let blobs = (0..4).map(|n| Oid::from_hex(String::from_utf8_lossy(&blob(n)).trim()).expect("an id")).collect();
        Bench { sandbox, blobs }
    }

    fn entry(&self, (mode, blob): Held) -> Entry {
        Entry { mode, oid: self.blobs[usize::from(blob)].clone() }
    }

    /// Turns the index from one model into another, path by path.
    fn index(&self, from: &Model, to: &Model) {
        let mut lines = Vec::new();
        for path in from.keys().filter(|path| !to.contains_key(*path)) {
            lines.extend([format!("0 {}\t", "0".repeat(40)).as_bytes(), path, b"\0"].concat());
        }
        for (path, held) in to.iter().filter(|(path, held)| from.get(*path) != Some(held)) {
            let entry = self.entry(*held);
            lines.extend([format!("{} {}\t", entry.mode.octal(), entry.oid).as_bytes(), path, b"\0"].concat());
        }
        self.sandbox.git_with(["update-index", "-z", "--index-info"], &[], &lines);
    }

    fn commit(&self) -> Oid {
        let tree = self.sandbox.line(["write-tree"]);
        self.sandbox.oid(["commit-tree", "-m", "x", &tree])
    }

    fn expected(&self, old: &Model, new: &Model) -> Vec<Change> {
        let paths: std::collections::BTreeSet<&Vec<u8>> = old.keys().chain(new.keys()).collect();
        let entry = |model: &Model, path: &Vec<u8>| model.get(path).map(|held| self.entry(*held));
        let change = |path: &Vec<u8>| Change { path: RepoPath::new(path.clone()), old: entry(old, path), new: entry(new, path) };
        paths.into_iter().map(change).filter(|change| change.old != change.new).collect()
    }
}

/// Reads git's own `--raw -z` text, a parser apart from the one under test.
fn parsed(text: &[u8]) -> Vec<Change> {
    let fields: Vec<&[u8]> = text.split(|b| *b == 0).collect();
    let side = |mode: &str, oid: &str| {
        let mode = u32::from_str_radix(mode, 8).expect("octal");
        (mode != 0).then(|| Entry { mode: Mode::from_octal(mode).expect("a mode"), oid: Oid::from_hex(oid).expect("an id") })
    };
    let change = |pair: &[&[u8]]| {
        let words: Vec<&str> = std::str::from_utf8(&pair[0][1..]).expect("ASCII").split(' ').collect();
        Change { path: RepoPath::new(pair[1]), old: side(words[0], words[2]), new: side(words[1], words[3]) }
    };
    let mut changes: Vec<Change> = fields[..fields.len() - 1].chunks(2).map(change).collect();
    changes.sort_by(|one, two| one.path.cmp(&two.path));
    changes
}

fn same(what: &str, found: &[Change], expected: &[Change]) -> Result<(), TestCaseError> {
    if found == expected { Ok(()) } else { Err(TestCaseError::fail(format!("{what}\n found {found:#?}\n expected {expected:#?}"))) }
}

#[test]
fn every_way_to_read_changes_gives_what_git_prints() {
    let bench = Bench::new();
    let config = Config { cases: 48, failure_persistence: None, ..Config::default() };
    let drawn = TestRunner::new(config).run(&(edits(0..25), edits(0..12)), |(first, second)| {
        let (base, now) = (apply(&Model::new(), &first), apply(&apply(&Model::new(), &first), &second));
        case(&bench, &base, &now)
    });
    drawn.unwrap_or_else(|failure| panic!("{failure}"));
}

fn case(bench: &Bench, base: &Model, now: &Model) -> Result<(), TestCaseError> {
    let git = |arguments: &[&str]| bench.sandbox.git(arguments);
    let expected = bench.expected(base, now);
    git(&["read-tree", "--empty"]);
    bench.index(&Model::new(), base);
    let old = bench.commit();

    // Entry by entry, with a cache of trees that is valid where nothing has changed.
    git(&["read-tree", old.as_str()]);
    bench.index(base, now);
    let text = git(&["diff-index", "--cached", "--raw", "-z", "--no-abbrev", "--no-renames", old.as_str()]);
    same("git diff-index", &parsed(&text), &expected)?;
    let repo = bench.sandbox.open();
    let staged = |repo: &Repo, against: Option<&Oid>| repo.staged(against).map_err(|error| TestCaseError::fail(error.to_string()));
    same("entries", &staged(&repo, Some(&old))?, &expected)?;
    same("entries against nothing", &staged(&repo, None)?, &bench.expected(&Model::new(), now))?;

    // Version 4, and a split index that only git can read.
    git(&["update-index", "--index-version", "4"]);
    same("version 4", &staged(&repo, Some(&old))?, &expected)?;
    git(&["update-index", "--index-version", "2"]);
    git(&["update-index", "--split-index"]);
    same("split", &staged(&repo, Some(&old))?, &expected)?;
    git(&["update-index", "--no-split-index"]);

    // The tree that git has made of the index, and commit against commit.
    let new = bench.commit();
    same("root", &staged(&repo, Some(&old))?, &expected)?;
    let text = git(&["diff-tree", "-r", "--raw", "-z", "--no-abbrev", "--no-renames", old.as_str(), new.as_str()]);
    same("git diff-tree", &parsed(&text), &expected)?;
    let changes = |repo: &Repo| repo.changes(Some(&old), Some(&new)).map_err(|error| TestCaseError::fail(error.to_string()));
    same("changes", &changes(&repo)?, &expected)?;

    // The same repository read by git alone.
    let common = bench.sandbox.top.join(".git");
    let children =
        Repo::open(&bench.sandbox.told(&[("GIT_COMMON_DIR", common.as_os_str()), ("GIT_DIR", OsStr::new(".git"))])).expect("opened");
    same("changes by git", &changes(&children)?, &expected)?;
    same("root by git", &staged(&children, Some(&old))?, &expected)?;

    listing(bench, &repo, &new, now)
}

/// What a tree and the index list is what was put into them.
fn listing(bench: &Bench, repo: &Repo, commit: &Oid, model: &Model) -> Result<(), TestCaseError> {
    let tree = repo.tree(Some(commit)).expect("readable");
    let all: Vec<(RepoPath, Entry)> = model.iter().map(|(path, held)| (RepoPath::new(path.clone()), bench.entry(*held))).collect();
    proptest::prop_assert_eq!(&tree.list(b"").expect("readable"), &all);
    let links: Vec<(RepoPath, Entry)> = all.iter().filter(|(_, entry)| entry.mode == Mode::Symlink).cloned().collect();
    proptest::prop_assert_eq!(&repo.symlinks(Some(commit)).expect("readable"), &links);
    proptest::prop_assert_eq!(&repo.staged_symlinks().expect("readable"), &links);
    for (path, entry) in &all {
        let found = tree.entry(path).expect("readable");
        proptest::prop_assert_eq!(found.as_ref(), Some(entry));
        let under = tree.list(path.parent()).expect("readable");
        proptest::prop_assert!(under.contains(&(path.clone(), entry.clone())));
        proptest::prop_assert!(tree.entries_folded(path).expect("readable").contains(&(path.clone(), entry.clone())));
    }
    Ok(())
}
