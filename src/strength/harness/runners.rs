//! Owns test commands: which words of a command line run tests, by which runner, and what narrows each.

use crate::strength::harness::options::Options;
use crate::strength::harness::paths::under_any;
use crate::strength::harness::pytest_ini::narrowed;

/// A command that runs tests.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Run {
    /// Its runner, spelt one way: `pytest`, `cargo test`, `make test`.
    pub(super) runner: String,
    /// What follows.
    pub(super) args: Vec<String>,
    /// Python drops its asserts.
    pub(super) optimized: bool,
}

const PLAIN: [&str; 16] = [
    "tox",
    "nox",
    "trial",
    "nosetests",
    "nose2",
    "jest",
    "vitest",
    "mocha",
    "ava",
    "rspec",
    "phpunit",
    "ctest",
    "stestr",
    "unittest",
    "behave",
    "doctest",
];
const TARGETED: [&str; 26] = [
    "make",
    "gmake",
    "just",
    "task",
    "invoke",
    "inv",
    "npm",
    "yarn",
    "pnpm",
    "bun",
    "deno",
    "mvn",
    "mvnw",
    "gradle",
    "gradlew",
    "bazel",
    "dotnet",
    "composer",
    "mix",
    "swift",
    "rake",
    "poe",
    "hatch",
    "pdm",
    "playwright",
    "lake",
];
const BUILDERS: [&str; 9] = ["make", "gmake", "just", "mvn", "mvnw", "gradle", "gradlew", "invoke", "inv"];
const PREFIXES: [&str; 15] =
    ["env", "time", "exec", "command", "sudo", "nohup", "then", "do", "else", "xvfb-run", "npx", "uvx", "bundle", "bunx", "{"];

impl Run {
    /// Reads the words of one command; `None` when it runs no tests.
    pub(super) fn of(words: &[String]) -> Option<Self> {
        let mut run = Run::default();
        let mut added = Vec::new();
        let mut rest = words;
        loop {
            let (first, after) = rest.split_first()?;
            let name = base(first);
            let next = after.first().map(String::as_str).unwrap_or_default();
            if let Some((key, value)) = assignment(first) {
                run.optimized |= key == "PYTHONOPTIMIZE" && !matches!(value, "" | "0");
                if key == "PYTEST_ADDOPTS" {
                    added = value.split_whitespace().map(str::to_owned).collect();
                }
                rest = after;
            } else if PREFIXES.contains(&name) {
                let skip = usize::from(name == "bundle" && next == "exec");
                rest = past_options(&after[skip..], &["--with", "--from", "--python", "-p", "--extra", "--group"]);
            } else if matches!(name, "timeout" | "nice" | "retry") {
                rest = past_options(after, &[]);
                rest = if rest.first().is_some_and(|word| word.starts_with(|c: char| c.is_ascii_digit())) { &rest[1..] } else { rest };
            } else if matches!(name, "uv" | "poetry" | "pdm" | "pipenv" | "rye" | "hatch" | "pipx" | "micromamba" | "conda" | "mamba")
                && next == "run"
            {
                rest = past_options(
                    &after[1..],
                    &["--with", "--python", "-p", "--extra", "--group", "--env-file", "-n", "--name", "--directory", "-e", "--env"],
                );
                rest = match rest.split_first() {
                    // `hatch run environment:script`
                    Some((script, args)) if script.to_lowercase().contains("test") && !is_known(script) => {
                        return Some(Run { runner: format!("{name} run {script}"), args: args.to_vec(), ..run });
                    }
                    _ => rest,
                };
            } else if name.starts_with("python")
                || name.starts_with("pypy")
                || first.starts_with("{envpython")
                || first.starts_with("{env_python")
            {
                rest = run.interpreter(after);
            } else if name == "coverage" && next == "run" {
                rest = run.interpreter(&after[1..]);
            } else {
                run.read(name, after)?;
                run.args.extend(added);
                return Some(run);
            }
        }
    }

