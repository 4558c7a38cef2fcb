//! Owns reading a case key or a listed element back into the value that it is the canonical text of.

use num_bigint::BigInt;
use num_traits::Num as _;

use crate::witness::value::{Float, MAX_DEPTH, Value};

/// The value of a canonical text; `None` when it is the source of something that is no literal.
pub(super) fn value(text: &str) -> Option<Value> {
    let mut reader = Reader { rest: text };
    let value = reader.value(0)?;
    reader.rest.is_empty().then_some(value)
}

struct Reader<'t> {
    rest: &'t str,
}

impl Reader<'_> {
    fn take(&mut self, head: &str) -> bool {
        let rest = self.rest.strip_prefix(head);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    fn value(&mut self, depth: usize) -> Option<Value> {
        if depth > MAX_DEPTH {
            return None;
        }
        if self.take("b'") {
            return self.bytes();
        }
        match self.rest.chars().next()? {
            '\'' => self.text(),
            '[' => self.parts("[", "]", depth).map(|(parts, _)| Value::List(parts)),
            '(' => {
                let (mut parts, trailing) = self.parts("(", ")", depth)?;
                if parts.len() == 1 && !trailing { parts.pop() } else { Some(Value::Tuple(parts)) }
            }
            '{' => self.braces(depth),
            _ => self.word(),
        }
    }

    /// The parts between brackets, and whether a comma follows the last.
    fn parts(&mut self, open: &str, close: &str, depth: usize) -> Option<(Vec<Value>, bool)> {
        let (mut parts, mut trailing) = (Vec::new(), false);
        self.take(open).then_some(())?;
        while !self.take(close) {
            (parts.is_empty() || trailing).then_some(())?;
            parts.push(self.value(depth + 1)?);
            trailing = self.take(",");
            self.take(" ");
        }
        Some((parts, trailing))
    }

    fn braces(&mut self, depth: usize) -> Option<Value> {
        self.take("{").then_some(())?;
        let (mut keys, mut values, mut comma) = (Vec::new(), Vec::new(), true);
        while !self.take("}") {
            comma.then_some(())?;
            keys.push(self.value(depth + 1)?);
            if self.take(": ") {
                values.push(self.value(depth + 1)?);
            }
            comma = self.take(", ");
        }
        if keys.len() == values.len() {
            return Some(Value::Map(last_of_each(keys.into_iter().zip(values))));
        }
        values.is_empty().then(|| Value::set(keys))
    }

    fn word(&mut self) -> Option<Value> {
        let end = self.rest.find([',', ')', ']', '}', ':', ' ']).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        match word {
            "None" => return Some(Value::Null),
            "True" => return Some(Value::Bool(true)),
            "False" => return Some(Value::Bool(false)),
            "NaN" => return Some(Value::Float(Float::new(f64::NAN))),
            _ => {}
        }
        let digits = word.strip_prefix('-').unwrap_or(word);
        if !digits.starts_with(|c: char| c.is_ascii_digit()) {
            return None;
        }
        if let Some(hex) = digits.strip_prefix("0x") {
            let magnitude = BigInt::from_str_radix(hex, 16).ok()?;
            return Some(Value::Int(if word.starts_with('-') { -magnitude } else { magnitude }));
        }
        if digits.bytes().all(|b| b.is_ascii_digit()) {
            return word.parse().ok().map(Value::Int);
        }
        digits
            .bytes()
            .all(|b| b.is_ascii_digit() || b".e-+".contains(&b))
            .then(|| word.parse().ok().map(|f| Value::Float(Float::new(f))))?
    }

    fn text(&mut self) -> Option<Value> {
        self.take("'").then_some(())?;
        let mut text = String::new();
        loop {
            match self.next()? {
                '\'' => return Some(Value::Text(text)),
                '\\' => text.push(self.escaped()?),
                c => text.push(c),
            }
        }
    }

    fn bytes(&mut self) -> Option<Value> {
        let mut bytes = Vec::new();
        loop {
            match self.next()? {
                '\'' => return Some(Value::Bytes(bytes)),
                '\\' => bytes.push(u8::try_from(u32::from(self.escaped()?)).ok()?),
                c => bytes.push(u8::try_from(c).ok().filter(u8::is_ascii)?),
            }
        }
    }

    fn next(&mut self) -> Option<char> {
        let c = self.rest.chars().next()?;
        self.rest = &self.rest[c.len_utf8()..];
        Some(c)
    }

    fn escaped(&mut self) -> Option<char> {
        let digits = match self.next()? {
            'n' => return Some('\n'),
            'r' => return Some('\r'),
            't' => return Some('\t'),
            c @ ('\\' | '\'') => return Some(c),
            'x' => 2,
            'u' => 4,
            _ => return None,
        };
        let code = u32::from_str_radix(self.rest.get(..digits)?, 16).ok()?;
        self.rest = &self.rest[digits..];
        char::from_u32(code)
    }
}

