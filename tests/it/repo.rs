//! Repositories as people have them: what is read of each equals what git says of it.

use seedgate::repo::{Branch, Environment, Identity, Repo, RepoError};
use seedgate::tree::{Change, Entry, Mode, Oid, RepoPath, Tree as _, TreeError};

use crate::sandbox::Sandbox;

#[test]
fn a_commit_its_tree_and_what_is_staged_read_as_git_has_them() {
    let sandbox = Sandbox::new(&[]);
    assert_eq!(sandbox.open().head().expect("readable"), None, "unborn");
    sandbox.write("src/app.py", "1\n");
    sandbox.write("tests/test_app.py", "2\n");
    let first = sandbox.commit_all("first\n\nbody");
    sandbox.write("src/app.py", "3\n");
    sandbox.git(["rm", "-q", "--cached", "tests/test_app.py"]);
    sandbox.git(["add", "src"]);
    let repo = sandbox.open();
    assert_eq!(repo.head().expect("readable"), Some(first.clone()));
    let commit = repo.commit(&first).expect("readable");
    assert_eq!((commit.subject.as_str(), commit.parents.len(), commit.boundary), ("first", 0, false));
    let tree = repo.tree(Some(&first)).expect("readable");
    let entry = tree.entry(&RepoPath::new("src/app.py")).expect("readable").expect("there");
    assert_eq!(tree.blob(&entry.oid, 100).expect("readable"), b"1\n");
    assert_eq!(paths(&repo.staged(Some(&first)).expect("readable")), ["src/app.py", "tests/test_app.py"]);
    assert_eq!(paths(&repo.staged(None).expect("readable")), ["src/app.py"]);
    assert_eq!(paths(&repo.changes(None, Some(&first)).expect("readable")), ["src/app.py", "tests/test_app.py"]);
    assert_eq!(repo.range(&first, &first).expect("readable"), []);
    assert_eq!(repo.outgoing(&[], &[]).expect("readable"), []);
}

/// Opens with libgit2 where it can, and with git alone.
fn both(sandbox: &Sandbox) -> [Repo; 2] {
    let common = sandbox.line(["rev-parse", "--path-format=absolute", "--git-common-dir"]);
    let git_dir = sandbox.line(["rev-parse", "--absolute-git-dir"]);
    let told = sandbox.told(&[("GIT_COMMON_DIR", common.as_ref()), ("GIT_DIR", git_dir.as_ref())]);
    [sandbox.open(), Repo::open(&told).expect("a repository")]
}

fn edited(sandbox: &Sandbox) -> (Oid, Oid) {
    sandbox.write("src/app.py", "1\n");
    sandbox.write("tests/test_app.py", "test\n");
    let first = sandbox.commit_all("first");
    sandbox.write("src/app.py", "2\n");
    (first, sandbox.commit_all("second"))
}

fn paths(changes: &[Change]) -> Vec<String> {
    changes.iter().map(|change| change.path.to_string()).collect()
}

#[test]
fn repositories_that_libgit2_cannot_read_are_read_through_git_alike() {
    for init in [&[][..], &["--object-format=sha256"], &["--ref-format=reftable"]] {
        let sandbox = Sandbox::new(init);
        for repo in both(&sandbox) {
            assert_eq!(repo.head().expect("readable"), None, "unborn {init:?}");
            assert!(repo.staged(None).expect("readable").is_empty(), "{init:?}");
            assert!(repo.pending().expect("readable").parents.is_empty(), "{init:?}");
        }
        let (first, second) = edited(&sandbox);
        sandbox.git(["branch", "topic", "main~1"]);
        sandbox.write("src/app.py", "3\n");
        sandbox.git(["add", "src"]);
        for repo in both(&sandbox) {
            assert_eq!(repo.head().expect("readable"), Some(second.clone()), "{init:?}");
            for (revision, commit) in
                [("HEAD", &second), ("main", &second), ("topic", &first), ("HEAD~1", &first), (second.as_str(), &second)]
            {
                assert_eq!(&repo.resolve(revision).expect(revision), commit, "{init:?}");
            }
            assert_eq!(paths(&repo.staged(Some(&second)).expect("readable")), ["src/app.py"], "{init:?}");
            assert_eq!(paths(&repo.changes(Some(&first), Some(&second)).expect("readable")), ["src/app.py"], "{init:?}");
            assert_eq!(repo.range(&first, &second).expect("readable"), std::slice::from_ref(&second), "{init:?}");
            assert_eq!(repo.merge_base(&first, &second).expect("readable"), Some(first.clone()), "{init:?}");
            let commit = repo.commit(&second).expect("readable");
            assert_eq!((commit.subject.as_str(), &commit.parents[..]), ("second", &[first.clone()][..]), "{init:?}");
            let tree = repo.tree(Some(&first)).expect("readable");
            let entry = tree.entry(&RepoPath::new("src/app.py")).expect("readable").expect("there");
            assert_eq!(tree.blob(&entry.oid, 100).expect("readable"), b"1\n", "{init:?}");
            let mut tips = [first.clone(), second.clone()];
            tips.sort();
            assert_eq!(repo.tips().expect("readable"), tips, "{init:?}");
            let again = seedgate::repo::Repo::open(repo.environment()).expect("another handle");
            assert_eq!((again.top(), again.git_dir(), again.head().expect("readable")), (repo.top(), repo.git_dir(), Some(second.clone())));
        }
    }
}

