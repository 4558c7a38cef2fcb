//! `seedgate digest`: the digest of a fixture folder.

use std::ffi::OsString;

use crate::cli::{self, Failure, environment, paths};
use crate::digest::{self, DigestError, FolderDigest};
use crate::finding::Exit;
use crate::gate::digests;
use crate::gate::facts::Facts;
use crate::repo::{Environment, Repo};
use crate::report;
use crate::tree::{Overlay, RepoPath};

/// Print the digest of a folder: the index's, a commit's or the disk's.
#[derive(clap::Args)]
#[command(after_help = "It is what this prints at the repository root:
  export LC_ALL=C; find DIR -type f -print0 | sort -z | xargs -0 sha256sum | sha256sum

Examples:
  seedgate digest tests/fixtures                what a commit would hold
  seedgate digest --rev v1.2 tests/fixtures     what a commit holds
  seedgate digest --worktree tests/fixtures     what a loader reads
  seedgate digest --json tests/fixtures         with every file (seedgate.digest/1)

Exit codes: 0 printed, 64 usage, 65 something cannot be read, 70 fault.")]
pub(super) struct Args {
    /// The folder (or one file), from the current folder.
    #[arg(value_name = "DIR")]
    dir: OsString,
    /// Hash a commit instead of the index.
    #[arg(long, value_name = "REV", conflicts_with = "worktree")]
    rev: Option<String>,
    /// Hash the files on disk instead of the index.
    #[arg(long)]
    worktree: bool,
    /// Print seedgate.digest/1.
    #[arg(long)]
    json: bool,
}

impl From<DigestError> for Failure {
    fn from(error: DigestError) -> Self {
        Failure { exit: Exit::Unreadable, says: error.to_string() }
    }
}

pub(super) fn run(args: &Args) -> Result<Exit, Failure> {
    let environment = environment()?;
    let repo = Repo::open(&environment)?;
    let dir = paths::from_root(&environment, &repo, &args.dir)?;
    let (source, found) = match &args.rev {
        _ if args.worktree => ("worktree", on_disk(&repo, &dir)?),
        Some(rev) => ("rev", committed(&environment, &repo, &dir, Some(rev))?),
        None => ("index", committed(&environment, &repo, &dir, None)?),
    };
    if found.files.is_empty() {
        report::err(&format!("note: no file below {}; this is the digest of an empty folder\n", report::folder(&dir)));
    }
    report::out(&if args.json { report::json(&report::digest_json(&dir, source, &found)) } else { format!("{}  -\n", found.sha256) });
    Ok(Exit::Clear)
}

fn on_disk(repo: &Repo, dir: &[u8]) -> Result<FolderDigest, Failure> {
    let missing = |says: String| Failure { exit: Exit::Unreadable, says };
    let top = repo.top().ok_or_else(|| missing("a bare repository has no files on disk".to_owned()))?;
    digest::worktree(top, dir)?.ok_or_else(|| missing(format!("{}: no such folder on disk", RepoPath::new(dir))))
}

fn committed(environment: &Environment, repo: &Repo, dir: &[u8], rev: Option<&str>) -> Result<FolderDigest, Failure> {
    let facts = cli::remembered();
    let commit = rev.map_or_else(|| repo.head(), |rev| repo.resolve(rev).map(Some))?;
    let base = repo.tree(commit.as_ref())?;
    let changes = if rev.is_some() { Vec::new() } else { repo.staged(commit.as_ref())? };
    let tree = Overlay::new(&base, &changes);
    let found = digests::folder(environment, &tree, &facts, dir)?;
    if facts.distrusted().is_some() {
        // A layer was caught in a wrong answer: nothing it said counts.
        return Ok(digests::folder(environment, &tree, &Facts::cold(), dir)?);
    }
    facts.flush();
    Ok(found)
}
