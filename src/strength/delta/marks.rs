//! Owns whether a test still runs and its failure still counts.

use std::collections::BTreeSet;

use crate::finding::Rule;
use crate::strength::card::Card;
use crate::strength::delta::{Loss, tokens};
use crate::strength::effort::{Does, Mark};

/// A mark that the base does not have in some form at least as weak.
pub(super) fn compare(base: &Card, patch: &Card) -> Vec<Loss> {
    let added = patch.effort.marks.iter().filter(|mark| !base.effort.marks.iter().any(|was| covers(was, mark)) && is_felt(mark, base));
    added.map(|mark| Loss { rule: Rule::TestDisabled, says: format!("disabled: {}", told(mark)), line: Some(patch.line) }).collect()
}

/// Whether the base's mark already did as much.
fn covers(was: &Mark, now: &Mark) -> bool {
    let strength = match (was.does, now.does) {
        (Does::Flaky, now) => now == Does::Flaky,
        (was, now) => was >= now,
    };
    let same = |was: &str, now: &str| tokens::short_names(was) == tokens::short_names(now) || plain(was, true) == plain(now, false);
    let alike = was.when.as_deref().zip(now.when.as_deref()).is_some_and(|(was, now)| same(was, now));
    let when = was.when.is_none() || alike || is_narrower(was.when.as_deref(), now.when.as_deref()) || is_one_of(was, now);
    strength && when && (was.row.is_none() || was.row == now.row)
}

/// A condition without the parentheses around it, and one on the version of the language in one spelling: the first parts of a version
/// are no less than so many numbers exactly where the whole is, and what is not 2 is 3. Only on the base is a bare `version_info` surely that
/// of `sys`: a patch could bind it to anything.
fn plain(when: &str, is_base: bool) -> String {
    let mut tokens = tokens::cut(when);
    while let ["(", inside @ .., ")"] = tokens.as_slice()
        && !is_closed_within(inside)
    {
        tokens = inside.to_vec();
    }
    if let ["not", "(", inside @ .., ")"] = tokens.as_slice()
        && let ["sys", ".", "version_info", "[", "0", "]", "==", major @ ("2" | "3")] = inside
    {
        return format!("sys . version_info [ 0 ] == {}", if *major == "2" { "3" } else { "2" });
    }
    let mut told: Vec<&str> = Vec::with_capacity(tokens.len());
    let mut at = 0;
    while let Some(token) = tokens.get(at) {
        let is_rooted = told.ends_with(&["sys", "."]);
        if *token == "version_info" && (is_rooted || (is_base && told.last() != Some(&"."))) {
            told.extend(["sys", "."].iter().filter(|_| !is_rooted));
            told.push(token);
            at += 1 + first_parts(&tokens[at + 1..]).unwrap_or_default();
        } else {
            told.push(token);
            at += 1;
        }
    }
    told.join(" ")
}

/// Whether a bracket that was open before these tokens is closed among them.
fn is_closed_within(tokens: &[&str]) -> bool {
    let mut depth = 0_usize;
    tokens.iter().any(|token| {
        let is_last = depth == 0 && *token == ")";
        depth = depth.saturating_add(usize::from(*token == "(")).saturating_sub(usize::from(*token == ")"));
        is_last
    })
}

/// How many tokens take so many first parts of a version that no number it is compared with is left out: `[:2] >= (3, 9)`.
fn first_parts(tokens: &[&str]) -> Option<usize> {
    let (length, count, rest) = match tokens {
        ["[", ":", count, "]", rest @ ..] => (4, *count, rest),
        ["[", "0", ":", count, "]", rest @ ..] => (5, *count, rest),
        _ => return None,
    };
    let [">=" | "<", "(", numbers @ ..] = rest else { return None };
    let end = numbers.iter().position(|token| *token == ")")?;
    let compared = numbers[..end].iter().filter(|token| **token != ",").count();
    (count.parse::<usize>().ok()? >= compared).then_some(length)
}

