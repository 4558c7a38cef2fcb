//! Owns how deep a file nests, told from its tokens before anything recurses into them.

use proc_macro2::{Delimiter, Spacing, TokenStream, TokenTree};

use crate::strength::languages::Unreadable;

/// Most brackets in one another.
const BRACKETS: usize = 128;
/// Most levels that the tree of a file may have: a chain of operators, methods or types is a level for each link.
const LEVELS: usize = 12_000;

/// The most levels a tree of these tokens can have.
///
/// # Errors
/// [`Unreadable`] where that is more than is read.
pub(super) fn bound(tokens: &TokenStream) -> Result<usize, Unreadable> {
    let mut most = 0;
    let mut open = vec![(tokens.clone().into_iter(), Run::default())];
    while let Some((rest, run)) = open.last_mut() {
        let Some(token) = rest.next() else {
            open.pop();
            continue;
        };
        run.step(&token);
        let level = run.before + run.links;
        most = most.max(level);
        if level > LEVELS || open.len() > BRACKETS {
            let line = u32::try_from(token.span().start().line).unwrap_or(1);
            return Err(Unreadable { line, says: "it nests too deep to be read".to_owned() });
        }
        if let TokenTree::Group(group) = token {
            open.push((group.stream().into_iter(), Run { before: level, ..Run::default() }));
        }
    }
    Ok(most)
}

/// The tokens since something could begin anew.
#[derive(Default)]
struct Run {
    before: usize,
    links: usize,
    /// Angle brackets since the statement began: what follows a comma may stand in them.
    angles: usize,
    after_block: bool,
}

impl Run {
    fn step(&mut self, token: &TokenTree) {
        let goes_on = match token {
            TokenTree::Ident(word) => word == "else" || word == "as",
            TokenTree::Punct(punct) => !(punct.as_char() == '#' && punct.spacing() == Spacing::Alone),
            TokenTree::Group(_) | TokenTree::Literal(_) => true,
        };
        if self.after_block && !goes_on {
            (self.links, self.angles) = (0, 0);
        }
        self.after_block = matches!(token, TokenTree::Group(group) if group.delimiter() == Delimiter::Brace);
        match token {
            TokenTree::Punct(punct) if punct.as_char() == ';' => (self.links, self.angles) = (0, 0),
            TokenTree::Punct(punct) if punct.as_char() == ',' => self.links = self.angles,
            TokenTree::Punct(punct) if punct.as_char() == '<' => {
                self.angles += 1;
                self.links += 1;
            }
            _ => self.links += 1,
        }
    }
}
