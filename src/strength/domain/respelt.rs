//! Owns whether the text of a definition is another one with names spelt otherwise.

use std::collections::{BTreeMap, BTreeSet};

use crate::strength::domain::branches::leaving;
use crate::strength::domain::moved::public;

/// Texts of more words than this are compared as they are.
const MOST: usize = 4_000;
/// Words of the language that no name stands for.
const WORDS: [&str; 26] = [
    "False", "None", "True", "and", "as", "assert", "break", "class", "continue", "def", "elif", "else", "except", "for", "from", "if",
    "import", "in", "is", "lambda", "not", "or", "raise", "return", "while", "yield",
];

/// Whether two texts of space-separated words say the same: names may lose or gain the module or the underscore before them, a name that
/// the text itself binds may be another one throughout, and a text that is a key or an argument may have words more.
pub(super) fn is_respelt(was: &str, now: &str) -> bool {
    let (was, now) = (aliased(units(&leaving(was))), aliased(units(&leaving(now))));
    if was.len() != now.len() || was.len() > MOST {
        return false;
    }
    let all = |units: &[String]| units.iter().flat_map(|unit| unit.split('.')).map(str::to_owned).collect::<BTreeSet<String>>();
    let (before, after) = (all(&was), all(&now));
    let (mut there, mut back) = (BTreeMap::new(), BTreeMap::new());
    (0..was.len()).all(|at| {
        let (one, other) = (was[at].as_str(), now[at].as_str());
        let is_bound = || is_bound(&was, one) && is_bound(&now, other) && !after.contains(one) && !before.contains(other);
        let mut renamed = || *there.entry(one).or_insert(other) == other && *back.entry(other).or_insert(one) == one;
        one == other
            || is_same_chain(one, other)
            || is_longer_key(&was, &now, at)
            || (is_name(one) && is_name(other) && is_bound() && renamed())
    })
}

/// Words, dotted names in one.
fn units(text: &str) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    let mut is_open = false;
    for word in text.split(' ') {
        let joins = word == "." && all.last().is_some_and(|last| is_chain(last));
        match all.last_mut() {
            Some(last) if is_open || joins => last.push_str(word),
            _ => all.push(word.to_owned()),
        }
        is_open = joins;
    }
    all
}

/// A text without functions in which a name that is given another one, once, stands for that: `Part = Any ; Parts = Tuple [ Part ]`.
fn aliased(units: Vec<String>) -> Vec<String> {
    if units.iter().any(|unit| matches!(unit.as_str(), "def" | "lambda" | "for" | ":=")) || units.len() > MOST {
        return units;
    }
    let text = |at: usize| units.get(at).map_or(";", String::as_str);
    let is_alias = |at: &usize| {
        let starts = at.checked_sub(1).is_none_or(|before| text(before) == ";");
        starts && is_name(text(*at)) && text(at + 1) == "=" && is_chain(text(at + 2)) && text(at + 3) == ";"
    };
    let is_once = |at: &usize| (0..units.len()).filter(|other| units[*other] == units[*at] && text(other + 1) == "=").count() == 1;
    let all: BTreeMap<&str, &str> = (0..units.len()).filter(is_alias).filter(is_once).map(|at| (text(at), text(at + 2))).collect();
    let told = |at: usize| if text(at + 1) == "=" { None } else { all.get(text(at)) };
    (0..units.len()).map(|at| told(at).map_or_else(|| units[at].clone(), |of| (*of).to_owned())).collect()
}

fn is_chain(text: &str) -> bool {
    text.split('.').all(is_name)
}

fn is_name(word: &str) -> bool {
    word.starts_with(|c: char| c.is_alphabetic() || c == '_')
        && word.chars().all(|c| c.is_alphanumeric() || c == '_')
        && !WORDS.contains(&word)
}

