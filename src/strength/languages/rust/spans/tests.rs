//! Owns the tests of where the tests stand in a Rust file, and of files made of two.

mod composed;

use super::{declares_tests, spans};
use crate::strength::languages::beside::Spans;

fn read(text: &str) -> Spans {
    spans(text.as_bytes()).unwrap_or_else(|error| panic!("{text}: {error}"))
}

/// The test parts of a file, trimmed.
fn parts(text: &str) -> Vec<&str> {
    read(text).tests.into_iter().map(|range| text[range].trim()).collect()
}

/// Whether the one item behind a plain function is a test.
fn is_test(item: &str) -> bool {
    let text = format!("fn before() {{}}\n\n{item}\n\nfn after() {{}}\n");
    let found = parts(&text);
    assert!(found.is_empty() || found == [item.trim()], "{item}: {found:?}");
    !found.is_empty()
}

#[test]
fn what_is_plainly_there_for_tests_is_test() {
    for item in [
        "#[cfg(test)]\nmod tests { use super::*; }",
        "#[cfg(test)] mod checks;",
        "#[cfg(test)]\nuse std::fmt::Debug;",
        "#[cfg(test)]\nfn helper() -> u8 { 1 }",
        "#[cfg(test)]\nconst ROWS: [u8; 2] = { [1, 2] };",
        "#[cfg(test)]\nstatic SEEN: u8 = 1;",
        "#[cfg(test)]\nstruct Fake<const N: usize = { 3 }> { a: u8 }",
        "#[cfg(test)]\nstruct Unit(u8);",
        "#[cfg(test)]\nenum Kind { A }",
        "#[cfg(test)]\nimpl Iterator for Fake<{ 3 }> where Self: Sized, { type Item = u8; }",
        "#[cfg(test)]\npub(crate) trait Seen { fn seen(&self) -> bool; }",
        "#[cfg(test)]\ntype Short = Vec<u8>;",
        "#[cfg(test)]\nextern crate alloc;",
        "#[cfg(test)]\nextern \"C\" { fn f(); }",
        "#[cfg(test)]\nmacro_rules! rows { () => {} }",
        "#[cfg(test)]\nrows!(1, 2);",
        "#[cfg(test)]\nunion Both { a: u8, b: i8 }",
        "#[cfg(all(test, feature = \"std\"))]\nmod tests {}",
        "#[cfg(all(unix, any(test, all(test, windows))))]\nmod tests {}",
        "#[cfg(not(not(test)))]\nmod t {}",
        "#[cfg(not(any(not(test), windows)))]\nmod t {}",
        "#[cfg(feature = \"a\")]\n#[cfg(test)]\nmod t {}",
        "#[cfg(doctest)]\nstruct Readme;",
        "mod tests { fn a() {} }",
        "mod test { fn a() {} }",
        "pub(crate) mod tests { fn a() {} }",
        "mod inner { #![cfg(test)] fn a() {} }",
        "#[test]\nfn adds() { assert!(true) }",
        "/// Says.\n#[test]\n#[should_panic(expected = \"x\")]\nfn adds() {}",
        "#[tokio::test(flavor = \"current_thread\")]\nasync fn adds() {}",
        "#[::core::prelude::v1::test]\nfn adds() {}",
        "#[rstest]\n#[case(1)]\nfn adds(#[case] a: u8) {}",
        "#[rstest::fixture]\nfn shop() -> u8 { 1 }",
        "#[test_case(1; \"one\")]\nfn adds(a: u8) {}",
        "#[proptest]\nfn adds(a: u8) {}",
        "#[quickcheck]\nfn adds(a: u8) -> bool { a == a }",
        "proptest! {\n    #[test]\n    fn p(a in 0..3) {}\n}",
        "proptest::proptest! { #[test] fn p(a in 0..3) {} }",
        "quickcheck! { fn p(a: u8) -> bool { true } }",
        "#[cfg(test)]\npub const fn f<T: Fn(u8) -> bool>(t: T) -> [u8; { 1 + 1 }] where T: Copy { [0; 2] }",
    ] {
        assert!(is_test(item), "{item}");
    }
}

