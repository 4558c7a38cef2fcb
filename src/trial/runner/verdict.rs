//! Owns the verdict of a job: the one file that comes back, believed only when it is about this very job.

use serde::Deserialize;

use crate::digest;
use crate::finding::PropId;
use crate::tree::Oid;
use crate::trial::runner::job::Job;
use crate::trial::worker::outcome::{Failure, Refusal};

/// The schema of a verdict.
pub const SCHEMA: &str = "seedgate.job-verdict/1";
/// Largest verdict, in bytes.
pub const CAP: u64 = 64 << 20;

/// What a job came to.
#[derive(Clone, Debug, PartialEq)]
pub struct Verdict {
    /// Its bytes.
    pub bytes: Vec<u8>,
    /// Who ran it: language and version; `None` when nobody could be started.
    pub worker: Option<(String, String)>,
    /// Why runs at the end have no verdict.
    pub refusal: Option<Refusal>,
    /// The runs that were made, in their order.
    pub runs: Vec<Ran>,
}

/// One run.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Ran {
    /// Inputs that ran.
    pub ran: u64,
    /// Those among them that did not meet the property's assumptions.
    pub invalid: u64,
    /// The first that did not say `pass` each time.
    #[serde(default)]
    pub first: Option<First>,
}

impl Ran {
    fn says_as(&self, other: &Ran) -> bool {
        let first = match (&self.first, &other.first) {
            (Some(one), Some(two)) => one.number == two.number && one.again == two.again && one.failure.is_same_way(&two.failure),
            (None, None) => true,
            _ => false,
        };
        first && self.ran == other.ran && self.invalid == other.invalid
    }
}

/// An input that failed.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct First {
    /// Its number in the run, from 0.
    pub number: usize,
    /// Whether it did the same again.
    pub again: bool,
    /// How it failed.
    pub failure: Failure,
}

#[derive(Deserialize)]
struct Read {
    schema: String,
    nonce: String,
    job_sha256: String,
    prop_id: PropId,
    parent: Oid,
    worker: Option<(String, String)>,
    refusal: Option<Refusal>,
    runs: Vec<Ran>,
}

impl Verdict {
    /// Reads a verdict for a job.
    ///
    /// # Errors
    /// In one sentence, why it is none, or none of this job's.
    pub fn read(job: &Job, bytes: Vec<u8>) -> Result<Self, String> {
        let read: Read = serde_json::from_slice(&bytes).map_err(|error| format!("the verdict cannot be read: {error}"))?;
        let own = [
            (read.schema == SCHEMA, "schema"),
            (read.nonce == job.nonce, "nonce"),
            (read.job_sha256 == job.job_sha256, "job"),
            (read.prop_id == job.prop_id, "property"),
            (read.parent == job.parent, "parent"),
        ];
        if let Some((_, what)) = own.iter().find(|(same, _)| !same) {
            return Err(format!("the verdict is that of another job: its {what} is not this one's"));
        }
        check(job, &read)?;
        Ok(Verdict { bytes, worker: read.worker, refusal: read.refusal, runs: read.runs })
    }

    /// SHA-256 of its bytes.
    pub fn sha256(&self) -> String {
        digest::sha256_hex(&self.bytes)
    }

    /// Whether two verdicts say the same of every run: words differ with the version of a language. `None` when one of them says nothing of some.
    pub fn says_as(&self, other: &Verdict) -> Option<bool> {
        if self.refusal.is_some() || other.refusal.is_some() || self.runs.len() != other.runs.len() {
            return None;
        }
        Some(self.runs.iter().zip(&other.runs).all(|(one, two)| one.says_as(two)))
    }

    /// In one word.
    pub fn word(&self) -> &'static str {
        let firsts = || self.runs.iter().filter_map(|run| run.first.as_ref());
        match () {
            () if firsts().any(|first| first.again) => "fail",
            () if firsts().next().is_some() => "flake",
            () if self.refusal.is_some() => "unknown",
            () => "pass",
        }
    }
}

/// Every run is there or a reason why not, and no number is beyond what was asked.
fn check(job: &Job, read: &Read) -> Result<(), String> {
    if read.runs.len() > job.runs.len() || (read.runs.len() < job.runs.len() && read.refusal.is_none()) {
        return Err(format!("the verdict has {} runs of {}", read.runs.len(), job.runs.len()));
    }
    for (run, asked) in read.runs.iter().zip(&job.runs) {
        let ran = usize::try_from(run.ran).unwrap_or(usize::MAX);
        let is_whole = match &run.first {
            Some(first) => first.number + 1 == ran && ran <= *asked,
            None => ran == *asked,
        };
        if !is_whole || run.invalid > run.ran {
            return Err(format!("the verdict tells of {ran} inputs of {asked}"));
        }
    }
    Ok(())
}
