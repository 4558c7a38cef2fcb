//! Owns files that run tests: build services, make, tox, scripts and package files; what a change of them stops running.

use std::collections::BTreeSet;

use serde_json::Value as Json;

use crate::strength::harness::events::Starts;
use crate::strength::harness::ini::{ini, line_of};
use crate::strength::harness::runners::tells;
use crate::strength::harness::steps::{self, Lost, Shell, Step};
use crate::strength::harness::words::{logical, numbered};
use crate::strength::harness::{Loss, Sight, ci, managers, pytest_ini, quoted, read};
use crate::strength::languages::Language;
use crate::tree::{RepoPath, TreeError};

/// How a file is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Format {
    /// A workflow of GitHub and its kin.
    Workflow,
    /// Another build service's YAML.
    Yaml,
    /// make and just.
    Make,
    /// A shell script.
    Shell,
    /// tox.
    Tox,
    /// `package.json`.
    Package,
    /// nox.
    Nox,
    /// Jenkins.
    Jenkins,
    /// Scripts in `pyproject.toml`.
    Pyproject,
}

const YAML: [&str; 16] = [
    ".gitlab-ci.yml",
    ".travis.yml",
    "appveyor.yml",
    ".appveyor.yml",
    ".cirrus.yml",
    ".drone.yml",
    ".woodpecker.yml",
    "bitbucket-pipelines.yml",
    ".build.yml",
    "buildspec.yml",
    "cloudbuild.yaml",
    "Taskfile.yml",
    "Taskfile.yaml",
    "azure-pipelines.yml",
    "action.yml",
    "action.yaml",
];
const YAML_FOLDERS: [&str; 7] = [".gitlab/", ".circleci/", ".azure-pipelines/", ".woodpecker/", ".buildkite/", ".builds/", ".semaphore/"];
/// Files that a filter of paths is tried on.
const MOST_TRIED: usize = 2_000;
/// Workflows that are looked through for a command that a change dropped elsewhere.
const MOST_WORKFLOWS: usize = 200;

/// The format of a path, by its name.
pub(super) fn kind(path: &RepoPath) -> Option<Format> {
    let (text, name) = (path.as_str()?, std::str::from_utf8(path.name()).ok()?);
    let yaml = text.ends_with(".yml") || text.ends_with(".yaml");
    let script = [".sh", ".bash", ".zsh"].iter().any(|end| name.ends_with(end));
    if yaml && [".github/workflows/", ".gitea/workflows/", ".forgejo/workflows/"].iter().any(|folder| text.starts_with(folder)) {
        Some(Format::Workflow)
    } else if yaml
        && (YAML.contains(&name) || name.starts_with("azure-pipelines") || YAML_FOLDERS.iter().any(|folder| text.starts_with(folder)))
    {
        Some(Format::Yaml)
    } else if matches!(name, "Makefile" | "makefile" | "GNUmakefile" | "justfile" | "Justfile") || text.ends_with(".mk") {
        Some(Format::Make)
    } else if script || text.starts_with(".ci/") && !name.contains('.') {
        Some(Format::Shell)
    } else {
        match name {
            "tox.ini" => Some(Format::Tox),
            "package.json" => Some(Format::Package),
            "noxfile.py" => Some(Format::Nox),
            "pyproject.toml" => Some(Format::Pyproject),
            _ => name.starts_with("Jenkinsfile").then_some(Format::Jenkins),
        }
    }
}

struct File<'p> {
    path: &'p RepoPath,
    format: Format,
    texts: [String; 2],
    was: Vec<Step>,
    is: Vec<Step>,
}

