//! Owns weighing the index ahead: what the staged change takes away is in the memo before its commit asks.

use crate::daemon::shared::{QUIET, Shared};
use crate::daemon::warm::ward::Ward;
use crate::gate::facts::Facts;
use crate::gate::facts::memo::Memo;
use crate::gate::run::{self, Subject};

/// Weighs the index. The hook tells anything itself that is not kept, so nothing that goes wrong here is said.
pub(super) fn weigh(ward: &Ward, shared: &Shared) {
    shared.step_aside(QUIET);
    let facts = Facts::layered(Memo::of_user(), None);
    let judged = ward.open().and_then(|repo| run::judge(&repo, &facts, &Subject::Index, &|| ()));
    if judged.is_ok() {
        facts.flush();
    }
}
