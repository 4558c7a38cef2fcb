//! Owns which side of a change a path is on, or each part of a file that is on two.

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::ops::RangeInclusive;

use crate::finding::{Finding, Rule};
use crate::settings::Settings;
use crate::settings::glob::{self, Glob};
use crate::tree::{Change, RepoPath};

/// Most paths that a refusal shows of each side: two lists fit on a screen.
const SHOWN: usize = 8;

/// Most stretches of lines that are shown of one file.
const STRETCHES: usize = 6;

/// The side of a path. The order is the one in which the lists are asked: the first that knows the path decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Side {
    /// Seedgate's own policy.
    Policy,
    /// Seedgate's own records and waivers.
    Record,
    /// Bytes that tests load.
    Fixture,
    /// The test runner's configuration.
    Harness,
    /// Test code.
    Test,
    /// Never mixes.
    Neutral,
    /// Everything else.
    Production,
}

impl Side {
    /// Every side, in the order in which the lists are asked.
    pub const ALL: [Side; 7] = [Side::Policy, Side::Record, Side::Fixture, Side::Harness, Side::Test, Side::Neutral, Side::Production];

    /// Whether the side counts as tests when a commit is partitioned.
    pub fn is_test_side(self) -> bool {
        matches!(self, Side::Fixture | Side::Harness | Side::Test)
    }

    /// The side's name in text, JSON and the configuration.
    pub fn name(self) -> &'static str {
        match self {
            Side::Policy => "policy",
            Side::Record => "record",
            Side::Fixture => "fixture",
            Side::Harness => "harness",
            Side::Test => "test",
            Side::Neutral => "neutral",
            Side::Production => "production",
        }
    }
}

/// Compiled globs.
pub struct Sides {
    lists: Index,
    properties: Vec<Glob>,
}

impl Sides {
    /// Compiles the policy's globs (already checked by `Settings::parse`). Case counts.
    pub fn new(settings: &Settings) -> Self {
        let lists = &settings.sides;
        let mut index = Index::default();
        // No configuration can take these two away from the policy.
        index.add([Settings::PATH, Settings::SIGNERS], Side::Policy);
        index.add(lists.policy(), Side::Policy);
        index.add(lists.record(), Side::Record);
        index.add(lists.fixture(), Side::Fixture);
        index.add(lists.harness(), Side::Harness);
        index.add(lists.test(), Side::Test);
        index.add(lists.neutral(), Side::Neutral);
        Sides { lists: index, properties: compile(settings.properties.iter().map(String::as_str)) }
    }

    /// The side of a path.
    pub fn side(&self, path: &RepoPath) -> Side {
        self.lists.side(path.as_bytes())
    }

    /// Whether every function of the file counts as a property.
    pub fn is_property_path(&self, path: &RepoPath) -> bool {
        self.properties.iter().any(|glob| glob.matches(path.as_bytes()))
    }
}

fn compile<'a>(globs: impl IntoIterator<Item = &'a str>) -> Vec<Glob> {
    globs.into_iter().filter_map(|text| Glob::new(text).ok()).collect()
}

/// Globs by shape, so that a path is looked up and not tried against each.
#[derive(Default)]
struct Index {
    wholes: HashMap<Vec<u8>, Side>,
    folders: HashMap<Vec<u8>, Side>,
    names: HashMap<Vec<u8>, Side>,
    others: Vec<(Glob, Side)>,
}

impl Index {
    /// Adds a list; lists are added in the order in which they are asked.
    fn add<'a>(&mut self, globs: impl IntoIterator<Item = &'a str>, side: Side) {
        for glob in compile(globs) {
            let (map, key) = match glob {
                Glob::Whole(key) => (&mut self.wholes, key),
                Glob::Folder(key) => (&mut self.folders, key),
                Glob::Name(key) => (&mut self.names, key),
                other => {
                    self.others.push((other, side));
                    continue;
                }
            };
            map.entry(key).or_insert(side);
        }
    }

    fn side(&self, path: &[u8]) -> Side {
        let file = glob::name(path);
        let whole = self.wholes.get(path).copied();
        let name = self.names.get(file).copied();
        let folder = glob::folders(path).filter_map(|part| self.folders.get(part).copied()).min();
        let known = [whole, name, folder].into_iter().flatten().min().unwrap_or(Side::Production);
        // `others` is in the order of the sides: past the best answer so far nothing can better it.
        let better = self.others.iter().take_while(|(_, side)| *side < known).find(|(glob, _)| glob.fits(path, file));
        better.map_or(known, |(_, side)| *side)
    }
}

