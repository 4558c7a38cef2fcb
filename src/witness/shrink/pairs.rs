//! Owns moving two numbers together: both nearer to zero by the same, one nearer and the other farther so that their sum holds, one gone
//! and the other at its far end.

use num_bigint::BigInt;
use num_traits::{One as _, Signed as _};

use crate::witness::shape::Shape;
use crate::witness::shrink::node::{self, Holder, Node, Path};
use crate::witness::shrink::{Search, Stop};

/// Numbers between which pairs are looked for, and how far apart two of them may stand.
const NUMBERS: usize = 48;
const APART: usize = 4;

impl<E> Search<'_, E> {
    /// Moves every pair of numbers that are not yet as simple as they can be.
    pub(super) fn pairs(&mut self) -> Result<(), Stop<E>> {
        let mut paths = self.best.paths();
        paths.retain(|path| self.distance(path).is_some_and(|away| away.abs() > BigInt::one()));
        paths.truncate(NUMBERS);
        for (at, first) in paths.iter().enumerate() {
            for second in paths.iter().skip(at + 1).take(APART) {
                self.pair(first, second, true)?;
                self.pair(first, second, false)?;
            }
        }
        Ok(())
    }

    /// A number at one end of its range overflowed, perhaps: tries the other end, with one of its neighbours deleted.
    pub(super) fn ends(&mut self) -> Result<(), Stop<E>> {
        for path in self.best.paths() {
            let Some((at, list)) = path.split_last() else { continue };
            let Some((Holder::List, parts)) = self.many(list).filter(|(_, parts)| parts.len() <= APART) else { continue };
            let Some(other) = self.other_end(&path) else { continue };
            for gone in (0..parts.len()).filter(|gone| gone != at) {
                let mut kept = parts.clone();
                kept[*at] = Node::Int(other.clone());
                kept.remove(gone);
                let candidate = self.best.with(list, Node::Many(Holder::List, kept));
                if self.takes(&candidate)? {
                    break;
                }
            }
        }
        Ok(())
    }

    fn other_end(&self, path: &[usize]) -> Option<BigInt> {
        let (Some(Node::Int(n)), Some(Shape::Integers { low: Some(low), high: Some(high) })) =
            (self.best.at(path), node::shape(self.plan, &self.best, path))
        else {
            return None;
        };
        if high - n <= BigInt::one() { Some(low.clone()) } else { (n - low <= BigInt::one()).then(|| high.clone()) }
    }

    /// How far a number is from the simplest of its shape.
    fn distance(&self, path: &[usize]) -> Option<BigInt> {
        self.target(path).map(|(n, near)| n - near)
    }

    fn pair(&mut self, first: &Path, second: &Path, together: bool) -> Result<(), Stop<E>> {
        let (Some((one, near)), Some((other, far))) = (self.target(first), self.target(second)) else { return Ok(()) };
        let (here, there) = (&one - &near, &other - &far);
        let same_side = here.is_negative() == there.is_negative();
        if together && !same_side || here == BigInt::ZERO {
            return Ok(());
        }
        let sign = if here.is_negative() { -BigInt::one() } else { BigInt::one() };
        let base = self.best.clone();
        let moved = |by: &BigInt| {
            let second_by = if together { &other - &sign * by } else { &other + &sign * by };
            base.with(first, Node::Int(&one - &sign * by)).with(second, Node::Int(second_by))
        };
        let limit = if together { here.abs().min(there.abs()) } else { here.abs() };
        let most = self.most(&limit, &|search, by| search.admits(&moved(by)));
        self.descend(&most, &|left| Some(moved(&(&most - left))))
    }

    /// The greatest move up to `limit` that stays in the domain.
    fn most(&self, limit: &BigInt, holds: &dyn Fn(&Self, &BigInt) -> bool) -> BigInt {
        if holds(self, limit) {
            return limit.clone();
        }
        let (mut low, mut high) = (BigInt::ZERO, limit.clone());
        while &high - &low > BigInt::one() {
            let middle = (&low + &high) >> 1;
            if holds(self, &middle) { low = middle } else { high = middle }
        }
        low
    }
}
