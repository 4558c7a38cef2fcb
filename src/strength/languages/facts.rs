//! Owns the facts of one module: what its bytes alone tell of its functions, classes and names.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::strength::card::{Assertion, Claim};
use crate::strength::domain::{Domain, Strategy};
use crate::strength::effort::{Budget, Effort, Mark};
use crate::strength::signature::Signature;

/// In a text that names a file: the place of the module itself; each `/..` after it goes up once.
pub const HERE: &str = "@file";

/// How the name starts under which a module tells the settings profile that it loads for everything.
pub const LOADED: &str = "settings.load_profile";

/// What can be told of one file from its bytes alone (no path, no other file): immutable for a blob id, so it can be cached.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Module {
    /// Functions that can be cards, or that cards lean on.
    pub functions: Vec<Function>,
    /// Classes, outer ones first.
    pub classes: Vec<Class>,
    /// Names that other modules may ask for.
    pub names: BTreeMap<String, Name>,
    /// What its functions and classes must be given.
    #[serde(default)]
    pub signatures: BTreeMap<String, Signature>,
    /// Modules in files of their own that this one declares: the dotted name, and the path where one is given.
    #[serde(default)]
    pub links: BTreeMap<String, Option<String>>,
    /// The module tells the runner to collect nothing from it.
    pub disabled: bool,
    /// What acts on each test of the module.
    #[serde(default)]
    pub effort: Effort,
}

/// One function or method, or what a runner treats as one.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Function {
    /// Its own name.
    pub name: String,
    /// Index of the class that holds it.
    pub class: Option<usize>,
    /// 1-based line of the definition.
    pub line: u32,
    /// What it is to the runner.
    pub role: Role,
    /// It stands in test code, whatever side its file is on.
    #[serde(default)]
    pub is_test_side: bool,
    /// Parameters without the instance.
    pub parameters: Vec<String>,
    /// The declared domain; names of other modules are still names.
    pub domain: Domain,
    /// Assertions at every depth.
    pub assertions: Vec<Assertion>,
    /// What they demand.
    pub claims: Vec<Claim>,
    /// Calls that could be of check helpers.
    pub calls: Vec<HelperCall>,
    /// Other checks: methods of unittest, `raises`.
    pub checks: u32,
    /// Texts that could name a file.
    pub literals: BTreeSet<String>,
    /// SHA-256 of the canonical body.
    pub body_sha256: String,
    /// The function tells the runner not to collect it.
    pub disabled: bool,
    /// Names that it calls and that test code defines, where production code may define them too.
    #[serde(default)]
    pub copies: BTreeSet<String>,
    /// Of a fixture: the name of what it calls for the object that it gives.
    #[serde(default)]
    pub gives: Option<String>,
    /// Its wider facts; targets of mocks and settings of other modules are still names.
    #[serde(default)]
    pub effort: Effort,
}

/// What a function is to the runner.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Defined by `def`.
    #[default]
    Plain,
    /// A test, because it says so itself.
    Test,
    /// A test in documentation, where the runner looks for those in a file of its path.
    Example,
    /// A fixture; the name is the fixture's.
    Fixture,
    /// Bound to the result of a call: what it checks cannot be read.
    Assigned,
    /// A state machine by itself.
    Rules,
    /// The test case of a state machine.
    Machine,
}

/// A call of a function by name, as a statement of its own.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HelperCall {
    /// Name with import aliases resolved; a leading dot for each level of a relative import.
    pub callee: String,
    /// Positional arguments.
    pub positional: Vec<String>,
    /// Keyword arguments.
    pub keywords: BTreeMap<String, String>,
    /// As of a claim.
    pub setup: Vec<Arc<str>>,
}

/// One class.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Class {
    /// Its own name.
    pub name: String,
    /// Index of the class around it.
    pub outer: Option<usize>,
    /// 1-based line.
    pub line: u32,
    /// Bases, import aliases resolved.
    pub bases: Vec<String>,
    /// Defines `__init__` or `__new__`.
    pub has_init: bool,
    /// `__test__`, where it is set.
    pub collect: Option<bool>,
    /// What its marks declare for every test in it.
    pub domain: Domain,
    /// Indices of the functions of its own body.
    pub functions: Vec<usize>,
    /// What acts on each test in it.
    #[serde(default)]
    pub effort: Effort,
}

/// A name of a module.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Name {
    /// 1-based line; not compared.
    pub line: u32,
    /// What it stands for.
    pub meaning: Meaning,
}

/// What a name stands for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Meaning {
    /// A strategy, or a function that makes one.
    Strategy(Strategy),
    /// A list of cases.
    Cases(Cases),
    /// A settings object, or a profile of them.
    Settings(Budget),
    /// What a decorator or mark of this name does to tests.
    Marks(BTreeSet<Mark>),
    /// Something of another module.
    Imported(String),
    /// A literal that is no list.
    Literal(String),
    /// A condition.
    Condition(String),
}

/// A list of cases whose argument names are not known yet.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Cases {
    /// The rows.
    pub rows: Vec<Row>,
    /// Canonical text of the parts that are not read as rows.
    pub rest: BTreeSet<String>,
}

/// One row.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Row {
    /// The row as one value.
    pub whole: String,
    /// Its parts, when it has parts.
    pub cells: Vec<String>,
}

impl Cases {
    /// The rows of one name that stands in a list of names: each row holds the value.
    pub fn opened(&self) -> (BTreeSet<Vec<String>>, BTreeSet<String>) {
        let value = |row: &Row| vec![if let [one] = row.cells.as_slice() { one.clone() } else { row.whole.clone() }];
        (self.rows.iter().map(value).collect(), self.rest.clone())
    }

    /// The rows for so many names, and what is not read as rows.
    pub fn spread(&self, width: usize) -> (BTreeSet<Vec<String>>, BTreeSet<String>) {
        let mut rows = BTreeSet::new();
        let mut rest = self.rest.clone();
        for row in &self.rows {
            if width == 1 {
                rows.insert(vec![row.whole.clone()]);
            } else if row.cells.len() == width {
                rows.insert(row.cells.clone());
            } else {
                rest.insert(row.whole.clone());
            }
        }
        (rows, rest)
    }
}
