//! Owns how an audit looks as text and as `seedgate.audit/1`.

use std::fmt::Write as _;
use std::io::{self, Write};

use serde_json::{Value, json};

use crate::gate::audit::{Audit, Means, Outcome, Pattern, Totals};
use crate::report::Style;
use crate::report::text::{line_of, plural};

/// Widest line of a list of globs.
const WIDTH: usize = 110;

/// What was audited, in words and for the record.
pub struct Told<'a> {
    /// `the last 300 commits`, say.
    pub commits: &'a str,
    /// Whose policy it was judged by.
    pub policy: &'a str,
    /// The project's name.
    pub project: &'a str,
}

/// The audit for people: the verdict first.
pub fn audit_text(audit: &Audit, told: &Told<'_>, style: Style) -> String {
    let all = audit.scope.commits.len();
    if all == 0 {
        return format!("seedgate: no commit in {}, so there is nothing to audit\n", told.commits);
    }
    let counts: Vec<String> = Outcome::ALL.into_iter().filter_map(|outcome| counted(audit, outcome, style)).collect();
    let mut text = format!("seedgate: {}: {}\n", plural(all, "commit"), counts.join(", "));
    let _ = writeln!(text, "  {} judged by {}", style.dim(&format!("{},", told.commits)), told.policy);
    if audit.count(Outcome::Unseen) > 0 {
        let _ = writeln!(
            text,
            "  this clone is shallow: what lies before its {} is not here",
            plural(audit.count(Outcome::Unseen), "oldest commit")
        );
    }
    rules(&mut text, audit, style);
    patterns(&mut text, audit, style);
    cards(&mut text, audit, style);
    let _ = writeln!(text, "\n  {}  {}", style.dim("time  "), times(audit));
    next(&mut text, audit, style);
    text
}

fn counted(audit: &Audit, outcome: Outcome, style: Style) -> Option<String> {
    let count = audit.count(outcome);
    let words = format!("{count} {}", outcome.name());
    let coloured = match outcome {
        Outcome::Clear => style.good(&words),
        Outcome::Mixed | Outcome::Weakened | Outcome::Unreadable => style.bad(&words),
        Outcome::Review | Outcome::Waived | Outcome::Unseen => style.warn(&words),
    };
    (count > 0 || outcome == Outcome::Clear).then_some(coloured)
}

fn share(part: usize, whole: usize) -> String {
    let tenths = part * 1000 / whole.max(1);
    format!("{}.{} %", tenths / 10, tenths % 10)
}

fn rules(text: &mut String, audit: &Audit, style: Style) {
    if audit.rules.is_empty() {
        return;
    }
    let head = format!("{:<26}{:>8}{:>9}{:>10}{:>8}  newest", "rule", "commits", "share", "findings", "off");
    let _ = write!(text, "\n  {}\n", style.dim(&head));
    let mut spoken: Vec<_> = audit.rules.iter().collect();
    spoken.sort_by_key(|(rule, spoken)| (std::cmp::Reverse(spoken.commits), **rule));
    for (rule, spoken) in spoken {
        let off = if spoken.silenced == 0 { String::from("-") } else { spoken.silenced.to_string() };
        let newest = spoken.example.as_ref().map_or("-", |oid| &oid.as_str()[..12]);
        let (id, share) = (format!("{:<26}", rule.id()), share(spoken.commits, audit.scope.commits.len()));
        let _ = writeln!(text, "  {}{:>8}{share:>9}{:>10}{off:>8}  {newest}", style.strong(&id), spoken.commits, spoken.findings);
    }
}

fn patterns(text: &mut String, audit: &Audit, style: Style) {
    if audit.patterns.is_empty() {
        return;
    }
    let saved: usize = audit.patterns.iter().map(|pattern| pattern.commits).sum();
    let _ = write!(text, "\n  {saved} of {} are so only by paths that may be misfiled:\n", plural(audit.mixed, "mixed commit"));
    for Pattern { glob, side, commits, path, example, .. } in &audit.patterns {
        let example = audit.scope.commits.get(*example).map_or("", |oid| &oid.as_str()[..12]);
        let also = if path == glob { String::new() } else { format!("{path} ") };
        let glob = style.strong(&format!("{:<40}", line_of(glob)));
        let _ = writeln!(text, "    {glob} {commits:>5}  counted as {}, e.g. {}in {example}", side.name(), line_of(&also));
    }
    let _ = writeln!(text, "  if you agree, put this into .seedgate/config.toml:");
    for line in snippet(audit).lines() {
        let _ = writeln!(text, "    {line}");
    }
}

/// Lines of configuration that follow the patterns.
fn snippet(audit: &Audit) -> String {
    let of = |means: Means| audit.patterns.iter().filter(move |pattern| pattern.means == means).map(|pattern| pattern.glob.as_str());
    let mut text = String::new();
    let tests: Vec<&str> = of(Means::Test).collect();
    if !tests.is_empty() {
        let whole = [audit.scope.settings.sides.test(), tests].concat();
        let _ = write!(text, "[sides]\n{}", list("test", &whole));
    }
    let apart: Vec<&str> = of(Means::Apart).collect();
    if !apart.is_empty() {
        let _ = write!(text, "[[rules.for]]\n{}split_required = \"off\"\n", list("paths", &apart));
    }
    text
}