#[test]
fn an_object_is_missing_too_large_or_of_another_kind_and_each_says_so() {
    let sandbox = Sandbox::new(&[]);
    let (_, second) = edited(&sandbox);
    let (blob, tree) = (sandbox.oid(["rev-parse", "HEAD:src/app.py"]), sandbox.oid(["rev-parse", "HEAD^{tree}"]));
    let absent = Oid::from_hex(&"5".repeat(40)).expect("an id");
    let foreign = Oid::from_hex(&"5".repeat(64)).expect("an id");
    for repo in both(&sandbox) {
        let read = |oid: &Oid, cap| repo.tree(None).expect("the empty tree").blob(oid, cap);
        for _ in 0..2 {
            assert!(matches!(read(&absent, 9), Err(TreeError::Missing { .. })));
            assert!(matches!(read(&foreign, 9), Err(TreeError::Missing { .. })));
            assert!(matches!(read(&blob, 1), Err(TreeError::TooLarge { size: 2, cap: 1, .. })));
            assert!(read(&tree, 999).expect_err("a tree").to_string().contains("is a tree, not a blob"));
            assert_eq!(read(&blob, 2).expect("readable"), b"2\n");
        }
        assert!(repo.commit(&tree).expect_err("a tree").to_string().contains("is a tree, not a commit"));
        assert!(repo.changes(Some(&absent), Some(&second)).is_err());
        for revision in ["nonsense", "HEAD~9", "HEAD^{blob}", "--all", "-x", "HEAD:src/app.py", "", "a..b", tree.as_str()] {
            assert!(matches!(repo.resolve(revision), Err(RepoError::NoCommit(_))), "{revision}");
        }
        assert_eq!(
            (repo.has(&blob).expect("known"), repo.has(&absent).expect("known"), repo.has(&foreign).expect("known")),
            (true, false, false)
        );
    }
}

#[test]
fn a_missing_blob_of_a_partial_clone_is_fetched_and_when_it_cannot_be_it_is_missing() {
    let sandbox = Sandbox::new(&[]);
    let (first, _) = edited(&sandbox);
    let old = sandbox.oid(["rev-parse", "HEAD~1:src/app.py"]);
    sandbox.git(["config", "uploadpack.allowFilter", "true"]);
    sandbox.git(["config", "uploadpack.allowAnySHA1InWant", "true"]);
    let (url, clone) = (format!("file://{}", sandbox.top.display()), sandbox.beside("partial"));
    sandbox.git(["clone", "-q", "--filter=blob:none", &url, clone.to_str().expect("text")]);
    let (origin, moved) = (sandbox.top.clone(), sandbox.beside("moved"));
    let sandbox = sandbox.at(clone);
    std::fs::rename(&origin, &moved).expect("the remote is gone");
    for repo in both(&sandbox) {
        assert!(!repo.has(&old).expect("known"), "nothing is fetched to find out");
        let tree = repo.tree(Some(&first)).expect("trees are here");
        assert!(matches!(tree.blob(&old, 9), Err(TreeError::Missing { .. })));
    }
    std::fs::rename(&moved, &origin).expect("the remote is back");
    let [repo, by_git] = both(&sandbox);
    assert_eq!(repo.tree(Some(&first)).expect("readable").blob(&old, 9).expect("fetched"), b"1\n");
    assert_eq!(by_git.tree(Some(&first)).expect("readable").blob(&old, 9).expect("fetched"), b"1\n");
}

