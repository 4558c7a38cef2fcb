//! `seedgate completions`: what a shell needs to complete our commands.

use clap::CommandFactory as _;
use clap_complete::Shell;

use crate::cli::Cli;
use crate::finding::Exit;
use crate::report;

/// Print a completion script for a shell.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  seedgate completions bash > ~/.local/share/bash-completion/completions/seedgate
  seedgate completions zsh > \"${fpath[1]}/_seedgate\"
  seedgate completions fish > ~/.config/fish/completions/seedgate.fish")]
pub(super) struct Args {
    /// The shell.
    shell: Shell,
}

pub(super) fn run(args: &Args) -> Exit {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "seedgate", &mut script);
    report::out(&String::from_utf8_lossy(&script));
    Exit::Clear
}
