//! Owns the runner on a server of the Remote Execution API, version 2: a client and nothing else, with a deadline on every call.

mod call;
mod execute;
mod link;
mod store;

use std::collections::HashSet;
use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use tokio::runtime::{Builder, Runtime};
use tonic::transport::Channel;

use crate::settings::runner::RemoteSettings;
use crate::trial::TrialError;
use crate::trial::runner::job::{Job, Keys, Memory};
use crate::trial::runner::merkle::Digest;
use crate::trial::runner::verdict::Verdict;
use crate::trial::runner::{Lane, Outcome, Runner, Unknown, Where};

use call::{Clock, Trouble};
use link::Link;

/// Attempts: the first and two more.
const ATTEMPTS: usize = 3;
/// The first wait before another attempt; each is twice the last.
const PAUSE: Duration = Duration::from_millis(300);
/// So many jobs in a row that reach nobody are enough to ask no more.
const GONE: u32 = 3;

/// Runs jobs on a server.
pub struct Remote {
    settings: RemoteSettings,
    link: Link,
    /// What the server is known to have.
    known: Mutex<HashSet<Digest>>,
    /// The tree is sent by one lane while the others wait.
    turn: Mutex<()>,
    /// Jobs in a row that reached nobody.
    missed: AtomicU32,
}

impl Remote {
    /// To a server; keys and certificates are read now, from `top` where their paths are relative.
    ///
    /// # Errors
    /// When a key or certificate cannot be read, or the endpoint is none.
    pub fn new(settings: RemoteSettings, top: &Path) -> Result<Self, TrialError> {
        let link = Link::new(&settings, top)?;
        Ok(Remote { settings, link, known: Mutex::default(), turn: Mutex::default(), missed: AtomicU32::new(0) })
    }

    /// Takes what the server has from what it would be sent.
    fn unknown<'b>(&self, blobs: impl Iterator<Item = (&'b Digest, &'b [u8])>) -> Vec<(&'b Digest, &'b [u8])> {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        blobs.filter(|(digest, _)| !known.contains(*digest)).collect()
    }

    fn knows<'b>(&self, digests: impl Iterator<Item = &'b Digest>) {
        self.known.lock().unwrap_or_else(PoisonError::into_inner).extend(digests.cloned());
    }

    fn forgets(&self) {
        self.known.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }
}

impl Runner for Remote {
    fn place(&self) -> Where {
        Where::Remote
    }

    fn endpoint(&self) -> Option<String> {
        let instance = &self.settings.instance;
        Some(if instance.is_empty() { self.settings.endpoint.clone() } else { format!("{} {instance}", self.settings.endpoint) })
    }

    fn lane(&self) -> Box<dyn Lane + '_> {
        Box::new(There { remote: self, runtime: None, channel: None })
    }
}

/// One lane: a connection, and a runtime of its own on this thread.
struct There<'a> {
    remote: &'a Remote,
    runtime: Option<Runtime>,
    channel: Option<(Channel, link::Server)>,
}

impl Lane for There<'_> {
    fn run(&mut self, job: &Job) -> Result<Outcome, TrialError> {
        if let Some(says) = job.kept_here() {
            return Ok(Outcome::unknown(Unknown::new("secrets", says)));
        }
        let keys = match &job.keys {
            Ok(keys) => keys,
            Err(says) => return Ok(Outcome::unknown(Unknown::new("refused", says.clone()))),
        };
        if self.remote.missed.load(Ordering::Relaxed) >= GONE {
            return Ok(Outcome::unknown(Unknown::new("unavailable", "it was not asked: the server did not answer to the jobs before")));
        }
        self.attempts(job, keys)
    }
}

