//! Owns the two files between seedgate and its pytest plugin: the order, and the report that carries its nonce back.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Read as _;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::trial::suite::{TestOutcome, TestRun};

/// Largest report that is read, in bytes.
const CAP: u64 = 512 << 20;

/// What the plugin is asked for besides what each test came to.
#[derive(Clone, Debug, Default, Serialize)]
#[expect(clippy::struct_excessive_bools, reason = "each is a field of the order's JSON")]
pub struct Order {
    /// Runs in one process and without line counters of others.
    pub probe: bool,
    /// Stops at the first test that fails.
    pub stop: bool,
    /// Only these tests, in this order.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub only: Option<Vec<String>>,
    /// Only these test files are collected.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub files: Option<Vec<String>>,
    /// Lines of files of the tree: which tests run them?
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lines: Option<BTreeMap<String, Vec<u32>>>,
    /// Mutants are handed over on a socket once everything is collected.
    #[serde(skip)]
    pub serve: bool,
    /// Runs all tests first, in a fork.
    pub twin: bool,
}

/// The order on its way.
#[derive(Serialize)]
pub(super) struct Sent<'a> {
    pub(super) nonce: &'a str,
    pub(super) root: &'a str,
    pub(super) report: &'a str,
    pub(super) serve: Option<&'a str>,
    #[serde(flatten)]
    pub(super) order: &'a Order,
}

/// What the plugin saw.
#[derive(Debug, Default, Deserialize)]
pub struct Report {
    nonce: String,
    /// pytest's exit code.
    pub exit: Option<i32>,
    /// Id, outcome, seconds, the failure in a line.
    tests: Vec<(String, TestOutcome, f64, String)>,
    /// What could not be collected.
    pub errors: Vec<Broken>,
    /// Programs and versions.
    pub tools: BTreeMap<String, String>,
    /// Loaded modules and their files.
    pub modules: Vec<(String, String)>,
    /// Folders of the interpreter.
    pub homes: Vec<String>,
    /// Files of the tree that were loaded before anybody looked.
    pub early: Vec<String>,
    /// The tests by their numbers, from 1.
    pub ids: Vec<String>,
    /// For each fixture that tests share (-1, -2, …), the tests that ask for it.
    pub shared: Vec<Vec<u32>>,
    /// By file and line: who ran it; 0 is what came before the first test.
    pub lines: BTreeMap<String, Vec<(u32, Vec<i64>)>>,
}

/// What could not be collected.
#[derive(Debug, Deserialize)]
pub struct Broken {
    /// The file or folder.
    #[serde(rename = "where")]
    pub place: String,
    /// `collection`, `import` or `internal`.
    pub kind: String,
    /// In a line.
    pub says: String,
}

impl Report {
    /// Reads the report at a path; `None` when there is none that answers this order.
    pub(super) fn read(path: &Path, nonce: &str) -> Option<Self> {
        if !fs::symlink_metadata(path).ok()?.is_file() {
            return None;
        }
        let mut bytes = Vec::new();
        File::open(path).ok()?.take(CAP).read_to_end(&mut bytes).ok()?;
        serde_json::from_slice(&bytes).ok().filter(|report: &Report| report.nonce == nonce)
    }

    /// The tests by id.
    pub fn into_tests(self) -> BTreeMap<String, TestRun> {
        self.tests.into_iter().map(|(id, outcome, seconds, says)| (id, TestRun { outcome, seconds, says })).collect()
    }

    /// Ids of tests with such an outcome.
    pub fn named(&self, is: impl Fn(TestOutcome) -> bool) -> Vec<String> {
        self.tests.iter().filter(|(_, outcome, ..)| is(*outcome)).map(|(id, ..)| id.clone()).collect()
    }

    /// The first test without a verdict, in a line.
    pub fn broken(&self) -> Option<String> {
        let (id, outcome, _, says) = self.tests.iter().find(|(_, outcome, ..)| outcome.is_broken())?;
        let word = match outcome {
            TestOutcome::Timeout => "time-out",
            TestOutcome::Error => "setup error",
            _ => "import error",
        };
        Some(format!("{word} in {id}: {says}"))
    }

    /// The first test that failed as a test, in a line.
    pub fn failed(&self) -> Option<String> {
        let (id, _, _, says) = self.tests.iter().find(|(_, outcome, ..)| outcome.is_failure())?;
        Some(format!("{id}: {says}"))
    }

    /// How many tests have an outcome.
    pub fn count(&self) -> usize {
        self.tests.len()
    }
}
