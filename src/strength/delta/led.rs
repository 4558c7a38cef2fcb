//! Owns conditions told by what their names stand for: a name that one module passes on from another is that other one's.

use std::cell::{OnceCell, RefCell};
use std::collections::{BTreeSet, HashMap};

use crate::strength::delta::Code;
use crate::strength::delta::names::Names;
use crate::strength::delta::oracle::Oracle;
use crate::strength::delta::tokens::{cut, is_free, is_name, is_word};
use crate::strength::delta::weigh::{Weight, weigh};

/// At most so many new conditions are told once more.
const MOST: usize = 2_000;

/// The patch's new conditions, told by what their names stand for.
pub(super) struct Led<'n> {
    code: &'n Code<'n>,
    /// The file on the base and in the patch.
    paths: [&'n str; 2],
    own: &'n BTreeSet<&'n str>,
    gained: Vec<&'n str>,
    /// The new conditions, read at the first question.
    fresh: OnceCell<Vec<Oracle>>,
    known: RefCell<HashMap<(usize, String), Option<String>>>,
}

impl<'n> Led<'n> {
    /// Nothing is looked up before it is asked for.
    pub(super) fn new(code: &'n Code<'n>, paths: [&'n str; 2], own: &'n BTreeSet<&'n str>, gained: Vec<&'n str>) -> Self {
        Led { code, paths, own, gained, fresh: OnceCell::new(), known: RefCell::default() }
    }

    /// Whether the patch demands a condition of the base with names that stand for the same.
    pub(super) fn holds(&self, text: &str, names: &Names<'_>) -> bool {
        let was = self.told(text, 0);
        let base = Oracle::read(&was);
        let read = || self.gained.iter().take(MOST).flat_map(|text| Oracle::read(&self.told(text, 1))).collect();
        let fresh: &Vec<Oracle> = self.fresh.get_or_init(read);
        base.iter().all(|oracle| fresh.iter().any(|patch| weigh(oracle, patch, names) == Some(Weight::Held)))
    }

    fn told(&self, text: &str, side: usize) -> String {
        let tokens = cut(text);
        let (mut told, mut at) = (Vec::with_capacity(tokens.len()), 0);
        while at < tokens.len() {
            let (start, end) = (at, self.end(&tokens, at));
            at = end;
            if end > start + 1 {
                told.push(self.led(&tokens[start..end], side));
            } else {
                told.push(tokens[start].to_owned());
            }
        }
        told.join(" ")
    }

    /// Where a dotted name of the file's imports ends that starts here.
    fn end(&self, tokens: &[&str], at: usize) -> usize {
        let follows = at.checked_sub(1).is_some_and(|before| {
            let before = tokens[before];
            matches!(before, ")" | "]" | "}" | ".") || before.ends_with(['\'', '"'])
        });
        let dots = tokens[at..].iter().take_while(|token| **token == ".").count();
        let root = at + dots;
        let is_root = |token: &&str| is_name(token) && (dots > 0 || (is_free(tokens, root) && !self.own.contains(*token)));
        if follows || !tokens.get(root).is_some_and(is_root) {
            return at + 1;
        }
        let mut end = root + 1;
        while tokens.get(end) == Some(&".") && tokens.get(end + 1).is_some_and(|token| is_word(token)) {
            end += 2;
        }
        end
    }

    /// The longest front of a dotted name that stands for something, told by that.
    fn led(&self, parts: &[&str], side: usize) -> String {
        let fronts = (2..=parts.len()).rev().filter(|end| parts[*end - 1] != ".");
        for end in fronts {
            let front = parts[..end].concat();
            let mut known = self.known.borrow_mut();
            let found = known.entry((side, front)).or_insert_with_key(|(_, front)| (self.code.stands_for)(front, self.paths[side], side));
            if let Some(found) = found {
                return format!("{found}{}", parts[end..].concat());
            }
        }
        parts.concat()
    }
}
