//! Owns one waiver file: `seedgate.waiver/1`, a TOML head between `+++` lines and a reason in Markdown.

use toml::{Table, Value};

use crate::strength::waiver::FOLDER;
use crate::strength::waiver::draft::TEMPLATE;
use crate::tree::{Mode, RepoPath, Tree, TreeError};

/// The schema of a waiver.
pub const SCHEMA: &str = "seedgate.waiver/1";

/// The fence around the head.
const FENCE: &str = "+++";
const KEYS: [&str; 7] = ["schema", "property", "fixture", "path", "spec", "old", "new"];

/// What a waiver is about.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Subject {
    /// A property or test, by its id.
    Property(String),
    /// A fixture file, by its path.
    Fixture(String),
    /// A file of the harness or of production code, by its path.
    Path(String),
}

impl Subject {
    /// The id or path.
    pub fn name(&self) -> &str {
        match self {
            Subject::Property(name) | Subject::Fixture(name) | Subject::Path(name) => name,
        }
    }
}

/// A waiver as written.
#[derive(Clone, Debug, PartialEq)]
pub struct Waiver {
    /// What it is about.
    pub subject: Subject,
    /// Where it is written that this may change.
    pub spec: String,
    /// The card before.
    pub(super) old: Table,
    /// The card after; `None` when nothing is left.
    pub(super) new: Option<Table>,
    /// The Markdown.
    reason: String,
    spec_line: u32,
    reason_line: u32,
}

/// Why a waiver is not honoured.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {says}")]
pub struct Broken {
    /// 1-based line.
    pub line: u32,
    /// What is wrong.
    pub says: String,
}

impl Broken {
    pub(super) fn at(line: u32, says: impl Into<String>) -> Self {
        Broken { line, says: says.into() }
    }
}

impl Waiver {
    /// Reads the text of a waiver; whether its cards are the measured ones is not asked here.
    ///
    /// # Errors
    /// [`Broken`] with the line.
    pub fn parse(text: &str) -> Result<Self, Broken> {
        let (head, reason, reason_line) = cut(text)?;
        let mut table: Table = toml::from_str(&head).map_err(|e| Broken::at(line_at(&head, e.span()), e.message()))?;
        if let Some(key) = table.keys().find(|key| !KEYS.contains(&key.as_str())) {
            return Err(Broken::at(line_of(&head, key), format!("unknown key {key:?}")));
        }
        let schema = string(&mut table, &head, "schema")?.unwrap_or_default();
        if schema != SCHEMA {
            return Err(Broken::at(line_of(&head, "schema"), format!("schema is {schema:?}, this program reads {SCHEMA:?}")));
        }
        let subject = subject(&mut table, &head)?;
        let spec = string(&mut table, &head, "spec")?.unwrap_or_default();
        let old = card(&mut table, &head, "old")?.ok_or_else(|| Broken::at(1, "the card before, [old], is missing"))?;
        let new = card(&mut table, &head, "new")?;
        Ok(Waiver { subject, spec, old, new, reason: reason.to_owned(), spec_line: line_of(&head, "spec"), reason_line })
    }

    /// What keeps a well-formed waiver a draft: no spec that exists, no reason of its own.
    ///
    /// # Errors
    /// When the tree cannot be read.
    pub fn faults(&self, tree: &dyn Tree) -> Result<Vec<Broken>, TreeError> {
        let mut faults = Vec::new();
        if let Some(says) = spec_fault(&self.spec, tree)? {
            faults.push(Broken::at(self.spec_line, says));
        }
        if !has_reason(&self.reason) {
            faults.push(Broken::at(self.reason_line, "the reason is still to be written, below the head"));
        }
        Ok(faults)
    }
}

/// Head, reason and the reason's first line.
fn cut(text: &str) -> Result<(String, &str, u32), Broken> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut lines = text.split_inclusive('\n');
    let mut at = match lines.next() {
        Some(first) if first.trim_end() == FENCE => first.len(),
        _ => return Err(Broken::at(1, format!("the first line is not {FENCE}"))),
    };
    let mut head = String::from("\n");
    for line in lines {
        at += line.len();
        if line.trim_end() == FENCE {
            let number = u32::try_from(head.lines().count() + 2).unwrap_or(u32::MAX);
            return Ok((head, &text[at..], number));
        }
        head.push_str(line);
    }
    Err(Broken::at(1, format!("the head has no closing {FENCE}")))
}

