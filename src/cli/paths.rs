//! Owns paths given on the command line: from where the user stands to the repository's root.

use std::ffi::OsStr;
use std::path::{Component, Path, PathBuf};

use crate::cli::Failure;
use crate::finding::Exit;
use crate::repo::{Environment, Repo};

/// The path from the root, with `/` between its parts; empty for the root itself. Nothing on disk is looked at but the
/// current folder, so that a path that is not there has a name too.
pub(super) fn from_root(environment: &Environment, repo: &Repo, given: &OsStr) -> Result<Vec<u8>, Failure> {
    let here = environment.cwd.canonicalize().unwrap_or_else(|_| environment.cwd.clone());
    let top = repo.top().map(|top| top.canonicalize().unwrap_or_else(|_| top.to_path_buf()));
    // In a bare repository, or outside the work tree, paths are the root's.
    let (top, here) = match top {
        Some(top) if here.starts_with(&top) => (top, here),
        Some(top) => (top.clone(), top),
        None => (PathBuf::from("/"), PathBuf::from("/")),
    };
    within(&top, &here.join(given)).ok_or_else(|| Failure {
        exit: Exit::Usage,
        says: format!("{} lies outside the repository", crate::gate::folder::shown(Path::new(given))),
    })
}

fn within(top: &Path, given: &Path) -> Option<Vec<u8>> {
    let mut plain = PathBuf::new();
    for part in given.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                plain.pop();
            }
            part => plain.push(part),
        }
    }
    let parts: Vec<&[u8]> = plain.strip_prefix(top).ok()?.iter().map(OsStr::as_encoded_bytes).collect();
    Some(parts.join(&b'/'))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::within;

    #[test]
    fn a_path_is_told_from_the_root_or_not_at_all() {
        for (given, want) in [
            ("/r/tests/fixtures/", Some("tests/fixtures")),
            ("/r/src/../tests/./x", Some("tests/x")),
            ("/r/.", Some("")),
            ("/r/../r/a", Some("a")),
            ("/r/..", None),
            ("/else/where", None),
            ("/rr/a", None),
        ] {
            assert_eq!(within(Path::new("/r"), Path::new(given)).as_deref(), want.map(str::as_bytes), "{given}");
        }
    }
}
