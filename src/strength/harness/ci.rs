//! Owns files of build services: their test steps, and what around a step keeps its failure from counting.

use std::collections::BTreeSet;

use crate::strength::harness::steps::{self, Shell, Step};
use crate::strength::harness::yaml::{Document, Scalar};

/// Keys whose value is a command or a list of commands.
const COMMANDS: [&str; 12] =
    ["run", "script", "command", "commands", "bash", "sh", "pwsh", "powershell", "cmd", "cmds", "test_script", "before_script"];
const EVENTS: [&str; 5] = ["push", "pull_request", "pull_request_target", "merge_group", "workflow_call"];

/// The test steps of a file; `github` runs scripts without `pipefail` unless the step asks for `bash`.
pub(super) fn steps(text: &str, github: bool) -> Vec<Step> {
    let document = Document::read(text);
    let mut found = Vec::new();
    for scalar in document.scalars.iter().filter(|scalar| COMMANDS.contains(&scalar.key.as_str())) {
        let asks_bash = document.own(scalar.map).any(|(key, value, _)| key == "shell" && value.starts_with("bash"));
        let shell = Shell { errexit: true, pipefail: !github || asks_bash };
        let lines = scalar.lines.iter().map(|(number, line)| (*number, line.as_str()));
        let mut here = steps::of_script(lines, shell, &scope(&document, scalar));
        if !here.is_empty() {
            let around = Around::of(&document, scalar);
            here.iter_mut().for_each(|step| around.touch(step));
        }
        found.append(&mut here);
    }
    found
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
    fn of(document: &Document, scalar: &Scalar) -> Self {
        let mut around = Around::default();
        let chain: Vec<usize> = document.around(scalar.map).collect();
        for (key, value, _) in chain.iter().flat_map(|map| document.own(*map)) {
            if let Some(reason) = reason(key, value) {
                around.reasons.insert(reason);
            }
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
        "if" | "condition" | "enabled" => no,
        "when" => matches!(bare.as_str(), "never" | "manual"),
        _ => false,
    };
    counts.then(|| format!("{key}: {}", value.trim()))
}

/// The events of changes that start a workflow.
pub(super) fn events(text: &str) -> BTreeSet<&'static str> {
    let document = Document::read(text);
    let top = document.scalars.iter().filter(|scalar| scalar.map == 0 && scalar.key == "on");
    let mut words: Vec<String> = top.flat_map(|scalar| &scalar.lines).map(|(_, line)| line.clone()).collect();
    let under = document.maps.iter().enumerate().filter(|(_, map)| map.label == "on" && map.outer == Some(0)).map(|(at, _)| at);
    words.extend(under.flat_map(|map| document.scalars.iter().filter(move |scalar| scalar.map == map)).map(|scalar| scalar.key.clone()));
    words.extend(document.scalars.iter().filter(|scalar| scalar.key == "on").flat_map(|s| &s.lines).map(|(_, line)| line.clone()));
    let has = |event: &&str| words.iter().any(|word| word.split(|c: char| !c.is_alphanumeric() && c != '_').any(|part| part == *event));
    EVENTS.into_iter().filter(has).collect()
}
