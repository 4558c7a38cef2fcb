//! Owns the wish to end: a signal sets it, everything that waits looks at it, so that processes and folders go before this one does.

use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::trial::TrialError;

static WISHED: AtomicBool = AtomicBool::new(false);
static WATCHING: Once = Once::new();

/// Watches for Ctrl-C, SIGTERM and SIGHUP from now on.
pub fn watch() {
    // Without the handler a signal ends this process at once, and the kernel or the end of its input the worker.
    WATCHING.call_once(|| drop(ctrlc::set_handler(|| WISHED.store(true, Ordering::Relaxed))));
}

/// Looks.
///
/// # Errors
/// [`TrialError::Interrupted`] when a signal came.
pub fn check() -> Result<(), TrialError> {
    if WISHED.load(Ordering::Relaxed) { Err(TrialError::Interrupted) } else { Ok(()) }
}
