//! Owns whether what a test's checks demand is still demanded, condition by condition.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use crate::finding::Rule;
use crate::strength::card::{Call, Card, Claim};
use crate::strength::cards::CardSet;
use crate::strength::delta::assertions::{Ledger, clipped};
use crate::strength::delta::claims::{self, Demand};
use crate::strength::delta::led::Led;
use crate::strength::delta::names::Names;
use crate::strength::delta::oracle::{Kind, Oracle, holds_part, names, normal};
use crate::strength::delta::renames::Renames;
use crate::strength::delta::weigh::{Weight, weigh};
use crate::strength::delta::{Compared, Loss, flags, guards, tokens};

/// At most this many weakened conditions of one card are told.
const MOST_TOLD: usize = 8;
/// Cards whose unmatched conditions are more than this, one side times the other, are compared by their texts alone.
const MOST_WEIGHED: usize = 1_000_000;

/// What the other fields already say of a card: it need not be said twice.
#[derive(Clone, Copy, Default)]
pub(super) struct Told {
    /// Inputs are lost.
    pub(super) cases: bool,
    /// Assertions are lost.
    pub(super) assertions: bool,
}

/// One condition with where it stands.
struct Spoken {
    demand: Demand,
    text: String,
    line: Option<u32>,
    /// It stands for one row of several.
    is_row: bool,
}

/// Every condition of the base must be held by one of the patch, here or in another test of the change.
pub(super) fn compare(base: &Card, patch: &Card, told: Told, ledger: &mut Ledger<'_>) -> Compared {
    let mut losses = Vec::new();
    if base.claims == patch.claims && base.calls == patch.calls && (base.claims.is_empty() == base.assertions.is_empty()) {
        return Compared::default();
    }
    let (before, after) = (as_told(base, base), as_told(patch, base));
    let sides = ledger.sides();
    let Some(before_all) = spoken(&before, sides.base) else { return Compared::default() };
    let after_all = spoken(&after, sides.patch).unwrap_or_default();
    let used = Used::of(&before, &after);
    let renames = ledger.renames();
    let (code, path) = (ledger.code(), patch.path());
    let known = |name: &str| (code.signature)(name, path);
    let defined = |name: &str| (code.defines)(name, path);
    let names = Names { known_calls: Some(&known), defined: Some(&defined), ..used.names(&before, &after, &renames) };
    let (lost, gained) = unmatched(before_all, &after_all, &before, &after, &names);
    let there = There {
        fresh: gained.iter().map(|s| Oracle::read(&s.text)).collect(),
        all: after_all.iter().map(|s| Oracle::read(&s.text)).collect(),
        names,
    };
    let led = Led::new(code, [base.path(), path], &there.names.own, gained.iter().map(|s| s.text.as_str()).collect());
    // What calls must be given is not known of names that are told otherwise, so no argument may be added here.
    let plain = Names { own: there.names.own.clone(), renames: Some(&renames), ..Names::default() };
    let is_large = lost.len().saturating_mul(gained.len() + after_all.len()) > MOST_WEIGHED;
    // A step that must succeed is a check only where there is no other.
    let is_step = |s: &Spoken| ["succeeds (", "fails ("].iter().any(|word| s.text.starts_with(word));
    let only_steps = base.assertions.is_empty() && base.calls.is_empty();
    for spoken in lost.iter().filter(|s| only_steps || !is_step(s)) {
        for oracle in Oracle::read(&spoken.text).into_iter().filter(|o| o.kind != Kind::Vacuous) {
            let less = match if is_large { None } else { there.best(&oracle) } {
                Some((Weight::Held, _)) => continue,
                Some((Weight::Less(why), (at, place))) => Some((why, &gained[at], &there.fresh[at][place])),
                None => None,
            };
            let excused =
                less.is_none() && (told.assertions || (told.cases && spoken.is_row) || is_passed_on(&oracle, base, patch, sides.patch));
            let is_held = excused || is_read_by_hand(&oracle, &gained) || (!is_large && led.holds(&spoken.text, &plain));
            if !(is_held || ledger.take_condition(base, &spoken.demand)) {
                losses.push(loss(spoken, &oracle, less, patch));
                break;
            }
        }
    }
    losses.extend(calls(base, patch, sides.base, sides.patch, &gained));
    losses.extend(guards::compare(base, patch));
    Compared { losses: first(losses), notes: Vec::new() }
}

