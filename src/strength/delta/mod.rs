//! Owns which way strength moves between base cards and patch cards. Each monotone field has a file of its own here.

mod assertions;
mod budget;
mod claims;
mod examples;
mod fixtures;
mod flags;
mod guards;
mod marks;
mod pairing;
mod patches;
mod led;
mod names;
mod oracle;
mod oracles;
mod weigh;
mod qualified;
mod record;
mod reducers;
mod renames;
mod shared;
mod stated;
mod tokens;

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::finding::{Exit, Finding, PropId, Rule};
use crate::strength::card::{Card, Claim, Kind};
use crate::strength::cards::CardSet;
use crate::strength::delta::assertions::Ledger;
use crate::strength::delta::oracles::Told;
use crate::strength::delta::pairing::{Pair, Sides};
use crate::strength::domain::{Domain, Table};
use crate::strength::effort::Effort;
use crate::strength::signature::Signature;

pub use record::SCHEMA;

/// One way in which a property got weaker.
#[derive(Clone, Debug, PartialEq)]
pub struct Loss {
    /// The rule it breaks.
    pub rule: Rule,
    /// What was and what is.
    pub says: String,
    /// 1-based line in the patch (in the base when gone).
    pub line: Option<u32>,
}

/// One property across the change.
#[derive(Clone, Debug, PartialEq)]
pub struct Move {
    /// Card on the base.
    pub base: Option<Arc<Card>>,
    /// Card in the patch.
    pub patch: Option<Arc<Card>>,
    /// What was lost; empty when it held or got stronger.
    pub losses: Vec<Loss>,
    /// What moved without a loss.
    pub notes: Vec<String>,
}

/// All properties across the change.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Delta {
    /// In order of the base id, new ones last.
    pub moves: Vec<Move>,
}

/// What one field's comparison says.
#[derive(Default)]
struct Compared {
    losses: Vec<Loss>,
    notes: Vec<String>,
}

/// Compares the cards of the changed files.
pub fn compare<C: Clone + Into<Arc<Card>>>(base: &[C], patch: &[C]) -> Delta {
    compare_beside(base, patch, &[], &NOTHING)
}

/// What the code beside both sides tells, by a dotted name and the path of the file that names it.
pub struct Code<'s> {
    /// What a function must be given in the patch.
    pub signature: &'s dyn Fn(&str, &str) -> Option<Signature>,
    /// Whether the code of the base defines a name, and that of the patch; `None` where it has no such module.
    pub defines: &'s dyn Fn(&str, &str) -> Option<[bool; 2]>,
    /// What a name stands for on the base (0) or in the patch (1), told in one way; `None` where that is not known.
    pub stands_for: &'s dyn Fn(&str, &str, usize) -> Option<String>,
}

/// Nothing is known of the code.
const NOTHING: Code<'static> = Code { signature: &|_, _| None, defines: &|_, _| None, stands_for: &|_, _, _| None };

/// Compares the cards of the changed files of a merge with those of one base. What only another base has, `beside`, is neither new
/// here nor a place to which a check of this base moved.
pub fn compare_beside<C: Clone + Into<Arc<Card>>>(base: &[C], patch: &[C], beside: &[C], code: &Code<'_>) -> Delta {
    let set = |cards: &[C]| CardSet::new(cards.iter().cloned());
    let patch = set(patch);
    let base = base.iter().map(|card| card.clone().into());
    let base = CardSet::new(base.map(|card: Arc<Card>| fixtures::following(card, &patch)));
    compare_sets(&base, &patch, &set(beside), code)
}

/// Compares two card files: what was measured, and what the files state in plain fields.
pub fn compare_files(base: &CardSet, patch: &CardSet) -> Delta {
    let (measured, held) = (base.comparable_with(patch), patch.comparable_with(base));
    let mut delta = compare_sets(&measured, &held, &CardSet::default(), &NOTHING);
    for change in &mut delta.moves {
        let (Some(before), Some(after)) = (&change.base, &change.patch) else { continue };
        let (Some(said), Some(says)) = (base.stated(&before.prop_id), patch.stated(&after.prop_id)) else { continue };
        let known: BTreeSet<Rule> = change.losses.iter().map(|loss| loss.rule).collect();
        let stated = stated::compare(said, says, before.files == after.files);
        change.losses.extend(stated.into_iter().filter(|loss| !known.contains(&loss.rule)));
    }
    delta
}

fn compare_sets(base: &CardSet, patch: &CardSet, beside: &CardSet, code: &Code<'_>) -> Delta {
    let sides = Sides { base, patch, beside };
    let pairs = pairing::pairs(&sides);
    let mut ledger = Ledger::new(&pairs, &sides, code);
    let mut moves: Vec<Move> = pairs.iter().map(|pair| moved(pair, &mut ledger)).collect();
    shared::told_once(&mut moves);
    Delta { moves }
}

