//! Digests equal what the shell pipeline prints: of the disk, the index and a commit, on trees with every kind of name.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use proptest::prelude::{Just, Strategy, any, prop_assert_eq, prop_oneof, proptest};
use proptest::test_runner::Config;

use seedgate::digest;

use crate::sandbox::Sandbox;

const PIPELINE: &str = r#"export LC_ALL=C; find "$1" -type f -print0 | sort -z | xargs -0 sha256sum | sha256sum"#;

/// What GNU's own programs say of a folder.
fn pipeline(top: &Path, dir: &[u8]) -> String {
    let output = Command::new("sh").current_dir(top).args(["-c", PIPELINE, "sh"]).arg(OsStr::from_bytes(dir)).output().expect("sh");
    String::from_utf8(output.stdout).expect("hex")
}

fn disk(top: &Path, dir: &[u8]) -> String {
    format!("{}  -\n", digest::worktree(top, dir).expect("readable").expect("there").sha256)
}

fn write(top: &Path, path: &[u8], bytes: &[u8]) {
    let file = top.join(OsStr::from_bytes(path));
    fs::create_dir_all(file.parent().expect("a folder")).expect("folders");
    fs::write(file, bytes).expect("a written file");
}

fn nasty(top: &Path) {
    let names: [&[u8]; 16] = [
        b"-rf",
        b"--check",
        b"a-b",
        b"a.b",
        b"a/b",
        b"a b",
        b"back\\slash",
        b"line\nbreak",
        b"carriage\rreturn",
        b"tab\tand\"quote'",
        b"caf\xe9",
        b"\xe2\x80\xa8",
        b"*?[x]$(touch p)`",
        b"deep/er/and/-/deeper",
        b"\\",
        b"empty",
    ];
    for (number, name) in names.iter().enumerate() {
        write(top, &[b"fix tures/", *name].concat(), &vec![b'x'; number * 70_000 % 300_001]);
    }
    write(top, b"fix tures/empty", b"");
    write(top, b"fix tures.txt", b"beside");
    write(top, b"fix turesx/beside", b"beside");
    symlink("a b", top.join("fix tures/link")).expect("a link");
    symlink("../fix turesx", top.join("fix tures/linked folder")).expect("a link");
    symlink("nowhere", top.join("fix tures/dangling")).expect("a link");
}

/// The command, in a folder of the sandbox.
fn seedgate(sandbox: &Sandbox, from: &Path, args: &[&str]) -> Output {
    let mut command = sandbox.command(env!("CARGO_BIN_EXE_seedgate"));
    command.env_remove("XDG_CACHE_HOME").current_dir(from).args(args).stdin(Stdio::null()).output().expect("seedgate")
}

fn printed(sandbox: &Sandbox, args: &[&str]) -> String {
    let output = seedgate(sandbox, &sandbox.top, args);
    assert_eq!(output.status.code(), Some(0), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("text")
}

#[test]
fn disk_index_and_commit_have_the_digest_of_the_pipeline() {
    let sandbox = Sandbox::new(&[]);
    nasty(&sandbox.top);
    sandbox.commit_all("base");
    let fixtures = "fix tures";
    let base = pipeline(&sandbox.top, fixtures.as_bytes());
    for args in [&["digest", fixtures][..], &["digest", "--rev", "HEAD", fixtures], &["digest", "--worktree", fixtures]] {
        assert_eq!(printed(&sandbox, args), base, "{args:?}");
    }
    write(&sandbox.top, b"fix tures/a.b", b"staged");
    sandbox.git(["add", "-A"]);
    let staged = pipeline(&sandbox.top, fixtures.as_bytes());
    write(&sandbox.top, b"fix tures/untracked", b"disk");
    write(&sandbox.top, b"fix tures/a-b", b"disk");
    let on_disk = pipeline(&sandbox.top, fixtures.as_bytes());
    assert_eq!(printed(&sandbox, &["digest", fixtures]), staged);
    assert_eq!(printed(&sandbox, &["digest", "--rev", "HEAD", fixtures]), base);
    assert_eq!(printed(&sandbox, &["digest", "--worktree", fixtures]), on_disk);
    assert!(base != staged && staged != on_disk);
}

#[test]
fn a_folder_is_named_from_where_the_user_stands() {
    let sandbox = Sandbox::new(&[]);
    nasty(&sandbox.top);
    sandbox.commit_all("base");
    let want = pipeline(&sandbox.top, b"fix tures/deep");
    for (from, args) in [
        ("fix tures", &["digest", "deep"][..]),
        ("fix tures/deep/er", &["digest", "--worktree", "../"]),
        ("fix tures/deep", &["digest", "--rev", "HEAD", "."]),
        (".", &["digest", "./fix tures/deep/"]),
    ] {
        let output = seedgate(&sandbox, &sandbox.top.join(from), args);
        assert_eq!(String::from_utf8_lossy(&output.stdout), want, "{from}: {args:?}");
    }
    let outside = seedgate(&sandbox, &sandbox.top, &["digest", "../elsewhere"]);
    assert_eq!(outside.status.code(), Some(64));
}

#[test]
fn the_root_is_found_without_git_s_own_folder() {
    let sandbox = Sandbox::new(&[]);
    nasty(&sandbox.top);
    sandbox.commit_all("base");
    let script = "export LC_ALL=C; find . -path ./.git -prune -o -type f -print0 | sort -z | xargs -0 sha256sum | sha256sum";
    let output = sandbox.command("sh").args(["-c", script]).output().expect("sh");
    let want = String::from_utf8(output.stdout).expect("hex");
    assert_eq!(printed(&sandbox, &["digest", "."]), want);
    assert_eq!(printed(&sandbox, &["digest", "--worktree", "."]), want);
}

#[test]
fn a_folder_without_files_has_the_pipeline_s_answer_and_a_note() {
    let sandbox = Sandbox::new(&[]);
    fs::create_dir_all(sandbox.top.join("empty/er")).expect("folders");
    symlink("nowhere", sandbox.top.join("empty/link")).expect("a link");
    sandbox.commit_all("base");
    for args in [&["digest", "empty"][..], &["digest", "--worktree", "empty"], &["digest", "--rev", "HEAD", "empty/er"]] {
        let output = seedgate(&sandbox, &sandbox.top, args);
        assert_eq!(String::from_utf8_lossy(&output.stdout), pipeline(&sandbox.top, b"empty"), "{args:?}");
        assert!(String::from_utf8_lossy(&output.stderr).starts_with("note: no file below empty"), "{args:?}");
    }
    let none = seedgate(&sandbox, &sandbox.top, &["digest", "--worktree", "no\nwhere"]);
    assert_eq!(none.status.code(), Some(65));
    assert!(String::from_utf8_lossy(&none.stderr).contains("no\\nwhere: no such folder on disk"));
}

#[test]
fn one_file_or_a_link_is_answered_as_find_answers() {
    let sandbox = Sandbox::new(&[]);
    nasty(&sandbox.top);
    sandbox.commit_all("base");
    for name in ["fix tures/a b", "fix tures/link", "fix tures/linked folder"] {
        let want = pipeline(&sandbox.top, name.as_bytes());
        assert_eq!(printed(&sandbox, &["digest", name]), want);
        assert_eq!(printed(&sandbox, &["digest", "--worktree", name]), want);
    }
}

#[test]
fn no_link_is_followed_on_the_way_to_a_folder() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    write(folder.path(), b"outside/fixtures/secret", b"s");
    fs::create_dir(folder.path().join("r")).expect("a folder");
    symlink("../outside", folder.path().join("r/tests")).expect("a link");
    let error = digest::worktree(&folder.path().join("r"), b"tests/fixtures").expect_err("a link");
    assert!(error.to_string().starts_with("tests is a symbolic link on the way"), "{error}");
}

