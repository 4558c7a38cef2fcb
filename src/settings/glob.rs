//! Owns one glob: what it matches, and the common shapes that need no regular expression.

use globset::{Candidate, GlobBuilder, GlobSet, GlobSetBuilder};

/// Longest glob that is taken, in bytes.
const LONGEST: usize = 500;

/// What a glob comes down to. Every shape but `Other` is decided by comparing bytes, because building a regular
/// expression costs a hook more than judging the commit.
#[derive(Clone, Debug)]
pub enum Glob {
    /// `a/b.c`: that path.
    Whole(Vec<u8>),
    /// `a/b/**`: everything below the folder (kept with its slash).
    Under(Vec<u8>),
    /// `**/name/**`: everything below any folder of that name.
    Folder(Vec<u8>),
    /// `**/name`: any file of that name.
    Name(Vec<u8>),
    /// `**/a/name`: any file whose path ends so.
    Ending(Vec<u8>),
    /// `**/na*me`: any file whose name fits.
    NameLike(Wild),
    /// `a/b/na*me`: a file of that very folder (kept with its slash) whose name fits.
    In(Vec<u8>, Wild),
    /// Anything else that globset understands.
    Other(GlobSet),
}

impl Glob {
    /// Reads a glob: `*` stays within one part of a path, `**` crosses parts, case counts.
    ///
    /// # Errors
    /// What is wrong and what to write instead.
    pub fn new(text: &str) -> Result<Self, String> {
        refuse_odd(text)?;
        Ok(match simple(text) {
            Some(glob) => glob,
            None => Glob::Other(set(text)?),
        })
    }

    /// Whether the whole path fits.
    pub fn matches(&self, path: &[u8]) -> bool {
        self.fits(path, name(path))
    }

    /// The same for many globs and one path, whose name is looked for only once.
    pub fn fits(&self, path: &[u8], name: &[u8]) -> bool {
        match self {
            Glob::Whole(whole) => path == whole,
            Glob::Under(folder) => path.starts_with(folder),
            Glob::Folder(folder) => folders(path).any(|part| part == folder),
            Glob::Name(literal) => name == literal,
            Glob::Ending(end) => path.strip_suffix(&**end).is_some_and(|front| front.is_empty() || front.ends_with(b"/")),
            Glob::NameLike(wild) => wild.matches(name),
            Glob::In(folder, wild) => path[..path.len() - name.len()] == **folder && wild.matches(name),
            Glob::Other(set) => set.is_match_candidate(&Candidate::from_bytes(path)),
        }
    }
}

/// The last part of a path.
pub fn name(path: &[u8]) -> &[u8] {
    path.rsplit(|b| *b == b'/').next().unwrap_or(path)
}

/// The parts of a path but the last.
pub fn folders(path: &[u8]) -> impl Iterator<Item = &[u8]> {
    let end = path.len() - name(path).len();
    path[..end].split(|b| *b == b'/').filter(|part| !part.is_empty())
}

/// Literal pieces with a `*` between each two.
#[derive(Clone, Debug)]
pub struct Wild {
    first: Vec<u8>,
    middle: Vec<Vec<u8>>,
    last: Vec<u8>,
}

impl Wild {
    fn new(text: &str) -> Option<Self> {
        let mut pieces = text.split('*').map(|piece| piece.as_bytes().to_vec());
        let first = pieces.next()?;
        let mut middle: Vec<_> = pieces.collect();
        let last = middle.pop()?;
        middle.retain(|piece| !piece.is_empty());
        Some(Wild { first, middle, last })
    }

    /// Whether a name (no slash in it) fits.
    pub fn matches(&self, name: &[u8]) -> bool {
        let Some(rest) = name.strip_prefix(&*self.first) else { return false };
        let Some(mut rest) = rest.strip_suffix(&*self.last) else { return false };
        for piece in &self.middle {
            match rest.windows(piece.len()).position(|window| window == &**piece) {
                Some(at) => rest = &rest[at + piece.len()..],
                None => return false,
            }
        }
        true
    }
}

/// A glob of property ids, `path::name`: the path is a glob, and in the name `*` is any text and all else is itself, since titles
/// may hold whatever they like.
#[derive(Clone, Debug)]
pub struct IdGlob {
    path: Glob,
    name: Name,
}

#[derive(Clone, Debug)]
enum Name {
    Literal(Vec<u8>),
    Like(Wild),
}

impl IdGlob {
    /// Reads a glob of ids.
    ///
    /// # Errors
    /// What is wrong and what to write instead.
    pub fn new(text: &str) -> Result<Self, String> {
        let Some((path, name)) = text.split_once("::").filter(|(_, name)| !name.is_empty()) else {
            return Err("an id is written `path::name`; add `::*` for every name".to_owned());
        };
        Ok(IdGlob { path: Glob::new(path)?, name: Wild::new(name).map_or_else(|| Name::Literal(name.into()), Name::Like) })
    }

    /// Whether an id fits.
    pub fn matches(&self, id: &str) -> bool {
        id.split_once("::").is_some_and(|(path, name)| {
            self.path.matches(path.as_bytes())
                && match &self.name {
                    Name::Literal(literal) => name.as_bytes() == literal,
                    Name::Like(wild) => wild.matches(name.as_bytes()),
                }
        })
    }
}

/// Globs that compile but never mean what their author thinks.
fn refuse_odd(text: &str) -> Result<(), String> {
    let help = match text {
        "" => "the glob is empty; remove it",
        _ if text.len() > LONGEST => "the glob is longer than 500 bytes; split it",
        _ if text.starts_with('/') => "paths have no leading slash; remove it",
        _ if text.ends_with('/') => "a folder is written `folder/**`",
        _ if text.starts_with('!') => "globs cannot be negated; list what is meant",
        _ if text.split('/').any(|part| matches!(part, "" | "." | "..")) => "paths have no empty, `.` or `..` parts; remove them",
        _ => return Ok(()),
    };
    Err(help.to_owned())
}

