//! Owns patterns: their text, what they admit, and the names they bind.

use quote::ToTokens as _;
use syn::{Expr, Member, Pat};

use crate::strength::languages::rust::write::{Writer, is_one, literal, plain};

/// What takes the place of whatever a pattern lets through: a name that counts as a value.
const ANY: &str = "Any";

impl Writer<'_> {
    /// A pattern as it is written, its names kept.
    pub(in crate::strength::languages::rust) fn pattern(&self, pattern: &Pat) -> String {
        match pattern {
            Pat::Ident(p) if p.subpat.is_none() => {
                let name = p.ident.to_string();
                self.names.stands(&name).map_or(name, str::to_owned)
            }
            Pat::Reference(p) => self.pattern(&p.pat),
            Pat::Paren(p) => self.pattern(&p.pat),
            Pat::Type(p) => self.pattern(&p.pat),
            Pat::Tuple(p) => format!("({})", p.elems.iter().map(|e| self.pattern(e)).collect::<Vec<_>>().join(", ")),
            Pat::TupleStruct(p) => {
                format!("{}({})", self.path(&p.path), p.elems.iter().map(|e| self.pattern(e)).collect::<Vec<_>>().join(", "))
            }
            other => plain(&other.to_token_stream()),
        }
    }

    /// The demand that a value is like a pattern: an equation where the pattern names one value, a choice where it names several.
    pub(in crate::strength::languages::rust) fn is_like(&self, value: &str, pattern: &Pat, guard: Option<&Expr>) -> String {
        let guard = guard.map(|g| format!(" and {}", self.at(g, super::NOT))).unwrap_or_default();
        let choices: Vec<&Pat> = if let Pat::Or(p) = pattern { p.cases.iter().collect() } else { vec![pattern] };
        let told: Vec<String> = choices.iter().map(|p| self.shape(p)).collect();
        let exact = !told.iter().any(|text| text.split(|c: char| !(c.is_alphanumeric() || c == '_')).any(|word| word == ANY));
        let told = match (told.as_slice(), exact) {
            ([one], true) => equation(value, one),
            ([one], false) => format!("isinstance({value}, {one})"),
            (many, true) => format!("{value} in ({})", many.join(", ")),
            (many, false) => format!("isinstance({value}, ({}))", many.join(", ")),
        };
        format!("{told}{guard}")
    }

    /// A pattern with everything that it lets through told alike.
    fn shape(&self, pattern: &Pat) -> String {
        match pattern {
            Pat::Ident(p) if p.subpat.is_none() && !p.ident.to_string().starts_with(char::is_uppercase) => ANY.to_owned(),
            Pat::Ident(p) => p.subpat.as_ref().map_or_else(|| p.ident.to_string(), |(_, sub)| self.shape(sub)),
            Pat::Wild(_) | Pat::Rest(_) => ANY.to_owned(),
            Pat::Lit(p) => literal(&p.lit),
            Pat::Path(p) => self.path(&p.path),
            Pat::Reference(p) => self.shape(&p.pat),
            Pat::Paren(p) => self.shape(&p.pat),
            Pat::Type(p) => self.shape(&p.pat),
            Pat::Tuple(p) => format!("({})", self.shapes(&p.elems)),
            Pat::Slice(p) => format!("[{}]", self.shapes(&p.elems)),
            Pat::TupleStruct(p) => format!("{}({})", self.path(&p.path), self.shapes(&p.elems)),
            Pat::Struct(p) => {
                let mut fields: Vec<String> = p
                    .fields
                    .iter()
                    .map(|field| {
                        let name = match &field.member {
                            Member::Named(name) => name.to_string(),
                            Member::Unnamed(at) => format!("_{}", at.index),
                        };
                        format!("{name}={}", self.shape(&field.pat))
                    })
                    .filter(|told| !told.ends_with("=Any"))
                    .collect();
                let open = p.rest.is_some() || fields.len() < p.fields.len();
                fields.sort();
                fields.extend(open.then(|| ANY.to_owned()));
                format!("{}({})", self.path(&p.path), fields.join(", "))
            }
            other => plain(&other.to_token_stream()),
        }
    }

    fn shapes<'p>(&self, all: impl IntoIterator<Item = &'p Pat>) -> String {
        all.into_iter().map(|p| self.shape(p)).collect::<Vec<_>>().join(", ")
    }
}

/// A pattern that is one value, as an equation.
fn equation(value: &str, told: &str) -> String {
    let atom = if is_one(value) && !value.contains(' ') { value.to_owned() } else { format!("({value})") };
    for (head, method) in [("Ok(", "unwrap"), ("Some(", "unwrap"), ("Err(", "unwrap_err")] {
        if let Some(inside) = told.strip_prefix(head).and_then(|text| text.strip_suffix(')')).filter(|text| is_one(text)) {
            return format!("{atom}.{method}() == {inside}");
        }
    }
    format!("{value} == {told}")
}

/// The names that a pattern binds, in order.
pub(in crate::strength::languages::rust) fn bindings(pattern: &Pat, names: &mut Vec<String>) {
    match pattern {
        Pat::Ident(p) => {
            let name = p.ident.to_string();
            if !name.starts_with(char::is_uppercase) {
                names.push(name);
            }
            p.subpat.iter().for_each(|(_, sub)| bindings(sub, names));
        }
        Pat::Reference(p) => bindings(&p.pat, names),
        Pat::Paren(p) => bindings(&p.pat, names),
        Pat::Type(p) => bindings(&p.pat, names),
        Pat::Tuple(p) => p.elems.iter().for_each(|e| bindings(e, names)),
        Pat::Slice(p) => p.elems.iter().for_each(|e| bindings(e, names)),
        Pat::TupleStruct(p) => p.elems.iter().for_each(|e| bindings(e, names)),
        Pat::Struct(p) => p.fields.iter().for_each(|f| bindings(&f.pat, names)),
        Pat::Or(p) => p.cases.first().into_iter().for_each(|c| bindings(c, names)),
        _ => {}
    }
}
