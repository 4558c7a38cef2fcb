//! Owns pytest's configuration: which file of a folder counts, and which of its keys choose, drop, repeat or silence tests.

use std::collections::BTreeSet;

use crate::strength::harness::ini::{self, Section, Value};
use crate::strength::harness::options::{Options, is_lower};
use crate::strength::harness::paths::{like, root, under_any};
use crate::strength::harness::{Loss, Sight, joined, read};
use crate::tree::{RepoPath, Tree, TreeError};

/// The files that say how much coverage is enough, in coverage's own order, and their sections.
const COVERAGE: [(&str, &str); 4] =
    [(".coveragerc", "report"), ("setup.cfg", "coverage:report"), ("tox.ini", "coverage:report"), ("pyproject.toml", "")];

/// Whether a file of this name may say how much coverage is enough.
pub(super) fn is_coverage(name: &[u8]) -> bool {
    COVERAGE.iter().any(|(file, _)| file.as_bytes() == name)
}

/// The files that pytest asks in a folder; the first that has its section counts.
const FILES: [&str; 7] = ["pytest.toml", ".pytest.toml", "pytest.ini", ".pytest.ini", "pyproject.toml", "tox.ini", "setup.cfg"];

/// Whether a file of this name may configure pytest.
pub(super) fn is_config(name: &[u8]) -> bool {
    FILES.iter().any(|file| file.as_bytes() == name)
}

/// The configuration of one folder.
pub(super) struct Config {
    path: RepoPath,
    /// Its keys.
    pub(super) keys: Section,
}

/// Compares the configuration of a folder before and after, whichever file it lies in.
pub(super) fn losses(sight: &Sight<'_>, folder: &[u8], changed: &[&RepoPath]) -> Result<Vec<Loss>, TreeError> {
    let Ok(base) = effective(sight.base, folder)? else { return Ok(Vec::new()) };
    let patch = match effective(sight.patch, folder)? {
        Ok(patch) => patch,
        Err(broken) if base.is_some() || !broken.path.name().starts_with(b"pyproject") => return Ok(vec![broken]),
        Err(_) => return Ok(Vec::new()),
    };
    let none = Section::new();
    let (was, is) = (base.as_ref().map_or(&none, |c| &c.keys), patch.as_ref().map_or(&none, |c| &c.keys));
    if was == is {
        return Ok(Vec::new());
    }
    let home = [&patch, &base].into_iter().flatten().map(|config| &config.path).find(|path| changed.contains(path));
    let Some(path) = home.or_else(|| changed.first().copied()) else { return Ok(Vec::new()) };
    let comparison = Comparison { was, is, folder };
    let mut says = comparison.keys();
    says.extend(comparison.collection(sight)?);
    Ok(says.into_iter().map(|(line, says)| Loss::at(path, line, says)).collect())
}

/// The files of the candidate that a bare `pytest` at the root collected by the base's configuration.
pub(super) fn collected(sight: &Sight<'_>) -> Result<Vec<String>, TreeError> {
    let keys = effective(sight.base, b"")?.ok().flatten().map(|config| config.keys).unwrap_or_default();
    let selection = Selection::of(&keys);
    Ok(sight.modules(b"")?.into_iter().filter(|path| selection.collects(path)).collect())
}

/// The configuration that counts in a folder, or why it cannot be read.
pub(super) fn effective(tree: &dyn Tree, folder: &[u8]) -> Result<Result<Option<Config>, Loss>, TreeError> {
    for file in FILES {
        let path = joined(folder, file);
        let Some(text) = read(tree, &path)? else { continue };
        match keys(file, &text) {
            Ok(Some(keys)) => return Ok(Ok(Some(Config { path, keys: overridden(keys) }))),
            Ok(None) => {}
            Err((line, says)) => return Ok(Err(Loss::unreadable(&path, line, &says))),
        }
    }
    Ok(Ok(None))
}

