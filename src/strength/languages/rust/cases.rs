//! Owns attributes of tests: which make one, cases of `rstest` and `test_case`, and marks that keep one from counting.

use std::collections::BTreeSet;

use proc_macro2::{TokenStream, TokenTree};
use quote::ToTokens as _;
use syn::{Attribute, FnArg, Meta, Pat, Signature};

use crate::strength::domain::{Origin, Table};
use crate::strength::effort::{Does, Mark};
use crate::strength::languages::rust::cfg::{self, Holds};
use crate::strength::languages::rust::macros;
use crate::strength::languages::rust::predicate;
use crate::strength::languages::rust::write::patterns::bindings;
use crate::strength::languages::rust::write::{Writer, plain};

/// The last part of an attribute's path.
pub(super) fn name_of(meta: &Meta) -> String {
    meta.path().segments.last().map(|s| s.ident.to_string()).unwrap_or_default()
}

/// Whether one of the attributes makes a test.
pub(super) fn is_test(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| predicate::makes_test(&name_of(&attribute.meta)))
}

/// What the attributes of a function say.
#[derive(Default)]
pub(super) struct Said {
    /// It is a test.
    pub(super) is_test: bool,
    /// `quickcheck`: its arguments are drawn by their types.
    pub(super) is_drawn: bool,
    pub(super) marks: BTreeSet<Mark>,
    pub(super) tables: Vec<Table>,
    pub(super) unread: BTreeSet<String>,
    /// `should_panic`, with the message.
    #[expect(clippy::option_option, reason = "the attribute may be there without its message")]
    pub(super) panics: Option<Option<String>>,
    /// The template that `#[apply]` names.
    pub(super) template: Option<String>,
    /// A configuration of a property.
    pub(super) config: Option<syn::Expr>,
    /// Cases have an expected value.
    pub(super) has_answers: bool,
}

/// Reads the attributes of a function.
pub(super) fn of(attributes: &[Attribute], signature: &Signature, writer: &Writer<'_>) -> Said {
    let mut said = Said::default();
    said.marks.extend(never(attributes));
    let mut reader = Reader { said, rows: Vec::new(), answers: Vec::new(), writer, row: None };
    for (holds, meta) in cfg::spread(attributes) {
        reader.attribute(&holds, &meta);
    }
    let Reader { mut said, rows, answers, .. } = reader;
    said.tables.extend(table(&rows, &given(signature, "case", rows.first().map_or(0, Vec::len))));
    let names: Vec<String> = given(signature, "", usize::MAX).into_iter().chain(said.has_answers.then(|| "result".to_owned())).collect();
    said.tables.extend(table(&answers, &names));
    values(signature, writer, &mut said);
    said
}

/// What a condition of compilation does to a test that stands under it.
pub(super) fn never(attributes: &[Attribute]) -> Option<Mark> {
    match cfg::of(attributes) {
        Holds::Always => None,
        Holds::Never => Some(Mark { does: Does::Skip, when: None, row: None }),
        Holds::If(text) => Some(Mark { does: Does::Skip, when: Some(format!("not {text}")), row: None }),
    }
}

struct Reader<'r, 'w> {
    said: Said,
    rows: Vec<Vec<String>>,
    answers: Vec<Vec<String>>,
    writer: &'r Writer<'w>,
    /// The case that the attributes after it are about.
    row: Option<Vec<String>>,
}

impl Reader<'_, '_> {
    fn attribute(&mut self, holds: &Holds, meta: &Meta) {
        if *holds == Holds::Never {
            return;
        }
        let when = if let Holds::If(text) = holds { Some(text.clone()) } else { None };
        let name = name_of(meta);
        let tokens = meta.require_list().map(|list| list.tokens.clone()).unwrap_or_default();
        let is_case = meta.path().segments.iter().any(|s| s.ident == "case") && name != "test_case";
        match name.as_str() {
            "ignore" => self.mark(Does::Skip, when.clone()),
            "should_panic" => self.panics(meta),
            "retry" | "flaky" | "flaky_test" => self.mark(Does::Flaky, when.clone()),
            "test_case" | "test_matrix" => self.answer(&tokens),
            "apply" => self.said.template = tokens.into_iter().next().map(|t| t.to_string()),
            "quickcheck" => self.said.is_drawn = true,
            "proptest" | "property_test" => {
                self.said.is_drawn = true;
                self.config(&tokens);
            }
            _ if is_case => self.case(&tokens),
            _ => {}
        }
        // `apply` stands for the attributes of a template.
        if predicate::makes_test(&name) || name == "apply" {
            self.said.marks.extend(when.map(|text| Mark { does: Does::Skip, when: Some(format!("not {text}")), row: None }));
            self.said.is_test = true;
        }
    }

    fn mark(&mut self, does: Does, when: Option<String>) {
        let row = self.row.as_ref().map(|cells| whole(cells));
        self.said.marks.insert(Mark { does, when, row });
    }

