//! Owns the freeze file, `.seedgate/freeze.json`: which tests, whose, until when, by which token. It has no seed column.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json};

use crate::finding::PropId;
use crate::freeze::day::Day;

/// Where the freeze file lies.
pub const PATH: &str = ".seedgate/freeze.json";
/// The schema.
pub const SCHEMA: &str = "seedgate.freeze/1";
/// Largest freeze file that is read, in bytes.
pub const CAP: u64 = 4 << 20;
/// More entries than these are not read.
const MOST: usize = 1_000;

/// The freeze file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Freeze {
    /// [`SCHEMA`].
    schema: String,
    /// The frozen tests.
    pub entries: Vec<Entry>,
}

/// One frozen test.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    /// The test's id.
    pub test: PropId,
    /// Who answers for it.
    pub owner: String,
    /// The last day on which it holds.
    pub expires: Day,
    /// The evidence it was granted on.
    pub token: Map<String, Json>,
}

/// Why there is no freeze file to go by.
#[derive(Debug, thiserror::Error)]
pub enum FreezeError {
    /// Its bytes.
    #[error("{}: {says}", .path.display())]
    Unfit {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        says: String,
    },
    /// The disk.
    #[error("{}: {source}", .path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

impl FreezeError {
    /// Whether what was read is to blame, and not the machine.
    pub fn is_input(&self) -> bool {
        matches!(self, FreezeError::Unfit { .. })
    }
}

/// Why an entry does not hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The test.
    pub test: PropId,
    /// What is wrong with it.
    pub says: String,
}

/// What entries are held against.
pub struct Against<'a> {
    /// Whether an id is that of a property.
    pub is_property: &'a dyn Fn(&PropId) -> bool,
    /// Ids with a failing row in the ledger.
    pub failing: &'a BTreeSet<PropId>,
    /// The day it is; `None` where no clock may decide.
    pub today: Option<Day>,
}

impl Freeze {
    /// The freeze file at a path; `None` when there is none. No link is followed.
    ///
    /// # Errors
    /// [`FreezeError`].
    pub fn read(path: &Path) -> Result<Option<Self>, FreezeError> {
        let unfit = |says: String| FreezeError::Unfit { path: path.to_path_buf(), says };
        let failed = |source| FreezeError::Io { path: path.to_path_buf(), source };
        match fs::symlink_metadata(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(failed(error)),
            Ok(meta) if !meta.is_file() => return Err(unfit("it is no regular file, so it is not read".to_owned())),
            Ok(_) => {}
        }
        let mut bytes = Vec::new();
        File::open(path).and_then(|file| file.take(CAP + 1).read_to_end(&mut bytes)).map_err(failed)?;
        if bytes.len() as u64 > CAP {
            return Err(unfit(format!("it has more than the {CAP} bytes that are read")));
        }
        Freeze::parse(&bytes).map(Some).map_err(unfit)
    }

    /// Reads a freeze file.
    ///
    /// # Errors
    /// In one sentence, what is wrong with it.
    pub fn parse(bytes: &[u8]) -> Result<Self, String> {
        #[derive(Deserialize)]
        struct Head {
            schema: String,
        }
        let unfit = |error: serde_json::Error| format!("it is no freeze file: {error}");
        let head: Head = serde_json::from_slice(bytes).map_err(unfit)?;
        if head.schema != SCHEMA {
            return Err(format!("it has the schema {:?}, and this version reads {SCHEMA}", head.schema));
        }
        let freeze: Freeze = serde_json::from_slice(bytes).map_err(unfit)?;
        if freeze.entries.len() > MOST {
            return Err(format!("it has {} entries, more than the {MOST} that are read", freeze.entries.len()));
        }
        Ok(freeze)
    }

    /// The bytes of the file: pretty JSON, with a closing line feed.
    pub fn to_text(&self) -> String {
        serde_json::to_string_pretty(self).unwrap_or_default() + "\n"
    }

    /// Whether a test is named.
    pub fn names(&self, id: &PropId) -> bool {
        self.entries.iter().any(|entry| entry.test == *id)
    }

    /// Takes out the entries of a promoted property; true when there were some.
    pub fn close(&mut self, id: &PropId) -> bool {
        let before = self.entries.len();
        self.entries.retain(|entry| entry.test != *id);
        self.entries.len() < before
    }

    /// Everything that is wrong with the entries, in their order.
    pub fn faults(&self, against: &Against<'_>) -> Vec<Fault> {
        let mut seen = BTreeSet::new();
        let mut faults = Vec::new();
        for entry in &self.entries {
            let mut fault = |says: String| faults.push(Fault { test: entry.test.clone(), says });
            if (against.is_property)(&entry.test) {
                fault("it is a property, and properties are never frozen".to_owned());
            }
            if against.failing.contains(&entry.test) {
                fault("the ledger holds a counterexample of it: evidence outranks the exception".to_owned());
            }
            if let Some(today) = against.today.filter(|today| *today > entry.expires) {
                fault(format!("it expired on {}, {} days ago", entry.expires, entry.expires.until(today)));
            }
            if entry.owner.trim().is_empty() {
                fault("it has no owner".to_owned());
            }
            if let Some(says) = token(&entry.token) {
                fault(says);
            }
            if !seen.insert(&entry.test) {
                fault("it is frozen twice".to_owned());
            }
        }
        faults
    }
}

