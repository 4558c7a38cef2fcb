//! Owns files of build services: their test steps, and what around a step keeps its failure from counting.

use std::collections::BTreeSet;

use crate::strength::harness::events::EVENTS;
use crate::strength::harness::runners::{GATE, Run};
use crate::strength::harness::steps::{self, Shell, Step};
use crate::strength::harness::yaml::{Document, Scalar, listed};

/// Keys whose value is a command or a list of commands.
const COMMANDS: [&str; 12] =
    ["run", "script", "command", "commands", "bash", "sh", "pwsh", "powershell", "cmd", "cmds", "test_script", "before_script"];
/// Jobs whose conditions are followed.
const MOST_JOBS: usize = 300;

/// The test steps of a file; `github` runs scripts without `pipefail` unless the step asks for `bash`.
pub(super) fn steps(text: &str, github: bool) -> Vec<Step> {
    let document = Document::read(text);
    let mut found = Vec::new();
    let idle = if github { idle_jobs(&document) } else { BTreeSet::new() };
    for scalar in document.scalars.iter().filter(|scalar| scalar.key == "uses") {
        let runs = scalar.lines.iter().filter(|(_, line)| line.split('@').next().is_some_and(|action| action.contains("seedgate")));
        let mut runs = runs.peekable();
        if runs.peek().is_none() {
            continue;
        }
        let around = Around::of(&document, scalar, &idle);
        found.extend(runs.map(|(line, text)| {
            let run = Run { runner: GATE.to_owned(), ..Run::default() };
            let mut step = Step { run, text: text.clone(), line: *line, scope: scope(&document, scalar), silenced: BTreeSet::new() };
            around.touch(&mut step);
            step
        }));
    }
    for scalar in document.scalars.iter().filter(|scalar| COMMANDS.contains(&scalar.key.as_str())) {
        let lines = || scalar.lines.iter().map(|(number, line)| (*number, line.as_str()));
        let usual = Shell { errexit: true, pipefail: !github };
        let mut here = steps::of_script(lines(), usual, "");
        if !here.is_empty() {
            let shell = if github { shell_of(&document, scalar) } else { usual };
            here = steps::of_script(lines(), shell, &scope(&document, scalar));
            let mut around = Around::of(&document, scalar, &idle);
            around.reasons.extend((!github).then(|| hidden(&document, scalar)).flatten());
            here.iter_mut().for_each(|step| around.touch(step));
        }
        found.append(&mut here);
    }
    found
}

/// How a step of GitHub runs its script: the shell it asks for, or the default of its job or workflow.
fn shell_of(document: &Document, scalar: &Scalar) -> Shell {
    let chain: Vec<usize> = document.around(scalar.map).collect();
    let of_defaults = |at: &usize| {
        let outer = document.maps.get(*at).filter(|map| map.label == "run").and_then(|map| document.maps.get(map.outer?));
        outer.is_some_and(|outer| outer.label == "defaults" && outer.outer.is_some_and(|job| chain.contains(&job)))
    };
    let asked = |map: usize| document.own(map).find(|(key, _, _)| *key == "shell").map(|(_, value, _)| value);
    let defaults = || (0..document.maps.len()).rev().filter(of_defaults).find_map(asked);
    match asked(scalar.map).or_else(defaults) {
        // A shell with its own options has only these.
        Some(custom) if custom.contains("{0}") && custom.contains("sh") => {
            let errexit = custom.split_whitespace().any(|word| word.starts_with('-') && !word.starts_with("--") && word.contains('e'));
            Shell { errexit, pipefail: custom.contains("pipefail") }
        }
        other => Shell { errexit: true, pipefail: other.is_some_and(|shell| shell.starts_with("bash")) },
    }
}

/// Jobs of a workflow that never run: by their condition, or by a job that they need.
fn idle_jobs(document: &Document) -> BTreeSet<String> {
    let is_jobs = |outer: usize| document.maps.get(outer).is_some_and(|map| map.label == "jobs" && map.outer == Some(0));
    let jobs: Vec<usize> = (0..document.maps.len())
        .filter(|at| document.maps.get(*at).and_then(|map| map.outer).is_some_and(is_jobs))
        .take(MOST_JOBS)
        .collect();
    let label = |at: usize| document.maps.get(at).map(|map| map.label.clone()).unwrap_or_default();
    let mut idle: BTreeSet<String> = jobs
        .iter()
        .filter(|job| document.own(**job).any(|(key, value, _)| key == "if" && reason(key, value).is_some()))
        .map(|job| label(*job))
        .collect();
    for _ in 0..8 {
        let more: Vec<String> = jobs.iter().filter(|job| waits(document, **job, &idle).is_some()).map(|job| label(*job)).collect();
        let before = idle.len();
        idle.extend(more);
        if idle.len() == before {
            break;
        }
    }
    idle
}

/// The job that never runs, of those that one needs; `always()` runs it all the same.
fn waits(document: &Document, job: usize, idle: &BTreeSet<String>) -> Option<String> {
    if idle.is_empty()
        || document.own(job).any(|(key, value, _)| key == "if" && (value.contains("always()") || value.contains("!cancelled()")))
    {
        return None;
    }
    let needs = document.scalars.iter().filter(|scalar| scalar.map == job && scalar.key == "needs").flat_map(|scalar| &scalar.lines);
    needs.flat_map(|(_, line)| listed(line)).find(|need| idle.contains(need))
}