/// What the changed files stop running.
pub(super) fn losses(sight: &Sight<'_>, paths: &[&RepoPath]) -> Result<Vec<Loss>, TreeError> {
    let mut files = Vec::new();
    for path in paths {
        let Some(format) = kind(path) else { continue };
        let texts = [read(sight.base, path)?.unwrap_or_default(), read(sight.patch, path)?.unwrap_or_default()];
        let [was, is] = [steps_of(format, &texts[0]), steps_of(format, &texts[1])];
        files.push(File { path, format, texts, was, is });
    }
    let mut losses: Vec<Loss> = files.iter().flat_map(File::beside).collect();
    for file in &files {
        losses.extend(file.starts(sight)?);
    }
    if files.iter().all(|file| file.was.iter().all(|step| file.is.contains(step))) {
        return Ok(losses);
    }
    let tests = pytest_ini::collected(sight)?;
    for (at, file) in files.iter().enumerate() {
        let elsewhere: Vec<&Step> =
            files.iter().enumerate().filter(|(other, _)| *other != at).flat_map(|(_, file)| file.gained()).collect();
        let mut standing = None;
        for lost in steps::lost(&file.was, &file.is, &tests) {
            let stands = |step: &Step| hides(sight, step, lost.step, &tests);
            if file.made_good(&lost, &elsewhere, &tests, &stands)? {
                continue;
            }
            if lost.nearest.is_none() && !file.is_idle(&lost.step.scope) {
                let standing = match &mut standing {
                    Some(standing) => standing,
                    slot => slot.insert(standing_steps(sight, paths)?),
                };
                if standing.iter().any(|step| steps::covers(step, lost.step, &tests)) || any(standing.iter(), &stands)? {
                    continue;
                }
            }
            losses.push(file.loss(&lost));
        }
    }
    Ok(losses)
}

/// Whether a step may run another behind a target or a script: what can be read of that is held against it.
fn hides(sight: &Sight<'_>, step: &Step, base: &Step, tests: &[String]) -> Result<bool, TreeError> {
    if !step.silenced.is_empty() || !step.run.may_hide(&base.run) {
        return Ok(false);
    }
    let script = step.text.split_whitespace().find(|word| word.ends_with(".sh")).map(|word| word.trim_start_matches("./"));
    let (path, target) = match (step.run.runner.strip_prefix("make "), script) {
        (Some(target), _) => (RepoPath::new("Makefile"), Some(target)),
        (None, Some(script)) => (RepoPath::new(script), None),
        (None, None) => return Ok(true),
    };
    let Some(format) = kind(&path) else { return Ok(true) };
    let text = read(sight.patch, &path)?.unwrap_or_default();
    let mut behind = steps_of(format, &text);
    behind.retain(|one| {
        one.run.runner == base.run.runner && target.is_none_or(|target| one.scope.split_whitespace().any(|name| name == target))
    });
    Ok(behind.is_empty() || behind.iter().any(|one| steps::covers(one, base, tests)))
}

fn any<'s>(steps: impl Iterator<Item = &'s Step>, stands: &impl Fn(&Step) -> Result<bool, TreeError>) -> Result<bool, TreeError> {
    for step in steps {
        if stands(step)? {
            return Ok(true);
        }
    }
    Ok(false)
}

fn steps_of(format: Format, text: &str) -> Vec<Step> {
    match format {
        Format::Workflow => ci::steps(text, true),
        Format::Yaml => ci::steps(text, false),
        Format::Make => of_make(text),
        Format::Shell => {
            steps::of_script(numbered(text), Shell { errexit: text.starts_with("#!") && first_line_exits(text), pipefail: false }, "")
        }
        Format::Tox => of_tox(text),
        Format::Package => of_package(text),
        Format::Nox => quoted::of_nox(text),
        Format::Jenkins => quoted::of_jenkins(text),
        Format::Pyproject => quoted::of_pyproject(text),
    }
}

/// `#!/bin/sh -e`.
fn first_line_exits(text: &str) -> bool {
    text.lines().next().and_then(|line| line.split_whitespace().last()).is_some_and(|flags| flags.starts_with('-') && flags.contains('e'))
}

