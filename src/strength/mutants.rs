//! Owns planted faults: the table of operators, as data for every language, and the places where one fits.

use serde::{Deserialize, Serialize};

/// What kind of fault is planted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Operator {
    /// A comparison says the opposite.
    Comparison,
    /// A bound takes its end in, or leaves it out.
    Boundary,
    /// `and` and `or` are exchanged, `not` is dropped, a truth value is turned round.
    Boolean,
    /// An arithmetic operator is exchanged.
    Arithmetic,
    /// Nothing is returned.
    ReturnValue,
    /// A statement is gone.
    RemovedStatement,
    /// A constant is another one.
    Constant,
}

impl Operator {
    /// The word in records and text.
    pub fn name(self) -> &'static str {
        match self {
            Operator::Comparison => "comparison",
            Operator::Boundary => "boundary",
            Operator::Boolean => "boolean",
            Operator::Arithmetic => "arithmetic",
            Operator::ReturnValue => "return_value",
            Operator::RemovedStatement => "removed_statement",
            Operator::Constant => "constant",
        }
    }
}

/// What is written for what: one row for each operator token that is exchanged, by its spelling.
pub const EXCHANGES: [(Operator, &str, &str); 46] = [
    (Operator::Comparison, "==", "!="),
    (Operator::Comparison, "!=", "=="),
    (Operator::Comparison, "is", "is not"),
    (Operator::Comparison, "is not", "is"),
    (Operator::Comparison, "in", "not in"),
    (Operator::Comparison, "not in", "in"),
    (Operator::Boundary, "<", "<="),
    (Operator::Boundary, "<=", "<"),
    (Operator::Boundary, ">", ">="),
    (Operator::Boundary, ">=", ">"),
    (Operator::Comparison, "<", ">="),
    (Operator::Comparison, "<=", ">"),
    (Operator::Comparison, ">", "<="),
    (Operator::Comparison, ">=", "<"),
    (Operator::Boolean, "and", "or"),
    (Operator::Boolean, "or", "and"),
    (Operator::Boolean, "&&", "||"),
    (Operator::Boolean, "||", "&&"),
    (Operator::Boolean, "True", "False"),
    (Operator::Boolean, "False", "True"),
    (Operator::Boolean, "true", "false"),
    (Operator::Boolean, "false", "true"),
    (Operator::Arithmetic, "+", "-"),
    (Operator::Arithmetic, "-", "+"),
    (Operator::Arithmetic, "*", "/"),
    (Operator::Arithmetic, "/", "*"),
    (Operator::Arithmetic, "//", "/"),
    (Operator::Arithmetic, "%", "/"),
    (Operator::Arithmetic, "**", "*"),
    (Operator::Arithmetic, "<<", ">>"),
    (Operator::Arithmetic, ">>", "<<"),
    (Operator::Arithmetic, "&", "|"),
    (Operator::Arithmetic, "|", "&"),
    (Operator::Arithmetic, "^", "&"),
    (Operator::Arithmetic, "+=", "-="),
    (Operator::Arithmetic, "-=", "+="),
    (Operator::Arithmetic, "*=", "/="),
    (Operator::Arithmetic, "/=", "*="),
    (Operator::Arithmetic, "//=", "/="),
    (Operator::Arithmetic, "%=", "/="),
    (Operator::Arithmetic, "**=", "*="),
    (Operator::Arithmetic, "<<=", ">>="),
    (Operator::Arithmetic, ">>=", "<<="),
    (Operator::Arithmetic, "&=", "|="),
    (Operator::Arithmetic, "|=", "&="),
    (Operator::Arithmetic, "^=", "&="),
];

/// What a token is exchanged for: all rows of the table.
pub fn exchanges(token: &str) -> impl Iterator<Item = (Operator, &'static str)> {
    EXCHANGES.into_iter().filter(move |(_, from, _)| *from == token).map(|(operator, _, to)| (operator, to))
}

/// One function of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Function {
    /// Its name, after those of the classes and functions around it.
    pub name: String,
    /// 1-based line of its definition.
    pub line: u32,
    /// SHA-256 of its text.
    pub sha256: String,
}

/// One place at which a fault fits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Site {
    /// Index of the innermost function.
    pub function: usize,
    /// What kind of fault.
    pub operator: Operator,
    /// Byte offset of what is replaced, in the file.
    pub at: usize,
    /// Where it ends.
    pub end: usize,
    /// Its text.
    pub before: String,
    /// What stands there instead.
    pub after: String,
    /// 1-based line of that text.
    pub line: u32,
    /// First and last line of what runs when the place is reached: a statement, or the head of one.
    pub reach: (u32, u32),
}

impl Site {
    /// The file with this fault in it; `None` when it is not the file that the place was found in.
    pub fn planted(&self, source: &[u8], encoding: Encoding) -> Option<Vec<u8>> {
        let (head, rest) = source.split_at_checked(self.at)?;
        let (replaced, tail) = rest.split_at_checked(self.end.checked_sub(self.at)?)?;
        let text = encoding.text(replaced)?.replace("\r\n", "\n").replace('\r', "\n");
        (text == self.before).then_some(())?;
        Some([head, &encoding.bytes(&self.after)?, tail].concat())
    }
}

/// How the bytes of a file are text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Encoding {
    /// UTF-8, and ASCII with it.
    #[default]
    Utf8,
    /// A byte is a character.
    Latin1,
}

impl Encoding {
    /// The text of bytes.
    fn text(self, bytes: &[u8]) -> Option<String> {
        match self {
            Encoding::Utf8 => String::from_utf8(bytes.to_vec()).ok(),
            Encoding::Latin1 => Some(bytes.iter().map(|b| char::from(*b)).collect()),
        }
    }

    /// The bytes of text, if it has all its characters.
    fn bytes(self, text: &str) -> Option<Vec<u8>> {
        match self {
            Encoding::Utf8 => Some(text.as_bytes().to_vec()),
            Encoding::Latin1 => text.chars().map(|c| u8::try_from(c).ok()).collect(),
        }
    }
}

/// Where faults fit in a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Places {
    /// Its functions.
    pub functions: Vec<Function>,
    /// The places, in the order of the text.
    pub sites: Vec<Site>,
    /// How its bytes are text.
    pub encoding: Encoding,
}
