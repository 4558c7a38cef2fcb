//! Owns what `candidates` says, and what is said of other machines.

use std::fmt::Write as _;
use std::path::Path;

use serde_json::{Value, json};

use crate::finding::Exit;
use crate::report::Style;
use crate::report::text::{line_of, plural};
use crate::tree::Oid;
use crate::trial::candidates::Pinned;
use crate::trial::candidates::replay::Held;
use crate::trial::runner::duplicate::Judged;
use crate::witness::ledger::Row;
use crate::witness::value::Input;

/// Most lines of one kind.
const LINES: usize = 20;

/// What was taken and what was not.
pub fn accepted_text(pinned: &Pinned, path: &Path, style: Style) -> String {
    let counted = format!("{}, {} discarded", plural(pinned.candidates.len(), "candidate"), pinned.discarded.len());
    let mut text = format!("{} {}: {counted}\n", style.good("pinned"), style.strong(&line_of(&pinned.property.0)));
    for discarded in pinned.discarded.iter().take(LINES) {
        let _ = writeln!(text, "  line {}  {}: {}", discarded.line, discarded.reason.name(), line_of(&discarded.says));
    }
    if pinned.discarded.len() > LINES {
        let _ = writeln!(text, "  and {} more, in the file", pinned.discarded.len() - LINES);
    }
    let _ = writeln!(text, "{} {}", style.dim("in"), line_of(&path.display().to_string()));
    text
}

/// What each candidate came to.
pub fn replayed_text(pinned: &Pinned, held: &[Held], rows: &[Row], style: Style) -> String {
    let mut text = String::new();
    let id = style.strong(&line_of(&pinned.property.0));
    for (input, held) in pinned.candidates.iter().zip(held) {
        let _ = match held {
            Held::Held | Held::Invalid => Ok(()),
            Held::Failed(failure, again) => {
                let word = if *again { style.bad("counterexample") } else { style.bad("flake") };
                writeln!(text, "{word}  {id}\n    input {}\n    {}", clipped(&input.to_json()), line_of(&failure.told()))
            }
            Held::Unknown(why) => {
                writeln!(text, "{}  {id}\n    input {}\n    {}", style.bad("no verdict"), clipped(&input.to_json()), line_of(why))
            }
        };
    }
    for row in rows.iter().filter(|row| row.shrunk.is_some()) {
        let _ = writeln!(text, "{}  {}", style.good("shrunk"), clipped(&row.input().to_json()));
    }
    if !rows.is_empty() {
        let _ = writeln!(
            text,
            "{} in the ledger; next: seedgate ledger replay-base --base {}",
            plural(rows.len(), "row"),
            &pinned.parent.as_str()[..12]
        );
    }
    let count = |wanted: fn(&Held) -> bool| held.iter().filter(|held| wanted(held)).count();
    let counts = [
        (count(|held| matches!(held, Held::Held)), "held"),
        (count(|held| matches!(held, Held::Invalid)), "did not meet the assumptions"),
        (count(|held| matches!(held, Held::Failed(..))), "failed"),
        (count(|held| matches!(held, Held::Unknown(_))), "without a verdict"),
    ];
    let counts: Vec<String> = counts.iter().filter(|(count, _)| *count > 0).map(|(count, says)| format!("{count} {says}")).collect();
    let sum = if counts.is_empty() { "none".to_owned() } else { counts.join(", ") };
    let _ = writeln!(text, "seedgate: {}: {sum}", plural(held.len(), "candidate"));
    text
}

/// What each candidate came to, as `seedgate.candidates-replay/1`; the last two are what the runners said and the exit.
pub fn replayed_json(pinned: &Pinned, sha256: &str, held: &[Held], rows: &[Row], (judged, exit): (&[Judged], Exit)) -> Value {
    let candidate = |(input, held): (&Input, &Held)| {
        let (word, failure, why) = match held {
            Held::Held => ("held", None, None),
            Held::Invalid => ("invalid", None, None),
            Held::Failed(failure, true) => ("failed", Some(failure), None),
            Held::Failed(failure, false) => ("flake", Some(failure), None),
            Held::Unknown(why) => ("unknown", None, Some(why)),
        };
        let shrunk = rows.iter().find(|row| row.raw() == input).and_then(|row| row.shrunk.as_ref());
        json!({"input": input, "input_sha256": input.input_sha256(), "outcome": word, "failure": failure, "why": why, "shrunk": shrunk})
    };
    json!({
        "schema": "seedgate.candidates-replay/1",
        "exit": exit.code(),
        "property": pinned.property,
        "parent": pinned.parent,
        "candidates_sha256": sha256,
        "candidates": pinned.candidates.iter().zip(held).map(candidate).collect::<Vec<_>>(),
        "ledger_rows": rows.len(),
        "jobs": judged.len(),
        "disagree": judged.iter().filter(|one| one.disagrees()).count(),
        "elsewhere_unknown": judged.iter().filter(|one| one.far_unknown().is_some()).count(),
    })
}

/// A file that was pinned before with other candidates.
pub fn pinned_already(path: &Path) -> String {
    let path = line_of(&path.display().to_string());
    format!(
        "seedgate: {path} pins other candidates already, and it stays: candidates are not drawn again between runs; name another file with --out\n"
    )
}

/// A replay on another parent.
pub fn other_parent(pinned: &Pinned, other: &Oid) -> String {
    format!("seedgate: refused: the candidates are pinned on {}, not on {}\n", &pinned.parent.as_str()[..12], &other.as_str()[..12])
}

/// A replay of another file than the one before.
pub fn other_candidates(pinned: &Pinned, sha256: &str, other: &str, runs: &Path) -> String {
    format!(
        "seedgate: refused: {} was run on the candidates {} before, and these are {}: that is another experiment\n  a record of its own: --runs FILE (this one is {})\n",
        line_of(&pinned.property.0),
        short(other),
        short(sha256),
        line_of(&runs.display().to_string())
    )
}

/// A card that is not the pinned one.
pub fn card_moved(pinned: &Pinned) -> String {
    format!("seedgate: refused: the card of {} is not the one that the candidates were pinned for\n", line_of(&pinned.property.0))
}

/// What another machine had no verdict on; nothing, when it had one on everything.
pub fn far_unknown(runner: &str, unknown: &[(&str, &str)], jobs: usize) -> Option<String> {
    let (word, says) = unknown.first()?;
    let says = format!("{word}: {}", line_of(says));
    Some(format!("the {runner} runner has no verdict on {} of {} ({says}); what was said here stands", unknown.len(), plural(jobs, "job")))
}

/// What another machine said otherwise.
pub fn disagreed(runner: &str, jobs: usize, runs: &Path) -> String {
    let path = line_of(&runs.display().to_string());
    format!(
        "disagree: the {runner} runner says something else than this machine on {}; nothing is frozen on that ({path})",
        plural(jobs, "job")
    )
}

fn short(sha256: &str) -> String {
    sha256.chars().filter(char::is_ascii_alphanumeric).take(12).collect()
}

fn clipped(json: &str) -> String {
    let short: String = json.chars().take(300).collect();
    let more = if short.len() < json.len() { " …" } else { "" };
    line_of(&short) + more
}
