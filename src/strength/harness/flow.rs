//! Owns what of a script never runs: branches whose condition is a constant, lines behind an early end, runners that are redefined.

use std::collections::BTreeMap;

/// Runners whose name a script may take for itself.
const RUNNERS: [&str; 9] = ["pytest", "py.test", "tox", "nox", "cargo", "jest", "vitest", "npx", "seedgate"];

/// What is known at one place of a script.
#[derive(Default)]
pub(super) struct Flow {
    /// Open `if`, `while`, `case` and `for`: why the part that is read never runs.
    blocks: Vec<Option<&'static str>>,
    braces: usize,
    ended: bool,
    /// A document stands in the script: its lines are no commands.
    documents: bool,
    redefined: BTreeMap<String, &'static str>,
}

impl Flow {
    /// Reads one command with the operators before and after it; why it never runs as what it says.
    pub(super) fn read(&mut self, words: &[String], before: (&[String], &str), then: &str) -> Option<String> {
        let mut rest = words.iter().map(String::as_str).collect::<Vec<_>>();
        while let Some((first, after)) = rest.split_first() {
            match *first {
                "if" | "while" => self.blocks.push((is_false(after) && ends(then)).then_some("its condition is always false")),
                "until" => self.blocks.push((is_true(after) && ends(then)).then_some("its condition is always true")),
                "for" | "select" | "case" => self.blocks.push(None),
                "elif" => self.part((is_false(after) && ends(then)).then_some("its condition is always false")),
                "else" => self.part(None),
                "fi" | "done" | "esac" => drop(self.blocks.pop()),
                "{" => self.braces += 1,
                "function" => self.braces += usize::from(after.last() == Some(&"{")),
                "}" => self.braces = self.braces.saturating_sub(1),
                "then" | "do" => {}
                _ => break,
            }
            rest = match *first {
                "then" | "do" | "else" | "{" => after.to_vec(),
                _ => break,
            };
        }
        let (first, last) = before;
        let first: Vec<&str> = first.iter().map(String::as_str).collect();
        let skipped = (last == "&&" && is_false(&first)) || (last == "||" && is_true(&first));
        let block = self.blocks.iter().flatten().next().map(|why| (*why).to_owned());
        let why = block
            .or_else(|| self.ended.then(|| "the script ends before it with success".to_owned()))
            .or_else(|| skipped.then(|| format!("it never runs behind `{} {last}`", first.join(" "))))
            .or_else(|| rest.first().and_then(|word| self.redefined.get(*word).map(|how| format!("{word} is {how} here"))));
        self.documents |= words.iter().any(|word| word.contains("<<"));
        let plain = !self.documents && self.blocks.is_empty() && self.braces == 0 && !matches!(last, "&&" | "||" | "|" | "(");
        self.ended |= plain && ends(then) && matches!(rest.as_slice(), ["exit", "0"]);
        self.aliases(&rest);
        why
    }

    fn part(&mut self, why: Option<&'static str>) {
        if let Some(block) = self.blocks.last_mut() {
            *block = why;
        }
    }

    /// A function of the script that takes a runner's name, unless it calls the real one.
    pub(super) fn defines(&mut self, name: &str, line: &[String]) {
        if RUNNERS.contains(&name) && !line.iter().any(|word| word == "command") {
            self.redefined.insert(name.to_owned(), "a function");
        }
    }

    fn aliases(&mut self, words: &[&str]) {
        if words.first() != Some(&"alias") {
            return;
        }
        for (name, value) in words.iter().skip(1).filter_map(|word| word.split_once('=')) {
            if RUNNERS.contains(&name) && !value.contains(name) {
                self.redefined.insert(name.to_owned(), "an alias");
            }
        }
    }
}

fn ends(then: &str) -> bool {
    matches!(then, ";" | "")
}

fn is_true(words: &[&str]) -> bool {
    matches!(words, ["true" | ":"] | ["!", "false"])
}

/// Whether a condition fails whatever happens.
fn is_false(words: &[&str]) -> bool {
    let open = |text: &str| text.contains(['$', '`', '*', '?', '[', '{', '%']);
    match words {
        ["false"] | ["!", "true" | ":"] => true,
        ["[" | "[[" | "test", left, operator, right, ..] if !open(left) && !open(right) && words.len() <= 5 => match *operator {
            "=" | "==" | "-eq" => left != right,
            "!=" | "-ne" => left == right,
            _ => false,
        },
        _ => false,
    }
}
