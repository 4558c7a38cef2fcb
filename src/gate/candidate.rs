//! Owns the candidate: the change under judgement, against each of its parents.

use std::collections::HashMap;

use crate::repo::{Repo, RepoError};
use crate::tree::{Change, Entry, Oid, RepoPath};

/// A change under judgement.
#[derive(Clone, Debug)]
pub struct Candidate {
    /// Its commit; `None` for the index.
    pub commit: Option<Oid>,
    /// First line of its message; empty for the index.
    pub subject: String,
    /// Its parents: none for a first commit.
    pub parents: Vec<Oid>,
    /// What differs from each parent, in the parents' order (from the empty tree when there is none).
    against: Vec<Vec<Change>>,
}

impl Candidate {
    /// The commit that the index would become.
    ///
    /// # Errors
    /// When git cannot be read.
    pub fn staged(repo: &Repo) -> Result<Self, RepoError> {
        let parents = repo.pending()?.parents;
        let against = bases(&parents).map(|parent| repo.staged(parent)).collect::<Result<_, _>>()?;
        Ok(Candidate { commit: None, subject: String::new(), parents, against })
    }

    /// A commit; `None` at a shallow boundary, whose parents cannot be seen.
    ///
    /// # Errors
    /// When git cannot be read.
    pub fn commit(repo: &Repo, oid: &Oid) -> Result<Option<Self>, RepoError> {
        let commit = repo.commit(oid)?;
        if commit.boundary {
            return Ok(None);
        }
        let against = bases(&commit.parents).map(|parent| repo.changes(parent, Some(oid))).collect::<Result<_, _>>()?;
        Ok(Some(Candidate { commit: Some(oid.clone()), subject: commit.subject, parents: commit.parents, against }))
    }

    /// The parent that policy and trees are read from; `None` is the empty tree.
    pub fn base(&self) -> Option<&Oid> {
        self.parents.first()
    }

    /// All that differs from the base.
    pub fn changes(&self) -> &[Change] {
        self.against.first().map_or(&[], Vec::as_slice)
    }

    /// What the change itself does: for a merge only the paths that differ from every parent, as changes from the first.
    pub fn own(&self) -> Vec<Change> {
        let (Some(first), rest) = (self.against.first(), self.against.get(1..).unwrap_or_default()) else {
            return Vec::new();
        };
        let others: Vec<HashMap<&RepoPath, &Option<Entry>>> =
            rest.iter().map(|changes| changes.iter().map(|c| (&c.path, &c.old)).collect()).collect();
        first.iter().filter(|change| others.iter().all(|other| other.contains_key(&change.path))).cloned().collect()
    }
}

/// The parents as bases: the empty tree when there is none.
fn bases(parents: &[Oid]) -> impl Iterator<Item = Option<&Oid>> {
    let root = parents.is_empty().then_some(None);
    root.into_iter().chain(parents.iter().map(Some))
}

#[cfg(test)]
mod tests {
    use super::Candidate;
    use crate::tree::{Change, MemTree, Oid, RepoPath};

    #[test]
    fn a_merge_itself_does_only_what_differs_from_every_parent() {
        let mut tree = MemTree::default();
        let (old, new) = (tree.put("x", "old"), tree.put("x", "new"));
        let change = |path: &str| Change { path: RepoPath::new(path), old: Some(old.clone()), new: Some(new.clone()) };
        let parents: Vec<Oid> = ["1", "2"].iter().filter_map(|d| Oid::from_hex(&d.repeat(40))).collect();
        for (one, two, own) in [
            (vec!["from_two"], vec!["from_one"], vec![]),
            (vec!["evil", "from_two"], vec!["evil", "from_one"], vec!["evil"]),
            (vec![], vec!["all of it"], vec![]),
        ] {
            let against = [one, two].map(|paths| paths.into_iter().map(change).collect()).to_vec();
            let merge = Candidate { commit: None, subject: String::new(), parents: parents.clone(), against };
            let found: Vec<String> = merge.own().iter().map(|c| c.path.to_string()).collect();
            assert_eq!(found, own);
        }
    }
}
