//! Owns what `init` and `uninstall` say.

use std::fmt::Write as _;
use std::path::Path;

use crate::repo::hooks::{Act, Advice, Chain, Installed, Place, Planned, Removed, Undone, Was, Wrote, shown};
use crate::report::{Style, plural};

/// What `init` did; with `rehearsed`, what it would do.
pub fn installed(done: &Installed, rehearsed: bool, style: Style) -> String {
    let place = &done.place;
    let mut text = format!("seedgate: {} {}\n", style.strong(headline(done, rehearsed)), shown(&place.top));
    let (path, said) = policy(&done.policy);
    row(&mut text, "policy", &within(place, path), said);
    let (path, said) = baseline(&done.baseline, done.tips);
    row(&mut text, "baseline", &within(place, path), &said);
    for planned in &done.hooks {
        row(&mut text, planned.hook.name(), &within(place, &planned.path), &act(place, planned));
    }
    for planned in &done.hooks {
        match &planned.act {
            Act::Ask(advice) => by_hand(&mut text, place, planned, advice),
            Act::Blocked(says) => {
                let _ = write!(text, "\n{}: {says}.\n", style.bad(planned.hook.name()));
            }
            Act::Current(_) | Act::Install(..) | Act::Called(_) => {}
        }
    }
    for note in &done.notes {
        let _ = writeln!(text, "note: {note}");
    }
    text
}

fn headline(done: &Installed, rehearsed: bool) -> &'static str {
    let none = !done.hooks.iter().any(|planned| matches!(planned.act, Act::Current(_) | Act::Install(..) | Act::Called(_)));
    let idle = done.hooks.iter().all(|planned| matches!(planned.act, Act::Current(_) | Act::Called(_)));
    match (done.is_whole(), rehearsed) {
        (false, _) if none => "not installed in",
        (false, false) => "only partly installed in",
        (false, true) => "would be only partly installed in",
        (true, _) if idle => "already installed in",
        (true, true) => "would be installed in",
        (true, false) => "installed in",
    }
}

fn policy(wrote: &Wrote) -> (&Path, &str) {
    match wrote {
        Wrote::New(path) => (path, "new: every default, as comments; commit it"),
        Wrote::Kept(path) => (path, "as it was"),
    }
}

fn baseline(wrote: &Wrote, tips: usize) -> (&Path, String) {
    let tips = plural(tips, "tip");
    match wrote {
        Wrote::New(path) => (path, format!("new: {tips}; what is reachable now is not judged at push")),
        Wrote::Kept(path) => (path, format!("as it was: {tips} (`seedgate init --rebaseline` records those of now)")),
    }
}

fn act(place: &Place, planned: &Planned) -> String {
    match &planned.act {
        Act::Current(chain) => format!("as it was{}", chained(place, chain)),
        Act::Install(Was::Absent, chain) => format!("new{}", chained(place, chain)),
        Act::Install(Was::Outdated, chain) => format!("written anew{}", chained(place, chain)),
        Act::Install(Was::Earlier, chain) => format!("new in place of an earlier hook{}", chained(place, chain)),
        Act::Called(file) => format!("called from {}", within(place, file)),
        Act::Ask(_) => "NOT installed: another's, see below".to_owned(),
        Act::Blocked(_) => "NOT installed, see below".to_owned(),
    }
}

fn chained(place: &Place, chain: &Chain) -> String {
    match chain {
        Chain::None => String::new(),
        Chain::Runs(path) => format!("; {} runs too, and both must pass", within(place, path)),
        Chain::Kept(path) => format!("; {} is kept and does not run, as before: it is not executable", within(place, path)),
    }
}

fn by_hand(text: &mut String, place: &Place, planned: &Planned, advice: &Advice) {
    let how = if advice.exists { "add to" } else { "make an executable file" };
    let _ = write!(text, "\n{}: {}.\nhelp: {how} {}:\n", planned.hook, advice.why, within(place, &advice.file));
    for line in &advice.lines {
        let _ = writeln!(text, "    {line}");
    }
}

/// What `uninstall` did.
pub fn undone(done: &Undone, style: Style) -> String {
    let place = &done.place;
    let nothing = done.hooks.iter().all(|(_, removed)| matches!(removed, Removed::Nothing | Removed::Foreign(None)));
    let headline = if nothing && !done.abandoned { "nothing to uninstall in" } else { "uninstalled from" };
    let mut text = format!("seedgate: {} {}\n", style.strong(headline), shown(&place.top));
    for (path, removed) in &done.hooks {
        let said = match removed {
            Removed::Gone => "removed".to_owned(),
            Removed::Restored => "removed; the earlier hook is back under its name".to_owned(),
            Removed::Nothing => "not there".to_owned(),
            Removed::Foreign(None) => "another's, left as it is".to_owned(),
            Removed::Foreign(Some(aside)) => format!("another's, left as it is; {} still keeps an earlier hook", within(place, aside)),
        };
        row(&mut text, "hook", &within(place, path), &said);
    }
    if done.abandoned {
        text.push_str("  core.hooksPath and the links that `init --here` made are taken back\n");
    }
    text.push_str("  policy, waivers and baseline are kept\n");
    for file in &done.callers {
        let _ = writeln!(text, "note: {} still calls seedgate: remove that line by hand", within(place, file));
    }
    text
}

fn row(text: &mut String, what: &str, path: &str, said: &str) {
    let _ = writeln!(text, "  {what:<16} {path}  {said}");
}

/// A path as seen from the root of the work tree, when it lies below.
fn within(place: &Place, path: &Path) -> String {
    shown(path.strip_prefix(&place.top).unwrap_or(path)).to_string()
}
