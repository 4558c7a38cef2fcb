//! Owns a card as a waiver's TOML head states it, and how two of them differ.

use serde_json::Value as Json;
use toml::{Table, Value};

use crate::digest;

/// A field that says how a check is written, not what it measures.
const UNMEASURED: &str = "body_sha256";
/// A domain whose JSON is longer is stated by its hash.
const MOST_DOMAIN: usize = 400;
/// How an open end of an interval is spelt: TOML has no null.
const OPEN: &str = "open";

/// A measured card as a TOML table. Equal tables mean equal cards.
pub(super) fn of(card: &Json) -> Table {
    let fields = card.as_object().into_iter().flatten();
    let empty = |value: &Json| value.is_null() || value.as_object().is_some_and(serde_json::Map::is_empty);
    let measured = fields.filter(|(name, value)| name.as_str() != UNMEASURED && !empty(value));
    measured.map(|(name, value)| (name.clone(), if name == "domain" { domain(value) } else { toml_of(value) })).collect()
}

fn domain(value: &Json) -> Value {
    let text = value.to_string();
    let short = text.len() <= MOST_DOMAIN;
    Value::String(if short { text } else { format!("sha256:{}", digest::sha256_hex(text.as_bytes())) })
}

fn toml_of(value: &Json) -> Value {
    match value {
        Json::Null => Value::String(OPEN.to_owned()),
        Json::Bool(yes) => Value::Boolean(*yes),
        Json::Number(n) => n.as_i64().map_or_else(|| Value::String(n.to_string()), Value::Integer),
        Json::String(text) => Value::String(text.clone()),
        Json::Array(items) => Value::Array(items.iter().map(toml_of).collect()),
        Json::Object(fields) => Value::Table(fields.iter().map(|(name, value)| (name.clone(), toml_of(value))).collect()),
    }
}

/// One line for each field in which a waiver's card is not the measured one.
pub(super) fn differences(which: &str, stated: Option<&Table>, measured: Option<&Table>) -> Vec<String> {
    match (stated, measured) {
        (Some(stated), Some(measured)) => fields(which, stated, measured),
        (Some(_), None) => vec![format!("[{which}]: the waiver states a card, measured: nothing is left")],
        (None, Some(_)) => vec![format!("[{which}]: the waiver states no card, measured: there is one")],
        (None, None) => Vec::new(),
    }
}

fn fields(which: &str, stated: &Table, measured: &Table) -> Vec<String> {
    let mut names: Vec<&String> = stated.keys().chain(measured.keys()).collect();
    names.sort();
    names.dedup();
    let differ = names.into_iter().filter(|name| stated.get(*name) != measured.get(*name));
    differ
        .map(|name| format!("[{which}] {name}: the waiver says {}, measured {}", shown(stated.get(name)), shown(measured.get(name))))
        .collect()
}

fn shown(value: Option<&Value>) -> String {
    let text = value.map_or_else(|| "nothing".to_owned(), ToString::to_string);
    match text.char_indices().nth(200) {
        Some((cut, _)) => format!("{}…", &text[..cut]),
        None => text,
    }
}