fn moved((base, patch): &Pair<'_>, ledger: &mut Ledger<'_>) -> Move {
    let mut compared = Compared::default();
    match (base, patch) {
        (Some(base), Some(patch)) => {
            let (mut domain, assertions) = (domain(base, patch), ledger.compare(base, patch));
            let unrolled = is_unrolled(base, patch, &domain.losses, ledger.sides());
            let told = Told { cases: !domain.losses.is_empty() && !unrolled, assertions: !assertions.losses.is_empty() };
            let oracles = oracles::compare(base, patch, told, ledger);
            if unrolled && assertions.losses.is_empty() && oracles.losses.is_empty() {
                domain.losses.clear();
                domain.notes.push("a list of cases is gone: what each of them demanded is demanded on its own".to_owned());
            }
            for field in [domain, assertions, oracles, fixtures::compare(base, patch)] {
                compared.losses.extend(field.losses);
                compared.notes.extend(field.notes);
            }
            compared.losses.extend(effort(base, patch));
            let home = patch.prop_id.clone();
            compared.notes.extend((base.prop_id != home).then(|| format!("moved to {home}")));
        }
        // What only helped tests may go: the tests that used it say what they lost.
        (Some(base), None) if base.kind != Kind::Support && ledger.lives_on(base) => {
            compared.notes.push("gone: every condition of it is demanded by other tests of this change".to_owned());
        }
        (Some(base), None) if base.kind != Kind::Support => compared.losses.push(removed(base)),
        // New support acts on old tests where it acts on all of them.
        (None, Some(patch)) if patch.kind == Kind::Support && patch.effort.everywhere => {
            compared.losses.extend(effort(&Card { effort: Effort::default(), ..Card::clone(patch) }, patch));
        }
        _ => {}
    }
    Move { base: base.cloned(), patch: patch.cloned(), losses: compared.losses, notes: compared.notes }
}

/// The fields that are told by nothing but what they hold.
fn effort(base: &Card, patch: &Card) -> Vec<Loss> {
    let fields = [marks::compare, reducers::compare, budget::compare, examples::compare, patches::compare];
    fields.iter().flat_map(|compare| compare(base, patch)).collect()
}

fn domain(base: &Card, patch: &Card) -> Compared {
    let losses = base.domain.losses(&patch.domain).into_iter();
    let losses = losses.map(|loss| Loss { rule: loss.rule, says: loss.says, line: Some(patch.line) });
    Compared { losses: losses.collect(), notes: Vec::new() }
}

/// Whether all that a domain lost are the rows of tables that the patch does not have any more, where each condition speaks of each row
/// and is demanded in so many words for each.
fn is_unrolled(base: &Card, patch: &Card, losses: &[Loss], sides: &Sides<'_>) -> bool {
    let is_gone = |name: &String| {
        !patch.domain.tables.iter().any(|t| t.names.contains(name))
            && !patch.domain.arguments.iter().any(|a| a.name == *name)
            && !patch.parameters.contains(name)
    };
    let gone: Vec<&Table> = base.domain.tables.iter().filter(|t| t.names.iter().all(is_gone)).collect();
    let kept = || Domain { tables: base.domain.tables.iter().filter(|t| !gone.contains(t)).cloned().collect(), ..base.domain.clone() };
    let speaks = |claim: &Claim| {
        let tokens = tokens::cut(&claim.text);
        let names = gone.iter().flat_map(|table| &table.names);
        names.clone().all(|name| (0..tokens.len()).any(|at| tokens[at] == name && tokens::is_free(&tokens, at)))
    };
    !losses.is_empty()
        && !gone.is_empty()
        && gone.iter().all(|table| table.rest.is_empty() && !table.rows.is_empty())
        && base.calls.is_empty()
        && !base.claims.is_empty()
        && base.claims.iter().all(speaks)
        && kept().losses(&patch.domain).is_empty()
        && is_said_of_each(base, patch, sides)
}

/// Whether each condition of the base, told for each of its rows, is one of the patch word by word.
fn is_said_of_each(base: &Card, patch: &Card, sides: &Sides<'_>) -> bool {
    let told = |card: &Card, side: &CardSet| -> Option<Vec<String>> {
        let written = claims::written_of_card(card, side)?;
        let rows = claims::rows_of_card(written.iter().map(|(demand, _)| demand), card);
        Some(rows.iter().flatten().map(|demand| oracle::normal(demand.text())).collect())
    };
    let Some((before, mut after)) = told(base, sides.base).zip(told(patch, sides.patch)) else { return false };
    before.iter().all(|text| after.iter().position(|other| other == text).map(|at| after.swap_remove(at)).is_some())
}

