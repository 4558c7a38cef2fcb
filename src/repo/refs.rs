//! Owns what names lead to: HEAD, revisions, every tip, branches and their upstreams.

use std::collections::HashMap;

use git2::{ErrorCode, Repository};

use super::commits::peel;
use super::id::Id;
use super::{Repo, RepoError};
use crate::tree::{Oid, TreeError};

/// The commit HEAD names; `None` when unborn.
pub(super) fn head(repo: &Repo) -> Result<Option<Oid>, RepoError> {
    match &repo.store.library {
        Some(library) => head_by_library(library),
        None => head_by_git(repo),
    }
}

fn head_by_library(library: &Repository) -> Result<Option<Oid>, RepoError> {
    match library.head() {
        Ok(head) => Ok(head.target().and_then(|oid| Id::from_bytes(oid.as_bytes())).map(Oid::from)),
        Err(error) if error.code() == ErrorCode::UnbornBranch => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// Unborn is when HEAD is a name and nothing has that name yet; anything else that does not resolve is trouble.
fn head_by_git(repo: &Repo) -> Result<Option<Oid>, RepoError> {
    let git = repo.store.git()?;
    if let Some(text) = git.run(&["rev-parse", "--verify", "--quiet", "HEAD^{commit}"], None)?.found()? {
        return one_id(&text).map(Some);
    }
    let name = git.run(&["symbolic-ref", "--quiet", "HEAD"], None)?.found()?;
    let name = name.ok_or_else(|| RepoError::Git("HEAD leads to no commit".into()))?;
    let name = String::from_utf8(name).map_err(|_| RepoError::Git("HEAD names a branch that is not UTF-8".into()))?;
    let there = git.run(&["for-each-ref", "--format=%(objectname)", "--", name.trim_end()], None)?.success()?;
    if there.is_empty() { Ok(None) } else { Err(RepoError::Git(format!("{} leads to no commit", name.trim_end()))) }
}

/// The commit that a revision names. Ids and plain names are looked up here; what needs git's grammar is asked of git.
pub(super) fn resolve(repo: &Repo, revision: &str) -> Result<Oid, RepoError> {
    let none = || RepoError::NoCommit(if revision.is_empty() { "an empty revision".to_owned() } else { revision.to_owned() });
    if let Some(id) = Id::from_hex(revision.as_bytes()).filter(|id| id.as_bytes().len() == repo.store.format.width()) {
        return peel(&repo.store, &id)?.map(Oid::from).ok_or_else(none);
    }
    let plain = revision.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'/' | b'-' | b'_' | b'.')) && !revision.contains("..");
    if let Some(library) = repo.store.library.as_ref().filter(|_| plain) {
        let id = library.revparse_single(revision).ok().and_then(|object| Id::from_bytes(object.id().as_bytes()));
        return id.map(|id| peel(&repo.store, &id)).transpose()?.flatten().map(Oid::from).ok_or_else(none);
    }
    // Nothing may stand behind `:/text`, so what it names is peeled here.
    let answer = repo.store.git()?.run(&["rev-parse", "--verify", "--quiet", "--end-of-options", revision], None)?;
    let named = answer.found().ok().flatten().ok_or_else(none)?;
    let id = repo.store.id(&one_id(&named)?)?;
    peel(&repo.store, &id)?.map(Oid::from).ok_or_else(none)
}

/// A local branch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Branch {
    /// Full name: `refs/heads/...`.
    pub name: Vec<u8>,
    /// Its commit.
    pub tip: Oid,
    /// The ref it follows and that ref's commit, when both exist here.
    pub upstream: Option<(Vec<u8>, Oid)>,
}

/// The commits that any ref or HEAD leads to, each once, in order of their ids. A ref that leads to no commit here counts for none.
pub(super) fn tips(repo: &Repo) -> Result<Vec<Oid>, RepoError> {
    let text = repo.store.git()?.run(&["for-each-ref", "--format=%(objectname)"], None)?.success()?;
    let mut tips: Vec<Oid> = head(repo)?.into_iter().collect();
    for line in text.split(|b| *b == b'\n').filter(|line| !line.is_empty()) {
        let id = Id::from_hex(line).ok_or_else(|| RepoError::Git("for-each-ref printed what is no object id".into()))?;
        match peel(&repo.store, &id) {
            Ok(commit) => tips.extend(commit.map(Oid::from)),
            Err(RepoError::Tree(TreeError::Missing { .. })) => {}
            Err(error) => return Err(error),
        }
    }
    tips.sort_unstable();
    tips.dedup();
    Ok(tips)
}

/// Every local branch, in order of names.
pub(super) fn branches(repo: &Repo) -> Result<Vec<Branch>, RepoError> {
    let text = repo.store.git()?.run(&["for-each-ref", "--format=%(objectname) %(refname)%00%(upstream)"], None)?.success()?;
    let says = || RepoError::Git("for-each-ref printed what cannot be read".into());
    let (mut values, mut branches) = (HashMap::new(), Vec::new());
    for line in text.split(|b| *b == b'\n').filter(|line| !line.is_empty()) {
        let (value, names) = line.split_at_checked(repo.store.format.width() * 2).ok_or_else(says)?;
        let tip = Id::from_hex(value).map(Oid::from).ok_or_else(says)?;
        let mut names = names.trim_ascii_start().split(|b| *b == 0);
        let (name, upstream) = (names.next().ok_or_else(says)?, names.next().ok_or_else(says)?);
        if name.starts_with(b"refs/heads/") {
            branches.push((name, tip.clone(), upstream));
        }
        values.insert(name, tip);
    }
    let follows = |upstream: &[u8]| values.get(upstream).map(|tip| (upstream.to_vec(), tip.clone()));
    Ok(branches.into_iter().map(|(name, tip, upstream)| Branch { name: name.to_vec(), tip, upstream: follows(upstream) }).collect())
}

fn one_id(text: &[u8]) -> Result<Oid, RepoError> {
    let id = Id::from_hex(text.trim_ascii_end());
    id.map(Oid::from).ok_or_else(|| RepoError::Git("rev-parse printed what is no commit id".into()))
}
