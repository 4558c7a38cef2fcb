//! Owns object ids as bytes, the form in which trees and indexes hold them.

use sha2::{Digest as _, Sha256};

use crate::tree::Oid;

/// An object id in binary; `Oid` is its text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Id {
    /// SHA-1.
    Short([u8; 20]),
    /// SHA-256.
    Long([u8; 32]),
}

/// Which hash a repository names its objects with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Format {
    /// 20 bytes.
    Sha1,
    /// 32 bytes.
    Sha256,
}

impl Format {
    /// Bytes of an id.
    pub(super) fn width(self) -> usize {
        match self {
            Format::Sha1 => 20,
            Format::Sha256 => 32,
        }
    }

    /// The id that bytes would have as a blob.
    pub(super) fn blob(self, bytes: &[u8]) -> Option<Id> {
        match self {
            Format::Sha1 => git2::Oid::hash_object(git2::ObjectType::Blob, bytes).ok().and_then(|oid| Id::from_bytes(oid.as_bytes())),
            Format::Sha256 => {
                let head = format!("blob {}\0", bytes.len());
                Id::from_bytes(&Sha256::new().chain_update(head).chain_update(bytes).finalize())
            }
        }
    }

    /// The tree without entries, which git knows without an object.
    pub(super) fn empty_tree(self) -> &'static str {
        match self {
            Format::Sha1 => "4b825dc642cb6eb9a060e54bf8d69288fbee4904",
            Format::Sha256 => "6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321",
        }
    }
}

impl Id {
    /// From the bytes of one id; `None` when there are neither 20 nor 32.
    pub(super) fn from_bytes(bytes: &[u8]) -> Option<Self> {
        match bytes.len() {
            20 => bytes.try_into().ok().map(Id::Short),
            32 => bytes.try_into().ok().map(Id::Long),
            _ => None,
        }
    }

    /// From hex digits, which may still be untrusted text.
    pub(super) fn from_hex(hex: &[u8]) -> Option<Self> {
        let mut bytes = [0_u8; 32];
        let (pairs, odd) = hex.as_chunks::<2>();
        if !odd.is_empty() || pairs.len() > bytes.len() {
            return None;
        }
        for (byte, pair) in bytes.iter_mut().zip(pairs) {
            *byte = (nibble(pair[0])? << 4) | nibble(pair[1])?;
        }
        Id::from_bytes(&bytes[..pairs.len()])
    }

    /// The bytes.
    pub(super) fn as_bytes(&self) -> &[u8] {
        match self {
            Id::Short(bytes) => bytes,
            Id::Long(bytes) => bytes,
        }
    }
}

impl From<Id> for Oid {
    fn from(id: Id) -> Oid {
        match id {
            Id::Short(bytes) => Oid::from(bytes),
            Id::Long(bytes) => Oid::from(bytes),
        }
    }
}

fn nibble(digit: u8) -> Option<u8> {
    match digit {
        b'0'..=b'9' => Some(digit - b'0'),
        b'a'..=b'f' => Some(digit - b'a' + 10),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::{Format, Id};
    use crate::tree::Oid;

    #[test]
    fn bytes_get_the_id_that_git_gives_them() {
        for (format, hex) in [
            (Format::Sha1, "ce013625030ba8dba906f756967f9e9ca394464a"),
            (Format::Sha256, "2cf8d83d9ee29543b34a87727421fdecb7e3f3a183d337639025de576db9ebb4"),
        ] {
            assert_eq!(format.blob(b"hello\n").map(|id| Oid::from(id).to_string()).as_deref(), Some(hex));
        }
    }

    #[test]
    fn hex_of_either_length_comes_back_as_it_was_and_nothing_else_is_an_id() {
        for hex in ["4b825dc642cb6eb9a060e54bf8d69288fbee4904", &"0123456789abcdef".repeat(4)] {
            assert_eq!(Id::from_hex(hex.as_bytes()).map(|id| Oid::from(id).to_string()).as_deref(), Some(hex));
        }
        for bad in
            ["", "4b825dc642cb6eb9a060e54bf8d69288fbee490", "4B825DC642CB6EB9A060E54BF8D69288FBEE4904", &"0".repeat(66), &"0".repeat(38)]
        {
            assert_eq!(Id::from_hex(bad.as_bytes()), None, "{bad}");
        }
    }
}
