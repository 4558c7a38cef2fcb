//! Owns the examples in documentation: which blocks of code `rustdoc` runs as tests, where each stands, and what its first line says.

use quote::ToTokens as _;
use syn::{Attribute, Expr, ImplItem, Item, Lit, Meta, TraitItem};

use crate::strength::languages::rust::cfg::{self, Holds};
use crate::strength::languages::rust::write::plain;

/// Examples of one file that are read.
const MOST: usize = 4_000;

/// What the line says that opens a block.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a word of its own, and any may stand beside the others")]
pub(super) struct Fence {
    /// It is Rust, so that it is a test at all.
    pub(super) is_rust: bool,
    /// It is not even compiled.
    pub(super) ignored: bool,
    /// It is left out on targets of this name.
    pub(super) ignored_on: Option<String>,
    /// It is compiled and not run.
    pub(super) no_run: bool,
    pub(super) should_panic: bool,
    /// It must not compile, with the error's code where one is asked for.
    pub(super) compile_fail: bool,
    pub(super) error: Option<String>,
}

/// One block of code.
pub(super) struct Example {
    /// 1-based line of the file at which the code begins.
    pub(super) line: u32,
    pub(super) fence: Fence,
    /// As `rustdoc` compiles it: hidden lines shown.
    pub(super) code: String,
}

/// The examples of one item and of what stands in it besides other items of a module: the name of what they document, and each in order.
pub(super) fn of_item(item: &Item) -> Vec<(String, Vec<Example>)> {
    let mut all = Vec::new();
    let mut put = |name: String, attributes: &[Attribute]| {
        let found = of(attributes);
        if !found.is_empty() {
            all.push((name, found));
        }
    };
    let (attributes, name) = head(item);
    if !is_built(attributes) {
        return Vec::new();
    }
    put(name.clone(), attributes);
    match item {
        Item::Impl(item) => {
            let of = last_word(&item.self_ty.to_token_stream().to_string());
            for part in &item.items {
                let (attributes, name) = match part {
                    ImplItem::Fn(part) => (&part.attrs, part.sig.ident.to_string()),
                    ImplItem::Const(part) => (&part.attrs, part.ident.to_string()),
                    ImplItem::Type(part) => (&part.attrs, part.ident.to_string()),
                    _ => continue,
                };
                put(format!("{of}.{name}"), attributes);
            }
        }
        Item::Trait(item) => {
            for part in &item.items {
                let (attributes, own) = match part {
                    TraitItem::Fn(part) => (&part.attrs, part.sig.ident.to_string()),
                    TraitItem::Const(part) => (&part.attrs, part.ident.to_string()),
                    TraitItem::Type(part) => (&part.attrs, part.ident.to_string()),
                    _ => continue,
                };
                put(format!("{name}.{own}"), attributes);
            }
        }
        Item::Struct(item) => fields(&item.fields, &name, &mut put),
        Item::Union(item) => fields(&syn::Fields::Named(item.fields.clone()), &name, &mut put),
        Item::Enum(item) => {
            for variant in &item.variants {
                let name = format!("{name}.{}", variant.ident);
                put(name.clone(), &variant.attrs);
                fields(&variant.fields, &name, &mut put);
            }
        }
        _ => {}
    }
    all
}

fn fields(all: &syn::Fields, of: &str, put: &mut impl FnMut(String, &[Attribute])) {
    for (at, field) in all.iter().enumerate() {
        let name = field.ident.as_ref().map_or_else(|| at.to_string(), ToString::to_string);
        put(format!("{of}.{name}"), &field.attrs);
    }
}