#[test]
fn where_there_is_no_repository_or_no_work_tree_it_is_said() {
    let sandbox = Sandbox::new(&[]);
    edited(&sandbox);
    let none = Repo::open(&Environment::at(sandbox.beside(""))).err().expect("no repository");
    assert!(matches!(none, RepoError::NotFound(_)), "{none}");
    let bare = sandbox.beside("bare.git");
    sandbox.git(["clone", "-q", "--bare", ".", bare.to_str().expect("text")]);
    let linked = sandbox.beside("of-bare");
    sandbox.git(["--git-dir", bare.to_str().expect("text"), "worktree", "add", "-q", linked.to_str().expect("text")]);
    let sandbox = sandbox.at(bare);
    for repo in both(&sandbox) {
        assert_eq!((repo.top(), repo.git_dir(), repo.common_dir()), (None, sandbox.top.as_path(), sandbox.top.as_path()));
    }
    let (bare, sandbox) = (sandbox.top.clone(), sandbox.at(linked));
    assert_eq!((sandbox.open().top(), sandbox.open().common_dir()), (Some(sandbox.top.as_path()), bare.as_path()));
    assert!(sandbox.open().staged(sandbox.open().head().expect("readable").as_ref()).expect("readable").is_empty());
}

#[test]
fn the_top_is_found_from_below_and_from_a_submodule_and_with_a_configured_work_tree() {
    let sandbox = Sandbox::new(&[]);
    edited(&sandbox);
    let inner = sandbox.beside("inner");
    sandbox.git(["clone", "-q", ".", inner.to_str().expect("text")]);
    sandbox.git(["-c", "protocol.file.allow=always", "submodule", "add", "-q", inner.to_str().expect("text"), "sub"]);
    let (top, second) = (sandbox.top.clone(), sandbox.commit_all("with a submodule"));
    let entry = sandbox.open().tree(Some(&second)).expect("readable").entry(&RepoPath::new("sub")).expect("readable").expect("there");
    assert_eq!(entry.mode, Mode::Gitlink);
    let sandbox = sandbox.at(top.join("sub/src"));
    let repo = sandbox.open();
    assert_eq!((repo.top(), repo.git_dir()), (Some(top.join("sub").as_path()), top.join(".git/modules/sub").as_path()));
    let sandbox = sandbox.at(top.clone());
    std::fs::create_dir(sandbox.beside("elsewhere")).expect("a folder");
    sandbox.git(["config", "core.worktree", sandbox.beside("elsewhere").to_str().expect("text")]);
    let told = sandbox.told(&[("GIT_DIR", ".git".as_ref())]);
    assert_eq!(Repo::open(&told).expect("a repository").top(), Some(sandbox.beside("elsewhere").as_path()));
    let named = sandbox.told(&[("GIT_DIR", ".git".as_ref()), ("GIT_WORK_TREE", ".".as_ref())]);
    assert_eq!(Repo::open(&named).expect("a repository").top(), Some(top.as_path()));
}

#[test]
fn a_quarantine_of_a_receiving_server_is_read_through() {
    let sandbox = Sandbox::new(&[]);
    let (first, _) = edited(&sandbox);
    let quarantine = sandbox.top.join(".git/objects/incoming");
    std::fs::create_dir(&quarantine).expect("a folder");
    let variables = [("GIT_OBJECT_DIRECTORY", quarantine.as_os_str()), ("GIT_ALTERNATE_OBJECT_DIRECTORIES", ".git/objects".as_ref())];
    let printed = sandbox.git_with(["commit-tree", "-m", "incoming", "-p", "HEAD", "HEAD~1^{tree}"], &variables, b"");
    let incoming = Oid::from_hex(String::from_utf8_lossy(&printed).trim()).expect("an id");
    assert!(sandbox.open().commit(&incoming).is_err(), "not in the store");
    let common = sandbox.top.join(".git");
    for more in [&[][..], &[("GIT_COMMON_DIR", common.as_os_str()), ("GIT_DIR", ".git".as_ref())]] {
        let repo = Repo::open(&sandbox.told(&[&variables[..], more].concat())).expect("a repository");
        assert_eq!(repo.commit(&incoming).expect("readable").subject, "incoming");
        assert!(repo.changes(Some(&first), Some(&incoming)).expect("readable").is_empty());
    }
}

