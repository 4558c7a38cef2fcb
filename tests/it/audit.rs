//! The audit: what it says of a history that is known, whatever is in it, and what its page shows.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

use crate::sandbox::Sandbox;

const TWO: &str = "import pytest\n\n\n@pytest.mark.parametrize(\"x\", [1, 2, 3])\ndef test_a(x):\n    assert f(x)\n    assert f(-x)\n";
const ONE: &str = "import pytest\n\n\n@pytest.mark.parametrize(\"x\", [1, 2])\ndef test_a(x):\n    assert f(x)\n";

fn step(sandbox: &Sandbox, subject: &str, files: &[(&str, &str)]) {
    files.iter().for_each(|(path, text)| sandbox.write(path, text));
    sandbox.commit_all(subject);
}

/// A history of which every commit's outcome is known, with a side branch.
fn history() -> Sandbox {
    let sandbox = Sandbox::new(&[]);
    step(
        &sandbox,
        "root",
        &[("src/a.py", "def f(x):\n    return x\n"), ("tests/test_a.py", TWO), ("tests/test_u.py", "def test_u():\n    assert 1\n")],
    );
    step(&sandbox, "docs", &[("README.md", "a\n")]);
    step(&sandbox, "weaken", &[("tests/test_a.py", ONE)]);
    step(&sandbox, "mix", &[("src/a.py", "def f(x):\n    return 1\n"), ("tests/test_u.py", "def test_u():\n    assert 2\n    assert 3\n")]);
    sandbox.git(["checkout", "-q", "-b", "side"]);
    step(&sandbox, "side test", &[("tests/test_s.py", "def test_s():\n    assert 1\n")]);
    sandbox.git(["checkout", "-q", "main"]);
    step(&sandbox, "news 1", &[("news/1.bugfix", "a\n"), ("tests/test_u.py", "def test_u():\n    assert 2\n    assert 4\n")]);
    step(&sandbox, "news 2", &[("news/2.feature", "b\n"), ("tests/test_u.py", "def test_u():\n    assert 2\n    assert 5\n")]);
    sandbox.git(["merge", "-q", "--no-ff", "-m", "merge side", "side"]);
    step(&sandbox, "code", &[("src/b.py", "B = 1\n")]);
    sandbox
}

fn audit(sandbox: &Sandbox, arguments: &[&str]) -> Output {
    let mut command = sandbox.command(env!("CARGO_BIN_EXE_seedgate"));
    command.env("SEEDGATE_DAEMON", "off").args([&["audit", "--cold"], arguments].concat()).output().expect("seedgate runs")
}

/// What it printed, ids as subjects and times blank; it must end in 0.
fn text(sandbox: &Sandbox, arguments: &[&str]) -> String {
    let output = audit(sandbox, arguments);
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
    let mut text = String::from_utf8(output.stdout).expect("text");
    for line in sandbox.line(["log", "--all", "--format=%H %s"]).lines() {
        let (id, subject) = line.split_once(' ').expect("a subject");
        text = text.replace(&id[..12], &format!("<{subject}>"));
    }
    let timeless = |line: &str| if line.trim_start().starts_with("time") { "  time    …".to_owned() } else { line.to_owned() };
    text.lines().map(timeless).collect::<Vec<_>>().join("\n")
}

fn json(sandbox: &Sandbox, arguments: &[&str]) -> Value {
    let output = audit(sandbox, &[&["--json"], arguments].concat());
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("JSON")
}

fn outcomes(found: &Value) -> Vec<(String, String)> {
    let commits = found["commits"].as_array().expect("commits");
    let word = |commit: &Value, key: &str| commit[key].as_str().expect("a word").to_owned();
    let mut all: Vec<_> = commits.iter().map(|commit| (word(commit, "subject"), word(commit, "outcome"))).collect();
    all.sort();
    all
}

