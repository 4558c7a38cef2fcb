//! Owns which way a domain moves: what the base admits and the patch does not.

use std::collections::{BTreeMap, BTreeSet};

use num_bigint::BigInt;

use crate::finding::Rule;
use crate::strength::domain::called::call;
use crate::strength::domain::moved::{is_same, without_modules};
use crate::strength::domain::strategy::{Strategy, decimal, holds, short};
use crate::strength::domain::{Argument, Domain, Origin, Table};

/// One way in which a domain got narrower.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DomainLoss {
    /// `case_removed`, `bound_narrowed` or `domain_unreadable`.
    pub rule: Rule,
    /// One line for a person.
    pub says: String,
}

/// Rows that a product of tables is expanded to at most.
const PRODUCT_CAP: usize = 100_000;
/// Fresh rows of equal names that one lost row is compared with at most.
const MATCH_CAP: usize = 64;
/// Values of an interval that are looked up one by one at most.
const SPREAD_CAP: u64 = 10_000;

impl Domain {
    /// What this domain, the base's, admits and `patch` does not. Empty when the patch holds every input of the base.
    pub fn losses(&self, patch: &Domain) -> Vec<DomainLoss> {
        // Most domains of a changed file did not change, and to see that takes no set of rows.
        if self == patch {
            return Vec::new();
        }
        let mut losses = self.table_losses(patch);
        losses.extend(self.argument_losses(patch));
        for text in self.unread.difference(&patch.unread) {
            losses.push(unreadable(format!("the domain came from `{}` and that text is gone", short(text))));
        }
        if patch.is_empty() && !self.is_empty() {
            losses.push(DomainLoss { rule: Rule::CaseRemoved, says: "nothing is left to run: a list of the domain is empty".to_owned() });
        }
        if !self.unread.is_empty() && !patch.unread.is_subset(&self.unread) && losses.is_empty() {
            losses.push(unreadable("part of the domain is given by new text that cannot be read".to_owned()));
        }
        losses
    }

    /// Whether a list that everything is multiplied with has nothing in it.
    fn is_empty(&self) -> bool {
        let table = |t: &Table| t.origin != Origin::Loop && t.rows.is_empty() && t.rest.is_empty();
        let argument = |a: &Argument| matches!(&a.strategy, Strategy::Finite(keys) if keys.is_empty());
        self.tables.iter().any(table) || self.arguments.iter().any(argument)
    }

    fn table_losses(&self, patch: &Domain) -> Vec<DomainLoss> {
        let mut losses = Vec::new();
        let mut shared: BTreeMap<usize, Vec<&Table>> = BTreeMap::new();
        let mut taken = BTreeSet::new();
        for table in &self.tables {
            match seat(table, &patch.tables, &taken) {
                Some((at, columns)) => {
                    taken.insert(at);
                    losses.extend(rows_lost(table, &patch.tables[at], &columns));
                    shared.entry(at).or_default().push(table);
                }
                None => losses.extend(drawn_instead(table, patch)),
            }
        }
        for (at, tables) in shared.iter().filter(|(_, tables)| tables.len() > 1) {
            losses.extend(product_lost(tables, &patch.tables[*at]));
        }
        losses
    }

    fn argument_losses(&self, patch: &Domain) -> Vec<DomainLoss> {
        let pairs = pair(&self.arguments, &patch.arguments);
        let mut losses = Vec::new();
        for (base, partner) in self.arguments.iter().zip(pairs) {
            let now = partner.map(|at| patch.arguments[at].strategy.clone()).or_else(|| column(patch, &base.name));
            let Some(now) = now else {
                losses.push(DomainLoss {
                    rule: Rule::BoundNarrowed,
                    says: format!("argument {} removed (was {})", base.name, shown(&base.strategy)),
                });
                continue;
            };
            if let Some(rule) = narrowing(&base.strategy, &now) {
                losses.push(DomainLoss { rule, says: moved(&base.name, &base.strategy, &now) });
            }
        }
        losses
    }
}

fn unreadable(says: String) -> DomainLoss {
    DomainLoss { rule: Rule::DomainUnreadable, says }
}

fn shown(strategy: &Strategy) -> String {
    short(&strategy.to_string())
}

