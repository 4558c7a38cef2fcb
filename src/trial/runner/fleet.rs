//! Owns which runners there are: this machine's, and the one that was asked for, as the policy sets them up.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;

use crate::digest;
use crate::settings::glob::Glob;
use crate::settings::runner::RunnerSettings;
use crate::tree::Tree;
use crate::trial::TrialError;
use crate::trial::runner::exec::Engine;
use crate::trial::runner::job::{Bench, Limits, Memory};
use crate::trial::runner::local::Local;
use crate::trial::runner::root::Root;
use crate::trial::runner::ssh::Ssh;
use crate::trial::runner::{Runner, Where};
use crate::trial::session::folders;
use crate::trial::worker::Config;

/// Jobs in flight on another machine, when the policy does not say.
const THERE: usize = 8;

/// The runners of one command.
pub struct Fleet {
    /// This machine.
    pub local: Local,
    /// The other one.
    pub far: Option<Box<dyn Runner>>,
    /// Jobs in flight here.
    pub here: usize,
    /// Jobs in flight there.
    pub there: usize,
    settings: RunnerSettings,
    config: Config,
    toolchain: String,
}

impl Fleet {
    /// As the policy has it; paths in it are taken from `top`.
    ///
    /// # Errors
    /// [`TrialError::NoWorker`] when what was asked for is not set up or not to be had.
    pub fn new(place: Where, settings: &RunnerSettings, config: &Config, top: &Path) -> Result<Self, TrialError> {
        let local = Local::new(Engine::new(config.program.clone(), settings.sandbox)?)?;
        let far: Option<Box<dyn Runner>> = match place {
            Where::Local => None,
            Where::Ssh => {
                let ssh = settings.ssh.clone().ok_or_else(|| missing("ssh", "host = \"user@host\""))?;
                Some(Box::new(Ssh::new(ssh, top)?))
            }
            Where::Remote => Some(remote(settings, top)?),
        };
        let here = settings.jobs.unwrap_or(usize::MAX).min(thread::available_parallelism().map_or(1, usize::from));
        let toolchain = toolchain(settings.toolchain.as_deref(), &config.program)?;
        let there = settings.jobs.unwrap_or(THERE);
        Ok(Fleet { local, far, here, there, settings: settings.clone(), config: config.clone(), toolchain })
    }

    /// A bench for jobs on a tree.
    ///
    /// # Errors
    /// When the tree cannot be read or is too large.
    pub fn bench(&self, tree: &dyn Tree, memory: Memory) -> Result<Bench, TrialError> {
        let wrong = |says: String| TrialError::input(crate::settings::Settings::PATH, says);
        let secrets: Vec<Glob> = self.settings.secrets.iter().map(|glob| Glob::new(glob)).collect::<Result<_, _>>().map_err(wrong)?;
        let total = std::time::Duration::from_secs(self.settings.deadline);
        let limits = Limits { input: self.config.limit, total, memory: self.config.memory };
        let mut bench = Bench::new(Arc::new(Root::of(tree, &secrets)?), self.toolchain.clone(), limits, memory);
        bench.path = folders(tree, &self.config)?;
        if let Some(remote) = &self.settings.remote {
            bench.python.clone_from(&remote.python);
            bench.platform.clone_from(&remote.platform);
        }
        Ok(bench)
    }
}

fn missing(table: &str, line: &str) -> TrialError {
    TrialError::NoWorker(format!("the policy of the base has no [runner.{table}]; add it with a line such as `{line}`"))
}

#[cfg(feature = "remote")]
fn remote(settings: &RunnerSettings, top: &Path) -> Result<Box<dyn Runner>, TrialError> {
    let remote = settings.remote.clone().ok_or_else(|| missing("remote", "endpoint = \"https://host:port\""))?;
    Ok(Box::new(crate::trial::runner::remote::Remote::new(remote, top)?))
}

#[cfg(not(feature = "remote"))]
fn remote(_: &RunnerSettings, _: &Path) -> Result<Box<dyn Runner>, TrialError> {
    let says = "this seedgate was built without the remote runner; build it with `cargo install --features remote`";
    Err(TrialError::NoWorker(says.to_owned()))
}

/// What the policy calls it, or else the interpreter's own bytes.
fn toolchain(named: Option<&str>, program: &Path) -> Result<String, TrialError> {
    if let Some(name) = named {
        return Ok(digest::sha256_hex(format!("toolchain\0{name}").as_bytes()));
    }
    let file: PathBuf = program.canonicalize().map_err(TrialError::disk(program))?;
    Ok(digest::sha256_hex(&fs::read(&file).map_err(TrialError::disk(file))?))
}
