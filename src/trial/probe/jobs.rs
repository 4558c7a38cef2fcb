//! Owns a probe by jobs: the tests of each side on unmutated code and on every mutant, here and then where the fleet reaches.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use crate::digest;
use crate::finding::PropId;
use crate::freeze::probe::{Mutant, Outcome, Verdict};
use crate::tree::{Oid, Tree};
use crate::trial::TrialError;
use crate::trial::probe::side::{Facts, Side};
use crate::trial::probe::{Ready, Told};
use crate::trial::runner::duplicate::{self, About, Judged};
use crate::trial::runner::fleet::Fleet;
use crate::trial::runner::job::suite::Asked;
use crate::trial::runner::job::{self, Job, Memory};
use crate::trial::runner::{self, Unknown};

/// Where and for what jobs of a probe run.
pub struct By<'a> {
    /// The runners.
    pub fleet: &'a Fleet,
    /// Where their record lies.
    pub runs: &'a Path,
}

/// The ends of a probe.
pub(super) struct Ends<'a> {
    /// What it is held against: the base, or the candidate itself where none was named.
    pub(super) parent: &'a Oid,
    /// The candidate.
    pub(super) head: &'a Oid,
}

/// One side with what its jobs share.
struct Place<'a> {
    side: &'a Side<'a>,
    facts: &'a Facts,
    bench: job::Bench,
}

/// What is known of a mutant on one side before anything is run, or the job that tells.
enum Ask {
    Known(Outcome),
    /// The job, and how many tests it asks.
    Job(Box<Job>, Option<u64>),
}

/// A probe's jobs in their surroundings.
pub(super) struct Rounds<'a> {
    by: &'a By<'a>,
    ends: &'a Ends<'a>,
    places: Vec<Place<'a>>,
    bound: BTreeMap<String, String>,
    /// Why the other machine is asked about no mutant.
    spared: Option<Unknown>,
    judged: Vec<Judged>,
}

