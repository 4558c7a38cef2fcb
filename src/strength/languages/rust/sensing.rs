//! Owns constructs by which production code tells that it was built or is run for tests.

use proc_macro2::{TokenStream, TokenTree};

use crate::strength::languages::Sense;
use crate::strength::languages::rust::write::plain;

/// Variables that are set where tests run.
const VARIABLES: [&str; 7] =
    ["NEXTEST", "NEXTEST_RUN_ID", "RUST_TEST_THREADS", "RUST_TEST_NOCAPTURE", "CARGO_TARGET_TMPDIR", "INSTA_UPDATE", "PROPTEST_CASES"];

/// A file of these words is worth reading.
pub(super) const WORDS: [&str; 8] =
    ["cfg!", "cfg !", "not(test)", "NEXTEST", "RUST_TEST_", "CARGO_TARGET_TMPDIR", "INSTA_UPDATE", "PROPTEST_CASES"];

/// Reads a file's tokens, those of items that only tests have left out.
pub(super) fn read(tokens: &TokenStream) -> Vec<Sense> {
    let mut found = Vec::new();
    let mut open: Vec<Vec<TokenTree>> = vec![tokens.clone().into_iter().collect()];
    while let Some(level) = open.pop() {
        let mut at = 0;
        while at < level.len() {
            if let Some((line, text)) = attribute(&level, at) {
                if text == "cfg ( test )" {
                    at = after_item(&level, at + 2);
                    continue;
                }
                if text == "cfg ( not ( test ) )" && !is_outside(&level, at + 2) {
                    found.push(Sense { line, says: "is built otherwise for tests: cfg(not(test))".to_owned() });
                }
            }
            step(&level, at, &mut found);
            if let TokenTree::Group(group) = &level[at] {
                open.push(group.stream().into_iter().collect());
            }
            at += 1;
        }
    }
    found.sort_by_key(|sense| sense.line);
    found
}

/// Whether the attribute is on an import, or on what a crate without the standard library must bring.
fn is_outside(level: &[TokenTree], mut at: usize) -> bool {
    while let Some((_, text)) = level.get(at).and_then(|_| attribute(level, at)) {
        if ["panic_handler", "global_allocator", "alloc_error_handler", "lang"].iter().any(|word| text.starts_with(word)) {
            return true;
        }
        at += 2;
    }
    let skipped = |token: &&TokenTree| matches!(token, TokenTree::Ident(word) if word == "pub") || matches!(token, TokenTree::Group(_));
    let next = level.iter().skip(at).find(|token| !skipped(token));
    matches!(next, Some(TokenTree::Ident(word)) if ["use", "extern", "mod"].iter().any(|w| word == w))
}

fn line_of(token: &TokenTree) -> u32 {
    u32::try_from(token.span().start().line).unwrap_or_default()
}

/// `#[…]` that starts here: its line and what stands in it.
fn attribute(level: &[TokenTree], at: usize) -> Option<(u32, String)> {
    let hash = matches!(&level[at], TokenTree::Punct(p) if p.as_char() == '#');
    match level.get(at + 1) {
        Some(TokenTree::Group(group)) if hash && group.delimiter() == proc_macro2::Delimiter::Bracket => {
            Some((line_of(&level[at]), plain(&group.stream())))
        }
        _ => None,
    }
}

/// Where the item ends that starts here: behind its first braces, or its semicolon.
fn after_item(level: &[TokenTree], from: usize) -> usize {
    let ends = |token: &TokenTree| match token {
        TokenTree::Group(group) => group.delimiter() == proc_macro2::Delimiter::Brace,
        TokenTree::Punct(punct) => punct.as_char() == ';',
        _ => false,
    };
    level.iter().skip(from).position(ends).map_or(level.len(), |at| from + at + 1)
}

fn step(level: &[TokenTree], at: usize, found: &mut Vec<Sense>) {
    match &level[at] {
        TokenTree::Ident(word) if word == "cfg" => {
            let is_macro = matches!(level.get(at + 1), Some(TokenTree::Punct(p)) if p.as_char() == '!');
            if let (true, Some(TokenTree::Group(group))) = (is_macro, level.get(at + 2)) {
                let text = plain(&group.stream());
                if text.split_whitespace().any(|word| word == "test") {
                    found.push(Sense { line: line_of(&level[at]), says: format!("asks whether it was built for tests: cfg!({text})") });
                }
            }
        }
        TokenTree::Literal(lit) => {
            let text = lit.to_string();
            let text = text.trim_matches('"');
            if VARIABLES.contains(&text) {
                found.push(Sense { line: line_of(&level[at]), says: format!("asks for the environment variable {text}") });
            }
        }
        _ => {}
    }
}
