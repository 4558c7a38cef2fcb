//! Owns calls in canonical text: functions, methods and macros, spelt as the conditions of cards spell what they do.

use quote::ToTokens as _;
use syn::{Expr, ExprCall, ExprMethodCall, Macro, Path, PathArguments};

use crate::strength::languages::rust::macros;
use crate::strength::languages::rust::write::{ATOM, COMPARE, LOOSE, OR, SUM, Writer, plain};

/// Methods that give the same value in another form.
#[rustfmt::skip]
const SAME: [&str; 20] = [
    "as_ref", "as_str", "as_slice", "as_mut", "as_deref", "clone", "cloned", "copied", "iter", "into_iter", "iter_mut", "to_vec", "to_owned",
    "borrow", "by_ref", "into_boxed_str", "into", "deref", "collect", "collect_vec",
];

impl Writer<'_> {
    /// The name that a path ends in, with the type before it where there is one.
    pub(in crate::strength::languages::rust) fn path(&self, path: &Path) -> String {
        self.named(path).0
    }

    pub(super) fn named(&self, path: &Path) -> (String, u8) {
        if let Some(name) = path.get_ident().map(ToString::to_string)
            && let Some(text) = self.names.stands(&name)
        {
            return (text.to_owned(), if is_whole(text) { ATOM } else { LOOSE });
        }
        let mut parts: Vec<String> = path.segments.iter().map(|segment| segment.ident.to_string()).collect();
        if let Some(full) = parts.first().and_then(|first| self.names.imported(first)) {
            parts.splice(0..1, full.split('.').map(str::to_owned));
        }
        let keeps = parts.len() > 1 && is_type(&parts[parts.len() - 2]);
        let from = parts.len().saturating_sub(if keeps { 2 } else { 1 });
        let mut told = parts[from..].join(".");
        let last = path.segments.last().map(|segment| &segment.arguments);
        if let Some(PathArguments::AngleBracketed(arguments)) = last.filter(|_| !parts.last().is_some_and(|name| is_type(name))) {
            told = format!("{told}[{}]", plain(&arguments.args.to_token_stream()));
        }
        (told, ATOM)
    }

    pub(super) fn call(&self, e: &ExprCall) -> (String, u8) {
        let name = self.at(&e.func, ATOM);
        let first = || e.args.first().map(|a| self.at(a, ATOM)).unwrap_or_default();
        match (name.as_str(), e.args.len()) {
            (
                "String.from" | "Vec.from" | "Box.new" | "Arc.new" | "Rc.new" | "Cow.Borrowed" | "Cow.Owned" | "Cow.from" | "black_box",
                1,
            ) => (first(), ATOM),
            ("String.new", 0) => ("\"\"".to_owned(), ATOM),
            ("Vec.new", 0) => ("[]".to_owned(), ATOM),
            ("u16.from" | "u32.from" | "u64.from" | "u128.from" | "usize.from" | "i16.from" | "i32.from" | "i64.from" | "i128.from", 1) => {
                match &e.args[0] {
                    Expr::Lit(_) => (first(), ATOM),
                    other => (format!("int({})", self.text(other)), ATOM),
                }
            }
            ("f64.from" | "f32.from", 1) => (format!("float({})", self.text(&e.args[0])), ATOM),
            _ => (format!("{name}({})", self.list(&e.args)), ATOM),
        }
    }

    pub(super) fn method(&self, e: &ExprMethodCall) -> (String, u8) {
        let method = e.method.to_string();
        let of = || self.at(&e.receiver, ATOM);
        match (method.as_str(), e.args.len()) {
            (name, 0) if SAME.contains(&name) => return (of(), ATOM),
            ("to_string" | "to_ascii_string", 0) if is_text(&e.receiver) => return (of(), ATOM),
            ("len" | "count", 0) => return (format!("len({})", self.text(&e.receiver)), ATOM),
            ("is_empty", 0) => return (format!("len({}) == 0", self.text(&e.receiver)), COMPARE),
            ("is_none", 0) => return (format!("{} == None", self.at(&e.receiver, COMPARE + 1)), COMPARE),
            ("is_some", 0) => return (format!("{} != None", self.at(&e.receiver, COMPARE + 1)), COMPARE),
            ("eq", 1) => return (self.equal(&e.receiver, &e.args[0]), COMPARE),
            ("ne", 1) => return (format!("{} != {}", self.at(&e.receiver, COMPARE + 1), self.at(&e.args[0], COMPARE + 1)), COMPARE),
            ("abs", 0) => return (format!("abs({})", self.text(&e.receiver)), ATOM),
            ("abs_diff", 1) => return (format!("abs({} - {})", self.at(&e.receiver, SUM), self.at(&e.args[0], SUM + 1)), ATOM),
            ("expect", 1) => return (format!("{}.unwrap()", of()), ATOM),
            ("expect_err", 1) => return (format!("{}.unwrap_err()", of()), ATOM),
            ("starts_with", 1) => return (format!("{}.startswith({})", of(), self.text(&e.args[0])), ATOM),
            ("ends_with", 1) => return (format!("{}.endswith({})", of(), self.text(&e.args[0])), ATOM),
            ("take", 1) => return (format!("islice({}, {})", self.text(&e.receiver), self.text(&e.args[0])), ATOM),
            ("skip", 1) => return (format!("islice({}, {}, None)", self.text(&e.receiver), self.text(&e.args[0])), ATOM),
            ("contains", 1) => return (self.contains(e), COMPARE),
            ("all" | "any", 1) => {
                if let Some(text) = self.each(e, &method) {
                    return (text, ATOM);
                }
            }
            _ => {}
        }
        let kind = e.turbofish.as_ref().filter(|_| !matches!(method.as_str(), "collect" | "sum" | "product"));
        let kind = kind.map(|t| format!("[{}]", plain(&t.args.to_token_stream()))).unwrap_or_default();
        (format!("{}.{method}{kind}({})", of(), self.list(&e.args)), ATOM)
    }

    fn contains(&self, e: &ExprMethodCall) -> String {
        let part = self.at(&e.args[0], COMPARE + 1);
        let receiver = inner(&e.receiver);
        let Expr::Range(range) = receiver else { return format!("{part} in {}", self.at(receiver, COMPARE + 1)) };
        let sign = if matches!(range.limits, syn::RangeLimits::Closed(_)) { "<=" } else { "<" };
        let low = range.start.as_ref().map(|low| format!("{} <= {part}", self.at(low, COMPARE + 1)));
        let high = range.end.as_ref().map(|high| format!("{part} {sign} {}", self.at(high, COMPARE + 1)));
        let both: Vec<String> = low.into_iter().chain(high).collect();
        if both.len() > 1 { format!("({})", both.join(" and ")) } else { both.concat() }
    }

    /// `items.all(|x| …)` as a condition for each of them.
    fn each(&self, e: &ExprMethodCall, word: &str) -> Option<String> {
        let Expr::Closure(closure) = &e.args[0] else { return None };
        let [pattern] = closure.inputs.iter().collect::<Vec<_>>()[..] else { return None };
        let mut bound = Vec::new();
        super::patterns::bindings(pattern, &mut bound);
        let mut names = self.names.clone();
        let from = names.closures;
        names.closures += bound.len();
        for (at, name) in bound.iter().enumerate() {
            names.stand(name, format!("_{}", from + at + 1));
        }
        let inner = Writer { names: &names, depth: self.depth };
        Some(format!("{word}({} for {} in {})", inner.at(&closure.body, OR), inner.pattern(pattern), self.at(&e.receiver, OR)))
    }

    pub(super) fn macro_call(&self, mac: &Macro) -> (String, u8) {
        let name = mac.path.segments.last().map(|s| s.ident.to_string()).unwrap_or_default();
        if name == "matches"
            && let Some((value, pattern, guard)) = macros::matched(&mac.tokens)
        {
            return (self.is_like(&self.at(&value, COMPARE + 1), &pattern, guard.as_ref()), LOOSE);
        }
        if let Some((value, count)) = macros::repeated(&mac.tokens).filter(|_| name == "vec") {
            return (format!("[{}] * {}", self.text(&value), self.at(&count, ATOM)), SUM + 1);
        }
        match macros::arguments(&mac.tokens) {
            Some(all) if name == "vec" => (format!("[{}]", self.list(&all)), ATOM),
            Some(all) => (format!("{name}({})", self.list(&all)), ATOM),
            None => (format!("{name}({})", plain(&mac.tokens)), ATOM),
        }
    }
}

