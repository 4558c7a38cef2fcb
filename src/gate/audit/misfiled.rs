//! Owns the guess at misfiled paths: which pattern, were it no part of the mix, would leave how many commits unmixed.

use std::cmp::Reverse;
use std::collections::{BTreeSet, HashMap, HashSet};

use crate::partition::{Partition, Side};
use crate::settings::glob::Glob;
use crate::tree::RepoPath;

/// Most patterns that are suggested.
const MOST: usize = 8;
/// Fewest commits that a pattern must leave unmixed.
const FEWEST: usize = 2;
/// A side with more paths than these was not mixed by a misfiled path.
const PATHS: usize = 40;
/// Most folders remembered to hold source.
const FOLDERS: usize = 200_000;

/// Endings of files that are source, whatever they are called.
const SOURCE: &str = " py pyi pyx pxd rs js mjs cjs jsx ts mts cts tsx vue svelte go java kt kts scala groovy clj c h cc cpp cxx hh hpp hxx \
    cu m mm swift rb php cs fs vb ex exs erl hs ml mli lua pl pm r jl dart zig nim d f90 f95 sql sh bash zsh ps1 proto thrift ";
/// Endings of files that are prose or pictures, so that the ending alone may be a pattern.
const PROSE: &str = " rst txt adoc asciidoc textile org po pot svg png jpg jpeg gif ico ipynb html css ";
/// Folders that show or measure the code and are not it.
const BESIDE: &str = " doc docs documentation example examples sample samples demo demos bench benches benchmark benchmarks notebook notebooks \
    tutorial tutorials website ";

/// What a pattern would be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Means {
    /// Test code that the lists do not know.
    Test,
    /// No part of any mix: `split_required = "off"`.
    Apart,
}

/// A pattern that would leave commits unmixed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern {
    /// The glob.
    pub glob: String,
    /// The side its paths are counted on now.
    pub side: Side,
    /// What it would be.
    pub means: Means,
    /// Commits that would no longer be mixed, those of the patterns before it not counted again.
    pub commits: usize,
    /// One of its paths, shown.
    pub path: String,
    /// The newest of these commits, by its place.
    pub example: usize,
}

/// What is remembered of mixed commits and of the folders that hold source.
#[derive(Default)]
pub(super) struct Mixes {
    commits: Vec<Mix>,
    source: HashSet<Vec<u8>>,
    count: usize,
}

/// A commit that is mixed by paths that may be misfiled, perhaps: each list alone would do.
struct Mix {
    at: usize,
    sides: Vec<Vec<Suspect>>,
}

#[derive(Clone)]
struct Suspect {
    path: RepoPath,
    side: Side,
    means: Means,
}

type Key = (Means, Side, String);

impl Mixes {
    /// Remembers a commit. `mixed` says whether it is.
    pub(super) fn add(&mut self, at: usize, partition: &Partition, mixed: bool) {
        let production = partition.paths(Side::Production);
        if self.source.len() < FOLDERS {
            self.source.extend(production.iter().filter(|path| is_source(path)).flat_map(|path| folders_of(path)));
        }
        if !mixed {
            return;
        }
        self.count += 1;
        let all: Option<Vec<Suspect>> = Some(&production).filter(|paths| paths.len() <= PATHS).and_then(|paths| {
            let suspect = |path: &&RepoPath| misfiled(path).map(|means| Suspect { path: (*path).clone(), side: Side::Production, means });
            paths.iter().map(suspect).collect()
        });
        let harness = partition.paths(Side::Harness);
        let only = [Side::Test, Side::Fixture].iter().all(|side| partition.paths(*side).is_empty());
        let harness = (only && harness.len() <= PATHS)
            .then(|| harness.into_iter().map(|path| Suspect { path: path.clone(), side: Side::Harness, means: Means::Apart }).collect());
        let sides: Vec<Vec<Suspect>> = [all, harness].into_iter().flatten().collect();
        if !sides.is_empty() {
            self.commits.push(Mix { at, sides });
        }
    }

    /// How many commits are mixed.
    pub(super) fn count(&self) -> usize {
        self.count
    }

