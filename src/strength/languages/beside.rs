//! Owns what is said of a file in which tests and production stand beside each other, whatever the language.

use std::collections::BTreeSet;
use std::ops::Range;

use crate::strength::languages::Unreadable;

/// What a file holds for tests and for the product.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Spans {
    /// The bytes of each test item, with what belongs to it around it.
    pub tests: Vec<Range<usize>>,
    /// Whether all of the file is there only for tests.
    pub whole: bool,
    /// What its production part says.
    pub production: Essence,
    /// What its test part says.
    pub test: Essence,
}

/// What a part of a file says, whatever its formatting.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Essence {
    /// SHA-256 of the tokens of each piece; imports stand apart.
    pub(super) pieces: Vec<String>,
    /// Private imports without attributes, name by name.
    pub(super) imports: BTreeSet<String>,
}

impl Essence {
    /// Whether it says the same but for its imports.
    pub fn is_same_code(&self, other: &Essence) -> bool {
        self.pieces == other.pieces
    }

    /// The same without regard to the order of its pieces.
    pub(super) fn is_same_set(&self, other: &Essence) -> bool {
        let sorted = |essence: &Essence| {
            let mut pieces = essence.pieces.clone();
            pieces.sort();
            pieces
        };
        sorted(self) == sorted(other) && self.imports == other.imports
    }

    /// Whether it says nothing at all.
    pub fn is_empty(&self) -> bool {
        self.pieces.is_empty() && self.imports.is_empty()
    }

    /// Whether what it imports differs from `before` only by what `beside` gave away or took, the other part of the same file before
    /// and after.
    pub fn only_moved_imports(&self, before: &Essence, beside: (&Essence, &Essence)) -> bool {
        let (was, is) = beside;
        let lost = before.imports.difference(&self.imports).all(|import| is.imports.contains(import));
        lost && self.imports.difference(&before.imports).all(|import| was.imports.contains(import))
    }
}

/// Why no file can be made of the production part of one and the tests of another.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Inseparable {
    /// One of them cannot be read.
    #[error("it cannot be read: {0}")]
    Unreadable(#[from] Unreadable),
    /// All of one of them is there only for tests.
    #[error("all of it is tests before or after, and not both")]
    Whole,
    /// A test stands in code that only one of them has.
    #[error("its tests stand inside `{0}`, which only one of the two has")]
    Homeless(String),
    /// What came out would not be what was meant.
    #[error("its production and its tests cannot be taken apart")]
    Tangled,
}
