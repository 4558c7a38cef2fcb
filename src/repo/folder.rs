//! Owns the bytes of one git tree object: its entries, and what makes it fit to be read.

use std::cell::OnceCell;
use std::cmp::Ordering;

use super::id::Id;
use crate::tree::Mode;

/// One entry of a tree object.
#[derive(Clone, Copy, Debug)]
pub(super) struct Item<'a> {
    /// Its last path part.
    pub(super) name: &'a [u8],
    /// What it is; `None` is a folder.
    pub(super) mode: Option<Mode>,
    /// Blob, tree or (for a gitlink) foreign commit.
    pub(super) id: Id,
}

impl Item<'_> {
    /// Where the entry stands among its siblings: a folder sorts as if its name ended in a slash.
    pub(super) fn place(&self) -> (&[u8], bool) {
        (self.name, self.mode.is_none())
    }
}

/// Git's order of siblings.
pub(super) fn order(left: (&[u8], bool), right: (&[u8], bool)) -> Ordering {
    let shared = left.0.len().min(right.0.len());
    left.0[..shared].cmp(&right.0[..shared]).then_with(|| next_byte(left, shared).cmp(&next_byte(right, shared)))
}

/// The byte after the shared part, as `None`, the virtual slash, or a byte of the name.
fn next_byte((name, folder): (&[u8], bool), at: usize) -> Option<u8> {
    name.get(at).copied().or(folder.then_some(b'/'))
}

/// A tree object that is kept for reading.
pub(super) struct Folder {
    bytes: Vec<u8>,
    width: usize,
    /// Where each entry starts, once one was looked for.
    starts: OnceCell<Vec<usize>>,
}

impl Folder {
    /// The folder of a tree object's bytes, whose ids have `width` bytes.
    pub(super) fn new(bytes: Vec<u8>, width: usize) -> Self {
        Folder { bytes, width, starts: OnceCell::new() }
    }

    /// How many bytes it has.
    pub(super) fn size(&self) -> usize {
        self.bytes.len()
    }

    /// Its entries.
    pub(super) fn items(&self) -> Items<'_> {
        Items::new(&self.bytes, self.width)
    }

    /// The entry of a name, as a folder or as anything else. Everything must be fit to be read, so that what is found stands in order.
    pub(super) fn find(&self, name: &[u8], folder: bool) -> Result<Option<Item<'_>>, &'static str> {
        let starts = self.starts()?;
        let at = |start: &usize| Items::new(&self.bytes[*start..], self.width).parse();
        let before = |start: &usize| at(start).is_ok_and(|item| order(item.place(), (name, folder)) == Ordering::Less);
        let found = starts.get(starts.partition_point(before)).map(at).transpose()?;
        Ok(found.filter(|item| item.place() == (name, folder)))
    }

    fn starts(&self) -> Result<&Vec<usize>, &'static str> {
        if let Some(known) = self.starts.get() {
            return Ok(known);
        }
        let (mut items, mut starts) = (self.items(), Vec::new());
        while !items.rest.is_empty() {
            starts.push(self.bytes.len() - items.rest.len());
            items.parse()?;
        }
        Ok(self.starts.get_or_init(|| starts))
    }
}

/// Entries of a tree object in its own order. Stops at the first thing that git would not have written.
pub(super) struct Items<'a> {
    rest: &'a [u8],
    width: usize,
    last: Option<Item<'a>>,
}

impl<'a> Items<'a> {
    /// Reads `bytes`, whose ids have `width` bytes.
    pub(super) fn new(bytes: &'a [u8], width: usize) -> Self {
        Items { rest: bytes, width, last: None }
    }

    fn parse(&mut self) -> Result<Item<'a>, &'static str> {
        let space = self.rest.iter().take(8).position(|b| *b == b' ').ok_or("a mode without end")?;
        let mode = octal(&self.rest[..space]).ok_or("a mode that is not octal")?;
        let after = &self.rest[space + 1..];
        let end = after.iter().position(|b| *b == 0).ok_or("a name without end")?;
        let id = after.get(end + 1..end + 1 + self.width).and_then(Id::from_bytes).ok_or("an id cut short")?;
        let item = Item { name: fit_name(&after[..end])?, mode: kind(mode)?, id };
        if self.last.is_some_and(|last| order(last.place(), item.place()) != Ordering::Less) {
            return Err("entries out of order");
        }
        self.rest = &after[end + 1 + self.width..];
        self.last = Some(item);
        Ok(item)
    }
}

impl<'a> Iterator for Items<'a> {
    type Item = Result<Item<'a>, &'static str>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.rest.is_empty() {
            return None;
        }
        let item = self.parse();
        if item.is_err() {
            self.rest = &[];
        }
        Some(item)
    }
}

