//! Owns the seal of a tree on disk: what the system says of every file, so that a tree that code has written to is not used again.

use std::fs;
use std::io;
use std::path::Path;

use crate::digest;
use crate::trial::system;

/// The seal of a folder as it is now.
pub(super) fn of(root: &Path) -> io::Result<String> {
    let mut lines = Vec::new();
    let mut waiting = vec![root.to_path_buf()];
    while let Some(folder) = waiting.pop() {
        for entry in fs::read_dir(&folder)? {
            let path = entry?.path();
            let found = path.symlink_metadata()?;
            let name = system::name_bytes(path.strip_prefix(root).unwrap_or(&path).as_os_str());
            // A folder's size and times also tell of names that came and went.
            lines.push([name, format!("\0{}\n", system::state(&found)).as_bytes()].concat());
            if found.is_dir() {
                waiting.push(path);
            }
        }
    }
    lines.sort_unstable();
    Ok(digest::sha256_hex(&lines.concat()))
}
