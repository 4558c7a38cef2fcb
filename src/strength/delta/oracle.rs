//! Owns what one condition demands of what: kind, subject, expected value and slack, read from its canonical source.

mod given;
mod source;

use crate::strength::delta::oracle::source::{Call, call, cut_at, is_constant, is_value, number, unwrapped};
use crate::strength::delta::tokens;

pub(super) use given::{Added, Known, is_given_more};
pub(super) use source::{
    holds_part, is_literal_change, is_value_text, is_wider_all, names, normal, number_of, pure_parts, top, without_modules,
};

/// How much a condition says of its subject, the weakest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    /// Nothing: it always holds.
    Vacuous,
    /// One of several conditions holds.
    Either,
    /// Its truth, its type, or one value that it is not.
    Shape,
    /// On which side of a value it lies.
    Bound,
    /// About which value it is.
    Tolerance,
    /// One of several values, or a part of it.
    Member,
    /// Which value it is.
    Exact,
    /// What it raises or warns.
    Raises,
}

impl Kind {
    /// The word for it.
    pub(super) fn word(self) -> &'static str {
        match self {
            Kind::Vacuous => "vacuous",
            Kind::Either => "either",
            Kind::Shape => "shape",
            Kind::Bound => "bound",
            Kind::Tolerance => "tolerance",
            Kind::Member => "member",
            Kind::Exact => "exact",
            Kind::Raises => "raises",
        }
    }
}

/// How far from the expected value a subject may lie: a share of it, or a distance.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Slack {
    pub(super) share: f64,
    pub(super) distance: f64,
}

/// One condition.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Oracle {
    pub(super) kind: Kind,
    /// How subject and expected value stand to each other: `==`, `<`, `truth`, `isinstance`, `raises`.
    pub(super) sign: String,
    pub(super) subject: String,
    pub(super) expected: String,
    /// The pattern of what is raised.
    pub(super) pattern: Option<String>,
    pub(super) slack: Option<Slack>,
    /// The operands of a disjunction.
    pub(super) operands: Vec<Oracle>,
}

/// Conditions that stand in one another deeper than this are not taken apart.
const DEPTH: usize = 40;

type Tokens<'t> = &'t [&'t str];

impl Oracle {
    fn new(kind: Kind, sign: &str, subject: Tokens<'_>, expected: Tokens<'_>) -> Self {
        Oracle {
            kind,
            sign: sign.to_owned(),
            subject: subject.join(" "),
            expected: expected.join(" "),
            pattern: None,
            slack: None,
            operands: Vec::new(),
        }
    }

    fn vacuous(of: Tokens<'_>) -> Self {
        Oracle::new(Kind::Vacuous, "", of, &[])
    }

    fn near(subject: Tokens<'_>, expected: Tokens<'_>, slack: Option<Slack>) -> Self {
        let (subject, expected) = if is_value(subject) && !is_value(expected) { (expected, subject) } else { (subject, expected) };
        Oracle { slack, ..Oracle::new(Kind::Tolerance, "~", subject, expected) }
    }

    /// What a canonical condition demands, conjunctions and chains taken apart.
    pub(super) fn read(text: &str) -> Vec<Oracle> {
        let mut all = Vec::new();
        condition(&tokens::cut(text), false, DEPTH, &mut all);
        all
    }
}

fn condition(tokens: Tokens<'_>, negated: bool, depth: usize, all: &mut Vec<Oracle>) {
    let tokens = unwrapped(tokens);
    let Some(depth) = depth.checked_sub(1) else { return all.push(atom(tokens, negated)) };
    if tokens.first() == Some(&"with") {
        return all.push(raises(tokens));
    }
    if top(tokens).any(|(_, t)| matches!(t, "if" | "lambda" | ":=" | "yield")) {
        return all.push(atom(tokens, negated));
    }
    for (word, is_and) in [("or", false), ("and", true)] {
        let parts = cut_at(tokens, word);
        if parts.len() > 1 {
            if is_and == negated {
                all.push(either(tokens, &parts, negated, depth));
            } else {
                for part in parts {
                    condition(part, negated, depth, all);
                }
            }
            return;
        }
    }
    if tokens.first() == Some(&"not") {
        return condition(&tokens[1..], !negated, depth, all);
    }
    compared(tokens, negated, all);
}

/// A disjunction says what its operands say together, and nothing when one of them always holds or two exclude each other.
fn either(whole: Tokens<'_>, parts: &[Tokens<'_>], negated: bool, depth: usize) -> Oracle {
    let mut operands = Vec::new();
    for part in parts {
        let mut read = Vec::new();
        condition(part, negated, depth, &mut read);
        match read.len() {
            1 => operands.append(&mut read),
            _ => operands.push(Oracle::new(Kind::Shape, if negated { "false" } else { "truth" }, part, &[])),
        }
    }
    operands.sort_by(|a, b| (&a.subject, &a.sign, &a.expected).cmp(&(&b.subject, &b.sign, &b.expected)));
    operands.dedup();
    let opposite = |a: &Oracle, b: &Oracle| a.subject == b.subject && a.expected == b.expected && opposed(&a.sign, &b.sign);
    let excluded = operands.iter().enumerate().any(|(at, a)| operands[at + 1..].iter().any(|b| opposite(a, b)));
    if excluded || operands.iter().any(|o| o.kind == Kind::Vacuous) {
        return Oracle::vacuous(whole);
    }
    Oracle { operands, ..Oracle::new(Kind::Either, "or", whole, &[]) }
}

