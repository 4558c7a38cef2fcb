//! Owns what a file defines: modules, tests, properties, helpers, strategies, and the files that it links.

mod examples;

use std::collections::{BTreeMap, BTreeSet};

use quote::ToTokens as _;
use syn::{Block, File, FnArg, Item, ItemFn, ItemMod, Macro, Signature};

use crate::strength::card::Assertion;
use crate::strength::domain::{Argument, Strategy};
use crate::strength::effort::{Budget, Effort};
use crate::strength::languages::facts::{Class, Function, Meaning, Module, Name, Role};
use crate::strength::languages::rust::body::{self, Start, Tail};
use crate::strength::languages::rust::budget;
use crate::strength::languages::rust::cases::{self, Said, never};
use crate::strength::languages::rust::cfg::{self, Holds};
use crate::strength::languages::rust::doctests;
use crate::strength::languages::rust::functions::{empty, may_check, panicking, parameters, signature, tail_of};
use crate::strength::languages::rust::macros::{self, From, Property};
use crate::strength::languages::rust::names::{Defined, Names};
use crate::strength::languages::rust::predicate;
use crate::strength::languages::rust::strategies::{Reader, by_type, makes_strategy};
use crate::strength::languages::rust::write::patterns::bindings;
use crate::strength::languages::rust::write::{Writer, plain};

/// Modules that stand in one another.
const DEPTH: usize = 64;
/// How deep strategies of strategies are followed.
const STRATEGIES: usize = 12;

/// Where an item stands.
#[derive(Clone)]
struct Place {
    names: Names,
    class: Option<usize>,
    /// `a.b.` of the modules around, for the files that they link.
    path: String,
    /// Inside something that is there only where tests are.
    tests: bool,
    depth: usize,
}

/// Reads a whole file.
pub(super) fn module(file: &File) -> Module {
    let mut defined = Defined::default();
    define(&file.items, false, DEPTH, &mut defined);
    let place = Place {
        names: Names::of(file.items.iter(), &Names::default()),
        class: None,
        path: String::new(),
        tests: cfg::asks_test(&file.attrs),
        depth: DEPTH,
    };
    let mut collector =
        Collector { defined: &defined, module: Module::default(), templates: BTreeMap::new(), called: Vec::new(), plain: BTreeMap::new() };
    collector.module.effort.marks.extend(never(&file.attrs));
    collector.templates(&file.items, &place);
    if doctests::is_built(&file.attrs) {
        collector.examples("", &doctests::of(&file.attrs), &place);
    }
    collector.items(&file.items, &place);
    collector.strategies(&place);
    collector.copies();
    for item in &file.items {
        if let Item::Fn(item) = item {
            collector.module.signatures.insert(item.sig.ident.to_string(), signature(&item.sig));
        }
    }
    for (name, full) in place.names.imports() {
        collector.module.names.entry(name.clone()).or_insert(Name { line: 1, meaning: Meaning::Imported(full.clone()) });
    }
    collector.module
}

/// What the file defines by name, in whatever module of it.
fn define<'f>(items: &'f [Item], tests: bool, depth: usize, defined: &mut Defined<'f>) {
    let Some(depth) = depth.checked_sub(1) else { return };
    for item in items {
        match item {
            Item::Const(item) => defined.constant(item.ident.to_string(), &item.expr),
            Item::Static(item) => defined.constant(item.ident.to_string(), &item.expr),
            Item::Fn(item) => {
                defined.function(item);
                if !tests && !cfg::asks_test(&item.attrs) && !cases::is_test(&item.attrs) {
                    defined.production.insert(item.sig.ident.to_string());
                }
            }
            Item::Macro(item) if item.mac.path.segments.last().is_some_and(|s| s.ident == "prop_compose") => {
                if let Some(property) = macros::composed(&item.mac.tokens) {
                    defined.compose(property.name.to_string(), &item.mac);
                }
            }
            Item::Mod(item) => {
                let inside = item.content.iter().flat_map(|(_, items)| items).collect::<Vec<_>>();
                if let Some((_, items)) = item.content.as_ref().filter(|_| !inside.is_empty()) {
                    define(items, tests || cfg::asks_test(&item.attrs), depth, defined);
                }
            }
            _ => {}
        }
    }
}

struct Collector<'c, 'f> {
    defined: &'c Defined<'f>,
    module: Module,
    /// What templates of `rstest` declare.
    templates: BTreeMap<String, Said>,
    /// What each function calls.
    called: Vec<(usize, BTreeSet<String>)>,
    /// Functions of each module that are no tests.
    plain: BTreeMap<Option<usize>, BTreeSet<String>>,
}

