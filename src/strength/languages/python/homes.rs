//! Owns where Python's modules lie, and which files pytest loads beside a file of tests.

use crate::tree::RepoPath;

/// The `conftest.py` files in the folders around a file, nearest first.
pub(super) fn conftests(path: &RepoPath) -> Vec<RepoPath> {
    let mut all = Vec::new();
    let mut folder = Some(path.parent().to_vec());
    while let Some(at) = folder {
        let slash: &[u8] = if at.is_empty() { b"" } else { b"/" };
        all.push(RepoPath::new([&at, slash, b"conftest.py"].concat()));
        folder = (!at.is_empty()).then(|| RepoPath::new(at).parent().to_vec());
    }
    all
}

/// Where a module of that name would lie: for a relative one beside the file; else from each folder around it, and under `src`.
pub(super) fn candidates(module: &str, from: &RepoPath) -> Vec<RepoPath> {
    let dots = module.len() - module.trim_start_matches('.').len();
    let tail = module[dots..].replace('.', "/");
    let mut folders: Vec<Vec<u8>> = Vec::new();
    let mut folder = from.parent().to_vec();
    if dots > 0 {
        for _ in 1..dots {
            folder = RepoPath::new(folder).parent().to_vec();
        }
        folders.push(folder);
    } else {
        while !folder.is_empty() {
            folders.push(folder.clone());
            folder = RepoPath::new(folder).parent().to_vec();
        }
        folders.push(Vec::new());
        folders.push(b"src".to_vec());
    }
    let ends: &[&str] = if tail.is_empty() { &["__init__.py"] } else { &[".py", "/__init__.py"] };
    let path = |folder: &Vec<u8>, end: &str| {
        let slash: &[u8] = if folder.is_empty() { b"" } else { b"/" };
        RepoPath::new([folder.as_slice(), slash, tail.as_bytes(), end.as_bytes()].concat())
    };
    folders.iter().flat_map(|folder| ends.iter().map(move |end| path(folder, end))).collect()
}