impl<'a> Rounds<'a> {
    /// For the sides of a probe and their trees.
    ///
    /// # Errors
    /// When a tree cannot be read or is too large for a job.
    pub(super) fn new(
        by: &'a By<'a>,
        ends: &'a Ends<'a>,
        sides: &'a [Side<'a>],
        facts: &'a [Facts],
        trees: &[(&'static str, &dyn Tree)],
    ) -> Result<Self, TrialError> {
        let place = |((side, facts), (_, tree)): ((&'a Side<'a>, &'a Facts), &(&'static str, &dyn Tree))| {
            Ok::<_, TrialError>(Place { side, facts, bench: by.fleet.bench(*tree, Memory::Never)? })
        };
        let places = sides.iter().zip(facts).zip(trees).map(place).collect::<Result<_, _>>()?;
        let bound = sides.first().map(|side| ("command".to_owned(), digest::sha256_hex(side.tests.command.as_bytes())));
        Ok(Rounds { by, ends, places, bound: bound.into_iter().collect(), spared: None, judged: Vec::new() })
    }

    /// Asks each side about every mutant; the rows, and what the runners said of each job.
    ///
    /// # Errors
    /// [`TrialError::Twin`] when the unmutated tests have no verdict here as a job, and when somebody wants it to end.
    pub(super) fn run(mut self, ready: Vec<Ready>, told: &Told<'_>) -> Result<(Vec<Mutant>, Vec<Judged>), TrialError> {
        self.twins()?;
        let mut rows = ready;
        let all: Vec<usize> = (0..rows.len()).collect();
        self.round(&mut rows, &all, told)?;
        // What looks like a weakened oracle is asked once more: a flaky test weakens nothing.
        let weak: Vec<usize> = all.into_iter().filter(|at| rows[*at].row.is_weakened()).collect();
        self.round(&mut rows, &weak, &Told { total: told.total, done: &|| {} })?;
        for at in weak {
            if !rows[at].row.is_weakened() {
                rows[at].row.outcome = Outcome::unknown("the tests did not say the same twice");
            }
        }
        Ok((rows.into_iter().map(|ready| ready.row).collect(), self.judged))
    }

    /// The unmutated tests as jobs: where they do not pass, nothing that they say of a mutant counts.
    fn twins(&mut self) -> Result<(), TrialError> {
        let mut jobs = Vec::new();
        for place in &self.places {
            let about = PropId(format!("unmutated code ({} tests)", place.side.name));
            jobs.extend(place.bench.suite(&self.asked(place, &about, place.side.tests.limit), &[])?);
        }
        let judged = self.judge(&jobs, &|| {})?;
        for (place, judged) in self.places.iter().zip(&judged) {
            let says = match read(&judged.local) {
                Outcome { verdict: Verdict::Survived, .. } => continue,
                other => format!("run as a job, {}", other.why.unwrap_or_default()),
            };
            return Err(TrialError::Twin { side: place.side.name, says });
        }
        self.spared = judged.iter().find_map(|judged| judged.far.as_ref().and_then(unfit));
        self.judged.extend(judged);
        Ok(())
    }

    /// Asks about some of the mutants.
    fn round(&mut self, rows: &mut [Ready], some: &[usize], told: &Told<'_>) -> Result<(), TrialError> {
        let (mut jobs, mut known) = (Vec::new(), Vec::new());
        for at in some {
            for (side, place) in self.places.iter().enumerate() {
                match self.ask(place, &rows[*at])? {
                    Ask::Known(outcome) => known.push((*at, side, outcome)),
                    Ask::Job(job, tests) => {
                        known.push((*at, side, Outcome::new(Verdict::Unknown, None, tests)));
                        jobs.push((known.len() - 1, *job));
                    }
                }
            }
        }
        let (places, jobs): (Vec<usize>, Vec<Job>) = jobs.into_iter().unzip();
        let is_asked = self.by.fleet.far.is_some() && self.spared.is_none();
        (told.total)(jobs.len() as u64 * (1 + u64::from(is_asked)));
        let judged = self.judge(&jobs, &|| (told.done)())?;
        for (place, judged) in places.into_iter().zip(&judged) {
            let (at, _, outcome) = &mut known[place];
            *outcome = Outcome { tests: outcome.tests, ..read(&judged.local) };
            rows[*at].row.seconds += judged.local.seconds;
        }
        for (at, side, outcome) in known {
            let row = &mut rows[at].row;
            if self.places[side].side.name == "base" { row.base = Some(outcome) } else { row.outcome = outcome }
        }
        self.judged.extend(judged);
        Ok(())
    }

    fn judge(&self, jobs: &[Job], done: &(dyn Fn() + Sync)) -> Result<Vec<Judged>, TrialError> {
        let about = About { tree: self.ends.head, bound: &self.bound, runs: self.by.runs, spared: self.spared.as_ref() };
        duplicate::all(self.by.fleet, jobs, &about, done)
    }

    fn ask(&self, place: &Place<'_>, ready: &Ready) -> Result<Ask, TrialError> {
        let wanted = match place.side.wanted(place.facts, &ready.planted) {
            Ok(wanted) => wanted,
            Err(outcome) => return Ok(Ask::Known(outcome)),
        };
        let row = &ready.row;
        let about = PropId(format!("{}:{} {} {} ({} tests)", row.path, row.line, row.operator, row.id, place.side.name));
        let asked = Asked {
            only: wanted.only.as_deref(),
            files: wanted.files.as_deref(),
            imports: &wanted.imports,
            ..self.asked(place, &about, place.side.patience(place.facts))
        };
        let tests = wanted.only.as_ref().map(|only| only.len() as u64);
        let job = place.bench.suite(&asked, &ready.planted.files)?;
        Ok(job.map_or_else(|| Ask::Known(Outcome::unknown("it stands in no file of the job")), |job| Ask::Job(Box::new(job), tests)))
    }

    fn asked<'o>(&'o self, place: &Place<'o>, about: &'o PropId, limit: Duration) -> Asked<'o> {
        Asked {
            parent: self.ends.parent,
            about,
            command: &place.side.tests.command,
            is_told: place.facts.is_told,
            only: None,
            files: None,
            imports: &[],
            limit: limit.as_secs_f64(),
            bound: &self.bound,
        }
    }
}

/// What a job says of a mutant.
fn read(outcome: &runner::Outcome) -> Outcome {
    if let Some((word, says)) = outcome.why() {
        return Outcome::unknown(if word == "broken" { says.to_owned() } else { format!("{word}: {says}") });
    }
    let first = outcome.verdict.as_ref().ok().and_then(|verdict| verdict.runs.first()).and_then(|run| run.first.as_ref());
    match first.map(|first| &first.failure) {
        None => Outcome::new(Verdict::Survived, None, None),
        Some(failure) => {
            let why = failure.place.as_ref().map_or_else(|| failure.kind.clone(), |test| format!("{test}: {}", failure.message));
            Outcome::new(Verdict::Killed, Some(why), None)
        }
    }
}

/// Why another machine's word on a mutant would not count.
fn unfit(twin: &runner::Outcome) -> Option<Unknown> {
    let says = |why: &str| format!("it was asked about no mutant, for the unmutated tests do not pass there: {why}");
    match &twin.verdict {
        Err(unknown) => Some(Unknown::new(unknown.word, says(&unknown.says))),
        Ok(_) => match read(twin) {
            Outcome { verdict: Verdict::Survived, .. } => None,
            other => Some(Unknown::new("no_verdict", says(&other.why.unwrap_or_default()))),
        },
    }
}
