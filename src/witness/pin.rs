//! Owns the pin: what the checks were made of on the base, by hash, and what of it has moved.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::tree::Oid;

/// Hashes of the base's fixtures and property modules. A path is told as it is shown, escaped.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pin {
    /// The base commit.
    pub base: Oid,
    /// Folder digest over the fixtures, promoted witnesses left out.
    pub fixture_sha256: String,
    /// SHA-256 of each of these fixtures.
    pub fixtures: BTreeMap<String, String>,
    /// SHA-256 of each file that holds a property or what properties lean on.
    pub modules: BTreeMap<String, String>,
}

/// A pinned file whose hash is another now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Moved {
    /// The file, as shown.
    pub path: String,
    /// What became of it.
    pub says: &'static str,
}

impl Pin {
    /// What moved from here to a tree measured in the same way: nothing may.
    pub fn moved(&self, now: &Pin) -> Vec<Moved> {
        let mut moved =
            differences(&self.modules, &now.modules, ["property module changed", "property module is gone", "property module is new"]);
        moved.extend(differences(&self.fixtures, &now.fixtures, ["fixture changed", "fixture is gone", "fixture is new"]));
        moved
    }
}

fn differences(was: &BTreeMap<String, String>, is: &BTreeMap<String, String>, says: [&'static str; 3]) -> Vec<Moved> {
    let of = |path: &String, says| Moved { path: path.clone(), says };
    let old = was.iter().filter_map(|(path, sha256)| match is.get(path) {
        Some(now) if now == sha256 => None,
        Some(_) => Some(of(path, says[0])),
        None => Some(of(path, says[1])),
    });
    old.chain(is.keys().filter(|path| !was.contains_key(*path)).map(|path| of(path, says[2]))).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::Pin;
    use crate::tree::Oid;

    fn pin(modules: &[(&str, &str)], fixtures: &[(&str, &str)]) -> Pin {
        let map = |of: &[(&str, &str)]| of.iter().map(|(path, sha)| ((*path).to_owned(), (*sha).to_owned())).collect::<BTreeMap<_, _>>();
        Pin { base: Oid::from_hex(&"a".repeat(40)).unwrap(), fixture_sha256: String::new(), fixtures: map(fixtures), modules: map(modules) }
    }

    #[test]
    fn what_moved_is_named_with_what_became_of_it() {
        let was = pin(&[("a.py", "1"), ("b.py", "1")], &[("f/x", "1"), ("f/y", "1")]);
        assert_eq!(was.moved(&was), []);
        let now = pin(&[("a.py", "2"), ("c.py", "1")], &[("f/x", "1"), ("f/z", "1")]);
        let said: Vec<String> = was.moved(&now).into_iter().map(|m| format!("{}: {}", m.path, m.says)).collect();
        assert_eq!(
            said,
            [
                "a.py: property module changed",
                "b.py: property module is gone",
                "c.py: property module is new",
                "f/y: fixture is gone",
                "f/z: fixture is new"
            ]
        );
    }
}
