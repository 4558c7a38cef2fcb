//! Owns sections and keys of configuration files, in INI and TOML, with their lines.

use std::collections::BTreeMap;

use toml::{Table, Value as Toml};

use crate::strength::harness::words::{numbered, words};

/// A value as written: one text or a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Value {
    /// One text, perhaps of several lines.
    Text(String),
    /// A list of texts.
    List(Vec<String>),
}

impl Value {
    /// The words of it.
    pub(super) fn words(&self) -> Vec<String> {
        match self {
            Value::Text(text) => words(text),
            Value::List(items) => items.clone(),
        }
    }

    /// The entries of it, one a line.
    pub(super) fn entries(&self) -> Vec<String> {
        let lines: Vec<&str> = match self {
            Value::Text(text) => text.lines().collect(),
            Value::List(items) => items.iter().map(String::as_str).collect(),
        };
        lines.into_iter().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#')).map(str::to_owned).collect()
    }

    /// As shown on one line.
    pub(super) fn shown(&self) -> String {
        match self {
            Value::Text(text) => text.split_whitespace().collect::<Vec<_>>().join(" "),
            Value::List(items) => items.join(" "),
        }
    }

    /// Whether it says yes.
    pub(super) fn is_true(&self) -> bool {
        matches!(self, Value::Text(text) if ["true", "1", "yes", "on"].contains(&text.trim().to_ascii_lowercase().as_str()))
    }
}

/// The keys of one section: value and line.
pub(super) type Section = BTreeMap<String, (Value, u32)>;

/// The sections of an INI file, as `iniconfig` and `configparser` agree to read them.
pub(super) fn ini(text: &str) -> BTreeMap<String, Section> {
    let mut sections: BTreeMap<String, Section> = BTreeMap::new();
    let (mut section, mut key) = (String::new(), None::<String>);
    for (number, line) in numbered(text) {
        let trimmed = line.trim();
        if trimmed.starts_with(['#', ';']) {
            continue;
        }
        if line.starts_with([' ', '\t']) || trimmed.is_empty() {
            if let Some((Value::Text(value), _)) = key.as_ref().and_then(|key| sections.get_mut(&section)?.get_mut(key)) {
                value.extend(["\n", trimmed]);
            }
        } else if let Some(name) = trimmed.strip_prefix('[').and_then(|rest| rest.split(']').next()) {
            name.trim().clone_into(&mut section);
            sections.entry(section.clone()).or_default();
            key = None;
        } else if let Some((name, value)) = trimmed.split_once(['=', ':']) {
            let name = name.trim().to_owned();
            sections.entry(section.clone()).or_default().insert(name.clone(), (Value::Text(value.trim().to_owned()), number));
            key = Some(name);
        }
    }
    sections
}

/// A TOML file.
///
/// # Errors
/// What is wrong, and its line.
pub(super) fn table(text: &str) -> Result<Table, (u32, String)> {
    text.parse::<Table>().map_err(|error| {
        let before = error.span().and_then(|span| text.get(..span.start)).unwrap_or_default();
        (u32::try_from(before.matches('\n').count() + 1).unwrap_or(u32::MAX), error.message().to_owned())
    })
}

/// The texts of a table, as a section.
pub(super) fn section(table: &Table, text: &str) -> Section {
    table.iter().map(|(key, value)| (key.clone(), (of_toml(value), line_of(text, key)))).collect()
}

fn of_toml(value: &Toml) -> Value {
    let plain = |value: &Toml| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    match value {
        Toml::Array(items) => Value::List(items.iter().map(plain).collect()),
        other => Value::Text(plain(other)),
    }
}

/// The first line that assigns a key.
pub(super) fn line_of(text: &str, key: &str) -> u32 {
    let assigns = |line: &str| {
        line.trim_start()
            .trim_start_matches('"')
            .strip_prefix(key)
            .is_some_and(|rest| rest.trim_start_matches('"').trim_start().starts_with(['=', ':']))
    };
    numbered(text).find(|(_, line)| assigns(line)).map_or(1, |(number, _)| number)
}
