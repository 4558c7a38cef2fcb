//! Measures finding the staged paths, beside `git diff --cached --name-only`: in process, as a whole process, and in instructions.
//!
//! `cargo bench --bench staged` prints one table: the index as `git commit` leaves it for its hook (its root tree is made), and in the last column as
//! a partial commit does (it is not). The step is all that a process does: open the repository, find HEAD, compare. Ratios are to git; with `valgrind` on PATH also instruction counts, which do not depend on the machine's load.
#![expect(clippy::print_stdout, clippy::expect_used, reason = "a bench talks to a person, and stops at the first thing that fails")]

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use seedgate::repo::{Environment, Repo};

const ROUNDS: usize = 31;

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    if arguments.get(1).is_some_and(|word| word == "once") {
        let found = staged(Path::new(&arguments[2]));
        println!("{found}");
        return;
    }
    println!(
        "{:>8} {:>12} {:>12} {:>12} {:>8} {:>14} {:>14} {:>8} {:>10}",
        "files", "in process", "process", "git", "ratio", "instructions", "git's", "ratio", "by entries"
    );
    for files in [1_000, 10_000, 100_000] {
        row(files);
    }
}

/// The whole step: open the repository, find HEAD, compare the index.
fn staged(top: &Path) -> usize {
    let repo = Repo::open(&Environment::at(top)).expect("a repository");
    let head = repo.head().expect("a readable HEAD");
    repo.staged(head.as_ref()).expect("a readable index").len()
}

fn row(files: usize) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let top = folder.path();
    repository(top, files);
    let this = std::env::current_exe().expect("a path");
    let ours = || vec![this.as_os_str().to_owned(), "once".into(), top.into()];
    let gits = || -> Vec<std::ffi::OsString> {
        vec!["git".into(), "-C".into(), top.into(), "diff".into(), "--cached".into(), "--name-only".into()]
    };
    let entries = instructions(&ours());
    run(&["git".into(), "-C".into(), top.into(), "write-tree".into()]);
    assert_eq!(staged(top), 1, "one path is staged");
    let repo = Repo::open(&Environment::at(top)).expect("a repository");
    let head = repo.head().expect("a readable HEAD");
    let inside = median(|| drop(Repo::open(repo.environment()).expect("a repository").staged(head.as_ref()).expect("a readable index")));
    let (mut process, mut git) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        process.push(timed(|| run(&ours())));
        git.push(timed(|| run(&gits())));
    }
    let (process, git) = (middle(process), middle(git));
    let ratio = process.as_secs_f64() / git.as_secs_f64();
    print!("{files:>8} {inside:>12.2?} {process:>12.2?} {git:>12.2?} {ratio:>8.2}");
    match (instructions(&ours()), instructions(&gits())) {
        (Some(ours), Some(gits)) => {
            let entries = entries.map_or(f64::NAN, |entries| float(entries) / float(gits));
            println!(" {ours:>14} {gits:>14} {:>8.3} {entries:>10.3}", float(ours) / float(gits));
        }
        _ => println!(" (no valgrind)"),
    }
}

#[expect(clippy::cast_precision_loss, reason = "counts far below 2^52")]
fn float(count: u64) -> f64 {
    count as f64
}

/// Forty files a folder, three levels deep, and one file staged, whose folders the cache of trees does not cover any more.
fn repository(top: &Path, files: usize) {
    let git = |arguments: &[&str], input: &[u8]| {
        let mut command = Command::new("git");
        command.args(arguments).current_dir(top).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        for name in ["GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM"] {
            command.env(name, "/dev/null");
        }
        for (name, value) in [("NAME", "Bench"), ("EMAIL", "bench@example.invalid")] {
            command.env(format!("GIT_AUTHOR_{name}"), value).env(format!("GIT_COMMITTER_{name}"), value);
        }
        let mut child = command.spawn().expect("git");
        child.stdin.take().expect("a pipe").write_all(input).expect("git reads");
        let output = child.wait_with_output().expect("git ends");
        assert!(output.status.success(), "git {arguments:?}");
        String::from_utf8_lossy(&output.stdout).trim().to_owned()
    };
    git(&["init", "-q"], b"");
    let blob = git(&["hash-object", "-w", "--stdin"], b"x\n");
    let line = |n: usize| format!("100644 {blob}\tpackage{}/module{}/file_number_{n}.py\n", n / 1600, n / 40);
    git(&["update-index", "--index-info"], (0..files).map(line).collect::<String>().as_bytes());
    git(&["commit", "-q", "-m", "base"], b"");
    git(&["gc", "-q"], b"");
    let changed = git(&["hash-object", "-w", "--stdin"], b"y\n");
    let middle = line(files / 2).replace(&blob, &changed);
    git(&["update-index", "--index-info"], middle.as_bytes());
}

fn run(line: &[std::ffi::OsString]) {
    let status = Command::new(&line[0]).args(&line[1..]).stdout(Stdio::null()).status().expect("a process");
    assert!(status.success());
}

fn timed(step: impl Fn()) -> Duration {
    let start = Instant::now();
    step();
    start.elapsed()
}

fn median(step: impl Fn()) -> Duration {
    middle((0..ROUNDS).map(|_| timed(&step)).collect())
}

fn middle(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}

/// Instructions that callgrind counts in a whole process.
fn instructions(line: &[std::ffi::OsString]) -> Option<u64> {
    let mut command = Command::new("valgrind");
    command.args(["--tool=callgrind", "--callgrind-out-file=/dev/null"]).args(line).stdout(Stdio::null());
    let output = command.stderr(Stdio::piped()).output().ok().filter(|output| output.status.success())?;
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    text.lines().find_map(|line| line.split_once("Collected : ")).and_then(|(_, count)| count.trim().parse().ok())
}
