//! Owns `.seedgate/config.toml` and where Seedgate's files lie.

mod defaults;
pub mod glob;
mod layout;
pub mod rules;
pub mod runner;

use std::collections::BTreeMap;

use serde::Deserialize;
use toml::Spanned;

use glob::{Glob, IdGlob};
pub use layout::Layout;
use rules::Rules;
use runner::RunnerSettings;

/// Most globs in one list, and most entries of `[fixtures.bind]`.
const MOST: usize = 1_000;

/// The team's policy, read from the base tree.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// Globs of paths in which every function is a property (besides `prop_*` and declared domains).
    pub properties: Vec<String>,
    /// `[fixtures.bind]`: id glob -> fixture paths.
    pub bind: BTreeMap<String, Vec<String>>,
    /// `[sides]`: the lists that replace a default list.
    pub sides: SideLists,
    /// `[merge] target`: the branch that merges go to.
    pub merge_target: Option<String>,
    /// `[rules]`: the levels of rules.
    pub rules: Rules,
    /// `[ledger] quarantine`: so many quarantined rows block, whether somebody settled them or not.
    pub quarantine: usize,
    /// `[freeze] days`: most days from the day a token is issued to the expiry of its freeze.
    pub freeze_days: u32,
    /// `[checks] unwrap`: what a step counts as that must succeed.
    pub unwrap: Steps,
    /// `[worker]`: how properties are run.
    pub worker: WorkerSettings,
    /// `[runner]`: where jobs run.
    pub runner: RunnerSettings,
}

/// What a statement counts as that only must succeed: `f().unwrap();`, `f().expect("…");`, `f()?;`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Steps {
    /// A condition that is held, and no assertion.
    #[default]
    Hold,
    /// An assertion like any other.
    Count,
    /// Nothing.
    Off,
}

/// `[worker]`: what runs the properties, and where its code is found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WorkerSettings {
    /// The interpreter: a name on PATH, or a path, taken from the top of the work tree.
    pub python: Option<String>,
    /// Folders of the tree from which modules are imported; `None` is the root and `src`.
    pub path: Option<Vec<String>>,
}

/// The lists of globs of `[sides]`; one that is absent is the default list.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SideLists {
    policy: Option<Vec<String>>,
    record: Option<Vec<String>>,
    fixture: Option<Vec<String>>,
    harness: Option<Vec<String>>,
    test: Option<Vec<String>>,
    neutral: Option<Vec<String>>,
}

impl SideLists {
    /// Globs of Seedgate's own policy.
    pub fn policy(&self) -> Vec<&str> {
        pick(self.policy.as_ref(), defaults::POLICY)
    }

    /// Globs of Seedgate's own records and waivers.
    pub fn record(&self) -> Vec<&str> {
        pick(self.record.as_ref(), defaults::RECORD)
    }

    /// Globs of the bytes that tests load.
    pub fn fixture(&self) -> Vec<&str> {
        pick(self.fixture.as_ref(), defaults::FIXTURE)
    }

    /// Globs of test runners' configuration.
    pub fn harness(&self) -> Vec<&str> {
        pick(self.harness.as_ref(), defaults::HARNESS)
    }

    /// Globs of test code.
    pub fn test(&self) -> Vec<&str> {
        pick(self.test.as_ref(), defaults::TEST)
    }

    /// Globs of what never mixes.
    pub fn neutral(&self) -> Vec<&str> {
        pick(self.neutral.as_ref(), defaults::NEUTRAL)
    }
}

