//! Owns one spelling of bodies that say the same: what follows a branch that leaves is its `else`, and a list with one put in front is a sum.

/// Texts of more words than this are told as they are.
const MOST: usize = 4_000;
/// How many branches lie in one another at most.
const DEEP: usize = 8;

/// The text of a body without each `else` after a branch that ends in `return` or `raise`, and `[*a, b]` told as `a + [b]`.
pub(super) fn leaving(text: &str) -> String {
    let mut words: Vec<&str> = text.split(' ').collect();
    if words.len() > MOST {
        return text.to_owned();
    }
    for _ in 0..DEEP {
        let Some(at) = after_leaving(&words) else { break };
        words = flattened(&words, &at);
    }
    summed(&words).join(" ")
}

/// A block that is open: the word that its header starts with, and where it starts; a bracket of a value has none.
type Open<'w> = Option<&'w str>;

/// Every `else` or `elif` after an `if` whose block leaves: where the word stands, and for an `else` where its block ends.
fn after_leaving(words: &[&str]) -> Option<Vec<(usize, Option<usize>)>> {
    let mut open: Vec<Open<'_>> = Vec::new();
    let (mut start, mut before) = (0, 0);
    for (at, word) in words.iter().enumerate() {
        match *word {
            ";" => (before, start) = (start, at + 1),
            "{" if at > 1 && words[at - 1] == ";" && words[at - 2] == ":" => {
                open.push(words.get(before).copied());
                start = at + 1;
            }
            "{" => open.push(None),
            "}" => {
                let header = open.pop().flatten();
                if header.is_none() {
                    continue;
                }
                let is_left = words[at - 1] == ";" && matches!(words.get(before), Some(&("return" | "raise")));
                let next = words.get(at + 1).copied().unwrap_or_default();
                start = at + 1;
                if header == Some("if") && is_left && next == "elif" {
                    return Some(vec![(at + 1, None)]);
                }
                if header == Some("if") && is_left && next == "else" && words.get(at + 2..at + 5) == Some(&[":", ";", "{"]) {
                    return Some(vec![(at + 1, Some(closing(words, at + 4)))]);
                }
            }
            _ => {}
        }
    }
    None
}

/// Where the bracket closes that opens there; the last one of a text may be left out.
fn closing(words: &[&str], open: usize) -> usize {
    let mut depth = 0_usize;
    let end = (open..words.len()).find(|at| {
        depth += usize::from(words[*at] == "{");
        depth -= usize::from(words[*at] == "}").min(depth);
        depth == 0
    });
    end.unwrap_or(words.len())
}

fn flattened<'w>(words: &[&'w str], places: &[(usize, Option<usize>)]) -> Vec<&'w str> {
    let mut told = words.to_vec();
    for (at, end) in places {
        match end {
            None => told[*at] = "if",
            Some(end) => {
                if *end < told.len() {
                    told.remove(*end);
                }
                told.drain(*at..at + 4);
            }
        }
    }
    told
}

/// `[ * a , b ]` as `a + [ b ]`, where it is a whole value.
fn summed<'w>(words: &[&'w str]) -> Vec<&'w str> {
    let mut told = Vec::with_capacity(words.len());
    let mut at = 0;
    while at < words.len() {
        let starts = at > 0 && matches!(words[at - 1], "=" | "(" | "," | "return");
        if let Some(comma) = spread(&words[at..]).filter(|_| starts) {
            told.extend(&words[at + 2..at + comma]);
            told.extend(["+", "["]);
            at += comma + 1;
        } else {
            told.push(words[at]);
            at += 1;
        }
    }
    told
}

/// Where the comma stands after the list that is put in front of a list of plain parts.
fn spread(words: &[&str]) -> Option<usize> {
    let ["[", "*", ..] = words else { return None };
    let (mut depth, mut comma) = (1_usize, None);
    for (at, word) in words.iter().enumerate().skip(2) {
        match *word {
            "(" | "[" | "{" => depth += 1,
            ")" | "}" => depth = depth.checked_sub(1)?,
            "]" => {
                depth = depth.checked_sub(1)?;
                if depth == 0 {
                    let ends = words.get(at + 1).is_none_or(|next| matches!(*next, ";" | ")" | "," | "}"));
                    return comma.filter(|comma| ends && comma + 1 < at);
                }
            }
            "," if depth == 1 && comma.is_none() => comma = Some(at),
            "*" if depth == 1 && words[at - 1] == "," => return None,
            "." => {}
            word if depth == 1 && comma.is_none() && !word.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '#') => return None,
            "if" | "for" | "else" | "and" | "or" | "not" | "in" | "is" | "lambda" | "await" if depth == 1 => return None,
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::leaving;

    #[test]
    fn what_follows_a_branch_that_leaves_is_its_else() {
        for (text, wanted) in [
            ("if a : ; { return 1 ; } else : ; { return 2", "if a : ; { return 1 ; } return 2"),
            ("if a : ; { x = 1 ; return x ; } else : ; { return 2 ; } y", "if a : ; { x = 1 ; return x ; } return 2 ; y"),
            (
                "if a : ; { if b : ; { return 1 ; } else : ; { return 2 ; } } else : ; { return 3",
                "if a : ; { if b : ; { return 1 ; } return 2 ; } return 3",
            ),
            (
                "if a : ; { return 1 ; } elif b : ; { return 2 ; } else : ; { return 3",
                "if a : ; { return 1 ; } if b : ; { return 2 ; } return 3",
            ),
            ("x = [ * draw ( y ) , f ( 1 ) ] ; return x", "x = draw ( y ) + [ f ( 1 ) ] ; return x"),
        ] {
            assert_eq!(leaving(text), wanted, "{text}");
        }
    }

    #[test]
    fn a_branch_that_goes_on_keeps_its_else() {
        for text in [
            "if a : ; { x = 1 ; } else : ; { x = 2 ; } return x",
            "for a in b : ; { return 1 ; } else : ; { return 2",
            "try : ; { return 1 ; } else : ; { return 2",
            "if a : ; { x = 1 ; } elif b : ; { return 2 ; } else : ; { return 3",
            "if a : ; { return { 1 : 2 } [ 1 ] ; } return 3",
            "x = [ * a , * b ] ; return x",
            "x = [ * a if b else c , d ] ; return x",
            "x = f [ * a , b ] ; return x",
        ] {
            assert_eq!(leaving(text), text);
        }
    }
}
