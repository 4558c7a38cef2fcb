//! Owns what acts on a test from outside of it: marks of its classes and module, fixtures, shared settings; and which mocks are of production.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use rustc_hash::FxHashMap;

use crate::strength::card::Kind;
use crate::strength::effort::{Budget, Effort};
use crate::strength::languages::Module;
use crate::strength::languages::facts::{Function, Meaning, Name, Role};
use crate::strength::snapshot::SnapshotError;
use crate::strength::snapshot::link::Linker;
use crate::tree::RepoPath;

/// How many settings objects or names may lead to one another.
const CHAIN: usize = 8;
/// Files of a crate that are looked at for a function of one name.
const SUBJECTS: usize = 64;

/// What was found of the targets of mocks: many tests replace the same objects.
#[derive(Default)]
pub(super) struct Mocked {
    /// By target and the file that names it.
    production: RefCell<FxHashMap<(RepoPath, String), Option<Rc<Production>>>>,
    /// Whether the second file imports from the first.
    imports: RefCell<FxHashMap<(RepoPath, RepoPath), bool>>,
}

/// An object of production code.
struct Production {
    /// The files through which it is named; the last one defines it.
    through: Vec<RepoPath>,
    name: String,
}

impl Production {
    fn id(&self) -> String {
        self.through.last().map_or_else(|| self.name.clone(), |path| format!("{path}::{}", self.name))
    }
}

/// What fixtures do by name, and what they give by name with the file that says so.
pub(super) type Acting = (BTreeMap<String, Effort>, BTreeMap<String, (String, RepoPath)>);

