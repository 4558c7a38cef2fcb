//! Owns where a narrower domain comes from: the smallest part that changed, and whether a definition that several may share gave it.

use serde_json::json;

use crate::digest;
use crate::strength::domain::compare::{narrowing, partners};
use crate::strength::domain::{Domain, Strategy};

/// One part of a domain that changed.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Cause {
    /// Equal keys mean the same change of the same part.
    pub key: String,
    /// A named definition holds the part, so that it is one change wherever the definition is used.
    pub is_defined: bool,
}

/// Trees deeper than this have one cause: themselves.
const DEPTH: u32 = 64;

impl Domain {
    /// What changed in the strategies from here to the patch; `None` when something else of the domain changed too.
    pub fn causes(&self, patch: &Domain) -> Option<Vec<Cause>> {
        if self.tables != patch.tables || self.unread != patch.unread {
            return None;
        }
        let mut causes = Vec::new();
        for (base, now) in partners(&self.arguments, &patch.arguments) {
            let now = now.filter(|now| now.name == base.name)?;
            smallest(&base.strategy, &now.strategy, false, DEPTH, &mut causes);
        }
        Some(causes)
    }
}

fn smallest(base: &Strategy, patch: &Strategy, inside: bool, depth: u32, causes: &mut Vec<Cause>) {
    if narrowing(base, patch).is_none() {
        return;
    }
    let whole = || Cause { key: key(&json!([base, patch])), is_defined: inside };
    let Some(depth) = depth.checked_sub(1) else { return causes.push(whole()) };
    let mut each = |one: &[Strategy], other: &[Strategy]| one.iter().zip(other).for_each(|(a, b)| smallest(a, b, inside, depth, causes));
    match (base, patch) {
        (Strategy::OneOf(parts), Strategy::OneOf(kept)) | (Strategy::Tuples(parts), Strategy::Tuples(kept))
            if parts.len() == kept.len() =>
        {
            each(parts, kept);
        }
        (Strategy::Many { what, of, min, max, rest }, Strategy::Many { what: new, of: kept, min: least, max: most, rest: others })
            if (what, min, max, rest, of.len()) == (new, least, most, others, kept.len()) =>
        {
            each(of, kept);
        }
        (Strategy::Mapped { of, how, by }, Strategy::Mapped { of: kept, how: new, by: other }) if (how, by) == (new, other) => {
            smallest(of, kept, inside, depth, causes);
        }
        (Strategy::Call { name, arguments }, Strategy::Call { name: new, arguments: kept }) if name == new => {
            called(name, arguments, kept, inside, depth, causes);
        }
        _ => causes.push(whole()),
    }
}

type Part = (String, Strategy);

fn called(name: &str, base: &[Part], patch: &[Part], inside: bool, depth: u32, causes: &mut Vec<Cause>) {
    let of_definition = |part: &&Part| part.0 == "body" || part.0 == Strategy::BEHIND || part.0.ends_with(']');
    let split = |parts: &[Part]| -> (Vec<Part>, Vec<Part>) { parts.iter().cloned().partition(|part| of_definition(&part)) };
    let ((made, given), (now_made, now_given)) = (split(base), split(patch));
    let is_known = !made.is_empty() && given == now_given;
    let keyed = made.iter().map(|p| &p.0).eq(now_made.iter().map(|p| &p.0));
    let is_leaf = |part: &Strategy| matches!(part, Strategy::Value(_) | Strategy::Opaque(_) | Strategy::Named(_));
    let own = made.iter().zip(&now_made).any(|(a, b)| a.1 != b.1 && (is_leaf(&a.1) || is_leaf(&b.1)));
    if !is_known {
        return causes.push(Cause { key: key(&json!([name, base, patch])), is_defined: inside });
    }
    if !keyed || own {
        return causes.push(Cause { key: key(&json!([name, made, now_made])), is_defined: true });
    }
    made.iter().zip(&now_made).for_each(|(a, b)| smallest(&a.1, &b.1, true, depth, causes));
}

fn key(of: &serde_json::Value) -> String {
    digest::sha256_hex(of.to_string().as_bytes())
}
