//! Owns `seedgate.props/1`: what every property did on every seed, with the raw counterexample.

use std::fs;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::finding::{Exit, PropId};
use crate::tree::Oid;
use crate::trial::TrialError;
use crate::trial::worker::outcome::{Failure, Refusal};
use crate::witness::value::Input;

/// The schema of the record.
pub const SCHEMA: &str = "seedgate.props/1";

/// Largest record that is read, in bytes.
const CAP: u64 = 256 << 20;

/// A run of properties.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Props {
    /// [`SCHEMA`].
    pub schema: String,
    /// The commit under judgement.
    pub patch: Oid,
    /// The commit it is laid over.
    pub base: Oid,
    /// `production-only` or `full`.
    pub tree: String,
    /// The seed list, in its order, as decimal text.
    pub seeds: Vec<String>,
    /// Inputs a seed.
    pub trials: u64,
    /// Who ran them: language and version; `null` when nothing was run.
    pub worker: Option<(String, String)>,
    /// The properties, by id.
    pub properties: Vec<Row>,
}

/// One property.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// Its id.
    pub prop_id: PropId,
    /// What its runs came to.
    pub status: Status,
    /// Number of inputs of its domain as decimal text; `null` when there is no end.
    pub domain_size: Option<String>,
    /// Why it has no verdict.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refusal: Option<Refusal>,
    /// Its runs: promoted fixtures, then the seed list (or the whole of a small domain), then exploratory ones.
    pub runs: Vec<Run>,
}

/// What a property came to. Exploratory runs do not count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// It held on every input.
    Pass,
    /// It failed, and failed again.
    Fail,
    /// It failed, and did not fail again on the same input.
    Flake,
    /// Something went wrong, so there is no verdict.
    Error,
    /// It is none that can be run here.
    NotRun,
}

impl Status {
    /// The word in records and text.
    pub fn name(self) -> &'static str {
        match self {
            Status::Pass => "pass",
            Status::Fail => "fail",
            Status::Flake => "flake",
            Status::Error => "error",
            Status::NotRun => "not_run",
        }
    }

    fn worst(self, other: Status) -> Status {
        let rank = |status| match status {
            Status::NotRun => 0,
            Status::Pass => 1,
            Status::Flake => 2,
            Status::Fail => 3,
            Status::Error => 4,
        };
        if rank(other) > rank(self) { other } else { self }
    }
}

/// Where the inputs of a run come from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "from", rename_all = "snake_case")]
pub enum From {
    /// A promoted witness.
    Promoted {
        /// The fixture's path, as shown.
        fixture: String,
    },
    /// A seed of the list, as decimal text.
    Seed {
        /// The seed.
        seed: String,
    },
    /// Every input of a domain that is no larger than the trials.
    Exhausted,
    /// A seed that is not on the list: it neither blocks nor clears.
    Explore {
        /// The seed.
        seed: String,
    },
}

/// One run of a property.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Run {
    /// Where its inputs come from.
    #[serde(flatten)]
    pub from: From,
    /// What it came to.
    pub outcome: Status,
    /// Inputs that ran.
    pub ran: u64,
    /// Those among them that did not meet the property's assumptions.
    pub invalid: u64,
    /// The raw counterexample.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<Input>,
    /// Which input of the run it is, from 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub number: Option<u64>,
    /// How it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<Failure>,
    /// Why it has no verdict.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refusal: Option<Refusal>,
}

impl Run {
    /// Whether it can block.
    pub fn counts(&self) -> bool {
        !matches!(self.from, From::Explore { .. })
    }
}

impl Row {
    /// Takes a run in.
    pub fn push(&mut self, run: Run) {
        if run.counts() {
            self.status = self.status.worst(run.outcome);
        }
        self.runs.push(run);
    }

    /// The first run that counts and failed again on its input.
    pub fn failed(&self) -> Option<&Run> {
        self.runs.iter().find(|run| run.counts() && run.outcome == Status::Fail)
    }
}

impl Props {
    /// The exit it asks for: 2 for what failed, 65 for what has no verdict because something went wrong.
    pub fn exit(&self) -> Exit {
        let each = self.properties.iter().map(|row| match row.status {
            Status::Pass | Status::NotRun => Exit::Clear,
            Status::Fail | Status::Flake => Exit::Refused,
            Status::Error => Exit::Unreadable,
        });
        each.fold(Exit::Clear, Exit::worst)
    }

