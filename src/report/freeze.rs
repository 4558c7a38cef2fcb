//! Owns what `evidence`, `classify` and `freeze` say: the verdict first, then what led to it, then the next command.

use std::fmt::Write as _;

use serde_json::{Value, json};

use crate::finding::{Exit, PropId};
use crate::freeze::classify::Label;
use crate::freeze::day::Day;
use crate::freeze::evidence::{Evidence, Seen};
use crate::freeze::file::{Entry, Fault, Freeze};
use crate::freeze::token::Token;
use crate::report::Style;
use crate::report::text::{line_of, plural};

/// Names shown of a list; the rest is counted.
const SHOWN: usize = 5;

/// A freeze that is not granted.
pub struct Refusal {
    /// The exit it asks for.
    pub exit: Exit,
    /// The test.
    pub test: String,
    /// Why.
    pub says: String,
    /// What to do.
    pub next: String,
}

/// What somebody else needs to repeat a run of a suite.
#[derive(Default)]
pub struct Made {
    /// The command, word by word.
    pub command: Vec<String>,
    /// When it began, in seconds since 1970.
    pub began: u64,
    /// How long it took.
    pub seconds: f64,
    /// Digest over the fixtures on disk after it; `None` without a work tree.
    pub fixture_digest: Option<String>,
    /// git's version.
    pub git: String,
}

/// What a run of a suite came to.
#[derive(Default)]
pub struct Suite {
    /// How it was made.
    pub made: Made,
    /// The command's exit code.
    pub code: i32,
    /// Tests in the report.
    pub tests: usize,
    /// What failed and is not frozen, with the failure in a line.
    pub failed: Vec<(String, String)>,
    /// Frozen tests that failed.
    pub frozen_failed: Vec<(PropId, String)>,
    /// Frozen tests that passed.
    pub frozen_passed: Vec<PropId>,
    /// Frozen tests that did not run.
    pub frozen_absent: Vec<PropId>,
}

impl Suite {
    /// Why the command failed without a failing test, if it did.
    fn unexplained(&self) -> Option<String> {
        match self.code {
            0 => None,
            1 if !self.failed.is_empty() || !self.frozen_failed.is_empty() => None,
            code => Some(format!("the command ended with {code}, which no failing test explains")),
        }
    }

    /// Whether anything but frozen tests failed.
    pub fn fails(&self) -> bool {
        !self.failed.is_empty() || self.unexplained().is_some()
    }
}

/// The label of evidence for people.
pub fn classified_text(evidence: &Evidence, style: Style) -> String {
    let classified = evidence.classified();
    let label = classified.label();
    let word = match label {
        Label::FreezeEligible => style.good(label.name()),
        Label::Hold => style.warn(label.name()),
        _ => style.bad(label.name()),
    };
    let mut text = format!("seedgate: {word}: {}\n\n", label.says());
    let counts = evidence.counts;
    let known = |answer: Option<bool>| answer.map_or("unknown", |yes| if yes { "yes" } else { "no" });
    for (name, value) in [
        ("production files", counts.production_files.to_string()),
        ("test files", counts.test_files.to_string()),
        ("digest match", known(counts.digest_match).to_owned()),
        ("mutant exit", counts.mutant_exit.map_or_else(|| "unknown".to_owned(), |exit| exit.to_string())),
    ] {
        let _ = writeln!(text, "  {}  {value}", style.strong(&format!("{name:<16}")));
    }
    let reasons = classified.reasons();
    for (title, led) in [("what led to it", true), ("besides", false)] {
        let lines: Vec<&str> = reasons.iter().filter(|reason| reason.led == led).map(|reason| reason.input).collect();
        if lines.is_empty() {
            continue;
        }
        let _ = writeln!(text, "\n  {title}");
        for input in lines {
            let _ = writeln!(text, "    {}  {}", style.dim(&format!("{input:<28}")), line_of(&said(evidence, input)));
        }
    }
    for next in nexts(evidence, label) {
        let _ = writeln!(text, "\n  {}  {}", style.dim("next:"), line_of(&next));
    }
    text
}