fn simple(text: &str) -> Option<Glob> {
    if text.contains(['?', '[', ']', '{', '}', '\\']) {
        return None;
    }
    let (anywhere, rest) = text.strip_prefix("**/").map_or((false, text), |rest| (true, rest));
    let (below, rest) = rest.strip_suffix("/**").map_or((false, rest), |rest| (true, rest));
    if rest.contains("**") {
        return None;
    }
    let (folder, name) = rest.rsplit_once('/').map_or(("", rest), |(_, name)| (&rest[..rest.len() - name.len()], name));
    let starry = name.contains('*');
    match (anywhere, below) {
        _ if folder.contains('*') => None,
        (true, true) => (folder.is_empty() && !starry).then(|| Glob::Folder(name.into())),
        (true, false) if !folder.is_empty() => (!starry).then(|| Glob::Ending(rest.into())),
        (true, false) if starry => Wild::new(name).map(Glob::NameLike),
        (true, false) => Some(Glob::Name(name.into())),
        (false, true) => (!starry).then(|| Glob::Under(format!("{rest}/").into())),
        (false, false) if starry => Wild::new(name).map(|wild| Glob::In(folder.into(), wild)),
        (false, false) => Some(Glob::Whole(rest.into())),
    }
}

fn set(text: &str) -> Result<GlobSet, String> {
    let glob = GlobBuilder::new(text).literal_separator(true).backslash_escape(true).build();
    let says = |error: globset::Error| format!("bad glob: {}; correct it", error.kind().to_string().lines().collect::<Vec<_>>().join(" "));
    GlobSetBuilder::new().add(glob.map_err(says)?).build().map_err(says)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{Just, Strategy, prop_assert_eq, prop_oneof, proptest};

    use super::{Glob, IdGlob, set};

    fn glob_text() -> impl Strategy<Value = String> {
        let piece = prop_oneof![Just("a"), Just("b"), Just("ab"), Just("*"), Just("."), Just("a*"), Just("*b*"), Just("**"), Just("?")];
        let part = proptest::collection::vec(piece, 1..3).prop_map(|pieces| pieces.concat());
        proptest::collection::vec(part, 1..4).prop_map(|parts| parts.join("/"))
    }

    fn path_text() -> impl Strategy<Value = String> {
        proptest::collection::vec("[ab.\n]{1,4}", 1..5).prop_map(|parts| parts.join("/"))
    }

    proptest! {
        #[test]
        fn every_shape_agrees_with_globset(glob in glob_text(), paths in proptest::collection::vec(path_text(), 1..30)) {
            if let Ok(ours) = Glob::new(&glob) {
                let theirs = set(&glob).unwrap();
                for path in paths {
                    let dotdot = path.rsplit('/').next() == Some("..");
                    if !dotdot {
                        prop_assert_eq!(ours.matches(path.as_bytes()), theirs.is_match(&path), "{} on {:?}", glob, path);
                    }
                }
            }
        }
    }

    #[test]
    fn odd_globs_are_refused_with_what_to_write() {
        for (text, help) in [
            ("", "empty"),
            ("/src/**", "leading slash"),
            ("src/", "folder/**"),
            ("!src/**", "negated"),
            ("src/../x", "`..`"),
            ("./src", "`.`"),
            ("a//b", "empty"),
            ("a[", "unclosed"),
            ("{a,b", "unclosed"),
        ] {
            let error = Glob::new(text).unwrap_err();
            assert!(error.contains(help), "{text}: {error}");
        }
        assert!(Glob::new(&"a".repeat(501)).unwrap_err().contains("500"));
    }

    #[test]
    fn a_glob_of_ids_is_a_glob_of_paths_and_a_pattern_of_names() {
        let ids = ["tests/a.py::test_x", "tests/deep/b.py::TestB::test_x", "tests/c.test.ts::adds a/b [1] title"];
        for (text, want) in [
            ("tests/a.py::*", [true, false, false]),
            ("tests/**::*", [true, true, true]),
            ("**/*.py::*test_x", [true, true, false]),
            ("tests/deep/*.py::TestB::**", [false, true, false]),
            ("tests/*.ts::adds a/b [1] *", [false, false, true]),
            ("tests/a.py::test", [false, false, false]),
        ] {
            let glob = IdGlob::new(text).unwrap();
            assert_eq!(ids.map(|id| glob.matches(id)), want, "{text}");
        }
        assert!(!IdGlob::new("tests/a.py::*").unwrap().matches("tests/a.py"));
        for text in ["tests/a.py", "tests/a.py::", "/tests/a.py::x"] {
            assert!(IdGlob::new(text).is_err(), "{text}");
        }
    }

    #[test]
    fn braces_nested_as_deep_as_a_glob_is_long_do_no_harm() {
        let deep = format!("{}a{}", "{".repeat(249), "}".repeat(249));
        assert!(Glob::new(&deep).unwrap_err().starts_with("bad glob: "));
    }

    #[test]
    fn a_star_stays_within_one_part_of_the_path() {
        let fits = |glob: &str, path: &[u8]| Glob::new(glob).unwrap().matches(path);
        assert!(fits("src/*.py", b"src/a.py"));
        assert!(!fits("src/*.py", b"src/a/b.py"));
        assert!(fits("**/a*b*c", b"x/a-b-b-c"));
        assert!(!fits("**/a*b*c", b"x/a-c-b"));
        assert!(fits("**/*.snap", b"caf\xe9\n.snap"));
        assert!(fits("**/[ab]?.{py,rs}", b"deep/er/ax.rs"));
    }
}
