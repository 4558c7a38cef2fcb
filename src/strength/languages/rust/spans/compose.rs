//! Owns one file made of two: the production part of one and the tests of the other. What comes out is read again and must hold just
//! these two parts, or there is none.

use std::collections::BTreeMap;

use crate::strength::languages::beside::Inseparable;
use crate::strength::languages::rust::spans::{Hole, Layout, begins_line};

/// The production part of one file with the tests of another. A file that is not there counts as empty.
///
/// # Errors
/// [`Inseparable`].
pub(in crate::strength::languages::rust) fn compose(production: &[u8], tests: &[u8]) -> Result<Vec<u8>, Inseparable> {
    if production == tests {
        return Ok(production.to_vec());
    }
    let (frame, other) = (Layout::read(production)?, Layout::read(tests)?);
    if frame.whole || other.whole {
        return Err(Inseparable::Whole);
    }
    let made = Joiner { frame: &frame, tests: &other }.text()?;
    let (is, production, tests) = (Layout::read(made.as_bytes())?.spans(), frame.spans(), other.spans());
    let holds = is.production == production.production && is.test.is_same_set(&tests.test);
    if holds { Ok(made.into_bytes()) } else { Err(Inseparable::Tangled) }
}

struct Joiner<'l, 't> {
    frame: &'l Layout<'t>,
    tests: &'l Layout<'t>,
}

impl Joiner<'_, '_> {
    fn text(&self) -> Result<String, Inseparable> {
        let mut placed: BTreeMap<usize, Vec<&Hole>> = BTreeMap::new();
        for hole in &self.tests.holes {
            placed.entry(self.place(hole)?).or_default().push(hole);
        }
        let (from, mut made, mut at) = (self.frame.source.text, String::new(), 0);
        let mut gone = self.frame.holes.iter().map(|hole| hole.bytes.clone()).peekable();
        loop {
            let next_hole = gone.peek().map(|hole| hole.start);
            let next_place = placed.first_entry();
            let stop = [next_hole, next_place.as_ref().map(|entry| *entry.key())].into_iter().flatten().min();
            let Some(stop) = stop else { break };
            made.push_str(&from[at..stop.max(at)]);
            at = at.max(stop);
            if let Some(entry) = next_place.filter(|entry| *entry.key() == stop) {
                entry.remove().into_iter().for_each(|hole| self.put(&mut made, hole));
            }
            while let Some(hole) = gone.next_if(|hole| hole.start == stop) {
                at = at.max(hole.end);
            }
        }
        let rest = &from[at..];
        if !rest.is_empty() && !rest.starts_with(['\n', '\r']) && self.needs_feed(&made) {
            made.push('\n');
        }
        made.push_str(rest);
        Ok(made)
    }

    /// Adds a test item, on lines of its own where it had them.
    fn put(&self, made: &mut String, hole: &Hole) {
        let text = self.tests.source.text;
        let own_lines = begins_line(text, hole.bytes.start);
        if (own_lines || self.needs_feed(made)) && !begins_line(made, made.len()) {
            made.push('\n');
        }
        made.push_str(&text[hole.bytes.clone()]);
    }

    /// Whether what follows would end up in a comment.
    fn needs_feed(&self, made: &str) -> bool {
        let line = made.rsplit('\n').next().unwrap_or_default();
        line.contains("//")
            || (self.tests.holes.last().is_some_and(|hole| hole.bytes.end == self.tests.source.text.len()) && !line.is_empty())
    }

    /// Where a test item goes: where the frame has one of that name, else behind the production item that it stands behind.
    fn place(&self, hole: &Hole) -> Result<usize, Inseparable> {
        let home = &self.tests.containers[hole.container];
        let found = self.frame.containers.iter().position(|container| container.key == home.key);
        let Some(at) = found else {
            return Err(Inseparable::Homeless(home.key.last().map(|(name, _)| name.clone()).unwrap_or_default()));
        };
        if let Some(twin) = self.frame.holes.iter().find(|twin| twin.container == at && twin.key == hole.key) {
            return Ok(twin.bytes.start);
        }
        let container = &self.frame.containers[at];
        let find = |key: &(String, usize)| container.anchors.iter().position(|(anchor, _)| anchor == key);
        let before = home.anchors[..hole.slot].iter().rev().find_map(|(key, _)| find(key)).map(|found| found + 1);
        let after = || home.anchors[hole.slot..].iter().find_map(|(key, _)| find(key));
        let slot = if hole.slot == home.anchors.len() {
            container.anchors.len()
        } else {
            before.or_else(after).unwrap_or(container.anchors.len())
        };
        let held = self.frame.holes.iter().find(|other| other.container == at && other.slot == slot);
        let end = slot.checked_sub(1).map_or(container.start, |before| container.anchors[before].1);
        Ok(held.map_or(end, |held| held.bytes.start))
    }
}
