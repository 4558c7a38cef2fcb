//! Owns the macros that hold properties: what stands in `proptest!`, `prop_compose!`, `quickcheck!` and their like.

use proc_macro2::TokenStream;
use syn::ext::IdentExt as _;
use syn::parse::{Parse, ParseStream, Parser as _};
use syn::punctuated::Punctuated;
use syn::{Attribute, Block, Expr, Ident, Pat, ReturnType, Stmt, Token, Type, Visibility, braced, parenthesized};

/// One parameter of a property.
pub(super) struct Drawn {
    pub(super) pattern: Pat,
    pub(super) from: From,
}

/// What a parameter is drawn from.
pub(super) enum From {
    Strategy(Expr),
    Type(Type),
}

/// One function of such a macro.
pub(super) struct Property {
    pub(super) attributes: Vec<Attribute>,
    pub(super) name: Ident,
    /// Groups of parameters: `prop_compose!` has several.
    pub(super) drawn: Vec<Drawn>,
    pub(super) output: ReturnType,
    pub(super) block: Block,
}

/// What `proptest!` holds.
#[derive(Default)]
pub(super) struct Properties {
    pub(super) config: Option<Expr>,
    pub(super) all: Vec<Property>,
}

/// `proptest! { #![proptest_config(…)] fn … }`, and `quickcheck! { fn … }`.
pub(super) fn properties(tokens: &TokenStream) -> Option<Properties> {
    let read = |input: ParseStream<'_>| {
        let mut properties = Properties::default();
        for attribute in Attribute::parse_inner(input)? {
            if attribute.path().segments.last().is_some_and(|s| s.ident == "proptest_config") {
                properties.config = Some(attribute.parse_args()?);
            }
        }
        while !input.is_empty() {
            properties.all.push(property(input, false)?);
        }
        Ok(properties)
    };
    read.parse2(tokens.clone()).ok()
}

/// `prop_compose! { fn name(given)(a in …, b in …) -> T { … } }`.
pub(super) fn composed(tokens: &TokenStream) -> Option<Property> {
    (|input: ParseStream<'_>| property(input, true)).parse2(tokens.clone()).ok()
}

fn property(input: ParseStream<'_>, is_composed: bool) -> syn::Result<Property> {
    let attributes = Attribute::parse_outer(input)?;
    let _: Visibility = input.parse()?;
    let _: Option<Token![async]> = input.parse()?;
    let _: Option<Token![unsafe]> = input.parse()?;
    let _: Token![fn] = input.parse()?;
    let name = input.call(Ident::parse_any)?;
    let _: syn::Generics = input.parse()?;
    let mut drawn = group(input)?;
    if is_composed {
        drawn.clear();
        while input.peek(syn::token::Paren) {
            drawn.extend(group(input)?);
        }
    }
    let output = input.parse()?;
    Ok(Property { attributes, name, drawn, output, block: input.parse()? })
}

fn group(input: ParseStream<'_>) -> syn::Result<Vec<Drawn>> {
    let content;
    parenthesized!(content in input);
    if content.peek(Token![|]) {
        return Err(content.error("no parameters"));
    }
    drawn(&content)
}

fn drawn(input: ParseStream<'_>) -> syn::Result<Vec<Drawn>> {
    Ok(Punctuated::<Drawn, Token![,]>::parse_terminated(input)?.into_iter().collect())
}

impl Parse for Drawn {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let _ = Attribute::parse_outer(input)?;
        let pattern = Pat::parse_single(input)?;
        if input.parse::<Option<Token![in]>>()?.is_some() {
            return Ok(Drawn { pattern, from: From::Strategy(input.parse()?) });
        }
        let _: Token![:] = input.parse()?;
        Ok(Drawn { pattern, from: From::Type(input.parse()?) })
    }
}

/// `proptest!(|(a in …)| { … })`, with a configuration before it or without.
pub(super) struct Closed {
    pub(super) config: Option<Expr>,
    pub(super) drawn: Vec<Drawn>,
    pub(super) body: Block,
}

pub(super) fn closed(tokens: &TokenStream) -> Option<Closed> {
    let read = |input: ParseStream<'_>| {
        let mut config = None;
        if !input.peek(Token![|]) && !input.peek(Token![move]) {
            config = Some(input.parse()?);
            let _: Token![,] = input.parse()?;
        }
        let _: Option<Token![move]> = input.parse()?;
        let _: Token![|] = input.parse()?;
        let inside = if input.peek(syn::token::Paren) {
            group(input)?
        } else {
            Punctuated::<Drawn, Token![,]>::parse_separated_nonempty(input)?.into_iter().collect()
        };
        let _: Token![|] = input.parse()?;
        let body = if input.peek(syn::token::Brace) {
            let content;
            let brace_token = braced!(content in input);
            Block { brace_token, stmts: content.call(Block::parse_within)? }
        } else {
            Block { brace_token: syn::token::Brace::default(), stmts: vec![Stmt::Expr(input.parse()?, None)] }
        };
        let _: Option<Token![,]> = input.parse()?;
        Ok(Closed { config, drawn: inside, body })
    };
    read.parse2(tokens.clone()).ok()
}

/// The expressions of a macro's call; `None` where it holds anything else.
pub(super) fn arguments(tokens: &TokenStream) -> Option<Vec<Expr>> {
    let read = Punctuated::<Expr, Token![,]>::parse_terminated;
    read.parse2(tokens.clone()).ok().map(|all| all.into_iter().collect())
}

/// `matches!(value, pattern if guard)`.
pub(super) fn matched(tokens: &TokenStream) -> Option<(Expr, Pat, Option<Expr>)> {
    let read = |input: ParseStream<'_>| {
        let value: Expr = input.parse()?;
        let _: Token![,] = input.parse()?;
        let pattern = Pat::parse_multi_with_leading_vert(input)?;
        let guard = if input.parse::<Option<Token![if]>>()?.is_some() { Some(input.parse()?) } else { None };
        // What follows is a message, or what `assert_matches!` does with the names.
        let _: TokenStream = input.parse()?;
        Ok((value, pattern, guard))
    };
    read.parse2(tokens.clone()).ok()
}

/// The arms of `prop_oneof!`, without their weights.
pub(super) fn arms(tokens: &TokenStream) -> Option<Vec<(Option<Expr>, Expr)>> {
    let arm = |input: ParseStream<'_>| -> syn::Result<(Option<Expr>, Expr)> {
        let first: Expr = input.parse()?;
        Ok(if input.parse::<Option<Token![=>]>>()?.is_some() { (Some(first), input.parse()?) } else { (None, first) })
    };
    let read = |input: ParseStream<'_>| Punctuated::<_, Token![,]>::parse_terminated_with(input, arm);
    read.parse2(tokens.clone()).ok().map(|all| all.into_iter().collect())
}

/// `vec![value; count]`.
pub(super) fn repeated(tokens: &TokenStream) -> Option<(Expr, Expr)> {
    let read = |input: ParseStream<'_>| {
        let value: Expr = input.parse()?;
        let _: Token![;] = input.parse()?;
        Ok((value, input.parse()?))
    };
    read.parse2(tokens.clone()).ok()
}