    /// Past the options of an interpreter: `-m` and the module, or a script.
    fn interpreter<'w>(&mut self, mut words: &'w [String]) -> &'w [String] {
        while let Some((first, after)) = words.split_first().filter(|(first, _)| first.starts_with('-')) {
            let letters = first.strip_prefix('-').filter(|rest| !rest.starts_with('-')).unwrap_or_default();
            self.optimized |=
                letters.starts_with('O') || (letters.contains('O') && letters.len() < 6 && letters.chars().all(char::is_alphabetic));
            let skip = usize::from(matches!(first.as_str(), "-W" | "-X" | "--source" | "--rcfile" | "--include" | "--omit"));
            words = after.get(skip..).unwrap_or_default();
            if letters.ends_with('m') {
                break;
            }
        }
        words
    }

    fn read(&mut self, name: &str, after: &[String]) -> Option<()> {
        let word = |at: usize| after.get(at).map(String::as_str).unwrap_or_default();
        let mut take = |runner: String, from: usize| {
            self.runner = runner;
            self.args = after.get(from..).unwrap_or_default().to_vec();
        };
        match name {
            "pytest" | "py.test" => take("pytest".to_owned(), 0),
            name if PLAIN.contains(&name) => take(name.to_owned(), 0),
            "cargo" => {
                let at = usize::from(word(0).starts_with('+'));
                let command = word(at);
                let runner = match command {
                    "test" | "t" => "cargo test",
                    "nextest" => "cargo nextest",
                    "miri" | "tarpaulin" | "llvm-cov" | "hack" | "careful"
                        if command == "tarpaulin" || after.iter().any(|w| w == "test" || w == "nextest") =>
                    {
                        return {
                            let _: () = take(format!("cargo {command}"), at + 1);
                            Some(())
                        };
                    }
                    _ => return None,
                };
                take(runner.to_owned(), at + 1);
            }
            // Its other commands judge nothing.
            "seedgate" if word(0) == "check" => take(GATE.to_owned(), 1),
            "go" if word(0) == "test" => take("go test".to_owned(), 1),
            "setup.py" | "manage.py" if after.iter().any(|arg| arg == "test") => take(format!("{name} test"), 0),
            "bash" | "sh" if tells(base(word(0))) && word(0).contains('.') => take(base(word(0)).to_owned(), 1),
            name if TARGETED.contains(&name) => {
                let words = || after.iter().filter(|arg| !arg.starts_with('-') && !arg.contains('=') && *arg != "run");
                // Builders take any number of targets, the others one command and its arguments.
                let most = if BUILDERS.contains(&name) { usize::MAX } else { 1 };
                let target = words().take(most).find(|arg| tells(arg) || (name == "npm" && *arg == "t"))?;
                let others = after.iter().filter(|arg| *arg != target && *arg != "run").cloned().collect();
                self.runner = format!("{} {target}", if name == "gmake" { "make" } else { name });
                self.args = others;
            }
            name if tells(name) && name != "test" && !name.ends_with(':') => take(name.to_owned(), 0),
            _ => return None,
        }
        Some(())
    }

    /// Whether it may stand for another without being read: what is behind a target is not known, but it is no gate.
    pub(super) fn may_hide(&self, other: &Run) -> bool {
        self.is_indirect() && other.runner != GATE
    }

    /// Whether other words may stand behind it: a target, a script, a runner of environments.
    fn is_indirect(&self) -> bool {
        let first = self.runner.split(' ').next().unwrap_or_default();
        matches!(first, "tox" | "nox") || TARGETED.contains(&first) || self.runner.contains(" run ") || self.runner.contains(['.', '/'])
    }

    /// What this one leaves out in comparison with another of the same runner.
    pub(super) fn narrower(&self, base: &Run, tests: &[String]) -> Option<String> {
        if self.optimized && !base.optimized {
            return Some("Python drops its asserts (-O)".to_owned());
        }
        match self.runner.as_str() {
            "pytest" => self.narrower_pytest(base, tests),
            "cargo test" | "cargo nextest" => {
                let gained = [
                    "--no-run",
                    "--lib",
                    "--doc",
                    "--bins",
                    "--exclude",
                    "--skip",
                    "-p",
                    "--package",
                    "--test",
                    "--bin",
                    "--tests",
                    "-E",
                    "--filter-expr",
                ];
                self.gained(base, &gained)
                    .or_else(|| base.lost_flag(self, &["--workspace", "--all", "--all-features"]))
                    .or_else(|| self.new_word(base))
            }
            "go test" => self.gained(base, &["-run", "-skip", "-short", "-list", "-c"]).or_else(|| base.lost_word(self)),
            "jest" | "vitest" | "mocha" | "ava" | "unittest" | "nosetests" | "nose2" | "rspec" => {
                self.gained(base, &LIMITS).or_else(|| self.new_word(base))
            }
            _ => self.gained(base, &LIMITS),
        }
    }

    fn narrower_pytest(&self, base: &Run, tests: &[String]) -> Option<String> {
        let (was, is) = (Options::parse(&base.args), Options::parse(&self.args));
        let takes = |options: &Options, path: &str| under_any(&options.roots, path, true) && !options.ignores(path);
        let parts = |options: &Options| options.roots.iter().filter(|root| root.contains("::")).cloned().collect::<Vec<_>>();
        if let Some(part) = parts(&is).iter().find(|part| !was.roots.contains(part)) {
            return Some(format!("only {part}"));
        }
        let lost: Vec<&String> = tests.iter().filter(|path| takes(&was, path) && !takes(&is, path)).collect();
        let opaque = |options: &Options| {
            options.roots.iter().chain(&options.ignores).chain(&options.hidden).any(|root| root.contains(['$', '{', '`']))
        };
        let paths = lost.first().filter(|_| !opaque(&is) && !opaque(&was)).map(|first| match lost.len() {
            1 => format!("does not run {first}"),
            more => format!("does not run {first} and {} more", more - 1),
        });
        is.losses(&was).into_iter().chain(is.loosened(&was)).next().or(paths).or_else(|| narrowed(&was, &is, tests))
    }

    fn gained(&self, base: &Run, flags: &[&str]) -> Option<String> {
        let flag = |word: &String| word.split('=').next().unwrap_or_default().to_owned();
        let has = |word: &String| base.args.iter().any(|other| other == word);
        self.args.iter().find(|word| flags.contains(&flag(word).as_str()) && !has(word)).map(|word| format!("{word} runs less"))
    }

    fn lost_flag(&self, patch: &Run, flags: &[&str]) -> Option<String> {
        self.args.iter().find(|word| flags.contains(&word.as_str()) && !patch.args.contains(word)).map(|word| format!("{word} is gone"))
    }

    fn new_word(&self, base: &Run) -> Option<String> {
        let plain =
            |run: &Run| run.args.iter().filter(|word| !word.starts_with('-') && !word.contains(['$', '{'])).cloned().collect::<Vec<_>>();
        let was = plain(base);
        plain(self)
            .into_iter()
            .find(|word| !was.contains(word) && !matches!(word.as_str(), "run" | "discover"))
            .map(|word| format!("only {word}"))
    }

    fn lost_word(&self, patch: &Run) -> Option<String> {
        self.args
            .iter()
            .find(|word| !word.starts_with('-') && !patch.args.contains(word) && !patch.args.iter().any(|w| w == "./..."))
            .map(|word| format!("{word} is gone"))
    }
}