/// A path part that git itself would check out; anything else is refused rather than interpreted.
pub(super) fn fit_name(name: &[u8]) -> Result<&[u8], &'static str> {
    match name {
        b"" => Err("an empty name"),
        b"." | b".." => Err("a name that is a dot"),
        _ if name.len() == 4 && name.eq_ignore_ascii_case(b".git") => Err("a name that is .git"),
        _ if name.contains(&b'/') => Err("a name with a slash"),
        _ => Ok(name),
    }
}

fn octal(digits: &[u8]) -> Option<u32> {
    let one = |mode: u32, digit: &u8| (b'0'..=b'7').contains(digit).then(|| mode * 8 + u32::from(digit - b'0'));
    (!digits.is_empty()).then(|| digits.iter().try_fold(0, one)).flatten()
}

fn kind(mode: u32) -> Result<Option<Mode>, &'static str> {
    match mode {
        0o040_000 => Ok(None),
        mode => Mode::from_octal(mode).map(Some).ok_or("a mode that git does not know"),
    }
}

#[cfg(test)]
mod tests {
    use super::{Folder, Items, order};
    use std::cmp::Ordering;

    fn tree(entries: &[(&str, &str)]) -> Vec<u8> {
        entries.iter().flat_map(|(mode, name)| [mode.as_bytes(), b" ", name.as_bytes(), &[0], &[7; 20]].concat()).collect()
    }

    fn first_fault(bytes: &[u8]) -> Option<&'static str> {
        Items::new(bytes, 20).find_map(Result::err)
    }

    #[test]
    fn a_folder_sorts_as_if_its_name_ended_in_a_slash() {
        let sorted = [(&b"a"[..], false), (b"a-b", false), (b"a", true), (b"a0", false)];
        for pair in sorted.windows(2) {
            assert_eq!(order(pair[0], pair[1]), Ordering::Less, "{pair:?}");
            assert_eq!(order(pair[1], pair[0]), Ordering::Greater, "{pair:?}");
        }
        assert_eq!(order((b"a", true), (b"a", true)), Ordering::Equal);
    }

    #[test]
    fn every_mode_that_git_writes_is_read() {
        let bytes =
            tree(&[("100644", "a"), ("100755", "b"), ("40000", "c"), ("040000", "d"), ("120000", "e"), ("160000", "f"), ("100664", "g")]);
        assert_eq!(Items::new(&bytes, 20).filter_map(Result::ok).count(), 7);
        assert_eq!(first_fault(&bytes), None);
    }

    #[test]
    fn an_entry_is_found_by_its_name_and_kind_in_gits_own_order() {
        let names = [("100644", "a"), ("100644", "a-b"), ("40000", "a-c"), ("100644", "a.b"), ("40000", "b"), ("100644", "b0")];
        let folder = Folder::new(tree(&names), 20);
        for (mode, name) in names {
            let is_folder = mode == "40000";
            assert!(folder.find(name.as_bytes(), is_folder).is_ok_and(|item| item.is_some()), "{name}");
            assert!(folder.find(name.as_bytes(), !is_folder).is_ok_and(|item| item.is_none()), "{name}");
        }
        assert!(folder.find(b"c", false).is_ok_and(|item| item.is_none()));
        assert!(Folder::new(Vec::new(), 20).find(b"a", false).is_ok_and(|item| item.is_none()));
        assert!(Folder::new(tree(&[("100644", "a"), ("100644", ""), ("100644", "z")]), 20).find(b"a", false).is_err());
    }

    #[test]
    fn what_git_would_not_have_written_is_refused_by_name() {
        let table: [(Vec<u8>, &str); 12] = [
            (tree(&[("100644", "b"), ("100644", "a")]), "entries out of order"),
            (tree(&[("100644", "a"), ("100755", "a")]), "entries out of order"),
            (tree(&[("40000", "a"), ("100644", "a-b")]), "entries out of order"),
            (tree(&[("100644", "")]), "an empty name"),
            (tree(&[("40000", "..")]), "a name that is a dot"),
            (tree(&[("40000", ".GiT")]), "a name that is .git"),
            (tree(&[("100644", "a/b")]), "a name with a slash"),
            (tree(&[("100648", "a")]), "a mode that is not octal"),
            (tree(&[("110644", "a")]), "a mode that git does not know"),
            (b"100644 a\0short".to_vec(), "an id cut short"),
            (b"100644 a".to_vec(), "a name without end"),
            (b"1006441006441".to_vec(), "a mode without end"),
        ];
        for (bytes, fault) in table {
            assert_eq!(first_fault(&bytes), Some(fault), "{}", bytes.escape_ascii());
        }
    }
}
