//! Owns one call: its deadline, somebody's wish to end, and what its failure means.

use std::future::Future;
use std::pin::pin;
use std::time::{Duration, Instant};

use tokio::time::timeout;
use tonic::{Code, Status};

use crate::trial::runner::Unknown;
use crate::trial::{TrialError, interrupt};

/// Longest time for one call that is no execution.
pub(super) const CALL: Duration = Duration::from_secs(10);
/// How often it is looked whether somebody wants it to end.
const TICK: Duration = Duration::from_millis(50);

/// When a job must be done, whatever is tried again.
pub(super) struct Clock {
    pub(super) end: Instant,
}

/// Why a call came to nothing.
#[derive(Debug, thiserror::Error)]
pub(super) enum Trouble {
    /// Somebody wants it to end.
    #[error("interrupted")]
    Interrupted,
    /// The job's time is over.
    #[error("the time for the job is over")]
    Deadline,
    /// It may go better another time.
    #[error("{0}")]
    Passing(String),
    /// The server has not what it was sent, or has it no more.
    #[error("a blob is missing there: {0}")]
    Missing(String),
    /// It will not go better: a word for the record, and a sentence.
    #[error("{1}")]
    Final(&'static str, String),
}

impl Trouble {
    pub(super) fn is_final(&self) -> bool {
        matches!(self, Trouble::Interrupted | Trouble::Deadline | Trouble::Final(..))
    }

    /// The outcome it makes.
    pub(super) fn unknown(self) -> Result<Unknown, TrialError> {
        let says = self.to_string();
        match self {
            Trouble::Interrupted => Err(TrialError::Interrupted),
            Trouble::Deadline => Ok(Unknown::new("timeout", says)),
            Trouble::Passing(_) | Trouble::Missing(_) => Ok(Unknown::new("unavailable", says)),
            Trouble::Final(word, _) => Ok(Unknown::new(word, says)),
        }
    }

    /// Of a call's status.
    pub(super) fn of(status: &Status) -> Self {
        Self::of_code(status.code(), status.message())
    }

    /// Of a status code, wherever it stood.
    pub(super) fn of_code(code: Code, message: &str) -> Self {
        let message: String = message.chars().filter(|c| !c.is_control()).take(300).collect();
        let says = format!("{code:?}: {message}");
        match code {
            Code::Ok
            | Code::Unavailable
            | Code::Unknown
            | Code::ResourceExhausted
            | Code::Internal
            | Code::Aborted
            | Code::Cancelled
            | Code::DataLoss => Trouble::Passing(says),
            Code::DeadlineExceeded => Trouble::Final("timeout", says),
            Code::NotFound | Code::FailedPrecondition => Trouble::Missing(says),
            Code::InvalidArgument
            | Code::AlreadyExists
            | Code::OutOfRange
            | Code::Unimplemented
            | Code::PermissionDenied
            | Code::Unauthenticated => Trouble::Final("refused", says),
        }
    }
}

impl Clock {
    /// A call that must be done in a moment.
    pub(super) async fn call<T>(&self, call: impl Future<Output = Result<T, Status>>) -> Result<T, Trouble> {
        self.call_for(0, call).await
    }

    /// A call that sends so many bytes: a slow line has a second for each 256 KiB.
    pub(super) async fn call_for<T>(&self, bytes: usize, call: impl Future<Output = Result<T, Status>>) -> Result<T, Trouble> {
        let limit = CALL + Duration::from_secs((bytes >> 18) as u64);
        let end = self.end.min(Instant::now() + limit);
        match wait(end, call).await? {
            Some(done) => done.map_err(|status| Trouble::of(&status)),
            None if end == self.end => Err(Trouble::Deadline),
            None => Err(Trouble::Passing(format!("no answer within {} s", limit.as_secs()))),
        }
    }
}

/// Waits for something until a moment; `None` when that is past.
pub(super) async fn wait<T>(end: Instant, work: impl Future<Output = T>) -> Result<Option<T>, Trouble> {
    let mut work = pin!(work);
    loop {
        if let Ok(done) = timeout(TICK, work.as_mut()).await {
            return Ok(Some(done));
        }
        interrupt::check().map_err(|_| Trouble::Interrupted)?;
        if Instant::now() >= end {
            return Ok(None);
        }
    }
}

/// Waits before another attempt.
pub(super) fn nap(time: Duration) -> Result<(), TrialError> {
    let end = Instant::now() + time;
    while Instant::now() < end {
        interrupt::check()?;
        std::thread::sleep(TICK.min(time));
    }
    Ok(())
}