    /// How many have a status.
    pub fn count(&self, status: Status) -> usize {
        self.properties.iter().filter(|row| row.status == status).count()
    }

    /// Reads a record.
    ///
    /// # Errors
    /// [`TrialError::Input`] when it is not there, too large or no record.
    pub fn read(path: &Path) -> Result<Self, TrialError> {
        let wrong = |why: String| TrialError::input(path, why);
        let found = fs::metadata(path).map_err(|error| wrong(error.to_string()))?;
        if !found.is_file() {
            return Err(wrong("it is no regular file".to_owned()));
        }
        let size = found.len();
        if size > CAP {
            return Err(wrong(format!("it has {size} bytes, more than the {CAP} that are read")));
        }
        let text = fs::read(path).map_err(|error| wrong(error.to_string()))?;
        Self::parse(&text).map_err(wrong)
    }

    fn parse(text: &[u8]) -> Result<Self, String> {
        #[derive(Deserialize)]
        struct Head {
            schema: String,
        }
        let head: Head = serde_json::from_slice(text).map_err(|error| format!("not a {SCHEMA} file: {error}"))?;
        if head.schema != SCHEMA {
            return Err(format!("the file has schema {:?}, this program reads {SCHEMA:?}", head.schema));
        }
        serde_json::from_slice(text).map_err(|error| format!("not a {SCHEMA} file: {error}"))
    }
}

#[cfg(test)]
mod tests {
    use super::{From, Props, Row, Run, SCHEMA, Status};
    use crate::finding::{Exit, PropId};
    use crate::tree::Oid;

    fn row(outcomes: &[(bool, Status)]) -> Row {
        let mut row =
            Row { prop_id: PropId("a.py::prop_x".into()), status: Status::NotRun, domain_size: None, refusal: None, runs: Vec::new() };
        for (explore, outcome) in outcomes {
            let seed = "7".to_owned();
            let from = if *explore { From::Explore { seed } } else { From::Seed { seed } };
            row.push(Run { from, outcome: *outcome, ran: 1, invalid: 0, input: None, number: None, failure: None, refusal: None });
        }
        row
    }

    fn props(rows: Vec<Row>) -> Props {
        let oid = Oid::from_hex(&"a".repeat(40)).unwrap();
        Props {
            schema: SCHEMA.into(),
            patch: oid.clone(),
            base: oid,
            tree: "full".into(),
            seeds: vec!["7".into()],
            trials: 10,
            worker: None,
            properties: rows,
        }
    }

    #[test]
    fn the_worst_run_that_counts_decides_and_an_exploratory_one_never_does() {
        for (outcomes, status, exit) in [
            (&[][..], Status::NotRun, Exit::Clear),
            (&[(false, Status::Pass), (true, Status::Fail)], Status::Pass, Exit::Clear),
            (&[(false, Status::Pass), (false, Status::Fail), (false, Status::Pass)], Status::Fail, Exit::Refused),
            (&[(false, Status::Flake), (false, Status::Pass)], Status::Flake, Exit::Refused),
            (&[(true, Status::Pass), (true, Status::Error)], Status::NotRun, Exit::Clear),
            (&[(false, Status::Fail), (false, Status::Error)], Status::Error, Exit::Unreadable),
        ] {
            let row = row(outcomes);
            assert_eq!(row.status, status);
            assert_eq!(props(vec![row]).exit(), exit);
        }
    }

    #[test]
    fn a_record_is_read_back_with_what_a_newer_writer_added_passed_over() {
        let whole = props(vec![row(&[(false, Status::Fail)])]);
        let mut value = serde_json::to_value(&whole).unwrap();
        value["newer"] = 1.into();
        value["properties"][0]["newer"] = 1.into();
        assert_eq!(Props::parse(value.to_string().as_bytes()).unwrap(), whole);
        value["schema"] = "seedgate.props/2".into();
        assert!(Props::parse(value.to_string().as_bytes()).unwrap_err().contains("seedgate.props/2"));
        assert!(Props::parse(b"[]").unwrap_err().contains("not a seedgate.props/1 file"));
    }
}