/// With the values that `addopts` sets by `-o key=value`.
fn overridden(mut keys: Section) -> Section {
    let line = keys.get("addopts").map_or(1, |(_, line)| *line);
    for (key, value) in options(&keys).overrides.into_iter().filter(|(key, _)| key != "addopts") {
        keys.insert(key, (Value::Text(value), line));
    }
    keys
}

/// What overriding values of a command take away that the base's command did not.
pub(super) fn narrowed(was: &Options, is: &Options, tests: &[String]) -> Option<String> {
    if was.overrides == is.overrides {
        return None;
    }
    let section = |options: &Options| -> Section {
        options.overrides.iter().map(|(key, value)| (key.clone(), (Value::Text(value.clone()), 1))).collect()
    };
    let (was, is) = (section(was), section(is));
    let names = names(&was, &is).into_iter().next().map(|(_, says)| format!("-o {says}"));
    let (before, after) = (Selection::of(&was), Selection::of(&is));
    names
        .or_else(|| tests.iter().find(|path| before.collects(path) && !after.collects(path)).map(|path| format!("-o: does not run {path}")))
}

/// Functions and classes that are not taken for tests any more.
fn names(was: &Section, is: &Section) -> Vec<(&'static str, String)> {
    let mut says = Vec::new();
    for (key, default) in [("python_functions", "test"), ("python_classes", "Test")] {
        let (was, is) = (patterns(was, key, default), patterns(is, key, default));
        let lost: Vec<&str> = was.iter().filter(|name| !is.iter().any(|other| covers(other, name))).map(String::as_str).collect();
        if !lost.is_empty() {
            says.push((key, format!("{key}: {:?} -> {:?} drops tests named {}", was.join(" "), is.join(" "), lost.join(" "))));
        }
    }
    says
}

/// The coverage that a folder's configuration asks for: the file, the number and its line.
fn floor(tree: &dyn Tree, folder: &[u8]) -> Result<Option<(RepoPath, String, u32)>, TreeError> {
    for (file, section) in COVERAGE {
        let path = joined(folder, file);
        let Some(text) = read(tree, &path)? else { continue };
        let found = if section.is_empty() {
            let whole = ini::table(&text).unwrap_or_default();
            let report = whole.get("tool").and_then(|tool| tool.get("coverage")?.get("report")).and_then(|report| report.as_table());
            report.and_then(|report| ini::section(report, &text).remove("fail_under"))
        } else {
            ini::ini(&text).remove(section).and_then(|mut report| report.remove("fail_under"))
        };
        if let Some((value, line)) = found {
            return Ok(Some((path, value.shown(), line)));
        }
    }
    Ok(None)
}

/// Coverage that is not asked for any more; a number that moves to another file of the folder, or to `addopts`, holds.
pub(super) fn coverage(sight: &Sight<'_>, folder: &[u8]) -> Result<Option<Loss>, TreeError> {
    let Some((from, was, _)) = floor(sight.base, folder)? else { return Ok(None) };
    let is = floor(sight.patch, folder)?;
    if let Some((path, is, line)) = is {
        return Ok(is_lower(&is, &was).then(|| Loss::at(&path, Some(line), format!("coverage: fail_under {was} -> {is}"))));
    }
    let by_option = effective(sight.patch, folder)?.ok().flatten().and_then(|config| options(&config.keys).floor);
    let gone = by_option.is_none_or(|is| is_lower(&is, &was));
    Ok((gone && !is_lower(&was, "1")).then(|| Loss::at(&from, None, format!("coverage: fail_under {was} is gone"))))
}

fn keys(file: &str, text: &str) -> Result<Option<Section>, (u32, String)> {
    let of_ini = |section: &str| ini::ini(text).remove(section);
    Ok(match file {
        "pytest.ini" | ".pytest.ini" => Some(of_ini("pytest").unwrap_or_default()),
        "tox.ini" => of_ini("pytest"),
        "setup.cfg" => of_ini("tool:pytest"),
        "pyproject.toml" => {
            let whole = ini::table(text)?;
            let pytest = whole.get("tool").and_then(|tool| tool.get("pytest")).and_then(|pytest| pytest.as_table());
            let options = pytest.and_then(|pytest| pytest.get("ini_options")).and_then(|options| options.as_table()).or(pytest);
            options.map(|options| ini::section(options, text))
        }
        _ => ini::table(text)?
            .get("pytest")
            .and_then(|options| options.as_table())
            .map(|options| ini::section(options, text))
            .or_else(|| Some(Section::new())),
    })
}

