//! `seedgate waiver`: drafts and checks waivers.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use crate::cli::{self, Failure, open};
use crate::finding::{Exit, Finding, PropId, Rule};
use crate::gate::GateError;
use crate::gate::candidate::Candidate;
use crate::gate::run::Subject;
use crate::repo::Repo;
use crate::report;
use crate::strength::cards;
use crate::strength::record;
use crate::strength::waiver::{self, Found};
use crate::tree::{Overlay, RepoPath, Tree};

/// Draft and check waivers: files that name the exact old and new card of a check that may get weaker.
#[derive(clap::Subcommand)]
pub(super) enum Command {
    New(New),
    List(List),
    Check(Check),
}

/// Draft a waiver for each property or fixture, with the measured cards, under docs/waivers.
///
/// A draft waives nothing: a person writes its `spec` (a URL or a file of the repository) and its reason, and commits it with the change.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  seedgate waiver new test_clamp_non_negative      for what is staged
  seedgate waiver new --fixture tests/fixtures/balances.json
  seedgate waiver new --path pytest.ini
  seedgate waiver new --all
  seedgate waiver new --all --base origin/main     for the commits of a branch

Exit codes: 0 drafted, 64 nothing of that name gets weaker, 65 unreadable input, 70 fault.")]
pub(super) struct New {
    /// Ids of properties or tests, or unambiguous ends of them.
    #[arg(value_name = "ID", required_unless_present_any = ["all", "fixture", "path"])]
    ids: Vec<String>,
    /// Everything that is refused and that a waiver can settle.
    #[arg(long, conflicts_with_all = ["ids", "fixture", "path"])]
    all: bool,
    /// A fixture file.
    #[arg(long, value_name = "PATH")]
    fixture: Vec<String>,
    /// A file of the harness, or of production code that tells whether a test runs.
    #[arg(long, value_name = "PATH")]
    path: Vec<String>,
    /// Judge every commit of BASE..HEAD in place of what is staged.
    #[arg(long, value_name = "REV")]
    base: Option<String>,
    /// The end of the range.
    #[arg(long, value_name = "REV", requires = "base", default_value = "HEAD")]
    head: String,
}

/// List the waivers of the index: whole, draft (no spec or reason yet) or broken.
#[derive(clap::Args)]
pub(super) struct List {}

/// Check a waiver, or every waiver that is staged, against what is staged.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  seedgate waiver check
  seedgate waiver check docs/waivers/tests-test_total-py-test_clamp-1f0c2b3a.md

Exit codes: 0 each states the measured cards, 2 some is a draft, broken or states other cards, 65 unreadable input, 70 fault.")]
pub(super) struct Check {
    /// A waiver in the work tree; without it, every waiver that is staged.
    file: Option<PathBuf>,
}

pub(super) fn run(command: &Command) -> Result<Exit, Failure> {
    match command {
        Command::New(args) => new(args),
        Command::List(_) => list(),
        Command::Check(args) => check(args),
    }
}

fn new(args: &New) -> Result<Exit, Failure> {
    let repo = open()?;
    let top = repo.top().ok_or_else(|| Failure::usage("a waiver is drafted into a work tree, and this repository has none"))?.to_path_buf();
    let open: Vec<Finding> = findings(&repo, args.base.as_deref(), &args.head)?.into_iter().filter(|f| f.rule != Rule::Waived).collect();
    let wanted = if args.all { open.iter().collect() } else { chosen(args, &open)? };
    let drafts: BTreeMap<String, String> = wanted.into_iter().filter_map(waiver::draft).map(|draft| (draft.name, draft.text)).collect();
    if drafts.is_empty() {
        return Err(Failure::usage("nothing in this change gets weaker in a way that a waiver can settle"));
    }
    for (name, text) in &drafts {
        let fresh = record::create(&top, waiver::FOLDER, name, text.as_bytes())?;
        report::out(&report::drafted_text(name, fresh));
    }
    Ok(Exit::Clear)
}

