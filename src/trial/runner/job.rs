//! Owns a job: what is run on one tree, as every runner gets it, and its digests.

pub mod suite;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;

use crate::digest;
use crate::finding::PropId;
use crate::tree::{Mode, Oid};
use crate::trial::TrialError;
use crate::trial::runner::merkle::{Action, Command, Digest, Folder, Node};
use crate::trial::runner::root::Root;
use crate::trial::worker::{DECORATORS, PYTHON};
use crate::witness::value::Input;

/// The schema of a job's order.
pub const SCHEMA: &str = "seedgate.job/1";
/// The folder of the input root that holds the tree: a server's own root may be the system's.
const TREE: &str = "tree";
/// Where a job's own files lie in its tree.
pub const FOLDER: [&str; 2] = [".seedgate", "job"];
/// What runs a job.
const SCRIPT: &str = include_str!("../../../templates/python/seedgate_job.py");
/// Largest order, in bytes.
const CAP: usize = 64 << 20;
/// Where programs are looked for on another machine.
const PATH: &str = "/usr/local/bin:/usr/bin:/bin";
/// What every child is told, so that two machines do the same.
const TOLD: [(&str, &str); 6] = [
    ("LC_ALL", "C.UTF-8"),
    ("NO_COLOR", "1"),
    ("PYTHONDONTWRITEBYTECODE", "1"),
    ("PYTHONHASHSEED", "0"),
    ("PYTHONUTF8", "1"),
    ("TZ", "UTC"),
];

/// What a job is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// Pinned candidates on the patch.
    Candidates,
    /// A run of properties.
    Props,
    /// Inputs on the base.
    Base,
    /// Tests on a tree with a planted fault, or without one.
    Probe,
}

impl Kind {
    /// The word in records.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Candidates => "candidates",
            Kind::Props => "props",
            Kind::Base => "base",
            Kind::Probe => "probe",
        }
    }
}

/// What is run a second time, in a worker that remembers nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Again {
    /// What failed.
    Failures,
    /// Everything.
    All,
}

/// Whether a result that somebody remembers will do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Memory {
    /// It must be run now: a nonce that nobody knows, and no cache is asked.
    Never,
    /// The same job has the same nonce.
    Welcome,
}

/// How long and how much.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// One input.
    pub input: Duration,
    /// The whole job, whatever is tried again.
    pub total: Duration,
    /// A worker's memory, in bytes.
    pub memory: u64,
}

/// What is asked of a property.
#[derive(Clone, Debug)]
pub struct Order<'a> {
    /// What it is for.
    pub kind: Kind,
    /// The commit that the tree is held against.
    pub parent: &'a Oid,
    /// The property.
    pub prop_id: &'a PropId,
    /// The arguments that its domain gives.
    pub arguments: &'a [String],
    /// Inputs, run after run: a run ends at its first failure.
    pub runs: Vec<Vec<Input>>,
    /// What is run twice.
    pub again: Again,
    /// What a candidates file or a card it is bound to, by SHA-256.
    pub bound: &'a BTreeMap<String, String>,
}

#[derive(Serialize)]
struct Written<'a> {
    schema: &'static str,
    nonce: &'a str,
    kind: Kind,
    parent: &'a Oid,
    prop_id: &'a PropId,
    arguments: &'a [String],
    runs: &'a [Vec<Input>],
    again: Again,
    path: &'a [String],
    bound: &'a BTreeMap<String, String>,
    toolchain: &'a str,
    limit: f64,
    memory: u64,
}

/// What jobs of one run share.
pub struct Bench {
    /// The input root.
    pub root: Arc<Root>,
    /// What names the toolchain: 64 hex digits.
    pub toolchain: String,
    /// Folders of the tree that modules are imported from.
    pub path: Vec<String>,
    /// The interpreter elsewhere.
    pub python: String,
    /// What another machine must be.
    pub platform: BTreeMap<String, String>,
    /// How long and how much.
    pub limits: Limits,
    /// Whether a remembered result will do.
    pub memory: Memory,
    folder: Result<Folder, String>,
    shared: Arc<BTreeMap<Digest, Vec<u8>>>,
    scripts: Scripts,
}

