//! Owns which way a call of a strategy moves: its arguments, the draws of the function behind it, and the body around them.

use std::collections::{BTreeMap, BTreeSet};

use crate::finding::Rule;
use crate::strength::domain::Strategy;
use crate::strength::domain::compare::narrowing;
use crate::strength::domain::moved::without_modules;
use crate::strength::domain::respelt::is_respelt;

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
        Some(kept) if is_definition(key) && is_told_again(part, kept) => None,
        Some(kept) => narrowing(part, kept),
        None => Some(if key.contains("draw[") { Rule::BoundNarrowed } else { Rule::DomainUnreadable }),
    });
    let worst = rules.by_ref().min();
    let counted = |parts: &[Part]| parts.iter().filter(|(key, _)| !key.starts_with("leans[")).count();
    worst.or_else(|| (counted(patch) > counted(base)).then_some(Rule::DomainUnreadable))
}

/// Whether a part is the text of a definition.
fn is_definition(key: &str) -> bool {
    key == Strategy::BODY || key == Strategy::BEHIND
}

/// Whether two texts say the same with names spelt otherwise.
fn is_told_again(was: &Strategy, now: &Strategy) -> bool {
    match (was, now) {
        (Strategy::Value(was), Strategy::Value(now)) | (Strategy::Opaque(was), Strategy::Opaque(now)) => is_respelt(was, now),
        _ => false,
    }
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
    let key = |at: usize, draws: usize| match at.checked_sub(draws) {
        None => format!("{label}{at}]"),
        Some(at) => format!("part[{at}]"),
    };
    // A value that became one of several that are drawn.
    let holds = |at: usize, value: &str| {
        let (key, value) = (key(at, draws(patch)), squeezed(value));
        let keys =
            patch.iter().find_map(|(name, part)| if let Strategy::Finite(keys) = part { (*name == key).then_some(keys) } else { None });
        keys.is_some_and(|keys| keys.iter().any(|key| squeezed(key) == value))
    };
    let places = Some(()).filter(|()| is_told(base, was) && is_told(patch, now)).and_then(|()| grown(was, now, &holds))?;
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

/// A value without modules, spaces and the parentheses of a tuple that is an index.
fn squeezed(value: &str) -> String {
    without_modules(value).replace(' ', "").replace("[(", "[").replace(")]", "]")
}

fn body(parts: &[Part]) -> Option<&str> {
    parts
        .iter()
        .find(|(key, _)| key == Strategy::BODY)
        .and_then(|(_, part)| if let Strategy::Value(text) = part { Some(text.as_str()) } else { None })
}

/// Where each draw of a body stands in another one, which is the same with more draws that calls are given: by keyword or after all that
/// they were given, as they are or under a name of their own, or with a draw in the place of one of its values.
fn grown(base: &str, patch: &str, holds: &dyn Fn(usize, &str) -> bool) -> Option<BTreeMap<usize, usize>> {
    let (base, patch): (Vec<&str>, Vec<&str>) = (base.split(' ').collect(), patch.split(' ').collect());
    let mut reader = Reader { patch: &patch, known: values(&base), fresh: BTreeMap::new(), draw: draw(&patch).unwrap_or_default() };
    let (mut at, mut now, mut places, mut calls) = (0, 0, BTreeMap::new(), Vec::new());
    let mut ends = BTreeSet::new();
    while now < patch.len() {
        if ends.remove(&now) {
            now += 1;
            continue;
        }
        if let Some((inside, end)) = reader.choice(now, holds) {
            ends.insert(end);
            now = inside;
            continue;
        }
        let in_call = calls.last() == Some(&true) && base.get(at) == Some(&")");
        let added = reader.statement(now).or_else(|| reader.function(now)).or_else(|| if in_call { reader.argument(now) } else { None });
        if let Some(end) = added {
            now = end;
            continue;
        }
        if let Some((hole, length)) = reader.drawn_at(now)
            && let Some((end, was)) = reader.replaced(&base, at, length, hole, holds)
        {
            places.extend(was.map(|was| (was, hole)));
            (at, now) = (end, now + length);
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

/// The words of a body that are no keywords of calls.
fn values<'b>(base: &[&'b str]) -> BTreeSet<&'b str> {
    let is_keyword = |at: usize| at > 0 && matches!(base[at - 1], "(" | ",") && base.get(at + 1) == Some(&"=");
    (0..base.len()).filter(|at| !is_keyword(*at)).map(|at| base[at]).collect()
}

/// How many words stand before the comma, bracket or line that ends a value.
fn value_end(words: &[&str]) -> Option<usize> {
    let mut depth = 0_usize;
    words.iter().position(|word| {
        let closes = matches!(*word, ")" | "]" | "}");
        let is_end = depth == 0 && (closes || matches!(*word, "," | ";"));
        depth = depth.saturating_add(usize::from(matches!(*word, "(" | "[" | "{"))).saturating_sub(usize::from(closes));
        is_end
    })
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

/// Where the block closes that opens there.
fn closing(words: &[&str], open: usize) -> Option<usize> {
    let mut depth = 0_usize;
    (open..words.len()).find(|at| {
        depth = depth.saturating_add(usize::from(words[*at] == "{")).saturating_sub(usize::from(words[*at] == "}"));
        depth == 0
    })
}

/// Reads what the patch adds.
struct Reader<'p> {
    patch: &'p [&'p str],
    /// Words of the base.
    known: BTreeSet<&'p str>,
    /// Names that stand for something drawn and for nothing on the base, and for which draw where that is all.
    fresh: BTreeMap<&'p str, Option<usize>>,
    draw: &'p str,
}

