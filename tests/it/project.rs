//! Owns small Python projects for the tests that run their code: two commits, a seed list, and a look at what is left behind.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::sandbox::Sandbox;

/// What a command ended with and said.
pub(crate) struct Said {
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl From<Output> for Said {
    fn from(output: Output) -> Self {
        let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
        Said { code: output.status.code(), out: text(output.stdout), err: text(output.stderr) }
    }
}

/// A project whose first commit is its base and whose last is under judgement.
pub(crate) struct Project {
    pub(crate) sandbox: Sandbox,
}

impl Project {
    /// A base of these files, with three seeds.
    pub(crate) fn new(files: &[(&str, &str)]) -> Self {
        let project = Project { sandbox: Sandbox::new(&[]) };
        fs::create_dir(project.temporary()).expect("a folder");
        project.commit("base", files);
        project.sandbox.write(".seedgate/seeds.txt", "1\n2 # two\n\n3\n");
        project
    }

    /// One commit more.
    pub(crate) fn commit(&self, subject: &str, files: &[(&str, &str)]) {
        files.iter().for_each(|(path, text)| self.sandbox.write(path, text));
        let paths: Vec<&str> = files.iter().map(|(path, _)| *path).collect();
        self.sandbox.git([&["add", "--"], &paths[..]].concat());
        self.sandbox.git(["commit", "-q", "--allow-empty", "-m", subject]);
    }

    /// Where its commands put temporary files.
    pub(crate) fn temporary(&self) -> PathBuf {
        self.sandbox.beside("tmp")
    }

    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = self.sandbox.command(env!("CARGO_BIN_EXE_seedgate"));
        command.env("SEEDGATE_DAEMON", "off").env("TMPDIR", self.temporary()).env("XDG_CACHE_HOME", self.sandbox.beside("cache"));
        command.env("PYENV_VERSION", std::env::var("PYENV_VERSION").unwrap_or_default()).args(arguments);
        command
    }

    pub(crate) fn seedgate(&self, arguments: &[&str]) -> Said {
        self.command(arguments).output().expect("seedgate runs").into()
    }

    /// Runs the properties of the last commit, with its own tests unless `--tree` says otherwise, and gives the record.
    pub(crate) fn run(&self, arguments: &[&str]) -> (Said, Value) {
        let tree: &[&str] = if arguments.contains(&"--tree") { &[] } else { &["--tree", "full"] };
        let said = self.seedgate(&[&["props", "run", "--json"], tree, arguments].concat());
        let record = serde_json::from_str(&said.out).unwrap_or_else(|error| panic!("{error}: {} {}", said.out, said.err));
        (said, record)
    }

    /// What is left in the folder for temporary files.
    pub(crate) fn left(&self) -> Vec<String> {
        names(&self.temporary())
    }
}

fn names(folder: &Path) -> Vec<String> {
    fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned()).collect()
}

/// The record of one property.
pub(crate) fn property<'r>(record: &'r Value, name: &str) -> &'r Value {
    let rows = record["properties"].as_array().expect("rows");
    let is_named = |row: &&Value| row["prop_id"].as_str().is_some_and(|id| id.ends_with(name));
    rows.iter().find(is_named).unwrap_or_else(|| panic!("no {name} in {record:#}"))
}

/// Waits until no process has this text among its arguments.
pub(crate) fn gone(text: &str) -> bool {
    let end = Instant::now() + Duration::from_secs(20);
    while Instant::now() < end {
        if !runs(text) {
            return true;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    false
}

/// Whether a process has this text among its arguments.
pub(crate) fn runs(text: &str) -> bool {
    let processes = fs::read_dir("/proc").expect("a list of processes").flatten();
    processes.filter_map(|entry| fs::read(entry.path().join("cmdline")).ok()).any(|line| {
        let is_own = line.starts_with(env!("CARGO_BIN_EXE_seedgate").as_bytes());
        !is_own && line.windows(text.len()).any(|part| part == text.as_bytes())
    })
}

/// Waits for a file.
pub(crate) fn appears(file: &Path) -> bool {
    let end = Instant::now() + Duration::from_mins(1);
    while Instant::now() < end {
        if file.exists() {
            return true;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    false
}

/// An interpreter with pytest, Hypothesis and setuptools, made once; `None` (and said) where there is no registry.
pub(crate) fn python(test: &str) -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("target/tests-python-1");
    let (program, lock) = (folder.join("bin/python"), folder.with_extension("lock"));
    let lock = fs::File::create(&lock).expect("a lock");
    lock.lock().expect("a lock");
    let ready = folder.join("ready");
    if !ready.exists() {
        let made = Command::new("python3").args(["-m", "venv", "--clear"]).arg(&folder).status().is_ok_and(|status| status.success());
        let wanted = ["pytest==9.0.2", "hypothesis==6.151.9", "setuptools==80.9.0"];
        let pip = |wanted: &[&str]| {
            let mut command = Command::new(&program);
            command.args(["-m", "pip", "install", "-q", "--disable-pip-version-check", "--retries", "1"]).args(wanted);
            command.output().is_ok_and(|done| done.status.success())
        };
        if made && pip(&wanted) {
            fs::write(&ready, "").expect("a mark");
        }
    }
    if ready.exists() {
        return Some(program);
    }
    eprintln!("SKIPPED {test}: pytest and Hypothesis cannot be installed here");
    None
}
