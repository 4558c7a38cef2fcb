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
                    self.descend(&[path], &b, &make)?;
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
        self.descend(paths, &away, &make)?;
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

    /// Finds a smaller distance that fails: nothing at all, one less, two less; and if one of them helps, from below in growing steps,
    /// then by halves.
    fn descend(&mut self, paths: &[Path], away: &BigInt, make: &dyn Fn(&BigInt) -> Option<Node>) -> Result<bool, Stop<E>> {
        let tries = |search: &mut Self, away: &BigInt| match make(away) {
            Some(node) => search.puts(paths, &node),
            None => Ok(false),
        };
        if !away.is_positive() || tries(self, &BigInt::ZERO)? {
            return Ok(away.is_positive());
        }
        let one_less: BigInt = away - 1;
        let mut high = one_less.clone();
        if !tries(self, &one_less)? {
            high = away - 2_u8;
            if !high.is_positive() || !tries(self, &high)? {
                return Ok(false);
            }
        }
        let (mut low, mut width) = (BigInt::ZERO, 0_u32);
        loop {
            let step = BigInt::one() << width;
            if step >= high {
                break;
            }
            if tries(self, &step)? {
                high = step;
                break;
            }
            low = step;
            width = (width * 2).max(width + 1);
        }
        while &high - &low > BigInt::one() {
            let middle = (&low + &high) >> 1;
            if tries(self, &middle)? { high = middle } else { low = middle }
        }
        Ok(true)
    }

    fn character(&mut self, path: &Path, c: char) -> Result<(), Stop<E>> {
        let shape = path.split_last().and_then(|(_, text)| node::shape(self.plan, &self.best, text));
        let known: Option<Vec<char>> = shape.and_then(alphabet).map(<[char]>::to_vec);
        let paths = [path.clone()];
        match known {
            Some(known) => {
                let at = known.iter().position(|k| *k == c).unwrap_or(0);
                let make = |n: &BigInt| known.get(n.to_usize()?).map(|c| Node::Char(*c));
                self.descend(&paths, &BigInt::from(at), &make)?;
            }
            None => {
                let make = |n: &BigInt| order::ranked(n.to_u32()?).map(Node::Char);
                self.descend(&paths, &BigInt::from(order::rank(c)), &make)?;
            }
        }
        Ok(())
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
            self.descend(&paths, &BigInt::from(now.abs().to_u64().unwrap_or(0)), &make)?;
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
