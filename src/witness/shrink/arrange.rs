//! Owns the order of parts: simplest first, all at once or by swapping two.

use crate::witness::order;
use crate::witness::shrink::node::{Holder, Node, Path};
use crate::witness::shrink::{Search, Stop};

/// Parts among which every pair is swapped.
const SWAPPED: usize = 12;
/// Parts of fixed places that are exchanged.
const EXCHANGED: usize = 24;

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

    /// Swaps two parts of fixed places that stand in different wholes, neither inside the other.
    pub(super) fn exchange(&mut self) -> Result<(), Stop<E>> {
        let mut paths = self.best.paths();
        let fixed =
            |path: &Path| path.split_last().is_some_and(|(_, above)| self.best.at(above).and_then(Node::holder) == Some(Holder::Tuple));
        paths.retain(fixed);
        paths.truncate(EXCHANGED);
        for (at, first) in paths.iter().enumerate() {
            for second in paths.iter().skip(at + 1) {
                self.exchange_two(first, second)?;
            }
        }
        Ok(())
    }

    /// Puts each in the place of the other; if that does not help, also with the second and what stands beside it swapped.
    fn exchange_two(&mut self, first: &Path, second: &Path) -> Result<(), Stop<E>> {
        let (Some((_, here)), Some((place, there))) = (first.split_last(), second.split_last()) else { return Ok(()) };
        let (Some(one), Some(other)) = (self.best.at(first).cloned(), self.best.at(second).cloned()) else { return Ok(()) };
        let both_leaves = one.parts().is_empty() && other.parts().is_empty();
        if here == there || second.starts_with(first) || both_leaves {
            return Ok(());
        }
        let exchanged = self.best.with(first, other).with(second, one);
        if self.takes(&exchanged)? {
            return Ok(());
        }
        let Some(Node::Many(holder, parts)) = exchanged.at(there) else { return Ok(()) };
        for beside in (0..parts.len()).filter(|beside| beside != place && !parts[*beside].parts().is_empty()) {
            let mut parts = parts.clone();
            parts.swap(*place, beside);
            if self.takes(&exchanged.with(there, Node::Many(*holder, parts)))? {
                return Ok(());
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
