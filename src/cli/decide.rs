//! `seedgate decide`: the decision table, a line at a time.

use std::io::{self, BufRead as _, Read as _};

use crate::cli::Failure;
use crate::finding::Exit;
use crate::report;
use crate::witness::decide::{self, Case};

/// Longest line that is read, in bytes.
const LINE: u64 = 1 << 16;

/// Decide cases: one JSON object a line from standard input, one answer a line to standard output.
#[derive(clap::Args)]
#[command(
    after_help = "A line holds `kind` (property, integration), `base` and `patch` (pass, fail, flake, unknown; base may be left out), `touched` (the change
touched the test) and `named` (the freeze file names it). The first rule that fits decides:
  property     base pass, patch fail                        promote
  property     base fail, patch fail                        quarantine
  property     fails without a base verdict, or flakes      stop
  property     named in the freeze file                     reject_freeze
  integration  flakes, not touched, not named               freeze_candidate
  integration  fails or flakes, touched                     reject_freeze
  else                                                      none: no exception is recorded, which approves nothing

Examples:
  echo '{\"kind\":\"property\",\"base\":\"pass\",\"patch\":\"fail\"}' | seedgate decide
  seedgate decide < cases.jsonl

Exit codes: 0 every line was decided, 65 some line was not a case (its answer says why), 70 fault."
)]
pub(super) struct Args {}

pub(super) fn run(_: &Args) -> Result<Exit, Failure> {
    let failed = |error: io::Error| Failure { exit: Exit::Fault, says: format!("standard input: {error}") };
    let (mut input, mut exit) = (io::stdin().lock(), Exit::Clear);
    loop {
        let mut line = Vec::new();
        if input.by_ref().take(LINE).read_until(b'\n', &mut line).map_err(failed)? == 0 {
            return Ok(exit);
        }
        if line.len() as u64 == LINE && !line.ends_with(b"\n") {
            return Err(Failure { exit: Exit::Unreadable, says: format!("a line is longer than the {LINE} bytes that are read") });
        }
        if line.trim_ascii().is_empty() {
            continue;
        }
        let answer = match serde_json::from_slice::<Case>(&line) {
            Ok(case) => report::decided_json(decide::decide(case)),
            Err(error) => {
                exit = Exit::Unreadable;
                report::undecided_json(&error.to_string())
            }
        };
        report::out(&format!("{answer}\n"));
    }
}
