//! The witness ledger where no project code runs: pin, promote, settle, freeze check and decide, and what the gate reads of the records.

use std::io::Write as _;
use std::process::{Output, Stdio};

use serde_json::{Value, json};

use crate::sandbox::Sandbox;
use crate::token;
use seedgate::freeze::day::Day;

const PROPS: &str = "tests/properties/test_props.py";
const ID: &str = "tests/properties/test_props.py::prop_sum";
const LEDGER: &str = ".seedgate/ledger.json";
const FREEZE: &str = ".seedgate/freeze.json";
const WITNESS: &str = "tests/fixtures/promoted/prop_sum-";

/// A project with one property, one fixture and one integration test, committed.
fn project() -> Sandbox {
    let sandbox = Sandbox::new(&[]);
    sandbox.write(".seedgate/config.toml", "schema = \"seedgate.config/1\"\n");
    sandbox.write("src/a.py", "def f(xs):\n    return sum(xs)\n");
    sandbox.write(PROPS, "from hypothesis import given, strategies as st\n\n\n@given(xs=st.lists(st.integers(0, 9)))\ndef prop_sum(xs):\n    assert f(xs) >= 0\n");
    sandbox.write("tests/test_net.py", "def test_net():\n    assert call()\n");
    sandbox.write("tests/fixtures/rows.json", "[1]\n");
    sandbox.commit_all("base");
    sandbox
}

fn seedgate(sandbox: &Sandbox, arguments: &[&str]) -> Output {
    let mut command = sandbox.command(env!("CARGO_BIN_EXE_seedgate"));
    command.env("SEEDGATE_DAEMON", "off").args(arguments).output().expect("seedgate runs")
}

fn code(output: &Output) -> i32 {
    output.status.code().expect("an exit code")
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&[output.stdout.as_slice(), &output.stderr].concat()).into_owned()
}

fn row(sandbox: &Sandbox, base: impl Into<Value>, patch: &str, decision: impl Into<Value>) -> Value {
    let (base, decision): (Value, Value) = (base.into(), decision.into());
    let head = sandbox.line(["rev-parse", "HEAD"]);
    json!({
        "prop_id": ID, "input_sha256": "", "raw": {"xs": [1, 0, 1]},
        "seed": "184729", "shrunk": {"xs": [1]}, "patch": patch, "patch_sha": head, "base": base, "base_sha": head,
        "decision": decision, "witness": null
    })
}

/// Writes a ledger of one row beside what is there; the digest is that of the raw input's canonical JSON.
fn write_ledger(sandbox: &Sandbox, mut row: Value) {
    row["input_sha256"] = digest(&row["raw"]).into();
    let known = std::fs::read_to_string(sandbox.top.join(LEDGER)).ok();
    let mut ledger =
        known.map_or_else(|| json!({"schema": "seedgate.ledger/1", "rows": []}), |text| serde_json::from_str(&text).expect("JSON"));
    ledger["rows"] = json!([row]);
    sandbox.write(LEDGER, ledger.to_string());
}

fn digest(raw: &Value) -> String {
    seedgate::digest::sha256_hex(raw.to_string().as_bytes())
}

/// Writes a freeze file whose entries hold by themselves, or ended the day before yesterday.
fn write_freeze(sandbox: &Sandbox, tests: &[&str], expires: &str) {
    let (issued, days) = if expires == "ended" { (Day::today().plus(-12), 10) } else { (Day::today(), 10) };
    let entries: Vec<Value> = tests.iter().map(|test| token::entry(sandbox, test, issued, days)).collect();
    sandbox.write(FREEZE, json!({"schema": "seedgate.freeze/1", "entries": entries}).to_string());
}

/// The rules that are found in what is staged, with the exit.
fn staged(sandbox: &Sandbox) -> (i32, Vec<String>) {
    sandbox.git(["add", "-A"]);
    let output = seedgate(sandbox, &["check", "--cold", "--json"]);
    let verdict: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{}", said(&output)));
    let findings = verdict["commits"][0]["findings"].as_array().expect("findings");
    (code(&output), findings.iter().map(|finding| finding["rule"].as_str().expect("a rule").to_owned()).collect())
}

