//! Owns canonical source taken apart where nothing is bracketed: operands, calls, constants.

use std::collections::BTreeSet;

use crate::strength::delta::tokens::{cut, is_free, is_name, is_template};

type Tokens<'t> = &'t [&'t str];

/// The tokens outside every bracket, with their positions; brackets themselves count as inside, save the opening one.
pub(in crate::strength::delta) fn top<'t>(tokens: &'t [&'t str]) -> impl Iterator<Item = (usize, &'t str)> + use<'t> {
    let mut depth = 0_usize;
    tokens.iter().copied().enumerate().filter(move |(_, token)| {
        let outside = depth == 0;
        match *token {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" => depth = depth.saturating_sub(1),
            _ => {}
        }
        outside
    })
}

/// The parts between tokens of that word outside brackets.
pub(super) fn cut_at<'t>(tokens: Tokens<'t>, word: &str) -> Vec<Tokens<'t>> {
    let mut parts = Vec::new();
    let mut start = 0;
    for (at, _) in top(tokens).filter(|(at, t)| *t == word && *at > 0) {
        parts.push(&tokens[start..at]);
        start = at + 1;
    }
    if start < tokens.len() || parts.is_empty() {
        parts.push(&tokens[start..]);
    }
    parts
}

/// Where the bracket that opens at `at` closes.
pub(super) fn closing(tokens: Tokens<'_>, at: usize) -> Option<usize> {
    let mut depth = 0_usize;
    for (place, token) in tokens.iter().enumerate().skip(at) {
        match *token {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" => {
                depth = depth.checked_sub(1)?;
                if depth == 0 {
                    return Some(place);
                }
            }
            _ => {}
        }
    }
    None
}

/// Without parentheses around the whole; a tuple keeps its own.
pub(super) fn unwrapped(mut tokens: Tokens<'_>) -> Tokens<'_> {
    while tokens.first() == Some(&"(") && tokens.len() > 2 && closing(tokens, 0) == Some(tokens.len() - 1) {
        let inside = &tokens[1..tokens.len() - 1];
        if top(inside).any(|(_, t)| matches!(t, "," | "for")) {
            break;
        }
        tokens = inside;
    }
    tokens
}

/// A call of a dotted name.
pub(super) struct Call<'t> {
    pub(super) name: String,
    pub(super) args: Vec<Tokens<'t>>,
    pub(super) keywords: Vec<(&'t str, Tokens<'t>)>,
    pub(super) inside: Tokens<'t>,
}

impl<'t> Call<'t> {
    /// Whether the last part of the name is this.
    pub(super) fn is(&self, name: &str) -> bool {
        self.name.rsplit('.').next() == Some(name)
    }

    /// The value of a keyword.
    pub(super) fn named(&self, name: &str) -> Option<Tokens<'t>> {
        self.keywords.iter().find(|(word, _)| *word == name).map(|(_, value)| *value)
    }
}

