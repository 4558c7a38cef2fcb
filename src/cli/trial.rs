//! What every command that runs project code takes: the candidate, the seeds, the worker.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::cli::{Failure, ledger as command};
use crate::finding::{Exit, PropId};
use crate::repo::Repo;
use crate::tree::{Oid, Tree};
use crate::trial::trees::{self, Part};
use crate::trial::worker::{Config, process};
use crate::witness::value::Input;
use crate::witness::{ledger, promote};

/// Where the seed list lies.
pub(super) const SEEDS: &str = ".seedgate/seeds.txt";

/// Where the record of a run lies.
pub(super) const PROPS: &str = ".seedgate/props.json";

/// Longest seed list, in bytes.
const SEEDS_CAP: u64 = 16 << 20;

/// What runs the properties.
#[derive(clap::Args)]
pub(super) struct WorkerArgs {
    /// The interpreter, with the project's dependencies: a name on PATH or a path [default: `[worker] python`, else python3].
    #[arg(long, value_name = "PROGRAM")]
    python: Option<String>,
    /// How long one input may take, in seconds.
    #[arg(long, value_name = "SECONDS", default_value = "10", value_parser = seconds)]
    limit: Duration,
    /// Most memory of a worker, in MiB.
    #[arg(long, value_name = "MIB", default_value_t = 4096, value_parser = clap::value_parser!(u64).range(64..=1 << 30))]
    memory: u64,
}

/// The change under judgement.
#[derive(clap::Args)]
pub(super) struct Candidate {
    /// The commit under judgement.
    #[arg(long, value_name = "REV", default_value = "HEAD")]
    patch: String,
    /// What it is held against: where it and REV last met [default: `[merge] target` of the policy, else its first parent].
    #[arg(long, value_name = "REV")]
    base: Option<String>,
    /// Lay only the production side of the change over the base, so that the base's own tests judge it; or all of it.
    #[arg(long, value_name = "PART", default_value = "production-only", value_parser = ["production-only", "full"])]
    tree: String,
}

/// Both ends of a candidate.
pub(super) struct Ends {
    /// The commit it is laid over.
    pub(super) base: Oid,
    /// The commit under judgement.
    pub(super) patch: Oid,
}

impl WorkerArgs {
    /// How properties are run here; the policy is the base's.
    pub(super) fn config(&self, repo: &Repo, base: &dyn Tree) -> Result<Config, Failure> {
        let (program, path) = interpreter(repo, base, self.python.as_deref())?;
        Ok(Config { program, path, limit: self.limit, memory: self.memory << 20 })
    }
}

impl Candidate {
    /// Which part of it is laid over the base.
    pub(super) fn part(&self) -> Part {
        if self.tree == Part::Full.name() { Part::Full } else { Part::ProductionOnly }
    }

    /// Its ends.
    pub(super) fn ends(&self, repo: &Repo) -> Result<Ends, Failure> {
        let patch = repo.resolve(&self.patch)?;
        Ok(Ends { base: base(repo, self.base.as_deref(), &self.patch, &patch)?, patch })
    }
}

/// What a candidate, as it was named and as it is, is held against.
pub(super) fn base(repo: &Repo, named: Option<&str>, shown: &str, head: &Oid) -> Result<Oid, Failure> {
    let named = match named {
        Some(named) => Some(named.to_owned()),
        None => trees::policy(&repo.tree(Some(head))?)?.merge_target.filter(|target| repo.resolve(target).is_ok()),
    };
    let Some(named) = named else {
        let first = repo.commit(head)?.parents.into_iter().next();
        return first.ok_or_else(|| missing(format!("{shown} has no parent to be held against; name one with --base")));
    };
    let met = repo.merge_base(&repo.resolve(&named)?, head)?;
    met.ok_or_else(|| missing(format!("{named} and {shown} have no common commit")))
}

/// The interpreter, and the folders that modules are imported from; the policy is that of a tree.
pub(super) fn interpreter(repo: &Repo, tree: &dyn Tree, named: Option<&str>) -> Result<(PathBuf, Vec<String>), Failure> {
    let worker = trees::policy(tree)?.worker;
    let top = repo.top().map_or_else(|| repo.git_dir().to_path_buf(), Path::to_path_buf);
    let cwd = std::env::current_dir().unwrap_or_else(|_| top.clone());
    let program = match (named, &worker.python) {
        (Some(named), _) => process::find(named, &cwd)?,
        (None, Some(named)) => process::find(named, &top)?,
        (None, None) => process::find("python3", &top)?,
    };
    Ok((program, worker.path.unwrap_or_else(|| vec![String::new(), "src".to_owned()])))
}

