//! Owns the bold steps: everything at its simplest, a part at its simplest, a part in the place of the whole.

use crate::witness::generate::Part;
use crate::witness::order;
use crate::witness::shape::Shape;
use crate::witness::shrink::node::{self, Holder, Node, Path};
use crate::witness::shrink::{Search, Stop};
use crate::witness::value::Value;

/// Listed values that are tried in the place of another, and parts that are tried in the place of the whole.
const TRIED: usize = 64;

impl<E> Search<'_, E> {
    /// The simplest input of all; then the same structure with every leaf at its simplest.
    pub(super) fn all_simplest(&mut self) -> Result<(), Stop<E>> {
        let mut parts = Vec::new();
        for part in &self.plan.parts {
            match part {
                Part::Rows(_, rows) => parts.extend(rows.first().into_iter().flatten().map(Node::of)),
                Part::Argument(_, shape) => parts.push(Node::of(&shape.simplest())),
            }
        }
        if !self.takes(&Node::Many(Holder::Arguments, parts))? {
            let blank = self.blank();
            self.takes(&blank)?;
        }
        Ok(())
    }

    /// The tree with every leaf at its simplest.
    fn blank(&self) -> Node {
        self.blank_below(&self.best, &mut Vec::new())
    }

    fn blank_below(&self, node: &Node, path: &mut Path) -> Node {
        let shape = node::shape(self.plan, &self.best, path);
        match node {
            Node::Int(_) | Node::Leaf(_) => {
                let simplest = shape.map(|shape| Node::of(&shape.simplest()));
                simplest.filter(|simplest| simplest.parts().is_empty()).unwrap_or_else(|| node.clone())
            }
            Node::Many(Holder::Text, parts) => {
                let first = shape.and_then(alphabet).and_then(|alphabet| alphabet.first().copied()).unwrap_or('0');
                Node::Many(Holder::Text, vec![Node::Char(first); parts.len()])
            }
            Node::Byte(_) => Node::Byte(0),
            Node::Char(c) => Node::Char(*c),
            Node::Many(holder, parts) => {
                let mut blank = Vec::with_capacity(parts.len());
                for (step, part) in parts.iter().enumerate() {
                    path.push(step);
                    blank.push(self.blank_below(part, path));
                    path.pop();
                }
                Node::Many(*holder, blank)
            }
        }
    }

    /// Tries the simplest value in the place of every part that cannot be deleted, or (`elements`) of every part.
    pub(super) fn simplify(&mut self, elements: bool) -> Result<(), Stop<E>> {
        self.rows()?;
        for path in self.best.paths() {
            let Some((_, above)) = path.split_last() else { continue };
            let Some(holder) = self.best.at(above).and_then(Node::holder) else { continue };
            if holder.is_flexible() && !elements || self.best.at(&path).and_then(Node::holder) == Some(Holder::Pair) {
                continue;
            }
            let Some(shape) = node::shape(self.plan, &self.best, &path) else { continue };
            for value in alternatives(shape) {
                let candidate = self.best.with(&path, Node::of(&value));
                if self.takes(&candidate)? {
                    break;
                }
            }
        }
        Ok(())
    }

    /// Tries the simpler rows of case lists.
    fn rows(&mut self) -> Result<(), Stop<E>> {
        let mut first = 0;
        for part in &self.plan.parts {
            if let Part::Rows(_, rows) = part {
                for row in rows.iter().take(TRIED) {
                    let replaced = |tree: Node, (at, value): (usize, &Value)| tree.with(&[first + at], Node::of(value));
                    let candidate = row.iter().enumerate().fold(self.best.clone(), replaced);
                    if self.takes(&candidate)? {
                        break;
                    }
                }
            }
            first += part.names().len();
        }
        Ok(())
    }

    /// Puts a part of a part in its place, where the domain nests: children first.
    pub(super) fn hoist(&mut self) -> Result<(), Stop<E>> {
        for path in self.best.paths().into_iter().skip(1) {
            while self.hoist_at(&path)? {}
        }
        Ok(())
    }

    fn hoist_at(&mut self, path: &[usize]) -> Result<bool, Stop<E>> {
        let Some(whole) = self.best.at(path).filter(|node| !node.parts().is_empty()).cloned() else { return Ok(false) };
        let Some(shape) = node::shape(self.plan, &self.best, path).cloned() else { return Ok(false) };
        if matches!(whole.holder(), Some(Holder::Text | Holder::Bytes | Holder::Pair)) {
            return Ok(false);
        }
        for below in whole.paths().into_iter().skip(1).take(TRIED) {
            let Some(part) = whole.at(&below).filter(|part| shape.contains(&part.value())) else { continue };
            let candidate = self.best.with(path, part.clone());
            if self.takes(&candidate)? {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

/// The alphabet of a text's shape.
pub(super) fn alphabet(shape: &Shape) -> Option<&[char]> {
    match shape {
        Shape::Text { alphabet, .. } => alphabet.as_deref(),
        Shape::OneOf(parts) => parts.iter().find_map(alphabet),
        _ => None,
    }
}

/// The simplest value of a shape and of each of its alternatives, and its listed values: simplest first.
fn alternatives(shape: &Shape) -> Vec<Value> {
    let mut values = match shape {
        Shape::Finite(values) => values.iter().take(TRIED).cloned().collect(),
        Shape::OneOf(parts) => parts.iter().flat_map(alternatives).collect(),
        one => vec![one.simplest()],
    };
    values.sort_by(order::simpler);
    values
}