/// One function on its way to a card.
struct Draft<'d> {
    name: String,
    line: u32,
    said: Said,
    arguments: Vec<Argument>,
    given: BTreeSet<String>,
    parameters: Vec<String>,
    budget: Budget,
    tail: Tail,
    block: &'d Block,
    text: String,
}

impl Collector<'_, '_> {
    fn templates(&mut self, items: &[Item], place: &Place) {
        for item in items {
            match item {
                Item::Fn(item) if item.attrs.iter().any(|a| cases::name_of(&a.meta) == "template") => {
                    let said = cases::of(&item.attrs, &item.sig, &Writer::new(&place.names));
                    self.templates.insert(item.sig.ident.to_string(), said);
                }
                Item::Mod(item) if place.depth > 0 => {
                    let inner = Place { depth: place.depth - 1, ..place.clone() };
                    item.content.iter().for_each(|(_, items)| self.templates(items, &inner));
                }
                _ => {}
            }
        }
    }

    fn items(&mut self, items: &[Item], place: &Place) {
        for item in items {
            if !place.tests {
                doctests::of_item(item).iter().for_each(|(name, all)| self.examples(name, all, place));
            }
            match item {
                Item::Fn(item) => self.function(item, place),
                Item::Mod(item) => self.inner_module(item, place),
                Item::Macro(item) => self.macro_item(item, place),
                Item::Impl(item) => {
                    for part in &item.items {
                        if let syn::ImplItem::Fn(method) = part {
                            let item = ItemFn {
                                attrs: method.attrs.clone(),
                                vis: method.vis.clone(),
                                sig: method.sig.clone(),
                                block: Box::new(method.block.clone()),
                            };
                            self.function(&item, place);
                        }
                    }
                }
                _ => {}
            }
        }
    }

    fn inner_module(&mut self, item: &ItemMod, place: &Place) {
        let Some(depth) = place.depth.checked_sub(1) else { return };
        let name = item.ident.to_string();
        let Some((_, items)) = &item.content else {
            if cfg::of(&item.attrs) != Holds::Never {
                let at =
                    item.attrs.iter().find(|a| a.path().is_ident("path")).and_then(|a| match &a.meta.require_name_value().ok()?.value {
                        syn::Expr::Lit(lit) => {
                            if let syn::Lit::Str(s) = &lit.lit {
                                Some(s.value())
                            } else {
                                None
                            }
                        }
                        _ => None,
                    });
                self.module.links.insert(format!("{}{name}", place.path), at);
            }
            return;
        };
        let tests = place.tests
            || cfg::asks_test(&item.attrs)
            || cfg::of(&item.attrs) == Holds::Never
            || predicate::is_tests_module(&name, matches!(item.vis, syn::Visibility::Public(_)));
        let at = self.module.classes.len();
        let effort = Effort { marks: never(&item.attrs).into_iter().collect(), ..Effort::default() };
        let line = u32::try_from(item.ident.span().start().line).unwrap_or_default();
        self.module.classes.push(Class { name: name.clone(), outer: place.class, line, collect: Some(true), effort, ..Class::default() });
        let inner =
            Place { names: Names::of(items.iter(), &place.names), class: Some(at), path: format!("{}{name}.", place.path), tests, depth };
        self.items(items, &inner);
    }

    fn function(&mut self, item: &ItemFn, place: &Place) {
        let writer = Writer::new(&place.names);
        if item.attrs.iter().any(|a| cases::name_of(&a.meta) == "template") {
            return;
        }
        let mut said = cases::of(&item.attrs, &item.sig, &writer);
        let text = plain(&item.block.to_token_stream());
        if !said.is_test {
            self.plain.entry(place.class).or_default().insert(item.sig.ident.to_string());
        }
        if !said.is_test && !may_check(&text) {
            return;
        }
        if let Some(template) = said.template.as_ref().and_then(|name| self.templates.get(name)) {
            said.tables.extend(template.tables.iter().cloned());
            said.marks.extend(template.marks.iter().cloned());
        }
        let arguments = if said.is_drawn { self.drawn(&item.sig, place) } else { Vec::new() };
        let (parameters, given) = parameters(&item.sig);
        let tail = if said.has_answers {
            Tail::Answer
        } else if said.is_drawn {
            tail_of(&item.sig.output)
        } else {
            Tail::Nothing
        };
        let budget = said.config.as_ref().map(|config| budget::of_config(config, &writer)).unwrap_or_default();
        let line = u32::try_from(item.sig.ident.span().start().line).unwrap_or_default();
        let name = item.sig.ident.to_string();
        self.put(Draft { name, line, said, arguments, given, parameters, budget, tail, block: &item.block, text }, place);
    }

