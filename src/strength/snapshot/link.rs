//! Owns the cards of one file: which functions get one, with the domains, fixtures and helpers that other files give.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::digest;
use crate::finding::PropId;
use crate::strength::card::{Call, Card, Kind};
use crate::strength::domain::{Argument, Domain, Origin, Table};
use crate::strength::effort::{Does, Effort, Mark};
use crate::strength::languages::facts::{Function, HelperCall, LOADED, Meaning, Role};
use crate::strength::languages::{Language, Module, Unreadable};
use crate::strength::snapshot::acting::Mocked;
use crate::strength::snapshot::collected::{self, Place};
use crate::strength::snapshot::files::Loads;
use crate::strength::snapshot::resolve::Resolver;
use crate::strength::snapshot::{SnapshotError, files, steps};
use crate::tree::RepoPath;

/// Cells of tables that the cards of one file may hold together.
const CELLS: usize = 1_000_000;

/// Links the facts of one module.
pub(super) struct Linker<'l> {
    pub(super) path: &'l RepoPath,
    pub(super) language: Language,
    pub(super) module: &'l Arc<Module>,
    pub(super) resolver: &'l Resolver<'l>,
    /// Class index -> the class and its bases.
    pub(super) lines: Vec<Vec<Place>>,
    /// Tables of fixtures by name: this file's, then those of the `conftest.py` files above it.
    fixtures: BTreeMap<String, Table>,
    loads: Loads<'l>,
    /// What fixtures do to the tests that use them, by name as above.
    pub(super) acting: BTreeMap<String, Effort>,
    /// What fixtures give, where their text says it: the name of what is called, and the file that says so.
    pub(super) gives: BTreeMap<String, (String, RepoPath)>,
    /// What is known of mocks' targets.
    pub(super) mocked: Mocked,
    /// Class index -> what is known of it with all around it.
    classes: Vec<ClassFacts>,
    /// Bodies of machines that are bound to a test's name.
    machines: BTreeSet<&'l str>,
    left: Cell<usize>,
    /// What keeps every test of a file from running that no other file declares as its module.
    unlinked: Option<Mark>,
}

/// What is known of a class with its bases and the classes around it.
struct ClassFacts {
    /// Whether the runner looks into it.
    collected: bool,
    /// What their marks declare.
    domain: Domain,
}

impl<'l> Linker<'l> {
    pub(super) fn new(path: &'l RepoPath, module: &'l Arc<Module>, resolver: &'l Resolver<'l>) -> Result<Self, SnapshotError> {
        let bound = module.functions.iter().filter(|f| f.role == Role::Machine);
        let mut linker = Linker {
            path,
            language: Language::of(path).unwrap_or(Language::Python),
            unlinked: None,
            module,
            resolver,
            lines: Vec::new(),
            fixtures: BTreeMap::new(),
            loads: Loads::new(resolver.source),
            acting: BTreeMap::new(),
            gives: BTreeMap::new(),
            mocked: Mocked::default(),
            classes: Vec::new(),
            machines: bound.map(|f| f.body_sha256.as_str()).filter(|sha| !sha.is_empty()).collect(),
            left: Cell::new(CELLS),
        };
        for at in 0..module.classes.len() {
            linker.lines.push(collected::lineage(&Place { path: path.clone(), module: module.clone(), at }, resolver)?);
            let facts = linker.class_facts(at)?;
            linker.classes.push(facts);
        }
        linker.unlinked = linker.unlinked()?;
        if linker.is_collected() {
            (linker.acting, linker.gives) = linker.acting()?;
        }
        if linker.is_collected() && module.functions.iter().any(|f| !f.parameters.is_empty()) {
            linker.fixtures = linker.all_fixtures()?;
        }
        Ok(linker)
    }