/// One input of the label, in words.
fn said(evidence: &Evidence, input: &str) -> String {
    let inputs = evidence.classified().inputs();
    let answer = |known: Option<bool>| known.map_or("unknown", |yes| if yes { "yes" } else { "no" });
    match input {
        "production_files" => inputs.production_files.to_string(),
        "test_files" => inputs.test_files.to_string(),
        "digest_stable" => format!("{}: {}", answer(inputs.digest_stable), digests(evidence)),
        "property_failed" => format!("{}: {}", answer(inputs.property_failed), properties(evidence)),
        "mutant_killed" => format!("{}: {}", answer(inputs.mutant_killed), mutants(evidence)),
        _ => format!("{}: {}", answer(inputs.nondeterministic), runs(evidence)),
    }
}

fn short(hex: &str) -> &str {
    hex.get(..12).unwrap_or(hex)
}

fn digests(evidence: &Evidence) -> String {
    let fixtures = &evidence.fixtures;
    if fixtures.base != fixtures.head {
        return format!("the base's fixtures are {}, the candidate's {}", short(&fixtures.base), short(&fixtures.head));
    }
    match evidence.runs.iter().position(|run| run.fixture_digest != fixtures.head) {
        Some(at) => format!("run {} left other fixtures: {}", at + 1, short(&evidence.runs[at].fixture_digest)),
        None => {
            format!("the fixtures are {} in base and candidate, and after {}", short(&fixtures.base), plural(evidence.runs.len(), "run"))
        }
    }
}

fn properties(evidence: &Evidence) -> String {
    let replay = &evidence.properties;
    let seeds = if replay.seeds.is_empty() { String::new() } else { format!(", on {}", plural(replay.seeds.len(), "seed")) };
    let not_run = if replay.not_run > 0 { format!(", {} cannot be run", replay.not_run) } else { String::new() };
    let held = if replay.held > 0 { format!(" ({} held{not_run}{seeds})", replay.held) } else { String::new() };
    format!("{}{held}", replay.says)
}

fn mutants(evidence: &Evidence) -> String {
    let Some(probe) = &evidence.probe else {
        return format!("no mutant was planted: {}", evidence.no_probe.as_deref().unwrap_or("no probe"));
    };
    let counts = probe.counts;
    let wanted = match evidence.mutant_killed() {
        Some(true) => "killed",
        Some(false) => "survived",
        None => "",
    };
    let noisy = probe.mutants.iter().find(|mutant| evidence.is_noise(mutant));
    if let (None, Some(mutant)) = (evidence.mutant_killed(), noisy) {
        return format!("the mutant at {}:{} made only a test fail that fails without it too", mutant.path, mutant.line);
    }
    let shown = probe
        .mutants
        .iter()
        .find(|mutant| if probe.compare && wanted == "survived" { mutant.is_weakened() } else { mutant.outcome.verdict.name() == wanted });
    let told = shown.or(probe.mutants.first()).map_or_else(String::new, |mutant| {
        let why = mutant.outcome.why.as_ref().map_or_else(String::new, |why| format!(" ({why})"));
        format!(
            ": {} in place of {} at {}:{} {}{why}",
            one_line(&mutant.after),
            one_line(&mutant.before),
            mutant.path,
            mutant.line,
            mutant.outcome.verdict.name()
        )
    });
    let weakened = if probe.compare { format!(", {} of them noticed by the base's tests only", counts.weakened) } else { String::new() };
    format!("{} killed, {} survived{weakened}, {} unknown{told}", counts.killed, counts.survived, counts.unknown)
}

fn one_line(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    let line: String = words.join(" ").chars().take(60).collect();
    if line.is_empty() { "nothing".to_owned() } else { format!("`{line}`") }
}

fn runs(evidence: &Evidence) -> String {
    let count = |seen: Seen| evidence.runs.iter().filter(|run| run.outcome == seen).count();
    let sum = format!("{} passed, {} failed, {} unknown", count(Seen::Pass), count(Seen::Fail), count(Seen::Unknown));
    if let Some(first) = evidence.disagree.first() {
        let list = |runs: &[u32]| runs.iter().take(SHOWN).map(u32::to_string).collect::<Vec<_>>().join(", ");
        let more = evidence.disagree.len() - 1;
        let more = if more > 0 { format!(", and {} besides", plural(more, "test")) } else { String::new() };
        return format!("{} failed in run {} and passed in {}{more} ({sum})", first.test, list(&first.failed_in), list(&first.passed_in));
    }
    let why = evidence.runs.iter().find_map(|run| run.why.as_ref());
    match why {
        Some(why) => format!("{sum}: {why}"),
        None => format!("{} of the same command: {sum}", plural(evidence.runs.len(), "run")),
    }
}