/// Seedgate's own command in a build service.
pub(super) const GATE: &str = "seedgate check";

/// Options of other runners that take, drop or repeat tests.
const LIMITS: [&str; 22] = [
    "-k",
    "-t",
    "-g",
    "--grep",
    "--testNamePattern",
    "--testPathPattern",
    "--testPathIgnorePatterns",
    "--exclude",
    "--ignore",
    "--changed",
    "--onlyChanged",
    "--passWithNoTests",
    "--retry",
    "--retries",
    "--if-present",
    "--notest",
    "-i",
    "-n",
    "--ignore-errors",
    "--dry-run",
    "-DskipTests",
    "--list",
];

fn is_known(word: &str) -> bool {
    matches!(word, "pytest" | "py.test") || PLAIN.contains(&word)
}

/// Whether a target or a script is one of tests by its name.
pub(super) fn tells(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    let parts = name.split(|c: char| !c.is_ascii_alphanumeric());
    !name.starts_with('-')
        && parts.into_iter().any(|part| matches!(part, "test" | "tests" | "check" | "verify" | "runtests" | "unittest" | "testing"))
}

fn base(word: &str) -> &str {
    word.rsplit('/').next().unwrap_or(word)
}

fn assignment(word: &str) -> Option<(&str, &str)> {
    let (key, value) = word.split_once('=')?;
    let name = key.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_') && !key.is_empty();
    name.then_some((key, value))
}

fn past_options<'w>(mut words: &'w [String], valued: &[&str]) -> &'w [String] {
    while let Some((first, after)) = words.split_first().filter(|(first, _)| first.starts_with('-')) {
        words = after.get(usize::from(valued.contains(&first.as_str()))..).unwrap_or_default();
    }
    words
}
