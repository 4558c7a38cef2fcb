//! Owns the tests of files made of two.

use proptest::prelude::{Strategy, any, prop, prop_assert, prop_assert_eq, proptest};

use super::super::compose;
use super::read;
use crate::strength::languages::beside::Inseparable;

fn made(production: &str, tests: &str) -> String {
    String::from_utf8(compose(production.as_bytes(), tests.as_bytes()).unwrap_or_else(|why| panic!("{production} | {tests}: {why}")))
        .unwrap()
}

#[test]
fn the_production_of_one_comes_with_the_tests_of_the_other() {
    let tests = |name: &str| format!("\n#[cfg(test)]\nmod tests {{\n    #[test]\n    fn {name}() {{}}\n}}\n");
    for (production, other, expected) in [
        (format!("fn new() {{}}\n{}", tests("b")), format!("fn old() {{}}\n{}", tests("a")), format!("fn new() {{}}\n{}", tests("a"))),
        ("fn new() {}\n".to_owned(), format!("fn old() {{}}\n{}", tests("a")), format!("fn new() {{}}\n{}", tests("a"))),
        (format!("fn new() {{}}\n{}", tests("b")), "fn old() {}\n".to_owned(), "fn new() {}\n".to_owned()),
        (String::new(), format!("fn old() {{}}\n{}", tests("a")), tests("a")),
        (format!("fn new() {{}}\n{}", tests("a")), String::new(), "fn new() {}\n".to_owned()),
        // Without a line end, with a comment at the end, and on one line.
        ("fn new() {}".to_owned(), "fn old() {}\n#[test]\nfn a() {}".to_owned(), "fn new() {}\n#[test]\nfn a() {}".to_owned()),
        ("fn new() {} // end".to_owned(), "fn old() {} #[test] fn a() {}".to_owned(), "fn new() {} // end\n#[test] fn a() {}".to_owned()),
        // Tests between production stay behind what they stood behind.
        (
            "fn one() { 1 }\nfn two() {}\nfn three() {}\n".to_owned(),
            "fn one() {}\n#[test]\nfn a() {}\nfn two() {}\n".to_owned(),
            "fn one() { 1 }\n#[test]\nfn a() {}\nfn two() {}\nfn three() {}\n".to_owned(),
        ),
        // In a module and an implementation that both have.
        (
            "mod m {\n    fn new() {}\n}\nimpl S {\n    fn new() {}\n}\n".to_owned(),
            "mod m {\n    fn old() {}\n    #[test]\n    fn a() {}\n}\nimpl S {\n    #[cfg(test)]\n    fn seen() {}\n    fn old() {}\n}\n"
                .to_owned(),
            "mod m {\n    fn new() {}\n    #[test]\n    fn a() {}\n}\nimpl S {\n    fn new() {}\n    #[cfg(test)]\n    fn seen() {}\n}\n"
                .to_owned(),
        ),
    ] {
        assert_eq!(made(&production, &other), expected);
    }
}

#[test]
fn what_cannot_be_taken_apart_is_refused_by_name() {
    for (production, tests, why) in [
        ("fn a() {}\n", "mod m {\n    #[test]\n    fn t() {}\n}\n", "its tests stand inside `mod m`"),
        ("fn a() {}\n", "impl<T> S<T> {\n    #[cfg(test)]\n    fn t() {}\n}\n", "inside `impl < T > S < T >`"),
        ("#![cfg(test)]\nfn a() {}\n", "fn a() {}\n", "all of it is tests before or after"),
        ("fn a() {\n", "fn a() {}\n", "cannot be read: line 1"),
    ] {
        let error = compose(production.as_bytes(), tests.as_bytes()).unwrap_err();
        assert!(error.to_string().contains(why), "{error}");
        assert_ne!(error, Inseparable::Tangled);
    }
}

/// One item of a made-up file, from a few that differ in kind, name and layout.
fn item() -> impl Strategy<Value = (bool, String)> {
    let shapes: [(bool, &str); 12] = [
        (false, "fn f#() { #body }\n"),
        (false, "\n/// Doc.\npub fn f#(a: u8) -> u8 {\n    a + #body\n}\n"),
        (false, "struct S# { a: [u8; #body] }\n\n"),
        (false, "use a::b#;\n"),
        (false, "// words #body\nconst C#: u8 = #body; // more\n"),
        (false, "/* #[test] */ static T#: &str = \"#[test] fn f() {#body}\"; "),
        (true, "#[test]\nfn t#() { assert!(#body > 0) }\n"),
        (true, "\n#[cfg(test)]\nmod t# {\n    use super::*;\n    // words\n    #[test]\n    fn a() { #body }\n}\n"),
        (true, "#[cfg(test)] use x::y#; "),
        (true, "// above\n/// Doc.\n#[test_case(#body)]\n#[test_case(2)]\nfn c#(a: u8) {}\n"),
        (true, "proptest! {\n    #[test]\n    fn p#(a in 0..#body) {}\n}\n"),
        (true, "#[cfg(all(test, unix))] const R#: [u8; 1] = { [#body] };\n"),
    ];
    (0..shapes.len(), 0..4_u8, 1..4_u8).prop_map(move |(shape, name, body)| {
        let (test, text) = shapes[shape];
        (test, text.replace("#body", &body.to_string()).replace('#', "\u{1}").replace("\u{1}[", "#[").replace('\u{1}', &name.to_string()))
    })
}

/// A made-up file: loose items, and items in one module.
fn file() -> impl Strategy<Value = String> {
    let list = || prop::collection::vec(item(), 0..6);
    (list(), list(), any::<bool>(), any::<bool>()).prop_map(|(before, inside, carriage, feed)| {
        let join = |items: Vec<(bool, String)>| items.into_iter().map(|(_, text)| text).collect::<String>();
        let mut text = format!("//! Words.\n{}mod held {{\n{}}}\n", join(before), join(inside));
        if !feed {
            text.truncate(text.trim_end().len());
        }
        if carriage { text.replace('\n', "\r\n") } else { text }
    })
}

proptest! {
    #[test]
    fn each_half_holds_just_its_parts_and_is_whole_rust(was in file(), is in file()) {
        for (production, tests) in [(&is, &was), (&was, &is)] {
            let text = made(production, tests);
            prop_assert!(syn::parse_file(&text).is_ok(), "{production}\n--\n{tests}\n--\n{text}");
            let (found, production, tests) = (read(&text), read(production), read(tests));
            prop_assert_eq!(found.production, production.production);
            prop_assert!(found.test.is_same_set(&tests.test));
        }
    }

    #[test]
    fn a_file_made_of_itself_is_itself_and_the_second_half_completes_the_first(was in file(), is in file()) {
        prop_assert_eq!(made(&was, &was), was.clone());
        let first = made(&is, &was);
        let whole = made(&is, &is);
        let second = made(&first, &is);
        prop_assert_eq!(&whole, &is);
        prop_assert_eq!(read(&second).production, read(&is).production);
        prop_assert!(read(&second).test.is_same_set(&read(&is).test));
    }

    #[test]
    fn no_bytes_bring_it_down(bytes in prop::collection::vec(any::<u8>(), 0..200), cut in 0..400_usize, text in file()) {
        let _ = super::super::spans(&bytes);
        let cut = cut.min(text.len());
        if let Some(head) = text.get(..cut) {
            let _ = compose(head.as_bytes(), text.as_bytes());
            let _ = compose(text.as_bytes(), head.as_bytes());
        }
    }
}