/// The exact next commands.
fn nexts(evidence: &Evidence, label: Label) -> Vec<String> {
    let (base, head) = (short(evidence.base.as_str()), short(evidence.head.as_str()));
    let quoted = format!("'{}'", evidence.command.replace('\'', "'\\''"));
    let again = |runs: usize| format!("seedgate evidence collect --tests {quoted} --base {base} --runs {runs}");
    let replay = format!("seedgate props run --base {base} --patch {head} --out .seedgate/props.json, then collect again");
    match label {
        Label::SplitRequired => vec![
            format!("make two changes of it (`git diff --stat {base} {head}` shows them; `seedgate split` does it for what is staged)"),
            "collect evidence for the production side alone".to_owned(),
        ],
        Label::FixtureDrift => vec![format!("review the fixtures as a change of their own, or revert them: git diff --stat {base} {head}")],
        Label::PropertyFail => vec![format!("seedgate witness --base {base}")],
        Label::OracleWeakened => vec!["give the tests back what noticed it; a waiver does not open a freeze".to_owned()],
        Label::FreezeEligible => {
            let test = evidence.disagree.first().map_or_else(|| "TEST".to_owned(), |one| one.test.0.clone());
            vec![format!("seedgate freeze open {test} --owner NAME --expires YYYY-MM-DD")]
        }
        Label::Hold => {
            let inputs = evidence.classified().inputs();
            let mut next = Vec::new();
            if inputs.test_files > 0 {
                next.push("review the edited tests: quarantine is not available for a candidate with test files".to_owned());
                return next;
            }
            if inputs.property_failed.is_none() {
                next.push(replay);
            }
            if inputs.mutant_killed == Some(false) {
                next.push("make the tests notice the mutant: a suite that does not bite excuses nothing".to_owned());
            }
            if inputs.mutant_killed.is_none() {
                next.push(format!("seedgate probe --tests {quoted} --base {base} --out .seedgate/probe.json, then collect again with --probe .seedgate/probe.json"));
            }
            if inputs.nondeterministic == Some(false) {
                next.push(format!("{}; if it always agrees there is nothing to freeze", again(evidence.runs.len() * 2)));
            }
            if inputs.nondeterministic.is_none() {
                next.push(format!("make the command run the tests: {}", evidence.command));
            }
            next
        }
    }
}

/// `seedgate.label/1`.
pub fn classified_json(evidence: &Evidence) -> Value {
    let classified = evidence.classified();
    let inputs = classified.inputs();
    let values = [
        json!(inputs.production_files),
        json!(inputs.test_files),
        json!(inputs.digest_stable),
        json!(inputs.property_failed),
        json!(inputs.mutant_killed),
        json!(inputs.nondeterministic),
    ];
    let told = |(reason, value): (&crate::freeze::classify::Reason, Value)| json!({"input": reason.input, "value": value, "led": reason.led, "says": said(evidence, reason.input)});
    let label = classified.label();
    let inputs: Vec<Value> = classified.reasons().iter().zip(values).map(told).collect();
    json!({"schema": "seedgate.label/1", "counts": evidence.counts, "label": label, "says": label.says(), "inputs": inputs, "next": nexts(evidence, label), "base": evidence.base, "head": evidence.head,
        "command": evidence.command, "fixtures": evidence.fixtures, "began": evidence.began, "seconds": evidence.seconds, "tools": evidence.tools})
}

/// Where evidence was put.
pub fn kept_at(path: &str) -> String {
    format!("\n  written to {path}\n")
}

