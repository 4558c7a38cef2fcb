//! Owns which commits lie between: what a push brings, what a branch adds.

use std::collections::HashSet;

use git2::Sort;

use super::commits::{ends_here, parse, peel};
use super::id::Id;
use super::store::library_id;
use super::{RefUpdate, Repo, RepoError};
use crate::tree::{Oid, TreeError};

/// Every commit that a push would bring and `known` does not reach, oldest first.
pub(super) fn outgoing(repo: &Repo, updates: &[RefUpdate], known: &[Oid]) -> Result<Vec<Oid>, RepoError> {
    let mut tips = Vec::new();
    for update in updates.iter().filter(|update| !update.local.is_zero()) {
        // Tags on blobs and trees bring no commits.
        tips.extend(peel(&repo.store, &repo.store.id(&update.local)?)?);
    }
    let mut hidden = Vec::new();
    for oid in updates.iter().map(|update| &update.remote).chain(known).filter(|oid| !oid.is_zero()) {
        hidden.extend(known_commit(repo, oid)?);
    }
    between(repo, &tips, &hidden)
}

/// The commit that may be left out with all its history; what is not here, or leads to none, leaves nothing out.
fn known_commit(repo: &Repo, oid: &Oid) -> Result<Option<Id>, RepoError> {
    let Ok(id) = repo.store.id(oid) else { return Ok(None) };
    if !repo.store.has(&id)? {
        return Ok(None);
    }
    Ok(peel(&repo.store, &id).unwrap_or(None))
}

/// Commits that `tips` reach and `hidden` do not, parents before children, each once.
pub(super) fn between(repo: &Repo, tips: &[Id], hidden: &[Id]) -> Result<Vec<Oid>, RepoError> {
    if tips.iter().all(|tip| hidden.contains(tip)) {
        return Ok(Vec::new());
    }
    if repo.history_is_altered() {
        return by_objects(repo, tips, hidden);
    }
    match &repo.store.library {
        Some(library) => by_library(library, tips, hidden).or_else(|_| by_git(repo, tips, hidden)),
        None => by_git(repo, tips, hidden),
    }
}

/// The newest commits that `head` reaches, parents before children.
pub(super) fn recent(repo: &Repo, head: &Id, most: usize) -> Result<Vec<Oid>, RepoError> {
    if repo.history_is_altered() {
        let all = by_objects(repo, &[*head], &[])?;
        return Ok(all[all.len().saturating_sub(most)..].to_vec());
    }
    let newest = |library: &git2::Repository| -> Result<Vec<Oid>, git2::Error> {
        let mut walk = library.revwalk()?;
        walk.set_sorting(Sort::TOPOLOGICAL | Sort::TIME)?;
        walk.push(library_id(head)?)?;
        ids(walk.take(most))
    };
    let mut commits = match &repo.store.library {
        Some(library) => newest(library).or_else(|_| newest_by_git(repo, head, most)),
        None => newest_by_git(repo, head, most),
    }?;
    commits.reverse();
    Ok(commits)
}

fn newest_by_git(repo: &Repo, head: &Id, most: usize) -> Result<Vec<Oid>, RepoError> {
    let (most, head) = (format!("--max-count={most}"), Oid::from(*head));
    ids_printed(&repo.store.git()?.run(&["rev-list", "--date-order", &most, head.as_str()], None)?.success()?)
}

fn ids(walk: impl Iterator<Item = Result<git2::Oid, git2::Error>>) -> Result<Vec<Oid>, git2::Error> {
    walk.map(|oid| oid.map(|oid| Id::from_bytes(oid.as_bytes()).map(Oid::from))).filter_map(Result::transpose).collect()
}

fn ids_printed(text: &[u8]) -> Result<Vec<Oid>, RepoError> {
    let commits = text.split(|b| *b == b'\n').filter(|line| !line.is_empty()).map(|line| Id::from_hex(line).map(Oid::from));
    commits.collect::<Option<_>>().ok_or_else(|| RepoError::Git("rev-list printed what is no commit id".into()))
}