/// As Python builds it: a key that is written twice keeps its place and gets the last value.
fn last_of_each(pairs: impl Iterator<Item = (Value, Value)>) -> Vec<(Value, Value)> {
    let mut kept: Vec<(Value, Value)> = Vec::new();
    for (key, value) in pairs {
        match kept.iter_mut().find(|(known, _)| *known == key) {
            Some((_, old)) => *old = value,
            None => kept.push((key, value)),
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::value;
    use crate::witness::value::MAX_DEPTH;

    #[test]
    fn canonical_texts_are_read_back() {
        for (text, json) in [
            ("None", "null"),
            ("True", "true"),
            ("-12", "-12"),
            ("0x10", "16"),
            ("-0xff", "-255"),
            ("1.0", "1.0"),
            ("-2.5e-7", "-2.5e-7"),
            ("1e999", r#"{"$float":"inf"}"#),
            ("-1e999", r#"{"$float":"-inf"}"#),
            ("NaN", r#"{"$float":"nan"}"#),
            (r"'a\'\\\n\x07\u200bé'", "\"a'\\\\\\n\\u0007\u{200b}é\""),
            (r"b'a\x00\xff\''", r#"{"$bytes":"6100ff27"}"#),
            ("[]", "[]"),
            ("[1, [2], '(']", r#"[1,[2],"("]"#),
            ("()", r#"{"$tuple":[]}"#),
            ("(1,)", r#"{"$tuple":[1]}"#),
            ("(1)", "1"),
            ("(1, 2)", r#"{"$tuple":[1,2]}"#),
            ("{}", "{}"),
            ("{2, 1}", r#"{"$set":[1,2]}"#),
            ("{'a': 1, 'b': [2], 'a': 3}", r#"{"a":3,"b":[2]}"#),
        ] {
            assert_eq!(serde_json::to_string(&value(text).unwrap_or_else(|| panic!("{text}"))).unwrap(), json, "{text}");
        }
    }

    #[test]
    fn what_is_no_literal_has_no_value() {
        for text in [
            "",
            "f(1)",
            "a.b",
            "x",
            "...",
            "1j",
            "1.0j",
            "1 + x",
            "[1",
            "[1, x]",
            "'a",
            r"'\q'",
            "(1 2)",
            "{1: 2, 3}",
            "{1, 2: 3}",
            "1, 2",
            "-x",
            "lambda: 1",
            "[,]",
            "'a' 'b'",
            "inf",
            "0xg",
            "b'é'",
            "[1, f(2)]",
        ] {
            assert_eq!(value(text), None, "{text}");
        }
        assert_eq!(value(&format!("{}{}", "[".repeat(MAX_DEPTH + 2), "]".repeat(MAX_DEPTH + 2))), None);
        assert_eq!(value(&"[".repeat(1_000_000)), None);
    }
}