#[test]
fn a_configured_boolean_is_read_as_git_reads_it() {
    let sandbox = Sandbox::new(&[]);
    sandbox.git(["config", "core.ignoreCase", "yes"]);
    std::fs::write(sandbox.beside("global"), "[seedgate]\n\tflag\n\tother = 0\n[core]\n\tignoreCase = false\n").expect("written");
    let global = sandbox.beside("global");
    let mut environment = sandbox.environment();
    environment.git.retain(|(name, _)| name != "GIT_CONFIG_GLOBAL");
    environment.git.push(("GIT_CONFIG_GLOBAL".into(), global.into()));
    let repo = Repo::open(&environment).expect("a repository");
    for (key, value) in
        [("core.ignorecase", Some(true)), ("seedgate.flag", Some(true)), ("seedgate.other", Some(false)), ("seedgate.unset", None)]
    {
        assert_eq!(repo.config_bool(key).expect("readable"), value, "{key}");
    }
    environment.git.extend([("GIT_CONFIG_COUNT".into(), "1".into()), ("GIT_CONFIG_KEY_0".into(), "core.ignoreCase".into())]);
    environment.git.push(("GIT_CONFIG_VALUE_0".into(), "false".into()));
    assert_eq!(Repo::open(&environment).expect("a repository").config_bool("core.ignorecase").expect("readable"), Some(false));
}

#[test]
fn nothing_that_the_repository_configures_is_run() {
    let sandbox = Sandbox::new(&[]);
    let (first, second) = edited(&sandbox);
    let mark = sandbox.beside("mark");
    let evil = sandbox.beside("evil.sh");
    std::fs::write(&evil, format!("#!/bin/sh\necho \"$0 $@\" >> '{}'\ncat\n", mark.display())).expect("written");
    sandbox.run("chmod", &["+x", evil.to_str().expect("text")]);
    let evil = evil.to_str().expect("text");
    let bin = sandbox.top.join("bin");
    std::fs::create_dir(&bin).expect("a folder");
    std::os::unix::fs::symlink(evil, bin.join("git")).expect("a git of the repository's own");
    sandbox.write(".gitattributes", "* diff=q filter=q merge=q\n");
    sandbox.write("src/app.py", "3\n");
    sandbox.git(["add", "src", ".gitattributes"]);
    for key in [
        "diff.external",
        "diff.q.textconv",
        "diff.q.command",
        "filter.q.clean",
        "filter.q.smudge",
        "filter.q.process",
        "core.fsmonitor",
        "core.pager",
        "pager.diff-index",
        "pager.rev-list",
        "core.editor",
        "core.askPass",
        "credential.helper",
        "core.sshCommand",
        "gpg.program",
        "core.gitProxy",
        "core.alternateRefsCommand",
        "uploadpack.packObjectsHook",
        "sequence.editor",
        "interactive.diffFilter",
    ] {
        sandbox.git(["config", key, evil]);
    }
    for command in ["diff-index", "rev-list", "cat-file", "config", "rev-parse", "update-ref"] {
        sandbox.git(["config", &format!("alias.{command}"), &format!("!{evil}")]);
    }
    for hook in ["pre-commit", "reference-transaction", "post-index-change", "post-checkout", "fsmonitor-watchman"] {
        std::fs::copy(evil, sandbox.top.join(".git/hooks").join(hook)).expect("a hook");
    }
    let _ = std::fs::remove_file(&mark);
    sandbox.git(["-c", "core.fsmonitor=false", "update-index", "--split-index"]);
    let _ = std::fs::remove_file(&mark);
    for repo in both(&sandbox) {
        assert_eq!(paths(&repo.staged(Some(&second)).expect("readable")), [".gitattributes", "src/app.py"]);
        assert_eq!(paths(&repo.changes(Some(&first), Some(&second)).expect("readable")), ["src/app.py"]);
        assert_eq!(repo.range(&first, &second).expect("readable").len(), 1);
        assert_eq!(repo.tips().expect("readable").len(), 1);
        let made = repo.write_tree_with(Some(&first), &repo.changes(Some(&first), Some(&second)).expect("readable")).expect("written");
        let commit = repo.commit_tree(&made, std::slice::from_ref(&second), None, b"made\n").expect("written");
        repo.update_ref_checked("refs/heads/made", &commit, None, "made").expect("moved");
        repo.update_ref_checked("refs/heads/made", &second, Some(&commit), "moved").expect("moved");
        sandbox.git(["-c", "core.hooksPath=/dev/null", "update-ref", "-d", "refs/heads/made"]);
    }
    assert!(!mark.exists(), "{}", std::fs::read_to_string(&mark).unwrap_or_default());
}

