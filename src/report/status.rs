//! Owns how `seedgate status` looks: worst first, aligned, one screen.

use std::fmt::Write as _;

use serde_json::{Value, json};

use crate::daemon::client::Aid;
use crate::daemon::wire::Merge;
use crate::freeze::day::Day;
use crate::freeze::file::{Entry, Fault, Freeze};
use crate::gate::overview::Overview;
use crate::repo::hooks::HookState;
use crate::report::freeze::{days, entries_json, faults_of};
use crate::report::text::line_of;
use crate::report::{Style, plural};
use crate::tree::RepoPath;

/// Names shown of a list; the rest is counted.
const SHOWN: usize = 5;

/// Hooks and repository together.
pub struct Standing {
    /// The hooks.
    pub hooks: Vec<HookState>,
    /// The repository.
    pub overview: Overview,
    /// The frozen tests, or why nobody can tell.
    pub frozen: Result<Frozen, String>,
    /// What the daemon adds: nothing that a verdict needs.
    pub aid: Aid,
}

/// The freeze file, and what of it does not hold on a day.
pub struct Frozen {
    /// The file.
    pub freeze: Freeze,
    /// What does not hold.
    pub faults: Vec<Fault>,
    /// The day.
    pub today: Day,
}

/// The standing as text.
pub fn status_text(standing: &Standing, style: Style) -> String {
    let overview = &standing.overview;
    let dead = standing.hooks.iter().filter(|hook| !hook.is_live()).count();
    let mut text = if dead == 0 {
        format!("seedgate: {}\n", style.good("every hook is live"))
    } else {
        format!("seedgate: {}\n", style.bad(&format!("{} not live; next: seedgate init", plural(dead, "hook"))))
    };
    let mut hooks: Vec<&HookState> = standing.hooks.iter().collect();
    hooks.sort_by_key(|hook| hook.is_live());
    for hook in hooks {
        let says = hook.standing.to_string();
        let says = if hook.is_live() { style.good(&says) } else { style.bad(&says) };
        row(&mut text, hook.hook.name(), &says, style);
        if !hook.is_live() {
            row(&mut text, "", &style.dim(&RepoPath::new(hook.path.as_os_str().as_encoded_bytes()).to_string()), style);
        }
    }
    text.push('\n');
    row(&mut text, "head", &overview.head.as_ref().map_or_else(|| "no commit yet".into(), |oid| short(oid.as_str())), style);
    row(&mut text, "base", &base(overview), style);
    fixtures(&mut text, overview, style);
    cards(&mut text, overview, style);
    waivers(&mut text, overview, style);
    freezes(&mut text, &standing.frozen, style);
    aid(&mut text, &standing.aid, style);
    text
}

fn row(text: &mut String, name: &str, says: &str, style: Style) {
    let _ = writeln!(text, "  {}  {says}", style.strong(&format!("{name:<16}")));
}

fn short(hex: &str) -> String {
    hex.chars().take(12).collect()
}

fn base(overview: &Overview) -> String {
    match &overview.base {
        Some(base) => format!("{} of {}, {} above it", short(base.commit.as_str()), base.name, plural(base.ahead, "commit")),
        None => "none: no upstream, and no [merge] target in .seedgate/config.toml".into(),
    }
}

fn fixtures(text: &mut String, overview: &Overview, style: Style) {
    let fixtures = &overview.fixtures;
    row(text, "fixtures", &format!("{}, sha256 {} in the index", plural(fixtures.files, "file"), short(&fixtures.sha256)), style);
    list(text, "moved from base", &fixtures.moved, style);
    list(text, "differ on disk", &fixtures.on_disk, style);
}

fn cards(text: &mut String, overview: &Overview, style: Style) {
    let cards = &overview.cards;
    let properties = if cards.properties == 1 { "1 property".into() } else { format!("{} properties", cards.properties) };
    row(text, "cards", &format!("{properties}, {}, {} opaque", plural(cards.tests, "test"), cards.opaque.len()), style);
    let opaque: Vec<String> = cards.opaque.iter().map(|(id, why)| format!("{id}: {why}")).collect();
    list(text, "opaque", &opaque, style);
    let unreadable: Vec<String> = cards.unreadable.iter().map(|(path, why)| format!("{path}: {why}")).collect();
    list(text, "unreadable", &unreadable, style);
}

fn waivers(text: &mut String, overview: &Overview, style: Style) {
    let open: Vec<&RepoPath> = overview.waivers.iter().filter(|(_, open)| *open).map(|(path, _)| path).collect();
    row(text, "waivers", &format!("{}, {} not in the base yet", overview.waivers.len(), open.len()), style);
    list(text, "open waivers", &open, style);
}