impl Linker<'_> {
    /// The wider fields of a function's card.
    pub(super) fn effort(&self, kind: Kind, function: &Function, class: Option<usize>, home: &RepoPath) -> Result<Effort, SnapshotError> {
        let mut effort = Effort { budget: self.budget(&function.effort.budget, home)?, ..function.effort.clone() };
        effort.patches = self.replaced(&function.effort, home)?;
        effort.patches.extend(self.replaced_in(function)?);
        effort.patches.extend(self.copied(function)?);
        self.led(&std::mem::take(&mut effort.leads), home, &mut effort)?;
        if kind == Kind::Support {
            return Ok(effort);
        }
        for place in self.around(class).iter().filter_map(|at| self.lines.get(*at)).flatten() {
            let of = &place.class().effort;
            effort.budget.under(self.budget(&of.budget, &place.path)?);
            effort.marks.extend(of.marks.iter().cloned());
            effort.patches.extend(self.replaced(of, &place.path)?);
            self.led(&of.leads, &place.path, &mut effort)?;
        }
        self.led(&self.module.effort.leads, self.path, &mut effort)?;
        effort.budget.under(self.budget(&self.module.effort.budget, self.path)?);
        effort.marks.extend(self.module.effort.marks.iter().cloned());
        effort.patches.extend(self.replaced(&self.module.effort, self.path)?);
        for (_, fixture) in self.acting.iter().filter(|(name, acts)| acts.everywhere || function.parameters.contains(name)) {
            effort.marks.extend(fixture.marks.iter().cloned());
            effort.patches.extend(fixture.patches.iter().cloned());
        }
        Ok(effort)
    }

    /// Functions of production code in whose place the test calls a copy: of its own file, or of the crate that it tests.
    fn copied(&self, function: &Function) -> Result<BTreeSet<String>, SnapshotError> {
        let mut copied = BTreeSet::new();
        if function.copies.is_empty() || !function.is_test_side {
            return Ok(copied);
        }
        if !self.resolver.source.is_test(self.path) {
            return Ok(function.copies.iter().map(|name| format!("{}::{name}", self.path)).collect());
        }
        for path in self.language.subjects(self.path) {
            let Some(module) = self.resolver.module(&path)? else { continue };
            let linked = module.links.iter().flat_map(|(name, at)| self.language.linked(&path, name, at.as_deref()));
            let mut files = vec![path.clone()];
            files.extend(linked.take(SUBJECTS));
            for file in files {
                let Some(module) = self.resolver.module(&file)? else { continue };
                let both = function.copies.iter().filter(|name| module.signatures.contains_key(*name));
                copied.extend(both.map(|name| format!("{file}::{name}")));
            }
        }
        Ok(copied)
    }

    /// Adds what names bring: fixtures by their own name, decorators and marks of other modules by a dotted one.
    fn led(&self, names: &BTreeSet<String>, from: &RepoPath, effort: &mut Effort) -> Result<(), SnapshotError> {
        for name in names {
            if let Some(fixture) = self.acting.get(name) {
                effort.marks.extend(fixture.marks.iter().cloned());
                effort.patches.extend(fixture.patches.iter().cloned());
            } else if let Some((_, Meaning::Marks(marks))) = self.resolver.meaning(name, from)? {
                effort.marks.extend(marks);
            }
        }
        Ok(())
    }

    /// What is replaced of the object that a fixture gives.
    fn replaced_in(&self, function: &Function) -> Result<BTreeSet<String>, SnapshotError> {
        let mut replaced = BTreeSet::new();
        for target in &function.effort.patches {
            let (root, rest) = target.split_once('.').map_or((target.as_str(), ""), |(root, rest)| (root, rest));
            let Some((given, from)) = self.gives.get(root).filter(|_| function.parameters.iter().any(|p| p == root)) else { continue };
            let dotted = if rest.is_empty() { given.clone() } else { format!("{given}.{rest}") };
            replaced.extend(self.production(&dotted, from)?.map(|found| found.id()));
        }
        Ok(replaced)
    }

    /// What each fixture of this file, and of the `conftest.py` files above it, does to tests.
    pub(super) fn acting(&self) -> Result<Acting, SnapshotError> {
        let mut found = Acting::default();
        self.fixtures_of(self.module, self.path, &mut found)?;
        for path in self.language.shared(self.path) {
            if let Some(module) = self.resolver.module(&path)? {
                self.fixtures_of(&module, &path, &mut found)?;
                // What a conftest replaces by its own statements is replaced for every test under it; no fixture has such a name.
                let patches =
                    self.replaced(&Effort { patches: module.effort.patches.clone(), everywhere: true, ..Effort::default() }, &path)?;
                let everywhere = !patches.is_empty();
                found.0.extend(everywhere.then(|| (format!("{path}::"), Effort { patches, everywhere, ..Effort::default() })));
            }
        }
        Ok(found)
    }

    fn fixtures_of(&self, module: &Module, path: &RepoPath, found: &mut Acting) -> Result<(), SnapshotError> {
        for fixture in module.functions.iter().filter(|f| f.role == Role::Fixture) {
            if !found.0.contains_key(&fixture.name) {
                let effort = Effort { patches: self.replaced(&fixture.effort, path)?, ..fixture.effort.clone() };
                found.0.insert(fixture.name.clone(), effort);
                found.1.extend(fixture.gives.clone().map(|given| (fixture.name.clone(), (given, path.clone()))));
            }
        }
        Ok(())
    }

    /// The budget with settings of other modules put in; what they are not is left out.
    pub(super) fn budget(&self, budget: &Budget, from: &RepoPath) -> Result<Budget, SnapshotError> {
        let mut linked = Budget { set: budget.set.clone(), of: Vec::new() };
        let mut open: Vec<(String, RepoPath)> = budget.of.iter().map(|name| (name.clone(), from.clone())).collect();
        for _ in 0..CHAIN {
            let Some((name, from)) = open.pop() else { break };
            if let Some((path, Meaning::Settings(found))) = self.resolver.meaning(&name, &from)? {
                open.extend(found.of.iter().map(|next| (next.clone(), path.clone())));
                linked.under(Budget { set: found.set, of: Vec::new() });
            }
        }
        Ok(linked)
    }

    /// What is replaced of production code that the tests of this file, or those of the file that replaces it, import.
    pub(super) fn replaced(&self, effort: &Effort, home: &RepoPath) -> Result<BTreeSet<String>, SnapshotError> {
        let mut replaced = BTreeSet::new();
        for target in &effort.patches {
            let Some(found) = self.production(target, home)? else { continue };
            let mut asked = effort.everywhere;
            for path in &found.through {
                asked = asked || self.imports_from(path, home)? || self.imports_from(path, self.path)?;
            }
            replaced.extend(asked.then(|| found.id()));
        }
        Ok(replaced)
    }

    /// What a dotted name says, when production code defines it.
    fn production(&self, target: &str, home: &RepoPath) -> Result<Option<Rc<Production>>, SnapshotError> {
        let key = (home.clone(), target.to_owned());
        if let Some(known) = self.mocked.production.borrow().get(&key) {
            return Ok(known.clone());
        }
        let found = self.defined(target, home)?.map(Rc::new);
        self.mocked.production.borrow_mut().insert(key, found.clone());
        Ok(found)
    }

    fn defined(&self, target: &str, home: &RepoPath) -> Result<Option<Production>, SnapshotError> {
        let (mut target, mut from) = (target.to_owned(), home.clone());
        let mut through = Vec::new();
        for _ in 0..CHAIN {
            let Some((path, first, rest)) = self.definition(&target, &from)? else { return Ok(None) };
            let module = self.resolver.module(&path)?;
            let is_production = !self.resolver.source.is_test(&path);
            through.extend(is_production.then(|| path.clone()));
            let imported = module.as_ref().and_then(|module| match module.names.get(&first) {
                Some(Name { meaning: Meaning::Imported(next), .. }) => Some(next.clone()),
                _ => None,
            });
            let Some(next) = imported else {
                let name = if rest.is_empty() { first } else { format!("{first}.{rest}") };
                return Ok(is_production.then_some(Production { through, name }));
            };
            (target, from) = (if rest.is_empty() { next } else { format!("{next}.{rest}") }, path);
        }
        Ok(None)
    }

    /// The file of the longest module that a dotted name starts with, the name in it, and what follows.
    fn definition(&self, dotted: &str, from: &RepoPath) -> Result<Option<(RepoPath, String, String)>, SnapshotError> {
        let mut head = dotted;
        for _ in 0..CHAIN {
            if let Some((path, _, name)) = self.resolver.home(head, from)? {
                let rest = dotted[head.len()..].trim_start_matches('.').to_owned();
                return Ok(Some((path, name, rest)));
            }
            let Some((shorter, _)) = head.rsplit_once('.') else { return Ok(None) };
            head = shorter;
        }
        Ok(None)
    }

    fn imports_from(&self, path: &RepoPath, file: &RepoPath) -> Result<bool, SnapshotError> {
        let key = (path.clone(), file.clone());
        if let Some(known) = self.mocked.imports.borrow().get(&key) {
            return Ok(*known);
        }
        let imports = self.names_from(path, file)?;
        self.mocked.imports.borrow_mut().insert(key, imports);
        Ok(imports)
    }

    fn names_from(&self, path: &RepoPath, file: &RepoPath) -> Result<bool, SnapshotError> {
        let Some(module) = self.resolver.module(file)? else { return Ok(false) };
        for name in module.names.values() {
            let Meaning::Imported(dotted) = &name.meaning else { continue };
            let named = self.production(dotted, file)?.is_some_and(|found| found.through.contains(path));
            if named || self.resolver.home(&format!("{dotted}.x"), file)?.is_some_and(|(home, ..)| home == *path) {
                return Ok(true);
            }
        }
        Ok(false)
    }
}
