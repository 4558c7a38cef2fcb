//! What every command takes that can run its jobs somewhere else.

use std::path::{Path, PathBuf};

use crate::cli::{Failure, trial};
use crate::repo::Repo;
use crate::report;
use crate::tree::Tree;
use crate::trial::runner::duplicate::Judged;
use crate::trial::runner::fleet::Fleet;
use crate::trial::runner::{Where, evidence};
use crate::trial::trees;
use crate::trial::worker::Config;

/// Where jobs run.
#[derive(clap::Args)]
pub(super) struct RunnerArgs {
    /// Run it as jobs: here, or here and then again behind ssh or on a Remote Execution server (docs/remote.md).
    #[arg(long, value_name = "RUNNER", value_parser = ["local", "ssh", "remote"])]
    runner: Option<String>,
    /// Where the record of jobs goes (seedgate.runs/1).
    #[arg(long, value_name = "FILE", default_value = evidence::PATH)]
    pub(super) runs: PathBuf,
}

impl RunnerArgs {
    /// Where, when it was said.
    pub(super) fn place(&self) -> Option<Where> {
        [Where::Local, Where::Ssh, Where::Remote].into_iter().find(|place| self.runner.as_deref() == Some(place.name()))
    }

    /// The runners, as the base's policy has them. Says so when jobs here are not shut off.
    pub(super) fn fleet(&self, repo: &Repo, base: &dyn Tree, worker: &trial::WorkerArgs) -> Result<Fleet, Failure> {
        self.fleet_of(repo, base, &worker.config(repo, base)?)
    }

    /// The same with what runs code given.
    pub(super) fn fleet_of(&self, repo: &Repo, base: &dyn Tree, config: &Config) -> Result<Fleet, Failure> {
        let top = repo.top().map_or_else(|| repo.git_dir().to_path_buf(), Path::to_path_buf);
        let fleet = Fleet::new(self.place().unwrap_or(Where::Local), &trees::policy(base)?.runner, config, &top)?;
        let open = fleet.local.sandbox() == "none";
        report::note(open.then_some(
            "jobs on this machine are not shut off from it: there is no bubblewrap (bwrap) on PATH, or the policy says `sandbox = \"off\"`",
        ));
        Ok(fleet)
    }
}

/// Says what another machine had no verdict on, and on what it said something else.
pub(super) fn tell(fleet: &Fleet, judged: &[Judged], runs: &Path) {
    let Some(far) = fleet.far.as_deref() else { return };
    let unknown: Vec<_> = judged.iter().filter_map(Judged::far_unknown).collect();
    report::note(report::far_unknown(far.place().name(), &unknown, judged.len()).as_deref());
    let many = judged.iter().filter(|one| one.disagrees()).count();
    report::note((many > 0).then(|| report::disagreed(far.place().name(), many, runs)).as_deref());
}
