//! Owns one set of tests in one tree: its run on unmutated code, which tests reach a line, and what they say of a mutant.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use crate::freeze::probe::{Outcome, Twin, Verdict};
use crate::tree::{Entry, Oid, RepoPath, Tree};
use crate::trial::TrialError;
use crate::trial::probe::chosen::{Cost, span};
use crate::trial::probe::host::{Host, Started, Tried};
use crate::trial::suite::command::End;
use crate::trial::suite::report::{Order, Report};
use crate::trial::suite::{self, Ended, SuiteOutcome, SuiteRun, TestOutcome, Tests};
use crate::trial::trees::{self, Lease, Trees};

/// How many times its usual time a run may take, and what is added to that.
const PATIENCE: (f64, f64) = (10.0, 3.0);

/// A set of tests and the tree they run in.
pub(super) struct Side<'a> {
    /// `patch` or `base`.
    pub(super) name: &'static str,
    pub(super) entries: Vec<(RepoPath, Entry)>,
    pub(super) tests: &'a Tests,
    pub(super) memory: u64,
    /// The interpreter that tells whether a module can be imported, for commands that are not pytest.
    pub(super) python: &'a Path,
}

/// What the unmutated run told.
pub(super) struct Facts {
    pub(super) twin: Twin,
    pub(super) tools: BTreeMap<String, String>,
    /// Whether the runner tells of each test.
    pub(super) is_told: bool,
    /// Tests that passed, and how long each took.
    passed: HashMap<String, f64>,
    ids: Vec<String>,
    shared: Vec<Vec<u32>>,
    lines: HashMap<String, HashMap<u32, Vec<i64>>>,
    early: BTreeSet<String>,
}

/// A mutant on its way: files and what stands in them.
pub(super) struct Planted {
    pub(super) files: Vec<(String, Vec<u8>)>,
    /// The lines that reach it, where they are known.
    pub(super) reach: Option<(u32, u32)>,
    /// The blob it is made from.
    pub(super) oid: Option<Oid>,
}

/// A tree of its own for one worker, and the warm run in it.
pub(super) struct Bench {
    // The run goes before its tree.
    host: Option<Host>,
    lease: Lease,
    is_tried: bool,
}

impl Bench {
    /// A copy of a tree.
    ///
    /// # Errors
    /// When it cannot be written.
    pub(super) fn new(tree: &dyn Tree, trees: &Trees) -> Result<Self, TrialError> {
        Ok(Bench { host: None, lease: trees.copy(tree)?, is_tried: false })
    }
}

