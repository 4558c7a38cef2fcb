//! Owns shrinking: from a failing input to the smallest one of its domain that fails the same way.

mod arrange;
mod deletion;
mod leaves;
mod node;
mod pairs;
mod simplify;

use std::collections::HashSet;

use crate::digest;
use crate::witness::generate::Plan;
use crate::witness::order;
use crate::witness::shrink::node::{Holder, Node};
use crate::witness::value::{Input, Value};

/// What shrinking came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shrunk {
    /// The last input that failed.
    pub input: Input,
    /// How often the predicate was called.
    pub steps: u64,
    /// Whether no reducer had anything left to try.
    pub is_minimal: bool,
}

/// Shrinks an input. `fails` says whether a candidate fails the same way; it is called at most `max_steps` times, each time with another
/// input of the domain that is simpler than the last one that failed. The input itself is taken to fail; one outside the domain is left as it is.
///
/// # Errors
/// What `fails` says.
pub fn shrink<E>(plan: &Plan, input: &Input, max_steps: u64, fails: &mut dyn FnMut(&Input) -> Result<bool, E>) -> Result<Shrunk, E> {
    let tree = node::tree(plan, input);
    let mut search = Search { plan, fails, value: tree.value(), best: tree, seen: HashSet::new(), steps: 0, max_steps };
    let ended = if plan.contains(input) { search.run() } else { Ok(()) };
    let is_minimal = match ended {
        Ok(()) => plan.contains(input),
        Err(Stop::Spent) => false,
        Err(Stop::Failed(error)) => return Err(error),
    };
    let input = if plan.contains(input) { node::input(plan, &search.best) } else { input.clone() };
    Ok(Shrunk { input, steps: search.steps, is_minimal })
}

/// Why the search ends early.
enum Stop<E> {
    /// The steps are spent.
    Spent,
    /// The predicate could not be asked.
    Failed(E),
}

/// The search for something simpler.
struct Search<'s, E> {
    plan: &'s Plan,
    fails: &'s mut dyn FnMut(&Input) -> Result<bool, E>,
    best: Node,
    value: Value,
    seen: HashSet<[u8; 32]>,
    steps: u64,
    max_steps: u64,
}

impl<E> Search<'_, E> {
    /// Goes through all reducers until none of them helps.
    fn run(&mut self) -> Result<(), Stop<E>> {
        loop {
            let before = self.value.clone();
            self.all_simplest()?;
            self.simplify(false)?;
            self.hoist()?;
            self.merge_all()?;
            self.delete()?;
            self.merge_neighbours()?;
            self.simplify(true)?;
            self.leaves()?;
            self.translate()?;
            self.equals()?;
            self.pairs()?;
            self.ends()?;
            self.renumber()?;
            self.arrange()?;
            self.exchange()?;
            if self.value == before {
                return Ok(());
            }
        }
    }

    /// Takes a candidate if it is simpler, in the domain, new, and fails.
    fn takes(&mut self, candidate: &Node) -> Result<bool, Stop<E>> {
        let input = node::input(self.plan, candidate);
        // Sets put their parts in order.
        let candidate = node::tree(self.plan, &input);
        let value = candidate.value();
        if order::simpler(&value, &self.value).is_ge() || !self.plan.contains(&input) {
            return Ok(false);
        }
        if !self.seen.insert(digest::sha256(input.to_json().as_bytes())) {
            return Ok(false);
        }
        if self.steps >= self.max_steps {
            return Err(Stop::Spent);
        }
        self.steps += 1;
        let fails = (self.fails)(&input).map_err(Stop::Failed)?;
        if fails {
            (self.best, self.value) = (candidate, value);
        }
        Ok(fails)
    }

    /// Whether a candidate is in the domain. Nobody is asked.
    fn admits(&self, candidate: &Node) -> bool {
        self.plan.contains(&node::input(self.plan, candidate))
    }

    /// The parts at a path, and what holds them.
    fn many(&self, path: &[usize]) -> Option<(Holder, Vec<Node>)> {
        if let Some(Node::Many(holder, parts)) = self.best.at(path) { Some((*holder, parts.clone())) } else { None }
    }
}

/// The greatest count up to `limit` that works, when every smaller one does: doubled while it works, then halved.
fn grow<E>(limit: usize, works: &mut dyn FnMut(usize) -> Result<bool, E>) -> Result<usize, E> {
    if limit == 0 || !works(1)? {
        return Ok(0);
    }
    let (mut low, mut high) = (1, 2);
    while high <= limit && works(high)? {
        (low, high) = (high, high * 2);
    }
    high = high.min(limit + 1);
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        if works(middle)? { low = middle } else { high = middle }
    }
    Ok(low)
}

#[cfg(test)]
mod tests;