struct Comparison<'a> {
    was: &'a Section,
    is: &'a Section,
    folder: &'a [u8],
}

type Says = Vec<(Option<u32>, String)>;

impl Comparison<'_> {
    /// Keys that count by themselves.
    fn keys(&self) -> Says {
        let mut says: Says = Vec::new();
        let was = options(self.was);
        let mut is = options(self.is);
        for key in ["strict", "strict_markers", "strict_config"].into_iter().filter(|key| is_true(self.is, key)) {
            is.demands.insert(format!("--{}", key.replace('_', "-")));
        }
        says.extend(is.losses(&was).into_iter().map(|loss| (self.line("addopts"), format!("addopts: {loss}"))));
        for (key, twin) in
            [("xfail_strict", "strict_xfail"), ("strict_markers", "strict"), ("strict_config", "strict"), ("strict", "strict")]
        {
            let yes = |section: &Section| [key, twin, "strict"].iter().any(|k| is_true(section, k));
            let own = is_true(self.was, key);
            let by_option = is.demands.iter().any(|demand| demand.trim_start_matches("--").replace('-', "_") == key);
            if own && !yes(self.is) && !by_option {
                says.push((self.line(key), format!("{key}: true -> {}", shown(self.is, key))));
            }
        }
        if count(self.is, "reruns") > count(self.was, "reruns") {
            says.push((self.line("reruns"), format!("reruns: {} -> {}", shown(self.was, "reruns"), shown(self.is, "reruns"))));
        }
        says.extend(self.warnings());
        says.extend(names(self.was, self.is).into_iter().map(|(key, says)| (self.line(key), says)));
        let auto = |section: &Section, key: &str| section.get(key).is_some_and(|(value, _)| value.shown() == "auto");
        if auto(self.was, "asyncio_mode") && !auto(self.is, "asyncio_mode") && !auto(self.is, "anyio_mode") {
            let lost = format!("asyncio_mode: auto -> {}: async tests without a mark are not run", shown(self.is, "asyncio_mode"));
            says.push((self.line("asyncio_mode"), lost));
        }
        says
    }

    /// Warnings that were errors and are none any more.
    fn warnings(&self) -> Says {
        let entries = |section: &Section| section.get("filterwarnings").map(|(value, _)| value.entries()).unwrap_or_default();
        let errors = |list: &[String]| list.iter().filter(|entry| entry.starts_with("error")).cloned().collect::<BTreeSet<String>>();
        let (was, is) = (entries(self.was), entries(self.is));
        let all = |list: &[String]| list.iter().any(|entry| entry == "ignore" || entry == "default" || entry == "always");
        let mut kept = errors(&is);
        kept.extend(options(self.is).demands.iter().filter_map(|d| d.strip_prefix("-W ").map(str::to_owned)));
        let mut lost: Vec<String> = Vec::new();
        if !kept.contains("error") {
            lost.extend(errors(&was).difference(&kept).map(|entry| format!("filterwarnings: {entry:?} is gone")));
        }
        if !errors(&was).is_empty() && all(&is) && !all(&was) {
            lost.push("filterwarnings: an entry for every warning stands beside \"error\"".to_owned());
        }
        lost.into_iter().map(|says| (self.line("filterwarnings"), says)).collect()
    }

    /// Test files that were collected and are not any more.
    fn collection(&self, sight: &Sight<'_>) -> Result<Says, TreeError> {
        let (was, is) = (Selection::of(self.was), Selection::of(self.is));
        if was == is {
            return Ok(Vec::new());
        }
        let lost: Vec<String> = sight.modules(self.folder)?.into_iter().filter(|path| was.collects(path) && !is.collects(path)).collect();
        let Some(first) = lost.first() else { return Ok(Vec::new()) };
        let keys = ["testpaths", "python_files", "norecursedirs", "addopts"];
        let key = keys.into_iter().find(|key| self.was.get(*key).map(|v| &v.0) != self.is.get(*key).map(|v| &v.0)).unwrap_or("testpaths");
        let more = if lost.len() > 1 { format!(" and {} more", lost.len() - 1) } else { String::new() };
        let says = format!("{key}: {} -> {} does not collect {first}{more}", shown(self.was, key), shown(self.is, key));
        Ok(vec![(self.line(key), says)])
    }

    fn line(&self, key: &str) -> Option<u32> {
        self.is.get(key).map(|(_, line)| *line)
    }
}

