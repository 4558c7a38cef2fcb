//! Owns what starts a workflow: its events with their filters, and which changes start it no more.

use std::collections::BTreeMap;

use crate::strength::harness::paths::triggers;
use crate::strength::harness::yaml::{Document, listed};

/// Events that a change of code sets off.
pub(super) const EVENTS: [&str; 5] = ["push", "pull_request", "pull_request_target", "merge_group", "workflow_call"];
/// Branches that changes usually go to; a glob is one too.
const USUAL: [&str; 10] = ["main", "master", "trunk", "develop", "development", "dev", "default", "stable", "next", "release"];
/// Patterns of one filter, and their length, that are read.
const MOST_PATTERNS: usize = 100;
const LONGEST_PATTERN: usize = 100;

/// The filters of one event, by their keys.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Filter {
    keys: BTreeMap<String, Vec<String>>,
}

/// The events of changes that start a workflow.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Starts {
    events: BTreeMap<&'static str, Filter>,
}

impl Starts {
    /// Reads a workflow.
    pub(super) fn read(text: &str) -> Self {
        let document = Document::read(text);
        let mut words: Vec<&str> =
            document.scalars.iter().filter(|s| s.key == "on").flat_map(|s| &s.lines).map(|(_, l)| l.as_str()).collect();
        let under: Vec<usize> = (0..document.maps.len())
            .filter(|at| document.maps.get(*at).is_some_and(|map| map.label == "on" && map.outer == Some(0)))
            .take(8)
            .collect();
        words.extend(document.scalars.iter().filter(|scalar| under.contains(&scalar.map)).map(|scalar| scalar.key.as_str()));
        let has = |event: &str| words.iter().any(|word| word.split(|c: char| !c.is_alphanumeric() && c != '_').any(|part| part == event));
        let events = EVENTS.into_iter().filter(|event| has(event)).map(|event| (event, filter(&document, &under, event)));
        Starts { events: events.collect() }
    }

    /// Whether no change of code starts it.
    pub(super) fn is_empty(&self) -> bool {
        self.events.is_empty()
    }

    /// Whether it looks at the paths of a change.
    pub(super) fn asks_paths(&self) -> bool {
        self.events.values().any(|filter| filter.has("paths") || filter.has("paths-ignore"))
    }

    /// What starts it no more, apart from paths.
    pub(super) fn lost(&self, base: &Starts) -> Option<String> {
        let names = || base.events.keys().copied().collect::<Vec<_>>().join(", ");
        let usual = |starts: &Starts| starts.events.values().any(Filter::takes_usual);
        if !base.is_empty() && self.is_empty() {
            return Some(format!("no change of code starts it any more (on: {})", names()));
        }
        (usual(base) && !usual(self)).then(|| {
            let shown =
                self.events.iter().find(|(_, filter)| !filter.takes_usual()).map(|(event, filter)| format!("{event}: {}", filter.shown()));
            format!("no usual change of code starts it any more ({})", shown.unwrap_or_default())
        })
    }

    /// Whether none of some paths starts it any more, though one did.
    pub(super) fn leaves_out(&self, base: &Starts, paths: &[String]) -> bool {
        let any =
            |starts: &Starts| paths.iter().any(|path| starts.events.values().any(|filter| filter.takes_usual() && filter.takes(path)));
        !paths.is_empty() && any(base) && !any(self)
    }
}

fn filter(document: &Document, under: &[usize], event: &str) -> Filter {
    let own =
        |at: usize| document.maps.get(at).is_some_and(|map| map.label == event && map.outer.is_some_and(|outer| under.contains(&outer)));
    let mut filter = Filter::default();
    for scalar in document.scalars.iter().filter(|scalar| own(scalar.map)) {
        let values = filter.keys.entry(scalar.key.clone()).or_default();
        values.extend(scalar.lines.iter().flat_map(|(_, line)| listed(line)));
    }
    filter
}

impl Filter {
    fn has(&self, key: &str) -> bool {
        self.keys.get(key).is_some_and(|values| !values.is_empty())
    }

    fn list(&self, key: &str) -> impl Iterator<Item = &str> {
        let values = self.keys.get(key).into_iter().flatten();
        values.map(String::as_str).filter(|pattern| pattern.len() <= LONGEST_PATTERN).take(MOST_PATTERNS)
    }

    /// Whether an ordinary change gets past the filters of branches and activities.
    fn takes_usual(&self) -> bool {
        let usual =
            |name: &str| name.contains(['*', '$', '{']) || USUAL.iter().any(|usual| name.split(['/', '-']).any(|part| part == *usual));
        let branch = !self.has("branches") || self.list("branches").any(|name| !name.starts_with('!') && usual(name));
        let everything = |name: &str| matches!(name, "*" | "**" | "**/**");
        let ignored = self.list("branches-ignore").any(|name| everything(name) || USUAL[..2].contains(&name));
        let tags = !self.has("branches") && (self.has("tags") || self.has("tags-ignore")) && !self.has("branches-ignore");
        let activity = !self.has("types") || self.list("types").any(|kind| matches!(kind, "opened" | "synchronize" | "checks_requested"));
        branch && !ignored && !tags && activity
    }

    /// Whether a changed path gets past the filters of paths; the last pattern that means it decides.
    fn takes(&self, path: &str) -> bool {
        let ignored = self.has("paths-ignore") && self.list("paths-ignore").any(|pattern| triggers(pattern, path));
        let last = self.list("paths").filter(|pattern| triggers(pattern.trim_start_matches('!'), path)).last();
        !ignored && (!self.has("paths") || last.is_some_and(|pattern| !pattern.starts_with('!')))
    }

    fn shown(&self) -> String {
        self.keys.iter().map(|(key, values)| format!("{key} {}", values.join(" "))).collect::<Vec<_>>().join(", ")
    }
}
