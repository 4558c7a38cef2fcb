//! Owns card sets: the file `seedgate.cards/1`, what it states, and finding a card by a short name.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use num_bigint::BigInt;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::finding::PropId;
use crate::strength::card::{Assertion, Call, Card, Claim, Kind};
use crate::strength::domain::{Domain, Interval};
use crate::strength::effort::Effort;

/// The schema of a card file.
pub const SCHEMA: &str = "seedgate.cards/1";

/// Longer numbers are not read: parsing takes time that grows with the square of the length.
const MOST_DIGITS: usize = 20_000;

/// Why cards could not be had.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum CardsError {
    /// Not JSON, or not of the shape of cards.
    #[error("not a {SCHEMA} file: {0}")]
    Shape(String),
    /// Another schema.
    #[error("the file has schema {found:?}, this program reads {SCHEMA:?}")]
    Schema {
        /// What stands there.
        found: String,
    },
    /// One card is wrong.
    #[error("card {id}: {says}")]
    Card {
        /// Its id.
        id: String,
        /// What is wrong.
        says: String,
    },
    /// The same id twice in one file.
    #[error("card {0} stands twice in the file")]
    Twice(String),
    /// No card has that name.
    #[error("no property or test is called {0}")]
    Unknown(String),
    /// Several cards have that name.
    #[error("{name} is the name of several: {}", .candidates.join(", "))]
    Ambiguous {
        /// The name asked for.
        name: String,
        /// The ids it could mean.
        candidates: Vec<String>,
    },
}

/// The plain fields of a card as a file states them. A file can be edited by hand, so they are compared besides what they were made from.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Stated {
    /// Number of inputs.
    pub domain_size: Option<BigInt>,
    /// Number of assertions.
    pub assertion_count: u64,
    /// Digest of the fixture.
    pub fixture_sha256: Option<String>,
    /// Inputs of case lists.
    pub case_keys: BTreeSet<String>,
    /// Interval of each argument.
    pub bounds: BTreeMap<String, Interval>,
    /// Whether the card also holds what the plain fields are made from.
    pub whole: bool,
}

/// Cards by id, in order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CardSet {
    cards: BTreeMap<PropId, Arc<Card>>,
    stated: BTreeMap<PropId, Stated>,
}

impl CardSet {
    /// Gathers cards; the same id twice is one card, the weaker.
    pub fn new(cards: impl IntoIterator<Item = impl Into<Arc<Card>>>) -> Self {
        let mut set = CardSet::default();
        for card in cards {
            let card: Arc<Card> = card.into();
            let card = match set.cards.remove(&card.prop_id) {
                Some(twin) => Arc::new(Arc::unwrap_or_clone(twin).weaker_of(Arc::unwrap_or_clone(card))),
                None => card,
            };
            set.cards.insert(card.prop_id.clone(), card);
        }
        set
    }

    /// The cards, in order of their ids.
    pub fn cards(&self) -> impl Iterator<Item = &Arc<Card>> {
        self.cards.values()
    }

    /// The card of an id.
    pub fn get(&self, id: &PropId) -> Option<&Arc<Card>> {
        self.cards.get(id)
    }

    /// What a file stated of an id; `None` when the card was measured here.
    pub fn stated(&self, id: &PropId) -> Option<&Stated> {
        self.stated.get(id)
    }

    /// The set without what the other one cannot be held against: a card of plain fields alone says nothing of the rest.
    pub(super) fn comparable_with(&self, other: &CardSet) -> CardSet {
        let mut set = self.clone();
        for (id, card) in &mut set.cards {
            let plain = |side: &CardSet| side.stated.get(id).is_some_and(|stated| !stated.whole);
            if plain(self) || plain(other) {
                let card = Arc::make_mut(card);
                card.domain = Domain::default();
                card.assertions = Vec::new();
                card.claims = Vec::new();
                card.effort = Effort::default();
            }
        }
        set
    }

    /// The card that a whole id or an unambiguous short one (`Class::name`, `name`, a path's end with it) means.
    ///
    /// # Errors
    /// [`CardsError::Unknown`], or [`CardsError::Ambiguous`] with every id that it could mean.
    pub fn find(&self, name: &str) -> Result<&Card, CardsError> {
        let id = named(name, self.cards.keys())?;
        self.cards.get(id).map(AsRef::as_ref).ok_or_else(|| CardsError::Unknown(name.to_owned()))
    }

    /// The file: schema first, cards by id, one final newline.
    pub fn to_text(&self) -> String {
        let file = File { schema: SCHEMA, cards: self.cards.values().map(AsRef::as_ref).collect() };
        let mut text = serde_json::to_string_pretty(&file).unwrap_or_default();
        text.push('\n');
        text
    }