fn moved(name: &str, base: &Strategy, patch: &Strategy) -> String {
    if let (Strategy::Integers { low, high }, Strategy::Integers { low: new_low, high: new_high }) = (base, patch) {
        let end = |n: &Option<BigInt>| n.as_ref().map_or_else(String::new, |n| short(&decimal(n)));
        return format!("{name}: {}..{} -> {}..{}", end(low), end(high), end(new_low), end(new_high));
    }
    let (was, is) = (shown(base), shown(patch));
    if was == is { format!("{name}: the definition behind {was} changed") } else { format!("{name}: {was} -> {is}") }
}

/// The patch's table that stands for a base table, and which of its columns to read: same names first, then a table with
/// more names, then one of the same width that holds the rows, then the next of the same width.
fn seat(table: &Table, all: &[Table], taken: &BTreeSet<usize>) -> Option<(usize, Vec<usize>)> {
    let by_name = |t: &Table| table.names.iter().map(|name| t.names.iter().position(|n| n == name)).collect::<Option<Vec<usize>>>();
    let in_order: Vec<usize> = (0..table.names.len()).collect();
    let wide = |t: &Table| t.names.len() == table.names.len();
    let holds = |t: &Table, columns: &[usize]| table.rows.is_subset(&project(t, columns)) && table.rest.is_subset(&t.rest);
    let named: Vec<(usize, Vec<usize>)> = all.iter().enumerate().filter_map(|(at, t)| Some((at, by_name(t)?))).collect();
    let best = named.iter().find(|(at, columns)| wide(&all[*at]) && holds(&all[*at], columns));
    let best = best.or_else(|| named.iter().find(|(at, _)| wide(&all[*at]) && !taken.contains(at)));
    if let Some(best) = best.or_else(|| named.first()) {
        return Some(best.clone());
    }
    let free = || all.iter().enumerate().filter(|(at, t)| wide(t) && !taken.contains(at));
    let at = free().find(|(_, t)| holds(t, &in_order)).or_else(|| free().next())?.0;
    Some((at, in_order))
}

fn project(table: &Table, columns: &[usize]) -> BTreeSet<Vec<String>> {
    table.rows.iter().map(|row| columns.iter().filter_map(|at| row.get(*at).cloned()).collect()).collect()
}

fn rows_lost(base: &Table, patch: &Table, columns: &[usize]) -> Vec<DomainLoss> {
    let kept = project(patch, columns);
    let ranges: Vec<Range> = patch.rest.iter().filter_map(|text| Range::read(text)).collect();
    let in_range = |row: &Vec<String>| matches!(row.as_slice(), [one] if one.parse().is_ok_and(|n| ranges.iter().any(|r| r.holds(n))));
    let lost = base.rows.difference(&kept).filter(|row| !in_range(row)).collect();
    let lost = unmoved(lost, &kept.difference(&base.rows).collect::<Vec<_>>());
    let mut losses = Vec::new();
    if !lost.is_empty() {
        let fresh_text = patch.rest.difference(&base.rest).any(|text| Range::read(text).is_none());
        losses.push(cases_lost(base, &lost, fresh_text));
    }
    for text in base.rest.difference(&patch.rest) {
        let was = Range::read(text);
        if was.as_ref().is_some_and(|was| ranges.iter().any(|r| r.covers(was))) {
            continue;
        }
        let now = patch.rest.difference(&base.rest).next().map_or("rows".to_owned(), |new| format!("`{}`", short(new)));
        let names = base.names.join(", ");
        losses.push(if was.is_some() {
            DomainLoss { rule: Rule::CaseRemoved, says: format!("cases lost: {names} in {text}, now {now}") }
        } else {
            unreadable(format!("cases of {names} came from `{}`, now from {now}", short(text)))
        });
    }
    losses
}

/// The lost rows that no fresh row is, told by the modules of its names alone; a fresh row stands for one lost one.
fn unmoved<'r>(lost: Vec<&'r Vec<String>>, fresh: &[&Vec<String>]) -> Vec<&'r Vec<String>> {
    let bare = |row: &Vec<String>| row.iter().map(|cell| without_modules(cell)).collect::<Vec<_>>();
    let mut by_name: BTreeMap<Vec<String>, Vec<&Vec<String>>> = BTreeMap::new();
    for row in fresh.iter().filter(|_| !lost.is_empty()) {
        by_name.entry(bare(row)).or_default().push(row);
    }
    let same = |one: &Vec<String>, other: &Vec<String>| one.len() == other.len() && one.iter().zip(other).all(|(a, b)| is_same(a, b));
    let mut stays = |row: &&'r Vec<String>| {
        let Some(there) = by_name.get_mut(&bare(row)) else { return true };
        there.iter().take(MATCH_CAP).position(|other| same(row, other)).map(|at| there.swap_remove(at)).is_none()
    };
    lost.into_iter().filter(|row| stays(row)).collect()
}

