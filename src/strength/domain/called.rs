//! Owns which way a call of a strategy moves: its arguments, the draws of the function behind it, and the body around them.

use std::collections::{BTreeMap, BTreeSet};

use crate::finding::Rule;
use crate::strength::domain::Strategy;
use crate::strength::domain::compare::narrowing;

type Part = (String, Strategy);

/// Arguments by key: equal values, strategies that hold, none gone and none new (what a new one does is unknown).
pub(super) fn call(base: &[Part], patch: &[Part]) -> Option<Rule> {
    if let Some(aligned) = aligned(base, patch) {
        return by_key(base, &aligned);
    }
    by_key(base, patch)
}

fn by_key(base: &[Part], patch: &[Part]) -> Option<Rule> {
    let now: BTreeMap<&str, &Strategy> = patch.iter().map(|(key, part)| (key.as_str(), part)).collect();
    let mut rules = base.iter().filter_map(|(key, part)| match now.get(key.as_str()) {
        Some(kept) => narrowing(part, kept),
        None => Some(if key.contains("draw[") { Rule::BoundNarrowed } else { Rule::DomainUnreadable }),
    });
    let worst = rules.by_ref().min();
    let counted = |parts: &[Part]| parts.iter().filter(|(key, _)| !key.starts_with("leans[")).count();
    worst.or_else(|| (counted(patch) > counted(base)).then_some(Rule::DomainUnreadable))
}

/// The patch's parts under the keys that they have on the base, where its body is the base's that draws more and gives it to calls.
fn aligned(base: &[Part], patch: &[Part]) -> Option<Vec<Part>> {
    let was = body(base)?;
    let now = body(patch).filter(|now| *now != was)?;
    let count = |parts: &[Part], of: &str| parts.iter().filter(|(key, _)| key.starts_with(of)).count();
    let label = if patch.iter().any(|(key, _)| key.starts_with("return[")) { "return[" } else { "draw[" };
    let draws = |parts: &[Part]| count(parts, label);
    // A text that looks like a place is none.
    let is_told =
        |parts: &[Part], text: &str| text.split(' ').filter(|word| hole(word).is_some()).count() == draws(parts) + count(parts, "part[");
    let places = Some(()).filter(|()| is_told(base, was) && is_told(patch, now)).and_then(|()| grown(was, now))?;
    let key = |at: usize, draws: usize| match at.checked_sub(draws) {
        None => format!("{label}{at}]"),
        Some(at) => format!("part[{at}]"),
    };
    let keys: BTreeMap<String, String> = places.iter().map(|(was, now)| (key(*now, draws(patch)), key(*was, draws(base)))).collect();
    let is_open = |part: &Strategy| !matches!(part, Strategy::Finite(keys) if keys.len() < 2);
    let mut told = Vec::with_capacity(base.len());
    for (key, part) in patch {
        let of_body = key.starts_with(label) || key.starts_with("part[");
        match keys.get(key) {
            Some(known) => told.push((known.clone(), part.clone())),
            None if key == Strategy::BODY => told.push((key.clone(), Strategy::Value(was.to_owned()))),
            None if of_body && is_open(part) => {}
            None if of_body => return None,
            None => told.push((key.clone(), part.clone())),
        }
    }
    Some(told)
}

fn body(parts: &[Part]) -> Option<&str> {
    parts
        .iter()
        .find(|(key, _)| key == Strategy::BODY)
        .and_then(|(_, part)| if let Strategy::Value(text) = part { Some(text.as_str()) } else { None })
}