impl Side<'_> {
    /// Runs the tests on unmutated code.
    ///
    /// # Errors
    /// [`TrialError::Twin`] unless every test passes.
    pub(super) fn twin(&self, bench: &mut Bench, lines: BTreeMap<String, Vec<u32>>) -> Result<Facts, TrialError> {
        let start = Instant::now();
        let order = Order { probe: true, lines: Some(lines), serve: true, twin: true, ..Order::default() };
        let path = bench.lease.path().to_path_buf();
        let (end, mut report, output) = match Host::start(self.tests, &path, &order)? {
            Started::Waits(host, report) => {
                bench.is_tried = true;
                // What has no report of its own has broken down.
                let code = report.as_ref().and_then(|report| report.exit).unwrap_or(3);
                bench.host = Some(host).filter(Host::is_hot);
                (End::Exit(code), report, String::new())
            }
            Started::Over(end, report, output) => (end, report, output),
        };
        let seconds = start.elapsed().as_secs_f64();
        let kept = report.as_mut().map(taken).unwrap_or_default();
        let run = suite::read(self.tests, &path, &self.entries, Ended { end, seconds, output }, report);
        self.facts(run, kept)
    }

    fn facts(&self, run: SuiteRun, kept: Kept) -> Result<Facts, TrialError> {
        let says = match &run.outcome {
            SuiteOutcome::Passed => None,
            SuiteOutcome::Failed(tests) => {
                let first = tests.first().map_or_else(|| format!("exit {}", run.exit.unwrap_or_default()), Clone::clone);
                let more = tests.len().saturating_sub(1);
                Some(if more > 0 { format!("{first} and {more} more fail") } else { format!("{first} fails") })
            }
            SuiteOutcome::Unknown(why) => Some(why.clone()),
        };
        if let Some(says) = says {
            return Err(TrialError::Twin { side: self.name, says });
        }
        let is_passed = |outcome| matches!(outcome, TestOutcome::Passed | TestOutcome::Xpassed);
        let passed: HashMap<String, f64> =
            run.tests.iter().filter(|(_, test)| is_passed(test.outcome)).map(|(id, test)| (id.clone(), test.seconds)).collect();
        if run.is_told && passed.is_empty() {
            return Err(TrialError::Twin { side: self.name, says: "no test passed".to_owned() });
        }
        let twin = Twin {
            tests: self.name.to_owned(),
            tree: trees::id_of(&self.entries),
            passed: run.is_told.then_some(passed.len() as u64),
            digest: run.digest(),
            seconds: run.seconds,
        };
        Ok(Facts { twin, is_told: run.is_told, tools: run.tools, passed, ids: kept.0, shared: kept.1, lines: kept.2, early: kept.3 })
    }

    /// What the tests say of a mutant.
    ///
    /// # Errors
    /// When the disk refuses, or somebody wants it to end.
    pub(super) fn verdict(&self, facts: &Facts, bench: &mut Bench, mutant: &Planted) -> Result<Outcome, TrialError> {
        if let Some(other) = mutant.files.iter().find(|(path, _)| !self.holds(path, mutant.oid.as_ref())) {
            return Ok(Outcome::unknown(format!("{} is another file there", other.0)));
        }
        bench.lease.touch();
        if !facts.is_told {
            return self.by_code(facts, bench, mutant);
        }
        let (only, is_import) = match (&mutant.reach, mutant.files.as_slice()) {
            (Some(reach), [(path, _)]) => facts.reaching(path, *reach),
            _ => (facts.all(), true),
        };
        if only.is_empty() {
            return Ok(Outcome::new(Verdict::Survived, Some("no test reaches it".to_owned()), Some(0)));
        }
        if let ([(path, bytes)], false) = (mutant.files.as_slice(), is_import)
            && let Some(outcome) = self.warm(facts, bench, (path, bytes), &only)?
        {
            return Ok(outcome);
        }
        self.cold(facts, bench, mutant, only)
    }

    /// Whether a file is the one that the mutant was made from.
    fn holds(&self, path: &str, oid: Option<&Oid>) -> bool {
        let path = RepoPath::new(path);
        let found = self.entries.binary_search_by(|(other, _)| other.cmp(&path)).ok();
        let found = found.or_else(|| self.entries.iter().position(|(other, _)| *other == path));
        found.is_some_and(|at| oid.is_none_or(|oid| self.entries[at].1.oid == *oid))
    }

    /// How long the tests may take on a mutant in a run of its own.
    pub(super) fn patience(&self, facts: &Facts) -> Duration {
        Duration::from_secs_f64(PATIENCE.1 * 3.0 + PATIENCE.0 * facts.twin.seconds).min(self.tests.limit)
    }

    /// Which tests a job has to run for a mutant, or what is known of it without one.
    pub(super) fn wanted(&self, facts: &Facts, mutant: &Planted) -> Result<Wanted, Outcome> {
        if let Some(other) = mutant.files.iter().find(|(path, _)| !self.holds(path, mutant.oid.as_ref())) {
            return Err(Outcome::unknown(format!("{} is another file there", other.0)));
        }
        if !facts.is_told {
            let names = mutant.files.iter().map(|(path, _)| self.module(path).ok_or(path));
            let imports = names.collect::<Result<_, _>>();
            let unfit = |path| Outcome::unknown(format!("without pytest nobody can tell whether {path} can be imported"));
            return Ok(Wanted { only: None, files: None, imports: imports.map_err(unfit)? });
        }
        let only = match (&mutant.reach, mutant.files.as_slice()) {
            (Some(reach), [(path, _)]) => facts.reaching(path, *reach).0,
            _ => facts.all(),
        };
        if only.is_empty() {
            return Err(Outcome::new(Verdict::Survived, Some("no test reaches it".to_owned()), Some(0)));
        }
        Ok(Wanted { files: facts.files(&only), only: Some(only), imports: Vec::new() })
    }

    /// In a fork of a run that has everything collected; `None` where that cannot be done.
    fn warm(&self, facts: &Facts, bench: &mut Bench, file: (&str, &[u8]), only: &[String]) -> Result<Option<Outcome>, TrialError> {
        if bench.host.is_none() && !bench.is_tried {
            bench.is_tried = true;
            let order = Order { probe: true, serve: true, ..Order::default() };
            if let Started::Waits(host, _) = Host::start(self.tests, bench.lease.path(), &order)? {
                bench.host = Some(host).filter(Host::is_hot);
            }
        }
        let Some(host) = &mut bench.host else { return Ok(None) };
        let limit = facts.limit(only).min(self.tests.limit);
        let count = Some(only.len() as u64);
        // Of a file that was loaded before anybody looked, nobody knows what ran then: only a kill is one in a fork too.
        let is_early = facts.early.contains(file.0);
        Ok(match host.ask(file.0, file.1, only, limit, self.memory)? {
            Tried::Killed(why) => Some(Outcome::new(Verdict::Killed, Some(why), count)),
            Tried::Survived | Tried::Unknown(_) if is_early => None,
            Tried::Survived => Some(Outcome::new(Verdict::Survived, None, count)),
            Tried::Unknown(why) => Some(Outcome::new(Verdict::Unknown, Some(why), count)),
            Tried::Cold => None,
            Tried::Gone => {
                // The next mutant meets a new one.
                (bench.host, bench.is_tried) = (None, false);
                None
            }
        })
    }

    /// In a run of its own, with the mutant on disk from the start.
    fn cold(&self, facts: &Facts, bench: &Bench, mutant: &Planted, only: Vec<String>) -> Result<Outcome, TrialError> {
        let (wanted, limit, files) = (only.len(), self.patience(facts), facts.files(&only));
        let order = Order { probe: true, stop: true, only: Some(only), files, ..Order::default() };
        let tests = Tests { limit, ..self.tests.clone() };
        let (ended, report) =
            planted(bench.lease.path(), mutant, &|| suite::finish(&tests, bench.lease.path(), &order, &[bench.lease.path()]))?;
        let of = |verdict, why| Outcome::new(verdict, why, Some(wanted as u64));
        let Some(report) = report else {
            let why = if ended.end == End::Limit { "time-out".to_owned() } else { format!("no report: {}", last(&ended.output)) };
            return Ok(of(Verdict::Unknown, Some(why)));
        };
        let strangers = suite::strangers(&tests, bench.lease.path(), &self.entries, &report);
        let broken = report.errors.first().map(|error| format!("{} error in {}: {}", error.kind, error.place, error.says));
        Ok(if ended.end == End::Limit {
            of(Verdict::Unknown, Some("time-out".to_owned()))
        } else if let Some(why) = broken.or_else(|| strangers.into_iter().next()) {
            of(Verdict::Unknown, Some(why))
        } else if let Some(failed) = report.failed() {
            of(Verdict::Killed, Some(failed))
        } else if let Some(why) = report.broken() {
            of(Verdict::Unknown, Some(why))
        } else if report.exit == Some(0) && report.count() >= wanted {
            of(Verdict::Survived, None)
        } else {
            of(Verdict::Unknown, Some(format!("pytest exit {}, {} of {wanted} tests ran", report.exit.unwrap_or(-1), report.count())))
        })
    }

    /// Of a command that tells only a code: another code than the twin's is a kill if the mutant can be imported as the twin can.
    fn by_code(&self, facts: &Facts, bench: &Bench, mutant: &Planted) -> Result<Outcome, TrialError> {
        let tests = Tests { limit: self.patience(facts), ..self.tests.clone() };
        let tree = bench.lease.path();
        let run = || suite::finish(&tests, tree, &Order::default(), &[tree]);
        let (ended, _) = planted(tree, mutant, &run)?;
        let code = match ended.end {
            End::Limit => return Ok(Outcome::unknown("time-out")),
            End::Exit(0) => return Ok(Outcome::new(Verdict::Survived, None, None)),
            End::Exit(code) if code >= suite::OF_SHELL => return Ok(Outcome::unknown(format!("exit {code}: {}", last(&ended.output)))),
            End::Exit(code) => code,
        };
        for (path, _) in &mutant.files {
            if !self.imports(tree, path)? {
                return Ok(Outcome::unknown(format!("exit {code}, and without pytest nobody can tell whether {path} can be imported")));
            }
            if !planted(tree, mutant, &|| self.imports(tree, path))? {
                return Ok(Outcome::unknown(format!("exit {code}: {path} cannot be imported any more")));
            }
        }
        Ok(Outcome::new(Verdict::Killed, Some(format!("exit {code}: {}", last(&ended.output))), None))
    }

    /// What a file is called when it is imported.
    fn module(&self, path: &str) -> Option<String> {
        let inside =
            self.tests.path.iter().filter_map(|folder| path.strip_prefix(folder.as_str()).map(|rest| rest.trim_start_matches('/')));
        let rest = inside.min_by_key(|rest| rest.len()).and_then(|rest| rest.strip_suffix(".py"))?;
        let name = rest.strip_suffix("/__init__").unwrap_or(rest).replace('/', ".");
        let is_name = |part: &str| !part.is_empty() && part.chars().all(|c| c.is_alphanumeric() || c == '_');
        name.split('.').all(is_name).then_some(name)
    }

    /// Whether a module can be imported by itself.
    fn imports(&self, tree: &Path, path: &str) -> Result<bool, TrialError> {
        let Some(name) = self.module(path) else { return Ok(false) };
        let python = self.python.display().to_string().replace('\'', "'\\''");
        let command = format!("'{python}' -c 'import {name}'");
        let tests = Tests { command, limit: Duration::from_mins(1), ..self.tests.clone() };
        Ok(matches!(suite::finish(&tests, tree, &Order::default(), &[tree])?.0.end, End::Exit(0)))
    }
}