    /// Outer classes come first, so theirs are known.
    fn class_facts(&self, at: usize) -> Result<ClassFacts, SnapshotError> {
        let line = &self.lines[at];
        let outer = self.module.classes[at].outer.and_then(|outer| self.classes.get(outer));
        let mut domain = Domain::default();
        for part in line.iter().map(|p| &p.class().domain).chain(outer.map(|o| &o.domain)) {
            self.join(&mut domain, part)?;
        }
        Ok(ClassFacts { collected: collected::is_class(line) && outer.is_none_or(|o| o.collected), domain })
    }

    /// Adds to a domain, within what the cards of one file may hold.
    fn join(&self, domain: &mut Domain, part: &Domain) -> Result<(), SnapshotError> {
        self.spend(part.tables.iter().map(|t| t.rows.len() * t.names.len() + 1).sum())?;
        domain.tables.extend(part.tables.iter().cloned());
        domain.arguments.extend(part.arguments.iter().cloned());
        domain.unread.extend(part.unread.iter().cloned());
        Ok(())
    }

    fn spend(&self, cells: usize) -> Result<(), SnapshotError> {
        let left = self.left.get().checked_sub(cells).ok_or_else(|| SnapshotError::Unreadable {
            path: self.path.clone(),
            why: Unreadable { line: 1, says: format!("its cards would hold more than {CELLS} inputs") },
        })?;
        self.left.set(left);
        Ok(())
    }

    fn class_of(&self, class: Option<usize>) -> Option<&ClassFacts> {
        class.and_then(|at| self.classes.get(at))
    }

    /// One card for each function, in no order; an id may come twice.
    pub(super) fn cards(&self) -> Result<Vec<Card>, SnapshotError> {
        let mut cards = Vec::new();
        for function in &self.module.functions {
            if let Some(kind) = self.kind(function) {
                let id = self.id(&self.outer(function.class, &function.name));
                cards.push(self.card(id, kind, function, (self.path, function.class))?);
            }
        }
        for (at, line) in self.lines.iter().enumerate().filter(|(_, line)| line.len() > 1) {
            cards.extend(self.inherited(at, line)?);
        }
        if self.language.names_are_carded(self.path) && self.resolver.source.is_test(self.path) {
            cards.extend(self.names()?);
        }
        Ok(cards)
    }

    fn is_collected(&self) -> bool {
        self.language.collects(self.path)
    }

    /// A module in a file of its own runs where a file declares it; where none of those is there that could, who declares it is not known.
    fn unlinked(&self) -> Result<Option<Mark>, SnapshotError> {
        let mut parent = None;
        for (path, name) in self.language.parents(self.path) {
            let Some(module) = self.resolver.module(&path)?.filter(|_| path != *self.path) else { continue };
            if module.links.contains_key(&name) || module.links.values().flatten().any(|at| at.as_bytes().ends_with(self.path.name())) {
                return Ok(None);
            }
            parent.get_or_insert(path);
        }
        Ok(parent.map(|path| Mark { does: Does::Skip, when: Some(format!("{path} does not declare its module")), row: None }))
    }

    fn id(&self, name: &str) -> PropId {
        PropId(format!("{}::{name}", self.path))
    }

    /// `Outer::Inner::name`.
    fn outer(&self, class: Option<usize>, name: &str) -> String {
        let mut names = vec![name];
        let mut at = class;
        while let Some(class) = at.and_then(|at| self.module.classes.get(at)) {
            names.push(&class.name);
            at = class.outer;
        }
        names.reverse();
        names.join("::")
    }

    /// The classes around a function, innermost first.
    pub(super) fn around(&self, class: Option<usize>) -> Vec<usize> {
        let mut all = Vec::new();
        let mut at = class;
        while let Some(index) = at {
            all.push(index);
            at = self.module.classes.get(index).and_then(|c| c.outer);
        }
        all
    }

