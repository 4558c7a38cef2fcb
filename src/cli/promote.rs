//! `seedgate ledger promote`: makes fixtures of what is to be promoted, and closes the freeze in the same change.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use crate::cli::{Failure, ledger as command, open};
use crate::finding::{Exit, PropId};
use crate::freeze::file::{self as freeze, Freeze, FreezeError};
use crate::report;
use crate::strength::record;
use crate::tree::Oid;
use crate::witness::ledger::{self, Ledger};
use crate::witness::promote::{self, Witness};

/// Promote: write the shrunk input of every row that is to be promoted as a fixture, and take its property out of the freeze file.
#[derive(clap::Args)]
#[command(
    after_help = "The fixture is small JSON, the same bytes for the same witness. It is run first ever after, and taking it out is a weakening.

Examples:
  seedgate ledger promote
  seedgate ledger promote --ledger .seedgate/ledger.json --fixtures tests/fixtures/promoted/
  seedgate ledger promote --json          what to commit, for machines (seedgate.promoted/1)

Exit codes: 0 promoted (or nothing to promote), 2 a pinned file moved, 65 the ledger or the freeze file cannot be read, 70 fault."
)]
pub(super) struct Args {
    /// The ledger.
    #[arg(long, value_name = "FILE", default_value = ledger::PATH)]
    ledger: PathBuf,
    /// The freeze file.
    #[arg(long, value_name = "FILE", default_value = freeze::PATH)]
    freeze: PathBuf,
    /// Where promoted witnesses lie, from the root.
    #[arg(long, value_name = "DIR", default_value = promote::FOLDER, value_parser = folder)]
    fixtures: PathBuf,
    /// Print seedgate.promoted/1.
    #[arg(long)]
    json: bool,
}

/// The gate looks for them in one place.
fn folder(text: &str) -> Result<PathBuf, String> {
    let plain = text.trim_start_matches("./").trim_end_matches('/');
    if plain == promote::FOLDER {
        Ok(plain.into())
    } else {
        Err(format!("promoted witnesses lie in {}, where the gate looks for them", promote::FOLDER))
    }
}

impl From<FreezeError> for Failure {
    fn from(error: FreezeError) -> Self {
        Failure { exit: if error.is_input() { Exit::Unreadable } else { Exit::Fault }, says: error.to_string() }
    }
}

/// What was promoted.
pub(super) struct Promoted {
    /// Properties and the fixtures' paths.
    pub(super) witnesses: Vec<(PropId, String)>,
    /// Properties whose freeze entries were taken out.
    pub(super) closed: Vec<PropId>,
}

pub(super) fn run(args: &Args) -> Result<Exit, Failure> {
    let repo = open()?;
    let top =
        repo.top().ok_or_else(|| Failure::usage("a witness is promoted into a work tree, and this repository has none"))?.to_path_buf();
    let ledger = command::read(&args.ledger)?;
    let commits: BTreeSet<Oid> =
        ledger.rows().iter().filter(|row| row.witness.is_none() && Witness::of(row).is_some()).map(|row| row.patch_sha.clone()).collect();
    for commit in &commits {
        if let Some(exit) = command::moved(&repo, &ledger, commit)? {
            return Ok(exit);
        }
    }
    let done = ledger::update(&args.ledger, |ledger| all(ledger, &top.join(&args.fixtures), &args.freeze))?;
    let paths = done.witnesses.iter().map(|(_, path)| path.clone()).chain([ledger::PATH.to_owned()]);
    let paths: Vec<String> = paths.chain((!done.closed.is_empty()).then(|| freeze::PATH.to_owned())).collect();
    report::out(&match args.json {
        true => report::json(&report::promoted_json(&done.witnesses, &done.closed, &paths)),
        false => report::promoted_text(&done.witnesses, &done.closed, &paths, report::out_style()),
    });
    Ok(Exit::Clear)
}

/// Promotes every row that is to be: first the fixture, then the freeze, and the ledger last, so that after an interruption a second run
/// ends what the first began.
pub(super) fn all(ledger: &mut Ledger, folder: &Path, freeze: &Path) -> Result<Promoted, Failure> {
    let mut witnesses = Vec::new();
    for row in ledger.rows_mut().filter(|row| row.witness.is_none()) {
        let Some(witness) = Witness::of(row) else { continue };
        write(folder, &witness)?;
        row.witness = Some(witness.path());
        witnesses.push((witness.property.clone(), witness.path()));
    }
    let closed = close(freeze, &witnesses)?;
    Ok(Promoted { witnesses, closed })
}

fn write(folder: &Path, witness: &Witness) -> Result<(), Failure> {
    let text = witness.to_text();
    let top = folder.ancestors().nth(promote::FOLDER.split('/').count()).unwrap_or(folder);
    if record::create(top, promote::FOLDER, &witness.file_name(), text.as_bytes())? {
        return Ok(());
    }
    let path = folder.join(witness.file_name());
    let is_same = fs::symlink_metadata(&path).is_ok_and(|meta| meta.is_file()) && fs::read(&path).is_ok_and(|bytes| same(&bytes, witness));
    if is_same {
        Ok(())
    } else {
        Err(Failure { exit: Exit::Unreadable, says: format!("{}: another file is there already", path.display()) })
    }
}

/// Whether a file is about the same input of the same property, whenever it was promoted.
fn same(bytes: &[u8], witness: &Witness) -> bool {
    Witness::parse(bytes).is_ok_and(|known| known.property == witness.property && known.shrunk == witness.shrunk)
}

fn close(path: &Path, promoted: &[(PropId, String)]) -> Result<Vec<PropId>, Failure> {
    let Some(mut freeze) = Freeze::read(path)?.filter(|_| !promoted.is_empty()) else { return Ok(Vec::new()) };
    let closed: BTreeSet<PropId> = promoted.iter().map(|(id, _)| id).filter(|id| freeze.close(id)).cloned().collect();
    if !closed.is_empty() {
        record::replace(path, freeze.to_text().as_bytes())?;
    }
    Ok(closed.into_iter().collect())
}
