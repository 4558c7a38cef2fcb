//! Owns a command line of pytest: which tests it takes, drops and repeats, and how strict it is.

use std::collections::BTreeSet;

use crate::strength::harness::paths::{crosses, root, under_any};

/// What the words of a command line (or of `addopts`) say.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Options {
    /// `-k`.
    pub(super) keyword: Option<String>,
    /// `-m`.
    pub(super) mark: Option<String>,
    /// Options that drop or repeat tests, spelt one way.
    pub(super) drops: BTreeSet<String>,
    /// Options that add tests or failures, spelt one way.
    pub(super) demands: BTreeSet<String>,
    /// Files and folders that are asked for.
    pub(super) roots: Vec<String>,
    /// Files, folders and globs that are passed over.
    pub(super) ignores: Vec<String>,
    /// Globs whose `*` crosses folders (`--ignore-glob`).
    pub(super) hidden: Vec<String>,
    /// `--reruns`.
    pub(super) reruns: u32,
    /// `--cov-fail-under`.
    pub(super) floor: Option<String>,
    /// `-o key=value`.
    pub(super) overrides: Vec<(String, String)>,
}

/// Options whose value may stand in the next word. The others that are not known stand alone or are followed by a word that is
/// taken for neither a value nor a path.
const VALUED: [&str; 38] = [
    "-k",
    "-m",
    "-p",
    "-W",
    "-o",
    "-c",
    "-n",
    "-r",
    "--deselect",
    "--ignore",
    "--ignore-glob",
    "--reruns",
    "--reruns-delay",
    "--maxfail",
    "--tb",
    "--durations",
    "--cov",
    "--cov-report",
    "--cov-config",
    "--junitxml",
    "--junit-xml",
    "--rootdir",
    "--confcutdir",
    "--basetemp",
    "--override-ini",
    "--config-file",
    "--timeout",
    "--numprocesses",
    "--dist",
    "--pythonwarnings",
    "--cov-fail-under",
    "--hypothesis-profile",
    "--hypothesis-seed",
    "--group",
    "--shard-id",
    "--shard",
    "--test-group",
    "--splits",
];
/// Options whose value names one part of the tests; a variable there is a matrix that runs all of them.
const PARTS: [&str; 4] = ["--group", "--shard-id", "--shard", "--test-group"];
/// Profiles of Hypothesis that are known to try as much or more than the default.
const KNOWN_PROFILES: [&str; 10] = ["", "default", "ci", "nightly", "weekly", "thorough", "full", "deep", "exhaustive", "release"];
const DROPS: [&str; 26] = [
    "--version",
    "-V",
    "--help",
    "-h",
    "--markers",
    "--fixtures-per-test",
    "--cache-show",
    "--collectonly",
    "--snapshot-update",
    "--force-regen",
    "--regen-all",
    "--suppress-no-test-exit-code",
    "--lf",
    "--last-failed",
    "--sw",
    "--stepwise",
    "--stepwise-skip",
    "--co",
    "--collect-only",
    "--noconftest",
    "--force-flaky",
    "--testmon",
    "--picked",
    "--fixtures",
    "--setup-plan",
    "--setup-only",
];
const FLAGS: [&str; 21] = [
    "--strict",
    "--strict-markers",
    "--strict-config",
    "--runxfail",
    "--doctest-modules",
    "--exitfirst",
    "--verbose",
    "--quiet",
    "--pyargs",
    "--pdb",
    "--showlocals",
    "--no-header",
    "--no-summary",
    "--no-cov",
    "--ff",
    "--failed-first",
    "--nf",
    "--new-first",
    "--cache-clear",
    "--full-trace",
    "--disable-warnings",
];
const DEMANDS: [&str; 5] = ["--strict", "--strict-markers", "--strict-config", "--runxfail", "--doctest-modules"];
/// Plugins that neither collect nor judge.
const HARMLESS: [&str; 14] = [
    "cacheprovider",
    "pastebin",
    "junitxml",
    "nose",
    "faulthandler",
    "logging",
    "terminalreporter",
    "sugar",
    "randomly",
    "random_order",
    "xdist",
    "cov",
    "pytest_cov",
    "legacypath",
];

impl Options {
    /// Reads the words after `pytest`.
    pub(super) fn parse(words: &[String]) -> Self {
        let mut options = Options::default();
        let mut rest = words.iter().map(String::as_str).peekable();
        while let Some(word) = rest.next() {
            if word == "--" {
                continue;
            }
            if !word.starts_with('-') || word == "-" {
                options.roots.push(root(word));
                continue;
            }
            let (name, inline) = split(word);
            let follows = rest.peek().is_some_and(|next| !next.starts_with('-') || name == "-k" || name == "-m");
            let valued = VALUED.contains(&name);
            let unknown = name.starts_with("--") && !FLAGS.contains(&name) && !DROPS.contains(&name);
            let value = match inline {
                Some(value) => value.to_owned(),
                None if follows && (valued || unknown) => rest.next().unwrap_or_default().to_owned(),
                None => String::new(),
            };
            options.take(name, value);
        }
        options.keyword = options.keyword.filter(|text| !text.trim().is_empty());
        options.mark = options.mark.filter(|text| !text.trim().is_empty());
        options
    }