/// Whether each condition that acts now is one of several that did.
fn is_one_of(was: &Mark, now: &Mark) -> bool {
    let parts = |mark: &Mark| {
        let tokens = tokens::short_names(mark.when.as_deref().unwrap_or_default()).join(" ");
        let closed = |part: &str, [open, close]: [char; 2]| part.matches(open).count() == part.matches(close).count();
        let whole = |part: &str| [['(', ')'], ['[', ']'], ['{', '}']].iter().all(|pair| closed(part, *pair)) && !part.contains(" if ");
        let is_plain = tokens.split(" or ").all(|part| whole(part) && part.matches(['\'', '"']).count().is_multiple_of(2));
        is_plain.then(|| tokens.split(" or ").map(str::to_owned).collect::<BTreeSet<String>>())
    };
    was.when.is_some() && now.when.is_some() && parts(was).zip(parts(now)).is_some_and(|(was, now)| now.is_subset(&was))
}

/// Whether the same version bound was moved so that it acts more seldom: `version < (3, 9)` became `version < (3, 8)`.
fn is_narrower(was: Option<&str>, now: Option<&str>) -> bool {
    let (Some(was), Some(now)) = (was, now) else { return false };
    let cut = |text: &str| {
        [" <= ", " < ", " >= ", " > "].iter().find_map(|sign| {
            let (left, right) = text.split_once(sign)?;
            (left == "sys.version_info").then(|| Some((*sign, version(right)?))).flatten()
        })
    };
    let (Some((sign, old)), Some((same, new))) = (cut(was), cut(now)) else { return false };
    sign == same && if sign.contains('<') { new <= old } else { new >= old }
}

fn version(text: &str) -> Option<Vec<u32>> {
    let inside = text.strip_prefix('(')?.strip_suffix(')')?;
    inside.split(',').map(str::trim).filter(|part| !part.is_empty()).map(|part| part.parse().ok()).collect()
}

/// A row that the base does not have is no test that was disabled.
fn is_felt(mark: &Mark, base: &Card) -> bool {
    let Some(row) = &mark.row else { return true };
    let whole = |cells: &Vec<String>| if let [one] = cells.as_slice() { one.clone() } else { format!("({})", cells.join(", ")) };
    base.domain.tables.iter().flat_map(|table| &table.rows).any(|cells| whole(cells) == *row)
}

fn told(mark: &Mark) -> String {
    let when = mark.when.as_ref().map(|when| format!(" when {when}")).unwrap_or_default();
    let row = mark.row.as_ref().map(|row| format!(", row {row}")).unwrap_or_default();
    format!("{}{when}{row}", mark.does.word())
}

/// Whether a mark keeps the whole test from counting.
pub(super) fn disables(mark: &Mark) -> bool {
    mark.row.is_none() && mark.does != Does::Flaky
}

#[cfg(test)]
mod tests {
    use super::plain;

    #[test]
    fn a_condition_on_the_version_has_one_spelling() {
        for (one, other) in [
            ("version_info[:2] >= (3, 9)", "sys.version_info >= (3, 9)"),
            ("not (version_info[:2] >= (3, 9))", "not (sys.version_info >= (3, 9))"),
            ("sys.version_info[0:3] < (3, 8)", "sys.version_info < (3, 8)"),
            ("not (sys.version_info[0] == 3)", "sys.version_info[0] == 2"),
            ("not (sys.version_info[0] == 2)", "sys.version_info[0] == 3"),
            ("('a' in b and isinstance(c, (D, E)))", "'a' in b and isinstance(c, (D, E))"),
        ] {
            assert_eq!(plain(one, true), plain(other, false), "{one} {other}");
        }
        for (one, other) in [
            ("sys.version_info[:1] >= (3, 9)", "sys.version_info >= (3, 9)"),
            ("sys.version_info[:2] > (3, 9)", "sys.version_info > (3, 9)"),
            ("sys.version_info[:2] >= (3, 9)", "sys.version_info >= (3, 8)"),
            ("not (sys.version_info[0] == 3)", "sys.version_info[0] == 3"),
            ("(a) or (b)", "a) or (b"),
            ("shop.version_info >= (3, 9)", "sys.version_info >= (3, 9)"),
            ("sys.version_info >= (3, 9)", "version_info >= (3, 9)"),
        ] {
            assert_ne!(plain(one, true), plain(other, false), "{one} {other}");
        }
    }
}
