//! Owns the folders that pytest's configuration puts on the module path.

use crate::strength::harness::pytest_ini::effective;
use crate::tree::{Tree, TreeError};

/// Most folders that are taken.
const MOST: usize = 64;

/// The folders of `pythonpath` in the configuration at the root, in their order, from the root (`""`). One that leaves the tree is none of
/// its folders, and a configuration that cannot be read names none.
///
/// # Errors
/// When the tree cannot be read.
pub fn import_folders(tree: &dyn Tree) -> Result<Vec<String>, TreeError> {
    let keys = effective(tree, b"")?.ok().flatten().map(|config| config.keys).unwrap_or_default();
    let named = keys.get("pythonpath").map(|(value, _)| value.words()).unwrap_or_default();
    Ok(named.iter().filter_map(|folder| inside(folder)).take(MOST).collect())
}

/// A path from the root without detours.
fn inside(folder: &str) -> Option<String> {
    if folder.starts_with('/') {
        return None;
    }
    let mut parts: Vec<&str> = Vec::new();
    for part in folder.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()?),
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::import_folders;
    use crate::tree::MemTree;

    #[test]
    fn the_first_file_with_a_section_says_which_folders_modules_are_imported_from() {
        for (files, folders) in [
            (&[("pytest.ini", "[pytest]\npythonpath = lib ./src/\n  .\n")][..], &["lib", "src", ""][..]),
            (&[("pyproject.toml", "[tool.pytest.ini_options]\npythonpath = [\"a/../b\", \"../out\", \"/abs\", \"x y\"]\n")], &["b", "x y"]),
            (&[("pyproject.toml", "[tool.pytest.ini_options]\npythonpath = \"lib\"\n")], &["lib"]),
            (&[("tox.ini", "[pytest]\npythonpath = lib\n"), ("setup.cfg", "[tool:pytest]\npythonpath = other\n")], &["lib"]),
            (&[("setup.cfg", "[tool:pytest]\npythonpath = 'my lib'\n")], &["my lib"]),
            (&[("pytest.ini", "[pytest]\n"), ("setup.cfg", "[tool:pytest]\npythonpath = other\n")], &[]),
            (&[("pyproject.toml", "[tool.pytest.ini_options\n")], &[]),
            (&[("sub/pytest.ini", "[pytest]\npythonpath = lib\n")], &[]),
        ] {
            let mut tree = MemTree::default();
            files.iter().for_each(|(path, text)| drop(tree.put(path, *text)));
            assert_eq!(import_folders(&tree).unwrap(), folders, "{files:?}");
        }
    }
}
