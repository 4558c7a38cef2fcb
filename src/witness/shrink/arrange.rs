//! Owns the order of parts: simplest first, all at once or by swapping two.

use crate::witness::order;
use crate::witness::shrink::node::{Holder, Node};
use crate::witness::shrink::{Search, Stop};

/// Parts among which every pair is swapped.
const SWAPPED: usize = 12;

impl<E> Search<'_, E> {
    /// Sorts lists and maps; where that does not fail, swaps two parts that stand the wrong way round.
    pub(super) fn arrange(&mut self) -> Result<(), Stop<E>> {
        for path in self.best.paths() {
            let Some((holder, parts)) = self.many(&path) else { continue };
            if matches!(holder, Holder::Set | Holder::FrozenSet | Holder::Pair) {
                continue;
            }
            let mut sorted = parts.clone();
            sorted.sort_by(|a, b| order::simpler(&a.value(), &b.value()));
            let candidate = self.best.with(&path, Node::Many(holder, sorted));
            if !self.takes(&candidate)? && parts.len() <= SWAPPED {
                self.swap(&path, parts.len())?;
            }
        }
        Ok(())
    }

    fn swap(&mut self, path: &[usize], count: usize) -> Result<(), Stop<E>> {
        for first in 0..count {
            for second in first + 1..count {
                let Some((holder, mut parts)) = self.many(path).filter(|(_, parts)| parts.len() == count) else { return Ok(()) };
                if order::simpler(&parts[second].value(), &parts[first].value()).is_lt() {
                    parts.swap(first, second);
                    let candidate = self.best.with(path, Node::Many(holder, parts));
                    self.takes(&candidate)?;
                }
            }
        }
        Ok(())
    }
}