/// Without parentheses and references around it.
pub(in crate::strength::languages::rust) fn inner(expr: &Expr) -> &Expr {
    match expr {
        Expr::Paren(e) => inner(&e.expr),
        Expr::Group(e) => inner(&e.expr),
        Expr::Reference(e) => inner(&e.expr),
        other => other,
    }
}

fn is_text(expr: &Expr) -> bool {
    matches!(inner(expr), Expr::Lit(lit) if matches!(lit.lit, syn::Lit::Str(_) | syn::Lit::Char(_)))
}

/// Whether nothing can take a text apart that stands beside it: outside of its brackets and strings there are only names and dots.
fn is_whole(text: &str) -> bool {
    let (mut depth, mut quoted, mut escaped) = (0_i32, None, false);
    text.chars().all(|c| {
        match (quoted, c) {
            (Some(_), _) if escaped => escaped = false,
            (Some(_), '\\') => escaped = true,
            (Some(quote), c) if c == quote => quoted = None,
            (Some(_), _) => {}
            (None, '"' | '\'') => quoted = Some(c),
            (None, '(' | '[' | '{') => depth += 1,
            (None, ')' | ']' | '}') => depth -= 1,
            (None, c) => return depth > 0 || c.is_alphanumeric() || matches!(c, '_' | '.'),
        }
        true
    })
}

/// Whether a name is a type's by its look.
fn is_type(name: &str) -> bool {
    name.starts_with(char::is_uppercase)
        || matches!(
            name,
            "u8" | "u16"
                | "u32"
                | "u64"
                | "u128"
                | "usize"
                | "i8"
                | "i16"
                | "i32"
                | "i64"
                | "i128"
                | "isize"
                | "f32"
                | "f64"
                | "str"
                | "char"
                | "bool"
        )
}
