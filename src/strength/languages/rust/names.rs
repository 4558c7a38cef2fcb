//! Owns what names stand for: imports, constants bound once, functions of the file, and local names at one place of a body.

use rustc_hash::{FxHashMap, FxHashSet};
use syn::{Expr, Item, ItemFn, Macro, UseTree};

/// Longest text that is put in the place of a name.
const LONGEST: usize = 512;
/// Names of one `use` declaration that are read.
const IMPORTS: usize = 4_000;

/// Names of one place.
#[derive(Clone, Default)]
pub(super) struct Names {
    imports: std::rc::Rc<FxHashMap<String, String>>,
    locals: FxHashMap<String, String>,
    /// How many names closures around this place have bound.
    pub(super) closures: usize,
}

impl Names {
    /// The imports of a file, or of one module in it.
    pub(super) fn of<'i>(items: impl Iterator<Item = &'i Item>, outer: &Names) -> Self {
        let mut imports = (*outer.imports).clone();
        for item in items {
            if let Item::Use(item) = item {
                tree(&item.tree, "", &mut imports);
            }
        }
        Names { imports: std::rc::Rc::new(imports), ..Names::default() }
    }

    /// The dotted name that a name was imported by.
    pub(super) fn imported(&self, name: &str) -> Option<&str> {
        self.imports.get(name).map(String::as_str).filter(|_| !self.locals.contains_key(name))
    }

    /// Every import.
    pub(super) fn imports(&self) -> impl Iterator<Item = (&String, &String)> {
        self.imports.iter()
    }

    /// The text that a local name stands for.
    pub(super) fn stands(&self, name: &str) -> Option<&str> {
        self.locals.get(name).map(String::as_str)
    }

    /// Lets a name stand for a text; one too long to be put there is left as it is. Says whether it does.
    pub(super) fn stand(&mut self, name: &str, text: String) -> bool {
        let short = text.len() <= LONGEST;
        self.locals.insert(name.to_owned(), if short { text } else { name.to_owned() });
        short
    }

    /// The name is itself again.
    pub(super) fn forget(&mut self, name: &str) {
        self.locals.insert(name.to_owned(), name.to_owned());
    }
}

fn tree(tree_: &UseTree, head: &str, imports: &mut FxHashMap<String, String>) {
    let joined = |name: &str| if head.is_empty() { name.to_owned() } else { format!("{head}.{name}") };
    if imports.len() > IMPORTS {
        return;
    }
    match tree_ {
        UseTree::Path(path) => tree(&path.tree, &joined(&path.ident.to_string()), imports),
        UseTree::Name(name) if name.ident == "self" => {
            let last = head.rsplit('.').next().unwrap_or(head).to_owned();
            imports.insert(last, head.to_owned());
        }
        UseTree::Name(name) => drop(imports.insert(name.ident.to_string(), joined(&name.ident.to_string()))),
        UseTree::Rename(name) => drop(imports.insert(name.rename.to_string(), joined(&name.ident.to_string()))),
        UseTree::Glob(_) => {}
        UseTree::Group(group) => group.items.iter().for_each(|item| tree(item, head, imports)),
    }
}

/// What a file defines by name; names that it defines twice stand for nothing.
#[derive(Default)]
pub(super) struct Defined<'f> {
    consts: FxHashMap<String, Option<&'f Expr>>,
    functions: FxHashMap<String, Option<&'f ItemFn>>,
    composed: FxHashMap<String, Option<&'f Macro>>,
    /// Functions of production code, by name.
    pub(super) production: FxHashSet<String>,
}

impl<'f> Defined<'f> {
    pub(super) fn constant(&mut self, name: String, value: &'f Expr) {
        self.consts.entry(name).and_modify(|known| *known = None).or_insert(Some(value));
    }

    pub(super) fn function(&mut self, item: &'f ItemFn) {
        self.functions.entry(item.sig.ident.to_string()).and_modify(|known| *known = None).or_insert(Some(item));
    }

    pub(super) fn compose(&mut self, name: String, mac: &'f Macro) {
        self.composed.entry(name).and_modify(|known| *known = None).or_insert(Some(mac));
    }

    /// The value of a constant that is bound once.
    pub(super) fn value(&self, name: &str) -> Option<&'f Expr> {
        self.consts.get(name).copied().flatten()
    }

    /// A function that is defined once.
    pub(super) fn made_by(&self, name: &str) -> Option<&'f ItemFn> {
        self.functions.get(name).copied().flatten()
    }

    /// A function that `prop_compose!` defines.
    pub(super) fn composed(&self, name: &str) -> Option<&'f Macro> {
        self.composed.get(name).copied().flatten()
    }
}

impl<'f> Defined<'f> {
    /// The functions that are defined once.
    pub(super) fn functions(&self) -> impl Iterator<Item = &'f ItemFn> {
        self.functions.values().filter_map(|item| *item)
    }

    /// What `prop_compose!` defines.
    pub(super) fn all_composed(&self) -> impl Iterator<Item = (&String, &'f Macro)> {
        self.composed.iter().filter_map(|(name, mac)| Some((name, (*mac)?)))
    }
}
