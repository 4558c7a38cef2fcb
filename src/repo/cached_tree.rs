//! Owns the index's cache of trees: for each folder, the tree object that its entries would make, as far as git still knows.

use super::id::Id;

/// No cache is nested deeper.
const DEPTH: usize = 4096;

/// One folder of the cache.
#[derive(Debug)]
pub(super) struct Node<'i> {
    /// Its last path part; empty for the root.
    pub(super) name: &'i [u8],
    entries: i64,
    id: Option<Id>,
    folders: usize,
    /// Place in the list after this folder and all that is under it.
    pub(super) end: usize,
}

type Fault = &'static str;

impl<'i> Node<'i> {
    /// How many index entries the folder covers and the tree they make; `None` when something under it has changed since.
    pub(super) fn valid(&self) -> Option<(usize, Id)> {
        Some((usize::try_from(self.entries).ok()?, self.id?))
    }

    /// The root alone.
    pub(super) fn first(data: &'i [u8], width: usize) -> Result<Self, Fault> {
        Node::take(&mut { data }, width)
    }

    /// Every folder, each before those under it.
    pub(super) fn all(mut data: &'i [u8], width: usize) -> Result<Vec<Self>, Fault> {
        let mut nodes: Vec<Node<'i>> = Vec::new();
        let mut open: Vec<(usize, usize)> = Vec::new();
        while !data.is_empty() {
            let node = Node::take(&mut data, width)?;
            open.push((nodes.len(), node.folders));
            nodes.push(node);
            while let Some((place, 0)) = open.last().copied() {
                open.pop();
                nodes[place].end = nodes.len();
                if let Some((_, left)) = open.last_mut() {
                    *left -= 1;
                }
            }
            if open.is_empty() || open.len() > DEPTH {
                break;
            }
        }
        if open.is_empty() && data.is_empty() { Ok(nodes) } else { Err("its cache of trees does not add up") }
    }

    /// `name NUL entries SP folders LF [id]`.
    fn take(data: &mut &'i [u8], width: usize) -> Result<Self, Fault> {
        let parts = || {
            let name = data.iter().position(|b| *b == 0)?;
            let line = &data[name + 1..];
            let (space, end) = (line.iter().position(|b| *b == b' ')?, line.iter().position(|b| *b == b'\n')?);
            let entries = number(line.get(..space)?)?;
            let folders = usize::try_from(number(line.get(space + 1..end)?)?).ok()?;
            let rest = &line[end + 1..];
            let (id, rest) = if entries < 0 { (None, rest) } else { (Some(Id::from_bytes(rest.get(..width)?)?), &rest[width..]) };
            Some((Node { name: &data[..name], entries, id, folders, end: 0 }, rest))
        };
        let (node, rest) = parts().ok_or("its cache of trees is cut short")?;
        *data = rest;
        Ok(node)
    }
}

fn number(digits: &[u8]) -> Option<i64> {
    std::str::from_utf8(digits).ok().filter(|text| text.len() < 12)?.parse().ok()
}