/// Whether every value is among the kept ones, whatever module its names are imported from.
fn is_kept(keys: &BTreeSet<String>, kept: &BTreeSet<String>) -> bool {
    let one = |key: &String| vec![key.clone()];
    let lost: Vec<Vec<String>> = keys.difference(kept).map(one).collect();
    let fresh: Vec<Vec<String>> = kept.difference(keys).map(one).collect();
    lost.is_empty() || unmoved(lost.iter().collect(), &fresh.iter().collect::<Vec<_>>()).is_empty()
}

/// A range too long to be spread into rows, as it is written among the parts that are no rows: `range(first, end, step)`.
struct Range {
    first: i64,
    end: i64,
    step: i64,
}

impl Range {
    fn read(text: &str) -> Option<Self> {
        let parts: Option<Vec<i64>> = text.strip_prefix("range(")?.strip_suffix(')')?.split(", ").map(|n| n.parse().ok()).collect();
        match *parts?.as_slice() {
            [first, end, step] if step != 0 => Some(Range { first, end, step }),
            _ => None,
        }
    }

    fn holds(&self, n: i64) -> bool {
        let within = if self.step > 0 { (self.first..self.end).contains(&n) } else { n <= self.first && n > self.end };
        within && n.abs_diff(self.first).is_multiple_of(self.step.unsigned_abs())
    }

    /// Whether every number of another range is one of this.
    fn covers(&self, other: &Range) -> bool {
        let last = other.first.saturating_add(
            (other.end.abs_diff(other.first).saturating_sub(1) / other.step.unsigned_abs())
                .try_into()
                .unwrap_or(i64::MAX)
                .saturating_mul(other.step),
        );
        self.holds(other.first) && self.holds(last) && other.step.unsigned_abs().is_multiple_of(self.step.unsigned_abs())
    }
}

fn cases_lost(base: &Table, lost: &[&Vec<String>], fresh_text: bool) -> DomainLoss {
    let shown: Vec<String> = lost.iter().take(5).map(|row| short(&base.named(row))).collect();
    let more = if lost.len() > 5 { format!(" and {} more", lost.len() - 5) } else { String::new() };
    let inputs = format!("{}{more}", shown.join("; "));
    if fresh_text {
        return unreadable(format!("cases may be lost, the list now has a part that cannot be read: {inputs}"));
    }
    DomainLoss { rule: Rule::CaseRemoved, says: format!("cases lost: {inputs}") }
}

/// No table stands for it: its rows must be among what the arguments draw.
fn drawn_instead(base: &Table, patch: &Domain) -> Vec<DomainLoss> {
    let strategies: Option<Vec<&Strategy>> =
        base.names.iter().map(|name| patch.arguments.iter().find(|a| a.name == *name).map(|a| &a.strategy)).collect();
    let strategies = strategies.unwrap_or_default();
    let drawn = |row: &&Vec<String>| {
        strategies.len() == row.len()
            && row.iter().zip(&strategies).all(|(key, s)| narrowing(&Strategy::Finite(BTreeSet::from([key.clone()])), s).is_none())
    };
    let lost: Vec<&Vec<String>> = base.rows.iter().filter(|row| !drawn(row)).collect();
    let mut losses = Vec::new();
    if !lost.is_empty() {
        losses.push(cases_lost(base, &lost, false));
    }
    losses.extend(base.rest.iter().map(|text| unreadable(format!("cases of {} came from `{}`", base.names.join(", "), short(text)))));
    losses
}

/// Several base tables became one: it must hold their product, not only each table's rows.
fn product_lost(tables: &[&Table], patch: &Table) -> Option<DomainLoss> {
    let names: Vec<&String> = tables.iter().flat_map(|t| &t.names).collect();
    let columns: Vec<usize> = names.iter().filter_map(|name| patch.names.iter().position(|n| n == *name)).collect();
    let distinct: BTreeSet<&usize> = columns.iter().collect();
    if columns.len() != names.len() || distinct.len() != names.len() {
        return None;
    }
    let kept = project(patch, &columns);
    let total = tables.iter().try_fold(1usize, |n, t| n.checked_mul(t.rows.len())).filter(|n| *n <= PRODUCT_CAP && *n <= kept.len());
    (total.is_none() || !product(tables).iter().all(|row| kept.contains(row))).then(|| DomainLoss {
        rule: Rule::CaseRemoved,
        says: format!("combinations of {} lost", names.iter().map(|n| n.as_str()).collect::<Vec<_>>().join(", ")),
    })
}

