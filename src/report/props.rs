//! Owns what `props` says.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde_json::{Value, json};

use crate::finding::Exit;
use crate::report::Style;
use crate::report::text::{line_of, plural};
use crate::strength::card::Card;
use crate::tree::Oid;
use crate::trial::record::{From, Props, Row, Run, Status};
use crate::trial::shrink::Found;
use crate::trial::worker::outcome::Refusal;
use crate::witness::decide::{Action, Verdict};
use crate::witness::ledger::Row as LedgerRow;
use crate::witness::value::Input;

/// Longest input that is shown, in characters.
const INPUT: usize = 300;

/// Most properties that are not run and named one by one.
const NOT_RUN: usize = 8;

/// `props list` for people.
pub fn listed_text(rows: &[(Card, Option<Refusal>)], style: Style) -> String {
    let mut text = String::new();
    for (card, refusal) in rows {
        let size = card.domain.size().map_or_else(|| "open".to_owned(), |size| plural_of(&size.to_string(), "input"));
        let size = if size.len() > 24 { "more than 10^16 inputs".to_owned() } else { size };
        let _ = match refusal {
            None => writeln!(text, "{}  {}", style.strong(&line_of(&card.prop_id.0)), style.dim(&size)),
            Some(refusal) => {
                let why = format!("{}: {}", refusal.kind, line_of(&refusal.message));
                writeln!(text, "{}  {}", style.strong(&line_of(&card.prop_id.0)), style.warn(&why))
            }
        };
    }
    let not = rows.iter().filter(|(_, refusal)| refusal.is_some()).count();
    let _ = writeln!(text, "{}, {} can be run", properties(rows.len()), rows.len() - not);
    text
}

/// `seedgate.props-list/1`.
pub fn listed_json(rows: &[(Card, Option<Refusal>)]) -> Value {
    let row = |(card, refusal): &(Card, Option<Refusal>)| json!({"prop_id": card.prop_id, "domain_size": card.domain.size().map(|size| size.to_string()), "refusal": refusal});
    json!({"schema": "seedgate.props-list/1", "properties": rows.iter().map(row).collect::<Vec<_>>()})
}

/// A run of properties for people: what failed first, then what has no verdict, then the counts.
pub fn props_text(props: &Props, style: Style) -> String {
    let mut text = String::new();
    for row in props.properties.iter().filter(|row| matches!(row.status, Status::Fail | Status::Flake)) {
        failed(&mut text, row, style);
    }
    let of = |status: Status| props.properties.iter().filter(move |row| row.status == status);
    of(Status::Error).for_each(|row| unrun(&mut text, row, style));
    if props.count(Status::NotRun) <= NOT_RUN {
        of(Status::NotRun).for_each(|row| unrun(&mut text, row, style));
    } else {
        let mut kinds: BTreeMap<&str, usize> = BTreeMap::new();
        of(Status::NotRun).for_each(|row| *kinds.entry(row.refusal.as_ref().map_or("no valid input", |why| &why.kind)).or_default() += 1);
        let kinds: Vec<String> = kinds.iter().map(|(kind, count)| format!("{count} {kind}")).collect();
        let _ = writeln!(text, "{}: {}\n    each: seedgate props list --check", style.dim("not run"), kinds.join(", "));
    }
    for row in &props.properties {
        for run in row.runs.iter().filter(|run| !run.counts() && run.outcome != Status::Pass) {
            let _ = writeln!(text, "{}  {}", style.warn("exploratory"), line_of(&row.prop_id.0));
            told(&mut text, run);
        }
    }
    let counts =
        [Status::Pass, Status::Fail, Status::Flake, Status::Error, Status::NotRun].map(|status| (props.count(status), status.name()));
    let counts: Vec<String> =
        counts.iter().filter(|(count, _)| *count > 0).map(|(count, name)| format!("{count} {}", name.replace('_', " "))).collect();
    let ran: u64 = props.properties.iter().flat_map(|row| &row.runs).map(|run| run.ran).sum();
    let sum = if counts.is_empty() { "none".to_owned() } else { counts.join(", ") };
    let _ = writeln!(text, "seedgate: {}: {sum}; {}", properties(props.properties.len()), plural_of(&ran.to_string(), "input"));
    text
}