/// What is wrong with a token; more than its verdict and its digest is for its issuer to know.
fn token(token: &Map<String, Json>) -> Option<String> {
    let digest = token.get("fixture_digest").and_then(Json::as_str).unwrap_or_default();
    let is_digest = digest.len() == 64 && digest.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
    if token.get("verdict").and_then(Json::as_str) != Some("freeze_eligible") {
        return Some("its token's verdict is not `freeze_eligible`".to_owned());
    }
    (!is_digest).then(|| "its token has no fixture digest".to_owned())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::{Against, Freeze};
    use crate::finding::PropId;
    use crate::freeze::day::Day;

    fn file(entries: &[(&str, &str, &str, &str)]) -> String {
        let digest = "0".repeat(64);
        let entry = |(test, owner, expires, verdict): &(&str, &str, &str, &str)| serde_json::json!({"test": test, "owner": owner, "expires": expires, "token": {"verdict": verdict, "fixture_digest": digest, "later": 1}});
        serde_json::json!({"schema": "seedgate.freeze/1", "entries": entries.iter().map(entry).collect::<Vec<_>>()}).to_string()
    }

    fn faults(text: &str, today: Option<&str>) -> Vec<String> {
        let failing = BTreeSet::from([PropId("a.py::test_failing".into())]);
        let is_property = |id: &PropId| id.0.contains("prop_");
        let against = Against { is_property: &is_property, failing: &failing, today: today.and_then(Day::parse) };
        Freeze::parse(text.as_bytes()).unwrap().faults(&against).into_iter().map(|f| format!("{}: {}", f.test, f.says)).collect()
    }

    #[test]
    fn every_fault_of_every_entry_is_named() {
        let good = ("a.py::test_x", "me", "2030-01-31", "freeze_eligible");
        let text = |with: (&str, &str, &str, &str)| file(&[good, with]);
        assert_eq!(faults(&file(&[good]), Some("2030-01-31")), [""; 0]);
        for (entry, says) in [
            (("a.py::prop_y", "me", "2030-01-31", "freeze_eligible"), "a.py::prop_y: it is a property, and properties are never frozen"),
            (("a.py::test_failing", "me", "2030-01-31", "freeze_eligible"), "a.py::test_failing: the ledger holds a counterexample of it"),
            (("a.py::test_y", "me", "2029-12-30", "freeze_eligible"), "a.py::test_y: it expired on 2029-12-30, 2 days ago"),
            (("a.py::test_y", " ", "2030-01-31", "freeze_eligible"), "a.py::test_y: it has no owner"),
            (("a.py::test_y", "me", "2030-01-31", "hold"), "a.py::test_y: its token's verdict is not `freeze_eligible`"),
            (good, "a.py::test_x: it is frozen twice"),
        ] {
            let found = faults(&text(entry), Some("2030-01-01"));
            assert_eq!(found.len(), 1, "{found:?}");
            assert!(found[0].starts_with(says), "{found:?}");
        }
        assert_eq!(faults(&text(("a.py::test_y", "me", "1999-01-01", "freeze_eligible")), None), [""; 0]);
    }

    #[test]
    fn what_is_no_freeze_file_is_told_in_one_sentence() {
        let good = file(&[("a.py::test_x", "me", "2030-01-31", "freeze_eligible")]);
        for (text, says) in [
            (good.replace("freeze/1", "freeze/2"), "it has the schema \"seedgate.freeze/2\""),
            (good.replace("\"owner\":\"me\"", "\"owner\":\"me\",\"seed\":7"), "unknown field `seed`"),
            (good.replace("\"owner\":\"me\",", ""), "missing field `owner`"),
            (good.replace("2030-01-31", "2030-02-31"), "a day is written YYYY-MM-DD"),
            ("{}".to_owned(), "it is no freeze file"),
            (format!("{}{}", "[".repeat(100_000), "]".repeat(100_000)), "it is no freeze file"),
        ] {
            let error = Freeze::parse(text.as_bytes()).unwrap_err();
            assert!(error.contains(says) && !error.contains('\n'), "{error}");
        }
    }

    #[test]
    fn a_promoted_property_is_taken_out_and_nothing_else() {
        let one = ("a.py::test_x", "me", "2030-01-31", "freeze_eligible");
        let mut freeze = Freeze::parse(file(&[one, ("a.py::prop_y", "me", "2030-01-31", "freeze_eligible")]).as_bytes()).unwrap();
        assert!(freeze.names(&PropId("a.py::prop_y".into())));
        assert!(freeze.close(&PropId("a.py::prop_y".into())) && !freeze.close(&PropId("a.py::prop_y".into())));
        assert_eq!(Freeze::parse(freeze.to_text().as_bytes()).unwrap(), Freeze::parse(file(&[one]).as_bytes()).unwrap());
    }
}