    /// What the arguments of a property are drawn from: by `#[strategy(…)]`, else by their types.
    fn drawn(&self, signature: &Signature, place: &Place) -> Vec<Argument> {
        let reader = Reader::new(&place.names, self.defined);
        let mut all = Vec::new();
        for input in &signature.inputs {
            let FnArg::Typed(typed) = input else { continue };
            let mut strategy = by_type(&typed.ty);
            for attribute in &typed.attrs {
                let expr = match &attribute.meta {
                    syn::Meta::List(list) => macros::arguments(&list.tokens).and_then(|all| all.into_iter().last()),
                    syn::Meta::NameValue(pair) => Some(pair.value.clone()),
                    syn::Meta::Path(_) => None,
                };
                match (cases::name_of(&attribute.meta).as_str(), expr) {
                    ("strategy", Some(expr)) => strategy = reader.strategy(&expr),
                    ("filter", Some(expr)) => {
                        let by = Writer::new(&place.names).text(&expr);
                        strategy = Strategy::Mapped { of: Box::new(strategy), how: "filter".to_owned(), by };
                    }
                    _ => {}
                }
            }
            all.push(Argument { name: Writer::new(&place.names).pattern(&typed.pat), strategy });
        }
        all
    }

    fn macro_item(&mut self, item: &syn::ItemMacro, place: &Place) {
        let name = item.mac.path.segments.last().map(|s| s.ident.to_string()).unwrap_or_default();
        match name.as_str() {
            "macro_rules" => self.macro_rules(item, place),
            _ if predicate::may_hold_properties(&name) => self.properties(&item.mac, &name, place),
            _ => {}
        }
    }

    fn properties(&mut self, mac: &Macro, house: &str, place: &Place) {
        let Some(properties) = macros::properties(&mac.tokens) else { return self.opaque(mac, place) };
        let writer = Writer::new(&place.names);
        let shared = properties.config.as_ref().map(|config| budget::of_config(config, &writer)).unwrap_or_default();
        for property in properties.all {
            let Property { attributes, name, drawn, output, block } = property;
            let signature: Signature = Signature { output: output.clone(), ..empty(&name) };
            let mut said = cases::of(&attributes, &signature, &writer);
            said.is_test |= house.contains("quickcheck");
            let reader = Reader::new(&place.names, self.defined);
            let arguments: Vec<Argument> =
                drawn.iter().map(|d| Argument { name: writer.pattern(&d.pattern), strategy: reader.drawn(&d.from) }).collect();
            let mut given = Vec::new();
            drawn.iter().for_each(|d| bindings(&d.pattern, &mut given));
            let mut budget = said.config.as_ref().map(|config| budget::of_config(config, &writer)).unwrap_or_default();
            budget.under(shared.clone());
            let heads: Vec<String> = drawn
                .iter()
                .map(|d| match &d.from {
                    From::Strategy(e) => plain(&e.to_token_stream()),
                    From::Type(t) => plain(&t.to_token_stream()),
                })
                .collect();
            let text = format!("{} {}", heads.join(" , "), plain(&block.to_token_stream()));
            let tail = if house.contains("quickcheck") { tail_of(&output) } else { Tail::Nothing };
            let line = u32::try_from(name.span().start().line).unwrap_or_default();
            let given_set = given.iter().cloned().collect();
            self.put(
                Draft {
                    name: name.to_string(),
                    line,
                    said,
                    arguments,
                    given: given_set,
                    parameters: given,
                    budget,
                    tail,
                    block: &block,
                    text,
                },
                place,
            );
        }
    }

    /// A property macro that cannot be seen into.
    fn opaque(&mut self, mac: &Macro, place: &Place) {
        let name = mac.path.segments.last().map(|s| s.ident.to_string()).unwrap_or_default();
        let text = plain(&mac.tokens);
        let line = u32::try_from(mac.path.segments.last().map_or(1, |s| s.ident.span().start().line)).unwrap_or_default();
        let mut function = Function {
            name: format!("{name}!"),
            class: place.class,
            line,
            role: Role::Test,
            body_sha256: crate::digest::sha256_hex(text.as_bytes()),
            ..Function::default()
        };
        function.domain.unread.insert(text);
        self.add(function);
    }

