//! Owns the runner of this machine.

use std::fs;
use std::path::Path;

use crate::trial::TrialError;
use crate::trial::runner::exec::Engine;
use crate::trial::runner::job::{Job, Kind};
use crate::trial::runner::verdict::Verdict;
use crate::trial::runner::{Lane, Outcome, Runner, Unknown, Where};
use crate::trial::trees::Trees;

/// Runs jobs here.
pub struct Local {
    engine: Engine,
    trees: Trees,
}

impl Local {
    /// With an engine.
    ///
    /// # Errors
    /// When there is no place for trees.
    pub fn new(engine: Engine) -> Result<Self, TrialError> {
        Ok(Local { engine, trees: Trees::of_user()? })
    }

    /// The word for what shuts jobs off.
    pub fn sandbox(&self) -> &'static str {
        self.engine.sandbox()
    }

    fn job(&self, job: &Job) -> Result<Outcome, TrialError> {
        // A tree with a planted fault is used once, and tests may write into theirs.
        let lease = if job.kind == Kind::Probe { self.trees.copy(&*job.root) } else { self.trees.lease(&*job.root) }?;
        let scratch = tempfile::Builder::new().prefix("seedgate-").tempdir().map_err(TrialError::disk("a temporary folder"))?;
        let folder = scratch.path().canonicalize().map_err(TrialError::disk(scratch.path()))?;
        for (name, bytes) in &job.files {
            write(&folder.join(name), bytes)?;
        }
        let left = self.engine.run(lease.path(), &folder, job.limits.total, &|| {
            lease.touch();
            true
        })?;
        let (exit, ended) = (left.exit(), left.ended.clone());
        let verdict = left.verdict.and_then(|bytes| Verdict::read(job, bytes).map_err(|says| Unknown::new("bad_verdict", says)));
        let status = verdict.as_ref().map_or_else(|unknown| unknown.word, |_| "ok").to_owned();
        Ok(Outcome { verdict, exit, status, is_cached: false, sandbox: Some(self.sandbox()), attempts: vec![ended], seconds: 0.0 })
    }
}

fn write(file: &Path, bytes: &[u8]) -> Result<(), TrialError> {
    let folder = file.parent().unwrap_or(file);
    fs::create_dir_all(folder).and_then(|()| fs::write(file, bytes)).map_err(TrialError::disk(file))
}

impl Runner for Local {
    fn place(&self) -> Where {
        Where::Local
    }

    fn endpoint(&self) -> Option<String> {
        None
    }

    fn lane(&self) -> Box<dyn Lane + '_> {
        Box::new(Here(self))
    }
}

struct Here<'a>(&'a Local);

impl Lane for Here<'_> {
    fn run(&mut self, job: &Job) -> Result<Outcome, TrialError> {
        self.0.job(job)
    }
}