/// Files by their names in the job's folder.
type Scripts = Vec<(&'static str, Arc<[u8]>)>;

/// What is sealed into a job: its tree, the folder of its digests, and what runs it.
struct Sealed<'a> {
    root: &'a Arc<Root>,
    folder: Result<Folder, String>,
    scripts: &'a Scripts,
    nonce: String,
    bytes: Vec<u8>,
}

impl Bench {
    /// For jobs on a tree.
    pub fn new(root: Arc<Root>, toolchain: String, limits: Limits, memory: Memory) -> Self {
        let mut shared = BTreeMap::new();
        let folder = folder_of(&root).map(|folder| folder.shallow(&mut shared));
        let scripts = [("seedgate_job.py", SCRIPT), ("seedgate_worker.py", PYTHON), ("spare/seedgate_props.py", DECORATORS)];
        Bench {
            root,
            toolchain,
            path: Vec::new(),
            python: "python3".to_owned(),
            platform: BTreeMap::new(),
            limits,
            memory,
            folder,
            shared: Arc::new(shared),
            scripts: scripts.map(|(name, text)| (name, text.as_bytes().into())).to_vec(),
        }
    }

    /// A job.
    ///
    /// # Errors
    /// When its inputs are too many.
    pub fn job(&self, order: &Order<'_>) -> Result<Job, TrialError> {
        let mut written = Written {
            schema: SCHEMA,
            nonce: "",
            kind: order.kind,
            parent: order.parent,
            prop_id: order.prop_id,
            arguments: order.arguments,
            runs: &order.runs,
            again: order.again,
            path: &self.path,
            bound: order.bound,
            toolchain: &self.toolchain,
            limit: self.limits.input.as_secs_f64(),
            memory: self.limits.memory,
        };
        let nonce = match self.memory {
            Memory::Never => fresh(),
            Memory::Welcome => digest::sha256_hex(&serde_json::to_vec(&written).unwrap_or_default()),
        };
        written.nonce = &nonce;
        let bytes = serde_json::to_vec(&written).unwrap_or_default();
        if bytes.len() > CAP {
            let says = format!("its inputs have {} bytes, more than the {CAP} that one job may have; run fewer trials", bytes.len());
            return Err(TrialError::input(&order.prop_id.0, says));
        }
        let sealed = Sealed { root: &self.root, folder: self.folder.clone(), scripts: &self.scripts, nonce, bytes };
        let runs = order.runs.iter().map(Vec::len).collect();
        Ok(self.sealed(order.kind, (order.prop_id, order.parent), runs, sealed))
    }

    fn sealed(&self, kind: Kind, (prop_id, parent): (&PropId, &Oid), runs: Vec<usize>, sealed: Sealed<'_>) -> Job {
        let scripts = sealed.scripts.iter().map(|(name, bytes)| (*name, Arc::clone(bytes)));
        let files: Scripts = std::iter::once(("job.json", sealed.bytes.into())).chain(scripts).collect();
        let mut job = Job {
            kind,
            prop_id: prop_id.clone(),
            parent: parent.clone(),
            runs,
            job_sha256: digest::sha256_hex(&files[0].1),
            nonce: sealed.nonce,
            toolchain: self.toolchain.clone(),
            limits: self.limits,
            memory: self.memory,
            root: Arc::clone(sealed.root),
            files,
            keys: Err(String::new()),
        };
        job.keys = sealed.folder.map(|folder| self.keys(folder, &job));
        job
    }

