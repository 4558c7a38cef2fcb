//! Owns what a card provably demands: its claims, one for each row, with those of the helpers it calls.

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};

use crate::digest;
use crate::strength::card::{Call, Card, Claim};
use crate::strength::cards::CardSet;
use crate::strength::delta::tokens;
use crate::strength::domain::Table;

/// How deep helpers that call helpers are followed.
const DEPTH: usize = 3;
/// A claim with more rows than this stays as it is written, together with its tables.
const MOST_ROWS: usize = 512;
/// A card with more demands than this is not told at all: what it lost counts as lost.
const MOST_DEMANDS: usize = 50_000;

/// A claim that stands for itself: two that are equal demand the same, wherever they stand.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Demand {
    text: String,
    setup: Vec<String>,
}

/// What is rendered of a card with more claims times tables than this: nothing.
const MOST_PAIRS: usize = 5_000_000;

/// Demands, each as often as it is made.
pub(super) type Demands = BTreeMap<Demand, usize>;

/// What each assertion of a card demands itself, by position; empty where the language does not tell.
pub(super) fn of_assertions(card: &Card) -> Vec<Vec<Demand>> {
    let mut demands = vec![Vec::new(); card.assertions.len()];
    if is_too_large(card) {
        return demands;
    }
    let tables = Tables::of(card);
    let mut told = 0;
    for claim in &card.claims {
        let Some(of_one) = demands.get_mut(claim.assertion) else { continue };
        let all = rows(&written(claim), &tables);
        told += all.len();
        if told <= MOST_DEMANDS {
            of_one.extend(all);
        }
    }
    demands
}

/// Everything that a card demands, helpers of the same side included; nothing when it is too much to tell.
pub(super) fn of_card(card: &Card, side: &CardSet) -> Option<Demands> {
    let mut demands = Demands::new();
    for demand in within(card, side, DEPTH)? {
        *demands.entry(demand).or_default() += 1;
    }
    Some(demands)
}

/// The demand as it can be looked for in another test: with what its free names stand for. What is drawn must be drawn from the same
/// strategy; fixtures, and names that a file defines itself, mean the same only in the same file, the instance only in the same class.
/// `home` is the test that is looked in or for: a test that moved is told by its new place on both sides, so that moving gains nothing.
pub(super) fn placed(mut demand: Demand, card: &Card, home: &Card) -> Demand {
    let mut marks = Vec::new();
    let (names, _) = free_names(&demand);
    for argument in card.domain.arguments.iter().filter(|argument| names.contains(argument.name.as_str())) {
        marks.push(format!("{} is {}", argument.name, serde_json::to_string(&argument.strategy).unwrap_or_default()));
    }
    if card.parameters.iter().any(|name| names.contains(name.as_str())) || names_of_file(&demand) {
        marks.push(format!("in {}", home.path()));
        marks.extend(card.domain.unread.iter().cloned());
    }
    if names.contains("self") || names.contains("cls") {
        marks.push(format!("in {}::{}", home.path(), home.class()));
    }
    demand.setup.append(&mut marks);
    demand
}

/// Whether a name stands in it that is neither the root of a dotted one (an import is told in full) nor the language's own.
fn names_of_file(demand: &Demand) -> bool {
    std::iter::once(&demand.text).chain(&demand.setup).any(|text| {
        let cut = tokens::cut(text);
        (0..cut.len()).any(|at| tokens::is_name(cut[at]) && tokens::is_free(&cut, at) && cut.get(at + 1) != Some(&"."))
    })
}

/// Takes one demand out, if it is there.
pub(super) fn take(demands: &mut Demands, demand: &Demand) -> bool {
    let there = demands.contains_key(demand);
    take_times(demands, demand, 1);
    there
}

/// Takes a demand out so many times, or as often as it is there.
pub(super) fn take_times(demands: &mut Demands, demand: &Demand, times: usize) {
    let Some(there) = demands.get_mut(demand) else { return };
    *there = there.saturating_sub(times);
    if *there == 0 {
        demands.remove(demand);
    }
}

fn is_too_large(card: &Card) -> bool {
    card.claims.len().saturating_mul(card.domain.tables.len()) > MOST_PAIRS
}

/// What a card demands as it is written, without its rows: of its own claims with their assertion, of helpers without.
pub(super) fn written_of_card(card: &Card, side: &CardSet) -> Option<Vec<(Demand, Option<usize>)>> {
    let mut all: Vec<(Demand, Option<usize>)> = card.claims.iter().map(|claim| (written(claim), Some(claim.assertion))).collect();
    for call in &card.calls {
        all.extend(through(call, side, DEPTH - 1)?.into_iter().map(|demand| (demand, None)));
        if all.len() > MOST_DEMANDS {
            return None;
        }
    }
    (!is_too_large(card)).then_some(all)
}

