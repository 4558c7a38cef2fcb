//! Owns writing trees, commits and one ref, without touching index or work tree and without running a hook.

use super::commits::author_line;
use super::id::Id;
use super::native;
use super::{Repo, RepoError};
use crate::tree::{Change, Mode, Oid};

/// Who wrote a change, and when.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    /// Name, in the commit's own bytes.
    pub name: Vec<u8>,
    /// E-mail address without its angle brackets.
    pub email: Vec<u8>,
    /// Seconds since 1970 and the zone, as git writes them: `1700000000 +0100`.
    pub date: Vec<u8>,
}

impl Repo {
    /// Who wrote a commit.
    ///
    /// # Errors
    /// When the commit cannot be read, or its author line is malformed.
    pub fn author(&self, commit: &Oid) -> Result<Identity, RepoError> {
        let line = author_line(&self.store, &self.store.id(commit)?)?;
        identity(&line).ok_or_else(|| RepoError::Git(format!("commit {commit} has a malformed author")))
    }

    /// Writes a blob as it is: no filter, no attribute.
    ///
    /// # Errors
    /// When git cannot write it.
    pub fn write_blob(&self, bytes: &[u8]) -> Result<Oid, RepoError> {
        one_id(&self.store.git()?.run(&["hash-object", "-w", "--no-filters", "--stdin"], Some(bytes))?.success()?)
    }

    /// Writes the tree of a commit (`None` is the empty tree) with changes on top.
    ///
    /// # Errors
    /// When git cannot write it, or a blob of the changes is missing.
    pub fn write_tree_with(&self, base: Option<&Oid>, changes: &[Change]) -> Result<Oid, RepoError> {
        // Git locks an index beside itself, so it gets a folder of its own.
        let folder = tempfile::tempdir().map_err(|error| RepoError::Git(format!("no temporary folder: {error}")))?;
        let git = self.store.git()?.clone().with("GIT_INDEX_FILE", folder.path().join("index"));
        let settings = ["-c", "index.sparse=false", "-c", "core.splitIndex=false", "-c", "core.sparseCheckout=false"];
        let run = |command: &[&str], input: Option<&[u8]>| git.run(&[&settings[..], command].concat(), input)?.success();
        match self.root(base)? {
            Some(root) => run(&["read-tree", Oid::from(root).as_str()], None)?,
            None => run(&["read-tree", "--empty"], None)?,
        };
        run(&["update-index", "-z", "--index-info"], Some(&index_info(changes, self.store.format.width())))?;
        one_id(&run(&["write-tree"], None)?)
    }

    /// Writes a commit, signed when the user has all commits signed. `author` replaces whom git would name.
    ///
    /// # Errors
    /// When git cannot write or sign it, or does not know who commits.
    pub fn commit_tree(&self, tree: &Oid, parents: &[Oid], author: Option<&Identity>, message: &[u8]) -> Result<Oid, RepoError> {
        let mut git = self.store.git()?.clone();
        if let Some(Identity { name, email, date }) = author {
            for (variable, value) in [("GIT_AUTHOR_NAME", name), ("GIT_AUTHOR_EMAIL", email), ("GIT_AUTHOR_DATE", date)] {
                git = git.with(variable, native::text(value.clone()));
            }
        }
        let mut command = vec!["commit-tree", "-F", "-"];
        if self.config_bool("commit.gpgSign")?.unwrap_or(false) {
            command.push("-S");
        }
        for parent in parents {
            command.extend(["-p", parent.as_str()]);
        }
        command.push(tree.as_str());
        one_id(&git.run(&command, Some(message))?.success()?)
    }

    /// Moves HEAD (the branch it names) or another ref, if it still has the expected value; `None` expects that it does not exist.
    ///
    /// # Errors
    /// When it has another value by now, is locked, or cannot be written.
    pub fn update_ref_checked(&self, name: &str, new: &Oid, expected: Option<&Oid>, reflog: &str) -> Result<(), RepoError> {
        let none = "0".repeat(self.store.format.width() * 2);
        let expected = expected.map_or(none.as_str(), Oid::as_str);
        self.store.git()?.run(&["update-ref", "-m", reflog, "--end-of-options", name, new.as_str(), expected], None)?.success()?;
        Ok(())
    }
}

/// Removals first, so that a folder may take the place of a file and the other way round.
fn index_info(changes: &[Change], width: usize) -> Vec<u8> {
    let none = "0".repeat(width * 2);
    let mut text = Vec::new();
    let mut line = |mode: &str, oid: &str, path: &[u8]| text.extend([mode.as_bytes(), b" ", oid.as_bytes(), b"\t", path, b"\0"].concat());
    for change in changes.iter().filter(|change| change.new.is_none()) {
        line("0", &none, change.path.as_bytes());
    }
    for change in changes {
        if let Some(entry) = &change.new {
            line(Mode::octal(entry.mode), entry.oid.as_str(), change.path.as_bytes());
        }
    }
    text
}

/// `Name <address> seconds zone`.
fn identity(line: &[u8]) -> Option<Identity> {
    let (open, close) = (line.iter().position(|b| *b == b'<')?, line.iter().rposition(|b| *b == b'>')?);
    let part = |bytes: Option<&[u8]>| bytes.map(|bytes| bytes.trim_ascii().to_vec());
    Some(Identity { name: part(line.get(..open))?, email: part(line.get(open + 1..close))?, date: part(line.get(close + 1..))? })
}

fn one_id(text: &[u8]) -> Result<Oid, RepoError> {
    Id::from_hex(text.trim_ascii_end()).map(Oid::from).ok_or_else(|| RepoError::Git("git printed what is no object id".into()))
}
