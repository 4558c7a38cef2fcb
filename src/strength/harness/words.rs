//! Owns words: how a shell, `shlex` and configuration files cut a text into them.

/// One token of a shell line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Token {
    /// A word without its quotes.
    Word(String),
    /// `&&`, `||`, `;`, `|`, `&`, `(` or `)`.
    Operator(&'static str),
}

const OPERATORS: [&str; 9] = ["&&", "||", ";;", "|&", ";", "|", "&", "(", ")"];

/// Cuts one logical line as a shell does; a comment ends it.
pub(super) fn tokens(line: &str) -> Vec<Token> {
    let mut tokens = Vec::new();
    let mut word: Option<String> = None;
    let mut rest = line;
    while let Some(c) = rest.chars().next() {
        let plain = word.is_none();
        if c.is_whitespace() {
            tokens.extend(word.take().map(Token::Word));
        } else if c == '#' && plain {
            break;
        } else if let Some(quote) = Some(c).filter(|c| matches!(c, '\'' | '"')) {
            let body = &rest[1..];
            let end = body.find(quote).unwrap_or(body.len());
            word.get_or_insert_default().push_str(&body[..end]);
            rest = body.get(end + 1..).unwrap_or_default();
            continue;
        } else if rest.starts_with("${") || rest.starts_with("$(") {
            let end = closing(rest);
            word.get_or_insert_default().push_str(&rest[..end]);
            rest = &rest[end..];
            continue;
        } else if let Some(operator) = OPERATORS.iter().find(|o| rest.starts_with(**o)).filter(|_| !is_redirection(rest, word.as_deref())) {
            tokens.extend(word.take().map(Token::Word));
            tokens.push(Token::Operator(operator));
            rest = &rest[operator.len()..];
            continue;
        } else if c == '\\' {
            let next = rest.chars().nth(1).unwrap_or('\\');
            word.get_or_insert_default().push(next);
            rest = rest.get(1 + next.len_utf8()..).unwrap_or_default();
            continue;
        } else {
            word.get_or_insert_default().push(c);
        }
        rest = &rest[c.len_utf8()..];
    }
    tokens.extend(word.map(Token::Word));
    tokens
}

/// `2>&1`, `>&2`, `&>file`: an ampersand that runs nothing in the background.
fn is_redirection(rest: &str, word: Option<&str>) -> bool {
    rest.starts_with("&>") || (rest.starts_with('&') && word.is_some_and(|word| word.ends_with('>')))
}

/// Where `${…}` or `$(…)` ends.
fn closing(text: &str) -> usize {
    let mut depth = 0_usize;
    for (at, c) in text.char_indices() {
        match c {
            '{' | '(' => depth += 1,
            '}' | ')' => {
                depth -= 1;
                if depth == 0 {
                    return at + 1;
                }
            }
            _ => {}
        }
    }
    text.len()
}

/// The words of a text that holds no operators: every operator is a word of its own.
pub(super) fn words(text: &str) -> Vec<String> {
    let lines = text.lines().flat_map(tokens);
    lines
        .map(|token| match token {
            Token::Word(word) => word,
            Token::Operator(operator) => operator.to_owned(),
        })
        .collect()
}

/// A logical line: the number of its first line and its text, lines that end in a backslash joined.
pub(super) fn logical<'a>(lines: impl IntoIterator<Item = (u32, &'a str)>) -> Vec<(u32, String)> {
    let mut joined: Vec<(u32, String)> = Vec::new();
    let mut open = false;
    for (number, line) in lines {
        let (text, continues) = line.strip_suffix('\\').map_or((line, false), |text| (text, true));
        match joined.last_mut().filter(|_| open) {
            Some((_, whole)) => whole.extend([" ", text.trim_start()]),
            None => joined.push((number, text.to_owned())),
        }
        open = continues;
    }
    joined
}

/// The lines of a text with their 1-based numbers.
pub(super) fn numbered(text: &str) -> impl Iterator<Item = (u32, &str)> {
    (1..).zip(text.lines())
}

#[cfg(test)]
mod tests {
    use super::{Token, logical, tokens, words};

    #[test]
    fn a_line_is_cut_as_a_shell_cuts_it() {
        for (line, cut) in [
            ("pytest -q", &["pytest", "-q"][..]),
            ("pytest -k 'not slow' # all", &["pytest", "-k", "not slow"]),
            ("pytest ${{ matrix.args }}x", &["pytest", "${{ matrix.args }}x"]),
            ("pytest 2>&1 | tee log", &["pytest", "2>&1", "|", "tee", "log"]),
            ("a||b;c&&d&", &["a", "||", "b", ";", "c", "&&", "d", "&"]),
            ("a\\ b \"", &["a b", ""]),
            ("$(", &["$("]),
            ("é\\é \\", &["éé", "\\"]),
        ] {
            assert_eq!(words(line), cut, "{line}");
        }
        assert_eq!(tokens("a#b"), [Token::Word("a#b".into())]);
    }

    #[test]
    fn lines_that_go_on_are_one() {
        assert_eq!(logical([(1, "a \\"), (2, "  b"), (3, "c\\")]), [(1, "a  b".to_owned()), (3, "c".to_owned())]);
    }
}