    /// Reads a file. Fields that this program does not know are passed over; what it knows must have its shape.
    ///
    /// # Errors
    /// [`CardsError`], naming the card.
    pub fn parse(text: &str) -> Result<Self, CardsError> {
        let head: Head = serde_json::from_str(text).map_err(|e| CardsError::Shape(e.to_string()))?;
        if head.schema != SCHEMA {
            return Err(CardsError::Schema { found: head.schema });
        }
        let file: Read = serde_json::from_str(text).map_err(|e| CardsError::Shape(e.to_string()))?;
        let mut set = CardSet::default();
        for value in file.cards {
            let (card, stated) = read_card(value)?;
            let id = card.prop_id.clone();
            if set.cards.insert(id.clone(), card.into()).is_some() {
                return Err(CardsError::Twice(id.0));
            }
            set.stated.insert(id, stated);
        }
        Ok(set)
    }
}

/// The one of the ids that a whole id or an unambiguous short one means.
///
/// # Errors
/// [`CardsError::Unknown`], or [`CardsError::Ambiguous`] with every id that it could mean.
pub fn named<'i>(name: &str, ids: impl IntoIterator<Item = &'i PropId>) -> Result<&'i PropId, CardsError> {
    let ends = |id: &PropId| id.0.strip_suffix(name).is_some_and(|before| before.ends_with("::") || before.ends_with('/'));
    let meant: BTreeSet<&PropId> = ids.into_iter().filter(|id| id.0 == name || ends(id)).collect();
    let exact = meant.iter().find(|id| id.0 == name);
    match (exact, meant.first(), meant.len()) {
        (Some(id), ..) | (None, Some(id), 1) => Ok(id),
        (None, None, _) => Err(CardsError::Unknown(name.to_owned())),
        _ => Err(CardsError::Ambiguous { name: name.to_owned(), candidates: meant.iter().map(|id| id.0.clone()).collect() }),
    }
}

#[derive(Serialize)]
struct File<'c> {
    schema: &'static str,
    cards: Vec<&'c Card>,
}

#[derive(Deserialize)]
struct Head {
    schema: String,
}

#[derive(Deserialize)]
struct Read {
    cards: Vec<Value>,
}

/// A card as a file holds it. Only the id is required: a card with the plain fields alone is a card too.
#[derive(Deserialize)]
struct ReadCard {
    prop_id: PropId,
    #[serde(default)]
    kind: Kind,
    #[serde(default)]
    domain_size: Value,
    #[serde(default)]
    assertion_count: u64,
    #[serde(default)]
    fixture_sha256: Option<String>,
    #[serde(default)]
    case_keys: BTreeSet<String>,
    #[serde(default)]
    bounds: BTreeMap<String, (Value, Value)>,
    #[serde(default)]
    files: BTreeMap<String, String>,
    domain: Option<Domain>,
    assertions: Option<Vec<Assertion>>,
    #[serde(default)]
    claims: Vec<Claim>,
    #[serde(default)]
    calls: Vec<Call>,
    #[serde(default)]
    parameters: Vec<String>,
    #[serde(default)]
    effort: Effort,
    #[serde(default)]
    line: u32,
    #[serde(default)]
    body_sha256: String,
}

fn read_card(value: Value) -> Result<(Card, Stated), CardsError> {
    let id = value.get("prop_id").and_then(Value::as_str).unwrap_or("without prop_id").to_owned();
    let wrong = |says: String| CardsError::Card { id: id.clone(), says };
    let read: ReadCard = serde_json::from_value(value).map_err(|e| wrong(e.to_string()))?;
    let end = |end: Value| number(&end).map_err(|says| wrong(format!("bounds: {says}")));
    let mut bounds = BTreeMap::new();
    for (name, (low, high)) in read.bounds {
        bounds.insert(name, (end(low)?, end(high)?));
    }
    let stated = Stated {
        domain_size: number(&read.domain_size).map_err(|says| wrong(format!("domain_size: {says}")))?,
        assertion_count: read.assertion_count,
        fixture_sha256: read.fixture_sha256.clone(),
        case_keys: read.case_keys,
        bounds,
        whole: read.domain.is_some() && read.assertions.is_some(),
    };
    let card = Card {
        prop_id: read.prop_id,
        kind: read.kind,
        line: read.line,
        domain: read.domain.unwrap_or_default(),
        assertions: read.assertions.unwrap_or_default(),
        claims: read.claims,
        calls: read.calls,
        parameters: read.parameters,
        files: read.files,
        fixture_sha256: read.fixture_sha256,
        effort: read.effort,
        body_sha256: read.body_sha256,
    };
    Ok((card, stated))
}

/// A whole number as decimal text or JSON integer; `null` is none.
fn number(value: &Value) -> Result<Option<BigInt>, String> {
    let text = match value {
        Value::Null => return Ok(None),
        Value::String(text) => text.clone(),
        Value::Number(n) if n.is_i64() || n.is_u64() => n.to_string(),
        other => return Err(format!("{other} is no whole number")),
    };
    if text.len() > MOST_DIGITS {
        return Err(format!("a number of more than {MOST_DIGITS} digits is not read"));
    }
    text.parse().map(Some).map_err(|_| format!("{text:?} is no whole number"))
}

#[cfg(test)]
mod tests {
    use super::{CardSet, CardsError};

