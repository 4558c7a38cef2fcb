//! Owns whether one condition says at least as much as another about the same subject.

use std::collections::BTreeSet;

use crate::strength::delta::names::Names;
use crate::strength::delta::oracle::{
    Kind, Oracle, Slack, holds_part, is_literal_change, is_value_text, is_wider_all, number_of, pure_parts,
};
use crate::strength::delta::tokens::{cut, is_name};

/// What became of a condition in another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Weight {
    /// The other says as much or more.
    Held,
    /// The other is about the same subject and says less, or something else: why.
    Less(&'static str),
}

/// What the patch's condition says of the base's; `None` when they are about different things.
pub(super) fn weigh(base: &Oracle, patch: &Oracle, names: &Names<'_>) -> Option<Weight> {
    if same(base, patch, names) {
        return Some(Weight::Held);
    }
    if base.kind == Kind::Either || patch.kind == Kind::Either {
        return disjunctions(base, patch, names);
    }
    if patch.kind == Kind::Vacuous {
        return None;
    }
    if base.kind == Kind::Raises || patch.kind == Kind::Raises {
        return (base.kind == patch.kind).then(|| raised(base, patch, names)).flatten();
    }
    views(base).into_iter().flat_map(|b| views(patch).into_iter().filter_map(move |p| about(&b, &p, names))).reduce(better)
}

fn better(one: Weight, other: Weight) -> Weight {
    if other == Weight::Held { other } else { one }
}

fn same(base: &Oracle, patch: &Oracle, names: &Names<'_>) -> bool {
    let alike = |one: &str, other: &str| match base.kind {
        Kind::Raises => names.alike_as_called(one, other),
        _ => names.alike(one, other),
    };
    let as_told = |b: &Oracle, p: &Oracle| {
        b.sign == p.sign && alike(&format!("{} , {}", b.subject, b.expected), &format!("{} , {}", p.subject, p.expected))
    };
    base.kind == patch.kind
        && base.kind != Kind::Either
        && base.slack == patch.slack
        && base.pattern == patch.pattern
        && views(patch)
            .iter()
            .any(|p| names.may_be_alike(&base.subject, &p.subject) && names.may_be_alike(&base.expected, &p.expected) && as_told(base, p))
}

/// A condition on two computed values is about either of them.
fn views(oracle: &Oracle) -> Vec<Oracle> {
    let mut all = vec![oracle.clone()];
    let sign = match oracle.sign.as_str() {
        "==" | "~" | "!=" => Some(oracle.sign.as_str()),
        "<" => Some(">"),
        ">" => Some("<"),
        "<=" => Some(">="),
        ">=" => Some("<="),
        _ => None,
    };
    if let Some(sign) = sign.filter(|_| !is_value_text(&oracle.expected) || is_value_text(&oracle.subject)) {
        let turned = Oracle { sign: sign.to_owned(), subject: oracle.expected.clone(), expected: oracle.subject.clone(), ..oracle.clone() };
        all.push(turned);
    }
    all
}

/// An operand that is added says less, one that is gone says more.
fn disjunctions(base: &Oracle, patch: &Oracle, names: &Names<'_>) -> Option<Weight> {
    let operands = |o: &'_ Oracle| if o.kind == Kind::Either { o.operands.clone() } else { vec![o.clone()] };
    let (before, after) = (operands(base), operands(patch));
    let held = |p: &Oracle| before.iter().any(|b| weigh(b, p, names) == Some(Weight::Held));
    if after.iter().all(held) {
        return Some(Weight::Held);
    }
    let kept = before.iter().all(|b| after.iter().any(|p| weigh(b, p, names).is_some()));
    (kept && after.len() > before.len()).then_some(Weight::Less("operands added"))
}

