//! Owns what `digest` and `partition` say.

use std::fmt::Write as _;

use serde_json::{Value, json};

use crate::digest::FolderDigest;
use crate::partition::{Partition, Side};
use crate::tree::RepoPath;

/// A folder by its path from the root, for people.
pub fn folder(dir: &[u8]) -> String {
    if dir.is_empty() { "the repository's root".to_owned() } else { RepoPath::new(dir).to_string() }
}

/// `seedgate.digest/1`.
pub fn digest_json(dir: &[u8], source: &str, digest: &FolderDigest) -> Value {
    let files: Vec<Value> = digest.files.iter().map(|(path, sha256)| json!({"path": path.to_string(), "sha256": sha256})).collect();
    let dir = if dir.is_empty() { ".".to_owned() } else { RepoPath::new(dir).to_string() };
    json!({"schema": "seedgate.digest/1", "folder": dir, "source": source, "sha256": digest.sha256, "files": files})
}

/// One `side<TAB>path` a line, side by side.
pub fn partition_text(partition: &Partition) -> String {
    let mut text = String::new();
    for side in Side::ALL {
        for path in partition.paths(side) {
            let _ = writeln!(text, "{}\t{path}", side.name());
        }
    }
    text
}

/// `seedgate.partition/1`.
pub fn partition_json(partition: &Partition) -> Value {
    let of = |side: &Side| {
        let paths: Vec<String> = partition.paths(*side).iter().map(ToString::to_string).collect();
        (side.name().to_owned(), json!(paths))
    };
    let sides: serde_json::Map<String, Value> = Side::ALL.iter().map(of).collect();
    json!({"schema": "seedgate.partition/1", "mixed": partition.mixed().is_some(), "sides": sides})
}
