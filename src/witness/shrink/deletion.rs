//! Owns taking parts out of collections: halves, runs, single parts, parts that others count by, and joining collections.

use num_bigint::BigInt;

use crate::witness::shrink::node::{Holder, Node};
use crate::witness::shrink::{Search, Stop, grow};

impl<E> Search<'_, E> {
    /// Deletes wherever parts can be deleted, outermost first.
    pub(super) fn delete(&mut self) -> Result<(), Stop<E>> {
        for path in self.best.paths() {
            if self.best.at(&path).and_then(Node::holder).is_some_and(Holder::is_flexible) {
                self.halve(&path)?;
                self.delete_runs(&path)?;
            }
        }
        Ok(())
    }

    /// Keeps one half as long as one half fails.
    fn halve(&mut self, path: &[usize]) -> Result<(), Stop<E>> {
        loop {
            let Some((_, parts)) = self.many(path).filter(|(_, parts)| parts.len() > 1) else { return Ok(()) };
            let half = parts.len() / 2;
            if !self.without(path, half, parts.len())? && !self.without(path, 0, half)? {
                return Ok(());
            }
        }
    }

    /// Deletes runs from the end: as long as they can be, one part at least.
    fn delete_runs(&mut self, path: &[usize]) -> Result<(), Stop<E>> {
        let mut end = self.best.at(path).map_or(0, |node| node.parts().len());
        while end > 0 {
            let Some((holder, parts)) = self.many(path) else { return Ok(()) };
            end = end.min(parts.len());
            let base = self.best.clone();
            let deleted = grow(end, &mut |count| {
                let kept = [&parts[..end - count], &parts[end..]].concat();
                self.takes(&base.with(path, Node::Many(holder, kept)))
            })?;
            end = end.saturating_sub(deleted.max(1));
        }
        Ok(())
    }

    fn without(&mut self, path: &[usize], first: usize, end: usize) -> Result<bool, Stop<E>> {
        let Some((holder, parts)) = self.many(path) else { return Ok(false) };
        let kept = [&parts[..first], &parts[end..]].concat();
        let candidate = self.best.with(path, Node::Many(holder, kept));
        self.takes(&candidate)
    }

    /// Makes one collection of all collections of a list.
    pub(super) fn merge_all(&mut self) -> Result<(), Stop<E>> {
        for path in self.best.paths() {
            self.merge(&path, 0, usize::MAX)?;
        }
        Ok(())
    }

    /// Makes one collection of two that stand side by side.
    pub(super) fn merge_neighbours(&mut self) -> Result<(), Stop<E>> {
        for path in self.best.paths() {
            let mut at = 0;
            while self.best.at(&path).is_some_and(|node| at + 1 < node.parts().len()) {
                at += usize::from(!self.merge(&path, at, at + 2)?);
            }
        }
        Ok(())
    }

    fn merge(&mut self, path: &[usize], first: usize, end: usize) -> Result<bool, Stop<E>> {
        let Some((Holder::List, parts)) = self.many(path) else { return Ok(false) };
        let end = end.min(parts.len());
        let inner = parts.get(first).and_then(Node::holder).filter(|holder| holder.is_flexible());
        let Some(inner) = inner.filter(|inner| end - first > 1 && parts[first..end].iter().all(|part| part.holder() == Some(*inner)))
        else {
            return Ok(false);
        };
        let joined = parts[first..end].iter().flat_map(|part| part.parts().iter().cloned()).collect();
        let kept = [&parts[..first], &[Node::Many(inner, joined)], &parts[end..]].concat();
        let candidate = self.best.with(path, Node::Many(Holder::List, kept));
        self.takes(&candidate)
    }

    /// Deletes a part of a list whose numbers may be places in it: those that lead past it are lowered by one.
    pub(super) fn renumber(&mut self) -> Result<(), Stop<E>> {
        for path in self.best.paths() {
            let mut at = self.best.at(&path).map_or(0, |node| node.parts().len());
            while at > 0 {
                at -= 1;
                let Some((Holder::List, parts)) = self.many(&path) else { break };
                let places: Option<Vec<&BigInt>> = parts.iter().map(|p| if let Node::Int(n) = p { Some(n) } else { None }).collect();
                let end = BigInt::from(parts.len());
                let Some(places) = places.filter(|all| all.iter().all(|n| **n >= BigInt::ZERO && **n < end)) else { break };
                let place = BigInt::from(at);
                let lowered = |n: &BigInt| Node::Int(if *n > place { n - 1 } else { n.clone() });
                let kept = places.iter().enumerate().filter(|(here, _)| *here != at).map(|(_, n)| lowered(n)).collect();
                let candidate = self.best.with(&path, Node::Many(Holder::List, kept));
                self.takes(&candidate)?;
            }
        }
        Ok(())
    }
}
