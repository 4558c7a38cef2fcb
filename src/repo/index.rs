//! Owns the bytes of an index file: its entries and its cache of trees. It is read, never locked and never written.

mod rows;

use std::fs::File;
use std::io::{self, Read as _};
use std::ops::Range;
use std::path::Path;

use super::RepoError;
use super::cached_tree::Node;
use super::id::Id;
use super::native;

pub(super) use rows::Row;

/// No larger index file is read (git's own offsets end at 4 GiB).
const FILE_CAP: u64 = 2 * 1024 * 1024 * 1024;

const HEADER: usize = 12;
/// Stat data before an entry's id.
const STAT: usize = 40;
/// Where in an entry the kind of its mode is, and the bit of it that symlinks and submodules have and files have not.
const KIND: usize = 26;
const SPECIAL: u8 = 0x20;
const EXTENDED: u16 = 0x4000;
const STAGES: u16 = 0x3000;
const LENGTH: u16 = 0x0fff;
/// In the second flag word: `git add -N`.
const INTENT_TO_ADD: u16 = 0x2000;

/// What is known of an index after one pass over it.
pub(super) struct Index {
    bytes: Vec<u8>,
    width: usize,
    version: u32,
    count: usize,
    /// Whether every entry is one that a commit takes as it is: no conflict, no intent to add.
    pub(super) plain: bool,
    /// Whether any entry is a symlink or a submodule.
    special: bool,
    /// The root of its cache of trees: how many entries it covers, and its tree.
    pub(super) root: Option<(usize, Id)>,
    /// Whether the entries are all there is.
    pub(super) entries: Entries,
    cache: Option<Range<usize>>,
}

/// What the entries of the file mean, by its extensions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Entries {
    /// Each is a path, and there are no others.
    Whole,
    /// Some stand for whole folders outside a sparse checkout (`sdir`).
    Sparse,
    /// Only changes of another file (`link`), or something this reader does not know.
    Partial,
}

/// Where one entry's parts lie in the file.
struct Spot {
    flags: u16,
    more: u16,
    /// Start of the path, or in version 4 of the prefix arithmetic before it.
    path: usize,
}

type Fault = &'static str;

impl Index {
    /// Reads the file; a missing one is an empty index.
    pub(super) fn read(file: &Path, width: usize) -> Result<Self, RepoError> {
        let bytes = bytes_of(file).map_err(|error| RepoError::Index { file: file.to_owned(), says: error.to_string() })?;
        let index = bytes.map_or_else(|| Ok(Index::empty(width)), |bytes| Index::scan(bytes, width));
        index.map_err(|says| RepoError::Index { file: file.to_owned(), says: says.into() })
    }

    fn empty(width: usize) -> Self {
        Index {
            bytes: Vec::new(),
            width,
            version: 2,
            count: 0,
            plain: true,
            special: false,
            root: None,
            entries: Entries::Whole,
            cache: None,
        }
    }

    fn scan(bytes: Vec<u8>, width: usize) -> Result<Self, Fault> {
        if bytes.len() < HEADER + width {
            return Err("it is cut short");
        }
        if bytes.get(..4) != Some(b"DIRC") {
            return Err("it does not begin with DIRC");
        }
        let version = word(&bytes, 4)?;
        let count = usize::try_from(word(&bytes, 8)?).map_err(|_| "it claims more entries than memory")?;
        if !(2..=4).contains(&version) {
            return Err("its version is not 2, 3 or 4");
        }
        if count > bytes.len() / (STAT + width + 2) {
            return Err("it claims more entries than it has bytes for");
        }
        let mut index =
            Index { bytes, width, version, count, plain: true, special: false, root: None, entries: Entries::Whole, cache: None };
        let end = index.skim()?;
        index.extensions(end)?;
        Ok(index)
    }

    /// Passes over every entry, looking only at its flags and its length.
    fn skim(&mut self) -> Result<usize, Fault> {
        let end = self.bytes.len() - self.width;
        let (mut at, mut unusual, mut kinds) = (HEADER, 0, 0);
        let mut left = self.count;
        while left > 0 {
            let (seen, next, passed) = match self.width {
                20 if self.version < 4 => skim_common::<{ STAT + 20 + 2 }>(&self.bytes[..end], at, left),
                32 if self.version < 4 => skim_common::<{ STAT + 32 + 2 }>(&self.bytes[..end], at, left),
                _ => ((0, 0), at, 0),
            };
            unusual |= seen.0 & STAGES;
            kinds |= seen.1;
            (at, left) = (next, left - passed);
            if left == 0 {
                break;
            }
            let spot = self.spot(at)?;
            unusual |= (spot.flags & STAGES) | (spot.more & INTENT_TO_ADD);
            kinds |= self.bytes.get(at + KIND).copied().unwrap_or_default();
            at = self.after(at, &spot)?;
            left -= 1;
            if at > end {
                return Err("its entries run into its checksum");
            }
        }
        self.plain = unusual == 0;
        self.special = kinds & SPECIAL != 0;
        Ok(at)
    }

    fn spot(&self, at: usize) -> Result<Spot, Fault> {
        let flags_at = at + STAT + self.width;
        let flags = half(&self.bytes, flags_at)?;
        if flags & EXTENDED == 0 {
            return Ok(Spot { flags, more: 0, path: flags_at + 2 });
        }
        if self.version < 3 {
            return Err("an entry of version 2 has extended flags");
        }
        Ok(Spot { flags, more: half(&self.bytes, flags_at + 2)?, path: flags_at + 4 })
    }