fn removed(base: &Card) -> Loss {
    let says = format!("{} is gone: it had {}", noun(base), measure(base));
    Loss { rule: Rule::PropertyRemoved, says, line: Some(base.line) }
}

fn noun(card: &Card) -> &'static str {
    match card.kind {
        Kind::Property => "property",
        Kind::Test => "test",
        Kind::Support => "support",
    }
}

fn measure(card: &Card) -> String {
    let count = card.assertions.len();
    let assertions = if count == 1 { "1 assertion".to_owned() } else { format!("{count} assertions") };
    match card.domain.size() {
        Some(size) => format!("{size} inputs, {assertions}"),
        None => assertions,
    }
}

impl Move {
    /// The id under which the property is spoken of: the base's, or the new one's.
    fn card(&self) -> Option<&Card> {
        self.base.as_deref().or(self.patch.as_deref())
    }

    fn is_new(&self) -> bool {
        self.base.is_none() && self.patch.as_ref().is_some_and(|card| card.kind != Kind::Support)
    }

    fn findings(&self) -> Vec<Finding> {
        let rules: BTreeSet<Rule> = self.losses.iter().map(|loss| loss.rule).collect();
        let mut findings: Vec<Finding> = rules.into_iter().map(|rule| self.finding(rule)).collect();
        findings.extend(self.patch.as_ref().filter(|_| self.is_new()).map(|card| self.review(card)));
        findings
    }

    fn finding(&self, rule: Rule) -> Finding {
        let losses = || self.losses.iter().filter(|loss| loss.rule == rule);
        let id = self.card().map(|card| card.prop_id.clone());
        let waive = id.as_ref().map(|id| format!("seedgate waiver new {}", shell(&id.0))).unwrap_or_default();
        Finding {
            line: losses().find_map(|loss| loss.line),
            says: losses().map(|loss| loss.says.clone()).chain(self.notes.iter().cloned()).collect(),
            help: format!("restore it, or: {waive}"),
            ..self.about(rule)
        }
    }

    fn review(&self, card: &Card) -> Finding {
        Finding {
            line: Some(card.line),
            says: vec![format!("new {}: {}", noun(card), measure(card))],
            help: format!("look at it: seedgate cards show {}", shell(&card.prop_id.0)),
            ..self.about(Rule::NewProperty)
        }
    }

    fn about(&self, rule: Rule) -> Finding {
        Finding {
            property: self.card().map(|card| card.prop_id.clone()),
            path: self.patch.as_ref().or(self.base.as_ref()).map(|card| card.path().to_owned()).filter(|path| !path.is_empty()),
            base_card: self.base.as_deref().map(Card::to_json),
            patch_card: self.patch.as_deref().map(Card::to_json),
            ..Finding::new(rule)
        }
    }
}

impl Delta {
    /// One finding per property and rule.
    pub fn findings(&self) -> Vec<Finding> {
        self.moves.iter().flat_map(Move::findings).collect()
    }

    /// 0 held or stronger, 2 any weakening or removal, 3 only new ids.
    pub fn exit(&self) -> Exit {
        let weaker = self.moves.iter().any(|change| !change.losses.is_empty());
        match (weaker, self.moves.iter().any(Move::is_new)) {
            (true, _) => Exit::Refused,
            (false, true) => Exit::Review,
            (false, false) => Exit::Clear,
        }
    }

    /// The proof that nothing got weaker and nothing waits for review, for what must not run before.
    pub fn cleared(self) -> Option<Cleared> {
        let held = self.exit() == Exit::Clear;
        let ids = self.moves.into_iter().filter_map(|change| Some(change.patch?.prop_id.clone()));
        held.then(|| Cleared { ids: ids.collect() })
    }
}

/// Proof of a comparison that ended in 0. Only [`Delta::cleared`] makes one.
#[derive(Debug)]
pub struct Cleared {
    ids: BTreeSet<PropId>,
}

impl Cleared {
    /// Whether the property was among those compared.
    pub fn covers(&self, id: &PropId) -> bool {
        self.ids.contains(id)
    }
}

/// A word as a shell takes it.
fn shell(word: &str) -> String {
    let plain = |b: u8| b.is_ascii_alphanumeric() || b"/._-+=:@%,".contains(&b);
    if word.bytes().all(plain) && !word.starts_with('-') { word.to_owned() } else { format!("'{}'", word.replace('\'', "'\\''")) }
}

#[cfg(test)]
mod tests;