/// The first losses, each told once with how often it is there, and how many there are besides.
fn first(losses: Vec<Loss>) -> Vec<Loss> {
    let mut told: Vec<(Loss, usize)> = Vec::new();
    let mut places: HashMap<(Rule, String), usize> = HashMap::new();
    for loss in losses {
        let place = *places.entry((loss.rule, loss.says.clone())).or_insert(told.len());
        match told.get_mut(place) {
            Some((_, count)) => *count += 1,
            None => told.push((loss, 1)),
        }
    }
    let beyond = told.len().saturating_sub(MOST_TOLD);
    let often = |(mut loss, count): (Loss, usize)| {
        if count > 1 {
            loss.says = format!("{}, {count} times", loss.says);
        }
        loss
    };
    let mut losses: Vec<Loss> = told.into_iter().take(MOST_TOLD).map(often).collect();
    if let Some(last) = losses.last_mut().filter(|_| beyond > 0) {
        last.says = format!("{}, and {beyond} more", last.says);
    }
    losses
}

/// A card whose language does not tell its claims says its assertions' texts.
fn as_told(card: &Card, base: &Card) -> Card {
    let mut told = card.clone();
    if base.claims.is_empty() && base.calls.is_empty() && !base.assertions.is_empty() {
        let texts = card.assertions.iter().enumerate();
        let claim = |(assertion, a): (usize, &crate::strength::card::Assertion)| Claim {
            text: a.text.strip_prefix("assert ").unwrap_or(&a.text).to_owned(),
            setup: Vec::new(),
            assertion,
        };
        told.claims = texts.map(claim).collect();
    }
    told
}

fn spoken(card: &Card, side: &CardSet) -> Option<Vec<Spoken>> {
    let line = |at: Option<usize>| at.and_then(|at| card.assertions.get(at)).map(|a| a.line);
    let all = claims::written_of_card(card, side)?.into_iter();
    Some(all.map(|(demand, at)| Spoken { text: normal(demand.text()), line: line(at), demand, is_row: false }).collect())
}

/// What is left of the base's conditions, and of the patch's, when equal ones are set against each other: first as they are written, then row by row.
fn unmatched(base: Vec<Spoken>, patch: &[Spoken], before: &Card, after: &Card, names: &Names<'_>) -> (Vec<Spoken>, Vec<Spoken>) {
    let mut there: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (at, spoken) in patch.iter().enumerate().rev() {
        there.entry(&spoken.text).or_default().push(at);
    }
    let mut used = BTreeSet::new();
    let mut take = |text: &str| there.get_mut(text).and_then(Vec::pop).is_some_and(|at| used.insert(at));
    let lost: Vec<Spoken> = base.into_iter().filter(|s| !take(&s.text)).collect();
    let gained: Vec<&Spoken> = patch.iter().enumerate().filter(|(at, _)| !used.contains(at)).map(|(_, s)| s).collect();
    let lost = as_written(lost, &gained, names);
    let (lost, gained) = (in_rows(&lost.iter().collect::<Vec<_>>(), before), in_rows(&gained, after));
    cancelled(lost, gained)
}

/// The base's conditions that none of the patch's holds as both are written: what holds for the names holds for each row of them.
fn as_written(lost: Vec<Spoken>, gained: &[&Spoken], names: &Names<'_>) -> Vec<Spoken> {
    if lost.len().saturating_mul(gained.len()) > MOST_WEIGHED / 8 {
        return lost;
    }
    let fresh: Vec<Vec<Oracle>> = gained.iter().map(|spoken| Oracle::read(&spoken.text)).collect();
    let holds = |oracle: &Oracle| fresh.iter().flatten().any(|patch| weigh(oracle, patch, names) == Some(Weight::Held));
    lost.into_iter().filter(|spoken| !Oracle::read(&spoken.text).iter().all(holds)).collect()
}

