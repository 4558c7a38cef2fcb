//! Owns the verdict as text: the verdict first, then one block a finding, the same for people and agents.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use crate::finding::{Exit, Finding, Rule};
use crate::gate::judge::Judgement;
use crate::report::{Style, Verdict};

/// Blocks shown of one rule in one candidate; the rest is counted.
const BLOCKS: usize = 5;

/// The verdict as text. `what` names what was judged, e.g. `commit` or `3 commits`.
pub fn verdict(verdict: &Verdict, what: &str, style: Style) -> String {
    let mut text = headline(verdict, what, style);
    let told: Vec<&Judgement> = verdict.judgements.iter().filter(|j| !j.findings.is_empty() || j.error.is_some()).collect();
    let named = verdict.judgements.len() > 1 || told.iter().any(|j| j.commit.is_some());
    for judgement in told {
        if named {
            let id = judgement.commit.as_ref().map_or("index", |oid| &oid.as_str()[..12]);
            let _ = write!(text, "\n{} {}\n", style.strong(&format!("commit {id}")), line_of(&judgement.subject));
        }
        blocks(&mut text, judgement, style);
    }
    text
}

fn headline(verdict: &Verdict, what: &str, style: Style) -> String {
    let exit = verdict.exit();
    let findings = || verdict.judgements.iter().flat_map(|j| &j.findings);
    let count = |wanted: Exit| findings().filter(|f| f.rule.exit() == wanted).count();
    let tail = match exit {
        Exit::Clear => String::new(),
        Exit::Refused => format!(": {}", plural(count(Exit::Refused), "finding")),
        Exit::Review => format!(": {} for a person to look at", plural(count(Exit::Review), "new test")),
        Exit::Waived => format!(": {} for a human to merge", plural(count(Exit::Waived), "finding")),
        _ => ": no verdict was reached, so it does not pass".to_owned(),
    };
    let word = exit.decision();
    let word = match exit {
        Exit::Clear => style.good(word),
        Exit::Review | Exit::Waived => style.warn(word),
        _ => style.bad(word),
    };
    format!("seedgate: {what} {word}{tail}\n")
}

/// "1 finding", "2 findings".
pub fn plural(count: usize, noun: &str) -> String {
    if count == 1 { format!("1 {noun}") } else { format!("{count} {noun}s") }
}

fn blocks(text: &mut String, judgement: &Judgement, style: Style) {
    if let Some((_, says)) = &judgement.error {
        let _ = write!(text, "\n  {}\n", line_of(says));
    }
    let mut shown: BTreeMap<Rule, usize> = BTreeMap::new();
    let new: Vec<&Finding> = judgement.findings.iter().filter(|f| f.rule == Rule::NewProperty).collect();
    for finding in judgement.findings.iter().filter(|f| f.rule != Rule::NewProperty) {
        let count = shown.entry(finding.rule).or_default();
        *count += 1;
        if *count <= BLOCKS {
            block(text, finding, style);
        }
    }
    for (rule, count) in shown.into_iter().filter(|(_, count)| *count > BLOCKS) {
        let _ = write!(text, "\n  … and {} more of {} (--json lists all)\n", count - BLOCKS, rule.id());
    }
    if !new.is_empty() {
        fresh(text, &new, style);
    }
}

fn block(text: &mut String, finding: &Finding, style: Style) {
    let rule = match finding.rule.exit() {
        Exit::Refused => style.bad(finding.rule.id()),
        _ => style.warn(finding.rule.id()),
    };
    let subject = finding.property.as_ref().map(|id| id.0.as_str());
    let place = place(finding);
    let _ = writeln!(text, "\n  {rule}  {}", style.strong(subject.or(place.as_deref()).unwrap_or_default()));
    if let (Some(_), Some(place)) = (subject, &place) {
        let _ = writeln!(text, "    at    {place}");
    }
    for says in &finding.says {
        let _ = writeln!(text, "    {}", line_of(says));
    }
    if !finding.help.is_empty() {
        let _ = writeln!(text, "    {}  {}", style.dim("next:"), line_of(&finding.help));
    }
}

fn place(finding: &Finding) -> Option<String> {
    let path = finding.path.as_ref()?;
    Some(finding.line.map_or_else(|| path.clone(), |line| format!("{path}:{line}")))
}

/// New properties and tests: one short list, since nothing is wrong with them.
fn fresh(text: &mut String, new: &[&Finding], style: Style) {
    let _ = writeln!(text, "\n  {}  {} that the base does not have", style.warn(Rule::NewProperty.id()), plural(new.len(), "test"));
    for finding in new.iter().take(BLOCKS) {
        let _ = writeln!(text, "    {}", finding.property.as_ref().map_or_else(String::new, |id| line_of(&id.0)));
    }
    if new.len() > BLOCKS {
        let _ = writeln!(text, "    … and {} more", new.len() - BLOCKS);
    }
}

/// One line of a text that may come from the repository: nothing in it moves the cursor or breaks the line.
fn line_of(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}
