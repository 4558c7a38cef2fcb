//! Owns the tree that reducers work on: every value taken apart into leaves and collections, addressed by paths.

use num_bigint::BigInt;

use crate::witness::generate::{Part, Plan};
use crate::witness::shape::{Kind, Shape};
use crate::witness::value::{Input, Value};

/// Which child at each level.
pub(super) type Path = Vec<usize>;

/// A value taken apart.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Node {
    /// Null, a boolean or a binary64 number.
    Leaf(Value),
    /// A whole number.
    Int(BigInt),
    /// A character of a text.
    Char(char),
    /// A byte of bytes.
    Byte(u8),
    /// What holds parts.
    Many(Holder, Vec<Node>),
}

/// What holds parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Holder {
    Text,
    Bytes,
    List,
    Tuple,
    Set,
    FrozenSet,
    Map,
    /// A key and its value.
    Pair,
    /// The arguments of the input.
    Arguments,
}

impl Holder {
    /// Whether parts can be taken out of it.
    pub(super) fn is_flexible(self) -> bool {
        !matches!(self, Holder::Tuple | Holder::Pair | Holder::Arguments)
    }
}

impl Node {
    pub(super) fn of(value: &Value) -> Node {
        let all = |holder, parts: &[Value]| Node::Many(holder, parts.iter().map(Node::of).collect());
        match value {
            Value::Int(n) => Node::Int(n.clone()),
            Value::Null | Value::Bool(_) | Value::Float(_) => Node::Leaf(value.clone()),
            Value::Text(text) => Node::Many(Holder::Text, text.chars().map(Node::Char).collect()),
            Value::Bytes(bytes) => Node::Many(Holder::Bytes, bytes.iter().map(|b| Node::Byte(*b)).collect()),
            Value::List(parts) => all(Holder::List, parts),
            Value::Tuple(parts) => all(Holder::Tuple, parts),
            Value::Set(parts) => all(Holder::Set, parts),
            Value::FrozenSet(parts) => all(Holder::FrozenSet, parts),
            Value::Map(pairs) => {
                let pair = |(key, value): &(Value, Value)| Node::Many(Holder::Pair, vec![Node::of(key), Node::of(value)]);
                Node::Many(Holder::Map, pairs.iter().map(pair).collect())
            }
        }
    }

    pub(super) fn value(&self) -> Value {
        let Node::Many(holder, parts) = self else {
            return match self {
                Node::Int(n) => Value::Int(n.clone()),
                Node::Leaf(value) => value.clone(),
                Node::Char(c) => Value::Text(c.to_string()),
                Node::Byte(b) => Value::Bytes(vec![*b]),
                Node::Many(..) => Value::Null,
            };
        };
        let all = || parts.iter().map(Node::value).collect::<Vec<_>>();
        match holder {
            Holder::Text => Value::Text(parts.iter().filter_map(|part| if let Node::Char(c) = part { Some(*c) } else { None }).collect()),
            Holder::Bytes => Value::Bytes(parts.iter().filter_map(|part| if let Node::Byte(b) = part { Some(*b) } else { None }).collect()),
            Holder::List | Holder::Pair | Holder::Arguments => Value::List(all()),
            Holder::Tuple => Value::Tuple(all()),
            Holder::Set => Value::set(all()),
            Holder::FrozenSet => Value::frozen_set(all()),
            Holder::Map => Value::Map(parts.iter().filter_map(Node::pair).collect()),
        }
    }

    fn pair(&self) -> Option<(Value, Value)> {
        match self.parts() {
            [key, value] => Some((key.value(), value.value())),
            _ => None,
        }
    }

    /// The parts; none of a leaf.
    pub(super) fn parts(&self) -> &[Node] {
        if let Node::Many(_, parts) = self { parts } else { &[] }
    }

    pub(super) fn holder(&self) -> Option<Holder> {
        if let Node::Many(holder, _) = self { Some(*holder) } else { None }
    }

    /// The node at a path.
    pub(super) fn at(&self, path: &[usize]) -> Option<&Node> {
        path.iter().try_fold(self, |node, step| node.parts().get(*step))
    }

    /// This tree with another node at a path.
    pub(super) fn with(&self, path: &[usize], new: Node) -> Node {
        let mut tree = self.clone();
        let spot = path.iter().try_fold(&mut tree, |node, step| if let Node::Many(_, parts) = node { parts.get_mut(*step) } else { None });
        if let Some(spot) = spot {
            *spot = new;
        }
        tree
    }

    /// Paths of all nodes, parents before children.
    pub(super) fn paths(&self) -> Vec<Path> {
        let mut paths = vec![Path::new()];
        let mut at = 0;
        while at < paths.len() {
            let parts = self.at(&paths[at]).map_or(0, |node| node.parts().len());
            let below: Vec<Path> = (0..parts).map(|step| [paths[at].as_slice(), &[step]].concat()).collect();
            paths.extend(below);
            at += 1;
        }
        paths
    }
}

/// The tree of an input: its arguments in the plan's order.
pub(super) fn tree(plan: &Plan, input: &Input) -> Node {
    let names = plan.parts.iter().flat_map(Part::names);
    Node::Many(Holder::Arguments, names.filter_map(|name| input.0.get(name)).map(Node::of).collect())
}

/// The input of a tree.
pub(super) fn input(plan: &Plan, tree: &Node) -> Input {
    let names = plan.parts.iter().flat_map(Part::names);
    Input(names.cloned().zip(tree.parts().iter().map(Node::value)).collect())
}

/// The shape that drew the node at a path; of several the first that holds it. `None` inside a case list or a text.
pub(super) fn shape<'p>(plan: &'p Plan, tree: &Node, path: &[usize]) -> Option<&'p Shape> {
    let (first, rest) = path.split_first()?;
    let mut left = *first;
    let part = plan.parts.iter().find(|part| {
        let count = part.names().len();
        let here = left < count;
        left = if here { left } else { left - count };
        here
    })?;
    let Part::Argument(_, shape) = part else { return None };
    let mut node = tree.parts().get(*first)?;
    let mut shape = shape;
    for step in rest {
        shape = chosen(shape, node)?.below(node.holder()?, *step)?;
        node = node.parts().get(*step)?;
    }
    Some(shape)
}

/// The alternative that holds a node.
fn chosen<'s>(shape: &'s Shape, node: &Node) -> Option<&'s Shape> {
    match shape {
        Shape::OneOf(parts) => parts.iter().find(|part| part.contains(&node.value())).and_then(|part| chosen(part, node)),
        one => Some(one),
    }
}

impl Shape {
    fn below(&self, holder: Holder, step: usize) -> Option<&Shape> {
        match (self, holder) {
            (Shape::Tuple(parts), Holder::Tuple) => parts.get(step),
            (Shape::Many { kind: Kind::List, of, .. }, Holder::List)
            | (Shape::Many { kind: Kind::Set, of, .. }, Holder::Set)
            | (Shape::Many { kind: Kind::FrozenSet, of, .. }, Holder::FrozenSet) => Some(of),
            // A pair has no shape of its own: its key's or value's is found through the map's.
            (Shape::Map { .. }, Holder::Map) => Some(self),
            (Shape::Map { key, value, .. }, Holder::Pair) => [&**key, value].get(step).copied(),
            _ => None,
        }
    }
}