#[test]
fn what_is_not_plainly_a_test_is_production() {
    for item in [
        "#[cfg(not(test))]\nfn real() {}",
        "#[cfg(not(test))]\nmod tests { fn a() {} }",
        "#[cfg(any(test, feature = \"x\"))]\nmod tests_util { fn a() {} }",
        "#[cfg(any(test, feature = \"x\"))]\npub mod doubles {}",
        "#[cfg(all(not(test), unix))]\nfn real() {}",
        "#[cfg(any())]\nmod never {}",
        "#[cfg(all())]\nmod always {}",
        "#[cfg(feature = \"test\")]\nmod t {}",
        "#[cfg(testing)]\nmod t {}",
        "#[cfg(not(any(test, windows)))]\nfn real() {}",
        "#[cfg_attr(test, derive(Debug))]\nstruct S;",
        "#[cfg_attr(test, allow(dead_code))]\nfn f() {}",
        "pub mod tests { pub fn api() {} }",
        "mod tests;",
        "mod test;",
        "mod contests { fn a() {} }",
        "mod tests_of_speed {}",
        "#[test_only]\nfn f() {}",
        "#[bench]\nfn slow(b: &mut Bencher) {}",
        "#[doc = \"#[cfg(test)]\"]\nfn f() {}",
        "/// #[cfg(test)]\nfn f() {}",
        "// #[cfg(test)]\nfn f() {}",
        "/* #[cfg(test)] */ fn f() {}",
        "const TEXT: &str = \"#[cfg(test)] mod tests {}\";",
        "const TEXT: &str = r#\"\n#[cfg(test)]\nmod tests {}\n\"#;",
        "const TEXT: &[u8] = br##\"#[test] fn f() {}\"##;",
        "macro_rules! tests { () => { #[cfg(test)] mod tests {} } }",
        "cfg_if! { if #[cfg(test)] { mod tests {} } }",
        "make_tests! { #[test] fn a() {} }",
        "fn f() { #[cfg(test)] let a = 1; }",
        "struct S { #[cfg(test)] seen: u8 }",
        "enum E { #[cfg(test)] Seen }",
        "fn f(a: u8) { match a { #[cfg(test)] 1 => {} _ => {} } }",
        "#[derive(Debug)]\n#[test]\nstruct S;",
        "const _: () = { #[cfg(test)] mod tests {} };",
        "fn proptest() {}",
        "proptest_derive! { struct S; }",
    ] {
        assert!(!is_test(item), "{item}");
    }
}

#[test]
fn tests_are_found_as_deep_as_they_stand_and_each_once() {
    let text = "mod a {\n    mod b {\n        fn p() {}\n        #[cfg(test)]\n        mod tests {\n            #[test]\n            fn t() {}\n        }\n    }\n    \
        impl S {\n        #[cfg(test)]\n        fn seen() {}\n        fn p() {}\n    }\n    trait T {\n        #[cfg(test)]\n        fn seen();\n    }\n}\n";
    let heads: Vec<&str> = parts(text).into_iter().map(|part| part.lines().nth(1).unwrap_or_default().trim()).collect();
    assert_eq!(heads, ["mod tests {", "fn seen() {}", "fn seen();"]);
}

#[test]
fn what_stands_right_above_a_test_and_behind_it_on_its_line_belongs_to_it() {
    for (text, test) in [
        ("fn p() {}\n\n/// Doc.\n#[test]\nfn t() {}\n", "\n/// Doc.\n#[test]\nfn t() {}\n"),
        ("fn p() {}\n\n// Why.\n// So.\n#[test]\nfn t() {} // end\n", "\n// Why.\n// So.\n#[test]\nfn t() {} // end\n"),
        ("fn p() {} // of p\n#[test]\nfn t() {}\n", "#[test]\nfn t() {}\n"),
        ("fn p() {}\n// apart\n\n#[test]\nfn t() {}\n", "\n#[test]\nfn t() {}\n"),
        ("fn p() {} /* a\n// b */\n#[test]\nfn t() {}\n", "#[test]\nfn t() {}\n"),
        ("fn p() {} #[test] fn t() {} fn q() {}\n", "#[test] fn t() {}"),
        ("#[test]\nfn t() {}", "#[test]\nfn t() {}"),
        ("// License.\n\n#[test]\nfn t() {}\nfn p() {}\n", "\n#[test]\nfn t() {}\n"),
        ("fn p() {}\r\n\r\n#[test]\r\nfn t() {}\r\nfn q() {}\r\n", "\r\n#[test]\r\nfn t() {}\r\n"),
        ("\u{feff}fn p() {}\n#[test]\nfn t() {}\n", "#[test]\nfn t() {}\n"),
        ("#!/usr/bin/env run\nfn \u{e9}t\u{e9}() {}\n#[test]\nfn t() {}\n", "#[test]\nfn t() {}\n"),
        ("#![no_std]\n#[test]\nfn t() {}\n", "#[test]\nfn t() {}\n"),
        ("mod a {\n    fn p() {}\n\n    #[test]\n    fn t() {}\n}\n", "\n    #[test]\n    fn t() {}\n"),
    ] {
        let found: Vec<&str> = read(text).tests.into_iter().map(|range| &text[range]).collect();
        assert_eq!(found, [test], "{text:?}");
    }
}