#[test]
fn a_pin_names_what_it_holds_and_stays_while_nothing_moves() {
    let sandbox = project();
    let output = seedgate(&sandbox, &["ledger", "pin", "--base", "HEAD", "--json"]);
    assert_eq!(code(&output), 0, "{}", said(&output));
    let pin: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(pin["base"], sandbox.line(["rev-parse", "HEAD"]));
    assert_eq!(pin["modules"].as_object().expect("modules").keys().collect::<Vec<_>>(), [PROPS]);
    let pipeline = "export LC_ALL=C; find tests/fixtures -type f -print0 | sort -z | xargs -0 sha256sum | sha256sum";
    let digest = sandbox.command("sh").args(["-c", pipeline]).output().expect("a pipeline");
    assert!(String::from_utf8_lossy(&digest.stdout).starts_with(pin["fixture_sha256"].as_str().expect("a digest")));
    let before = std::fs::read(sandbox.top.join(LEDGER)).expect("a ledger");
    assert_eq!(code(&seedgate(&sandbox, &["ledger", "pin", "--base", "HEAD"])), 0);
    assert_eq!(std::fs::read(sandbox.top.join(LEDGER)).expect("a ledger"), before);
    assert_eq!(code(&seedgate(&sandbox, &["ledger", "pin", "--base", "nothing"])), 65);
}

#[test]
fn a_row_is_promoted_with_its_freeze_closed_and_the_change_is_clear() {
    let sandbox = project();
    seedgate(&sandbox, &["ledger", "pin", "--base", "HEAD"]);
    write_ledger(&sandbox, row(&sandbox, "pass", "fail", "promote"));
    write_freeze(&sandbox, &[ID, "tests/test_net.py::test_net"], "open");
    let (exit, rules) = staged(&sandbox);
    assert_eq!((exit, rules.len()), (2, 3), "{rules:?}");
    assert!(rules.iter().all(|rule| matches!(rule.as_str(), "ledger_unresolved" | "freeze_invalid")), "{rules:?}");
    let output = seedgate(&sandbox, &["ledger", "promote", "--fixtures", "tests/fixtures/promoted/", "--json"]);
    assert_eq!(code(&output), 0, "{}", said(&output));
    let done: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let path = done["promoted"][0]["path"].as_str().expect("a path").to_owned();
    assert!(path.starts_with(WITNESS), "{path}");
    assert_eq!(done["freeze_closed"], json!([ID]));
    assert_eq!(done["commit"], json!([path, LEDGER, FREEZE]));
    let witness: Value = serde_json::from_slice(&std::fs::read(sandbox.top.join(&path)).expect("a witness")).expect("JSON");
    assert_eq!(
        (&witness["schema"], &witness["shrunk"], &witness["seed"]),
        (&json!("seedgate.witness/1"), &json!({"xs": [1]}), &json!("184729"))
    );
    assert_eq!(staged(&sandbox), (0, vec![]));
    let again = seedgate(&sandbox, &["ledger", "promote"]);
    assert_eq!((code(&again), said(&again).as_str()), (0, "nothing is to be promoted\n"));
}

#[test]
fn what_ends_early_is_ended_by_the_next_run() {
    let sandbox = project();
    write_ledger(&sandbox, row(&sandbox, "pass", "fail", "promote"));
    let before = std::fs::read(sandbox.top.join(LEDGER)).expect("a ledger");
    seedgate(&sandbox, &["ledger", "promote"]);
    let after = std::fs::read(sandbox.top.join(LEDGER)).expect("a ledger");
    // As if it had been killed between the fixture and the ledger.
    sandbox.write(LEDGER, before);
    assert_eq!(code(&seedgate(&sandbox, &["ledger", "promote"])), 0);
    assert_eq!(std::fs::read(sandbox.top.join(LEDGER)).expect("a ledger"), after);
    let promoted = std::fs::read_dir(sandbox.top.join("tests/fixtures/promoted")).expect("a folder");
    let path = promoted.map(|entry| entry.expect("an entry").path()).collect::<Vec<_>>();
    assert_eq!(path.len(), 1);
    std::fs::write(&path[0], "{}").expect("a file");
    sandbox.write(
        LEDGER,
        serde_json::to_string(&{
            let mut ledger: Value = serde_json::from_slice(&after).expect("JSON");
            ledger["rows"][0]["witness"] = Value::Null;
            ledger
        })
        .expect("JSON"),
    );
    let refused = seedgate(&sandbox, &["ledger", "promote"]);
    assert_eq!(code(&refused), 65);
    assert!(said(&refused).contains("another file is there already"), "{}", said(&refused));
}