fn failed(text: &mut String, row: &Row, style: Style) {
    let word = if row.status == Status::Fail { "failed" } else { "flake" };
    let _ = writeln!(text, "{}  {}", style.bad(word), style.strong(&line_of(&row.prop_id.0)));
    for run in row.runs.iter().filter(|run| run.counts() && matches!(run.outcome, Status::Fail | Status::Flake)).take(2) {
        told(text, run);
    }
}

fn told(text: &mut String, run: &Run) {
    let from = match &run.from {
        From::Promoted { fixture } => format!("promoted witness {fixture}"),
        From::Seed { seed } => format!("seed {seed}, input {}", run.number.unwrap_or_default()),
        From::Exhausted => format!("input {} of the whole domain", run.number.unwrap_or_default()),
        From::Explore { seed } => format!("fresh seed {seed}, input {}", run.number.unwrap_or_default()),
    };
    let _ = writeln!(text, "    on    {}", line_of(&from));
    if let Some(input) = &run.input {
        let _ = writeln!(text, "    input {}", shown(input));
    }
    if let Some(failure) = &run.failure {
        let again = if run.outcome == Status::Flake { "; it did not fail again" } else { "" };
        let _ = writeln!(text, "    {}{again}", line_of(&failure.told()));
    }
}

/// `ledger shrink` for people.
pub fn shrunk_text(found: &[Found], style: Style) -> String {
    let mut text = String::new();
    for found in found {
        let id = style.strong(&line_of(&found.prop_id.0));
        let _ = match &found.small {
            None => writeln!(text, "{}  {id}\n    {} does not fail the same way again", style.bad("flake"), shown(&found.raw)),
            Some(small) => {
                let end = if small.is_minimal { "no reducer finds a smaller one" } else { "more steps may find a smaller one" };
                let _ =
                    writeln!(text, "{}  {id}\n    from  {}\n    to    {}", style.good("shrunk"), shown(&found.raw), shown(&small.input));
                writeln!(text, "    {} calls; {end}\n    {}", small.steps, line_of(&found.failure.told()))
            }
        };
        if let Some(reducer) = found.small.as_ref().and_then(|small| small.reducer.as_ref()) {
            let _ = writeln!(text, "    the reducer: {}", line_of(reducer));
        }
    }
    if found.is_empty() {
        text.push_str("seedgate: nothing to shrink\n");
    }
    text
}

/// `ledger replay-base` for people: each row with what the base said.
pub fn decided_text(rows: &[(&LedgerRow, Option<&str>)], style: Style) -> String {
    let mut text = String::new();
    for (row, says) in rows {
        let action = row.decision.unwrap_or(Action::Stop);
        let word = if action.blocks() { style.bad(action.name()) } else { style.warn(action.name()) };
        let _ = writeln!(text, "{word}  {}\n    input {}", style.strong(&line_of(&row.prop_id.0)), shown(row.input()));
        let base = row.base.map_or("not asked", Verdict::name);
        let why = says.map_or_else(String::new, |says| format!(" ({})", line_of(says)));
        let _ = writeln!(text, "    base {base}, patch {}{why}\n    {}  {}", row.patch.name(), style.dim("next:"), action.help());
    }
    if rows.is_empty() {
        text.push_str("seedgate: no failing row is open\n");
    }
    text
}

/// The same as `seedgate.replay-base/1`: the ledger's rows, with the base's words.
pub fn settled_json(base: &Oid, rows: &[(&LedgerRow, Option<&str>)], exit: Exit) -> Value {
    let rows: Vec<Value> = rows.iter().map(|(row, says)| json!({"row": row, "base_says": says})).collect();
    json!({"schema": "seedgate.replay-base/1", "exit": exit.code(), "base": base, "rows": rows})
}

/// What a person commits now.
pub fn to_commit(paths: &[String]) -> String {
    if paths.is_empty() {
        return String::new();
    }
    let quoted: Vec<String> = paths.iter().map(|path| line_of(path)).collect();
    format!("commit together: git add {}\n", quoted.join(" "))
}