/// `key = ["…", …]`, on more lines when it is long.
fn list(key: &str, globs: &[&str]) -> String {
    let quoted: Vec<String> = globs.iter().map(|glob| toml::Value::from(*glob).to_string()).collect();
    let one = format!("{key} = [{}]\n", quoted.join(", "));
    if one.len() <= WIDTH {
        return one;
    }
    format!("{key} = [\n{}]\n", quoted.iter().map(|glob| format!("    {glob},\n")).collect::<String>())
}

fn cards(text: &mut String, audit: &Audit, style: Style) {
    let Some(Some(now)) = audit.totals.last() else { return };
    let first = audit.totals.iter().zip(&audit.mainline).find_map(|(totals, main)| totals.filter(|_| *main)).unwrap_or(*now);
    let since = |now: i64, first: i64| format!("{now} ({:+})", now - first);
    let _ = writeln!(
        text,
        "\n  {}  properties {}, tests {}, assertions {}, cases {}; opaque {}",
        style.dim("cards "),
        since(now.properties, first.properties),
        since(now.tests, first.tests),
        since(now.assertions, first.assertions),
        since(now.cases, first.cases),
        since(now.opaque, first.opaque),
    );
}

fn times(audit: &Audit) -> String {
    let tenths = |micros: u64| format!("{}.{} ms", micros / 1000, micros % 1000 / 100);
    format!(
        "median {}, 99 % within {} a commit; {}.{} s in all, {}",
        tenths(audit.quantile(50)),
        tenths(audit.quantile(99)),
        audit.took.as_secs(),
        audit.took.subsec_millis() / 100,
        plural(audit.threads, "thread")
    )
}

fn next(text: &mut String, audit: &Audit, style: Style) {
    let worst = audit.rules.iter().filter_map(|(rule, spoken)| Some((rule, spoken.example.as_ref()?)));
    if let Some((_, oid)) = worst.max_by_key(|(rule, _)| (rule.level(), std::cmp::Reverse(**rule))) {
        let id = &oid.as_str()[..12];
        let _ = writeln!(
            text,
            "  {}  seedgate check --base {id}^ --head {id}   (one commit in full; --html FILE draws them all)",
            style.dim("next: ")
        );
    }
}

/// The audit as `seedgate.audit/1`, a commit a line, written as it is read back.
///
/// # Errors
/// When it cannot be read back or written.
pub fn audit_json(audit: &Audit, told: &Told<'_>, out: &mut dyn Write) -> io::Result<()> {
    let head = head(audit, told).to_string();
    // The rows go into the object that the head is, whatever its last key.
    out.write_all(&head.as_bytes()[..head.len() - 1])?;
    out.write_all(b",\"commits\":[")?;
    for (at, totals) in audit.totals.iter().enumerate() {
        let lead = json!({"mainline": audit.mainline.get(at), "totals": totals}).to_string();
        out.write_all(if at == 0 { b"\n" } else { b",\n" })?;
        out.write_all(&lead.as_bytes()[..lead.len() - 1])?;
        out.write_all(b",")?;
        out.write_all(audit.row(at)?.get(1..).unwrap_or(b"}"))?;
    }
    out.write_all(b"\n]}\n")
}

fn head(audit: &Audit, told: &Told<'_>) -> Value {
    let outcomes: serde_json::Map<String, Value> =
        Outcome::ALL.into_iter().map(|outcome| (outcome.name().to_owned(), json!(audit.count(outcome)))).collect();
    let rules = audit.rules.iter().map(|(rule, spoken)| {
        let level = audit.scope.settings.rules.everywhere.get(rule).copied().unwrap_or_else(|| rule.level());
        json!({"rule": rule.id(), "level": level.name(), "commits": spoken.commits, "findings": spoken.findings, "silenced": spoken.silenced, "example": spoken.example})
    });
    let patterns = audit.patterns.iter().map(|pattern| {
        let means = match pattern.means {
            Means::Test => "test",
            Means::Apart => "apart",
        };
        json!({"glob": pattern.glob, "counted_as": pattern.side.name(), "means": means, "commits": pattern.commits, "path": pattern.path,
            "example": audit.scope.commits.get(pattern.example)})
    });
    json!({
        "schema": "seedgate.audit/1",
        "project": told.project,
        "asked": told.commits,
        "policy": told.policy,
        "head": audit.scope.commits.last(),
        "judged": audit.micros.len(),
        "shallow": audit.count(Outcome::Unseen) > 0,
        "outcomes": outcomes,
        "rules": rules.collect::<Vec<_>>(),
        "mixed": audit.mixed,
        "patterns": patterns.collect::<Vec<_>>(),
        "config": snippet(audit),
        "time": {"median_us": audit.quantile(50), "p99_us": audit.quantile(99), "all_ms": u64::try_from(audit.took.as_millis()).unwrap_or(u64::MAX), "threads": audit.threads},
        "totals": audit.totals.last().copied().flatten().unwrap_or_else(Totals::default),
    })
}