#[test]
fn a_moved_pin_stops_the_promotion_and_names_the_file() {
    let sandbox = project();
    seedgate(&sandbox, &["ledger", "pin", "--base", "HEAD"]);
    sandbox.write(PROPS, std::fs::read_to_string(sandbox.top.join(PROPS)).expect("a file").replace("0, 9", "0, 99"));
    sandbox.write("tests/fixtures/new.json", "2");
    sandbox.commit_all("the generator and a fixture move");
    write_ledger(&sandbox, row(&sandbox, "pass", "fail", "promote"));
    let output = seedgate(&sandbox, &["ledger", "promote"]);
    let text = said(&output);
    assert_eq!(code(&output), 2, "{text}");
    assert!(text.contains("tests/properties/test_props.py: property module changed"), "{text}");
    assert!(text.contains("tests/fixtures/new.json: fixture is new"), "{text}");
}

#[test]
fn a_promoted_witness_stays_as_it_is() {
    let sandbox = project();
    write_ledger(&sandbox, row(&sandbox, "pass", "fail", "promote"));
    seedgate(&sandbox, &["ledger", "promote"]);
    sandbox.commit_all("promoted");
    let path = sandbox.line(["ls-files", "tests/fixtures/promoted"]);
    let bytes = std::fs::read_to_string(sandbox.top.join(&path)).expect("a witness");
    for (edited, rules) in [(Some(bytes.replace("1\n", "2\n")), &["witness_removed"][..]), (None, &["witness_removed"]), (Some(bytes), &[])]
    {
        match edited {
            Some(text) => sandbox.write(&path, text),
            None => std::fs::remove_file(sandbox.top.join(&path)).expect("a file that goes"),
        }
        let (exit, found) = staged(&sandbox);
        assert_eq!((exit, found), (if rules.is_empty() { 0 } else { 2 }, rules.iter().map(ToString::to_string).collect()));
    }
    sandbox.git(["rm", "-q", &path]);
    let parent = sandbox.line(["rev-parse", "HEAD"]);
    sandbox.git(["commit", "-q", "--no-verify", "-m", "drop the witness"]);
    let pushed = seedgate(&sandbox, &["check", "--base", &parent, "--head", "HEAD"]);
    assert_eq!(code(&pushed), 2);
    assert!(said(&pushed).contains("witness_removed"), "{}", said(&pushed));
}

#[test]
fn a_ledger_blocks_until_it_is_settled_and_a_settled_row_is_a_humans_to_merge() {
    for (base, patch, decision) in [
        (Value::Null, "fail", Value::Null),
        (Value::Null, "fail", json!("stop")),
        (json!("fail"), "fail", json!("quarantine")),
        (json!("pass"), "fail", json!("promote")),
    ] {
        let sandbox = project();
        write_ledger(&sandbox, row(&sandbox, base, patch, decision.clone()));
        assert_eq!(staged(&sandbox), (2, vec!["ledger_unresolved".to_owned()]), "{decision}");
        let output = seedgate(&sandbox, &["ledger", "resolve", "prop_sum", "--by", "ada", "--reason", "base debt"]);
        if decision == json!("promote") {
            assert_eq!(code(&output), 64, "{}", said(&output));
            continue;
        }
        assert_eq!(code(&output), 0, "{}", said(&output));
        assert_eq!(staged(&sandbox), (4, vec!["ledger_unresolved".to_owned()]), "{decision}");
        sandbox.commit_all("settled");
        sandbox.write("README.md", "x");
        assert_eq!(staged(&sandbox), (0, vec![]));
        sandbox.git(["rm", "-q", "--cached", LEDGER]);
        let gone = seedgate(&sandbox, &["check", "--cold"]);
        assert_eq!(code(&gone), 2);
        assert!(said(&gone).contains("1 row gone: a ledger is only added to"), "{}", said(&gone));
    }
}

