//! Owns canonical source as tokens: cutting it up, and putting a row's value in the place of a name.

use std::collections::BTreeMap;

/// Cuts canonical source into names, numbers, strings and operators; space between them is dropped.
pub(super) fn cut(text: &str) -> Vec<&str> {
    let mut tokens = Vec::new();
    let mut rest = text.trim_start();
    while !rest.is_empty() {
        let (token, after) = rest.split_at(token_len(rest));
        tokens.push(token);
        rest = after.trim_start();
    }
    tokens
}

const OPERATORS: [&str; 20] =
    ["**=", "//=", ">>=", "<<=", "...", "==", "!=", "<=", ">=", "->", ":=", "**", "//", "<<", ">>", "+=", "-=", "*=", "&&", "||"];

fn token_len(text: &str) -> usize {
    let word = text.find(|c: char| !is_word(c)).unwrap_or(text.len());
    let quoted = text[word..].starts_with(['\'', '"']) && word <= 2 && !text.starts_with(|c: char| c.is_ascii_digit());
    if quoted {
        return word + string_len(&text[word..]);
    }
    if word > 0 {
        return if text.starts_with(|c: char| c.is_ascii_digit()) { number_len(text) } else { word };
    }
    let operator = OPERATORS.iter().find(|op| text.starts_with(**op)).map(|op| op.len());
    operator.unwrap_or_else(|| text.chars().next().map_or(text.len(), char::len_utf8))
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// `1.5e-3` is one token.
fn number_len(text: &str) -> usize {
    let mut exponent = false;
    let end = text.find(|c: char| {
        let part = is_word(c) || c == '.' || (exponent && matches!(c, '+' | '-'));
        exponent = matches!(c, 'e' | 'E') && !text.starts_with("0x");
        !part
    });
    end.unwrap_or(text.len())
}

fn string_len(text: &str) -> usize {
    let quote = &text[..1];
    let fence = if text.starts_with(&quote.repeat(3)) { &text[..3] } else { quote };
    let mut at = fence.len();
    while at < text.len() && !text[at..].starts_with(fence) {
        let escape = usize::from(text[at..].starts_with('\\'));
        let skipped: usize = text[at..].chars().take(1 + escape).map(char::len_utf8).sum();
        at += skipped;
    }
    (at + fence.len()).min(text.len())
}

/// The tokens with dotted names told by their last two parts: the same thing imported from elsewhere is the same.
pub(super) fn short_names(text: &str) -> Vec<&str> {
    let tokens = cut(text);
    let named = |at: usize| tokens.get(at).is_some_and(|token| is_name(token));
    let dot = |at: usize| tokens.get(at) == Some(&".");
    let mut kept = Vec::with_capacity(tokens.len());
    let mut at = 0;
    while let Some(token) = tokens.get(at) {
        let relative = dot(at)
            && (named(at + 1) || dot(at + 1))
            && !kept.last().is_some_and(|last: &&str| is_name(last) || matches!(*last, ")" | "]" | "}"));
        if named(at) && dot(at + 1) && named(at + 2) && dot(at + 3) {
            at += 2;
        } else {
            kept.extend((!relative).then_some(*token));
            at += 1;
        }
    }
    kept
}

/// The tokens with `is` told as `==`.
pub(super) fn compared(text: &str) -> Vec<&str> {
    let tokens = cut(text);
    let mut told: Vec<&str> = Vec::with_capacity(tokens.len());
    for token in tokens {
        match (told.last().copied(), token) {
            (_, "is") => told.push("=="),
            (Some("=="), "not") => {
                told.pop();
                told.push("!=");
            }
            _ => told.push(token),
        }
    }
    told
}

/// Whether a token is a string with names inside that no replacement reaches.
pub(super) fn is_template(token: &str) -> bool {
    let prefix = token.split(['\'', '"']).next().unwrap_or_default();
    prefix.len() < token.len() && prefix.contains(['f', 'F', 't', 'T'])
}

/// Words and built-in names that mean the same in every file, and what a lambda's or comprehension's own names are told as.
#[rustfmt::skip]
const EVERYWHERE: [&str; 135] = [
    "ArithmeticError", "AssertionError", "AttributeError", "BaseException", "BaseExceptionGroup", "BlockingIOError", "BrokenPipeError",
    "BufferError", "BytesWarning", "ChildProcessError", "ConnectionAbortedError", "ConnectionError", "ConnectionRefusedError",
    "ConnectionResetError", "DeprecationWarning", "EOFError", "EncodingWarning", "EnvironmentError", "Exception", "ExceptionGroup",
    "False", "FileExistsError", "FileNotFoundError", "FloatingPointError", "FutureWarning", "GeneratorExit", "IOError", "ImportError",
    "ImportWarning", "IndentationError", "IndexError", "InterruptedError", "IsADirectoryError", "KeyError", "KeyboardInterrupt",
    "LookupError", "MemoryError", "ModuleNotFoundError", "NameError", "None", "NotADirectoryError", "NotImplementedError", "OSError",
    "OverflowError", "PendingDeprecationWarning", "PermissionError", "ProcessLookupError", "PythonFinalizationError", "RecursionError",
    "ReferenceError", "ResourceWarning", "RuntimeError", "RuntimeWarning", "StopAsyncIteration", "StopIteration", "SyntaxError",
    "SyntaxWarning", "SystemError", "SystemExit", "TabError", "TimeoutError", "True", "TypeError", "UnboundLocalError",
    "UnicodeDecodeError", "UnicodeEncodeError", "UnicodeError", "UnicodeTranslateError", "UnicodeWarning", "UserWarning", "ValueError",
    "Warning", "ZeroDivisionError", "abs", "all", "and", "any", "ascii", "await", "bin", "bool", "bytearray", "bytes", "callable",
    "chr", "classmethod", "complex", "delattr", "dict", "divmod", "else", "enumerate", "filter", "float", "for", "frozenset", "getattr",
    "hasattr", "hash", "hex", "if", "in", "int", "is", "isinstance", "issubclass", "iter", "lambda", "len", "list", "map", "max",
    "memoryview", "min", "next", "not", "object", "oct", "or", "ord", "pow", "range", "repr", "reversed", "round", "set", "setattr",
    "slice", "sorted", "staticmethod", "str", "sum", "tuple", "type", "zip",
];

/// Whether a token is a name whose meaning depends on the file.
pub(super) fn is_name(token: &str) -> bool {
    let word = token.chars().all(is_word) && !token.starts_with(|c: char| c.is_ascii_digit());
    let own = token.strip_prefix('_').is_some_and(|rest| !rest.is_empty() && rest.bytes().all(|b| b.is_ascii_digit()));
    word && !own && EVERYWHERE.binary_search(&token).is_err()
}

/// Whether the token at `at` is a name that stands for a value: no attribute, no keyword of a call.
pub(super) fn is_free(tokens: &[&str], at: usize) -> bool {
    let attribute = at > 0 && tokens[at - 1] == ".";
    let keyword = at > 0 && matches!(tokens[at - 1], "(" | ",") && tokens.get(at + 1) == Some(&"=");
    !attribute && !keyword
}

/// The tokens with every free name in `values` replaced, in parentheses where the neighbours could take the value apart.
pub(super) fn replace(tokens: &[&str], values: &BTreeMap<&str, &str>) -> Vec<String> {
    let mut replaced = Vec::with_capacity(tokens.len());
    for (at, token) in tokens.iter().enumerate() {
        let value = values.get(token).filter(|_| is_free(tokens, at));
        let Some(value) = value else {
            replaced.push((*token).to_owned());
            continue;
        };
        let value = cut(value);
        let left = at.checked_sub(1).map_or("", |left| tokens[left]);
        let right = tokens.get(at + 1).copied().unwrap_or_default();
        let bare = is_atom(&value) || stands_alone(&value, left, right);
        replaced.extend((!bare).then(|| "(".to_owned()));
        replaced.extend(value.iter().map(|t| (*t).to_owned()));
        replaced.extend((!bare).then(|| ")".to_owned()));
    }
    replaced
}

/// One token, or one bracket with what is in it.
fn is_atom(tokens: &[&str]) -> bool {
    tokens.len() == 1 || (opens(tokens[0]) && depth_zero(tokens).count() == 1)
}

fn opens(token: &str) -> bool {
    matches!(token, "(" | "[" | "{")
}

/// Positions at which no bracket is open before the token, closing brackets left out.
fn depth_zero<'t>(tokens: &'t [&'t str]) -> impl Iterator<Item = &'t str> {
    let mut depth = 0_usize;
    tokens.iter().copied().filter(move |token| {
        let closes = matches!(*token, ")" | "]" | "}");
        depth = depth.saturating_sub(usize::from(closes));
        let outside = depth == 0 && !closes;
        depth += usize::from(opens(token));
        outside
    })
}

const LOOSE: [&str; 20] =
    ["==", "!=", "<", ">", "<=", ">=", "in", "is", "not", "and", "or", "if", "else", "lambda", ":=", ",", "for", "await", "yield", "*"];
const COMPARISONS: [&str; 6] = ["==", "!=", "<", ">", "<=", ">="];

/// Whether a value of several tokens means the same without parentheses between these neighbours.
fn stands_alone(value: &[&str], left: &str, right: &str) -> bool {
    let fenced = matches!(left, "" | "(" | "[" | "{" | "," | "=") || COMPARISONS.contains(&left);
    let closed = matches!(right, "" | ")" | "]" | "}" | ",") || COMPARISONS.contains(&right);
    fenced && closed && !depth_zero(value).any(|token| LOOSE.contains(&token))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::{cut, replace, short_names};

    #[test]
    fn source_is_cut_into_names_numbers_strings_and_operators() {
        let table: [(&str, &[&str]); 8] = [
            ("f(x)==f(-x)", &["f", "(", "x", ")", "==", "f", "(", "-", "x", ")"]),
            ("a.b<=1.5e-3", &["a", ".", "b", "<=", "1.5e-3"]),
            ("x == 'a b\\'c' and rb\"q\"", &["x", "==", "'a b\\'c'", "and", "rb\"q\""]),
            ("'''a'b''' in y", &["'''a'b'''", "in", "y"]),
            ("x**2//3", &["x", "**", "2", "//", "3"]),
            ("größe != 0x1e-1", &["größe", "!=", "0x1e", "-", "1"]),
            ("'open", &["'open"]),
            ("\"\\", &["\"\\"]),
        ];
        for (text, tokens) in table {
            assert_eq!(cut(text), tokens, "{text}");
        }
    }

    #[test]
    fn dotted_names_are_told_by_their_last_two_parts() {
        for (text, wanted) in [
            ("not ._compat.is_py", "not _compat.is_py"),
            ("not tests._compat.is_py", "not _compat.is_py"),
            ("a.b.c.d(x.y) < (3, 9)", "c.d(x.y) < (3, 9)"),
            ("f().x.y == ..z", "f().x.y == z"),
        ] {
            assert_eq!(short_names(text), cut(wanted), "{text}");
        }
    }

    #[test]
    fn a_value_takes_the_place_of_a_free_name_without_being_taken_apart() {
        let table = [
            ("f(x) == want", "f ( -5 ) == 0", "-5", "0"),
            ("x * 2 == want", "( a + b ) * 2 == 0", "a + b", "0"),
            ("x == want", "a + b == 0", "a + b", "0"),
            ("x == want", "( a == b ) == 0", "a == b", "0"),
            ("o.x == f(x=x)", "o . x == f ( x = 1 )", "1", "0"),
            ("x.y == want", "( - 1 ) . y == 0", "-1", "0"),
            ("x[0] in want", "[ 1 , 2 ] [ 0 ] in ( 1 , 2 )", "[1, 2]", "(1, 2)"),
            ("g(x, want)", "g ( ( lambda : 1 ) , 0 )", "lambda: 1", "0"),
        ];
        for (text, wanted, x, want) in table {
            let values = BTreeMap::from([("x", x), ("want", want)]);
            assert_eq!(replace(&cut(text), &values).join(" "), cut(wanted).join(" "));
        }
    }
}
