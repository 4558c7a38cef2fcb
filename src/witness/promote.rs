//! Owns promoted witnesses: small JSON under `tests/fixtures/promoted/`, the same bytes for the same witness, run first ever after.

use serde::{Deserialize, Serialize};

use crate::digest;
use crate::finding::PropId;
use crate::tree::{Mode, Oid, RepoPath, Tree, TreeError, is_under};
use crate::witness::decide::{Action, Verdict};
use crate::witness::ledger::Row;
use crate::witness::value::{Input, MAX_BYTES};

/// Where promoted witnesses lie.
pub const FOLDER: &str = "tests/fixtures/promoted";
/// The schema.
pub const SCHEMA: &str = "seedgate.witness/1";

/// Characters of a property's name in a file's name.
const NAMED: usize = 60;
/// Largest witness that is read, in bytes.
const CAP: u64 = 2 * MAX_BYTES as u64;
/// More files than these in the folder are not read.
const MOST: usize = 10_000;

/// A promoted witness.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Witness {
    /// [`SCHEMA`].
    schema: String,
    /// The property.
    pub property: PropId,
    /// The seed that drew it, as decimal text.
    pub seed: Option<String>,
    /// The input.
    pub shrunk: Input,
    /// The base's verdict when it was promoted.
    pub base: Verdict,
    /// The patch's verdict then.
    pub patch: Verdict,
    /// The base then.
    pub base_sha: Oid,
}

/// Why there are no promoted witnesses to go by.
#[derive(Debug, thiserror::Error)]
pub enum WitnessError {
    /// One of the files.
    #[error("{path}: {says}")]
    Unfit {
        /// The file.
        path: RepoPath,
        /// What is wrong with it.
        says: String,
    },
    /// The tree.
    #[error(transparent)]
    Tree(#[from] TreeError),
}

impl Witness {
    /// The witness of a row that is to be promoted; `None` of any other.
    pub fn of(row: &Row) -> Option<Self> {
        let (Some(Action::Promote), Some(base), Some(base_sha)) = (row.decision, row.base, row.base_sha.clone()) else { return None };
        let (property, shrunk) = (row.prop_id.clone(), row.input().clone());
        Some(Witness { schema: SCHEMA.to_owned(), property, seed: row.seed.clone(), shrunk, base, patch: row.patch, base_sha })
    }

    /// The file's name: the property's own name, and a digest of its id and the input.
    pub fn file_name(&self) -> String {
        let name = self.property.0.rsplit("::").next().unwrap_or_default();
        let plain: String = name.chars().map(|c| if c.is_ascii_alphanumeric() || c == '_' { c } else { '-' }).take(NAMED).collect();
        let key = digest::sha256_hex(format!("{}\n{}", self.property, self.shrunk.input_sha256()).as_bytes());
        format!("{plain}-{}.json", &key[..12])
    }

    /// The file's path from the root.
    pub fn path(&self) -> String {
        format!("{FOLDER}/{}", self.file_name())
    }

    /// The file's bytes.
    pub fn to_text(&self) -> String {
        serde_json::to_string_pretty(self).unwrap_or_default() + "\n"
    }