#[test]
fn case_twins_of_a_path_are_found_in_every_folder_that_folds_alike() {
    let sandbox = Sandbox::new(&[]);
    let blob = String::from_utf8(sandbox.git_with(["hash-object", "-w", "--stdin"], &[], b"x")).expect("text");
    let all = [
        "Tests/Fixtures/data.json",
        "tests/fixtures/DATA.json",
        "tests/fixtures/data.json",
        "tests/fixtures/other.json",
        "tests/Straße",
        "tests/STRASSE",
    ];
    let lines = all.map(|path| format!("100644 {}\t{path}\n", blob.trim())).concat();
    sandbox.git_with(["update-index", "--index-info"], &[], lines.as_bytes());
    sandbox.git(["commit", "-q", "-m", "twins"]);
    let (repo, head) = (sandbox.open(), sandbox.oid(["rev-parse", "HEAD"]));
    let twins = |path: &str| {
        let found = repo.tree(Some(&head)).expect("readable").entries_folded(&RepoPath::new(path)).expect("readable");
        let mut paths: Vec<String> = found.iter().map(|(path, _)| path.to_string()).collect();
        paths.sort();
        paths
    };
    assert_eq!(twins("TESTS/fixtures/data.JSON"), all[..3]);
    assert_eq!(twins("tests/strasse"), ["tests/STRASSE", "tests/Straße"]);
    assert_eq!(twins("tests/fixtures"), [""; 0], "a folder is no twin of a file");
    assert_eq!(twins("tests/fixtures/data.json/x"), [""; 0]);
}

#[test]
fn what_is_written_is_what_was_asked_for_and_a_ref_that_moved_meanwhile_stays() {
    for init in [&[][..], &["--object-format=sha256"], &["--ref-format=reftable"]] {
        let sandbox = Sandbox::new(init);
        let (first, second) = edited(&sandbox);
        let (repo, author) =
            (sandbox.open(), Identity { name: "Ren\u{e9}e".into(), email: b"a@b".to_vec(), date: b"1234567890 +0200".to_vec() });
        let change = |path: &str, old: Option<Entry>, new: Option<Entry>| Change { path: RepoPath::new(path), old, new };
        let held = |path: &str| repo.tree(Some(&first)).expect("readable").entry(&RepoPath::new(path)).expect("readable");
        let (entry, test) = (held("src/app.py"), held("tests/test_app.py"));
        let link = entry.clone().map(|entry| Entry { mode: Mode::Symlink, ..entry });
        // A file takes the place of a folder, and a folder that of a file.
        let asked =
            [change("src", None, link.clone()), change("src/app.py", entry.clone(), None), change("tests/test_app.py", test.clone(), None)];
        let asked = [&asked[..], &[change("tests/test_app.py/caf\u{e9}\n", None, entry.clone())]].concat();
        let tree = repo.write_tree_with(Some(&first), &asked).expect("written");
        let commit = repo.commit_tree(&tree, &[first.clone(), second.clone()], Some(&author), b"subject\n\nbody\n").expect("written");
        let made = repo.commit(&commit).expect("readable");
        assert_eq!((made.tree, made.parents, made.subject), (tree, vec![first.clone(), second.clone()], "subject".into()), "{init:?}");
        assert_eq!(repo.author(&commit).expect("readable"), author, "{init:?}");
        let (mut expected, mut found) = (asked.clone(), repo.changes(Some(&first), Some(&commit)).expect("readable"));
        expected.sort_by(|one, two| one.path.cmp(&two.path));
        found.sort_by(|one, two| one.path.cmp(&two.path));
        assert_eq!(found, expected, "{init:?}");
        assert!(repo.update_ref_checked("HEAD", &commit, Some(&first), "late").is_err(), "HEAD is at the second");
        assert_eq!(sandbox.open().head().expect("readable"), Some(second.clone()), "{init:?}");
        repo.update_ref_checked("HEAD", &commit, Some(&second), "split").expect("moved");
        assert_eq!(sandbox.oid(["rev-parse", "refs/heads/main"]), commit, "the branch moved with HEAD {init:?}");
        assert_eq!(sandbox.line(["reflog", "-1", "--format=%gs"]), "split", "{init:?}");
        assert!(sandbox.line(["status", "--porcelain"]).contains("src/app.py"), "index and work tree stayed {init:?}");
    }
}