fn freezes(text: &mut String, frozen: &Result<Frozen, String>, style: Style) {
    let Frozen { freeze, faults, today } = match frozen {
        Ok(frozen) => frozen,
        Err(says) => return row(text, "freezes", &style.bad(&line_of(says)), style),
    };
    let (held, void): (Vec<&Entry>, Vec<&Entry>) = freeze.entries.iter().partition(|entry| faults_of(faults, &entry.test).next().is_none());
    row(text, "freezes", &format!("{}, {} of them in vain", plural(freeze.entries.len(), "test"), void.len()), style);
    let told =
        |entry: &&Entry| format!("{} ({}, {} left)", line_of(&entry.test.0), line_of(&entry.owner), days(today.until(entry.expires)));
    list(text, "frozen", &held.iter().map(told).collect::<Vec<_>>(), style);
    let why = |entry: &&Entry| format!("{}: {}", entry.test.0, faults_of(faults, &entry.test).collect::<Vec<_>>().join("; "));
    list(text, "frozen in vain", &void.iter().map(|entry| line_of(&why(entry))).collect::<Vec<_>>(), style);
}

fn aid(text: &mut String, aid: &Aid, style: Style) {
    row(text, "daemon", &aid.says, style);
    let merges: Vec<String> = aid.merges.iter().map(merge).collect();
    list(text, "merges (hint)", &merges, style);
}

/// A hint with the commits it is for: whoever has moved on since sees that it is old.
fn merge(merge: &Merge) -> String {
    let says = match (merge.exit, &merge.trouble) {
        (Some(0), _) => "clear".into(),
        (Some(_), _) => merge.rules.join(", "),
        (None, Some(trouble)) => format!("not judged: {trouble}"),
        (None, None) => "not judged yet".into(),
    };
    format!("{} ({}) into {} ({}): {says}", merge.branch, short(merge.head.as_str()), merge.target, short(merge.base.as_str()))
}

fn list(text: &mut String, name: &str, items: &[impl ToString], style: Style) {
    for (at, item) in items.iter().take(SHOWN).enumerate() {
        row(text, if at == 0 { name } else { "" }, &style.warn(&item.to_string()), style);
    }
    if items.len() > SHOWN {
        row(text, "", &format!("… and {} more (--json lists all)", items.len() - SHOWN), style);
    }
}

/// The standing as `seedgate.status/1`.
pub fn status_json(standing: &Standing) -> Value {
    let overview = &standing.overview;
    let paths = |paths: &[RepoPath]| paths.iter().map(ToString::to_string).collect::<Vec<_>>();
    json!({
        "schema": "seedgate.status/1",
        "hooks": standing.hooks.iter().map(|hook| json!({
            "hook": hook.hook.name(),
            "path": RepoPath::new(hook.path.as_os_str().as_encoded_bytes()).to_string(),
            "live": hook.is_live(),
            "says": hook.standing.to_string(),
        })).collect::<Vec<_>>(),
        "head": overview.head,
        "base": overview.base.as_ref().map(|base| json!({ "name": base.name, "commit": base.commit, "ahead": base.ahead })),
        "fixtures": {
            "files": overview.fixtures.files,
            "sha256": overview.fixtures.sha256,
            "moved": paths(&overview.fixtures.moved),
            "on_disk": paths(&overview.fixtures.on_disk),
        },
        "cards": {
            "properties": overview.cards.properties,
            "tests": overview.cards.tests,
            "opaque": overview.cards.opaque.iter().map(|(id, why)| json!({ "property": id, "why": why })).collect::<Vec<_>>(),
            "unreadable": overview.cards.unreadable.iter().map(|(path, why)| json!({ "path": path.to_string(), "why": why })).collect::<Vec<_>>(),
        },
        "daemon": daemon(&standing.aid),
        "merges": standing.aid.merges,
        "freezes": match &standing.frozen {
            Ok(frozen) => json!({ "entries": entries_json(&frozen.freeze, &frozen.faults, frozen.today), "unreadable": null }),
            Err(says) => json!({ "entries": [], "unreadable": says }),
        },
        "waivers": overview.waivers.iter().map(|(path, open)| json!({ "path": path.to_string(), "open": open })).collect::<Vec<_>>(),
    })
}

fn daemon(aid: &Aid) -> Value {
    let warmth = aid.warmth.as_ref();
    json!({
        "live": aid.live,
        "why": (!aid.live).then_some(&aid.says),
        "says": aid.says,
        "ready": warmth.map(|warmth| warmth.ready),
        "wanted": warmth.map(|warmth| warmth.wanted),
        "cold": warmth.and_then(|warmth| warmth.cold.as_ref()),
    })
}
