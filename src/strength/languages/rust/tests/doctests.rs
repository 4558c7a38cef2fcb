//! Owns the tests of examples in documentation: which of them are tests, and what a change of them takes away.

use super::{World, between};

const BODY: &str = "\npub fn total(a: u32, b: u32) -> u32 {\n    a + b\n}\n";

/// A library whose only function has this documentation.
fn library(docs: &str) -> String {
    let lines: Vec<String> = docs.lines().map(|line| format!("/// {line}").trim_end().to_owned()).collect();
    format!("{}{BODY}", lines.join("\n"))
}

fn rules(base: &str, patch: &str) -> Vec<String> {
    let found = between(&[("src/lib.rs", base)], &[("src/lib.rs", patch)]);
    found.iter().map(|finding| finding.rule.id().to_owned()).collect()
}

const FIRST: &str = "Adds.\n\n```\nassert_eq!(shop::total(1, 2), 3);\nassert_eq!(shop::total(0, 0), 0);\n```";

#[test]
fn an_example_that_demands_less_is_told() {
    for (what, patch, rule) in [
        ("an assertion is dropped", "Adds.\n\n```\nassert_eq!(shop::total(1, 2), 3);\n```", "assertion_removed"),
        (
            "an assertion is loosened",
            "Adds.\n\n```\nassert!(shop::total(1, 2) > 0);\nassert_eq!(shop::total(0, 0), 0);\n```",
            "oracle_weakened",
        ),
        ("the block is gone", "Adds.", "property_removed"),
        ("it is text", &FIRST.replace("```\nassert_eq!(shop::total(1", "```text\nassert_eq!(shop::total(1"), "property_removed"),
        (
            "it stands in a comment of HTML",
            &FIRST.replace("Adds.\n\n", "<!--\n\n").replace("0);\n```", "0);\n```\n-->"),
            "property_removed",
        ),
        ("it is ignored", &FIRST.replace("```\nassert_eq!(shop::total(1", "```ignore\nassert_eq!(shop::total(1"), "test_disabled"),
        ("it is only compiled", &FIRST.replace("```\nassert_eq!(shop::total(1", "```no_run\nassert_eq!(shop::total(1"), "test_disabled"),
        (
            "a target is left out",
            &FIRST.replace("```\nassert_eq!(shop::total(1", "```ignore-linux\nassert_eq!(shop::total(1"),
            "test_disabled",
        ),
    ] {
        assert_eq!(rules(&library(FIRST), &library(patch)), [rule], "{what}");
    }
}

#[test]
fn an_example_that_demands_as_much_is_none_of_it() {
    for (what, patch) in [
        ("reworded", FIRST.replace("Adds.", "The sum of both.\n\n# Examples")),
        (
            "hidden lines and a main",
            "```rust\n# fn main() {\nassert_eq!(shop::total(1, 2), 3);\n# assert_eq!(shop::total(0, 0), 0);\n# }\n```".to_owned(),
        ),
        ("other marks", FIRST.replace("```", "~~~~")),
        ("text after the block", format!("{FIRST}\n\nThat is all.")),
        ("an edition", FIRST.replace("```\nassert_eq!(shop::total(1", "```edition2021\nassert_eq!(shop::total(1")),
        ("another block before it", format!("```text\nwords\n```\n{FIRST}")),
    ] {
        assert_eq!(rules(&library(FIRST), &library(&patch)), [] as [String; 0], "{what}");
    }
}

#[test]
fn an_example_moves_with_what_it_documents() {
    let renamed = library(FIRST).replace("total", "plus");
    assert_eq!(rules(&library(FIRST), &renamed), [] as [String; 0]);
    let inside = format!("pub mod maths {{\n{}\n}}\n", library(FIRST));
    assert_eq!(rules(&library(FIRST), &inside), [] as [String; 0]);
    let of_crate = library(FIRST).replace("///", "//!").replace(BODY, &format!("\n{BODY}"));
    assert_eq!(rules(&library(FIRST), &of_crate), [] as [String; 0]);
}

#[test]
fn what_must_fail_still_must() {
    let panics = "```should_panic\nshop::total(u32::MAX, 1);\n```";
    assert_eq!(rules(&library(panics), &library("```\nshop::total(1, 1);\n```")), ["oracle_weakened"]);
    let refused = "```compile_fail,E0308\nlet x: u8 = shop::total(1, 1);\n```";
    assert_eq!(rules(&library(refused), &library("```\nlet x = shop::total(1, 1);\n```")), ["oracle_weakened"]);
    assert_eq!(rules(&library(refused), &library("```compile_fail\nlet x: u8 = shop::total(1, 1);\n```")), ["oracle_weakened"]);
}

#[test]
fn only_what_rustdoc_runs_is_a_test() {
    let ids =
        |path: &str, text: &str| -> Vec<String> { World::new(&[(path, text)]).cards().iter().map(|card| card.prop_id.0.clone()).collect() };
    assert_eq!(ids("src/lib.rs", &library(FIRST)), ["src/lib.rs::doc_total"]);
    assert_eq!(ids("crates/shop/src/a/b.rs", &library(FIRST)), ["crates/shop/src/a/b.rs::doc_total"]);
    for path in ["src/main.rs", "src/bin/tool.rs", "examples/a.rs", "benches/b.rs", "tests/t.rs", "build.rs"] {
        assert_eq!(ids(path, &library(FIRST)), [] as [&str; 0], "{path}");
    }
    for fence in ["text", "console", "toml", "json", "rust,no", "python"] {
        let runs = fence.starts_with("rust");
        let found = ids("src/lib.rs", &library(&format!("```{fence}\nassert!(true);\n```")));
        assert_eq!(found.len(), usize::from(runs), "{fence}");
    }
    let of_tests = format!("#[cfg(test)]\nmod tests {{\n{}\n}}\n", library(FIRST));
    assert_eq!(ids("src/lib.rs", &of_tests), [] as [&str; 0]);
    let method = "/// A.\npub struct S;\nimpl<T> S<T> {\n    /// ```\n    /// assert!(S.f());\n    /// ```\n    pub fn f(&self) -> bool { true }\n}\n";
    assert_eq!(ids("src/lib.rs", method), ["src/lib.rs::doc_S.f"]);
}

#[test]
fn an_example_without_an_assertion_may_not_go_either() {
    let base = library("```\nlet cart = shop::Cart::new();\ncart.add(1);\n```");
    assert_eq!(rules(&base, &library("Adds.")), ["property_removed"]);
}

#[test]
fn an_example_that_does_not_parse_or_nests_deep_stops_nothing() {
    for code in ["let = ;", &"(".repeat(3_000), &format!("let x = {}1{};", "(".repeat(100), ")".repeat(100))] {
        let text = library(&format!("```\n{code}\n```"));
        assert_eq!(World::new(&[("src/lib.rs", &text)]).cards().len(), 1);
    }
}

#[test]
fn the_line_of_a_lost_assertion_is_that_of_the_documentation() {
    let found = World::new(&[("src/lib.rs", &library(FIRST))]).cards();
    let lines: Vec<u32> = found[0].assertions.iter().map(|assertion| assertion.line).collect();
    assert_eq!((found[0].line, lines), (4, vec![4, 5]));
}
