//! Owns conditions told by names of other modules: what such a name is bound to takes its place.

use std::collections::BTreeSet;

use crate::strength::effort::Mark;
use crate::strength::languages::facts::Meaning;
use crate::strength::snapshot::SnapshotError;
use crate::strength::snapshot::resolve::Resolver;
use crate::tree::RepoPath;

/// Longest condition that is looked through.
const LONGEST: usize = 2_000;

impl Resolver<'_> {
    /// A condition with each name of another module replaced by the condition that it stands for.
    pub(super) fn condition(&self, text: &str, from: &RepoPath) -> Result<String, SnapshotError> {
        if text.len() > LONGEST || text.contains(['\'', '"']) {
            return Ok(text.to_owned());
        }
        let mut told = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(first) = rest.chars().next() {
            let is_part = |c: char| c.is_alphanumeric() || c == '_' || c == '.';
            let length = rest.find(|c| !is_part(c)).unwrap_or(rest.len()).max(first.len_utf8());
            let (word, after) = rest.split_at(length);
            let is_name =
                word.contains('.') && word.starts_with(|c: char| c.is_alphabetic() || c == '_' || c == '.') && !word.ends_with('.');
            let is_plain = is_name && !after.starts_with(['(', '[', '.']);
            match if is_plain { self.meaning(word, from)? } else { None } {
                Some((_, Meaning::Condition(found))) => {
                    let alone = word.len() == text.len();
                    let (open, close) = if alone { ("", "") } else { ("(", ")") };
                    told.extend([open, &found, close]);
                }
                _ => told.push_str(word),
            }
            rest = after;
        }
        Ok(told)
    }

    /// Marks with such conditions.
    pub(super) fn marks(&self, marks: BTreeSet<Mark>, from: &RepoPath) -> Result<BTreeSet<Mark>, SnapshotError> {
        let told = marks.into_iter().map(|mark| match &mark.when {
            Some(when) => Ok(Mark { when: Some(self.condition(when, from)?), ..mark }),
            None => Ok(mark),
        });
        told.collect()
    }
}
