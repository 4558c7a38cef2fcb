//! Owns printing: the only room that writes to standard output or error.

mod audit;
mod candidates;
mod demo;
mod freeze;
mod json;
mod listing;
mod page;
mod probe;
mod progress;
mod props;
mod records;
mod screen;
mod setup;
mod status;
mod strength;
mod style;
mod text;

use std::io::{self, BufWriter, IsTerminal as _, Write};

pub use audit::{Told, audit_json, audit_text};
pub use candidates::{
    accepted_text, card_moved, disagreed, far_unknown, other_candidates, other_parent, pinned_already, replayed_json, replayed_text,
};
pub use demo::{demo_command, demo_end, demo_step};
pub use freeze::{
    Made, Refusal, Suite, classified_json, classified_text, closed_text, frozen_list_json, frozen_list_text, frozen_text, kept_at,
    not_frozen, suite_json, suite_text,
};
pub use json::verdict as verdict_json;
pub use listing::{digest_json, folder, partition_json, partition_text};
pub use page::audit_page;
pub use probe::{Shown, probe_text, tree_json, tree_text};
pub use progress::{Counter, Progress};
pub use props::{decided_text, listed_json, listed_text, props_text, settled_json, shrunk_text, to_commit};
pub use records::{
    decided_json, freeze_json, freeze_text, ledger_text, moved_text, pinned_text, promoted_json, promoted_text, settled_text,
    undecided_json,
};
pub use screen::Screen;
pub use setup::{installed, undone};
pub use status::{Frozen, Standing, status_json, status_text};
pub use strength::{card_text, checked_text, delta_text, drafted_text, waivers_text};
pub use style::Style;
pub use text::{plural, verdict as verdict_text};

/// Standard output: what was asked for. A closed pipe is not an error of ours.
pub fn out(text: &str) {
    let mut stdout = io::stdout().lock();
    let _ = stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush());
}

/// The same for bytes.
pub fn out_bytes(bytes: &[u8]) {
    let mut stdout = io::stdout().lock();
    let _ = stdout.write_all(bytes).and_then(|()| stdout.flush());
}

/// Standard output for what is written piece by piece.
///
/// # Errors
/// What `write` says, but for a closed pipe, which is not an error of ours.
pub fn out_by(write: &dyn Fn(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    let mut stdout = BufWriter::new(io::stdout().lock());
    match write(&mut stdout).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(error),
        _ => Ok(()),
    }
}

/// Standard error: verdicts in hooks, notes, faults.
pub fn err(text: &str) {
    let _ = io::stderr().lock().write_all(text.as_bytes());
}

/// One sentence for a fault, on standard error.
pub fn fault(says: &str) {
    err(&format!("seedgate: {}\n", says.trim_end()));
}

/// One line beside the verdict, on standard error, if there is something to say.
pub fn note(says: Option<&str>) {
    if let Some(says) = says {
        err(&format!("seedgate: note: {says}\n"));
    }
}

/// The style for standard output.
pub fn out_style() -> Style {
    Style::detect(io::stdout().is_terminal())
}

/// The style for standard error.
pub fn err_style() -> Style {
    Style::detect(io::stderr().is_terminal())
}

/// Pretty JSON of anything that has a form of its own, with a closing line feed.
pub fn json_of(value: &impl serde::Serialize) -> String {
    serde_json::to_string_pretty(value).unwrap_or_default() + "\n"
}

/// Pretty JSON with a closing line feed.
pub fn json(value: &serde_json::Value) -> String {
    format!("{value:#}\n")
}
