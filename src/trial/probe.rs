//! Owns the probe: faults planted in production code of a throwaway tree, and what the tests that will be kept say of each.

mod chosen;
mod host;
pub mod jobs;
mod patch;
mod side;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use crate::digest;
use crate::freeze::probe::{Counts, Mutant, Outcome, Probe, SCHEMA, Verdict};
use crate::partition::{Side as Of, Sides};
use crate::repo::Repo;
use crate::tree::{Oid, RepoPath, Tree};
use crate::trial::TrialError;
use crate::trial::probe::chosen::{Candidate, Source as Code};
use crate::trial::probe::jobs::{By, Ends, Rounds};
use crate::trial::probe::patch::Patch;
use crate::trial::probe::side::{Bench, Facts, Planted, Side};
use crate::trial::runner::duplicate::Judged;
use crate::trial::suite::Tests;
use crate::trial::trees::{self, Part, Source, Trees};

/// What is planted.
#[derive(Clone, Debug)]
pub enum Faults {
    /// At most so many, chosen by the seed.
    Budget(u64),
    /// One, from a unified diff: its name and its text.
    Patch(PathBuf, String),
}

/// What is probed, and how.
pub struct Order {
    /// What the candidate is held against.
    pub base: Option<Oid>,
    /// The candidate.
    pub head: Oid,
    /// Whether the base's tests are asked too.
    pub compare: bool,
    /// What is planted.
    pub faults: Faults,
    /// What the order is drawn from.
    pub seed: u64,
    /// The test command.
    pub tests: Tests,
    /// Most memory of a test process, in bytes.
    pub memory: u64,
    /// An interpreter, for commands that are not pytest.
    pub python: PathBuf,
    /// How many mutants are tried at once.
    pub jobs: usize,
}

/// Hears how far it is.
pub struct Told<'a> {
    /// So many mutants there will be.
    pub total: &'a (dyn Fn(u64) + Sync),
    /// One more is done.
    pub done: &'a (dyn Fn() + Sync),
}

/// One mutant, ready to be tried.
struct Ready {
    row: Mutant,
    planted: Planted,
}

/// Runs a probe.
///
/// # Errors
/// When something cannot be read or written, the unmutated tests do not pass, or somebody wants it to end.
pub fn run(repo: &Repo, trees: &Trees, order: &Order, told: &Told<'_>) -> Result<Probe, TrialError> {
    Ok(measured(repo, trees, order, None, told)?.0)
}

/// Runs a probe whose mutants are jobs, and gives what the runners said of each.
///
/// # Errors
/// As [`run`].
pub fn run_by(repo: &Repo, trees: &Trees, order: &Order, by: &By<'_>, told: &Told<'_>) -> Result<(Probe, Vec<Judged>), TrialError> {
    measured(repo, trees, order, Some(by), told)
}

fn measured(repo: &Repo, trees: &Trees, order: &Order, by: Option<&By<'_>>, told: &Told<'_>) -> Result<(Probe, Vec<Judged>), TrialError> {
    let (start, began) = (Instant::now(), SystemTime::now());
    let kept = Source::commit(repo, &order.head)?;
    let kept = kept.tree();
    let before = order.base.as_ref().map(|base| Source::commit(repo, base)).transpose()?;
    let before = before.as_ref().map(Source::tree);
    let before = before.as_ref().map(|tree| tree as &dyn Tree);
    let asked = order.base.as_ref().filter(|_| order.compare);
    let asked = asked.map(|base| Source::candidate(repo, base, &order.head, Part::ProductionOnly)).transpose()?;
    let asked = asked.as_ref().map(Source::tree);
    let policy = trees::policy(before.unwrap_or(&kept))?;
    let code = chosen::sources(&kept, before, &policy)?;
    let patched = match &order.faults {
        Faults::Patch(path, text) => Some(from_patch(&kept, &Sides::new(&policy), path, text)?),
        Faults::Budget(_) => None,
    };

    let mut all = vec![("patch", &kept as &dyn Tree)];
    all.extend(asked.as_ref().map(|tree| ("base", tree as &dyn Tree)));
    let mut sides = Vec::new();
    for (name, tree) in &all {
        sides.push(Side { name, entries: tree.list(b"")?, tests: &order.tests, memory: order.memory, python: &order.python });
    }
    let mut first = benches(&all, trees)?;
    let lines = if patched.is_some() { BTreeMap::new() } else { chosen::lines(&code) };
    let facts = twins(&sides, &mut first, &lines)?;

    let ready = match (&order.faults, patched) {
        (Faults::Budget(budget), _) => drawn(&code, &facts, order.seed, *budget, &|| mentioned(&kept, &policy))?,
        (_, one) => one.into_iter().collect(),
    };
    let (mutants, judged) = if let Some(by) = by {
        drop(first);
        let ends = Ends { parent: order.base.as_ref().unwrap_or(&order.head), head: &order.head };
        Rounds::new(by, &ends, &sides, &facts, &all)?.run(ready, told)?
    } else {
        (told.total)(ready.len() as u64);
        let mut workers = vec![first];
        while workers.len() < order.jobs.min(ready.len()) {
            workers.push(benches(&all, trees)?);
        }
        (tried(&sides, &facts, workers, ready, told)?, Vec::new())
    };
    let mut tools = facts.first().map(|facts| facts.tools.clone()).unwrap_or_default();
    tools.insert("git".to_owned(), repo.git_version()?);
    tools.insert("seedgate".to_owned(), env!("CARGO_PKG_VERSION").to_owned());
    let probe = Probe {
        schema: SCHEMA.to_owned(),
        base: order.base.clone(),
        head: order.head.clone(),
        seed: order.seed.to_string(),
        budget: if let Faults::Budget(budget) = order.faults { Some(budget) } else { None },
        compare: order.compare,
        command: order.tests.command.clone(),
        tools,
        began: began.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs(),
        seconds: start.elapsed().as_secs_f64(),
        twins: facts.into_iter().map(|facts| facts.twin).collect(),
        counts: Counts::of(&mutants),
        mutants,
        // One fault of one's own is not chosen among files.
        left_out: if matches!(order.faults, Faults::Budget(_)) { chosen::left_out(&code) } else { Vec::new() },
    };
    Ok((probe, judged))
}