impl Reader<'_> {
    /// Where a statement ends that starts here and gives a new name to something drawn.
    fn statement(&mut self, at: usize) -> Option<usize> {
        let starts = at == 0 || matches!(self.patch[at - 1], ";" | "{" | "}");
        let &[name, "=", ..] = self.patch.get(at..)? else { return None };
        let end = at + self.patch[at..].iter().position(|word| *word == ";")?;
        let is_new = starts && is_name(name) && !self.known.contains(name) && !self.fresh.contains_key(name);
        let whole = self.drawn_at(at + 2).filter(|(_, length)| at + 2 + length == end).map(|(hole, _)| hole);
        (is_new && self.is_drawn(&self.patch[at + 2..end])).then(|| self.fresh.insert(name, whole)).map(|_| end + 1)
    }

    /// Where the `else` of a branch starts and ends that begins here and is taken only where something drawn is true: what stands there
    /// is what was always done.
    fn choice(&self, at: usize, holds: &dyn Fn(usize, &str) -> bool) -> Option<(usize, usize)> {
        let starts = at == 0 || matches!(self.patch[at - 1], ";" | "{" | "}");
        let ["if", rest @ ..] = self.patch.get(at..)? else { return None };
        let colon = rest.iter().position(|word| *word == ":").filter(|_| starts)?;
        let operands = rest[..colon].split(|word| *word == "and");
        let is_tossed = |operand: &[&str]| match operand {
            [draw, "(", place, ")"] if *draw == self.draw => hole(place).is_some_and(|place| holds(place, "False")),
            _ => false,
        };
        let is_plain = |operand: &[&str]| is_tossed(operand) || matches!(operand, [name] if is_name(name));
        if !operands.clone().any(is_tossed) || !operands.clone().all(is_plain) {
            return None;
        }
        let end = closing(self.patch, at + 1 + colon + 2)?;
        let is_other = self.patch.get(end + 1..end + 5) == Some(&["else", ":", ";", "{"]);
        is_other.then(|| (end + 5, closing(self.patch, end + 4).unwrap_or(self.patch.len())))
    }

    /// The draw that stands here, or whose name does, and how many words it takes.
    fn drawn_at(&self, at: usize) -> Option<(usize, usize)> {
        match self.patch.get(at..)? {
            [draw, "(", place, ")", ..] if *draw == self.draw => hole(place).map(|hole| (hole, 4)),
            [name, ..] => self.fresh.get(name).copied().flatten().map(|hole| (hole, 1)),
            [] => None,
        }
    }

    /// Where the base's value ends in whose place a draw stands now, and its own draw where it was one.
    fn replaced(
        &self,
        base: &[&str],
        at: usize,
        length: usize,
        place: usize,
        holds: &dyn Fn(usize, &str) -> bool,
    ) -> Option<(usize, Option<usize>)> {
        let is_value = at.checked_sub(1).is_none_or(|at| matches!(base[at], "=" | "(" | "[" | "," | "return" | ":"));
        match base.get(at..)? {
            [draw, "(", was, ")", ..] if *draw == self.draw => (length == 1).then(|| Some((at + 4, Some(hole(was)?)))).flatten(),
            rest => {
                let end = at + value_end(rest)?;
                (is_value && end > at && holds(place, &base[at..end].join(" "))).then_some((end, None))
            }
        }
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
        let end = at + first + value_end(self.patch.get(at + first..)?)?;
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
        value.iter().any(|word| hole(word).is_some() || self.fresh.contains_key(word))
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
            assert_eq!(grown(base, patch, &|_, _| false).is_some(), wanted, "{patch}");
        }
        let grown_to = "n = draw ( #0 ) ; v = draw ( #1 ) ; return Order ( n , draw ( #2 ) , vip = v )";
        let places = grown(base, grown_to, &|_, _| false).unwrap();
        assert_eq!(places.into_iter().collect::<Vec<_>>(), [(0, 0), (1, 2)]);
    }

    #[test]
    fn what_was_always_done_may_become_what_is_done_where_a_draw_says_no() {
        let base = "for k in keys : ; { n = draw ( #0 ) ; all . append ( n ) ; } return all";
        let holds = |at: usize, value: &str| at == 1 && value == "False";
        let patch = |test: &str, other: &str| {
            format!("for k in keys : ; {{ n = draw ( #0 ) ; if {test} : ; {{ all . append ( None ) ; }} {other} }} return all")
        };
        for (test, other, wanted) in [
            ("draw ( #1 )", "else : ; { all . append ( n ) ; }", true),
            ("total and draw ( #1 )", "else : ; { all . append ( n ) ; }", true),
            ("draw ( #2 )", "else : ; { all . append ( n ) ; }", false),
            ("total or draw ( #1 )", "else : ; { all . append ( n ) ; }", false),
            ("total", "else : ; { all . append ( n ) ; }", false),
            ("draw ( #1 )", "all . append ( 0 ) ;", false),
            ("draw ( #1 )", "else : ; { all . append ( 0 ) ; }", false),
        ] {
            assert_eq!(grown(base, &patch(test, other), &holds).is_some(), wanted, "{test} {other}");
        }
    }

    #[test]
    fn a_value_may_become_a_draw_that_gives_it_too() {
        let base = "n = draw ( #0 ) ; return Order ( n , kind = dict [ str ] )";
        let holds = |at: usize, value: &str| at == 1 && value == "dict [ str ]";
        for (patch, wanted) in [
            ("n = draw ( #0 ) ; return Order ( n , kind = draw ( #1 ) )", true),
            ("n = draw ( #0 ) ; k = draw ( #1 ) ; return Order ( n , kind = k )", true),
            ("n = draw ( #0 ) ; k = f ( draw ( #1 ) ) ; return Order ( n , kind = k )", false),
            ("n = draw ( #0 ) ; return Order ( draw ( #1 ) , kind = dict [ str ] )", false),
            ("n = draw ( #1 ) ; return Order ( n , kind = draw ( #0 ) )", false),
            ("n = draw ( #0 ) ; return Order ( n , draw ( #1 ) )", false),
        ] {
            assert_eq!(grown(base, patch, &holds).is_some(), wanted, "{patch}");
        }
    }
}
