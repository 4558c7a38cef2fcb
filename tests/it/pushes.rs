//! What a push brings, as its hook's standard input tells it.

use std::collections::HashSet;
use std::ffi::OsStr;

use seedgate::repo::{RefUpdate, Repo, RepoError};
use seedgate::tree::{Oid, TreeError};

use crate::sandbox::Sandbox;

/// A repository with a line of commits `c0..c5` on `main` and `s0..s1` on `side`, which leaves `main` at `c2`.
fn history(init: &[&str]) -> Sandbox {
    let sandbox = Sandbox::new(init);
    for n in 0..6 {
        if n == 3 {
            sandbox.git(["branch", "side"]);
        }
        commit(&sandbox, &format!("c{n}"));
    }
    sandbox.git(["checkout", "-q", "side"]);
    commit(&sandbox, "s0");
    commit(&sandbox, "s1");
    sandbox.git(["checkout", "-q", "main"]);
    sandbox
}

fn commit(sandbox: &Sandbox, name: &str) {
    sandbox.write("file", name);
    sandbox.commit_all(name);
    sandbox.git(["tag", name]);
}

fn oid(sandbox: &Sandbox, name: &str) -> Oid {
    sandbox.oid(["rev-parse", name])
}

/// A line of the hook's input; `-` is the zero id, `?` one that is not here.
fn update(sandbox: &Sandbox, local: &str, remote: &str) -> RefUpdate {
    let width = sandbox.line(["rev-parse", "HEAD"]).len();
    let id = |name: &str| match name {
        "-" => Oid::from_hex(&"0".repeat(width)).expect("an id"),
        "?" => Oid::from_hex(&"5".repeat(width)).expect("an id"),
        name => oid(sandbox, name),
    };
    RefUpdate { local_ref: local.into(), local: id(local), remote_ref: b"refs/heads/x".to_vec(), remote: id(remote) }
}

/// Why, the lines of the hook's input, the record, and the names of the commits that the push brings.
type Row<'t> = (&'t str, &'t [(&'t str, &'t str)], &'t [&'t str], &'t str);

/// The names of commits, in order.
fn names(repo: &Repo, commits: &[Oid]) -> Vec<String> {
    commits.iter().map(|oid| repo.commit(oid).expect("readable").subject).collect()
}

#[test]
fn a_push_brings_what_its_new_values_reach_and_its_old_values_and_the_record_do_not() {
    for init in [&[][..], &["--object-format=sha256"]] {
        let sandbox = history(init);
        sandbox.git(["tag", "-a", "-m", "x", "annotated", "c4"]);
        sandbox.git(["tag", "-a", "-m", "x", "nested", "annotated"]);
        sandbox.git(["tag", "blob", "HEAD:file"]);
        sandbox.git(["tag", "-a", "-m", "x", "tree", "HEAD^{tree}"]);
        // Another remote has everything: that excludes nothing.
        sandbox.git(["update-ref", "refs/remotes/origin/main", "main"]);
        let repo = sandbox.open();
        let table: &[Row] = &[
            ("a new branch", &[("main", "-")], &["c1"], "c2 c3 c4 c5"),
            ("a new branch of an old repository without a record", &[("c1", "-")], &[], "c0 c1"),
            ("an existing branch", &[("main", "c3")], &[], "c4 c5"),
            ("nothing new", &[("main", "main")], &[], ""),
            ("a rewind", &[("c1", "main")], &[], ""),
            ("an old value that is not here", &[("main", "?")], &["c3"], "c4 c5"),
            ("a record that is not here", &[("c1", "-")], &["?"], "c0 c1"),
            ("a record that is a tag", &[("main", "-")], &["annotated"], "c5"),
            ("a record that is a tree", &[("c0", "-")], &["tree"], "c0"),
            ("a deletion", &[("-", "main")], &[], ""),
            ("a deletion beside a branch", &[("-", "c3"), ("c5", "-")], &["c2"], "c4 c5"),
            ("two branches", &[("main", "-"), ("side", "-")], &["c4"], "c5 s0 s1"),
            ("an old value of another ref", &[("side", "-"), ("main", "c5")], &[], "s0 s1"),
            ("a force over another line", &[("side", "main")], &[], "s0 s1"),
            ("an annotated tag", &[("annotated", "-")], &["c2"], "c3 c4"),
            ("a tag of a tag", &[("nested", "-")], &["c3"], "c4"),
            ("tags on a blob and a tree", &[("blob", "-"), ("tree", "-")], &[], ""),
            ("an expression", &[("main~1", "-")], &["c3"], "c4"),
        ];
        for (why, updates, known, expected) in table {
            let updates: Vec<RefUpdate> = updates.iter().map(|(local, remote)| update(&sandbox, local, remote)).collect();
            let known: Vec<Oid> = known.iter().map(|name| update(&sandbox, name, "-").local).collect();
            let mut found = names(&repo, &repo.outgoing(&updates, &known).expect("listed"));
            let order: Vec<String> = found.clone();
            found.sort();
            assert_eq!(found.join(" "), *expected, "{why} {init:?}");
            for (place, name) in order.iter().enumerate() {
                let later: HashSet<&String> = order[place..].iter().collect();
                let parents = repo.commit(&oid(&sandbox, name)).expect("readable").parents;
                assert!(names(&repo, &parents).iter().all(|parent| !later.contains(parent)), "{why}: {order:?} is oldest first");
            }
        }
    }
}

