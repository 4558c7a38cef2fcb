//! Owns the choice of mutants: places in production functions, those of the change first, then the cheapest, in an order drawn from a seed.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use crate::digest;
use crate::freeze::probe::LeftOut;
use crate::partition::{Side, Sides};
use crate::settings::Settings;
use crate::strength::languages::Language;
use crate::strength::mutants::{Places, Site};
use crate::tree::{Entry, Mode, Oid, RepoPath, Tree, TreeError};
use crate::trial::TrialError;

/// Largest file in which faults are planted, in bytes.
const FILE_CAP: u64 = 4 << 20;

/// Most lines of one statement that are watched.
const LINES: u32 = 60;

/// One production file.
pub(super) struct Source {
    pub(super) path: String,
    pub(super) oid: Oid,
    pub(super) bytes: Vec<u8>,
    pub(super) places: Places,
    /// Functions that the change touches.
    touched: BTreeSet<usize>,
    /// Why it has no places, if it cannot be read.
    unread: Option<String>,
}

impl Source {
    fn unread(path: &RepoPath, entry: &Entry, why: String) -> Arc<Self> {
        let (path, oid) = (path.to_string(), entry.oid.clone());
        Arc::new(Source { path, oid, bytes: Vec::new(), places: Places::default(), touched: BTreeSet::new(), unread: Some(why) })
    }
}

/// One mutant that may be tried.
#[derive(Clone)]
pub(super) struct Candidate {
    pub(super) source: Arc<Source>,
    pub(super) site: Site,
}

/// The production files of a tree, those without places too; what a base holds in the same place tells which functions are touched.
///
/// # Errors
/// When a tree cannot be read.
pub(super) fn sources(tree: &dyn Tree, base: Option<&dyn Tree>, policy: &Settings) -> Result<Vec<Arc<Source>>, TrialError> {
    let sides = Sides::new(policy);
    let mut found = Vec::new();
    for (path, entry) in tree.list(b"")? {
        let is_code = matches!(entry.mode, Mode::File | Mode::Executable) && path.name().ends_with(b".py");
        if !is_code || sides.side(&path) != Side::Production {
            continue;
        }
        let Some(shown) = path.as_str() else {
            found.push(Source::unread(&path, &entry, "its path is not UTF-8".to_owned()));
            continue;
        };
        let bytes = match tree.blob(&entry.oid, FILE_CAP) {
            Err(TreeError::TooLarge { size, cap, .. }) => {
                found.push(Source::unread(&path, &entry, format!("it has {size} bytes, more than the {cap} that are read")));
                continue;
            }
            other => other.map_err(|error| error.of(&path))?,
        };
        let places = match Language::Python.mutants(&bytes) {
            Ok(places) => places,
            Err(why) => {
                found.push(Source::unread(&path, &entry, why.to_string()));
                continue;
            }
        };
        let touched = base.map_or(Ok(BTreeSet::new()), |base| touched(&path, &entry, &places, base))?;
        found.push(Arc::new(Source { path: shown.to_owned(), oid: entry.oid, bytes, places, touched, unread: None }));
    }
    Ok(found)
}

fn touched(path: &RepoPath, entry: &Entry, places: &Places, base: &dyn Tree) -> Result<BTreeSet<usize>, TrialError> {
    let before = base.entry(path)?;
    if before.as_ref().is_some_and(|before| before.oid == entry.oid) {
        return Ok(BTreeSet::new());
    }
    let bytes = match before.map_or(Ok(Vec::new()), |before| base.blob(&before.oid, FILE_CAP)) {
        // Nothing is known of it, so everything is new.
        Err(TreeError::TooLarge { .. }) => Vec::new(),
        other => other.map_err(|error| error.of(path))?,
    };
    let before = Language::Python.mutants(&bytes).unwrap_or_default();
    let known: BTreeSet<(&str, &str)> = before.functions.iter().map(|f| (f.name.as_str(), f.sha256.as_str())).collect();
    let is_new = |at: &usize| !known.contains(&(places.functions[*at].name.as_str(), places.functions[*at].sha256.as_str()));
    Ok((0..places.functions.len()).filter(is_new).collect())
}

/// The files that cannot be read, with the reason.
pub(super) fn left_out(sources: &[Arc<Source>]) -> Vec<LeftOut> {
    let of = |source: &Arc<Source>| Some(LeftOut { path: source.path.clone(), why: source.unread.clone()? });
    sources.iter().filter_map(of).collect()
}

/// The lines at which a mutant could stand, by file.
pub(super) fn lines(sources: &[Arc<Source>]) -> BTreeMap<String, Vec<u32>> {
    let of = |source: &Source| -> BTreeSet<u32> { source.places.sites.iter().flat_map(|site| span(site.reach)).collect() };
    let all = sources.iter().map(|source| (source.path.clone(), of(source).into_iter().collect::<Vec<_>>()));
    all.filter(|(_, lines)| !lines.is_empty()).collect()
}

