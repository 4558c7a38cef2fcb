//! Rust files whose tests stand beside production: their sides, their split, their production-only trees.

use std::process::Output;

use serde_json::{Value, json};

use crate::gate::{code, said, seedgate};
use crate::sandbox::Sandbox;
use seedgate::tree::{RepoPath, Tree as _};
use seedgate::trial::trees::{Part, Source};

const LIB: &str = "src/lib.rs";

/// A library of one function and one test.
fn lib(body: &str, tests: &str) -> String {
    format!(
        "pub fn clamp(v: i64) -> i64 {{\n    {body}\n}}\n\n#[cfg(test)]\nmod tests {{\n    use super::*;\n\n    #[test]\n    fn clamps() {{\n{tests}    }}\n}}\n"
    )
}

const OLD: &str = "if v < 0 { 0 } else { v }";
const NEW: &str = "v.max(0)";
const ONE: &str = "        assert_eq!(clamp(-5), 0);\n";
const TWO: &str = "        assert_eq!(clamp(-5), 0);\n        assert_eq!(clamp(7), 7);\n";

fn project() -> Sandbox {
    let sandbox = Sandbox::new(&[]);
    sandbox.write(LIB, lib(OLD, ONE));
    sandbox.write("Cargo.toml", "[package]\nname = \"shop\"\nversion = \"0.1.0\"\nedition = \"2021\"\n");
    sandbox.commit_all("base");
    sandbox
}

fn partition(sandbox: &Sandbox, arguments: &[&str]) -> String {
    let output = seedgate(sandbox, &[&["partition"], arguments].concat());
    assert_eq!(code(&output), 0, "{}", said(&output));
    String::from_utf8(output.stdout).expect("text")
}

fn check(sandbox: &Sandbox) -> Output {
    seedgate(sandbox, &["check", "--cold"])
}

#[test]
fn a_rust_file_is_on_the_side_of_its_changed_lines() {
    for (what, text, sides) in [
        ("production", lib(NEW, ONE), "production\tsrc/lib.rs\n"),
        ("tests", lib(OLD, TWO), "test\tsrc/lib.rs\tlines 12\n"),
        ("both", lib(NEW, TWO), "test\tsrc/lib.rs\tlines 12\nproduction\tsrc/lib.rs\tlines 2\n"),
        ("a removal", lib(NEW, ""), "test\tsrc/lib.rs\tremoved 11\nproduction\tsrc/lib.rs\tlines 2\n"),
        (
            "formatting of both",
            lib(OLD, ONE).replace("{ 0 } else { v }", "{\n        0\n    } else { v }").replace("    ", "\t"),
            "neutral\tsrc/lib.rs\n",
        ),
        (
            "formatting of one",
            lib(NEW, ONE).replace("(clamp(-5), 0)", "(\n            clamp(-5),\n            0,\n        )"),
            "production\tsrc/lib.rs\n",
        ),
        ("no tests any more", format!("pub fn clamp(v: i64) -> i64 {{\n    {OLD}\n}}\n"), "test\tsrc/lib.rs\tremoved 4-13\n"),
        ("what is no Rust", lib(NEW, TWO).replace("}\n}\n", "}\n"), "production\tsrc/lib.rs\n"),
    ] {
        let sandbox = project();
        sandbox.write(LIB, text);
        sandbox.git(["add", "-A"]);
        assert_eq!(partition(&sandbox, &[]), sides, "{what}");
        assert_eq!(said(&check(&sandbox)).contains("split_required"), sides.contains("test") && sides.contains("production"), "{what}");
    }
}

#[test]
fn the_refusal_shows_the_file_on_both_lists_with_its_lines() {
    let sandbox = project();
    sandbox.write(LIB, lib(NEW, TWO));
    sandbox.git(["add", "-A"]);
    let output = check(&sandbox);
    assert_eq!(code(&output), 2, "{}", said(&output));
    let text = said(&output);
    assert!(
        text.contains("    production (1):\n      src/lib.rs (lines 2)\n    test side (1):\n      src/lib.rs (test, lines 12)\n"),
        "{text}"
    );
    let json: Value = serde_json::from_str(&partition(&sandbox, &["--json"])).expect("JSON");
    assert_eq!(json["mixed"], true);
    assert_eq!((&json["sides"]["production"], &json["sides"]["test"]), (&json!([LIB]), &json!([LIB])));
    assert_eq!(json["parts"][1], json!({"path": LIB, "side": "production", "lines": [[2, 2]], "removed": []}));
}

