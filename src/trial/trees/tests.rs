//! Owns the tests of trees on disk.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use super::{Trees, write};
use crate::tree::{Entry, MemTree, Mode, RepoPath, Tree};

fn kept() -> (tempfile::TempDir, Trees) {
    let folder = tempfile::tempdir().unwrap();
    let trees = Trees { folder: folder.path().canonicalize().unwrap(), _own: None };
    (folder, trees)
}

fn small() -> MemTree {
    let mut tree = MemTree::default();
    tree.put("src/price.py", "one");
    tree.put_as("run.sh", "two", Mode::Executable);
    tree
}

fn names(trees: &Trees) -> Vec<String> {
    let found = fs::read_dir(&trees.folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    found.filter(|name| !name.contains('.')).collect()
}

#[test]
fn a_tree_is_written_once_with_its_modes_and_found_again() {
    let (_folder, trees) = kept();
    let lease = trees.lease(&small()).unwrap();
    assert_eq!(fs::read(lease.path().join("src/price.py")).unwrap(), b"one");
    let mode = |name: &str| fs::metadata(lease.path().join(name)).unwrap().permissions().mode() & 0o111;
    assert_ne!(mode("run.sh"), 0);
    assert_eq!(mode("src/price.py"), 0);
    let again = trees.lease(&small()).unwrap();
    assert_eq!(again.path(), lease.path());
    assert_eq!(names(&trees).len(), 1);
}

#[test]
fn a_tree_that_code_wrote_to_is_written_anew_and_never_under_somebody_who_uses_it() {
    let (_folder, trees) = kept();
    let spoils: [fn(&std::path::Path); 3] = [
        |top| fs::write(top.join("src/price.py"), "bad").unwrap(),
        |top| fs::write(top.join("src/new.py"), "bad").unwrap(),
        |top| fs::remove_file(top.join("run.sh")).unwrap(),
    ];
    for spoil in spoils {
        let first = trees.lease(&small()).unwrap();
        spoil(first.path());
        let beside = trees.lease(&small()).unwrap();
        assert_ne!(beside.path(), first.path());
        assert_eq!(fs::read(beside.path().join("src/price.py")).unwrap(), b"one");
        let own = beside.path().to_path_buf();
        drop((first, beside));
        assert!(!own.exists(), "what is not kept goes with its lease");
        let again = trees.lease(&small()).unwrap();
        assert_eq!(fs::read(again.path().join("src/price.py")).unwrap(), b"one");
        assert!(again.path().join("run.sh").exists() && !again.path().join("src/new.py").exists());
    }
}

#[test]
fn only_so_many_trees_are_kept_and_none_that_is_in_use() {
    let (_folder, trees) = kept();
    let first = trees.lease(&small()).unwrap();
    for n in 0..40 {
        let mut tree = MemTree::default();
        tree.put(&format!("{n}"), "x");
        trees.lease(&tree).unwrap();
    }
    assert!(first.path().join("run.sh").exists());
    assert!(names(&trees).len() <= super::KEPT + 1, "{}", names(&trees).len());
}

#[test]
fn links_stay_only_where_they_lead_to_something_inside() {
    let (_folder, trees) = kept();
    let mut tree = MemTree::default();
    tree.put("data/table.csv", "1");
    for (path, target) in [
        ("tests/file", "../data/table.csv"),
        ("tests/folder", "../data"),
        ("tests/again", "folder/table.csv"),
        ("tests/up", "../../../../../../../etc/passwd"),
        ("tests/absolute", "/etc/passwd"),
        ("tests/over_up", "up"),
        ("tests/by_folder", "folder/../../../../etc"),
        ("tests/loop", "loop"),
        ("tests/gone", "nowhere"),
    ] {
        tree.put_as(path, target, Mode::Symlink);
    }
    let lease = trees.lease(&tree).unwrap();
    let mut found: Vec<String> =
        fs::read_dir(lease.path().join("tests")).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
    found.sort();
    assert_eq!(found, ["again", "file", "folder"]);
    assert_eq!(fs::read(lease.path().join("tests/again")).unwrap(), b"1");
}

#[test]
fn no_name_leads_out_and_no_compiled_file_stands_beside_its_source() {
    let folder = tempfile::tempdir().unwrap();
    let mut tree = MemTree::default();
    let entry: Entry = tree.put("x", "x");
    for path in ["../out", "a/../../out", "/abs", "a//b", ".git/hooks/pre-commit", "a/.GIT/config", "."] {
        let error = write::out(&tree, &[(RepoPath::new(path), entry.clone())], folder.path()).unwrap_err().to_string();
        assert!(error.contains("is no name for a file"), "{path}: {error}");
    }
    tree.put("pkg/__pycache__/mod.cpython-311.pyc", "code");
    tree.put("pkg/mod.py", "source");
    write::out(&tree, &tree.list(b"").unwrap(), folder.path()).unwrap();
    assert!(folder.path().join("pkg/mod.py").exists() && !folder.path().join("pkg/__pycache__").exists());
}