/// What a job has to run for a mutant.
pub(super) struct Wanted {
    /// These tests, in this order.
    pub(super) only: Option<Vec<String>>,
    /// Only these files are collected.
    pub(super) files: Option<Vec<String>>,
    /// Modules that must be importable for a code to count.
    pub(super) imports: Vec<String>,
}

/// Test ids, what tests share, lines, and files that were loaded early.
type Kept = (Vec<String>, Vec<Vec<u32>>, HashMap<String, HashMap<u32, Vec<i64>>>, BTreeSet<String>);

fn taken(report: &mut Report) -> Kept {
    let lines = std::mem::take(&mut report.lines);
    let lines = lines.into_iter().map(|(path, lines)| (path, lines.into_iter().collect())).collect();
    let early = std::mem::take(&mut report.early).into_iter().collect();
    (std::mem::take(&mut report.ids), std::mem::take(&mut report.shared), lines, early)
}

impl Facts {
    /// The tests that reach a statement, cheapest first, and whether it is reached while things are imported: then any test may tell.
    fn reaching(&self, path: &str, reach: (u32, u32)) -> (Vec<String>, bool) {
        let Some(lines) = self.lines.get(path) else { return (Vec::new(), false) };
        let (mut tests, mut is_import) = (BTreeSet::new(), false);
        for who in span(reach).filter_map(|line| lines.get(&line)).flatten() {
            match usize::try_from(*who) {
                Ok(0) => is_import = true,
                Ok(number) => drop(self.ids.get(number - 1).map(|id| tests.insert(id))),
                Err(_) => {
                    let shared = usize::try_from(who.unsigned_abs()).ok().and_then(|at| self.shared.get(at - 1));
                    tests.extend(shared.into_iter().flatten().filter_map(|at| self.ids.get(usize::try_from(*at).ok()?.checked_sub(1)?)));
                }
            }
        }
        let mut first = self.sorted(tests.iter().copied());
        if is_import {
            let rest = self.passed.keys().filter(|id| !tests.contains(id));
            first.extend(self.sorted(rest));
        }
        (first, is_import)
    }