#[test]
fn a_file_that_only_tests_have_is_all_test() {
    for text in ["#![cfg(test)]\nfn a() {}\n", "//! Doc.\n#![cfg(all(test, unix))]\n#![allow(x)]\nfn a() {}\n"] {
        let found = read(text);
        assert!(found.whole && found.production.is_empty() && found.tests.iter().eq(std::iter::once(&(0..text.len()))), "{text}");
    }
    assert!(!read("#![cfg(not(test))]\nfn a() {}\n").whole);
    assert!(!read("#![cfg_attr(test, x)]\nfn a() {}\n").whole);
}

#[test]
fn a_file_without_anything_has_no_part() {
    for text in ["", "\n", "// only words\n", "\u{feff}", "#!/bin/sh"] {
        let found = read(text);
        assert!(found.tests.is_empty() && found.production.is_empty() && found.test.is_empty(), "{text:?}");
    }
}

#[test]
fn what_is_no_rust_is_named_with_its_line() {
    for (bytes, line) in [
        (&b"fn a() {}\n\xff\xfe\n"[..], 2),
        (b"fn a() {\n", 1),
        (b"fn a() {}\n}\n", 2),
        (b"fn a() { ) }\n", 1),
        (b"const A: &str = \"open\n", 1),
        (b"/* never closed\n", 1),
    ] {
        let error = spans(bytes).unwrap_err();
        assert_eq!(error.line, line, "{:?}: {error}", String::from_utf8_lossy(bytes));
    }
}

#[test]
fn no_nesting_and_no_length_is_too_much() {
    let deep = 4_000;
    for text in [
        format!("fn a() {{ {}{} }}\n#[test]\nfn t() {{}}\n", "(".repeat(deep), ")".repeat(deep)),
        format!("fn a() {{ {}1; }}\n#[test]\nfn t() {{}}\n", "!".repeat(deep)),
        format!("fn a() {{ x{}; }}\n#[test]\nfn t() {{}}\n", ".f()".repeat(deep)),
        format!("{}\n#[test]\nfn t() {{}}\n", "fn p() {}\n".repeat(deep)),
        format!("#[cfg({}test{})]\nfn t() {{}}\n#[test]\nfn u() {{}}\n", "not(".repeat(deep), ")".repeat(deep)),
        format!("{}{}\n#[test]\nfn t() {{}}\n", "mod a {".repeat(deep), "}".repeat(deep)),
        format!("use {}a{};\n#[test]\nfn t() {{}}\n", "a::{".repeat(deep), "}".repeat(deep)),
    ] {
        assert_eq!(read(&text).tests.len(), 1, "{text:.60}");
    }
}

