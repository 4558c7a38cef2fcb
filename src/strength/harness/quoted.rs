//! Owns commands that other languages hold in quotes: sessions of nox, steps of a Jenkinsfile, scripts of `pyproject.toml`.

use std::collections::BTreeSet;

use toml::{Table, Value};

use crate::strength::harness::ini::{line_of, table};
use crate::strength::harness::runners::Run;
use crate::strength::harness::steps::{self, Shell, Step};

/// Longest call that is read, in bytes.
const LONGEST: usize = 4_000;
/// Most calls of one file that are read.
const MOST_CALLS: usize = 500;
/// Deepest tables of scripts.
const DEEPEST: usize = 6;

/// One quoted text and where it ends.
struct Quoted {
    text: String,
    end: usize,
}

/// Reads the text that begins with a quote at a place: `'…'`, `"…"` or three of them.
fn quoted(text: &str, at: usize) -> Option<Quoted> {
    let rest = text.get(at..)?;
    let mark = [r#"""""#, "'''", "\"", "'"].into_iter().find(|mark| rest.starts_with(mark))?;
    let body = rest.get(mark.len()..)?;
    let (mut inner, mut escaped) = (String::new(), false);
    for (place, c) in body.char_indices().take(LONGEST) {
        if escaped {
            inner.push(c);
            escaped = false;
        } else if body.get(place..)?.starts_with(mark) {
            return Some(Quoted { text: inner, end: at + mark.len() + place + mark.len() });
        } else if c == '\\' {
            escaped = true;
        } else if c == '\n' && mark.len() == 1 {
            return None;
        } else {
            inner.push(c);
        }
    }
    None
}

fn line_at(text: &str, at: usize) -> u32 {
    u32::try_from(text.get(..at).unwrap_or_default().matches('\n').count() + 1).unwrap_or(u32::MAX)
}

/// The commands of nox's sessions: `session.run("pytest", …)`.
pub(super) fn of_nox(text: &str) -> Vec<Step> {
    let mut found = Vec::new();
    let starts = text.match_indices(".run(").take(MOST_CALLS).map(|(at, call)| at + call.len());
    for at in starts
        .filter(|at| !text.get(..*at).and_then(|front| front.lines().next_back()).is_some_and(|line| line.trim_start().starts_with('#')))
    {
        let (words, accepts) = arguments(text, at);
        let Some(run) = Run::of(&words) else { continue };
        let session = text.get(..at).unwrap_or_default().rmatch_indices("def ").next().and_then(|(def, _)| text.get(def + 4..));
        let scope = session.and_then(|rest| rest.split('(').next()).unwrap_or_default().to_owned();
        let silenced: BTreeSet<String> = accepts.into_iter().collect();
        found.push(Step { run, text: words.join(" "), line: line_at(text, at), scope, silenced });
    }
    found
}

/// The texts of a call's plain arguments, and which failures it takes for a success.
fn arguments(text: &str, from: usize) -> (Vec<String>, Option<String>) {
    let (mut words, mut accepts) = (Vec::new(), None);
    let (mut at, mut depth, mut named) = (from, 0_usize, false);
    let end = from.saturating_add(LONGEST).min(text.len());
    while at < end {
        let Some(c) = text.get(at..).and_then(|rest| rest.chars().next()) else { break };
        if let Some(inner) = quoted(text, at) {
            if depth == 0 && !named {
                words.push(inner.text);
            }
            at = inner.end;
            continue;
        }
        match c {
            '(' | '[' | '{' => depth += 1,
            ')' if depth == 0 => break,
            ')' | ']' | '}' => depth = depth.saturating_sub(1),
            '=' if depth == 0 => {
                named = true;
                let key = text.get(from..at).unwrap_or_default().rsplit([',', '(', '\n']).next().unwrap_or_default().trim();
                let value = text.get(at + 1..).and_then(|rest| rest.split([']', ')']).next()).unwrap_or_default().trim();
                let codes = value.trim_start_matches('[').split(',').map(str::trim).filter(|code| !code.is_empty());
                if key == "success_codes" && codes.into_iter().any(|code| code != "0") {
                    accepts = Some(format!("success_codes = {value}]"));
                }
            }
            ',' if depth == 0 => named = false,
            _ => {}
        }
        at += c.len_utf8();
    }
    (words, accepts)
}

/// The scripts of a Jenkinsfile: `sh 'pytest'`, `sh(script: "pytest")`.
pub(super) fn of_jenkins(text: &str) -> Vec<Step> {
    let (mut found, mut calls) = (Vec::new(), 0);
    for (at, _) in text.match_indices("sh") {
        let alone = !text.get(..at).unwrap_or_default().ends_with(|c: char| c.is_alphanumeric() || c == '_' || c == '.');
        let Some(rest) = text.get(at + 2..).filter(|_| alone) else { continue };
        let gap = rest.len() - rest.trim_start_matches([' ', '(']).len();
        let label = rest.get(gap..).filter(|rest| rest.starts_with("script:")).map_or(0, |rest| {
            let value = rest.trim_start_matches("script:");
            rest.len() - value.trim_start().len()
        });
        let Some(inner) = quoted(text, at + 2 + gap + label).filter(|_| calls < MOST_CALLS) else { continue };
        calls += 1;
        let call = text.get(inner.end..).and_then(|rest| rest.split([')', '\n']).next()).unwrap_or_default();
        let line = line_at(text, at);
        let mut here =
            steps::of_script(inner.text.lines().map(|script| (line, script.trim())), Shell { errexit: true, pipefail: false }, "");
        if call.contains("returnStatus: true") {
            here.iter_mut().for_each(|step| step.silenced.extend(["returnStatus: true".to_owned()]));
        }
        found.append(&mut here);
    }
    found
}

/// The scripts of `pyproject.toml`: those of hatch, poe, pdm and taskipy.
pub(super) fn of_pyproject(text: &str) -> Vec<Step> {
    let Ok(whole) = table(text) else { return Vec::new() };
    let tool = |name: &str, part: &str| whole.get("tool")?.get(name)?.get(part)?.as_table();
    let mut found = Vec::new();
    for (name, part) in [("poe", "tasks"), ("pdm", "scripts"), ("taskipy", "tasks")] {
        tool(name, part).into_iter().for_each(|scripts| commands(scripts, text, name, &mut found));
    }
    for (name, environment) in tool("hatch", "envs").into_iter().flatten() {
        let scripts = environment.get("scripts").and_then(Value::as_table);
        scripts.into_iter().for_each(|scripts| commands(scripts, text, name, &mut found));
    }
    found
}

fn commands(scripts: &Table, text: &str, scope: &str, found: &mut Vec<Step>) {
    for (name, script) in scripts {
        let mut lines = Vec::new();
        written(script, &mut lines, 0);
        let line = line_of(text, name);
        for command in lines {
            let passed = command.starts_with("- ");
            let command = command.trim_start_matches("- ");
            let mut here = steps::of_script([(line, command)], Shell { errexit: true, pipefail: false }, &format!("{scope}.{name}"));
            let ignores = script.get("ignore_fail").is_some_and(|value| value.as_bool() != Some(false));
            if passed || ignores {
                here.iter_mut().for_each(|step| step.silenced.extend(["its failure is passed over".to_owned()]));
            }
            found.append(&mut here);
        }
    }
}

/// The commands of a script: a text, a list, or a table that holds either.
fn written(script: &Value, lines: &mut Vec<String>, depth: usize) {
    match script {
        _ if depth > DEEPEST => {}
        Value::String(command) => lines.push(command.clone()),
        Value::Array(parts) => parts.iter().for_each(|part| written(part, lines, depth + 1)),
        Value::Table(parts) => {
            let keys = ["cmd", "shell", "sequence", "composite", "script"].into_iter().filter_map(|key| parts.get(key));
            keys.for_each(|part| written(part, lines, depth + 1));
        }
        _ => {}
    }
}