/// Recipes: each logical line is a shell of its own; a leading `-` passes over a failure.
fn of_make(text: &str) -> Vec<Step> {
    let mut found = Vec::new();
    let mut target = String::new();
    let ignores_all = text.lines().any(|line| line.starts_with(".IGNORE:"));
    for (number, line) in logical(numbered(text)) {
        let recipe = line.trim_start();
        if !line.starts_with(['\t', ' ']) {
            if let Some((names, _)) = line.split_once(':').filter(|(names, _)| !names.contains('=') && !names.starts_with('#')) {
                names.trim().clone_into(&mut target);
            }
            continue;
        }
        let command = recipe.trim_start_matches(['@', '-', '+', ' ']);
        let marks = &recipe[..recipe.len() - command.len()];
        let mut here = steps::of_script([(number, command)], Shell { errexit: false, pipefail: false }, &target);
        if marks.contains('-') || ignores_all {
            here.iter_mut().for_each(|step| step.silenced.extend(["make passes over its failure (`-`)".to_owned()]));
        }
        found.append(&mut here);
    }
    found
}

fn of_tox(text: &str) -> Vec<Step> {
    let mut found = Vec::new();
    for (name, section) in ini(text).into_iter().filter(|(name, _)| name.starts_with("testenv")) {
        let outcome = section.get("ignore_outcome").is_some_and(|(value, _)| value.is_true());
        for key in ["commands", "commands_pre", "commands_post"] {
            let Some((value, line)) = section.get(key) else { continue };
            let plain: Vec<(u32, String)> = value.entries().into_iter().map(|entry| (*line, without_posargs(&entry))).collect();
            for (number, line) in logical(plain.iter().map(|(number, line)| (*number, line.as_str()))) {
                let command = line.trim_start_matches(['-', '!', ' ']);
                let mut here = steps::of_script([(number, command)], Shell { errexit: true, pipefail: true }, &name);
                if line.starts_with('-') || outcome {
                    let reason = if outcome { "ignore_outcome = true" } else { "tox passes over its failure (`-`)" };
                    here.iter_mut().for_each(|step| step.silenced.extend([reason.to_owned()]));
                }
                found.append(&mut here);
            }
        }
    }
    found
}

/// `{posargs:default}` as its default.
fn without_posargs(line: &str) -> String {
    let Some((front, rest)) = line.split_once("{posargs") else { return line.to_owned() };
    let Some((inner, back)) = rest.split_once('}') else { return line.to_owned() };
    format!("{front}{}{back}", inner.strip_prefix(':').unwrap_or_default())
}

fn of_package(text: &str) -> Vec<Step> {
    let scripts = serde_json::from_str::<Json>(text).ok().and_then(|json| json.get("scripts")?.as_object().cloned());
    let mut found = Vec::new();
    for (name, command) in scripts.into_iter().flatten().filter(|(name, _)| name.split(':').next() == Some("test")) {
        let line = line_of(text, &name);
        let command = command.as_str().unwrap_or_default();
        found.append(&mut steps::of_script([(line, command)], Shell { errexit: false, pipefail: false }, &name));
    }
    found
}

/// Test steps of the candidate's unchanged workflows that a change of code starts.
fn standing_steps(sight: &Sight<'_>, changed: &[&RepoPath]) -> Result<Vec<Step>, TreeError> {
    let mut found = Vec::new();
    let workflows = sight.patch.list(b".github/workflows")?.into_iter().map(|(path, _)| path).filter(|path| !changed.contains(&path));
    for path in workflows.filter(|path| kind(path) == Some(Format::Workflow)).take(MOST_WORKFLOWS) {
        let text = read(sight.patch, &path)?.unwrap_or_default();
        if !Starts::read(&text).is_empty() {
            found.append(&mut ci::steps(&text, true));
        }
    }
    Ok(found)
}