    /// What the card of a function is; `None` when it gets none.
    fn kind(&self, function: &Function) -> Option<Kind> {
        let source = self.resolver.source;
        if function.role == Role::Example && (source.is_test(self.path) || !self.language.runs_examples(self.path)) {
            return None;
        }
        let properties = source.is_property_path(self.path);
        let carded = properties || source.is_test(self.path) || function.is_test_side;
        let around = self.class_of(function.class);
        let declared = function.domain.is_declared() || around.is_some_and(|c| c.domain.is_declared());
        let run = self.is_collected() && !self.module.disabled && !function.disabled && around.is_none_or(|c| c.collected);
        if run && collected::is_runnable(function, self.language) {
            return Some(if properties || declared { Kind::Property } else { Kind::Test });
        }
        if !carded {
            return None;
        }
        let plain = matches!(function.role, Role::Plain | Role::Assigned);
        if plain && !function.disabled && (self.language.is_property_name(&function.name) || (run && function.domain.is_declared())) {
            return Some(Kind::Property);
        }
        let checks = !function.assertions.is_empty() || function.checks > 0;
        let leaned_on = match function.role {
            Role::Fixture => !self.is_collected() || checks,
            Role::Rules => !self.machines.contains(function.body_sha256.as_str()),
            Role::Plain => (checks || function.domain.is_declared()) && !self.language.is_test_name(&function.name),
            Role::Assigned | Role::Machine | Role::Test | Role::Example => false,
        };
        leaned_on.then_some(Kind::Support)
    }

    fn card(
        &self,
        prop_id: PropId,
        kind: Kind,
        function: &Function,
        (home, class): (&RepoPath, Option<usize>),
    ) -> Result<Card, SnapshotError> {
        let mut files = self.loads.named(&function.literals, home)?;
        files.extend(files::bound(&prop_id.0, self.resolver.source)?);
        let fixture_sha256 = match files.len() {
            0 => None,
            1 => files.values().next().cloned(),
            _ => Some(digest::over(files.iter().map(|(path, sha)| (path.as_bytes(), sha.as_str())))),
        };
        let domain = self.domain(function, home, class)?;
        let mut effort = self.effort(kind, function, class, home)?;
        effort.marks = self.resolver.marks(std::mem::take(&mut effort.marks), home)?;
        effort.marks.extend(self.unlinked.clone().filter(|_| kind != Kind::Support));
        let mut calls = Vec::new();
        for call in &function.calls {
            let Some((helper, marks)) = self.helper(call, function, home)? else { continue };
            effort.marks.extend(marks.into_iter().map(|mark| on_the_way(mark, &helper)));
            calls.push(helper);
        }
        let (assertions, claims) = steps::counted(function, self.resolver.source.settings().unwrap);
        Ok(Card {
            prop_id,
            kind,
            line: function.line,
            domain,
            assertions,
            claims,
            calls,
            parameters: function.parameters.clone(),
            files,
            fixture_sha256,
            effort,
            body_sha256: function.body_sha256.clone(),
        })
    }

    fn domain(&self, function: &Function, home: &RepoPath, class: Option<usize>) -> Result<Domain, SnapshotError> {
        let mut domain = Domain::default();
        self.join(&mut domain, &function.domain)?;
        if let Some(class) = self.class_of(class).filter(|_| function.role != Role::Fixture && self.language.is_test_name(&function.name)) {
            self.join(&mut domain, &class.domain)?;
        }
        let given =
            |name: &String| domain.tables.iter().any(|t| t.names.contains(name)) || domain.arguments.iter().any(|a| a.name == *name);
        // Fixtures that a mark asks for multiply its runs as those do that it takes.
        let of_classes = self.around(class).into_iter().filter_map(|at| self.module.classes.get(at)).flat_map(|class| &class.effort.leads);
        let marked = function.effort.leads.iter().chain(of_classes).filter(|name| !function.parameters.contains(name));
        let names = function.parameters.iter().chain(marked).collect::<BTreeSet<_>>();
        let asked: Vec<Table> = names.into_iter().filter(|p| !given(p)).filter_map(|p| self.fixtures.get(p).cloned()).collect();
        if function.role != Role::Fixture {
            domain.tables.extend(asked);
        }
        for table in &mut domain.tables {
            *table = arranged(&self.resolver.table(table, home)?, &function.parameters);
        }
        for argument in &mut domain.arguments {
            argument.strategy = self.resolver.strategy(&argument.strategy, home, 0)?;
        }
        Ok(domain)
    }

