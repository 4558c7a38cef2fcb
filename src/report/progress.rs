//! Owns the progress line: on a terminal only, and only for work over a second.

use std::io::IsTerminal as _;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Silence before the first line.
const PATIENCE: Duration = Duration::from_secs(1);

/// Shortest time between two redraws.
const PACE: Duration = Duration::from_millis(100);

/// A line on standard error that counts to a total, from any thread, and is wiped at the end.
pub struct Progress {
    what: &'static str,
    total: usize,
    started: Instant,
    terminal: bool,
    drawn: Mutex<Drawn>,
}

#[derive(Default)]
struct Drawn {
    done: usize,
    at: Option<Instant>,
}

impl Progress {
    /// Counts `what` to `total`.
    pub fn new(what: &'static str, total: usize) -> Self {
        Progress { what, total, started: Instant::now(), terminal: std::io::stderr().is_terminal(), drawn: Mutex::default() }
    }

    /// One more is done.
    pub fn step(&self) {
        let mut drawn = self.drawn.lock().unwrap_or_else(PoisonError::into_inner);
        drawn.done += 1;
        let now = Instant::now();
        let due = drawn.at.is_none_or(|at| now - at > PACE) && now - self.started > PATIENCE;
        if self.terminal && due {
            drawn.at = Some(now);
            super::err(&format!("\r{} {} of {}\x1b[K", self.what, drawn.done, self.total));
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        let drawn = self.drawn.get_mut().unwrap_or_else(PoisonError::into_inner);
        if drawn.at.is_some() {
            super::err("\r\x1b[K");
        }
    }
}
