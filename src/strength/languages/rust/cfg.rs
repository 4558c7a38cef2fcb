//! Owns conditions of compilation: whether one never or always holds, and its text.

use proc_macro2::{TokenStream, TokenTree};
use syn::punctuated::Punctuated;
use syn::{Attribute, Meta, Token};

use crate::strength::languages::rust::predicate;
use crate::strength::languages::rust::write::plain;

/// Conditions that hold where other tools build the code: none of them is a run of tests.
const OTHER_TOOLS: [&str; 10] =
    ["miri", "loom", "kani", "fuzzing", "doc", "docsrs", "doctest", "clippy", "rust_analyzer", "coverage_nightly"];

/// What a condition comes to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Holds {
    Always,
    Never,
    /// Under this condition.
    If(String),
}

/// What `#[cfg(…)]` of these attributes comes to together; `test` holds where tests are.
pub(super) fn of(attributes: &[Attribute]) -> Holds {
    let mut conditions = Vec::new();
    for attribute in attributes.iter().filter(|a| a.path().is_ident("cfg")) {
        let Ok(list) = attribute.meta.require_list() else { continue };
        match condition(&list.tokens) {
            Holds::Always => {}
            Holds::Never => return Holds::Never,
            Holds::If(text) => conditions.push(text),
        }
    }
    if conditions.is_empty() { Holds::Always } else { Holds::If(conditions.join(" and ")) }
}

/// Whether the attributes ask for `test`, so that what they stand on is there only where tests are.
pub(super) fn asks_test(attributes: &[Attribute]) -> bool {
    attributes.iter().filter(|a| a.path().is_ident("cfg")).any(|attribute| {
        let Ok(list) = attribute.meta.require_list() else { return false };
        predicate::implies(&list.tokens, true)
    })
}

/// What one condition comes to.
pub(super) fn condition(tokens: &TokenStream) -> Holds {
    let Ok(meta) = syn::parse2::<Meta>(tokens.clone()) else {
        return match tokens.to_string().as_str() {
            "true" => Holds::Always,
            "false" => Holds::Never,
            _ => Holds::If(plain(tokens)),
        };
    };
    match &meta {
        Meta::Path(path) if path.is_ident("test") || path.is_ident("debug_assertions") => Holds::Always,
        Meta::Path(path) if path.is_ident("FALSE") || OTHER_TOOLS.iter().any(|tool| path.is_ident(tool)) => Holds::Never,
        Meta::List(list) if list.path.is_ident("not") => match condition(&list.tokens) {
            Holds::Always => Holds::Never,
            Holds::Never => Holds::Always,
            Holds::If(text) => Holds::If(format!("not ({text})")),
        },
        Meta::List(list) if list.path.is_ident("all") => together(&list.tokens, " and ", &Holds::Never, &Holds::Always),
        Meta::List(list) if list.path.is_ident("any") => together(&list.tokens, " or ", &Holds::Always, &Holds::Never),
        _ => Holds::If(plain(tokens)),
    }
}

/// Several conditions: one that comes to `decides` decides, and none at all comes to `nothing`.
fn together(tokens: &TokenStream, word: &str, decides: &Holds, nothing: &Holds) -> Holds {
    let told: Vec<Holds> = parts(tokens).iter().map(condition).collect();
    if told.contains(decides) {
        return decides.clone();
    }
    let texts: Vec<String> = told.into_iter().filter_map(|h| if let Holds::If(text) = h { Some(text) } else { None }).collect();
    match texts.as_slice() {
        [] => nothing.clone(),
        [one] => Holds::If(one.clone()),
        many => Holds::If(format!("({})", many.join(word))),
    }
}

/// The parts between commas outside every bracket.
pub(super) fn parts(tokens: &TokenStream) -> Vec<TokenStream> {
    let mut all = vec![TokenStream::new()];
    for token in tokens.clone() {
        match &token {
            TokenTree::Punct(punct) if punct.as_char() == ',' => all.push(TokenStream::new()),
            _ => all.last_mut().into_iter().for_each(|last| last.extend([token.clone()])),
        }
    }
    all.retain(|part| !part.is_empty());
    all
}

/// The attributes that `#[cfg_attr(condition, …)]` puts there, each with what its condition comes to; plain ones always hold.
pub(super) fn spread(attributes: &[Attribute]) -> Vec<(Holds, Meta)> {
    let mut all = Vec::new();
    for attribute in attributes {
        let list = attribute.meta.require_list().ok().filter(|_| attribute.path().is_ident("cfg_attr"));
        let Some(list) = list else {
            all.push((Holds::Always, attribute.meta.clone()));
            continue;
        };
        let Ok(metas) = list.parse_args_with(Punctuated::<Meta, Token![,]>::parse_terminated) else { continue };
        let mut metas = metas.into_iter();
        let Some(first) = metas.next() else { continue };
        let holds = condition(&quote::ToTokens::into_token_stream(first));
        all.extend(metas.map(|meta| (holds.clone(), meta)));
    }
    all
}
