//! Owns where Seedgate's own files lie, inside the git directory and in the user's folders.

use std::path::{Path, PathBuf};

use directories::ProjectDirs;

/// Places of Seedgate's own files. No verdict needs any of them to be writable.
#[derive(Clone, Debug)]
pub struct Layout {
    common_dir: PathBuf,
    cache: Option<PathBuf>,
    runs: Vec<PathBuf>,
}

impl Layout {
    /// The places for a repository, by its common git directory, and for this user. The only code that reads the
    /// environment for folders (`SEEDGATE_RUNTIME_DIR`, `XDG_*`, `HOME`, or what the operating system has instead).
    pub fn new(common_dir: &Path) -> Self {
        let user = ProjectDirs::from("", "", "seedgate");
        let cache = user.as_ref().map(|dirs| dirs.cache_dir().to_path_buf());
        let named = std::env::var_os("SEEDGATE_RUNTIME_DIR").filter(|named| !named.is_empty());
        let found = user.as_ref().and_then(ProjectDirs::runtime_dir).map(Path::to_path_buf);
        let found = || found.into_iter().chain(cache.as_ref().map(|cache| cache.join("run"))).collect();
        let runs = named.map_or_else(found, |named| vec![PathBuf::from(named)]);
        Layout { common_dir: common_dir.to_path_buf(), cache, runs }
    }

    /// Every name and tip known when `init` ran: commits reachable from them are older than the gate and not judged.
    pub fn baseline(&self) -> PathBuf {
        self.common_dir.join("seedgate").join("baseline.json")
    }

    /// Where memos lie; `None` when this user has no such folder.
    pub fn cache(&self) -> Option<&Path> {
        self.cache.as_deref()
    }

    /// Where the daemon's socket and lock may lie, best first: `SEEDGATE_RUNTIME_DIR` alone when it is set, else the system's
    /// runtime folder and the cache. A folder that does not fit is for the daemon to find out.
    pub fn runs(&self) -> &[PathBuf] {
        &self.runs
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