/// The findings that the arguments name.
fn chosen<'f>(args: &New, open: &'f [Finding]) -> Result<Vec<&'f Finding>, Failure> {
    let mut chosen = Vec::new();
    let waivable = || open.iter().filter(|finding| waiver::draft(finding).is_some());
    for name in &args.ids {
        let id: &PropId = cards::named(name, waivable().filter_map(|finding| finding.property.as_ref()))
            .map_err(|error| Failure::usage(format!("{error} among what gets weaker")))?;
        chosen.extend(waivable().filter(|finding| finding.property.as_ref() == Some(id)));
    }
    for path in args.fixture.iter().chain(&args.path) {
        let of_path: Vec<&Finding> = waivable().filter(|f| f.property.is_none() && f.path.as_ref() == Some(path)).collect();
        if of_path.is_empty() {
            return Err(Failure::usage(format!("nothing that a waiver can settle changes in {path}")));
        }
        chosen.extend(of_path);
    }
    Ok(chosen)
}

fn findings(repo: &Repo, base: Option<&str>, head: &str) -> Result<Vec<Finding>, Failure> {
    let facts = cli::remembered();
    let judgements = match base {
        Some(base) => {
            let commits = repo.range(&repo.resolve(base)?, &repo.resolve(head)?)?;
            cli::judge(repo, &facts, &Subject::Commits(&commits))?.judgements
        }
        None => cli::judge(repo, &facts, &Subject::Index)?.judgements,
    };
    facts.flush();
    if let Some((exit, says)) = judgements.iter().find_map(|judgement| judgement.error.clone()) {
        return Err(Failure { exit, says });
    }
    Ok(judgements.into_iter().flat_map(|judgement| judgement.findings).collect())
}

fn list() -> Result<Exit, Failure> {
    let repo = open()?;
    let candidate = Candidate::staged(&repo)?;
    let base = repo.tree(candidate.base())?;
    let found = waiver::list(&Overlay::new(&base, candidate.changes())).map_err(GateError::from)?;
    report::out(&report::waivers_text(&found, report::out_style()));
    Ok(Exit::Clear)
}

fn check(args: &Check) -> Result<Exit, Failure> {
    let repo = open()?;
    let candidate = Candidate::staged(&repo)?;
    let base = repo.tree(candidate.base())?;
    let index = Overlay::new(&base, candidate.changes());
    let found = if let Some(file) = &args.file { vec![of_disk(&repo, file, &index)?] } else { staged(&candidate, &index)? };
    let findings = findings(&repo, None, "HEAD")?;
    let checked: Vec<_> = found.into_iter().map(|found| (found.clone(), found.objections(&findings))).collect();
    report::out(&report::checked_text(&checked, report::out_style()));
    let sound = checked.iter().all(|(_, objections)| objections.is_empty());
    Ok(if sound { Exit::Clear } else { Exit::Refused })
}

/// The waivers that the change brings or changes.
fn staged(candidate: &Candidate, index: &dyn Tree) -> Result<Vec<Found>, Failure> {
    let own = candidate.own();
    let staged = own.iter().filter(|change| change.new.is_some() && waiver::in_folder(&change.path));
    let read: Result<Vec<_>, _> = staged.map(|change| waiver::read(index, &change.path)).collect();
    Ok(read.map_err(GateError::from)?.into_iter().flatten().collect())
}

/// A waiver as it lies on disk, not staged yet perhaps.
fn of_disk(repo: &Repo, file: &Path, index: &dyn Tree) -> Result<Found, Failure> {
    let wrong = |why: &dyn std::fmt::Display| Failure { exit: Exit::Unreadable, says: format!("{}: {why}", file.display()) };
    let whole = fs::canonicalize(file).map_err(|error| wrong(&error))?;
    let top = repo.top().and_then(|top| fs::canonicalize(top).ok());
    let inside = top.and_then(|top| whole.strip_prefix(top).ok().map(|inside| RepoPath::new(inside.as_os_str().as_encoded_bytes())));
    let path = inside.filter(waiver::in_folder);
    let path = path.ok_or_else(|| wrong(&format!("waivers are files {}/NAME.md of this repository", waiver::FOLDER)))?;
    let text = fs::read_to_string(&whole).map_err(|error| wrong(&error))?;
    Ok(Found::of_text(&path, &text, index).map_err(GateError::from)?)
}
