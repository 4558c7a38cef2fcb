//! Owns which side of a change a path is on.

use crate::settings::Settings;
use crate::tree::RepoPath;

/// The side of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Side {
    /// Seedgate's own policy.
    Policy,
    /// Seedgate's own records and waivers.
    Record,
    /// Bytes that tests load.
    Fixture,
    /// The test runner's configuration.
    Harness,
    /// Test code.
    Test,
    /// Never mixes.
    Neutral,
    /// Everything else.
    Production,
}

impl Side {
    /// Whether the side counts as tests when a commit is partitioned.
    pub fn is_test_side(self) -> bool {
        matches!(self, Side::Fixture | Side::Harness | Side::Test)
    }
}

/// Compiled globs.
pub struct Sides {}

impl Sides {
    /// Compiles the policy's globs (already checked by `Settings::parse`).
    pub fn new(_settings: &Settings) -> Self {
        Sides {}
    }

    /// The side of a path.
    pub fn side(&self, _path: &RepoPath) -> Side {
        Side::Production
    }

    /// Whether every function of the file counts as a property.
    pub fn is_property_path(&self, _path: &RepoPath) -> bool {
        false
    }
}

/// The paths of a change by side.
pub struct Partition {}

impl Partition {
    /// Sorts the changes.
    pub fn of(_changes: &[crate::tree::Change], _sides: &Sides) -> Self {
        Partition {}
    }

    /// The paths of a side.
    pub fn paths(&self, _side: Side) -> Vec<&RepoPath> {
        Vec::new()
    }

    /// The refusal when production and test paths are mixed.
    pub fn mixed(&self) -> Option<crate::finding::Finding> {
        None
    }
}
