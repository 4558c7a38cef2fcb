//! Owns `seedgate.runs/1`: what each runner said of each job, and where two of them differ.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::finding::PropId;
use crate::strength::record;
use crate::tree::Oid;
use crate::trial::TrialError;
use crate::trial::runner::job::Job;
use crate::trial::runner::{Outcome, Runner, Where};

/// Where the record lies.
pub const PATH: &str = ".seedgate/runs.json";
/// The schema.
pub const SCHEMA: &str = "seedgate.runs/1";
/// Largest record that is read, in bytes.
const CAP: u64 = 64 << 20;

/// The record. What a newer writer added is kept when it is written again.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Runs {
    schema: String,
    rows: Vec<Row>,
    #[serde(flatten)]
    others: Map<String, Value>,
}

/// One job on one runner.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// What the job is for.
    pub kind: String,
    /// The property.
    pub prop_id: PropId,
    /// The commit that the tree is held against.
    pub parent: Oid,
    /// The commit whose tree was run.
    pub tree: Oid,
    /// What the job is bound to, by SHA-256: a candidates file, a card.
    #[serde(default)]
    pub bound: BTreeMap<String, String>,
    /// SHA-256 of the order: with runner and endpoint the row's key.
    pub job_sha256: String,
    /// Digests `hash/size` of the Remote Execution API; `null` where a name keeps it from having any.
    pub action: Option<String>,
    /// As above.
    pub command: Option<String>,
    /// As above.
    pub input_root: Option<String>,
    /// What names the toolchain.
    pub toolchain: String,
    /// Where it ran.
    pub runner: Where,
    /// Who was asked.
    pub endpoint: Option<String>,
    /// `bubblewrap` or `none`, where Seedgate itself started the process.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sandbox: Option<String>,
    /// Whether somebody remembered it.
    pub cached: bool,
    /// The call's own status.
    pub status: String,
    /// How the process ended; it decides nothing.
    pub exit: Option<i32>,
    /// Each attempt, in a few words.
    pub attempts: Vec<String>,
    /// `pass`, `fail`, `flake` or `unknown`.
    pub verdict: String,
    /// SHA-256 of the verdict's bytes.
    pub verdict_sha256: Option<String>,
    /// The language that ran it, and its version.
    #[serde(default)]
    pub worker: Option<(String, String)>,
    /// Why there is no verdict.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// Whether it says what this machine said: `agree` or `disagree`; absent where either said nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub beside_local: Option<Beside>,
    #[serde(flatten)]
    others: Map<String, Value>,
}

/// A duplicate beside the run on this machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Beside {
    /// It says the same.
    Agree,
    /// It says something else: nothing is frozen on that.
    Disagree,
}

impl Row {
    /// What a runner said of a job on the tree of a commit.
    pub fn of(job: &Job, tree: &Oid, bound: &BTreeMap<String, String>, runner: &dyn Runner, outcome: &Outcome) -> Self {
        let keys = job.keys.as_ref().ok();
        Row {
            kind: job.kind.name().to_owned(),
            prop_id: job.prop_id.clone(),
            parent: job.parent.clone(),
            tree: tree.clone(),
            bound: bound.clone(),
            job_sha256: job.job_sha256.clone(),
            action: keys.map(|keys| keys.action.shown()),
            command: keys.map(|keys| keys.command.shown()),
            input_root: keys.map(|keys| keys.input_root.shown()),
            toolchain: job.toolchain.clone(),
            runner: runner.place(),
            endpoint: runner.endpoint(),
            sandbox: outcome.sandbox.map(str::to_owned),
            cached: outcome.is_cached,
            status: outcome.status.clone(),
            exit: outcome.exit,
            attempts: outcome.attempts.clone(),
            verdict: outcome.word().to_owned(),
            verdict_sha256: outcome.verdict.as_ref().ok().map(super::verdict::Verdict::sha256),
            worker: outcome.verdict.as_ref().ok().and_then(|verdict| verdict.worker.clone()),
            why: outcome.why().map(|(word, says)| format!("{word}: {says}")),
            beside_local: None,
            others: Map::new(),
        }
    }

