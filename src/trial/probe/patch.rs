//! Owns a mutant from a file: a unified diff, laid over the files of a tree where every line of it fits.

use std::collections::BTreeMap;

use crate::tree::RepoPath;

/// One patch: by file, what is replaced.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Patch {
    /// Files and their hunks.
    pub(super) files: BTreeMap<String, Vec<Hunk>>,
}

/// One hunk.
#[derive(Debug, PartialEq, Eq, Default)]
pub(super) struct Hunk {
    /// 1-based first line of what it is laid over.
    pub(super) line: usize,
    /// The lines that are there.
    pub(super) before: Vec<String>,
    /// The lines that will be.
    pub(super) after: Vec<String>,
}

impl Patch {
    /// Reads a unified diff that changes files that are there.
    ///
    /// # Errors
    /// In one sentence, why it is none.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let (mut files, mut path) = (BTreeMap::<String, Vec<Hunk>>::new(), None);
        let mut lines = text.lines().peekable();
        while let Some(line) = lines.next() {
            if let Some(rest) = line.strip_prefix("+++ ") {
                path = Some(named(rest)?);
            } else if line.starts_with("@@ ") {
                let path = path.clone().ok_or("a hunk stands before any file's name")?;
                let (line, mut old, mut new) = heading(line).ok_or_else(|| format!("{line:?} is no head of a hunk"))?;
                let mut hunk = Hunk { line, ..Hunk::default() };
                while old > 0 || new > 0 {
                    let line = lines.next().ok_or("the last hunk is cut off")?;
                    let (sign, rest) = line.split_at_checked(1).unwrap_or((" ", ""));
                    let (is_old, is_new) = (sign != "+", sign != "-");
                    if !matches!(sign, " " | "+" | "-" | "\\") || (is_old && old == 0) || (is_new && new == 0) {
                        return Err(format!("{line:?} does not fit into its hunk"));
                    }
                    if sign == "\\" {
                        continue;
                    }
                    if is_old {
                        hunk.before.push(rest.to_owned());
                        old -= 1;
                    }
                    if is_new {
                        hunk.after.push(rest.to_owned());
                        new -= 1;
                    }
                }
                files.entry(path).or_default().push(hunk);
            }
        }
        if files.is_empty() {
            Err("it changes nothing: a unified diff of files that are there is wanted".to_owned())
        } else {
            Ok(Patch { files })
        }
    }
}

/// The new name of a file, without the `b/` that git writes.
fn named(rest: &str) -> Result<String, String> {
    let name = rest.split('\t').next().unwrap_or(rest).trim_end();
    let name = name.strip_prefix("b/").unwrap_or(name);
    let is_outside = name.starts_with('/') || name.split('/').any(|part| matches!(part, "" | "." | ".."));
    if is_outside { Err(format!("{} is no file of the tree", RepoPath::new(name))) } else { Ok(name.to_owned()) }
}

/// `@@ -12,3 +12,4 @@`: first line, old count, new count.
fn heading(line: &str) -> Option<(usize, usize, usize)> {
    let mut words = line.split(' ').skip(1);
    let (old, new) = (words.next()?.strip_prefix('-')?, words.next()?.strip_prefix('+')?);
    let count = |range: &str| range.split_once(',').map_or(Some(1), |(_, count)| count.parse::<usize>().ok());
    let first = old.split(',').next()?.parse().ok()?;
    Some((first, count(old)?, count(new)?))
}

/// A file with the hunks in it; each must fit at its line.
///
/// # Errors
/// In one sentence, where it does not fit.
pub(super) fn applied(source: &str, hunks: &[Hunk]) -> Result<String, String> {
    let ends = source.ends_with('\n');
    let lines: Vec<&str> = source.lines().collect();
    let (mut out, mut at): (Vec<&str>, usize) = (Vec::new(), 0);
    for hunk in hunks {
        // A hunk without old lines stands behind its line.
        let from = if hunk.before.is_empty() { hunk.line } else { hunk.line.saturating_sub(1) };
        let to = from.saturating_add(hunk.before.len());
        let here = lines.get(from..to).filter(|here| from >= at && here.iter().zip(&hunk.before).all(|(one, two)| *one == two.as_str()));
        if here.is_none() {
            return Err(format!("the hunk at line {} does not fit", hunk.line));
        }
        out.extend(&lines[at..from]);
        out.extend(hunk.after.iter().map(String::as_str));
        at = to;
    }
    out.extend(&lines[at..]);
    Ok(out.join("\n") + if ends { "\n" } else { "" })
}

#[cfg(test)]
mod tests {
    use super::{Patch, applied};

    const DIFF: &str = "diff --git a/src/m.py b/src/m.py\n--- a/src/m.py\n+++ b/src/m.py\n@@ -1,3 +1,3 @@ def f\n a\n-b\n+B\n c\n@@ -5 +5,2 @@\n-e\n+E\n+F\n";

    #[test]
    fn a_diff_is_laid_over_a_file_where_it_fits_and_nowhere_else() {
        let patch = Patch::parse(DIFF).unwrap();
        let hunks = &patch.files["src/m.py"];
        assert_eq!(applied("a\nb\nc\nd\ne\n", hunks).unwrap(), "a\nB\nc\nd\nE\nF\n");
        assert_eq!(applied("a\nx\nc\nd\ne\n", hunks).unwrap_err(), "the hunk at line 1 does not fit");
        assert_eq!(applied("a\nb\nc\n", hunks).unwrap_err(), "the hunk at line 5 does not fit");
    }

    #[test]
    fn what_is_no_diff_of_files_of_the_tree_is_told() {
        for (text, says) in [
            ("", "it changes nothing"),
            ("hello\n", "it changes nothing"),
            ("@@ -1 +1 @@\n-a\n+b\n", "a hunk stands before"),
            ("+++ b/../x\n", "is no file of the tree"),
            ("+++ /etc/passwd\n", "is no file of the tree"),
            ("+++ b/x\n@@ -1,2 +1,2 @@\n-a\n", "cut off"),
            ("+++ b/x\n@@ -1 +1 @@\n?a\n", "does not fit into its hunk"),
            ("+++ b/x\n@@ what @@\n", "is no head of a hunk"),
        ] {
            let error = Patch::parse(text).unwrap_err();
            assert!(error.contains(says), "{text:?}: {error}");
        }
    }
}