#[test]
fn a_pushed_value_that_is_not_here_is_an_error_and_never_an_empty_list() {
    for init in [&[][..], &["--object-format=sha256"]] {
        let sandbox = history(init);
        let error = sandbox.open().outgoing(&[update(&sandbox, "?", "-")], &[]).expect_err("missing");
        assert!(matches!(error, RepoError::Tree(TreeError::Missing { .. })), "{error}");
    }
}

#[test]
fn a_hole_in_the_history_is_an_error() {
    let sandbox = history(&[]);
    let hole = oid(&sandbox, "c3");
    let file = sandbox.top.join(format!(".git/objects/{}/{}", &hole.as_str()[..2], &hole.as_str()[2..]));
    let updates = [update(&sandbox, "main", "c1")];
    std::fs::remove_file(file).expect("removed");
    assert!(sandbox.open().outgoing(&updates, &[]).is_err());
    assert!(sandbox.open().range(&updates[0].remote, &updates[0].local).is_err());
}

#[test]
fn a_range_is_what_git_lists_and_a_merge_base_is_gits() {
    let sandbox = history(&[]);
    sandbox.git(["merge", "-q", "-s", "ours", "-m", "m", "side"]);
    let (repo, base, head) = (sandbox.open(), oid(&sandbox, "c1"), oid(&sandbox, "HEAD"));
    let listed = sandbox.line(["rev-list", "--topo-order", "--reverse", "c1..HEAD"]);
    let (mut found, mut expected): (Vec<String>, Vec<&str>) =
        (repo.range(&base, &head).expect("listed").iter().map(ToString::to_string).collect(), listed.lines().collect());
    assert_eq!(found.last().map(String::as_str), Some(head.as_str()));
    found.sort();
    expected.sort_unstable();
    assert_eq!(found, expected);
    assert_eq!(repo.merge_base(&oid(&sandbox, "c5"), &oid(&sandbox, "side")).expect("found"), Some(oid(&sandbox, "c2")));
    let alone = sandbox.oid(["commit-tree", "-m", "alone", "HEAD^{tree}"]);
    assert_eq!(repo.merge_base(&alone, &head).expect("found"), None);
    assert_eq!(names(&repo, &repo.range(&head, &alone).expect("listed")), ["alone"], "unrelated histories");
}

#[test]
fn in_a_shallow_clone_everything_above_its_end_is_listed_and_the_end_says_what_it_is() {
    let sandbox = history(&[]);
    let url = format!("file://{}", sandbox.top.display());
    let clone = sandbox.beside("shallow");
    sandbox.git(["clone", "-q", "--depth", "2", "--branch", "main", &url, clone.to_str().expect("text")]);
    let linked = sandbox.beside("linked");
    let shallow = sandbox.at(clone);
    shallow.git(["worktree", "add", "-q", linked.to_str().expect("text")]);
    commit(&shallow, "new");
    let repo = shallow.open();
    let updates = [update(&shallow, "HEAD", "-")];
    assert_eq!(names(&repo, &repo.outgoing(&updates, &[]).expect("listed")), ["c4", "c5", "new"]);
    assert_eq!(names(&repo, &repo.outgoing(&updates, &[oid(&shallow, "HEAD~1")]).expect("listed")), ["new"]);
    let ends: Vec<(bool, usize)> = repo
        .outgoing(&updates, &[])
        .expect("listed")
        .iter()
        .map(|oid| repo.commit(oid).expect("readable"))
        .map(|commit| (commit.boundary, commit.parents.len()))
        .collect();
    assert_eq!(ends, [(true, 0), (false, 1), (false, 1)]);
    let shallow = shallow.at(linked);
    assert_eq!(
        names(&shallow.open(), &shallow.open().outgoing(&updates, &[]).expect("listed")),
        ["c4", "c5", "new"],
        "from a linked worktree"
    );
}

#[test]
fn neither_replacements_nor_grafts_nor_an_invented_shallow_file_hide_a_commit() {
    let sandbox = history(&[]);
    let updates = [update(&sandbox, "main", "c1")];
    let (c5, c1) = (oid(&sandbox, "c5"), oid(&sandbox, "c1"));
    let all = |why: &str| {
        for variables in [&[][..], &[("GIT_COMMON_DIR", OsStr::new(".git")), ("GIT_DIR", OsStr::new(".git"))]] {
            let repo = Repo::open(&sandbox.told(variables)).expect("a repository");
            assert_eq!(names(&repo, &repo.outgoing(&updates, &[]).expect("listed")), ["c2", "c3", "c4", "c5"], "{why} {variables:?}");
            assert_eq!(names(&repo, &repo.commit(&c5).expect("readable").parents), ["c4"], "{why}");
            assert_eq!(repo.changes(Some(&c1), Some(&c5)).expect("readable").len(), 1, "{why}");
        }
    };
    sandbox.git(["replace", "--graft", "c5", "c1"]);
    sandbox.git(["replace", "c5^{tree}", "c1^{tree}"]);
    assert_eq!(sandbox.line(["rev-list", "--count", "c1..c5"]), "1", "git itself is fooled");
    all("replacements");
    sandbox.git(["replace", "-d", "c5", sandbox.line(["--no-replace-objects", "rev-parse", "c5^{tree}"]).as_str()]);
    std::fs::write(sandbox.top.join(".git/info/grafts"), format!("{c5} {c1}\n")).expect("written");
    all("grafts");
    std::fs::remove_file(sandbox.top.join(".git/info/grafts")).expect("removed");
    std::fs::write(sandbox.top.join(".git/shallow"), format!("{c5}\n")).expect("written");
    all("a shallow file over parents that are here");
}