    fn key(&self) -> (&str, Where, Option<&str>) {
        (&self.job_sha256, self.runner, self.endpoint.as_deref())
    }

    /// What is the same experiment, whoever runs it.
    fn subject(&self) -> (&str, &PropId, &Oid, &Oid) {
        (&self.kind, &self.prop_id, &self.parent, &self.tree)
    }
}

impl Default for Runs {
    fn default() -> Self {
        Runs { schema: SCHEMA.to_owned(), rows: Vec::new(), others: Map::new() }
    }
}

impl Runs {
    /// The record at a path; an empty one where there is none. No link is followed.
    ///
    /// # Errors
    /// [`TrialError::Input`] when it is too large or no record.
    pub fn read(path: &Path) -> Result<Self, TrialError> {
        let wrong = |why: String| TrialError::input(path, why);
        let bytes = record::read_known(path, CAP).map_err(|why| wrong(format!("{why}; name another file with --runs")))?;
        bytes.map_or_else(|| Ok(Runs::default()), |bytes| Self::parse(&bytes)).map_err(wrong)
    }

    fn parse(bytes: &[u8]) -> Result<Self, String> {
        #[derive(Deserialize)]
        struct Head {
            schema: String,
        }
        let unfit = |error: serde_json::Error| format!("not a {SCHEMA} file: {error}");
        let head: Head = serde_json::from_slice(bytes).map_err(unfit)?;
        if head.schema != SCHEMA {
            return Err(format!("the file has schema {:?}, this program reads {SCHEMA:?}", head.schema));
        }
        serde_json::from_slice(bytes).map_err(unfit)
    }

    /// Adds rows to the record at a path, each once: read, changed and put in place while no other process may.
    ///
    /// # Errors
    /// When the record cannot be read or written.
    pub fn add(path: &Path, rows: &[Row]) -> Result<(), TrialError> {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        fs::create_dir_all(folder).map_err(TrialError::disk(folder))?;
        let lock = File::open(folder).map_err(TrialError::disk(folder))?;
        lock.lock().map_err(TrialError::disk(folder))?;
        let mut runs = Runs::read(path)?;
        rows.iter().for_each(|row| runs.put(row.clone()));
        let text = serde_json::to_string_pretty(&runs).unwrap_or_default() + "\n";
        Ok(record::replace(path, text.as_bytes())?)
    }

    fn put(&mut self, row: Row) {
        match self.rows.iter_mut().find(|known| known.key() == row.key()) {
            Some(known) => *known = row,
            None => self.rows.push(row),
        }
    }

    /// The rows, in the order in which they came.
    pub fn rows(&self) -> &[Row] {
        &self.rows
    }

    /// The SHA-256 of another candidates file that the same property was already run on, on the same parent.
    pub fn other_candidates(&self, prop_id: &PropId, parent: &Oid, sha256: &str) -> Option<&str> {
        let mut known = self.rows.iter().filter(|row| row.prop_id == *prop_id && row.parent == *parent);
        known.find_map(|row| row.bound.get("candidates").map(String::as_str).filter(|other| *other != sha256))
    }

    /// Ids of properties on which this machine and another one said different things, and have not agreed since.
    pub fn disagreeing(&self) -> BTreeSet<&PropId> {
        let mut last: BTreeMap<_, (&PropId, Beside)> = BTreeMap::new();
        for row in &self.rows {
            if let Some(beside) = row.beside_local {
                last.insert(row.subject(), (&row.prop_id, beside));
            }
        }
        last.into_values().filter(|(_, beside)| *beside == Beside::Disagree).map(|(id, _)| id).collect()
    }
}

#[cfg(test)]
mod tests;