#[test]
fn an_import_that_moves_between_the_parts_mixes_nothing_and_another_one_does() {
    let with = |head: &str, inside: &str, tests: &str| {
        format!("{head}{}", lib(OLD, tests).replace("    use super::*;\n", &format!("    use super::*;\n{inside}")))
    };
    for (was, is, mixed) in [
        (with("use std::fmt::Debug;\n", "", ONE), with("", "    use std::fmt::Debug;\n", TWO), false),
        (with("", "    use std::fmt::Debug;\n", ONE), with("use std::fmt::Debug;\n", "", TWO), false),
        (with("use std::{cmp, fmt};\n", "", ONE), with("use std::fmt;\nuse std::cmp;\n", "", TWO), false),
        (with("use std::fmt::Debug;\n", "", ONE), with("use std::fmt::Display;\n", "", TWO), true),
        (with("use std::fmt::Debug;\n", "", ONE), with("pub use std::fmt::Debug;\n", "", TWO), true),
    ] {
        let sandbox = project();
        sandbox.write(LIB, &was);
        sandbox.commit_all("imports");
        sandbox.write(LIB, &is);
        sandbox.git(["add", "-A"]);
        assert_eq!(said(&check(&sandbox)).contains("split_required"), mixed, "{was}\n--\n{is}");
    }
}

#[test]
fn new_gone_and_renamed_files_are_on_the_sides_of_what_they_hold() {
    let other = |body: &str, tests: &str| lib(body, tests).replace("clamp", "round");
    // A new module with its own tests has something on both sides, as a new module and a new test file have.
    let sandbox = project();
    sandbox.write("src/round.rs", other(OLD, ONE));
    sandbox.git(["add", "-A"]);
    assert_eq!(partition(&sandbox, &[]), "test\tsrc/round.rs\tlines 4-13\nproduction\tsrc/round.rs\tlines 1-3\n");
    sandbox.git(["commit", "-qm", "round"]);
    // A renamed one takes its tests along.
    sandbox.git(["mv", "src/round.rs", "src/nearest.rs"]);
    assert_eq!(partition(&sandbox, &[]), "production\tsrc/nearest.rs\nproduction\tsrc/round.rs\n");
    sandbox.write("src/nearest.rs", other(NEW, ONE));
    sandbox.git(["add", "-A"]);
    assert_eq!(partition(&sandbox, &[]), "production\tsrc/nearest.rs\nproduction\tsrc/round.rs\n");
    sandbox.write("src/nearest.rs", other(NEW, TWO));
    sandbox.git(["add", "-A"]);
    assert!(said(&check(&sandbox)).contains("split_required"));
    // One that goes away takes both with it.
    sandbox.git(["reset", "-q", "--hard"]);
    sandbox.git(["rm", "-q", "src/round.rs"]);
    assert_eq!(partition(&sandbox, &[]), "test\tsrc/round.rs\tremoved 4-13\nproduction\tsrc/round.rs\tremoved 1-3\n");
}

#[test]
fn a_test_module_in_a_file_of_its_own_is_test_where_it_is_declared_so() {
    let sandbox = project();
    for (declaration, side) in [("#[cfg(test)]\nmod checks;\n", "test"), ("mod checks;\n", "production")] {
        sandbox.write(LIB, format!("pub fn f() {{}}\n{declaration}"));
        sandbox.write("src/checks.rs", "fn helper() {}\n");
        sandbox.commit_all("declared");
        sandbox.write("src/checks.rs", "fn helper() { 1; }\n");
        sandbox.git(["add", "-A"]);
        assert_eq!(partition(&sandbox, &[]), format!("{side}\tsrc/checks.rs\n"));
        sandbox.git(["reset", "-q", "--hard"]);
    }
}

#[test]
fn formatting_of_a_test_file_rides_with_anything() {
    let sandbox = project();
    sandbox.write("tests/a.rs", "#[test]\nfn a() { assert!(true) }\n");
    sandbox.commit_all("tests");
    sandbox.write("tests/a.rs", "#[test]\nfn a() {\n    assert!(true)\n}\n");
    sandbox.write(LIB, lib(NEW, ONE));
    sandbox.git(["add", "-A"]);
    assert_eq!(partition(&sandbox, &[]), "neutral\ttests/a.rs\nproduction\tsrc/lib.rs\n");
    assert_eq!(code(&check(&sandbox)), 0);
}

/// A file of a commit.
fn at(sandbox: &Sandbox, commit: &str, path: &str) -> String {
    String::from_utf8(sandbox.git(["show", &format!("{commit}:{path}")])).expect("text")
}

#[test]
fn split_takes_the_file_apart_and_touches_no_byte_of_the_work_tree() {
    for (order, first) in [(&[][..], lib(NEW, ONE)), (&["--tests-first"], lib(OLD, TWO))] {
        let sandbox = project();
        sandbox.write(LIB, lib(NEW, TWO));
        sandbox.git(["add", "-A"]);
        let later = format!("{}// not staged\n", lib(NEW, TWO));
        sandbox.write(LIB, &later);
        let index = sandbox.line(["write-tree"]);
        let output = seedgate(&sandbox, &[&["split", "-m", "one", "-m", "two"], order].concat());
        assert!(said(&output).contains("two commits made"), "{}", said(&output));
        assert_eq!(at(&sandbox, "HEAD^", LIB), first);
        assert_eq!(sandbox.line(["rev-parse", "HEAD^{tree}"]), index);
        assert_eq!(std::fs::read_to_string(sandbox.top.join(LIB)).expect("a file"), later);
        for (commit, side) in [("HEAD^", order.is_empty()), ("HEAD", !order.is_empty())] {
            let found = partition(&sandbox, &["--rev", commit]);
            assert!(found.starts_with(if side { "production\t" } else { "test\t" }) && found.lines().count() == 1, "{commit}: {found}");
        }
    }
}

