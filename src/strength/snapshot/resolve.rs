//! Owns names across files: from a dotted name to the module of the tree that defines it, and strategies made of such names.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::strength::domain::{Strategy, Table};
use crate::strength::languages::facts::{Cases, Function, Meaning, Name, Role};
use crate::strength::languages::{Language, Module};
use crate::strength::snapshot::{SnapshotError, Source};
use crate::tree::RepoPath;

/// How many modules may lead to one another.
const CHAIN: usize = 8;
/// Parts of strategies that are put together for one file.
const PARTS: usize = 200_000;

/// Looks names up.
pub(super) struct Resolver<'s> {
    pub(super) source: &'s dyn Source,
    left: Cell<usize>,
    indices: RefCell<BTreeMap<RepoPath, Index>>,
}

/// What a file defines, by name; the last of each name.
#[derive(Default)]
struct Index {
    /// Top-level classes.
    classes: BTreeMap<String, usize>,
    /// Functions by class and name.
    functions: BTreeMap<(Option<usize>, String), usize>,
}

impl Index {
    fn of(module: &Module) -> Self {
        let classes = module.classes.iter().enumerate().filter(|(_, c)| c.outer.is_none()).map(|(at, c)| (c.name.clone(), at));
        let functions = module.functions.iter().enumerate().filter(|(_, f)| f.role == Role::Plain);
        Index { classes: classes.collect(), functions: functions.map(|(at, f)| ((f.class, f.name.clone()), at)).collect() }
    }
}

impl<'s> Resolver<'s> {
    pub(super) fn new(source: &'s dyn Source) -> Self {
        Resolver { source, left: Cell::new(PARTS), indices: RefCell::default() }
    }

    /// The module at a path; one that cannot be read has no names (it is refused where it is carded itself).
    pub(super) fn module(&self, path: &RepoPath) -> Result<Option<Arc<Module>>, SnapshotError> {
        match self.source.module(path) {
            Err(SnapshotError::Unreadable { .. }) => Ok(None),
            other => other,
        }
    }

    /// The top-level class of a module with a name.
    pub(super) fn class(&self, path: &RepoPath, module: &Module, name: &str) -> Option<usize> {
        self.indices.borrow_mut().entry(path.clone()).or_insert_with(|| Index::of(module)).classes.get(name).copied()
    }

