//! Owns making leaves simpler: numbers towards the one nearest zero, characters and bytes towards the first, equal numbers together.

use num_bigint::BigInt;
use num_traits::{One as _, Signed as _, ToPrimitive as _};

use crate::witness::order;
use crate::witness::shape::{Shape, nearest};
use crate::witness::shrink::node::{self, Node, Path};
use crate::witness::shrink::simplify::alphabet;
use crate::witness::shrink::{Search, Stop};
use crate::witness::value::{Float, Value};

/// Up to here a number is also tried with the other sign.
const SMALL: u32 = 16;

impl<E> Search<'_, E> {
    /// Makes every leaf simpler, one at a time.
    pub(super) fn leaves(&mut self) -> Result<(), Stop<E>> {
        for path in self.best.paths() {
            match self.best.at(&path) {
                Some(Node::Int(_)) => self.number(&[path])?,
                Some(Node::Char(c)) => {
                    let c = *c;
                    self.character(&path, c)?;
                }
                Some(Node::Byte(b)) => {
                    let b = BigInt::from(*b);
                    let make = |n: &BigInt| Some(Node::Byte(n.to_u8()?));
                    self.lower(&[path], &b, &make)?;
                }
                Some(Node::Leaf(Value::Float(f))) => {
                    let f = f.get();
                    self.float(&path, f)?;
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Makes numbers that are equal simpler together.
    pub(super) fn equals(&mut self) -> Result<(), Stop<E>> {
        let mut paths: Vec<Path> = self.best.paths();
        paths.retain(|path| matches!(self.best.at(path), Some(Node::Int(_))));
        while let Some(first) = paths.first().cloned() {
            let number = self.best.at(&first).cloned();
            let (equal, others): (Vec<Path>, Vec<Path>) = paths.into_iter().partition(|path| self.best.at(path) == number.as_ref());
            paths = others;
            if equal.len() > 1 {
                self.number(&equal)?;
            }
        }
        Ok(())
    }

    /// Moves all numbers by the same, so that the first of them is at its simplest.
    pub(super) fn translate(&mut self) -> Result<(), Stop<E>> {
        let mut paths = self.best.paths();
        paths.retain(|path| matches!(self.best.at(path), Some(Node::Int(_))));
        let away = paths.iter().filter_map(|path| self.target(path)).map(|(n, near)| n - near).find(|away| *away != BigInt::ZERO);
        let Some(away) = away.filter(|_| paths.len() > 1) else { return Ok(()) };
        let moved = |tree: Node, path: &Path| match tree.at(path) {
            Some(Node::Int(n)) => tree.with(path, Node::Int(n - &away)),
            _ => tree,
        };
        let candidate = paths.iter().fold(self.best.clone(), moved);
        self.takes(&candidate).map(|_| ())
    }

    /// The number at a path, and the one nearest zero that its shape allows.
    pub(super) fn target(&self, path: &[usize]) -> Option<(BigInt, BigInt)> {
        let Some(Node::Int(n)) = self.best.at(path) else { return None };
        let near = match node::shape(self.plan, &self.best, path) {
            Some(shape) => whole(shape, n),
            None => BigInt::ZERO,
        };
        Some((n.clone(), near))
    }

    fn number(&mut self, paths: &[Path]) -> Result<(), Stop<E>> {
        let Some((n, near)) = paths.first().and_then(|path| self.target(path)) else { return Ok(()) };
        let negative = n < near;
        let away = (&n - &near).abs();
        let make = |away: &BigInt| Some(Node::Int(if negative { &near - away } else { &near + away }));
        self.lower(paths, &away, &make)?;
        self.turn(paths)
    }

    /// Tries the next simpler number on the other side of zero.
    fn turn(&mut self, paths: &[Path]) -> Result<(), Stop<E>> {
        loop {
            let Some((n, near)) = paths.first().and_then(|path| self.target(path)) else { return Ok(()) };
            let other = if n.is_negative() { -&n } else { BigInt::one() - &n };
            if near != BigInt::ZERO || n > BigInt::from(SMALL) || !self.puts(paths, &Node::Int(other))? {
                return Ok(());
            }
        }
    }

    fn puts(&mut self, paths: &[Path], node: &Node) -> Result<bool, Stop<E>> {
        let candidate = paths.iter().fold(self.best.clone(), |tree, path| tree.with(path, node.clone()));
        self.takes(&candidate)
    }

    /// Makes the leaf at every path what `make` makes of a smaller distance.
    fn lower(&mut self, paths: &[Path], away: &BigInt, make: &dyn Fn(&BigInt) -> Option<Node>) -> Result<(), Stop<E>> {
        let base = self.best.clone();
        let put = |node: Node| paths.iter().fold(base.clone(), |tree, path| tree.with(path, node.clone()));
        self.descend(away, &|away| make(away).map(put))
    }

    /// Finds a smaller distance that fails: nothing at all, one less, two less. If one of those helps, half of it; if that fails too, from
    /// below in growing steps, else from above; then by halves.
    pub(super) fn descend(&mut self, away: &BigInt, make: &dyn Fn(&BigInt) -> Option<Node>) -> Result<(), Stop<E>> {
        let tries = |search: &mut Self, away: &BigInt| make(away).map_or(Ok(false), |tree| search.takes(&tree));
        if !away.is_positive() || tries(self, &BigInt::ZERO)? {
            return Ok(());
        }
        let mut high: BigInt = away - 1;
        if !tries(self, &high)? {
            high = away - 2;
            if !high.is_positive() || !tries(self, &high)? {
                return Ok(());
            }
        }
        let mut low = BigInt::ZERO;
        let half: BigInt = &high >> 1;
        if half.is_positive() && tries(self, &half)? {
            high = half;
            let mut width = 0_u32;
            while BigInt::one() << width < high {
                let step = BigInt::one() << width;
                if tries(self, &step)? {
                    high = step;
                    break;
                }
                low = step;
                width = (width * 2).max(width + 1);
            }
        } else {
            low = half;
            let mut step = BigInt::one();
            while &high - &step > low {
                let next = &high - &step;
                if !tries(self, &next)? {
                    low = next;
                    break;
                }
                (high, step) = (next, step << 1);
            }
        }
        while &high - &low > BigInt::one() {
            let middle = (&low + &high) >> 1;
            if tries(self, &middle)? { high = middle } else { low = middle }
        }
        Ok(())
    }

    fn character(&mut self, path: &Path, c: char) -> Result<(), Stop<E>> {
        let shape = path.split_last().and_then(|(_, text)| node::shape(self.plan, &self.best, text));
        let known: Option<Vec<char>> = shape.and_then(alphabet).map(<[char]>::to_vec);
        let paths = [path.clone()];
        if let Some(known) = known {
            let at = known.iter().position(|k| *k == c).unwrap_or(0);
            let make = |n: &BigInt| known.get(n.to_usize()?).map(|c| Node::Char(*c));
            return self.lower(&paths, &BigInt::from(at), &make);
        }
        let make = |n: &BigInt| order::ranked(n.to_u32()?).map(Node::Char);
        self.lower(&paths, &BigInt::from(order::rank(c)), &make)
    }

    fn float(&mut self, path: &Path, f: f64) -> Result<(), Stop<E>> {
        let leaf = |f: f64| Node::Leaf(Value::Float(Float::new(f)));
        let paths = [path.clone()];
        let rounded = [1.0, 10.0, 100.0, 1_000.0].map(|by: f64| (f * by).round() / by);
        for simpler in [f.abs(), f64::MAX, 1.0, -1.0, f.trunc(), f.ceil(), f.floor(), 0.5].into_iter().chain(rounded) {
            if self.puts(&paths, &leaf(simpler))? {
                break;
            }
        }
        let Some(Node::Leaf(Value::Float(now))) = self.best.at(path) else { return Ok(()) };
        let now = now.get();
        if now.is_finite() && now.fract() == 0.0 && now.abs() < 1e15 {
            let make = |n: &BigInt| Some(leaf(n.to_f64()?.copysign(now)));
            self.lower(&paths, &BigInt::from(now.abs().to_u64().unwrap_or(0)), &make)?;
        }
        Ok(())
    }
}

/// The number nearest zero of the interval that holds `n`.
fn whole(shape: &Shape, n: &BigInt) -> BigInt {
    match shape {
        Shape::Integers { low, high } => nearest(low.as_ref(), high.as_ref()),
        Shape::OneOf(parts) => {
            let holds = |part: &&Shape| part.contains(&Value::Int(n.clone()));
            parts.iter().find(holds).map_or(BigInt::ZERO, |part| whole(part, n))
        }
        _ => BigInt::ZERO,
    }
}