fn opposed(one: &str, other: &str) -> bool {
    turned(one) == other || matches!((one, other), ("truth", "false") | ("false", "truth"))
}

/// The sign that holds exactly where this one does not.
fn turned(sign: &str) -> &str {
    match sign {
        "==" => "!=",
        "!=" => "==",
        "<" => ">=",
        ">=" => "<",
        ">" => "<=",
        "<=" => ">",
        "in" => "not in",
        "not in" => "in",
        other => other,
    }
}

/// The sign with its sides exchanged.
fn mirrored(sign: &str) -> &str {
    match sign {
        "<" => ">",
        ">" => "<",
        "<=" => ">=",
        ">=" => "<=",
        other => other,
    }
}

fn compared(tokens: Tokens<'_>, negated: bool, all: &mut Vec<Oracle>) {
    let (operands, signs) = comparison(tokens);
    match signs.as_slice() {
        [] => all.push(atom(tokens, negated)),
        [sign] => all.push(relation(operands[0], if negated { turned(sign) } else { sign }, operands[1])),
        _ if negated => all.push(Oracle::new(Kind::Shape, "false", tokens, &[])),
        _ => all.extend(signs.iter().enumerate().map(|(at, sign)| relation(operands[at], sign, operands[at + 1]))),
    }
}

/// The operands of a comparison and the signs between them; `is` is told as `==`.
fn comparison(tokens: Tokens<'_>) -> (Vec<Tokens<'_>>, Vec<&'static str>) {
    let (mut operands, mut signs, mut start, mut skip) = (Vec::new(), Vec::new(), 0, 0);
    for (at, token) in top(tokens) {
        let next = tokens.get(at + 1).copied();
        let found = match (token, next) {
            _ if at < skip => None,
            ("!=", _) => Some(("!=", 1)),
            ("<", _) => Some(("<", 1)),
            (">", _) => Some((">", 1)),
            ("<=", _) => Some(("<=", 1)),
            (">=", _) => Some((">=", 1)),
            ("is", Some("not")) => Some(("!=", 2)),
            ("==" | "is", _) => Some(("==", 1)),
            ("not", Some("in")) => Some(("not in", 2)),
            ("in", _) => Some(("in", 1)),
            _ => None,
        };
        if let Some((sign, length)) = found {
            operands.push(unwrapped(&tokens[start..at]));
            signs.push(sign);
            (start, skip) = (at + length, at + length);
        }
    }
    operands.push(unwrapped(&tokens[start..]));
    (operands, signs)
}

fn relation(left: Tokens<'_>, sign: &str, right: Tokens<'_>) -> Oracle {
    if is_constant(left) && is_constant(right) {
        return Oracle::vacuous(left);
    }
    match sign {
        "==" => equal(left, right),
        "in" if is_value(right) && !is_value(left) && is_display(right) => Oracle::new(Kind::Member, "in", left, right),
        "in" => Oracle::new(Kind::Member, "contains", right, left),
        "not in" => Oracle::new(Kind::Bound, "lacks", right, left),
        "!=" => {
            let (left, right) = if is_value(left) && !is_value(right) { (right, left) } else { (left, right) };
            Oracle::new(Kind::Shape, "!=", left, right)
        }
        _ => bound(left, sign, right),
    }
}

fn is_display(tokens: Tokens<'_>) -> bool {
    matches!(tokens.first(), Some(&("(" | "[" | "{")))
}

