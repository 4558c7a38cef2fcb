//! Repositories as people have them: what is read of each equals what git says of it.

use seedgate::tree::{RepoPath, Tree as _};

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
    let paths = |changes: Vec<seedgate::tree::Change>| changes.iter().map(|change| change.path.to_string()).collect::<Vec<_>>();
    assert_eq!(paths(repo.staged(Some(&first)).expect("readable")), ["src/app.py", "tests/test_app.py"]);
    assert_eq!(paths(repo.staged(None).expect("readable")), ["src/app.py"]);
    assert_eq!(paths(repo.changes(None, Some(&first)).expect("readable")), ["src/app.py", "tests/test_app.py"]);
    assert_eq!(repo.range(&first, &first).expect("readable"), []);
    assert_eq!(repo.outgoing(&[], &[]).expect("readable"), []);
}
