//! Owns a reading of YAML by its lines: keys, lists and block texts with the mappings that hold them. It is enough for the files
//! of build services and hook managers; what it does not read (flow mappings, anchors) gives no command, so that a command moved
//! there counts as lost.

use crate::strength::harness::words::numbered;

/// One key with a value, or one item of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Scalar {
    /// The key, or that of the list.
    pub(super) key: String,
    /// The lines of the value with their numbers.
    pub(super) lines: Vec<(u32, String)>,
    /// The mapping that holds it.
    pub(super) map: usize,
}

/// One mapping.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Mapping {
    /// The mapping around it.
    pub(super) outer: Option<usize>,
    /// The key it stands under.
    pub(super) label: String,
    column: usize,
}

/// A document.
#[derive(Debug, Default)]
pub(super) struct Document {
    /// Mappings, outer ones first.
    pub(super) maps: Vec<Mapping>,
    /// Scalars in the order of the lines.
    pub(super) scalars: Vec<Scalar>,
}

/// The text block that is open: its column, and whether its lines are folded into one.
struct Block {
    column: usize,
    folded: bool,
}

/// Deepest nesting that is followed.
const DEEPEST: usize = 60;

impl Document {
    /// Reads a text.
    pub(super) fn read(text: &str) -> Self {
        let mut document = Document { maps: vec![Mapping::default()], scalars: Vec::new() };
        let mut open: Vec<usize> = vec![0];
        let (mut block, mut list): (Option<Block>, Option<(usize, String)>) = (None, None);
        for (number, line) in numbered(text) {
            let column = line.len() - line.trim_start().len();
            let body = line.trim();
            if let Some(open_block) = &block {
                if body.is_empty() || column > open_block.column {
                    document.extend(number, body, open_block.folded);
                    continue;
                }
                block = None;
            }
            if body.is_empty() || body.starts_with('#') || body.starts_with("---") {
                continue;
            }
            let (inner, rest, items) = past_dashes(column, body);
            let Some((key, value)) = pair(rest) else {
                if let (Some((at, key)), true) = (&list, items > 0)
                    && column >= *at
                {
                    let map = open.last().copied().unwrap_or(0);
                    document.scalars.push(Scalar { key: key.clone(), lines: vec![(number, unquoted(rest))], map });
                    block = block_of(rest, column);
                    if block.is_some() {
                        document.scalars.last_mut().into_iter().for_each(|scalar| scalar.lines.clear());
                    }
                }
                continue;
            };
            document.enter(&mut open, inner, items > 0, list.as_ref().filter(|(at, _)| column >= *at).map(|(_, key)| key.as_str()));
            let map = open.last().copied().unwrap_or(0);
            block = block_of(value, inner);
            let lines = if block.is_some() || value.is_empty() { Vec::new() } else { vec![(number, unquoted(value))] };
            list = value.is_empty().then(|| (inner, key.to_owned())).or(if items > 0 { list } else { None });
            document.scalars.push(Scalar { key: key.to_owned(), lines, map });
        }
        document
    }

    fn extend(&mut self, number: u32, body: &str, folded: bool) {
        let Some(scalar) = self.scalars.last_mut() else { return };
        match scalar.lines.last_mut().filter(|_| folded && !body.is_empty()) {
            Some((_, text)) => text.extend([" ", body]),
            None => scalar.lines.push((number, body.to_owned())),
        }
    }

    /// Makes the mapping of a column the innermost one.
    fn enter(&mut self, open: &mut Vec<usize>, column: usize, fresh: bool, label: Option<&str>) {
        let of = |open: &[usize], maps: &[Mapping]| open.last().and_then(|at| maps.get(*at)).map_or(0, |map| map.column);
        while open.len() > 1 && (of(open, &self.maps) > column || (fresh && of(open, &self.maps) == column)) {
            open.pop();
        }
        if (of(open, &self.maps) < column || fresh) && open.len() < DEEPEST {
            let last = self.scalars.last().filter(|scalar| scalar.lines.is_empty()).map(|scalar| scalar.key.clone());
            let label = last.or_else(|| label.map(str::to_owned)).unwrap_or_default();
            self.maps.push(Mapping { outer: open.last().copied(), label, column });
            open.push(self.maps.len() - 1);
        }
    }

    /// A mapping and those around it, innermost first.
    pub(super) fn around(&self, map: usize) -> impl Iterator<Item = usize> + '_ {
        std::iter::successors(Some(map), |at| self.maps.get(*at).and_then(|map| map.outer))
    }

    /// The one-line values of a mapping's own keys.
    pub(super) fn own(&self, map: usize) -> impl Iterator<Item = (&str, &str, u32)> {
        self.scalars.iter().filter(move |scalar| scalar.map == map).filter_map(|scalar| {
            let (number, text) = scalar.lines.first()?;
            Some((scalar.key.as_str(), text.as_str(), *number))
        })
    }
}

/// The column behind `- - `, what is left, and how many dashes there were.
fn past_dashes(mut column: usize, mut body: &str) -> (usize, &str, usize) {
    let mut items = 0;
    while let Some(rest) = body.strip_prefix('-').filter(|rest| rest.is_empty() || rest.starts_with(' ')) {
        column += body.len() - rest.trim_start().len();
        body = rest.trim_start();
        items += 1;
    }
    (column, body, items)
}

fn pair(text: &str) -> Option<(&str, &str)> {
    let (key, value) = match text.strip_suffix(':') {
        Some(key) if !key.contains(": ") => (key, ""),
        _ => text.split_once(": ")?,
    };
    let key = key.trim().trim_matches(['"', '\'']);
    let plain = !key.is_empty() && key.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '/' | '*' | ' ' | '<' | '+'));
    plain.then(|| (key, bare(value)))
}

/// Without a comment behind it.
fn bare(value: &str) -> &str {
    let value = value.trim();
    if value.starts_with('#') {
        return "";
    }
    let quoted = value.starts_with(['"', '\'']);
    value.split_once(" #").filter(|_| !quoted).map_or(value, |(front, _)| front.trim_end())
}

fn unquoted(value: &str) -> String {
    let value = bare(value);
    for quote in ['"', '\''] {
        if let Some(inner) = value.strip_prefix(quote).and_then(|rest| rest.strip_suffix(quote)) {
            return inner.replace("''", "'").replace("\\\"", "\"");
        }
    }
    value.to_owned()
}

/// `|` and `>` with their marks open a block.
fn block_of(value: &str, column: usize) -> Option<Block> {
    let marks = value.strip_prefix(['|', '>'])?;
    marks.chars().all(|c| matches!(c, '+' | '-') || c.is_ascii_digit()).then(|| Block { column, folded: value.starts_with('>') })
}

/// The items of `[a, b]`, or the one value.
pub(super) fn listed(value: &str) -> Vec<String> {
    let inner = value.trim().trim_start_matches('[').trim_end_matches(']');
    let items = inner.split(',').map(|item| item.trim().trim_matches(['"', '\'']).to_owned());
    items.filter(|item| !item.is_empty()).collect()
}