/// A written demand, one for each row of the card's tables.
pub(super) fn rows_of_card<'d>(demands: impl Iterator<Item = &'d Demand>, card: &Card) -> Vec<Vec<Demand>> {
    let tables = Tables::of(card);
    let mut left = MOST_DEMANDS;
    let each = demands.map(|demand| {
        let all = if left == 0 { vec![demand.clone()] } else { rows(demand, &tables) };
        left = left.saturating_sub(all.len());
        all
    });
    each.collect()
}

impl Demand {
    /// The condition alone.
    pub(super) fn text(&self) -> &str {
        &self.text
    }
}

fn within(card: &Card, side: &CardSet, depth: usize) -> Option<Vec<Demand>> {
    let mut all = Vec::new();
    if is_too_large(card) {
        return None;
    }
    let tables = Tables::of(card);
    let mut tell = |demand: &Demand| {
        all.extend(rows(demand, &tables));
        (all.len() <= MOST_DEMANDS).then_some(())
    };
    for claim in &card.claims {
        tell(&written(claim))?;
    }
    for call in card.calls.iter().filter(|_| depth > 0) {
        for demand in through(call, side, depth - 1)? {
            tell(&demand)?;
        }
    }
    Some(all)
}

/// The demands of a called helper, told with what the caller passes.
fn through(call: &Call, side: &CardSet, depth: usize) -> Option<Vec<Demand>> {
    let Some(helper) = side.get(&call.callee) else { return Some(Vec::new()) };
    let values: BTreeMap<&str, &str> = call.arguments.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    let told = within(helper, side, depth)?.into_iter().map(|demand| {
        let mut told = replace(&demand, &values);
        told.setup.splice(0..0, call.setup.iter().map(|line| tokens::cut(line).join(" ")));
        told
    });
    Some(told.collect())
}

fn written(claim: &Claim) -> Demand {
    let plain = |text: &str| tokens::cut(text).join(" ");
    Demand { text: plain(&claim.text), setup: claim.setup.iter().map(|line| plain(line)).collect() }
}

fn replace(demand: &Demand, values: &BTreeMap<&str, &str>) -> Demand {
    let told = |text: &String| tokens::replace(&tokens::cut(text), values).join(" ");
    Demand { text: told(&demand.text), setup: demand.setup.iter().map(told).collect() }
}

/// The tables of a card, and a word for all of them that is made at most once.
struct Tables<'c> {
    all: &'c [Table],
    word: OnceCell<String>,
}

impl<'c> Tables<'c> {
    fn of(card: &'c Card) -> Self {
        Tables { all: &card.domain.tables, word: OnceCell::new() }
    }

    /// Equal words mean equal tables.
    fn word(&self) -> &str {
        self.word.get_or_init(|| digest::sha256_hex(&serde_json::to_vec(self.all).unwrap_or_default()))
    }
}

/// One demand for each row of the tables that give its names their values.
fn rows(demand: &Demand, tables: &Tables<'_>) -> Vec<Demand> {
    let (names, hidden) = free_names(demand);
    let gives = |table: &&Table| table.rows.is_empty() || table.names.iter().any(|name| names.contains(name.as_str()));
    let used: Vec<&Table> = tables.all.iter().filter(gives).collect();
    if used.is_empty() && (tables.all.is_empty() || !hidden) {
        return vec![demand.clone()];
    }
    let count = used.iter().fold(1_usize, |count, table| count.saturating_mul(table.rows.len()));
    let each = !hidden && (1..=MOST_ROWS).contains(&count);
    let mut all = if each { vec![demand.clone()] } else { Vec::new() };
    for table in used.iter().filter(|_| each) {
        all = all.iter().flat_map(|demand| table.rows.iter().map(|row| with_row(demand, table, row))).collect();
    }
    if !each || used.iter().any(|table| !table.rest.is_empty()) {
        let mut general = demand.clone();
        general.setup.push(format!("for every row of {}", tables.word()));
        all.push(general);
    }
    all
}

/// The names that a row's value could take the place of, and whether a string hides more of them inside.
fn free_names(demand: &Demand) -> (BTreeSet<&str>, bool) {
    let mut names = BTreeSet::new();
    let mut hidden = false;
    for text in std::iter::once(&demand.text).chain(&demand.setup) {
        let cut = tokens::cut(text);
        names.extend((0..cut.len()).filter(|at| tokens::is_free(&cut, *at)).map(|at| cut[at]));
        hidden |= cut.iter().any(|token| tokens::is_template(token));
    }
    (names, hidden)
}

fn with_row(demand: &Demand, table: &Table, row: &[String]) -> Demand {
    let values = table.names.iter().zip(row).map(|(name, value)| (name.as_str(), value.as_str())).collect();
    replace(demand, &values)
}