    fn keys(&self, mut folder: Folder, job: &Job) -> Keys {
        let (mut blobs, mut files) = (BTreeMap::new(), Vec::new());
        for (name, bytes) in &job.files {
            let digest = Digest::of(bytes);
            let path: Vec<&str> = FOLDER.into_iter().chain(name.split('/')).collect();
            folder.put(&path, Node::File { digest: digest.clone(), is_executable: false });
            files.push(digest);
        }
        let mut top = Folder::default();
        top.put(&[TREE], Node::Folder(folder));
        let input_root = top.seal(&mut blobs);
        // What the tree has anyway is not the job's own.
        blobs.retain(|digest, _| !self.shared.contains_key(digest));
        let told = TOLD.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        let own = [("PATH".to_owned(), PATH.to_owned()), ("SEEDGATE_TOOLCHAIN".to_owned(), self.toolchain.clone())];
        let command = Command {
            arguments: &arguments(&self.python, &at("seedgate_job.py")),
            environment: &told.chain(own).collect(),
            output: &at("verdict.json"),
            folder: TREE,
            platform: &self.platform,
        };
        let command = put(&mut blobs, command.bytes());
        let action = Action {
            command: &command,
            input_root: &input_root,
            timeout: self.limits.total.as_secs().max(1),
            is_never_cached: self.memory == Memory::Never,
            salt: &format!("{SCHEMA}/{}", job.kind.name()),
            platform: &self.platform,
        };
        let action = put(&mut blobs, action.bytes());
        Keys { action, command, input_root, files, blobs, shared: Arc::clone(&self.shared) }
    }
}

fn folder_of(root: &Root) -> Result<Folder, String> {
    root.folder().map_err(|path| format!("{path}: its name or link is not UTF-8, which no server of that kind takes"))
}

fn put(blobs: &mut BTreeMap<Digest, Vec<u8>>, bytes: Vec<u8>) -> Digest {
    let digest = Digest::of(&bytes);
    blobs.insert(digest.clone(), bytes);
    digest
}

/// The path of one of a job's files, from its tree's root.
pub fn at(name: &str) -> String {
    format!("{}/{}/{name}", FOLDER[0], FOLDER[1])
}

/// The interpreter with a script.
pub fn arguments(python: &str, script: &str) -> Vec<String> {
    [python, "-s", "-B", script].map(str::to_owned).to_vec()
}

/// A nonce that nobody can know before: the hasher's keys come from the system's own chance.
fn fresh() -> String {
    use std::hash::{BuildHasher as _, RandomState};
    let words: Vec<String> = (0..4).map(|n: u64| format!("{:016x}", RandomState::new().hash_one(n))).collect();
    digest::sha256_hex(words.concat().as_bytes())
}

/// One job.
pub struct Job {
    /// What it is for.
    pub kind: Kind,
    /// The property.
    pub prop_id: PropId,
    /// The commit that the tree is held against.
    pub parent: Oid,
    /// How many inputs each run has.
    pub runs: Vec<usize>,
    /// SHA-256 of the order.
    pub job_sha256: String,
    /// What only an answer to this job carries.
    pub nonce: String,
    /// What names the toolchain.
    pub toolchain: String,
    /// How long and how much.
    pub limits: Limits,
    /// Whether a remembered result will do.
    pub memory: Memory,
    /// The tree.
    pub root: Arc<Root>,
    /// Its own files, by their names in its folder.
    pub files: Vec<(&'static str, Arc<[u8]>)>,
    /// Its digests; the sentence why it has none.
    pub keys: Result<Keys, String>,
}

/// The digests of a job, and the bytes that are its own.
pub struct Keys {
    /// The action.
    pub action: Digest,
    /// The command.
    pub command: Digest,
    /// The input root.
    pub input_root: Digest,
    /// The job's own files, in their order.
    pub files: Vec<Digest>,
    /// Its own folders, command and action.
    pub blobs: BTreeMap<Digest, Vec<u8>>,
    /// The tree's folders.
    pub shared: Arc<BTreeMap<Digest, Vec<u8>>>,
}

impl Job {
    /// Every file with its path, mode and bytes: the tree's, then its own.
    pub fn all_files(&self) -> impl Iterator<Item = (Vec<u8>, Mode, &[u8])> {
        let tree = self.root.files().map(|(path, mode, bytes)| (path.as_bytes().to_vec(), mode, bytes));
        tree.chain(self.files.iter().map(|(name, bytes)| (at(name).into_bytes(), Mode::File, &**bytes)))
    }

    /// Why it must not leave the machine, if it must not.
    pub fn kept_here(&self) -> Option<String> {
        let first = self.root.secrets().first()?;
        let more = self.root.secrets().len() - 1;
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        Some(format!("nothing was sent: {first}{more} is on the list of secrets"))
    }
}
