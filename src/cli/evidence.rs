//! `seedgate evidence collect`: measures a candidate before anybody may call a failure noise.

use std::collections::BTreeMap;
use std::fs;
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use crate::cli::{self, Failure, open, trial};
use crate::digest;
use crate::finding::Exit;
use crate::freeze::evidence::{self as record, Evidence, SCHEMA, Seen, disagreements};
use crate::freeze::probe::Probe;
use crate::gate::evidence::Measured;
use crate::gate::facts::Facts;
use crate::repo::Repo;
use crate::report;
use crate::strength::record::replace;
use crate::tree::Oid;
use crate::trial::probe::{self, Faults};
use crate::trial::record::Props;
use crate::trial::suite::Tests;
use crate::trial::trees::{self, Source, Trees};
use crate::trial::{TrialError, evidence, interrupt};

/// Attempts of a probe: a test that is noise may fail on the unmutated code, or kill what it does not notice.
const ATTEMPTS: usize = 4;

/// Measure a candidate before a failure is called noise. This runs code of the project; the hooks never do.
#[derive(clap::Subcommand)]
pub(super) enum Command {
    Collect(Collect),
}

/// Run the tests again and again on one tree, and write down what agrees: counts, digests, properties, a planted mutant.
#[derive(clap::Args)]
#[command(
    after_help = "The runs are of the commit, laid out outside the repository. Properties are not run here: the record of `seedgate props run` is read.
One mutant is planted, or as many as --mutants says; the record of a wider `seedgate probe` of the same tests is taken with --probe.

Examples:
  seedgate evidence collect --tests 'python -m pytest -q' --base origin/main --runs 10
  seedgate props run --base origin/main --out .seedgate/props.json && \\
    seedgate evidence collect --tests 'python -m pytest -q tests/test_net.py' --base origin/main --runs 20
  seedgate evidence collect --tests 'make check' --base HEAD~1 --runs 3 --probe .seedgate/probe.json --out evidence.json

Exit codes: 0 written, whatever the label (see `seedgate classify`), 2 a record is that of another candidate, 65 something cannot be read,
69 no interpreter, 70 fault or interrupted: then nothing is written."
)]
pub(super) struct Collect {
    /// The test command, for a shell at the root of the tree.
    #[arg(long, value_name = "CMD")]
    tests: String,
    /// What the candidate is held against: where it and REV last met.
    #[arg(long, value_name = "REV")]
    base: String,
    /// The candidate.
    #[arg(long, value_name = "REV", default_value = "HEAD")]
    head: String,
    /// How often the command is run.
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(2..=1000))]
    runs: u32,
    /// How long one run may take, in seconds.
    #[arg(long, value_name = "SECONDS", default_value_t = 600, value_parser = clap::value_parser!(u64).range(1..=86_400))]
    limit: u64,
    /// The record of the properties [default: .seedgate/props.json, if it is there].
    #[arg(long, value_name = "FILE")]
    props: Option<PathBuf>,
    /// A record of a probe of the same tests, instead of planting mutants here.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["mutants", "seed"])]
    probe: Option<PathBuf>,
    /// How many mutants are planted.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..=1000))]
    mutants: u64,
    /// What the choice of the mutants is drawn from.
    #[arg(long, value_name = "N", default_value_t = 1729)]
    seed: u64,
    /// Where the evidence goes [default: .seedgate/evidence.json].
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Print seedgate.evidence/1.
    #[arg(long)]
    json: bool,
}

pub(super) fn run(command: &Command) -> Result<Exit, Failure> {
    let Command::Collect(args) = command;
    if args.tests.trim().is_empty() || args.tests.contains('\0') {
        return Err(Failure::usage("--tests is the command that runs the tests, as in 'python -m pytest -q'"));
    }
    let repo = open()?;
    let facts = cli::remembered();
    let head = repo.resolve(&args.head)?;
    let base = trial::base(&repo, Some(&args.base), &args.head, &head)?;
    let measured = Measured::of(&repo, &facts, &base, &head)?;
    let props = props(args, &repo, &measured)?;
    let given = args.probe.as_deref().map(|path| given(path, args, &measured)).transpose()?;
    interrupt::watch();
    let evidence = collect(args, &repo, &facts, &measured, props.as_ref(), given)?;
    facts.flush();
    let path = args.out.clone().unwrap_or_else(|| trial::at_top(&repo, record::PATH));
    let text = report::json_of(&evidence);
    if text.len() as u64 > record::CAP {
        let says = format!("the evidence has {} bytes, more than the {} that are read: give a smaller probe", text.len(), record::CAP);
        return Err(Failure { exit: Exit::Unreadable, says });
    }
    trial::make_folder(&path)?;
    replace(&path, text.as_bytes())?;
    report::out(&if args.json {
        text
    } else {
        report::classified_text(&evidence, report::out_style()) + &report::kept_at(&trial::shown(&path))
    });
    Ok(Exit::Clear)
}