    fn parse(cards: &str) -> Result<CardSet, CardsError> {
        CardSet::parse(&format!(r#"{{"schema":"seedgate.cards/1","cards":[{cards}]}}"#))
    }

    fn ids(set: &CardSet) -> Vec<&str> {
        set.cards().map(|card| card.prop_id.0.as_str()).collect()
    }

    #[test]
    fn a_file_opens_with_its_schema_and_lists_cards_by_id() {
        let set = parse(r#"{"prop_id":"b.py::test_x"},{"prop_id":"a.py::test_x"}"#).unwrap();
        assert_eq!(ids(&set), ["a.py::test_x", "b.py::test_x"]);
        let text = set.to_text();
        assert!(text.starts_with("{\n  \"schema\": \"seedgate.cards/1\",\n  \"cards\": ["), "{text}");
        assert!(text.ends_with("}\n"));
    }

    #[test]
    fn a_card_has_the_articles_fields_by_their_names() {
        let text = parse(r#"{"prop_id":"a.py::test_x"}"#).unwrap().to_text();
        let value: serde_json::Value = serde_json::from_str(&text).unwrap();
        for field in
            ["prop_id", "kind", "domain_size", "assertion_count", "fixture_sha256", "case_keys", "bounds", "domain", "files", "opaque"]
        {
            assert!(value["cards"][0].get(field).is_some(), "{field}");
        }
    }

    #[test]
    fn what_is_written_is_read_back_and_written_the_same() {
        let text = parse(r#"{"prop_id":"a.py::test_x","kind":"test","line":4,"files":{"f":"00"},"fixture_sha256":"00","assertions":[{"text":"assert x","line":5}]}"#)
            .unwrap()
            .to_text();
        let again = CardSet::parse(&text).unwrap();
        assert_eq!(again.to_text(), text);
        assert_eq!(again.cards().map(|card| card.assertions.len()).collect::<Vec<_>>(), [1]);
    }

    #[test]
    fn an_old_reader_passes_over_fields_of_a_newer_writer() {
        let newer =
            r#"{"schema":"seedgate.cards/1","tool":"9.9","cards":[{"prop_id":"a.py::test_x","mood":{"deep":[1]},"assertion_count":2}]}"#;
        let set = CardSet::parse(newer).unwrap();
        assert_eq!(set.cards().next().and_then(|card| set.stated(&card.prop_id)).map(|stated| stated.assertion_count), Some(2));
    }

    #[test]
    fn what_cannot_be_read_is_refused_by_name() {
        let table = [
            ("[1", "not a seedgate.cards/1 file"),
            (r#"{"cards":[]}"#, "missing field `schema`"),
            (r#"{"schema":"seedgate.cards/2","cards":[]}"#, "seedgate.cards/2"),
            (r#"{"schema":"seedgate.cards/1"}"#, "missing field `cards`"),
            (r#"{"schema":"seedgate.cards/1","cards":[{"kind":"test"}]}"#, "card without prop_id"),
            (r#"{"schema":"seedgate.cards/1","cards":[{"prop_id":"x","kind":"mood"}]}"#, "card x: unknown variant `mood`"),
            (r#"{"schema":"seedgate.cards/1","cards":[{"prop_id":"x","domain_size":1.5}]}"#, "card x: domain_size: 1.5"),
            (r#"{"schema":"seedgate.cards/1","cards":[{"prop_id":"x","bounds":{"n":["low","1"]}}]}"#, "card x: bounds: \"low\""),
            (r#"{"schema":"seedgate.cards/1","cards":[{"prop_id":"x"},{"prop_id":"x"}]}"#, "card x stands twice"),
        ];
        for (text, words) in table {
            let error = CardSet::parse(text).unwrap_err().to_string();
            assert!(error.contains(words), "{text}: {error}");
        }
        let long = format!(r#"{{"prop_id":"x","domain_size":"{}"}}"#, "9".repeat(30_000));
        assert!(parse(&long).unwrap_err().to_string().contains("digits"));
    }

    #[test]
    fn a_short_name_finds_the_one_card_it_can_mean() {
        let set = parse(
            r#"{"prop_id":"t/a.py::test_x"},{"prop_id":"t/a.py::TestA::test_y"},{"prop_id":"u/b.py::test_y"},{"prop_id":"u/a.py::test_z"}"#,
        )
        .unwrap();
        let table = [
            ("t/a.py::test_x", Ok("t/a.py::test_x")),
            ("test_x", Ok("t/a.py::test_x")),
            ("TestA::test_y", Ok("t/a.py::TestA::test_y")),
            ("b.py::test_y", Ok("u/b.py::test_y")),
            ("est_x", Err("no property or test is called est_x")),
            ("", Err("no property or test is called ")),
            ("test_y", Err("test_y is the name of several: t/a.py::TestA::test_y, u/b.py::test_y")),
        ];
        for (name, wanted) in table {
            let found = set.find(name).map(|card| card.prop_id.0.as_str()).map_err(|e| e.to_string());
            assert_eq!(found, wanted.map_err(str::to_owned), "{name}");
        }
    }
}