fn equal(left: Tokens<'_>, right: Tokens<'_>) -> Oracle {
    if left == right {
        return Oracle::vacuous(left);
    }
    let (left, right) = if is_value(left) && !is_value(right) { (right, left) } else { (left, right) };
    for (value, subject) in [(right, left), (left, right)] {
        match call(value) {
            Some(c) if c.is("approx") && !c.args.is_empty() => return Oracle::near(subject, c.args[0], approx(&c)),
            _ => {}
        }
    }
    if let Some(c) = call(left).filter(|c| c.name == "round" && !c.args.is_empty()) {
        let right = call(right).filter(|r| r.name == "round" && !r.args.is_empty()).map_or(right, |r| r.args[0]);
        let places = c.args.get(1).map_or(Some(0.0), |p| number(p));
        return Oracle::near(c.args[0], right, places.map(|p| Slack { share: 0.0, distance: 0.5 * 10_f64.powf(-p) }));
    }
    match right {
        ["True"] => Oracle::new(Kind::Shape, "truth", left, &[]),
        ["False"] => Oracle::new(Kind::Shape, "false", left, &[]),
        _ => Oracle::new(Kind::Exact, "==", left, right),
    }
}

fn bound(left: Tokens<'_>, sign: &str, right: Tokens<'_>) -> Oracle {
    let is_distance = |t: Tokens<'_>| call(t).is_some_and(|c| c.is("abs"));
    let flip = (is_value(left) && !is_value(right)) || (is_distance(right) && !is_distance(left));
    let (left, sign, right) = if flip { (right, mirrored(sign), left) } else { (left, sign, right) };
    if sign == ">=" && number(right) == Some(0.0) && call(left).is_some_and(|c| c.name == "len") {
        return Oracle::vacuous(left);
    }
    if let Some(c) = call(left).filter(|c| c.is("abs") && c.args.len() == 1 && matches!(sign, "<" | "<=")) {
        let parts = cut_at(c.args[0], "-");
        if let [subject, expected] = parts.as_slice() {
            let slack = number(right).map(|distance| Slack { share: 0.0, distance });
            return Oracle::near(unwrapped(subject), unwrapped(expected), slack);
        }
    }
    Oracle::new(Kind::Bound, sign, left, right)
}

/// A share and a distance by the names of a function's parameters.
fn slack(c: &Call<'_>, share: (&str, f64), distance: (&str, f64)) -> Option<Slack> {
    let told = |(name, default): (&str, f64)| c.named(name).map_or(Some(default), number);
    Some(Slack { share: told(share)?, distance: told(distance)? })
}

/// `approx` has no share where only a distance is given.
fn approx(c: &Call<'_>) -> Option<Slack> {
    let given = |name: &str, at: usize| c.named(name).or_else(|| c.args.get(at).copied()).filter(|t| *t != ["None"]);
    let (share, distance) = (given("rel", 1), given("abs", 2));
    let default = if distance.is_some() { 0.0 } else { 1e-6 };
    Some(Slack { share: share.map_or(Some(default), number)?, distance: distance.map_or(Some(1e-12), number)? })
}

fn atom(tokens: Tokens<'_>, negated: bool) -> Oracle {
    let truth = if negated { "false" } else { "truth" };
    if !negated && always_holds(tokens) {
        return Oracle::vacuous(tokens);
    }
    if negated {
        return Oracle::new(Kind::Shape, truth, tokens, &[]);
    }
    call(tokens).and_then(|c| check(&c)).unwrap_or_else(|| Oracle::new(Kind::Shape, truth, tokens, &[]))
}

/// A constant that is true, a display with something in it, or `all` over nothing.
fn always_holds(tokens: Tokens<'_>) -> bool {
    if let Some(c) = call(tokens).filter(|c| c.name == "all" && c.args.len() == 1) {
        let over = c.args[0];
        let nothing = |t: &[&str]| matches!(t, ["(", ")"] | ["[", "]"] | ["{", "}"]);
        return nothing(over) || over.windows(3).any(|w| w[0] == "in" && nothing(&w[1..]));
    }
    match tokens {
        [] | ["False" | "None" | "''" | "\"\"" | "0" | "b''"] | ["(", ")"] | ["[", "]"] | ["{", "}"] => false,
        ["(", .., ")"] => cut_at(&tokens[1..tokens.len() - 1], ",").len() > 1,
        [one] => is_constant(tokens) && number(&[one]) != Some(0.0),
        ["lambda", ..] => true,
        _ => false,
    }
}

