//! Owns what a function must be given.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

/// The parameters of a function, without the instance.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Signature {
    /// Those that may be given by place, in order.
    pub positional: Vec<Parameter>,
    /// Those that are given by name alone.
    pub named: Vec<Parameter>,
    /// It takes any other name too.
    #[serde(default)]
    pub is_open: bool,
}

/// One parameter.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Parameter {
    /// Its name.
    pub name: String,
    /// A call without it fails.
    pub required: bool,
    /// It is one of the booleans where a call does not give it.
    #[serde(default)]
    pub is_flag: bool,
}

/// What a call gives: how many by place, and which by name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Given<'g> {
    /// By place.
    pub positional: usize,
    /// By name.
    pub named: BTreeSet<&'g str>,
}

impl Signature {
    /// Whether a call that gives a parameter each of the booleans tries what one without it does; the parameter by its place or its name.
    pub fn is_tried_both_ways(&self, place: Option<usize>, name: &str) -> bool {
        let whole = |p: &Parameter| p.is_flag || p.required;
        match place {
            Some(place) => self.positional.get(place).is_some_and(whole),
            None => self.positional.iter().chain(&self.named).find(|p| p.name == name).map_or(self.is_open, whole),
        }
    }

    /// Whether a call cannot be made without what another one gives besides, at whatever place.
    pub fn demands(&self, call: &Given<'_>, besides: &Given<'_>) -> bool {
        let Some(free) = self.positional.get(call.positional..) else { return false };
        let Some(by_place) = free.get(..besides.positional) else { return false };
        let (here, later) = (by_place.iter(), free[besides.positional..].iter().chain(&self.named));
        let later: BTreeSet<&str> = later.filter(|p| p.required).map(|p| p.name.as_str()).collect();
        let is_new = |name: &&str| later.contains(name) && !call.named.contains(name);
        here.clone().all(|p| p.required && !call.named.contains(p.name.as_str())) && besides.named.iter().all(is_new)
    }
}

#[cfg(test)]
mod tests {
    use super::{Given, Parameter, Signature};

    fn parameters(text: &str) -> Vec<Parameter> {
        let one = |p: &str| Parameter {
            name: p.trim_end_matches(['?', '!']).into(),
            required: !p.ends_with(['?', '!']),
            is_flag: p.ends_with('!'),
        };
        text.split_whitespace().map(one).collect()
    }

    fn given(text: &'static str) -> Given<'static> {
        let (places, names) = text.split_once(' ').unwrap_or((text, ""));
        Given { positional: places.parse().unwrap(), named: names.split_whitespace().collect() }
    }

    #[test]
    fn a_call_is_given_more_only_where_it_could_not_be_made_without() {
        let signature = Signature { positional: parameters("a b c?"), named: parameters("d e?"), is_open: false };
        for (call, besides, wanted) in [
            ("1 d", "1", true),
            ("1", "1 d", true),
            ("2", "0 d", true),
            ("0 b d", "1", true),
            ("1 d", "2", false),
            ("2 d", "1", false),
            ("2 d", "0 c", false),
            ("2 d", "0 e", false),
            ("2", "0 d e", false),
            ("1 b", "1", false),
            ("2 d", "0 other", false),
            ("9", "1", false),
        ] {
            assert_eq!(signature.demands(&given(call), &given(besides)), wanted, "{call} and {besides}");
        }
    }

    #[test]
    fn both_booleans_try_the_default_only_where_it_is_one_of_them() {
        let closed = Signature { positional: parameters("a b! c?"), named: parameters("d! e?"), is_open: false };
        for (place, name, wanted) in
            [(Some(1), "", true), (Some(2), "", false), (Some(3), "", false), (None, "d", true), (None, "e", false), (None, "f", false)]
        {
            assert_eq!(closed.is_tried_both_ways(place, name), wanted, "{place:?} {name}");
        }
        assert!(Signature { is_open: true, ..closed.clone() }.is_tried_both_ways(None, "f"));
        assert!(!Signature { is_open: true, ..closed }.is_tried_both_ways(None, "e"));
    }
}
