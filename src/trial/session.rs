//! Owns running properties of one tree: batches in flight, a new worker after a crash, and the check of where code was loaded from.

use std::collections::{HashMap, VecDeque};
use std::time::{Duration, Instant};

use crate::finding::PropId;
use crate::strength::card::Card;
use crate::strength::domain::Origin;
use crate::strength::harness::import_folders;
use crate::tree::Tree;
use crate::trial::TrialError;
use crate::trial::outside::Inside;
use crate::trial::trees::{Lease, Trees};
use crate::trial::worker::outcome::{Outcome, Refusal};
use crate::trial::worker::{Config, Worker};
use crate::witness::value::Input;

/// Batches that the worker has not answered: with two it never waits for the next.
const IN_FLIGHT: usize = 2;
/// Fewest and most inputs of a batch.
const BATCH: (usize, usize) = (8, 2048);
/// How long a batch should take: short enough that little is thrown away at a failure.
const PACE: Duration = Duration::from_millis(40);

/// What a run of inputs came to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ran {
    /// Inputs that ran, the one that ended it among them.
    pub ran: u64,
    /// Inputs that did not meet the property's assumptions.
    pub invalid: u64,
    /// The first that failed or had no verdict: its number, itself, and how.
    pub first: Option<(u64, Input, Outcome)>,
}

/// A property as a worker knows it.
#[derive(Clone, Debug)]
pub struct Prop {
    /// Its id.
    pub id: PropId,
    /// The arguments that its domain gives.
    pub arguments: Vec<String>,
}

impl Prop {
    /// Of a card.
    pub fn of(card: &Card) -> Self {
        let tables =
            card.domain.tables.iter().filter(|table| table.origin == Origin::Declared).flat_map(|table| table.names.iter().cloned());
        let drawn = card.domain.arguments.iter().map(|argument| argument.name.clone());
        Prop { id: card.prop_id.clone(), arguments: tables.chain(drawn).collect() }
    }
}

/// Folders of a tree that modules are imported from: those that its test runner names, then the configured ones.
pub(super) fn folders(tree: &dyn Tree, config: &Config) -> Result<Vec<String>, TrialError> {
    let mut path = import_folders(tree)?;
    path.extend(config.path.iter().filter(|folder| !path.contains(folder)).cloned().collect::<Vec<_>>());
    Ok(path)
}

/// One tree and whoever runs it.
pub struct Session {
    lease: Lease,
    config: Config,
    entries: Vec<(crate::tree::RepoPath, crate::tree::Entry)>,
    inside: Option<Inside>,
    worker: Option<Worker>,
    ready: HashMap<PropId, Result<u32, Refusal>>,
    size: usize,
    /// How many modules were loaded when they were last looked at, and now.
    loaded: (Option<u64>, Option<u64>),
}

impl Session {
    /// Puts a tree on disk. No worker is started before one is needed.
    ///
    /// # Errors
    /// When the tree cannot be read or written.
    pub fn new(trees: &Trees, tree: &dyn Tree, config: &Config) -> Result<Self, TrialError> {
        let (lease, entries) = (trees.lease(tree)?, tree.list(b"")?);
        let path = folders(tree, config)?;
        Ok(Session {
            lease,
            config: Config { path, ..config.clone() },
            entries,
            inside: None,
            worker: None,
            ready: HashMap::new(),
            size: BATCH.0,
            loaded: (None, None),
        })
    }

    /// The language and version that runs it; `None` before the first worker.
    pub fn runs_on(&self) -> Option<(String, String)> {
        let welcome = self.worker.as_ref()?.welcome();
        Some((welcome.language.clone(), welcome.version.clone()))
    }

    /// Ends the worker: the next input meets a new one, that remembers nothing.
    pub fn renew(&mut self) {
        (self.worker, self.loaded) = (None, (None, None));
        self.ready.retain(|_, ready| ready.is_err());
    }

    fn worker(&mut self) -> Result<&mut Worker, TrialError> {
        let worker = match self.worker.take() {
            Some(worker) => worker,
            None => Worker::start(&self.config, self.lease.path())?,
        };
        Ok(self.worker.insert(worker))
    }

    /// Makes a property ready, or tells why it is not to be had.
    ///
    /// # Errors
    /// When there is no worker or it breaks the protocol.
    pub fn open(&mut self, prop: &Prop) -> Result<Result<u32, Refusal>, TrialError> {
        if let Some(known) = self.ready.get(&prop.id) {
            return Ok(known.clone());
        }
        let (mut opened, gone) = self.worker()?.open(&prop.id.0, &prop.arguments)?;
        if gone {
            self.renew();
        } else if opened.is_ok()
            && let Some(stranger) = self.stranger()?
        {
            opened = Err(stranger);
        }
        self.ready.insert(prop.id.clone(), opened.clone());
        Ok(opened)
    }