/// Lines of a file, counted from 1.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lines {
    /// Stretches of the candidate's file.
    pub now: Vec<RangeInclusive<usize>>,
    /// Stretches of the base's file that have nothing in their place.
    pub gone: Vec<RangeInclusive<usize>>,
}

impl fmt::Display for Lines {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let stretch = |range: &RangeInclusive<usize>| match (range.start(), range.end()) {
            (start, end) if start == end => start.to_string(),
            (start, end) => format!("{start}-{end}"),
        };
        let list = |ranges: &[RangeInclusive<usize>]| {
            let more = if ranges.len() > STRETCHES { ", …" } else { "" };
            ranges.iter().take(STRETCHES).map(stretch).collect::<Vec<_>>().join(", ") + more
        };
        let words = [("lines", &self.now), ("removed", &self.gone)].into_iter().filter(|(_, ranges)| !ranges.is_empty());
        f.write_str(&words.map(|(word, ranges)| format!("{word} {}", list(ranges))).collect::<Vec<_>>().join("; "))
    }
}

/// What one side has of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// The side.
    pub side: Side,
    /// Its lines; `None` is all of the file.
    pub lines: Option<Lines>,
}

impl Part {
    /// All of a file.
    pub fn whole(side: Side) -> Self {
        Part { side, lines: None }
    }
}

/// The paths of a change, side by side. A file of which two sides have a part is on both.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Partition {
    paths: BTreeMap<Side, Vec<RepoPath>>,
    lines: BTreeMap<(Side, RepoPath), Lines>,
}

impl Partition {
    /// Sorts the changes by path: deletions, changes of mode and gitlinks count like any other, and a rename is two of them.
    pub fn of(changes: &[Change], sides: &Sides) -> Self {
        Partition::by(changes, &|change| vec![Part::whole(sides.side(&change.path))])
    }

    /// Sorts the changes by what is known of each.
    pub fn by(changes: &[Change], parts: &dyn Fn(&Change) -> Vec<Part>) -> Self {
        let mut partition = Partition::default();
        for change in changes {
            for Part { side, lines } in parts(change) {
                partition.paths.entry(side).or_default().push(change.path.clone());
                partition.lines.extend(lines.map(|lines| ((side, change.path.clone()), lines)));
            }
        }
        partition
    }

    /// The paths of a side, in the order of the changes.
    pub fn paths(&self, side: Side) -> Vec<&RepoPath> {
        self.paths.get(&side).into_iter().flatten().collect()
    }

    /// Whether a side has the path or a part of it.
    pub fn has(&self, side: Side, path: &RepoPath) -> bool {
        self.paths.get(&side).is_some_and(|paths| paths.contains(path))
    }

    /// The lines that a side has of a path; `None` when it has all of it, or nothing.
    pub fn lines(&self, side: Side, path: &RepoPath) -> Option<&Lines> {
        self.lines.get(&(side, path.clone()))
    }

    /// The refusal of a change that has production and test-side paths; `None` when it has only one of them.
    pub fn mixed(&self) -> Option<Finding> {
        let production: Vec<String> = self.paths(Side::Production).iter().map(|path| self.shown(Side::Production, path)).collect();
        let tests: Vec<String> = self.tests().map(|(side, path)| self.shown(side, path)).collect();
        if production.is_empty() || tests.is_empty() {
            return None;
        }
        let mut finding = Finding::new(Rule::SplitRequired);
        finding.says = [listing("production", &production), listing("test side", &tests)].concat();
        finding.help = String::from(
            "run `seedgate split -m 'what and why'` to make two commits of it, production first (`--tests-first` for the other order); \
             or unstage one side with `git restore --staged PATH`",
        );
        Some(finding)
    }

    /// A path with its side, unless that is production, and with its lines.
    fn shown(&self, side: Side, path: &RepoPath) -> String {
        let name = (side != Side::Production).then(|| side.name().to_owned());
        let lines = self.lines(side, path).map(ToString::to_string).filter(|lines| !lines.is_empty());
        let words: Vec<String> = name.into_iter().chain(lines).collect();
        if words.is_empty() { path.to_string() } else { format!("{path} ({})", words.join(", ")) }
    }

