//! Owns the spelling of templates: an f-string and a text that is formatted are one thing, told as the latter.

use ruff_python_ast::{ConversionFlag, Expr, ExprCall, ExprFString, FStringPart, InterpolatedElement, InterpolatedStringElement};

use crate::strength::languages::python::literal;
use crate::strength::languages::python::write::Writer;
use crate::strength::languages::python::write::order::LAMBDA;

/// A template in parts: its text with `{}` in the place of values, and the values in order.
#[derive(Default)]
struct Template<'w> {
    text: String,
    values: Vec<&'w Expr>,
}

impl<'w> Template<'w> {
    fn literal(&mut self, text: &str) {
        self.text.push_str(&text.replace('{', "{{").replace('}', "}}"));
    }

    /// One value: its conversion and its format stay in the text.
    fn value(&mut self, part: &'w InterpolatedElement) -> Option<()> {
        if part.debug_text.is_some() {
            return None;
        }
        self.values.push(&part.expression);
        self.text.push('{');
        self.text.push_str(match part.conversion {
            ConversionFlag::None => "",
            ConversionFlag::Str => "!s",
            ConversionFlag::Ascii => "!a",
            ConversionFlag::Repr => "!r",
        });
        if let Some(spec) = &part.format_spec {
            self.text.push(':');
            for element in &spec.elements {
                match element {
                    InterpolatedStringElement::Literal(text) => self.text.push_str(&text.value),
                    InterpolatedStringElement::Interpolation(inner) => self.value(inner)?,
                }
            }
        }
        self.text.push('}');
        Some(())
    }

    fn of(whole: &'w ExprFString) -> Option<Self> {
        let mut template = Template::default();
        for part in &whole.value {
            match part {
                FStringPart::Literal(text) => template.literal(text.as_str()),
                FStringPart::FString(text) => {
                    for element in &text.elements {
                        match element {
                            InterpolatedStringElement::Literal(text) => template.literal(&text.value),
                            InterpolatedStringElement::Interpolation(part) => template.value(part)?,
                        }
                    }
                }
            }
        }
        Some(template)
    }

    /// Of `'…'.format(…)` whose fields are places or names alone, each value given once or more and none for nothing.
    fn of_call(text: &str, call: &'w ExprCall) -> Option<Self> {
        let given = &call.arguments;
        if given.args.iter().any(Expr::is_starred_expr) || given.keywords.iter().any(|k| k.arg.is_none()) {
            return None;
        }
        let (mut template, mut rest, mut next) = (Template::default(), text, 0);
        let mut used = vec![false; given.args.len() + given.keywords.len()];
        while let Some(at) = rest.find(['{', '}']) {
            template.text.push_str(&rest[..at]);
            let doubled = rest[at..].starts_with("{{") || rest[at..].starts_with("}}");
            if doubled {
                template.text.push_str(&rest[at..at + 2]);
                rest = &rest[at + 2..];
                continue;
            }
            let field = rest[at..].strip_prefix('{')?;
            let end = field.find('}')?;
            let name = field[..end].split(['!', ':']).next()?;
            let place = match name {
                "" => {
                    next += 1;
                    next - 1
                }
                name if name.bytes().all(|b| b.is_ascii_digit()) => name.parse().ok()?,
                name => given.args.len() + given.keywords.iter().position(|k| k.arg.as_ref().is_some_and(|arg| arg.as_str() == name))?,
            };
            let value = given.args.get(place).or_else(|| given.keywords.get(place.checked_sub(given.args.len())?).map(|k| &k.value))?;
            *used.get_mut(place)? = true;
            if field[..end].contains('{') {
                return None;
            }
            template.values.push(value);
            template.text.push('{');
            template.text.push_str(&field[name.len()..=end]);
            rest = &field[end + 1..];
        }
        template.text.push_str(rest);
        used.iter().all(|used| *used).then_some(template)
    }
}

impl<'w> Writer<'w, '_, '_> {
    /// `f'{x}'` is `'{}'.format(x)`; one without values is its text.
    pub(super) fn as_formatted(&mut self, whole: &'w ExprFString) -> bool {
        self.formatted(Template::of(whole))
    }

    /// `'{name}'.format(name=x)` and `'{0}'.format(x)` are `'{}'.format(x)`.
    pub(super) fn as_template(&mut self, call: &'w ExprCall) -> bool {
        let Expr::Attribute(method) = &*call.func else { return false };
        match &*method.value {
            Expr::StringLiteral(text) if method.attr.as_str() == "format" => self.formatted(Template::of_call(text.value.to_str(), call)),
            _ => false,
        }
    }

    fn formatted(&mut self, template: Option<Template<'w>>) -> bool {
        let Some(template) = template.filter(|_| self.resolve) else { return false };
        if template.values.is_empty() {
            literal::quoted(&template.text.replace("{{", "{").replace("}}", "}"), &mut self.out);
            return true;
        }
        literal::quoted(&template.text, &mut self.out);
        self.out.push_str(".format(");
        for (at, value) in template.values.into_iter().enumerate() {
            self.out.push_str(if at > 0 { ", " } else { "" });
            self.expr(value, LAMBDA);
        }
        self.out.push(')');
        true
    }
}