/// A test that is not frozen, for people.
pub fn not_frozen(refusal: &Refusal, style: Style) -> String {
    let word = if refusal.exit == Exit::Refused { style.bad("not frozen") } else { style.warn("not frozen") };
    let (test, says) = (style.strong(&line_of(&refusal.test)), line_of(&refusal.says));
    format!("seedgate: {word}: {test}\n  {says}\n  {}  {}\n", style.dim("next:"), line_of(&refusal.next))
}

/// A test that was frozen, for people.
pub fn frozen_text(entry: &Entry, token: &Token, paths: &[String], style: Style) -> String {
    let reruns: Vec<&str> = token.reruns.iter().map(|seen| seen.name()).collect();
    let mut text = format!("seedgate: {}: {}\n", style.good("frozen"), style.strong(&line_of(&entry.test.0)));
    let left = token.issued.until(entry.expires);
    for (name, value) in [
        ("owner", format!("{}, until {} ({} left)", line_of(&entry.owner), entry.expires, days(left))),
        ("runs", reruns.join(" ")),
        ("fixtures", format!("{}: the entry is void when they move, or the test does", short(&token.fixture_digest))),
        ("evidence", short(&token.evidence_sha256).to_owned()),
    ] {
        let _ = writeln!(text, "  {}  {value}", style.dim(&format!("{name:<8}")));
    }
    let paths: Vec<String> = paths.iter().map(|path| line_of(path)).collect();
    let _ = writeln!(text, "  {}  git add {}, and commit them alone", style.dim("next:"), paths.join(" "));
    text
}

/// An entry that was taken out, for people.
pub fn closed_text(id: &PropId, paths: &[String], style: Style) -> String {
    let paths: Vec<String> = paths.iter().map(|path| line_of(path)).collect();
    let next = style.dim("next:");
    format!("seedgate: {}: {}\n  {next}  git add -A -- {}\n", style.good("taken out"), line_of(&id.0), paths.join(" "))
}

pub(super) fn days(count: i64) -> String {
    if count == 1 { "1 day".to_owned() } else { format!("{count} days") }
}

pub(super) fn faults_of<'f>(faults: &'f [Fault], id: &'f PropId) -> impl Iterator<Item = &'f str> {
    faults.iter().filter(move |fault| fault.test == *id).map(|fault| fault.says.as_str())
}

/// The frozen tests for people.
pub fn frozen_list_text(freeze: &Freeze, faults: &[Fault], today: Day, style: Style) -> String {
    let valid = freeze.entries.iter().filter(|entry| faults_of(faults, &entry.test).next().is_none()).count();
    let other = freeze.entries.len() - valid;
    let mut text = match (freeze.entries.len(), other) {
        (0, _) => "seedgate: nothing is frozen\n".to_owned(),
        (count, 0) => format!("seedgate: {} frozen\n", plural(count, "test")),
        (count, other) => format!("seedgate: {} frozen, {}\n", plural(count, "test"), style.bad(&format!("{other} of them in vain"))),
    };
    for entry in &freeze.entries {
        let _ = writeln!(text, "\n  {}", style.strong(&line_of(&entry.test.0)));
        let left = today.until(entry.expires);
        let left = if left < 0 { style.bad("expired") } else { format!("{} left", days(left)) };
        let _ = writeln!(text, "    {}, until {} ({left})", line_of(&entry.owner), entry.expires);
        for says in faults_of(faults, &entry.test) {
            let _ = writeln!(text, "    {}", style.bad(&line_of(says)));
        }
        if faults_of(faults, &entry.test).next().is_some() {
            let _ = writeln!(text, "    {}  seedgate freeze close {}", style.dim("next:"), line_of(&entry.test.0));
        }
    }
    text
}

/// `seedgate.freeze-list/1`.
pub fn frozen_list_json(freeze: &Freeze, faults: &[Fault], today: Day) -> Value {
    let mut entries = entries_json(freeze, faults, today);
    for (row, entry) in entries.iter_mut().zip(&freeze.entries) {
        row["token"] = json!(entry.token);
    }
    json!({"schema": "seedgate.freeze-list/1", "today": today, "entries": entries})
}