    /// Where the next entry begins.
    fn after(&self, at: usize, spot: &Spot) -> Result<usize, Fault> {
        if self.version == 4 {
            let suffix = prefix(&self.bytes, spot.path)?.1;
            return Ok(suffix + zero(&self.bytes, suffix)? + 1);
        }
        Ok(at + ((self.path(spot)?.end - at + 8) & !7))
    }

    fn extensions(&mut self, mut at: usize) -> Result<(), Fault> {
        let end = self.bytes.len() - self.width;
        while at < end {
            let name = self.bytes.get(at..at + 4).ok_or("an extension is cut short")?.to_owned();
            let size = usize::try_from(word(&self.bytes, at + 4)?).map_err(|_| "an extension is too large")?;
            let data = at + 8..at + 8 + size;
            if data.end > end {
                return Err("an extension runs over its end");
            }
            at = data.end;
            if name == b"TREE" {
                self.root = Node::first(&self.bytes[data.clone()], self.width)?.valid();
                self.cache = Some(data);
            } else if !name[0].is_ascii_uppercase() {
                let sparse = name == b"sdir" && self.entries != Entries::Partial;
                self.entries = if sparse { Entries::Sparse } else { Entries::Partial };
            }
        }
        Ok(())
    }

    /// How many entries there are.
    pub(super) fn len(&self) -> usize {
        self.count
    }

    /// The cache of trees.
    pub(super) fn cache(&self) -> Result<Vec<Node<'_>>, Fault> {
        self.cache.clone().map_or_else(|| Ok(Vec::new()), |data| Node::all(&self.bytes[data], self.width))
    }

    /// Where an entry's path lies, before version 4.
    fn path(&self, spot: &Spot) -> Result<Range<usize>, Fault> {
        let length = match spot.flags & LENGTH {
            LENGTH => zero(&self.bytes, spot.path)?,
            short => usize::from(short),
        };
        Ok(spot.path..spot.path + length)
    }
}

/// Passes over up to `count` entries without extended flags and with short paths, which nearly all are, as fast as can be: every commit waits for
/// it. Gives all their flags in one and all their kinds in one, where the next entry begins, and how many were passed over.
fn skim_common<const FIXED: usize>(bytes: &[u8], at: usize, count: usize) -> ((u16, u8), usize, usize) {
    let (mut rest, mut all) = (&bytes[at.min(bytes.len())..], (0, 0));
    for passed in 0..count {
        let Some(entry) = rest.first_chunk::<FIXED>() else { return (all, bytes.len() - rest.len(), passed) };
        let flags = u16::from_be_bytes([entry[FIXED - 2], entry[FIXED - 1]]);
        let length = flags & LENGTH;
        let after = rest.get((FIXED + usize::from(length) + 8) & !7..);
        let Some(after) = after.filter(|_| flags & EXTENDED == 0 && length != LENGTH) else {
            return (all, bytes.len() - rest.len(), passed);
        };
        all = (all.0 | flags, all.1 | entry[KIND]);
        rest = after;
    }
    (all, bytes.len() - rest.len(), count)
}

/// The state of a file; `None` when there is none.
pub(super) type Stamp = Option<native::State>;

/// The state of an index file.
pub(super) fn stamp(file: &Path) -> Stamp {
    Some(native::stamp(&file.metadata().ok()?))
}

fn bytes_of(file: &Path) -> io::Result<Option<Vec<u8>>> {
    let meta = match file.metadata() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        meta => meta?,
    };
    if !meta.is_file() {
        return Err(io::Error::other("it is no file"));
    }
    if meta.len() > FILE_CAP {
        return Err(io::Error::other("it is too large to be an index"));
    }
    // One byte more than there should be, so that a single read finds the end too.
    let mut bytes = vec![0; usize::try_from(meta.len()).unwrap_or(0) + 1];
    let mut open = File::open(file)?;
    let mut filled = 0;
    loop {
        match open.read(&mut bytes[filled..]) {
            Ok(0) => break,
            Ok(read) => filled += read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
        if filled == bytes.len() {
            return Err(io::Error::other("it grows while it is read"));
        }
    }
    bytes.truncate(filled);
    Ok(Some(bytes))
}

fn word(bytes: &[u8], at: usize) -> Result<u32, Fault> {
    bytes.get(at..).and_then(|rest| rest.first_chunk()).map(|word| u32::from_be_bytes(*word)).ok_or("it is cut short")
}

fn half(bytes: &[u8], at: usize) -> Result<u16, Fault> {
    bytes.get(at..).and_then(|rest| rest.first_chunk()).map(|half| u16::from_be_bytes(*half)).ok_or("an entry is cut short")
}

/// How many bytes there are before the next zero.
fn zero(bytes: &[u8], at: usize) -> Result<usize, Fault> {
    bytes.get(at..).and_then(|rest| rest.iter().position(|b| *b == 0)).ok_or("a path has no end")
}

/// Version 4: how many bytes of the last path go, and where the new ones begin.
fn prefix(bytes: &[u8], mut at: usize) -> Result<(usize, usize), Fault> {
    let mut strip = 0_usize;
    for round in 0..5 {
        let byte = *bytes.get(at).ok_or("an entry is cut short")?;
        at += 1;
        strip = (strip << 7) + usize::from(byte & 0x7f) + usize::from(round > 0) * (1 << 7);
        if byte & 0x80 == 0 {
            return Ok((strip, at));
        }
    }
    Err("an entry strips more than there is")
}