    /// The patterns, the one that helps most first, each counted after those before it.
    pub(super) fn patterns(mut self) -> Vec<Pattern> {
        self.commits.sort_unstable_by_key(|mix| Reverse(mix.at));
        let mut found = Vec::new();
        while let Some(pattern) = self.best().filter(|_| found.len() < MOST) {
            let Ok(glob) = Glob::new(&pattern.glob) else { break };
            for mix in &mut self.commits {
                for side in &mut mix.sides {
                    side.retain(|suspect| {
                        (suspect.side, suspect.means) != (pattern.side, pattern.means) || !glob.matches(suspect.path.as_bytes())
                    });
                }
            }
            self.commits.retain(|mix| !mix.sides.iter().any(Vec::is_empty));
            found.push(pattern);
        }
        found
    }

    fn best(&self) -> Option<Pattern> {
        let mut gains: HashMap<Key, (usize, usize, usize, &RepoPath)> = HashMap::new();
        for mix in &self.commits {
            let mut counted = BTreeSet::new();
            for side in &mix.sides {
                for (key, weight) in self.covering(side) {
                    if counted.insert(key.clone()) {
                        let first = side.first().map(|suspect| &suspect.path);
                        first.into_iter().for_each(|path| gains.entry(key.clone()).or_insert((0, weight, mix.at, path)).0 += 1);
                    }
                }
            }
        }
        let enough = gains.into_iter().filter(|(_, (commits, ..))| *commits >= FEWEST);
        let best = enough.max_by_key(|((means, side, glob), (commits, weight, ..))| {
            (commits * weight, *weight, glob.len(), Reverse((*means, *side, glob.clone())))
        });
        let ((means, side, glob), (commits, _, example, path)) = best?;
        Some(Pattern { glob, side, means, commits, path: path.to_string(), example })
    }

    /// The patterns that fit every one of these paths and no source, with the worth of being exact.
    fn covering(&self, suspects: &[Suspect]) -> Vec<(Key, usize)> {
        let Some(first) = suspects.first() else { return Vec::new() };
        if suspects.iter().any(|other| (other.side, other.means) != (first.side, first.means)) {
            return Vec::new();
        }
        let all = |fits: &dyn Fn(&RepoPath) -> bool| suspects.iter().all(|suspect| fits(&suspect.path));
        let mut globs: Vec<(Option<String>, usize)> = Vec::new();
        if suspects.len() == 1 {
            globs.push((literal(first.path.as_bytes()), 20));
        }
        for folder in folders_of(&first.path) {
            let below = |path: &RepoPath| crate::tree::is_under(path, &folder);
            if all(&below) && (first.means == Means::Test || !self.source.contains(&folder)) {
                globs.push((literal(&folder).map(|folder| format!("{folder}/**")), 17));
            }
        }
        if all(&|path| path.name() == first.path.name()) {
            globs.push((literal(first.path.name()).map(|name| format!("**/{name}")), 16));
        }
        let ending = ending(&first.path);
        if is_listed(PROSE, &ending) && all(&|path| self::ending(path) == ending) {
            globs.push((Some(format!("**/*.{ending}")), 12));
        }
        let taken = globs.into_iter().filter_map(|(glob, weight)| Some((glob?, weight))).filter(|(glob, _)| Glob::new(glob).is_ok());
        taken.map(|(glob, weight)| ((first.means, first.side, glob), weight)).collect()
    }
}

/// What a production path may be instead; `None` when it looks like production.
fn misfiled(path: &RepoPath) -> Option<Means> {
    let words = |text: &[u8]| text.to_ascii_lowercase().split(|b| !b.is_ascii_alphanumeric()).map(<[u8]>::to_vec).collect::<Vec<_>>();
    let test = words(path.as_bytes()).iter().any(|word| matches!(word.as_slice(), b"test" | b"tests" | b"spec" | b"specs"));
    match (is_source(path), test) {
        (true, true) => Some(Means::Test),
        (true, false) => None,
        (false, _) => Some(Means::Apart),
    }
}

/// Whether a path looks like source that the project is made of.
fn is_source(path: &RepoPath) -> bool {
    let beside = path.parent().split(|b| *b == b'/').any(|part| is_listed(BESIDE, &String::from_utf8_lossy(part).to_ascii_lowercase()));
    !beside && is_listed(SOURCE, &ending(path))
}

fn is_listed(list: &str, word: &str) -> bool {
    !word.is_empty() && list.split_whitespace().any(|known| known == word)
}

fn ending(path: &RepoPath) -> String {
    let name = String::from_utf8_lossy(path.name());
    name.rsplit_once('.').filter(|(front, _)| !front.is_empty()).map_or_else(String::new, |(_, end)| end.to_ascii_lowercase())
}

