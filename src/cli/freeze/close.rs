//! `seedgate freeze close`: takes an entry out, with evidence that nobody else names.

use std::fs;
use std::path::PathBuf;

use serde_json::Value;

use crate::cli::freeze::{Files, update};
use crate::cli::{Failure, open as repository, trial};
use crate::finding::Exit;
use crate::freeze::evidence::Evidence;
use crate::freeze::file::{Entry, Freeze};
use crate::report;
use crate::strength::cards;

/// Take a test out of the freeze: from then on its failures count.
#[derive(clap::Args)]
#[command(after_help = "The evidence of its token goes too, when no other entry has the same.

Examples:
  seedgate freeze close tests/test_net.py::test_fetch
  seedgate freeze close test_fetch

Exit codes: 0 taken out, 64 no entry of that name, 65 the freeze file cannot be read, 70 fault.")]
pub(in crate::cli) struct Args {
    /// The test's id, or an unambiguous end of it.
    #[arg(value_name = "TEST")]
    test: String,
    #[command(flatten)]
    files: Files,
}

pub(super) fn run(args: &Args) -> Result<Exit, Failure> {
    let repo = repository()?;
    let path = args.files.path(&repo);
    if Freeze::read(&path)?.is_none() {
        return Err(Failure::usage("nothing is frozen"));
    }
    let (id, unused) = update(&path, |freeze| {
        let id = cards::named(&args.test, freeze.entries.iter().map(|entry| &entry.test));
        let id = id.map_err(|error| Failure::usage(format!("{error} among the frozen tests")))?.clone();
        let named = |entry: &Entry| entry.token.get("evidence_sha256").and_then(Value::as_str).map(str::to_owned);
        let of: Vec<String> = freeze.entries.iter().filter(|entry| entry.test == id).filter_map(named).collect();
        freeze.close(&id);
        let left: Vec<String> = freeze.entries.iter().filter_map(named).collect();
        Ok((id, of.into_iter().filter(|sha256| !left.contains(sha256)).collect::<Vec<_>>()))
    })?;
    let mut paths = vec![trial::shown(&path)];
    for sha256 in unused.iter().filter(|sha256| sha256.len() == 64 && sha256.bytes().all(|b| b.is_ascii_hexdigit())) {
        let kept = Evidence::kept(sha256);
        let file: PathBuf = trial::at_top(&repo, &kept);
        if file.symlink_metadata().is_ok_and(|found| found.is_file()) && fs::remove_file(&file).is_ok() {
            paths.push(kept);
        }
    }
    report::out(&report::closed_text(&id, &paths, report::out_style()));
    Ok(Exit::Clear)
}