impl There<'_> {
    fn attempts(&mut self, job: &Job, keys: &Keys) -> Result<Outcome, TrialError> {
        let (end, mut pause) = (Instant::now() + job.limits.total, PAUSE);
        let (mut attempts, mut name) = (Vec::new(), None);
        loop {
            let trouble = match self.attempt(job, keys, end, &mut name) {
                Ok(answer) => {
                    self.remote.missed.store(0, Ordering::Relaxed);
                    attempts.push("ok".to_owned());
                    return Ok(answer.outcome(job, attempts));
                }
                Err(trouble) => trouble,
            };
            let is_over = trouble.is_final() || attempts.len() + 1 >= ATTEMPTS || Instant::now() + pause >= end;
            attempts.push(trouble.to_string());
            if is_over || matches!(trouble, Trouble::Interrupted) {
                self.cancel(name.as_deref());
                return self.given_up(trouble, attempts);
            }
            self.mend(&trouble);
            call::nap(pause)?;
            pause *= 2;
        }
    }

    /// What another attempt must not take over from this one.
    fn mend(&mut self, trouble: &Trouble) {
        if matches!(trouble, Trouble::Missing(_)) {
            self.remote.forgets();
        } else {
            // The next connection may reach another node.
            self.channel = None;
        }
    }

    fn given_up(&mut self, trouble: Trouble, attempts: Vec<String>) -> Result<Outcome, TrialError> {
        let unknown = trouble.unknown()?;
        if unknown.word == "unavailable" {
            self.remote.missed.fetch_add(1, Ordering::Relaxed);
        }
        Ok(Outcome { attempts, ..Outcome::unknown(unknown) })
    }

    fn attempt(&mut self, job: &Job, keys: &Keys, end: Instant, name: &mut Option<String>) -> Result<Answer, Trouble> {
        let remote = self.remote;
        let runtime = match self.runtime.take() {
            Some(runtime) => runtime,
            None => Builder::new_current_thread().enable_all().build().map_err(|error| Trouble::Final("unavailable", error.to_string()))?,
        };
        let runtime = self.runtime.insert(runtime);
        let clock = Clock { end };
        let (channel, server) = match self.channel.take() {
            Some(known) => known,
            None => runtime.block_on(remote.link.connect(&clock))?,
        };
        self.channel = Some((channel.clone(), server));
        let store = store::Store { channel: channel.clone(), instance: &remote.settings.instance, most: server.most };
        let folders = keys.shared.iter().map(|(digest, bytes)| (digest, bytes.as_slice()));
        let tree = remote.unknown(job.root.contents().map(|(digest, bytes)| (digest, &**bytes)).chain(folders));
        if !tree.is_empty() {
            let turn = remote.turn.lock().unwrap_or_else(PoisonError::into_inner);
            let tree = remote.unknown(tree.into_iter());
            runtime.block_on(store.send(&tree, &clock))?;
            remote.knows(tree.iter().map(|(digest, _)| *digest));
            drop(turn);
        }
        let files = keys.files.iter().zip(&job.files).map(|(digest, (_, bytes))| (digest, &**bytes));
        let own = remote.unknown(keys.blobs.iter().map(|(digest, bytes)| (digest, bytes.as_slice())).chain(files));
        runtime.block_on(store.send(&own, &clock))?;
        remote.knows(own.iter().map(|(digest, _)| *digest));
        let ask = execute::Ask { channel, instance: &remote.settings.instance, skips_cache: job.memory == Memory::Never };
        let executed = runtime.block_on(ask.run(&keys.action, name, &clock))?;
        *name = None;
        runtime.block_on(Answer::of(executed, &store, &clock))
    }

    /// Tells the server that nobody waits any more. Whether it hears that decides nothing.
    fn cancel(&mut self, name: Option<&str>) {
        if let (Some(name), Some(runtime), Some((channel, _))) = (name, &self.runtime, self.channel.take()) {
            runtime.block_on(execute::cancel(channel, name));
        }
    }
}

/// What a server said of an action, with the one file that counts.
struct Answer {
    executed: execute::Executed,
    verdict: Result<Vec<u8>, Unknown>,
}

impl Answer {
    async fn of(executed: execute::Executed, store: &store::Store<'_>, clock: &Clock) -> Result<Self, Trouble> {
        let verdict = match &executed.verdict {
            Ok(digest) => store.fetch(digest, clock).await?,
            Err(unknown) => Err(unknown.clone()),
        };
        Ok(Answer { executed, verdict })
    }

    fn outcome(self, job: &Job, attempts: Vec<String>) -> Outcome {
        let is_cached = self.executed.is_cached;
        let fresh = if is_cached && job.memory == Memory::Never {
            Err(Unknown::new("bad_verdict", "the server remembered a result where none may be remembered"))
        } else {
            self.verdict
        };
        let verdict = fresh.and_then(|bytes| Verdict::read(job, bytes).map_err(|says| Unknown::new("bad_verdict", says)));
        let status = verdict.as_ref().map_or_else(|unknown| unknown.word, |_| "ok").to_owned();
        Outcome { verdict, exit: Some(self.executed.exit), status, is_cached, sandbox: None, attempts, seconds: 0.0 }
    }
}