fn shown(section: &Section, key: &str) -> String {
    section.get(key).map_or_else(|| "nothing".to_owned(), |(value, _)| format!("{:?}", value.shown()))
}

fn options(section: &Section) -> Options {
    Options::parse(&section.get("addopts").map(|(value, _)| value.words()).unwrap_or_default())
}

fn is_true(section: &Section, key: &str) -> bool {
    section.get(key).is_some_and(|(value, _)| value.is_true())
}

fn count(section: &Section, key: &str) -> u32 {
    section.get(key).and_then(|(value, _)| value.shown().parse().ok()).unwrap_or(0)
}

fn patterns(section: &Section, key: &str, default: &str) -> Vec<String> {
    let words = section.get(key).map(|(value, _)| value.words());
    words.unwrap_or_else(|| vec![default.to_owned()])
}

/// Whether every name that one pattern takes is taken by another; `test_*` is as good as pytest's own `test`.
fn covers(other: &str, name: &str) -> bool {
    let stem = |text: &str| text.trim_end_matches('*').trim_end_matches('_').to_owned();
    if other == "*" || stem(other) == stem(name) {
        return true;
    }
    let (middle, text) = (other.trim_matches('*'), stem(name));
    match (other.starts_with('*'), other.ends_with('*') || !other.contains('*')) {
        (true, true) => text.contains(middle),
        (true, false) => name.ends_with(middle),
        (false, true) => text.starts_with(&stem(other)),
        (false, false) => false,
    }
}

/// Which files are collected.
#[derive(PartialEq)]
struct Selection {
    roots: Vec<String>,
    files: Vec<String>,
    hidden: Vec<String>,
    options: Options,
}

const DEFAULT_FILES: [&str; 2] = ["test_*.py", "*_test.py"];
const DEFAULT_HIDDEN: [&str; 9] = ["*.egg", ".*", "_darcs", "build", "CVS", "dist", "node_modules", "venv", "{arch}"];

impl Selection {
    fn of(section: &Section) -> Self {
        let options = options(section);
        let list = |key: &str, default: &[&str]| {
            section
                .get(key)
                .map_or_else(|| default.iter().map(|text| (*text).to_owned()).collect(), |(value, _): &(Value, u32)| value.words())
        };
        let named = match options.roots.is_empty() {
            true => list("testpaths", &[]).iter().map(|path| root(path)).collect(),
            false => options.roots.clone(),
        };
        Selection { roots: named, files: list("python_files", &DEFAULT_FILES), hidden: list("norecursedirs", &DEFAULT_HIDDEN), options }
    }

    /// Whether a file (by its path from the folder of the configuration) is collected.
    fn collects(&self, path: &str) -> bool {
        let (folders, name) = path.rsplit_once('/').unwrap_or(("", path));
        let file = self.files.iter().any(|pattern| like(pattern, name) || pattern.contains('/') && like(pattern, path));
        let hidden = folders.split('/').any(|part| !part.is_empty() && self.hidden.iter().any(|pattern| like(pattern, part)));
        file && !hidden && under_any(&self.roots, path, true) && !self.options.ignores(path)
    }
}
