//! Owns the engine id: a hash of everything that decides what a fact says, so that a changed reader never reuses old facts.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};

/// Sources that turn bytes into facts, changes into losses, or say how those are written down.
const READERS: [&str; 11] = [
    "src/digest.rs",
    "src/finding.rs",
    "src/freeze",
    "src/gate",
    "src/partition.rs",
    "src/repo",
    "src/settings",
    "src/settings.rs",
    "src/strength",
    "src/tree.rs",
    "src/witness",
];

fn main() -> io::Result<()> {
    let mut hash = Sha256::new();
    for variable in ["CARGO_PKG_VERSION", "TARGET"] {
        part(&mut hash, variable, std::env::var(variable).unwrap_or_default().as_bytes());
    }
    for file in sources()? {
        part(&mut hash, &file.to_string_lossy().replace('\\', "/"), &fs::read(&file)?);
    }
    say("rerun-if-changed=build.rs");
    for watched in READERS.iter().chain(["Cargo.lock"].iter()) {
        say(&format!("rerun-if-changed={watched}"));
    }
    let id = hash.finalize().iter().fold(0_u128, |id, byte| id.rotate_left(8) ^ u128::from(*byte));
    say(&format!("rustc-env=SEEDGATE_ENGINE={id:032x}"));
    Ok(())
}

/// Length and name first, so that no two lists of files hash alike.
fn part(hash: &mut Sha256, name: &str, bytes: &[u8]) {
    hash.update(format!("{name}\0{}\0", bytes.len()));
    hash.update(bytes);
}

/// Every file under the readers, and the lock file: a parser's new version may read the same bytes otherwise.
fn sources() -> io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for root in READERS {
        collect(Path::new(root), &mut files)?;
    }
    collect(Path::new("Cargo.lock"), &mut files)?;
    files.sort();
    Ok(files)
}

fn collect(path: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    if path.is_dir() {
        for entry in fs::read_dir(path)? {
            collect(&entry?.path(), files)?;
        }
    } else if path.is_file() {
        files.push(path.to_path_buf());
    }
    Ok(())
}

fn say(directive: &str) {
    println!("cargo:{directive}");
}
