//! Owns running a job somewhere: here, behind ssh, or on a server of the Remote Execution API. One job and one outcome for all three.

pub mod bundle;
pub mod duplicate;
pub mod evidence;
pub mod exec;
pub mod far;
pub mod fleet;
pub mod flight;
pub mod job;
pub mod local;
pub mod merkle;
#[cfg(feature = "remote")]
pub mod remote;
pub mod root;
pub mod ssh;
pub mod verdict;

use serde::{Deserialize, Serialize};

use crate::trial::TrialError;
use crate::trial::runner::job::Job;
use crate::trial::runner::verdict::Verdict;

/// Where a job runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Where {
    /// This machine.
    Local,
    /// Another machine, by ssh.
    Ssh,
    /// A server of the Remote Execution API.
    Remote,
}

impl Where {
    /// The word in options and records.
    pub fn name(self) -> &'static str {
        match self {
            Where::Local => "local",
            Where::Ssh => "ssh",
            Where::Remote => "remote",
        }
    }
}

/// Why there is no verdict: that is never a pass, and never a failure of the property.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unknown {
    /// In one word: `no_verdict`, `bad_verdict`, `timeout`, `unavailable`, `secrets`, `refused`, `cancelled`, `digest_mismatch`.
    pub word: &'static str,
    /// In a sentence.
    pub says: String,
}

impl Unknown {
    /// With a word and a sentence.
    pub fn new(word: &'static str, says: impl Into<String>) -> Self {
        Unknown { word, says: says.into() }
    }
}

/// What became of a job on one runner.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The verdict, or why there is none.
    pub verdict: Result<Verdict, Unknown>,
    /// How the job's process ended, when that is known. It decides nothing.
    pub exit: Option<i32>,
    /// The call's own status: `ok`, or the name of what went wrong.
    pub status: String,
    /// Whether somebody remembered it.
    pub is_cached: bool,
    /// What shut it off: `bubblewrap`, `none`, or the server's own affair.
    pub sandbox: Option<&'static str>,
    /// Each attempt, in a few words.
    pub attempts: Vec<String>,
    /// How long it took, with the way there and back.
    pub seconds: f64,
}

impl Outcome {
    /// No verdict.
    pub fn unknown(unknown: Unknown) -> Self {
        let status = unknown.word.to_owned();
        Outcome { verdict: Err(unknown), exit: None, status, is_cached: false, sandbox: None, attempts: Vec::new(), seconds: 0.0 }
    }

    /// Why it says nothing, or not of everything: a word and a sentence.
    pub fn why(&self) -> Option<(&str, &str)> {
        match &self.verdict {
            Ok(verdict) => verdict.refusal.as_ref().map(|refusal| (refusal.kind.as_str(), refusal.message.as_str())),
            Err(unknown) => Some((unknown.word, &unknown.says)),
        }
    }

    /// `pass`, `fail`, `flake` or `unknown`.
    pub fn word(&self) -> &'static str {
        self.verdict.as_ref().map_or("unknown", Verdict::word)
    }
}

/// Somewhere to run jobs.
pub trait Runner: Sync {
    /// Where.
    fn place(&self) -> Where;

    /// Who is asked, in words for the record.
    fn endpoint(&self) -> Option<String>;

    /// One of several that run jobs side by side.
    fn lane(&self) -> Box<dyn Lane + '_>;
}

/// Runs one job after the other.
pub trait Lane {
    /// Runs a job. Whatever goes wrong on the way is an unknown outcome.
    ///
    /// # Errors
    /// Only when somebody wants it to end, or this machine cannot do its part.
    fn run(&mut self, job: &Job) -> Result<Outcome, TrialError>;
}
