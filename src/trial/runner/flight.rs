//! Owns many jobs at once: so many in flight, each result in its own place, once.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Instant;

use crate::trial::TrialError;
use crate::trial::runner::job::Job;
use crate::trial::runner::{Outcome, Runner};

/// Runs independent jobs, at most `most` at a time; the outcomes are in the jobs' order. `told` hears of each.
///
/// # Errors
/// The first error of a lane; then no further job is begun.
pub fn all(runner: &dyn Runner, jobs: &[Job], most: usize, told: &(dyn Fn() + Sync)) -> Result<Vec<Outcome>, TrialError> {
    let next = AtomicUsize::new(0);
    let (done, failed) = (Mutex::new(Vec::new()), Mutex::new(None));
    let lane = || {
        let mut lane = runner.lane();
        while let Some((at, job)) = claim(&next, jobs) {
            let start = Instant::now();
            match lane.run(job).map(|outcome| Outcome { seconds: start.elapsed().as_secs_f64(), ..outcome }) {
                Ok(outcome) => done.lock().unwrap_or_else(PoisonError::into_inner).push((at, outcome)),
                Err(error) => {
                    next.store(jobs.len(), Ordering::Relaxed);
                    failed.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
                    return;
                }
            }
            told();
        }
    };
    thread::scope(|scope| (0..most.clamp(1, jobs.len().max(1))).for_each(|_| drop(scope.spawn(lane))));
    if let Some(error) = failed.into_inner().unwrap_or_else(PoisonError::into_inner) {
        return Err(error);
    }
    let mut done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    done.sort_by_key(|(at, _)| *at);
    Ok(done.into_iter().map(|(_, outcome)| outcome).collect())
}

fn claim<'j>(next: &AtomicUsize, jobs: &'j [Job]) -> Option<(usize, &'j Job)> {
    let at = next.fetch_add(1, Ordering::Relaxed);
    jobs.get(at).map(|job| (at, job))
}