/// Reads tokens that are one call and nothing else.
pub(super) fn call(tokens: Tokens<'_>) -> Option<Call<'_>> {
    let open = tokens.iter().position(|t| *t == "(").filter(|at| *at > 0)?;
    let is_dotted = tokens[..open].iter().all(|t| *t == "." || t.chars().all(|c| c.is_alphanumeric() || c == '_'));
    if !is_dotted || closing(tokens, open) != Some(tokens.len() - 1) {
        return None;
    }
    let inside = &tokens[open + 1..tokens.len() - 1];
    let (mut args, mut keywords) = (Vec::new(), Vec::new());
    for part in cut_at(inside, ",").into_iter().filter(|part| !part.is_empty()) {
        match part {
            [word, "=", value @ ..] => keywords.push((*word, value)),
            value => args.push(unwrapped(value)),
        }
    }
    Some(Call { name: tokens[..open].concat(), args, keywords, inside })
}

/// The number that tokens spell.
pub(super) fn number(tokens: Tokens<'_>) -> Option<f64> {
    match unwrapped(tokens) {
        [one] if one.starts_with(|c: char| c.is_ascii_digit()) => one.parse().ok(),
        ["-", rest @ ..] => number(rest).map(|n| -n),
        [left, "**", right] => Some(number(&[left])?.powf(number(&[right])?)),
        [left, "**", "-", right] => Some(number(&[left])?.powf(-number(&[right])?)),
        [left, "/", right] => Some(number(&[left])? / number(&[right])?),
        _ => None,
    }
}

/// As of a text.
pub(in crate::strength::delta) fn number_of(text: &str) -> Option<f64> {
    number(&cut(text))
}

/// Whether no name stands in it whose meaning depends on the file.
pub(super) fn is_constant(tokens: Tokens<'_>) -> bool {
    !tokens.is_empty() && !(0..tokens.len()).any(|at| is_template(tokens[at]) || (is_name(tokens[at]) && is_free(tokens, at)))
}

/// Whether it is a constant but for classes and constants by their names: `Decimal('1')`, `Color.RED`.
pub(super) fn is_value(tokens: Tokens<'_>) -> bool {
    let mut at = 0;
    while at < tokens.len() {
        if is_template(tokens[at]) {
            return false;
        }
        if !(is_name(tokens[at]) && is_free(tokens, at)) {
            at += 1;
            continue;
        }
        let mut last = at;
        while tokens.get(last + 1) == Some(&".") && tokens.get(last + 2).is_some() {
            last += 2;
        }
        if !tokens[last].trim_start_matches('_').starts_with(char::is_uppercase) {
            return false;
        }
        at = last + 1;
    }
    !tokens.is_empty()
}

/// As of a text.
pub(in crate::strength::delta) fn is_value_text(text: &str) -> bool {
    is_value(&cut(text))
}

/// Names of a text whose meaning depends on the file.
pub(in crate::strength::delta) fn names(text: &str) -> BTreeSet<&str> {
    let tokens = cut(text);
    (0..tokens.len()).filter(|at| is_name(tokens[*at]) && is_free(&tokens, *at)).map(|at| tokens[at]).collect()
}

/// Functions that run something asynchronous to its end.
const RUNNERS: [&[&str]; 4] =
    [&["asyncio", ".", "run", "("], &["trio", ".", "run", "("], &["anyio", ".", "run", "("], &["loop", ".", "run_until_complete", "("]];

/// A text in which equal values are spelt alike: numbers by value, without `await` and without what runs something asynchronous.
pub(in crate::strength::delta) fn normal(text: &str) -> String {
    let tokens = cut(text);
    let (mut told, mut skipped): (Vec<String>, BTreeSet<usize>) = (Vec::with_capacity(tokens.len()), BTreeSet::new());
    let mut at = 0;
    while at < tokens.len() {
        let rest = &tokens[at..];
        let runner = RUNNERS.iter().find(|words| rest.starts_with(words) && (at == 0 || tokens[at - 1] != "."));
        if let Some((words, close)) = runner.and_then(|words| Some((words, closing(tokens.as_slice(), at + words.len() - 1)?))) {
            skipped.insert(close);
            at += words.len();
            continue;
        }
        if let Some(close) = listed(&tokens, at) {
            skipped.insert(close);
            at += 2;
            continue;
        }
        if let Some((length, word)) = respelt(rest).filter(|_| at == 0 || tokens[at - 1] != ".") {
            told.extend(word.map(str::to_owned));
            at += length;
            continue;
        }
        if tokens[at] != "await" && !skipped.contains(&at) {
            told.push(plain_number(tokens[at]));
        }
        at += 1;
    }
    told.join(" ")
}

/// Where `list(x)` closes of which only a part is taken: `list(x)[0]` is `x[0]` wherever that is something.
fn listed(tokens: Tokens<'_>, at: usize) -> Option<usize> {
    let opens = tokens[at..].starts_with(&["list", "("]) && (at == 0 || tokens[at - 1] != ".");
    let close = Some(()).filter(|()| opens).and_then(|()| closing(tokens, at + 1))?;
    let inside = &tokens[at + 2..close];
    let is_chain =
        !inside.is_empty() && top(inside).all(|(_, t)| matches!(t, "." | "(" | "[") || (is_word(t) && !is_keyword(t) && t != "lambda"));
    (is_chain && tokens.get(close + 1) == Some(&"[")).then_some(close)
}

/// Spellings of the same thing in older and newer Python: how many tokens, and what is told instead.
fn respelt<'t>(rest: &[&'t str]) -> Option<(usize, Option<&'t str>)> {
    match rest {
        ["typing", ".", "List", ..] => Some((3, Some("list"))),
        ["typing", ".", "Dict", ..] => Some((3, Some("dict"))),
        ["typing", ".", "Tuple", ..] => Some((3, Some("tuple"))),
        ["typing", ".", "Set", ..] => Some((3, Some("set"))),
        ["typing", ".", "FrozenSet", ..] => Some((3, Some("frozenset"))),
        ["typing", ".", "Type", ..] => Some((3, Some("type"))),
        ["typing_extensions", ".", ..] => Some((1, Some("typing"))),
        [",", "strict", "=", "True" | "False", ")", ..] => Some((4, None)),
        _ => None,
    }
}