/// Checks that are calls.
fn check(c: &Call<'_>) -> Option<Oracle> {
    let last = c.name.rsplit('.').next().unwrap_or_default();
    let two = || Some((*c.args.first()?, *c.args.get(1)?));
    let house = |name: &str| c.name.starts_with(name);
    Some(match last {
        "bool" => atom(c.args.first()?, false),
        "isinstance" | "issubclass" | "hasattr" | "callable" => {
            Oracle::new(Kind::Shape, last, c.args.first()?, c.args.get(1).copied().unwrap_or_default())
        }
        "isclose" | "allclose" if house("numpy") => near(c, two()?, slack(c, ("rtol", 1e-5), ("atol", 1e-8))),
        "isclose" => near(c, two()?, slack(c, ("rel_tol", 1e-9), ("abs_tol", 0.0))),
        "match" | "search" | "fullmatch" if house("re.") => Oracle::new(Kind::Member, last, two()?.1, two()?.0),
        "assertAlmostEqual" | "assertAlmostEquals" => near(c, two()?, places(c)),
        "assertCountEqual" | "assertItemsEqual" => Oracle::new(Kind::Member, "same items", two()?.0, two()?.1),
        "assertRegex" | "assertRegexpMatches" => Oracle::new(Kind::Member, "search", two()?.0, two()?.1),
        "assert_allclose" => near(c, two()?, slack(c, ("rtol", 1e-7), ("atol", 0.0))),
        "assert_almost_equal" | "assert_array_almost_equal" => near(c, two()?, decimal(c)),
        _ if house("pandas.testing.") => framed(c, two()?, last),
        _ if house("numpy.testing.") => Oracle::new(Kind::Exact, last, two()?.0, two()?.1),
        _ if last.starts_with("assert_") => mocked(c, last),
        _ => return None,
    })
}

fn near(c: &Call<'_>, (subject, expected): (Tokens<'_>, Tokens<'_>), slack: Option<Slack>) -> Oracle {
    let told = slack.filter(|_| c.args.len() <= 2 || !c.name.starts_with("numpy"));
    Oracle::near(subject, expected, told)
}

/// Frames and the like: equal, within a tolerance, or equal but for what is not looked at.
fn framed(c: &Call<'_>, (subject, expected): (Tokens<'_>, Tokens<'_>), last: &str) -> Oracle {
    let off = |name: &str| c.named(name) == Some(&["False"]);
    let on = |name: &str| c.named(name) == Some(&["True"]);
    let looked = ["check_dtype", "check_index_type", "check_column_type", "check_names", "check_categorical", "check_index", "check_freq"];
    if looked.iter().any(|name| off(name)) || on("check_like") {
        return Oracle::new(Kind::Member, last, subject, expected);
    }
    if c.named("rtol").is_some() || c.named("atol").is_some() {
        return Oracle::near(subject, expected, slack(c, ("rtol", 1e-5), ("atol", 1e-8)));
    }
    Oracle::new(Kind::Exact, last, subject, expected)
}

fn places(c: &Call<'_>) -> Option<Slack> {
    if let Some(delta) = c.named("delta") {
        return Some(Slack { share: 0.0, distance: number(delta)? });
    }
    let places = c.named("places").or_else(|| c.args.get(2).copied()).map_or(Some(7.0), number)?;
    Some(Slack { share: 0.0, distance: 0.5 * 10_f64.powf(-places) })
}

fn decimal(c: &Call<'_>) -> Option<Slack> {
    let places = c.named("decimal").or_else(|| c.args.get(2).copied()).map_or(Some(7.0), number)?;
    Some(Slack { share: 0.0, distance: 1.5 * 10_f64.powf(-places) })
}

/// What a mock was called with, or that it was called at all.
fn mocked(c: &Call<'_>, last: &str) -> Oracle {
    let subject = c.name.strip_suffix(last).unwrap_or_default().trim_end_matches('.').replace('.', " . ");
    let kind = match last {
        "assert_called" | "assert_awaited" => Kind::Shape,
        "assert_called_once" | "assert_awaited_once" => Kind::Bound,
        "assert_any_call" | "assert_any_await" => Kind::Member,
        _ => Kind::Exact,
    };
    let sign = if last == "assert_not_called" { "not called" } else { "called" };
    Oracle { subject, ..Oracle::new(kind, sign, &[], c.inside) }
}

/// `with raises(Error, match='…'): subject`.
fn raises(tokens: Tokens<'_>) -> Oracle {
    let end = top(tokens).find(|(_, t)| *t == ":").map_or(tokens.len(), |(at, _)| at);
    let subject = tokens.get(end + 1..).unwrap_or_default();
    let Some(c) = call(&tokens[1..end]) else { return Oracle::new(Kind::Raises, "with", tokens, &[]) };
    let pattern = c.named("match").filter(|t| *t != ["None"]).map(|t| t.join(" "));
    let classes = c.args.first().copied().unwrap_or_default();
    Oracle { pattern, ..Oracle::new(Kind::Raises, &c.name, subject, classes) }
}

#[cfg(test)]
mod tests;