    /// Tests that a class has from its bases, under its own name.
    fn inherited(&self, at: usize, line: &[Place]) -> Result<Vec<Card>, SnapshotError> {
        let (Some(own), Some(class)) = (line.first(), self.classes.get(at)) else { return Ok(Vec::new()) };
        if !self.is_collected() || self.module.disabled || !class.collected {
            return Ok(Vec::new());
        }
        let mut seen: BTreeSet<&str> = own.functions().map(|f| f.name.as_str()).collect();
        let mut cards = Vec::new();
        for base in &line[1..] {
            for function in base.functions().filter(|f| f.role == Role::Plain && !f.disabled && self.language.is_test_name(&f.name)) {
                self.spend(1)?;
                if !seen.insert(&function.name) {
                    continue;
                }
                let id = self.id(&self.outer(Some(at), &function.name));
                let declared = function.domain.is_declared() || class.domain.is_declared();
                let property = declared || self.resolver.source.is_property_path(self.path);
                let kind = if property { Kind::Property } else { Kind::Test };
                let card = self.card(id, kind, function, (&base.path, Some(at)))?;
                cards.push(Card { line: own.class().line, ..card });
            }
        }
        Ok(cards)
    }

    fn all_fixtures(&self) -> Result<BTreeMap<String, Table>, SnapshotError> {
        let tables = |module: &Module, path: &RepoPath| -> Result<Vec<(String, Table)>, SnapshotError> {
            let fixtures = module.functions.iter().filter(|f| f.role == Role::Fixture);
            fixtures.flat_map(|f| f.domain.tables.iter().map(|t| Ok((f.name.clone(), self.resolver.table(t, path)?)))).collect()
        };
        let mut found: BTreeMap<String, Table> = tables(self.module, self.path)?.into_iter().collect();
        for path in self.language.shared(self.path) {
            if let Some(module) = self.resolver.module(&path)? {
                for (name, table) in tables(&module, &path)? {
                    found.entry(name).or_insert(table);
                }
            }
        }
        Ok(found)
    }

    /// A call of a function that has a card here or in another file, and what the function does to the test that calls it.
    fn helper(&self, call: &HelperCall, caller: &Function, home: &RepoPath) -> Result<Option<(Call, BTreeSet<Mark>)>, SnapshotError> {
        let (path, module, name, class) = if let Some(method) = call.callee.strip_prefix("self.") {
            (home.clone(), self.module.clone(), method.to_owned(), caller.class)
        } else if call.callee.contains('.') {
            let Some((path, module, name)) = self.resolver.home(&call.callee, home)? else { return Ok(None) };
            (path, module, name, None)
        } else {
            (home.clone(), self.module.clone(), call.callee.clone(), None)
        };
        let mut class = class;
        let mut found = self.resolver.function(&path, &module, class, &name);
        // A name that the class, or the module inside the file, does not give is one of what is around it.
        while let (None, Some(at), true) = (found, class, self.language.is_beside_code()) {
            class = module.classes.get(at).and_then(|around| around.outer);
            found = self.resolver.function(&path, &module, class, &name);
        }
        let Some(helper) = found else { return Ok(None) };
        let id = if class.is_some() { self.id(&self.outer(class, &name)) } else { PropId(format!("{path}::{name}")) };
        let mut arguments: BTreeMap<String, String> = helper.parameters.iter().cloned().zip(call.positional.iter().cloned()).collect();
        arguments.extend(call.keywords.clone());
        let acts = self.resolver.source.is_test(&path) || helper.is_test_side;
        let marks = helper.effort.marks.iter().filter(|mark| acts && mark.row.is_none()).cloned().collect();
        Ok(Some((Call { callee: id, arguments, setup: call.setup.clone() }, marks)))
    }

