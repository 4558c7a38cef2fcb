//! `seedgate tree`: shows the tree that a candidate's checks are run in, or writes it out.

use std::path::PathBuf;

use crate::cli::{Failure, open, trial};
use crate::finding::Exit;
use crate::partition::Sides;
use crate::report::{self, Shown};
use crate::tree::Tree as _;
use crate::trial::TrialError;
use crate::trial::trees::{self, Part, Source};

/// Show the tree in which a candidate is judged: the base with the production side of the change on it.
///
/// It is composed from git objects; no work tree and no branch is made. Tests, fixtures and harness are the base's own, so
/// that nothing the candidate did to them judges its production code.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  seedgate tree --production-only --base origin/main --head HEAD
  seedgate tree --production-only --base HEAD~1 --into /tmp/candidate
  seedgate tree --production-only --json

Exit codes: 0 shown or written, 64 the folder is taken or inside .git, 65 a revision or the policy cannot be read, 70 fault.")]
pub(super) struct Args {
    /// Only the production side of the change; without it, the candidate's whole tree.
    #[arg(long)]
    production_only: bool,
    /// What the candidate is laid over: where it and REV last met [default: `[merge] target` of the policy, else its first parent].
    #[arg(long, value_name = "REV")]
    base: Option<String>,
    /// The candidate.
    #[arg(long, value_name = "REV", default_value = "HEAD")]
    head: String,
    /// Write it into a folder that is not there yet or is empty.
    #[arg(long, value_name = "DIR")]
    into: Option<PathBuf>,
    /// Print seedgate.tree/1: every file, its blob, and which end it comes from.
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &Args) -> Result<Exit, Failure> {
    let repo = open()?;
    let head = repo.resolve(&args.head)?;
    let base = trial::base(&repo, args.base.as_deref(), &args.head, &head)?;
    let part = if args.production_only { Part::ProductionOnly } else { Part::Full };
    let source = Source::candidate(&repo, &base, &head, part)?;
    let tree = source.tree();
    let entries = tree.list(b"").map_err(TrialError::from)?;
    let sides = Sides::new(&trees::policy(&repo.tree(Some(&base))?)?);
    let changes = repo.changes(Some(&base), Some(&head))?;
    let shown = Shown {
        part: part.name(),
        id: trees::id_of(&entries),
        rows: changes.iter().map(|change| (change, sides.side(&change.path), trees::is_taken(change, &entries))).collect(),
        base: &base,
        head: &head,
        entries: &entries,
    };
    if let Some(folder) = &args.into {
        trees::write_into(&repo, &tree, folder)?;
    }
    report::out(&if args.json { report::json(&report::tree_json(&shown)) } else { report::tree_text(&shown, args.into.as_deref()) });
    Ok(Exit::Clear)
}