/// Both lists without the texts that stand in both, each as often as it stands in both.
fn cancelled(lost: Vec<Spoken>, gained: Vec<Spoken>) -> (Vec<Spoken>, Vec<Spoken>) {
    let mut there: BTreeMap<String, usize> = BTreeMap::new();
    for spoken in &gained {
        *there.entry(spoken.text.clone()).or_default() += 1;
    }
    let mut both: BTreeMap<String, usize> = BTreeMap::new();
    let take = |from: &mut BTreeMap<String, usize>, text: &str| {
        let left = from.get_mut(text).filter(|left| **left > 0);
        left.map(|left| *left -= 1).is_some()
    };
    let mut rest = Vec::with_capacity(lost.len());
    for spoken in lost {
        if take(&mut there, &spoken.text) {
            *both.entry(spoken.text).or_default() += 1;
        } else {
            rest.push(spoken);
        }
    }
    let fresh = gained.into_iter().filter(|spoken| !take(&mut both, &spoken.text)).collect();
    (rest, fresh)
}

fn in_rows(spoken: &[&Spoken], card: &Card) -> Vec<Spoken> {
    let rows = claims::rows_of_card(spoken.iter().map(|s| &s.demand), card);
    let each = spoken.iter().zip(rows).flat_map(|(s, rows)| {
        let is_row = rows.len() > 1;
        rows.into_iter().map(move |demand| Spoken { text: normal(demand.text()), line: s.line, demand, is_row })
    });
    each.collect()
}

/// Names of one side that the other does not use at all.
struct Used {
    before: BTreeSet<String>,
    after: BTreeSet<String>,
}

impl Used {
    fn of(before: &Card, after: &Card) -> Self {
        let of = |card: &Card| card.claims.iter().flat_map(|c| names(&c.text).into_iter().map(str::to_owned).collect::<Vec<_>>()).collect();
        Used { before: of(before), after: of(after) }
    }

    fn names<'n>(&'n self, before: &'n Card, after: &'n Card, renames: &'n Renames) -> Names<'n> {
        Names {
            went: self.before.difference(&self.after).map(String::as_str).collect(),
            came: self.after.difference(&self.before).map(String::as_str).collect(),
            own: before.parameters.iter().chain(&after.parameters).map(String::as_str).chain(["self", "cls"]).collect(),
            both_ways: flags::both_ways(after),
            renames: Some(renames),
            ..Names::default()
        }
    }
}

/// What the patch demands: what is new, and all of it.
struct There<'n> {
    fresh: Vec<Vec<Oracle>>,
    all: Vec<Vec<Oracle>>,
    names: Names<'n>,
}

impl There<'_> {
    /// The condition that says most of this one: of those that are new, or of all where it says more by its kind.
    fn best(&self, oracle: &Oracle) -> Option<(Weight, (usize, usize))> {
        let mut found = None;
        for (at, read) in self.fresh.iter().enumerate() {
            for (place, patch) in read.iter().enumerate() {
                match weigh(oracle, patch, &self.names) {
                    Some(Weight::Held) => return Some((Weight::Held, (at, place))),
                    Some(less) if found.is_none() => found = Some((less, (at, place))),
                    _ => {}
                }
            }
        }
        let mut stronger = self.all.iter().flatten().filter(|p| p.kind > oracle.kind && p.kind != Kind::Raises);
        let held = stronger.any(|p| weigh(oracle, p, &self.names) == Some(Weight::Held));
        if held { Some((Weight::Held, (0, 0))) } else { found }
    }
}

/// A message that is no longer matched but read from the exception that was caught.
fn is_read_by_hand(oracle: &Oracle, gained: &[Spoken]) -> bool {
    let reads = |s: &Spoken| [". value", ". exception", ". match (", ". args"].iter().any(|part| s.text.contains(part));
    oracle.kind == Kind::Raises && oracle.pattern.is_some() && gained.iter().any(reads)
}

/// The subject is passed to a check helper that the change does not touch.
fn is_passed_on(oracle: &Oracle, base: &Card, patch: &Card, side: &CardSet) -> bool {
    let fresh = patch.calls.iter().filter(|call| side.get(&call.callee).is_none() && !base.calls.contains(call));
    fresh.flat_map(|call| call.arguments.values()).any(|passed| normal(passed) == oracle.subject)
}