#[test]
fn formatting_says_nothing_and_everything_else_does() {
    let same = |one: &str, two: &str| read(one) == Spans { tests: read(one).tests, ..read(two) };
    for (one, two) in [
        ("fn a(x: u8) -> u8 { x }\n", "fn a(\n    x: u8,\n) -> u8 {\n    // the same\n    x\n}\n"),
        ("fn a<T, U>(x: &T, y: U) {}", "fn a<\n    T,\n    U,\n>(\n    x: &T,\n    y: U,\n) {\n}"),
        ("const A: [u8; 2] = [1, 2];", "const A: [u8; 2] = [\n    1,\n    2,\n];"),
        ("fn a() { f(1, g::<u8>(2)) }", "fn a() { f(1, g::<u8>(2,),) }"),
        ("use a::{b, c};\nuse d;\n", "use d;\nuse a::c;\nuse a::b;\n"),
        ("use a::{self, b as c};\n", "use a;\nuse a::b as c;\n"),
        ("#[test]\nfn t() {}", "/// Says.\n#[test]\nfn t() {}"),
        ("#[test]\nfn t() { assert_eq!(f(1), 2); }", "#[test]\nfn t() {\n    assert_eq!(\n        f(1),\n        2,\n    );\n}"),
    ] {
        assert!(same(one, two), "{one} | {two}");
    }
    for (one, two) in [
        ("fn a() -> u8 { 1 }", "fn a() -> u8 { 2 }"),
        ("fn a() -> (u8,) { (1,) }", "fn a() -> (u8,) { (1) }"),
        ("/// One.\nfn a() {}", "/// Two.\nfn a() {}"),
        ("const A: &str = \"a b\";", "const A: &str = \"a  b\";"),
        ("use a::b;\n", "use a::c;\n"),
        ("use a::b;\n", "pub use a::b;\n"),
        ("use a::b;\n", "#[cfg(unix)]\nuse a::b;\n"),
        ("fn a() {}\nfn b() {}\n", "fn b() {}\nfn a() {}\n"),
        ("#[test]\nfn t() { f(1) }", "#[test]\nfn t() { f(2) }"),
        ("#[test]\nfn t() {}", "#[test]\n#[ignore]\nfn t() {}"),
        ("mod tests { use a::f; }", "mod tests { use b::f; }"),
        ("fn a() { x & &y }", "fn a() { x && y }"),
    ] {
        assert!(!same(one, two), "{one} | {two}");
    }
}

#[test]
fn an_import_that_went_from_one_part_to_the_other_is_a_change_of_neither() {
    let moved = |was: &str, is: &str| {
        let (was, is) = (read(was), read(is));
        (
            is.production.only_moved_imports(&was.production, (&was.test, &is.test)),
            is.test.only_moved_imports(&was.test, (&was.production, &is.production)),
        )
    };
    let tests = |head: &str, inside: &str| format!("{head}fn p() {{}}\n#[cfg(test)]\nmod tests {{\n{inside}}}\n");
    assert_eq!(moved(&tests("use a::b;\n", ""), &tests("", "use a::b;\n")), (true, true));
    assert_eq!(moved(&tests("", "use a::b;\n"), &tests("use a::b;\n", "")), (true, true));
    assert_eq!(moved(&tests("use a::{b, c};\n", ""), &tests("use a::c;\n", "use a::b;\n")), (true, true));
    assert_eq!(moved(&tests("use a::b;\n", ""), &tests("", "use x::b;\n")), (false, false));
    assert_eq!(moved(&tests("use a::b;\n", "use a::b;\n"), &tests("use x::b;\n", "use a::b;\n")), (false, true));
    assert_eq!(moved(&tests("use a::b;\n", "use a::b;\n"), &tests("use a::b;\n", "use x::b;\n")), (true, false));
}

#[test]
fn a_module_in_another_file_is_a_test_when_its_declaration_is() {
    for (text, name, file, expected) in [
        ("#[cfg(test)]\nmod tests;\n", "tests", "tests.rs", Some(true)),
        ("#[cfg(all(test, unix))]\nmod checks;\n", "checks", "checks.rs", Some(true)),
        ("mod tests;\n", "tests", "tests.rs", Some(false)),
        ("#[cfg(not(test))]\nmod tests;\n", "tests", "tests.rs", Some(false)),
        ("#[cfg(test)]\nmod tests {}\n", "tests", "tests.rs", None),
        ("mod other;\n", "tests", "tests.rs", None),
        ("#[cfg(test)]\n#[path = \"price_tests.rs\"]\nmod tests;\n", "price_tests", "price_tests.rs", Some(true)),
        ("#[cfg(test)]\n#[path = \"price_tests.rs\"]\nmod tests;\n", "tests", "tests.rs", None),
        ("#![cfg(test)]\nmod deeper;\n", "deeper", "deeper.rs", Some(true)),
    ] {
        assert_eq!(declares_tests(text.as_bytes(), name, file), Ok(expected), "{text}");
    }
}