    /// A macro of the file: what it asserts is told by its text.
    fn macro_rules(&mut self, item: &syn::ItemMacro, place: &Place) {
        let Some(name) = &item.ident else { return };
        let text = plain(&item.mac.tokens);
        let parts: Vec<&str> = text.split(" ; ").filter(|part| part.contains("assert")).collect();
        if parts.is_empty() {
            return;
        }
        let line = u32::try_from(name.span().start().line).unwrap_or_default();
        let assertions = parts.iter().map(|part| Assertion { text: format!("assert {}", part.trim()), line }).collect();
        self.add(Function {
            name: format!("{name}!"),
            class: place.class,
            line,
            assertions,
            checks: 1,
            body_sha256: crate::digest::sha256_hex(text.as_bytes()),
            is_test_side: place.tests,
            ..Function::default()
        });
    }

    fn put(&mut self, draft: Draft<'_>, place: &Place) {
        let start = Start { names: &place.names, defined: self.defined, arguments: draft.given.clone() };
        let mut told = body::of(draft.block, draft.tail, &start);
        if let Some(message) = &draft.said.panics {
            panicking(&mut told, draft.block, message.as_deref(), &place.names);
        }
        let mut function = Function {
            name: draft.name,
            class: place.class,
            line: draft.line,
            role: if draft.said.is_test { Role::Test } else { Role::Plain },
            parameters: draft.parameters,
            checks: u32::try_from(told.claims.len()).unwrap_or(u32::MAX),
            literals: told.literals,
            body_sha256: crate::digest::sha256_hex(draft.text.as_bytes()),
            is_test_side: place.tests || draft.said.is_test,
            ..Function::default()
        };
        function.domain.tables = draft.said.tables;
        function.domain.tables.extend(told.loops);
        function.domain.arguments = draft.arguments;
        function.domain.arguments.extend(told.arguments);
        function.domain.unread = draft.said.unread;
        function.effort = Effort { marks: draft.said.marks, reducers: told.reducers, budget: draft.budget, ..Effort::default() };
        function.effort.budget.under(told.budget);
        function.calls = told.calls;
        for call in &mut function.calls {
            // A function of the same module first, as names are looked up.
            if !call.callee.contains('.') && place.class.is_some() {
                call.callee = format!("self.{}", call.callee);
            }
        }
        (function.assertions, function.claims) = (told.assertions, told.claims);
        let copies = told.called.iter().filter(|name| told.own.contains(*name) && self.defined.production.contains(*name));
        function.copies = copies.cloned().collect();
        self.called.push((self.module.functions.len(), told.called));
        self.add(function);
    }

    /// Functions that tests call and that the tests' own module defines: in the place of the file's own, or of the crate's.
    fn copies(&mut self) {
        for (at, called) in std::mem::take(&mut self.called) {
            let Some(function) = self.module.functions.get_mut(at) else { continue };
            let own = self.plain.get(&function.class).into_iter().flatten().filter(|name| called.contains(*name));
            let inside = function.class.is_some();
            function.copies.extend(own.filter(|name| !inside || self.defined.production.contains(*name)).cloned());
        }
    }

    fn add(&mut self, function: Function) {
        let at = self.module.functions.len();
        if let Some(class) = function.class.and_then(|class| self.module.classes.get_mut(class)) {
            class.functions.push(at);
        }
        self.module.functions.push(function);
    }

    /// Functions that make strategies, for other files.
    fn strategies(&mut self, place: &Place) {
        let reader = Reader::new(&place.names, self.defined);
        let makers: Vec<(String, u32, Strategy)> = self
            .defined
            .functions()
            .filter(|item| makes_strategy(item))
            .map(|item| {
                let line = u32::try_from(item.sig.ident.span().start().line).unwrap_or_default();
                (item.sig.ident.to_string(), line, reader.maker(item, STRATEGIES))
            })
            .collect();
        let composed = self.defined.all_composed().map(|(name, mac)| {
            let line = u32::try_from(mac.path.segments.first().map_or(1, |s| s.ident.span().start().line)).unwrap_or_default();
            (name.clone(), line, Strategy::Call { name: name.clone(), arguments: reader.composed(mac, STRATEGIES) })
        });
        let all: Vec<(String, u32, Strategy)> = makers.into_iter().chain(composed).collect();
        for (name, line, strategy) in all {
            self.module.names.insert(name, Name { line, meaning: Meaning::Strategy(strategy) });
        }
    }
}
