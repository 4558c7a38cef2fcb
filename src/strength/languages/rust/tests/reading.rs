//! Owns the tests of what is read: ids, files that are linked, copies of the subject, hostile texts.

use super::{World, between};
use crate::strength::languages::Language;
use crate::tree::RepoPath;

const RUST: Language = Language::Rust;

#[test]
fn ids_are_the_path_the_modules_and_the_name() {
    let text = "#[cfg(test)]\nmod tests {\n    mod deep {\n        #[tokio::test]\n        async fn a() { assert!(f()); }\n    }\n    proptest! { #[test] fn b(x: u8) { prop_assert!(g(x)); } }\n    fn helper(x: u8) { assert!(x > 1); }\n}\nfn production(x: u8) { debug_assert!(x > 1); }\n";
    let cards = World::new(&[("src/lib.rs", text)]).cards();
    let ids: Vec<&str> = cards.iter().map(|card| card.prop_id.0.as_str()).collect();
    assert_eq!(ids, ["src/lib.rs::tests::deep::a", "src/lib.rs::tests::b", "src/lib.rs::tests::helper"]);
}

#[test]
fn tests_of_a_file_that_nothing_declares_are_disabled() {
    let tests = ("src/money/tests.rs", "#[test]\nfn t() { assert!(f()); }\n");
    let (linked, alone) = ("#[cfg(test)]\nmod tests;\n", "pub fn f() {}\n");
    let rules = |base, patch| -> Vec<String> {
        let found = between(&[("src/money.rs", base), tests], &[("src/money.rs", patch), tests]);
        found.into_iter().map(|finding| finding.rule.id().to_owned()).collect()
    };
    assert_eq!(rules(linked, alone), ["test_disabled"]);
    assert_eq!(rules(linked, linked), Vec::<String>::new());
    assert_eq!(rules(alone, alone), Vec::<String>::new());
}

#[test]
fn a_copy_of_the_subject_is_no_subject() {
    let inside = |extra: &str| {
        format!("pub fn f(a: u8) -> u8 {{ a }}\n#[cfg(test)]\nmod tests {{\n{extra}\n#[test]\nfn t() {{ assert_eq!(f(1), 1); }}\n}}\n")
    };
    let (base, patch) = (inside("use super::*;"), inside("fn f(a: u8) -> u8 { a }"));
    let found = between(&[("src/lib.rs", &base)], &[("src/lib.rs", &patch)]);
    assert_eq!(found.iter().map(|f| f.rule.id()).collect::<Vec<_>>(), ["subject_patched"]);
    let library = ("src/lib.rs", "pub fn f(a: u8) -> u8 { a }\n// assert\n");
    let (base, patch) =
        ("use shop::f;\n#[test]\nfn t() { assert_eq!(f(1), 1); }\n", "fn f(a: u8) -> u8 { a }\n#[test]\nfn t() { assert_eq!(f(1), 1); }\n");
    let found = between(&[library, ("tests/t.rs", base)], &[library, ("tests/t.rs", patch)]);
    assert_eq!(found.iter().map(|f| f.rule.id()).collect::<Vec<_>>(), ["subject_patched"]);
}

#[test]
fn hostile_texts_are_read_or_refused_without_a_crash() {
    let deep =
        |open: &str, close: &str, times: usize| format!("#[test]\nfn t() {{ assert!({}a{}); }}\n", open.repeat(times), close.repeat(times));
    for text in [
        deep("(", ")", 100_000),
        deep("[", "]", 3_000),
        deep("!", "", 100_000),
        deep("&", "", 100_000),
        deep("a + ", "", 100_000),
        deep("a.b().", "", 50_000),
        deep("|x| ", "", 20_000),
        deep("{", "}", 120),
        deep("(", ")", 120),
        deep("f::<", ">()", 5_000),
        deep("if a {} else ", "{}", 20_000),
        deep("return ", "", 20_000),
        deep("a = ", "", 20_000),
        deep("a..", "", 2_000),
        deep("*", "", 2_000),
        "#[cfg(not(".repeat(500),
        format!("mod a {{ {} }}", "mod b {".repeat(500)),
        format!("proptest! {{ {} }}", "fn".repeat(900)),
        "#[test_case(".to_owned(),
        "fn t(".to_owned(),
        "\u{feff}#!/bin/sh\n#[test] fn t() {}".to_owned(),
        "#[test] fn t() { let a = 1; let b = a + a; assert_eq!(b, 2); }".to_owned(),
    ] {
        let _ = RUST.module(text.as_bytes());
        let _ = RUST.senses(text.as_bytes());
    }
    let doubled: String = (1..64).map(|n| format!("let a{n} = a{} + a{};\n", n - 1, n - 1)).collect();
    let module = RUST.module(format!("#[test]\nfn t() {{ let a0 = x; {doubled} assert_eq!(a63, 2); }}").as_bytes()).unwrap();
    assert!(serde_json::to_vec(&module).unwrap().len() < 100_000);
    assert!(RUST.module(b"// test\n\xff").is_err());
}

#[test]
fn production_code_that_knows_of_tests_is_found() {
    for (text, wanted) in [
        ("fn f() -> u8 { if cfg!(test) { 1 } else { 2 } }", 1),
        ("#[cfg(not(test))]\nfn f() -> u8 { 1 }", 1),
        ("fn f() -> bool { std::env::var(\"NEXTEST\").is_ok() }", 1),
        ("#![cfg_attr(not(test), no_std)]\n#[cfg(not(test))]\nuse core::fmt;\n#[cfg(not(test))]\n#[panic_handler]\nfn p() {}", 0),
        ("#[cfg(test)]\nmod tests { fn f() { if cfg!(test) {} } }\nfn g() {}", 0),
    ] {
        assert_eq!(RUST.senses(text.as_bytes()).unwrap().len(), wanted, "{text}");
    }
}

#[test]
fn modules_are_looked_for_where_rustc_does() {
    let homes = |module: &str, from: &str| RUST.homes(module, &RepoPath::new(from)).iter().map(ToString::to_string).collect::<Vec<_>>();
    assert!(homes("common", "tests/a.rs").contains(&"tests/common/mod.rs".to_owned()));
    assert!(homes("crate.a.b", "src/x/y.rs").contains(&"src/a/b.rs".to_owned()));
    assert!(homes("super.z", "src/x/y.rs").contains(&"src/x/z.rs".to_owned()));
    assert!(RUST.parents(&RepoPath::new("tests/a.rs")).is_empty());
    assert_eq!(RUST.parents(&RepoPath::new("src/a/b.rs"))[3].0.to_string(), "src/a.rs");
}