/// Where each draw of a body stands in another one, which is the same with more draws that calls are given: by keyword or after all that
/// they were given, as they are or under a name of their own.
fn grown(base: &str, patch: &str) -> Option<BTreeMap<usize, usize>> {
    let (base, patch): (Vec<&str>, Vec<&str>) = (base.split(' ').collect(), patch.split(' ').collect());
    let mut reader =
        Reader { patch: &patch, known: base.iter().copied().collect(), fresh: BTreeSet::new(), draw: draw(&patch).unwrap_or_default() };
    let (mut at, mut now, mut places, mut calls) = (0, 0, BTreeMap::new(), Vec::new());
    while now < patch.len() {
        let in_call = calls.last() == Some(&true) && base.get(at) == Some(&")");
        let added = reader.statement(now).or_else(|| reader.function(now)).or_else(|| if in_call { reader.argument(now) } else { None });
        if let Some(end) = added {
            now = end;
            continue;
        }
        match base.get(at).map(|word| (hole(word), hole(patch[now]))) {
            Some((Some(was), Some(is))) => drop(places.insert(was, is)),
            Some((None, None)) if base[at] == patch[now] => {}
            _ => return None,
        }
        match patch[now] {
            "(" | "[" | "{" => calls.push(patch[now] == "(" && now > 0 && is_callee(patch[now - 1]) && patch[now - 1] != reader.draw),
            ")" | "]" | "}" => drop(calls.pop()),
            _ => {}
        }
        (at, now) = (at + 1, now + 1);
    }
    (at == base.len()).then_some(places)
}

/// The number of a draw's place.
fn hole(word: &str) -> Option<usize> {
    word.strip_prefix('#')?.parse().ok()
}

/// What the first draw is called with.
fn draw<'p>(patch: &[&'p str]) -> Option<&'p str> {
    patch.windows(4).find(|w| w[1] == "(" && hole(w[2]).is_some() && w[3] == ")" && is_name(w[0])).map(|w| w[0])
}

fn is_name(word: &str) -> bool {
    word.starts_with(|c: char| c.is_alphabetic() || c == '_') && word.chars().all(|c| c.is_alphanumeric() || c == '_') && !is_keyword(word)
}

fn is_callee(word: &str) -> bool {
    is_name(word) || matches!(word, ")" | "]")
}

fn is_keyword(word: &str) -> bool {
    matches!(word, "if" | "else" | "not" | "and" | "or" | "is" | "in" | "None" | "True" | "False" | "return" | "yield" | "lambda" | "for")
}

/// Reads what the patch adds.
struct Reader<'p> {
    patch: &'p [&'p str],
    /// Words of the base.
    known: BTreeSet<&'p str>,
    /// Names that stand for something drawn and for nothing on the base.
    fresh: BTreeSet<&'p str>,
    draw: &'p str,
}