/// Imported names without the modules between package and name: a class or function may move inside its package. `own` are names that
/// are no packages.
pub(in crate::strength::delta) fn without_modules(text: &str, own: &BTreeSet<&str>) -> String {
    let tokens = cut(text);
    let (mut told, mut at) = (Vec::with_capacity(tokens.len()), 0);
    while at < tokens.len() {
        if let Some(last) = relative(&tokens, at) {
            told.extend([".", tokens[last]]);
            at = last + 1;
            continue;
        }
        told.push(tokens[at]);
        let mut last = at;
        let is_root = is_name(tokens[at]) && is_free(&tokens, at) && !own.contains(tokens[at]);
        while is_root && tokens.get(last + 1) == Some(&".") && tokens.get(last + 2).is_some_and(|t| is_word(t)) {
            last += 2;
        }
        let is_called = tokens.get(last + 1) == Some(&"(") || tokens[last].starts_with(char::is_uppercase);
        if last > at + 2 && is_called {
            told.extend([".", tokens[last]]);
            at = last;
        }
        at += 1;
    }
    told.join(" ")
}

/// Where the name of a function or class ends that starts here with the dots of the package that the file is in.
fn relative(tokens: Tokens<'_>, at: usize) -> Option<usize> {
    let before = at.checked_sub(1).map(|before| tokens[before]);
    let opens = before.is_none_or(|t| is_keyword(t) || !(is_word(t) || matches!(t, ")" | "]" | "}") || t.ends_with(['\'', '"'])));
    let dots = tokens[at..].iter().take_while(|t| **t == ".").count();
    let mut last = at + dots;
    if dots == 0 || !opens || !tokens.get(last).is_some_and(|t| is_word(t)) {
        return None;
    }
    while tokens.get(last + 1) == Some(&".") && tokens.get(last + 2).is_some_and(|t| is_word(t)) {
        last += 2;
    }
    (tokens.get(last + 1) == Some(&"(") || is_class(tokens[last])).then_some(last)
}

/// Words after which an operand follows.
fn is_keyword(token: &str) -> bool {
    matches!(token, "not" | "and" | "or" | "in" | "is" | "if" | "else" | "for" | "await" | "return" | "yield")
}

fn is_class(token: &str) -> bool {
    token.trim_start_matches('_').starts_with(char::is_uppercase)
}