    fn config(&mut self, tokens: &TokenStream) {
        let all = macros::arguments(tokens).unwrap_or_default();
        for part in all {
            match part {
                syn::Expr::Assign(assign) if plain(&assign.left.to_token_stream()) == "cases" => {
                    let value = &assign.right;
                    self.said.config = syn::parse2(quote::quote!(ProptestConfig::with_cases(#value))).ok();
                }
                syn::Expr::Assign(assign) if plain(&assign.left.to_token_stream()) == "config" => self.said.config = Some(*assign.right),
                syn::Expr::Assign(_) => {}
                other => self.said.config = Some(other),
            }
        }
    }

    fn panics(&mut self, meta: &Meta) {
        let message = match meta {
            Meta::NameValue(pair) => Some(self.writer.text(&pair.value)),
            Meta::List(list) => macros::arguments(&list.tokens).and_then(|all| match all.into_iter().next() {
                Some(syn::Expr::Assign(assign)) => Some(self.writer.text(&assign.right)),
                _ => None,
            }),
            Meta::Path(_) => None,
        };
        match &self.row {
            Some(_) => {}
            None => self.said.panics = Some(message),
        }
    }

    /// `#[case(…)]`.
    fn case(&mut self, tokens: &TokenStream) {
        let cells = self.cells(tokens);
        self.row = Some(cells.clone());
        self.rows.push(cells);
    }

    fn cells(&self, tokens: &TokenStream) -> Vec<String> {
        match macros::arguments(tokens) {
            Some(all) => all.iter().map(|e| self.writer.text(e)).collect(),
            None => cfg::parts(tokens).iter().map(plain).collect(),
        }
    }

    /// `#[test_case(1, 2 => 3; "a name")]`.
    fn answer(&mut self, tokens: &TokenStream) {
        let (mut given, mut expected, mut named) = (TokenStream::new(), TokenStream::new(), false);
        let mut rest = tokens.clone().into_iter().peekable();
        let mut has_answer = false;
        while let Some(token) = rest.next() {
            let is = |c: char| matches!(&token, TokenTree::Punct(p) if p.as_char() == c);
            if is(';') {
                named = true;
            } else if is('=') && matches!(rest.peek(), Some(TokenTree::Punct(p)) if p.as_char() == '>') {
                rest.next();
                has_answer = true;
            } else if !named {
                if has_answer { &mut expected } else { &mut given }.extend([token]);
            }
        }
        let mut cells = self.cells(&given);
        let word = expected.clone().into_iter().next().map(|t| t.to_string()).unwrap_or_default();
        if matches!(word.as_str(), "ignore" | "inconclusive") {
            let after: TokenStream = expected.into_iter().skip(1).filter(|t| !matches!(t, TokenTree::Group(_))).collect();
            self.said.marks.insert(Mark { does: Does::Skip, when: None, row: Some(whole(&cells)) });
            cells.extend((!after.is_empty()).then(|| self.cells(&after).join(", ")));
        } else if has_answer {
            self.said.has_answers = true;
            cells.push(match syn::parse2::<syn::Expr>(expected.clone()) {
                Ok(value) => self.writer.text(&value),
                Err(_) => plain(&expected),
            });
        }
        self.answers.push(cells);
    }
}

fn whole(cells: &[String]) -> String {
    match cells {
        [one] => one.clone(),
        many => format!("({})", many.join(", ")),
    }
}

/// The names of the parameters that an attribute of this name stands on; of the first ones where none does.
fn given(signature: &Signature, attribute: &str, width: usize) -> Vec<String> {
    let mut marked = Vec::new();
    let mut all = Vec::new();
    for input in &signature.inputs {
        let FnArg::Typed(typed) = input else { continue };
        let mut bound = Vec::new();
        bindings(&typed.pat, &mut bound);
        let name = match &*typed.pat {
            Pat::Ident(p) => p.ident.to_string(),
            other => plain(&other.to_token_stream()),
        };
        if typed.attrs.iter().any(|a| a.path().is_ident(attribute)) {
            marked.push(name.clone());
        }
        all.push(name);
    }
    if marked.is_empty() || attribute.is_empty() { all.into_iter().take(width).collect() } else { marked }
}

fn table(rows: &[Vec<String>], names: &[String]) -> Option<Table> {
    let width = rows.iter().map(Vec::len).max()?;
    let mut names: Vec<String> = names.iter().take(width).cloned().collect();
    for at in names.len()..width {
        names.push(format!("argument[{at}]"));
    }
    let (whole, odd): (Vec<&Vec<String>>, Vec<&Vec<String>>) = rows.iter().partition(|row| row.len() == width);
    Some(Table {
        origin: Origin::Declared,
        names,
        rows: whole.into_iter().cloned().collect(),
        rest: odd.into_iter().map(|row| self::whole(row)).collect(),
    })
}

/// `#[values(1, 2)] x: u8`, `#[files("…")]`.
fn values(signature: &Signature, writer: &Writer<'_>, said: &mut Said) {
    for input in &signature.inputs {
        let FnArg::Typed(typed) = input else { continue };
        for attribute in &typed.attrs {
            let Ok(list) = attribute.meta.require_list() else { continue };
            if attribute.path().is_ident("values") {
                let rows = macros::arguments(&list.tokens).unwrap_or_default();
                let rows: Vec<Vec<String>> = rows.iter().map(|e| vec![writer.text(e)]).collect();
                let name = plain(&typed.pat.to_token_stream());
                said.tables.push(Table {
                    origin: Origin::Declared,
                    names: vec![name],
                    rows: rows.into_iter().collect(),
                    rest: BTreeSet::new(),
                });
            } else if attribute.path().is_ident("files") {
                said.unread.insert(format!("files ( {} )", plain(&list.tokens)));
            }
        }
    }
}
