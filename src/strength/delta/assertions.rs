//! Owns whether a check still asserts what it asserted on the base: here, in a helper, or in another test of the same change.

use std::cell::OnceCell;
use std::collections::BTreeSet;
use std::rc::Rc;
use std::sync::Arc;

use crate::finding::Rule;
use crate::strength::card::{Card, Kind, Texts};
use crate::strength::cards::CardSet;
use crate::strength::delta::claims::{self, Demand, Demands};
use crate::strength::delta::pairing::{Pair, Sides};
use crate::strength::delta::renames::Renames;
use crate::strength::delta::{Compared, Loss, Signatures, marks};
use crate::strength::effort::Mark;

/// A change that gains more demands than this is not searched for lost ones: they count as lost.
const MOST_GAINS: usize = 200_000;
/// At most this many lost assertions are quoted.
const MOST_QUOTED: usize = 8;
/// At most this many characters of one are quoted.
const MOST_TEXT: usize = 160;

/// Both sides of a change, and what its tests demand that they did not demand before.
pub(super) struct Ledger<'c> {
    pairs: &'c [Pair<'c>],
    sides: &'c Sides<'c>,
    signatures: &'c Signatures<'c>,
    gains: Option<Demands>,
    /// The same once more, for single conditions: what pays for an assertion's text pays for its condition too.
    conditions: Option<Demands>,
    renames: OnceCell<Rc<Renames>>,
}

impl<'c> Ledger<'c> {
    /// Nothing is computed before the first assertion is missed.
    pub(super) fn new(pairs: &'c [Pair<'c>], sides: &'c Sides<'c>, signatures: &'c Signatures<'c>) -> Self {
        Ledger { pairs, sides, signatures, gains: None, conditions: None, renames: OnceCell::new() }
    }

    /// Fewer assertions are weaker, unless each one that is gone is demanded elsewhere by the same change. A demand found elsewhere is used up.
    pub(super) fn compare(&mut self, base: &Card, patch: &Card) -> Compared {
        let (before, after) = (base.assertions.len(), patch.assertions.len());
        if after >= before {
            return Compared::default();
        }
        let lost = self.lost(base, patch);
        if lost.is_empty() {
            let note = format!("assertions {before} -> {after}: every one is still demanded by this change");
            return Compared { losses: Vec::new(), notes: vec![note] };
        }
        let says = format!("assertions {before} -> {after}: lost {}", quoted(&lost));
        Compared { losses: vec![Loss { rule: Rule::AssertionRemoved, says, line: Some(patch.line) }], notes: Vec::new() }
    }

    /// Texts of the base's assertions that are not demanded any more.
    fn lost(&mut self, base: &Card, patch: &Card) -> Vec<String> {
        let mut here = claims::of_card(patch, self.sides.patch).unwrap_or_default();
        let mut texts = Texts::of(&patch.assertions);
        let mut lost = Vec::new();
        for (assertion, demands) in base.assertions.iter().zip(claims::of_assertions(base)) {
            let kept = if demands.is_empty() {
                texts.take(&assertion.text)
            } else {
                let missing: Vec<_> = demands.iter().filter(|demand| !claims::take(&mut here, demand)).collect();
                missing.is_empty() || self.take_elsewhere(base, &missing)
            };
            if !kept {
                lost.push(assertion.text.clone());
            }
        }
        lost
    }

    /// What the change renames.
    pub(super) fn renames(&self) -> Rc<Renames> {
        Rc::clone(self.renames.get_or_init(|| Rc::new(Renames::of(self.sides.base, self.sides.patch))))
    }

    /// What the code beside the patch tells.
    pub(super) fn signatures(&self) -> &'c Signatures<'c> {
        self.signatures
    }

    /// Both sides of the change.
    pub(super) fn sides(&self) -> &'c Sides<'c> {
        self.sides
    }

    /// Takes one condition out of what the change's tests demand more than before, if it is there.
    pub(super) fn take_condition(&mut self, base: &Card, demand: &Demand) -> bool {
        let (pairs, sides) = (self.pairs, self.sides);
        let gains = self.conditions.get_or_insert_with(|| gains(pairs, sides));
        claims::take(gains, &claims::placed(demand.clone(), base, base))
    }

    /// Whether each condition of a test that is gone is demanded by another test that did not demand it before. What a text does not tell as
    /// a condition, and what was drawn, lives on nowhere.
    pub(super) fn lives_on(&mut self, base: &Card) -> bool {
        let (pairs, sides) = (self.pairs, self.sides);
        let told: BTreeSet<usize> = base.claims.iter().map(|claim| claim.assertion).collect();
        let is_told = !base.claims.is_empty() && (0..base.assertions.len()).all(|at| told.contains(&at));
        let Some(demands) = claims::of_card(base, sides.base).filter(|_| is_told && base.calls.is_empty()) else { return false };
        let gains = self.conditions.get_or_insert_with(|| gains(pairs, sides));
        let mut placed = Demands::new();
        for (demand, times) in demands {
            *placed.entry(claims::placed(demand, base, base)).or_default() += times;
        }
        let all = placed.iter().all(|(demand, times)| gains.get(demand).is_some_and(|there| there >= times));
        for (demand, times) in placed.iter().filter(|_| all) {
            claims::take_times(gains, demand, *times);
        }
        all
    }

    fn take_elsewhere(&mut self, base: &Card, demands: &[&Demand]) -> bool {
        let (pairs, sides) = (self.pairs, self.sides);
        let gains = self.gains.get_or_insert_with(|| gains(pairs, sides));
        demands.iter().all(|demand| claims::take(gains, &claims::placed((*demand).clone(), base, base)))
    }
}

