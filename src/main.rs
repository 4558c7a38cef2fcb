//! Hands the arguments to `cli` and its answer to the operating system.

use std::process::ExitCode;

fn main() -> ExitCode {
    seedgate::cli::run(std::env::args_os().collect())
}