/// Every folder around a path, the outermost first.
fn folders_of(path: &RepoPath) -> Vec<Vec<u8>> {
    let bytes = path.as_bytes();
    bytes.iter().enumerate().filter(|(_, b)| **b == b'/').map(|(at, _)| bytes[..at].to_vec()).collect()
}

/// A glob that means just this; `None` when a configuration cannot hold it.
fn literal(bytes: &[u8]) -> Option<String> {
    let text = std::str::from_utf8(bytes).ok().filter(|text| !text.contains(char::is_control))?;
    let escape = |c: char| if "*?[]{}\\".contains(c) { format!("\\{c}") } else { c.to_string() };
    Some(text.chars().map(escape).collect())
}

#[cfg(test)]
mod tests {
    use super::{Means, Mixes};
    use crate::partition::{Partition, Sides};
    use crate::settings::Settings;
    use crate::tree::{Change, RepoPath};

    fn patterns(commits: &[&[&str]]) -> Vec<(String, Means, usize, usize)> {
        let sides = Sides::new(&Settings::default());
        let mut mixes = Mixes::default();
        for (at, paths) in commits.iter().enumerate() {
            let change = |path: &&str| Change { path: RepoPath::new(*path), old: None, new: None };
            let partition = Partition::of(&paths.iter().map(change).collect::<Vec<_>>(), &sides);
            mixes.add(at, &partition, partition.mixed().is_some());
        }
        mixes.patterns().into_iter().map(|found| (found.glob, found.means, found.commits, found.example)).collect()
    }

    fn expected(all: &[(&str, Means, usize, usize)]) -> Vec<(String, Means, usize, usize)> {
        all.iter().map(|(glob, means, commits, example)| ((*glob).to_owned(), *means, *commits, *example)).collect()
    }

    #[test]
    fn a_pattern_counts_the_commits_that_it_would_leave_unmixed() {
        let t = "tests/a.py";
        for (commits, found) in [
            (
                &[&[t, "setup.cfg"][..], &[t, "setup.cfg"], &[t, "setup.cfg", "src/a.py"]][..],
                expected(&[("setup.cfg", Means::Apart, 2, 1)]),
            ),
            // One commit is no pattern, and source is not misfiled.
            (&[&[t, "setup.cfg"], &[t, "src/a.py"], &[t, "src/a.py"]], expected(&[])),
            // Different files of one folder without source, and of one with it.
            (&[&[t, "news/1.bugfix"], &[t, "news/2.feature", "news/3.bugfix"]], expected(&[("news/**", Means::Apart, 2, 1)])),
            (&[&[t, "pkg/a.json"], &[t, "pkg/b.json"], &["pkg/x.py"]], expected(&[])),
            // Prose by its ending, and one name in many folders.
            (&[&[t, "a.rst"], &[t, "b/c.rst"]], expected(&[("**/*.rst", Means::Apart, 2, 1)])),
            (&[&[t, "a/package.json"], &[t, "b/package.json", "c/package.json"]], expected(&[("**/package.json", Means::Apart, 2, 1)])),
            // A second pattern is counted after the first.
            (
                &[&[t, "setup.cfg"], &[t, "setup.cfg", "news/1"], &[t, "news/2"], &[t, "news/3"]],
                expected(&[("news/**", Means::Apart, 2, 3), ("setup.cfg", Means::Apart, 2, 1)]),
            ),
            // Tests that the lists do not know.
            (&[&[t, "src/pkg/tests.py"], &[t, "src/pkg/tests.py"]], expected(&[("src/pkg/tests.py", Means::Test, 2, 1)])),
            // Mixed only through the runner's configuration.
            (&[&["tox.ini", "src/a.py"], &["tox.ini", "src/b.py"]], expected(&[("tox.ini", Means::Apart, 2, 1)])),
            (&[&["tox.ini", "src/a.py", t], &["tox.ini", "src/b.py", t]], expected(&[])),
        ] {
            assert_eq!(patterns(commits), found, "{commits:?}");
        }
    }

    #[test]
    fn names_that_a_glob_would_misread_are_escaped_and_what_no_configuration_holds_is_left_out() {
        let t = "tests/a.py";
        assert_eq!(patterns(&[&[t, "a[1].txt"], &[t, "a[1].txt"]]), expected(&[("a\\[1\\].txt", Means::Apart, 2, 1)]));
        assert_eq!(patterns(&[&[t, "!a"], &[t, "!a"]]), expected(&[("**/!a", Means::Apart, 2, 1)]));
        assert_eq!(patterns(&[&[t, "a\nb"], &[t, "a\nb"]]), expected(&[]));
    }
}