impl Reader<'_> {
    /// Where a statement ends that starts here and gives a new name to something drawn.
    fn statement(&mut self, at: usize) -> Option<usize> {
        let starts = at == 0 || matches!(self.patch[at - 1], ";" | "{" | "}");
        let &[name, "=", ..] = self.patch.get(at..)? else { return None };
        let end = at + self.patch[at..].iter().position(|word| *word == ";")?;
        let is_new = starts && is_name(name) && !self.known.contains(name) && !self.fresh.contains(name);
        (is_new && self.is_drawn(&self.patch[at + 2..end])).then(|| self.fresh.insert(name)).map(|_| end + 1)
    }

    /// Where a function ends that is defined here under a new name.
    fn function(&self, at: usize) -> Option<usize> {
        let starts = at == 0 || matches!(self.patch[at - 1], ";" | "{" | "}");
        let &["def", name, "(", ..] = self.patch.get(at..)? else { return None };
        let mut depth = 0_usize;
        let mut ends = |(place, word): (usize, &&str)| {
            depth = depth.saturating_add(usize::from(*word == "{")).saturating_sub(usize::from(*word == "}"));
            (*word == "}" && depth == 0).then_some(at + place + 1)
        };
        let end = self.patch[at..].iter().enumerate().find_map(&mut ends)?;
        let has_hole = self.patch[at..end].iter().any(|word| hole(word).is_some());
        let end = end + usize::from(self.patch.get(end) == Some(&";"));
        (starts && is_name(name) && !self.known.contains(name) && !has_hole).then_some(end)
    }

    /// Where an argument ends that is added here: something drawn.
    fn argument(&self, at: usize) -> Option<usize> {
        let first = usize::from(self.patch[at] == ",");
        if first == 0 && self.patch.get(at.wrapping_sub(1)) != Some(&"(") {
            return None;
        }
        let mut depth = 0_usize;
        let ends = |word: &&str| {
            let closes = matches!(*word, ")" | "]" | "}");
            let is_end = depth == 0 && (closes || *word == ",");
            depth = depth.saturating_add(usize::from(matches!(*word, "(" | "[" | "{"))).saturating_sub(usize::from(closes));
            is_end
        };
        let end = at + first + self.patch.get(at + first..)?.iter().position(ends)?;
        let value = match &self.patch[at + first..end] {
            [word, "=", value @ ..] if is_name(word) => value,
            value => value,
        };
        self.is_drawn(value).then_some(end)
    }

    /// Whether something is a draw, or a choice between draws and constants by a condition.
    fn is_drawn(&self, value: &[&str]) -> bool {
        let calls = |at: usize| value[at] == "(" && at > 0 && is_callee(value[at - 1]) && value[at - 1] != self.draw;
        let is_plain = |word: &str| {
            is_name(word)
                || is_keyword(word)
                || hole(word).is_some()
                || matches!(word, "(" | ")")
                || word.chars().all(|c| c.is_ascii_digit())
        };
        let stops = |word: &&str| matches!(*word, "return" | "yield" | "lambda" | "for");
        value.iter().any(|word| hole(word).is_some() || self.fresh.contains(word))
            && value.iter().all(|word| is_plain(word))
            && !value.iter().any(stops)
            && !(0..value.len()).any(calls)
    }
}

#[cfg(test)]
mod tests {
    use super::grown;

    #[test]
    fn a_body_grows_where_calls_are_given_more_that_is_drawn() {
        let base = "n = draw ( #0 ) ; return Order ( n , draw ( #1 ) )";
        for (patch, wanted) in [
            ("n = draw ( #0 ) ; return Order ( n , draw ( #1 ) , draw ( #2 ) )", true),
            ("n = draw ( #0 ) ; return Order ( n , draw ( #1 ) , vip = draw ( #2 ) )", true),
            ("n = draw ( #0 ) ; v = draw ( #1 ) if n else None ; return Order ( n , draw ( #2 ) , vip = v )", true),
            ("n = draw ( #0 ) ; return Order ( n , draw ( #1 ) , vip = False )", false),
            ("n = draw ( #0 ) ; return Order ( n , draw ( #1 ) , vip = f ( draw ( #2 ) ) )", false),
            ("n = draw ( #0 ) ; n = draw ( #2 ) ; return Order ( n , draw ( #1 ) )", false),
            ("n = draw ( #0 ) ; assume ( draw ( #2 ) ) ; return Order ( n , draw ( #1 ) )", false),
            ("n = draw ( #0 ) ; return Order ( 5 , draw ( #1 ) , draw ( #2 ) )", false),
            ("n = draw ( #0 ) ; return Order ( draw ( #2 ) , n , draw ( #1 ) )", false),
            ("n = draw ( #0 ) ; return Order ( n , draw ( #1 ) ) , draw ( #2 )", false),
            ("draw ( #0 ) ; return Order ( draw ( #1 ) )", false),
        ] {
            assert_eq!(grown(base, patch).is_some(), wanted, "{patch}");
        }
        let places = grown(base, "n = draw ( #0 ) ; v = draw ( #1 ) ; return Order ( n , draw ( #2 ) , vip = v )").unwrap();
        assert_eq!(places.into_iter().collect::<Vec<_>>(), [(0, 0), (1, 2)]);
    }
}
