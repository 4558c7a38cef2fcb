//! Owns `[rules]`: the level of each rule, everywhere and for some paths.

use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;

use serde::de::value::StrDeserializer;
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use toml::Spanned;

use super::{Reader, SettingsError};
use crate::finding::{Level, Rule};

/// The levels that a policy sets; a rule without one keeps its own.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Rules {
    /// For every path.
    pub everywhere: BTreeMap<Rule, Level>,
    /// For some paths, in the order of the file: the last that names the rule and fits the path decides.
    pub places: Vec<Place>,
}

/// The levels for some paths.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Place {
    /// Globs.
    pub paths: Vec<String>,
    /// The levels there.
    pub levels: BTreeMap<Rule, Level>,
}

/// A table of levels with one key of its own besides.
pub(super) struct Entries<V> {
    span: Vec<(Spanned<String>, Spanned<String>)>,
    own: Option<V>,
}

/// `[rules]`.
pub(super) type Table = Entries<Places>;

/// `[[rules.for]]`.
#[derive(serde::Deserialize)]
#[serde(transparent)]
pub(super) struct Places(Vec<Spanned<Entries<Paths>>>);

#[derive(serde::Deserialize)]
#[serde(transparent)]
pub(super) struct Paths(Vec<Spanned<String>>);

/// What stands under a key that is no rule.
pub(super) trait Own {
    /// That key.
    const KEY: &'static str;
}

impl Own for Places {
    const KEY: &'static str = "for";
}

impl Own for Paths {
    const KEY: &'static str = "paths";
}

impl<'de, V: Own + Deserialize<'de>> Deserialize<'de> for Entries<V> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(Reading(PhantomData))
    }
}

struct Reading<V>(PhantomData<V>);

impl<'de, V: Own + Deserialize<'de>> Visitor<'de> for Reading<V> {
    type Value = Entries<V>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a table of rules and their levels")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut entries = Entries { span: Vec::new(), own: None };
        while let Some(key) = map.next_key::<Spanned<String>>()? {
            if key.get_ref() == V::KEY {
                entries.own = Some(map.next_value()?);
            } else {
                entries.span.push((key, map.next_value()?));
            }
        }
        Ok(entries)
    }
}

impl Reader<'_> {
    /// Checks `[rules]`.
    pub(super) fn rules(&self, table: Option<Table>) -> Result<Rules, SettingsError> {
        let Some(table) = table else { return Ok(Rules::default()) };
        let places = table.own.map_or_else(Vec::new, |places| places.0);
        if let Some(first) = places.first() {
            self.few_at(places.len(), first.span().start)?;
        }
        let places = places.into_iter().map(|place| self.place(place)).collect::<Result<_, _>>()?;
        Ok(Rules { everywhere: self.levels(table.span)?, places })
    }

    fn place(&self, place: Spanned<Entries<Paths>>) -> Result<Place, SettingsError> {
        let start = place.span().start;
        let Entries { span, own } = place.into_inner();
        let paths = self.globs(own.map(|paths| paths.0))?.unwrap_or_default();
        if paths.is_empty() {
            return Err(self.bad(start, "this [[rules.for]] names no paths; add a line such as `paths = [\"tests/legacy/**\"]`".to_owned()));
        }
        if span.is_empty() {
            return Err(self.bad(start, "this [[rules.for]] sets no rule; add a line such as `budget_lowered = \"review\"`".to_owned()));
        }
        Ok(Place { paths, levels: self.levels(span)? })
    }

    fn levels(&self, entries: Vec<(Spanned<String>, Spanned<String>)>) -> Result<BTreeMap<Rule, Level>, SettingsError> {
        let mut levels = BTreeMap::new();
        for (name, level) in entries {
            let rule = rule(name.get_ref()).map_err(|says| self.bad(name.span().start, says))?;
            let level = Level::named(level.get_ref()).ok_or_else(|| {
                let says = format!("{:?} is no level; write \"refuse\", \"review\" or \"off\"", level.get_ref());
                self.bad(level.span().start, says)
            })?;
            levels.insert(rule, level);
        }
        Ok(levels)
    }
}