fn pick<'a>(list: Option<&'a Vec<String>>, default: &[&'static str]) -> Vec<&'a str> {
    list.map_or_else(|| default.to_vec(), |list| list.iter().map(String::as_str).collect())
}

impl Default for Settings {
    fn default() -> Self {
        let properties = defaults::PROPERTIES.iter().map(|glob| (*glob).to_owned()).collect();
        Settings {
            properties,
            bind: BTreeMap::new(),
            sides: SideLists::default(),
            merge_target: None,
            rules: Rules::default(),
            quarantine: defaults::QUARANTINE,
            freeze_days: defaults::FREEZE_DAYS,
            unwrap: Steps::default(),
            worker: WorkerSettings::default(),
            runner: RunnerSettings::default(),
        }
    }
}

/// Why a configuration was not taken.
#[derive(Debug, thiserror::Error)]
pub enum SettingsError {
    /// Not TOML, an unknown key, a wrong type, a bad glob: with its line.
    #[error("{path}:{line}: {says}")]
    Bad {
        /// File.
        path: String,
        /// 1-based line.
        line: usize,
        /// What is wrong and what to do.
        says: String,
    },
}

impl Settings {
    /// Where the policy lies in every tree.
    pub const PATH: &'static str = ".seedgate/config.toml";

    /// The other file of the policy: who may sign.
    pub const SIGNERS: &'static str = ".seedgate/allowed_signers";

    /// The one schema that is read.
    pub const SCHEMA: &'static str = "seedgate.config/1";

    /// Most bytes of a configuration.
    pub const MOST_BYTES: u64 = 256 * 1024;

    /// Why no configuration can be where something else than a file stands.
    pub fn no_file(what: &str) -> SettingsError {
        bad(1, format!("it is {what}, and the policy is read only from a file; put the file itself here"))
    }

    /// Reads a configuration from a file's bytes.
    ///
    /// # Errors
    /// [`SettingsError::Bad`] with the line.
    pub fn read(bytes: &[u8]) -> Result<Self, SettingsError> {
        if bytes.len() as u64 > Self::MOST_BYTES {
            return Err(bad(
                1,
                format!("the file has {} bytes, more than the {} that are read; shorten it", bytes.len(), Self::MOST_BYTES),
            ));
        }
        match std::str::from_utf8(bytes) {
            Ok(text) => Self::parse(text),
            Err(error) => {
                let line = line_at(bytes, error.valid_up_to());
                Err(bad(line, "the file is not UTF-8 here; save it as UTF-8".to_owned()))
            }
        }
    }

    /// Reads a configuration.
    ///
    /// # Errors
    /// [`SettingsError::Bad`] with the line.
    pub fn parse(text: &str) -> Result<Self, SettingsError> {
        let reader = Reader { text };
        let head: Head = reader.toml()?;
        reader.schema(head.schema.as_ref())?;
        let file: File = reader.toml()?;
        let sides = file.sides.unwrap_or_default();
        Ok(Settings {
            properties: reader.globs(file.properties)?.unwrap_or_else(|| Settings::default().properties),
            bind: reader.bind(file.fixtures.unwrap_or_default().bind)?,
            sides: SideLists {
                policy: reader.globs(sides.policy)?,
                record: reader.globs(sides.record)?,
                fixture: reader.globs(sides.fixture)?,
                harness: reader.globs(sides.harness)?,
                test: reader.globs(sides.test)?,
                neutral: reader.globs(sides.neutral)?,
            },
            merge_target: file.merge.and_then(|merge| merge.target).map(|target| reader.branch(&target)).transpose()?,
            rules: reader.rules(file.rules)?,
            quarantine: reader.quarantine(file.ledger.unwrap_or_default())?,
            freeze_days: reader.freeze_days(file.freeze.unwrap_or_default())?,
            unwrap: file.checks.unwrap_or_default().unwrap,
            worker: reader.worker(file.worker.unwrap_or_default())?,
            runner: reader.runner(file.runner.unwrap_or_default())?,
        })
    }
}

/// What is read before the rest, so that a newer schema is named as such and not as an unknown key.
#[derive(Deserialize)]
struct Head {
    schema: Option<Spanned<String>>,
}

type Texts = Option<Vec<Spanned<String>>>;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(rename = "schema")]
    _schema: String,
    properties: Texts,
    sides: Option<SidesTable>,
    fixtures: Option<FixturesTable>,
    merge: Option<MergeTable>,
    rules: Option<rules::Table>,
    ledger: Option<LedgerTable>,
    freeze: Option<FreezeTable>,
    checks: Option<ChecksTable>,
    worker: Option<WorkerTable>,
    runner: Option<runner::RunnerTable>,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct SidesTable {
    policy: Texts,
    record: Texts,
    fixture: Texts,
    harness: Texts,
    test: Texts,
    neutral: Texts,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct FixturesTable {
    #[serde(default)]
    bind: BTreeMap<Spanned<String>, Vec<Spanned<String>>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct MergeTable {
    target: Option<Spanned<String>>,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct LedgerTable {
    quarantine: Option<Spanned<i64>>,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct FreezeTable {
    days: Option<Spanned<i64>>,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct ChecksTable {
    #[serde(default)]
    unwrap: Steps,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct WorkerTable {
    python: Option<Spanned<String>>,
    path: Texts,
}

/// The text, so that every complaint has its line.
struct Reader<'t> {
    text: &'t str,
}

impl Reader<'_> {
    fn toml<T: for<'de> Deserialize<'de>>(&self) -> Result<T, SettingsError> {
        toml::from_str(self.text).map_err(|error| {
            let says = error.message().lines().collect::<Vec<_>>().join("; ");
            let help = if says.contains("unknown field") { "remove the key or correct its spelling" } else { "correct it" };
            self.bad(error.span().map_or(0, |span| span.start), format!("{says}; {help}"))
        })
    }

    fn schema(&self, schema: Option<&Spanned<String>>) -> Result<(), SettingsError> {
        match schema {
            Some(schema) if schema.get_ref() == Settings::SCHEMA => Ok(()),
            Some(schema) => {
                let says = format!(
                    "this seedgate reads schema \"{}\" and not {:?}; use the seedgate that wrote it",
                    Settings::SCHEMA,
                    schema.get_ref()
                );
                Err(self.bad(schema.span().start, says))
            }
            None => Err(self.bad(0, format!("there is no schema; add the line `schema = \"{}\"` at the top", Settings::SCHEMA))),
        }
    }

    fn globs(&self, list: Texts) -> Result<Option<Vec<String>>, SettingsError> {
        let Some(list) = list else { return Ok(None) };
        self.few(list.len(), list.first())?;
        let checked = list.into_iter().map(|glob| match Glob::new(glob.get_ref()) {
            Ok(_) => Ok(glob.into_inner()),
            Err(says) => Err(self.bad(glob.span().start, format!("{:?}: {says}", glob.get_ref()))),
        });
        checked.collect::<Result<_, _>>().map(Some)
    }

    fn bind(&self, table: BTreeMap<Spanned<String>, Vec<Spanned<String>>>) -> Result<BTreeMap<String, Vec<String>>, SettingsError> {
        self.few(table.len(), table.keys().next())?;
        let mut bind = BTreeMap::new();
        for (id, paths) in table {
            self.few(paths.len(), paths.first())?;
            IdGlob::new(id.get_ref()).map_err(|says| self.bad(id.span().start, format!("{:?}: {says}", id.get_ref())))?;
            let paths = paths.into_iter().map(|path| self.path(path)).collect::<Result<_, _>>()?;
            bind.insert(id.into_inner(), paths);
        }
        Ok(bind)
    }

    fn path(&self, path: Spanned<String>) -> Result<String, SettingsError> {
        let text = path.get_ref();
        let odd = text.split('/').any(|part| matches!(part, "" | "." | ".."));
        let says = format!("{text:?}: it is a path from the repository root, without empty, `.` or `..` parts; correct it");
        if odd { Err(self.bad(path.span().start, says)) } else { Ok(path.into_inner()) }
    }

    fn quarantine(&self, table: LedgerTable) -> Result<usize, SettingsError> {
        let Some(cap) = table.quarantine else { return Ok(defaults::QUARANTINE) };
        let says = || self.bad(cap.span().start, format!("{} is no number of rows; write a whole number from 1 to 1000", cap.get_ref()));
        usize::try_from(*cap.get_ref()).ok().filter(|cap| (1..=MOST).contains(cap)).ok_or_else(says)
    }

    fn freeze_days(&self, table: FreezeTable) -> Result<u32, SettingsError> {
        let Some(days) = table.days else { return Ok(defaults::FREEZE_DAYS) };
        let says = || self.bad(days.span().start, format!("{} is no number of days; write a whole number from 1 to 365", days.get_ref()));
        u32::try_from(*days.get_ref()).ok().filter(|days| (1..=365).contains(days)).ok_or_else(says)
    }

    fn worker(&self, table: WorkerTable) -> Result<WorkerSettings, SettingsError> {
        if let Some(python) = table.python.as_ref().filter(|python| python.get_ref().trim().is_empty()) {
            return Err(
                self.bad(python.span().start, "\"\" is no interpreter; write its name, as in \"python3\" or \".venv/bin/python\"".into())
            );
        }
        let path = table.path.map(|path| {
            self.few(path.len(), path.first())?;
            path.into_iter().map(|folder| if folder.get_ref() == "." { Ok(String::new()) } else { self.path(folder) }).collect()
        });
        Ok(WorkerSettings { python: table.python.map(Spanned::into_inner), path: path.transpose()? })
    }

    fn branch(&self, target: &Spanned<String>) -> Result<String, SettingsError> {
        let text = target.get_ref();
        let odd = text.is_empty() || text.starts_with('-') || text.contains(|c: char| c.is_control() || c.is_whitespace());
        let says = format!("{text:?} is no branch; write its name, as in \"main\" or \"origin/main\"");
        if odd { Err(self.bad(target.span().start, says)) } else { Ok(text.clone()) }
    }

    fn few(&self, count: usize, first: Option<&Spanned<String>>) -> Result<(), SettingsError> {
        first.map_or(Ok(()), |first| self.few_at(count, first.span().start))
    }

    fn few_at(&self, count: usize, start: usize) -> Result<(), SettingsError> {
        let says = || format!("{count} entries, more than the {MOST} that are read; use wider globs");
        if count > MOST { Err(self.bad(start, says())) } else { Ok(()) }
    }

    fn bad(&self, at: usize, says: String) -> SettingsError {
        bad(line_at(self.text.as_bytes(), at), says)
    }
}

fn line_at(bytes: &[u8], at: usize) -> usize {
    1 + bytes.iter().take(at).filter(|b| **b == b'\n').count()
}

fn bad(line: usize, says: String) -> SettingsError {
    SettingsError::Bad { path: Settings::PATH.to_owned(), line, says }
}

#[cfg(test)]
mod tests {
    use super::glob::Glob;
    use super::{Settings, SettingsError, defaults};

    fn complaint(text: &[u8]) -> String {
        let SettingsError::Bad { path, line, says } = Settings::read(text).unwrap_err();
        format!("{path}:{line}: {says}")
    }

    #[test]
    fn the_schema_alone_is_a_configuration_of_defaults() {
        for text in ["schema = \"seedgate.config/1\"\n", "\u{feff}# note\r\nschema = \"seedgate.config/1\"\r\n"] {
            assert_eq!(Settings::parse(text).unwrap(), Settings::default());
        }
    }

    #[test]
    fn the_template_is_a_configuration_of_defaults() {
        let template = Settings::parse(include_str!("../templates/config.toml")).unwrap();
        assert_eq!(template, Settings::default());
    }

    #[test]
    fn every_key_is_taken() {
        let text = r#"
schema = "seedgate.config/1"
properties = ["props/**"]
[sides]
policy = ["p"]
record = ["r"]
fixture = ["f"]
harness = ["h"]
test = ["t"]
neutral = ["n", "{m,o}"]
[fixtures.bind]
"tests/test_a.py::*" = ["tests/fixtures/a.json", "data/b.csv"]
[merge]
target = "main"
[ledger]
quarantine = 3
[freeze]
days = 14
[worker]
python = ".venv/bin/python"
path = [".", "lib"]
"#;
        let settings = Settings::parse(text).unwrap();
        assert_eq!(settings.properties, ["props/**"]);
        let sides = &settings.sides;
        let lists = [sides.policy(), sides.record(), sides.fixture(), sides.harness(), sides.test(), sides.neutral()];
        assert_eq!(lists.concat(), ["p", "r", "f", "h", "t", "n", "{m,o}"]);
        assert_eq!(settings.bind["tests/test_a.py::*"], ["tests/fixtures/a.json", "data/b.csv"]);
        assert_eq!(settings.merge_target.as_deref(), Some("main"));
        assert_eq!((settings.quarantine, settings.freeze_days), (3, 14));
        assert_eq!(settings.worker.python.as_deref(), Some(".venv/bin/python"));
        assert_eq!(settings.worker.path, Some(vec![String::new(), "lib".to_owned()]));
    }

    #[test]
    fn what_cannot_be_taken_is_named_with_its_line_and_what_to_do() {
        let head = "schema = \"seedgate.config/1\"\n";
        for (text, line, says, help) in [
            ("", 1, "no schema", "add the line `schema = \"seedgate.config/1\"`"),
            ("schema = \"seedgate.config/2\"\nnewer = 1\n", 1, "seedgate.config/2", "use the seedgate that wrote it"),
            ("schema = 1\n", 1, "invalid type", "correct it"),
            (&format!("{head}colour = 1\n"), 2, "unknown field `colour`", "remove the key"),
            (&format!("{head}[sides]\ntests = []\n"), 3, "unknown field `tests`", "remove the key"),
            (&format!("{head}properties = \"tests\"\n"), 2, "invalid type", "correct it"),
            (&format!("{head}[sides]\ntest = [\n  \"a/**\",\n  \"b[\",\n]\n"), 5, "\"b[\": bad glob: unclosed", "correct it"),
            (&format!("{head}[sides]\ntest = [\"/abs/**\"]\n"), 3, "leading slash", "remove it"),
            (&format!("{head}[sides]\ntest = [\"a\"\n"), 3, "unclosed array", "correct it"),
            (&format!("{head}[fixtures.bind]\n\"a.py\" = [\"f\"]\n"), 3, "`path::name`", "add `::*`"),
            (&format!("{head}[fixtures.bind]\n\"a.py::x\" = [\"../f\"]\n"), 3, "\"../f\"", "correct it"),
            (&format!("{head}[merge]\ntarget = \"--all\"\n"), 3, "no branch", "write its name"),
            (&format!("{head}[ledger]\nquarantine = 0\n"), 3, "0 is no number of rows", "write a whole number"),
            (&format!("{head}[freeze]\ndays = 366\n"), 3, "366 is no number of days", "write a whole number"),
            (&format!("{head}[freeze]\nweeks = 1\n"), 3, "unknown field `weeks`", "remove the key"),
            (&format!("{head}[worker]\npython = \"\"\n"), 3, "no interpreter", "write its name"),
            (&format!("{head}[worker]\npath = [\"../x\"]\n"), 3, "\"../x\"", "correct it"),
            (&format!("{head}properties = [\"a\"]\nproperties = [\"b\"]\n"), 3, "duplicate", "correct it"),
        ] {
            let complaint = complaint(text.as_bytes());
            assert!(complaint.starts_with(&format!(".seedgate/config.toml:{line}: ")), "{text:?}: {complaint}");
            assert!(complaint.contains(says) && complaint.contains(help), "{text:?}: {complaint}");
            assert!(!complaint.contains('\n'), "{complaint}");
        }
    }

    #[test]
    fn bytes_that_are_not_text_are_named_with_their_line() {
        assert!(complaint(b"schema = \"seedgate.config/1\"\n# caf\xe9\n").starts_with(".seedgate/config.toml:2: the file is not UTF-8"));
        let large = vec![b'\n'; 256 * 1024 + 1];
        assert!(complaint(&large).contains("more than the 262144 that are read"));
    }

    #[test]
    fn depth_and_number_are_bounded() {
        let head = "schema = \"seedgate.config/1\"\n";
        let deep = format!("{head}properties = {}{}\n", "[".repeat(100_000), "]".repeat(100_000));
        assert!(complaint(deep.as_bytes()).starts_with(".seedgate/config.toml:2: "));
        let many = format!("{head}properties = [{}]\n", "\"a\",".repeat(1_001));
        assert!(complaint(many.as_bytes()).contains("1001 entries, more than the 1000"));
    }

    #[test]
    fn no_default_glob_needs_a_regular_expression() {
        let lists = [
            defaults::POLICY,
            defaults::RECORD,
            defaults::FIXTURE,
            defaults::HARNESS,
            defaults::TEST,
            defaults::NEUTRAL,
            defaults::PROPERTIES,
        ];
        for text in lists.concat() {
            assert!(!matches!(Glob::new(text).unwrap(), Glob::Other(_)), "{text}");
        }
    }
}