#[test]
fn branches_are_listed_with_what_they_follow() {
    let sandbox = Sandbox::new(&[]);
    let (first, second) = edited(&sandbox);
    sandbox.git(["update-ref", "refs/remotes/origin/main", first.as_str()]);
    sandbox.git(["config", "remote.origin.url", "."]);
    sandbox.git(["config", "remote.origin.fetch", "+refs/heads/*:refs/remotes/origin/*"]);
    sandbox.git(["branch", "-q", "--set-upstream-to", "origin/main"]);
    sandbox.git(["branch", "-q", "alone"]);
    let branches = sandbox.open().branches().expect("readable");
    let upstream = Some((b"refs/remotes/origin/main".to_vec(), first));
    let expected = [("refs/heads/alone", None), ("refs/heads/main", upstream)];
    assert_eq!(branches, expected.map(|(name, upstream)| Branch { name: name.into(), tip: second.clone(), upstream }));
}

#[test]
fn a_repository_of_another_user_is_read_only_if_git_is_told_that_it_is_safe() {
    let sandbox = Sandbox::new(&[]);
    let (_, second) = edited(&sandbox);
    let (top, below) = (sandbox.top.clone(), sandbox.top.join("src"));
    let owned = std::process::Command::new("chown").args(["-R", "12345:12345"]).arg(&top).status().expect("chown");
    if !owned.success() {
        return; // Only root can give files away.
    }
    let sandbox = sandbox.at(below);
    let refused = Repo::open(&sandbox.environment()).err().expect("not trusted").to_string();
    assert!(refused.contains("safe.directory") && refused.contains(&format!("'{}'", top.display())), "{refused}");
    let safe = sandbox.told(&[
        ("GIT_CONFIG_COUNT", "1".as_ref()),
        ("GIT_CONFIG_KEY_0", "safe.directory".as_ref()),
        ("GIT_CONFIG_VALUE_0", top.as_os_str()),
    ]);
    let file = sandbox.beside("global");
    std::fs::write(&file, format!("[safe]\n\tdirectory = {}\n", top.display())).expect("written");
    let mut configured = sandbox.environment();
    configured.git.retain(|(name, _)| name != "GIT_CONFIG_GLOBAL");
    configured.git.push(("GIT_CONFIG_GLOBAL".into(), file.into()));
    for trusted in [safe, configured] {
        let repo = Repo::open(&trusted).expect("trusted");
        assert_eq!((repo.head().expect("readable"), repo.top()), (Some(second.clone()), Some(top.as_path())));
    }
}

/// A tree of one entry, written without git's own checks.
fn tree_of(sandbox: &Sandbox, entries: &[(&str, &str, &str)]) -> String {
    let raw = |id: &str| -> Vec<u8> { (0..20).map(|n| u8::from_str_radix(&id[2 * n..2 * n + 2], 16).expect("hex")).collect() };
    let bytes: Vec<u8> =
        entries.iter().flat_map(|(mode, name, id)| [mode.as_bytes(), b" ", name.as_bytes(), b"\0", &raw(id)].concat()).collect();
    let printed = sandbox.git_with(["hash-object", "-w", "-t", "tree", "--literally", "--stdin"], &[], &bytes);
    String::from_utf8(printed).expect("text").trim().to_owned()
}