/// The attributes of an item, and its name.
fn head(item: &Item) -> (&[Attribute], String) {
    match item {
        Item::Const(item) => (&item.attrs, item.ident.to_string()),
        Item::Enum(item) => (&item.attrs, item.ident.to_string()),
        Item::Fn(item) => (&item.attrs, item.sig.ident.to_string()),
        Item::Impl(item) => (&item.attrs, last_word(&item.self_ty.to_token_stream().to_string())),
        Item::Macro(item) => {
            let name = item.ident.as_ref().or_else(|| item.mac.path.segments.last().map(|s| &s.ident));
            (&item.attrs, name.map(ToString::to_string).unwrap_or_default())
        }
        Item::Mod(item) => (&item.attrs, item.ident.to_string()),
        Item::Static(item) => (&item.attrs, item.ident.to_string()),
        Item::Struct(item) => (&item.attrs, item.ident.to_string()),
        Item::Trait(item) => (&item.attrs, item.ident.to_string()),
        Item::Type(item) => (&item.attrs, item.ident.to_string()),
        Item::Union(item) => (&item.attrs, item.ident.to_string()),
        Item::Use(item) => (&item.attrs, last_word(&item.tree.to_token_stream().to_string())),
        _ => (&[], String::new()),
    }
}

/// The last name before any arguments of a type.
fn last_word(text: &str) -> String {
    let before = text.split(['<', '{']).next().unwrap_or(text);
    let mut words = before.split(|c: char| !(c.is_alphanumeric() || c == '_')).filter(|word| !word.is_empty());
    words.next_back().unwrap_or("impl").to_owned()
}

/// Whether an item is there where documentation is tested: `test` does not hold there.
pub(super) fn is_built(attributes: &[Attribute]) -> bool {
    let of_doctest =
        |attribute: &Attribute| attribute.path().is_ident("cfg") && plain(&attribute.meta.to_token_stream()).contains("doctest");
    attributes.iter().any(of_doctest) || (cfg::of(attributes) != Holds::Never && !cfg::asks_test(attributes))
}

/// The examples in the documentation of these attributes.
pub(super) fn of(attributes: &[Attribute]) -> Vec<Example> {
    let (lines, others) = lines(attributes);
    let mut all = blocks(&lines);
    all.extend(others);
    all.truncate(MOST);
    all
}

/// The lines of the documentation, each with its place; and files that are part of it, whose examples cannot be seen from here.
fn lines(attributes: &[Attribute]) -> (Vec<(u32, String)>, Vec<Example>) {
    let (mut lines, mut others) = (Vec::new(), Vec::new());
    for attribute in attributes {
        let mut metas = cfg::spread(std::slice::from_ref(attribute));
        let for_tests = plain(&attribute.meta.to_token_stream()).starts_with("cfg_attr ( doctest");
        metas.retain(|(holds, meta)| meta.path().is_ident("doc") && (*holds == Holds::Always || for_tests));
        let line = attribute.pound_token.spans.first().map_or(1, |span| u32::try_from(span.start().line).unwrap_or(1));
        for (_, meta) in metas {
            let Meta::NameValue(pair) = &meta else { continue };
            match &pair.value {
                Expr::Lit(lit) => {
                    let Lit::Str(text) = &lit.lit else { continue };
                    let told = starless(&text.value());
                    lines.extend((line..).zip(told.split('\n').map(|text| text.trim_end_matches('\r').to_owned())));
                }
                Expr::Macro(mac) if mac.mac.path.segments.last().is_some_and(|s| s.ident == "include_str") => {
                    let code = plain(&mac.to_token_stream());
                    others.push(Example { line, fence: Fence { is_rust: true, ..Fence::default() }, code });
                }
                _ => {}
            }
        }
    }
    (lines, others)
}

/// A comment of several lines without the stars in front of them.
fn starless(text: &str) -> String {
    let mut rest = text.split('\n').skip(1).filter(|line| !line.trim().is_empty()).peekable();
    let starred = rest.peek().is_some() && rest.all(|line| line.trim_start().starts_with('*'));
    if !starred {
        return text.to_owned();
    }
    text.split('\n').map(|line| line.trim_start().strip_prefix('*').unwrap_or(line)).collect::<Vec<_>>().join("\n")
}