/// The rule that a policy may set under this name.
fn rule(name: &str) -> Result<Rule, String> {
    let known = Rule::deserialize(StrDeserializer::<serde::de::value::Error>::new(name));
    match known {
        Ok(rule) if Rule::SETTABLE.contains(&rule) => Ok(rule),
        Ok(rule) => Err(format!("{} keeps the gate itself honest, so no policy sets its level; remove the line", rule.id())),
        Err(_) => {
            let names: Vec<&str> = Rule::SETTABLE.iter().map(|rule| rule.id()).collect();
            Err(format!("{name:?} is no rule; write one of {}", names.join(", ")))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Settings, SettingsError};
    use crate::finding::{Level, Rule};

    const HEAD: &str = "schema = \"seedgate.config/1\"\n";

    #[test]
    fn levels_are_read_for_everywhere_and_for_places_in_the_order_of_the_file() {
        let text = format!(
            "{HEAD}[rules]\nbudget_lowered = \"review\"\nnew_property = \"off\"\n\
             [[rules.for]]\npaths = [\"legacy/**\"]\nassertion_removed = \"off\"\n\
             [[rules.for]]\npaths = [\"legacy/core/**\", \"*.py\"]\nassertion_removed = \"refuse\"\n"
        );
        let rules = Settings::parse(&text).unwrap().rules;
        assert_eq!(
            rules.everywhere.into_iter().collect::<Vec<_>>(),
            [(Rule::BudgetLowered, Level::Review), (Rule::NewProperty, Level::Off)]
        );
        let places: Vec<_> = rules.places.iter().map(|place| (place.paths.concat(), place.levels[&Rule::AssertionRemoved])).collect();
        assert_eq!(places, [("legacy/**".to_owned(), Level::Off), ("legacy/core/***.py".to_owned(), Level::Refuse)]);
        assert_eq!(Settings::parse(&format!("{HEAD}[rules]\n")).unwrap(), Settings::default());
    }

    #[test]
    fn what_cannot_be_taken_is_named_with_its_line() {
        for (text, line, says) in [
            ("[rules]\nbudget_lowerd = \"off\"\n", 3, "\"budget_lowerd\" is no rule; write one of split_required, "),
            ("[rules]\nbudget_lowered = \"warn\"\n", 3, "\"warn\" is no level; write \"refuse\", \"review\" or \"off\""),
            ("[rules]\nbudget_lowered = 1\n", 3, "invalid type"),
            ("[rules]\nbudget_lowered = \"off\"\nbudget_lowered = \"off\"\n", 4, "duplicate"),
            ("[rules]\nfor = \"off\"\n", 3, "invalid type"),
            ("[rules]\n\n[[rules.for]]\nbudget_lowered = \"off\"\n", 4, "names no paths; add a line"),
            ("[[rules.for]]\npaths = []\nbudget_lowered = \"off\"\n", 2, "names no paths; add a line"),
            ("[[rules.for]]\npaths = [\"a\"]\n", 2, "sets no rule; add a line"),
            ("[[rules.for]]\nbudget_lowered = \"off\"\npaths = [\"/a\"]\n", 4, "leading slash"),
            ("[[rules.for]]\npaths = [\"a\"]\nwaiver_invalid = \"review\"\n", 4, "waiver_invalid keeps the gate itself honest"),
        ] {
            let SettingsError::Bad { line: found, says: complaint, .. } = Settings::parse(&format!("{HEAD}{text}")).unwrap_err();
            assert_eq!(found, line, "{text}: {complaint}");
            assert!(complaint.contains(says), "{text}: {complaint}");
        }
    }

    #[test]
    fn what_keeps_the_gate_honest_has_no_level() {
        for rule in ["waiver_invalid", "policy_changed", "unreadable_file", "waived"] {
            for level in ["off", "review", "refuse"] {
                let error = Settings::parse(&format!("{HEAD}[rules]\n{rule} = \"{level}\"\n")).unwrap_err().to_string();
                assert_eq!(
                    error,
                    format!(".seedgate/config.toml:3: {rule} keeps the gate itself honest, so no policy sets its level; remove the line")
                );
            }
        }
    }
}