/// A tree of each side, for one worker.
fn benches(all: &[(&'static str, &dyn Tree)], trees: &Trees) -> Result<Vec<Bench>, TrialError> {
    all.iter().map(|(_, tree)| Bench::new(*tree, trees)).collect()
}

/// The unmutated runs, at the same time.
fn twins(sides: &[Side<'_>], benches: &mut [Bench], lines: &BTreeMap<String, Vec<u32>>) -> Result<Vec<Facts>, TrialError> {
    std::thread::scope(|scope| {
        let runs: Vec<_> = sides.iter().zip(benches).map(|(side, bench)| scope.spawn(move || side.twin(bench, lines.clone()))).collect();
        let broken = || TrialError::Protocol("a thread ended early".to_owned());
        runs.into_iter().map(|run| run.join().unwrap_or_else(|_| Err(broken()))).collect()
    })
}

/// The mutants that the seed chooses among the places that tests reach.
fn drawn(
    code: &[Arc<Code>],
    facts: &[Facts],
    seed: u64,
    budget: u64,
    mentioned: &dyn Fn() -> Result<Vec<u8>, TrialError>,
) -> Result<Vec<Ready>, TrialError> {
    let budget = usize::try_from(budget).unwrap_or(usize::MAX);
    // Where no test tells what it runs, what the tests name is what they reach.
    let text = if facts.iter().any(|facts| facts.is_told) { Vec::new() } else { mentioned()? };
    let cost = |candidate: &Candidate| {
        let told = facts.iter().filter(|facts| facts.is_told);
        let least = told.filter_map(|facts| facts.cost(&candidate.source.path, candidate.site.reach)).min();
        let name = candidate.function().rsplit('.').next().unwrap_or_default();
        least.or_else(|| (!text.is_empty() && memchr::memmem::find(&text, name.as_bytes()).is_some()).then_some((false, 0)))
    };
    Ok(chosen::choose(code, seed, budget, &cost).iter().filter_map(ready).collect())
}

/// The text of all tests of a tree.
fn mentioned(tree: &dyn Tree, policy: &crate::settings::Settings) -> Result<Vec<u8>, TrialError> {
    let (sides, mut text) = (Sides::new(policy), Vec::new());
    for (path, entry) in tree.list(b"")? {
        if sides.side(&path) == Of::Test && path.name().ends_with(b".py") {
            text.extend(tree.blob(&entry.oid, 4 << 20).map_err(|error| error.of(&path))?);
        }
    }
    Ok(text)
}

fn ready(candidate: &Candidate) -> Option<Ready> {
    let (source, site) = (&candidate.source, &candidate.site);
    let bytes = site.planted(&source.bytes, source.places.encoding)?;
    let row = Mutant {
        id: candidate.id(),
        path: RepoPath::new(source.path.as_str()).to_string(),
        line: site.line,
        function: candidate.function().to_owned(),
        operator: site.operator.name().to_owned(),
        before: site.before.clone(),
        after: site.after.clone(),
        in_diff: candidate.in_diff(),
        outcome: Outcome::unknown("not tried"),
        base: None,
        seconds: 0.0,
    };
    let planted = Planted { files: vec![(source.path.clone(), bytes)], reach: Some(site.reach), oid: Some(source.oid.clone()) };
    Some(Ready { row, planted })
}

/// The mutant of a file.
fn from_patch(tree: &dyn Tree, sides: &Sides, file: &std::path::Path, text: &str) -> Result<Ready, TrialError> {
    let wrong = |says: String| TrialError::input(file, says);
    let patch = Patch::parse(text).map_err(wrong)?;
    let (mut files, mut first) = (Vec::new(), None);
    for (name, hunks) in patch.files {
        let path = RepoPath::new(name.as_str());
        if sides.side(&path) != Of::Production {
            return Err(wrong(format!("{path} is no production file, so a change of it is no mutant")));
        }
        let entry = tree.entry(&path)?.ok_or_else(|| wrong(format!("the tree has no {path}")))?;
        let source = String::from_utf8(tree.blob(&entry.oid, 4 << 20)?).map_err(|_| wrong(format!("{path} is not UTF-8")))?;
        let changed = patch::applied(&source, &hunks).map_err(|says| wrong(format!("{path}: {says}")))?;
        if let (None, Some(hunk)) = (&first, hunks.first()) {
            let side =
                |one: &[String], other: &[String]| one.iter().filter(|line| !other.contains(line)).cloned().collect::<Vec<_>>().join("\n");
            let at = hunk.before.iter().zip(&hunk.after).take_while(|(one, two)| one == two).count();
            let line = u32::try_from(hunk.line + at).unwrap_or(u32::MAX);
            first = Some((path.to_string(), line, side(&hunk.before, &hunk.after), side(&hunk.after, &hunk.before)));
        }
        files.push((name, changed.into_bytes()));
    }
    let (path, line, before, after) = first.unwrap_or_default();
    let row = Mutant {
        id: digest::sha256_hex(text.as_bytes())[..12].to_owned(),
        path,
        line,
        function: String::new(),
        operator: "patch".to_owned(),
        before,
        after,
        in_diff: false,
        outcome: Outcome::unknown("not tried"),
        base: None,
        seconds: 0.0,
    };
    Ok(Ready { row, planted: Planted { files, reach: None, oid: None } })
}

/// Tries every mutant, each worker in trees of its own.
fn tried(
    sides: &[Side<'_>],
    facts: &[Facts],
    workers: Vec<Vec<Bench>>,
    ready: Vec<Ready>,
    told: &Told<'_>,
) -> Result<Vec<Mutant>, TrialError> {
    let (next, failed) = (AtomicUsize::new(0), Mutex::new(None));
    let rows: Vec<Mutex<Ready>> = ready.into_iter().map(Mutex::new).collect();
    std::thread::scope(|scope| {
        for mut benches in workers {
            let (next, failed, rows) = (&next, &failed, &rows);
            scope.spawn(move || {
                while let Some(row) = rows.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let mut row = row.lock().unwrap_or_else(PoisonError::into_inner);
                    if let Err(error) = one(sides, facts, &mut benches, &mut row) {
                        failed.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
                        next.store(usize::MAX / 2, Ordering::Relaxed);
                        return;
                    }
                    (told.done)();
                }
            });
        }
    });
    match failed.into_inner().unwrap_or_else(PoisonError::into_inner) {
        Some(error) => Err(error),
        None => Ok(rows.into_iter().map(|row| row.into_inner().unwrap_or_else(PoisonError::into_inner).row).collect()),
    }
}

/// Asks each side about one mutant. What looks like a weakened oracle is asked once more: a flaky test weakens nothing.
fn one(sides: &[Side<'_>], facts: &[Facts], benches: &mut [Bench], ready: &mut Ready) -> Result<(), TrialError> {
    let start = Instant::now();
    ask(sides, facts, benches, ready)?;
    if ready.row.is_weakened() {
        ask(sides, facts, benches, ready)?;
        if !ready.row.is_weakened() {
            ready.row.outcome = Outcome::new(Verdict::Unknown, Some("the tests did not say the same twice".to_owned()), None);
        }
    }
    ready.row.seconds = start.elapsed().as_secs_f64();
    Ok(())
}

fn ask(sides: &[Side<'_>], facts: &[Facts], benches: &mut [Bench], ready: &mut Ready) -> Result<(), TrialError> {
    for ((side, facts), bench) in sides.iter().zip(facts).zip(benches) {
        let outcome = side.verdict(facts, bench, &ready.planted)?;
        if side.name == "base" {
            ready.row.base = Some(outcome);
        } else {
            ready.row.outcome = outcome;
        }
    }
    Ok(())
}
