//! Owns `seedgate.probe/1`: which planted faults the kept tests noticed, which they did not, and of which nothing can be said.

use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::finding::Exit;
use crate::freeze::file::FreezeError;
use crate::strength::record;
use crate::tree::Oid;

/// The schema of the record.
pub const SCHEMA: &str = "seedgate.probe/1";

/// Where the record lies.
pub const PATH: &str = ".seedgate/probe.json";

/// Largest record that is read, in bytes.
const CAP: u64 = 64 << 20;

/// One probe.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Probe {
    /// [`SCHEMA`].
    pub schema: String,
    /// What the candidate is held against; `null` when nothing was named and nothing compared.
    pub base: Option<Oid>,
    /// The commit whose production code is mutated.
    pub head: Oid,
    /// What the order of the mutants is drawn from, as decimal text.
    pub seed: String,
    /// Most mutants, as they were asked for; `null` for a mutant from a file.
    pub budget: Option<u64>,
    /// Whether base tests and patch tests were both asked.
    pub compare: bool,
    /// The test command.
    pub command: String,
    /// Programs and their versions, by name.
    pub tools: std::collections::BTreeMap<String, String>,
    /// When it began, in seconds since 1970.
    pub began: u64,
    /// How long it took.
    pub seconds: f64,
    /// The unmutated runs: that of the kept tests first, that of the base tests after it.
    pub twins: Vec<Twin>,
    /// The mutants, in the order in which they were chosen.
    pub mutants: Vec<Mutant>,
    /// The same, counted.
    pub counts: Counts,
    /// Production files in which no fault was planted, because they cannot be read.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<LeftOut>,
}

/// A production file without places.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeftOut {
    /// The file, as shown.
    pub path: String,
    /// Why.
    pub why: String,
}

/// A run of the tests on unmutated code.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Twin {
    /// `patch` or `base`: whose tests.
    pub tests: String,
    /// SHA-256 over the paths, modes and blob ids of the tree.
    pub tree: String,
    /// Tests that passed; `null` where the command does not tell.
    pub passed: Option<u64>,
    /// SHA-256 over what each test came to; `null` where the command does not tell.
    pub digest: Option<String>,
    /// How long it took.
    pub seconds: f64,
}

/// One mutant.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Mutant {
    /// Twelve digits over place and texts: the same for the same mutant of the same file.
    pub id: String,
    /// The file, as shown.
    pub path: String,
    /// Its first line.
    pub line: u32,
    /// The function, with the classes and functions around it.
    pub function: String,
    /// The operator of the table; `patch` for one from a file.
    pub operator: String,
    /// The text that was replaced.
    pub before: String,
    /// What stands there instead.
    pub after: String,
    /// Whether the change under judgement touches the function.
    pub in_diff: bool,
    /// What the kept tests say.
    pub outcome: Outcome,
    /// What the base tests say, where they were asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base: Option<Outcome>,
    /// How long its runs took.
    pub seconds: f64,
}

/// What tests say of a mutant.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// The verdict.
    pub verdict: Verdict,
    /// The test that failed, or why there is no verdict.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// How many tests were chosen to be run, because they reach the place; `null` for the whole command.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tests: Option<u64>,
}

/// The three verdicts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// A test that passes on the twin fails on it.
    Killed,
    /// Every test passes on it.
    Survived,
    /// It cannot be told: that is no kill.
    Unknown,
}

impl Verdict {
    /// The word in records and text.
    pub fn name(self) -> &'static str {
        match self {
            Verdict::Killed => "killed",
            Verdict::Survived => "survived",
            Verdict::Unknown => "unknown",
        }
    }
}

/// Mutants by verdict.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    /// Killed by the kept tests.
    pub killed: u64,
    /// Alive under the kept tests.
    pub survived: u64,
    /// Without a verdict.
    pub unknown: u64,
    /// Killed by the base tests and alive under the kept ones.
    pub weakened: u64,
}

impl Outcome {
    /// A verdict with its reason.
    pub fn new(verdict: Verdict, why: Option<String>, tests: Option<u64>) -> Self {
        Outcome { verdict, why, tests }
    }

    /// No verdict.
    pub fn unknown(why: impl Into<String>) -> Self {
        Outcome { verdict: Verdict::Unknown, why: Some(why.into()), tests: None }
    }
}

impl Mutant {
    /// Whether the base tests noticed it and the kept tests do not.
    pub fn is_weakened(&self) -> bool {
        self.outcome.verdict == Verdict::Survived && self.base.as_ref().is_some_and(|base| base.verdict == Verdict::Killed)
    }
}

impl Counts {
    /// Of mutants.
    pub fn of(mutants: &[Mutant]) -> Self {
        let count = |is: &dyn Fn(&Mutant) -> bool| mutants.iter().filter(|mutant| is(mutant)).count() as u64;
        Counts {
            killed: count(&|mutant| mutant.outcome.verdict == Verdict::Killed),
            survived: count(&|mutant| mutant.outcome.verdict == Verdict::Survived),
            unknown: count(&|mutant| mutant.outcome.verdict == Verdict::Unknown),
            weakened: count(&Mutant::is_weakened),
        }
    }
}

