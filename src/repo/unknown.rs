//! Owns listing the files of the work tree that git does not know.

use super::{Repo, RepoError};
use crate::tree::RepoPath;

/// Every file that is neither in the index nor ignored. A foreign repository within the work tree is one path that ends in a slash.
pub(super) fn unknown(repo: &Repo) -> Result<Vec<RepoPath>, RepoError> {
    let Some(top) = repo.top() else { return Ok(Vec::new()) };
    let git = repo.store.git()?.clone().at(top);
    let listed = git.run(&["ls-files", "-z", "--others", "--exclude-standard"], None)?.success()?;
    Ok(listed.split(|b| *b == 0).filter(|path| !path.is_empty()).map(RepoPath::new).collect())
}
