//! Owns what `digest` and `partition` say.

use std::fmt::Write as _;
use std::ops::RangeInclusive;

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

/// One `side<TAB>path` a line, side by side; with `<TAB>lines` where the side has only some of the file.
pub fn partition_text(partition: &Partition) -> String {
    let mut text = String::new();
    for side in Side::ALL {
        for path in partition.paths(side) {
            let lines = partition.lines(side, path).map(|lines| format!("\t{lines}")).unwrap_or_default();
            let _ = writeln!(text, "{}\t{path}{lines}", side.name());
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
    let stretches = |ranges: &[RangeInclusive<usize>]| ranges.iter().map(|range| json!([range.start(), range.end()])).collect::<Vec<_>>();
    let part = |side: Side, path: &RepoPath| {
        let lines = partition.lines(side, path)?;
        let (now, gone) = (stretches(&lines.now), stretches(&lines.gone));
        Some(json!({"path": path.to_string(), "side": side.name(), "lines": now, "removed": gone}))
    };
    let parts = Side::ALL.into_iter().flat_map(|side| partition.paths(side).into_iter().filter_map(move |path| part(side, path)));
    let parts: Vec<Value> = parts.collect();
    json!({"schema": "seedgate.partition/1", "mixed": partition.mixed().is_some(), "sides": sides, "parts": parts})
}
