//! Owns the index of the memo's file: buckets of sixteen slots, found by a hash of the key.

use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};

use sha2::{Digest as _, Sha256};

use crate::gate::facts::engine;

/// Bytes before the first bucket: schema and engine.
pub(super) const HEAD: usize = 128;
/// Where the records begin.
pub(super) const END: u64 = HEAD as u64 + BUCKETS * BUCKET as u64;

const BUCKETS: u64 = 1 << 14;
const SLOT: usize = 16;
const BUCKET: usize = 16 * SLOT;

/// Where a key's slot may be.
pub(super) struct Place {
    bucket: u64,
    tag: [u8; 4],
}

/// Where a record is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Slot {
    /// Byte offset of the record.
    pub(super) at: u64,
    /// Bytes of its text.
    pub(super) len: u32,
}

impl Place {
    /// The place of a name.
    pub(super) fn of(name: &str) -> Self {
        let hash = Sha256::digest(name);
        let bucket = u64::from(u16::from_le_bytes([hash[0], hash[1]])) % BUCKETS;
        Place { bucket, tag: [hash[2], hash[3], hash[4], hash[5] | 1] }
    }

    fn start(&self) -> u64 {
        HEAD as u64 + self.bucket * BUCKET as u64
    }
}

/// The head of this engine's file.
pub(super) fn head() -> [u8; HEAD] {
    let mut head = [0; HEAD];
    let text = format!("seedgate.memo/1\n{}\n", engine::id());
    let len = text.len().min(HEAD);
    head[..len].copy_from_slice(&text.as_bytes()[..len]);
    head
}

/// Where the record of a key is.
///
/// # Errors
/// What the system says.
pub(super) fn get(file: &File, place: &Place) -> io::Result<Option<Slot>> {
    let bucket = read(file, place)?;
    Ok(bucket.chunks_exact(SLOT).find(|slot| slot[..4] == place.tag).map(parse))
}

/// Writes where the record of a key is; in a full bucket the oldest record is forgotten.
///
/// # Errors
/// What the system says.
pub(super) fn put(file: &mut File, place: &Place, slot: Slot) -> io::Result<()> {
    let bucket = read(file, place)?;
    let slots = || bucket.chunks_exact(SLOT).enumerate();
    let same = slots().find(|(_, known)| known[..4] == place.tag);
    let chosen = same.or_else(|| slots().min_by_key(|(_, known)| parse(known).at)).map_or(0, |(number, _)| number);
    let mut bytes = [0; SLOT];
    bytes[..4].copy_from_slice(&place.tag);
    bytes[4..8].copy_from_slice(&slot.len.to_le_bytes());
    bytes[8..].copy_from_slice(&slot.at.to_le_bytes());
    file.seek(SeekFrom::Start(place.start() + (chosen * SLOT) as u64))?;
    file.write_all(&bytes)
}

fn read(mut file: &File, place: &Place) -> io::Result<[u8; BUCKET]> {
    let mut bucket = [0; BUCKET];
    file.seek(SeekFrom::Start(place.start()))?;
    file.read_exact(&mut bucket)?;
    Ok(bucket)
}

fn parse(slot: &[u8]) -> Slot {
    let mut len = [0; 4];
    let mut at = [0; 8];
    len.copy_from_slice(&slot[4..8]);
    at.copy_from_slice(&slot[8..16]);
    Slot { len: u32::from_le_bytes(len), at: u64::from_le_bytes(at) }
}