    fn tests(&self) -> impl Iterator<Item = (Side, &RepoPath)> {
        let sides = self.paths.iter().filter(|(side, _)| side.is_test_side());
        sides.flat_map(|(side, paths)| paths.iter().map(|path| (*side, path)))
    }
}

fn listing(title: &str, paths: &[String]) -> Vec<String> {
    // One path more than fits costs the same line as saying so.
    let shown = if paths.len() == SHOWN + 1 { paths.len() } else { SHOWN };
    let mut lines = vec![format!("{title} ({}):", paths.len())];
    lines.extend(paths.iter().take(shown).map(|path| format!("  {path}")));
    if paths.len() > shown {
        lines.push(format!("  … and {} more", paths.len() - shown));
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::{Partition, Side, Sides};
    use crate::finding::Rule;
    use crate::settings::Settings;
    use crate::tree::{Change, RepoPath};

    fn path(bytes: &[u8]) -> RepoPath {
        RepoPath::new(bytes)
    }

    #[test]
    fn every_path_has_the_side_of_the_first_list_that_knows_it() {
        let table: &[(Side, &[&str])] = &[
            (Side::Policy, &[".seedgate/config.toml", ".seedgate/allowed_signers"]),
            (Side::Record, &[".seedgate/ledger.json", ".seedgate/tests/test_a.py", "docs/waivers/a.md"]),
            (Side::Fixture, &["fixtures/a", "tests/fixtures/README.md", "tests/fixtures/test_x.py", "src/testdata/a", "a/__snapshots__/b"]),
            (
                Side::Fixture,
                &["x.snap", "a/b.ambr", "proptest-regressions/props.txt", "a/proptest-regressions/b.txt", "tests/fixtures/Cargo.lock"],
            ),
            (Side::Harness, &["conftest.py", "tests/conftest.py", "pytest.ini", "tox.ini", "web/jest.config.ts", "vitest.config.mts"]),
            (
                Side::Harness,
                &[".config/nextest.toml", "karma.conf.js", "a/.mocharc.json", ".coveragerc", "noxfile.py", "cypress.config.ts"],
            ),
            (Side::Harness, &["tests/pytest.ini", "playwright.config.ts", ".rspec", "phpunit.xml.dist"]),
            (
                Side::Test,
                &["tests/README.md", "tests/checks.py", "test/a", "spec/z.rb", "lib/spec/q.rb", "src/tests/d.txt", "pkg/test_x.py"],
            ),
            (Side::Test, &["src/y_test.py", "a_test.go", "a.test.ts", "a.spec.js", "x_spec.rb", "FooTest.java", "src/test/java/A.java"]),
            (Side::Test, &["src/__tests__/a.js", "test_", "a/test_dir", "tests/package.json", ".github/tests/a.yml", "docs/test_x.md"]),
            (
                Side::Neutral,
                &["README", "README.rst", "a/b.md", "docs/conf.py", "LICENSE-MIT", "CHANGELOG", ".gitignore", "a/.gitattributes"],
            ),
            (Side::Neutral, &["Cargo.lock", "web/package-lock.json", "uv.lock", "go.sum", ".github/workflows/ci.yml", ".gitlab-ci.yml"]),
            (Side::Neutral, &[".circleci/config.yml", "azure-pipelines.yml", "Jenkinsfile", ".travis.yml"]),
            (Side::Production, &["src/contests/a.py", "src/tests_util/b.py", "attest/c.py", "src/test_utils/prod.py", "src/mytest_x.py"]),
            (Side::Production, &["src/unittests.py", "src/fixtures.py", "tests.py", "test", "tests", "fixtures", "a/README", "a/LICENSE"]),
            (
                Side::Production,
                &["pyproject.toml", "setup.cfg", "package.json", "Cargo.toml", "Makefile", "lefthook.yml", "src/latest.java"],
            ),
            (
                Side::Production,
                &["TESTS/a.py", "Tests/Fixtures/data.json", "Test_x.py", "src/contest.java", "a.snapshot", "src/tests", "x.test"],
            ),
            (
                Side::Production,
                &["src/attest_x.py", "src/a.tests.py", "src/a_tests.py", "seedgate/config.toml", "a/.seedgate/config.toml", "-rf"],
            ),
        ];
        let sides = Sides::new(&Settings::default());
        for (side, paths) in table {
            for text in *paths {
                assert_eq!(sides.side(&path(text.as_bytes())), *side, "{text}");
            }
        }
    }

    #[test]
    fn a_path_is_bytes_and_not_text() {
        let sides = Sides::new(&Settings::default());
        for (bytes, side) in [
            (&b"tests/fixtures/caf\xe9 \"x\".bin"[..], Side::Fixture),
            (b"tests/fixtures/line\nbreak b/x.txt", Side::Fixture),
            (b"src/\xff\xfe/test_\xff.py", Side::Test),
            (b"src/line\ntests/a.py", Side::Production),
            (b"src/\ntest_x.py", Side::Production),
            (b"\"tests/a.py", Side::Production),
            (b"src/sp ace\ttab.py", Side::Production),
        ] {
            assert_eq!(sides.side(&path(bytes)), side, "{:?}", path(bytes));
        }
    }

    #[test]
    fn a_list_of_the_configuration_replaces_the_default_list() {
        let text = "schema = \"seedgate.config/1\"\nproperties = [\"p/{a,b}/**\"]\n[sides]\npolicy = []\ntest = [\"check/**\", \"**/[tT]est?.py\"]\nneutral = []\n";
        let sides = Sides::new(&Settings::parse(text).unwrap());
        for (text, side) in [
            ("check/a.py", Side::Test),
            ("src/Test1.py", Side::Test),
            ("tests/a.py", Side::Production),
            ("a.md", Side::Production),
            ("tests/fixtures/a", Side::Fixture),
            (".seedgate/config.toml", Side::Policy),
            (".seedgate/allowed_signers", Side::Policy),
        ] {
            assert_eq!(sides.side(&path(text.as_bytes())), side, "{text}");
        }
        assert!(sides.is_property_path(&path(b"p/b/x/y.py")));
        assert!(!sides.is_property_path(&path(b"tests/properties/x.py")));
        assert!(Sides::new(&Settings::default()).is_property_path(&path(b"tests/properties/x.py")));
    }

    fn partition(paths: &[&str]) -> Partition {
        let change = |text: &&str| Change { path: path(text.as_bytes()), old: None, new: None };
        Partition::of(&paths.iter().map(change).collect::<Vec<_>>(), &Sides::new(&Settings::default()))
    }

    #[test]
    fn only_production_with_the_test_side_is_mixed() {
        for (paths, mixed) in [
            (&["src/a.py", "tests/a.py"][..], true),
            (&["src/a.py", "tests/fixtures/a.json"], true),
            (&["src/a.py", "pytest.ini"], true),
            (&["src/a.py", "README", "Cargo.lock", ".seedgate/config.toml", "docs/waivers/a.md"], false),
            (&["tests/a.py", "pytest.ini", "tests/fixtures/a", "README", ".seedgate/x", ".github/workflows/ci.yml"], false),
            (&["src/a.py"], false),
            (&[], false),
        ] {
            assert_eq!(partition(paths).mixed().is_some(), mixed, "{paths:?}");
        }
    }

    #[test]
    fn the_refusal_shows_both_lists_and_offers_the_split() {
        let mut paths: Vec<String> = (0..20).map(|n| format!("src/{n:02}.py")).collect();
        paths.extend((0..9).map(|n| format!("tests/{n}.py")));
        paths.push("tests/fixtures/a\nb.json".to_owned());
        let finding = partition(&paths.iter().map(String::as_str).collect::<Vec<_>>()).mixed().unwrap();
        assert_eq!(finding.rule, Rule::SplitRequired);
        let text = finding.says.join("\n");
        assert!(text.starts_with("production (20):\n  src/00.py\n"), "{text}");
        assert!(
            text.contains("  src/07.py\n  … and 12 more\ntest side (10):\n  tests/fixtures/a\\nb.json (fixture)\n  tests/0.py (test)\n"),
            "{text}"
        );
        assert!(text.ends_with("  tests/6.py (test)\n  … and 2 more"), "{text}");
        assert!(finding.help.contains("seedgate split"));
    }
}