    /// Reads a witness.
    ///
    /// # Errors
    /// In one sentence, what is wrong with it.
    pub fn parse(bytes: &[u8]) -> Result<Self, String> {
        #[derive(Deserialize)]
        struct Head {
            schema: String,
        }
        let unfit = |error: serde_json::Error| format!("it is no promoted witness: {error}");
        let head: Head = serde_json::from_slice(bytes).map_err(unfit)?;
        if head.schema != SCHEMA {
            return Err(format!("it has the schema {:?}, and this version reads {SCHEMA}", head.schema));
        }
        serde_json::from_slice(bytes).map_err(unfit)
    }
}

/// Whether a path is that of a promoted witness.
pub fn is_witness(path: &RepoPath) -> bool {
    is_under(path, FOLDER.as_bytes()) && path.name().ends_with(b".json")
}

/// The promoted witnesses of a tree, in order of their paths. One that cannot be read is an error: it would be run first.
///
/// # Errors
/// [`WitnessError`].
pub fn load(tree: &dyn Tree) -> Result<Vec<(RepoPath, Witness)>, WitnessError> {
    let mut files = tree.list(FOLDER.as_bytes())?;
    files.retain(|(path, _)| is_witness(path));
    if files.len() > MOST {
        let says = format!("it holds {} witnesses, more than the {MOST} that are read", files.len());
        return Err(WitnessError::Unfit { path: RepoPath::new(FOLDER), says });
    }
    let mut found = Vec::with_capacity(files.len());
    for (path, entry) in files {
        let unfit = |says: String| WitnessError::Unfit { path: path.clone(), says };
        if !matches!(entry.mode, Mode::File | Mode::Executable) {
            return Err(unfit("it is no regular file, so it is not read".to_owned()));
        }
        let bytes = match tree.blob(&entry.oid, CAP) {
            Err(TreeError::TooLarge { size, cap, .. }) => return Err(unfit(format!("{size} bytes are more than the {cap} that are read"))),
            other => other.map_err(|error| error.of(&path))?,
        };
        let witness = Witness::parse(&bytes).map_err(unfit)?;
        found.push((path, witness));
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::{FOLDER, Witness, WitnessError, is_witness, load};
    use crate::finding::PropId;
    use crate::tree::{MemTree, Mode, Oid, RepoPath};
    use crate::witness::decide::Verdict;
    use crate::witness::ledger::Row;
    use crate::witness::value::Input;

    fn row() -> Row {
        let oid = |c: &str| Oid::from_hex(&c.repeat(40)).unwrap();
        let raw = Input::from_json(br#"{"xs":[9,0,4]}"#).unwrap();
        let mut row = Row::new(PropId("tests/test_a.py::T::prop_x y".into()), raw, Some("184729".into()), Verdict::Fail, oid("b"));
        row.shrunk = Some(Input::from_json(br#"{"xs":[1,0,1]}"#).unwrap());
        row.base = Some(Verdict::Pass);
        row.base_sha = Some(oid("a"));
        row
    }

    #[test]
    fn a_witness_has_the_same_bytes_and_name_for_ever() {
        let mut row = row();
        assert_eq!(Witness::of(&row), None);
        row.decide(false);
        let witness = Witness::of(&row).unwrap();
        insta::assert_snapshot!(witness.to_text(), @r#"
        {
          "schema": "seedgate.witness/1",
          "property": "tests/test_a.py::T::prop_x y",
          "seed": "184729",
          "shrunk": {
            "xs": [
              1,
              0,
              1
            ]
          },
          "base": "pass",
          "patch": "fail",
          "base_sha": "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
        }
        "#);
        assert_eq!(witness.path(), "tests/fixtures/promoted/prop_x-y-6212d1f3fd8e.json");
        assert_eq!(Witness::parse(witness.to_text().as_bytes()).unwrap(), witness);
    }

    #[test]
    fn the_witnesses_of_a_tree_are_read_in_order_or_not_at_all() {
        let mut row = row();
        row.decide(false);
        let text = Witness::of(&row).unwrap().to_text();
        let mut tree = MemTree::default();
        for name in ["b.json", "a.json", "README.md", "deep/c.json"] {
            tree.put(&format!("{FOLDER}/{name}"), text.clone());
        }
        tree.put("tests/fixtures/promoted.json", "{}");
        let names: Vec<String> = load(&tree).unwrap().iter().map(|(path, _)| path.to_string()).collect();
        assert_eq!(names, ["a.json", "b.json", "deep/c.json"].map(|name| format!("{FOLDER}/{name}")));
        assert!(is_witness(&RepoPath::new(format!("{FOLDER}/a.json"))) && !is_witness(&RepoPath::new(FOLDER)));
        for (bytes, says) in [
            (text.replace("/1\"", "/2\""), "it has the schema \"seedgate.witness/2\""),
            (text.replace("\"pass\"", "\"passes\""), "unknown variant"),
            ("{".to_owned(), "it is no promoted witness"),
        ] {
            tree.put(&format!("{FOLDER}/b.json"), bytes);
            let error = load(&tree).unwrap_err().to_string();
            assert!(error.starts_with("tests/fixtures/promoted/b.json: ") && error.contains(says), "{error}");
        }
        tree.put_as(&format!("{FOLDER}/b.json"), "a.json", Mode::Symlink);
        assert!(matches!(load(&tree), Err(WitnessError::Unfit { .. })));
    }
}
