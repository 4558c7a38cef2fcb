//! Owns the runner behind the system's `ssh`: one connection a job, a tar in, a verdict out, and the far side's forced command decides what runs.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use crate::digest;
use crate::settings::runner::SshSettings;
use crate::trial::runner::job::Job;
use crate::trial::runner::verdict::Verdict;
use crate::trial::runner::{Lane, Outcome, Runner, Unknown, Where, bundle};
use crate::trial::worker::process::{Heard, Process, find};
use crate::trial::{TrialError, interrupt};

/// Attempts: the first and two more.
const ATTEMPTS: u32 = 3;
/// The first wait before another attempt; each is twice the last.
const PAUSE: Duration = Duration::from_millis(300);
/// How often it is looked whether somebody wants it to end.
const TICK: Duration = Duration::from_millis(25);
/// What ssh itself ends with.
const SSH_FAILED: i32 = 255;

/// Runs jobs behind ssh.
pub struct Ssh {
    program: PathBuf,
    settings: SshSettings,
    /// From where paths of the settings are taken.
    top: PathBuf,
}

impl Ssh {
    /// To a host.
    ///
    /// # Errors
    /// [`TrialError::NoWorker`] when there is no ssh.
    pub fn new(settings: SshSettings, top: &Path) -> Result<Self, TrialError> {
        let program = find("ssh", top).map_err(|_| TrialError::NoWorker("there is no ssh on PATH".into()))?;
        Ok(Ssh { program, settings, top: top.to_path_buf() })
    }

    /// Nothing is asked, no host is taken on trust, nothing is forwarded; a line that is dead is noticed.
    fn command(&self, sha256: &str) -> Command {
        let mut command = Command::new(&self.program);
        for option in [
            "BatchMode=yes",
            "StrictHostKeyChecking=yes",
            "UpdateHostKeys=no",
            "ConnectTimeout=10",
            "ConnectionAttempts=1",
            "ServerAliveInterval=5",
            "ServerAliveCountMax=3",
            "ClearAllForwardings=yes",
            "ForwardAgent=no",
            "ForwardX11=no",
            "PermitLocalCommand=no",
            "LogLevel=ERROR",
        ] {
            command.args(["-o", option]);
        }
        if let Some(port) = self.settings.port {
            command.args(["-p", &port.to_string()]);
        }
        if let Some(identity) = &self.settings.identity {
            command.args(["-o", "IdentitiesOnly=yes", "-i"]).arg(placed(identity, &self.top));
        }
        if let Some(hosts) = &self.settings.known_hosts {
            let file = placed(hosts, &self.top);
            command.arg("-o").arg(format!("UserKnownHostsFile=\"{}\"", file.display())).args(["-o", "GlobalKnownHostsFile=/dev/null"]);
        }
        command.args(["-T", "--", &self.settings.host, sha256]);
        command
    }

    fn job(&self, job: &Job) -> Result<Outcome, TrialError> {
        if let Some(says) = job.kept_here() {
            return Ok(Outcome::unknown(Unknown::new("secrets", says)));
        }
        let tar = bundle::pack(job).map_err(|error| TrialError::input("the job", error.to_string()))?;
        let (sha256, end) = (digest::sha256_hex(&tar), Instant::now() + job.limits.total);
        let (mut attempts, mut pause) = (Vec::new(), PAUSE);
        loop {
            let (verdict, exit, says) = self.attempt(job, &sha256, tar.clone(), end)?;
            attempts.push(says);
            let is_worth = matches!(&verdict, Err(unknown) if unknown.word == "unavailable");
            if !is_worth || attempts.len() >= ATTEMPTS as usize || Instant::now() + pause >= end {
                let status = verdict.as_ref().map_or_else(|unknown| unknown.word, |_| "ok").to_owned();
                return Ok(Outcome { verdict, exit, status, is_cached: false, sandbox: None, attempts, seconds: 0.0 });
            }
            wait(pause)?;
            pause *= 2;
        }
    }