/// An input in one line.
fn shown(input: &Input) -> String {
    let json = input.to_json();
    let short: String = json.chars().take(INPUT).collect();
    let more = if short.len() < json.len() { " …" } else { "" };
    line_of(&short) + more
}

fn unrun(text: &mut String, row: &Row, style: Style) {
    let word = if row.status == Status::Error { style.bad("no verdict") } else { style.dim("not run") };
    let why = row
        .refusal
        .as_ref()
        .map_or_else(|| "no input met its assumptions".to_owned(), |refusal| format!("{}: {}", refusal.kind, line_of(&refusal.message)));
    let _ = writeln!(text, "{word}  {}\n    {why}", line_of(&row.prop_id.0));
}

fn properties(count: usize) -> String {
    if count == 1 { "1 property".to_owned() } else { format!("{count} properties") }
}

/// A count that is text already: it may be larger than any number here.
fn plural_of(count: &str, noun: &str) -> String {
    count.parse().map_or_else(|_| format!("{count} {noun}s"), |count| plural(count, noun))
}

#[cfg(test)]
mod tests {
    use super::props_text;
    use crate::finding::PropId;
    use crate::report::Style;
    use crate::tree::Oid;
    use crate::trial::record::{From, Props, Row, Run, SCHEMA, Status};
    use crate::trial::worker::outcome::{Failure, Refusal};
    use crate::witness::value::Input;

    fn row(name: &str, status: Status, refusal: Option<&str>, runs: Vec<Run>) -> Row {
        let refusal = refusal.map(|kind| Refusal::new(kind, "why\x1b[31m"));
        Row { prop_id: PropId(format!("a.py::{name}")), status, domain_size: None, refusal, runs }
    }

    fn text(properties: Vec<Row>) -> String {
        let oid = Oid::from_hex(&"a".repeat(40)).unwrap();
        let props = Props {
            schema: SCHEMA.into(),
            patch: oid.clone(),
            base: oid,
            tree: "full".into(),
            seeds: Vec::new(),
            trials: 1,
            worker: None,
            properties,
        };
        props_text(&props, Style::PLAIN)
    }

    #[test]
    fn what_failed_comes_first_and_nothing_of_it_moves_the_cursor() {
        let run = |outcome: Status, from: From| Run {
            from,
            outcome,
            ran: 5,
            invalid: 0,
            input: Some(Input::from_json(br#"{"s":"\u001b[2J"}"#).unwrap()),
            number: Some(4),
            failure: Some(Failure { kind: "E".into(), place: Some("a.py:1".into()), message: "two\nlines\x1b".into() }),
            refusal: None,
        };
        let failed = run(Status::Fail, From::Seed { seed: "7".into() });
        let explored = run(Status::Flake, From::Explore { seed: "9".into() });
        let rows = vec![
            row("prop_well", Status::Pass, None, vec![explored]),
            row("prop_gone", Status::Error, Some("network"), Vec::new()),
            row("prop_bad", Status::Fail, None, vec![failed]),
        ];
        insta::assert_snapshot!(text(rows), @r#"
        failed  a.py::prop_bad
            on    seed 7, input 4
            input {"s":"\u001b[2J"}
            E at a.py:1: two lines 
        no verdict  a.py::prop_gone
            network: why [31m
        exploratory  a.py::prop_well
            on    fresh seed 9, input 4
            input {"s":"\u001b[2J"}
            E at a.py:1: two lines ; it did not fail again
        seedgate: 3 properties: 1 pass, 1 fail, 1 error; 10 inputs
        "#);
    }

    #[test]
    fn many_properties_that_are_not_run_are_counted_by_their_reason() {
        let many = (0..20).map(|n| row(&n.to_string(), Status::NotRun, Some(if n < 5 { "skipped" } else { "undrawable" }), Vec::new()));
        let text = text(many.collect());
        assert!(text.starts_with("not run: 5 skipped, 15 undrawable\n    each: seedgate props list --check\n"), "{text}");
    }
}