#[test]
fn depth_does_no_harm_and_nothing_lies_below_a_file() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let deep: PathBuf = std::iter::repeat_n("d", 40).collect();
    write(folder.path(), deep.join("f").as_os_str().as_bytes(), b"x");
    assert_eq!(disk(folder.path(), b"d"), pipeline(folder.path(), b"d"));
    assert_eq!(digest::worktree(folder.path(), b"d/d/f/x").expect("readable"), None);
}

#[test]
fn json_names_every_file_with_its_digest() {
    let sandbox = Sandbox::new(&[]);
    write(&sandbox.top, b"f/caf\xe9", b"");
    write(&sandbox.top, b"f/b\\s", b"x");
    sandbox.commit_all("base");
    let json: serde_json::Value = serde_json::from_str(&printed(&sandbox, &["digest", "--json", "f"])).expect("JSON");
    let sums = [
        "2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881",
        "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    ];
    let files = serde_json::json!([{"path": "f/b\\\\s", "sha256": sums[0]}, {"path": "f/caf\\xe9", "sha256": sums[1]}]);
    let sha256 = &pipeline(&sandbox.top, b"f")[..64];
    let want = serde_json::json!({"schema": "seedgate.digest/1", "folder": "f", "source": "index", "sha256": sha256, "files": files});
    assert_eq!(json, want);
}

/// A part of a path, from the bytes that sorting and escaping care about.
fn part() -> impl Strategy<Value = Vec<u8>> {
    let byte = prop_oneof![
        8 => prop_oneof![Just(b'a'), Just(b'-'), Just(b'.'), Just(b' '), Just(b'\\'), Just(b'\n'), Just(b'\r'), Just(b'0'), Just(b'_')],
        2 => any::<u8>().prop_filter("a name has neither", |byte| !matches!(byte, b'/' | 0)),
    ];
    proptest::collection::vec(byte, 1..6).prop_filter("a name is neither", |name| !matches!(name.as_slice(), b"." | b".."))
}

proptest! {
    #![proptest_config(Config { cases: 60, ..Config::default() })]

    #[test]
    fn any_folder_on_disk_has_the_digest_of_the_pipeline(
        files in proptest::collection::vec((proptest::collection::vec(part(), 1..4), proptest::collection::vec(any::<u8>(), 0..40)), 0..12)
    ) {
        let folder = tempfile::tempdir().expect("a temporary folder");
        fs::create_dir(folder.path().join("f")).expect("a folder");
        for (parts, bytes) in files {
            let file = folder.path().join("f").join(OsStr::from_bytes(&parts.join(&b'/')));
            // A file where another needs a folder is left out.
            if fs::create_dir_all(file.parent().expect("a folder")).is_ok() {
                let _ = fs::write(file, bytes);
            }
        }
        prop_assert_eq!(disk(folder.path(), b"f"), pipeline(folder.path(), b"f"));
    }
}
