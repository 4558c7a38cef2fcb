//! `seedgate audit`: what the gate would have said of the project's own history.

use std::fs;
use std::path::PathBuf;

use crate::cli::{self, Failure, open};
use crate::finding::Exit;
use crate::gate::GateError;
use crate::gate::audit::{self, Audit, AuditError, Scope};
use crate::gate::facts::Facts;
use crate::repo::Repo;
use crate::report::{self, Told};
use crate::settings::Settings;
use crate::strength::record;

/// Try the rules on the project's own history before enforcing them.
#[derive(clap::Args)]
#[command(
    after_help = "Every commit is judged by one policy, that of the newest: the question is what today's rules would say. Nothing is refused.

Examples:
  seedgate audit                                   the last 300 commits
  seedgate audit --last 5000 --html audit.html     one page to look at, without network
  seedgate audit --base v1.0                       v1.0..HEAD
  seedgate audit --config .seedgate/config.toml    by a draft that is not committed yet
  seedgate audit --json                            for machines (seedgate.audit/1)

Exit codes: 0 whatever was found (it is a report), 64 wrong usage, 65 the policy cannot be read, 70 fault."
)]
pub(super) struct Args {
    /// The newest N commits that the head reaches.
    #[arg(long, value_name = "N", default_value_t = 300, value_parser = clap::value_parser!(u32).range(1..), conflicts_with = "base")]
    last: u32,
    /// Every commit of REV..HEAD instead.
    #[arg(long, value_name = "REV")]
    base: Option<String>,
    /// Where the history ends.
    #[arg(long, value_name = "REV", default_value = "HEAD")]
    head: String,
    /// Judge by this draft of a policy, and not by that of the head.
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Print seedgate.audit/1.
    #[arg(long)]
    json: bool,
    /// Also draw it, as one page of HTML.
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Compute every fact here: ask no memo.
    #[arg(long)]
    cold: bool,
}

impl From<AuditError> for Failure {
    fn from(error: AuditError) -> Self {
        match error {
            AuditError::Gate(error) => error.into(),
            AuditError::Rows(_) => Failure { exit: Exit::Fault, says: error.to_string() },
        }
    }
}

pub(super) fn run(args: &Args) -> Result<Exit, Failure> {
    let repo = open()?;
    let facts = if args.cold { Facts::cold() } else { cli::remembered() }.holding(audit::FACTS);
    let (scope, commits) = scope(&repo, args)?;
    let policy = policy(args, &scope);
    let told = Told { commits: &commits, policy: &policy, project: &project(&repo) };
    let audit = work(&repo, &facts, scope, args)?;
    if let Some(path) = &args.html {
        record::replace_by(path, &|file| report::audit_page(&audit, &told, file))?;
    }
    if args.json {
        report::out_by(&|out| report::audit_json(&audit, &told, out)).map_err(AuditError::from)?;
    } else {
        report::out(&report::audit_text(&audit, &told, report::out_style()));
    }
    facts.flush();
    Ok(Exit::Clear)
}

fn work(repo: &Repo, facts: &Facts, scope: Scope, args: &Args) -> Result<Audit, Failure> {
    let progress = report::Progress::new("commits audited:", scope.commits.len());
    let audit = audit::run(repo, facts, scope, args.json || args.html.is_some(), &|| progress.step())?;
    drop(progress);
    if audit.distrusted {
        report::fault("a stored fact was wrong and is gone; everything was judged again without any");
    }
    Ok(audit)
}

fn scope(repo: &Repo, args: &Args) -> Result<(Scope, String), Failure> {
    let unborn = args.head == "HEAD" && repo.head()?.is_none();
    let head = if unborn { None } else { Some(repo.resolve(&args.head)?) };
    let commits = match (&head, &args.base) {
        (None, _) => Vec::new(),
        (Some(head), Some(base)) => repo.range(&repo.resolve(base)?, head)?,
        (Some(head), None) => repo.recent(head, usize::try_from(args.last).unwrap_or(usize::MAX))?,
    };
    let what = match (&head, &args.base) {
        (None, _) => "a branch that is not born yet".to_owned(),
        (Some(_), Some(base)) => format!("{base}..{}", args.head),
        (Some(_), None) => format!("the last {} of {}", args.last, args.head),
    };
    let draft = args.config.as_ref().map(draft).transpose()?;
    Ok((Scope::of(repo, head.as_ref(), commits, draft)?, what))
}

fn draft(path: &PathBuf) -> Result<Settings, Failure> {
    let name = path.display().to_string();
    let bytes = fs::read(path).map_err(|error| Failure { exit: Exit::Unreadable, says: format!("{name}: {error}") })?;
    Ok(audit::draft(&name, &bytes).map_err(GateError::from)?)
}

fn policy(args: &Args, scope: &Scope) -> String {
    match (&args.config, scope.settings == Settings::default()) {
        (Some(path), _) => format!("the draft {}", path.display()),
        (None, true) => format!("the default policy: {} has no other", args.head),
        (None, false) => format!("the policy of {}", args.head),
    }
}

fn project(repo: &Repo) -> String {
    let folder = repo.top().or_else(|| repo.common_dir().parent()).and_then(|top| top.file_name());
    folder.map_or_else(String::new, |name| name.to_string_lossy().into_owned())
}