/// The record of the properties, with its digest, if there is one.
fn props(args: &Collect, repo: &Repo, measured: &Measured) -> Result<Option<(Props, String)>, Failure> {
    let default = trial::at_top(repo, trial::PROPS);
    let path = args.props.as_ref().unwrap_or(&default);
    if args.props.is_none() && path.symlink_metadata().is_err() {
        return Ok(None);
    }
    let props = Props::read(path)?;
    if let Some(strange) = evidence::strange(&props, measured) {
        let base = measured.base.as_str();
        let next =
            format!("seedgate props run --base {} --patch {} --out {}", &base[..12], &measured.head.as_str()[..12], trial::shown(path));
        return Err(Failure { exit: Exit::Refused, says: format!("{}: {strange}\n  next:  {next}", trial::shown(path)) });
    }
    let bytes = fs::read(path).map_err(|error| Failure { exit: Exit::Unreadable, says: format!("{}: {error}", trial::shown(path)) })?;
    let sha256 = digest::sha256_hex(&bytes);
    Ok(Some((props, sha256)))
}

/// A probe that was made before, if it is of this candidate and these tests.
fn given(path: &Path, args: &Collect, measured: &Measured) -> Result<Probe, Failure> {
    let probe = Probe::read(path)?;
    let strange = if probe.head != measured.head {
        Some(format!("it is of commit {}, and the candidate is {}", probe.head, measured.head))
    } else if probe.base.as_ref().is_some_and(|base| *base != measured.base) {
        Some(format!("it was held against another base than {}", measured.base))
    } else if probe.command != args.tests {
        Some(format!("its tests are {:?}, and these are {:?}", probe.command, args.tests))
    } else {
        None
    };
    strange.map_or(Ok(probe), |says| Err(Failure { exit: Exit::Refused, says: format!("{}: {says}", trial::shown(path)) }))
}

fn collect(
    args: &Collect,
    repo: &Repo,
    facts: &Facts,
    measured: &Measured,
    props: Option<&(Props, String)>,
    given: Option<Probe>,
) -> Result<Evidence, Failure> {
    let (start, began) = (Instant::now(), evidence::now());
    let trees = Trees::of_user()?;
    let tests = tests(repo, &args.tests, args.limit, &measured.base)?;
    let source = Source::commit(repo, &measured.head)?;
    let properties = evidence::replay(repo, facts, measured, props.map(|(props, sha256)| (props, sha256.clone())))?;
    let progress = report::Progress::new("runs of the tests:", args.runs as usize);
    let (mut runs, mut seen, mut tools) = (Vec::new(), Vec::new(), BTreeMap::new());
    for _ in 0..args.runs {
        let observed = evidence::observe(&trees, &source.tree(), measured, &tests)?;
        progress.step();
        seen.push((observed.run.fixture_digest.clone(), observed.outcomes));
        tools.extend(observed.tools);
        runs.push(observed.run);
    }
    drop(progress);
    tools.insert("seedgate".to_owned(), env!("CARGO_PKG_VERSION").to_owned());
    tools.insert("git".to_owned(), repo.git_version()?);
    let mut evidence = Evidence {
        schema: SCHEMA.to_owned(),
        counts: measured.counts(),
        base: measured.base.clone(),
        head: measured.head.clone(),
        command: args.tests.clone(),
        fixtures: measured.digests.clone(),
        disagree: disagreements(&seen),
        runs,
        properties,
        probe: given,
        no_probe: None,
        tools,
        began,
        seconds: 0.0,
    };
    if evidence.runs.iter().all(|run| run.outcome == Seen::Unknown) && evidence.probe.is_none() {
        evidence.no_probe = Some("no run of the tests has a verdict".to_owned());
    } else if evidence.probe.is_none() {
        plant(args, repo, &trees, &tests, &mut evidence)?;
    }
    evidence.seconds = start.elapsed().as_secs_f64();
    Ok(evidence.counted())
}