/// A block that is open.
enum Open {
    Code {
        mark: char,
        length: usize,
        fence: Fence,
        line: u32,
        code: Vec<String>,
    },
    /// HTML, in which nothing is code, up to this text.
    Html(&'static str),
}

fn blocks(lines: &[(u32, String)]) -> Vec<Example> {
    let mut all = Vec::new();
    let mut open: Option<Open> = None;
    for (line, text) in lines {
        let bare = text.trim();
        open = match open.take() {
            Some(Open::Html(end)) if bare.contains(end) => None,
            Some(Open::Html(end)) => Some(Open::Html(end)),
            Some(Open::Code { mark, length, fence, line, code }) if is_end(bare, mark, length) => {
                close(&mut all, fence, line, &code);
                None
            }
            Some(Open::Code { mark, length, fence, line, mut code }) => {
                code.push(shown(text));
                Some(Open::Code { mark, length, fence, line, code })
            }
            None => opened(*line, bare),
        };
    }
    if let Some(Open::Code { fence, line, code, .. }) = open {
        close(&mut all, fence, line, &code);
    }
    all
}

fn close(all: &mut Vec<Example>, fence: Fence, line: u32, code: &[String]) {
    if fence.is_rust && code.iter().any(|line| !line.trim().is_empty()) {
        all.push(Example { line, fence, code: code.join("\n") });
    }
}

fn opened(line: u32, text: &str) -> Option<Open> {
    let tags = [("<!--", "-->"), ("<pre", "</pre>"), ("<script", "</script>"), ("<style", "</style>"), ("<textarea", "</textarea>")];
    if let Some((start, end)) = tags.iter().find(|(start, _)| text.starts_with(start)) {
        return Some(Open::Html(end)).filter(|_| !text[start.len()..].contains(end));
    }
    let mark = text.chars().next().filter(|mark| matches!(mark, '`' | '~'))?;
    let length = text.chars().take_while(|c| *c == mark).count();
    let info = &text[length..];
    let is_fence = length >= 3 && !(mark == '`' && info.contains('`'));
    is_fence.then(|| Open::Code { mark, length, fence: fence(info), line: line + 1, code: Vec::new() })
}

fn is_end(text: &str, mark: char, length: usize) -> bool {
    text.len() >= length && text.chars().all(|c| c == mark)
}

/// A line as it is compiled: `# ` hides one.
fn shown(line: &str) -> String {
    let bare = line.trim_start();
    match bare.strip_prefix('#') {
        Some("") => String::new(),
        Some(rest) if rest.starts_with(' ') => rest[1..].to_owned(),
        Some(rest) if rest.starts_with('#') => rest.to_owned(),
        _ => line.to_owned(),
    }
}

/// What stands behind the marks of a block, as `rustdoc` takes it.
fn fence(info: &str) -> Fence {
    let mut fence = Fence::default();
    let (mut rust, mut other) = (false, false);
    for word in info.split(|c: char| c == ',' || c.is_whitespace()).filter(|word| !word.is_empty()) {
        match word {
            "rust" => rust = true,
            "ignore" => (fence.ignored, rust) = (true, !other),
            "no_run" => (fence.no_run, rust) = (true, !other),
            "should_panic" => (fence.should_panic, rust) = (true, !other),
            "compile_fail" => (fence.compile_fail, fence.no_run, rust) = (true, false, !other || rust),
            "test_harness" | "standalone" | "standalone_crate" => rust = !other || rust,
            _ if word.starts_with("ignore-") => {
                fence.ignored_on = Some(word["ignore-".len()..].to_owned());
                rust = !other;
            }
            _ if word.starts_with("edition") => {}
            _ if word.len() == 5 && word.starts_with('E') && word[1..].bytes().all(|b| b.is_ascii_digit()) => {
                fence.error = Some(word.to_owned());
            }
            _ if word.starts_with(['{', '.']) => {}
            _ => other = true,
        }
    }
    fence.is_rust = rust || !other;
    fence
}

/// Whether bytes may hold examples, told without parsing them.
pub(super) const WORDS: [&str; 3] = ["```", "~~~", "include_str!"];