/// `pack.Name` and `Name`, `self._name` and `self.name`.
fn is_same_chain(one: &str, other: &str) -> bool {
    let parts = |text: &str| text.split('.').map(|part| public(part).to_owned()).collect::<Vec<String>>();
    let (short, long) = if one.len() < other.len() { (parts(one), parts(other)) } else { (parts(other), parts(one)) };
    let is_module = short.len() == 1 && long.len() == 2;
    is_chain(one) && is_chain(other) && (short == long || (is_module && long.ends_with(&short)))
}

/// Whether a name is given a value in the text.
fn is_bound(units: &[String], name: &str) -> bool {
    units.windows(2).any(|two| (two[0] == name && two[1] == "=") || (two[0] == "for" && two[1] == name))
        && !units.windows(3).any(|three| matches!(three[0].as_str(), "(" | ",") && three[1] == name && three[2] == "=")
}

/// A word in quotes, given to a call or used as a key, that became a longer one.
fn is_longer_key(was: &[String], now: &[String], at: usize) -> bool {
    let quoted = |text: &str| text.strip_prefix('\'')?.strip_suffix('\'').filter(|word| is_name(word)).map(words);
    let before = at.checked_sub(1).map_or("", |at| was[at].as_str());
    let is_key = matches!(before, "(" | "[") && at.checked_sub(2).is_none_or(|at| !matches!(was[at].as_str(), "in" | "==" | "!=" | "not"));
    is_key && quoted(&was[at]).zip(quoted(&now[at])).is_some_and(|(was, now)| was.is_subset(&now))
}

/// `__attrs_post_init__` is `attrs`, `post`, `init`; `HypClass` is `hyp`, `class`.
fn words(text: &str) -> BTreeSet<String> {
    let mut all = vec![String::new()];
    for c in text.chars() {
        if c == '_' || c.is_uppercase() {
            all.push(String::new());
        }
        if let Some(last) = all.last_mut().filter(|_| c != '_') {
            last.extend(c.to_lowercase());
        }
    }
    all.into_iter().filter(|word| !word.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::is_respelt;

    #[test]
    fn names_may_be_spelt_otherwise_and_nothing_else() {
        for (was, now) in [
            ("default = attr . NOTHING ; return default", "default = NOTHING ; return default"),
            ("return f ( a . value , b )", "return f ( a . _value , b )"),
            ("return zip ( _names ( ) , x )", "return zip ( names ( ) , x )"),
            ("value = draw ( #0 ) ; return value", "drawn = draw ( #0 ) ; return drawn"),
            ("for k in keys : { d [ k ] = 1 ; }", "for key in keys : { d [ key ] = 1 ; }"),
            ("d [ '__post_init__' ] = f", "d [ '__attrs_post_init__' ] = f"),
        ] {
            assert!(is_respelt(was, now), "{was} | {now}");
        }
        for (was, now) in [
            ("x = draw ( #0 ) ; y = draw ( #1 ) ; return x , y", "x = draw ( #0 ) ; y = draw ( #1 ) ; return x , x"),
            ("x = draw ( #0 ) ; return x", "x = draw ( #0 ) ; return y"),
            ("x = draw ( #0 ) ; return x", "x = draw ( #0 ) ; return None"),
            ("x = draw ( #0 ) ; return f ( x )", "x = draw ( #0 ) ; return g ( x )"),
            ("x = draw ( #0 ) ; return f ( x )", "x = draw ( #0 ) ; return abs ( x )"),
            ("x = draw ( #0 ) ; return f ( x , 2 )", "x = draw ( #0 ) ; return f ( x , 1 )"),
            ("return a . b . c", "return c"),
            ("if kind == 'small' : { return 1 ; }", "if kind == 'small_one' : { return 1 ; }"),
            ("if kind in ( 'small' , ) : { return 1 ; }", "if kind in ( 'small_one' , ) : { return 1 ; }"),
            ("return f ( size = n )", "return f ( width = n )"),
            ("if x > y : { return x ; }", "if x < y : { return x ; }"),
        ] {
            assert!(!is_respelt(was, now), "{was} | {now}");
        }
    }
}