fn product(tables: &[&Table]) -> Vec<Vec<String>> {
    tables.iter().fold(vec![Vec::new()], |all, table| {
        all.iter().flat_map(|head: &Vec<String>| table.rows.iter().map(move |row| head.iter().chain(row).cloned().collect())).collect()
    })
}

/// What a table gives to one argument, as a set of values.
fn column(patch: &Domain, name: &str) -> Option<Strategy> {
    let table = patch.tables.iter().find(|t| t.names.iter().any(|n| n == name))?;
    let at = table.names.iter().position(|n| n == name)?;
    Some(Strategy::Finite(table.rows.iter().filter_map(|row| row.get(at).cloned()).collect()))
}

/// For each base argument the index of its partner: the same name, else the next free one in order; draws in a body are
/// matched in order, so that a new draw between old ones moves nothing.
fn pair(base: &[Argument], patch: &[Argument]) -> Vec<Option<usize>> {
    let is_draw = |a: &Argument| a.name.contains("draw[");
    let mut free: BTreeSet<usize> = (0..patch.len()).collect();
    let mut pairs: Vec<Option<usize>> = vec![None; base.len()];
    for (at, argument) in base.iter().enumerate().filter(|(_, a)| !is_draw(a)) {
        pairs[at] = patch.iter().position(|p| p.name == argument.name);
        pairs[at].map(|p| free.remove(&p));
    }
    let mut from = 0;
    for (at, argument) in base.iter().enumerate().filter(|(_, a)| is_draw(a)) {
        let mut draws = free.iter().copied().filter(|p| *p >= from && is_draw(&patch[*p]));
        pairs[at] = draws.find(|p| narrowing(&argument.strategy, &patch[*p].strategy).is_none());
        if let Some(p) = pairs[at] {
            free.remove(&p);
            from = p + 1;
        }
    }
    for at in 0..base.len() {
        if pairs[at].is_none() {
            pairs[at] = free.iter().copied().find(|p| is_draw(&base[at]) == is_draw(&patch[*p]));
            pairs[at].map(|p| free.remove(&p));
        }
    }
    pairs
}

/// Each base argument with the one that stands for it in the patch.
pub(super) fn partners<'d>(base: &'d [Argument], patch: &'d [Argument]) -> Vec<(&'d Argument, Option<&'d Argument>)> {
    base.iter().zip(pair(base, patch)).map(|(argument, at)| (argument, at.and_then(|at| patch.get(at)))).collect()
}

/// The rule that going from `base` to `patch` breaks; `None` when the patch admits all that the base does.
pub(super) fn narrowing(base: &Strategy, patch: &Strategy) -> Option<Rule> {
    if base == patch {
        return None;
    }
    match (base, patch) {
        (Strategy::Finite(keys), _) if keys.is_empty() => None,
        (Strategy::OneOf(parts), _) => parts.iter().find_map(|part| narrowing(part, patch)),
        (_, Strategy::OneOf(parts)) => any_holds(base, parts),
        (Strategy::Integers { low, high }, Strategy::Integers { low: new_low, high: new_high }) => {
            let low_kept = new_low.is_none() || low.as_ref().is_some_and(|low| Some(low) >= new_low.as_ref());
            let high_kept = new_high.is_none() || high.as_ref().is_some_and(|high| Some(high) <= new_high.as_ref());
            narrowed(low_kept && high_kept)
        }
        (Strategy::Finite(keys), Strategy::Finite(kept)) => narrowed(is_kept(keys, kept)),
        (Strategy::Opaque(was), Strategy::Opaque(now)) | (Strategy::Value(was), Strategy::Value(now)) if is_same(was, now) => None,
        (Strategy::Finite(keys), Strategy::Integers { low, high }) => {
            let ends = (low.clone(), high.clone());
            narrowed(keys.iter().all(|key| key.parse().is_ok_and(|n: BigInt| holds(&ends, &n))))
        }
        (Strategy::Integers { low: Some(low), high: Some(high) }, Strategy::Finite(kept)) => narrowed(spread(low, high, kept)),
        (Strategy::Tuples(parts), Strategy::Tuples(kept)) if parts.len() == kept.len() => each(parts, kept),
        (Strategy::Many { .. }, Strategy::Many { .. }) => many(base, patch),
        (Strategy::Floats { .. }, Strategy::Floats { .. }) => floats(base, patch),
        (Strategy::Call { name, arguments }, Strategy::Call { name: new, arguments: kept }) if is_same(name, new) => call(arguments, kept),
        (Strategy::Mapped { of, how, by }, Strategy::Mapped { of: kept, how: new_how, by: new_by })
            if how == new_how && is_same(by, new_by) =>
        {
            narrowing(of, kept)
        }
        (Strategy::Mapped { of, how, .. }, _) if how == "filter" => narrowing(of, patch),
        _ => Some(if readable(base) && readable(patch) { Rule::BoundNarrowed } else { Rule::DomainUnreadable }),
    }
}

