//! Owns the command line: one file a command, no logic.

mod audit;
mod candidates;
mod cards;
mod check;
mod classify;
mod completions;
mod daemon;
mod decide;
mod demo;
mod digest;
mod evidence;
mod freeze;
mod hook;
mod init;
mod keep;
mod ledger;
mod partition;
mod paths;
mod pin;
mod probe;
mod promote;
mod props;
mod replay;
mod resolve;
mod rows;
mod runner;
mod runner_exec;
mod shrink;
mod split;
mod status;
mod tree;
mod trial;
mod uninstall;
mod waiver;
mod witness;

use std::ffi::OsString;
use std::panic;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::daemon::client::Warm;
use crate::finding::Exit;
use crate::gate::GateError;
use crate::gate::facts::Facts;
use crate::gate::facts::memo::Memo;
use crate::gate::run::{self, Outcome, Subject};
use crate::repo::{Environment, Repo, RepoError};
use crate::report;

/// Refuses commits that mix production and test paths or weaken a property, unless a waiver names the exact old and new card.
#[derive(Parser)]
#[command(name = "seedgate", version, after_help = EXAMPLES)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

const EXAMPLES: &str = "Examples:
  seedgate init                                  install the hooks in this repository
  seedgate check                                 judge what is staged
  seedgate check --base origin/main --head HEAD  judge every commit of a branch, as a merge check does
  seedgate split -m 'round half up'              make two commits of a mixed index
  seedgate waiver new --all                      draft a waiver for each refused weakening

Exit codes: 0 clear, 2 refused, 3 review (only new tests), 4 waived (a human merges), 64 usage, 65 unreadable input, 69 unavailable, 70 fault.";

#[derive(Subcommand)]
enum Command {
    Check(check::Args),
    Split(split::Args),
    #[command(subcommand)]
    Cards(cards::Command),
    #[command(subcommand)]
    Waiver(waiver::Command),
    #[command(subcommand)]
    Props(props::Command),
    Witness(witness::Args),
    Tree(tree::Args),
    Probe(probe::Args),
    #[command(subcommand)]
    Candidates(candidates::Command),
    #[command(subcommand)]
    Ledger(ledger::Command),
    #[command(subcommand)]
    Evidence(evidence::Command),
    Classify(classify::Args),
    #[command(subcommand)]
    Freeze(freeze::Command),
    Decide(decide::Args),
    Status(status::Args),
    Audit(audit::Args),
    Init(init::Args),
    Uninstall(uninstall::Args),
    Daemon(daemon::Args),
    Partition(partition::Args),
    Digest(digest::Args),
    Hook(hook::Args),
    #[command(hide = true)]
    Keep(keep::Args),
    RunnerExec(runner_exec::Args),
    Completions(completions::Args),
    Demo(demo::Args),
}

/// Why a command ended without its answer, in one sentence, with the exit it asks for.
struct Failure {
    exit: Exit,
    says: String,
}

impl Failure {
    fn usage(says: impl Into<String>) -> Self {
        Failure { exit: Exit::Usage, says: says.into() }
    }
}

impl From<RepoError> for Failure {
    fn from(error: RepoError) -> Self {
        GateError::from(error).into()
    }
}

impl From<GateError> for Failure {
    fn from(error: GateError) -> Self {
        Failure { exit: error.exit(), says: error.to_string() }
    }
}

/// Runs the command that the arguments name and answers its exit code. A panic is a fault like any other: it never ends in 101.
pub fn run(args: Vec<OsString>) -> ExitCode {
    panic::set_hook(Box::new(|info| {
        let place = info.location().map_or_else(String::new, |at| format!(" at {}:{}", at.file(), at.line()));
        report::fault(&format!("this is a bug in seedgate{place}; the change was not judged and does not pass"));
    }));
    ExitCode::from(panic::catch_unwind(|| answer(args)).unwrap_or(Exit::Fault.code()))
}

fn answer(args: Vec<OsString>) -> u8 {
    if let Some(exit) = hook::at_once(&args) {
        return exit;
    }
    let cli = match Cli::try_parse_from(args) {
        Ok(cli) => cli,
        Err(error) if error.use_stderr() => {
            report::err(&error.render().to_string());
            return Exit::Usage.code();
        }
        Err(help) => {
            report::out(&help.render().to_string());
            return Exit::Clear.code();
        }
    };
    let done = match cli.command {
        Command::Check(args) => check::run(&args),
        Command::Split(args) => split::run(&args),
        Command::Cards(command) => cards::run(&command),
        Command::Waiver(command) => waiver::run(&command),
        Command::Props(command) => props::run(&command),
        Command::Witness(args) => witness::run(&args),
        Command::Tree(args) => tree::run(&args),
        Command::Probe(args) => probe::run(&args),
        Command::Candidates(command) => candidates::run(&command),
        Command::RunnerExec(args) => runner_exec::run(&args),
        Command::Ledger(command) => ledger::run(&command),
        Command::Evidence(command) => evidence::run(&command),
        Command::Classify(args) => classify::run(&args),
        Command::Freeze(command) => freeze::run(&command),
        Command::Decide(args) => decide::run(&args),
        Command::Audit(args) => audit::run(&args),
        Command::Status(args) => status::run(&args),
        Command::Init(args) => init::run(&args),
        Command::Uninstall(args) => uninstall::run(&args),
        Command::Daemon(args) => daemon::run(&args),
        Command::Partition(args) => partition::run(&args),
        Command::Digest(args) => digest::run(&args),
        Command::Completions(args) => Ok(completions::run(&args)),
        Command::Demo(args) => demo::run(&args),
        Command::Hook(args) => return hook::run(&args),
        Command::Keep(args) => return keep::run(&args),
    };
    let exit = done.unwrap_or_else(|failure| {
        report::fault(&failure.says);
        failure.exit
    });
    exit.code()
}

/// The repository that git means here.
fn open() -> Result<Repo, Failure> {
    Ok(Repo::open(&environment()?)?)
}

/// What git told this process.
fn environment() -> Result<Environment, Failure> {
    Environment::of_process()
        .map_err(|error| Failure { exit: Exit::Unreadable, says: format!("cannot tell the working directory: {error}") })
}

/// Memo and daemon as the user wishes them: neither when `cold`.
fn warm(repo: &Repo, cold: bool) -> Warm {
    if cold { Warm::cold(repo) } else { Warm::of(repo) }
}

/// Facts with the memo behind them, for commands that nobody waits for in a commit.
fn remembered() -> Facts {
    Facts::layered(Memo::of_user(), None)
}

/// Judges, with a progress line for long work.
fn judge(repo: &Repo, facts: &Facts, subject: &Subject<'_>) -> Result<Outcome, Failure> {
    let total = if let Subject::Commits(commits) = subject { commits.len() } else { 1 };
    let progress = report::Progress::new("commits judged:", total);
    let outcome = run::judge(repo, facts, subject, &|| progress.step())?;
    drop(progress);
    if outcome.distrusted {
        report::fault("a stored fact was wrong and is gone; everything was judged again without any");
    }
    Ok(outcome)
}
