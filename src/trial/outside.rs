//! Owns the check that the code under test is the tree's: an editable install or another copy of the project is an error, not a verdict.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::tree::{Entry, RepoPath};

/// What a tree holds, as an interpreter sees it.
pub struct Inside {
    root: PathBuf,
    /// Folders of the interpreter and of what is installed for it.
    homes: Vec<PathBuf>,
    /// Every Python file of the tree, by path and by each end of its path that begins at a folder.
    ends: BTreeSet<String>,
    /// Names that can be imported from the folders modules are imported from.
    top_names: BTreeSet<String>,
}

impl Inside {
    /// Of a tree at `root`, whose modules are imported from the folders `path`; `homes` are the interpreter's own folders.
    pub fn new(root: &Path, entries: &[(RepoPath, Entry)], path: &[String], homes: &[String]) -> Self {
        let (mut ends, mut top_names) = (BTreeSet::new(), BTreeSet::new());
        for file in entries.iter().filter_map(|(file, _)| file.as_str()).filter(|file| file.ends_with(".py")) {
            ends.insert(file.to_owned());
            ends.extend(file.match_indices('/').map(|(at, _)| file[at + 1..].to_owned()));
            top_names.extend(path.iter().filter_map(|folder| top_name(file, folder)));
        }
        let homes = homes.iter().map(PathBuf::from).filter(|home| home.components().count() > 1).collect();
        Inside { root: root.to_path_buf(), homes, ends, top_names }
    }

    /// The modules that belong to the tree by their names and were loaded from elsewhere, as sentences.
    pub fn strangers(&self, modules: &[(String, String)]) -> Vec<String> {
        let strange = modules.iter().filter(|(name, file)| self.is_stranger(name, Path::new(file)));
        strange.map(|(name, file)| format!("{name} was loaded from {file}")).collect()
    }

    fn is_stranger(&self, name: &str, file: &Path) -> bool {
        if file.starts_with(&self.root) || file.extension().is_none_or(|end| end != "py") {
            return false;
        }
        let top = name.split('.').next().unwrap_or(name);
        if self.homes.iter().any(|home| file.starts_with(home)) {
            // Installed: it is the tree's only when the tree itself has something of that name to be imported.
            return self.top_names.contains(top);
        }
        let end = name.replace('.', "/");
        self.top_names.contains(top) || self.ends.contains(&format!("{end}.py")) || self.ends.contains(&format!("{end}/__init__.py"))
    }
}

/// What `import` would call the file, or the folder it lies in, from a folder of the tree.
fn top_name(file: &str, folder: &str) -> Option<String> {
    let rest = if folder.is_empty() { file } else { file.strip_prefix(folder)?.strip_prefix('/')? };
    match rest.split_once('/') {
        Some((package, inner)) => (inner == "__init__.py").then(|| package.to_owned()),
        None => rest.strip_suffix(".py").map(str::to_owned),
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::Inside;
    use crate::tree::{MemTree, Tree as _};

    #[test]
    fn a_module_of_the_trees_name_from_elsewhere_is_a_stranger_and_nothing_else_is() {
        let mut tree = MemTree::default();
        for file in ["src/price/__init__.py", "src/price/round.py", "tests/test_price.py", "deep/lib/odd/__init__.py", "vendor/six.py"] {
            tree.put(file, "");
        }
        let path = [String::new(), "src".to_owned()];
        let inside =
            Inside::new(Path::new("/cache/t1"), &tree.list(b"").unwrap(), &path, &["/venv".to_owned(), "/usr".to_owned(), "/".to_owned()]);
        for (name, file, strange) in [
            ("price.round", "/cache/t1/src/price/round.py", false),
            ("price.round", "/home/me/project/src/price/round.py", true),
            ("price", "/venv/lib/python3/site-packages/price/__init__.py", true),
            ("odd", "/home/me/project/deep/lib/odd/__init__.py", true),
            ("six", "/venv/lib/python3/site-packages/six.py", false),
            ("hypothesis.core", "/venv/lib/python3/site-packages/hypothesis/core.py", false),
            ("price._speed", "/home/me/project/src/price/_speed.so", false),
            ("other", "/home/me/other.py", false),
        ] {
            let found = inside.strangers(&[(name.to_owned(), file.to_owned())]);
            assert_eq!(!found.is_empty(), strange, "{name} {file}: {found:?}");
        }
    }
}