/// The entries without their tokens.
pub(super) fn entries_json(freeze: &Freeze, faults: &[Fault], today: Day) -> Vec<Value> {
    let told = |entry: &Entry| {
        let faults: Vec<&str> = faults_of(faults, &entry.test).collect();
        let days_left = today.until(entry.expires);
        json!({"test": entry.test, "owner": entry.owner, "expires": entry.expires, "days_left": days_left, "holds": faults.is_empty(), "faults": faults})
    };
    freeze.entries.iter().map(told).collect()
}

/// A run of a suite for people: first whether it fails, then what did, then what is frozen.
pub fn suite_text(suite: &Suite, freeze: &Freeze, faults: &[Fault], today: Day, style: Style) -> String {
    let frozen = match suite.frozen_failed.len() {
        0 => String::new(),
        count => format!(", and {} that {} frozen", plural(count, "failure"), if count == 1 { "is" } else { "are" }),
    };
    let mut text = match (suite.failed.len(), suite.unexplained()) {
        (0, None) => format!("seedgate: {}: {} ran, nothing failed{}\n", style.good("clear"), plural(suite.tests, "test"), but(&frozen)),
        (0, Some(says)) => format!("seedgate: {}: {says}{frozen}\n", style.bad("failed")),
        (count, _) => {
            format!("seedgate: {}: {} of {}{frozen}\n", style.bad("failed"), plural(count, "failure"), plural(suite.tests, "test"))
        }
    };
    for (name, says) in suite.failed.iter().take(SHOWN * 4) {
        let _ = writeln!(text, "  {}  {}\n      {}", style.bad("failed"), style.strong(&line_of(name)), line_of(says));
    }
    if suite.failed.len() > SHOWN * 4 {
        let _ = writeln!(text, "  … and {} more (--json lists all)", suite.failed.len() - SHOWN * 4);
    }
    for (id, says) in &suite.frozen_failed {
        let _ = writeln!(
            text,
            "  {}  {}{}\n      {}",
            style.warn("frozen"),
            style.strong(&line_of(&id.0)),
            terms(freeze, id, today),
            line_of(says)
        );
    }
    for (ids, word) in [(&suite.frozen_passed, "frozen, and passed"), (&suite.frozen_absent, "frozen, and did not run")] {
        for id in ids {
            let _ = writeln!(text, "  {}  {}{}", style.dim(word), line_of(&id.0), terms(freeze, id, today));
        }
    }
    for fault in faults {
        let _ = writeln!(text, "  {}  {}: {}", style.bad("not frozen"), line_of(&fault.test.0), line_of(&fault.says));
    }
    text
}

fn but(frozen: &str) -> String {
    frozen.replacen(", and ", " but ", 1)
}

/// Whose a freeze is, and for how long.
fn terms(freeze: &Freeze, id: &PropId, today: Day) -> String {
    freeze.entry(id).map_or_else(String::new, |entry| format!(" ({}, {} left)", line_of(&entry.owner), days(today.until(entry.expires))))
}

/// `seedgate.freeze-run/1`.
pub fn suite_json(suite: &Suite, freeze: &Freeze, faults: &[Fault], today: Day) -> Value {
    let told = |(id, says): &(PropId, String)| {
        let entry = freeze.entry(id);
        json!({"test": id, "says": says, "owner": entry.map(|entry| &entry.owner), "days_left": entry.map(|entry| today.until(entry.expires))})
    };
    let failed: Vec<Value> = suite.failed.iter().map(|(name, says)| json!({"test": name, "says": says})).collect();
    let faults: Vec<Value> = faults.iter().map(|fault| json!({"test": fault.test, "says": fault.says})).collect();
    json!({
        "schema": "seedgate.freeze-run/1", "command": suite.made.command, "began": suite.made.began, "seconds": suite.made.seconds,
        "fixture_digest": suite.made.fixture_digest, "tools": {"seedgate": env!("CARGO_PKG_VERSION"), "git": suite.made.git}, "fails": suite.fails(), "command_exit": suite.code, "unexplained": suite.unexplained(), "tests": suite.tests,
        "failed": failed, "frozen_failed": suite.frozen_failed.iter().map(told).collect::<Vec<_>>(), "frozen_passed": suite.frozen_passed,
        "frozen_absent": suite.frozen_absent, "not_frozen": faults,
    })
}
