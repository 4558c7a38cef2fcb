//! Owns test steps: the test commands of a script, what keeps their failure from counting, and which of them a change loses.

use std::collections::BTreeSet;

use crate::strength::harness::flow::Flow;
use crate::strength::harness::runners::Run;
use crate::strength::harness::words::{Token, logical, tokens};

/// A command that runs tests, where it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Step {
    /// The command.
    pub(super) run: Run,
    /// As written.
    pub(super) text: String,
    /// 1-based line.
    pub(super) line: u32,
    /// The job, target or section around it.
    pub(super) scope: String,
    /// Why its failure does not count.
    pub(super) silenced: BTreeSet<String>,
}

/// How a shell runs a script.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shell {
    /// It stops at the first command that fails.
    pub(super) errexit: bool,
    /// A pipe fails with any of its commands.
    pub(super) pipefail: bool,
}

/// The test steps of a script.
pub(super) fn of_script<'l>(lines: impl IntoIterator<Item = (u32, &'l str)>, mut shell: Shell, scope: &str) -> Vec<Step> {
    let lines: Vec<(u32, Vec<Token>)> =
        logical(lines).iter().map(|(number, text)| (*number, tokens(text))).filter(|(_, t)| !t.is_empty()).collect();
    let mut steps = Vec::new();
    let mut optimized = false;
    let mut flow = Flow::default();
    for (at, (number, tokens)) in lines.iter().enumerate() {
        let last = at + 1 == lines.len();
        let segments = segments(tokens);
        for (place, segment) in segments.iter().enumerate() {
            shell.set(&segment.words);
            optimized |= segment.words.iter().any(|w| w == "export")
                && segment.words.iter().any(|w| w.starts_with("PYTHONOPTIMIZE=") && !w.ends_with("=0"));
            if segment.then == "(" && segments.get(place + 1).is_some_and(|next| next.words.is_empty() && next.then == ")") {
                let line: Vec<String> = segments.iter().flat_map(|segment| segment.words.iter().cloned()).collect();
                segment.words.last().into_iter().for_each(|name| flow.defines(name, &line));
                continue;
            }
            let before = place.checked_sub(1).and_then(|before| segments.get(before));
            let never = flow.read(&segment.words, before.map_or((&[], ""), |s| (s.words.as_slice(), s.then)), segment.then);
            let Some(mut run) = Run::of(&segment.command()) else { continue };
            run.optimized |= optimized;
            let mut silenced = silenced(&segments, place, shell, last);
            silenced.extend(never);
            steps.push(Step { run, text: segment.words.join(" "), line: *number, scope: scope.to_owned(), silenced });
        }
    }
    steps
}

impl Shell {
    fn set(&mut self, words: &[String]) {
        if words.first().is_none_or(|word| word != "set") {
            return;
        }
        for word in &words[1..] {
            match word.split_at_checked(1) {
                Some(("-", flags)) if flags.contains('e') => self.errexit = true,
                Some(("+", flags)) if flags.contains('e') => self.errexit = false,
                _ => {}
            }
            self.pipefail |= word == "pipefail" && !words.iter().any(|word| word.starts_with('+'));
        }
    }
}

struct Segment {
    words: Vec<String>,
    /// The operator after it.
    then: &'static str,
}

const ASKING: [&str; 5] = ["!", "if", "while", "until", "elif"];

impl Segment {
    /// The words of the command itself, without redirections.
    fn command(&self) -> Vec<String> {
        let mut words = Vec::new();
        let mut target = false;
        for word in self.words.iter().skip_while(|word| ASKING.contains(&word.as_str())) {
            let redirects = word.trim_start_matches(|c: char| c.is_ascii_digit() || c == '&').starts_with(['>', '<']);
            if !redirects && !target {
                words.push(word.clone());
            }
            target = redirects && word.ends_with(['>', '<']);
        }
        words
    }
}