/// The line of a byte of the head; its own first line stands for the fence.
fn line_at(head: &str, span: Option<std::ops::Range<usize>>) -> u32 {
    let before = span.and_then(|span| head.get(..span.start)).unwrap_or_default();
    u32::try_from(before.matches('\n').count() + 1).unwrap_or(u32::MAX)
}

fn line_of(head: &str, key: &str) -> u32 {
    let named = |line: &str| line.trim_start().strip_prefix(key).is_some_and(|rest| rest.trim_start().starts_with('='));
    let at = head.lines().position(named).unwrap_or(0);
    u32::try_from(at + 1).unwrap_or(u32::MAX)
}

fn string(table: &mut Table, head: &str, key: &str) -> Result<Option<String>, Broken> {
    match table.remove(key) {
        None => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(other) => Err(Broken::at(line_of(head, key), format!("{key} is {}, not text", other.type_str()))),
    }
}

fn card(table: &mut Table, head: &str, key: &str) -> Result<Option<Table>, Broken> {
    match table.remove(key) {
        None => Ok(None),
        Some(Value::Table(card)) => Ok(Some(card)),
        Some(other) => Err(Broken::at(line_of(head, key), format!("{key} is {}, not a card", other.type_str()))),
    }
}

fn subject(table: &mut Table, head: &str) -> Result<Subject, Broken> {
    let mut subjects = Vec::new();
    for (key, of) in [("property", Subject::Property as fn(String) -> Subject), ("fixture", Subject::Fixture), ("path", Subject::Path)] {
        subjects.extend(string(table, head, key)?.map(|name| (key, of(name))));
    }
    let several = subjects.get(1).map(|(key, _)| *key);
    match (subjects.pop(), several) {
        (None, _) => Err(Broken::at(1, "it names neither a property nor a fixture nor a path")),
        (Some((_, subject)), None) => Ok(subject),
        (Some(_), Some(key)) => {
            Err(Broken::at(line_of(head, key), "it names more than one property, fixture or path: one waiver, one subject"))
        }
    }
}

fn spec_fault(spec: &str, tree: &dyn Tree) -> Result<Option<String>, TreeError> {
    let odd = spec.chars().any(|c| c.is_whitespace() || c.is_control());
    if spec.is_empty() {
        return Ok(Some("spec is empty: name the URL or file where it is written that this may change".to_owned()));
    }
    if let Some(rest) = spec.strip_prefix("https://").or_else(|| spec.strip_prefix("http://")) {
        let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
        return Ok((odd || host.is_empty()).then(|| format!("spec {spec:?} is no URL")));
    }
    let found = is_file(tree, spec)? || spec.split_once('#').map_or(Ok(false), |(path, _)| is_file(tree, path))?;
    Ok((!found).then(|| format!("spec {spec:?} is neither a URL nor a file of this repository")))
}

/// A link may lead anywhere, and a waiver cannot be the reason of a waiver.
fn is_file(tree: &dyn Tree, path: &str) -> Result<bool, TreeError> {
    if path.is_empty() || path.starts_with(&format!("{FOLDER}/")) {
        return Ok(false);
    }
    let entry = tree.entry(&RepoPath::new(path))?;
    Ok(entry.is_some_and(|entry| matches!(entry.mode, Mode::File | Mode::Executable)))
}

/// Whether something is said besides comments and what the template says.
fn has_reason(reason: &str) -> bool {
    let template = cut(TEMPLATE).map(|(_, reason, _)| words(reason)).unwrap_or_default();
    let said = without_comments(reason);
    said.chars().any(char::is_alphanumeric) && words(&said) != template && words(reason) != template
}

/// Words alone: comment marks and line breaks make no reason.
fn words(text: &str) -> Vec<String> {
    let plain = text.replace("<!--", " ").replace("-->", " ");
    plain.split_whitespace().map(str::to_owned).collect()
}

fn without_comments(text: &str) -> String {
    let mut said = String::new();
    let mut rest = text;
    while let Some((before, comment)) = rest.split_once("<!--") {
        said.push_str(before);
        rest = comment.split_once("-->").map_or("", |(_, after)| after);
    }
    said + rest
}