    fn attempt(&self, job: &Job, sha256: &str, tar: Vec<u8>, end: Instant) -> Result<Answer, TrialError> {
        let mut process = Process::of(self.command(sha256), &self.program)?;
        process.send(tar);
        process.close();
        let mut lines = Vec::new();
        loop {
            interrupt::check()?;
            if Instant::now() >= end {
                process.kill();
                let says = format!("{} did not answer within {} s", self.settings.host, job.limits.total.as_secs());
                return Ok((Err(Unknown::new("timeout", says)), None, "timeout".to_owned()));
            }
            match process.hear(TICK) {
                Ok(Heard::Line(line)) if lines.is_empty() => lines = line,
                Ok(Heard::Nothing) => {}
                Ok(Heard::End) => break,
                Ok(Heard::Line(_)) | Err(_) => {
                    process.kill();
                    return Ok((Err(Unknown::new("bad_verdict", "more than a verdict came back")), None, "noise".to_owned()));
                }
            }
        }
        let ended = process.ended();
        let exit = ended.strip_prefix("exit ").and_then(|code| code.parse().ok());
        Ok((self.verdict(job, exit, lines, &process.words()), exit, ended))
    }

    /// A verdict counts only when the call succeeded.
    fn verdict(&self, job: &Job, exit: Option<i32>, mut line: Vec<u8>, words: &str) -> Result<Verdict, Unknown> {
        let last: String = words.lines().last().unwrap_or_default().trim().chars().filter(|c| !c.is_control()).take(300).collect();
        let told = |word, says: &str| {
            Unknown::new(word, format!("{}: {says}{}{last}", self.settings.host, if last.is_empty() { "" } else { ": " }))
        };
        match exit {
            Some(0) => {
                line.push(b'\n');
                Verdict::read(job, line).map_err(|says| Unknown::new("bad_verdict", says))
            }
            Some(SSH_FAILED) if is_final(words) => Err(told("refused", "ssh was refused")),
            Some(SSH_FAILED) => Err(told("unavailable", "ssh failed")),
            Some(65) => Err(told("digest_mismatch", "what was sent did not arrive as it is")),
            Some(code) => Err(told("no_verdict", &format!("the far side ended with {code}"))),
            None => Err(told("no_verdict", "the far side was ended")),
        }
    }
}

type Answer = (Result<Verdict, Unknown>, Option<i32>, String);

/// What no second attempt makes better: keys that are not the right ones.
fn is_final(words: &str) -> bool {
    ["Host key verification failed", "REMOTE HOST IDENTIFICATION", "host key is known", "Permission denied"]
        .iter()
        .any(|says| words.contains(says))
}

fn wait(time: Duration) -> Result<(), TrialError> {
    let end = Instant::now() + time;
    while Instant::now() < end {
        interrupt::check()?;
        std::thread::sleep(TICK);
    }
    Ok(())
}

/// A path of the settings: from the user's home, or from the top of the work tree.
pub(super) fn placed(path: &str, top: &Path) -> PathBuf {
    let home = path.strip_prefix("~/").zip(std::env::var_os("HOME"));
    home.map_or_else(|| top.join(path), |(rest, home)| Path::new(&home).join(rest))
}

impl Runner for Ssh {
    fn place(&self) -> Where {
        Where::Ssh
    }

    fn endpoint(&self) -> Option<String> {
        let port = self.settings.port.map_or_else(String::new, |port| format!(":{port}"));
        Some(format!("{}{port}", self.settings.host))
    }

    fn lane(&self) -> Box<dyn Lane + '_> {
        Box::new(There(self))
    }
}

struct There<'a>(&'a Ssh);

impl Lane for There<'_> {
    fn run(&mut self, job: &Job) -> Result<Outcome, TrialError> {
        self.0.job(job)
    }
}
