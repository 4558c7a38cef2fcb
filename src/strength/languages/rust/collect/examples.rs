//! Owns the functions that examples in documentation are: each block of code a test of its own.

use std::collections::BTreeSet;

use quote::ToTokens as _;
use syn::{Block, Item, Stmt};

use crate::strength::card::Claim;
use crate::strength::effort::{Does, Effort, Mark};
use crate::strength::languages::facts::{Function, Role};
use crate::strength::languages::rust::body::{self, Start, Tail, Told};
use crate::strength::languages::rust::collect::{Collector, DEPTH, Place, define};
use crate::strength::languages::rust::depth;
use crate::strength::languages::rust::doctests::Example;
use crate::strength::languages::rust::functions::panicking;
use crate::strength::languages::rust::names::{Defined, Names};
use crate::strength::languages::rust::write::plain;

/// Most levels of an example that is read; deeper ones are told by their text.
const LEVELS: usize = 64;

impl Collector<'_, '_> {
    /// Puts the examples of one item, by the name of what they document; the file itself has none.
    pub(super) fn examples(&mut self, name: &str, all: &[Example], place: &Place) {
        for (at, example) in all.iter().enumerate() {
            let mut own = "doc".to_owned();
            own.extend((!name.is_empty()).then(|| format!("_{name}")));
            own.extend((at > 0).then(|| format!("_{}", at + 1)));
            let function = of(own, example, place.class);
            self.add(function);
        }
    }
}

fn of(name: String, example: &Example, class: Option<usize>) -> Function {
    let (told, text) = match block(&example.code) {
        Some(block) => (told(&block, example), plain(&block.to_token_stream())),
        None => (Told { claims: refused(example), ..Told::default() }, example.code.clone()),
    };
    let mut function = Function {
        name,
        class,
        line: example.line,
        role: Role::Example,
        checks: u32::try_from(told.claims.len()).unwrap_or(u32::MAX),
        literals: told.literals,
        body_sha256: crate::digest::sha256_hex(text.as_bytes()),
        is_test_side: true,
        assertions: told.assertions,
        claims: told.claims,
        effort: Effort { marks: marks(example), reducers: told.reducers, ..Effort::default() },
        ..Function::default()
    };
    function.domain.tables = told.loops;
    for assertion in &mut function.assertions {
        assertion.line = (assertion.line + example.line).saturating_sub(2);
    }
    function
}

fn marks(example: &Example) -> BTreeSet<Mark> {
    let fence = &example.fence;
    let mut all = BTreeSet::new();
    let mut skip = |when: Option<String>| all.insert(Mark { does: Does::Skip, when, row: None });
    if fence.ignored {
        skip(None);
    } else if fence.no_run {
        skip(Some("it is only compiled".to_owned()));
    }
    if let Some(target) = &fence.ignored_on {
        skip(Some(format!("target has {target}")));
    }
    all
}

fn told(block: &Block, example: &Example) -> Told {
    let items: Vec<Item> =
        block.stmts.iter().filter_map(|stmt| if let Stmt::Item(item) = stmt { Some(item.clone()) } else { None }).collect();
    let mut defined = Defined::default();
    define(&items, true, DEPTH, &mut defined);
    let names = Names::of(items.iter(), &Names::default());
    let mut told = body::of(block, Tail::Nothing, &Start { names: &names, defined: &defined, arguments: BTreeSet::new() });
    if example.fence.should_panic {
        panicking(&mut told, block, None, &names);
    }
    if example.fence.compile_fail {
        told.assertions.clear();
        told.claims = refused(example);
    }
    told
}

/// What an example demands that must not compile.
fn refused(example: &Example) -> Vec<Claim> {
    let code = example.fence.error.as_ref().map(|code| format!(", match='{code}'")).unwrap_or_default();
    let claim = Claim { text: format!("with raises(compile{code}): example()"), setup: Vec::new(), assertion: usize::MAX };
    if example.fence.compile_fail { vec![claim] } else { Vec::new() }
}

/// The code as the body of a function: of a `main` that it brings, what stands in it. The line before it is the opening bracket's.
fn block(code: &str) -> Option<Block> {
    let plain: String =
        code.lines().map(|line| if line.trim_start().starts_with("#![") { "\n".to_owned() } else { format!("{line}\n") }).collect();
    let tokens: proc_macro2::TokenStream = format!("{{\n{plain}\n}}").parse().ok()?;
    if depth::bound(&tokens).ok()? > LEVELS {
        return None;
    }
    let mut block: Block = syn::parse2(tokens).ok()?;
    let is_main = |stmt: &Stmt| matches!(stmt, Stmt::Item(Item::Fn(item)) if item.sig.ident == "main");
    if let Some(at) = block.stmts.iter().position(is_main)
        && let Stmt::Item(Item::Fn(main)) = block.stmts.remove(at)
    {
        block.stmts.extend(main.block.stmts);
    }
    Some(block)
}