fn narrowed(kept: bool) -> Option<Rule> {
    (!kept).then_some(Rule::BoundNarrowed)
}

fn readable(strategy: &Strategy) -> bool {
    !matches!(strategy, Strategy::Mapped { .. } | Strategy::Named(_) | Strategy::Opaque(_) | Strategy::Value(_))
}

fn any_holds(base: &Strategy, parts: &[Strategy]) -> Option<Rule> {
    if let Strategy::Finite(keys) = base {
        let one = |key: &String| Strategy::Finite(BTreeSet::from([key.clone()]));
        let held = |key: &String| parts.iter().any(|part| narrowing(&one(key), part).is_none());
        return narrowed(keys.iter().all(held));
    }
    let rules: Vec<Rule> = parts.iter().map_while(|part| narrowing(base, part)).collect();
    (rules.len() == parts.len()).then(|| rules.into_iter().max().unwrap_or(Rule::BoundNarrowed))
}

fn spread(low: &BigInt, high: &BigInt, kept: &BTreeSet<String>) -> bool {
    let count = high - low;
    if count >= BigInt::from(SPREAD_CAP) {
        return false;
    }
    let mut n = low.clone();
    while n <= *high {
        if !kept.contains(&decimal(&n)) {
            return false;
        }
        n += 1u8;
    }
    true
}

fn each(parts: &[Strategy], kept: &[Strategy]) -> Option<Rule> {
    parts.iter().zip(kept).find_map(|(part, kept)| narrowing(part, kept))
}

fn many(base: &Strategy, patch: &Strategy) -> Option<Rule> {
    let (Strategy::Many { what, of, min, max, rest }, Strategy::Many { what: new, of: kept, min: new_min, max: new_max, rest: new_rest }) =
        (base, patch)
    else {
        return None;
    };
    let size = new_min <= min && (new_max.is_none() || max.as_ref().is_some_and(|max| Some(max) <= new_max.as_ref()));
    if what != new || of.len() != kept.len() || !size {
        return Some(Rule::BoundNarrowed);
    }
    each(of, kept).or_else(|| restrictions(rest, new_rest))
}

fn floats(base: &Strategy, patch: &Strategy) -> Option<Rule> {
    let (Strategy::Floats { low, high, rest }, Strategy::Floats { low: new_low, high: new_high, rest: new_rest }) = (base, patch) else {
        return None;
    };
    let number = |text: &Option<String>| text.as_ref().and_then(|t| t.parse::<f64>().ok());
    let low_kept = new_low.is_none() || low.is_some() && number(new_low) <= number(low);
    let high_kept = new_high.is_none() || high.is_some() && number(high) <= number(new_high);
    narrowed(low_kept && high_kept).or_else(|| restrictions(rest, new_rest))
}

/// Every further argument restricts: a new or another one admits less, one that is gone admits more.
fn restrictions(base: &BTreeMap<String, String>, patch: &BTreeMap<String, String>) -> Option<Rule> {
    patch.iter().find_map(|(key, value)| match base.get(key) {
        Some(old) if is_same(old, value) || (key == "alphabet" && letters_kept(old, value)) => None,
        Some(_) if key == "alphabet" => Some(Rule::BoundNarrowed),
        Some(_) => Some(Rule::DomainUnreadable),
        None => Some(Rule::BoundNarrowed),
    })
}

fn letters_kept(old: &str, new: &str) -> bool {
    let quoted = |text: &str| text.len() >= 2 && text.starts_with('\'') && !text.contains('\\');
    quoted(old) && quoted(new) && old[1..old.len() - 1].chars().all(|c| new[1..new.len() - 1].contains(c))
}