    /// Strategies and tables that other files use by name.
    fn names(&self) -> Result<Vec<Card>, SnapshotError> {
        let mut cards = Vec::new();
        for (name, told) in &self.module.names {
            let (mut domain, mut effort) = (Domain::default(), Effort::default());
            match &told.meaning {
                Meaning::Settings(budget) => {
                    effort.budget = self.budget(budget, self.path)?;
                    effort.everywhere = name.starts_with(LOADED);
                }
                Meaning::Strategy(strategy) => {
                    let strategy = self.resolver.strategy(strategy, self.path, 0)?;
                    domain.arguments.push(Argument { name: name.clone(), strategy });
                }
                Meaning::Cases(cases) if is_constant(name) => {
                    let (rows, rest) = cases.spread(1);
                    let table = Table { origin: Origin::Declared, names: vec![name.clone()], rows, rest };
                    domain.tables.push(self.resolver.table(&table, self.path)?);
                }
                _ => continue,
            }
            cards.push(self.support(name, told.line, domain, effort));
        }
        if self.language.shared(self.path).contains(self.path) {
            let effort = Effort { everywhere: true, ..self.module.effort.clone() };
            let patches = self.replaced(&effort, self.path)?;
            // No function has such a name.
            let of_import = (!patches.is_empty()).then(|| Effort { patches, everywhere: true, ..Effort::default() });
            cards.extend(of_import.map(|effort| self.support("import", 1, Domain::default(), effort)));
        }
        Ok(cards)
    }

    /// A card of what is no function.
    fn support(&self, name: &str, line: u32, domain: Domain, effort: Effort) -> Card {
        Card {
            prop_id: self.id(name),
            kind: Kind::Support,
            line,
            body_sha256: digest::sha256_hex(&serde_json::to_vec(&domain).unwrap_or_default()),
            domain,
            assertions: Vec::new(),
            claims: Vec::new(),
            calls: Vec::new(),
            parameters: Vec::new(),
            files: BTreeMap::new(),
            fixture_sha256: None,
            effort,
        }
    }
}

/// What a helper does to its caller, under the conditions of the call.
fn on_the_way(mark: Mark, call: &Call) -> Mark {
    let conditions = call.setup.iter().filter_map(|line| line.strip_prefix("if ")).map(str::to_owned).chain(mark.when.clone());
    let all = conditions.collect::<Vec<_>>().join(" and ");
    Mark { when: Some(all).filter(|text| !text.is_empty()), ..mark }
}

fn is_constant(name: &str) -> bool {
    name.chars().any(char::is_alphabetic) && !name.chars().any(char::is_lowercase)
}

/// The table with its columns in the order of the function's parameters; nameless columns get the parameters' names.
fn arranged(table: &Table, parameters: &[String]) -> Table {
    let mut table = table.clone();
    for (at, name) in table.names.iter_mut().enumerate().filter(|(_, name)| name.is_empty()) {
        *name = parameters.get(at).cloned().unwrap_or_else(|| format!("argument[{at}]"));
    }
    let place = |name: &String| parameters.iter().position(|p| p == name);
    if table.origin == Origin::Loop || !table.names.iter().all(|n| place(n).is_some()) {
        return table;
    }
    let mut order: Vec<usize> = (0..table.names.len()).collect();
    order.sort_by_key(|at| place(&table.names[*at]));
    let pick = |row: &Vec<String>| order.iter().filter_map(|at| row.get(*at).cloned()).collect::<Vec<String>>();
    table.rows = table.rows.iter().map(pick).collect();
    table.names = pick(&table.names);
    table
}
