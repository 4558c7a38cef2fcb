//! Owns the job that runs a test command on a tree, with files that stand there otherwise or as it is.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Serialize;

use crate::finding::PropId;
use crate::tree::Oid;
use crate::trial::TrialError;
use crate::trial::runner::job::{Bench, CAP, Job, Kind, SCHEMA, SCRIPT, Scripts, Sealed, folder_of, fresh};
use crate::trial::suite::command::PLUGIN;

/// What runs a test command in a job.
const SUITE: &str = include_str!("../../../../templates/python/seedgate_suite.py");

/// What is asked of the tests.
#[derive(Clone, Debug)]
pub struct Asked<'a> {
    /// The commit that the tree is held against.
    pub parent: &'a Oid,
    /// What the job is about, for records.
    pub about: &'a PropId,
    /// The test command, for `sh -c` at the root of the tree.
    pub command: &'a str,
    /// Whether the command tells of each test, as pytest with our plugin does.
    pub is_told: bool,
    /// Only these tests, in this order; all without it.
    pub only: Option<&'a [String]>,
    /// Only these test files are collected.
    pub files: Option<&'a [String]>,
    /// Of a command that tells only a code: modules that must be importable for it to count.
    pub imports: &'a [String],
    /// How long the command may take, in seconds.
    pub limit: f64,
    /// What it is bound to, by SHA-256.
    pub bound: &'a BTreeMap<String, String>,
}

#[derive(Serialize)]
struct Written<'a> {
    schema: &'static str,
    nonce: &'a str,
    kind: Kind,
    parent: &'a Oid,
    prop_id: &'a PropId,
    command: &'a str,
    told: bool,
    only: Option<&'a [String]>,
    files: Option<&'a [String]>,
    imports: &'a [String],
    limit: f64,
    path: &'a [String],
    bound: &'a BTreeMap<String, String>,
    toolchain: &'a str,
}

impl Bench {
    /// A job of tests, with other bytes in some files of the tree; `None` when one of them is no file of it. It is never remembered.
    ///
    /// # Errors
    /// When the order is too long.
    pub fn suite(&self, asked: &Asked<'_>, planted: &[(String, Vec<u8>)]) -> Result<Option<Job>, TrialError> {
        let nonce = fresh();
        let written = Written {
            schema: SCHEMA,
            nonce: &nonce,
            kind: Kind::Probe,
            parent: asked.parent,
            prop_id: asked.about,
            command: asked.command,
            told: asked.is_told,
            only: asked.only,
            files: asked.files,
            imports: asked.imports,
            limit: asked.limit,
            path: &self.path,
            bound: asked.bound,
            toolchain: &self.toolchain,
        };
        let bytes = serde_json::to_vec(&written).unwrap_or_default();
        if bytes.len() > CAP {
            return Err(TrialError::input(&asked.about.0, format!("its order has more than the {CAP} bytes that one job may have")));
        }
        let (root, folder) = match planted {
            [] => (Arc::clone(&self.root), self.folder.clone()),
            files => {
                let Some(root) = self.root.planted(files) else { return Ok(None) };
                let folder = folder_of(&root);
                (Arc::new(root), folder)
            }
        };
        let scripts: Scripts = [("seedgate_job.py", SCRIPT), ("seedgate_suite.py", SUITE), ("seedgate_report.py", PLUGIN)]
            .map(|(name, text)| (name, text.as_bytes().into()))
            .to_vec();
        let sealed = Sealed { root: &root, folder, scripts: &scripts, nonce, bytes };
        Ok(Some(self.sealed(Kind::Probe, (asked.about, asked.parent), vec![1], sealed)))
    }
}
