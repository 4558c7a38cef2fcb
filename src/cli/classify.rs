//! `seedgate classify`: the label of evidence.

use std::path::PathBuf;

use crate::cli::evidence::present;
use crate::cli::{Failure, open, remembered, trial};
use crate::finding::Exit;
use crate::freeze::classify::Label;
use crate::freeze::evidence as record;
use crate::report;

/// Print the label of evidence, and every input that led to it.
#[derive(clap::Args)]
#[command(after_help = "The first line that fits decides:
  production and test files             split_required
  the fixtures' digest moved            fixture_drift
  a property failed                     property_fail
  test files, and the mutant lives      oracle_weakened
  disagrees on one digest, no test files, mutant killed, properties hold   freeze_eligible
  else                                  hold
What is not known never counts for a freeze.

Examples:
  seedgate classify
  seedgate classify --evidence .seedgate/evidence.json
  seedgate classify --json                for machines (seedgate.label/1)

Exit codes: 0 freeze_eligible, 2 split_required, fixture_drift, property_fail or oracle_weakened, or the evidence is that of another commit
or digest, 3 hold, 65 there is no evidence or it cannot be read, 70 fault.")]
pub(super) struct Args {
    /// The evidence [default: .seedgate/evidence.json].
    #[arg(long, value_name = "FILE")]
    evidence: Option<PathBuf>,
    /// The commit that is present.
    #[arg(long, value_name = "REV", default_value = "HEAD")]
    head: String,
    /// Print seedgate.label/1.
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &Args) -> Result<Exit, Failure> {
    let repo = open()?;
    let facts = remembered();
    let path = args.evidence.clone().unwrap_or_else(|| trial::at_top(&repo, record::PATH));
    let (evidence, ..) = present(&repo, &facts, &path, &args.head)?;
    facts.flush();
    report::out(&if args.json {
        report::json(&report::classified_json(&evidence))
    } else {
        report::classified_text(&evidence, report::out_style())
    });
    Ok(exit(evidence.classified().label()))
}

/// The exit of a label.
pub(super) fn exit(label: Label) -> Exit {
    match label {
        Label::FreezeEligible => Exit::Clear,
        Label::Hold => Exit::Review,
        _ => Exit::Refused,
    }
}
