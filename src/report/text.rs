//! Owns the verdict as text: the verdict first, then one block a finding, the same for people and agents.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use crate::finding::{Exit, Finding, Rule};
use crate::gate::judge::Judgement;
use crate::gate::run::Outcome;
use crate::report::Style;

/// Blocks shown of one rule in one candidate; the rest is counted.
const BLOCKS: usize = 5;

/// The verdict as text. `what` names what was judged, e.g. `commit` or `3 commits`.
pub fn verdict(verdict: &Outcome, what: &str, style: Style) -> String {
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
    silenced(&mut text, verdict, style);
    text
}

/// One line for what the policy has off, so that nothing is gone without a word.
fn silenced(text: &mut String, verdict: &Outcome, style: Style) {
    let mut counts: BTreeMap<Rule, usize> = BTreeMap::new();
    for (rule, count) in verdict.judgements.iter().flat_map(|judgement| &judgement.silenced) {
        *counts.entry(*rule).or_default() += count;
    }
    if !counts.is_empty() {
        let rules: Vec<String> = counts.iter().map(|(rule, count)| format!("{} {count}", rule.id())).collect();
        let _ = writeln!(text, "{}", style.dim(&format!("off by policy, so not refused: {}", rules.join(", "))));
    }
}

fn headline(verdict: &Outcome, what: &str, style: Style) -> String {
    let exit = verdict.exit();
    let findings = || verdict.judgements.iter().flat_map(|j| &j.findings);
    let count = |wanted: Exit| findings().filter(|f| f.exit() == wanted).count();
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
    let rule = match finding.exit() {
        Exit::Refused => style.bad(finding.rule.id()),
        _ => style.warn(finding.rule.id()),
    };
    let subject = finding.property.as_ref().map(|id| id.0.as_str());
    let place = place(finding);
    let about = subject.or(place.as_deref()).map_or_else(String::new, |about| format!("  {}", style.strong(about)));
    let _ = writeln!(text, "\n  {rule}{about}");
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
pub(super) fn line_of(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::verdict;
    use crate::finding::{Exit, Finding, PropId, Rule};
    use crate::gate::facts::Counts;
    use crate::gate::judge::Judgement;
    use crate::gate::run::Outcome;
    use crate::report::Style;
    use crate::tree::Oid;

    fn finding(rule: Rule, property: Option<&str>, place: (&str, u32), says: &[&str], help: &str) -> Finding {
        Finding {
            property: property.map(|id| PropId(id.into())),
            path: Some(place.0.into()),
            line: (place.1 > 0).then_some(place.1),
            says: says.iter().map(|s| (*s).to_owned()).collect(),
            help: help.into(),
            ..Finding::new(rule)
        }
    }

    fn of(commit: Option<char>, findings: Vec<Finding>) -> Judgement {
        let oid = commit.and_then(|c| Oid::from_hex(&c.to_string().repeat(40)));
        let subject = if oid.is_some() { "make it \x1b[31mgreen" } else { "" };
        Judgement { commit: oid, subject: subject.into(), findings, ..Judgement::default() }
    }

    fn text(judgements: Vec<Judgement>, what: &str) -> String {
        verdict(&Outcome { judgements, facts: Counts::default(), distrusted: false }, what, Style::PLAIN)
    }

    #[test]
    fn a_refusal_says_the_verdict_first_and_then_place_loss_and_next_command() {
        let id = "tests/properties/test_props.py::test_prop_small";
        let lost = finding(
            Rule::AssertionRemoved,
            Some(id),
            ("tests/properties/test_props.py", 8),
            &["assertions 2 -> 1: lost \"assert f(x) == f(-x)\""],
            "seedgate waiver new tests/properties/test_props.py::test_prop_small",
        );
        insta::assert_snapshot!(text(vec![of(None, vec![lost])], "commit"), @r#"
        seedgate: commit refused: 1 finding

          assertion_removed  tests/properties/test_props.py::test_prop_small
            at    tests/properties/test_props.py:8
            assertions 2 -> 1: lost "assert f(x) == f(-x)"
            next:  seedgate waiver new tests/properties/test_props.py::test_prop_small
        "#);
    }

    #[test]
    fn one_cause_never_fills_more_than_a_screen() {
        let many =
            (0..30).map(|n| finding(Rule::FixtureDrift, None, (&format!("tests/fixtures/{n}"), 0), &["bytes changed"], "")).collect();
        let shown = text(vec![of(None, many)], "commit");
        assert!(shown.lines().count() < 24, "{shown}");
        assert!(shown.contains("… and 25 more of fixture_drift (--json lists all)"), "{shown}");
    }

    #[test]
    fn a_range_names_the_commits_that_have_something_to_say_and_no_other() {
        let new = finding(Rule::NewProperty, Some("tests/test_a.py::test_new"), ("tests/test_a.py", 1), &[], "");
        let mut broken = of(Some('c'), Vec::new());
        broken.error = Some((Exit::Unreadable, "object 1 is missing (tests/test_a.py)".into()));
        insta::assert_snapshot!(text(vec![of(Some('a'), Vec::new()), of(Some('b'), vec![new]), broken], "3 commits of main..HEAD"), @r"
        seedgate: 3 commits of main..HEAD unreadable: no verdict was reached, so it does not pass

        commit bbbbbbbbbbbb make it  [31mgreen

          new_property  1 test that the base does not have
            tests/test_a.py::test_new

        commit cccccccccccc make it  [31mgreen

          object 1 is missing (tests/test_a.py)
        ");
    }
}