fn raised(base: &Oracle, patch: &Oracle, names: &Names<'_>) -> Option<Weight> {
    let (subject, now) = (unlisted(&base.subject), unlisted(&patch.subject));
    // A call that lacks what it must be given raises just that.
    let is_lack = base.expected.contains("TypeError") || is_any(&base.expected);
    let alike = if is_lack { names.alike_as_called(&subject, &now) } else { names.alike(&subject, &now) };
    if base.sign != patch.sign || !alike {
        return None;
    }
    let classes = |o: &Oracle| -> BTreeSet<String> {
        o.expected.trim_start_matches("( ").trim_end_matches(" )").split(" , ").map(|c| c.trim_end_matches(" ,").to_owned()).collect()
    };
    let (before, after) = (classes(base), classes(patch));
    let anything = before.contains("Exception") || before.contains("BaseException");
    if !after.is_subset(&before) && (!anything || after.contains("BaseException")) {
        let wide = ["Exception", "BaseException", "Warning"].iter().any(|c| after.contains(*c));
        return Some(Weight::Less(if wide || after.len() > before.len() { "broader class" } else { "another class" }));
    }
    let pattern = |o: &Oracle| o.pattern.as_deref().filter(|p| !matches_all(p)).map(str::to_owned);
    match (pattern(base), pattern(patch)) {
        (None, _) => Some(Weight::Held),
        (Some(_), None) => Some(Weight::Less("message not matched")),
        (Some(before), Some(after)) if inner(&after).contains(inner(&before)) || names.alike(&before, &after) => Some(Weight::Held),
        (Some(before), Some(after)) if !is_literal_change(&before, &after) => Some(Weight::Held),
        (Some(before), Some(after)) if inner(&before).contains(inner(&after)) && told(&after) < told(&before) => {
            Some(Weight::Less("looser pattern"))
        }
        (Some(before), Some(after)) if says_as_much(&before, &after) => Some(Weight::Held),
        _ => Some(Weight::Less("another pattern")),
    }
}

fn is_any(classes: &str) -> bool {
    cut(classes).iter().any(|class| matches!(*class, "Exception" | "BaseException"))
}

fn inner(pattern: &str) -> &str {
    pattern.trim_matches(|c| matches!(c, '\'' | '"')).trim_start_matches('^').trim_end_matches('$')
}

/// How many letters and digits of a message are told.
fn told(text: &str) -> usize {
    inner(text).chars().filter(|c| c.is_alphanumeric()).count()
}

/// Whether another message is told as exactly as the one before: as much of it must be there, and no choice was added.
fn says_as_much(before: &str, after: &str) -> bool {
    let choices = |text: &str| inner(text).matches(['|', '?', '*', '[']).count();
    let is_text = |text: &str| text.trim_end_matches([' ', ',', ')']).ends_with(['\'', '"']);
    is_text(before) && is_text(after) && 2 * told(after) >= told(before) && choices(after) <= choices(before)
}

/// A pattern without a letter or digit that must be there.
fn matches_all(pattern: &str) -> bool {
    let is_text = pattern.starts_with(['\'', '"']);
    let quiet = |c: char| !c.is_alphanumeric() && !c.is_whitespace();
    let text = inner(pattern).replace("\\\\w", "").replace("\\\\s", "").replace("\\\\S", "").replace("\\\\W", "");
    is_text && (text.chars().all(|c| quiet(c) && matches!(c, '.' | '*' | '+' | '?' | '(' | ')' | '[' | ']' | '^' | '$' | '|' | ':' | '\\')))
}

/// Compares two conditions, each seen as one about its subject.
fn about(base: &Oracle, patch: &Oracle, names: &Names<'_>) -> Option<Weight> {
    if !names.alike(&base.subject, &patch.subject) {
        let wider = base.sign == "truth" && patch.sign == "truth" && is_wider_all(&base.subject, &patch.subject);
        if wider || is_listed(base, patch, names) {
            return Some(Weight::Held);
        }
        if is_counted(base, patch, names) {
            return Some(Weight::Held);
        }
        if base.sign == patch.sign && is_text_of(&base.subject, &patch.subject) {
            return Some(value(base, patch, names));
        }
        let whole = patch.kind == Kind::Exact && pure_parts(&base.subject).iter().any(|part| names.alike(part, &patch.subject));
        return (whole && !is_own_answer(patch)).then_some(Weight::Held);
    }
    if patch.kind < base.kind {
        return Some(Weight::Less("weaker kind"));
    }
    if patch.kind > base.kind {
        return Some(if contradicts(base, patch) { Weight::Less("another value") } else { Weight::Held });
    }
    Some(match base.kind {
        Kind::Exact | Kind::Member => expected(base, patch, names),
        Kind::Tolerance => near(base, patch, names),
        Kind::Bound => bounded(base, patch, names),
        _ => shaped(base, patch, names),
    })
}

/// How many there are says whether there are any.
fn is_counted(base: &Oracle, patch: &Oracle, names: &Names<'_>) -> bool {
    let counted = patch.subject.strip_prefix("len ( ").and_then(|text| text.strip_suffix(" )")).filter(|of| is_one(of));
    let Some((of, count)) = counted.zip(number_of(&patch.expected)) else { return false };
    let any = match patch.sign.as_str() {
        "==" => Some(count > 0.0),
        ">" if count >= 0.0 => Some(true),
        ">=" if count >= 1.0 => Some(true),
        _ => None,
    };
    base.kind == Kind::Shape && any.is_some_and(|any| base.sign == if any { "truth" } else { "false" }) && names.alike(&base.subject, of)
}

