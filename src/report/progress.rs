//! Owns the progress line: on a terminal only, and only for work over a second.

use std::io::IsTerminal as _;
use std::time::{Duration, Instant};

/// Silence before the first line.
const PATIENCE: Duration = Duration::from_secs(1);

/// Shortest time between two redraws.
const PACE: Duration = Duration::from_millis(100);

/// A line on standard error that counts to a total and is wiped at the end.
pub struct Progress {
    what: &'static str,
    total: usize,
    done: usize,
    started: Instant,
    drawn: Option<Instant>,
    terminal: bool,
}

impl Progress {
    /// Counts `what` to `total`.
    pub fn new(what: &'static str, total: usize) -> Self {
        Progress { what, total, done: 0, started: Instant::now(), drawn: None, terminal: std::io::stderr().is_terminal() }
    }

    /// One more is done.
    pub fn step(&mut self) {
        self.done += 1;
        let now = Instant::now();
        let due = self.drawn.is_none_or(|at| now - at > PACE) && now - self.started > PATIENCE;
        if self.terminal && due {
            self.drawn = Some(now);
            super::err(&format!("\r{} {} of {}\x1b[K", self.what, self.done, self.total));
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if self.drawn.is_some() {
            super::err("\r\x1b[K");
        }
    }
}
