//! Owns functions as they are declared: what they are given, what their value means, what they must panic with.

use std::collections::BTreeSet;

use quote::ToTokens as _;
use syn::{Block, FnArg, Pat, ReturnType, Signature, Type};

use crate::strength::card::Claim;
use crate::strength::languages::rust::body::{Tail, Told};
use crate::strength::languages::rust::names::Names;
use crate::strength::languages::rust::write::patterns::bindings;
use crate::strength::languages::rust::write::{Writer, plain};

/// What the value at the end of a function of this type means.
pub(super) fn tail_of(output: &ReturnType) -> Tail {
    match output {
        ReturnType::Type(_, kind) => match &**kind {
            Type::Path(path) if path.path.segments.last().is_some_and(|s| s.ident == "bool" || s.ident == "TestResult") => Tail::Verdict,
            _ => Tail::Nothing,
        },
        ReturnType::Default => Tail::Nothing,
    }
}

/// What a function must be given.
pub(super) fn signature(of: &Signature) -> crate::strength::signature::Signature {
    let parameter = |name: String| crate::strength::signature::Parameter { name, required: true, is_flag: false };
    let positional = parameters(of).0.into_iter().map(parameter).collect();
    crate::strength::signature::Signature { positional, ..Default::default() }
}

/// Whether a body could check anything, told by its text.
pub(super) fn may_check(text: &str) -> bool {
    ["assert", "panic", "verify", "check", "expect"].iter().any(|word| text.contains(word))
}

/// The head of a function of which only the name is known.
pub(super) fn empty(name: &syn::Ident) -> Signature {
    Signature {
        constness: None,
        asyncness: None,
        unsafety: None,
        abi: None,
        fn_token: syn::token::Fn::default(),
        ident: name.clone(),
        generics: syn::Generics::default(),
        paren_token: syn::token::Paren::default(),
        inputs: syn::punctuated::Punctuated::new(),
        variadic: None,
        output: ReturnType::Default,
    }
}

/// The parameters of a function as they are written, and the names that they bind.
pub(super) fn parameters(signature: &Signature) -> (Vec<String>, BTreeSet<String>) {
    let (mut all, mut given) = (Vec::new(), BTreeSet::new());
    for input in &signature.inputs {
        let FnArg::Typed(typed) = input else { continue };
        let mut bound = Vec::new();
        bindings(&typed.pat, &mut bound);
        given.extend(bound);
        all.push(match &*typed.pat {
            Pat::Ident(p) => p.ident.to_string(),
            other => plain(&other.to_token_stream()),
        });
    }
    (all, given)
}

/// A test that must panic demands just that of its last statement.
pub(super) fn panicking(told: &mut Told, block: &Block, message: Option<&str>, names: &Names) {
    let writer = Writer::new(names);
    let last = block.stmts.iter().rev().find_map(|stmt| match stmt {
        syn::Stmt::Expr(expr, _) => Some(writer.text(expr)),
        syn::Stmt::Local(local) => local.init.as_ref().map(|init| writer.text(&init.expr)),
        syn::Stmt::Macro(mac) => Some(plain(&mac.mac.to_token_stream())),
        syn::Stmt::Item(_) => None,
    });
    let pattern = message.map(|text| format!(", match={text}")).unwrap_or_default();
    let text = format!("with raises(panic{pattern}): {}", last.unwrap_or_default());
    told.claims = vec![Claim { text, setup: Vec::new(), assertion: usize::MAX }];
}