fn by_library(library: &git2::Repository, tips: &[Id], hidden: &[Id]) -> Result<Vec<Oid>, git2::Error> {
    let mut walk = library.revwalk()?;
    walk.set_sorting(Sort::TOPOLOGICAL | Sort::REVERSE)?;
    for tip in tips {
        walk.push(library_id(tip)?)?;
    }
    for commit in hidden {
        walk.hide(library_id(commit)?)?;
    }
    ids(walk)
}

fn by_git(repo: &Repo, tips: &[Id], hidden: &[Id]) -> Result<Vec<Oid>, RepoError> {
    let hex = |id: &Id| Oid::from(*id).to_string();
    let lines: Vec<String> = tips.iter().map(hex).chain(hidden.iter().map(|id| format!("^{}", hex(id)))).collect();
    let input = lines.join("\n") + "\n";
    ids_printed(&repo.store.git()?.run(&["rev-list", "--topo-order", "--reverse", "--stdin"], Some(input.as_bytes()))?.success()?)
}

/// Commit by commit, where a shallow or grafts file would have git and libgit2 see another history than the one that a push transfers.
fn by_objects(repo: &Repo, tips: &[Id], hidden: &[Id]) -> Result<Vec<Oid>, RepoError> {
    let mut seen = history(repo, hidden)?;
    let mut found = Vec::new();
    for tip in tips {
        let mut path = Vec::new();
        enter(repo, *tip, &mut seen, &mut path)?;
        while let Some((id, parents)) = path.last_mut() {
            if let Some(parent) = parents.pop() {
                enter(repo, parent, &mut seen, &mut path)?;
            } else {
                found.push(Oid::from(*id));
                path.pop();
            }
        }
    }
    Ok(found)
}

/// Puts a commit that was not seen yet on the path, with its visible parents still to be visited.
fn enter(repo: &Repo, id: Id, seen: &mut HashSet<Id>, path: &mut Vec<(Id, Vec<Id>)>) -> Result<(), RepoError> {
    if seen.insert(id) {
        let parents = parse(&repo.store, &id)?.parents;
        let ends = ends_here(&repo.store, &repo.shallow, &id, &parents)?;
        path.push((id, if ends { Vec::new() } else { parents.into_iter().rev().collect() }));
    }
    Ok(())
}

/// Everything that commits reach, as far as it is here.
fn history(repo: &Repo, from: &[Id]) -> Result<HashSet<Id>, RepoError> {
    let (mut seen, mut waiting) = (HashSet::new(), from.to_vec());
    while let Some(id) = waiting.pop() {
        if seen.insert(id) {
            match parse(&repo.store, &id) {
                Ok(commit) => waiting.extend(commit.parents),
                Err(TreeError::Missing { .. }) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }
    Ok(seen)
}

/// A merge base; `None` when there is none.
pub(super) fn merge_base(repo: &Repo, one: &Id, two: &Id) -> Result<Option<Oid>, RepoError> {
    if let Some(library) = repo.store.library.as_ref().filter(|_| !repo.history_is_altered()) {
        return match library.merge_base(library_id(one)?, library_id(two)?) {
            Ok(oid) => Ok(Id::from_bytes(oid.as_bytes()).map(Oid::from)),
            Err(error) if error.code() == git2::ErrorCode::NotFound => Ok(None),
            Err(error) => Err(error.into()),
        };
    }
    let (one, two) = (Oid::from(*one), Oid::from(*two));
    let answer = repo.store.git()?.run(&["merge-base", one.as_str(), two.as_str()], None)?.found()?;
    let base = answer.map(|text| Id::from_hex(text.trim_ascii()).map(Oid::from));
    base.map(|oid| oid.ok_or_else(|| RepoError::Git("merge-base printed what is no commit id".into()))).transpose()
}