#[test]
fn the_text_says_the_verdict_first_and_then_rules_paths_cards_and_the_next_command() {
    insta::assert_snapshot!(text(&history(), &[]), @r#"
    seedgate: 9 commits: 3 clear, 4 mixed, 1 weakened, 1 review
      the last 300 of HEAD, judged by the default policy: HEAD has no other

      rule                       commits    share  findings     off  newest
      split_required                   4   44.4 %         4       -  <news 2>
      new_property                     2   22.2 %         3       -  <side test>
      case_removed                     1   11.1 %         1       -  <weaken>
      assertion_removed                1   11.1 %         1       -  <weaken>

      2 of 4 mixed commits are so only by paths that may be misfiled:
        news/**                                      2  counted as production, e.g. news/2.feature in <news 2>
      if you agree, put this into .seedgate/config.toml:
        [[rules.for]]
        paths = ["news/**"]
        split_required = "off"

      cards   properties 1 (+0), tests 2 (+1), assertions 4 (+1), cases 2 (-1); opaque 0 (+0)

      time    …
      next:   seedgate check --base <news 2>^ --head <news 2>   (one commit in full; --html FILE draws them all)
    "#);
}

#[test]
fn the_record_has_a_row_for_each_commit() {
    let found = json(&history(), &[]);
    assert_eq!(found["schema"], "seedgate.audit/1");
    let expected = [
        ("code", "clear"),
        ("docs", "clear"),
        ("merge side", "clear"),
        ("mix", "mixed"),
        ("news 1", "mixed"),
        ("news 2", "mixed"),
        ("root", "mixed"),
        ("side test", "review"),
        ("weaken", "weakened"),
    ];
    assert_eq!(outcomes(&found), expected.map(|(subject, outcome)| (subject.to_owned(), outcome.to_owned())));
    let commits = found["commits"].as_array().expect("commits");
    let weaken = commits.iter().find(|commit| commit["subject"] == "weaken").expect("the commit");
    assert_eq!(weaken["rules"], serde_json::json!({"assertion_removed": 1, "case_removed": 1}));
    assert_eq!(weaken["findings"][0]["property"], "tests/test_a.py::test_a");
    assert_eq!((weaken["author"].as_str(), weaken["time"].as_i64()), (Some("Author"), Some(1_700_000_000)));
    let side = commits.iter().filter(|commit| commit["mainline"] == false).map(|commit| commit["subject"].as_str()).collect::<Vec<_>>();
    assert_eq!(side, [Some("side test")]);
}

#[test]
fn the_totals_of_each_commit_are_those_of_its_snapshot() {
    let sandbox = history();
    for commit in json(&sandbox, &[])["commits"].as_array().expect("commits") {
        let rev = commit["commit"].as_str().expect("an id");
        let output =
            sandbox.command(env!("CARGO_BIN_EXE_seedgate")).args(["cards", "snapshot", "--rev", rev]).output().expect("seedgate runs");
        let snapshot: Value = serde_json::from_slice(&output.stdout).expect("cards");
        let cards = snapshot["cards"].as_array().expect("cards");
        let kind = |kind: &str| cards.iter().filter(|card| card["kind"] == kind).count();
        let assertions: u64 = cards.iter().filter_map(|card| card["assertion_count"].as_u64()).sum();
        let cases: usize = cards.iter().filter_map(|card| Some(card["case_keys"].as_array()?.len())).sum();
        let counted = serde_json::json!({"properties": kind("property"), "tests": kind("test"), "assertions": assertions, "cases": cases, "opaque": 0});
        assert_eq!(commit["totals"], counted, "{}", commit["subject"]);
    }
}

#[test]
fn the_flags_say_which_commits() {
    let sandbox = history();
    for (arguments, count) in [
        (&["--last", "1"][..], 1),
        (&["--last", "3"], 3),
        (&["--last", "4000000000"], 9),
        (&["--base", "HEAD^"], 1),
        (&["--base", "HEAD^^"], 3),
        (&["--base", "HEAD"], 0),
        (&["--head", "side"], 5),
        (&["--base", "side^", "--head", "side"], 1),
    ] {
        let found = json(&sandbox, arguments);
        assert_eq!(found["commits"].as_array().map(Vec::len), Some(count), "{arguments:?}");
    }
    for (arguments, exit) in [
        (&["--last", "0"][..], 64),
        (&["--last", "x"], 64),
        (&["--last", "3", "--base", "HEAD^"], 64),
        (&["--head", "nowhere"], 65),
        (&["--config", "nowhere.toml"], 65),
        (&["--html", "no/such/folder.html"], 70),
    ] {
        assert_eq!(audit(&sandbox, arguments).status.code(), Some(exit), "{arguments:?}");
    }
}

#[test]
fn what_is_printed_twice_is_the_same_but_for_the_time() {
    let sandbox = history();
    let timeless = |mut found: Value| {
        found["time"] = Value::Null;
        found["commits"].as_array_mut().expect("commits").iter_mut().for_each(|commit| commit["micros"] = Value::Null);
        found
    };
    assert_eq!(timeless(json(&sandbox, &[])), timeless(json(&sandbox, &[])));
}

#[test]
fn a_draft_is_tried_before_it_is_committed_and_the_heads_policy_holds_for_all() {
    let sandbox = history();
    let draft = "schema = \"seedgate.config/1\"\n[rules]\ncase_removed = \"off\"\nassertion_removed = \"review\"\n";
    sandbox.write("draft.toml", draft);
    let tried = json(&sandbox, &["--config", "draft.toml"]);
    let weaken = tried["commits"].as_array().and_then(|all| all.iter().find(|commit| commit["subject"] == "weaken")).expect("the commit");
    assert_eq!((weaken["outcome"].as_str(), weaken["silenced"]["case_removed"].as_u64()), (Some("waived"), Some(1)));
    let off = tried["rules"].as_array().and_then(|all| all.iter().find(|rule| rule["rule"] == "case_removed")).expect("the rule");
    assert_eq!((off["level"].as_str(), off["commits"].as_u64(), off["silenced"].as_u64()), (Some("off"), Some(0), Some(1)));
    sandbox.write("broken.toml", "schema = \"seedgate.config/1\"\n[rules]\nwaived = \"off\"\n");
    let broken = audit(&sandbox, &["--config", "broken.toml"]);
    assert_eq!(broken.status.code(), Some(65));
    assert!(String::from_utf8_lossy(&broken.stderr).contains("broken.toml:3: waived keeps the gate itself honest"));
    step(&sandbox, "policy", &[(".seedgate/config.toml", draft)]);
    let committed = json(&sandbox, &[]);
    assert!(outcomes(&committed).contains(&("weaken".to_owned(), "waived".to_owned())));
    assert_eq!(committed["policy"], "the policy of HEAD");
}

#[test]
fn the_suggested_lines_leave_as_many_commits_unmixed_as_they_say() {
    let sandbox = history();
    step(&sandbox, "u 1", &[("src/pkg/tests.py", "A = 1\n"), ("tests/test_u.py", "def test_u():\n    assert 2\n    assert 6\n")]);
    step(&sandbox, "u 2", &[("src/pkg/tests.py", "A = 2\n"), ("tests/test_u.py", "def test_u():\n    assert 2\n    assert 7\n")]);
    let before = json(&sandbox, &[]);
    let globs: Vec<&str> = before["patterns"].as_array().expect("patterns").iter().filter_map(|found| found["glob"].as_str()).collect();
    assert_eq!(globs, ["src/pkg/tests.py", "news/**"]);
    sandbox.write("draft.toml", format!("schema = \"seedgate.config/1\"\n{}", before["config"].as_str().expect("lines")));
    let after = json(&sandbox, &["--config", "draft.toml"]);
    assert_eq!((before["mixed"].as_u64(), after["mixed"].as_u64()), (Some(6), Some(2)));
    assert_eq!(after["patterns"], serde_json::json!([]));
}

#[test]
fn a_shallow_clone_is_audited_as_far_as_it_goes_and_says_so() {
    let sandbox = history();
    let from = format!("file://{}", sandbox.top.display());
    let clone = sandbox.beside("clone");
    sandbox.git(["clone", "-q", "--depth", "3", &from, &clone.display().to_string()]);
    let clone = sandbox.at(clone);
    let said = text(&clone, &[]);
    assert!(said.contains("this clone is shallow: what lies before its"), "{said}");
    let found = json(&clone, &[]);
    assert_eq!(found["shallow"], true);
    let seen = outcomes(&found).into_iter().filter(|(_, outcome)| outcome != "unseen").map(|(subject, _)| subject).collect::<Vec<_>>();
    assert_eq!(seen, ["code", "merge side"]);
}

#[test]
fn a_branch_without_a_commit_is_no_fault() {
    let sandbox = Sandbox::new(&[]);
    assert_eq!(text(&sandbox, &[]), "seedgate: no commit in a branch that is not born yet, so there is nothing to audit");
    assert_eq!(json(&sandbox, &["--html", "empty.html"])["commits"], serde_json::json!([]));
    assert!(sandbox.top.join("empty.html").exists());
}

#[test]
fn what_cannot_be_read_is_a_row_and_the_rest_is_audited() {
    let sandbox = history();
    let blob = sandbox.line(["rev-parse", "HEAD~3:tests/test_u.py"]);
    fs::remove_file(sandbox.top.join(".git/objects").join(&blob[..2]).join(&blob[2..])).expect("a loose object");
    let found = json(&sandbox, &[]);
    let broken = found["commits"].as_array().expect("commits").iter().find(|commit| commit["subject"] == "news 1").expect("the commit");
    assert_eq!((broken["outcome"].as_str(), broken["exit"].as_u64()), (Some("unreadable"), Some(65)));
    assert!(broken["error"].as_str().is_some_and(|says| says.contains(&blob) && says.contains("tests/test_u.py")), "{broken}");
    assert_eq!(found["outcomes"]["weakened"], 1);
}

const EVIL: &str = "</script><script>document.title='pwned'</script><img src=x onerror=\"document.title='pwned'\">";

/// A history in which every text is hostile.
fn hostile() -> Sandbox {
    let sandbox = Sandbox::new(&[]);
    step(&sandbox, "base", &[("src/a.py", "A = 1\n"), ("tests/test_a.py", TWO)]);
    let name = std::ffi::OsString::from(format!("tests/<img src=x onerror=alert(1)>{}.py", "\u{2028}"));
    sandbox.write(&name, "def test_x():\n    assert 1\n");
    #[cfg(unix)]
    sandbox.write(<std::ffi::OsStr as std::os::unix::ffi::OsStrExt>::from_bytes(b"src/caf\xe9 \"'`{{data}}.py"), "B = 1\n");
    sandbox.write("tests/test_a.py", ONE);
    sandbox.git(["add", "-A"]);
    let author = std::ffi::OsString::from("&lt;b&gt; \u{202e}O'Neil & \"co\" x");
    sandbox.git_with(["-c", "i18n.commitEncoding=UTF-8", "commit", "-q", "-m", EVIL], &[("GIT_AUTHOR_NAME", &author)], b"");
    sandbox
}

/// The page of an audit, as text.
fn page(sandbox: &Sandbox) -> String {
    assert_eq!(audit(sandbox, &["--html", "audit.html"]).status.code(), Some(0));
    fs::read_to_string(sandbox.top.join("audit.html")).expect("a page")
}

fn between<'t>(text: &'t str, start: &str, end: &str) -> &'t str {
    let rest = text.split_once(start).unwrap_or_else(|| panic!("{start}")).1;
    rest.split_once(end).unwrap_or_else(|| panic!("{end}")).0
}

#[test]
fn the_page_holds_the_record_and_nothing_of_the_project_is_markup() {
    let page = page(&hostile());
    assert_eq!(page.matches("<script").count(), 2, "the data and the page's own");
    assert_eq!(page.matches("</script>").count(), 2);
    let record = between(&page, "<script type=\"application/json\" id=\"data\">", "</script>");
    assert!(!page.contains("<img") && !page.replace(record, "").contains("{{"), "{page}");
    let data: Value = serde_json::from_str(record).expect("JSON");
    assert_eq!(data["schema"], "seedgate.audit/1");
    let last = data["commits"].as_array().and_then(|all| all.last()).expect("a commit");
    assert_eq!(last["subject"], EVIL);
    assert!(last["author"].as_str().is_some_and(|author| author.ends_with("O'Neil & \"co\" x")), "{last}");
    assert!(last.to_string().contains("<img src=x onerror=alert(1)>\\\\u{2028}.py"), "{last}");
    #[cfg(unix)]
    assert!(last.to_string().contains("caf\\\\xe9"), "{last}");
}

#[test]
fn the_page_loads_nothing_and_lets_only_its_own_script_and_style_act() {
    let page = page(&history());
    let policy = between(&page, "http-equiv=\"Content-Security-Policy\" content=\"", "\"");
    assert!(policy.starts_with("default-src 'none'; "), "{policy}");
    assert!(!policy.contains("unsafe") && !policy.contains("http"), "{policy}");
    for (kind, start, end) in [("style-src", "<style>", "</style>"), ("script-src", "<script>", "</script>")] {
        let digest = between(policy, &format!("{kind} 'sha256-"), "'");
        let mut openssl = Command::new("openssl");
        openssl.args(["dgst", "-sha256", "-binary"]).stdin(std::process::Stdio::piped()).stdout(std::process::Stdio::piped());
        let Ok(mut child) = openssl.spawn() else { continue };
        std::io::Write::write_all(&mut child.stdin.take().expect("a pipe"), between(&page, start, end).as_bytes()).expect("written");
        let sum = child.wait_with_output().expect("a digest").stdout;
        assert_eq!(decoded(digest), sum, "{kind}");
    }
    for part in ["src=", "href=", "url(", "@import", "fetch(", "XMLHttpRequest", "innerHTML", "document.write", "eval("] {
        let own = [between(&page, "<style>", "</style>"), between(&page, "<script>", "</script>")].concat();
        assert!(!own.contains(part), "{part}");
    }
}

fn decoded(base64: &str) -> Vec<u8> {
    let digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let bits: String = base64.chars().filter_map(|c| digits.find(c)).map(|value| format!("{value:06b}")).collect();
    (0..bits.len() / 8).map(|at| u8::from_str_radix(&bits[at * 8..at * 8 + 8], 2).expect("bits")).collect()
}

/// The page as a browser leaves it; `None` when there is no browser here.
fn rendered(sandbox: &Sandbox, page: &Path) -> Option<String> {
    let mut command = sandbox.command("chromium");
    command.args(["--headless=new", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr", "--dump-dom"]);
    let Ok(output) = command.arg(format!("file://{}", page.display())).output() else {
        eprintln!("skipped: no chromium here");
        return None;
    };
    let log = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!log.contains("CONSOLE"), "{log}");
    Some(String::from_utf8_lossy(&output.stdout).into_owned())
}

#[test]
fn a_browser_draws_the_page_and_a_click_shows_the_findings() {
    let sandbox = hostile();
    let text = page(&sandbox);
    let Some(drawn) = rendered(&sandbox, &sandbox.top.join("audit.html")) else { return };
    assert!(drawn.contains("The gate would have refused 2 of 2&nbsp;commits") && !drawn.contains("<title>pwned"), "{drawn}");
    assert!(drawn.contains("class=\"series one\"") && !drawn.contains("class=\"finding"), "{drawn}");
    assert!(!drawn.contains("<img") && drawn.contains("&amp;lt;b&amp;gt;"), "{drawn}");
    // The page's own policy would not let a test's script act.
    let policy = between(&text, "<meta http-equiv=\"Content-Security-Policy\"", ">");
    let free = text.replace(&format!("<meta http-equiv=\"Content-Security-Policy\"{policy}>"), "");
    let click = "<script>document.querySelector('#commits .head').click()</script></body>";
    sandbox.write("clicked.html", free.replace("</body>", click));
    let clicked = rendered(&sandbox, &sandbox.top.join("clicked.html")).expect("the browser of before");
    let findings: BTreeMap<&str, usize> = ["split_required", "assertion_removed", "case_removed"]
        .into_iter()
        .map(|rule| (rule, clicked.matches(&format!("<b>{rule}</b>")).count()))
        .collect();
    assert!(findings.values().all(|count| *count == 1), "{findings:?} {clicked}");
    assert!(clicked.contains("tests/&lt;img src=x onerror=alert(1)&gt;\\u{2028}.py") && !clicked.contains("<title>pwned"), "{clicked}");
}