/// Plants mutants. What comes out unknown because of noise is tried again.
fn plant(args: &Collect, repo: &Repo, trees: &Trees, tests: &Tests, evidence: &mut Evidence) -> Result<(), Failure> {
    let order = probe::Order {
        base: Some(evidence.base.clone()),
        head: evidence.head.clone(),
        compare: evidence.counts.test_files > 0,
        faults: Faults::Budget(args.mutants),
        seed: args.seed,
        tests: tests.clone(),
        memory: 4 << 30,
        python: trial::interpreter(repo, &repo.tree(Some(&evidence.base))?, None)?.0,
        jobs: thread::available_parallelism().map_or(1, NonZero::get),
    };
    for _ in 0..ATTEMPTS {
        let progress = report::Counter::new("mutants tried:");
        let told = probe::Told { total: &|total| progress.total(total), done: &|| progress.add(1) };
        match probe::run(repo, trees, &order, &told) {
            Ok(probe) => (evidence.probe, evidence.no_probe) = (Some(probe), None),
            Err(TrialError::Interrupted) => return Err(TrialError::Interrupted.into()),
            Err(error) => evidence.no_probe = Some(error.to_string()),
        }
        if evidence.mutant_killed().is_some() {
            break;
        }
    }
    Ok(())
}

/// The test command with the folders of the base's policy.
pub(super) fn tests(repo: &Repo, command: &str, limit: u64, base: &Oid) -> Result<Tests, Failure> {
    let worker = trees::policy(&repo.tree(Some(base))?)?.worker;
    let path = worker.path.unwrap_or_else(|| vec![String::new(), "src".to_owned()]);
    Ok(Tests { command: command.to_owned(), path, limit: Duration::from_secs(limit), programs: None })
}

/// Evidence that is of the present: of a commit, held against where its branch left.
pub(super) fn present(repo: &Repo, facts: &Facts, path: &Path, head: &str) -> Result<(Evidence, Vec<u8>, Measured), Failure> {
    if path.symlink_metadata().is_err() {
        let says =
            format!("{}: there is no evidence\n  next:  seedgate evidence collect --tests 'CMD' --base REV --runs N", trial::shown(path));
        return Err(Failure { exit: Exit::Unreadable, says });
    }
    let (evidence, bytes) = Evidence::read(path)?;
    let stale = |says: &[String]| {
        let next = format!(
            "seedgate evidence collect --tests '{}' --base REV --runs {}",
            evidence.command.replace('\'', "'\\''"),
            evidence.runs.len()
        );
        let says = format!("{}: the evidence is stale: {}\n  next:  {next}", trial::shown(path), says.join("; "));
        Failure { exit: Exit::Refused, says }
    };
    let head = repo.resolve(head)?;
    if !repo.has(&evidence.base)? {
        return Err(stale(&[format!("its base {} is not in this repository", evidence.base)]));
    }
    let measured = Measured::of(repo, facts, &evidence.base, &head)?;
    let mut strange = measured.strangers(&evidence);
    if let Some(says) = later(repo, &evidence.base, &head)?.filter(|_| strange.is_empty()) {
        strange.push(says);
    }
    if strange.is_empty() { Ok((evidence, bytes, measured)) } else { Err(stale(&strange)) }
}

/// A base after the place where the branch left the merge target would hide what the branch touched.
fn later(repo: &Repo, base: &Oid, head: &Oid) -> Result<Option<String>, Failure> {
    let Some(target) = trees::policy(&repo.tree(Some(head))?)?.merge_target else { return Ok(None) };
    let Ok(target) = repo.resolve(&target) else { return Ok(None) };
    let Some(left) = repo.merge_base(&target, head)? else { return Ok(None) };
    let is_before = repo.merge_base(base, &left)?.as_ref() == Some(base);
    Ok((!is_before).then(|| format!("its base hides a part of the branch, which left its target at {}", &left.as_str()[..12])))
}
