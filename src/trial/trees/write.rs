//! Owns writing a tree out: modes kept, nothing outside the folder, no link that leads out of it.

use std::fs;
use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};

use crate::tree::{Entry, Mode, RepoPath, Tree};
use crate::trial::{TrialError, interrupt, system};

/// Largest file, in bytes.
const FILE_CAP: u64 = 1 << 30;
/// Largest tree, in bytes.
const TREE_CAP: u64 = 8 << 30;
/// Most entries.
const ENTRIES: usize = 400_000;
/// Longest text of a link (Linux's `PATH_MAX`).
const LINK_CAP: u64 = 4096;

/// Writes a tree into an empty folder. Compiled Python is left out: the interpreter would believe it over the source beside it.
pub(super) fn out(tree: &dyn Tree, entries: &[(RepoPath, Entry)], root: &Path) -> Result<(), TrialError> {
    if let Some((path, _)) = entries.get(ENTRIES) {
        return Err(unfit(path, format!("the tree has more than {ENTRIES} entries")));
    }
    let (mut links, mut left) = (Vec::new(), TREE_CAP);
    for (path, entry) in entries {
        let file = place(root, path)?;
        let Some(file) = file else { continue };
        match entry.mode {
            Mode::Symlink => links.push((path, &entry.oid, file)),
            Mode::Gitlink => fs::create_dir_all(&file).map_err(TrialError::disk(&file))?,
            mode => {
                interrupt::check()?;
                let size = copy(tree, path, entry, &file, mode == Mode::Executable)?;
                left = left.checked_sub(size).ok_or_else(|| unfit(path, format!("the tree has more than {TREE_CAP} bytes")))?;
            }
        }
    }
    // Links come last, so that nothing is written through one.
    for (path, oid, file) in &links {
        let target = tree.blob(oid, LINK_CAP).map_err(|error| error.of(path))?;
        folder_of(file)?;
        system::link(&target, file).map_err(TrialError::disk(file))?;
    }
    drop_escapes(root, links.into_iter().map(|(_, _, file)| file).collect())
}

/// Where an entry goes; `None` for what is left out.
fn place(root: &Path, path: &RepoPath) -> Result<Option<PathBuf>, TrialError> {
    let mut file = root.to_path_buf();
    for part in path.as_bytes().split(|b| *b == b'/') {
        if matches!(part, b"" | b"." | b"..") || part.eq_ignore_ascii_case(b".git") || part.contains(&0) {
            return Err(unfit(path, "a part of this path is no name for a file".into()));
        }
        if part == b"__pycache__" {
            return Ok(None);
        }
        file.push(system::name(part));
    }
    Ok(Some(file))
}

fn folder_of(file: &Path) -> Result<(), TrialError> {
    let folder = file.parent().unwrap_or(file);
    fs::create_dir_all(folder).map_err(TrialError::disk(folder))
}

fn copy(tree: &dyn Tree, path: &RepoPath, entry: &Entry, file: &Path, is_executable: bool) -> Result<u64, TrialError> {
    folder_of(file)?;
    let new = system::create(file, is_executable).map_err(TrialError::disk(file))?;
    let (mut new, mut size, mut failed) = (BufWriter::new(new), 0, None);
    let mut piece = |bytes: &[u8]| {
        size += bytes.len() as u64;
        if failed.is_none() {
            failed = new.write_all(bytes).err();
        }
    };
    tree.pour(&entry.oid, FILE_CAP, &mut piece).map_err(|error| error.of(path))?;
    failed.map_or_else(|| new.flush(), Err).map_err(TrialError::disk(file))?;
    Ok(size)
}

/// Removes links that lead out of the folder or nowhere, until none is left: removing one may leave another without an end.
fn drop_escapes(root: &Path, mut links: Vec<PathBuf>) -> Result<(), TrialError> {
    let root = root.canonicalize().map_err(TrialError::disk(root))?;
    loop {
        let before = links.len();
        let mut kept = Vec::with_capacity(before);
        for link in links {
            if link.canonicalize().is_ok_and(|end| end.starts_with(&root)) {
                kept.push(link);
            } else {
                fs::remove_file(&link).map_err(TrialError::disk(&link))?;
            }
        }
        if kept.len() == before {
            return Ok(());
        }
        links = kept;
    }
}

fn unfit(path: &RepoPath, says: String) -> TrialError {
    TrialError::Unfit { path: path.clone(), says }
}
