//! Owns whether two texts say the same with other names.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::rc::Rc;

use crate::strength::delta::oracle::{Added, Known, is_given_more, top, without_modules};
use crate::strength::delta::qualified::{ends, is_qualified};
use crate::strength::delta::renames::Renames;
use crate::strength::delta::tokens::{cut, is_free, is_name, is_word};

/// Names that only one side of a change uses: a name that went may have become one that came.
#[derive(Default)]
pub(super) struct Names<'n> {
    pub(super) went: BTreeSet<&'n str>,
    pub(super) came: BTreeSet<&'n str>,
    /// Names that stand for no package: parameters and the instance.
    pub(super) own: BTreeSet<&'n str>,
    /// Arguments of the patch that are drawn from both booleans.
    pub(super) both_ways: BTreeSet<&'n str>,
    /// What calls of production code must be given, where that is known.
    pub(super) known_calls: Option<&'n Known<'n>>,
    /// Whether the code defines a dotted name, on the base and in the patch.
    pub(super) defined: Option<&'n dyn Fn(&str) -> Option<[bool; 2]>>,
    /// Names of an interface that the whole change renames.
    pub(super) renames: Option<&'n Renames>,
    /// Texts that were cut already.
    pub(super) known: RefCell<HashMap<String, Rc<Read>>>,
}

/// A text cut once, and a hash that only texts share which are equal but for names.
pub(super) struct Read {
    tokens: Vec<String>,
    frame: u64,
    ends: u64,
    outline: u64,
}

impl Names<'_> {
    /// The same, or with calls that are given more where that loses nothing.
    pub(super) fn alike(&self, one: &str, other: &str) -> bool {
        self.alike_but_for_names(one, other) || self.is_given_more(one, other, true)
    }

    /// The same, but what production code demands is not added: what is checked is that a call lacks it.
    pub(super) fn alike_as_called(&self, one: &str, other: &str) -> bool {
        self.alike_but_for_names(one, other) || self.is_given_more(one, other, false)
    }

    fn is_given_more(&self, one: &str, other: &str, is_demand_met: bool) -> bool {
        let added = Added { known: self.known_calls, both_ways: &self.both_ways, is_demand_met };
        let may = one.len() < other.len() && (self.known_calls.is_some() || !self.both_ways.is_empty());
        may && self.read(one).outline == self.read(other).outline && is_given_more(&cut(one), &cut(other), &added)
    }

    /// Whether two texts are equal but for names, each of which became one other.
    fn alike_but_for_names(&self, one: &str, other: &str) -> bool {
        if one == other {
            return true;
        }
        let texts = [one, other];
        let (one, other) = (self.read(one), self.read(other));
        let is_framed = one.frame == other.frame;
        if !is_framed && !Self::may_be_longer(&one, &other) {
            return false;
        }
        let one: Vec<&str> = one.tokens.iter().map(String::as_str).collect();
        let other: Vec<&str> = other.tokens.iter().map(String::as_str).collect();
        if !is_framed {
            return is_qualified(&one, &other, &self.own);
        }
        let (mut there, mut back) = (BTreeMap::new(), BTreeMap::new());
        one.len() == other.len()
            && (0..one.len()).all(|at| {
                let (a, b) = (one[at], other[at]);
                let renamed =
                    |a, b| self.went.contains(a) && self.came.contains(b) && is_name(a) && is_free(&one, at) && is_free(&other, at);
                let moved = self.renames.is_some_and(|names| names.became(&one, &other, at));
                let package = |tokens: &[&str]| tokens.get(at + 1) == Some(&".") && is_free(tokens, at) && !self.own.contains(tokens[at]);
                let renamed = |a, b| renamed(a, b) || (package(&one) && package(&other) && are_packages(a, b));
                let replaced = || self.is_replaced(texts, [&one, &other], at);
                a == b || ((moved || renamed(a, b) || replaced()) && *there.entry(a).or_insert(b) == b && *back.entry(b).or_insert(a) == a)
            })
    }

    /// Whether the code itself gave a function or class another name: the base defines the one alone, the patch the other. `texts` are
    /// those that the tokens were cut from, with their modules.
    fn is_replaced(&self, texts: [&str; 2], tokens: [&[&str]; 2], at: usize) -> bool {
        let is_last = |tokens: &[&str]| at > 0 && tokens[at - 1] == "." && tokens.get(at + 1) != Some(&".") && is_word(tokens[at]);
        let Some(defined) = self.defined.filter(|_| tokens.iter().all(|tokens| is_last(tokens))) else { return false };
        let [was, now] = [self.dotted(texts[0], tokens[0][at]), self.dotted(texts[1], tokens[1][at])];
        was.zip(now).is_some_and(|(was, now)| {
            let same = was.rsplit_once('.').map(|(module, _)| module) == now.rsplit_once('.').map(|(module, _)| module);
            same && defined(&was) == Some([true, false]) && defined(&now) == Some([false, true])
        })
    }

    /// The imported name of a text that ends with that.
    fn dotted(&self, text: &str, last: &str) -> Option<String> {
        let tokens = cut(text);
        let end = (2..tokens.len()).find(|at| tokens[*at] == last && tokens[at - 1] == "." && tokens.get(at + 1) != Some(&"."))?;
        let mut start = end;
        while start >= 2 && tokens[start - 1] == "." && is_word(tokens[start - 2]) {
            start -= 2;
        }
        let is_root = start < end && is_name(tokens[start]) && is_free(&tokens, start) && !self.own.contains(tokens[start]);
        is_root.then(|| tokens[start..=end].concat())
    }

    /// Whether two texts may be alike at all: cheap, and true wherever they are.
    pub(super) fn may_be_alike(&self, one: &str, other: &str) -> bool {
        let (one, other) = (self.read(one), self.read(other));
        one.frame == other.frame || Self::may_be_longer(&one, &other)
    }

    fn may_be_longer(one: &Read, other: &Read) -> bool {
        let is_more = one.tokens.len() < other.tokens.len();
        is_more && (one.ends == other.ends || one.outline == other.outline)
    }

    fn read(&self, text: &str) -> Rc<Read> {
        if let Some(known) = self.known.borrow().get(text) {
            return Rc::clone(known);
        }
        let told = without_modules(text, &self.own);
        let tokens: Vec<String> = cut(&told).into_iter().map(str::to_owned).collect();
        let mut frame = DefaultHasher::new();
        let plain: Vec<&str> = tokens.iter().map(String::as_str).collect();
        let named = |at: usize| is_name(plain[at]) || (is_word(plain[at]) && !is_free(&plain, at));
        (0..plain.len()).for_each(|at| if named(at) { "" } else { plain[at] }.hash(&mut frame));
        let ends = ends(&plain);
        let mut outline = DefaultHasher::new();
        top(&plain).for_each(|(_, token)| token.hash(&mut outline));
        let read = Rc::new(Read { frame: frame.finish(), ends, outline: outline.finish(), tokens });
        self.known.borrow_mut().insert(text.to_owned(), Rc::clone(&read));
        read
    }
}

/// Whether a package may have become another: `cattr`, `cattrs`.
fn are_packages(one: &str, other: &str) -> bool {
    let (short, long) = if one.len() < other.len() { (one, other) } else { (other, one) };
    short.len() > 3 && long.len() - short.len() <= 2 && long.starts_with(short)
}