#[test]
fn the_quarantine_has_a_cap() {
    for (cap, exit) in [(1, 2), (2, 4)] {
        let sandbox = project();
        sandbox.write(".seedgate/config.toml", format!("schema = \"seedgate.config/1\"\n[ledger]\nquarantine = {cap}\n"));
        sandbox.commit_all("cap");
        write_ledger(&sandbox, row(&sandbox, "fail", "fail", "quarantine"));
        assert_eq!(code(&seedgate(&sandbox, &["ledger", "resolve", ID, "--by", "ada", "--reason", "base debt"])), 0);
        assert_eq!(staged(&sandbox).0, exit);
    }
}

#[test]
fn a_record_that_cannot_be_read_is_refused_by_name() {
    for (path, rule, bytes) in [
        (LEDGER, "ledger_unresolved", "{\"schema\":\"seedgate.ledger/9\",\"rows\":[]}"),
        (LEDGER, "ledger_unresolved", "[[[[["),
        (FREEZE, "freeze_invalid", "{}"),
        (FREEZE, "freeze_invalid", "{\"schema\":\"seedgate.freeze/1\",\"entries\":[{\"test\":\"a\",\"seed\":1}]}"),
    ] {
        let sandbox = project();
        sandbox.write(path, bytes);
        assert_eq!(staged(&sandbox), (2, vec![rule.to_owned()]), "{bytes}");
        let commands = if path == LEDGER {
            vec![vec!["ledger", "show"], vec!["freeze", "check"], vec!["ledger", "promote"]]
        } else {
            vec![vec!["freeze", "check"]]
        };
        if path == FREEZE {
            assert_eq!(code(&seedgate(&sandbox, &commands[0])), 65);
            continue;
        }
        write_freeze(&sandbox, &[], "open");
        for command in commands {
            let output = seedgate(&sandbox, &command);
            assert_eq!(code(&output), 65, "{command:?} {}", said(&output));
            assert_eq!(said(&output).lines().count(), 1, "{}", said(&output));
        }
    }
    #[cfg(unix)]
    {
        let sandbox = project();
        std::os::unix::fs::symlink("/etc/passwd", sandbox.top.join(LEDGER)).expect("a link");
        assert_eq!(staged(&sandbox), (2, vec!["ledger_unresolved".to_owned()]));
        assert_eq!(code(&seedgate(&sandbox, &["ledger", "show"])), 65);
        assert_eq!(code(&seedgate(&sandbox, &["ledger", "pin", "--base", "HEAD"])), 65);
    }
}

#[test]
fn a_freeze_names_no_property_no_counterexample_and_ends() {
    for (tests, expires, exit, says) in [
        (&["tests/test_net.py::test_net"][..], "open", 0, "every freeze entry holds: 1 entry"),
        (&["tests/test_net.py::test_net"], "ended", 2, "it expired on "),
        (&[ID], "open", 2, "it is a property, and properties are never frozen"),
        (&["tests/gone.py::prop_x"], "open", 2, "it is a property"),
        (&[], "open", 0, "every freeze entry holds: 0 entries"),
    ] {
        let sandbox = project();
        write_freeze(&sandbox, tests, expires);
        let output = seedgate(&sandbox, &["freeze", "check"]);
        assert_eq!(code(&output), exit, "{}", said(&output));
        assert!(said(&output).contains(says), "{}", said(&output));
        let json = seedgate(&sandbox, &["freeze", "check", "--json"]);
        let found: Value = serde_json::from_slice(&json.stdout).expect("JSON");
        assert_eq!(found["faults"].as_array().is_some_and(|faults| !faults.is_empty()), exit == 2, "{found}");
    }
    let sandbox = project();
    assert_eq!(code(&seedgate(&sandbox, &["freeze", "check"])), 0);
    write_freeze(&sandbox, &["tests/test_net.py::test_net"], "ended");
    // The gate gives the same verdict on every day.
    assert_eq!(staged(&sandbox), (0, vec![]));
    let mut failing = row(&sandbox, "fail", "fail", "quarantine");
    failing["prop_id"] = "tests/test_net.py::test_net".into();
    failing["resolved"] = json!({"by": "ada", "reason": "x"});
    write_ledger(&sandbox, failing);
    assert_eq!(staged(&sandbox), (2, vec!["freeze_invalid".to_owned(), "ledger_unresolved".to_owned()]));
    assert!(said(&seedgate(&sandbox, &["freeze", "check"])).contains("evidence outranks the exception"));
}