/// Whether both ask the same of every element, and the other goes through all elements of the first and maybe more.
pub(in crate::strength::delta) fn is_wider_all(one: &str, other: &str) -> bool {
    let parts = |text: &str| -> Option<(String, BTreeSet<String>)> {
        let tokens = cut(text);
        let c = call(&tokens).filter(|c| c.name == "all" && c.args.len() == 1)?;
        let each = match c.args[0] {
            ["(", inside @ .., ")"] => inside,
            each => each,
        };
        let at = each.iter().rposition(|t| *t == "in")?;
        let over = &each[at + 1..];
        let inside = matches!(over, ["[", .., "]"] | ["(", .., ")"]).then(|| &over[1..over.len() - 1])?;
        Some((each[..at].join(" "), cut_at(inside, ",").into_iter().map(|e| e.join(" ")).collect()))
    };
    parts(one).zip(parts(other)).is_some_and(|((a, few), (b, many))| a == b && few.is_subset(&many))
}

fn plain_number(token: &str) -> String {
    let is_float = token.starts_with(|c: char| c.is_ascii_digit()) && token.contains(['.', 'e']) && !token.starts_with("0x");
    match token.parse::<f64>() {
        Ok(value) if is_float && value.is_finite() => format!("{value}"),
        _ => token.to_owned(),
    }
}

/// Whether a whole expression stands as a part in another.
pub(in crate::strength::delta) fn holds_part(whole: &str, part: &str) -> bool {
    !part.is_empty() && format!(" {whole} ").contains(&format!(" {part} "))
}

/// Whether two texts differ in constants alone.
pub(in crate::strength::delta) fn is_literal_change(one: &str, other: &str) -> bool {
    let is_literal =
        |t: &str| t.starts_with(|c: char| c.is_ascii_digit() || c == '\'' || c == '"') || matches!(t, "True" | "False" | "None");
    let (one, other): (Vec<&str>, Vec<&str>) =
        (cut(one).into_iter().filter(|t| *t != "-").collect(), cut(other).into_iter().filter(|t| *t != "-").collect());
    one.len() == other.len() && one.iter().zip(&other).all(|(a, b)| a == b || (is_literal(a) && is_literal(b)))
}

/// What an expression only looks at: `len(S)`, `S.name`, `S[0]`, `str(S)` all look at S. The nearest first.
pub(in crate::strength::delta) fn pure_parts(text: &str) -> Vec<String> {
    let tokens = cut(text);
    let (mut at, mut parts): (Tokens<'_>, Vec<String>) = (&tokens, Vec::new());
    while let Some(part) = looked_at(at).filter(|part| part.len() < at.len() && parts.len() < 16) {
        parts.push(part.join(" "));
        at = part;
    }
    parts
}

const LOOKS: [&str; 18] = [
    "len",
    "str",
    "repr",
    "sorted",
    "set",
    "list",
    "tuple",
    "dict",
    "type",
    "sum",
    "max",
    "min",
    "bool",
    "int",
    "float",
    "bytes",
    "frozenset",
    "all",
];
/// Methods of the language's own values.
const METHODS: [&str; 17] = [
    "startswith",
    "endswith",
    "strip",
    "lower",
    "upper",
    "split",
    "splitlines",
    "keys",
    "values",
    "items",
    "get",
    "count",
    "index",
    "encode",
    "decode",
    "copy",
    "union",
];

fn looked_at(tokens: Tokens<'_>) -> Option<Tokens<'_>> {
    if let Some(c) = call(tokens).filter(|c| LOOKS.contains(&c.name.as_str()) && c.args.len() == 1) {
        return Some(c.args[0]);
    }
    match tokens {
        [of @ .., ".", name] if !of.is_empty() && is_word(name) => Some(unwrapped(of)),
        [.., "]" | ")"] => {
            let open =
                (0..tokens.len()).rev().find(|at| matches!(tokens[*at], "[" | "(") && closing(tokens, *at) == Some(tokens.len() - 1))?;
            let (of, last) = tokens.split_at(open);
            match (of, last[0]) {
                (of, "[") if !of.is_empty() => Some(unwrapped(of)),
                ([of @ .., ".", method], "(") if METHODS.contains(method) && !of.is_empty() => Some(unwrapped(of)),
                _ => None,
            }
        }
        _ => None,
    }
}

fn is_word(token: &str) -> bool {
    token.chars().all(|c| c.is_alphanumeric() || c == '_')
}
