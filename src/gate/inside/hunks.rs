//! Owns the changed lines of a file, sorted by where its tests stand.

use std::collections::BTreeSet;
use std::ops::{Range, RangeInclusive};

use imara_diff::sources::byte_lines;
use imara_diff::{Algorithm, Diff, InternedInput};

use crate::partition::Lines;
use crate::strength::languages::beside::Spans;

/// A file and where its tests stand.
type File<'f> = (&'f [u8], &'f Spans);

/// A stretch of lines before and what stands in its place after, counted from 0.
struct Hunk {
    before: Range<usize>,
    after: Range<usize>,
}

/// The changed lines of production and of tests.
pub(super) fn lines(before: File<'_>, after: File<'_>) -> (Lines, Lines) {
    let (was, is) = (test_lines(before), test_lines(after));
    let of = |wanted: bool| {
        let mut lines = Lines::default();
        for hunk in hunks(before.0, after.0) {
            let now = stretches(sorted(&hunk.after, &is, wanted));
            if now.is_empty() {
                lines.gone.extend(stretches(sorted(&hunk.before, &was, wanted)));
            }
            lines.now.extend(now);
        }
        lines
    };
    (of(false), of(true))
}

/// Whether a merge has changed lines of its own in production and in tests: lines that no parent has, or places where each parent had
/// something and nothing is left.
pub(super) fn own(bases: &[File<'_>], patch: File<'_>) -> (bool, bool) {
    let is = test_lines(patch);
    let (mut added, mut gaps): (Option<BTreeSet<usize>>, Option<BTreeSet<(usize, bool)>>) = (None, None);
    for base in bases {
        let was = test_lines(*base);
        let hunks = hunks(base.0, patch.0);
        let new: BTreeSet<usize> = hunks.iter().flat_map(|hunk| hunk.after.clone()).collect();
        let gone = hunks.iter().filter(|hunk| hunk.after.is_empty());
        let gone: BTreeSet<(usize, bool)> =
            gone.flat_map(|hunk| hunk.before.clone().map(|line| (hunk.after.start, was.get(line) == Some(&true)))).collect();
        added = Some(added.map_or_else(|| new.clone(), |known| known.intersection(&new).copied().collect()));
        gaps = Some(gaps.map_or_else(|| gone.clone(), |known| known.intersection(&gone).copied().collect()));
    }
    let tests: Vec<bool> = added.into_iter().flatten().map(|line| is.get(line) == Some(&true)).collect();
    let gaps: Vec<bool> = gaps.into_iter().flatten().map(|(_, test)| test).collect();
    let has = |wanted: bool| tests.iter().chain(&gaps).any(|test| *test == wanted);
    (has(false), has(true))
}

fn hunks(before: &[u8], after: &[u8]) -> Vec<Hunk> {
    let input = InternedInput::new(byte_lines(before), byte_lines(after));
    let mut diff = Diff::compute(Algorithm::Histogram, &input);
    diff.postprocess_lines(&input);
    let wide = |range: Range<u32>| range.start as usize..range.end as usize;
    diff.hunks().map(|hunk| Hunk { before: wide(hunk.before), after: wide(hunk.after) }).collect()
}

/// Of each line whether it belongs to the tests: where its first character stands.
fn test_lines((bytes, spans): File<'_>) -> Vec<bool> {
    let mut start = 0;
    let mut ranges = spans.tests.iter().peekable();
    let of = |line: &[u8]| {
        let at = start + line.iter().position(|byte| !byte.is_ascii_whitespace()).unwrap_or(0);
        start += line.len();
        while ranges.next_if(|range| range.end <= at).is_some() {}
        ranges.peek().is_some_and(|range| range.start <= at)
    };
    bytes.split_inclusive(|byte| *byte == b'\n').map(of).collect()
}

/// The lines of a stretch that are tests, or that are not.
fn sorted(range: &Range<usize>, tests: &[bool], wanted: bool) -> Vec<usize> {
    range.clone().filter(|line| tests.get(*line).copied().unwrap_or_default() == wanted).collect()
}

/// Lines as stretches, counted from 1.
fn stretches(lines: Vec<usize>) -> Vec<RangeInclusive<usize>> {
    let mut found: Vec<RangeInclusive<usize>> = Vec::new();
    for line in lines.into_iter().map(|line| line + 1) {
        match found.last_mut().filter(|last| last.end() + 1 == line) {
            Some(last) => *last = *last.start()..=line,
            None => found.push(line..=line),
        }
    }
    found
}