    fn take(&mut self, name: &str, value: String) {
        match name {
            "-k" => self.keyword = Some(value),
            "-m" => self.mark = Some(value),
            "--reruns" => self.reruns = value.parse().unwrap_or(1),
            "--ignore" => self.ignores.push(root(&value)),
            "--ignore-glob" => self.hidden.push(value),
            "--cov-fail-under" => self.floor = Some(value),
            "--hypothesis-seed" => drop(self.drops.insert(format!("{name} {value}"))),
            "--hypothesis-profile" if !KNOWN_PROFILES.contains(&value.as_str()) && !value.contains('$') => {
                self.drops.insert(format!("{name} {value}"));
            }
            _ if PARTS.contains(&name) && !value.contains(['$', '{']) => drop(self.drops.insert(format!("{name} {value}"))),
            "--deselect" | "-c" | "--config-file" => drop(self.drops.insert(format!("{name} {value}"))),
            "-o" | "--override-ini" => {
                self.overrides.extend(value.split_once('=').map(|(k, v)| (k.trim().to_owned(), v.trim().to_owned())));
            }
            "-p" if value.strip_prefix("no:").is_some_and(|plugin| !HARMLESS.contains(&plugin)) => {
                self.drops.insert(format!("-p {value}"));
            }
            "-W" | "--pythonwarnings" if value.starts_with("error") => drop(self.demands.insert(format!("-W {value}"))),
            _ if DROPS.contains(&name) => drop(self.drops.insert(name.to_owned())),
            _ if DEMANDS.contains(&name) => drop(self.demands.insert(name.to_owned())),
            _ => {}
        }
    }

    /// What these words take away in comparison with others; paths are not compared here.
    pub(super) fn losses(&self, base: &Options) -> Vec<String> {
        let mut losses = Vec::new();
        for (flag, was, is) in [("-k", &base.keyword, &self.keyword), ("-m", &base.mark, &self.mark)] {
            if narrows(was.as_deref(), is.as_deref()) {
                let was = was.as_ref().map_or_else(|| "no selection".to_owned(), |was| format!("{flag} {was:?}"));
                losses.push(format!("{was} -> {flag} {:?} drops tests", is.as_deref().unwrap_or_default()));
            }
        }
        losses.extend(self.drops.difference(&base.drops).map(|drop| format!("{drop} drops, hides or narrows tests")));
        losses.extend(base.demands.difference(&self.demands).filter(|d| !self.demands_still(d)).map(|demand| format!("{demand} is gone")));
        if self.reruns > base.reruns {
            losses.push(format!("--reruns {} -> {}: a failure is repeated until it passes", base.reruns, self.reruns));
        }
        if let (Some(was), Some(is)) = (&base.floor, &self.floor)
            && is_lower(is, was)
        {
            losses.push(format!("--cov-fail-under {was} -> {is}: less coverage is asked for"));
        }
        losses
    }

    /// `-o xfail_strict=false` and its kin.
    pub(super) fn loosened(&self, base: &Options) -> impl Iterator<Item = String> {
        let fresh = self.overrides.iter().filter(|one| !base.overrides.contains(one));
        let strict = |key: &str| matches!(key, "xfail_strict" | "strict_xfail" | "strict" | "strict_markers" | "strict_config");
        let off =
            fresh.filter(move |(key, value)| strict(key) && matches!(value.to_ascii_lowercase().as_str(), "false" | "0" | "no" | "off"));
        off.map(|(key, value)| format!("-o {key}={value} is less strict"))
    }

    /// Whether a file is passed over.
    pub(super) fn ignores(&self, path: &str) -> bool {
        under_any(&self.ignores, path, false)
            || self.hidden.iter().any(|glob| {
                let mut folders = path.match_indices('/').map(|(at, _)| &path[..at]);
                crosses(glob, path) || folders.any(|folder| crosses(glob, folder))
            })
    }

    /// `--strict` stands for the other two, and a bare `error` for every category.
    fn demands_still(&self, demand: &str) -> bool {
        let has = |other: &str| self.demands.contains(other);
        match demand {
            "--strict-markers" | "--strict-config" => has("--strict"),
            "--strict" => has("--strict-markers"),
            _ => demand.starts_with("-W") && has("-W error"),
        }
    }
}

/// `--name=value`, `-kvalue` and `-k value`.
fn split(word: &str) -> (&str, Option<&str>) {
    if word.starts_with("--") {
        return word.split_once('=').map_or((word, None), |(name, value)| (name, Some(value)));
    }
    match word.char_indices().nth(2) {
        Some((at, _)) if VALUED.contains(&&word[..at]) => (&word[..at], Some(word[at..].trim_start_matches('='))),
        _ => (word, None),
    }
}

/// Whether one number is less than another; a text that is none says nothing.
pub(super) fn is_lower(is: &str, was: &str) -> bool {
    matches!((is.trim().parse::<f64>(), was.trim().parse::<f64>()), (Ok(is), Ok(was)) if is < was)
}

