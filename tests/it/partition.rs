//! `seedgate partition` sorts what is named or changed, by the policy of the base.

use std::process::Output;

use crate::sandbox::Sandbox;

fn partition(sandbox: &Sandbox, from: &str, args: &[&str]) -> Output {
    let mut command = sandbox.command(env!("CARGO_BIN_EXE_seedgate"));
    command.env_remove("XDG_CACHE_HOME").current_dir(sandbox.top.join(from)).arg("partition").args(args).output().expect("seedgate")
}

fn printed(sandbox: &Sandbox, from: &str, args: &[&str]) -> String {
    let output = partition(sandbox, from, args);
    assert_eq!(output.status.code(), Some(0), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("text")
}

#[test]
fn named_paths_are_sorted_from_where_the_user_stands_whether_or_not_they_exist() {
    let sandbox = Sandbox::new(&[]);
    sandbox.write("src/a.py", "1\n");
    let args = ["a.py", "../tests/none.py", "../docs/x", "line\nbreak/test_x.py", "contests/b.py"];
    let want =
        "test\tsrc/line\\nbreak/test_x.py\ntest\ttests/none.py\nneutral\tdocs/x\nproduction\tsrc/a.py\nproduction\tsrc/contests/b.py\n";
    let mut lines: Vec<_> = printed(&sandbox, "src", &args).lines().map(str::to_owned).collect();
    lines[..2].sort();
    assert_eq!(lines, want.lines().collect::<Vec<_>>());
}

#[test]
fn a_commit_is_sorted_by_the_policy_of_its_parent() {
    let sandbox = Sandbox::new(&[]);
    sandbox.write(".seedgate/config.toml", "schema = \"seedgate.config/1\"\n[sides]\ntest = [\"check/**\"]\n");
    sandbox.write("tests/a.py", "1\n");
    sandbox.write("check/b.py", "1\n");
    sandbox.commit_all("base");
    sandbox.write(".seedgate/config.toml", "schema = \"seedgate.config/1\"\n");
    sandbox.write("check/b.py", "2\n");
    std::fs::rename(sandbox.top.join("tests/a.py"), sandbox.top.join("tests/c.py")).expect("renamed");
    sandbox.commit_all("patch");
    let text = printed(&sandbox, ".", &["--rev", "HEAD"]);
    assert_eq!(text, "policy\t.seedgate/config.toml\ntest\tcheck/b.py\nproduction\ttests/a.py\nproduction\ttests/c.py\n");
    let json: serde_json::Value = serde_json::from_str(&printed(&sandbox, ".", &["--rev", "HEAD", "--json"])).expect("JSON");
    assert_eq!(json["schema"], "seedgate.partition/1");
    assert_eq!(json["mixed"], true);
    assert_eq!(json["sides"]["production"], serde_json::json!(["tests/a.py", "tests/c.py"]));
    assert_eq!(json["sides"]["fixture"], serde_json::json!([]));
}

#[test]
fn a_broken_policy_is_named_with_its_line() {
    let sandbox = Sandbox::new(&[]);
    sandbox.write(".seedgate/config.toml", "schema = \"seedgate.config/1\"\n\n[sides]\ntests = []\n");
    sandbox.commit_all("base");
    let output = partition(&sandbox, ".", &["src/a.py"]);
    assert_eq!(output.status.code(), Some(65));
    let says = String::from_utf8_lossy(&output.stderr);
    assert!(says.contains(".seedgate/config.toml:4: unknown field `tests`"), "{says}");
}