/// The lines of a statement, or of its head.
pub(super) fn span((from, to): (u32, u32)) -> std::ops::RangeInclusive<u32> {
    from..=to.min(from.saturating_add(LINES))
}

/// How dear a place is: reached while things are imported (then every test may tell), and by how many tests.
pub(super) type Cost = (bool, usize);

/// The mutants to try, in their order. `cost` is `None` where no test reaches a place.
pub(super) fn choose(sources: &[Arc<Source>], seed: u64, budget: usize, cost: &dyn Fn(&Candidate) -> Option<Cost>) -> Vec<Candidate> {
    let mut rows = Vec::new();
    for source in sources {
        let mut drawn: Vec<Candidate> =
            source.places.sites.iter().map(|site| Candidate { source: Arc::clone(source), site: site.clone() }).collect();
        drawn.sort_by_cached_key(|candidate| candidate.draw(seed));
        // One of each function before the second of any.
        let mut rounds: HashMap<usize, usize> = HashMap::new();
        for candidate in drawn {
            let Some((is_import, tests)) = cost(&candidate) else { continue };
            let round = rounds.entry(candidate.site.function).or_default();
            *round += 1;
            let key = (!candidate.in_diff(), is_import, *round, tests, candidate.draw(seed));
            rows.push((key, candidate));
        }
    }
    rows.sort_by(|one, two| one.0.cmp(&two.0));
    rows.into_iter().take(budget).map(|(_, candidate)| candidate).collect()
}

impl Candidate {
    /// Twelve digits over place and texts.
    pub(super) fn id(&self) -> String {
        let Site { at, before, after, .. } = &self.site;
        let text = format!("{}\0{}\0{at}\0{before}\0{after}", self.source.path, self.source.oid.as_str());
        digest::sha256_hex(text.as_bytes())[..12].to_owned()
    }

    /// Whether the change touches its function.
    pub(super) fn in_diff(&self) -> bool {
        self.source.touched.contains(&self.site.function)
    }

    /// Its function's name.
    pub(super) fn function(&self) -> &str {
        &self.source.places.functions[self.site.function].name
    }

    fn draw(&self, seed: u64) -> String {
        digest::sha256_hex(format!("{seed} {}", self.id()).as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::{choose, sources};
    use crate::settings::Settings;
    use crate::tree::MemTree;

    const CODE: &str =
        "def a(x):\n    return x + 1\n\n\ndef b(x):\n    return x < 2 and x > 3 and x != 4\n\n\ndef c(x):\n    return x - 9\n";

    fn trees() -> (MemTree, MemTree) {
        let (mut base, mut head) = (MemTree::default(), MemTree::default());
        base.put("src/m.py", CODE);
        // Ids of blobs are counted in each tree; without this both modules would have the first.
        head.put("README.md", "x");
        head.put("src/m.py", CODE.replace("x - 9", "x - 8"));
        head.put("tests/test_m.py", "def test_a():\n    assert 1 + 1 == 2\n");
        head.put("src/bad.py", "def f(:\n");
        (base, head)
    }

    #[test]
    fn functions_of_the_change_come_first_then_the_cheapest_one_of_each_before_the_second_of_any() {
        let (base, head) = trees();
        let sources = sources(&head, Some(&base), &Settings::default()).unwrap();
        let cost =
            |candidate: &super::Candidate| (candidate.site.operator.name() != "constant").then_some((false, candidate.function().len()));
        let chosen = choose(&sources, 7, 100, &cost);
        let order: Vec<&str> = chosen.iter().map(super::Candidate::function).collect();
        assert_eq!(order[..2], ["c", "c"]);
        let mut next = [order[2], order[3]];
        next.sort_unstable();
        assert_eq!((next, order.len()), (["a", "b"], 12));
        assert!(chosen.iter().all(|candidate| candidate.source.path == "src/m.py"));
    }

    #[test]
    fn a_seed_gives_the_same_order_for_ever_and_another_seed_another() {
        let (base, head) = trees();
        let ids = |seed| {
            let sources = sources(&head, Some(&base), &Settings::default()).unwrap();
            choose(&sources, seed, 6, &|_| Some((false, 1))).iter().map(super::Candidate::id).collect::<Vec<_>>()
        };
        assert_eq!(ids(1), ids(1));
        assert_ne!(ids(1), ids(2));
        assert_eq!(ids(1).len(), 6);
    }

    #[test]
    fn a_file_that_cannot_be_read_is_left_out_by_name() {
        let (base, head) = trees();
        let left_out = super::left_out(&sources(&head, Some(&base), &Settings::default()).unwrap());
        assert_eq!(left_out.iter().map(|one| one.path.as_str()).collect::<Vec<_>>(), ["src/bad.py"]);
        assert!(left_out[0].why.starts_with("line 1: "), "{left_out:?}");
    }
}