fn segments(tokens: &[Token]) -> Vec<Segment> {
    let mut segments = vec![Segment { words: Vec::new(), then: "" }];
    for token in tokens {
        match token {
            Token::Word(word) => segments.last_mut().into_iter().for_each(|segment| segment.words.push(word.clone())),
            Token::Operator(operator) => {
                if let Some(segment) = segments.last_mut() {
                    segment.then = operator;
                }
                segments.push(Segment { words: Vec::new(), then: "" });
            }
        }
    }
    segments
}

fn silenced(segments: &[Segment], place: usize, shell: Shell, last: bool) -> BTreeSet<String> {
    let mut reasons = BTreeSet::new();
    let Some(segment) = segments.get(place) else { return reasons };
    let after = &segments[place + 1..];
    if segment.words.first().is_some_and(|word| ASKING.contains(&word.as_str())) {
        reasons.insert(format!("its status is only asked for (`{}`)", segment.words[0]));
    }
    let follows = segments[place..].iter().map(|s| s.then).take_while(|then| !matches!(*then, ";" | "")).collect::<Vec<_>>();
    if let Some(then) = follows.iter().find(|then| **then == "||")
        && !after.iter().any(|segment| fails(&segment.words))
    {
        let right = after.iter().find(|segment| !segment.words.is_empty()).map(|segment| segment.words.join(" ")).unwrap_or_default();
        reasons.insert(format!("a failure is passed over by `{then} {right}`"));
    }
    if segment.then == "|" && !shell.pipefail {
        reasons.insert("its status is lost in a pipe".to_owned());
    }
    if segment.then == "&" {
        reasons.insert("it runs in the background".to_owned());
    }
    let more = !last || (follows.len() < after.len() && after.iter().any(|segment| !segment.words.is_empty()) && segment.then == ";");
    if !shell.errexit && more && segment.then != "&&" {
        reasons.insert("its status is not looked at (no `set -e`)".to_owned());
    }
    reasons
}

/// Whether a command ends the script as failed.
fn fails(words: &[String]) -> bool {
    let words: Vec<&str> = words.iter().map(String::as_str).filter(|word| !matches!(*word, "{" | "}")).collect();
    match words.as_slice() {
        ["false"] => true,
        ["exit" | "return", code] => *code != "0",
        _ => false,
    }
}

/// A base step that the candidate does not match, and why.
pub(super) struct Lost<'a> {
    /// The step.
    pub(super) step: &'a Step,
    /// The nearest one that is left.
    pub(super) nearest: Option<&'a Step>,
    /// What that one lacks.
    pub(super) why: String,
}

/// The steps of the base that no step of the candidate covers: one of its own scope first, else any.
pub(super) fn lost<'a>(base: &'a [Step], patch: &'a [Step], tests: &[String]) -> Vec<Lost<'a>> {
    let mut lost = Vec::new();
    for step in base {
        let same: Vec<&Step> = patch.iter().filter(|other| other.run.runner == step.run.runner).collect();
        let near: Vec<&Step> = same.iter().copied().filter(|other| other.scope == step.scope).collect();
        let among = if near.is_empty() { same } else { near };
        let mut lacks = among.iter().map(|other| (*other, lack(other, step, tests))).collect::<Vec<_>>();
        if lacks.iter().any(|(_, lack)| lack.is_none()) {
            continue;
        }
        lacks.sort_by_key(|(other, _)| (other.text != step.text, other.line));
        let nearest = lacks.into_iter().next();
        let why = nearest.as_ref().and_then(|(_, lack)| lack.clone()).unwrap_or_else(|| format!("`{}` is not run any more", step.text));
        lost.push(Lost { step, nearest: nearest.map(|(other, _)| other), why });
    }
    lost
}

/// What a step lacks of another of the same runner.
fn lack(step: &Step, base: &Step, tests: &[String]) -> Option<String> {
    step.silenced.difference(&base.silenced).next().cloned().or_else(|| step.run.narrower(&base.run, tests))
}

/// Whether a step stands for another, fully.
pub(super) fn covers(step: &Step, base: &Step, tests: &[String]) -> bool {
    step.run.runner == base.run.runner && lack(step, base, tests).is_none()
}
