//! Owns which parents the commit in the making will have.

use super::caller::{Caller, caller};
use super::commits::commit;
use super::{Pending, Repo, RepoError, refs};
use crate::tree::Oid;

/// The variable in which `git merge` names a head that it merges, for hooks that run before `MERGE_HEAD` exists.
const MERGED: &str = "GITHEAD_";

/// The parents that the commit in the making will have.
pub(super) fn pending(repo: &Repo) -> Result<Pending, RepoError> {
    let Some(head) = refs::head(repo)? else { return Ok(Pending { parents: Vec::new(), amend: false }) };
    let caller = caller();
    if caller == (Caller::Commit { amend: true }) {
        let replaced = commit(&repo.store, &repo.shallow, &repo.store.id(&head)?)?;
        return Ok(Pending { parents: replaced.parents, amend: true });
    }
    let recorded = merge_heads(repo)?;
    if !recorded.is_empty() {
        let parents = distinct(head, recorded);
        return Ok(Pending { parents: if is_forced(repo) { parents } else { independent(repo, &parents)? }, amend: false });
    }
    // A commit command knows its merge from MERGE_HEAD alone; the variable would be somebody's invention.
    let told = if matches!(caller, Caller::Commit { .. }) { Vec::new() } else { told_heads(repo) };
    Ok(Pending { parents: distinct(head, told), amend: false })
}

fn distinct(head: Oid, others: Vec<Oid>) -> Vec<Oid> {
    let mut parents = vec![head];
    for other in others {
        if !parents.contains(&other) {
            parents.push(other);
        }
    }
    parents
}

impl Repo {
    /// What git is in the middle of, when the next commit would conclude it with an author or message of its own.
    pub fn operation(&self) -> Option<&'static str> {
        let stands = |name: &str| self.git_dir().join(name).exists();
        // Where git alone can read the repository, these names may lie in a table of refs.
        let named = |name: &str| stands(name) || (self.store.library.is_none() && refs::resolve(self, name).is_ok());
        let waiting = [("MERGE_HEAD", "merge"), ("CHERRY_PICK_HEAD", "cherry-pick"), ("REVERT_HEAD", "revert")];
        let waiting = waiting.into_iter().find(|(name, _)| named(name)).map(|(_, operation)| operation);
        // A rebase that stopped for an `edit` has its commit already, and splitting that is what people stop for.
        let conflicted = stands("rebase-merge/stopped-sha") && !stands("rebase-merge/amend");
        waiting
            .or_else(|| stands("rebase-apply/applying").then_some("patch application"))
            .or_else(|| (conflicted || stands("rebase-apply")).then_some("rebase"))
    }
}

/// The heads of a merge that waits for its commit.
fn merge_heads(repo: &Repo) -> Result<Vec<Oid>, RepoError> {
    let file = repo.git_dir().join("MERGE_HEAD");
    let text = match std::fs::read_to_string(&file) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(RepoError::Git(format!("{}: {error}", file.display()))),
    };
    let heads = text.lines().map(|line| Oid::from_hex(line.trim_end())).collect::<Option<_>>();
    heads.ok_or_else(|| RepoError::Git(format!("{} holds a line that is no commit id", file.display())))
}

/// The heads that `git merge` told its hook about, in order of their ids.
fn told_heads(repo: &Repo) -> Vec<Oid> {
    let names = repo.environment.git.iter().filter_map(|(name, _)| name.strip_prefix(MERGED));
    let mut heads: Vec<Oid> = names.filter_map(Oid::from_hex).collect();
    heads.sort_unstable();
    heads
}

/// Whether the merge was asked to be one even where nothing needs merging (`--no-ff`).
fn is_forced(repo: &Repo) -> bool {
    std::fs::read(repo.git_dir().join("MERGE_MODE")).is_ok_and(|mode| mode.trim_ascii() == b"no-ff")
}

/// As git reduces heads: one that another reaches is no parent.
fn independent(repo: &Repo, parents: &[Oid]) -> Result<Vec<Oid>, RepoError> {
    let mut kept = Vec::new();
    for one in parents {
        let mut reached = false;
        for other in parents.iter().filter(|other| *other != one) {
            reached |= repo.merge_base(one, other)?.as_ref() == Some(one);
        }
        if !reached {
            kept.push(one.clone());
        }
    }
    Ok(kept)
}