impl Probe {
    /// The exit it asks for: 2 for an oracle that was weakened, and for a survivor where none is allowed; 65 when nothing was measured.
    pub fn exit(&self, no_survivor: bool) -> Exit {
        let counts = self.counts;
        if counts.weakened > 0 || (no_survivor && counts.survived > 0) {
            Exit::Refused
        } else if counts.killed + counts.survived == 0 {
            Exit::Unreadable
        } else {
            Exit::Clear
        }
    }

    /// Whether the kept tests still bite: something was killed, and nothing that the base tests killed is alive.
    pub fn is_killed(&self) -> bool {
        self.counts.killed > 0 && self.counts.weakened == 0
    }

    /// Reads a record. No link is followed.
    ///
    /// # Errors
    /// [`FreezeError`] when it is not there, too large or no record.
    pub fn read(path: &Path) -> Result<Self, FreezeError> {
        let unfit = |says: String| FreezeError::Unfit { path: path.to_path_buf(), says };
        let bytes = record::read(path, CAP).map_err(FreezeError::unread(path))?;
        Probe::parse(&bytes).map_err(unfit)
    }

    /// Reads a record; the counts are those of the mutants, whatever the record says.
    ///
    /// # Errors
    /// In one sentence, what is wrong with it.
    pub fn parse(bytes: &[u8]) -> Result<Self, String> {
        #[derive(Deserialize)]
        struct Head {
            schema: String,
        }
        let unfit = |error: serde_json::Error| format!("it is no {SCHEMA} file: {error}");
        let head: Head = serde_json::from_slice(bytes).map_err(unfit)?;
        if head.schema != SCHEMA {
            return Err(format!("it has the schema {:?}, and this version reads {SCHEMA}", head.schema));
        }
        let mut probe: Probe = serde_json::from_slice(bytes).map_err(unfit)?;
        probe.counts = Counts::of(&probe.mutants);
        Ok(probe)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::{Counts, Mutant, Outcome, Probe, SCHEMA, Verdict};
    use crate::finding::Exit;
    use crate::tree::Oid;

    fn mutant(outcome: Verdict, base: Option<Verdict>) -> Mutant {
        let of = |verdict| Outcome::new(verdict, None, Some(1));
        Mutant {
            id: "0".repeat(12),
            path: "a.py".into(),
            line: 1,
            function: "f".into(),
            operator: "comparison".into(),
            before: "<".into(),
            after: "<=".into(),
            in_diff: false,
            outcome: of(outcome),
            base: base.map(of),
            seconds: 0.5,
        }
    }

    fn probe(mutants: Vec<Mutant>) -> Probe {
        Probe {
            schema: SCHEMA.into(),
            base: None,
            head: Oid::from_hex(&"a".repeat(40)).unwrap(),
            seed: "0".into(),
            budget: Some(1),
            compare: false,
            command: "pytest".into(),
            tools: BTreeMap::new(),
            began: 0,
            seconds: 1.5,
            twins: Vec::new(),
            counts: Counts::of(&mutants),
            mutants,
            left_out: Vec::new(),
        }
    }

    #[test]
    fn only_what_was_killed_before_and_is_alive_now_is_weakened() {
        use Verdict::{Killed, Survived, Unknown};
        for (mutants, strict, lax) in [
            (vec![], Exit::Unreadable, Exit::Unreadable),
            (vec![mutant(Unknown, Some(Killed))], Exit::Unreadable, Exit::Unreadable),
            (vec![mutant(Killed, Some(Killed)), mutant(Unknown, None)], Exit::Clear, Exit::Clear),
            (vec![mutant(Survived, None)], Exit::Refused, Exit::Clear),
            (vec![mutant(Survived, Some(Survived))], Exit::Refused, Exit::Clear),
            (vec![mutant(Survived, Some(Unknown)), mutant(Killed, Some(Survived))], Exit::Refused, Exit::Clear),
            (vec![mutant(Survived, Some(Killed)), mutant(Killed, None)], Exit::Refused, Exit::Refused),
        ] {
            let probe = probe(mutants);
            assert_eq!((probe.exit(true), probe.exit(false)), (strict, lax), "{:?}", probe.mutants);
        }
    }

    #[test]
    fn a_record_is_read_back_and_its_counts_are_counted_again() {
        let whole = probe(vec![mutant(Verdict::Killed, None), mutant(Verdict::Survived, Some(Verdict::Killed))]);
        let mut value = serde_json::to_value(&whole).unwrap();
        value["newer"] = 1.into();
        value["counts"]["weakened"] = 0.into();
        assert_eq!(Probe::parse(value.to_string().as_bytes()).unwrap(), whole);
        assert!(!whole.is_killed());
        value["schema"] = "seedgate.probe/2".into();
        assert!(Probe::parse(value.to_string().as_bytes()).unwrap_err().contains("seedgate.probe/2"));
        assert!(Probe::parse(b"{}").unwrap_err().contains("it is no seedgate.probe/1 file"));
    }

    #[test]
    fn files_left_out_are_read_back_and_an_older_record_has_none() {
        let left_out = vec![super::LeftOut { path: "b.py".into(), why: "line 1: no".into() }];
        let whole = Probe { left_out, ..probe(vec![mutant(Verdict::Killed, None)]) };
        let mut value = serde_json::to_value(&whole).unwrap();
        assert_eq!(Probe::parse(value.to_string().as_bytes()).unwrap(), whole);
        value.as_object_mut().unwrap().remove("left_out");
        assert_eq!(Probe::parse(value.to_string().as_bytes()).unwrap().left_out, []);
    }
}