#[test]
fn decisions_are_read_and_written_a_line_at_a_time() {
    let sandbox = project();
    let lines = "{\"kind\":\"property\",\"base\":\"pass\",\"patch\":\"fail\"}\n\n{\"kind\":\"integration\",\"patch\":\"flake\"}\n{\"kind\":1}\n{\"kind\":\"property\",\"patch\":\"pass\",\"named\":true}";
    let decide = |input: &[u8]| {
        let mut command = sandbox.command(env!("CARGO_BIN_EXE_seedgate"));
        let mut child =
            command.arg("decide").stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("a process");
        // It may refuse before it has read everything.
        drop(child.stdin.take().expect("a pipe").write_all(input));
        child.wait_with_output().expect("it ends")
    };
    let output = decide(lines.as_bytes());
    let answers: Vec<Value> =
        String::from_utf8_lossy(&output.stdout).lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let actions: Vec<&Value> = answers.iter().map(|answer| &answer["action"]).collect();
    assert_eq!(actions, [&json!("promote"), &json!("freeze_candidate"), &Value::Null, &json!("reject_freeze")]);
    assert_eq!(code(&output), 65);
    assert_eq!(code(&decide(b"{\"kind\":\"property\",\"patch\":\"fail\"}\n")), 0);
    let long = decide(&vec![b' '; 70_000]);
    assert_eq!(code(&long), 65);
}

#[test]
fn the_ledger_is_shown_with_what_to_do() {
    let sandbox = project();
    assert_eq!(code(&seedgate(&sandbox, &["ledger", "show"])), 65);
    seedgate(&sandbox, &["ledger", "pin", "--base", "HEAD"]);
    write_ledger(&sandbox, row(&sandbox, "fail", "fail", "quarantine"));
    let text = said(&seedgate(&sandbox, &["ledger", "show"]));
    for part in [
        "quarantine  tests/properties/test_props.py::prop_sum",
        "input    {\"xs\":[1]}",
        "raw      {\"xs\":[1,0,1]}",
        "seed     184729",
        "1 row, 1 open",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let json: Value = serde_json::from_slice(&seedgate(&sandbox, &["ledger", "show", "--json"]).stdout).expect("JSON");
    assert_eq!(json["schema"], "seedgate.ledger/1");
}

#[test]
fn a_ledger_is_old_or_new_wherever_its_writer_is_killed() {
    let sandbox = project();
    let first = sandbox.line(["rev-parse", "HEAD"]);
    sandbox.write(PROPS, "def prop_other():\n    assert f([])\n");
    let second = sandbox.commit_all("another module").as_str().to_owned();
    let many: Vec<Value> = (0..300)
        .map(|n| {
            let mut one = row(&sandbox, "pass", "fail", "promote");
            one["raw"] = json!({"xs": [n]});
            one["input_sha256"] = digest(&one["raw"]).into();
            one
        })
        .collect();
    sandbox.write(LEDGER, json!({"schema": "seedgate.ledger/1", "rows": many}).to_string());
    let mut known: Vec<String> = Vec::new();
    for round in 0..24_u64 {
        let base = if round % 2 == 0 { &first } else { &second };
        let mut command = sandbox.command(env!("CARGO_BIN_EXE_seedgate"));
        command.env("SEEDGATE_DAEMON", "off").args(["ledger", "pin", "--base", base]).stdout(Stdio::null()).stderr(Stdio::null());
        let mut child = command.spawn().expect("a process");
        std::thread::sleep(std::time::Duration::from_millis(round * 3));
        child.kill().expect("a kill");
        child.wait().expect("an end");
        let ledger: Value = serde_json::from_slice(&std::fs::read(sandbox.top.join(LEDGER)).expect("a ledger")).expect("JSON");
        assert_eq!(ledger["rows"].as_array().map(Vec::len), Some(300));
        known.extend(ledger["pin"]["base"].as_str().map(ToOwned::to_owned));
    }
    assert!(known.iter().all(|base| *base == first || *base == second));
    let shown = seedgate(&sandbox, &["ledger", "show", "--open"]);
    assert_eq!(code(&shown), 0, "{}", said(&shown));
}