/// What the change's tests demand more than before. A helper demands nothing by itself: it counts where a test calls it.
fn gains(pairs: &[Pair<'_>], sides: &Sides<'_>) -> Demands {
    let mut gains = Demands::new();
    let known: BTreeSet<&Mark> = sides.base.cards().flat_map(|card| &card.effort.marks).collect();
    for (before, after) in pairs {
        // A test that newly does not count demands nothing.
        let counts = |card: &&Arc<Card>| !card.effort.marks.iter().any(|mark| marks::disables(mark) && !known.contains(mark));
        let Some(after) = after.filter(|card| card.kind != Kind::Support).filter(counts) else { continue };
        // What says the same on both sides gains nothing; what a helper demands may still have moved.
        if before.is_some_and(|before| before.calls.is_empty() && says_the_same(before, after)) {
            continue;
        }
        let was = before.map_or_else(|| Some(Demands::new()), |card| demanded(card, sides.base, after));
        let Some((was, mut now)) = was.zip(demanded(after, sides.patch, after)) else { continue };
        for (demand, times) in was {
            claims::take_times(&mut now, &demand, times);
        }
        for (demand, times) in now {
            *gains.entry(demand).or_default() += times;
        }
        if gains.len() > MOST_GAINS {
            return Demands::new();
        }
    }
    gains
}

fn says_the_same(before: &Card, after: &Card) -> bool {
    before.claims == after.claims && before.calls == after.calls && before.domain == after.domain && before.parameters == after.parameters
}

/// What a card demands, as it can be looked for from another one.
fn demanded(card: &Card, side: &CardSet, home: &Card) -> Option<Demands> {
    let mut placed = Demands::new();
    for (demand, times) in claims::of_card(card, side)? {
        *placed.entry(claims::placed(demand, card, home)).or_default() += times;
    }
    Some(placed)
}

fn quoted(texts: &[String]) -> String {
    let mut shown: Vec<String> = texts.iter().take(MOST_QUOTED).map(|text| format!("\"{}\"", clipped(text))).collect();
    if texts.len() > MOST_QUOTED {
        shown.push(format!("and {} more", texts.len() - MOST_QUOTED));
    }
    shown.join(", ")
}

/// A text cut where it gets too long to read.
pub(super) fn clipped(text: &str) -> String {
    match text.char_indices().nth(MOST_TEXT) {
        Some((cut, _)) => format!("{}…", &text[..cut]),
        None => text.to_owned(),
    }
}