    /// The function of a module, or of one of its classes, with a name.
    pub(super) fn function<'m>(&self, path: &RepoPath, module: &'m Module, class: Option<usize>, name: &str) -> Option<&'m Function> {
        let mut indices = self.indices.borrow_mut();
        let index = indices.entry(path.clone()).or_insert_with(|| Index::of(module));
        index.functions.get(&(class, name.to_owned())).and_then(|at| module.functions.get(*at))
    }

    /// The module that a dotted name leads to, and the name's last part in it.
    pub(super) fn home(&self, dotted: &str, from: &RepoPath) -> Result<Option<(RepoPath, Arc<Module>, String)>, SnapshotError> {
        let Some((module, name)) = dotted.rsplit_once('.') else { return Ok(None) };
        let Some(language) = Language::of(from).filter(|language| !language.is_outside(module)) else { return Ok(None) };
        if name.is_empty() || dotted.len() > 500 {
            return Ok(None);
        }
        for path in language.homes(module, from) {
            if let Some(found) = self.module(&path)? {
                return Ok(Some((path, found, name.to_owned())));
            }
        }
        Ok(None)
    }

    /// The module that defines what a dotted name stands for, imports of imports followed, and its name there.
    pub(super) fn origin(&self, dotted: &str, from: &RepoPath) -> Result<Option<(RepoPath, Arc<Module>, String)>, SnapshotError> {
        let (mut dotted, mut from) = (dotted.to_owned(), from.clone());
        for _ in 0..CHAIN {
            let Some((path, module, name)) = self.home(&dotted, &from)? else { return Ok(None) };
            match module.names.get(&name) {
                Some(Name { meaning: Meaning::Imported(next), .. }) => (dotted, from) = (next.clone(), path),
                _ => return Ok(Some((path, module, name))),
            }
        }
        Ok(None)
    }

    /// The one name of what a dotted name stands for: of the file that defines it, or the last import's where that leads out of the tree.
    pub(super) fn stands_for(&self, dotted: &str, from: &RepoPath) -> Result<Option<String>, SnapshotError> {
        let (mut dotted, mut from, mut is_followed) = (dotted.to_owned(), from.clone(), false);
        for _ in 0..CHAIN {
            let Some((path, module, name)) = self.home(&dotted, &from)? else {
                return Ok(Some(dotted).filter(|dotted| is_followed && !dotted.starts_with('.')));
            };
            let Some(Name { meaning: Meaning::Imported(next), .. }) = module.names.get(&name) else {
                let file = path.to_string().replace(|c: char| !c.is_alphanumeric(), "_");
                return Ok(Some(format!("in_{file}.{name}")));
            };
            (dotted, from, is_followed) = (next.clone(), path, true);
        }
        Ok(None)
    }

    /// What a dotted name stands for, imports of imports followed, and the file that says so.
    pub(super) fn meaning(&self, dotted: &str, from: &RepoPath) -> Result<Option<(RepoPath, Meaning)>, SnapshotError> {
        let (mut dotted, mut from) = (dotted.to_owned(), from.clone());
        for _ in 0..CHAIN {
            let Some((path, module, name)) = self.home(&dotted, &from)? else { return Ok(None) };
            match module.names.get(&name) {
                Some(Name { meaning: Meaning::Imported(next), .. }) => (dotted, from) = (next.clone(), path),
                Some(Name { meaning, .. }) => return Ok(Some((path, meaning.clone()))),
                None => return Ok(None),
            }
        }
        Ok(None)
    }

    /// The strategy with every name of another module replaced by what it stands for.
    pub(super) fn strategy(&self, strategy: &Strategy, from: &RepoPath, depth: usize) -> Result<Strategy, SnapshotError> {
        let all = |parts: &[Strategy]| parts.iter().map(|p| self.strategy(p, from, depth)).collect::<Result<Vec<_>, _>>();
        let Some(left) = self.left.get().checked_sub(1).filter(|_| depth < CHAIN) else {
            return Ok(Strategy::Opaque(strategy.to_string()));
        };
        self.left.set(left);
        Ok(match strategy {
            Strategy::Named(dotted) => match self.meaning(dotted, from)? {
                Some((path, Meaning::Strategy(found))) => self.strategy(&found, &path, depth + 1)?,
                Some((_, Meaning::Literal(text))) => Strategy::Opaque(text),
                _ => Strategy::Opaque(dotted.clone()),
            },
            Strategy::OneOf(parts) => Strategy::one_of(all(parts)?),
            Strategy::Tuples(parts) => Strategy::Tuples(all(parts)?),
            Strategy::Many { what, of, min, max, rest } => {
                Strategy::Many { what: what.clone(), of: all(of)?, min: *min, max: *max, rest: rest.clone() }
            }
            Strategy::Mapped { of, how, by } => {
                Strategy::Mapped { of: Box::new(self.strategy(of, from, depth)?), how: how.clone(), by: by.clone() }
            }
            Strategy::Call { name, arguments } => self.call(name, arguments, from, depth)?,
            plain => plain.clone(),
        })
    }

    fn call(&self, name: &str, arguments: &[(String, Strategy)], from: &RepoPath, depth: usize) -> Result<Strategy, SnapshotError> {
        let mut linked = Vec::with_capacity(arguments.len());
        for (key, part) in arguments {
            let told = match part {
                Strategy::Value(test) if name == Strategy::BRANCHES => Strategy::Value(self.condition(test, from)?),
                part => self.strategy(part, from, depth)?,
            };
            linked.push((key.clone(), told));
        }
        if !is_dotted(name) || name.starts_with("hypothesis.") {
            return Ok(Strategy::Call { name: name.to_owned(), arguments: linked });
        }
        let Some((path, Meaning::Strategy(Strategy::Call { name: made, arguments: inner }))) = self.meaning(name, from)? else {
            linked.push((Strategy::BEHIND.to_owned(), Strategy::Opaque(name.to_owned())));
            return Ok(Strategy::Call { name: name.to_owned(), arguments: linked });
        };
        for (key, part) in inner {
            linked.push((key, self.strategy(&part, &path, depth + 1)?));
        }
        Ok(Strategy::Call { name: made, arguments: linked })
    }

    /// The table with lists of other modules put in.
    pub(super) fn table(&self, table: &Table, from: &RepoPath) -> Result<Table, SnapshotError> {
        let mut linked = table.clone();
        linked.rest = BTreeSet::new();
        for text in &table.rest {
            match if is_dotted(text) { self.meaning(text, from)? } else { None } {
                Some((path, Meaning::Cases(cases))) => self.put_in(&cases, &path, &mut linked)?,
                _ => drop(linked.rest.insert(text.clone())),
            }
        }
        Ok(linked)
    }

    fn put_in(&self, cases: &Cases, path: &RepoPath, table: &mut Table) -> Result<(), SnapshotError> {
        let (rows, rest) = cases.spread(table.names.len());
        table.rows.extend(rows);
        for text in rest {
            match if is_dotted(&text) { self.meaning(&text, path)? } else { None } {
                Some((_, Meaning::Cases(inner))) if inner.rest.is_empty() => table.rows.extend(inner.spread(table.names.len()).0),
                _ => drop(table.rest.insert(text)),
            }
        }
        Ok(())
    }
}

fn is_dotted(text: &str) -> bool {
    text.contains('.') && text.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '.')
}
