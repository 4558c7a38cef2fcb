//! Owns how paths and globs of a harness meet: roots, folders, patterns of pytest and of build services.

use crate::settings::glob::Glob;

/// A path as pytest takes it, without what says nothing.
pub(super) fn root(word: &str) -> String {
    let mut path = word;
    while let Some(rest) = path.strip_prefix("./") {
        path = rest;
    }
    match path.trim_end_matches('/') {
        "" | "." => String::new(),
        path => path.to_owned(),
    }
}

/// `fnmatch`, whose `*` crosses folders, from the root of the tree. A class of characters counts as any one.
pub(super) fn crosses(glob: &str, path: &str) -> bool {
    let glob: Vec<char> = classless(glob.trim_start_matches("./")).collect();
    let text: Vec<char> = path.chars().collect();
    // A relative glob is held against the whole path, so that a leading `*` also takes nothing.
    let (mut at, mut place, mut star) = (0, 0, None);
    while place < text.len() {
        match glob.get(at) {
            Some('*') => {
                star = Some((at, place));
                at += 1;
            }
            Some(c) if *c == '?' || *c == text[place] => {
                at += 1;
                place += 1;
            }
            _ => {
                let Some((star_at, from)) = star else { return false };
                star = Some((star_at, from + 1));
                (at, place) = (star_at + 1, from + 1);
            }
        }
    }
    glob[at..].iter().all(|c| *c == '*')
}

fn classless(glob: &str) -> impl Iterator<Item = char> {
    let mut inside = false;
    glob.chars().filter_map(move |c| match c {
        '[' if !inside => {
            inside = true;
            Some('?')
        }
        ']' if inside => {
            inside = false;
            None
        }
        _ if inside => None,
        other => Some(other),
    })
}

/// Whether a path lies under one of some roots; no roots at all mean `empty`.
pub(super) fn under_any(roots: &[String], path: &str, empty: bool) -> bool {
    if roots.is_empty() {
        return empty;
    }
    roots.iter().any(|root| {
        let inside = |folder: &str| path.strip_prefix(folder).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
        root.is_empty()
            || inside(root)
            || (root.contains(['*', '?', '[']) && (like(root, path) || ancestors(path).any(|folder| like(root, folder))))
    })
}

fn ancestors(path: &str) -> impl Iterator<Item = &str> {
    path.match_indices('/').map(|(at, _)| &path[..at])
}

/// Whether a glob of pytest means a text.
pub(super) fn like(pattern: &str, text: &str) -> bool {
    pattern == text || Glob::new(pattern).is_ok_and(|glob| glob.matches(text.as_bytes()))
}

/// A pattern of a workflow's filter: `*` stays within one part of a path, `**` crosses parts wherever it stands, and `**/` also
/// takes no folder at all.
pub(super) fn triggers(pattern: &str, path: &str) -> bool {
    let (pattern, path) = (pattern.replace("**/", "**").into_bytes(), path.as_bytes());
    // `row[n]`: whether what was read of the pattern means the first `n` bytes of the path.
    let mut row: Vec<bool> = std::iter::once(true).chain(path.iter().map(|_| false)).collect();
    let mut at = 0;
    while let Some(c) = pattern.get(at) {
        let across = pattern[at..].starts_with(b"**");
        let mut next = vec![false; row.len()];
        for place in 0..row.len() {
            let before = place.checked_sub(1);
            let byte = before.and_then(|before| path.get(before));
            next[place] = match c {
                b'*' => row[place] || before.is_some_and(|before| next[before]) && (across || byte != Some(&b'/')),
                b'?' => row[place] || before.is_some_and(|before| row[before]),
                _ => before.is_some_and(|before| row[before]) && byte == Some(c),
            };
        }
        row = next;
        at += 1 + usize::from(across);
    }
    row.last().copied().unwrap_or(false)
}

#[cfg(test)]
mod tests {
    use super::triggers;

    #[test]
    fn a_filter_of_a_workflow_means_the_paths_it_means_there() {
        for (pattern, path, yes) in [
            ("**.py", "tests/test_a.py", true),
            ("**/*.py", "setup.py", true),
            ("**/*.py", "a/b/c.py", true),
            ("*.py", "a/b.py", false),
            ("*.py", "b.py", true),
            ("docs/**", "docs/a/b.md", true),
            ("docs/**", "tests/docs.py", false),
            ("src/*/a.py", "src/x/a.py", true),
            ("src/*/a.py", "src/x/y/a.py", false),
            ("**", "a/b", true),
            ("", "a", false),
        ] {
            assert_eq!(triggers(pattern, path), yes, "{pattern} {path}");
        }
    }
}