/// `str(caught)` shows at most what `str(caught.value)` does.
fn is_text_of(base: &str, patch: &str) -> bool {
    let caught = base.strip_prefix("str ( ").and_then(|text| text.strip_suffix(" )")).unwrap_or_default();
    is_name(caught) && !caught.is_empty() && patch == format!("str ( {caught} . value )")
}

/// `f() == [1]` and `list(f()) == [1]` say the same of what they go through.
fn is_listed(base: &Oracle, patch: &Oracle, names: &Names<'_>) -> bool {
    let exact = base.kind == Kind::Exact && patch.kind == Kind::Exact;
    exact
        && names.alike(&unlisted(&base.subject), &unlisted(&patch.subject))
        && names.alike(&unlisted(&base.expected), &unlisted(&patch.expected))
}

/// What a text makes a list or tuple of, or takes the length of one of, else the text.
fn unlisted(text: &str) -> String {
    let inside = |text: &str, by: &str| text.strip_prefix(by)?.strip_suffix(" )").filter(|inside| is_one(inside)).map(str::to_owned);
    let list = |text: &str| inside(text, "list ( ").or_else(|| inside(text, "tuple ( "));
    match inside(text, "len ( ") {
        Some(of) => format!("len ( {} )", list(&of).unwrap_or(of)),
        None => list(text).unwrap_or_else(|| text.to_owned()),
    }
}

/// Whether no bracket closes in a text that did not open there.
fn is_one(text: &str) -> bool {
    let mut depth = 0_i32;
    cut(text).iter().all(|token| {
        depth += i32::from(matches!(*token, "(" | "[" | "{")) - i32::from(matches!(*token, ")" | "]" | "}"));
        depth >= 0
    })
}

/// The value that is expected is computed from the very subject.
fn is_own_answer(oracle: &Oracle) -> bool {
    holds_part(&oracle.expected, &oracle.subject)
}

/// A stronger kind about another value than the weaker one allows.
fn contradicts(base: &Oracle, patch: &Oracle) -> bool {
    if is_own_answer(patch) {
        return true;
    }
    let (before, after) = (number_of(&base.expected), number_of(&patch.expected));
    match (base.kind, before.zip(after)) {
        (Kind::Bound, Some((before, after))) => !within(&base.sign, after, before),
        (Kind::Tolerance, Some((before, after))) => {
            let slack = base.slack.map_or(0.0, |s| reach(s, before));
            (before - after).abs() > slack.max(1e-9 * before.abs())
        }
        (Kind::Member, _) if base.sign == "in" && is_value_text(&patch.expected) => !holds_part(&base.expected, &patch.expected),
        _ => false,
    }
}

fn within(sign: &str, value: f64, bound: f64) -> bool {
    match sign {
        "<" => value < bound,
        "<=" => value <= bound,
        ">" => value > bound,
        ">=" => value >= bound,
        _ => true,
    }
}

/// Same kind, same subject: is the same expected?
fn expected(base: &Oracle, patch: &Oracle, names: &Names<'_>) -> Weight {
    if base.sign != patch.sign
        && (base.sign == "contains" || patch.sign == "contains" || base.sign == "not called" || patch.sign == "not called")
    {
        return Weight::Less("another condition");
    }
    if base.sign == "in" && patch.sign == "in" {
        return choices(base, patch);
    }
    value(base, patch, names)
}

fn choices(base: &Oracle, patch: &Oracle) -> Weight {
    let all = |o: &Oracle| -> BTreeSet<String> {
        let inside = o.expected.get(1..o.expected.len().saturating_sub(1)).unwrap_or_default().trim();
        inside.split(" , ").map(|c| c.trim_end_matches(" ,").trim().to_owned()).collect()
    };
    if all(patch).is_subset(&all(base)) { Weight::Held } else { Weight::Less("more choices") }
}

fn value(base: &Oracle, patch: &Oracle, names: &Names<'_>) -> Weight {
    if names.alike(&base.expected, &patch.expected) || same_number(&base.expected, &patch.expected) {
        return Weight::Held;
    }
    if is_own_answer(patch) && !is_own_answer(base) {
        return Weight::Less("compared with itself");
    }
    if is_message(&base.subject)
        && is_sentence(&base.expected)
        && is_sentence(&patch.expected)
        && says_as_much(&base.expected, &patch.expected)
    {
        return Weight::Held;
    }
    match (is_value_text(&base.expected), is_value_text(&patch.expected)) {
        (true, true) => Weight::Less("another value"),
        (true, false) if is_computed(&patch.expected) => Weight::Less("expected value computed"),
        (false, false) if is_literal_change(&base.expected, &patch.expected) => Weight::Less("another value"),
        (false, false) if asks(&patch.expected, &patch.subject) && !asks(&base.expected, &base.subject) => {
            Weight::Less("expected value computed")
        }
        _ => Weight::Held,
    }
}