impl File<'_> {
    /// Steps that the base's file does not have.
    fn gained(&self) -> impl Iterator<Item = &Step> {
        self.is.iter().filter(|step| self.was.iter().all(|old| old.run != step.run || !old.silenced.is_empty()))
    }

    /// Whether other steps of the change stand for a lost one.
    fn made_good(
        &self,
        lost: &Lost<'_>,
        elsewhere: &[&Step],
        tests: &[String],
        stands: &impl Fn(&Step) -> Result<bool, TreeError>,
    ) -> Result<bool, TreeError> {
        if elsewhere.iter().any(|step| steps::covers(step, lost.step, tests)) {
            return Ok(true);
        }
        if lost.nearest.is_some() {
            return Ok(false);
        }
        Ok(!lost.step.silenced.is_empty() || any(self.gained().chain(elsewhere.iter().copied()), stands)?)
    }

    fn loss(&self, lost: &Lost<'_>) -> Loss {
        let was = format!("`{}`", lost.step.text);
        match lost.nearest {
            Some(step) if step.text == lost.step.text => Loss::at(self.path, Some(step.line), format!("{was}: {}", lost.why)),
            Some(step) => Loss::at(self.path, Some(step.line), format!("{was} -> `{}`: {}", step.text, lost.why)),
            None => Loss::at(self.path, None, lost.why.clone()),
        }
    }

    /// What else the file takes away: the events that start it, hooks moved or passed by.
    fn beside(&self) -> Vec<Loss> {
        let [was, is] = &self.texts;
        let mut losses = managers::hooks_moved(self.path, was, is);
        if matches!(self.format, Format::Make | Format::Shell | Format::Package) {
            losses.extend(managers::bypasses(self.path, was, is));
        }
        losses
    }

    /// Whether a change of code starts it as before.
    fn starts(&self, sight: &Sight<'_>) -> Result<Option<Loss>, TreeError> {
        if self.format != Format::Workflow || self.was.is_empty() || self.is.is_empty() {
            return Ok(None);
        }
        let (before, after) = (Starts::read(&self.texts[0]), Starts::read(&self.texts[1]));
        let mut says = after.lost(&before);
        if says.is_none() && after.asks_paths() && before != after {
            let tests = pytest_ini::collected(sight)?;
            let code = sight.patch.list(b"")?.into_iter().map(|(path, _)| path).filter(|path| Language::of(path).is_some());
            // What lies in a folder of tests is no code of its own.
            let top = |path: &str| path.split_once('/').map(|(folder, _)| folder.to_owned());
            let folders: BTreeSet<String> = tests.iter().filter_map(|path| top(path)).collect();
            let code = code.filter_map(|path| path.as_str().map(str::to_owned));
            let code = code.filter(|path| !tests.contains(path) && top(path).is_none_or(|folder| !folders.contains(&folder)));
            let code: Vec<String> = code.take(MOST_TRIED).collect();
            let tests: Vec<String> = tests.iter().take(MOST_TRIED).cloned().collect();
            let left_out = [tests, code].into_iter().find(|paths| after.leaves_out(&before, paths));
            says = left_out
                .and_then(|paths| paths.into_iter().next())
                .map(|path| format!("no change of {path} and its kind starts it any more"));
        }
        Ok(says.map(|says| Loss::at(self.path, None, says)))
    }

    /// Whether a target of tests is still there and does nothing any more.
    fn is_idle(&self, scope: &str) -> bool {
        let nothing = |command: &str| {
            let command = command.trim().trim_start_matches(['@', '-', '+', ' ']);
            let first = command.split_whitespace().next().unwrap_or_default();
            matches!(first, "" | "echo" | "true" | ":" | "printf" | "#")
                && !command.contains(['&', '|', ';', '`'])
                && !command.contains("$(")
                || command == "exit 0"
        };
        let text = &self.texts[1];
        match self.format {
            Format::Make => {
                let mut lines = text.lines().skip_while(|line| line.split_once(':').is_none_or(|(names, _)| names.trim() != scope));
                let needs =
                    lines.next().and_then(|line| line.split_once(':')).map(|(_, needs)| needs.split('#').next().unwrap_or_default().trim());
                tells(scope) && needs == Some("") && lines.take_while(|line| line.starts_with(['\t', ' ']) || line.is_empty()).all(nothing)
            }
            Format::Package => {
                let json = serde_json::from_str::<Json>(text).ok();
                json.as_ref().and_then(|json| json.get("scripts")?.get(scope)?.as_str()).is_some_and(nothing)
            }
            _ => false,
        }
    }
}
