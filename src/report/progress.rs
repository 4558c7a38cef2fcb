//! Owns the progress line: on a terminal only, and only for work over a second.

use std::io::IsTerminal as _;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Silence before the first line.
const PATIENCE: Duration = Duration::from_secs(1);

/// Shortest time between two redraws.
const PACE: Duration = Duration::from_millis(100);

/// Width of the bar.
const BAR: usize = 24;

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
            super::err(&format!("\r{}\x1b[K", line(self.what, drawn.done, self.total, now - self.started)));
        }
    }
}

/// How far it is, and how long it will take if it goes on like this.
fn line(what: &str, done: usize, total: usize, took: Duration) -> String {
    let full = (BAR.saturating_mul(done) / total.max(1)).min(BAR);
    let each = took.checked_div(u32::try_from(done).unwrap_or(u32::MAX)).unwrap_or_default();
    let left = each.saturating_mul(u32::try_from(total.saturating_sub(done)).unwrap_or(u32::MAX)).as_secs();
    let (bar, rest) = ("#".repeat(full), "-".repeat(BAR - full));
    format!("{what} [{bar}{rest}] {done} of {total}, {left} s left")
}

impl Drop for Progress {
    fn drop(&mut self) {
        let drawn = self.drawn.get_mut().unwrap_or_else(PoisonError::into_inner);
        if drawn.at.is_some() {
            super::err("\r\x1b[K");
        }
    }
}

/// The same for many small steps: it also tells how many a second.
pub struct Counter {
    what: &'static str,
    started: Instant,
    terminal: bool,
    drawn: Mutex<(u64, Drawn)>,
}

impl Counter {
    /// Counts `what`; to how many is told later.
    pub fn new(what: &'static str) -> Self {
        Counter { what, started: Instant::now(), terminal: std::io::stderr().is_terminal(), drawn: Mutex::default() }
    }

    /// So many there will be.
    pub fn total(&self, total: u64) {
        self.drawn.lock().unwrap_or_else(PoisonError::into_inner).0 = total;
    }

    /// So many more are done.
    pub fn add(&self, count: u64) {
        let mut guard = self.drawn.lock().unwrap_or_else(PoisonError::into_inner);
        let (total, drawn) = &mut *guard;
        drawn.done = drawn.done.saturating_add(usize::try_from(count).unwrap_or(usize::MAX));
        let now = Instant::now();
        let due = drawn.at.is_none_or(|at| now - at > PACE) && now - self.started > PATIENCE;
        if self.terminal && due {
            drawn.at = Some(now);
            let (took, total) = (now - self.started, usize::try_from(*total).unwrap_or(usize::MAX));
            let text = line(self.what, drawn.done, total, took);
            super::err(&format!("\r{text}, {} a second\x1b[K", rate(drawn.done, took)));
        }
    }
}

impl Drop for Counter {
    fn drop(&mut self) {
        if self.drawn.get_mut().unwrap_or_else(PoisonError::into_inner).1.at.is_some() {
            super::err("\r\x1b[K");
        }
    }
}

/// What was done in a second; slow work is told by tenths.
fn rate(done: usize, took: Duration) -> String {
    let tenths = done as u128 * 10_000 / took.as_millis().max(1);
    if tenths < 100 { format!("{}.{}", tenths / 10, tenths % 10) } else { (tenths / 10).to_string() }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{line, rate};

    #[test]
    fn the_rate_is_what_was_done_in_a_second() {
        assert_eq!(rate(50_000, Duration::from_millis(2500)), "20000");
        assert_eq!(rate(7, Duration::ZERO), "7000");
        assert_eq!(rate(7, Duration::from_secs(2)), "3.5");
    }

    #[test]
    fn the_line_tells_how_far_it_is_and_how_long_it_takes() {
        for (done, total, text) in [
            (1, 4, "commits judged: [######------------------] 1 of 4, 30 s left"),
            (4, 4, "commits judged: [########################] 4 of 4, 0 s left"),
            (5, 4, "commits judged: [########################] 5 of 4, 0 s left"),
            (0, 0, "commits judged: [------------------------] 0 of 0, 0 s left"),
        ] {
            assert_eq!(line("commits judged:", done, total, Duration::from_secs(10)), text);
        }
    }
}