    /// Whether code of the tree was loaded from elsewhere since the last look.
    fn stranger(&mut self) -> Result<Option<Refusal>, TrialError> {
        let Some(worker) = self.worker.as_mut() else { return Ok(None) };
        self.loaded.0 = self.loaded.1;
        let Some(modules) = worker.modules()? else {
            self.renew();
            return Ok(None);
        };
        let homes = &worker.welcome().home;
        let inside = self.inside.get_or_insert_with(|| Inside::new(self.lease.path(), &self.entries, &self.config.path, homes));
        let strangers = inside.strangers(&modules);
        if strangers.is_empty() {
            return Ok(None);
        }
        // What was loaded stays loaded: this worker has no verdict to give any more.
        self.renew();
        let more = strangers.len() - 1;
        let more = if more > 0 { format!(", and {more} more") } else { String::new() };
        let says = format!("{}{more}: not the tree under test (an editable install, or another copy of the project?)", strangers[0]);
        Ok(Some(Refusal::new("outside_tree", says)))
    }

    /// One input.
    ///
    /// # Errors
    /// When there is no worker or it breaks the protocol.
    pub fn one(&mut self, prop: &Prop, input: &Input) -> Result<Outcome, TrialError> {
        let ran = self.run(prop, &mut std::iter::once(input.clone()), &|_| ())?;
        let passed = if ran.invalid > 0 { Outcome::Invalid } else { Outcome::Pass };
        Ok(ran.first.map_or(passed, |(_, _, outcome)| outcome))
    }

    /// Inputs until the first that fails or has no verdict. `told` hears how many ran.
    ///
    /// # Errors
    /// When there is no worker or it breaks the protocol.
    pub fn run(&mut self, prop: &Prop, inputs: &mut dyn Iterator<Item = Input>, told: &dyn Fn(u64)) -> Result<Ran, TrialError> {
        let property = match self.open(prop)? {
            Ok(property) => property,
            Err(refusal) => return Ok(Ran { first: Some((0, Input::default(), Outcome::Error(refusal))), ..Ran::default() }),
        };
        let (mut ran, mut flying) = (Ran::default(), VecDeque::new());
        loop {
            while ran.first.is_none() && flying.len() < IN_FLIGHT {
                let batch: Vec<Input> = inputs.take(self.size).collect();
                if batch.is_empty() {
                    break;
                }
                let number = self.worker()?.send(property, &batch);
                flying.push_back((number, batch));
            }
            let Some((number, batch)) = flying.pop_front() else { break };
            let is_wanted = ran.first.is_none();
            let is_gone = self.take(number, batch, &mut ran, is_wanted, told)?;
            if is_gone {
                self.renew();
                break;
            }
        }
        if (self.loaded.1.is_none() || self.loaded.0 != self.loaded.1)
            && let Some(stranger) = self.stranger()?
        {
            ran.first = Some((0, Input::default(), Outcome::Error(stranger)));
        }
        Ok(ran)
    }

    /// Hears of one batch. Whether the worker is gone.
    fn take(&mut self, number: u64, batch: Vec<Input>, ran: &mut Ran, is_wanted: bool, told: &dyn Fn(u64)) -> Result<bool, TrialError> {
        let start = Instant::now();
        let done = self.worker()?.done(number)?;
        if done.ran > batch.len() as u64 || (done.ran < batch.len() as u64 && done.others.is_empty()) {
            return Err(TrialError::Protocol(format!("{} inputs ran of a batch of {}", done.ran, batch.len())));
        }
        self.loaded.1 = done.loaded;
        self.fit(start.elapsed(), batch.len());
        if !is_wanted {
            return Ok(done.is_over);
        }
        let (before, mut batch) = (ran.ran, batch);
        ran.ran += done.ran;
        told(done.ran);
        for (at, outcome) in done.others {
            match outcome {
                Outcome::Pass => {}
                Outcome::Invalid => ran.invalid += 1,
                other => {
                    let place = usize::try_from(at).ok().filter(|at| *at < batch.len());
                    let place = place.ok_or_else(|| TrialError::Protocol(format!("there is no input {at} in the batch")))?;
                    ran.first.get_or_insert_with(|| (before + at, batch.swap_remove(place), other));
                }
            }
        }
        Ok(done.is_over)
    }

    /// Chooses the size of the next batch by how long this one took.
    fn fit(&mut self, took: Duration, inputs: usize) {
        if took < PACE / 2 && inputs >= self.size {
            self.size = (self.size * 2).min(BATCH.1);
        } else if took > PACE * 2 {
            self.size = (self.size / 2).max(BATCH.0);
        }
    }
}