/// A record's place at the top of the work tree, wherever in it the user stands.
pub(super) fn at_top(repo: &Repo, path: &str) -> PathBuf {
    let here = std::env::current_dir().ok();
    match repo.top() {
        Some(top) if here.as_deref() != Some(top) => top.join(path),
        _ => PathBuf::from(path),
    }
}

/// A path for people.
pub(super) fn shown(path: &Path) -> String {
    crate::gate::folder::shown(path)
}

/// Makes the folder that a record goes into.
pub(super) fn make_folder(path: &Path) -> Result<(), Failure> {
    let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) else { return Ok(()) };
    fs::create_dir_all(folder).map_err(|error| Failure { exit: Exit::Fault, says: format!("{}: {error}", folder.display()) })
}

fn missing(says: String) -> Failure {
    Failure { exit: Exit::Unreadable, says }
}

/// Reads a seed list: a whole number a line; empty lines and what follows `#` do not count.
pub(super) fn seeds(path: &Path) -> Result<Vec<u64>, Failure> {
    let wrong = |says: String| Failure { exit: Exit::Unreadable, says: format!("{}: {says}", path.display()) };
    let found = fs::metadata(path).map_err(|error| wrong(format!("{error}; a seed list has one whole number a line")))?;
    if !found.is_file() {
        return Err(wrong("it is no regular file".to_owned()));
    }
    let size = found.len();
    if size > SEEDS_CAP {
        return Err(wrong(format!("it has {size} bytes, more than the {SEEDS_CAP} that are read")));
    }
    let text = fs::read_to_string(path).map_err(|error| wrong(error.to_string()))?;
    let mut seeds = Vec::new();
    for (at, line) in text.lines().enumerate() {
        let line = line.split('#').next().unwrap_or_default().trim();
        if !line.is_empty() {
            seeds.push(line.parse().map_err(|_| wrong(format!("line {}: {line:?} is no whole number below 2^64", at + 1)))?);
        }
    }
    if seeds.is_empty() { Err(wrong("it holds no seed".into())) } else { Ok(seeds) }
}

/// Seeds that nobody wrote down before.
pub(super) fn fresh(count: u64) -> Vec<u64> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let start = u64::try_from(now.as_nanos() & u128::from(u64::MAX >> 1)).unwrap_or_default();
    (0..count).map(|n| start.wrapping_add(n)).collect()
}

/// The promoted witnesses of both ends: one that the candidate deletes is run all the same.
pub(super) fn promoted(repo: &Repo, ends: &Ends) -> Result<Vec<(PropId, String, Input)>, Failure> {
    let mut found: Vec<(PropId, String, Input)> = Vec::new();
    for end in [&ends.patch, &ends.base] {
        let witnesses = promote::load(&repo.tree(Some(end))?).map_err(|error| missing(error.to_string()))?;
        for (path, witness) in witnesses {
            let is_known = found.iter().any(|(id, _, input)| *id == witness.property && *input == witness.shrunk);
            if !is_known {
                found.push((witness.property, path.to_string(), witness.shrunk));
            }
        }
    }
    Ok(found)
}

/// Names what moved since the pin, which stops everything. `None` when nothing did, or there is no ledger or no pin.
pub(super) fn moved(repo: &Repo, ledger: &Path, commit: &Oid) -> Result<Option<Exit>, Failure> {
    ledger::read(ledger)?.map_or(Ok(None), |ledger| command::moved(repo, &ledger, commit))
}

/// Reads a number of seconds.
pub(super) fn seconds(text: &str) -> Result<Duration, String> {
    let seconds: f64 = text.parse().map_err(|_| format!("{text:?} is no number of seconds"))?;
    if (0.01..=86_400.0).contains(&seconds) { Ok(Duration::from_secs_f64(seconds)) } else { Err("from 0.01 to 86400 seconds".to_owned()) }
}