#[test]
fn split_takes_new_and_gone_files_apart() {
    let sandbox = project();
    sandbox.git(["mv", LIB, "src/shop.rs"]);
    sandbox.write("src/shop.rs", lib(NEW, TWO));
    sandbox.git(["add", "-A"]);
    let output = seedgate(&sandbox, &["split", "-m", "move"]);
    assert!(said(&output).contains("two commits made"), "{}", said(&output));
    let production = format!("pub fn clamp(v: i64) -> i64 {{\n    {NEW}\n}}\n");
    assert_eq!(at(&sandbox, "HEAD^", "src/shop.rs"), production);
    assert_eq!(at(&sandbox, "HEAD^", LIB), lib(OLD, ONE).split_once("\n}\n").expect("a function").1);
    assert_eq!(sandbox.line(["ls-tree", "-r", "--name-only", "HEAD", "src"]), "src/shop.rs");
}

#[test]
fn split_moves_nothing_when_a_half_is_refused_or_cannot_be_made() {
    let inside = "mod held {\n    pub fn p() {}\n\n    #[test]\n    fn t() {}\n}\n";
    for (text, order, says) in [
        // The tests lose a check.
        (lib(NEW, ""), &[][..], "assertion_removed"),
        (format!("{}{inside}", lib(NEW, TWO)), &["--tests-first"], "src/lib.rs cannot be split: its tests stand inside `mod held`"),
    ] {
        let sandbox = project();
        sandbox.write(LIB, text);
        sandbox.git(["add", "-A"]);
        let before = (sandbox.line(["rev-parse", "HEAD"]), sandbox.line(["write-tree"]));
        let output = seedgate(&sandbox, &[&["split", "-m", "x"], order].concat());
        assert!(said(&output).contains(says), "{}", said(&output));
        assert_eq!((sandbox.line(["rev-parse", "HEAD"]), sandbox.line(["write-tree"])), before);
    }
}

#[test]
fn a_merge_is_on_the_sides_of_the_lines_that_no_parent_has() {
    let merge = |resolved: Option<&str>| {
        let sandbox = project();
        let two = "\npub fn twice(v: i64) -> i64 {\n    v * 2\n}\n";
        let head = format!("{}{two}", lib(OLD, ONE));
        sandbox.write(LIB, &head);
        sandbox.commit_all("twice");
        sandbox.git(["checkout", "-qb", "theirs"]);
        sandbox.write(LIB, head.replace("v * 2", "v + v"));
        sandbox.commit_all("production");
        sandbox.git(["checkout", "-q", "main"]);
        sandbox.write(LIB, head.replace(ONE, TWO));
        sandbox.commit_all("tests");
        sandbox.git(["merge", "-q", "--no-commit", "theirs"]);
        if let Some(text) = resolved {
            sandbox.write(LIB, text);
            sandbox.git(["add", "-A"]);
        }
        sandbox.git(["commit", "-qm", "merge"]);
        partition(&sandbox, &["--rev", "HEAD"])
    };
    assert_eq!(merge(None), "neutral\tsrc/lib.rs\n");
    let evil = format!("{}\npub fn twice(v: i64) -> i64 {{\n    v << 1\n}}\n", lib(OLD, TWO));
    assert_eq!(merge(Some(&evil)), "production\tsrc/lib.rs\n");
    let both = evil.replace("clamp(7), 7", "clamp(8), 8");
    assert!(merge(Some(&both)).contains("test\tsrc/lib.rs") && merge(Some(&both)).contains("production\tsrc/lib.rs"));
}

#[test]
fn the_production_only_tree_has_the_candidates_production_and_the_bases_tests() {
    let sandbox = project();
    let base = sandbox.oid(["rev-parse", "HEAD"]);
    sandbox.write(LIB, lib(NEW, TWO));
    sandbox.write("src/new.rs", "pub fn n() {}\n#[test]\nfn t() {}\n");
    let patch = sandbox.commit_all("mixed");
    let repo = sandbox.open();
    let source = Source::candidate(&repo, &base, &patch, Part::ProductionOnly).expect("a tree");
    let tree = source.tree();
    let text = |path: &str| {
        let entry = tree.entry(&RepoPath::new(path)).expect("a tree").expect("a file");
        String::from_utf8(tree.blob(&entry.oid, 1 << 20).expect("bytes")).expect("text")
    };
    assert_eq!(text(LIB), lib(NEW, ONE));
    assert_eq!(text("src/new.rs"), "pub fn n() {}\n");
}

#[test]
fn what_the_audit_counts_is_what_the_check_says() {
    let sandbox = project();
    sandbox.write(LIB, lib(NEW, TWO));
    sandbox.commit_all("mixed");
    sandbox.write(LIB, lib(OLD, TWO));
    sandbox.commit_all("production");
    let output = seedgate(&sandbox, &["audit", "--json"]);
    let audit: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    // The first commit adds both, too.
    assert_eq!((&audit["outcomes"]["mixed"], &audit["outcomes"]["clear"]), (&json!(2), &json!(1)), "{audit}");
}
