//! `seedgate demo`: what the gate does, shown in a scratch project with real git.

mod rust;

use std::path::PathBuf;

use crate::cli::Failure;
use crate::cli::init::program;
use crate::finding::Exit;
use crate::repo::scratch::Scratch;
use crate::report;

/// Show, in a scratch project with real commits, what passes, what is refused, how to split and how to waive.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  seedgate demo              a Python project
  seedgate demo --rust       a Rust project: tests beside production in one file
  seedgate demo --keep DIR   the project stays in DIR

Nothing of it is left afterwards, unless --keep says where to leave it.

Exit codes: 0 every step went as told, 70 one did not.")]
pub(super) struct Args {
    /// Leave the scratch project in this new or empty folder.
    #[arg(long, value_name = "DIR")]
    keep: Option<PathBuf>,
    /// A Rust project, whose tests stand in the files of the product.
    #[arg(long)]
    rust: bool,
}

/// One act of the demo.
enum Act {
    /// A sentence for the reader.
    Say(&'static str),
    /// A file is written.
    Write(&'static str, &'static str),
    /// Text in the files of a folder is replaced, as an editor would.
    Edit { folder: &'static str, old: &'static str, new: &'static str },
    /// A command, the exit it must end with, and words it must say.
    Run { line: &'static [&'static str], exit: i32, says: &'static [&'static str] },
}

use Act::{Edit, Run, Say, Write};

const PRODUCTION: &str = "def clamp(value, low, high):\n    return max(low, min(value, high))\n";
const LOGGED: &str =
    "def clamp(value, low, high):\n    \"\"\"The nearest value of low..high.\"\"\"\n    return max(low, min(value, high))\n";
const SWAPPED: &str =
    "def clamp(value, low, high):\n    \"\"\"The nearest value of low..high.\"\"\"\n    return min(max(low, value), high)\n";
const TESTS: &str = "import pytest

from src.price import clamp


@pytest.mark.parametrize(\"value\", [-5, 0, 7])
def test_clamp_stays_inside(value):
    assert 0 <= clamp(value, 0, 10) <= 10


def test_clamp_keeps_the_bounds():
    assert clamp(0, 0, 10) == 0
    assert clamp(10, 0, 10) == 10
";
const DECISION: &str = "# Prices are never negative\n\nThe importer refuses negative prices, so `clamp` never sees one.\n";
const REASON: &str = "Negative prices cannot reach `clamp` any more, so nothing is tested below zero.";

const STEPS: &[Act] = &[
    Write("src/price.py", PRODUCTION),
    Write("tests/test_price.py", TESTS),
    Run { line: &["git", "add", "."], exit: 0, says: &[] },
    Run { line: &["git", "commit", "--quiet", "-m", "clamp prices"], exit: 0, says: &[] },
    Say("A project with a property of three inputs and a test of two assertions. The hooks go in; what is older than them is not judged."),
    Run { line: &["seedgate", "init"], exit: 0, says: &["seedgate: installed in", "pre-push"] },
    Run { line: &["git", "add", "."], exit: 0, says: &[] },
    Run { line: &["git", "commit", "--quiet", "-m", "policy of seedgate"], exit: 0, says: &[] },
    Say("A change of production passes."),
    Write("src/price.py", LOGGED),
    Run { line: &["git", "commit", "-am", "say what clamp does"], exit: 0, says: &["1 file changed"] },
    Say("Production and tests in one commit are refused, even when the test gets stronger."),
    Write("src/price.py", SWAPPED),
    Edit { folder: "tests", old: "[-5, 0, 7]", new: "[-5, 0, 7, 12]" },
    Run { line: &["git", "add", "."], exit: 0, says: &[] },
    Run { line: &["git", "commit", "-m", "clamp from below"], exit: 1, says: &["split_required", "src/price.py", "tests/test_price.py"] },
    Say("Two commits of the same index pass: production first, then tests."),
    Run { line: &["seedgate", "split", "-m", "clamp from below", "-m", "test clamp above"], exit: 0, says: &[] },
    Run {
        line: &["git", "log", "--oneline", "--name-only", "-2"],
        exit: 0,
        says: &["clamp from below\nsrc/price.py", "test clamp above\ntests/test_price.py"],
    },
    Say("Tests that get weaker are refused: here an input is gone, and an assertion."),
    Edit { folder: "tests", old: "[-5, 0, 7, 12]", new: "[0, 7, 12]" },
    Edit { folder: "tests", old: "    assert clamp(0, 0, 10) == 0\n", new: "" },
    Run {
        line: &["git", "commit", "-am", "tidy tests"],
        exit: 1,
        says: &["case_removed", "value=-5", "assertion_removed", "assert clamp(0, 0, 10) == 0"],
    },
    Say("If it is meant, a waiver for each states the exact old and new card. The drafts waive nothing yet."),
    Run { line: &["git", "add", "."], exit: 0, says: &[] },
    Run { line: &["seedgate", "waiver", "new", "--all"], exit: 0, says: &["docs/waivers/"] },
    Say("A person writes where it is decided, and why (here the demo does), and commits them with the change."),
    Write("docs/decisions/prices.md", DECISION),
    Edit { folder: "docs/waivers", old: "spec = \"\"", new: "spec = \"docs/decisions/prices.md\"" },
    Edit {
        folder: "docs/waivers",
        old: "<!-- Write here, in place of this comment, why the check may get weaker. Until then, and while spec is empty, this file is a draft and waives nothing. -->",
        new: REASON,
    },
    Run { line: &["git", "add", "."], exit: 0, says: &[] },
    Run { line: &["seedgate", "check"], exit: 4, says: &["waived", "for a human to merge"] },
    Run { line: &["git", "commit", "-m", "no negative prices"], exit: 0, says: &["waived"] },
    Say("The hook lets it pass with that note; a merge check ends in 4 for it, so that a person merges."),
    Run { line: &["seedgate", "check", "--base", "HEAD~1", "--cold"], exit: 4, says: &["waived"] },
];

pub(super) fn run(args: &Args) -> Result<Exit, Failure> {
    let scratch = Scratch::new(&program()?, args.keep.as_deref())?;
    for act in if args.rust { rust::STEPS } else { STEPS } {
        if let Some(wrong) = play(&scratch, act)? {
            return Err(Failure { exit: Exit::Fault, says: format!("the demo did not go as told: {wrong}") });
        }
    }
    report::out(&report::demo_end(args.keep.as_ref().map(|_| scratch.top()), report::out_style()));
    Ok(Exit::Clear)
}

/// Does one act, and answers what was not as told.
fn play(scratch: &Scratch, act: &Act) -> Result<Option<String>, Failure> {
    let style = report::out_style();
    match act {
        Say(sentence) => report::out(&report::demo_step(sentence, style)),
        Write(path, text) => scratch.write(path, text)?,
        Edit { folder, old, new } => {
            if !scratch.replace(folder, old, new)? {
                return Ok(Some(format!("there is no {old:?} below {folder}")));
            }
        }
        Run { line, exit, says } => {
            let ran = scratch.run(line[0], &line[1..])?;
            report::out(&report::demo_command(line, &ran, style));
            let missing = says.iter().find(|words| !ran.text.contains(**words));
            let wrong = if ran.code == Some(*exit) {
                missing.map(|words| format!("it does not say {words:?}"))
            } else {
                Some(format!("exit {exit} was meant"))
            };
            return Ok(wrong.map(|why| format!("{}: {why}", line.join(" "))));
        }
    }
    Ok(None)
}
