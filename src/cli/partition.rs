//! `seedgate partition`: the side of each path.

use std::ffi::OsString;

use crate::cli::{Failure, environment, paths};
use crate::finding::Exit;
use crate::gate::candidate::Candidate;
use crate::gate::sides;
use crate::repo::Repo;
use crate::report;
use crate::tree::RepoPath;

/// Print the side of each path that is staged, that a commit changed, or that is named.
#[derive(clap::Args)]
#[command(after_help = "Sides: policy, record, fixture, harness, test, neutral, production. Fixture, harness and test paths do not go with
production paths in one commit. A Rust file whose change is in its tests and in its code is on both sides, each with its lines;
one whose change is only formatting is neutral. This command reports and does not judge.

Examples:
  seedgate partition                      what is staged
  seedgate partition --rev HEAD~1         what a commit changed (a merge: only what differs from every parent)
  seedgate partition src/a.py tests/b.py  these paths, by the policy of HEAD, whether or not they exist
  seedgate partition --json               for machines (seedgate.partition/1)

Exit codes: 0 printed, 64 usage, 65 something cannot be read, 70 fault.")]
pub(super) struct Args {
    /// Paths to sort, from the current folder.
    #[arg(value_name = "PATH")]
    paths: Vec<OsString>,
    /// Sort what a commit changed instead of what is staged.
    #[arg(long, value_name = "REV", conflicts_with = "paths")]
    rev: Option<String>,
    /// Print seedgate.partition/1.
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &Args) -> Result<Exit, Failure> {
    let environment = environment()?;
    let repo = Repo::open(&environment)?;
    let partition = match &args.rev {
        Some(rev) => {
            let shallow =
                || Failure { exit: Exit::Unreadable, says: format!("{rev}: the clone is shallow here, its parents cannot be seen") };
            sides::of_candidate(&repo, &Candidate::commit(&repo, &repo.resolve(rev)?)?.ok_or_else(shallow)?)?
        }
        None if args.paths.is_empty() => sides::of_candidate(&repo, &Candidate::staged(&repo)?)?,
        None => {
            let named = |path: &OsString| -> Result<RepoPath, Failure> { Ok(RepoPath::new(paths::from_root(&environment, &repo, path)?)) };
            sides::of_paths(&repo, args.paths.iter().map(named).collect::<Result<_, _>>()?)?
        }
    };
    report::out(&if args.json { report::json(&report::partition_json(&partition)) } else { report::partition_text(&partition) });
    Ok(Exit::Clear)
}