/// Check helpers outside the change that the base called more often.
fn calls(base: &Card, patch: &Card, before: &CardSet, after: &CardSet, gained: &[Spoken]) -> Vec<Loss> {
    let told = |call: &Call| {
        let passed: Vec<String> = call.arguments.iter().map(|(name, value)| format!("{name}={}", normal(value))).collect();
        format!("{}({})", call.callee.0.rsplit("::").next().unwrap_or_default(), passed.join(", "))
    };
    let mut there: Vec<&Call> = patch.calls.iter().collect();
    let outside = base.calls.iter().filter(|call| before.get(&call.callee).is_none());
    let mut lost: Vec<&Call> = Vec::new();
    for call in outside {
        match there.iter().position(|other| other.callee == call.callee && told(other) == told(call)) {
            Some(at) => drop(there.swap_remove(at)),
            None => lost.push(call),
        }
    }
    let mut losses = Vec::new();
    for call in lost {
        let again = there.iter().position(|other| other.callee == call.callee).map(|at| there.swap_remove(at));
        let changed = again.filter(|other| is_other_value(call, other));
        let passed =
            |spoken: &Spoken| call.arguments.values().any(|value| holds_part(&spoken.text, &normal(value)) && !is_weak(&spoken.text));
        let moved = |other: &&Call| {
            after.get(&other.callee).is_none()
                && other.callee != call.callee
                && other.arguments.values().any(|v| call.arguments.values().any(|w| v == w))
        };
        let elsewhere = there.iter().any(moved) || gained.iter().any(passed);
        if changed.is_none() && (again.is_some() || elsewhere) {
            continue;
        }
        let now = changed.map_or_else(|| "not called".to_owned(), |other| format!("\"{}\"", clipped(&told(other))));
        losses.push(Loss {
            rule: Rule::OracleWeakened,
            says: format!("oracle: \"{}\" -> {now}", clipped(&told(call))),
            line: Some(patch.line),
        });
    }
    losses
}

fn is_weak(text: &str) -> bool {
    Oracle::read(text).iter().all(|o| o.kind < Kind::Bound)
}

fn is_other_value(call: &Call, other: &Call) -> bool {
    let differ: Vec<(&String, &String)> = call
        .arguments
        .iter()
        .filter_map(|(name, value)| Some((value, other.arguments.get(name)?)))
        .filter(|(a, b)| normal(a) != normal(b))
        .collect();
    !differ.is_empty() && differ.iter().all(|(a, b)| crate::strength::delta::oracle::is_literal_change(&normal(a), &normal(b)))
}

fn loss(spoken: &Spoken, oracle: &Oracle, counterpart: Option<(&str, &Spoken, &Oracle)>, patch: &Card) -> Loss {
    let was = clipped(&readable(&spoken.text));
    let (says, line) = match counterpart {
        Some((why, now, weaker)) => {
            let kinds =
                if oracle.kind == weaker.kind { why.to_owned() } else { format!("{} -> {}", oracle.kind.word(), weaker.kind.word()) };
            (format!("oracle: \"{was}\" -> \"{}\" ({kinds})", clipped(&readable(&now.text))), now.line)
        }
        None => (format!("oracle: \"{was}\" is demanded no more ({})", oracle.kind.word()), None),
    };
    Loss { rule: Rule::OracleWeakened, says, line: line.or(Some(patch.line)) }
}

/// Words that keep a space before a bracket.
const WORDS: [&str; 13] = ["in", "not", "and", "or", "is", "if", "else", "for", "lambda", "with", "return", "await", "yield"];

/// Tokens put together again as people write them.
fn readable(text: &str) -> String {
    let mut told = String::with_capacity(text.len());
    let mut last = "";
    for token in tokens::cut(text) {
        let is_name = last.ends_with(|c: char| c.is_alphanumeric() || matches!(c, '_' | ')' | ']')) && !WORDS.contains(&last);
        let tight = matches!(token, ")" | "]" | "}" | "," | "." | ":" | "=") || (matches!(token, "(" | "[") && is_name);
        if !(told.is_empty() || tight || matches!(last, "(" | "[" | "{" | "." | "=")) {
            told.push(' ');
        }
        told.push_str(token);
        last = token;
    }
    told
}
