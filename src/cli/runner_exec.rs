//! `seedgate runner-exec`: the far side of the ssh runner, to be the forced command of a key.

use std::path::PathBuf;
use std::time::Duration;

use crate::cli::Failure;
use crate::finding::Exit;
use crate::report;
use crate::settings::runner::Sandbox;
use crate::trial::interrupt;
use crate::trial::runner::exec::Engine;
use crate::trial::runner::far;
use crate::trial::worker::process;

/// Run one job that comes as a tar on standard input, for `[runner.ssh]` of another machine; its verdict goes to standard output.
#[derive(clap::Args)]
#[command(after_help = "It is the forced command of a key in authorized_keys, and takes nothing from its caller but the tar's SHA-256:
  restrict,command=\"/usr/local/bin/seedgate runner-exec\" ssh-ed25519 AAAA… ci@laptop

Examples:
  seedgate runner-exec --python /opt/venv/bin/python --sandbox require     with what the project's tests import
  seedgate runner-exec --sha256 \"$(sha256sum job.tar | cut -d' ' -f1)\" < job.tar

Exit codes: 0 there is a verdict, 64 no SHA-256, 65 the tar is another one or is not taken, 69 no interpreter or no sandbox, 70 no verdict.")]
pub(super) struct Args {
    /// SHA-256 of the tar [default: the command that the caller asked for, from `SSH_ORIGINAL_COMMAND`].
    #[arg(long, value_name = "HEX")]
    sha256: Option<String>,
    /// The interpreter: a name on PATH or a path.
    #[arg(long, value_name = "PROGRAM", default_value = "python3")]
    python: String,
    /// Whether the job runs in bubblewrap.
    #[arg(long, value_name = "HOW", default_value = "auto", value_parser = ["auto", "require", "off"])]
    sandbox: String,
    /// How long one job may take, in seconds.
    #[arg(long, value_name = "SECONDS", default_value_t = 600, value_parser = clap::value_parser!(u64).range(1..=86_400))]
    limit: u64,
}

pub(super) fn run(args: &Args) -> Result<Exit, Failure> {
    let asked = args.sha256.clone().or_else(|| std::env::var("SSH_ORIGINAL_COMMAND").ok()).unwrap_or_default();
    let is_digest = asked.len() == 64 && asked.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
    if !is_digest {
        return Err(Failure::usage("the one thing that is asked for here is the SHA-256 of a tar, 64 hex digits"));
    }
    let sandbox = match args.sandbox.as_str() {
        "require" => Sandbox::Require,
        "off" => Sandbox::Off,
        _ => Sandbox::Auto,
    };
    interrupt::watch();
    let here = PathBuf::from("/");
    let engine = Engine::new(process::find(&args.python, &here)?, sandbox)?;
    report::note(
        (engine.sandbox() == "none").then_some("the job is not shut off from this machine: there is no bubblewrap (bwrap) on PATH"),
    );
    match far::run(&engine, &mut std::io::stdin().lock(), &asked, Duration::from_secs(args.limit))? {
        Ok(verdict) => {
            report::out_bytes(&verdict);
            Ok(Exit::Clear)
        }
        Err(unknown) => Err(Failure { exit: Exit::Fault, says: format!("{}: {}", unknown.word, unknown.says) }),
    }
}
