//! Owns colour: only on a terminal, and never with `NO_COLOR`.

/// Whether to colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Style {
    colour: bool,
}

impl Style {
    /// No colour.
    pub const PLAIN: Style = Style { colour: false };

    /// Colour when the stream is a terminal that takes it and the user does not say no (<https://no-color.org>).
    pub fn detect(terminal: bool) -> Self {
        let set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
        let dumb = std::env::var_os("TERM").is_none_or(|term| term == "dumb");
        Style { colour: terminal && !dumb && !set("NO_COLOR") }
    }

    fn wrap(self, code: &str, text: &str) -> String {
        if self.colour { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
    }

    /// For what refuses.
    pub fn bad(self, text: &str) -> String {
        self.wrap("1;31", text)
    }

    /// For what a person should look at.
    pub fn warn(self, text: &str) -> String {
        self.wrap("1;33", text)
    }

    /// For what is well.
    pub fn good(self, text: &str) -> String {
        self.wrap("1;32", text)
    }

    /// For names.
    pub fn strong(self, text: &str) -> String {
        self.wrap("1", text)
    }

    /// For what matters less.
    pub fn dim(self, text: &str) -> String {
        self.wrap("2", text)
    }
}
