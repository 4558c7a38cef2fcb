//! Owns whether two canonical texts differ only in the modules that names are imported from.

/// Whether two texts are equal but for the modules before their names. A package may become one whose name starts alike.
pub(super) fn is_same(one: &str, other: &str) -> bool {
    if one == other {
        return true;
    }
    let (one, other) = (parts(one), parts(other));
    one.len() == other.len() && one.iter().zip(&other).all(|(a, b)| a == b || is_same_name(a, b))
}

/// A text with every dotted name told by its last part.
pub(super) fn without_modules(text: &str) -> String {
    let last = |part: &str| match part.rsplit_once('.') {
        Some((_, name)) if part.starts_with(|c: char| c.is_alphabetic() || c == '_' || c == '.') && !name.is_empty() => {
            public(name).to_owned()
        }
        _ => public(part).to_owned(),
    };
    parts(text).into_iter().map(last).collect()
}

/// A name without what says that it is private.
pub(super) fn public(name: &str) -> &str {
    let bare = name.trim_start_matches('_');
    if bare.starts_with(char::is_alphabetic) { bare } else { name }
}

/// `pack.old.Name` and `pack.new.Name`, `pack.Name` and `packs.Name`, `.Name` and `.new.Name`, `_name` and `name`.
fn is_same_name(one: &str, other: &str) -> bool {
    if !one.contains('.') && !other.contains('.') {
        return public(one) == public(other);
    }
    if one.starts_with('.') && other.starts_with('.') {
        return one.rsplit('.').next() == other.rsplit('.').next();
    }
    let (Some((from, name)), Some((now_from, now))) = (one.rsplit_once('.'), other.rsplit_once('.')) else { return false };
    let dotted = |text: &str| text.starts_with(|c: char| c.is_alphabetic() || c == '_');
    let root = |from: &'_ str| from.split('.').next().unwrap_or_default().to_owned();
    let (was, is) = (root(from), root(now_from));
    // What a module for older languages handed on, taken from where it is defined.
    let is_handed_on = from.split('.').any(|part| part.trim_matches('_') == "compat") && now_from == "typing";
    name == now
        && dotted(one)
        && dotted(other)
        && (is_handed_on || was == is || (was.len().min(is.len()) > 3 && (was.starts_with(&is) || is.starts_with(&was))))
}

/// A text cut into dotted names, strings, and everything else character by character; space is dropped.
fn parts(text: &str) -> Vec<&str> {
    let (mut parts, mut rest) = (Vec::new(), text);
    while let Some(first) = rest.chars().next() {
        let is_word = |c: char| c.is_alphanumeric() || c == '_';
        let length = match first {
            '\'' | '"' => quoted(rest),
            c if is_word(c) || (c == '.' && is_open(parts.last().copied())) => {
                rest.find(|c: char| !is_word(c) && c != '.').unwrap_or(rest.len())
            }
            c => c.len_utf8(),
        };
        let (part, after) = rest.split_at(length);
        if !part.trim().is_empty() {
            parts.push(part);
        }
        rest = after;
    }
    parts
}

/// Whether a dot here starts a name of the package that the file is in.
fn is_open(before: Option<&str>) -> bool {
    before.is_none_or(|before| before.ends_with(['(', '[', '{', ',', '=', ':', '*', '+', '-', '|', '&', '<', '>']) || is_word_of(before))
}

fn is_word_of(before: &str) -> bool {
    matches!(before, "not" | "and" | "or" | "in" | "is" | "if" | "else" | "for" | "await")
}

/// Length of the string that a text starts with.
fn quoted(text: &str) -> usize {
    let quote = text.chars().next();
    let mut escaped = false;
    let end = text.char_indices().skip(1).find(|(_, c)| {
        let closes = !escaped && Some(*c) == quote;
        escaped = !escaped && *c == '\\';
        closes
    });
    end.map_or(text.len(), |(at, c)| at + c.len_utf8())
}

#[cfg(test)]
mod tests {
    use super::is_same;

    #[test]
    fn a_name_is_the_same_from_another_module_of_its_package() {
        for (one, other) in [
            ("cattr.Converter", "cattrs.Converter"),
            ("(pack.old.List, 'pack.old.List')", "(pack.new.List, 'pack.old.List')"),
            ("pack._make.fields(C).a", "pack.fields(C).a"),
            ("pack._compat.List[pack.A]", "typing.List[pack.A]"),
            (".make(a=1, b=.Name)", ".helpers.make(a=1, b=..names.Name)"),
            ("f(x).y", "f(x).y"),
            ("zip(_names(), attrs)", "zip(names(), attrs)"),
        ] {
            assert!(is_same(one, other), "{one} {other}");
        }
        for (one, other) in [
            ("pack.Real", "pack.Fake"),
            ("lambda _0: _0", "lambda _1: _0"),
            ("'_names'", "'names'"),
            ("pack.Real", "fakes.Real"),
            ("Real", "pack.Real"),
            ("'pack.old.List'", "'pack.new.List'"),
            ("1.5", "2.5"),
            ("f(pack.A)", "f(pack.A, 1)"),
            ("f(x).y.z", "f(x).w.z"),
            (".helpers.make()", ".helpers.fake()"),
            ("pack.make()", ".helpers.make()"),
            ("typing.List", "pack._compat.List"),
            ("pack._compat.List", "fakes.List"),
        ] {
            assert!(!is_same(one, other), "{one} {other}");
        }
    }
}