/// A job of GitLab that is hidden by a dot and that nothing takes up, or whose rules all say never.
fn hidden(document: &Document, scalar: &Scalar) -> Option<String> {
    let chain: Vec<usize> = document.around(scalar.map).collect();
    let job = *chain.iter().rev().nth(1)?;
    let label = document.maps.get(job).map(|map| map.label.as_str()).filter(|label| label.starts_with('.'));
    let extends = |name: &str| {
        document.scalars.iter().any(|s| {
            matches!(s.key.as_str(), "extends" | "<<" | "script") && s.lines.iter().any(|(_, l)| l.contains(name) || l.contains('*'))
        })
    };
    if let Some(name) = label.filter(|name| !extends(name)) {
        return Some(format!("the job {name} is hidden by its dot"));
    }
    // The first entry of a list bears its key, those behind it bear none.
    let (mut rules, mut inside) = (Vec::new(), false);
    for (at, map) in document.maps.iter().enumerate().filter(|(_, map)| map.outer == Some(job)) {
        inside = map.label == "rules" || (inside && map.label.is_empty());
        rules.extend(inside.then_some(at));
    }
    let never = |map: &usize| document.own(*map).any(|(key, value, _)| key == "when" && matches!(value, "never" | "manual"));
    if !rules.is_empty() && rules.iter().all(never) {
        return Some("rules: never".to_owned());
    }
    let only: Vec<String> =
        document.scalars.iter().filter(|s| s.map == job && s.key == "only").flat_map(|s| &s.lines).flat_map(|(_, l)| listed(l)).collect();
    let rare = |word: &String| matches!(word.as_str(), "schedules" | "tags" | "web" | "triggers" | "api" | "pipelines" | "chat");
    (!only.is_empty() && only.iter().all(rare)).then(|| format!("only: {}", only.join(", ")))
}

fn scope(document: &Document, scalar: &Scalar) -> String {
    let labels = document.around(scalar.map).filter_map(|map| document.maps.get(map)).map(|map| map.label.as_str());
    labels.filter(|label| !label.is_empty() && *label != "steps").collect::<Vec<_>>().join(" of ")
}

/// What the mappings around a step say of it.
#[derive(Default)]
struct Around {
    reasons: BTreeSet<String>,
    options: Vec<String>,
    optimized: bool,
}

impl Around {
    fn of(document: &Document, scalar: &Scalar, idle: &BTreeSet<String>) -> Self {
        let mut around = Around::default();
        let chain: Vec<usize> = document.around(scalar.map).collect();
        for (key, value, _) in chain.iter().flat_map(|map| document.own(*map)) {
            if let Some(reason) = reason(key, value) {
                around.reasons.insert(reason);
            }
        }
        if let Some(need) = chain.iter().find_map(|map| waits(document, *map, idle)) {
            around.reasons.insert(format!("needs: {need}, which never runs"));
        }
        let environments = document.maps.iter().enumerate().filter(|(_, map)| {
            matches!(map.label.as_str(), "env" | "variables" | "environment") && map.outer.is_some_and(|outer| chain.contains(&outer))
        });
        for (key, value, _) in environments.flat_map(|(map, _)| document.own(map)) {
            around.optimized |= key == "PYTHONOPTIMIZE" && value != "0";
            if key == "PYTEST_ADDOPTS" {
                around.options.extend(value.split_whitespace().map(str::to_owned));
            }
        }
        around
    }

    fn touch(&self, step: &mut Step) {
        step.silenced.extend(self.reasons.iter().cloned());
        step.run.optimized |= self.optimized;
        if step.run.runner == "pytest" {
            step.run.args.extend(self.options.iter().cloned());
        }
    }
}

fn reason(key: &str, value: &str) -> Option<String> {
    let bare = value.trim().trim_start_matches("${{").trim_end_matches("}}").trim().trim_matches(['"', '\'']).to_ascii_lowercase();
    let yes = matches!(bare.as_str(), "true" | "yes" | "on" | "always()" | "!false");
    let no = matches!(bare.as_str(), "false" | "no" | "off" | "0" | "never" | "!true" | "!always()");
    let counts = match key {
        "continue-on-error" | "allow_failure" | "continueOnError" | "soft_fail" | "ignore_failure" | "ignore_error" => yes,
        "if" => no || bare.split("&&").any(|part| !bare.contains("||") && is_rare(part.trim())),
        "condition" | "enabled" => no,
        "when" => matches!(bare.as_str(), "never" | "manual"),
        _ => false,
    };
    counts.then(|| format!("{key}: {}", value.trim()))
}

/// A condition of a step that no ordinary change meets.
fn is_rare(condition: &str) -> bool {
    let quoted = |text: &str| text.trim().trim_matches(['"', '\'']).to_owned();
    let literal = |text: &str| text.starts_with(['"', '\'']) || (!text.is_empty() && text.chars().all(|c| c.is_ascii_digit()));
    if let Some((left, right)) = condition.split_once("==") {
        let (left, right) = (left.trim(), right.trim());
        return match left {
            "github.event_name" => !EVENTS.contains(&quoted(right).as_str()) && !right.contains(['$', '.']),
            "github.ref_type" => quoted(right) == "tag",
            _ => literal(left) && (literal(right) || right.is_empty()) && quoted(left) != quoted(right),
        };
    }
    matches!(condition, "failure()" | "cancelled()")
        || ["startswith(github.ref, 'refs/tags", "contains(github.event.pull_request.labels", "contains(github.event.head_commit.message"]
            .iter()
            .any(|rare| condition.starts_with(rare))
}