/// Whether a condition is about the message of what was raised: another wording says as much.
fn is_message(subject: &str) -> bool {
    let tokens = cut(subject);
    match tokens.as_slice() {
        ["str" | "repr", "(", caught, ".", "value" | "exception" | "message", ")"]
        | [caught, ".", "exconly", "(", ")"]
        | [caught, ".", "value" | "exception", ".", "message" | "msg"]
        | [caught, ".", "value" | "exception" | "message", ".", "args"]
        | [caught, ".", "value" | "exception" | "message", ".", "args", "[", "0", "]"] => is_name(caught),
        _ => false,
    }
}

/// Whether a constant reads as a sentence, not as a value.
fn is_sentence(text: &str) -> bool {
    let text = text.strip_prefix("( ").and_then(|text| text.strip_suffix(" )")?.strip_suffix(" ,")).unwrap_or(text);
    text.ends_with(['\'', '"']) && text.contains(' ') && text.chars().filter(|c| c.is_alphabetic()).count() >= 8 && cut(text).len() == 1
}

fn same_number(one: &str, other: &str) -> bool {
    number_of(one).zip(number_of(other)).is_some_and(|(a, b)| a.total_cmp(&b).is_eq())
}

/// Whether it calls something that is neither a class nor the language's own, nor a method of a constant.
fn is_computed(text: &str) -> bool {
    let tokens = cut(text);
    (1..tokens.len()).any(|at| {
        let name = tokens[at - 1];
        tokens[at] == "(" && is_name(name) && name.starts_with(|c: char| c.is_lowercase() || c == '_') && !is_of_constant(&tokens, at - 1)
    })
}

fn is_of_constant(tokens: &[&str], at: usize) -> bool {
    at >= 2 && tokens[at - 1] == "." && tokens[at - 2].ends_with(['\'', '"'])
}

/// Whether a text calls the function that the other one is a call of.
fn asks(text: &str, subject: &str) -> bool {
    let callee = subject.split(" (").next().unwrap_or_default();
    subject.contains(" (") && callee.contains(char::is_alphabetic) && holds_part(text, &format!("{callee} ("))
}

fn reach(slack: Slack, of: f64) -> f64 {
    (slack.share * of.abs()).max(slack.distance)
}

fn near(base: &Oracle, patch: &Oracle, names: &Names<'_>) -> Weight {
    if let Some((before, after)) = base.slack.zip(patch.slack) {
        let of = number_of(&base.expected).unwrap_or(1.0);
        if reach(after, of) > reach(before, of) * (1.0 + 1e-9) {
            return Weight::Less("wider tolerance");
        }
    } else if base.slack.is_some() {
        return Weight::Less("tolerance not readable");
    }
    value(base, patch, names)
}

fn bounded(base: &Oracle, patch: &Oracle, names: &Names<'_>) -> Weight {
    let side = |sign: &str| sign.chars().next();
    if side(&base.sign) != side(&patch.sign) {
        return Weight::Less("another bound");
    }
    match number_of(&base.expected).zip(number_of(&patch.expected)) {
        Some((before, after)) => {
            let strict = |sign: &str| !sign.ends_with('=');
            let looser = if side(&base.sign) == Some('>') { after < before } else { after > before };
            let opened = before.total_cmp(&after).is_eq() && strict(&base.sign) && !strict(&patch.sign);
            if looser || opened { Weight::Less("looser bound") } else { Weight::Held }
        }
        None if base.sign == patch.sign => value(base, patch, names),
        None if names.alike(&base.expected, &patch.expected) && base.sign.ends_with('=') => Weight::Held,
        None => Weight::Less("another bound"),
    }
}

/// Truth, type, or a value that it is not: equal, or something else. A type that is told says no less than mere truth.
fn shaped(base: &Oracle, patch: &Oracle, names: &Names<'_>) -> Weight {
    if base.sign != patch.sign {
        let vague = |o: &Oracle| o.sign == "!=" && o.expected == "None";
        let told = vague(base) && matches!(patch.sign.as_str(), "isinstance" | "truth");
        return if told { Weight::Held } else { Weight::Less("another condition") };
    }
    if names.alike(&base.expected, &patch.expected) {
        return Weight::Held;
    }
    let fewer = base.sign == "isinstance" && holds_part(&base.expected, &patch.expected);
    if fewer || !(is_value_text(&base.expected) && is_value_text(&patch.expected)) { Weight::Held } else { Weight::Less("another value") }
}