fn commit_of(sandbox: &Sandbox, tree: &str) -> Oid {
    let text = format!("tree {tree}\nauthor A <a@b> 1 +0000\ncommitter A <a@b> 1 +0000\n\nx\n");
    let printed = sandbox.git_with(["hash-object", "-w", "-t", "commit", "--literally", "--stdin"], &[], text.as_bytes());
    Oid::from_hex(String::from_utf8_lossy(&printed).trim()).expect("an id")
}

/// What every reader of a commit's tree says, in one line each.
fn refusals(repo: &Repo, commit: &Oid) -> [String; 3] {
    [
        repo.changes(None, Some(commit)).expect_err("refused").to_string(),
        repo.tree(Some(commit)).expect("a commit").list(b"").expect_err("refused").to_string(),
        repo.symlinks(Some(commit)).expect_err("refused").to_string(),
    ]
}

#[test]
fn a_tree_that_names_more_than_there_is_room_for_is_refused() {
    let sandbox = Sandbox::new(&[]);
    let (blob, name) = (String::from_utf8(sandbox.git_with(["hash-object", "-w", "--stdin"], &[], b"x")).expect("text"), "n".repeat(4000));
    let mut tree = tree_of(&sandbox, &[("120000", &name, blob.trim())]);
    for _ in 0..12 {
        let names: Vec<String> = (b'a'..b'k').map(|letter| format!("{}{name}", char::from(letter))).collect();
        let entries: Vec<(&str, &str, &str)> = names.iter().map(|name| ("40000", name.as_str(), tree.as_str())).collect();
        tree = tree_of(&sandbox, &entries);
    }
    for refusal in refusals(&sandbox.open(), &commit_of(&sandbox, &tree)) {
        assert!(refusal.contains("in one listing"), "{refusal}");
    }
}

#[test]
fn folders_nested_deeper_than_git_reads_are_refused_and_do_not_overflow_the_stack() {
    let sandbox = Sandbox::new(&[]);
    let blob = String::from_utf8(sandbox.git_with(["hash-object", "-w", "--stdin"], &[], b"x")).expect("text");
    let path = |depth: usize| format!("{}f", "d/".repeat(depth));
    for (depth, fine) in [(1500, true), (2500, false)] {
        sandbox.git(["read-tree", "--empty"]);
        sandbox.git_with(["update-index", "--index-info"], &[], format!("120000 {}\t{}\n", blob.trim(), path(depth)).as_bytes());
        let staged = sandbox.open().staged(None);
        assert_eq!(staged.as_ref().map(|changes| paths(changes)).ok(), fine.then(|| vec![path(depth)]), "by entries: {staged:?}");
        let tree = sandbox.line(["write-tree"]);
        let (repo, commit) = (sandbox.open(), commit_of(&sandbox, &tree));
        if fine {
            assert_eq!(paths(&repo.changes(None, Some(&commit)).expect("readable")), [path(depth)]);
            assert_eq!(repo.symlinks(Some(&commit)).expect("readable").len(), 1);
        } else {
            assert!(refusals(&repo, &commit).iter().all(|refusal| refusal.contains("nested")), "{:?}", refusals(&repo, &commit));
        }
    }
}

#[test]
fn trees_that_git_would_not_check_out_are_refused_by_name() {
    let sandbox = Sandbox::new(&[]);
    let blob = String::from_utf8(sandbox.git_with(["hash-object", "-w", "--stdin"], &[], b"x")).expect("text");
    let blob = blob.trim();
    for (entries, fault) in [
        (&[("100644", "..", blob)][..], "a name that is a dot"),
        (&[("100644", ".GIT", blob)], "a name that is .git"),
        (&[("100644", "b", blob), ("100644", "a", blob)], "entries out of order"),
        (&[("100644", "a", blob), ("100644", "a", blob)], "entries out of order"),
        (&[("130000", "a", blob)], "a mode that git does not know"),
    ] {
        let tree = tree_of(&sandbox, entries);
        for refusal in refusals(&sandbox.open(), &commit_of(&sandbox, &tree)) {
            assert_eq!(refusal, format!("tree {tree} has {fault}"));
        }
    }
}