    /// Whether and at what cost a statement is reached.
    pub(super) fn cost(&self, path: &str, reach: (u32, u32)) -> Option<Cost> {
        let (tests, is_import) = self.reaching(path, reach);
        (!tests.is_empty()).then_some((is_import, tests.len()))
    }

    /// The files of some tests, when that is not all of them.
    fn files(&self, only: &[String]) -> Option<Vec<String>> {
        let files: BTreeSet<String> = only.iter().map(|id| id.split("::").next().unwrap_or(id).to_owned()).collect();
        Some(files.into_iter().collect()).filter(|_| only.len() < self.passed.len())
    }

    fn all(&self) -> Vec<String> {
        self.sorted(self.passed.keys())
    }

    fn sorted<'i>(&self, ids: impl Iterator<Item = &'i String>) -> Vec<String> {
        let mut rows: Vec<(f64, &String)> = ids.filter_map(|id| Some((*self.passed.get(id)?, id))).collect();
        rows.sort_by(|one, two| one.0.total_cmp(&two.0).then_with(|| one.1.cmp(two.1)));
        rows.into_iter().map(|(_, id)| id.clone()).collect()
    }

    fn limit(&self, only: &[String]) -> Duration {
        let usual: f64 = only.iter().filter_map(|id| self.passed.get(id)).sum();
        Duration::from_secs_f64(PATIENCE.1 + PATIENCE.0 * usual)
    }
}

/// Does something while a mutant's files stand in a tree; whatever comes of it, the files are put back.
fn planted<T>(tree: &Path, mutant: &Planted, then: &dyn Fn() -> Result<T, TrialError>) -> Result<T, TrialError> {
    let mut kept = Vec::new();
    for (path, bytes) in &mutant.files {
        let file = tree.join(path);
        kept.push((file.clone(), fs::read(&file).map_err(TrialError::disk(&file))?));
        fs::write(&file, bytes).map_err(TrialError::disk(&file))?;
    }
    let done = then();
    for (file, bytes) in kept {
        fs::write(&file, bytes).map_err(TrialError::disk(&file))?;
    }
    done
}

fn last(output: &str) -> String {
    output.lines().rfind(|line| !line.trim().is_empty()).unwrap_or_default().trim().chars().take(200).collect()
}
