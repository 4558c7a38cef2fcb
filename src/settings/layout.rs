//! Owns where Seedgate's own files lie in a git directory.

use std::path::{Path, PathBuf};

/// Places of Seedgate's own files. No verdict needs any of them to be writable.
#[derive(Clone, Debug)]
pub struct Layout {
    common_dir: PathBuf,
}

impl Layout {
    /// The places for a repository, by its common git directory.
    pub fn new(common_dir: &Path) -> Self {
        Layout { common_dir: common_dir.to_path_buf() }
    }

    /// Every tip known when `init` ran: commits reachable from them are older than the gate and not judged.
    pub fn baseline(&self) -> PathBuf {
        self.common_dir.join("seedgate").join("baseline.json")
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::Layout;

    #[test]
    fn the_baseline_lies_in_the_common_git_directory() {
        assert_eq!(Layout::new(Path::new("/r/.git")).baseline(), Path::new("/r/.git/seedgate/baseline.json"));
    }
}