/// Whether a selecting expression takes less than before.
fn narrows(base: Option<&str>, patch: Option<&str>) -> bool {
    let Some(patch) = patch else { return false };
    let Some(base) = base else { return true };
    let (was, is) = (parts(base, " and "), parts(patch, " and "));
    let mixed = |text: &str| text.contains('(') || (text.contains(" or ") && text.contains(" and "));
    if was == is {
        return false;
    }
    if mixed(base) || mixed(patch) {
        return true;
    }
    if patch.contains(" or ") || base.contains(" or ") {
        let (was, is) = (parts(base, " or "), parts(patch, " or "));
        return patch.contains(" and ") || !was.is_subset(&is);
    }
    !is.is_subset(&was)
}

fn parts(text: &str, word: &str) -> BTreeSet<String> {
    let one = text.split_whitespace().collect::<Vec<_>>().join(" ");
    one.split(word).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::Options;
    use crate::strength::harness::words::words;

    fn losses(base: &str, patch: &str) -> Vec<String> {
        Options::parse(&words(patch)).losses(&Options::parse(&words(base)))
    }

    #[test]
    fn what_drops_hides_or_repeats_tests_is_a_loss() {
        for (base, patch) in [
            ("", "-k fast"),
            ("", "-kfast"),
            ("", "-m 'not slow'"),
            ("-m 'not slow'", "-m 'not slow and not net'"),
            ("-m 'a or b'", "-m a"),
            ("-k 'not a'", "-k 'b or not c'"),
            ("", "--deselect tests/a.py::test_x"),
            ("", "--deselect=tests/a.py::test_x"),
            ("", "--lf"),
            ("", "-q --collect-only"),
            ("", "--co"),
            ("", "-p no:hypothesis"),
            ("", "-pno:asyncio"),
            ("", "--reruns 3"),
            ("--reruns=1", "--reruns=2"),
            ("", "-c other.ini"),
            ("--strict-markers -q", "-q"),
            ("--doctest-modules", ""),
            ("-W error", "-W error::DeprecationWarning"),
            ("", "--version"),
            ("-q", "-q --collectonly"),
            ("", "--snapshot-update"),
            ("", "--suppress-no-test-exit-code"),
            ("", "--splits 4 --group 1"),
            ("", "--shard-id=0 --num-shards=4"),
            ("", "--hypothesis-seed=0"),
            ("", "--hypothesis-profile=quick"),
            ("--hypothesis-profile=ci", "--hypothesis-profile dev"),
            ("--cov-fail-under=95", "--cov-fail-under 10"),
        ] {
            assert_eq!(losses(base, patch).len(), 1, "{base:?} -> {patch:?}: {:?}", losses(base, patch));
        }
    }

    #[test]
    fn what_is_stricter_or_says_nothing_about_strength_holds() {
        for (base, patch) in [
            ("-k fast", ""),
            ("-m 'not slow and not net'", "-m 'not slow'"),
            ("-m a", "-m 'a or b'"),
            ("-m 'not  slow'", "-m 'not slow'"),
            ("", "-ra -q --strict-markers --cov src --cov-report xml -n auto"),
            ("", "-x --maxfail=3 --tb short --durations 10 -p no:cacheprovider -p my.plugin"),
            ("--strict-markers --strict-config", "--strict"),
            ("--reruns 3", "--reruns 1"),
            ("-W error::UserWarning", "-W error"),
            ("-q", "-vv --some-option=-k --other value"),
            ("--ff tests", "--ff -n auto tests"),
            ("", "--splits 4 --group ${{ matrix.group }}"),
            ("", "--hypothesis-profile=ci --hypothesis-show-statistics"),
            ("--hypothesis-profile=quick", "--hypothesis-profile=thorough"),
            ("--cov-fail-under=90", "--cov-fail-under=95.5"),
            ("", "--cov=shop --cov-fail-under=90"),
            ("-o xfail_strict=false", "-o xfail_strict=true"),
        ] {
            assert_eq!(losses(base, patch), Vec::<String>::new(), "{base:?} -> {patch:?}");
        }
    }

    #[test]
    fn a_glob_that_is_ignored_crosses_folders() {
        for (glob, path, yes) in [
            ("*props*", "tests/properties/test_cart_props.py", true),
            ("tests/prop*", "tests/properties/test_a.py", true),
            ("*/test_[ab].py", "tests/test_a.py", true),
            ("./tests/test_?.py", "tests/test_a.py", true),
            ("props*", "tests/test_a_props.py", false),
            ("*.txt", "tests/test_a.py", false),
            ("*[", "tests/test_a.py", true),
        ] {
            let options = Options::parse(&[format!("--ignore-glob={glob}")]);
            assert_eq!(options.ignores(path), yes, "{glob} {path}");
        }
    }

    #[test]
    fn values_are_not_taken_for_paths() {
        for (text, roots) in [
            ("--cov src tests/ ./docs", &["tests", "docs"][..]),
            ("-m slow . -q -x", &[""]),
            ("--unknown value", &[]),
            ("--strict-markers tests", &["tests"]),
        ] {
            assert_eq!(Options::parse(&words(text)).roots, roots, "{text}");
        }
    }
}
